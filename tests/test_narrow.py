"""Numbers of less than 64 bits in the llvm gear: NumPy's types, bits, warnings and errors, or a reason."""

from __future__ import annotations

import itertools
import linecache
import math
import random
import warnings

import numpy as np
import pytest

import upshift as up
from law import check

pytestmark = pytest.mark.filterwarnings("ignore")
LLVM = ("llvm",)
NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "float32")
SINGLE, WIDE, BYTE = np.float32(1.7), np.float64(0.1), np.uint8(7)
KERNEL32, KERNEL64 = np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3), np.linspace(-1, 1, 9).reshape(3, 3)
TABLE = np.arange(256, dtype=np.uint8)[::-1].copy()


def compiled(f, *xs, **shared):
    """In machine code, for some lanes at least, and with the loop's very bits."""
    assert check(f, *xs, gears=LLVM, exact=True, **shared) is None


def numbers(dtype, n=40, low=0, high=12, seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return (rng.normal(size=n) * 3).astype(dtype)
    return rng.integers(max(low, 0) if np.dtype(dtype).kind == "u" else low, high, n).astype(dtype)


def extremes(dtype):
    if np.dtype(dtype).kind == "f":
        return np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45, 1e-38, 2.5, 16777216], dtype)
    info = np.iinfo(dtype)
    return np.array([0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.min // 2, info.max // 2 + 1], dtype)


# ---- operators


def of_two(a, b):
    return a + b, a - b, a * b, a < b, a <= b, a == b, a != b, a > b, a >= b


def of_two_ints(a, b):
    return a // b, a % b, a / b, a & b, a | b, a ^ b, a << (b & 3), a >> (b & 3)


def below_zero(a):
    return -a, ~a


def divided(a, b):
    return a / b


def of_one(a):
    return +a, abs(a), not a, bool(a), float(a), int(a), math.sqrt(abs(a)), math.floor(a)


def with_ints(a):
    return a + 1, 2 * a, a - 3, a > 300, a == -1, a < 2**40, a / 1000, a * True, 5 - a


def with_floats(a):
    return a + 0.1, 2.5 * a, a / 3.0, a < 0.1, a == 0.1, 1.0 - a


@pytest.mark.parametrize("a", NARROW)
@pytest.mark.parametrize("b", [*NARROW, "int64", "float64", "bool"])
def test_two_columns(a, b):
    """Of NumPy's numbers: those of 64 bits count in full."""
    xs = numbers(a, low=4)
    ys = numbers(b, high=4, seed=1) if b != "bool" else np.arange(40) % 3 == 0
    compiled(of_two, xs, ys)
    for odd, other in itertools.product(extremes(a), (extremes(b) if b != "bool" else [True, False])):
        check(of_two, np.array([odd]), np.array([other]), gears=LLVM, exact=True)


@pytest.mark.parametrize("a", [one for one in NARROW if one != "float32"])
@pytest.mark.parametrize("b", ["int8", "uint8", "int16", "uint32", "int64"])
def test_columns_of_ints(a, b):
    compiled(of_two_ints, numbers(a, low=4), numbers(b, low=1, high=4, seed=1))
    every = np.array(list(itertools.product(extremes(a).tolist(), extremes(b).tolist())), object)
    check(of_two_ints, every[:, 0].astype(a), every[:, 1].astype(b), gears=LLVM, exact=True)


@pytest.mark.parametrize("a", NARROW)
@pytest.mark.parametrize("f", [of_one, with_ints, with_floats])
def test_one_column(a, f):
    compiled(f, np.array([3, 4, 5], a))
    for odd in extremes(a):
        check(f, np.array([odd]), gears=LLVM, exact=True)


@pytest.mark.parametrize("a", ["int8", "int16", "int32"])
def test_signs(a):
    compiled(below_zero, numbers(a, low=-5))
    compiled(lambda x: -x, numbers("float32"))
    check(below_zero, extremes(a), gears=LLVM, exact=True)
    check(below_zero, extremes("u" + a), gears=LLVM, exact=True)


@pytest.mark.parametrize("numbers_of", [float, int, bool])
@pytest.mark.parametrize("a", NARROW)
def test_pythons_own_numbers_are_weak(a, numbers_of):
    """A list of Python's numbers beside a narrow column."""
    ys = [numbers_of(y) for y in numbers("int8", low=1, high=4, seed=3)]
    compiled(of_two, numbers(a, low=4), ys)


def test_float32_divides_as_float32():
    compiled(divided, numbers("float32"), numbers("float32", seed=1))
    check(divided, extremes("float32"), extremes("float32")[::-1].copy(), gears=LLVM, exact=True)


def test_powers():
    compiled(lambda x: (x**2, x**3, x**0.5), np.abs(numbers("float32")) + np.float32(0.1))
    compiled(lambda x: (x**2, x**3), numbers("int16"))
    check(lambda x: x**2, extremes("uint8"), gears=LLVM, exact=True)


def test_ufuncs_of_float32():
    def several(x):
        return np.sin(x), np.exp(x), np.sqrt(np.abs(x)), np.maximum(x, 0.0), np.floor(x), np.isnan(x), np.arctan2(x, x)

    compiled(several, numbers("float32"))
    compiled(lambda x: (np.maximum(x, WIDE), np.arctan2(WIDE, x)), numbers("float32"))
    check(several, extremes("float32"), gears=LLVM, exact=True)


def test_classes_as_functions():
    def several(x):
        return np.float32(x), np.uint8(x), np.int16(x * 2), np.float32(3) * x

    compiled(several, numbers("float64", low=0) + 20)
    compiled(several, numbers("int32"))
    check(several, np.array([300.0, -1.0, np.nan, np.inf, 1e300, 255.9, -0.5]), gears=LLVM, exact=True)


# ---- variables that begin as literals


def summed(v):
    total = 0.0
    for x in v:
        total += x
    return total


def mean_of_positive(v):
    total, count = 0.0, 0
    for x in v:
        if x > 0:
            total += x * x
            count += 1
    return total / count


def largest(v):
    best = 0
    for x in v:
        if x > best:
            best = x
    return best * 2


def running(v):
    out = np.zeros(len(v))
    total = 0
    for i in range(len(v)):
        total = total + v[i]
        out[i] = total
    return out


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("f", [summed, mean_of_positive, largest, running])
def test_what_begins_as_a_literal(f, dtype):
    compiled(f, numbers(dtype, 30 * 8, low=-3, high=4).reshape(30, 8))


def test_a_literal_that_stays_one():
    """Lanes in which no number was positive: the result is Python's own."""
    xs = np.vstack([np.zeros((3, 4)), numbers("float32", 40).reshape(10, 4)]).astype(np.float32)
    compiled(largest, xs)
    assert up.map(summed, np.zeros((3, 0), np.float32)).tolist() == [0.0, 0.0, 0.0]


def test_a_tenth_is_not_a_tenth_of_float32():
    def until(v):
        least = 0.1
        for x in v:
            if x < least:
                least = x
        return least + 0.2

    compiled(until, np.array([[0.05, 0.5], [0.2, 0.01], [-1.0, 0.02]], np.float32))
    check(until, np.array([[0.1, 0.5], [0.2, 0.7], [0.09, 0.3]], np.float32), gears=LLVM, exact=True)


# ---- arrays


def brighter(img):
    out = img.copy()
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            if img[i, j] > 200:
                out[i, j] = 255
            else:
                out[i, j] = img[i, j] + 20
    return out


def blurred(img):
    h, w = img.shape
    out = np.zeros((h, w), np.float32)
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            total = 0.0
            for di in range(3):
                for dj in range(3):
                    total += img[i + di - 1, j + dj - 1] * KERNEL32[di, dj]
            out[i, j] = total / 9
    return out


def blurred_in_64_bits(img):
    h, w = img.shape
    out = np.zeros((h, w), dtype=np.uint8)
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            total = 0.0
            for di in range(3):
                for dj in range(3):
                    total += img[i + di - 1, j + dj - 1] * KERNEL64[di, dj]
            out[i, j] = abs(total) / 8
    return out


def looked_up(img):
    out = img.copy()
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = TABLE[img[i, j]]
    return out


def counted(img):
    counts = np.zeros(256, np.int32)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            counts[img[i, j]] += 1
    return counts


def in_place(img):
    for i in range(img.shape[0]):
        img[i, 0] = i * 2
    return img


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("f", [brighter, blurred, blurred_in_64_bits, looked_up, counted, in_place])
def test_images(f, dtype):
    images = numbers("uint8", 5 * 6 * 7, high=256).reshape(5, 6, 7).astype(dtype)
    if dtype == "float32" and f in (looked_up, counted):
        check(f, images, gears=LLVM, exact=True)
    else:
        compiled(f, images)


def sharpened(img):
    img = img.astype(np.float32)
    out = np.zeros_like(img)
    for i in range(1, img.shape[0] - 1):
        for j in range(1, img.shape[1] - 1):
            out[i, j] = 5 * img[i, j] - img[i - 1, j] - img[i + 1, j] - img[i, j - 1] - img[i, j + 1]
    return out


def thresholded(img):
    out = np.zeros(img.shape, img.dtype)
    flags = np.ones_like(img)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            if img[i, j] >= 100:
                out[i, j] = img[i, j]
                flags[i, j] = 0
    return out, flags


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int16", "float64"])
@pytest.mark.parametrize("f", [sharpened, thresholded])
def test_arrays_like_others(f, dtype):
    compiled(f, numbers("uint8", 5 * 6 * 7, high=256).reshape(5, 6, 7).astype(dtype))


def test_casts_of_arrays():
    def cast(v):
        v = v.astype(np.float32)
        return v[0] + v[1]

    def to_bytes(v):
        v = v.astype(np.uint8)
        return v[0]

    compiled(cast, np.array([[1.5, 2.0], [1e300, 0.0], [0.1, 0.2]]))
    compiled(to_bytes, np.array([[1.5, 2.0], [300.0, 1.0]]))


def test_stores_that_do_not_fit():
    def stored(x):
        out = np.zeros(2, np.uint8)
        out[0] = x
        return out

    whole = np.zeros(3, np.int64)

    def truncated(x):
        out = whole.copy()
        out[1] = x
        return out

    check(stored, np.array([1, 255, 256, -1]), gears=LLVM, exact=True)
    check(stored, [1, 255], gears=LLVM, exact=True)
    check(stored, [1, 255, 256], gears=LLVM, exact=True)
    for odd in (1.9, -1.9, np.nan, np.inf, 1e300):
        check(stored, np.array([0.5, odd]), gears=LLVM, exact=True)
        check(truncated, np.array([0.5, odd]), gears=LLVM, exact=True)
        check(truncated, [0.5, odd], gears=LLVM, exact=True)


def test_what_is_captured():
    compiled(lambda x: x * SINGLE + BYTE, numbers("float32"))
    compiled(lambda x: x * WIDE, numbers("float32"))
    compiled(lambda x: x * SINGLE + WIDE, [0.5, 1.5, 2.5])
    compiled(lambda x: x * BYTE, numbers("int8"))


def halved(x):
    return x / 2


def test_helpers():
    compiled(lambda x: halved(x) + halved(x + x), numbers("float32"))


def test_numpy_warns_where_it_does():
    xs = np.array([1, 200, 3], np.uint8)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        up.map(lambda x: x * np.uint8(2), xs, gear="llvm")
    assert [str(w.message) for w in seen] == ["overflow encountered in scalar multiply"]


def test_two_classes_at_the_end_are_a_reason():
    def either(x):
        return x * 2 if x > 1 else 0.5

    reason = check(either, np.array([0.5, 3.0], np.float32), gears=LLVM, exact=True)
    assert reason is None or "on one path" in reason or "different types" in reason


# ---- made-up programs

LEAVES = ("x", "v[0]", "v[i]", "w[i]", "total", "k", "1", "2", "0.5", "0.1", "SINGLE", "WIDE", "BYTE", "float(x)")
FORMS = ("({} + {})", "({} - {})", "({} * {})", "({} / {})", "(-{})", "abs({})", "({} if {} < {} else {})",
         "min({}, {})", "np.float32({})", "math.sqrt(abs({}))", "({} // {})", "({} % {})", "int({})")  # fmt: skip


def expression(rng, depth):
    if depth == 0 or rng.random() < 0.25:
        return rng.choice(LEAVES)
    form = rng.choice(FORMS)
    return form.format(*(expression(rng, depth - 1) for _ in range(form.count("{}"))))


def program(seed):
    """A function of a narrow number, two narrow arrays and a number of Python's."""
    rng = random.Random(seed)
    lines = ["def made(x, v, w, k):", f"    total = {rng.choice(['0', '0.0', '1', '0.1', 'x', 'v[1]'])}", "    i = 0"]
    lines += ["    out = np.zeros(3, np." + rng.choice(["float32", "uint8", "int32", "float64"]) + ")"]
    lines += ["    for i in range(3):"]
    for _ in range(rng.randint(1, 3)):
        target = rng.choice(["total", "total", "out[i]"])
        lines.append(f"        {target} {rng.choice(['=', '+='])} {expression(rng, 2)}")
    if rng.random() < 0.5:
        lines.append(f"        if {expression(rng, 1)} > {expression(rng, 1)}:")
        lines.append(f"            {rng.choice(['break', 'continue', 'total = x', 'total += 1'])}")
    lines.append(f"    return {rng.choice(['total', 'out', expression(rng, 2), 'total + ' + expression(rng, 1)])}")
    source = "\n".join(lines)
    name = f"<made {seed}>"
    linecache.cache[name] = (len(source), None, [line + "\n" for line in source.splitlines()], name)
    space = {"np": np, "math": math, "SINGLE": SINGLE, "WIDE": WIDE, "BYTE": BYTE}
    exec(compile(source, name, "exec"), space)
    return space["made"]


@pytest.mark.parametrize("seed", range(40))
def test_made_up_programs(seed):
    rng = random.Random(seed)
    x, v, w = (rng.choice(["float32", "float32", "uint8", "int32", "int16", "float64"]) for _ in range(3))
    columns = numbers(x, 12, low=-3), numbers(v, 36, low=-3).reshape(12, 3), numbers(w, 36, seed=2).reshape(12, 3)
    check(program(seed), *columns, [float(i) if seed % 2 else i for i in range(12)], gears=LLVM, exact=True)
