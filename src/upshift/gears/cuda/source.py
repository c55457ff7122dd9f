"""The user's function, or a tree without branches, in; what Numba makes of one lane, before it is machine code, out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from llvmlite import ir
from numba import from_dtype, njit
from numba.core import cgutils, compiler, errors, types
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from ...columns.forms import Form
from ...columns.kinds import Kind
from ...emit.select import Select
from ...emit.select_rows import MATHS, NUMBERS
from ...trace.paths import Capture
from ..numba.blocks import Refused
from ..numba.build import BUILD, Build
from ..numba.floats import register_symbols
from ..numba.pipeline import dispatcher_of
from ..numba.signature import defaults_of, form_of, is_near_numpy, kinds_of, reason_of, type_of, type_of_capture
from ..numba.unit import Unit, unit_of
from ..ran import NotCompiled
from .flat import OF_C, Compiled, Shared


@dataclass(frozen=True, slots=True)
class Source:
    """One lane of the user's function."""

    made: Compiled
    unit: Unit
    bound: tuple[Capture, ...]
    """Arguments that are not elements: shared keywords, defaults and what was captured, in order."""
    form: Form
    outs: tuple[Kind, ...]
    mixed: bool
    near_numpy: bool
    """Whether NumPy's numbers are in play, which warn where Python's do not."""

    @property
    def shared(self) -> list[Shared]:
        return [Shared(*c.expected) if c.mode == "array" else Shared(c.expected.dtype) for c in self.bound]


def source_of(f: Any, kinds: Sequence[Kind], shared: dict[str, Any]) -> Source:
    """What Numba makes of a function, with Python's meaning, or `NotCompiled`."""
    try:
        unit = unit_of(f)
        return _source_of(unit, kinds, shared)
    except NotCompiled as reason:
        raise renamed(reason) from None


def renamed(reason: NotCompiled) -> NotCompiled:
    """The numba gear's reason as this gear's."""
    refusal = reason.refusal
    return NotCompiled("cuda", refusal.reason, refusal.where, refusal.remedy)


def _source_of(unit: Unit, kinds: Sequence[Kind], shared: dict[str, Any]) -> Source:
    register_symbols()  # helpers are compiled for this machine as well
    build = Build({})
    token = BUILD.set(build)
    try:
        found = (*defaults_of(unit, len(kinds), shared), *unit.extra.values())
        bound = tuple(replace(capture, id=-i) for i, capture in enumerate(found, start=1))
        arguments = [*map(type_of, kinds), *map(type_of_capture, bound)]
        made = _lowered(dispatcher_of(unit, build), arguments)
        form, results = form_of(made.signature.return_type, unit)
        if any(isinstance(result, types.Array) for result in results):
            raise NotCompiled("cuda", "it returns arrays, for which a thread of a GPU has no memory")
        outs = tuple(kinds_of(results))
        if any(kind.shape is not None for kind in outs):
            raise NotCompiled("cuda", "returns arrays, whose shapes are not known")
        if not outs:
            raise NotCompiled("cuda", "it returns nothing")
        return Source(made, unit, bound, form, outs, build.mixed, is_near_numpy(kinds, bound, unit))
    except NotCompiled:
        raise
    except Exception as error:  # Numba's own, of many classes: every one is a reason to stay plain
        raise NotCompiled("cuda", *reason_of(error, unit)) from error
    finally:
        BUILD.reset(token)


def _lowered(dispatcher: Any, arguments: Sequence[Any]) -> Compiled:
    """A function in LLVM's words; the helpers that it calls are compiled for this machine as well."""
    target = dispatcher.targetdescr
    flags = compiler.Flags()
    target.options.parse_as_flags(flags, dispatcher.targetoptions)
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    with warnings.catch_warnings(), global_compiler_lock:
        warnings.simplefilter("ignore", errors.NumbaWarning)
        target.typing_context.refresh()
        target.target_context.refresh()
        made = compiler.compile_extra(
            target.typing_context, target.target_context, dispatcher.py_func, tuple(arguments), None, flags, {},
            pipeline_class=dispatcher._compiler.pipeline_class,
        )  # fmt: skip
    return Compiled(made.library, made.fndesc, made.signature)


# ---- a tree in select form


def lane_of(select: Select, kinds: Sequence[Kind]) -> Compiled:
    """One lane of a tree without branches. Its last result says that the lane is left."""
    if any("exact_" in line for line in select.lines):
        raise NotCompiled("cuda", "a decision hangs on the last bits of a function, which GPUs have otherwise")
    space = {
        **{f"{dtype.name}_": dtype.type for dtype in NUMBERS},
        **{f"vector_{name}": _device_function(name) for name in {*MATHS.values(), "pow"}},
        **{name: _device_function(name, of_llvm=True) for name in ("sqrt", "floor", "ceil", "trunc")},
        "isinf": math.isinf, "isfinite": math.isfinite, **select.constants,
    }  # fmt: skip
    given = [f"v{i}" for i in range(len(kinds))] + select.uniform
    lines = [*select.lines, f"return {', '.join(select.results)}, odd"]
    source = "\n    ".join([f"def lane({', '.join(given)}):", *lines])
    exec(compile(source, "<upshift lane>", "exec"), space)
    arguments = [from_dtype(kind.dtype) for kind in (*kinds, *select.uniform_kinds)]
    return replace(_lowered(njit(error_model="numpy")(space["lane"]), arguments), marks=True)


def _device_function(name: str, of_llvm: bool = False) -> Any:
    """A function of floats that the GPU has its own of, by its name in C or LLVM: float32 for float32 alone."""

    def check(*args: Any) -> Any:
        if not all(isinstance(arg, types.Float | types.Integer | types.Boolean) for arg in args):
            raise Refused(f"{name} of {', '.join(map(str, args))} is not compiled")
        single = all(arg == types.float32 for arg in args)
        number = types.float32 if single else types.float64

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            kind = context.get_value_type(number)
            if of_llvm:
                return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [kind]), values)
            own = f"{OF_C}{name}{'f' if single else ''}"
            fn = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * len(args)), own)
            for attribute in ("nounwind", "readnone"):
                fn.attributes.add(attribute)
            return builder.call(fn, values)

        return number(*[number] * len(args)), generate

    if name in ("atan2", "hypot", "pow"):
        return intrinsic(lambda typing, x, y: check(x, y))
    return intrinsic(lambda typing, x: check(x))
