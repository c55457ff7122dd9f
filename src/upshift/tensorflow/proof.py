"""Finds all paths of a NumPy function, whatever its numbers are, or the reason why they are unknown."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ..columns.inputs import copied, elements_of, lanes_of
from ..errors import Untraceable
from ..gears.draws import Drawn
from ..trace.grow import grow
from ..trace.paths import Roots
from ..trace.tree import Guard, Leaf, Node, Step, Tree
from .examples import examples, tries
from .value import DTYPES, NotNative

LENGTHS = (3, 5)
"""Of axes whose length is not known, while a function is traced."""
DRAWN = 24
"""How often random numbers are drawn to find the paths that depend on them."""
BUDGET = 2_000
"""Steps that a trace may have."""
LOOKS = frozenset(("shape", "size", "len", "nbytes", "strides", "__len__", "itemsize", "__array_interface__", "ctypes"))
"""Names by which a function could look at lengths without leaving a step."""


@dataclass(frozen=True, slots=True)
class Path:
    """Steps, and then a result, or a decision between two paths."""

    steps: list[Step]
    leaf: Leaf | None = None
    ref: int = 0
    branches: tuple[Path, ...] = ()
    """Where the decision is true, and where it is not."""
    unknown: str = ""
    """Why it is not known what happens here, where it is not."""

    def leaves(self) -> Iterator[Leaf]:
        """The results of all paths from here on."""
        if self.leaf is not None:
            yield self.leaf
        for branch in self.branches:
            yield from branch.leaves()

    def is_like(self, other: Path) -> bool:
        """Whether the other does the same, for arguments of other lengths."""
        if (
            bool(self.unknown) != bool(other.unknown)
            or len(self.steps) != len(other.steps)
            or len(self.branches) != len(other.branches)
            or self.ref != other.ref
        ):
            return False
        if self.leaf is not None and other.leaf is not None and self.leaf.refs != other.leaf.refs:
            return False
        if not all(_alike(a, b) for a, b in zip(self.steps, other.steps, strict=True)):
            return False
        return all(a.is_like(b) for a, b in zip(self.branches, other.branches, strict=True))


def _alike(a: Step, b: Step) -> bool:
    if a.fn is not b.fn or a.refs != b.refs or a.kind is None or b.kind is None:
        return False
    return a.kind.dtype == b.kind.dtype and len(a.kind.lane_shape) == len(b.kind.lane_shape)


@dataclass(frozen=True, slots=True)
class Proved:
    """A function whose paths are all known, whatever the numbers are."""

    func: Any
    tree: Tree
    path: Path
    outputs: list[Any]
    """The specs of its results."""
    several: bool
    """Whether it gives a tuple or list of results."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a caller can deal with besides."""

    partly: bool = False
    """Paths of which nothing is known."""
    draws: bool = False
    """Random numbers that are drawn before the first decision."""


STRICT = Terms()


def prove(func: Any, specs: Sequence[Any], terms: Terms = STRICT) -> Proved:
    """What is known of a function for all arguments of these specs."""
    if "__autograph_generated" in getattr(getattr(func, "__code__", None), "co_filename", ""):
        raise NotNative("AutoGraph has rewritten it: write it outside of the tf.function")
    for spec in specs:
        if spec.shape.rank is None or np.dtype(spec.dtype.as_numpy_dtype).char not in DTYPES:
            raise NotNative(f"an argument is {spec}")
    known = all(spec.shape.is_fully_defined() for spec in specs)
    trees = [_traced(func, specs, length, terms.draws) for length in (LENGTHS[:1] if known else LENGTHS)]
    paths = [_path_of(tree.root, terms.partly) for tree in trees]
    if not all(path.is_like(paths[0]) for path in paths):
        raise NotNative("what it does depends on the lengths of its arguments")
    if not known:
        _looks_at_no_length(func, trees[0])
    leaves = [leaf for path in paths for leaf in path.leaves()]
    if not leaves:
        raise NotNative(paths[0].unknown or "it raises for all arguments")
    return Proved(func, trees[0], paths[0], _outputs(leaves), leaves[0].form.cls is not None)


def _outputs(leaves: list[Leaf]) -> list[Any]:
    """What all paths give, as far as it is the same."""
    form = leaves[0].form
    if form.cls not in (None, tuple, list) or any(child.cls is not None for child in form.children):
        raise NotNative("its result is not an array, or several")
    if any(leaf.form != form or None in leaf.kinds for leaf in leaves):
        raise NotNative("its results are not numbers, or not as many on every path")
    specs = []
    for kinds in zip(*(leaf.kinds for leaf in leaves), strict=True):
        shapes, dtypes = {kind.lane_shape for kind in kinds if kind}, {kind.dtype for kind in kinds if kind}
        if len(dtypes) > 1 or len(set(map(len, shapes))) > 1 or next(iter(dtypes)).kind not in "biuf":
            raise NotNative("its results are not numbers of one dtype and rank")
        sizes = [size.pop() if len(size) == 1 else None for size in map(set, zip(*shapes, strict=True))]
        specs.append(tf.TensorSpec(sizes, dtypes.pop()))
    return specs


def _traced(func: Any, specs: Sequence[Any], length: int, draws: bool) -> Tree:
    rows = [examples(specs, length, i) for i in tries(specs)]
    group = lanes_of([elements_of([argument]) for argument in rows[0]])[0]
    if group.lanes is None:
        raise NotNative(group.reason)
    tree = Tree(group.lanes)
    for row in rows:
        _grow(tree, func, row, ())
    if tree.draws:
        if not draws:
            raise NotNative("it draws random numbers")
        drawn = drawn_for(tree, func, DRAWN)
        drawn.put_back()
        for i in range(DRAWN):
            _grow(tree, func, rows[i % len(rows)], drawn.of_lane(i))
    return tree


def _grow(tree: Tree, func: Any, row: tuple[Any, ...], drawn: Sequence[Any]) -> None:
    refusal = grow(tree, func, copied(row), {}, BUDGET, drawn).refusal
    if refusal is not None:
        raise NotNative(refusal.reason + (f" ({refusal.where})" if refusal.where else ""))


def drawn_for(tree: Tree, func: Any, n: int) -> Drawn:
    """The random numbers of so many elements, as they would draw them one after the other."""
    try:
        return Drawn(tree.turns or [], func, {}, {}, {}, n)
    except (KeyError, Untraceable) as error:
        raise NotNative(f"it draws random numbers in a way that is not known: {error}") from None


def _path_of(node: Node | None, partly: bool) -> Path:
    end = node.end if node is not None else None
    if node is None or not isinstance(end, Leaf | Guard):
        return _unknown("it raises for some arguments", partly)
    if isinstance(end, Leaf):
        return Path(node.steps, end)
    if end.mode != "truth":
        return _unknown(f"what it does depends on the numbers that it is given ({end.where})", partly)
    if len(end.children) < 2 and not partly:
        raise NotNative(f"it has a branch that no example took ({end.where})")
    branches = [_path_of(end.children.get(answer), partly) for answer in (True, False)]
    return Path(node.steps, None, end.ref, tuple(branches))


def _unknown(reason: str, partly: bool) -> Path:
    if not partly:
        raise NotNative(reason)
    return Path([], unknown=reason)


def _looks_at_no_length(func: Any, tree: Tree) -> None:
    roots = Roots(func, {})
    captured = [roots.read(capture.path) for capture in tree.captures.values() if capture.mode == "code"]
    plain = [_plain(f) for f in (func, *captured)]
    if not all(isinstance(f, types.FunctionType) for f in plain):
        raise NotNative("it is no plain function, and may look at lengths")
    pending = [f.__code__ for f in plain]
    while pending:
        code = pending.pop()
        looks = LOOKS.intersection(code.co_names)
        if looks:
            raise NotNative(f"it looks at lengths, which are not known: {min(looks)}")
        pending += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def _plain(f: Any) -> Any:
    """The function of a method, or of a function with some arguments given."""
    while isinstance(f, types.MethodType | functools.partial):
        f = f.__func__ if isinstance(f, types.MethodType) else f.func
    return f
