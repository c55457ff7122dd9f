"""Hands a GPU's memory over to other frameworks without a copy, by DLPack."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .driver import Memory

_CUDA = 2
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("ordinal", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device", _Device), ("ndim", ctypes.c_int32), ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


_LENT: dict[int, Any] = {}
"""What others hold, by the address of its description: given back when they say so."""


_given_back = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda address: _LENT.pop(address, None) and None)


class DeviceColumn:
    """Numbers side by side in a GPU's memory, for any framework to take."""

    def __init__(self, memory: Memory, dtype: np.dtype[Any], shape: tuple[int, ...], ordinal: int) -> None:
        self.memory, self.dtype, self.shape, self.ordinal = memory, dtype, shape, ordinal

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.memory.address, False), "version": 3,
            "strides": None, "stream": None,
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self.ordinal

    def __dlpack__(self, **options: Any) -> Any:
        kind = _Type(_CODES[self.dtype.kind], 8 * self.dtype.itemsize, 1)
        shape = (ctypes.c_int64 * len(self.shape))(*self.shape)
        tensor = _Tensor(self.memory.address, _Device(_CUDA, self.ordinal), len(self.shape), kind, shape, None, 0)
        managed = _Managed(tensor, None, ctypes.cast(_given_back, ctypes.c_void_p))
        address = ctypes.addressof(managed)
        _LENT[address] = managed, shape, self.memory
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(address, b"dltensor", None)
