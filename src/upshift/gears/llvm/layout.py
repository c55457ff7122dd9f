"""Whether this Python and this NumPy keep their objects in memory as machine code of ours reads them."""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
import sysconfig
import types
from typing import Any

import numpy as np

PAYLOAD = bytes.__basicsize__ - 1
"""Where the bytes of a bytes object begin."""


class Own(bytes):
    """The self of an entry: the addresses that its machine code reads, and what has to live as long as it does."""

    kept: tuple[Any, ...]


@functools.cache
def is_known() -> bool:
    """Whether this Python and this NumPy keep their objects as they are read here."""
    ordinary = sys.implementation.name == "cpython" and sys.version_info[:2] in ((3, 11), (3, 12), (3, 13))
    if not ordinary or struct.calcsize("P") != 8 or sys.byteorder != "little":
        return False
    if hasattr(sys, "gettotalrefcount") or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    return _array_is_known() and _numbers_are_known() and type(sys.gettrace) is types.BuiltinFunctionType


def _words(thing: Any, count: int) -> list[int]:
    return words_at(id(thing), count)


def words_at(address: int, count: int) -> list[int]:
    """Words of 64 bits as they lie in memory."""
    return list(struct.unpack(f"<{count}q", ctypes.string_at(address, 8 * count)))


def _array_is_known() -> bool:
    array = np.arange(7, dtype=np.float64)[1:]
    words = _words(array, 8)
    shape, stride = words_at(words[4], 1)[0], words_at(words[5], 1)[0]
    known = (id(np.ndarray), array.ctypes.data, id(array.dtype), 6, 8)
    if (words[1], words[2], words[7], shape, stride) != known or words[3] & 0xFFFFFFFF != 1:
        return False
    spread = np.zeros((3, 4))[:, ::2]
    return [_words(one, 9)[8] & 1 for one in (array, spread, spread.copy())] == [1, 0, 1]


@functools.cache
def memory_handler() -> Any:
    """What frees the memory of NumPy's arrays, as they refer to it; None where that is not known to be C's `free`."""
    array = np.empty(4)
    name = getattr(getattr(getattr(np, "_core", None), "multiarray", None), "get_handler_name", None)
    if name is None or name(array) != "default_allocator" or not sys.platform.startswith("linux"):
        return None
    handler = _words(array, 12)[11]
    capsule = ctypes.pythonapi.PyCapsule_IsValid
    capsule.restype, capsule.argtypes = ctypes.c_int, (ctypes.c_void_p, ctypes.c_char_p)
    return ctypes.cast(handler, ctypes.py_object).value if handler and capsule(handler, b"mem_handler") else None


def _numbers_are_known() -> bool:
    number, items, text = 1.5, [1.5, 2.5], b"abcdefgh"
    floats = _words(number, 3)[1:] == [id(float), struct.unpack("<q", struct.pack("<d", number))[0]]
    listed = _words(items, 4)
    first = words_at(listed[3], 1)[0]
    lists = listed[1:3] == [id(list), 2] and first == id(items[0])
    payload = all(ctypes.string_at(id(own) + PAYLOAD, 8) == text for own in (text, Own(text)))
    return floats and lists and payload and all(map(_int_is_known, (0, 1, -1, 2**29, 2**31 + 5, -(2**59), 2**60 - 1)))


def _int_is_known(value: int) -> bool:
    size = _words(value, 3)[2]
    count = size >> 3 if sys.version_info >= (3, 12) else abs(size)
    negative = bool(size & 2) if sys.version_info >= (3, 12) else size < 0
    digits = struct.unpack(f"<{count}I", ctypes.string_at(id(value) + 24, 4 * count))
    found = sum(digit << (30 * i) for i, digit in enumerate(digits))
    return bool((-found if negative else found) == value)
