"""A code object in; the code that a traced copy runs out, or the reason why it must not be traced.

Bytecode is only looked at, and one kind of operand changed: where a class such as `int` is called, the traced copy loads
the name `int()` instead, so that the call can be recorded while `isinstance(x, int)` still sees the class.
"""

from __future__ import annotations

import builtins
import dis
import types
from collections.abc import Iterator
from typing import Any

from ..errors import Untraceable

CALLED_CLASSES = ("int", "float", "bool", "complex", "type")
_LOAD_GLOBAL = dis.opmap["LOAD_GLOBAL"]
_EXTENDED = dis.opmap["EXTENDED_ARG"]
_IS = dis.opmap["IS_OP"]
_STORES = {dis.opmap["STORE_GLOBAL"], dis.opmap["DELETE_GLOBAL"]}
_STORE_CELL = {dis.opmap["STORE_DEREF"], dis.opmap["DELETE_DEREF"]}
_GENERATOR = 0x20 | 0x80 | 0x100 | 0x200
_prepared: dict[types.CodeType, types.CodeType | Untraceable] = {}
_KEPT = 512


def prepare(code: types.CodeType) -> types.CodeType:
    """The code for a traced copy; raises Untraceable. Remembered per code object."""
    found = _prepared.get(code)
    if found is None:
        try:
            found = _prepare(code, frozenset())
        except Untraceable as reason:
            found = reason
        if len(_prepared) >= _KEPT:
            _prepared.pop(next(iter(_prepared)), None)
        _prepared[code] = found
    if isinstance(found, Untraceable):
        raise Untraceable(found.reason, found.remedy, found.where)
    return found


def _prepare(code: types.CodeType, owned: frozenset[str]) -> types.CodeType:
    """`owned`: cells that belong to an enclosing function of the same trace, whose changes end with it."""
    _refuse_stores(code, owned)
    _refuse_identity(code)
    owned = owned | frozenset(code.co_cellvars)
    constants = tuple(_prepare(c, owned) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    names = list(code.co_names)
    raw = bytearray(code.co_code)
    for offset, op, argument in _instructions(code):
        if op != _LOAD_GLOBAL or not argument & 1 or names[argument >> 1] not in CALLED_CLASSES:
            continue
        called = f"{names[argument >> 1]}()"
        if called not in names:
            names.append(called)
        changed = names.index(called) << 1 | 1
        if changed < 256 and argument < 256:
            raw[offset + 1] = changed
    return code.replace(co_code=bytes(raw), co_names=tuple(names), co_consts=constants)


def _instructions(code: types.CodeType) -> Iterator[tuple[int, int, int]]:
    extended = 0
    raw = code.co_code
    for offset in range(0, len(raw), 2):
        op, argument = raw[offset], raw[offset + 1] | extended
        extended = argument << 8 if op == _EXTENDED else 0
        if op != _EXTENDED:
            yield offset, op, argument


def _line(code: types.CodeType, offset: int) -> str:
    for start, end, line in code.co_lines():
        if start <= offset < end and line:
            return f"{code.co_filename}:{line}"
    return f"{code.co_filename}:{code.co_firstlineno}"


def _refuse_stores(code: types.CodeType, owned: frozenset[str]) -> None:
    if code.co_flags & _GENERATOR and code.co_name != "<genexpr>" and not owned:
        return  # calling it only makes a generator; what drives it is traced
    names = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    for offset, op, argument in _instructions(code):
        if op in _STORES:
            name = code.co_names[argument]
            raise Untraceable(f"stores to the global {name!r}", "return the value instead", _line(code, offset))
        if op in _STORE_CELL:
            name = _cell_name(code, names, argument)
            if name in code.co_freevars and name not in owned:
                raise Untraceable(f"stores to the nonlocal {name!r}", "return the value instead", _line(code, offset))


def _cell_name(code: types.CodeType, names: tuple[str, ...], argument: int) -> str:
    """Cells are numbered among all local names, in which a cell that is also an argument counts once."""
    distinct = [*code.co_varnames, *(c for c in code.co_cellvars if c not in code.co_varnames), *code.co_freevars]
    return distinct[argument] if argument < len(distinct) else ""


def _refuse_identity(code: types.CodeType) -> None:
    """`a is b` cannot be seen by a lane value, so one side must be plainly no number: None, a class, ..."""
    previous: list[Any] = []
    for offset, op, argument in _instructions(code):
        if op == _IS and not any(_never_a_number(code, *loaded) for loaded in previous[-2:]):
            raise Untraceable("compares by `is`", "compare numbers with ==", _line(code, offset))
        if dis.opname[op] not in ("CACHE", "PRECALL"):
            previous = [*previous[-1:], (op, argument)]


def _never_a_number(code: types.CodeType, op: int, argument: int) -> bool:
    name = dis.opname[op]
    if name in ("LOAD_CONST", "RETURN_CONST"):
        return not isinstance(code.co_consts[argument], int | float | complex)
    if name == "LOAD_GLOBAL":
        return isinstance(getattr(builtins, code.co_names[argument >> 1], None), type)
    return False
