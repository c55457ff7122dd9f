"""A function of `math` in; a stand-in out, which compiled loops run on many lanes at once.

LLVM does arithmetic on four to sixteen lanes at once, but calls `sin` for one lane after the other: nobody tells it of
a vector `sin`. On Linux glibc has one; libmvec's `_ZGVeN8v_sin` takes eight float64. A stand-in of MATHS is a small
function in the compiled module that calls C's, and whose attribute "vector-function-abi-variant" names its vector
forms. LLVM's loop vectoriser does the rest, in branches as well, since the small function is pure. LLVM does not know
it by its name, so it neither merges `sin` and `cos` into one call nor rewrites `pow`. Calls by any other name, those of
the user's compiled functions among them, are not touched. Numba's entry points and its cache are the ordinary ones.

A vector function is within ULP units in the last place of the true result; NaN, infinities and the signs of zeros are
C's. Lanes that do not fill a register go through C's scalar function, so that a number may have other last bits at
another place: none of this is for exact=True. Without libmvec or AVX2 a stand-in is what Numba makes of the function
itself.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

ULP = 4
"""How far a result may be from the true one, in units in the last place: what glibc states for libmvec."""

_UNARY = (
    *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan),
    *(math.sinh, math.cosh, math.tanh, math.asinh, math.acosh, math.atanh),
    *(math.exp, np.exp2, math.expm1, math.log, math.log2, math.log10, math.log1p, np.cbrt, math.erf, math.erfc),
)
_BINARY = (math.pow, math.atan2, math.hypot)
_ARITY: dict[Any, int] = dict.fromkeys(_UNARY, 1) | dict.fromkeys(_BINARY, 2)
"""What libmvec may have, in a spelling that Numba compiles and that has C's name."""


@dataclass(frozen=True)
class Register:
    """A vector register: its letter in the names of vector functions, its size, the feature of CPUs that have it."""

    letter: str
    bits: int
    feature: str

    def variant(self, name: str, arity: int, bits: int) -> str:
        """C's `name` for as many floats of so many bits as fill the register."""
        return f"_ZGV{self.letter}N{self.bits // bits}{'v' * arity}_{name}"


_REGISTERS = (Register("b", 128, "+sse4.1"), Register("d", 256, "+avx2"), Register("e", 512, "+avx512f"))


def _load() -> bool:
    try:
        llvm.load_library_permanently("libmvec.so.1")
    except RuntimeError:
        return False
    return True


# At once, because machine code from Numba's cache must find the library there.
_LOADED = _load()


def available() -> bool:
    """Whether MATHS has vector functions here: Linux on x86-64 with libmvec, and AVX2."""
    return bool(_registers())


@cache
def _registers() -> tuple[Register, ...]:
    """The registers that machine code may use, the widest last; none without AVX2."""
    # What Numba compiles for, rather than what the CPU has: the user may have switched AVX off.
    triple, _, features = cpu_target.target_context.codegen().magic_tuple()
    usable = tuple(r for r in _REGISTERS if r.feature in features.split(","))
    known = triple.startswith("x86_64") and "linux" in triple and len(usable) > 1
    return usable if _LOADED and known else ()


def functions(bits: int = 64) -> frozenset[str]:
    """The names of MATHS that have vector functions here, for floats of 64 or 32 bits."""
    return _found(bits) if available() else frozenset()


@cache
def _found(bits: int) -> frozenset[str]:
    def has(name: str, arity: int) -> bool:
        return all(llvm.address_of_symbol(r.variant(_in_c(name, bits), arity, bits)) for r in _registers())

    return frozenset(fn.__name__ for fn, arity in _ARITY.items() if has(fn.__name__, arity))


def cache_key() -> str:
    """What machine code made with MATHS hangs on besides its source and the CPU: the functions that libmvec has here.

    Numba does not look at it, and a process that loads code whose functions are missing ends: it must be part of the
    name under which code is cached. Empty without vector functions.
    """
    names = [_in_c(name, bits) for bits in (64, 32) for name in sorted(functions(bits))]
    return hashlib.sha256(" ".join(names).encode()).hexdigest()[:16] if names else ""


def _in_c(name: str, bits: int) -> str:
    return name if bits == 64 else f"{name}f"


def _stand_in(fn: Any, arity: int) -> Any:
    """A function that Numba compiles: float32 for float32 alone, else float64 for numbers that are made float64."""
    name: str = fn.__name__

    def check(*args: Any) -> Any:
        if not all(isinstance(arg, types.Float | types.Integer | types.Boolean) for arg in args):
            return None
        number = types.float32 if all(arg == types.float32 for arg in args) else types.float64
        bits: int = number.bitwidth

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            if name not in functions(bits):
                return context.get_function(fn, signature)(builder, values)
            _prefer_widest(builder.function)
            return builder.call(_define(builder.module, name, arity, bits), values)

        return number(*[number] * arity), generate

    def unary(typing: Any, x: Any) -> Any:
        return check(x)

    def binary(typing: Any, x: Any, y: Any) -> Any:
        return check(x, y)

    chosen = unary if arity == 1 else binary
    # The name that Numba's messages give.
    chosen.__name__ = name
    return intrinsic(chosen)


MATHS: dict[str, Any] = {fn.__name__: _stand_in(fn, arity) for fn, arity in _ARITY.items()}
"""C's name of a function -> its stand-in, to be a global of a function that Numba compiles."""


def _prefer_widest(fn: Any) -> None:
    """For some CPUs LLVM prefers half of the widest registers, which suits plain arithmetic but not these calls."""
    fn.attributes.update([f'"prefer-vector-width"="{_registers()[-1].bits}"'])


def _define(module: Any, name: str, arity: int, bits: int) -> Any:
    """The small function that calls C's `name`, and says which vector functions do the same."""
    name = _in_c(name, bits)
    own = f"upshift_vector_{name}"
    if own in module.globals:
        return module.globals[own]
    number = ir.DoubleType() if bits == 64 else ir.FloatType()
    fn = _define_scalar(module, own, name, ir.FunctionType(number, [number] * arity))
    mappings = []
    for register in _registers():
        lanes = ir.VectorType(number, register.bits // bits)
        variant = register.variant(name, arity, bits)
        _keep(module, cgutils.get_or_insert_function(module, ir.FunctionType(lanes, [lanes] * arity), variant))
        mappings.append(f"_ZGV_LLVM_N{lanes.count}{'v' * arity}_{own}({variant})")
    fn.attributes.update([f'"vector-function-abi-variant"="{",".join(mappings)}"'])
    return fn


def _define_scalar(module: Any, own: str, name: str, kind: Any) -> Any:
    fn = ir.Function(module, kind, own)
    # Modules that are linked together share it; its name, which the mappings quote, must stay what it is.
    fn.linkage = "linkonce_odr"
    # By `update`, since llvmlite's `add` refuses attributes that it has not heard of. "speculatable" is for branches.
    fn.attributes.update(["noinline", "nounwind", "readnone", "speculatable", "willreturn"])
    builder = ir.IRBuilder(fn.append_basic_block())
    builder.ret(builder.call(cgutils.get_or_insert_function(module, kind, name), fn.args))
    return fn


def _keep(module: Any, fn: Any) -> None:
    """Keep a declaration that nothing calls until loops are vectorised."""
    name, pointer = "llvm.compiler.used", ir.IntType(8).as_pointer()
    kept = module.globals.get(name) or ir.GlobalVariable(module, ir.ArrayType(pointer, 0), name)
    listed = [*(kept.initializer.constant if kept.initializer else ()), fn.bitcast(pointer)]
    kept.value_type = ir.ArrayType(pointer, len(listed))
    kept.type = kept.value_type.as_pointer()
    kept.linkage, kept.section = "appending", "llvm.metadata"
    kept.initializer = ir.Constant(kept.value_type, listed)
