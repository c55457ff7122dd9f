"""Puts a few instructions before a function's code, which hand one call in so many to the observer.

A call through a second function would take longer than a small function does. The instructions are compiled by Python
from source, so that they are right for every version of it; they are put before the function's own, whose jumps are
all relative.
"""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..gears.signatures import names_of_code

_TICKS, _LOOK, _BODY = "<ticks>", "<look>", "<body>"
_SEES_ALL = frozenset(("locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe"))
"""Names by which a function may see its own variables, of which it may have one more here."""
_RESUME = dis.opmap["RESUME"]
_KNOWN = sys.version_info < (3, 14)


def with_prelude(
    code: types.CodeType, passed: Callable[[list[str]], str], look: Any, ticks: Iterator[bool]
) -> types.CodeType | None:
    """The code, behind a look at a tick that is False; None where that cannot be.

    `passed`: how arguments of these names are handed on.
    """
    given = len(names_of_code(code))
    if not _KNOWN or not _SEES_ALL.isdisjoint(code.co_names) or set(code.co_varnames[:given]) & set(code.co_cellvars):
        return None
    own = [name for name in code.co_varnames[given:] if name not in code.co_cellvars]
    if not own and (code.co_cellvars or code.co_freevars):
        return None  # another variable would move all that come behind it
    names = [f"v{i}" for i in range(max(code.co_nlocals, given + 1))]
    spare = code.co_varnames.index(own[0]) if own else given
    template, head = _head(", ".join(names), names[spare], passed(names), len(code.co_consts))
    start = code.co_code.find(_RESUME, 0, 2 * (len(code.co_cellvars) + 2)) + 2
    if not head or start % 2 or start == 1:
        return None
    constants = [{_TICKS: ticks, _LOOK: look}.get(c, c) if type(c) is str else c for c in template.co_consts]
    return code.replace(
        co_code=code.co_code[:start] + head + code.co_code[start:],
        co_consts=(*code.co_consts, *constants),
        co_nlocals=len(names),
        co_varnames=code.co_varnames if own else (*code.co_varnames, "_upshift_go"),
        co_stacksize=max(code.co_stacksize, template.co_stacksize),
        co_linetable=_moved_lines(code.co_linetable, start // 2, len(head) // 2),
        co_exceptiontable=_moved_table(code.co_exceptiontable, len(head) // 2),
    )


@functools.lru_cache(maxsize=256)
def _head(given: str, spare: str, passed: str, shift: int) -> tuple[types.CodeType, bytes]:
    """The instructions before the body, their constants numbered behind its own; none where these are too many.

    `spare`: a variable that the body has not used yet. What stands for the body is too long to be copied about.
    """
    source = f"""
def prelude({given}):
    for {spare} in {_TICKS!r}:
        if {spare}:
            del {spare}
            break
        {spare} = {_LOOK!r}
        return {spare}({passed})
    return [{_BODY!r}, {", ".join([spare] * 5)}]
"""
    module = compile(source, "", "exec", dont_inherit=True)
    template = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    head, instructions = bytearray(template.co_code), list(dis.get_instructions(template))
    body = next(instruction.offset for instruction in instructions if instruction.argval == _BODY)
    for instruction in instructions:
        behind = instruction.offset >= body
        jumps_past = instruction.opcode in dis.hasjrel and instruction.argval > body
        if jumps_past or (behind and instruction.opname.startswith("CALL")):
            return template, b""  # a version of Python that puts the body elsewhere
        if instruction.opcode in dis.hasconst and not behind:
            if instruction.arg is None or instruction.arg + shift > 255:
                return template, b""
            head[instruction.offset + 1] = instruction.arg + shift
    return template, bytes(head[2:body])  # a call begins once, with RESUME


def _moved_lines(table: bytes, start: int, units: int) -> bytes:
    """Locations, with so many units more behind the first ones: on the same line, without columns."""
    at = covered = 0
    while covered < start:
        covered += (table[at] & 7) + 1
        at += 1
        while at < len(table) and not table[at] & 128:
            at += 1
    more = bytearray()
    while units > 0:
        more += bytes((128 | 13 << 3 | min(units, 8) - 1, 0))
        units -= 8
    return table[:at] + bytes(more) + table[at:]


def _moved_table(table: bytes, units: int) -> bytes:
    """Where exceptions are handled, so many units further on."""
    numbers, value = [], 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            numbers.append(value)
            value = 0
    found = bytearray()
    for at in range(0, len(numbers), 4):  # start, length, target, depth
        start, length, target, depth = numbers[at : at + 4]
        for i, number in enumerate((start + units, length, target + units, depth)):
            found += _packed(number, 0 if i else 128)
    return bytes(found)


def _packed(number: int, first: int) -> bytes:
    groups = [number & 63]
    while number := number >> 6:
        groups.append(number & 63)
    groups.reverse()
    packed = [group | 64 for group in groups[:-1]] + [groups[-1]]
    packed[0] |= first
    return bytes(packed)
