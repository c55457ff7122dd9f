"""Whole functions of JAX arrays, for `up.function`: one XLA program for all calls with these kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from ...columns.forms import LEAF, flatten
from ..calls import Argument, CompiledFunction, Fixed, Foreign, leaves_of, parts_of, together
from ..capture_reader import capture_reader_of
from ..dependencies import dependencies_of
from ..ran import NotCompiled
from ..signatures import call_with, place_of


def compile_call(f: Any, arguments: Sequence[Argument]) -> CompiledFunction:
    """One program for arrays of these very shapes. Python's numbers are inputs: JAX gives them Python's weak dtypes."""
    dependencies = dependencies_of(
        "jax", f, lambda value: isinstance(value, jax.Array) or type(value) is type(jax.jit(abs))
    )
    bind = capture_reader_of(dependencies)
    program = _Program(f, arguments)
    program.trace()
    return CompiledFunction(
        program.run(), bind, object, dependencies[1:], None, False, "jax", exact=False, free=_is_free
    )


def _is_free() -> bool:
    return not jax.config.jax_disable_jit


class _Program:
    """The function as JAX traces it, and how calls go to it."""

    def __init__(self, f: Any, arguments: Sequence[Argument]) -> None:
        self.f, self.arguments = f, arguments
        self.form = LEAF
        self.given: list[int | None] = []
        """Which input a result is; None for one that was computed."""

    def trace(self) -> None:
        """Run the function on stand-ins of JAX's, once, to see that it can be."""
        kinds = [_shape(leaf) for leaf in leaves_of(self.arguments) if _is_input(leaf)]
        try:
            jax.eval_shape(self._over, *kinds)
        except NotCompiled:
            raise
        except Exception as error:  # of JAX or of the function: what it does is for the plain function to say
            text = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
            raise NotCompiled("jax", f"JAX does not take it: {text}", place_of(self.f)) from error

    def _over(self, *inputs: Any) -> list[Any]:
        leaves = iter(inputs)
        made = call_with(self.f, self.f.__code__, [together(argument, leaves) for argument in self.arguments])
        self.form, results = flatten(made)
        self.given = [next((i for i, one in enumerate(inputs) if one is result), None) for result in results]
        for result in results:
            if not isinstance(result, jax.core.Tracer):
                raise NotCompiled("jax", f"returns a {type(result).__name__} that is not computed from its arrays")
        return [result for result, at in zip(results, self.given, strict=True) if at is None]

    def run(self) -> Callable[..., Any]:
        given, form = self.given, self.form
        arguments, width = self.arguments, len(self.arguments)
        simple = all(isinstance(argument, Foreign) for argument in arguments)
        if simple and form == LEAF and given == [None]:
            program: Callable[..., Any] = jax.jit(lambda *inputs: self._over(*inputs)[0])
            return program
        compiled = jax.jit(self._over)

        def run(*values: Any) -> Any:
            inputs = values if simple else _inputs(arguments, values[:width])
            rest = iter(compiled(*inputs))
            return form.build(iter([next(rest) if at is None else inputs[at] for at in given]))

        return run


def _is_input(leaf: Any) -> bool:
    if isinstance(leaf, Foreign) or leaf in (int, float, complex):
        return True
    if isinstance(leaf, Fixed) or leaf is type(None):
        return False
    raise NotCompiled("jax", f"is given a {getattr(leaf, '__name__', leaf)} beside JAX's arrays")


def _shape(leaf: Any) -> Any:
    if isinstance(leaf, Foreign):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=leaf.weak)
    return jax.ShapeDtypeStruct((), jax.dtypes.canonicalize_dtype(leaf), weak_type=True)


def _inputs(arguments: Sequence[Argument], values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for argument, value in zip(arguments, values, strict=True):
        inside = parts_of(argument)
        if inside is not None:
            found += _inputs(inside, value)
        elif not isinstance(argument, Fixed) and value is not None:
            found.append(value)
    return found
