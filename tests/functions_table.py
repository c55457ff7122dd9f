"""Nothing in; out, ordinary functions and random calls of them, for the law of `up.function`.

`make(rng)` gives the arguments of one call. Calling it twice with the same seed gives the same call twice, with arrays
that share memory where they do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy import zeros

import upshift as up

Rng = np.random.Generator
Given = tuple[Any, ...]


@dataclass(frozen=True)
class Call:
    """The arguments of one call."""

    args: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A function, its random calls, and whether machine code is expected for some of them."""

    f: Callable[..., Any]
    make: Callable[[Rng], Any]
    compiles: bool = True


ROWS: list[Row] = []


def row(*makers: Callable[[Rng], Any], compiles: bool = True) -> Callable[[Any], Any]:
    """A function that is called with arguments of several makers, by turns at random."""

    def add(f: Any) -> Any:
        ROWS.append(Row(f, lambda rng: makers[int(rng.integers(len(makers)))](rng), compiles))
        return f

    return add


# ---- arguments


def ints(*bounds: tuple[int, int]) -> Callable[[Rng], Given]:
    return lambda rng: tuple(int(rng.integers(low, high)) for low, high in bounds)


def floats(count: int, scale: float = 3.0) -> Callable[[Rng], Given]:
    return lambda rng: tuple(float(x) for x in rng.normal(0, scale, count))


def numpys(count: int) -> Callable[[Rng], Given]:
    return lambda rng: tuple(rng.normal(0, 3, count))


def array(rng: Rng, kind: str = "float64", most: int = 9, ndim: int = 1) -> Any:
    """An array of some length, now and then empty, with gaps, backwards, read-only or with odd numbers."""
    shape = tuple(int(n) for n in rng.integers(0 if rng.random() < 0.15 else 1, most, ndim))
    made = rng.normal(0, 3, shape)
    if kind != "float64":
        made = (made > 0) if kind == "bool" else made.round().astype(kind) if kind == "int64" else made + 1j * made
    elif made.size and rng.random() < 0.1:
        made.flat[int(rng.integers(made.size))] = rng.choice([np.nan, np.inf, 0.0, 1e300])
    how = rng.random()
    if how < 0.15:
        made = np.repeat(made, 2, axis=-1)[..., ::2]
    elif how < 0.25:
        made = made[..., ::-1]
    elif how < 0.3:
        made.flags.writeable = False
    return made


def arrays(*kinds: str, ndim: int = 1, most: int = 9) -> Callable[[Rng], Given]:
    return lambda rng: tuple(array(rng, kind, most, ndim) for kind in kinds)


def alike(count: int, *more: Callable[[Rng], Any]) -> Callable[[Rng], Given]:
    """Arrays of one length, and what else."""

    def make(rng: Rng) -> Given:
        n = int(rng.integers(0 if rng.random() < 0.1 else 1, 9))
        return (*(rng.normal(0, 3, n) for _ in range(count)), *(one(rng) for one in more))

    return make


def some_float(rng: Rng) -> float:
    return float(rng.normal(0, 2))


def some_int(rng: Rng) -> int:
    return int(rng.integers(-3, 6))


# ---- numbers and loops

SCALE = 1.5
LIMIT = 40


@row(ints((1, 300)), ints((-3, 3)))
def collatz(n):
    steps = 0
    while n > 1 and steps < 500:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@row(ints((0, 400), (0, 400)), ints((-50, 50), (1, 9)))
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@row(ints((0, 60)), floats(1))
def sum_of_squares(n):
    total = 0
    for i in range(int(n)):
        total += i * i
    return total


@row(floats(1, 20.0), numpys(1))
def newton(x):
    if x <= 0:
        return 0.0
    guess = x
    for _ in range(20):
        guess = 0.5 * (guess + x / guess)
    return guess


@row(floats(2, 1.0), numpys(2))
def escape(cr, ci):
    zr = zi = 0.0
    for i in range(LIMIT):
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        if zr * zr + zi * zi > 4.0:
            return i
    return LIMIT


@row(ints((-2, 400)))
def is_prime(n):
    if n < 2:
        return False
    i = 2
    while i * i <= n:
        if n % i == 0:
            return False
        i += 1
    return True


@row(ints((0, 120)))
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@row(ints((0, 10**9)), ints((-5, 0)))
def digits(n):
    total = 0
    while n > 0:
        total += n % 10
        n //= 10
    return total


@row(numpys(2), lambda rng: tuple(rng.choice([1e200, 1e-200, 1.0, -3.0], 2)), floats(2))
def straight(a, b):
    return a * b > 1.0, a - b


@row(floats(1), numpys(1), ints((-5, 5)))
def horner(x):
    value = 0.0
    for power in range(6):
        value = value * x + power
    return value


@row(floats(2, 2.0))
def simpson(low, high):
    n = 10
    h = (high - low) / n
    total = math.exp(-low * low) + math.exp(-high * high)
    for i in range(1, n):
        x = low + i * h
        total += (4 if i % 2 else 2) * math.exp(-x * x)
    return total * h / 3


@row(floats(2, 1.5), ints((0, 4), (0, 2)))
def logistic(r, x):
    for _ in range(30):
        x = r * x * (1 - x)
    return x


@row(ints((0, 50)))
def leibniz(n):
    total = 0.0
    for k in range(n):
        total += (-1.0) ** k / (2 * k + 1)
    return 4 * total


@row(ints((0, 30)))
def factorial(n):
    value = 1
    for i in range(2, n + 1):
        value *= i
    return value


@row(ints((0, 2**62), (0, 70)), ints((0, 9), (-2, 3)))
def shifted(n, by):
    for _ in range(3):
        n = (n << by) >> by
    return n


@row(ints((0, 2**40)))
def popcount(n):
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


@row(ints((0, 100), (1, 20)))
def congruential(seed, n):
    for _ in range(n):
        seed = (1103515245 * seed + 12345) % 2147483648
    return seed


@row(floats(1), ints((-4, 4)))
def of_two_classes(x):
    total = 0
    for i in range(4):
        if x > 0:
            total += 0.5 * i
    return total


@row(floats(2), ints((-4, 4), (-4, 4)), numpys(2))
def ratio(a, b):
    total = 0.0
    for i in range(3):
        total += a / (b - i)
    return total


@row(floats(1), numpys(1))
def roots(x):
    total = 0.0
    for i in range(4):
        total += math.sqrt(x + i)
    return total


@row(ints((-4, 9)))
def raises(n):
    for i in range(4):
        if i > n:
            raise ValueError(f"no more than {n}")
    return n


@row(ints((0, 9)), floats(1))
def pairs(x):
    low, high = x, x
    for i in range(5):
        low, high = min(low, low - i), max(high, high + i)
    return low, high, low < high


@row(floats(1), numpys(1), ints((-3, 3)))
def rectified(x):
    total = 0.0
    for i in range(4):
        total += max(0, x - i)
        total -= min(x, 1, i * 0.5)
    return total


@row(floats(2), ints((-3, 3), (-3, 3)), lambda rng: (some_int(rng), some_float(rng)))
def clipped(x, low):
    for i in range(3):
        x = max(x, low)
    return min(x, 2)


@row(
    lambda rng: (some_int(rng), some_float(rng)),
    lambda rng: (2**60 + 1, float(2**60)),
    lambda rng: (1, math.nan),
    compiles=False,
)
def larger(n, x):
    count = 0
    for i in range(2):
        count += max(n, x) > i
    return count, max(n, x), min(x, n)


@row(floats(1), numpys(1))
def nothing(x):
    for _ in range(3):
        x += 1


@row(lambda rng: (complex(*rng.normal(0, 1, 2)),), lambda rng: (np.complex128(complex(*rng.normal(0, 1, 2))),))
def julia(z):
    for i in range(20):
        z = z * z + (0.3 + 0.5j)
        if abs(z) > 2:
            return i, z
    return 20, z


@row(floats(1), ints((-3, 3)))
def parts_of_complex(x):
    z = 1.0 + 2.0j
    for _ in range(3):
        z = z * x
    return z.real


@row(floats(2), numpys(2), lambda rng: (float(rng.normal()), rng.normal()))
def of_mixed(a, b):
    total = a
    for i in range(3):
        if i > b:
            total = total + b
    return total


@row(lambda rng: (some_float(rng),), lambda rng: (some_float(rng), some_int(rng)))
def with_default(x, n=4):
    for i in range(n):
        x = x * 0.5 + i
    return x


@row(lambda rng: Call((some_float(rng),), {"n": some_int(rng)}), lambda rng: Call((some_float(rng),)))
def by_keyword(x, *, n=3, scale=0.5):
    for i in range(n):
        x = x * scale + i
    return x


@row(lambda rng: Call((), {"b": some_int(rng), "a": some_int(rng)}), lambda rng: Call((1,), {"c": 2}))
def named(a, b=2):
    for i in range(3):
        a = a * b - i
    return a


@row(floats(1), ints((0, 5)))
def with_global(x):
    for i in range(3):
        x = x * SCALE + i
    return x


def _squared(x, n=2):
    total = x
    for _ in range(n):
        total = total * x
    return total


@row(floats(1), ints((0, 5)), numpys(1))
def with_helper(x):
    return _squared(x) + _squared(x + 1, 3)


@up.function
def _inner(x):
    for i in range(3):
        x = x + i * 0.5
    return x


@row(floats(1), numpys(1))
def with_decorated_helper(x):
    total = 0.0
    for _ in range(2):
        total += _inner(x)
    return total


def _closed(k):
    def closed(x):
        for _ in range(3):
            x = x * k + 1
        return x

    return closed


row(floats(1), ints((0, 9)))(_closed(3))
row(floats(1), numpys(1))(_closed(0.25))
row(floats(1))(lambda x: sum_twice(x))


def sum_twice(x):
    total = x
    for _ in range(2):
        total += x
    return total


@row(numpys(1), floats(1))
def with_numpy_maths(x):
    total = 0.0
    for i in range(3):
        total += np.sqrt(np.abs(x) + i) + np.exp(-x * x)
    return total


@row(floats(1, 1e200), floats(1))
def with_local_array(x):
    cells = zeros(3)
    for i in range(3):
        cells[i] = x * i
    return cells[1] * cells[2]


@row(floats(1), ints((-3, 9)), numpys(1))
def whole_numbers(x):
    total = 0
    for i in range(3):
        total += int(x) + round(x) + math.floor(x + i)
    return total


@row(floats(2), ints((-3, 3), (-3, 3)))
def powers(a, b):
    total = 1.0
    for _ in range(2):
        total = total * a**b
    return total


@row(floats(2), ints((-9, 9), (-3, 3)), numpys(2))
def divided(a, b):
    return a // b, a % b, divmod(a, b)


@row(lambda rng: (bool(rng.random() < 0.5), some_int(rng)), lambda rng: (np.bool_(True), some_int(rng)))
def with_flag(flag, n):
    total = 0
    for i in range(5):
        if flag and i > n:
            total += i
    return total


@row(floats(1), numpys(1), ints((0, 3)))
def truth(x):
    found = False
    for i in range(3):
        found = found or x > i
    return found


@row(lambda rng: ((some_float(rng), some_float(rng)), some_int(rng)), lambda rng: ((1, 2), 3), lambda rng: ((1,), 2))
def of_tuple(point, n):
    x, y = point
    for _ in range(n):
        x, y = x + y, x - y
    return x, y


@row(lambda rng: (some_int(rng), some_float(rng)), ints((0, 3), (0, 3)))
def bisect(n, x):
    low, high = -10.0, 10.0
    for _ in range(30):
        middle = (low + high) / 2
        if middle * middle * middle < x:
            low = middle
        else:
            high = middle
    return low + n


# ---- arrays that are read


@row(arrays("float64"), arrays("int64"), arrays("bool"))
def summed(x):
    total = 0
    for i in range(len(x)):
        total += x[i]
    return total


@row(arrays("float64"), arrays("int64"))
def summed_from_float(x):
    total = 0.0
    for v in x:
        total += v
    return total


@row(alike(2), arrays("float64", "float64"), arrays("int64", "float64"))
def dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@row(arrays("float64"), arrays("int64"))
def largest(x):
    best = x[0]
    for v in x:
        if v > best:
            best = v
    return best


@row(arrays("float64"), arrays("int64"))
def where_largest(x):
    at = 0
    for i, v in enumerate(x):
        if v > x[at]:
            at = i
    return at


@row(alike(1, some_float), alike(1, some_int))
def above(x, limit):
    count = 0
    for v in x:
        if v > limit:
            count += 1
    return count


@row(arrays("float64", ndim=2), arrays("int64", ndim=2), arrays("float64", ndim=1))
def trace_of(m):
    total = 0.0
    for i in range(min(m.shape[0], m.shape[1])):
        total += m[i, i]
    return total


@row(arrays("float64", ndim=2))
def rows_of(m):
    total = 0.0
    for line in m:
        for v in line:
            total += v
    return total, m.shape


@row(alike(2), arrays("float64", "float64"))
def distance(a, b):
    total = 0.0
    for x, y in zip(a, b):
        total += (x - y) ** 2
    return math.sqrt(total)


@row(arrays("complex128"), arrays("float64"))
def energy(z):
    total = 0.0
    for v in z:
        total += v.real * v.real
    return total


@row(alike(1, some_int), alike(1, lambda rng: some_int(rng) * 10))
def item(x, i):
    total = 0.0
    for _ in range(2):
        total += x[i]
    return total


@row(alike(1))
def mean(x):
    total = 0.0
    for v in x:
        total += v
    return total / len(x)


@row(alike(1), compiles=False)
def with_infinite(x):
    total = 0.0
    for v in x:
        total += 1.0 / (v - v)
    return total


WEIGHTS = np.array([0.5, -1.0, 2.0])


@row(alike(1), arrays("float64"))
def with_captured_array(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * WEIGHTS[i % 3]
    return total


# ---- arrays that are written to


@row(alike(1, some_float), lambda rng: (array(rng), some_float(rng)))
def scale_in_place(x, k):
    for i in range(len(x)):
        x[i] = x[i] * k
    return x


@row(alike(1), arrays("float64"), arrays("int64"))
def prefix_sums(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]


@row(alike(2, some_float), lambda rng: (array(rng), array(rng), 0.5))
def axpy(x, y, a):
    for i in range(len(x)):
        y[i] += a * x[i]
    return y


@row(alike(1), lambda rng: (np.arange(6.0),))
def heat(u):
    v = u.copy()
    for i in range(1, len(u) - 1):
        v[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
    return v


@row(arrays("float64"), arrays("int64"))
def sort_in_place(x):
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]


@row(arrays("int64"), alike(1), compiles=False)
def write_then_fail(x):
    for i in range(len(x) + 1):
        x[i] = 2 * x[i]
    return x


@row(alike(1, some_int), alike(1, lambda rng: 9))
def write_then_maybe_fail(x, n):
    for i in range(n):
        x[i] = 2 * x[i]
    return x


@row(lambda rng: (rng.integers(1, 2**62, 5),), lambda rng: (rng.integers(1, 9, 5),))
def write_then_overflow(x):
    for i in range(len(x)):
        x[i] = x[i] + 1
    total = 0
    for v in x:
        total += int(v) * 3
    return total


@row(alike(1))
def write_then_divide(x):
    for i in range(len(x)):
        x[i] = x[i] + 1
    return 1 / int(x[0])


@row(lambda rng: (x := rng.normal(0, 1, 6), x), lambda rng: (x := rng.normal(0, 1, 6), x[1:]), alike(2))
def with_shared_memory(a, b):
    for i in range(len(b)):
        a[i] = b[i] + 1
    return b


@row(arrays("float64", ndim=2), arrays("float64", ndim=2, most=4))
def life_step(m):
    out = np.zeros(m.shape)
    for i in range(1, m.shape[0] - 1):
        for j in range(1, m.shape[1] - 1):
            count = 0.0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    count += m[i + di, j + dj]
            out[i, j] = count
    return out


@row(lambda rng: (rng.normal(0, 1, (3, 4)), rng.normal(0, 1, (4, 2))), lambda rng: (np.eye(2), np.ones((3, 2))))
def product(a, b):
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


@row(ints((0, 60)))
def sieve(n):
    marks = np.ones(n + 1)
    for i in range(2, n + 1):
        for j in range(2 * i, n + 1, i):
            marks[j] = 0.0
    return marks


@row(alike(1, some_int), arrays("float64", "float64"))
def one_or_other(x, n):
    if len(x) > 3:
        return x
    out = np.zeros(3)
    for i in range(3):
        out[i] = i * 2.0
    return out


@row(alike(1))
def itself_and_sum(x):
    total = 0.0
    for i in range(len(x)):
        x[i] += 1.0
        total += x[i]
    return x, total


@row(alike(1), arrays("int64"), compiles=False)
def tail(x):
    for i in range(len(x)):
        x[i] += 1
    return x[1:]


@row(alike(1))
def cleared(x):
    for _ in range(2):
        x[:] = 0.0
    return None


def _bump(x, i):
    x[i] += 1.0


@row(alike(1))
def written_by_helper(x):
    for i in range(len(x)):
        _bump(x, i)


@row(arrays("float64", ndim=2))
def written_through_row(m):
    for i in range(m.shape[0]):
        line = m[i]
        for j in range(m.shape[1]):
            line[j] = i + j


@row(alike(1), arrays("float64"))
def normalised(x):
    total = 0.0
    for v in x:
        total += v
    for i in range(len(x)):
        x[i] = x[i] / total
    return x


@row(arrays("bool"))
def flipped(flags):
    for i in range(len(flags)):
        flags[i] = not flags[i]
    return flags


# ---- what holds others


@dataclass
class Body:
    """What a simulation moves."""

    x: float
    v: float
    mass: Any = 1.0

    def energy(self):
        return 0.5 * self.mass * self.v * self.v


class Span(NamedTuple):
    """A named tuple."""

    low: Any
    high: Any


def some_body(rng: Rng) -> Body:
    return Body(some_float(rng), some_float(rng), some_int(rng) if rng.random() < 0.3 else some_float(rng))


@row(lambda rng: (some_body(rng), some_int(rng)))
def moved_body(body, n):
    x, v = body.x, body.v
    for _ in range(n):
        v = v - x / body.mass
        x = x + 0.1 * v
    return x, v


@row(lambda rng: (some_body(rng),), compiles=False)
def moved_in_place(body):
    for _ in range(3):
        body.x += body.v
    return body.energy()


@row(lambda rng: (some_body(rng),), compiles=False)
def body_itself(body):
    for _ in range(3):
        x = body.x
    return body if x > 0 else None


@row(lambda rng: (Span(some_int(rng), some_int(rng)),), lambda rng: (Span(some_float(rng), some_int(rng)),))
def within(span):
    count = 0
    for i in range(5):
        if span.low <= i < span.high:
            count += 1
    return count


@row(lambda rng: (Span(1, some_int(rng)),), compiles=False)
def unpacked(span):
    low, high = span
    for i in range(3):
        low += i * high
    return low


@row(
    lambda rng: ({"rate": some_float(rng), "n": some_int(rng)}, some_float(rng)),
    lambda rng: ({"rate": some_float(rng)}, 1.0),
    lambda rng: ({"n": some_int(rng), "rate": some_float(rng)}, 2.0),
)
def with_options(options, x):
    for i in range(options["n"]):
        x = x * options["rate"] + i
    return x


@row(lambda rng: ({"weights": rng.normal(0, 1, 3), "bias": {"b": some_float(rng)}}, 2.0))
def of_nested(params, x):
    total = params["bias"]["b"]
    for w in params["weights"]:
        total += w * x
    return total


@row(lambda rng: (({"a": some_float(rng)}, 3), {"n": some_int(rng)}), compiles=False)
def of_mixed_holders(pair, options):
    total = 0.0
    for i in range(options["n"]):
        total += pair[0]["a"] * i
    return total + pair[1] + len(pair[0])


@row(lambda rng: Call((some_float(rng),)), lambda rng: Call((some_float(rng), 1.0)))
def with_unused(x, *more, **options):
    for i in range(4):
        x = x * 0.5 + i
    return x


@row(lambda rng: Call((1.0,), {"k": some_float(rng)}), lambda rng: Call((1.0, 2.0), {"k": 1, "other": 2.0}))
def with_named(x, *more, **options):
    for i in range(4):
        x += options["k"] * i
    return x + len(more)


# ---- what stays plain


@row(alike(2), arrays("float64", "float64"), ints((0, 3), (0, 3)), compiles=False)
def added(a, b):
    return a + b


@row(lambda rng: (rng.normal(0, 1, (3, 3)), rng.normal(0, 1, (3, 3))), compiles=False)
def matrix_product(a, b):
    return a @ b


@row(alike(1), compiles=False)
def power_iteration(x):
    for _ in range(3):
        x = x * 2.0 + 1.0
    return x


@row(lambda rng: ([some_float(rng) for _ in range(4)],), lambda rng: ([],), compiles=False)
def of_list(xs):
    total = 0.0
    for x in xs:
        total += x
    return total


@row(lambda rng: ({"a": some_float(rng), "b": some_int(rng)},), compiles=False)
def of_dict(d):
    total = 0
    for key in d:
        total += d[key]
    d["total"] = total
    return d


@row(lambda rng: ("ab" * int(rng.integers(0, 4)),), compiles=False)
def of_text(text):
    count = 0
    for letter in text:
        count += letter == "a"
    return count


@row(lambda rng: ([some_float(rng)],), compiles=False)
def appends(xs):
    for i in range(2):
        xs.append(i)
    return xs


@row(floats(1), compiles=False)
def with_try(x):
    total = 0.0
    for i in range(3):
        try:
            total += 1 / int(x + i)
        except ZeroDivisionError:
            total -= 1
    return total


@row(floats(3), floats(1), ints((0, 5), (0, 5)), lambda rng: ())
def variadic(*xs):
    total = 0.0
    for x in xs:
        total += x
    return total


@row(lambda rng: Call((1.0,), {"k": some_float(rng)}), lambda rng: Call((2.0,), {}), compiles=False)
def with_keywords(x, **options):
    for value in options.values():
        x += value
    return x


@row(lambda rng: (rng.normal(0, 1, 4).astype(np.float32),), lambda rng: (np.float32(1.5),), compiles=False)
def narrow(x):
    total = 0.0
    for i in range(2):
        total = total + x * i
    return total


@row(ints((0, 9)), compiles=False)
def recursive(n):
    return 1 if n < 2 else n * recursive(n - 1)


@row(lambda rng: (None,), lambda rng: (some_float(rng),))
def optional(x):
    total = 0.0
    for i in range(3):
        total += i
    return total if x is None else x + total


@row(floats(2), compiles=False)
def gives_dict(a, b):
    total = 0.0
    for _ in range(3):
        total += a * b
    return {"total": total}


@row(floats(1), compiles=False)
def gives_list(x):
    found = []
    for i in range(3):
        found.append(x * i)
    return found


@row(lambda rng: (some_float(rng), "fast" if rng.random() < 0.5 else "slow"), compiles=False)
def with_mode(x, mode):
    for _ in range(3):
        x = x * 2 if mode == "fast" else x + 1
    return x


@row(lambda rng: (1, 2, 3), lambda rng: (), lambda rng: (some_int(rng),))
def wrongly_called(a):
    for i in range(3):
        a = a + i
    return a
