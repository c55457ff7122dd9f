"""What stands in a lane's function for NumPy's inner loops, in LLVM IR.

The compiler calls NumPy's own loop for what NumPy computes in its own way. A GPU has its own function instead, whose
last bits are others, or the operator itself.
"""

from __future__ import annotations

import re

LOOP = "upshift_numpy_"
"""What the names of NumPy's loops begin with: `upshift_numpy_sin__d_d_`."""
OWN = "numpy_"
"""What stands in front of C's name of a function that is called in NumPy's stead."""
SINGLE = "single_"
"""What stands in front of it where it is one of float32."""
C_NAMES = frozenset(
    "sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh exp exp2 expm1 log log2 log10 log1p cbrt erf erfc "
    "pow atan2 hypot fmod remainder".split()
)
"""Functions of C's that a GPU has."""
_OF_NUMPY = {
    **{name: name for name in "sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p cbrt hypot".split()},
    **{f"arc{name}": f"a{name}" for name in "sin cos tan sinh cosh tanh tan2".split()}, "power": "pow", "fmod": "fmod",
    "float_power": "pow",
}  # fmt: skip
"""By NumPy's name: C's."""
OF_TWO = frozenset(("atan2", "hypot", "pow", "fmod", "remainder"))
_EXACT = {
    "add": "fadd {t} %x, %y", "subtract": "fsub {t} %x, %y", "multiply": "fmul {t} %x, %y",
    "divide": "fdiv {t} %x, %y", "square": "fmul {t} %x, %x", "reciprocal": "fdiv {t} 1.000000e+00, %x",
    "negative": "fneg {t} %x", "positive": "fadd {t} %x, -0.000000e+00",
    "absolute": "call {t} @llvm.fabs.{f}({t} %x)", "fabs": "call {t} @llvm.fabs.{f}({t} %x)",
    "sqrt": "call {t} @llvm.sqrt.{f}({t} %x)", "floor": "call {t} @llvm.floor.{f}({t} %x)",
    "ceil": "call {t} @llvm.ceil.{f}({t} %x)", "trunc": "call {t} @llvm.trunc.{f}({t} %x)",
    "rint": "call {t} @llvm.rint.{f}({t} %x)",
    "maximum": "call {t} @llvm.maximum.{f}({t} %x, {t} %y)", "minimum": "call {t} @llvm.minimum.{f}({t} %x, {t} %y)",
}  # fmt: skip
"""By NumPy's name: the same bits, as an instruction."""
_OF_INTS = {
    "add": "add {t} %x, %y", "subtract": "sub {t} %x, %y", "multiply": "mul {t} %x, %y",
    "maximum": "call {t} @llvm.{s}max.{t}({t} %x, {t} %y)", "minimum": "call {t} @llvm.{s}min.{t}({t} %x, {t} %y)",
    "bitwise_and": "and {t} %x, %y", "bitwise_or": "or {t} %x, %y", "bitwise_xor": "xor {t} %x, %y",
}  # fmt: skip
"""The same of ints, which wrap."""
_OF_BOOLS = {"logical_and": "and {t} %x, %y", "logical_or": "or {t} %x, %y", "logical_xor": "xor {t} %x, %y"}
"""The same of bools, which are bytes of 0 and 1."""
_INTS = {"b": 8, "h": 16, "i": 32, "l": 64, "q": 64}
_TYPES = {"d": ("double", "f64", ""), "f": ("float", "f32", SINGLE)}
_NAME = re.compile(rf"@((?:apart_)?){LOOP}(\w+?)__(?:([dfbhilqBHILQ])_(?:\3_)+|BB+)\(")
_LOOP = """
define internal void @{name}(ptr %columns, ptr %length, ptr %strides, ptr %data) alwaysinline {{
entry:
  %n = load i64, ptr %length
{places}
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
{loads}
  %made = {make}
  {store}
  %next = add nsw i64 %i, 1
  br label %head
end:
  ret void
}}
"""

_SUMS = """
define internal void @{name}(ptr %columns, ptr %length, ptr %strides, ptr %data) alwaysinline {{
entry:
  %n = load i64, ptr %length
  %x = load ptr, ptr %columns
  %y.at = getelementptr ptr, ptr %columns, i64 1
  %y = load ptr, ptr %y.at
  %out.at = getelementptr ptr, ptr %columns, i64 2
  %out = load ptr, ptr %out.at
  %x.step = load i64, ptr %strides
  %y.by = getelementptr i64, ptr %strides, i64 1
  %y.step = load i64, ptr %y.by
  %same = icmp eq ptr %x, %out
  %still = icmp eq i64 %x.step, 0
  %several = icmp sgt i64 %n, 1
  %one = and i1 %same, %still
  %row = and i1 %one, %several
  br i1 %row, label %reduce, label %each
reduce:
  %before = load {t}, ptr %x
  %sum = call {t} @{sum}(ptr %y, i64 %n, i64 %y.step)
  %made = fadd {t} %before, %sum
  store {t} %made, ptr %out
  ret void
each:
  call void @{name}.each(ptr %columns, ptr %length, ptr %strides, ptr %data)
  ret void
}}
"""
"""Rows that are added up, as NumPy does: in halves."""


def c_name(name: str) -> str:
    """C's name of a function, of float64, by the name that a lane's function has for it."""
    return name.removeprefix(OWN).removeprefix(SINGLE)


def is_single(name: str) -> bool:
    """Whether a function is the float32 one of its name."""
    return name.removeprefix(OWN).startswith(SINGLE)


def loops_in(text: str) -> str:
    """The text with definitions of NumPy's loops that are called, as far as a GPU has what they do."""
    known = {(found[0], found[2], found[3] or "") for found in _NAME.finditer(text)}
    declared: set[str] = set()
    for head, name, letter in sorted(known):
        own = _OF_NUMPY.get(name) if letter in _TYPES else None
        exact = _EXACT if letter in _TYPES else _OF_INTS if letter else _OF_BOOLS
        if own is None and name not in exact:
            continue
        full = head[1:-1]
        text = re.sub(rf"^declare void @{full}\([^\n]*$", "", text, flags=re.MULTILINE)
        t, f, single = _TYPES.get(letter) or (f"i{_INTS[letter.lower() or 'b']}", "", "")
        two = own in OF_TWO or "%y" in exact.get(name, "")
        if own is not None:
            called = f"upshift_{OWN}{single}{own}"
            given = ", ".join([t] * (2 if two else 1))
            declared.add(f"declare {t} @{called}({given}) nounwind willreturn memory(none)")
            make = f"call {t} @{called}({t} %x{f', {t} %y' if two else ''})"
        else:
            make = exact[name].format(t=t, f=f, s="s" if letter.islower() else "u")
            intrinsic = re.search(r"@(llvm\.\w+\.[fi]\d+)", make)
            if intrinsic and f"@{intrinsic[1]}(" not in text:
                declared.add(f"declare {t} @{intrinsic[1]}({', '.join([t] * (2 if two else 1))})")
        if name == "add" and letter in _TYPES:
            if f"@upshift_sum_{letter}(" not in text:
                declared.add(f"declare {t} @upshift_sum_{letter}(ptr, i64, i64) nounwind willreturn memory(read)")
            text += _SUMS.format(name=full, t=t, sum=f"upshift_sum_{letter}")
            full = f"{full}.each"
        text += _loop(full, t, make, two)
    return "\n".join([text, *sorted(declared)])


def _loop(name: str, t: str, make: str, two: bool) -> str:
    values = ["x", "y", "out"] if two else ["x", "out"]
    places, loads = [], []
    for k, value in enumerate(values):
        places += [
            f"  %{value}.at = getelementptr ptr, ptr %columns, i64 {k}",
            f"  %{value}.first = load ptr, ptr %{value}.at",
            f"  %{value}.by = getelementptr i64, ptr %strides, i64 {k}",
            f"  %{value}.step = load i64, ptr %{value}.by",
        ]  # fmt: skip
        loads += [
            f"  %{value}.off = mul i64 %i, %{value}.step",
            f"  %{value}.place = getelementptr i8, ptr %{value}.first, i64 %{value}.off",
        ]
        if value != "out":
            loads.append(f"  %{value} = load {t}, ptr %{value}.place")
    return _LOOP.format(
        name=name, places="\n".join(places), loads="\n".join(loads), make=make, store=f"store {t} %made, ptr %out.place"
    )
