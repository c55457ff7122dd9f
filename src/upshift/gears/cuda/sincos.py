"""Rewrites a function in LLVM IR so that sin and cos of one float are computed together.

Most of the work of either is to bring its argument near zero.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .flat import OF_C, Flat
from .target import Target

_CALL = re.compile(
    rf"^( *)(%[^ ]+) = (?:tail |notail )?call [^@\n]*@{OF_C}(?:numpy_)?(sin|cos)\(double ([^)]*)\)[^\n]*", re.MULTILINE
)
_DECLARED = f"declare {{ double, double }} @{OF_C}both(double) nounwind readnone\n"
_DEFINED = f"""
declare void @{OF_C}sincos(double, double*, double*)
define internal {{ double, double }} @{OF_C}both(double %x) alwaysinline {{
  %s = alloca double
  %c = alloca double
  call void @{OF_C}sincos(double %x, double* %s, double* %c)
  %sin = load double, double* %s
  %cos = load double, double* %c
  %one = insertvalue {{ double, double }} undef, double %sin, 0
  %two = insertvalue {{ double, double }} %one, double %cos, 1
  ret {{ double, double }} %two
}}
"""


def both_at_once(flat: Flat, target: Target) -> Flat:
    """Where sin and cos of one float are both called, one call makes them, as far as LLVM finds that it may."""
    found = {name: {call[4] for call in _CALL.finditer(flat.text) if call[3] == name} for name in ("sin", "cos")}
    shared = found["sin"] & found["cos"]
    if not shared:
        return flat

    def written(call: re.Match[str]) -> str:
        if call[4] not in shared:
            return call[0]
        pair = f"{call[2]}.both" if not call[2].endswith('"') else f'{call[2][:-1]}.both"'
        which = ("sin", "cos").index(call[3])
        return (
            f"{call[1]}{pair} = call {{ double, double }} @{OF_C}both(double {call[4]})\n"
            f"{call[1]}{call[2]} = extractvalue {{ double, double }} {pair}, {which}"
        )

    module = target.parse(_CALL.sub(written, flat.text) + _DECLARED)
    target.optimise(module, 2, unroll=False)
    text = re.sub(rf"^declare [^\n]*@{OF_C}both\([^\n]*", "", str(module), flags=re.MULTILINE)
    return replace(flat, text=text + _DEFINED, maths=flat.maths | {"sincos"})
