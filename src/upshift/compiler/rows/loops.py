"""NumPy's own inner loops, called for one number: the very bits that NumPy gives.

`np.exp(x)` of a number is NumPy's loop over a column of length one. The loop's address stands in the ufunc (its struct
is a part of NumPy's public C interface); machine code calls it by a name that says which one it is, so that code kept
on disk finds it again in another process.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from .numpy_casts import DType, ll

PREFIX = "upshift_numpy_"
_DATA = "_data"


class _UFunc(ctypes.Structure):
    """The head of NumPy's PyUFuncObject."""

    _fields_ = (
        ("refs", ctypes.c_ssize_t), ("type", ctypes.c_void_p), ("nin", ctypes.c_int), ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int), ("identity", ctypes.c_int), ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)), ("ntypes", ctypes.c_int), ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p), ("types", ctypes.POINTER(ctypes.c_ubyte)),
    )  # fmt: skip


@functools.cache
def find(ufunc: np.ufunc, dtypes: tuple[DType, ...]) -> tuple[int, int] | None:
    """The addresses of a loop over columns of these dtypes and of the data that it is given, where there is one."""
    head = _UFunc.from_address(id(ufunc))
    if (head.nin, head.nout, head.nargs, head.ntypes) != (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes):
        return None  # another layout than the one known here
    wanted = [dtype.num for dtype in dtypes]
    for i in range(head.ntypes):
        if [head.types[i * head.nargs + j] for j in range(head.nargs)] == wanted:
            address = head.functions[i]
            return (address, (head.data[i] if head.data else None) or 0) if address else None
    return None


def name_of(ufunc: np.ufunc, dtypes: tuple[DType, ...]) -> str:
    """The name by which machine code calls a loop."""
    return f"{PREFIX}{ufunc.__name__}__{''.join('B' if d.kind == 'b' else d.char + '_' for d in dtypes)}"


def named(name: str) -> Any:
    """A ufunc by its name; None where NumPy has none. `clip` has no public one."""
    found = getattr(np, name, None)
    if not isinstance(found, np.ufunc):
        found = getattr(getattr(getattr(np, "_core", None), "umath", None), name, None)
    return found if isinstance(found, np.ufunc) else None


def run(w: Any, ufunc: np.ufunc, dtypes: tuple[DType, ...], *values: str) -> list[str]:
    """One turn of a loop: columns of length one, on the stack."""
    found = find(ufunc, dtypes)
    assert found is not None
    name = name_of(ufunc, dtypes)
    w.module.symbols[name] = found[0]
    w.module.declare(f"@{name}", f"declare void @{name}(ptr, ptr, ptr, ptr)")
    data = "null"
    if found[1]:
        w.module.symbols[name + _DATA] = found[1]
        w.module.declare(f"@{name}{_DATA}", f"@{name}{_DATA} = external global i8")
        data = f"@{name}{_DATA}"
    types = ["i8" if dtype.kind == "b" else ll(dtype) for dtype in dtypes]
    cells = [w.local(t) for t in types]
    for cell, t, dtype, value in zip(cells, types, dtypes, values):
        w.do(f"store {t} {w.new(f'zext i1 {value} to i8') if dtype.kind == 'b' else value}, ptr {cell}")
    n = len(cells)
    columns, steps, length = w.local(f"[{n} x ptr]"), w.local(f"[{n} x i64]"), w.local("i64")
    for i, cell in enumerate(cells):
        w.do(f"store ptr {cell}, ptr {w.new(f'getelementptr ptr, ptr {columns}, i64 {i}')}")
        step = 0 if i < ufunc.nin else dtypes[i].itemsize  # as NumPy has it for numbers
        w.do(f"store i64 {step}, ptr {w.new(f'getelementptr i64, ptr {steps}, i64 {i}')}")
    w.do(f"store i64 1, ptr {length}")
    w.do(f"call void @{name}(ptr {columns}, ptr {length}, ptr {steps}, ptr {data}) nounwind")
    made = []
    for cell, t, dtype in zip(cells[ufunc.nin :], types[ufunc.nin :], dtypes[ufunc.nin :]):
        value = w.new(f"load {t}, ptr {cell}")
        made.append(w.new(f"icmp ne i8 {value}, 0") if dtype.kind == "b" else value)
    return made
