"""A function in; the same function for Numba to call, compiled with Python's meaning by passes of ours, out."""

from __future__ import annotations

import inspect
from typing import Any

from numba import njit
from numba.core import ir, utils
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonTypeInference
from numba.core.untyped_passes import InlineClosureLikes, TranslateByteCode

from .build import BUILD, Build, OwnPass
from .inferred import look_at
from .rewriting import Rewriting
from .unit import Unit
from .unset import FlagUnset


def dispatcher_of(unit: Unit, build: Build) -> Any:
    """The function as Numba calls it: its own arguments, then what it captured."""
    if id(unit) not in build.dispatchers:
        build.units[unit.f] = unit
        made = njit(
            pipeline_class=Pipeline, boundscheck=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
        )(unit.f)
        own = utils.pysignature(unit.f)
        default = None if unit.f.__defaults__ else inspect.Parameter.empty
        extra = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default) for n in unit.extra]
        made._compiler.pysig = own.replace(parameters=[*own.parameters.values(), *extra])
        build.dispatchers[id(unit)] = made
    return build.dispatchers[id(unit)]


@register_pass(mutates_CFG=False, analysis_only=False)
class TakeArguments(OwnPass):
    """What the function captured becomes arguments behind its own."""

    _name = "upshift_take_arguments"

    def run_pass(self, state: Any) -> bool:
        func_ir, unit = state.func_ir, BUILD.get().units[state.func_id.func]
        first = func_ir.blocks[min(func_ir.blocks)]
        head = []
        for index, name in enumerate(unit.extra, start=func_ir.arg_count):
            value = ir.Arg(name, index, first.loc)
            head.append(ir.Assign(value, first.scope.define(name, first.loc), first.loc))
            func_ir._definitions[name] = [value]
        first.body = head + first.body
        func_ir.arg_count += len(head)
        func_ir.arg_names = [*func_ir.arg_names, *unit.extra]
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class Mean(OwnPass):
    """Operators, functions and captured names are replaced by what means the same to Python."""

    _name = "upshift_mean_as_python"

    def run_pass(self, state: Any) -> bool:
        build = BUILD.get()
        unit = build.units[state.func_id.func]
        Rewriting(state.func_ir, unit, build, dispatcher_of).run()
        return True


@register_pass(mutates_CFG=False, analysis_only=True)
class LookAtTypes(OwnPass):
    """Only types whose arithmetic is Python's and NumPy's pass; where an int and a float meet is noted."""

    _name = "upshift_look_at_types"

    def run_pass(self, state: Any) -> bool:
        build = BUILD.get()
        for block in state.func_ir.blocks.values():
            for statement in block.body:
                if isinstance(statement, ir.Assign):
                    look_at(state, statement, build)
        return False


class Pipeline(CompilerBase):  # type: ignore[misc]
    """Numba's own, with our passes."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(TakeArguments, TranslateByteCode)
        passes.add_pass_after(Mean, InlineClosureLikes)
        passes.add_pass_after(FlagUnset, Mean)
        passes.add_pass_after(LookAtTypes, NopythonTypeInference)
        passes.finalize()
        return [passes]
