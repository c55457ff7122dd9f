"""Reads a list of arrays: where the items of each begin, its lengths and strides, as words for machine code.

Python would take a microsecond for each array. This is machine code of our own, which looks at NumPy's objects by their
layout (tested once, see `layout.py`), made when the first such list comes.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...compiler import module
from .layout import is_known

_TEXT = """
define i64 @read_arrays(ptr %items, i64 %n, ptr %words, i64 %type, i64 %descr, i64 %ndim) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %done ]
  %out = phi ptr [ %words, %entry ], [ %after, %done ]
  %packed = phi i64 [ 1, %entry ], [ %still, %done ]
  %itemp = getelementptr ptr, ptr %items, i64 %i
  %item = load ptr, ptr %itemp
  %typep = getelementptr i8, ptr %item, i64 8
  %t = load i64, ptr %typep
  %same = icmp eq i64 %t, %type
  br i1 %same, label %isarray, label %no
isarray:
  %descrp = getelementptr i8, ptr %item, i64 56
  %d = load i64, ptr %descrp
  %samed = icmp eq i64 %d, %descr
  %ndp = getelementptr i8, ptr %item, i64 24
  %nd = load i32, ptr %ndp
  %ndw = sext i32 %nd to i64
  %samen = icmp eq i64 %ndw, %ndim
  %both = and i1 %samed, %samen
  br i1 %both, label %copy, label %no
copy:
  %datap = getelementptr i8, ptr %item, i64 16
  %data = load i64, ptr %datap
  store i64 %data, ptr %out
  %dimsp = getelementptr i8, ptr %item, i64 32
  %dims = load ptr, ptr %dimsp
  %stridesp = getelementptr i8, ptr %item, i64 40
  %strides = load ptr, ptr %stridesp
  %flagsp = getelementptr i8, ptr %item, i64 64
  %flags = load i32, ptr %flagsp
  %flagsw = zext i32 %flags to i64
  %still = and i64 %packed, %flagsw
  br label %axes
axes:
  %a = phi i64 [ 0, %copy ], [ %anext, %axis ]
  %more = icmp slt i64 %a, %ndim
  br i1 %more, label %axis, label %done
axis:
  %np = getelementptr i64, ptr %dims, i64 %a
  %length = load i64, ptr %np
  %sp = getelementptr i64, ptr %strides, i64 %a
  %stride = load i64, ptr %sp
  %anext = add i64 %a, 1
  %outn = getelementptr i64, ptr %out, i64 %anext
  store i64 %length, ptr %outn
  %at = add i64 %anext, %ndim
  %outs = getelementptr i64, ptr %out, i64 %at
  store i64 %stride, ptr %outs
  br label %axes
done:
  %twice = shl i64 %ndim, 1
  %width = add i64 %twice, 1
  %after = getelementptr i64, ptr %out, i64 %width
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  %last = phi i64 [ 1, %entry ], [ %still, %done ]
  %answer = or i64 %last, 2
  ret i64 %answer
no:
  ret i64 0
}
"""


@functools.cache
def _reader() -> Any:
    loaded = module.Loaded(module.object_code(_TEXT, False, level=0), ("read_arrays",))
    call = ctypes.PYFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 6)(loaded.address("read_arrays"))
    return call, loaded


READ_BY_PYTHON = 64
"""Arrays that Python reads itself, rather than that machine code is made for it."""


def words_of(elements: Sequence[Any]) -> tuple[Any, bool] | None:
    """The words of arrays that have one dtype and rank, and whether none of them has gaps; None where they differ."""
    first = elements[0]
    dtype, ndim = first.dtype, first.ndim
    width = 1 + 2 * ndim
    words = np.empty(2 + width * len(elements), np.int64)
    words[:2] = width, 0
    if type(elements) is list and is_known() and (len(elements) > READ_BY_PYTHON or _reader.cache_info().currsize):
        items = ctypes.cast(id(elements) + 24, ctypes.POINTER(ctypes.c_int64))[0]
        found = _reader()[0](items, len(elements), words.ctypes.data + 16, id(np.ndarray), id(dtype), ndim)
        if found:
            return words, bool(found & 1)
    if any(type(x) is not np.ndarray or x.dtype != dtype or x.ndim != ndim for x in elements):
        return None
    words[2:].reshape(-1, width)[:] = [(x.ctypes.data, *x.shape, *x.strides) for x in elements]
    return words, all(x.flags.c_contiguous for x in elements)
