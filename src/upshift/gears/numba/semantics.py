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

from .blocks import stand_in
from .builtin import absolute_of, bool_of, complex_of, extreme, extreme_of_any, float_of, whole
from .floats import OF_MATH, by_llvm, is_what, scaled
from .narrow import Check, of_one, of_two, soft_of_two
from .operators import arithmetic, bits, comparison, division, negative_of, same_number, shift, truth_of
from .powers import power_of

STAND_INS: dict[Any, Any] = {
    **OF_MATH,
    operator.neg: stand_in(of_one(operator.neg, negative_of)),
    operator.pos: stand_in(of_one(operator.pos, same_number(operator.pos))),
    operator.invert: stand_in(of_one(operator.invert, same_number(operator.invert))),
    operator.not_: stand_in(truth_of),
    abs: stand_in(of_one(abs, absolute_of)),
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
    np.sqrt: by_llvm("sqrt", True, of_numpy=True),
    np.floor: by_llvm("floor", False, of_numpy=True),
    np.ceil: by_llvm("ceil", False, of_numpy=True),
    np.trunc: by_llvm("trunc", False, of_numpy=True),
    np.rint: by_llvm("roundeven", False, of_numpy=True),
    np.copysign: by_llvm("copysign", False, of_numpy=True),
    np.fabs: by_llvm("fabs", False, of_numpy=True),
}
OF_TWO: dict[Any, Check] = {operator.pow: power_of}
"""What operators make of two wide numbers."""
UNCHECKED: dict[Any, Any] = {}
"""Stand-ins for ints that are known to fit."""
for _fn, _name in ((operator.add, "sadd"), (operator.sub, "ssub"), (operator.mul, "smul")):
    OF_TWO[_fn] = arithmetic(_fn, f"{_name}_with_overflow")
    _bare = arithmetic(_fn, f"{_name}_with_overflow", checked=False)
    UNCHECKED[_fn] = stand_in(of_two(_fn, OF_TWO[_fn], wide=_bare))
_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)
for _fn in _DIVISIONS:
    OF_TWO[_fn] = division(_fn)
for _fn in (operator.lshift, operator.rshift):
    OF_TWO[_fn] = shift(_fn)
for _fn in (operator.and_, operator.or_, operator.xor):
    OF_TWO[_fn] = bits(_fn)
for _fn in (operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt):
    OF_TWO[_fn] = comparison(_fn)
STRONG: dict[Any, Any] = {}
"""Stand-ins for a narrow number beside a wide one that is NumPy's."""
SOFT: dict[Any, Any] = {}
"""Stand-ins for numbers of which one may still be the literal that its variable began with: they are told as much."""
for _fn, _check in OF_TWO.items():
    STAND_INS[_fn] = intrinsic(prefer_literal=_fn in (*_DIVISIONS, operator.pow))(of_two(_fn, _check))
    STRONG[_fn] = stand_in(of_two(_fn, _check, strong=True))
    SOFT[_fn] = stand_in(soft_of_two(of_two(_fn, _check)))
for _name in ("isnan", "isinf", "isfinite"):
    STAND_INS[getattr(math, _name)] = STAND_INS[getattr(np, _name)] = is_what(_name)
IN_PLACE = {
    operator.iadd: operator.add, operator.isub: operator.sub, operator.imul: operator.mul,
    operator.itruediv: operator.truediv, operator.ifloordiv: operator.floordiv, operator.imod: operator.mod,
    operator.ipow: operator.pow, operator.ilshift: operator.lshift, operator.irshift: operator.rshift,
    operator.iand: operator.and_, operator.ior: operator.or_, operator.ixor: operator.xor,
}  # fmt: skip

OF_ANY = {min: extreme_of_any(min, "<"), max: extreme_of_any(max, ">")}
"""Where classes are followed: see `classes.py`."""
