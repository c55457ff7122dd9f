"""What a function reads besides its element: calls that read the same may use the same graph."""

from __future__ import annotations

import enum
import functools
import sys
import types
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import tensorflow as tf

from ..libraries import acting
from ..trace.draws import GENERATORS
from .code import ACTING, WRITES, Chain, facts_of, is_builtin
from .trace import NOTHING_LIFTED, Lifted

DEEPEST, MOST = 6, 2000
MOST_TOKENS = 6000
"""Steps of a snapshot above which looking at a Keras model takes longer than it is good for."""
POLICY = "_dtype_policy"
NO_SETTINGS = frozenset("build quantize train_function test_function predict_function stop_training".split())
"""Attributes of Keras objects that no result depends on."""
CONTAINERS = (list, dict, set, frozenset)
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype, tf.DType, enum.Enum, slice,
         range, tf.TensorShape)  # fmt: skip
TENSORFLOWS = frozenset(("tensorflow", "keras", "tf_keras"))
KERAS = frozenset(("keras", "tf_keras"))
FOREIGN = sys.stdlib_module_names | {"numpy", "scipy", "skimage", "cv2", "sklearn", "upshift"} | TENSORFLOWS


@dataclass
class Snapshot:
    """What a function stands on. Tensors in its own closure are not part of it: they are inputs."""

    tokens: list[Any] = field(default_factory=list)
    arrays: list[Any] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)
    """Objects that are known by their ids, which must not be given to others."""
    lifted: Lifted = NOTHING_LIFTED
    acts: str = ""
    decides: bool = False
    uses_tensorflow: bool = False
    """Whether it reads anything of TensorFlow's besides its element."""

    def agrees(self, other: Snapshot) -> bool:
        """Whether a graph made for one is right for the other."""
        return self.tokens == other.tokens and all(map(_same_array, self.arrays, other.arrays))

    def differs_from(self, other: Snapshot) -> str:
        """What has changed, in words."""
        for mine, theirs in zip(self.tokens, other.tokens, strict=False):
            if mine != theirs:
                return f"a captured value changed from {_shown(theirs)} to {_shown(mine)}"
        return "a captured array changed" if len(self.tokens) == len(other.tokens) else "it captures other things"

    def kept_for_good(self) -> Snapshot:
        """The same with arrays of its own, since the user may write into theirs."""
        return replace(self, arrays=[array.copy() for array in self.arrays])


def _shown(token: Any) -> str:
    plain = isinstance(token, tuple) and len(token) == 2 and isinstance(token[1], str)
    return token[1][:60] if plain else "another object"


def _same_array(a: Any, b: Any) -> bool:
    return bool(a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


def snapshot_of(fn: Any) -> Snapshot:
    """The snapshot of a function as it is now."""
    taker = _SnapshotTaker()
    taker.function(fn, 0, first=True) if isinstance(fn, types.FunctionType) else taker.add(fn, 0, ())
    return taker.snapshot


class _SnapshotTaker:
    def __init__(self) -> None:
        self.snapshot = Snapshot()
        self.seen: set[int] = set()

    def token(self, *token: Any) -> None:
        self.snapshot.tokens.append(token)

    def acts(self, reason: str) -> None:
        self.snapshot.acts = self.snapshot.acts or reason

    def same(self, value: Any) -> None:
        self.snapshot.kept.append(value)
        self.token("same", id(value))

    # ---- functions

    def function(self, f: types.FunctionType, depth: int, first: bool = False) -> None:
        self.snapshot.kept.append(f.__code__)
        self.token("code", id(f.__code__))
        if id(f) in self.seen:
            return
        self.seen.add(id(f))
        facts = facts_of(f.__code__)
        self.acts(facts.acts)
        self.snapshot.decides |= facts.decides
        cells = self._cells(f, depth, first)
        for value in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
            self.add(value, depth + 1, ())
        for chain in facts.chains:
            if chain.free:
                found = cells.get(chain.name, _UNFILLED)
            else:
                found = f.__globals__.get(chain.name, _UNFILLED)
                if found is _UNFILLED and chain.name in ACTING and is_builtin(chain.name):
                    self.acts(f"calls {chain.name}()")
            if found is not _UNFILLED:
                self.chain(found, chain, depth, facts.writes_items)

    def _cells(self, f: types.FunctionType, depth: int, first: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        lifted: list[int] = []
        for i, (name, cell) in enumerate(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)):
            try:
                found[name] = cell.cell_contents
            except ValueError:
                continue
            if first and isinstance(found[name], tf.Tensor) and hasattr(found[name], "_numpy"):
                lifted.append(i)
                tensor = found.pop(name)
                self.snapshot.uses_tensorflow = True
                self.token("tensor", tensor.dtype, tuple(tensor.shape))
        self.snapshot.lifted = Lifted(tuple(lifted)) if lifted else self.snapshot.lifted
        return found

    def chain(self, value: Any, chain: Chain, depth: int, writes_items: bool) -> None:
        """What a name stands for, and what is read from there as long as these are modules."""
        attributes = list(chain.attributes)
        while isinstance(value, types.ModuleType):
            reason = "" if value.__name__.split(".")[0] == "tensorflow" else acting(value.__name__)
            if reason:
                self.acts(reason)
            self.snapshot.uses_tensorflow |= value.__name__.split(".")[0] in TENSORFLOWS
            if not attributes:
                return
            value = getattr(value, attributes.pop(0), None)
        changes = isinstance(value, list | dict | set | np.ndarray) or hasattr(value, "write")
        if changes and (writes_items or WRITES.intersection(attributes)):
            self.acts("may change what it captured")
        self.add(value, depth + 1, tuple(attributes))

    # ---- values

    def add(self, value: Any, depth: int, attributes: tuple[str, ...]) -> None:
        if isinstance(value, GENERATORS):
            self.acts("draws random numbers from shared state")
        owner = value if isinstance(value, types.FunctionType | type) else type(value)
        self.snapshot.uses_tensorflow |= (owner.__module__ or "").split(".")[0] in TENSORFLOWS
        if isinstance(value, PLAIN):
            self.token(type(value), repr(value))
        elif isinstance(value, np.ndarray):
            self.snapshot.arrays.append(value)
            self.token("array", value.shape)
        elif isinstance(value, types.FunctionType):
            if value.__module__ is not None and value.__module__.split(".")[0] in FOREIGN:
                self.same(value)
            else:
                self.function(value, depth + 1)
        elif isinstance(value, types.MethodType):
            self.add(value.__func__, depth, ())
            self.add(value.__self__, depth, attributes)
        elif isinstance(value, functools.partial):
            self.add((value.func, value.args, value.keywords), depth, ())
        elif isinstance(value, tf.Tensor | tf.Variable | type | types.ModuleType) or depth > DEEPEST:
            self.same(value)
        elif isinstance(value, list | tuple | set | frozenset | dict):
            self._container(value, depth)
        else:
            self._object(value, depth, attributes)

    def _container(self, value: Any, depth: int) -> None:
        self.token(type(value), len(value))
        if len(value) > MOST:
            self.acts(f"reads a captured {type(value).__name__} of {len(value):,} items")
            return
        for item in value.items() if isinstance(value, dict) else value:
            self.add(item, depth + 1, ())

    def _object(self, value: Any, depth: int, attributes: tuple[str, ...]) -> None:
        self.same(value)
        if id(value) in self.seen:
            return
        self.seen.add(id(value))
        root = type(value).__module__.split(".")[0]
        if root in KERAS or hasattr(value, "_flatten_layers"):
            self._layers(value, depth)
        if root in FOREIGN:
            return
        for base in type(value).__mro__:
            if base.__module__.split(".")[0] in FOREIGN:
                continue
            for member in vars(base).values():
                if isinstance(member, types.FunctionType) and member.__name__ in ("__call__", "call", *attributes):
                    self.function(member, depth + 1)
        for name, held in getattr(value, "__dict__", {}).items():
            if not name.startswith("_"):
                self.token("attribute", name)
                self.add(held, depth + 1, ())

    def _layers(self, value: Any, depth: int) -> None:
        """What a layer, a model or an optimizer of Keras, and the layers in it, are set to."""
        for layer in layers_of(value):
            if layer is not value and not is_of_keras(layer):
                self.add(layer, depth, ())
                continue
            for name, held in settings_of(layer):
                self.token("setting", name)
                self.same(held) if name == POLICY or hasattr(held, "assign") else self.add(held, depth + 1, ())
        if len(self.snapshot.tokens) > MOST_TOKENS:
            self.acts("captures a model of very many layers")
        variables = getattr(value, "trainable_variables", ())
        self.token("variables", tuple(map(id, variables)) if isinstance(variables, list | tuple) else ())


def layers_of(value: Any) -> list[Any]:
    """A Keras object, and all layers in it."""
    found = list(value._flatten_layers()) if hasattr(value, "_flatten_layers") else [value]
    return [layer for layer in found if hasattr(layer, "__dict__")]


def is_of_keras(value: Any) -> bool:
    """Whether an object is of a class of Keras's own."""
    return type(value).__module__.partition(".")[0] in KERAS


def settings_of(layer: Any) -> list[tuple[str, Any]]:
    """The attributes of a Keras object which its computation may depend on, besides its layers."""
    return [(name, held) for name, held in layer.__dict__.items() if _is_setting(name, held)]


def _is_setting(name: str, held: Any) -> bool:
    if name == POLICY:
        return True
    if name in NO_SETTINGS or name.startswith(("_self_", "_call")):
        return False
    if isinstance(held, CONTAINERS):
        return not name.startswith("_")
    return isinstance(held, (*PLAIN, tuple, types.FunctionType, tf.Tensor, np.ndarray)) or hasattr(held, "assign")


_UNFILLED = object()
