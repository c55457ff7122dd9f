"""Functions to be mapped: built-in functions."""

from __future__ import annotations

from functions.data import (
    BOOLS,
    COMPLEX_LIST,
    FEW_INTS,
    FEW_NUMBERS,
    FEW_PAIRS,
    FEW_REALS,
    HALF_LIST,
    HALVES,
    PAIRS,
    SMALL_INTS,
    TRIPLES,
    WIDE_INTS,
    one,
)
from functions.table import Table

table = Table("builtins")
row = table.row
ROUNDED = (*FEW_REALS, HALVES, HALF_LIST)
HALVES_ONLY = (HALVES, HALF_LIST)


@row(ROUNDED)
def round_to_int(x):
    return round(x)


@row(ROUNDED)
def round_to_two_digits(x):
    return round(x, 2)


@row(ROUNDED)
def round_to_tens(x):
    return round(x, -1)


@row(FEW_REALS)
def round_with_none(x):
    return round(x, None)


@row(SMALL_INTS)
def round_by_element(x):
    return round(123.456789, x)


@row(ROUNDED)
def to_int(x):
    return int(x)


@row(FEW_NUMBERS)
def to_float(x):
    return float(x)


@row(FEW_NUMBERS)
def to_bool(x):
    return bool(x)


@row(FEW_NUMBERS)
def to_complex(x):
    return complex(x)


@row(FEW_REALS)
def int_of_float_of_it(x):
    return int(float(x) * 2) + 1


@row(FEW_REALS)
def int_of_a_comparison(x):
    return int(x > 0) + float(x < 0)


@row((WIDE_INTS, *FEW_INTS))
def float_of_wide_int(x):
    return float(x * 3)


@row(PAIRS)
def minimum(x, y):
    return min(x, y)


@row(PAIRS)
def maximum(x, y):
    return max(x, y)


@row(TRIPLES)
def min_of_three(x, y, z):
    return min(x, y, z), max([x, y, z])


@row(FEW_REALS)
def min_with_constant(x):
    return min(x, 1), max(0.5, x)


@row(TRIPLES)
def max_by_key(x, y, z):
    return max(x, y, z, key=lambda v: -abs(v))


@row(FEW_REALS)
def min_with_default(x):
    return min([], default=x)


@row(TRIPLES)
def sum_of_list(x, y, z):
    return sum([x, y, z])


@row(TRIPLES)
def sum_with_start(x, y, z):
    return sum((x, y, z), start=10)


@row(FEW_REALS)
def sum_of_generator(x):
    return sum(x * k for k in range(4))


@row(TRIPLES)
def any_of(x, y, z):
    return any([x > 0, y > 0, z > 5])


@row(TRIPLES)
def all_of(x, y, z):
    return all(v > -1 for v in (x, y, z))


@row(TRIPLES)
def any_of_numbers(x, y, z):
    return any((x, y, z)), all((x, y, z))


@row(TRIPLES)
def sort(x, y, z):
    return sorted([x, y, z])


@row(TRIPLES)
def sort_by_key(x, y, z):
    return sorted([x, y, z], key=abs, reverse=True)


@row(TRIPLES)
def median(x, y, z):
    return sorted((x, y, z))[1]


@row(TRIPLES)
def length(x, y, z):
    return len([x, y, z]) + len((x,)) + len({"a": x})


@row(SMALL_INTS)
def length_of_a_range(x):
    return len(range(x))


@row(SMALL_INTS)
def sum_of_a_range(x):
    return sum(range(x)) + sum(range(1, x, 2))


@row(TRIPLES)
def enumerate_and_zip(x, y, z):
    return sum(k * v * w for k, (v, w) in enumerate(zip([x, y, z], (1, 2, 3))))


@row(TRIPLES)
def map_and_filter(x, y, z):
    return sum(map(lambda v: v * 2, [x, y, z])) + len(list(filter(lambda v: v > 0, [x, y, z])))


@row(TRIPLES)
def reversed_list(x, y, z):
    return list(reversed([x, y, z]))


@row(TRIPLES)
def iterators(x, y, z):
    walk = iter([x, y, z])
    first = next(walk)
    return first - next(walk) + next(walk) * next(walk, 2)


@row(FEW_NUMBERS)
def is_int(x):
    return isinstance(x, int)


@row(FEW_NUMBERS)
def is_float(x):
    return isinstance(x, float)


@row(FEW_NUMBERS)
def is_int_or_float(x):
    return isinstance(x, (int, float)), isinstance(x, bool), isinstance(x, complex)


@row(FEW_NUMBERS)
def type_is_int(x):
    return type(x) is int


@row(FEW_NUMBERS)
def type_is_float(x):
    return type(x) is float, type(x) == bool  # noqa: E721


@row(FEW_REALS)
def type_of_result(x):
    return type(x * 2) is int, isinstance(x / 2, float), isinstance(x > 1, bool)


@row(FEW_REALS, must_batch=False)
def name_of_type(x):
    return type(x).__name__


@row(FEW_REALS, must_batch=False)
def return_the_type(x):
    return type(x)


@row(BOOLS, FEW_INTS)
def bool_is_an_int(x):
    if isinstance(x, bool):
        return 1
    return 2 if isinstance(x, int) else 3


@row(FEW_REALS)
def attribute_by_name(x):
    return x.real + getattr(x, "missing", 1)


@row(FEW_REALS)
def has_attribute(x):
    return hasattr(x, "imag"), hasattr(x, "hex"), hasattr(x, "bit_length"), hasattr(x, "dtype")


@row(FEW_INTS)
def bit_length(x):
    return int(x).bit_length()


@row(FEW_INTS, must_batch=False)
def bit_count(x):
    return x.bit_count()


@row(FEW_REALS)
def is_integer(x):
    return float(x).is_integer()


@row(FEW_REALS, must_batch=False)
def integer_ratio(x):
    return x.as_integer_ratio()


@row(FEW_INTS, BOOLS, HALVES_ONLY, must_batch=False)
def hash_of_it(x):
    return hash(x)


@row(SMALL_INTS, must_batch=False)
def text_of_int(x):
    return bin(x), hex(x), oct(x), chr(65 + x)


@row(FEW_REALS)
def callables(x):
    return callable(x), callable(abs)


@row(FEW_REALS)
def constructors(x):
    return len(list((x, x))) + len(tuple([x])) + len(dict(a=x)) + sum(list((x, 1)))


@row(FEW_PAIRS, must_batch=False)
def set_of_values(x, y):
    return len({x, y, 0})


@row(FEW_REALS)
def sliced(x):
    return [x, 1, 2, x][slice(1, 3)][0], (x, 2, 3)[-1], [0, x][1]


@row(FEW_NUMBERS, (COMPLEX_LIST,))
def abs_and_pow(x):
    return abs(x) ** 2


@row(SMALL_INTS)
def list_index_by_element(x):
    return [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9][x]


@row(SMALL_INTS, (one("out of range", [0, 1, 2, 5, -1, 3] * 12),))
def tuple_index_may_fail(x):
    return (10.5, 20.5, 30.5)[x]


@row(SMALL_INTS, (one("negative indices", [-1, -2, -3, 0, 1, 2] * 12),), must_batch=False)
def slice_by_element(x):
    return sum([1, 2, 3, 4, 5][:x])


@row(FEW_REALS, must_batch=False)
def list_index_by_float(x):
    return [1, 2, 3][x]


@row(FEW_REALS)
def locals_of_it(x):
    y = x + 1
    return len(locals()), y


@row(FEW_REALS)
def print_free_format(x):
    return round(float(x), 1) == x
