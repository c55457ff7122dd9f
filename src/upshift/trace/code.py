"""Rewrites bytecode for a traced copy, or finds the reason why it must not be traced.

Two things are changed in the bytecode. Where a class such as `int` is called, the traced copy loads the name `int()`
instead, so that the call can be recorded while `isinstance(x, int)` still sees the class. And `a is b`, which no object
can intercept, becomes a call wherever a lane value may be on either side.
"""

from __future__ import annotations

import builtins
import dis
import sys
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
_STORE_INSIDE = {dis.opmap["STORE_ATTR"], dis.opmap["DELETE_ATTR"]}
_LOADS_CAPTURED = {_LOAD_GLOBAL, dis.opmap["LOAD_DEREF"]}
_CACHE = dis.opmap["CACHE"]
_GENERATOR = 0x20 | 0x80 | 0x100 | 0x200
_rewritten: dict[types.CodeType, types.CodeType | Untraceable] = {}
_KEPT = 512


def traced_code(code: types.CodeType) -> types.CodeType:
    """The code for a traced copy; raises Untraceable. Remembered per code object."""
    found = _rewritten.get(code)
    if found is None:
        try:
            found = _rewrite(code, frozenset())
        except Untraceable as reason:
            found = reason
        if len(_rewritten) >= _KEPT:
            _rewritten.pop(next(iter(_rewritten)), None)
        _rewritten[code] = found
    if isinstance(found, Untraceable):
        raise Untraceable(found.reason, found.remedy, found.where)
    return found


def _rewrite(code: types.CodeType, owned: frozenset[str]) -> types.CodeType:
    """`owned`: cells that belong to an enclosing function of the same trace, whose changes end with it."""
    _refuse_stores(code, owned)
    owned = owned | frozenset(code.co_cellvars)
    constants = tuple(_rewrite(c, owned) if isinstance(c, types.CodeType) else c for c in code.co_consts)
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
    identities = _identities(code)
    for offset, inverted in identities:
        _call_identity(code, raw, names, offset, inverted)
    return code.replace(
        co_code=bytes(raw),
        co_names=tuple(names),
        co_consts=constants,
        co_stacksize=code.co_stacksize + (2 if identities else 0),
    )


def _instructions(code: types.CodeType) -> Iterator[tuple[int, int, int]]:
    extended = 0
    raw = code.co_code
    for offset in range(0, len(raw), 2):
        op, argument = raw[offset], raw[offset + 1] | extended
        extended = argument << 8 if op == _EXTENDED else 0
        if op != _EXTENDED:
            yield offset, op, argument


_LOAD_ATTR, _LOAD_METHOD = dis.opmap["LOAD_ATTR"], dis.opmap.get("LOAD_METHOD")
_PUSH_NULL = dis.opmap["PUSH_NULL"]


def is_called(frame: types.FrameType) -> bool:
    """Whether the attribute that a frame is just reading is what it calls next, as `np.float32` in `np.float32(x)`.

    A call begins with an empty place on the stack: pushed before the function's name is loaded or, from Python 3.13 on,
    after it; or the attribute is loaded as a method.
    """
    raw = frame.f_code.co_code
    at = _step_back(raw, frame.f_lasti + 2)
    if raw[at] == _LOAD_METHOD or (_LOAD_METHOD is None and raw[at] == _LOAD_ATTR and raw[at + 1] & 1):
        return True
    after = at + 2 + 2 * _caches("LOAD_ATTR")
    before = _step_back(raw, at)
    if raw[after] == _PUSH_NULL or (raw[before] == _LOAD_GLOBAL and raw[before + 1] & 1):
        return True
    return before > 0 and raw[_step_back(raw, before)] == _PUSH_NULL


def _step_back(raw: bytes, at: int) -> int:
    """The instruction before this place."""
    at -= 2
    while raw[at] == _CACHE and at > 0:
        at -= 2
    return at


def _line(code: types.CodeType, offset: int) -> str:
    for start, end, line in code.co_lines():
        if start <= offset < end and line:
            return f"{code.co_filename}:{line}"
    return f"{code.co_filename}:{code.co_firstlineno}"


def _refuse_stores(code: types.CodeType, owned: frozenset[str]) -> None:
    if code.co_flags & _GENERATOR and code.co_name != "<genexpr>" and not owned:
        return  # calling it only makes a generator; what drives it is traced
    previous = 0, 0
    for offset, op, argument in _instructions(code):
        if op in _STORE_INSIDE and previous[0] in _LOADS_CAPTURED:
            name = code.co_names[previous[1] >> 1] if previous[0] == _LOAD_GLOBAL else _cell_name(code, previous[1])
            if previous[0] == _LOAD_GLOBAL or (name in code.co_freevars and name not in owned):
                raise Untraceable(f"changes the captured {name!r}", "return the value instead", _line(code, offset))
        if op != _CACHE:
            previous = op, argument
        if op in _STORES:
            name = code.co_names[argument]
            raise Untraceable(f"stores to the global {name!r}", "return the value instead", _line(code, offset))
        if op in _STORE_CELL:
            name = _cell_name(code, argument)
            if name in code.co_freevars and name not in owned:
                raise Untraceable(f"stores to the nonlocal {name!r}", "return the value instead", _line(code, offset))


def _cell_name(code: types.CodeType, argument: int) -> str:
    """Cells are numbered among all local names, in which a cell that is also an argument counts once."""
    distinct = [*code.co_varnames, *(c for c in code.co_cellvars if c not in code.co_varnames), *code.co_freevars]
    return distinct[argument] if argument < len(distinct) else ""


def _identities(code: types.CodeType) -> list[tuple[int, int]]:
    """Offsets and operands of `a is b` where neither side is plainly no number (None, a class, a text)."""
    found = []
    previous: list[Any] = []
    for offset, op, argument in _instructions(code):
        if op == _IS and not any(_never_a_number(code, *loaded) for loaded in previous[-2:]):
            found.append((offset, argument))
        if dis.opname[op] not in ("CACHE", "PRECALL"):
            previous = [*previous[-1:], (op, argument)]
    return found


def _call_identity(code: types.CodeType, raw: bytearray, names: list[str], offset: int, inverted: int) -> None:
    """`a is b` becomes a jump to the end of the code, where a function is called with both, and a jump back.

    Both operands are on the stack; the function has to be brought below them.
    """
    distance = (len(raw) - offset - 2) // 2
    name = "is not()" if inverted else "is()"
    if name not in names:
        names.append(name)
    load = names.index(name) << 1 | 1
    if distance > 255 or load > 255:
        where = _line(code, offset)
        raise Untraceable("compares by `is` in a very long function", "compare numbers with ==", where)
    raw[offset : offset + 2] = bytes((dis.opmap["JUMP_FORWARD"], distance))
    swaps = (4, 2, 4, 3) if sys.version_info >= (3, 13) else (3, 2, 4)
    _append(raw, "LOAD_GLOBAL", load)
    for depth in swaps:
        _append(raw, "SWAP", depth)
    if "PRECALL" in dis.opmap:
        _append(raw, "PRECALL", 2)
    _append(raw, "CALL", 2)
    back = (len(raw) - offset) // 2 + _caches("JUMP_BACKWARD")
    if back > 255:
        back += 1
        _append(raw, "EXTENDED_ARG", back >> 8)
    _append(raw, "JUMP_BACKWARD", back & 255)


def _caches(name: str) -> int:
    """How many words of inline cache follow an instruction."""
    entries: Any = dis._inline_cache_entries  # type: ignore[attr-defined]
    return int(entries.get(name, 0) if isinstance(entries, dict) else entries[dis.opmap[name]])


def _append(raw: bytearray, name: str, argument: int) -> None:
    raw += bytes((dis.opmap[name], argument)) + bytes(2 * _caches(name))


def _never_a_number(code: types.CodeType, op: int, argument: int) -> bool:
    name = dis.opname[op]
    if name in ("LOAD_CONST", "RETURN_CONST"):
        return not isinstance(code.co_consts[argument], int | float | complex)
    if name == "LOAD_GLOBAL":
        return isinstance(getattr(builtins, code.co_names[argument >> 1], None), type)
    return False
