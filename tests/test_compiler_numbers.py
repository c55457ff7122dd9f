"""Numbers in the compiler: NumPy's, `math`, `cmath`, powers, rounding; every lane as Python and NumPy have it."""

from __future__ import annotations

import ast
import cmath
import itertools
import linecache
import math
import operator
import random
import sys
import warnings

import numpy as np
import pytest

from compiled import Compiled, check, refusal, same
from upshift.compiler.source import adopt_source

ANY = 10**9
"""Where lanes may be left: what is made has to be right."""
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
KINDS = [*DTYPES, "pybool", "pyint", "pyfloat", "pycomplex"]
FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.0, 2.5, 3.0, -2.0, -3.5, 1e-300, 5e-324, 2.2250738585072014e-308, 2.2e-308,
    1e-20, 1e300, 1.7976931348623157e308, math.inf, -math.inf, math.nan, 710.0, 709.0, -745.2, 170.6, 171.7, -200.5,
    0.9999999999999999, 1.0000000000000002, 23.0, 24.0, 4503599627370496.0, 9007199254740993.0, 1e16, 0.1, 65504.0,
]  # fmt: skip
INTS = [
    0,
    1,
    -1,
    2,
    3,
    7,
    -8,
    10,
    20,
    21,
    62,
    127,
    128,
    255,
    256,
    -129,
    2**31,
    2**53,
    2**53 + 1,
    2**62,
    2**63 - 1,
    -(2**63),
]
COMPLEXES = [
    complex(a, b) for a in (0.0, -0.0, 1.0, -2.5, 0.3, 1e200, math.inf, math.nan) for b in (0.0, 1.0, -3.0, -0.5)
]


@pytest.fixture(autouse=True)
def warnings_are_errors():
    """Where NumPy warns, the lane is to be left: the plain function raises here."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def numbers(kind: str, seed: int = 0, more: int = 6) -> list:
    """Nasty and random numbers of one class."""
    rng = random.Random(f"{kind}{seed}")
    if kind == "pybool":
        return [True, False]
    if kind == "pyint":
        return INTS + [rng.randrange(-(2**63), 2**63) >> rng.randrange(63) for _ in range(more)]
    if kind == "pyfloat":
        return FLOATS + [rng.uniform(-50, 50) for _ in range(more)]
    if kind == "pycomplex":
        return COMPLEXES + [complex(rng.uniform(-9, 9), rng.uniform(-9, 9)) for _ in range(more)]
    dtype = np.dtype(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            some = {info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, info.max // 2}
            some |= {-1, -2, -7} if dtype.kind == "i" else set()
            some |= {rng.randrange(int(info.min), int(info.max) + 1) >> rng.randrange(8) for _ in range(more)}
            return [dtype.type(int(v)) for v in sorted(map(int, some))]
        if dtype.kind == "f":
            info = np.finfo(dtype)
            ends = [float(v) for v in (info.max, info.tiny, info.smallest_subnormal, info.eps)]
            return [
                dtype.type(v)
                for v in [*FLOATS[:12], *ends, math.inf, -math.inf, math.nan, *numbers("pyfloat", seed, more)[-more:]]
            ]
        if dtype.kind == "b":
            return [dtype.type(0), dtype.type(1)]
        return [dtype.type(z) for z in numbers("pycomplex", seed, more)]


def written(text: str):
    """A function of an expression, whose source is in a file, as far as anybody can tell."""
    names = [name for name in ("a", "b", "c") if name in _names_in(text)]
    source = f"def f({', '.join(names)}):\n    return {text}\n"
    name = f"<numbers {text}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"math": math, "cmath": cmath, "np": np, "operator": operator}
    exec(compile(source, name, "exec"), space)
    return space["f"]


def _names_in(text: str) -> set[str]:
    import ast

    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def is_defined(f, rows) -> bool:
    """Whether an expression means anything for numbers of these classes."""
    for row in rows[:8]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                f(*row)
        except (TypeError, AttributeError, IndexError):
            continue
        except (ArithmeticError, ValueError):
            return True
        return True
    return False


def some_of(rows: list, count: int, seed: int = 0) -> list:
    return random.Random(seed).sample(rows, count) if len(rows) > count else rows


# ---- NumPy's numbers

SIGNS = ["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!="]
PAIRS = [
    ("float64", "float64"), ("float64", "pyfloat"), ("pyfloat", "float64"), ("float64", "pyint"),
    ("float32", "float32"), ("float32", "pyfloat"), ("pyint", "float32"), ("float16", "float16"),
    ("float16", "pyfloat"), ("int64", "int64"), ("int64", "pyint"), ("pyint", "int64"), ("int64", "pyfloat"),
    ("int8", "int8"), ("uint8", "pyint"), ("uint8", "int8"), ("uint64", "int64"), ("uint64", "uint64"),
    ("uint64", "pyint"), ("int32", "float32"), ("bool", "bool"), ("bool", "pyint"), ("bool", "float32"),
    ("float32", "bool"), ("int16", "pybool"), ("complex128", "complex128"), ("complex64", "pyfloat"),
    ("pycomplex", "float64"), ("pycomplex", "float32"), ("float64", "complex64"),
]  # fmt: skip


@pytest.mark.parametrize("sign", SIGNS)
def test_operators_of_numpys_numbers(sign):
    f = written(f"a {sign} b")
    for a, b in PAIRS:
        rows = [(x, y) for x in numbers(a) for y in numbers(b, 1)]
        if sign == "**":
            rows = [(x, y) for x, y in rows if not (type(y) is int and abs(y) > 300)]
        if is_defined(f, rows) and not (a == "pycomplex" and b == "float64" and sign in ("<", "<=", ">", ">=")):
            check(f, some_of(rows, 250), left=ANY)


NOT_LEFT = [
    ("float64", "a * b + a / 2", 0.0),
    ("float32", "a - b * 2.5", 0.0),
    ("int64", "(a & 255) + (b & 7) * 3", 0.0),
]


@pytest.mark.parametrize(("kind", "text", "_"), NOT_LEFT)
def test_nan_and_infinity_are_not_left_where_numpy_does_not_warn(kind, text, _):
    f = written(text)
    rows = [(x, y) for x in numbers(kind) for y in numbers(kind, 1)]

    def is_quiet(row):
        try:
            f(*row)
        except Exception:
            return False
        return True

    check(f, [row for row in rows if is_quiet(row)])


ONE = """abs(a)|-a|+a|~a|bool(a)|int(a)|float(a)|complex(a)|a.item()|a.real|a.imag|
(a.ndim, a.size, a.shape, a.itemsize)|a.dtype == np.float32|round(a)|round(a, 2)|round(a, -1)|np.round(a, 3)|
np.float16(a)|np.float32(a)|np.float64(a)|np.int8(a)|np.int64(a)|np.uint8(a)|np.uint64(a)|np.bool_(a)|
np.complex64(a)|a.astype(np.float16)|a.astype('i2')|a.astype(float)|not a|math.sqrt(a)|math.floor(a)|
math.ceil(a)|math.sin(a)|math.isnan(a)|math.log(a)|a.is_integer()|a.conjugate()|a.bit_count()|
isinstance(a, float)|isinstance(a, np.integer)|type(a)(1)|np.clip(a, 1, 3)|np.clip(a, None, 2.5)|
np.clip(a, -1, 1000)|hash(a)|a == None|max(a, 1)|min(a, 2.5)|divmod(a, 3)|divmod(7, a)|pow(a, 2)|a ** 3|2 ** a|
1 - a|a * 2.5|a // 2|a % 3|sum((a, 1, 2.5))|a and 1|[1, 2, 3, 4, 5, 6, 7, 8][a]|math.gcd(a, 6)|[0] * (a & 3)|
np.sqrt(a)|np.exp(a)|np.log(a)|np.sin(a)|np.tanh(a)|np.floor(a)|np.sign(a)|np.isnan(a)|np.square(a)|
np.arctan(a)|np.log1p(a)|np.rint(a)|np.absolute(a)|np.cbrt(a)|np.modf(a)|np.frexp(a)|np.reciprocal(a)|
np.logical_not(a)|np.invert(a)|np.deg2rad(a)"""


@pytest.mark.parametrize("text", ONE.replace("\n", "").split("|"))
def test_what_is_made_of_one_number(text):
    f = written(text)
    for kind in KINDS:
        if kind.startswith("py") and "np." not in text:
            continue
        rows = [(x,) for x in numbers(kind, 2, 20)]
        if kind == "pyint":
            rows = [row for row in rows if abs(row[0]) < 300]
        if is_defined(f, rows) and refusal(f, rows[0]) is None:
            check(f, rows, left=ANY)


TWO = """np.add(a, b)|np.subtract(a, b)|np.multiply(a, b)|np.divide(a, b)|np.floor_divide(a, b)|
np.remainder(a, b)|np.minimum(a, b)|np.maximum(a, b)|np.fmin(a, b)|np.fmax(a, b)|np.power(a, b)|np.hypot(a, b)|
np.arctan2(a, b)|np.gcd(a, b)|np.lcm(a, b)|np.copysign(a, b)|np.less(a, b)|np.equal(a, b)|np.logical_and(a, b)|
np.left_shift(a, b)|np.divmod(a, b)|np.fmod(a, b)|np.logaddexp(a, b)|np.nextafter(a, b)|np.heaviside(a, b)|
np.ldexp(a, b)|np.bitwise_xor(a, b)"""


@pytest.mark.parametrize("text", TWO.replace("\n", "").split("|"))
def test_numpys_functions_of_two_numbers(text):
    f = written(text)
    for a, b in [*PAIRS[:20], ("pyint", "pyint"), ("pyfloat", "pyfloat"), ("pyint", "pyfloat"), ("pybool", "pyint")]:
        rows = some_of([(x, y) for x in numbers(a) for y in numbers(b, 1)], 150)
        if is_defined(f, rows) and refusal(f, rows[0]) is None:
            check(f, rows, left=ANY)


def test_which_numbers_of_numpy_compile():
    """Not one of these is refused: `left=ANY` above must not hide that nothing compiles."""
    for kind in DTYPES:
        x = numbers(kind)[1]
        assert refusal(lambda a: a + a, x) is None
        assert refusal(lambda a: a == a, x) is None
        assert refusal(lambda a: np.abs(a), x) is None
        assert refusal(lambda a: 2 if a else 1, x) is None
        if kind not in ("bool", "complex64", "complex128"):
            assert (
                refusal(lambda a: (a * 2 + 1, a // 3, a % 2, a / 2, np.maximum(a, 3), round(a), np.round(a, 1)), x)
                is None
            )
        if "float" in kind:
            assert refusal(lambda a: (np.exp(a), np.sin(a), np.log(a), np.hypot(a, 1), np.floor(a), a**2), x) is None


def numpy_in_containers(i):
    table = {1: 2}
    table[i] = 5
    found = {i, 2, 7}
    xs = [10, 20, 30]
    return xs[i % 3], xs[:i], xs * i, table.get(2, -1), sorted(table), list(found), i in table, (1, 2)[i % 2], hash(i)


def test_numpys_ints_find_and_count_things():
    check(numpy_in_containers, [np.int64(i) for i in (-3, -1, 0, 1, 2, 5)])
    check(numpy_in_containers, [np.uint8(i) for i in (0, 1, 2, 5)])


def numpy_in_try(a, b):
    try:
        return a + b
    except OverflowError:
        return -1


def test_an_int_that_does_not_fit_a_dtype_can_be_caught():
    check(numpy_in_try, [(np.uint8(1), b) for b in (1, 254, 300, -1)], left=1)


# ---- math

MATHS = """math.gamma(a)|math.lgamma(a)|math.frexp(a)|math.modf(a)|math.ulp(a)|math.erf(a)|math.erfc(a)|
math.cbrt(a)|math.exp2(a)|math.expm1(a)|math.log1p(a)|math.asinh(a)|math.acosh(a)|math.atanh(a)|math.sinh(a)|
math.tan(a)|math.acos(a)|math.log(a)|math.log2(a)|math.log10(a)|math.exp(a)|math.degrees(a)|math.radians(a)|
math.floor(a)|math.ceil(a)|math.trunc(a)|math.isfinite(a)|round(a)|int(a)|math.hypot(a)|math.sqrt(a)|
a.is_integer()|a ** 2|a ** 3|a ** 4|a ** 0.5|a ** -1|a ** 10|2 ** a|a // 3|a % -2.5|divmod(a, 7)|math.pow(a, 3)|
a ** 1.5|math.prod([a, 2, a])|hash(a) if a == a else 0"""
MATHS_OF_TWO = """math.hypot(a, b)|math.remainder(a, b)|math.fmod(a, b)|math.atan2(a, b)|math.copysign(a, b)|
math.pow(a, b)|math.isclose(a, b)|math.dist((a, b), (b, 1.0))|math.hypot(a, b, a * 0.5)|math.log(a, b)|a ** b|
a // b|a % b|divmod(a, b)|math.fsum([a, b, -a, 0.1, b])|math.nextafter(a, b)|math.dist([a], [b])|
sum([a, b, 0.1, a])|a == b|a < b"""
MATHS_OF_INTS = """math.log(a)|math.log2(a)|math.sqrt(a)|math.isqrt(a)|math.gamma(a)|math.floor(a)|
math.lgamma(a)|math.fabs(a)|a / 3|a / 7.5|float(a)|math.frexp(a)|a ** 2|a ** -1|a ** 0.5|abs(a)|-a|~a|
a.bit_length()|a.bit_count()|math.factorial(a)|math.comb(a, 3)|math.perm(a, 2)|math.trunc(a)|hash(a)|a == 0.5|
a < 9007199254740993.0|a >= 1e300|int(a) % 7"""


def floats(seed: int, count: int) -> list[float]:
    rng = random.Random(seed)
    made = list(FLOATS)
    for _ in range(count):
        way = rng.randrange(6)
        x = rng.uniform(-1, 1)
        half = rng.randrange(-400, 400) / 2
        scaled = (math.ldexp(x, rng.randrange(-60, 60)), math.ldexp(x, rng.randrange(-1080, 1025)))
        made.append((x, 10 * x, 300 * x, half, *scaled)[way])
    return made


@pytest.mark.parametrize("text", MATHS.replace("\n", "").split("|"))
def test_functions_of_a_float(text):
    check(written(text), [(x,) for x in floats(3, 2000)], left=ANY)


@pytest.mark.parametrize("text", MATHS_OF_TWO.replace("\n", "").split("|"))
def test_functions_of_two_floats(text):
    rows = [*itertools.product(FLOATS, FLOATS), *zip(floats(4, 2000), floats(5, 2000)[::-1])]
    check(written(text), rows, left=ANY)


@pytest.mark.parametrize("text", MATHS_OF_INTS.replace("\n", "").split("|"))
def test_functions_of_an_int(text):
    rows = [(x,) for x in numbers("pyint", 7, 1500)]
    if "factorial" in text or "comb" in text or "perm" in text:
        rows = [row for row in rows if row[0] < 5000]
    check(written(text), rows, left=ANY)


def test_ldexp_and_modulo():
    check(written("math.ldexp(a, b)"), [(x, i) for x in FLOATS for i in (0, 1, -1, 52, -1080, 2000, 2**40, -(2**63))])
    check(
        written("pow(a, b, c)"),
        [(a, b, c) for a in (0, 1, -7, 2**40) for b in (0, 1, 5, 63) for c in (1, 7, -9, 2**31 - 1)],
    )
    check(
        written("a * b % c"), [(a, b, c) for a in INTS for b in (3, -5, 2**62) for c in (1, 7, -9, 2**61 - 1)], left=ANY
    )


@pytest.mark.skipif(sys.version_info < (3, 12), reason="new in 3.12")
def test_what_came_with_3_12():
    pairs = list(zip(floats(8, 1500), floats(9, 1500)[::-1]))
    check(written("math.sumprod([a, b, 0.5], [b, a, 1])"), pairs, left=ANY)
    check(written("math.sumprod([a, b, 5], [b, a, 1])"), [(a, b) for a in INTS[:14] for b in INTS[:14]], left=ANY)
    steps = (0, 1, 2, 3, 1000, 2**52, 2**62, 2**63 - 1, -1)
    near = (0.0, -0.0, 5e-324, -5e-324, 1.0, -1.0, math.inf, math.nan, 1e300)
    check(written("math.nextafter(a, b, steps=c)"), [(a, b, c) for a in near for b in near for c in steps], left=ANY)


# ---- complex numbers

OF_COMPLEX = """cmath.sqrt(a)|cmath.exp(a)|cmath.log(a)|cmath.log10(a)|cmath.sin(a)|cmath.cos(a)|cmath.tan(a)|
cmath.sinh(a)|cmath.cosh(a)|cmath.tanh(a)|cmath.asin(a)|cmath.acos(a)|cmath.atan(a)|cmath.asinh(a)|
cmath.acosh(a)|cmath.atanh(a)|cmath.phase(a)|cmath.polar(a)|cmath.isfinite(a)|abs(a)|a ** 2|a ** -3|a ** 0.5|
a ** 7|a ** (1+2j)|2 ** a|1 / a|a * a|a == 1|a == 2.5|-a|2.5 * a|cmath.log(a, 2)|a.conjugate()|
hash(a) if a == a else 0"""


@pytest.mark.parametrize("text", OF_COMPLEX.replace("\n", "").split("|"))
def test_functions_of_a_complex_number(text):
    check(written(text), [(z,) for z in complexes(1, 1200)], left=ANY)


@pytest.mark.parametrize(
    "text", ["a ** b", "a / b", "a * b", "a + b", "a - b", "a == b", "cmath.isclose(a, b)", "cmath.log(a, b)"]
)
def test_functions_of_two_complex_numbers(text):
    check(written(text), list(zip(complexes(2, 1500), complexes(3, 1500)[::-1])), left=ANY)


def complexes(seed: int, count: int) -> list[complex]:
    rng = random.Random(seed)
    parts = [0.0, -0.0, 1.0, -1.0, 1e-200, 5e-324, 1e200, 1.7e308, math.inf, -math.inf, math.nan, 708.0, 709.5]
    made = [complex(a, b) for a in parts for b in parts]
    made += [complex(rng.uniform(-9, 9), rng.uniform(-9, 9)) for _ in range(count)]
    made += [complex(rng.choice((1.0, -1.0, 0.0)), rng.uniform(-1.5, 1.5)) for _ in range(count // 4)]
    return made


def test_lanes_that_are_left_are_few():
    """Ordinary numbers stay in machine code."""
    rng = random.Random(11)
    rows = [(complex(rng.uniform(-9, 9), rng.uniform(-9, 9)),) for _ in range(500)]
    for text in OF_COMPLEX.replace("\n", "").split("|"):
        check(written(text), rows)
    rows = [(rng.uniform(0.1, 0.9), rng.uniform(0.5, 30)) for _ in range(500)]
    for text in MATHS_OF_TWO.replace("\n", "").split("|"):
        check(written(text), rows)


def test_same_tells_classes_and_zeros_apart():
    assert not same(0.0, -0.0) and not same(1, 1.0) and not same(np.float64(1), 1.0) and same(math.nan, math.nan)
    assert Compiled(lambda a: a, [(1,)]).run([(5,)]) == ({0: 5}, {})


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("text", ["a + b", "a - b", "a * b", "a / b", "np.sqrt(a) - b", "np.float32(a) * b"])
def test_quiet_code_leaves_no_lane_for_a_warning(text, dtype):
    tree = ast.parse(f"def quiet(a, b):\n    return {text}")
    space = {"np": np}
    exec(compile(tree, "<no file>", "exec"), space)
    assert adopt_source(space["quiet"].__code__, tree.body[0], quiet=True)
    edges = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
    values = np.array([0, 1, 3, 100, edges.min, edges.max], dtype)
    with np.errstate(all="ignore"):
        check(space["quiet"], list(itertools.product(values, values)))
