"""The compiler by itself: small functions, each compared lane by lane with what Python gives."""

from __future__ import annotations

import enum
import math

import pytest

from compiled import check, refusal

INTS = [0, 1, -1, 2, 3, -7, 10, 63, 2**31, -(2**31), 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 1e-300, 5e-324, 1e300, 1e308, math.inf, -math.inf, math.nan, 3.0, 1e16]
PAIRS = [(a, b) for a in INTS for b in INTS]
FLOAT_PAIRS = [(a, b) for a in FLOATS for b in FLOATS]
MIXED = [(a, b) for a in INTS for b in FLOATS]

ALL = 10**9
"""Where many lanes may be left: only what is made has to be right."""


@pytest.mark.parametrize("rows", [PAIRS, FLOAT_PAIRS, MIXED, [(b, a) for a, b in MIXED]], ids=["ii", "ff", "if", "fi"])
@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!="])
def test_arithmetic(sign, rows):
    if sign == "**":  # ints that fill the memory are not wanted
        rows = [(a, b) for a, b in rows if not (type(b) is int and abs(b) > 70)]
    check(_written(f"def f(a, b):\n    return a {sign} b\n", {}), rows, left=ALL)


@pytest.mark.parametrize("sign", ["<<", ">>", "&", "|", "^"])
def test_bits(sign):
    check(
        _written(f"def f(a, b):\n    return a {sign} b\n", {}),
        PAIRS + [(5, 3), (-5, 2), (1, 62), (1, 63), (0, 99)],
        left=ALL,
    )


def _written(text, space, count=[0]):
    """A function whose source is in a file, as far as anybody can tell."""
    import linecache

    count[0] += 1
    name = f"<test compiler {count[0]}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), space)
    return space["f"]


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def int_or_float(x):
    total = 0
    for i in range(3):
        if x > i:
            total += x * 0.5
    return total


def tries(x):
    try:
        y = 1 / x
        z = [1, 2, 3][int(y)]
    except ZeroDivisionError:
        return -1
    except IndexError:
        return -2
    finally:
        x = 0
    return z


def generator(n):
    def squares(limit):
        i = 0
        while i < limit:
            yield i * i
            i += 1

    total = 0
    for a, b in zip(squares(n), squares(n + 5)):
        total += a * b
    return total, sum(x for x in squares(n) if x % 2)


def recursive(n):
    def inner(k):
        return 1 if k <= 1 else inner(k - 1) + inner(k - 2)

    return inner(n)


def lists(n):
    xs = [i * i % 7 for i in range(n)]
    xs.sort(reverse=True)
    xs += [n]
    ys = xs[1:-1]
    ys.insert(0, -1)
    return sorted(ys, key=lambda v: -v), xs[::-2], xs.index(n), len(ys), min(xs), max(ys)


def tables(n):
    seen = {}
    for i in range(n):
        seen[i * i % 10] = seen.get(i * i % 10, 0) + 1
    found = {i % 4 for i in range(n)}
    return [k for k in seen], sum(seen.values()), len(found), list(found), 3 in found


@pytest.mark.parametrize(
    ("f", "rows"),
    [
        (collatz, [1, 2, 3, 27, 97]),
        (int_or_float, [-1.0, 0.5, 1.5, 9.0]),
        (tries, [0.0, 1.0, 0.5, 0.1, -1.0]),
        (generator, [0, 1, 5, 10]),
        (recursive, [0, 1, 2, 10, 15]),
        (lists, [0, 1, 2, 5, 12]),
        (tables, [0, 1, 2, 9, 40]),
    ],
)
def test_programs(f, rows):
    check(f, rows)


class Contrary(enum.IntEnum):
    FEW = 1
    MANY = 10

    def __gt__(self, other):
        return False


def test_members_with_operators_of_their_own_are_not_taken_for_ints():
    def more(n):
        return Contrary(n) > Contrary.FEW

    refused = refusal(more, 10)
    assert refused is not None and "between" in refused.reason


def test_a_refusal_names_reason_and_line():
    def prints(x):
        y = x + 1
        print(y)
        return y

    refused = refusal(prints, 1.0)
    assert refused is not None and "print" in refused.reason
    assert refused.line == prints.__code__.co_firstlineno + 2
