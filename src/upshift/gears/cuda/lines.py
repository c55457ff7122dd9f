"""Reads a line of LLVM IR: what it computes with float64 or float32, as far as is known here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .flat import EXACT, OF_C
from .support import NAMES
from .ufuncs import c_name

NAME = r'%(?:[-\w.$]+|"[^"]*")'
VALUE = rf"(?:{NAME}|[-+\w.]+)"
FLAGS = r"(?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )*"
INFINITE = ("0x7FF0000000000000", "0xFFF0000000000000")
FLOATS = ("f64", "f32")
ROUNDED = frozenset(f"llvm.{name}.{f}" for name in ("floor", "ceil", "trunc", "roundeven", "rint") for f in FLOATS)
"""Functions that make whole floats."""
SIZES = frozenset(f"llvm.fabs.{f}" for f in FLOATS)
ROOTS = frozenset(f"llvm.sqrt.{f}" for f in FLOATS)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A line that computes with floats: what it makes, how, and of what."""

    out: str
    op: str
    args: tuple[str, ...]
    detail: tuple[str, ...] = ()
    """Of a phi the blocks where its arguments come from; of a comparison its name; of a call the function's."""
    single: bool = False
    """Whether its arguments are float32."""
    places: tuple[str, ...] = ()
    """Addresses that it reads or writes."""


TYPE = r"(?P<type>double|float)"
_PATTERNS = tuple(re.compile(pattern) for pattern in (
    rf"(?P<out>{NAME}) = (?P<op>fadd|fsub|fmul|fdiv) {FLAGS}{TYPE} (?P<a>{VALUE}), (?P<b>{VALUE})",
    rf"(?P<out>{NAME}) = (?P<op>fneg|freeze) {FLAGS}{TYPE} (?P<a>{VALUE})",
    rf"(?P<out>{NAME}) = (?P<op>select) {FLAGS}i1 (?P<detail>{VALUE}), "
    rf"{TYPE} (?P<a>{VALUE}), (?:double|float) (?P<b>{VALUE})",
    rf"(?P<out>{NAME}) = (?P<op>fcmp) {FLAGS}(?P<detail>\w+) {TYPE} (?P<a>{VALUE}), (?P<b>{VALUE})",
    rf"(?P<out>{NAME}) = (?P<op>fptosi) {TYPE} (?P<a>{VALUE}) to ",
    rf"(?P<out>{NAME}) = (?P<op>fpext|fptrunc) {TYPE} (?P<a>{VALUE}) to (?:double|float)",
    rf"(?P<out>)(?P<op>store) {TYPE} (?P<a>{VALUE}), ptr (?P<place>{VALUE}|@[\w.]+)",
    rf"(?P<out>{NAME}) = (?P<op>load) {TYPE}, ptr (?P<place>{VALUE}|@[\w.]+)",
))  # fmt: skip
_PHI = re.compile(rf"({NAME}) = phi {FLAGS}(double|float) (.*)")
_CALL = re.compile(rf"({NAME}) = (?:tail |notail )?call {FLAGS}[^@]*?(double|float) @([\w.$]+)\((.*?)\)")


def read(line: str) -> Instruction | None:
    """A line as an instruction; None where it does not compute with floats, or in a way that is not known here."""
    text = line.strip()
    phi = _PHI.match(text)
    if phi:
        pairs = re.findall(rf"\[ ({VALUE}), ({NAME}) \]", phi[3])
        return Instruction(phi[1], "phi", tuple(a for a, _ in pairs), tuple(b for _, b in pairs), phi[2] == "float")
    call = _CALL.match(text)
    if call:
        given = re.findall(rf"{call[2]} (?:noundef |nofpclass\([^)]*\) )*({VALUE})", call[4])
        places = tuple(re.findall(rf"ptr (?:[a-z][\w()]* )*({VALUE})", call[4]))
        return Instruction(call[1], "call", tuple(given), (call[3],), call[2] == "float", places)
    for pattern in _PATTERNS:
        found = pattern.match(text)
        if found:
            parts = found.groupdict()
            args = tuple(parts[name] for name in "ab" if parts.get(name))
            detail, place = (parts.get("detail") or "",), parts.get("place")
            single = parts["type"] == "float"
            return Instruction(parts["out"], parts["op"], args, detail, single, (place,) if place else ())
    return None


def is_nothing_new(one: Instruction) -> bool:
    """`x - x`, which tells whether x is finite, and comparisons that ask for NaN or infinity: neither check matters."""
    if one.op not in ("fsub", "fcmp"):
        return False
    return one.args[0] == one.args[1] or one.detail[0] in ("ord", "uno") or any(a in INFINITE for a in one.args)


def is_close(one: Instruction) -> bool:
    """A call of a function whose last bits a GPU has otherwise."""
    return one.op == "call" and one.detail[0].startswith(OF_C) and name_of(one) not in EXACT | NAMES


def is_rounding(one: Instruction) -> bool:
    """Whether an instruction rounds a float to a whole number."""
    return one.op == "call" and one.detail[0] in ROUNDED


def reached(made: Sequence[Instruction], found: set[str]) -> set[str]:
    """Some floats, and all that depend on them."""
    before = -1
    while before != len(found):
        before = len(found)
        found = found | {one.out for one in made if found.intersection(one.args)}
    return found


def error_name(value: str) -> str:
    """The name of the variable that holds a value's error bound."""
    return f"%upshift.error.{value[1:].strip(chr(34))}"


def name_of(one: Instruction) -> str:
    """The function that is called."""
    return one.detail[0].removeprefix(OF_C) if one.op == "call" else ""


def cheaper(one: Instruction) -> str:
    """A square as a product: as near to C's power as a GPU's power is."""
    if one.op != "call" or c_name(name_of(one)) != "pow" or one.args[1] != "2.000000e+00":
        return ""
    return f"  {one.out} = fmul {'float' if one.single else 'double'} {one.args[0]}, {one.args[0]}"


_SINGLE = re.compile(
    rf"  ({NAME}) = (?:(?:phi|load|fneg|freeze|fadd|fsub|fmul|fdiv|frem) {FLAGS}float\b"
    rf"|select {FLAGS}i1 {VALUE}, float\b|(?:tail |notail )?call [^@]*\bfloat @|[^\n]* to float$)"
)
_POINTER = re.compile(rf"  ({NAME}) = (?:getelementptr|select|phi|freeze)\b[^\n]*")


def singles_in(lines: Sequence[str]) -> set[str]:
    """Names of float32."""
    return {found[1] for found in map(_SINGLE.match, lines) if found is not None}


def roots_in(lines: Sequence[str]) -> Callable[[str], set[str]]:
    """A function from a pointer to the names that it may have been made from: arguments, memory."""
    made: dict[str, list[str]] = {}
    for line in lines:
        found = _POINTER.match(line)
        if found and ("ptr" in line):
            one = re.match(rf"  {NAME} = getelementptr [^\n]*?ptr ({NAME})", line)
            made[found[1]] = [one[1]] if one else re.findall(rf"(?:ptr |\[ )({NAME})", line)

    def roots(pointer: str) -> set[str]:
        seen, waiting, ends = set(), [pointer], set()
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += made.get(name, [])
                if name not in made:
                    ends.add(name)
        return ends

    return roots
