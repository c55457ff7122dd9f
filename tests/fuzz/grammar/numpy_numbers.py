"""NumPy's numbers: arithmetic of mixed dtypes, casts, functions; `npi`, `npf` and `npb` are of any width."""

from __future__ import annotations

CONSTANTS = {
    "npi": "np.int8(100) np.int16(-7) np.int32(2**31-1) np.int64(5) np.uint8(200) np.uint16(9) np.uint32(3) "
    "np.uint64(2**63) np.int64(-2**63)".split(),
    "npf": "np.float16(1.5) np.float32(0.1) np.float64(2.5) np.float32(np.nan) "
    "np.float64(-0.0) np.float64(np.inf)".split(),
    "npb": ["np.True_", "np.bool_(False)"],
    "npc": ["np.complex64(1+2j)", "np.complex128(-1j)"],
}
_FLOATS = (
    "sqrt exp log sin cos tan tanh arctan floor ceil trunc rint square abs sign log1p expm1 cbrt reciprocal negative"
)
_PAIRS = (
    "maximum minimum fmax fmin hypot arctan2 copysign add subtract multiply divide floor_divide remainder fmod power"
)

FORMS = (
    "\n".join(f"1 npf = np.{name}({{npf}})" for name in _FLOATS.split())
    + "\n"
    + "\n".join(f"1 npf = np.{name}({{npf}}, {{npf}})" for name in _PAIRS.split())
    + """
4 npi = ({npi} + {npi})
3 npi = ({npi} - {npi})
3 npi = ({npi} * {npi})
2 npi = ({npi} // {npi})
2 npi = ({npi} % {npi})
2 npi = ({npi} + {small})
2 npi = ({small} - {npi})
2 npi = ({npi} * 2)
1 npi = ({npi} & {npi})
1 npi = ({npi} | {npi})
1 npi = ({npi} ^ {npi})
1 npi = ({npi} << {small})
1 npi = ({npi} >> {small})
1 npi = (-{npi})
1 npi = (~{npi})
1 npi = abs({npi})
1 npi = ({npi} ** 2)
1 npi = ({npi} if {bool} else {npi})
1 npi = min({npi}, {npi})
1 npi = max({npi}, {npi})
1 npi = np.int64({int})
1 npi = np.int32({small})
1 npi = np.uint8({small})
1 npi = {npi}.astype(np.int16)
1 npi = {npf}.astype(np.int32)
1 npi = np.maximum({npi}, {npi})
1 npi = np.minimum({npi}, {small})
1 npi = np.gcd({npi}, {npi})
1 npi = np.clip({npi}, 0, 5)
1 npi = np.int64({npb})
4 npf = ({npf} + {npf})
3 npf = ({npf} * {npf})
3 npf = ({npf} - {npf})
2 npf = ({npf} / {npf})
2 npf = ({npi} / {npi})
2 npf = ({npf} // {npf})
2 npf = ({npf} % {npf})
2 npf = ({npf} + {float})
2 npf = ({npf} * {int})
2 npf = ({float} - {npf})
2 npf = ({npf} + {npi})
1 npf = (-{npf})
1 npf = abs({npf})
1 npf = ({npf} ** 2)
1 npf = ({npf} ** 0.5)
1 npf = ({npf} if {bool} else {npf})
1 npf = min({npf}, {npf})
1 npf = np.float64({float})
1 npf = np.float32({float})
1 npf = np.float16({npf})
1 npf = {npf}.astype(np.float32)
1 npf = {npi}.astype(np.float16)
1 npf = np.round({npf}, 1)
1 npf = round({npf}, 2)
1 npf = np.clip({npf}, -1.0, 1.0)
1 npf = np.real({npc})
1 npf = abs({npc})
1 npf = {npc}.imag
1 npf = lib.ARRAY[{small}]
1 npi = lib.COUNTS[{bit}]
1 npc = ({npc} + {npc})
1 npc = ({npc} * {npf})
1 npc = np.conjugate({npc})
1 npc = np.complex128({complex})
2 npb = ({npf} < {npf})
2 npb = ({npi} == {npi})
1 npb = ({npi} >= {int})
1 npb = ({npf} != {float})
1 npb = np.isnan({npf})
1 npb = np.isfinite({npf})
1 npb = np.signbit({npf})
1 npb = np.logical_and({npb}, {npb})
1 npb = ({npb} & {npb})
1 npb = ({npb} | {bool})
2 bool = bool({npb})
2 bool = ({npf} > {float} and {npi} > 0)
1 bool = (not {npb})
2 int = int({npi})
1 int = int({npf})
1 int = {npi}.item()
2 float = float({npf})
1 float = {npf}.item()
1 float = float({npi})
1 complex = complex({npc})
1 bool = isinstance({npf}, float)
1 list[npf] = [{npf}, {npf}]
1 list[npi] = [{npi}, {npi}, {npi}]
1 npf = sum({list[npf]}, {npf})
1 npi = max({list[npi]})
1 list[int] = list(range({npi} % 4))
1 int = [{int}, {int}, {int}][{npi} % 3]
2 npf : {self} += {npf}
2 npi : {self} += {npi}
1 npf : {self} *= {float}
"""
)
