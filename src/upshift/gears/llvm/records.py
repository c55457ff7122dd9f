"""Reads numbers out of the fields of records (dicts, objects, tuples, lists) into arrays, by machine code.

numbers_in([{"a": 1.5, "b": 2}, ...], [("item", "a"), ("item", "b")])   ->   [array of float64, array of int64]

One loop over records for all kinds of them: it is told where the fields of the first record lie, and looks there in all
others. It reads CPython's objects by their layout, which is tested before it is relied on, and runs nothing of the
user's. Where a record is not like the first one in what matters, there are no arrays, and the ordinary way is taken.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...columns.fields import is_plain
from ...columns.kinds import Column
from ...columns.unboxed import Unboxed
from ...compiler import llvm, module
from . import objects
from .layout import is_known, words_at

FEW = 64
"""Records below which the ordinary way is as fast."""
Field = tuple[str, Any]
"""`("attr", name)`, `("item", key)`, or `("item of 3", place)` where all records have three items."""
_CLASSES: dict[type, Any] = {
    float: np.float64, int: np.int64, bool: np.bool_, np.float64: np.float64, np.int64: np.int64,
}  # fmt: skip
"""Classes of numbers that are read, and the dtypes of their columns."""
_GETTERS: dict[str, Any] = {"item": operator.itemgetter, "attr": operator.attrgetter}
_COPIED, _DIGITS, _TRUTH = range(3)
"""How a number lies in its object: as 64 bits, as an int's digits, or as which of two objects it is."""
_AT, _IN_LIST, _IN_DICT, _IN_VALUES = range(4)
"""Where a field lies: at a place of the record, of a list's items, in a dict, in the values of an object."""
_OBJECTS = (6, 16)
"""Members of C structs that are objects, by CPython's numbers for them; objects have their slots there."""
_KEYS = 32
"""Bytes of the head of a dict's table of keys; behind it are its indices, one byte or more for each place."""
_HEAD = 0x00FFFFFF
"""What tells how large a table is and of which kind: of texts alone, of texts that objects of a class share, of any."""


def numbers_in(records: Sequence[Any], fields: Sequence[Field]) -> list[Column | Unboxed | None] | None:
    """For every field of some records a column, or None where it has other than numbers of one class.

    None for all where the records are not alike, or where reading a field may run code of the user's.
    """
    if len(records) < FEW or type(records) not in (list, tuple) or not is_ready():
        return None
    first, cls = records[0], type(records[0])
    width = len(first) if issubclass(cls, tuple | list) else -1
    plan: list[list[int]] = []
    found: list[Column | Unboxed | None] = [None] * len(fields)
    for j, (how, name) in enumerate(fields):
        how, _, of = how.partition(" of ")
        if (of and int(of) != width) or not is_plain(cls, how, name):
            return None
        place = _place_of(first, cls, how, name)
        value = _GETTERS[how](name)(first) if place is not None else None
        dtype = _CLASSES.get(type(value))
        if place is not None and dtype is not None:
            array = np.empty(len(records), dtype)
            found[j] = array if isinstance(value, np.generic) else Unboxed(array)
            way = _DIGITS if type(value) is int else _TRUTH if type(value) is bool else _COPIED
            plan.append([*place, way, id(type(value)), array.ctypes.data, j])
    while plan:
        words = np.array(plan, np.int64)
        reached = _reader()(id(records), len(records), id(cls), width, words.ctypes.data, len(plan))
        if reached == len(records):
            return found
        if reached == -1:
            return None
        found[plan.pop(-2 - reached)[-1]] = None
    return None


def is_ready() -> bool:
    """Whether there is a reader: LLVM is in this process already, and this Python keeps its objects as is known."""
    return llvm.is_loaded() and is_known() and _reader() is not None


def _place_of(first: Any, cls: type, how: str, name: Any) -> tuple[int, int, int, int] | None:
    """Where a field lies in the first record."""
    if how == "attr" and issubclass(cls, tuple):
        names = getattr(cls, "_fields", ())
        how, name = ("item", names.index(name)) if name in names else (how, name)
    if how == "item":
        if cls is dict:
            return _place_in_dict(first, name) if type(name) is str else None
        if type(name) is not int or not -len(first) <= name < len(first):
            return None
        at = 8 * (name % len(first))
        return (_IN_LIST, at, 0, 0) if cls is list else (_AT, 24 + at, 0, 0)
    descriptor = next((vars(c)[name] for c in cls.__mro__ if name in vars(c)), None)
    if type(descriptor) is types.MemberDescriptorType:
        _, kind, at = words_at(words_at(id(descriptor) + 40, 1)[0], 3)
        return (_AT, at, 0, 0) if kind & 0xFFFFFFFF in _OBJECTS else None
    return _place_in_object(cls, name)


def _place_in_dict(first: dict[Any, Any], name: str) -> tuple[int, int, int, int] | None:
    """Where an item of a dict lies; in dicts whose table is another one, or has it elsewhere, it is looked up."""
    keys, values = words_at(id(first) + 32, 2)
    head = words_at(keys + 8, 1)[0] & _HEAD
    if not head >> 16:  # of keys that are not all texts
        return None
    for i, key in enumerate(first):
        if key == name:
            return _IN_DICT, _entry(head, i), -1 if values else head, id(key)
    return None


def _entry(head: int, i: int) -> int:
    """Where an entry of a table of keys lies: its key, then its value."""
    return _KEYS + (1 << (head >> 8 & 0xFF)) + 16 * i


_MANAGED, _INLINE = 1 << 4, 1 << 2
"""Flags of classes: their objects have values without a dict, and have them within themselves."""


def _place_in_object(cls: type, name: str) -> tuple[int, int, int, int] | None:
    """Where a value of objects lies that have no dict of their own yet."""
    inline = sys.version_info >= (3, 13)
    if not cls.__flags__ & _MANAGED or (inline and not cls.__flags__ & _INLINE):
        return None
    keys, name = words_at(id(cls) + _shared_keys(), 1)[0], sys.intern(name)
    if not keys:
        return None
    head, _, count = words_at(keys + 8, 3)
    entries = words_at(keys + _entry(head, 0), 2 * count)[::2]
    if id(name) not in entries:
        return None
    at = 8 * entries.index(id(name))
    return _IN_VALUES, at + cls.__basicsize__ + 8 if inline else at, cls.__basicsize__, id(name)


@functools.cache
def _shared_keys() -> int:
    """Where a class keeps the names that its objects have values for: behind its qualified name."""

    class Probe:
        pass

    own: Any = type
    return 8 * words_at(id(Probe), own.__basicsize__ // 8).index(id(Probe.__qualname__)) + 8


_VALUES = {
    (3, 11): """
  %vp = getelementptr i8, ptr %record, i64 -32
  %values = load ptr, ptr %vp
  %has = icmp ne ptr %values, null
  br i1 %has, label %inside, label %outside
inside:
  %ip = getelementptr i8, ptr %values, i64 %a""",
    (3, 12): """
  %vp = getelementptr i8, ptr %record, i64 -24
  %values = load i64, ptr %vp
  %odd = and i64 %values, 1
  %has = icmp ne i64 %odd, 0
  br i1 %has, label %inside, label %outside
inside:
  %at = add i64 %values, 1
  %vq = inttoptr i64 %at to ptr
  %ip = getelementptr i8, ptr %vq, i64 %a""",
    (3, 13): """
  %vp = getelementptr i8, ptr %record, i64 %b
  %vv = getelementptr i8, ptr %vp, i64 3
  %valid = load i8, ptr %vv
  %has = icmp ne i8 %valid, 0
  br i1 %has, label %inside, label %outside
inside:
  %ip = getelementptr i8, ptr %record, i64 %a""",
}
"""For each Python: whether an object has values without a dict, and the address of one of them."""
_LENGTH = {
    (3, 11): """
  %negative = icmp slt i64 %size, 0
  %opposite = sub i64 0, %size
  %digits = select i1 %negative, i64 %opposite, i64 %size""",
    (3, 12): """
  %digits = lshr i64 %size, 3
  %sign = and i64 %size, 2
  %negative = icmp ne i64 %sign, 0""",
}
"""How many digits an int has, and its sign."""
_TEXT = f"""
@up_list = external global i8
@up_true = external global i8
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare void @PyErr_Clear()
define internal ptr @object(ptr %p, i64 %at) alwaysinline nounwind {{
  %q = getelementptr i8, ptr %p, i64 %at
  %v = load ptr, ptr %q
  ret ptr %v
}}
define internal i64 @word(ptr %p, i64 %at) alwaysinline nounwind {{
  %q = getelementptr i8, ptr %p, i64 %at
  %v = load i64, ptr %q
  ret i64 %v
}}
define internal ptr @looked_up(ptr %dict, ptr %key) noinline nounwind {{
  %keys = call ptr @object(ptr %dict, i64 32)
  %kp = getelementptr i8, ptr %keys, i64 10
  %kind = load i8, ptr %kp
  %any = icmp eq i8 %kind, 0
  br i1 %any, label %none, label %texts
texts:
  %v = call ptr @PyDict_GetItemWithError(ptr %dict, ptr %key)
  %missing = icmp eq ptr %v, null
  br i1 %missing, label %clear, label %found
found:
  ret ptr %v
clear:
  call void @PyErr_Clear()
  br label %none
none:
  ret ptr null
}}
define internal ptr @in_dict(ptr %dict, i64 %a, i64 %head, ptr %key) alwaysinline nounwind {{
  %keys = call ptr @object(ptr %dict, i64 32)
  %values = call ptr @object(ptr %dict, i64 40)
  %own = icmp eq ptr %values, null
  %h = call i64 @word(ptr %keys, i64 8)
  %hm = and i64 %h, {_HEAD}
  %alike = icmp eq i64 %hm, %head
  %ordinary = and i1 %own, %alike
  br i1 %ordinary, label %entry, label %other
entry:
  %k = call ptr @object(ptr %keys, i64 %a)
  %same = icmp eq ptr %k, %key
  br i1 %same, label %here, label %other
here:
  %av = add i64 %a, 8
  %v = call ptr @object(ptr %keys, i64 %av)
  ret ptr %v
other:
  %w = call ptr @looked_up(ptr %dict, ptr %key)
  ret ptr %w
}}
define internal ptr @in_values(ptr %record, i64 %a, i64 %b, ptr %key) alwaysinline nounwind {{VALUES
  %v = load ptr, ptr %ip
  ret ptr %v
outside:
  %dict = call ptr @object(ptr %record, i64 -24)
  %none = icmp eq ptr %dict, null
  br i1 %none, label %nothing, label %look
look:
  %w = call ptr @looked_up(ptr %dict, ptr %key)
  ret ptr %w
nothing:
  ret ptr null
}}
define i64 @read(ptr %records, i64 %n, ptr %cls, i64 %width, ptr %plan, i64 %count) nounwind {{
entry:
  %own = call ptr @object(ptr %records, i64 8)
  %islist = icmp eq ptr %own, @up_list
  %there = call i64 @word(ptr %records, i64 16)
  %enough = icmp sge i64 %there, %n
  %far = call ptr @object(ptr %records, i64 24)
  %near = getelementptr i8, ptr %records, i64 24
  %items = select i1 %islist, ptr %far, ptr %near
  %sized = icmp sge i64 %width, 0
  br i1 %enough, label %each, label %fail
each:
  %i = phi i64 [ 0, %entry ], [ %i1, %done ]
  %place = getelementptr ptr, ptr %items, i64 %i
  %record = load ptr, ptr %place
  %class = call ptr @object(ptr %record, i64 8)
  %isof = icmp eq ptr %class, %cls
  br i1 %isof, label %measure, label %fail
measure:
  br i1 %sized, label %size0, label %field
size0:
  %length = call i64 @word(ptr %record, i64 16)
  %fits = icmp eq i64 %length, %width
  br i1 %fits, label %field, label %fail
field:
  %j = phi i64 [ 0, %measure ], [ 0, %size0 ], [ %j1, %next ]
  %pj = shl i64 %j, 6
  %p = getelementptr i8, ptr %plan, i64 %pj
  %where = load i64, ptr %p
  %a = call i64 @word(ptr %p, i64 8)
  %b = call i64 @word(ptr %p, i64 16)
  %key = call ptr @object(ptr %p, i64 24)
  switch i64 %where, label %at [
    i64 {_IN_LIST}, label %inlist
    i64 {_IN_DICT}, label %indict
    i64 {_IN_VALUES}, label %invalues
  ]
at:
  %v0 = call ptr @object(ptr %record, i64 %a)
  br label %value
inlist:
  %its = call ptr @object(ptr %record, i64 24)
  %v1 = call ptr @object(ptr %its, i64 %a)
  br label %value
indict:
  %v2 = call ptr @in_dict(ptr %record, i64 %a, i64 %b, ptr %key)
  br label %value
invalues:
  %v3 = call ptr @in_values(ptr %record, i64 %a, i64 %b, ptr %key)
  br label %value
value:
  %v = phi ptr [ %v0, %at ], [ %v1, %inlist ], [ %v2, %indict ], [ %v3, %invalues ]
  %no = icmp eq ptr %v, null
  br i1 %no, label %odd, label %number
number:
  %way = call i64 @word(ptr %p, i64 32)
  %wanted = call ptr @object(ptr %p, i64 40)
  %array = call ptr @object(ptr %p, i64 48)
  %kind = call ptr @object(ptr %v, i64 8)
  %right = icmp eq ptr %kind, %wanted
  br i1 %right, label %known, label %odd
known:
  switch i64 %way, label %copied [
    i64 {_DIGITS}, label %int
    i64 {_TRUTH}, label %truth
  ]
copied:
  %bits = call i64 @word(ptr %v, i64 16)
  br label %store
truth:
  %yes = icmp eq ptr %v, @up_true
  %byte = zext i1 %yes to i8
  %bp = getelementptr i8, ptr %array, i64 %i
  store i8 %byte, ptr %bp
  br label %next
int:
  %size = call i64 @word(ptr %v, i64 16)LENGTH
  %small = icmp ult i64 %digits, 3
  br i1 %small, label %lower, label %odd
lower:
  %lp = getelementptr i8, ptr %v, i64 24
  %l32 = load i32, ptr %lp
  %l64 = zext i32 %l32 to i64
  %zero = icmp eq i64 %digits, 0
  %low = select i1 %zero, i64 0, i64 %l64
  %two = icmp eq i64 %digits, 2
  br i1 %two, label %upper, label %signed
upper:
  %hp = getelementptr i8, ptr %v, i64 28
  %h32 = load i32, ptr %hp
  %h64 = zext i32 %h32 to i64
  %high = shl i64 %h64, 30
  %both = or i64 %high, %low
  br label %signed
signed:
  %magnitude = phi i64 [ %low, %lower ], [ %both, %upper ]
  %minus = sub i64 0, %magnitude
  %whole = select i1 %negative, i64 %minus, i64 %magnitude
  br label %store
store:
  %stored = phi i64 [ %bits, %copied ], [ %whole, %signed ]
  %wp = getelementptr i64, ptr %array, i64 %i
  store i64 %stored, ptr %wp
  br label %next
next:
  %j1 = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j1, %count
  br i1 %more, label %field, label %done
done:
  %i1 = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i1, %n
  br i1 %again, label %each, label %all
all:
  ret i64 %n
odd:
  %which = sub i64 -2, %j
  ret i64 %which
fail:
  ret i64 -1
}}
"""
_READ = ctypes.PYFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64
)


@functools.cache
def _reader() -> Any:
    """The machine code, which keeps the interpreter's lock."""
    version = sys.version_info[:2]
    text = _TEXT.replace("VALUES", _VALUES[version]).replace("LENGTH", _LENGTH[min(version, (3, 12))])
    symbols = {"up_list": id(list), "up_true": id(True)}
    symbols |= objects.symbols_of({"PyDict_GetItemWithError", "PyErr_Clear"})
    loaded = module.Loaded(module.object_code(text, False), ("read",), symbols)
    read: Any = _READ(loaded.address("read"))
    read.kept = loaded
    return read
