"""Reads arrays of CuPy, PyTorch, JAX and Numba where they lie in a GPU's memory, and makes new ones for results.

CuPy, PyTorch, JAX and Numba are known by the class of their arrays. None of them is imported: whose array it is has
been imported by the user.
"""

from __future__ import annotations

import math
import sys
from typing import Any, Protocol

import numpy as np

from ..ran import NotCompiled
from .dlpack import DeviceColumn
from .driver import Gpu, Memory

Shape = tuple[int, ...]


class Adapter(Protocol):
    """What a kernel needs to know of one framework's arrays."""

    def side_by_side(self, array: Any) -> Any:
        """The array with its numbers one after the other."""

    def address(self, array: Any) -> int:
        """Where its first number lies."""

    def dtype(self, array: Any) -> np.dtype[Any]:
        """NumPy's name for the class of its numbers."""

    def stream(self, array: Any) -> int:
        """The queue in which the framework works on the array now."""

    def empty(self, like: Any, shape: Shape, dtype: np.dtype[Any], on: Gpu) -> tuple[Any, int]:
        """Memory for results on the GPU of `like`, and its address."""

    def finished(self, made: Any) -> Any:
        """The array that the user gets, of memory that `empty` made."""


class Always:
    """A framework all of whose arrays are on a GPU."""


class _Cupy(Always):
    def __init__(self) -> None:
        self.cupy = sys.modules["cupy"]

    def side_by_side(self, array: Any) -> Any:
        return array if array.flags.c_contiguous else self.cupy.ascontiguousarray(array)

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    def dtype(self, array: Any) -> np.dtype[Any]:
        found: np.dtype[Any] = array.dtype
        return found

    def stream(self, array: Any) -> int:
        return int(self.cupy.cuda.get_current_stream().ptr)

    def empty(self, like: Any, shape: Shape, dtype: np.dtype[Any], on: Gpu) -> tuple[Any, int]:
        if on.alone:
            array = self.cupy.empty(shape, dtype)
        else:
            with like.device:
                array = self.cupy.empty(shape, dtype)
        return array, array.data.ptr

    def finished(self, made: Any) -> Any:
        return made


class _Torch:
    def __init__(self) -> None:
        self.torch = sys.modules["torch"]

    def side_by_side(self, array: Any) -> Any:
        return array.detach().contiguous()

    def address(self, array: Any) -> int:
        return int(array.data_ptr())

    def dtype(self, array: Any) -> np.dtype[Any]:
        return np.dtype(str(array.dtype).removeprefix("torch."))

    def stream(self, array: Any) -> int:
        return int(self.torch.cuda.current_stream(array.device).cuda_stream)

    def empty(self, like: Any, shape: Shape, dtype: np.dtype[Any], on: Gpu) -> tuple[Any, int]:
        array = self.torch.empty(shape, dtype=getattr(self.torch, dtype.name), device=like.device)
        return array, array.data_ptr()

    def finished(self, made: Any) -> Any:
        return made


class _Numba(Always):
    def side_by_side(self, array: Any) -> Any:
        if array.__cuda_array_interface__.get("strides") is not None:
            raise NotCompiled("cuda", "its elements do not lie side by side in the GPU's memory")
        return array

    def address(self, array: Any) -> int:
        return int(array.__cuda_array_interface__["data"][0])

    def dtype(self, array: Any) -> np.dtype[Any]:
        found: np.dtype[Any] = np.dtype(array.dtype)
        return found

    def stream(self, array: Any) -> int:
        return 0

    def empty(self, like: Any, shape: Shape, dtype: np.dtype[Any], on: Gpu) -> tuple[Any, int]:
        array = sys.modules["numba.cuda"].device_array(shape, dtype)
        return array, self.address(array)

    def finished(self, made: Any) -> Any:
        return made


class _Jax:
    """Its arrays do not change, so results are made in memory of ours and taken over."""

    def side_by_side(self, array: Any) -> Any:
        return array.block_until_ready()

    def address(self, array: Any) -> int:
        return int(array.unsafe_buffer_pointer())

    def dtype(self, array: Any) -> np.dtype[Any]:
        found: np.dtype[Any] = np.dtype(array.dtype)
        return found

    def stream(self, array: Any) -> int:
        return 0

    def empty(self, like: Any, shape: Shape, dtype: np.dtype[Any], on: Gpu) -> tuple[Any, int]:
        memory = Memory(on, math.prod(shape) * dtype.itemsize)
        return DeviceColumn(memory, dtype, shape, on.ordinal), memory.address

    def finished(self, made: Any) -> Any:
        return sys.modules["jax"].numpy.from_dlpack(made)


_ADAPTERS: dict[type, Adapter | None] = {}
_MAKERS: dict[str, Any] = {"cupy": _Cupy, "torch": _Torch, "numba": _Numba, "jax": _Jax, "jaxlib": _Jax}


def adapter_of(array: Any) -> Adapter | None:
    """How to treat an array on a GPU; None for anything else."""
    cls = type(array)
    if cls not in _ADAPTERS:
        maker = _MAKERS.get(cls.__module__.partition(".")[0])
        known = maker is not None and (
            hasattr(array, "__cuda_array_interface__") or hasattr(array, "is_cuda") or maker is _Jax
        )
        _ADAPTERS[cls] = maker() if maker is not None and known else None
    adapter = _ADAPTERS[cls]
    if isinstance(adapter, _Torch) and not array.is_cuda:
        return None
    return None if isinstance(adapter, _Jax) and not _is_on_one_gpu(array) else adapter


def _is_on_one_gpu(array: Any) -> bool:
    devices = array.devices() if hasattr(array, "unsafe_buffer_pointer") else ()
    return len(devices) == 1 and next(iter(devices)).platform in ("gpu", "cuda")
