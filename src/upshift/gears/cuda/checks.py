"""Writes checks between the lines of a function in LLVM IR, by which lanes that may be wrong are left.

Two things that a processor with flags and with C's own functions needs no checks for:

- Where NumPy's numbers are in play, a lane in which a float becomes infinite or NaN is left, since the plain function
  warns. Such a float stays so through + - * and sqrt, so it is looked for only where it would get lost: in comparisons,
  under a fraction, in the argument of a function, in a result.
- A GPU's `sin` has other last bits than C's. Beside every float that depends on one (it is inexact) runs a bound of how
  far it may be off. A lane that decides nearer to the edge than that, or whose result may be off further than the law
  allows, is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ..ran import NotCompiled
from .bounds import (
    BOUNDED,
    CLOSE,
    CLOSE_SINGLE,
    FUNCTIONS,
    OF_SINGLE,
    UNDEFINED_AT_INFINITY,
    UNDERFLOWS,
    UNIT,
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
    ROOTS,
    ROUNDED,
    SIZES,
    Instruction,
    cheaper,
    error_name,
    is_close,
    is_nothing_new,
    is_rounding,
    name_of,
    reached,
    read,
    roots_in,
    singles_in,
)
from .support import NAMES
from .ufuncs import c_name

_LOOSE = "reassoc nsz arcp contract"
"""Bounds may be computed in any order."""


class Limits(NamedTuple):
    """Upper halves of floats: one so large that a GPU's function may have it where C's overflows, infinity, and the
    smallest normal one."""

    huge: int
    infinite: int
    normal: int


DOUBLE, SINGLE = Limits(0x7FEFFFFF, 0x7FF00000, 0x00100000), Limits(0x7F7FFFFF, 0x7F800000, 0x00800000)
"""Of float64, and of float32, which has no other half."""
_KEPT = {
    "largest": DOUBLE.huge, "farthest": DOUBLE.huge - DOUBLE.normal,
    "largest.single": SINGLE.huge, "farthest.single": SINGLE.huge - SINGLE.normal,
}  # fmt: skip
"""What is kept of the floats that were made, and how large it may not be."""
OF_A_SUM = 36.0
"""How many roundings a float goes through that is added up in halves."""
_POSITIVE = frozenset(("exp", "exp2", "cosh"))
"""Functions whose results are never negative."""
ZERO = "0.000000e+00"
_MAKES = frozenset(("fadd", "fsub", "fmul", "fdiv", "fptrunc", "call"))
_RULES = {"fadd": of_sum, "fsub": of_sum, "fmul": of_product, "fdiv": of_quotient}
_FLOWS = ROUNDED | ROOTS | SIZES
"""Functions through which what is not finite stays so."""


def with_checks(flat: Flat, near_numpy: bool) -> Flat:
    """The same function with the checks that it needs, or `NotCompiled`."""
    if not flat.close and not near_numpy:
        return flat
    found = re.search(rf"^define [^\n]*@{LANE}\([^\n]*\{{\n", flat.text, re.MULTILINE)
    assert found is not None
    end = flat.text.index("\n}", found.end()) + 1
    written = _settled(flat.text[found.end() : end], near_numpy, flat.team)
    text = flat.text[: found.end()] + written + flat.text[end:]
    if flat.team and not re.search(r"^declare [^\n]*@upshift_any\(", text, re.MULTILINE):
        text += "declare i32 @upshift_any(i32) convergent nounwind\n"
    names = [f"double @llvm.{name}.f64(double)" for name in ("fabs", "trunc", "floor", "ceil", "roundeven", "rint")]
    for name in [*names, "i1 @llvm.expect.i1(i1, i1)"]:
        if not re.search(rf"^declare [^\n]*{re.escape(name.split('(')[0])}\(", text, re.MULTILINE):
            text += f"declare {name}\n"
    return replace(flat, text=text)


MOST_ROUNDS = 8


def _settled(body: str, near_numpy: bool, team: bool) -> str:
    """What is kept in memory may be off as much as what is written there, which may depend on what is read there."""
    memory: dict[str, Kept] = {}
    for _ in range(MOST_ROUNDS):
        checking = _Checking(body, near_numpy, team, memory)
        written = checking.write()
        if checking.stored == memory:
            return written
        memory = checking.stored
    raise NotCompiled("cuda", "it keeps in memory what may be off in its last bits, more and more")


class Kept(NamedTuple):
    """What a piece of memory holds: how far its floats may be off, and whether none is negative."""

    error: float
    positive: bool


class _Checking:
    """Writes a function's lines again, with bounds and checks between them."""

    def __init__(self, body: str, near_numpy: bool, team: bool, memory: dict[str, Kept]) -> None:
        self.source = body.splitlines()
        self.near_numpy, self.team, self.memory = near_numpy, team, memory
        self.stored: dict[str, Kept] = {}
        self.lines: list[str] = []
        self.last: dict[str, str] = {}
        """By block: the last of the blocks that it is split into."""
        self.block, self.made = "", 0
        self.elements: list[str] = []
        """Floats that are read before anything is decided."""
        self.instructions = [read(line) for line in self.source]
        self.singles = singles_in(self.source)
        self.roots = roots_in(self.source)
        self.places = set(re.findall(rf"^  ({NAME}) = (?:alloca |(?:tail )?call [^@\n]*@upshift_memory\()", body, re.M))
        """Memory that is known by its name alone: nothing else leads there but what is made from it."""
        made = [one for one in self.instructions if one is not None and one.out and one.op not in ("fcmp", "fptosi")]
        made = [one for one in made if not is_nothing_new(one)]
        self.computed = reached(made, {one.out for one in made if one.op in _MAKES})
        """What arithmetic made: where it is not finite, it perhaps became so."""
        made = [one for one in made if not is_rounding(one)]
        self.inexact = reached(made, {one.out for one in made if is_close(one) or self._kept(one) is not None})
        self.named = {arg for one in made if one.op == "phi" for arg in one.args} & self.inexact
        """Floats whose errors a phi needs."""
        self.summed = self.inexact - {arg for one in self.instructions if one is not None for arg in one.args
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
        kept += ["%upshift.odd"] if self.team else []
        self.lines[1:1] = [f"  {name} = alloca i32" for name in kept] + [f"  store i32 0, ptr {name}" for name in kept]
        self.lines += ["upshift.left:", "  ret i32 1"]
        return "\n".join(map(self._renamed, self.lines)) + "\n"

    def _follow(self, line: str) -> None:
        """Keep in mind which block this is, and which elements are read in the first."""
        label = re.match(r'((?:[-\w.$]+|"[^"]*")):', line)
        if label:
            self.block = f"%{label[1]}"
            self.last[self.block] = self.block
        element = re.match(rf"  ({NAME}) = load (?:double|float), ", line)
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
        if " = bitcast " in line and self.near_numpy and not used & self.inexact:
            for value in sorted(used & self.computed):
                self._remember(value)
            return
        read = self.roots_of(line) if " = getelementptr " not in line else set()
        if any(self.memory[root].error for root in read if root in self.memory) or self._is_unknown(read):
            raise NotCompiled("cuda", f"it reads in another way what may be off: {line.strip()[:80]}")
        vectors = "x double>" in line or "x float>" in line
        if vectors or used & self.inexact or (self.near_numpy and used & self.computed):
            raise NotCompiled("cuda", f"it computes in a way that has no checks: {line.strip()[:80]}")

    def _write(self, one: Instruction, line: str) -> None:
        if one.op == "store":
            self._note_stored(one)
        if self.near_numpy and not is_nothing_new(one):
            for arg in self._lost(one):
                self._remember(arg)
        if is_nothing_new(one) or not self.inexact.intersection((one.out, *one.args)):
            self.lines.append((self._finite_by_bits(one) if one.op == "fcmp" else "") or line)
        else:
            self._write_inexact(one, line)

    def _lost(self, one: Instruction) -> list[str]:
        """Arguments of which a result does not tell that they are not finite."""
        if one.op == "fdiv":
            lost = one.args[1:]
        elif one.op in ("fcmp", "store") or (one.op == "call" and one.detail[0] not in _FLOWS):
            lost = one.args
        else:
            return []
        return [arg for arg in lost if arg in self.computed]

    # ---- error bounds

    def _write_inexact(self, one: Instruction, line: str) -> None:
        errors = [self.errors.get(arg) for arg in one.args]
        if one.op == "fcmp":
            self._decide(one, errors)
        elif one.op == "fptosi" or is_rounding(one):
            self._decide_whole(one.args[0], errors[0], one.detail[0] or "llvm.trunc.f64")
        elif one.op == "store":
            self._hand_over(one, errors[0])
        self.lines.append(cheaper(one) or line)
        if one.out in self.inexact:
            self._note(one.out, self._error_of(one, errors))
            if c_name(name_of(one)) in UNDERFLOWS or (one.op in ("fmul", "fdiv") and one.out not in self.summed):
                self._remember_tiny(one.out)
            elif is_close(one) and c_name(name_of(one)) not in BOUNDED:
                self._remember(one.out)

    def _hand_over(self, one: Instruction, error: Error) -> None:
        """A result may be off by as much as the law allows."""
        if not self._is_result(one):
            return
        close = CLOSE_SINGLE if one.single else CLOSE
        if isinstance(error, str):
            most = self.add(self.mul(number(close), self.size(one.args[0])), number(1e-37 if one.single else 1e-300))
            self.leave_unless("ole", error, most)
        elif error is not None and error * UNIT > close:
            raise NotCompiled("cuda", "its result may be off further than the law allows")

    # ---- memory

    def _is_result(self, one: Instruction) -> bool:
        outs = [root.startswith("%o") for root in self.roots(one.places[0])]
        if any(outs) and not all(outs):
            raise NotCompiled("cuda", "it writes to its result or elsewhere")
        return all(outs)

    def roots_of(self, line: str) -> set[str]:
        """All memory that a line names."""
        return {root for name in re.findall(rf"ptr (?:[a-z][\w()]* )*({NAME})", line) for root in self.roots(name)}

    def _is_unknown(self, roots: set[str]) -> bool:
        """Whether it is not known what memory this is, while some holds what may be off."""
        if not any(kept.error for kept in self.memory.values()):
            return False
        return any(not (root in self.places or re.fullmatch(r"%[co]\d+", root)) for root in roots)

    def _kept(self, one: Instruction) -> Kept | None:
        """What an instruction reads in memory that may be off; None where nothing of it may be."""
        if one.op != "load" and not (one.op == "call" and name_of(one) in NAMES):
            return None
        if any(self._is_unknown(self.roots(place)) for place in one.places[:1]):
            raise NotCompiled("cuda", "it reads what may be off in its last bits from no known place")
        found = [self.memory[root] for place in one.places[:1] for root in self.roots(place) if root in self.memory]
        if not any(kept.error for kept in found):
            return None
        return Kept(max(kept.error for kept in found), all(kept.positive for kept in found))

    def _note_stored(self, one: Instruction) -> None:
        """Keep in mind what is written to memory."""
        if self._is_result(one):
            return
        error = self.errors.get(one.args[0]) if one.args[0] in self.inexact else None
        if isinstance(error, str):
            raise NotCompiled("cuda", "it keeps in memory what may be off in its last bits by no known share")
        for root in self.roots(one.places[0]):
            if error and root not in self.places:
                raise NotCompiled("cuda", "it keeps in memory what may be off in its last bits")
            before = self.stored.get(root, Kept(0.0, True))
            positive = before.positive and self._is_never_negative(one.args[0], 12)
            self.stored[root] = Kept(max(before.error, error or 0.0), positive)

    def _error_of_kept(self, one: Instruction, kept: Kept) -> Error:
        """Of what is read in memory; sums of numbers of which none is negative are off by no larger share."""
        if one.op == "load" or "_sum" not in f"_{name_of(one)}":
            return kept.error
        if not kept.positive:
            raise NotCompiled("cuda", "it adds up what may be off in its last bits")
        return kept.error + OF_A_SUM * (OF_SINGLE if one.single else 1.0)

    def _note(self, value: str, error: Error) -> None:
        """How far a value may be off; as a float of a known name where a phi needs it, perhaps before this line."""
        self.errors[value] = error
        if value in self.named and error != error_name(value):
            self.lines.append(f"  {error_name(value)} = fadd double {bound(self, value, error)}, {ZERO}")

    def _error_of(self, one: Instruction, errors: Sequence[Error]) -> Error:
        kept = self._kept(one)
        if kept is not None:
            return self._error_of_kept(one, kept)
        if one.op == "phi":
            pairs = [
                f"[ {error_name(arg) if arg in self.inexact else ZERO}, {label} ]"
                for arg, label in zip(one.args, one.detail, strict=True)
            ]
            self.lines.append(f"  {error_name(one.out)} = phi double {', '.join(pairs)}")
            return error_name(one.out)
        if one.op == "select":
            if not any(isinstance(error, str) for error in errors):
                return max(error or 0.0 for error in errors)
            a, b = (bound(self, arg, error) or ZERO for arg, error in zip(one.args, errors, strict=True))
            return self._new(f"select i1 {one.detail[0]}, double {a}, double {b}")
        if one.op in ("fneg", "freeze", "fpext") or (one.detail[:1] and one.detail[0] in SIZES):
            return errors[0]
        if one.op == "call" and one.detail[0].startswith(("llvm.maximum.", "llvm.minimum.")):
            if any(isinstance(error, str) for error in errors):
                raise NotCompiled("cuda", "it takes the largest of what may be off in its last bits")
            return max(error or 0.0 for error in errors if not isinstance(error, str))
        if one.op == "fptrunc":
            error = errors[0]
            if isinstance(error, str):
                return self.add(error, bound(self, one.out, OF_SINGLE))
            return (error or 0.0) + OF_SINGLE
        if one.op == "fadd" and all(self._is_never_negative(arg, 12) for arg in one.args):
            units = [e or 0.0 for e in errors if not isinstance(e, str)]
            if len(units) == 2:
                return max(units) + (OF_SINGLE if one.single else 1.0)
        if one.op in _RULES:
            return _RULES[one.op](self, one.out, one.args, errors)
        if one.detail[0] in ROOTS:
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
        self.leave_unless("ogt", self.size(self._new(f"fsub double {self.wide(a)}, {self.wide(b)}")), off)

    def _decide_whole(self, value: str, error: Error, fn: str) -> None:
        """Both ends of where a float may be are rounded alike."""
        off, fn = bound(self, value, error), fn.replace(".f32", ".f64")
        ends = [self._new(f"{op} double {self.wide(value)}, {off}") for op in ("fsub", "fadd")]
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
        return self._new(f"call double @llvm.fabs.f64(double {self.wide(a)})")

    def wide(self, a: str) -> str:
        """A float as float64."""
        return self._new(f"fpext float {a} to double") if a in self.singles else a

    def is_single(self, a: str) -> bool:
        return a in self.singles

    def leave_unless(self, compare: str, a: str, b: str) -> None:
        """NaN compares as false, and is left."""
        holds = self._new(f"fcmp {compare} double {a}, {b}")
        self._leave(self._new(f"xor i1 {holds}, true"))

    def _leave(self, odd: str, to: str = "%upshift.left") -> None:
        if self.team:  # which goes on together to its end
            flag = self._new(f"zext i1 {odd} to i32")
            before = self._new("load i32, ptr %upshift.odd")
            self.lines.append(f"  store i32 {self._new(f'or i32 {before}, {flag}')}, ptr %upshift.odd")
            return
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
        self._keep("largest", value, self._high(value, signed=not self._is_never_negative(value)))

    def _is_never_negative(self, value: str, depth: int = 4) -> bool:
        """Squares, sizes and their sums: there is no sign to look past."""
        one = self.known.get(value)
        if one is None or not depth:
            return value.strip("-") == ZERO or value[:1].isdigit()
        if one.op == "load" or name_of(one) in NAMES:
            roots = {root for place in one.places[:1] for root in self.roots(place)}
            return bool(roots) and all(root in self.memory and self.memory[root].positive for root in roots)
        if one.op == "fmul" and one.args[0] == one.args[1]:
            return True
        if one.op in ("fadd", "fmul", "fdiv", "select", "fpext", "fptrunc", "freeze"):
            return all(self._is_never_negative(arg, depth - 1) for arg in one.args)
        return one.op == "call" and (one.detail[0] in SIZES | ROOTS or c_name(name_of(one)) in _POSITIVE)

    def _remember_tiny(self, value: str) -> None:
        """The same for floats that may not be tiny either, unless they are zero: these become the largest of all."""
        high = low = self._high(value)
        if value not in self.singles:
            low = self._new(f"trunc i64 {self._new(f'bitcast double {value} to i64')} to i32")
        zero = self._new(f"icmp eq i32 {self._new(f'or i32 {low}, {high}')}, 0")
        above = self._new(f"sub i32 {high}, {self._limits(value).normal}")
        self._keep("farthest", value, self._new(f"select i1 {zero}, i32 0, i32 {above}"))

    def _high(self, value: str, signed: bool = True) -> str:
        """The upper half of a float without its sign, all of a float32; a NaN that has one all the same is larger than
        any."""
        if value in self.singles:
            high = self._new(f"bitcast float {value} to i32")
        else:
            bits = self._new(f"bitcast double {value} to i64")
            high = self._new(f"trunc i64 {self._new(f'lshr i64 {bits}, 32')} to i32")
        return self._new(f"and i32 {high}, 2147483647") if signed else high

    def _limits(self, value: str) -> Limits:
        return SINGLE if value in self.singles else DOUBLE

    def _keep(self, name: str, value: str, number: str) -> None:
        name += ".single" if value in self.singles else ""
        before = self._new(f"load i32, ptr %upshift.{name}")
        larger = self._new(f"icmp ugt i32 {number}, {before}")
        after = self._new(f"select i1 {larger}, i32 {number}, i32 {before}")
        self.lines.append(f"  store i32 {after}, ptr %upshift.{name}")

    def _return(self, line: str) -> None:
        """Leave where something was odd, unless an element is NaN, which is handed on without a word; a team leaves
        where something was odd for any of its threads."""
        odd = "false"
        for name, limit in _KEPT.items():
            kept = self._new(f"load i32, ptr %upshift.{name}")
            odd = self._new(f"or i1 {odd}, {self._new(f'icmp uge i32 {kept}, {limit}')}")
        if self.team:
            self._leave(odd)
            flags = self._new(f"or i32 {line.split()[-1]}, {self._new('load i32, ptr %upshift.odd')}")
            self.lines.append(f"  ret i32 {self._new(f'call i32 @upshift_any(i32 {flags})')}")
            return
        self.made += 1
        aside = f"%upshift.aside.{self.made}"
        self._leave(odd, aside)
        self.lines += [line, f"{aside[1:]}:"]
        nan = "false"
        for element in self.elements:
            nan = self._new(f"or i1 {nan}, {self._new(f'fcmp uno double {self.wide(element)}, {ZERO}')}")
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
        return f"  {one.out} = icmp {compare} i32 {self._high(value)}, {self._limits(value).infinite}"
