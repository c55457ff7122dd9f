"""Checks by a few look-ups whether all that a known function captured is the very same still."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import tensorflow as tf

from .captured import CONTAINERS, FOREIGN, PLAIN, Snapshot, is_of_keras, layers_of, settings_of
from .code import facts_of
from .results import EAGER

_ABSENT = object()
DEEPEST = 3
"""How far functions that call functions are looked into."""


class Glance:
    """What a plain function captured, where it is enough to see that it is the same object."""

    __slots__ = ("cells", "code", "inner", "layers", "names", "settings")

    def __init__(
        self,
        code: types.CodeType,
        names: list[tuple[str, Any]],
        cells: list[Any],
        inner: list[tuple[types.FunctionType, Glance]],
        settings: list[tuple[dict[str, Any], list[tuple[str, Any]]]],
    ) -> None:
        self.code, self.names, self.cells, self.inner = code, names, cells, inner
        self.settings = settings
        """Attributes of Keras objects, and what they were."""
        held = [content for _, before in settings for _, content in before if isinstance(content, CONTAINERS)]
        held += [attributes["_layers"] for attributes, _ in settings if "_layers" in attributes]
        self.layers = [(content, content.copy()) for content in held]

    def holds(self, fn: Any, lifts: bool = True) -> bool:
        """Whether a graph that was made for one is right for the other. `lifts`: tensors in the closure are inputs of
        that graph, so that any of the same kind will do; those of functions that it calls are not."""
        known = fn.__globals__
        for name, value in self.names:
            if known.get(name, _ABSENT) is not value:
                return False
        if self.cells:
            for cell, value in zip(fn.__closure__, self.cells, strict=True):
                content = cell.cell_contents
                if content is not value and not (lifts and _is_like(content, value)):
                    return False
        for held, before in self.settings:
            for name, value in before:
                if held.get(name, _ABSENT) is not value:
                    return False
        for layers, listed in self.layers:
            if layers != listed:
                return False
        for other, glance in self.inner:
            if other.__code__ is not glance.code or not glance.holds(other, lifts=False):
                return False
        return fn.__defaults__ is None and fn.__kwdefaults__ is None


def _is_like(content: Any, value: Any) -> bool:
    """Whether both are tensors of one kind."""
    return (
        type(value) is EAGER
        and type(content) is EAGER
        and value.dtype is content.dtype
        and value.shape == content.shape
    )


def glance_of(fn: Any, snapshot: Snapshot, depth: int = 0) -> Glance | None:
    """None where something that it captured may change and still be the same object."""
    if depth > DEEPEST or type(fn) is not types.FunctionType or fn.__defaults__ or fn.__kwdefaults__ or snapshot.acts:
        return None
    cells = [cell.cell_contents for cell in fn.__closure__ or ()]
    names = [chain.name for chain in facts_of(fn.__code__).chains if not chain.free]
    found = [(name, fn.__globals__.get(name, _ABSENT)) for name in dict.fromkeys(names)]
    inner, settings = [], []
    for value in (*cells, *(value for _, value in found)):
        if _is_fixed(value):
            continue
        functions = [value]
        if is_of_keras(value) and not isinstance(value, type | types.FunctionType):
            layers = layers_of(value)
            held = [setting for layer in layers for setting in settings_of(layer)]
            if not all(map(is_of_keras, layers)) or not all(_is_plain(one) for _, one in held):
                return None
            settings += [(layer.__dict__, settings_of(layer)) for layer in layers]
            functions = [one for _, one in held if isinstance(one, types.FunctionType) and not _is_fixed(one)]
        for function in functions:
            glance = glance_of(function, snapshot, depth + 1)
            if glance is None:
                return None
            inner.append((function, glance))
    return Glance(fn.__code__, found, cells, inner, settings)


def _is_plain(held: Any) -> bool:
    """Whether a setting of a Keras object changes only if it is another object, or holds other ones."""
    if isinstance(held, dict):
        return all(isinstance(item, PLAIN) for item in (*held, *held.values()))
    if isinstance(held, tuple):
        return all(map(_is_plain, held))
    if isinstance(held, CONTAINERS):
        return all(isinstance(item, PLAIN) for item in held)
    return not isinstance(held, np.ndarray)


def _is_fixed(value: Any) -> bool:
    if value is _ABSENT or isinstance(value, (*PLAIN, tf.Variable)) or type(value) is EAGER:
        return True
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in FOREIGN
    foreign = (getattr(value, "__module__", None) or "").partition(".")[0] in FOREIGN
    return foreign and isinstance(value, types.FunctionType | type)
