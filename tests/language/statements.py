"""Statements: try in all its forms, match, loops with else, assignment of every sort."""

from __future__ import annotations

import contextlib
import math

from language.elsewhere import FarTooLarge, TooLarge, limited, positive
from language.table import Table

table = Table()
compiles = table.compiles


@compiles(0, 1, 4, -2)
def try_except_else_finally(x):
    log = []
    try:
        y = 10 // x
    except ZeroDivisionError:
        log.append(1)
        y = -1
    else:
        log.append(2)
        y += 1
    finally:
        log.append(3)
    return y, log


@compiles(0, 1, 4, -2)
def finally_changes_nothing_returned(x):
    y = 1
    try:
        return y + x
    finally:
        y = 100


@compiles(0, 1, 4, -2)
def return_in_finally(x):
    try:
        return 10 // x
    finally:
        return -5


@compiles(0, 1, 4)
def return_in_finally_sometimes(x):
    try:
        y = 10 // x
    finally:
        if x == 0:
            return -1
    return y


@compiles([1, 0, 2], [0], [])
def try_in_a_loop(xs):
    out = []
    for x in xs:
        try:
            if x == 2:
                break
            out.append(10 // x)
        except ZeroDivisionError:
            out.append(-1)
            continue
        finally:
            out.append(0)
        out.append(7)
    else:
        out.append(99)
    return out


@compiles([1, 0, 2], [0], [])
def break_in_finally(xs):
    n = 0
    for x in xs:
        try:
            n += 10 // x
        finally:
            break
    return n


@compiles([1, 0, 2], [0], [])
def continue_in_finally(xs):
    n = 0
    for x in xs:
        try:
            n += 10 // x
        finally:
            n += 1
            continue
        n += 1000
    return n


@compiles((0, 1), (1, 0), (0, 0), (6, 2))
def nested_try(a, b):
    try:
        try:
            return a // b
        except ZeroDivisionError:
            return b // a
        finally:
            a += 1
    except ZeroDivisionError:
        return -a


@compiles(5, 11, 200, -1)
def exceptions_from_helpers(x):
    try:
        return limited(positive(x))
    except ValueError:
        return -1
    except FarTooLarge:
        return -2
    except TooLarge:
        return -3


@compiles(5, 11, 200)
def caught_by_base_class(x):
    try:
        return limited(x)
    except TooLarge:
        return -3


@compiles(5, 11, 200)
def caught_by_exception(x):
    try:
        return limited(x)
    except Exception:
        return -3


@compiles(5, 11, 200, 0)
def caught_by_anything(x):
    try:
        return 100 // limited(x)
    except:  # noqa: E722
        return -3


@compiles(5, 11, 200, 0, -1)
def caught_by_one_of_several(x):
    try:
        return 100 // limited(positive(x))
    except (ZeroDivisionError, TooLarge) as e:  # noqa: F841
        return -3
    except ValueError as e:  # noqa: F841
        return -4


@compiles(5, 11, 200)
def raised_again(x):
    try:
        return limited(x)
    except TooLarge:
        if x > 100:
            raise
        return -1


@compiles(5, 11, 200)
def raised_again_by_name(x):
    try:
        try:
            return limited(x)
        except TooLarge as e:
            if x > 100:
                raise e
            return -1
    except FarTooLarge:
        return -2


@compiles(5, 11, 0)
def raised_from(x):
    try:
        return 10 // x
    except ZeroDivisionError as e:
        raise ValueError("bad") from e


@compiles(5, 11, 0)
def raised_from_and_caught(x):
    try:
        try:
            return 10 // x
        except ZeroDivisionError as e:
            raise ValueError("bad") from e
    except ValueError:
        return -1


@compiles(5, 11, 0)
def raised_from_none(x):
    try:
        return 10 // x
    except ZeroDivisionError:
        raise KeyError(x) from None


@compiles(5, -1, 0)
def asserted(x):
    assert x >= 0, f"{x} is negative"
    assert x != 0
    return math.sqrt(x)


@compiles(5, -1, 0)
def caught_assertion(x):
    try:
        assert x > 0, "message"
    except AssertionError:
        return -1
    return x


@compiles(5, -1, 0)
def raised_class(x):
    try:
        if x < 0:
            raise ValueError
        if x == 0:
            raise KeyError("x")
    except (ValueError, KeyError):
        return 0
    return x


class Problem(Exception):
    def __init__(self, code, extra=None):
        super().__init__(f"problem {code}")
        self.code = code


@compiles(5, -1, 0)
def custom_exception(x):
    try:
        if x <= 0:
            raise Problem(x, extra=x + 1)
    except Problem:
        return 0
    return x


@compiles(5, -1, 0)
def exception_in_a_variable(x):
    error = ValueError("bad")
    if x < 0:
        raise error
    kind = KeyError if x == 0 else ValueError
    try:
        if x == 0:
            raise kind("no")
    except KeyError:
        return 7
    return x


@compiles([1, 2, 3], [0, 1], [])
def try_around_a_loop(xs):
    total = 0
    try:
        for x in xs:
            total += 6 // x
    except ZeroDivisionError:
        total = -total
    return total


@compiles(0, 1, 3)
def variable_set_before_the_error(x):
    a = 0
    try:
        a = 1
        b = 10 // x
        a = 2
        c = [1, 2, 3][b]
        a = 3
    except ZeroDivisionError:
        return a
    except IndexError:
        return a * 10
    return a * 100 + c


@compiles(3, 0)
def retry(x):
    attempts = 0
    while True:
        try:
            attempts += 1
            return attempts * 100 // (x - 2 + attempts)
        except ZeroDivisionError:
            if attempts > 3:
                raise
            continue


@compiles(0, 1, 5)
def lookup_errors(i):
    xs = [1, 2]
    d = {1: 5}
    try:
        return xs[i] + d[i]
    except LookupError:
        return -1


@compiles(0, 1, 5)
def key_error_caught(i):
    d = {1: 5}
    try:
        return d[i]
    except KeyError:
        return -1


@compiles(0, 1, 5)
def overflow_and_type_errors(i):
    try:
        return math.exp(i * 200.0)
    except OverflowError:
        return math.inf


@compiles(0, 1, 5)
def suppressed(i):
    y = 5
    with contextlib.suppress(ZeroDivisionError):
        y = 10 // i
        y += 1
    return y


@compiles(0, 1, 5)
def suppressed_several(i):
    y = 5
    with contextlib.suppress(ZeroDivisionError, IndexError):
        y = [1, 2, 3][10 // i]
    with contextlib.nullcontext():
        y += 1
    with contextlib.nullcontext(y) as z:
        y += z
    return y


@compiles(0, 1, 5)
def suppressed_return(i):
    with contextlib.suppress(ZeroDivisionError):
        return 10 // i
    return -1


@compiles(0, 1, 2, 3, 10)
def match_values(x):
    match x:
        case 0:
            return "zero" == "zero"
        case 1 | 2:
            return 12
        case 3 if x > 5:
            return -1
        case _:
            return x * 2


@compiles((0, 0), (0, 3), (4, 0), (4, 5))
def match_tuples(a, b):
    match (a, b):
        case (0, 0):
            return 0
        case (0, y):
            return y
        case (x, 0):
            return -x
        case (x, y):
            return x * y


@compiles([], [1], [1, 2], [1, 2, 3, 4], [0, 5])
def match_sequences(xs):
    match xs:
        case []:
            return 0
        case [x]:
            return x
        case [0, *rest]:
            return len(rest) * 100
        case [x, y]:
            return x + y
        case [first, *middle, last]:
            return first * 10 + last + sum(middle)


@compiles(0, 1, 2)
def match_classes(x):
    value = x if x == 0 else 1.5 if x == 1 else None
    match value:
        case int(n):
            return n
        case float() as f:
            return f
        case None:
            return -1


from language.classes import Color, Interval, Point, Vec  # noqa: E402


@compiles(0.0, 1.0, 2.0)
def match_attributes(x):
    p = Point(x, 2.0)
    match p:
        case Point(x=0.0, y=y):
            return y
        case Point(1.0, y):
            return y * 10
        case Point(x=a, y=b) if a > b:
            return a
        case Interval():
            return -1.0
        case _:
            return 0.5


@compiles(0.0, 1.0, 2.0)
def match_named_tuples(x):
    match Vec(x, 3.0):
        case Vec(0.0, y):
            return y
        case (1.0, y):
            return y + 1
        case Vec(x=a):
            return a


@compiles(0, 1, 2)
def match_enums(x):
    c = Color.RED if x == 0 else Color.GREEN if x == 1 else Color.BLUE
    match c:
        case Color.RED:
            return 1
        case Color.GREEN | Color.BLUE:
            return 2


@compiles(0, 1, 2)
def match_nested(x):
    match (x, (x + 1, [x, 2])):
        case (0, (a, [b, c])):
            return a + b + c
        case (1, (a, [*_])):
            return a
        case (n, (_, [_, last])):
            return n * last


@compiles(0, 1, 2)
def match_dicts(x):
    d = {"a": x, "b": 2}
    match d:
        case {"a": 0}:
            return 0
        case {"a": 1, "b": b}:
            return b
        case {"c": c}:
            return c
        case {"a": a, **rest}:
            return a + len(rest)


@compiles("a", "go", "stop", "")
def match_texts(s):
    match s:
        case "go" | "run":
            return 1
        case "stop":
            return 2
        case "":
            return 3
    return 4


@compiles([1, 5, 2], [], [9])
def walrus(xs):
    if (n := len(xs)) > 2:
        return n
    return [y for x in xs if (y := x * 2) > 5], [last := x for x in xs], n, last


@compiles([1, 5, 2], [9])
def walrus_leaks(xs):
    any((found := x) > 4 for x in xs)
    return found


@compiles(10, 0)
def walrus_in_while(n):
    total = 0
    while (n := n - 3) > 0:
        total += n
    return total


@compiles(10, 0, 5)
def chained_comparison(n):
    return 0 < n < 10, 0 <= n <= 10 != 5, 1 < (n + 1) < 7 > 2, not 0 < n, n in [0, 5] == True  # noqa: E712


@compiles(10, 0, 5)
def conditional_kinds(n):
    a = n if n > 5 else None
    b = n * 0.5 if n else n
    c = (n, 1) if n > 5 else [n]
    return a, b, c


@compiles([1, 2, 3, 4], [1, 2])
def starred_assignment(xs):
    first, *rest = xs
    *init, last = xs
    a, *_, b = xs
    (c, d), *e = [(1, 2), (3, 4)]
    return first, rest, init, last, a + b, c + d, e


@compiles((1, 2), (5, 3))
def swaps(a, b):
    a, b = b, a
    xs = [a, b, 3]
    xs[0], xs[2] = xs[2], xs[0]
    i = 0
    i, xs[i] = 1, 9
    [c, d] = a, b
    return a, b, xs, c - d


@compiles(3, 1)
def augmented(n):
    m = [[0] * n for _ in range(2)]
    m[1][0] += 5
    m[0][-1] -= n
    xs = [1]
    xs += [2, 3]
    xs *= 2
    d = {"a": 1}
    d["a"] <<= 3
    t = (1,)
    t += (n,)
    k = 17
    k //= 2
    k **= 2
    k %= 50
    k ^= 5
    k |= 64
    k &= 0x5F
    return m, xs, d["a"], t, k


@compiles([3, 1, 4, 1, 5], [9, 2, 6])
def deleted(xs):
    xs = [*xs]
    x = xs[0]
    del xs[0]
    del xs[1:2]
    d = {1: 2, 3: 4}
    del d[1]
    y = x
    del x
    return xs, len(d), y


@compiles(3, -1)
def deleted_and_read(n):
    if n < 0:
        del n
    return n + 1


@compiles(7, 12, 2)
def for_else(n):
    for d in range(2, n):
        if n % d == 0:
            break
    else:
        return True
    return d


@compiles(7, 12, 2)
def while_else(n):
    k = 0
    while k < 5:
        if k * k == n - 3:
            break
        k += 1
    else:
        k = -1
    return k


LIMIT = 10


@compiles(7, 12)
def global_read(n):
    global LIMIT
    return min(n, LIMIT)


@compiles(7, 12)
def annotated(n: int) -> int:
    """A docstring."""
    x: int = n
    y: float
    z: list[int] = [x]
    y = 2.5
    ...
    pass
    if __debug__:
        x += 1
    return x + y + len(z)


@compiles(7, 12)
def local_imports(n):
    import math as m
    from collections import Counter  # noqa: F401
    from math import floor, sqrt

    return floor(sqrt(n)) + m.ceil(0.5)


@compiles(7, 12)
def locals_looked_at(n):
    a = n + 1
    b = 2.5
    d = locals()
    return d["a"] + d["b"] + len(d), "n" in d, sum(d.values())


@compiles(7, -2)
def message_only_raised(n):
    message = f"{n} is {n!r:>10} and {n * 2:.3f}" + "!"
    if n < 0:
        raise ValueError(message)
    return n


@compiles([1, 2, 3], [])
def while_with_list(xs):
    stack = list(xs)
    out = []
    while stack:
        x = stack.pop()
        if x > 1:
            stack.append(x - 1)
        out.append(x)
    return out


@compiles(5, 0)
def nested_loops(n):
    count = 0
    for i in range(n):
        for j in range(i, n):
            if (i + j) % 3 == 0:
                continue
            if i * j > 6:
                break
            count += 1
        else:
            count += 100
    return count


@compiles(3, 0)
def and_or_values(n):
    return n or "none" == "x", n and 5, n or 2.5, [] or n, (n and None) or 7, not n


@compiles(3, 0)
def multiple_targets(n):
    a = b = c = n + 1
    xs = ys = [a]
    xs.append(b)
    return a + b + c, ys


@compiles(3, 0, 8)
def loop_variable_after(n):
    i = -1
    for i in range(n):
        pass
    return i


@compiles(3, 0, 8)
def loop_variable_that_may_not_be_set(n):
    for i in range(n):
        pass
    return i


@compiles(3, 0, 8)
def variable_set_on_some_paths(n):
    if n > 2:
        y = n
    return y * 2


@compiles((3, 4), (0, 1))
def complex_targets(a, b):
    (x, [y, *z]), w = (a, [b, 1, 2]), 5
    for i, (p, q) in enumerate([(1, 2), (3, 4)]):
        x += i * p * q
    return x, y, z, w


@compiles(5, 2)
def comprehensions(n):
    grid = [[i * j for j in range(n)] for i in range(n)]
    flat = [x for row in grid for x in row if x % 2 == 0]
    pairs = [(i, j) for i in range(n) for j in range(i) if (i + j) % 2]
    d = {i: i * i for i in range(n) if i != 1}
    s = {i % 3 for i in range(n)}
    return grid, flat, pairs, sum(d.values()), len(s), sum(i for i in range(n)), any(x > 3 for x in flat)


@compiles(5, 2)
def comprehension_scopes(x):
    ys = [x for x in range(3)]
    zs = [[y for y in ys if y != x] for x in ys]
    return x, zs


@compiles(3, 0)
def conditional_return_kinds(n):
    if n > 2:
        return
    return None


@compiles(300, 7)
def early_returns(n):
    if n < 10:
        return "small" == "small"
    elif n < 100:
        return False
    for i in range(n):
        if i * i > n:
            return i > 3
    return None


@compiles(3, 5)
def unpacked_generators(n):
    a, b, c = (i * n for i in range(3))
    d, e = map(float, [n, 2])
    f, *g = range(n)
    (h, i), (j, k) = [(m, m + 1) for m in range(2)]
    return a, b, c, d, e, f, g, h + i + j + k


@compiles({}.get("a", "12"), "x1", "7", "")
def parsed_or_default(s):
    try:
        return int(s)
    except ValueError:
        return None
