"""A line of a function in LLVM's words in; what it computes with float64 out, as far as is known here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .flat import OF_C
from .ufuncs import c_name

NAME = r'%(?:[-\w.$]+|"[^"]*")'
VALUE = rf"(?:{NAME}|[-+\w.]+)"
FLAGS = r"(?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )*"
INFINITE = ("0x7FF0000000000000", "0xFFF0000000000000")
ROUNDED = frozenset(f"llvm.{name}.f64" for name in ("floor", "ceil", "trunc", "roundeven", "rint"))
"""Functions that make whole floats."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """A line that computes with float64: what it makes, how, and of what."""

    out: str
    op: str
    args: tuple[str, ...]
    detail: tuple[str, ...] = ()
    """Of a phi the blocks where its arguments come from; of a comparison its name; of a call the function's."""


_PATTERNS = (
    rf"(?P<out>{NAME}) = (?P<op>fadd|fsub|fmul|fdiv) {FLAGS}double (?P<a>{VALUE}), (?P<b>{VALUE})",
    rf"(?P<out>{NAME}) = (?P<op>fneg|freeze) {FLAGS}double (?P<a>{VALUE})",
    rf"(?P<out>{NAME}) = (?P<op>select) {FLAGS}i1 (?P<detail>{VALUE}), "
    rf"double (?P<a>{VALUE}), double (?P<b>{VALUE})",
    rf"(?P<out>{NAME}) = (?P<op>fcmp) {FLAGS}(?P<detail>\w+) double (?P<a>{VALUE}), (?P<b>{VALUE})",
    rf"(?P<out>{NAME}) = (?P<op>fptosi) double (?P<a>{VALUE}) to ",
    rf"(?P<out>)(?P<op>store) double (?P<a>{VALUE}), ",
)


def read(line: str) -> Instruction | None:
    """A line as an instruction; None where it does not compute with float64, or in a way that is not known here."""
    text = line.strip()
    phi = re.match(rf"({NAME}) = phi {FLAGS}double (.*)", text)
    if phi:
        pairs = re.findall(rf"\[ ({VALUE}), ({NAME}) \]", phi[2])
        return Instruction(phi[1], "phi", tuple(a for a, _ in pairs), tuple(b for _, b in pairs))
    call = re.match(rf"({NAME}) = (?:tail |notail )?call {FLAGS}[^@]*double @([\w.$]+)\((.*?)\)", text)
    if call:
        given = re.findall(rf"double (?:noundef |nofpclass\([^)]*\) )*({VALUE})", call[3])
        return Instruction(call[1], "call", tuple(given), (call[2],))
    for pattern in _PATTERNS:
        found = re.match(pattern, text)
        if found:
            parts = found.groupdict()
            args = tuple(parts[name] for name in "ab" if parts.get(name))
            return Instruction(parts["out"], parts["op"], args, (parts.get("detail") or "",))
    return None


def is_nothing_new(one: Instruction) -> bool:
    """`x - x`, which tells whether x is finite, and comparisons that ask for NaN or infinity: neither check matters."""
    if one.op not in ("fsub", "fcmp"):
        return False
    return one.args[0] == one.args[1] or one.detail[0] in ("ord", "uno") or any(a in INFINITE for a in one.args)


def is_close(one: Instruction) -> bool:
    """A call of a function whose last bits a GPU has otherwise."""
    return one.op == "call" and one.detail[0].startswith(OF_C) and one.detail[0] != f"{OF_C}fmod"


def is_rounding(one: Instruction) -> bool:
    return one.op == "call" and one.detail[0] in ROUNDED


def reached(made: Sequence[Instruction], found: set[str]) -> set[str]:
    """Some floats, and all that hang on them."""
    before = -1
    while before != len(found):
        before = len(found)
        found = found | {one.out for one in made if found.intersection(one.args)}
    return found


def error_name(value: str) -> str:
    return f"%upshift.error.{value[1:].strip(chr(34))}"


def name_of(one: Instruction) -> str:
    """The function that is called."""
    return one.detail[0].removeprefix(OF_C) if one.op == "call" else ""


def cheaper(one: Instruction) -> str:
    """A square as a product: as near to C's power as a GPU's power is."""
    if one.op != "call" or c_name(name_of(one)) != "pow" or one.args[1] != "2.000000e+00":
        return ""
    return f"  {one.out} = fmul double {one.args[0]}, {one.args[0]}"
