"""A function and the kinds of one call's arguments in; machine code for such calls out, or why there is none."""

from __future__ import annotations

import ctypes
import inspect
import platform
import types as pytypes
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir as llvm_ir
from numba import from_dtype, njit
from numba.core import cgutils, errors, types

from ...trace.paths import Capture
from ..binder import binder_of
from ..calls import NUMBERS, PASSING, Argument, ArrayOf, Call, Fixed, Held, Result, class_of, parts_of
from ..ran import NotCompiled
from ..signatures import names_of
from . import flags
from .blocks import I64, leave, stand_in
from .build import BUILD, Build
from .classes import Classes, Helpers, Items, Sort, Typed, sort_of_type
from .floats import register_symbols
from .guards import Guards, chosen
from .inferred import is_wide
from .kept import kept
from .kernel import reason_of, type_of_capture
from .origins import Origins
from .pipeline import dispatcher_of
from .unit import Unit, text_of, unit_of, where_of


def compile_call(f: Any, arguments: Sequence[Argument], wanted: Result | None, free: bool) -> Call:
    """Machine code for calls with such arguments. `wanted`: what the plain function gave; `free`: other threads run."""
    unit = unit_of(_positional(f))
    fixed = {name: a.value for name, a in zip(unit.f.__code__.co_varnames, arguments, strict=False) if type(a) is Fixed}
    held = {name: a for name, a in zip(unit.f.__code__.co_varnames, arguments, strict=False) if type(a) is Held}
    build = Build({}, fixed=fixed, held=held)
    token = BUILD.set(build)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.NumbaWarning)
            return _compile(unit, build, arguments, wanted, free)
    except NotCompiled:
        raise
    except (MemoryError, RecursionError):
        raise NotCompiled("numba", "there was too little room to compile it", remedy=PASSING) from None
    except Exception as error:  # Numba's own, of many classes: every one is a reason to stay plain
        raise NotCompiled("numba", *reason_of(error, unit)) from error
    finally:
        BUILD.reset(token)


def _positional(f: Any) -> Any:
    """The same function with all arguments as ordinary ones, which is how it is called here."""
    code, count = f.__code__, len(names_of(f))
    if count == code.co_argcount:
        return f
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    code = code.replace(co_argcount=count, co_kwonlyargcount=0, co_flags=flags)
    made = pytypes.FunctionType(code, f.__globals__, f.__name__, None, f.__closure__)
    made.__module__, made.__qualname__ = f.__module__, f.__qualname__
    return made


def _compile(unit: Unit, build: Build, arguments: Sequence[Argument], wanted: Result | None, free: bool) -> Call:
    register()
    bound = tuple(replace(capture, id=-i) for i, capture in enumerate(unit.extra.values(), start=1))
    captured = tuple(map(type_of_capture, bound))
    own = tuple(_type_of(argument, "C") for argument in arguments)
    near_numpy = _is_near_numpy(arguments, unit)
    if near_numpy and not flags.are_known():
        raise NotCompiled("numba", "this machine does not tell when NumPy would warn")

    def make() -> tuple[Any, Any]:
        watch = _Watch(unit, (*map(_sort_of, arguments), *map(_sort_of_captured, bound)), wanted)
        build.watch = watch.look
        dispatcher = dispatcher_of(unit, build)
        dispatcher.targetoptions |= {"nogil": free, "no_cpython_wrapper": near_numpy}
        dispatcher.compile((*own, *captured))
        if near_numpy and build.loose:
            raise NotCompiled("numba", "NumPy's own power of an int and a float may differ in the last bit")
        if not near_numpy:  # nothing to look at before and after
            return dispatcher.overloads[*own, *captured], (watch.result, watch.written, watch.allocates)
        inner = kept_apart(dispatcher.overloads[*own, *captured])
        space = {"__name__": __name__, "inner": inner, "lent": lent, "packed": packed, "clear": clear, "check": check}
        exec(compile(_source(arguments, bound), "<upshift call>", "exec"), space)
        given = (*(_type_of(argument, "A") for argument in arguments), *captured)
        entry = njit([given], nogil=free, no_cfunc_wrapper=True)(space["entry"])
        return entry.overloads[given], (watch.result, watch.written, watch.allocates)

    made_from = [arguments, [capture.path for capture in bound], wanted, free, near_numpy]
    run, (result, written, allocates) = kept(f"call\n{text_of(unit)}\n{made_from}", make)
    standing = [*unit.built_in, *bound]  # the first is the function itself
    bind = binder_of(standing) if len(standing) > 1 else None
    return Call(run, bind, result, standing[1:], written, allocates)


class _Watch:
    """Looks at every function that is compiled on the way, and at the first one with all that it calls."""

    def __init__(self, unit: Unit, given: Sequence[Sort], wanted: Result | None) -> None:
        self.unit, self.given, self.wanted = unit, given, wanted
        self.helpers: Helpers = {}
        self.result: Any = None
        self.written: tuple[int, ...] = ()
        self.allocates = False

    def look(self, state: Any) -> None:
        f = state.func_id.func
        blocks = state.func_ir.blocks
        if f is not self.unit.f:
            blocks = {label: block.copy() for label, block in blocks.items()}
        typed = Typed(blocks, dict(state.typemap), dict(state.calltypes), list(state.func_ir.arg_names),
                      lambda line: where_of(f, line))  # fmt: skip
        if f is not self.unit.f:
            self.helpers[f, tuple(state.args)] = typed
            return
        returned = state.return_type
        if not _is_result(returned):
            raise NotCompiled("numba", f"returns a {returned}", where_of(f))
        origins = Origins(typed, self.helpers)
        if any(sort == "view" for sort, _ in origins.returned()):
            raise NotCompiled("numba", "returns a part of an array that it was given", where_of(f))
        written = origins.written()
        if any(not isinstance(state.args[i], types.Array) for i in written):
            raise NotCompiled("numba", "writes into an array inside a tuple", where_of(f))
        self.written = tuple(sorted(written))
        self.allocates = any(
            one.allocates() for one in (origins, *(Origins(h, self.helpers) for h in self.helpers.values()))
        )
        classes = Classes(typed, self.given, self.helpers)
        self.result = chosen(returned, classes.result(), self.wanted)
        if self.result is None:
            raise NotCompiled("numba", "the class of its result is not known", where_of(f))
        Guards(state, classes).insert(self.result)


def _is_result(t: Any) -> bool:
    if isinstance(t, types.BaseTuple) and not isinstance(t, types.BaseNamedTuple):
        return all(map(_is_result, t))
    return is_wide(t) or isinstance(t, types.NoneType) or (isinstance(t, types.Array) and is_wide(t.dtype))


def _type_of(argument: Argument, layout: str) -> Any:
    """The type of an argument. Arrays without gaps are such to the function, which is told after a look at them."""
    if isinstance(argument, ArrayOf):
        number = from_dtype(argument.dtype)
        return types.Array(number, argument.ndim, layout if argument.contiguous else "A")
    inside = parts_of(argument)
    if isinstance(argument, tuple) and any(isinstance(part, Held) for part in argument):
        raise NotCompiled("numba", "is given a dict or an object inside a tuple")
    if inside is not None:
        return types.BaseTuple.from_types([_type_of(part, "A") for part in inside])
    if argument is type(None) or isinstance(argument, Fixed):
        return types.none
    if argument in NUMBERS:
        return from_dtype(np.dtype(argument))
    raise NotCompiled("numba", f"is given a {argument}")


def _sort_of(argument: Argument) -> Sort:
    inside = parts_of(argument)
    if inside is not None:
        return tuple(map(_sort_of, inside))
    if isinstance(argument, ArrayOf):
        return sort_of_type(_type_of(argument, "A"))
    return frozenset((NUMBERS.index(argument),)) if argument in NUMBERS else None


def _sort_of_captured(capture: Any) -> Sort:
    if capture.mode == "array":
        return sort_of_type(type_of_capture(capture))
    return frozenset((NUMBERS.index(class_of(capture.expected)),))


def _is_near_numpy(arguments: Sequence[Argument], unit: Unit) -> bool:
    """Whether NumPy's numbers are in play, which warn where Python's do not."""
    sorts = [*map(_sort_of, arguments), *map(_sort_of_captured, unit.extra.values())]
    if any(map(_has_numpy, sorts)):
        return True
    return any(_is_numpys(taken.expected) for taken in unit.built_in)


def _is_numpys(value: Any) -> bool:
    return value is np or isinstance(value, np.ufunc) or str(getattr(value, "__module__", "")).startswith("numpy")


def _has_numpy(sort: Sort) -> bool:
    if isinstance(sort, tuple):
        return any(map(_has_numpy, sort))
    return isinstance(sort, Items) or (sort is not None and max(sort) >= 4)


def _source(arguments: Sequence[Argument], captured: Sequence[Capture]) -> str:
    """The call, between a look at the arrays and one at the processor's flags."""
    names = [f"a{i}" for i in range(len(arguments))]
    taken = [f"k{i}" for i in range(len(captured))]
    arrays = [name for name, capture in zip(taken, captured, strict=True) if capture.mode == "array"]
    given = [
        f"packed({name})" if isinstance(argument, ArrayOf) and argument.contiguous else name
        for name, argument in zip(names, arguments, strict=True)
    ]
    lines = [
        f"def entry({', '.join([*names, *taken])}):",
        *(f"    {name} = {_lent(name, argument)}" for name, argument in zip(names, arguments, strict=True)),
        *(f"    {name} = lent({name})" for name in arrays),
        "    clear()",
        f"    made = inner({', '.join([*given, *taken])})",
        "    check()",
        "    return made",
    ]
    return "\n".join(lines)


def _lent(name: str, argument: Argument) -> str:
    inside = parts_of(argument)
    if inside is not None:
        return f"({''.join(_lent(f'{name}[{i}]', part) + ', ' for i, part in enumerate(inside))})"
    return f"lent({name})" if isinstance(argument, ArrayOf) else name


# ---- intrinsics


def _lent_array(typing: Any, array: Any) -> Any:
    """The same array, whose references are not counted: the caller holds it, and Numba forgets some where it raises."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        parts = context.make_array(array)(context, builder, values[0])
        parts.meminfo = cgutils.get_null_value(parts.meminfo.type)
        return parts._getvalue()

    return array(array), generate


def kept_apart(made: Any) -> Any:
    """A call that is not inlined: else its arithmetic might be moved past the look at the flags that it raises."""

    def check(typing: Any, *args: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            context.active_code_library.add_linking_library(made.library)
            fn = context.declare_function(builder.module, made.fndesc)
            returned, given = made.signature.return_type, made.signature.args
            status, value = context.call_conv.call_function(builder, fn, returned, given, values, ("noinline",))
            with builder.if_then(status.is_error, likely=False):
                context.call_conv.return_status_propagate(builder, status)
            return value

        return made.signature.return_type(*args), generate

    count = len(made.signature.args)
    names = ", ".join(f"a{i}" for i in range(count))
    return stand_in(eval(f"lambda typing{', ' if names else ''}{names}: check(typing, {names})", {"check": check}))


def _packed(typing: Any, array: Any) -> Any:
    """The same array, known to lie without gaps."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        parts = context.make_array(array)(context, builder, values[0])
        shape, strides = (cgutils.unpack_tuple(builder, part) for part in (parts.shape, parts.strides))
        step: Any = llvm_ir.Constant(I64, context.get_abi_sizeof(context.get_data_type(array.dtype)))
        for length, stride in zip(reversed(shape), reversed(strides), strict=True):
            gap = builder.icmp_signed("!=", stride, step)
            leave(context, builder, builder.and_(gap, builder.icmp_signed(">", length, llvm_ir.Constant(I64, 1))))
            step = builder.mul(step, length)
        return values[0]

    return array.copy(layout="C")(array), generate


def _clear(typing: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        if _HAS_WORD:
            word = _word(builder)
            builder.store(builder.and_(builder.load(word), llvm_ir.Constant(_NUMBER, ~0x3F & 0xFFFFFFFF)), word)
            _by_word(builder, "ldmxcsr", word)
        else:
            _by_c(builder, "upshift_feclearexcept", 31)
        return context.get_dummy_value()

    return types.none(), generate


def _check(typing: Any) -> Any:
    """NumPy would have warned, perhaps: it is the plain function's to say so."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        mask = flags.all_of_them()
        if _HAS_WORD:
            raised = builder.and_(builder.load(_word(builder)), llvm_ir.Constant(_NUMBER, mask))
        else:
            raised = _by_c(builder, "upshift_fetestexcept", mask)
        leave(context, builder, builder.icmp_signed("!=", raised, llvm_ir.Constant(_NUMBER, 0)))
        return context.get_dummy_value()

    return types.none(), generate


_NUMBER = llvm_ir.IntType(32)
_HAS_WORD = platform.machine() in ("x86_64", "AMD64")
"""Whether the flags are a word that one instruction reads, which is much faster than asking C."""


def _word(builder: Any) -> Any:
    """Where the processor's word of flags was put."""
    word = cgutils.alloca_once(builder, _NUMBER)
    _by_word(builder, "stmxcsr", word)
    return word


def _by_word(builder: Any, name: str, word: Any) -> None:
    pointer = llvm_ir.IntType(8).as_pointer()
    kind = llvm_ir.FunctionType(llvm_ir.VoidType(), [pointer])
    fn = cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.sse.{name}")
    builder.call(fn, [builder.bitcast(word, pointer)])


def _by_c(builder: Any, name: str, mask: int) -> Any:
    fn = cgutils.get_or_insert_function(builder.module, llvm_ir.FunctionType(_NUMBER, [_NUMBER]), name)
    return builder.call(fn, [llvm_ir.Constant(_NUMBER, mask)])


lent, packed, clear, check = stand_in(_lent_array), stand_in(_packed), stand_in(_clear), stand_in(_check)


def register() -> None:
    """Name C's functions for LLVM, in every process."""
    register_symbols()
    library = ctypes.CDLL(None)
    for name in ("feclearexcept", "fetestexcept"):
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(f"upshift_{name}", address)
