"""Tensors as arrays and arrays as tensors, without copies, in nests of any form."""

from __future__ import annotations

import functools
import math
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..columns.outputs import place

Array = np.ndarray[Any, Any]
ALIGNED = 64
"""Bytes: TensorFlow's kernels end the process on memory of ours that does not start at a multiple of this."""
ADOPTED = frozenset("efdbhilqBHILQFD?")
"""Dtypes, by their letters, whose memory TensorFlow takes over as it is; all others are copied by TensorFlow itself."""


def is_concrete(value: Any) -> bool:
    """Whether a tensor has its numbers: it is eager, or a variable read eagerly."""
    if isinstance(value, tf.Variable):
        return bool(tf.executing_eagerly())
    return isinstance(value, tf.Tensor) and tf.is_tensor(value) and hasattr(value, "_numpy")


def as_array(tensor: Any) -> Array:
    """What a concrete tensor or variable holds, to be read only; nothing is copied where it lies in main memory.

    A variable's value may be overwritten where it lies, so that it is copied.
    """
    if isinstance(tensor, tf.Variable):
        tensor = tf.identity(tensor)
    array: Array = np.asarray(tensor) if tensor.ndim else np.asarray(tensor.numpy(), tensor.dtype.as_numpy_dtype)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def as_tensor(array: Any) -> Any:
    """A tensor of its own: what is later written into the array does not show up in it."""
    array = np.asarray(array)
    if array.dtype.char not in ADOPTED or not array.size or _has_accelerator():
        return tf.constant(array)
    room = aligned(array.shape, array.dtype)
    np.copyto(room, array)
    return tf.experimental.dlpack.from_dlpack(room.__dlpack__())


def aligned(shape: Sequence[int], dtype: Any) -> Array:
    """Room for a result that `adopt` can take."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    view: Array = _BUFFERS.take(size).view(dtype)
    return view.reshape(shape)


class BufferPool:
    """Large pieces of memory that results gave back: the next result of that size takes one that is warm."""

    LEAST, MOST = 1 << 18, 1 << 28
    """Bytes of a piece that is worth keeping, and of all that are kept."""

    def __init__(self) -> None:
        self.kept: list[Array] = []
        self.lock = threading.Lock()

    def take(self, size: int) -> Array:
        """Aligned bytes that nobody else uses."""
        if size < self.LEAST:
            return _aligned(np.empty(size + ALIGNED, np.uint8), size)
        with self.lock:
            for room in self.kept:
                if size + ALIGNED <= room.nbytes <= 2 * size and sys.getrefcount(room) == UNUSED:
                    return _aligned(room, size)
            room = np.empty(size + ALIGNED, np.uint8)
            if room.nbytes <= self.MOST:
                self.kept = [*self.kept[-7:], room]
                while sum(one.nbytes for one in self.kept) > self.MOST:
                    self.kept.pop(0)
            return _aligned(room, size)


UNUSED = 3
"""References to a piece that only the list of pieces, the variable of a loop and the question for their number hold."""
_BUFFERS = BufferPool()


def _aligned(room: Array, size: int) -> Array:
    start = -room.ctypes.data % ALIGNED
    return room[start : start + size]


def adopt(room: Array) -> Any:
    """The very memory of an array that was made by `aligned`, as a tensor. The caller forgets the array."""
    if room.dtype.char not in ADOPTED or not room.size or _has_accelerator():
        return tf.constant(room)
    if room.ctypes.data % ALIGNED or not room.flags.c_contiguous or not room.flags.writeable:
        raise ValueError("only memory made by aligned() can become a tensor's")
    return tf.experimental.dlpack.from_dlpack(room.__dlpack__())


@functools.cache
def _has_accelerator() -> bool:
    """Whether tensors are made elsewhere than in this machine's memory, where TensorFlow had better put them itself."""
    return len(tf.config.list_logical_devices()) > 1


def handed_over(results: list[Any], given: Sequence[Any]) -> list[Any]:
    """Results of a function as TensorFlow may have them: no copies but where the function might write into them later.

    TensorFlow takes over memory that is aligned, and copies all other itself. `given`: what the function was called
    with, which nobody writes into, so that it may be a result as well. The list is emptied: nobody else may hold them.
    """
    made: list[Any] = []
    while results:
        array = results.pop(0)
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufc":
            made.append(array)
        elif not array.flags.c_contiguous:
            room = aligned(array.shape, array.dtype)
            place(array, room)
            made.append(room)
        else:
            alone = sys.getrefcount(array) <= OURS_ALONE and _is_whole(array)
            theirs = alone or array.ctypes.data % ALIGNED or _is_part(array, given)
            made.append(array if theirs else as_own(array))
    return made


OURS_ALONE = 2
"""References to an array that only a variable and the question for their number hold."""


def _is_whole(array: Array) -> bool:
    """Whether no other array looks at the same memory."""
    base = array.base
    if base is None:
        return bool(array.flags.owndata)
    return isinstance(base, np.ndarray) and bool(base.flags.owndata) and sys.getrefcount(base) <= OURS_ALONE + 1


def _is_part(array: Array, given: Sequence[Any]) -> bool:
    """Whether an array is what a function was given, or a view of it."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if any(base is one for one in given):
            return True
        base = base.base
    return False


def as_own(array: Array) -> Array:
    """A copy where TensorFlow takes it over as it is."""
    room = aligned(array.shape, array.dtype)
    np.copyto(room, array)
    return room
