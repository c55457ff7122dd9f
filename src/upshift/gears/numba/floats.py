"""Functions of floats, of `math` and NumPy, in; C's own or the processor's out."""

from __future__ import annotations

import ctypes
import math
import operator
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import types

from .blocks import (
    F64,
    Refused,
    check_numbers,
    external,
    is_complex,
    is_nan,
    leave_domain,
    not_finite,
    stand_in,
)

C_FUNCTIONS = ("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 exp2 log log1p log2 log10 cbrt "
               "erf erfc atan2 fmod pow hypot").split()  # fmt: skip
"""Functions of `math` that are C's own; looked up in the very library that `math` calls."""
_OF_TWO = frozenset(("atan2", "fmod", "pow", "hypot"))
_PROBED = {"asinh": (-30.0, 30.0), "acosh": (1.0, 30.0), "atanh": (-1.0, 1.0), "erf": (-6.0, 6.0), "erfc": (-6.0, 6.0)}
"""Those that CPython may compute itself, and where: whether it does is found out."""


def register_symbols() -> None:
    """Name C's functions for LLVM. To be done in every process before machine code is run."""
    library = ctypes.CDLL(None)
    for name in C_FUNCTIONS:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(f"upshift_{name}", address)


def of_floats(name: str) -> Any:
    """A function of `math`: C's own, and what is not finite is left."""
    arity = 2 if name in _OF_TWO else 1

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        made = external(builder, f"upshift_{name}", arity, values)
        leave_domain(context, builder, made, values)
        return made

    return _of_numbers(name, arity, generate)


def _of_numbers(name: str, arity: int, generate: Any, result: Any = types.float64) -> Any:
    """An intrinsic of one, two or more numbers that become floats."""

    def signature(args: tuple[Any, ...]) -> Any:
        check_numbers(getattr(math, name, None) or operator.add, args)
        if any(is_complex(arg) for arg in args):
            raise Refused(f"{name} of a complex number is not compiled")
        return result(*(types.float64 for _ in args)), generate

    if arity == 1:
        return stand_in(lambda typing, a: signature((a,)))
    return stand_in(lambda typing, a, b: signature((a, b)))


def by_llvm(name: str, checked: bool) -> Any:
    """A function that processors have: sqrt, fabs, floor, copysign. `checked`: NaN from a number is left."""
    arity = 2 if name == "copysign" else 1

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        number = values[0].type
        kind = ir.FunctionType(number, [number] * arity)
        made = builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [number], kind), values)
        if checked:
            leave_domain(context, builder, made, list(values))
        return made

    return _of_numbers(name, arity, generate)


def is_what(name: str) -> Any:
    """isnan, isinf, isfinite."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        nan, odd = is_nan(builder, values[0]), not_finite(builder, values[0])
        if name == "isnan":
            return nan
        return builder.not_(odd) if name == "isfinite" else builder.and_(odd, builder.not_(nan))

    return _of_numbers(name, 1, generate, types.boolean)


def scaled(factor: float, name: str) -> Any:
    """degrees, radians: as CPython multiplies."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return builder.fmul(values[0], ir.Constant(F64, factor))

    return _of_numbers(name, 1, generate)


def _is_cs(name: str) -> bool:
    """Whether a function of `math` is C's own: of hundreds of numbers, not one comes out otherwise."""
    if name not in _PROBED:
        return name != "hypot"  # which is CPython's own
    fn = getattr(ctypes.CDLL(None), name)
    fn.restype, fn.argtypes = ctypes.c_double, [ctypes.c_double]
    numbers = np.random.default_rng(1).uniform(*_PROBED[name], 500).tolist()
    return all(fn(x) == getattr(math, name)(x) for x in numbers)


OF_MATH = {getattr(math, name): of_floats(name) for name in C_FUNCTIONS if hasattr(math, name) and _is_cs(name)}
