"""One lane's function in LLVM's words in; the same with checks out: lanes that may be wrong are left.

Two things that a processor with flags and with C's own functions needs no checks for:

- Where NumPy's numbers are in play, a lane in which a float becomes infinite or NaN is left, since the plain function
  warns. Such a float stays so through + - * and sqrt, so it is looked for only where it would get lost: in comparisons,
  under a fraction, in the argument of a function, in a result.
- A GPU's `sin` has other last bits than C's. Beside every float that hangs on one (it is blurred) runs a bound of how
  far it may be off. A lane that decides nearer to the edge than that, or whose result may be off further than the law
  allows, is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..ran import NotCompiled
from .bounds import (
    BOUNDED,
    CLOSE,
    FUNCTIONS,
    UNDEFINED_AT_INFINITY,
    UNDERFLOWS,
    Error,
    Steep,
    bound,
    number,
    of_product,
    of_quotient,
    of_root,
    of_sum,
    own,
)
from .flat import LANE, Flat
from .lines import (
    NAME,
    ROUNDED,
    Instruction,
    cheaper,
    error_name,
    is_close,
    is_nothing_new,
    is_rounding,
    name_of,
    reached,
    read,
)
from .ufuncs import c_name

_LOOSE = "reassoc nsz arcp contract"
"""Bounds may be computed in any order."""
_HUGE, _INFINITE_HIGH, _NORMAL = 0x7FEFFFFF, 0x7FF00000, 0x00100000
"""Upper halves of floats: one so large that a GPU's function may have it where C's overflows, infinity, and the
smallest normal one."""
_KEPT = ("largest", "farthest")
ZERO = "0.000000e+00"
_RULES = {"fadd": of_sum, "fsub": of_sum, "fmul": of_product, "fdiv": of_quotient}
_FLOWS = frozenset((*ROUNDED, "llvm.sqrt.f64", "llvm.fabs.f64"))
"""Functions through which what is not finite stays so."""


def with_checks(flat: Flat, near_numpy: bool) -> Flat:
    """The same function with the checks that it needs, or `NotCompiled`."""
    if not flat.close and not near_numpy:
        return flat
    found = re.search(rf"^define [^\n]*@{LANE}\([^\n]*\{{\n", flat.text, re.MULTILINE)
    assert found is not None
    end = flat.text.index("\n}", found.end()) + 1
    written = _Checking(flat.text[found.end() : end], near_numpy).write()
    text = flat.text[: found.end()] + written + flat.text[end:]
    names = [f"double @llvm.{name}.f64(double)" for name in ("fabs", "trunc")]
    for name in [*names, "i1 @llvm.expect.i1(i1, i1)"]:
        if not re.search(rf"^declare [^\n]*{re.escape(name.split('(')[0])}\(", text, re.MULTILINE):
            text += f"declare {name}\n"
    return replace(flat, text=text)


class _Checking:
    """Writes a function's lines again, with bounds and checks between them."""

    def __init__(self, body: str, near_numpy: bool) -> None:
        self.source = body.splitlines()
        self.near_numpy = near_numpy
        self.lines: list[str] = []
        self.last: dict[str, str] = {}
        """By block: the last of the blocks that it is split into."""
        self.block, self.made = "", 0
        self.elements: list[str] = []
        """Floats that are read before anything is decided."""
        self.instructions = [read(line) for line in self.source]
        made = [one for one in self.instructions if one is not None and one.out and one.op not in ("fcmp", "fptosi")]
        made = [one for one in made if not is_nothing_new(one)]
        self.computed = reached(made, {one.out for one in made if one.op in ("fadd", "fsub", "fmul", "fdiv", "call")})
        """What arithmetic made: where it is not finite, it perhaps became so."""
        made = [one for one in made if not is_rounding(one)]
        self.blurred = reached(made, {one.out for one in made if is_close(one)})
        self.named = {arg for one in made if one.op == "phi" for arg in one.args} & self.blurred
        """Floats whose errors a phi needs."""
        self.summed = self.blurred - {arg for one in self.instructions if one is not None for arg in one.args
                                      if one.op not in ("fadd", "fsub")}  # fmt: skip
        """Floats that are only added to others: a sum's bound holds for small ones as well."""
        self.errors: dict[str, Error] = {}
        self.known = {one.out: one for one in self.instructions if one is not None and one.out}

    def write(self) -> str:
        for line, one in zip(self.source, self.instructions, strict=True):
            self._follow(line)
            if one is not None:
                self._write(one, line)
            elif line.startswith("  ret "):
                self._return(line)
            else:
                self._look_at(line)
                self.lines.append(line)
        kept = [f"%upshift.{name}" for name in _KEPT]
        self.lines[1:1] = [f"  {name} = alloca i32" for name in kept] + [f"  store i32 0, i32* {name}" for name in kept]
        self.lines += ["upshift.left:", "  ret i32 1"]
        return "\n".join(map(self._renamed, self.lines)) + "\n"

    def _follow(self, line: str) -> None:
        """Keep in mind which block this is, and which elements are read in the first."""
        label = re.match(r'((?:[-\w.$]+|"[^"]*")):', line)
        if label:
            self.block = f"%{label[1]}"
            self.last[self.block] = self.block
        element = re.match(rf"  ({NAME}) = load double, ", line)
        if element and len(self.last) == 1:
            self.elements.append(element[1])

    def _renamed(self, line: str) -> str:
        """A phi names the blocks that lead to its own, which may have been split."""
        if " = phi " not in line:
            return line
        return re.sub(rf", ({NAME}) \]", lambda found: f", {self.last.get(found[1], found[1])} ]", line)

    def _look_at(self, line: str) -> None:
        """A line that is not known here must have nothing to do with floats that need checks."""
        used = set(re.findall(NAME, line))
        if "x double>" in line or used & self.blurred or (self.near_numpy and used & self.computed):
            raise NotCompiled("cuda", f"it computes in a way that has no checks: {line.strip()[:80]}")

    def _write(self, one: Instruction, line: str) -> None:
        if self.near_numpy and not is_nothing_new(one):
            for arg in self._lost(one):
                self._remember(arg)
        if is_nothing_new(one) or not self.blurred.intersection((one.out, *one.args)):
            self.lines.append((self._finite_by_bits(one) if one.op == "fcmp" else "") or line)
        else:
            self._write_blurred(one, line)

    def _lost(self, one: Instruction) -> list[str]:
        """Arguments of which a result does not tell that they are not finite."""
        if one.op == "fdiv":
            lost = one.args[1:]
        elif one.op in ("fcmp", "store") or (one.op == "call" and one.detail[0] not in _FLOWS):
            lost = one.args
        else:
            return []
        return [arg for arg in lost if arg in self.computed]

    # ---- blur

    def _write_blurred(self, one: Instruction, line: str) -> None:
        errors = [self.errors.get(arg) for arg in one.args]
        if one.op == "fcmp":
            self._decide(one, errors)
        elif one.op == "fptosi" or is_rounding(one):
            self._decide_whole(one.args[0], errors[0], one.detail[0] or "llvm.trunc.f64")
        elif one.op == "store" and isinstance(errors[0], str):
            most = self.add(self.mul(number(CLOSE), self.size(one.args[0])), number(1e-300))
            self.leave_unless("ole", errors[0], most)
        self.lines.append(cheaper(one) or line)
        if one.out in self.blurred:
            self._note(one.out, self._error_of(one, errors))
            if c_name(name_of(one)) in UNDERFLOWS or (one.op in ("fmul", "fdiv") and one.out not in self.summed):
                self._remember_tiny(one.out)
            elif is_close(one) and c_name(name_of(one)) not in BOUNDED:
                self._remember(one.out)

    def _note(self, value: str, error: Error) -> None:
        """How far a value may be off; as a float of a known name where a phi needs it, perhaps before this line."""
        self.errors[value] = error
        if value in self.named and error != error_name(value):
            self.lines.append(f"  {error_name(value)} = fadd double {bound(self, value, error)}, {ZERO}")

    def _error_of(self, one: Instruction, errors: Sequence[Error]) -> Error:
        if one.op == "phi":
            pairs = [
                f"[ {error_name(arg) if arg in self.blurred else ZERO}, {label} ]"
                for arg, label in zip(one.args, one.detail, strict=True)
            ]
            self.lines.append(f"  {error_name(one.out)} = phi double {', '.join(pairs)}")
            return error_name(one.out)
        if one.op == "select":
            if not any(isinstance(error, str) for error in errors):
                return max(error or 0.0 for error in errors)
            a, b = (bound(self, arg, error) or ZERO for arg, error in zip(one.args, errors, strict=True))
            return self._new(f"select i1 {one.detail[0]}, double {a}, double {b}")
        if one.op in ("fneg", "freeze") or one.detail[0] == "llvm.fabs.f64":
            return errors[0]
        if one.op in _RULES:
            return _RULES[one.op](self, one.out, one.args, errors)
        if one.detail[0] == "llvm.sqrt.f64":
            return of_root(self, one.out, one.args, errors)
        return self._error_of_function(one, errors)

    def _error_of_function(self, one: Instruction, errors: Sequence[Error]) -> Error:
        name = name_of(one)
        if all(error is None for error in errors):
            return own(name)
        try:
            steep = FUNCTIONS[c_name(name)](self, one.out, one.args, errors)
        except (KeyError, Steep):
            raise NotCompiled("cuda", f"{name} works on what may be off in its last bits") from None
        return self.add(bound(self, one.out, own(name)), bound(self, one.out, steep))

    def _decide(self, one: Instruction, errors: Sequence[Error]) -> None:
        """A comparison is the loop's where the two are further apart than both may be off. A sign is never off."""
        a, b = one.args
        if ZERO in one.args and not any(isinstance(error, str) for error in errors):
            return
        off = self.add(*(bound(self, arg, error) for arg, error in zip(one.args, errors, strict=True)))
        self.leave_unless("ogt", self.size(self._new(f"fsub double {a}, {b}")), off)

    def _decide_whole(self, value: str, error: Error, fn: str) -> None:
        """Both ends of where a float may be are rounded alike."""
        off = bound(self, value, error)
        ends = [self._new(f"{op} double {value}, {off}") for op in ("fsub", "fadd")]
        self.leave_unless("oeq", *[self._new(f"call double @{fn}(double {end})") for end in ends])

    # ---- lines

    def _new(self, text: str) -> str:
        self.made += 1
        self.lines.append(f"  %upshift.{self.made} = {text}")
        return f"%upshift.{self.made}"

    def add(self, *terms: str | None) -> str:
        first, *rest = [term for term in terms if term]
        for term in rest:
            first = self._new(f"fadd {_LOOSE} double {first}, {term}")
        return first

    def mul(self, *factors: str) -> str:
        first, *rest = factors
        for factor in rest:
            first = self._new(f"fmul {_LOOSE} double {first}, {factor}")
        return first

    def div(self, a: str, b: str) -> str:
        return self._new(f"fdiv {_LOOSE} double {a}, {b}")

    def size(self, a: str) -> str:
        return self._new(f"call double @llvm.fabs.f64(double {a})")

    def leave_unless(self, compare: str, a: str, b: str) -> None:
        """NaN compares as false, and is left."""
        holds = self._new(f"fcmp {compare} double {a}, {b}")
        self._leave(self._new(f"xor i1 {holds}, true"))

    def _leave(self, odd: str, to: str = "%upshift.left") -> None:
        odd = self._new(f"call i1 @llvm.expect.i1(i1 {odd}, i1 false)")
        self.made += 1
        here = f"%upshift.block.{self.made}"
        self.lines += [f"  br i1 {odd}, label {to}, label {here}", f"{here[1:]}:"]
        self.last[self.block] = here

    # ---- what is not finite, or less than normal

    def _remember(self, value: str) -> None:
        """Keep the largest exponent. Decisions on what is not finite are the loop's all the same, so the lane goes on.

        Its bits are looked at, since a GPU has more time for ints than for float64.
        """
        self._keep("largest", self._high(value, signed=not self._is_never_negative(value)))

    def _is_never_negative(self, value: str, depth: int = 4) -> bool:
        """Squares, sizes and their sums: there is no sign to look past."""
        one = self.known.get(value)
        if one is None or not depth:
            return False
        if one.op == "fadd":
            return all(self._is_never_negative(arg, depth - 1) for arg in one.args)
        return (one.op == "fmul" and one.args[0] == one.args[1]) or one.detail[0] == "llvm.fabs.f64"

    def _remember_tiny(self, value: str) -> None:
        """The same for floats that may not be tiny either, unless they are zero: these become the largest of all."""
        high = self._high(value)
        low = self._new(f"trunc i64 {self._new(f'bitcast double {value} to i64')} to i32")
        zero = self._new(f"icmp eq i32 {self._new(f'or i32 {low}, {high}')}, 0")
        above = self._new(f"sub i32 {high}, {_NORMAL}")
        self._keep("farthest", self._new(f"select i1 {zero}, i32 0, i32 {above}"))

    def _high(self, value: str, signed: bool = True) -> str:
        """The upper half of a float without its sign; a NaN that has one all the same is larger than any."""
        bits = self._new(f"bitcast double {value} to i64")
        high = self._new(f"trunc i64 {self._new(f'lshr i64 {bits}, 32')} to i32")
        return self._new(f"and i32 {high}, 2147483647") if signed else high

    def _keep(self, name: str, number: str) -> None:
        before = self._new(f"load i32, i32* %upshift.{name}")
        larger = self._new(f"icmp ugt i32 {number}, {before}")
        after = self._new(f"select i1 {larger}, i32 {number}, i32 {before}")
        self.lines.append(f"  store i32 {after}, i32* %upshift.{name}")

    def _return(self, line: str) -> None:
        """Leave where something was odd, unless an element is NaN, which is handed on without a word."""
        largest, farthest = (self._new(f"load i32, i32* %upshift.{name}") for name in _KEPT)
        odd = self._new(f"icmp uge i32 {largest}, {_HUGE}")
        odd = self._new(f"or i1 {odd}, {self._new(f'icmp uge i32 {farthest}, {_HUGE - _NORMAL}')}")
        self.made += 1
        aside = f"%upshift.aside.{self.made}"
        self._leave(odd, aside)
        self.lines += [line, f"{aside[1:]}:"]
        nan = "false"
        for element in self.elements:
            nan = self._new(f"or i1 {nan}, {self._new(f'fcmp uno double {element}, {ZERO}')}")
        result = line.split()[-1]
        self.lines.append(f"  ret i32 {self._new(f'select i1 {nan}, i32 {result}, i32 1')}")

    def _finite_by_bits(self, one: Instruction) -> str:
        """`x - x != 0` and `x - x == 0`, which ask whether x is finite, asked of its bits."""
        before = self.known.get(one.args[0])
        compare = {"une": "uge", "oeq": "ult"}.get(one.detail[0])
        if compare is None or before is None or before.op != "fsub" or one.args[1] != ZERO:
            return ""
        if before.args[0] != before.args[1]:
            return ""
        made = self.known.get(before.args[0])
        is_finite = made is not None and c_name(name_of(made)) in UNDEFINED_AT_INFINITY
        value = made.args[0] if made is not None and is_finite else before.args[0]
        return f"  {one.out} = icmp {compare} i32 {self._high(value)}, {_INFINITE_HIGH}"
