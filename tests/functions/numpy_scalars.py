"""Functions to be mapped: NumPy scalars as elements: their own widths, wrapping, warnings, methods."""

from __future__ import annotations

import numpy as np

from functions.data import (
    BOOLS,
    FEW_FLOATS,
    FEW_INTS,
    FEW_REALS,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    NASTY_FLOAT64,
    NASTY_INT64,
    UINT8,
    one,
    spread,
)
from functions.table import Table

table = Table("numpy_scalars")
row = table.row
BYTE_WIDE = np.array(spread(range(-128, 128)), dtype=np.int8)
UINT64 = np.array(spread([0, 1, 2, 2**32, 2**63, 2**64 - 1]), dtype=np.uint64)
FLOAT16 = np.array(spread([0.0, 1.5, -2.25, 60000.0, 6e-8, np.inf, np.nan]), dtype=np.float16)
NARROW = (
    one("int8", BYTE_WIDE),
    UINT8,
    INT32,
    one("int16", (BYTE_WIDE.astype(np.int16) * 256)),
    one("uint16", np.arange(0, 65536, 700).astype(np.uint16)),
    one("uint32", np.array(spread([0, 1, 2**31, 2**32 - 1]), dtype=np.uint32)),
    one("uint64", UINT64),
    one("float16", FLOAT16),
    FLOAT32,
    INT64,
    BOOLS[0],
)
ARRAYS = (FLOAT64, FLOAT32, NASTY_FLOAT64, INT64, NASTY_INT64, UINT8)
SWAPPED = (
    one("big-endian", FLOAT64.columns[0].astype(">f8")),
    one("big-endian ints", INT64.columns[0].astype(">i4")),
)
MIXED_SCALARS = (one("mixed NumPy scalars", [np.float32(1.5), np.float64(2.5), np.int8(3)] * 20, easy=False),)
SCALAR_LISTS = (
    one("list of float64", list(FLOAT64.columns[0])),
    one("list of float32", list(FLOAT32.columns[0])),
    one("list of int64", list(INT64.columns[0])),
)
DAYS = (one("days", np.arange("2024-02-20", "2024-05-20", dtype="datetime64[D]")),)
SPANS = (one("spans", np.arange(-40, 50).astype("timedelta64[h]")),)


@row(NARROW, SWAPPED, SCALAR_LISTS, MIXED_SCALARS)
def itself(x):
    return x


@row(NARROW, SWAPPED, SCALAR_LISTS, MIXED_SCALARS)
def plus_one(x):
    return x + 1


@row(NARROW, SWAPPED)
def plus_half(x):
    return x + 0.5


@row(NARROW, SWAPPED, SCALAR_LISTS)
def times_itself(x):
    return x * x


@row(NARROW)
def minus_two(x):
    return x - 2


@row(NARROW)
def over_two(x):
    return x / 2


@row(NARROW)
def floor_over_three(x):
    return x // 3, x % 3


@row(NARROW)
def negated(x):
    return -x


@row(NARROW, must_batch=False)
def plus_three_hundred(x):
    return x + 300


@row(NARROW)
def below_three_hundred(x):
    return x < 300, x > -1


@row(NARROW)
def shifted(x):
    return x << 2 if x.dtype.kind in "iu" else x


@row(NARROW)
def squared_and_rooted(x):
    return x**2, x**0.5


@row(NARROW)
def divided_by_zero(x):
    return x / 0


@row((INT64, NASTY_INT64, UINT8, BOOLS[0]))
def int_divided_by_zero(x):
    return x // 0, x % 0


@row((NASTY_INT64, NASTY_FLOAT64, INT32))
def wraps(x):
    return x * 3 + x


@row((INT64, NASTY_INT64))
def to_negative_power(x):
    return x**-1


@row(BOOLS)
def bool_plus_bool(x):
    return x + x


@row(BOOLS)
def bool_logic(x):
    return x & True, x | False, x ^ True, ~x


@row(BOOLS, NARROW)
def powers_of_narrow_numbers(x):
    return x**2, x**2 * 100 + 100, x**3


@row(BOOLS, NARROW[:3])
def indexed_by_a_power(x):
    return [10, 20, 30][x**2 % 3]


@row(NARROW)
def compared_out_of_range(x):
    try:
        return x < 2**70, x == -(2**40), x >= -1, x != 300
    except OverflowError:
        return False, False, False, False


@row((one("uint8 and any ints", UINT8.columns[0], spread([-3, 700, 5, 2**40, 0])),))
def compared_with_any_int(x, y):
    try:
        return x < y
    except OverflowError:
        return 5


@row(BOOLS[:1], must_batch=False)
def bool_minus_bool(x):
    return x - x


@row(ARRAYS)
def with_numpy_constants(x):
    return np.float64(2.0) * x + np.pi


@row(ARRAYS)
def with_float32_constant(x):
    return np.float32(0.1) * x


@row(FEW_FLOATS, FEW_INTS)
def python_number_with_numpy_constant(x):
    return x * np.float32(1.5), x + np.int64(3)


@row(ARRAYS, must_batch=False)
def ufuncs(x):
    return np.sin(x) + np.sqrt(np.abs(x)) * np.exp(-np.abs(x))


@row(FEW_REALS, must_batch=False)
def ufuncs_on_anything(x):
    return np.add(x, 1), np.maximum(x, 0), np.isnan(x)


@row(ARRAYS, must_batch=False)
def chosen_by_where(x):
    return np.where(x > 0, x, -x)


@row(ARRAYS, must_batch=False)
def clipped(x):
    return np.clip(x, -1, 1)


@row(ARRAYS, must_batch=False)
def conversions(x):
    return np.float32(x), np.int64(3), np.float64(x)


@row(ARRAYS)
def to_python(x):
    return float(x), bool(x)


@row(ARRAYS, must_batch=False)
def item(x):
    return x.item()


@row(ARRAYS, must_batch=False)
def attributes(x):
    return x.real, x.imag, x.ndim, x.size, x.shape


@row(ARRAYS, must_batch=False)
def dtype_of_it(x):
    return x.dtype


@row(ARRAYS, must_batch=False)
def methods(x):
    return x.astype(np.float32), x.round(1), x.clip(0, 2)


@row((FLOAT64, FLOAT32), must_batch=False)
def is_integer(x):
    return x.is_integer()


@row(ARRAYS)
def isinstance_of_numpy(x):
    return (
        isinstance(x, np.floating),
        isinstance(x, np.integer),
        isinstance(x, np.float64),
        isinstance(x, np.generic),
    )


@row(ARRAYS, BOOLS)
def kinds_decide(x):
    if isinstance(x, np.integer):
        return 1
    return 2 if isinstance(x, float) else 3


@row(DAYS, must_batch=False)
def days_after(x):
    return x + np.timedelta64(3, "D")


@row(DAYS, must_batch=False)
def days_since(x):
    return x - np.datetime64("2024-01-01")


@row(DAYS, must_batch=False)
def days_compared(x):
    return x > np.datetime64("2024-03-15")


@row(DAYS, must_batch=False)
def day_or_number(x):
    return x if x > np.datetime64("2024-03-15") else 1


@row(SPANS, must_batch=False)
def spans_scaled(x):
    return x * 2, x / np.timedelta64(1, "h")


@row(ARRAYS, must_batch=False)
def returns_array(x):
    return np.array([x, 1.0])


@row(ARRAYS, must_batch=False)
def returns_zero_dimensional_array(x):
    return np.array(x)


@row(ARRAYS, must_batch=False)
def array_inside(x):
    v = np.zeros(3)
    v[1] = x
    return v.sum()


@row(ARRAYS, must_batch=False)
def returns_arrays_of_two_shapes(x):
    return np.zeros(2) if x > 0 else np.zeros(3)
