"""The llvm gear beyond the tables: captures, refusals, classes of results, warnings, what is kept on disk."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import upshift as up
from functions import loops
from law import check

HERE = Path(__file__).name
SCALE, WEIGHTS = 2.0, np.array([1.0, 2.0, 3.0])
LLVM = ("llvm",)


def shift_by(x):
    return x + SCALE


def scaled(x):
    return shift_by(x) * SCALE


def weighted(x):
    total = 0.0
    for i in range(len(WEIGHTS)):
        total += WEIGHTS[i] * x
    return total


def in_llvm(f, *xs, **shared):
    return up.map(f, *xs, gear="llvm", **shared)


def refusal(f, *xs):
    with pytest.raises(up.GearRefused) as caught:
        in_llvm(f, *xs)
    text = str(caught.value)
    assert "\n" not in text and len(text) < 300, text
    return text


# ---- what is captured


def test_captured_arrays_may_change_in_place_and_in_length(monkeypatch):
    xs = np.arange(4.0)
    for weights in (WEIGHTS, np.array([5.0, 1.0, 1.0]), np.arange(7.0)):
        monkeypatch.setattr(sys.modules[__name__], "WEIGHTS", weights)
        assert in_llvm(weighted, xs).tolist() == [weighted(x) for x in xs]
    WEIGHTS[0] += 0  # the array itself was never written to


def test_a_helper_may_be_replaced(monkeypatch):
    xs = np.arange(4.0)
    in_llvm(scaled, xs)
    monkeypatch.setattr(sys.modules[__name__], "shift_by", lambda x: x * 100)
    assert in_llvm(scaled, xs).tolist() == [scaled(x) for x in xs]


def test_a_builtin_may_be_shadowed(monkeypatch):
    f = lambda x: abs(x) + 1
    assert in_llvm(f, [-1.0, 2.0]).tolist() == [2.0, 3.0]
    monkeypatch.setitem(f.__globals__, "abs", lambda x: x * 10)
    assert in_llvm(f, [-1.0, 2.0]).tolist() == [f(-1.0), f(2.0)]


def test_defaults_and_shared_keywords_are_arguments():
    def f(x, k=3.0, *, n=2):
        return x * k + n

    def g(x, k=3.0, n=2):
        return x * k + n

    for made in (f, g):
        assert in_llvm(made, [1.0, 2.0]).tolist() == [5.0, 8.0]
        assert in_llvm(made, [1.0, 2.0], n=5).tolist() == [8.0, 11.0]
        assert in_llvm(made, [1.0, 2.0], k=np.float64(1.0)).tolist() == [3.0, 4.0]
    g.__defaults__ = (10.0, 2)
    assert in_llvm(g, [1.0, 2.0]).tolist() == [12.0, 22.0]
    f.__kwdefaults__ = {"n": 7}
    assert in_llvm(f, [1.0, 2.0]).tolist() == [10.0, 13.0]


# ---- what it refuses, and where


@pytest.mark.parametrize(
    ("f", "word"),
    [
        (lambda x: print(x), "print"),
        (lambda x: open(str(x)), "open"),
        (lambda x: globals()["SCALE"] * x, "globals"),
        (lambda x: eval("x"), "eval"),
    ],
)
def test_reasons_are_one_sentence_with_a_line(f, word):
    text = refusal(f, [1.0, 2.0])
    assert word in text and f"{HERE}:{f.__code__.co_firstlineno}" in text


def factorial(n):
    return n * factorial(n - 1) if n > 1 else 1


@pytest.mark.parametrize("f", [
    lambda x: {x: 1}[x], lambda x: x if x > 1 else None, lambda x: sorted([x, 1.0]), lambda x: factorial(int(x)),
    lambda x: sum(x * k for k in range(4) if k > 0.5), lambda x: pow(3, int(x), 7), lambda x: str(int(x)),
])  # fmt: skip
def test_what_once_was_refused(f):
    assert check(f, [1.0, 2.0, 3.0], gears=LLVM, exact=True) is None


def clipped(v):
    total = 0.0
    for x in v:
        total += min(max(x, 0), 255) * 0.5
    return total


def doubled(v):
    total = 0.0
    for x in v:
        total += max(x, 0) * 2
    return total


def test_an_int_or_a_float_of_two():
    """The larger of a float and an int may be either: right beside floats, and not to be computed with beside ints."""
    vs = np.random.default_rng(0).normal(size=(9, 4)) * 200
    assert check(clipped, vs, gears=LLVM, exact=True) is None
    assert check(lambda x: max(0, x), np.linspace(-2, 2, 9), gears=LLVM, exact=True) is None
    assert check(lambda x: max(x, 0), [-1.0, 2.0, -0.0], gears=LLVM, exact=True) is None
    assert check(doubled, vs, gears=LLVM, exact=True) is None
    assert check(lambda x: max(0, x), -np.ones(4), gears=LLVM, exact=True) is None  # all of them are ints


def test_halves_and_ints_above_64_bits():
    assert check(lambda x: x * 2.0, np.arange(3, dtype=np.float16), gears=LLVM, exact=True) is None
    assert check(lambda x: x * 2, np.arange(3, dtype=np.uint64), gears=LLVM, exact=True) is None


UNSET = {"used_after_a_loop": [[4, 5, 6]], "set_before_a_break": [[3.5, 8.0, 2.25]], "set_on_one_path": [[2.5, 0.5]],
         "set_in_some_turns": [[4, 5, 3], [1, 2, 3]]}  # fmt: skip


@pytest.mark.parametrize("name", UNSET)
def test_a_variable_that_may_not_be_set_is_compiled(name):
    """The law's table has these functions with all their data, some of which set it and some of which do not."""
    f = getattr(loops, name)
    assert in_llvm(f, *UNSET[name]).tolist() == [f(*row) for row in zip(*UNSET[name])]


def test_where_a_variable_is_not_set_the_plain_function_says_so():
    with pytest.raises(UnboundLocalError) as caught:
        in_llvm(loops.used_after_a_loop, [4, 0, 6])
    assert "element 1" in str(caught.value.__notes__)


SHAPE = np.random.default_rng(3).random(9)


def warped(v):
    """The distance of two series by dynamic time warping."""
    costs = np.full((len(v) + 1, len(SHAPE) + 1), np.inf)
    costs[0, 0] = 0
    for i in range(len(v)):
        for j in range(len(SHAPE)):
            costs[i + 1, j + 1] = abs(v[i] - SHAPE[j]) + min(costs[i, j + 1], costs[i + 1, j], costs[i, j])
    return costs[len(v), len(SHAPE)]


def filled(x):
    made = np.full(3, x)
    made[1] = 7
    return made


@pytest.mark.parametrize(("f", "xs"), [
    (warped, np.random.default_rng(4).random((6, 11))), (filled, [1, 2]), (filled, [1.5, 2.5]), (filled, [True, False]),
])  # fmt: skip
def test_arrays_that_are_filled(f, xs):
    assert check(f, xs, gears=LLVM, exact=True) is None


# ---- classes of results


def test_ints_among_floats_are_stored_as_the_loop_stores_them():
    f = lambda x: 0 if x < 0 else x
    check(f, [-1.0, 2.0, 3.0], gears=LLVM)
    check(f, np.array([-1.0, 2.0]), gears=LLVM)
    assert in_llvm(f, [-1.0, -2.0]).dtype == np.int64


def test_big_ints_are_the_loops():
    check(lambda n: n**20, [1, 2, 3, 100], gears=LLVM)
    check(lambda n: n * 4611686018427387904, [1, 2, 3], gears=LLVM)
    check(lambda n: n - 9223372036854775807, [1, -1, -2], gears=LLVM)


def test_errors_name_their_element():
    with pytest.raises(ZeroDivisionError) as caught:
        in_llvm(lambda n: 1 // n, [1, 2, 0, 4])
    assert "element 2" in caught.value.__notes__[0]


def test_the_callers_arrays_never_change():
    def f(row):
        row[0] = -1.0
        return row.copy()

    rows = np.arange(12.0).reshape(4, 3)
    before = rows.copy()
    assert np.array_equal(in_llvm(f, rows)[:, 0], [-1.0] * 4)
    assert np.array_equal(rows, before)


def test_captured_arrays_cannot_be_written_to():
    def f(x):
        WEIGHTS[0] = x
        return x

    assert "captured" in refusal(f, [1.0, 2.0])


# ---- warnings


@pytest.mark.parametrize("f", [lambda x: x * 1e308 * 10, lambda x: 1 / x, lambda x: np.log(x), lambda x: x - x * 1e400])
def test_numpy_warns_as_in_the_loop(f):
    xs = np.array([1.0, 2.0, 0.0, 3.0] * 50)
    assert said(lambda: in_llvm(f, xs)) == said(lambda: [f(x) for x in xs])


def said(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return {(w.category, str(w.message)) for w in caught}


def test_errstate_raise_is_obeyed():
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        in_llvm(lambda x: x * 1e308 * 10, np.array([1e-9, 2.0]))


# ---- trust


def test_threads_may_compile_and_run_the_same_function():
    f = lambda x: math.sin(x) if x > 0 else x * x
    xs = np.linspace(-3, 3, 500)
    want, wrong = [f(x) for x in xs], []

    def work():
        for _ in range(3):
            if in_llvm(f, xs).tolist() != want:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- on disk

SCRIPT = """
import numpy as np, pytest, upshift as up
from eagerly import compile_at_once
from upshift.compiler import module
from upshift.gears import background
background.AT_ONCE = True
compile_at_once(pytest.MonkeyPatch())
made = []
before = module.compiled
module.compiled = lambda *args: made.append(1) or before(*args)
K, NAMES = {k}, {"one": 1, "two": 2}
def helper(x): return x * K
def f(n):
    total, seen = 0.0, {"one"}
    for k, name in enumerate(("one", "two", "three")):
        total += helper(n) + k + (NAMES[name] if name in NAMES else len(seen))
        seen.add(name)
    return total
xs = np.arange(5.0)
got = up.map(f, xs, gear="llvm")
assert got.tolist() == [f(x) for x in xs], got
whole = up.function(f)
for _ in range(20):
    assert whole(2.0) == f(2.0)
print(len(made))
"""


def run_script(folder, k="2.0", source=SCRIPT):
    """How many modules a new process compiles."""
    env = {**os.environ, "UPSHIFT_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.path.dirname(__file__)}
    (folder / "script.py").write_text(source.replace("{k}", k))
    done = subprocess.run([sys.executable, folder / "script.py"], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_machine_code_is_kept_across_processes(tmp_path):
    assert run_script(tmp_path) > 0
    assert run_script(tmp_path) == 0
    assert run_script(tmp_path, "7.5") == 0  # another value of the same kind
    assert run_script(tmp_path, "7") > 0  # another kind
    assert run_script(tmp_path, source=SCRIPT.replace("x * K", "x + K")) > 0  # another helper
    assert (tmp_path / "cache" / "code").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("harm", [lambda data: data[: len(data) // 2], lambda data: data[:-1] + b"?", lambda data: b""])
def test_damaged_machine_code_is_made_anew(tmp_path, harm):
    made = run_script(tmp_path)
    for file in (tmp_path / "cache" / "code").iterdir():
        file.write_bytes(harm(file.read_bytes()))
    assert run_script(tmp_path) == made
    assert run_script(tmp_path) == 0


def squared(x, _):
    return x**2


def cubed(x, _):
    return x**3


def powered(x, exponent):
    return x**exponent


@pytest.mark.parametrize(("f", "exponent"), [(squared, 2), (cubed, 3), (powered, 2.0), (powered, 3)])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e5, 1e20, 1e-100, 1e100, 1e-150])
def test_a_product_that_is_written_as_a_power_has_the_bits_of_cs_pow(f, exponent: float, scale: float) -> None:
    """It is made by a product where that is sure to be the same: in about one of a thousand it is not."""
    numbers = (np.random.default_rng(int(-math.log10(scale)) + 500).normal(size=100_000) * scale).tolist()
    numbers[:6] = [0.0, -0.0, 1.0, 2.0, -0.5, 1e-200]
    got = up.map(f, numbers, [exponent] * len(numbers), gear="llvm", exact=True)
    assert got.tobytes() == np.array([x**exponent for x in numbers]).tobytes()


# ---- ints in loops


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def grown(n, times):
    for _ in range(times):
        if n % 5:
            n = 31 * n + 7
        else:
            n = n - 1
    return n


def flipping(x, times):
    total = x
    for i in range(times):
        if i % 2:
            total = total * -3
        else:
            total = total + x
    return total


def test_ints_that_are_small_go_unchecked_and_the_others_are_left():
    check(collatz, np.arange(1, 300), gears=LLVM, exact=True)
    check(collatz, [27, 2**57 + 1, 2**59 + 3, 2**61 + 1, 2**62 + 3, 97], gears=LLVM, exact=True)


@pytest.mark.parametrize("times", [3, 9, 11, 12, 13, 14, 20])
def test_ints_at_the_edge_of_64_bits(times):
    """Whether few or all lanes leave the range of small ints, the results are Python's."""
    numbers = [*range(-40, 40), *(2**k for k in range(40, 62)), *(-(2**k) + 1 for k in range(40, 62))]
    check(grown, numbers, [times] * len(numbers), gears=LLVM, exact=True)
    check(flipping, numbers, [times] * len(numbers), gears=LLVM, exact=True)
    check(flipping, [float(n) for n in numbers], [times] * len(numbers), gears=LLVM, exact=True)


# ---- powers


WHOLE = [float(i) for i in range(-30, 31)]
OTHERS = [0.5, -0.5, 2.0000000000000004, 21.999999999999996, 22.5, -22.5, 307.0, -307.0, 308.5, 400.0, -400.0, -0.0]


@pytest.mark.parametrize("f", [lambda k: 10.0**k, lambda k: 10**k * 1.0, lambda k: 10.0 ** (k / 2), lambda k: k**10.0])
@pytest.mark.parametrize("of", [float, np.float64])
def test_powers_of_ten_have_cs_very_bits(f, of):
    xs = [of(x) for x in WHOLE + OTHERS if abs(x) < 300]
    got = up.map(f, xs, gear="llvm", on_error=("fill", 0.25))
    want = up.map(f, xs, gear="loop", on_error=("fill", 0.25))
    assert np.asarray(got).tobytes() == np.asarray(want).tobytes()


def test_powers_of_ten_by_ints():
    f = lambda k: 10.0 ** (k - 40)
    ks = np.arange(81)
    want = np.array([f(k) for k in ks.tolist()])
    assert up.map(f, ks.tolist(), gear="llvm", exact=True).tobytes() == want.tobytes()
    np.testing.assert_allclose(up.map(f, ks, gear="llvm"), want, rtol=1e-14)


@pytest.mark.parametrize("f", [lambda k: 10.0 ** (k - 40), lambda k: (k + 2) ** -1.5])
def test_powers_with_ints_of_numpys_are_numpys_to_the_last_bit(f):
    """NumPy computes those of its own ints and Python's floats in vectors, with bits that C's pow has not."""
    ks = np.arange(81).repeat(20)
    assert check(f, ks, gears=LLVM, exact=True) is None
    for _ in range(3):
        assert up.map(f, ks, exact=True).tobytes() == np.array([f(k) for k in ks]).tobytes()
    whole = up.function(f)
    assert all(whole(k).tobytes() == f(k).tobytes() for k in ks)


@pytest.mark.parametrize("f", [lambda x: x**2, lambda x: x**3, lambda x: x**2.0 - x**3.0])
def test_squares_and_cubes_have_cs_very_bits(f):
    """Among a million, some hundred lie so near the middle between two floats that a product might round otherwise."""
    rng = np.random.default_rng(5)
    xs = np.concatenate([rng.uniform(-4, 4, 400_000), np.exp(rng.uniform(-40, 40, 100_000)), 2.0 ** np.arange(-30, 30)])
    kept = np.array([f(float(x)) for x in xs])
    assert up.map(f, xs, gear="llvm").tobytes() == kept.tobytes()


@pytest.mark.parametrize("low", [-(2**62), -9, 1])
def test_floor_divisions_of_every_sign(low):
    rng = np.random.default_rng(6)
    a, b = rng.integers(low, 2**62 if low < -9 else 9, (2, 5000))
    a[:4], b[:4] = (-(2**63), 2**63 - 1, 0, -1), (-1, 1, 5, 2)
    b[b == 0] = 3
    for f in (lambda a, b: a // b - a % b, lambda a, b: (a % b, a // b), lambda a, b: a % 7 + a // -3 + b % 8):
        got = up.map(f, a[1:].tolist(), b[1:].tolist(), gear="llvm")
        want = up.map(f, a[1:].tolist(), b[1:].tolist(), gear="loop")
        for one, other in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,)):
            assert one.dtype == other.dtype and np.array_equal(one, other)


# ---- classes that columns do not tell apart


def either_float(x):
    if x > 9.0:
        raise ValueError("too much")
    return x * 2.0 if x > 0.0 else 0.0


def either_by_captured(x):
    if x > 9.0:
        raise ValueError("too much")
    return (x if x > 0.0 else math.cos(x)) * HALF


HALF = 0.5


def either_int(x):
    whole = math.floor(x)
    return whole if x > 0.0 else np.int64(7)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("f", "odd"), [(either_float, 10.0), (either_by_captured, 10.0), (either_int, 1e19)])
def test_a_list_holds_the_loops_own_classes(f, odd, traced):
    """Python's numbers for some elements, NumPy's for others: an array does not tell them apart, a list does."""
    f = types.FunctionType(f.__code__.replace(), f.__globals__)
    xs = np.linspace(-2.0, 8.0, 200)
    for gear in ("numpy", "llvm") if traced else ("llvm",):
        np.testing.assert_allclose(up.map(f, xs, gear=gear), [f(x) for x in xs], rtol=1e-12)
    xs[11] = odd
    want = [type(f(x)) for x in xs if x != 10.0]
    for gear in (None, "llvm"):
        try:
            got = up.map(f, xs, gear=gear, on_error="return")
        except up.GearRefused as refused:
            assert gear and "classes" in str(refused)
            continue
        assert isinstance(got, list) or got.dtype == object
        assert [type(one) for one in got if not isinstance(one, Exception)] == want
