"""Functions to be mapped: try, raise, assert and with."""

from __future__ import annotations

import contextlib
import math

from functions.data import FEW_FLOATS, FEW_INTS, FEW_PAIRS, FEW_REALS, PAIRS_FLOAT, PAIRS_INT, SMALL_INTS, one
from functions.table import Table

table = Table("exceptions")
row = table.row
LATE = (
    one("late failure", [float(k) for k in range(150, -10, -1)]),
    one("late int failure", list(range(150, -10, -1))),
)


class Rejected(Exception):
    def __init__(self, value, code=7):
        super().__init__(f"rejected {value} with {code}")
        self.value, self.code = value, code


@row(FEW_PAIRS)
def division_caught(x, y):
    try:
        return x / y
    except ZeroDivisionError:
        return 0.0


@row(PAIRS_INT)
def int_division_caught(x, y):
    try:
        q = x // y
    except ZeroDivisionError:
        q = -1
    else:
        q += 100
    return q


@row(FEW_REALS)
def domain_error_caught(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return -1.0


@row(FEW_REALS)
def log_caught(x):
    try:
        return math.log(x)
    except (ValueError, OverflowError):
        return math.nan


@row(FEW_REALS)
def overflow_caught(x):
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


@row(FEW_FLOATS)
def power_overflow_caught(x):
    try:
        return x**200.0
    except OverflowError:
        return -1.0


@row(FEW_FLOATS)
def conversion_caught(x):
    try:
        return int(x)
    except OverflowError:
        return 1
    except ValueError:
        return 2


@row(FEW_REALS)
def finally_counts(x):
    n = 0
    try:
        n += 1
        if x > 0:
            return n
    finally:
        n += 10
    return n


@row(FEW_REALS)
def finally_overrides(x):
    for _ in range(2):
        try:
            if x > 0:
                continue
            x = x - 1
        finally:
            x = x * 2
    return x


@row(FEW_REALS)
def raised_and_caught(x):
    try:
        if x > 1:
            raise Rejected(1, 2)
        return 0
    except Rejected as error:
        return error.code


@row(FEW_REALS, must_batch=False)
def text_of_error(x):
    try:
        return 1 / x
    except ZeroDivisionError as error:
        return str(error)


@row(LATE)
def validated(x):
    if x < 0:
        raise ValueError("must not be negative")
    return math.sqrt(x) * 2


@row(LATE)
def validated_with_value(x):
    if x < 0:
        raise ValueError(f"must not be negative: {x!r}")
    return x + 1


@row(LATE)
def raises_its_own(x):
    if x == -3:
        raise Rejected(x)
    return x * 2


@row(LATE)
def asserts(x):
    assert x >= 0, "negative"
    return x


@row(LATE)
def asserts_bare(x):
    assert x > -5
    return x


@row(LATE)
def divides_by_zero_late(x):
    return 1 / x


@row(LATE)
def modulo_zero_late(x):
    return 10 % x


@row(LATE)
def square_root_of_negative_late(x):
    return math.sqrt(x)


@row(LATE)
def raises_from(x):
    try:
        return 1 / x
    except ZeroDivisionError as error:
        raise Rejected("zero") from error


@row(LATE)
def raises_again(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        raise


@row(LATE, must_batch=False)
def misses_a_key(x):
    return {1: 2}[x] if x < 0 else 5


@row(LATE, must_batch=False)
def misses_an_attribute(x):
    return x.nothing if x < 0 else x


@row(LATE, must_batch=False)
def misses_a_name(x):
    return undefined_name if x < 0 else x  # noqa: F821


@row(LATE, must_batch=False)
def adds_text(x):
    return x + "a" if x < 0 else x


@row(LATE, must_batch=False)
def unbound_local(x):
    if x >= 0:
        y = x
    return y


@row(LATE, must_batch=False)
def stops_iteration(x):
    return next(iter([])) if x < 0 else x


@row(LATE, must_batch=False)
def wrong_arguments(x):
    return math.sin(x, x) if x < 0 else x


@row(FEW_REALS, must_batch=False)
def always_raises(x):
    raise RuntimeError("always")


@row(FEW_REALS)
def suppressed(x):
    y = -1.0
    with contextlib.suppress(ZeroDivisionError, OverflowError):
        y = 1 / x
    return y


class _Doubling:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self.x * 2

    def __exit__(self, kind, error, trace):
        return kind is ZeroDivisionError


@row(FEW_REALS)
def own_context(x):
    y = 0.5
    with _Doubling(x) as double:
        y = 1 / double
    return y


@contextlib.contextmanager
def _shifted(x):
    yield x + 1


@row(FEW_REALS)
def generator_context(x):
    with _shifted(x) as y:
        return y * 2


@row(FEW_PAIRS)
def nested_tries(x, y):
    try:
        try:
            return x / y
        except ZeroDivisionError:
            return y / x
        finally:
            x = 0
    except ZeroDivisionError:
        return -9.0


@row(SMALL_INTS)
def index_error_caught(x):
    values = [1.5, 2.5, 3.5]
    try:
        return values[x]
    except IndexError:
        return 0.0


@row(SMALL_INTS)
def key_error_caught(x):
    try:
        return {0: 5, 3: 6}[x]
    except KeyError:
        return -1


@row(PAIRS_INT[:2])
def negative_shift_caught(x, y):
    try:
        return x << y
    except ValueError:
        return 0


@row(FEW_INTS, must_batch=False)
def type_error_caught(x):
    try:
        return len(x)
    except TypeError:
        return 1


@row(PAIRS_FLOAT[:2])
def loop_until_failure(x, y):
    done = 0
    try:
        for k in range(5):
            math.sqrt(x - k)
            done += 1
    except ValueError:
        pass
    return done


@row(FEW_REALS, must_batch=False)
def returns_an_exception(x):
    return ValueError("not raised")


@row(LATE)
def exception_group_caught(x):
    try:
        if x < 0:
            raise ExceptionGroup("some", [ValueError("a"), KeyError("b")])
        return x
    except* ValueError:
        x = -1
    except* KeyError:
        x = -2
    return x
