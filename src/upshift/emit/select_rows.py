"""Operations on floats, by the names of their rules: how machine code writes them, and how far a result may be off."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..columns.kinds import RTOL
from ..rules import slopes
from ..rules.slopes import C_NAMES, SLOPES, Slope

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
FLOATS_AND_BOOL = (*FLOATS, np.dtype(np.bool_))
NUMBERS = (*FLOATS_AND_BOOL, np.dtype(np.int64))


class NoSelect(Exception):
    """Why a tree has no program without branches."""


@dataclass(frozen=True, slots=True)
class Spelled:
    """How an operation is written: on `{0}`, `{1}`; and whether what is not finite stays so through it."""

    text: str
    flows: bool = False


def _both(*names: str, text: str, flows: bool = False) -> dict[str, Spelled]:
    return dict.fromkeys(names, Spelled(text, flows))


SPELLED: dict[str, Spelled] = {
    **_both("add", text="{0} + {1}", flows=True),
    **_both("sub", "subtract", text="{0} - {1}", flows=True),
    **_both("mul", "multiply", text="{0} * {1}", flows=True),
    **_both("truediv", "divide", "true_divide", text="{0} / {1}"),
    **_both("neg", "negative", text="-{0}", flows=True),
    **_both("pos", "positive_of", text="{0}", flows=True),
    **_both("abs", "absolute", "fabs", text="abs({0})", flows=True),
    **_both("sqrt", text="sqrt({0})", flows=True),
    **_both("float", "cast", "copy", text="{0}", flows=True),
    **_both("lt", "less", text="{0} < {1}"),
    **_both("le", "less_equal", text="{0} <= {1}"),
    **_both("gt", "greater", text="{0} > {1}"),
    **_both("ge", "greater_equal", text="{0} >= {1}"),
    **_both("eq", "equal", text="{0} == {1}"),
    **_both("ne", "not_equal", text="{0} != {1}"),
    **_both("and", "and_", "logical_and", "bitwise_and", text="{0} & {1}"),
    **_both("or", "or_", "logical_or", "bitwise_or", text="{0} | {1}"),
    **_both("xor", "logical_xor", "bitwise_xor", text="{0} ^ {1}"),
    **_both("not", "not_", "logical_not", text="not {0}"),
    **_both("min", text="{1} if {1} < {0} else {0}"),
    **_both("max", text="{1} if {1} > {0} else {0}"),
    **_both("minimum", text="{0} if ({0} < {1}) | ({0} != {0}) else {1}"),
    **_both("maximum", text="{0} if ({0} > {1}) | ({0} != {0}) else {1}"),
    **_both("floor_of", "floor", text="floor({0})"),
    **_both("ceil", text="ceil({0})"),
    **_both("trunc", text="trunc({0})"),
    **_both("true", text="{0} != 0"),
    **_both("not_negative", text="not ({0} < 0)"),
    **_both("positive", text="not ({0} <= 0)"),
    **_both("above_minus_one", text="not ({0} <= -1)"),
    **_both("at_least_one", text="not ({0} < 1)"),
    **_both("within_one", text="not (({0} > 1) | ({0} < -1))"),
    **_both("inside_one", text="not (({0} >= 1) | ({0} <= -1))"),
    **_both("not_nan", text="{0} == {0}"),
    **_both("isnan", text="{0} != {0}"),
    **_both("not_infinite", text="not isinf({0})"),
    **_both("isinf", text="isinf({0})"),
    **_both("finite", "isfinite", text="isfinite({0})"),
}
"""Operations on floats and booleans, by the names of their rules."""
MATHS = {name: name for name in ("sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p cbrt hypot "
                                 "asin acos atan asinh acosh atanh atan2").split()}  # fmt: skip
MATHS |= {**C_NAMES, "math.erf": "erf", "math.erfc": "erfc"}
"""Functions whose last bits a compiled loop may get otherwise, in C's names."""
OWN_IN_PYTHON = frozenset(("asinh", "acosh", "atanh", "hypot", "erf", "erfc"))
"""Those of which CPython may have versions of its own, with other last bits than C's."""
SCALES = {"radians": math.pi / 180.0, "degrees": 180.0 / math.pi}
"""Functions that multiply."""
_NEAR_ONE = "1.0 - abs({0}) - {e0}"


def _bound(slope: Slope) -> str:
    """How far the result of a function that is no steeper than this may be off."""
    if slope.by_inverse:
        return f"1.01 * {slope.by_inverse} * {{e0}} / abs({{0}})"
    if slope.by_result:
        return f"1.01 * ({slope.fixed} + {slope.by_result} * abs({{out}})) * {{e0}}"
    return f"{slope.fixed} * {{e0}}"


BOUNDS = {
    **{name: _bound(slope) for name, slope in SLOPES.items()},
    # a slope that grows without bound towards one: beyond it, the divisor is zero
    "asin": f"1.5 * {{e0}} / sqrt(abs({_NEAR_ONE}) + ({_NEAR_ONE}))",
    "acos": f"1.5 * {{e0}} / sqrt(abs({_NEAR_ONE}) + ({_NEAR_ONE}))",
    "atan2": "1.01 * ({e0} * abs({1}) + {e1} * abs({0})) / ({0} * {0} + {1} * {1})", "hypot": "{e0} + {e1}",
    "min": "{e0} + {e1}", "max": "{e0} + {e1}", "minimum": "{e0} + {e1}", "maximum": "{e0} + {e1}",
    "log1p": "1.01 * {e0} / abs(1.0 + {0})",
    "sqrt": "{e0} / ({out} + {out})", "add": "{e0} + {e1}", "sub": "{e0} + {e1}", "subtract": "{e0} + {e1}",
    "mul": "abs({0}) * {e1} + abs({1}) * {e0} + {e0} * {e1}", "truediv": "({e0} + abs({out}) * {e1}) * 1.01 / abs({1})",
    "neg": "{e0}", "negative": "{e0}", "pos": "{e0}", "abs": "{e0}", "absolute": "{e0}", "fabs": "{e0}",
    "float": "{e0}", "cast": "{e0}", "copy": "{e0}",
}  # fmt: skip
BOUNDS |= {"multiply": BOUNDS["mul"], "divide": BOUNDS["truediv"], "true_divide": BOUNDS["truediv"]}
"""How far a result may be off (`e`), from how far its arguments may be."""
BOUNDS_OF_POWERS = {2: "(2.0 * abs({0}) + {e0}) * {e0}",
                   3: "(3.0 * abs({0}) * (abs({0}) + {e0}) + {e0} * {e0}) * {e0}"}  # fmt: skip
"""The same of powers that are made by products, by their exponents."""
LARGE = {8: "1e300", 4: "1e37"}
NEAR = {
    **dict.fromkeys(("lt", "less", "le", "less_equal", "gt", "greater", "ge", "greater_equal", "eq", "equal", "ne",
                     "not_equal"), "abs({0} - {1})"),
    **dict.fromkeys(("true", "not_negative", "positive"), "abs({0})"),
    "above_minus_one": "abs({0} + 1.0)", "at_least_one": "abs({0} - 1.0)",
    **dict.fromkeys(("within_one", "inside_one"), "abs(abs({0}) - 1.0)"),
}  # fmt: skip
"""How far arguments are from where a decision changes."""
ON_LARGE = frozenset(("not_infinite", "isinf", "finite", "isfinite"))
"""Decisions that change where numbers become infinite."""
ULP = {8: "2e-15", 4: "1e-6"}
"""Two times the bound of a vector function, relative to its result: the loop's own function is off as well."""
ROUND = {size: repr(bound) for size, bound in slopes.ROUND.items()}
CLOSE = {size: repr(bound) for size, bound in RTOL.items()}
"""What the law allows."""
