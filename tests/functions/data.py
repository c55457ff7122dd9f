"""The datasets, ordinary and nasty, in groups by the kind of number."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np

from functions.table import Data

COUNT = 64
_rng = np.random.default_rng(20)
_dice = random.Random(20)


def one(name, *columns, easy=True):
    return Data(name, columns, easy)


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def spread(values, count=COUNT):
    """The values over and over, in mixed order, so that groups form."""
    values = list(itertools.islice(itertools.cycle(values), max(count, len(values))))
    _dice.shuffle(values)
    return values


# -- floats -------------------------------------------------------------------------------------------------
_ordinary = _rng.normal(0, 3, COUNT)
_unit = _rng.uniform(-1, 1, COUNT)
FLOAT_VALUES = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 1e-300, -1e-300, 5e-324, 2.2250738585072014e-308,
    1e16, 2.0**31, 2.0**53, 2.0**53 + 2, -(2.0**53), 2.0**63, -(2.0**63), 2.0**64, 1e22, 1e300,
    1.7976931348623157e308, math.inf, -math.inf, math.nan, math.pi, -math.e, 100.0, 1e3, 0.9999999999999999,
    1.0000000000000002,
]  # fmt: skip
_nasty = spread(FLOAT_VALUES)
_half = spread([-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 2.675, 1.005, -1.005, 0.125, 1234.5678, 1e15 + 0.5])
_whole = [float(k) for k in spread(range(-12, 13))]

FLOAT64 = one("float64", _ordinary)
FLOAT_LIST = one("floats", _ordinary.tolist())
FLOAT32 = one("float32", _ordinary.astype(np.float32))
NASTY_FLOAT64 = one("nasty float64", np.array(_nasty))
NASTY_FLOAT_LIST = one("nasty floats", _nasty)
with np.errstate(all="ignore"):
    NASTY_FLOAT32 = one("nasty float32", np.array(_nasty).astype(np.float32))
HALVES = one("halves", np.array(_half))
HALF_LIST = one("half floats", _half)
WHOLES = one("whole floats", _whole)
BACKWARDS = one("backwards", _ordinary[::-1])
EVERY_THIRD = one("every third", np.repeat(_ordinary, 3)[1::3])
READ_ONLY = one("read-only", frozen(_ordinary))
SINGLE = one("one float64", np.array([2.25]))
SINGLE_LIST = one("one float", [-0.75])
EMPTY = one("empty float64", np.empty(0))
EMPTY_LIST = one("empty list", [])
FLOATS = (
    FLOAT64, FLOAT_LIST, FLOAT32, NASTY_FLOAT64, NASTY_FLOAT_LIST, HALVES, HALF_LIST, WHOLES, BACKWARDS,
    NASTY_FLOAT32, EVERY_THIRD, READ_ONLY, SINGLE, SINGLE_LIST, EMPTY, EMPTY_LIST,
)  # fmt: skip
FEW_FLOATS = (FLOAT64, FLOAT_LIST, FLOAT32, NASTY_FLOAT64, NASTY_FLOAT_LIST, NASTY_FLOAT32)

# -- ints ---------------------------------------------------------------------------------------------------
_ints = _rng.integers(-50, 51, COUNT)
INT_VALUES = [
    0, 1, -1, 2, -2, 3, 7, -8, 10, 63, 64, 255, 256, 1000, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32,
    2**32 + 1, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, -(2**62), 2**63 - 1, -(2**63), 3037000499,
    3037000500, 10**18,
]  # fmt: skip
_nasty_ints = spread(INT_VALUES)
_wide = spread([*INT_VALUES, 2**63, -(2**63) - 1, 2**64, 2**64 - 1, 10**30, -(10**40)])

INT64 = one("int64", _ints)
INT_LIST = one("ints", _ints.tolist())
INT32 = one("int32", _rng.integers(-2000, 2000, COUNT).astype(np.int32))
UINT8 = one("uint8", _rng.integers(0, 256, COUNT).astype(np.uint8))
NASTY_INT64 = one("nasty int64", np.array(_nasty_ints))
NASTY_INT32 = one("nasty int32", np.array(spread([0, 1, -1, 2, 7, 46340, 46341, 2**31 - 1, -(2**31)]), dtype=np.int32))
NASTY_INT_LIST = one("nasty ints", _nasty_ints)
WIDE_INTS = one("wide ints", _wide, easy=False)
RANGE = one("range", range(-30, 60, 3))
ONE_INT = one("one int", [7])
INTS = (
    INT64, INT_LIST, INT32, UINT8, NASTY_INT64, NASTY_INT32, NASTY_INT_LIST, WIDE_INTS, RANGE, ONE_INT,
    EMPTY_LIST,
)  # fmt: skip
FEW_INTS = (INT64, INT_LIST, UINT8, NASTY_INT64, NASTY_INT_LIST, WIDE_INTS)
SMALL_INT_LIST = one("small ints", spread(range(0, 13)))
SMALL_INT64 = one("small int64", np.array(spread(range(0, 13))))
SMALL_INTS = (SMALL_INT_LIST, SMALL_INT64, one("small uint8", np.array(spread(range(0, 13)), dtype=np.uint8)))
SIGNED_SMALL_INTS = (
    one("signed small ints", spread(range(-6, 7))),
    one("signed small int64", np.array(spread(range(-6, 7)))),
)

# -- bools, complex numbers, mixtures -----------------------------------------------------------------------
_bools = _rng.integers(0, 2, COUNT).astype(bool)
BOOLS = (one("bool", _bools), one("bools", _bools.tolist()))
_mixed = spread([1, 2.5, True, 0, -3, -0.0, False, 2**53 + 1, 1e300, 17, 0.1])
MIXED = (
    one("mixed", _mixed, easy=False),
    one("ints then floats", [1, 2, 3] * 20 + [0.5, 1.5] * 20, easy=False),
)

_complex = _ordinary + 1j * _rng.normal(0, 2, COUNT)
_parts = [0.0, -0.0, 1.0, -1.0, 2.5, 1e200, 1e-200, math.inf, -math.inf, math.nan]
_nasty_complex = [complex(a, b) for a, b in itertools.product(_parts, _parts)]
COMPLEX128 = one("complex128", _complex)
COMPLEX_LIST = one("complexes", _complex.tolist())
NASTY_COMPLEX = one("nasty complex128", np.array(_nasty_complex))
NASTY_COMPLEX_LIST = one("nasty complexes", _nasty_complex)
CALM_COMPLEXES = (COMPLEX128, COMPLEX_LIST, one("complex64", _complex.astype(np.complex64)))
COMPLEXES = (*CALM_COMPLEXES, NASTY_COMPLEX, NASTY_COMPLEX_LIST)

REALS = (*FLOATS, *INTS, *BOOLS, *MIXED)
FEW_REALS = (*FEW_FLOATS, *FEW_INTS, *BOOLS, MIXED[0], SINGLE, EMPTY)
NUMBERS = (*REALS, *COMPLEXES)
FEW_NUMBERS = (*FEW_REALS, COMPLEX128, COMPLEX_LIST)

# -- narrower ranges, for functions with a domain -----------------------------------------------------------
_positive = np.abs(_ordinary) + 0.01
UNIT = (
    one("unit float64", _unit),
    one("unit floats", _unit.tolist()),
    one("unit float32", _unit.astype(np.float32)),
)
POSITIVE = (
    one("positive float64", _positive), one("positive floats", _positive.tolist()),
    one("positive float32", _positive.astype(np.float32)), one("positive ints", spread(range(1, 40))),
    one("positive int64", np.array(spread(range(1, 40)))),
)  # fmt: skip
POWERS = (
    one("powers of ten", [float(10**k) for k in range(23)] * 4),
    one("powers of ten as ints", [10**k for k in range(19)] * 4),
    one("powers of two", np.array([2.0**k for k in range(-40, 60)])),
    one("cubes", [float(k**3) for k in range(1, 80)]),
)

# -- pairs --------------------------------------------------------------------------------------------------
_second = _rng.normal(0, 3, COUNT)
_ints2 = _rng.integers(-9, 10, COUNT)
_nasty_pairs = _dice.sample(list(itertools.product(FLOAT_VALUES, FLOAT_VALUES)), 120)
_int_pairs = _dice.sample(list(itertools.product(INT_VALUES, INT_VALUES)), 120)
_nonzero = [k if k else 4 for k in _ints2.tolist()]
PAIRS_FLOAT = (
    one("float64 pair", _ordinary, _second), one("float pair", _ordinary.tolist(), _second.tolist()),
    one("float32 pair", _ordinary.astype(np.float32), _second.astype(np.float32)),
    one("float64 and floats", _ordinary, _second.tolist()),
    one("float32 and float64", _ordinary.astype(np.float32), _second),
    one("nasty float64 pair", *np.array(_nasty_pairs).T),
    one("nasty float pair", *map(list, zip(*_nasty_pairs))),
    one("backwards pair", _ordinary[::-1], _second[::-1]),
)  # fmt: skip
PAIRS_INT = (
    one("int64 pair", _ints, _ints2), one("int pair", _ints.tolist(), _ints2.tolist()),
    one("int pair without zero", _ints.tolist(), _nonzero),
    one("nasty int64 pair", *np.array(_int_pairs).T), one("nasty int pair", *map(list, zip(*_int_pairs))),
    one("uint8 pair", UINT8.columns[0], np.roll(UINT8.columns[0], 5)),
    one("uint8 and int64", UINT8.columns[0], _ints2), one("int32 and ints", INT32.columns[0], _nonzero),
    one("wide int pair", _wide, _wide[::-1], easy=False),
)  # fmt: skip
PAIRS_BOOL = (
    one("bool pair", _bools, np.roll(_bools, 7)),
    one("bool list pair", _bools.tolist(), np.roll(_bools, 7).tolist()),
    one("bools and ints", _bools.tolist(), _ints.tolist()),
)
PAIRS_MIXED = (
    one("ints and floats", _ints.tolist(), _second.tolist()), one("int64 and float64", _ints, _second),
    one("mixed pair", _mixed, _mixed[::-1], easy=False), one("int64 and floats", _ints, _second.tolist()),
    one("nasty ints and floats", *map(list, zip(*itertools.product(INT_VALUES[::2], FLOAT_VALUES[::3])))),
)  # fmt: skip
PAIRS = (*PAIRS_FLOAT, *PAIRS_INT, *PAIRS_BOOL, *PAIRS_MIXED)
FEW_PAIRS = (*PAIRS_FLOAT[:2], *PAIRS_FLOAT[5:7], *PAIRS_INT[:5], *PAIRS_MIXED[:2])
SMALL_PAIRS = (
    one("small int pair", spread(range(0, 10)), spread(range(0, 8))),
    one("small int64 pair", np.array(spread(range(0, 10))), np.array(spread(range(0, 8)))),
    one("signed small int pair", spread(range(-5, 6)), spread(range(0, 7))),
    one("small float pair", _ordinary.tolist(), [float(k) for k in spread(range(-3, 4))]),
    one("small float64 pair", _ordinary, _rng.integers(-3, 4, COUNT).astype(float)),
)
TRIPLES = (
    one("float64 triple", _ordinary, _second, _ordinary[::-1]),
    one("float triple", _ordinary.tolist(), _second.tolist(), _unit.tolist()),
    one("int triple", _ints.tolist(), _ints2.tolist(), _nonzero),
    one("int64, floats, bool", _ints, _second.tolist(), _bools),
)
