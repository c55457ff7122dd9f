"""Python's operators and functions in; what machine code must do to mean the same out.

Numba computes as C does: ints wrap, `math.log(-1)` is NaN, two booleans add up to an int. Here every operator and
function that compiled code may use has a stand-in that gives the plain function's very bits, or raises. A lane that
raises is left to the plain function, so a stand-in may raise wherever it is not sure.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numba.extending import intrinsic

from .blocks import Check, stand_in
from .builtin import absolute_of, bool_of, complex_of, extreme, float_of, whole
from .floats import OF_MATH, by_llvm, is_what, scaled
from .operators import arithmetic, bits, comparison, division, negative_of, same_number, shift, truth_of
from .powers import power_of

STAND_INS: dict[Any, Any] = {
    **OF_MATH,
    operator.neg: stand_in(negative_of),
    operator.pos: stand_in(same_number(operator.pos)),
    operator.invert: stand_in(same_number(operator.invert)),
    operator.not_: stand_in(truth_of),
    abs: stand_in(absolute_of),
    int: whole(None),
    round: whole("roundeven"),
    float: stand_in(float_of),
    bool: stand_in(bool_of),
    complex: stand_in(complex_of),
    min: extreme(min, "<"),
    max: extreme(max, ">"),
    math.floor: whole("floor", "as floats"),
    math.ceil: whole("ceil", "as floats"),
    math.trunc: whole(None, "refuse"),
    math.sqrt: by_llvm("sqrt", True),
    math.fabs: by_llvm("fabs", False),
    math.copysign: by_llvm("copysign", False),
    math.degrees: scaled(180.0 / math.pi, "degrees"),
    math.radians: scaled(math.pi / 180.0, "radians"),
    np.sqrt: by_llvm("sqrt", True),
    np.floor: by_llvm("floor", False),
    np.ceil: by_llvm("ceil", False),
    np.trunc: by_llvm("trunc", False),
    np.rint: by_llvm("roundeven", False),
    np.copysign: by_llvm("copysign", False),
    np.fabs: by_llvm("fabs", False),
}
OF_TWO: dict[Any, Check] = {operator.pow: power_of}
"""What operators make of two numbers."""
for _fn, _name in ((operator.add, "sadd"), (operator.sub, "ssub"), (operator.mul, "smul")):
    OF_TWO[_fn] = arithmetic(_fn, f"{_name}_with_overflow")
_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)
for _fn in _DIVISIONS:
    OF_TWO[_fn] = division(_fn)
for _fn in (operator.lshift, operator.rshift):
    OF_TWO[_fn] = shift(_fn)
for _fn in (operator.and_, operator.or_, operator.xor):
    OF_TWO[_fn] = bits(_fn)
for _fn in (operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt):
    OF_TWO[_fn] = comparison(_fn)
for _fn, _check in OF_TWO.items():
    STAND_INS[_fn] = intrinsic(prefer_literal=_fn in (*_DIVISIONS, operator.pow))(_check)
for _name in ("isnan", "isinf", "isfinite"):
    STAND_INS[getattr(math, _name)] = STAND_INS[getattr(np, _name)] = is_what(_name)
IN_PLACE = {
    operator.iadd: operator.add, operator.isub: operator.sub, operator.imul: operator.mul,
    operator.itruediv: operator.truediv, operator.ifloordiv: operator.floordiv, operator.imod: operator.mod,
    operator.ipow: operator.pow, operator.ilshift: operator.lshift, operator.irshift: operator.rshift,
    operator.iand: operator.and_, operator.ior: operator.or_, operator.ixor: operator.xor,
}  # fmt: skip
