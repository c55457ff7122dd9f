"""Functions to be mapped: comparisons, truth and identity."""

from __future__ import annotations

from functions.data import (
    BOOLS,
    COMPLEXES,
    FEW_INTS,
    FEW_NUMBERS,
    FEW_PAIRS,
    FEW_REALS,
    INTS,
    NUMBERS,
    PAIRS,
    REALS,
    TRIPLES,
    one,
)
from functions.table import Table

table = Table("comparisons")
row = table.row
WITH_NONE = (one("with None", [None, 1.5, 2.5, None, -1.0] * 12, easy=False),)
LIMIT = 2**53 + 1


@row(PAIRS)
def less(x, y):
    return x < y


@row(PAIRS)
def less_or_equal(x, y):
    return x <= y


@row(PAIRS)
def equal(x, y):
    return x == y


@row(PAIRS)
def not_equal(x, y):
    return x != y


@row(PAIRS)
def greater(x, y):
    return x > y


@row(PAIRS)
def greater_or_equal(x, y):
    return x >= y


@row(REALS)
def chained(x):
    return -1 < x <= 2


@row(TRIPLES)
def chained_columns(x, y, z):
    return x < y < z


@row(FEW_REALS)
def chained_mixed(x):
    return 0 <= x != 3 > x


@row(FEW_REALS)
def both(x):
    return x > -2 and x < 2


@row(FEW_REALS)
def either(x):
    return x < -2 or x > 2


@row(REALS)
def inverse_truth(x):
    return not x


@row(FEW_REALS)
def value_of_and(x):
    return x and 5


@row(FEW_REALS)
def value_of_or(x):
    return x or 0.5


@row(FEW_PAIRS)
def value_of_and_or(x, y):
    return (x and y) or 3


@row(NUMBERS)
def equals_itself(x):
    return x == x


@row(FEW_REALS)
def differs_from_itself(x):
    return x != x


@row(FEW_INTS)
def above_two_to_the_53(x):
    return x > 2.0**53


@row(FEW_INTS)
def below_a_global(x):
    return x < LIMIT


@row(INTS)
def below_two_to_the_70(x):
    return x < 2**70


@row(FEW_REALS)
def equals_a_wide_int(x):
    return x == 2**64


@row(FEW_INTS)
def equals_a_float(x):
    return x == 9007199254740992.0


@row(FEW_REALS)
def is_in_a_tuple(x):
    return x in (1, 2.5, 7)


@row(FEW_REALS)
def is_not_in_a_list(x):
    return x not in [0, -1.0, 10]


@row(FEW_REALS)
def is_in_a_set(x):
    return x in {1, 2, 3}


@row(FEW_REALS)
def is_in_a_range(x):
    return x in range(0, 50, 5)


@row(FEW_REALS)
def is_none(x):
    return x is None


@row(WITH_NONE, must_batch=False)
def none_becomes_zero(x):
    return 0.0 if x is None else x


@row(WITH_NONE, FEW_REALS[:2], must_batch=False)
def is_not_none(x):
    return x is not None


@row(BOOLS, FEW_REALS)
def is_true(x):
    return x is True


@row(BOOLS, FEW_REALS)
def is_false(x):
    return x is False


@row(FEW_REALS)
def comparison_is_true(x):
    return (x > 0) is True


@row(FEW_NUMBERS)
def equals_text(x):
    return x == "a"


@row(FEW_NUMBERS)
def differs_from_none(x):
    return x != None  # noqa: E711


@row(FEW_REALS, must_batch=False)
def less_than_text(x):
    return x < "a"


@row(COMPLEXES)
def complex_equal(x):
    return x == 1 - 0j


@row(COMPLEXES[:2], must_batch=False)
def complex_order(x):
    return x < 1


@row(BOOLS)
def bools_compared(x):
    return x == 1, x < 2, x == 1.0, x is not None


@row(FEW_PAIRS)
def tuples_compared(x, y):
    return (x, y) < (y, x)


@row(FEW_PAIRS)
def tuples_equal(x, y):
    return (x, 1) == (y, 1)


@row(FEW_PAIRS)
def lists_compared(x, y):
    return [x, y] >= [0, 0]


@row(FEW_PAIRS)
def exclusive(x, y):
    return (x > 0) != (y > 0)


@row(FEW_PAIRS)
def bitwise_of_comparisons(x, y):
    return (x > 0) & (y > 0) | (x == y) ^ (x < y)


@row(FEW_PAIRS)
def inverted_comparison(x, y):
    return not (x < y), not (x >= y)
