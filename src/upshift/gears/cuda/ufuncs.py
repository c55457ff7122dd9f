"""Names of NumPy's ufuncs in; out, what stands in a lane's function for NumPy's loops, in LLVM's words.

The numba gear calls NumPy's own loop for a column of one float. A GPU has its own function instead, whose last bits
are others, or the operator itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LOOP, OWN = "upshift_np_", "upshift_numpy_"
"""What the names of NumPy's loops begin with, and those of the functions that stand for them."""
C_NAMES = {
    **{name: name for name in "sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p cbrt hypot".split()},
    **{f"arc{name}": f"a{name}" for name in "sin cos tan sinh cosh tanh tan2".split()}, "power": "pow",
}  # fmt: skip
"""By NumPy's name: C's."""
_OF_TWO = frozenset(("arctan2", "hypot", "power", "add", "subtract", "multiply", "divide"))
_EXACT = {
    "add": "fadd double %x, %y", "subtract": "fsub double %x, %y", "multiply": "fmul double %x, %y",
    "divide": "fdiv double %x, %y", "square": "fmul double %x, %x", "reciprocal": "fdiv double 1.000000e+00, %x",
    "negative": "fneg double %x", "positive": "fadd double %x, -0.000000e+00",
    "absolute": "call double @llvm.fabs.f64(double %x)", "fabs": "call double @llvm.fabs.f64(double %x)",
}  # fmt: skip
"""By NumPy's name: the same bits, as an instruction."""
_HEAD = "define void @{loop}{name}(i8** %columns, i64* %n, i64* %strides, i8* %data) alwaysinline {{"
_ITEM = """  %{v}.at = getelementptr i8*, i8** %columns, i32 {i}
  %{v}.any = load i8*, i8** %{v}.at
  %{v}.place = bitcast i8* %{v}.any to double*"""


def c_name(name: str) -> str:
    """C's name of a function, by the name that a lane's function has for it."""
    own = OWN.removeprefix("upshift_")
    return C_NAMES[name.removeprefix(own)] if name.startswith(own) else name


def loops_in(texts: Iterable[str]) -> str:
    """Definitions of NumPy's loops that are called, as far as a GPU has what they do."""
    names = {name for text in texts for name in re.findall(rf"@{LOOP}(\w+)\(", text)}
    known = sorted(names & {*C_NAMES, *_EXACT})
    declared = [
        f"declare double @{OWN}{name}(double{', double' if name in _OF_TWO else ''}) nounwind readnone"
        for name in known
        if name not in _EXACT
    ]
    return "\n".join([*map(_loop, known), *declared, "declare double @llvm.fabs.f64(double)"]) if known else ""


def _loop(name: str) -> str:
    given = ["x", "y"] if name in _OF_TWO else ["x"]
    lines = [_HEAD.format(loop=LOOP, name=name)]
    for i, value in enumerate([*given, "out"]):
        lines.append(_ITEM.format(v=value, i=i))
    lines += [f"  %{value} = load double, double* %{value}.place" for value in given]
    call = f"call double @{OWN}{name}({', '.join(f'double %{value}' for value in given)})"
    lines += [f"  %made = {_EXACT.get(name, call)}", "  store double %made, double* %out.place", "  ret void", "}"]
    return "\n".join(lines)
