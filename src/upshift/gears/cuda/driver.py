"""NVIDIA's driver, by way of ctypes: memory, copies and kernels on a GPU. Nothing else of CUDA need be installed.

All frameworks of a process share a GPU's primary context, so memory of CuPy, PyTorch, JAX and Numba is ours to read.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from ctypes import byref, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...columns.kinds import Column
from ..chunks import chunks_of, side_by_side

MAJOR, MINOR, PROCESSORS = 75, 76, 16
"""Attributes of a device: its compute capability, how many multiprocessors it has."""
MOST_SHARED, FREELY_SHARED = 8, 48 << 10
"""The attribute of a kernel that says how much memory a block may share, and what it may without it."""
_POINTER_KIND, _POINTER_DEVICE = 2, 9
_PAGE, _NOT_READY = 4096, 600
_BROKEN: list[str] = []
"""Why the GPU is no longer used: what the driver said, or that this is a child of a process that has used it."""


_GIVEN = {
    "cuStreamSynchronize": "p", "cuMemsetD8Async": "pisp", "cuMemcpyHtoDAsync_v2": "ppsp",
    "cuMemcpyDtoHAsync_v2": "ppsp", "cuLaunchKernel": "piiiiiiippp", "cuCtxPushCurrent_v2": "p",
    "cuCtxPopCurrent_v2": "p", "cuCtxGetCurrent": "p", "cuStreamQuery": "p",
}  # fmt: skip
"""What the calls that are made often are given: pointers, sizes, ints."""


class DriverError(RuntimeError):
    """What NVIDIA's driver said."""


@functools.cache
def _library(waits: bool = True) -> Any:
    """The driver; an `OSError` where there is none.

    Calls that only queue work keep the interpreter: many threads that let it go for microseconds wait for each other.
    """
    kind: Any = ctypes.CDLL if waits else ctypes.PyDLL
    library = kind("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    for name, given in _GIVEN.items():
        getattr(library, name).argtypes = [{"p": c_void_p, "s": c_size_t, "i": c_uint}[one] for one in given]
    return library


def _call(name: str, *args: Any) -> None:
    """A call that may take its time."""
    code = getattr(_library(), name)(*args)
    if code:
        raise _said(name, code)


def _queue(name: str, *args: Any) -> None:
    """A call that is over at once."""
    code = _quick(name)(*args)
    if code:
        raise _said(name, code)


@functools.cache
def _quick(name: str) -> Any:
    return getattr(_library(False), name)


def _said(name: str, code: int) -> DriverError:
    text = ctypes.c_char_p()
    _library().cuGetErrorString(code, byref(text))
    return DriverError(f"{name}: {(text.value or b'error %d' % code).decode()}")


@functools.cache
def _why_not() -> str:
    try:
        _library()
    except OSError:
        return "there is no NVIDIA driver"
    count = c_int()
    try:
        _call("cuInit", 0)
        _call("cuDeviceGetCount", byref(count))
    except (DriverError, AttributeError) as error:
        return f"NVIDIA's driver does not work: {error}"
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: give_up("a forked process cannot use it"))
    return "" if count.value else "there is no NVIDIA GPU"


def why_not() -> str:
    """Why no GPU can be used, in one sentence; nothing where one can be."""
    return _why_not() or (f"the GPU is no longer used: {_BROKEN[0]}" if _BROKEN else "")


def give_up(reason: str) -> None:
    """Use no GPU from here on."""
    _BROKEN.append(reason)


_AS_IT_IS: AbstractContextManager[None] = nullcontext()


@dataclass(slots=True)
class Gpu:
    """One GPU, with its primary context."""

    ordinal: int
    device: int
    context: c_void_p
    capability: int
    alone: bool
    """Whether this machine has no other."""
    processors: int
    """Each of which runs blocks by itself."""
    kernels: dict[str, Launcher] = field(default_factory=dict)
    """By PTX: compiled for this GPU."""

    def current(self) -> AbstractContextManager[None]:
        """`with on.current():` what this thread does in there, it does on this GPU."""
        now = c_void_p()
        _queue("cuCtxGetCurrent", byref(now))
        return _AS_IT_IS if now.value == self.context.value else self

    def __enter__(self) -> None:
        _queue("cuCtxPushCurrent_v2", self.context)

    def __exit__(self, *error: object) -> None:
        _queue("cuCtxPopCurrent_v2", byref(c_void_p()))

    def launcher(self, ptx: str, entry: str, form: str, shared: int = 0) -> Launcher:
        """A kernel, compiled by the driver where it is not yet. The context must be current. `shared`: bytes of memory
        that the threads of a block share."""
        found = self.kernels.get(ptx)
        return found or self._compiled(ptx, entry, form, shared)

    def _compiled(self, ptx: str, entry: str, form: str, shared: int) -> Launcher:
        module, fn = c_void_p(), c_void_p()
        _call("cuModuleLoadData", byref(module), ctypes.c_char_p(ptx.encode()))
        _call("cuModuleGetFunction", byref(fn), module, ctypes.c_char_p(entry.encode()))
        if shared > FREELY_SHARED:
            _call("cuFuncSetAttribute", fn, MOST_SHARED, shared)
        return self.kernels.setdefault(ptx, Launcher(fn.value or 0, form))


@functools.cache
def gpu(ordinal: int = 0) -> Gpu:
    """A GPU by its number."""
    if _why_not():
        raise DriverError(_why_not())
    device, context = c_int(), c_void_p()
    _call("cuDeviceGet", byref(device), ordinal)
    _call("cuDevicePrimaryCtxRetain", byref(context), device)
    major, minor, count, processors = c_int(), c_int(), c_int(), c_int()
    for value, name in ((major, MAJOR), (minor, MINOR), (processors, PROCESSORS)):
        _call("cuDeviceGetAttribute", byref(value), name, device)
    _call("cuDeviceGetCount", byref(count))
    return Gpu(ordinal, device.value, context, 10 * major.value + minor.value, count.value == 1, processors.value)


def is_pinned(address: int) -> bool:
    """Whether a GPU can read this machine's memory there by itself. A context must be current."""
    kind = c_int()
    return not _library(False).cuPointerGetAttribute(byref(kind), _POINTER_KIND, c_void_p(address)) and kind.value == 1


def gpu_of(address: int) -> Gpu:
    """The GPU whose memory this is."""
    if gpu().alone:
        return gpu()
    ordinal = c_int()
    _queue("cuPointerGetAttribute", byref(ordinal), _POINTER_DEVICE, c_void_p(address))
    return gpu(ordinal.value)


@functools.cache
def calls() -> Calls:
    """Where machine code finds the driver's functions."""
    names = ("cuMemsetD8Async", "cuMemcpyHtoDAsync_v2", "cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize")
    return Calls(*(ctypes.cast(getattr(_library(), name), c_void_p).value or 0 for name in names))


class Calls(NamedTuple):
    """Addresses of the driver's functions."""

    clear: int
    send: int
    launch: int
    fetch: int
    wait: int


# ---- memory and streams; the context must be current


class Memory:
    """Some bytes of a GPU, given back when nobody needs them."""

    def __init__(self, owner: Gpu, size: int) -> None:
        pointer = c_void_p()
        _call("cuMemAlloc_v2", byref(pointer), c_size_t(max(size, 1)))
        self.address, self.size = pointer.value or 0, size
        weakref.finalize(self, _free, owner, "cuMemFree_v2", self.address)


class Pinned:
    """Some bytes of this machine's memory that kernels of a GPU read and write."""

    def __init__(self, owner: Gpu, size: int) -> None:
        pointer = c_void_p()
        _call("cuMemHostAlloc", byref(pointer), c_size_t(max(size, 1)), c_uint(0))
        self.address, self.size = pointer.value or 0, size
        self.bytes: Column = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(self.address))
        weakref.finalize(self, _free, owner, "cuMemFreeHost", self.address)


class RegisteredMemory:
    """Many bytes of this machine's memory that a GPU copies at full speed: ordinary memory, told to the driver.

    That takes a tenth of the time that asking the driver for such memory takes.
    """

    def __init__(self, owner: Gpu, size: int, threads: int = 1) -> None:
        memory: Column = np.empty(size + _PAGE, np.uint8)
        first = -memory.ctypes.data % _PAGE
        self.bytes: Column = memory[first : first + size]
        self.address, self.size = memory.ctypes.data + first, size
        side_by_side(self._touch, chunks_of(0, size, 16 << 20), threads)
        _call("cuMemHostRegister_v2", c_void_p(self.address), c_size_t(size), c_uint(1))
        weakref.finalize(self, _take_down, owner, self.address, memory)

    def _touch(self, span: slice) -> None:
        """Have the system give the memory, which it does for several threads at once, but not for the driver."""
        self.bytes[span][::_PAGE] = 0


def _take_down(owner: Gpu, address: int, memory: Column) -> None:
    _free(owner, "cuMemHostUnregister", address)


def _free(owner: Gpu, name: str, address: int) -> None:
    if sys.is_finalizing() or _BROKEN:
        return
    with owner.current():
        _call(name, c_void_p(address))


def new_stream() -> int:
    """A queue of work that waits for no other."""
    stream = c_void_p()
    _call("cuStreamCreate", byref(stream), c_uint(1))
    return stream.value or 0


def wait(stream: int = 0) -> None:
    """Waits until all work of a stream is done."""
    _call("cuStreamSynchronize", stream)


def is_done(stream: int = 0) -> bool:
    """Whether all that is queued is over."""
    code: int = _quick("cuStreamQuery")(stream)
    if code not in (0, _NOT_READY):
        raise _said("cuStreamQuery", code)
    return code == 0


def clear(address: int, size: int, stream: int = 0) -> None:
    """Fills memory of the GPU with zeros, in a stream."""
    _queue("cuMemsetD8Async", address, 0, size, stream)


def send(to: int, host: int, size: int, stream: int = 0) -> None:
    """From this machine's memory to the GPU's."""
    _queue("cuMemcpyHtoDAsync_v2", to, host, size, stream)


def fetch(host: int, start: int, size: int, stream: int = 0) -> None:
    """From the GPU's memory to this machine's."""
    _queue("cuMemcpyDtoHAsync_v2", host, start, size, stream)


class Launcher:
    """Starts one kernel; what the driver is given is kept for the next time."""

    def __init__(self, kernel: int, form: str) -> None:
        """`form`: of the arguments, as `struct` has it; all have 64 bits."""
        self.kernel, self.packed = kernel, struct.Struct(form)
        self.idle: list[tuple[Any, Any, Any]] = []

    def start(self, n: int, threads: int, words: Sequence[Any], stream: int, blocks: int = 0, shared: int = 0) -> None:
        """A thread for each of n lanes, or so many blocks that share so many bytes each."""
        try:
            box = self.idle.pop()
        except IndexError:
            words_there, size = (ctypes.c_uint8 * self.packed.size)(), c_size_t(self.packed.size)
            extra = (c_void_p * 5)(1, ctypes.addressof(words_there), 2, ctypes.addressof(size), 0)
            box = words_there, extra, size
        self.packed.pack_into(box[0], 0, *words)
        _queue(
            "cuLaunchKernel", self.kernel, blocks or -(-n // threads), 1, 1, threads, 1, 1, shared, stream, None, box[1]
        )
        self.idle.append(box)
