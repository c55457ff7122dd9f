"""NumPy's own loops over whole arrays in; functions out that compiled code may call, with NumPy's very bits."""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from .blocks import I64
from .ufuncs import loop_of

_POINTER = ir.IntType(8).as_pointer()


@cache
def symbol_of(ufunc: np.ufunc, dtype: np.dtype[Any]) -> str | None:
    """The name of a ufunc's loop for machine code; None where there is none."""
    address = loop_of(ufunc, dtype.num)
    if address is None:
        return None
    name = f"upshift_np_{dtype.name}_{ufunc.__name__}"
    llvm.add_symbol(name, address)
    return name


def _turn(builder: Any, symbol: str, columns: list[Any], strides: list[int], n: Any) -> None:
    """One call of a loop: columns by their first numbers, strides in bytes."""
    zero = ir.Constant(ir.IntType(32), 0)
    places = cgutils.alloca_once(builder, ir.ArrayType(_POINTER, len(columns)))
    steps = cgutils.alloca_once(builder, ir.ArrayType(I64, len(columns)))
    length = cgutils.alloca_once(builder, I64)
    for i, (column, stride) in enumerate(zip(columns, strides, strict=True)):
        at = [zero, ir.Constant(ir.IntType(32), i)]
        builder.store(builder.bitcast(column, _POINTER), builder.gep(places, at))
        builder.store(ir.Constant(I64, stride), builder.gep(steps, at))
    builder.store(n, length)
    kind = ir.FunctionType(ir.VoidType(), [_POINTER.as_pointer(), I64.as_pointer(), I64.as_pointer(), _POINTER])
    loop = cgutils.get_or_insert_function(builder.module, kind, symbol)
    first = [zero, zero]
    builder.call(loop, [builder.gep(places, first), length, builder.gep(steps, first), ir.Constant(_POINTER, None)])


def mapped(ufunc: np.ufunc, dtype: np.dtype[Any]) -> Any:
    """`apply(array)`: a function of one number, for all numbers of an array, in place. None where NumPy has no loop."""
    symbol = symbol_of(ufunc, dtype)
    if symbol is None:
        return None

    @intrinsic  # type: ignore[untyped-decorator]
    def apply(typing: Any, array: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            own = context.make_array(array)(context, builder, values[0])
            _turn(builder, symbol, [own.data, own.data], [dtype.itemsize] * 2, own.nitems)
            return context.get_dummy_value()

        return types.void(array), generate

    return apply


def reduced(ufunc: np.ufunc, dtype: np.dtype[Any]) -> Any:
    """`reduce(array, start, n)`: so many numbers of an array, side by side, taken together."""
    symbol = symbol_of(ufunc, dtype)
    if symbol is None:
        return None
    number = types.float64 if dtype.itemsize == 8 else types.float32

    @intrinsic  # type: ignore[untyped-decorator]
    def reduce(typing: Any, array: Any, start: Any, n: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            own = context.make_array(array)(context, builder, values[0])
            first = builder.gep(own.data, [values[1]])
            kind = ir.DoubleType() if dtype.itemsize == 8 else ir.FloatType()
            total = cgutils.alloca_once(builder, kind)
            count = values[2]
            if ufunc is np.add:
                builder.store(ir.Constant(kind, 0.0), total)
            else:  # it has no number to begin with
                builder.store(builder.load(first), total)
                first = builder.gep(first, [ir.Constant(I64, 1)])
                count = builder.sub(count, ir.Constant(I64, 1))
            _turn(builder, symbol, [total, first, total], [0, dtype.itemsize, 0], count)
            return builder.load(total)

        return number(array, types.int64, types.int64), generate

    return reduce
