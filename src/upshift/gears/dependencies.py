"""A function's dependencies: everything it reads by name, each of which must be unchanged before a later call."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..trace.paths import Capture, Path, is_fixed, plain_of
from .ran import NotCompiled
from .signatures import place_of

FOREIGN = sys.stdlib_module_names | {"numpy", "scipy", "jax", "jaxlib", "tensorflow", "flax", "optax", "equinox"}
"""Packages whose functions are taken to be what they were."""
_OBJECTS = (types.ModuleType, types.BuiltinFunctionType, np.ufunc, type)
MOST = 64


def dependencies_of(gear: str, f: types.FunctionType, is_value: Callable[[Any], bool]) -> list[Capture]:
    """What a function stands on, itself first; `NotCompiled` where something may change unseen.

    `is_value`: whether an object can never change.
    """
    found: list[Capture] = []
    pending: list[tuple[Path, Any]] = [((("f", None),), f)]
    while pending:
        path, value = pending.pop()
        if len(found) > MOST:
            raise NotCompiled(gear, f"captures more than {MOST} things", place_of(f))
        if type(value) is not types.FunctionType or _is_foreign(value):
            if not (isinstance(value, _OBJECTS) or is_fixed(value) or is_value(value) or _is_foreign(value)):
                reason = f"captures a {type(value).__name__} ({path[-1][1]}), which may change"
                raise NotCompiled(gear, reason, place_of(f), "give it as an argument")
            found.append(Capture(path, "same", value))
            continue
        plain = plain_of(value)
        if plain is not value:
            found.append(Capture(path, "same", value))
            path = (*path, ("attr", "__wrapped__"))
        if any(one.expected is plain.__code__ for one in found):
            found.append(Capture(path, "same", plain))
            continue
        found.append(Capture(path, "code", plain.__code__))
        pending += _reads_of(path, plain)
    return found


def _is_foreign(value: Any) -> bool:
    module = getattr(value, "__module__", None)
    return type(module) is str and module.partition(".")[0] in FOREIGN


def _reads_of(path: Path, f: types.FunctionType) -> Iterator[tuple[Path, Any]]:
    """The names in its code, its closure and its defaults."""
    for name in names_within(f.__code__):
        if name in f.__globals__:
            yield (*path, ("global", name)), f.__globals__[name]
        elif hasattr(builtins, name):
            yield (*path, ("global?", name)), getattr(builtins, name)
    for i, cell in enumerate(f.__closure__ or ()):
        try:
            yield (*path, ("cell", i)), cell.cell_contents
        except ValueError:
            continue


def names_within(code: types.CodeType) -> set[str]:
    """The names in a function's code, and in that of functions within it."""
    inner = [names_within(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*inner)
