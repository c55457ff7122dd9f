"""NumPy's ufuncs in; stand-ins out that call NumPy's own loops: compiled code gets the bits that NumPy gives.

`np.exp` of one number is NumPy's loop over a column of length one. Its address stands in the ufunc (the struct is part
of NumPy's public C interface), so machine code can call it, and a branch that hangs on its last bit is the loop's.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from .blocks import F64, I64, Refused, check_numbers, converted, is_bool, is_complex, is_int, leave_domain, stand_in

DOUBLE, LONG = (np.dtype(t).num for t in (np.float64, np.int64))


class _UFunc(ctypes.Structure):
    """The head of NumPy's PyUFuncObject."""

    _fields_ = (
        ("refs", ctypes.c_ssize_t), ("type", ctypes.c_void_p), ("nin", ctypes.c_int), ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int), ("identity", ctypes.c_int), ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)), ("ntypes", ctypes.c_int), ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p), ("types", ctypes.POINTER(ctypes.c_char)),
    )  # fmt: skip


def loop_of(ufunc: np.ufunc, number: int) -> int | None:
    """The address of the loop over columns of one type; None where there is none, or it needs more than columns."""
    head = _UFunc.from_address(id(ufunc))
    if (head.nin, head.nout, head.nargs) != (ufunc.nin, ufunc.nout, ufunc.nargs) or not head.functions:
        return None  # another layout than the one known here
    for i in range(head.ntypes):
        if all(head.types[i * head.nargs + j] == bytes([number]) for j in range(head.nargs)):
            return head.functions[i] if not head.data or not head.data[i] else None
    return None


def _found() -> dict[np.ufunc, str]:
    """All ufuncs of one or two floats that give one, and the names of their loops."""
    found = {}
    for name, ufunc in vars(np).items():
        if isinstance(ufunc, np.ufunc) and ufunc.nin <= 2 and ufunc.nout == 1 and not ufunc.signature:
            address = loop_of(ufunc, DOUBLE)
            if address is not None:
                llvm.add_symbol(f"upshift_np_{ufunc.__name__}", address)
                found[ufunc] = name
    return found


def _of(ufunc: np.ufunc) -> Any:
    has_ints = loop_of(ufunc, LONG) is not None or "ll->l" in ufunc.types or "l->l" in ufunc.types

    def signature(args: tuple[Any, ...]) -> Any:
        check_numbers(ufunc, args)
        refused = any(is_bool(arg) or is_complex(arg) for arg in args) or (has_ints and all(map(is_int, args)))
        if refused:
            raise Refused(f"numpy.{ufunc.__name__} of {', '.join(map(str, args))} is not compiled")
        given = [types.unliteral(arg) for arg in args]
        name = f"upshift_np_{ufunc.__name__}"

        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            numbers = [converted(context, builder, v, t, types.float64) for v, t in zip(values, given, strict=True)]
            made = _call(builder, name, numbers)
            leave_domain(context, builder, made, numbers)
            return made

        return types.float64(*given), generate

    if ufunc.nin == 1:
        return stand_in(lambda typing, a: signature((a,)))
    return stand_in(lambda typing, a, b: signature((a, b)))


def _call(builder: Any, name: str, values: list[Any]) -> Any:
    """One turn of a loop of NumPy's: columns of length one, on the stack."""
    pointer = ir.IntType(8).as_pointer()
    cells = [cgutils.alloca_once(builder, F64) for _ in (*values, None)]
    for cell, value in zip(cells, values, strict=False):
        builder.store(value, cell)
    columns = cgutils.alloca_once(builder, ir.ArrayType(pointer, len(cells)))
    strides = cgutils.alloca_once(builder, ir.ArrayType(I64, len(cells)))
    zero = ir.Constant(ir.IntType(32), 0)
    for i, cell in enumerate(cells):
        at = [zero, ir.Constant(ir.IntType(32), i)]
        builder.store(builder.bitcast(cell, pointer), builder.gep(columns, at))
        builder.store(ir.Constant(I64, 8), builder.gep(strides, at))
    length = cgutils.alloca_once_value(builder, ir.Constant(I64, 1))
    kind = ir.FunctionType(ir.VoidType(), [pointer.as_pointer(), I64.as_pointer(), I64.as_pointer(), pointer])
    loop = cgutils.get_or_insert_function(builder.module, kind, name)
    first = [zero, zero]
    builder.call(loop, [builder.gep(columns, first), length, builder.gep(strides, first), ir.Constant(pointer, None)])
    return builder.load(cells[-1])


UFUNCS: dict[np.ufunc, Any] = {ufunc: _of(ufunc) for ufunc in _found()}
