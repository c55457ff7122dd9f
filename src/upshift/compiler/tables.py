"""Captured lists, dicts and sets in memory, as machine code reads them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMPY,
    STR,
    Cell,
    Either,
    Fields,
    Kind,
    List,
    Object,
    Refused,
    Static,
    Tuple,
    accepts,
    ll_of,
)
from .prelude import tables as prelude


def kind_of_table(value: Any) -> Kind:
    """The kind of something captured that is kept in memory."""
    try:
        return _kind(_as_object(value))
    except NotImplementedError:  # a key that is NaN
        raise Refused("captures a table with a key that has no order of its own") from None


def _as_object(value: Any) -> Any:
    """Dicts and sets as the prelude has them."""
    if type(value) is list:
        return [_as_object(item) for item in value]
    if type(value) is tuple:
        return tuple(_as_object(item) for item in value)
    if type(value) is dict:
        made = prelude.Dict()
        for key, item in value.items():
            made[key] = _as_object(item)
        return made
    if type(value) in (set, frozenset):
        return _as_set(value)
    return value


class _Head(ctypes.Structure):
    """The head of CPython's PySetObject."""

    _fields_ = (
        ("refs", ctypes.c_ssize_t), ("type", ctypes.c_void_p), ("fill", ctypes.c_ssize_t), ("used", ctypes.c_ssize_t),
        ("mask", ctypes.c_ssize_t), ("table", ctypes.c_void_p), ("hash", ctypes.c_ssize_t),
        ("finger", ctypes.c_ssize_t),
    )  # fmt: skip


def _as_set(value: Any) -> Any:
    """The very table of a set, so that its items come in its order; of texts, whose hashes are others here, any one."""
    made = prelude.Set() if type(value) is set else prelude.Frozenset()
    items = list(value)
    if any(prelude.is_ours(x) for x in items):
        for item in items:
            made.add(item)
        return made
    places = _places(value, items)
    if places is None:
        raise Refused("captures a set whose order is not known")
    mask, fill, finger, slots = places
    made.count, made.fill, made.mask, made.finger = len(items), fill, mask, finger
    made.state, made.hashes, made.items_ = [0] * (mask + 1), [0] * (mask + 1), [None] * (mask + 1)
    for at, index in slots.items():
        made.state[at] = 2 if index is None else 1
        made.hashes[at] = -1 if index is None else hash(items[index])
        made.items_[at] = None if index is None else items[index]
    return made


def _places(value: Any, items: list[Any]) -> tuple[int, int, int, dict[int, int | None]] | None:
    """Where the items of a set lie in its table, and which slots were taken once; None where its layout is another."""
    head = _Head.from_address(id(value))
    size = head.mask + 1
    if head.used != len(items) or head.fill < head.used or size < 8 or size & head.mask or head.fill > size:
        return None
    words = (ctypes.c_ssize_t * (2 * size)).from_address(head.table)  # (key, hash) of every slot
    slots: dict[int, int | None] = {}
    found = 0
    for at in range(size):
        key, hashed = words[2 * at], words[2 * at + 1]
        if key and hashed == -1:
            slots[at] = None
        elif key:
            if found >= len(items) or key != id(items[found]) or hashed != hash(items[found]):
                return None
            slots[at] = found
            found += 1
    return (head.mask, head.fill, head.finger, slots) if found == len(items) and len(slots) == head.fill else None


def _kind(value: Any) -> Kind:
    cls = type(value)
    if cls is bool:
        return BOOL
    if cls is int:
        if not -(2**63) <= value < 2**63:
            raise Refused("captures an int beyond 64 bits in a table")
        return INT
    if cls is float:
        return FLOAT
    if cls is complex:
        return COMPLEX
    if value is None:
        return NONE
    if cls is str:
        if not value.isascii():
            raise Refused("captures a text with letters beyond ASCII in a table")
        return STR
    if isinstance(value, np.generic) and value.dtype in NUMPY:
        return NUMPY[value.dtype]
    if cls is tuple:
        return Tuple(tuple(_kind(item) for item in value))
    if cls is list:
        cell = Cell(fixed=True)
        for kind in _kinds_in(value):
            cell.add(kind)
        return List(cell)
    if cls in prelude.TABLES:
        fields = Fields()
        for name, item in vars(value).items():
            fields.cells[name] = Cell(_kind([x for x in item if x is not None] if name == "items_" else item))
        return Object(cls, fields)
    raise Refused(f"captures a {cls.__name__} in a table")


def _kinds_in(values: list[Any]) -> list[Kind]:
    simple = set(map(type, values))
    if simple <= {bool, float, type(None)}:
        return [{bool: BOOL, float: FLOAT, type(None): NONE}[cls] for cls in simple]
    return [_kind(value) for value in values]


class Table:
    """Something captured, laid out in memory for as long as this object lives."""

    def __init__(self, kind: Kind, value: Any) -> None:
        self.kept: list[Any] = []
        block = self._bytes(kind, _as_object(value))
        self.address = int.from_bytes(block, "little")

    def _keep(self, data: bytes) -> int:
        """The address of a copy, at a multiple of eight."""
        buffer = np.zeros(len(data) // 8 + 1, np.int64)
        buffer.view(np.uint8)[: len(data)] = np.frombuffer(data, np.uint8)
        self.kept.append(buffer)
        return int(buffer.ctypes.data)

    def _bytes(self, kind: Kind, value: Any) -> bytes:
        """A value as it lies in memory."""
        if kind is INT:
            return int(value).to_bytes(8, "little", signed=True)
        if kind is FLOAT:
            return np.float64(value).tobytes()
        if kind is BOOL:
            return bytes([bool(value)])
        if kind is COMPLEX:
            return np.complex128(value).tobytes()
        if kind is STR:
            return self._word(self._keep(value.encode("ascii"))) + self._word(len(value))
        if kind is NONE or isinstance(kind, Static):
            return b"\0"
        if isinstance(kind, Tuple):
            return _struct([(item, self._bytes(item, v)) for item, v in zip(kind.items, value)])
        if isinstance(kind, Either):
            own = _kind(value)
            tag = next(i for i, one in enumerate(kind.kinds) if accepts(one, own))
            parts: list[tuple[Kind, bytes]] = [(INT8, bytes([tag]))]
            for i, one in enumerate(kind.kinds):
                parts.append((one, self._bytes(one, value) if i == tag else b"\0" * _size(one)[0]))
            return _struct(parts)
        if isinstance(kind, List):
            inside = kind.cell.kind
            data = b"".join(self._bytes(inside, item) for item in value) if inside is not None else b""
            return self._word(self._keep(self._word(len(value)) + self._word(0) + self._word(self._keep(data))))
        if isinstance(kind, Object):
            return self._word(self._keep(self._object(kind, value)))
        dtype = kind.dtype  # type: ignore[attr-defined]
        return np.asarray(value, dtype).tobytes()

    def _object(self, kind: Object, value: Any) -> bytes:
        parts = []
        for name, cell in kind.fields.find().cells.items():
            inside = cell.kind
            assert inside is not None
            item = getattr(value, name)
            if name == "items_":  # places without an item hold anything
                assert isinstance(inside, List)
                some = next((x for x in item if x is not None), 0)
                item = [some if x is None else x for x in item]
            parts.append((inside, self._bytes(inside, item)))
        return _struct(parts)

    def _word(self, value: int) -> bytes:
        return value.to_bytes(8, "little")


INT8 = NUMPY[np.dtype(np.int8)]


def _size(kind: Kind) -> tuple[int, int]:
    """Bytes and alignment of a kind."""
    ll = ll_of(kind)
    simple = {"i64": 8, "double": 8, "ptr": 8, "i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4}
    if ll in simple:
        return simple[ll], simple[ll]
    if kind is STR or kind is COMPLEX:
        return 16, 8
    if isinstance(kind, Tuple):
        return _whole([_size(item) for item in kind.items])
    if isinstance(kind, Either):
        return _whole([(1, 1), *(_size(one) for one in kind.kinds)])
    raise Refused(f"captures {kind!r} in a table")


def _whole(parts: list[tuple[int, int]]) -> tuple[int, int]:
    at, widest = 0, 1
    for size, align in parts:
        at = -(-at // align) * align + size
        widest = max(widest, align)
    return -(-at // widest) * widest, widest


def _struct(parts: list[tuple[Kind, bytes]]) -> bytes:
    made = b""
    widest = 1
    for kind, data in parts:
        _, align = _size(kind)
        widest = max(widest, align)
        made += b"\0" * (-len(made) % align) + data
    return made + b"\0" * (-len(made) % widest)


def build(kind: Kind, value: Any) -> Table:
    """A captured list, dict or set, laid out as machine code reads it."""
    return Table(kind, value)
