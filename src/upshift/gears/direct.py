"""What a kernel stands on, takes and makes in; one Python function out that calls it, with nothing left to decide.

A brief kernel takes less time than a few thoughts about it. What can be known before a call is known here; what has to
be looked at is written out, line by line, and whatever is not as expected is a miss, for others to deal with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from ..columns.forms import Form
from ..columns.kinds import Kind
from ..trace import Tree
from ..trace.paths import Capture
from .binder import MISS, Writer, bound_in


@dataclass(frozen=True, slots=True)
class Flags:
    """The processor's flags, on this thread."""

    clear: Callable[[int], object]
    test: Callable[[int], int]
    every: int
    """All flags that NumPy may mind."""
    warns: Callable[[], bool]
    """Whether it minds one that is raised."""


@dataclass(frozen=True, slots=True)
class Direct:
    """One call of a kernel for all lanes, on this thread: `run([left,] *columns, *outs, *captured)`."""

    owner: Any
    """Its `stretches.alone` tells up to how many lanes one call is all there is to do."""
    run: str
    """The kernel, as an attribute of the owner."""
    captures: Sequence[Capture]
    taken: Sequence[int] | None
    """Which of the captured inputs the kernel takes; None: all."""
    kinds: Sequence[Kind]
    """Of the elements."""
    outs: Sequence[tuple[np.dtype[Any], tuple[int, ...]]]
    """Dtypes and shapes of the leaves of a result."""
    form: Form
    left: Literal["zeros", "empty"] | None = None
    """How the marks of lanes begin that are left to the plain function; None where the kernel marks none."""
    flags: Flags | None = None
    """Where NumPy may warn."""
    tree: Tree | None = None
    """What the kernel was made of, whose paths must still be the same."""
    strided: bool = False
    """Whether arrays, captured ones or elements, may lie in memory as they like."""


class Keeper(Protocol):
    """Who answers for the results."""

    misses: int
    """Over MOST_MISSES, there are none."""
    turns: Iterator[bool]
    """Whether it is this call's turn to be checked."""

    def checked(self, f: Any, columns: tuple[Any, ...]) -> Any:
        """The result, compared with the plain function's, or MISS."""

    def left_over(self, f: Any, columns: tuple[Any, ...], outs: tuple[Any, ...], left: Any) -> Any:
        """The result where lanes were left, or MISS."""


MOST_MISSES = 3


def written(direct: Direct, keeper: Keeper) -> Callable[..., Any]:
    """`call(f, *columns)`: the result, or MISS."""
    writer = Writer()
    xs = [f"x{i}" for i in range(len(direct.kinds))]
    ys = [f"y{i}" for i in range(len(direct.outs))]
    owner, flags = writer.name(direct.owner), direct.flags
    columns = f"({', '.join(xs)},)"
    writer.lines += [
        f"n = len({xs[0]})",
        *fitting(writer, direct.kinds, xs, direct.strided),
        f"if n > {owner}.stretches.alone or {writer.name(keeper)}.misses > {MOST_MISSES}: return MISS",
        f"if {writer.name(next)}({writer.name(keeper.turns)}): return {writer.name(keeper.checked)}(f, {columns})",
    ]
    if direct.tree is not None:
        writer.lines.append(f"if {writer.name(direct.tree)}.paths != {direct.tree.paths}: return MISS")
    captured = bound_in(writer, direct.captures)
    inputs = [capture for capture in direct.captures if capture.is_input]
    taken = range(len(inputs)) if direct.taken is None else direct.taken
    if not direct.strided:
        arrays = [captured[i] for i in taken if isinstance(inputs[i].expected, tuple)]
        writer.lines += [f"if not {array}.flags.c_contiguous: return MISS" for array in arrays]
    for y, (dtype, shape) in zip(ys, direct.outs, strict=True):
        size = f"({', '.join(map(str, ('n', *shape)))})" if shape else "n"
        writer.lines.append(f"{y} = {writer.name(np.empty)}({size}, {writer.name(dtype)})")
    marks = ["left"] if direct.left else []
    if direct.left:
        writer.lines.append(f"left = {writer.name(getattr(np, direct.left))}(n, {writer.name(np.dtype(bool))})")
    if flags is not None:
        writer.lines.append(f"{writer.name(flags.clear)}({flags.every})")
    writer.lines.append(f"count = {owner}.{direct.run}({', '.join([*marks, *xs, *ys, *(captured[i] for i in taken)])})")
    if flags is not None:
        test = f"{writer.name(flags.test)}({flags.every})"
        writer.lines.append(f"if {test} and {writer.name(flags.warns)}(): return MISS")
    if direct.left:
        writer.lines.append(f"if count: return {writer.name(keeper.left_over)}(f, {columns}, ({', '.join(ys)},), left)")
    writer.lines.append(f"return {built(writer, direct.form, iter(ys))}")
    return called(writer, xs)


def called(writer: Writer, xs: Sequence[str], missed: str = "") -> Callable[..., Any]:
    """The lines as a function `call(f, *columns)`. `missed`: errors besides that are a miss."""
    source = "\n        ".join([f"def call(f, {', '.join(xs)}):\n    try:", *writer.lines])
    source += f"\n    except (LookupError, AttributeError, TypeError, ValueError{missed}):\n        return MISS"
    space = {**writer.space, "MISS": MISS, "shared": {}}
    exec(compile(source, "<upshift direct>", "exec"), space)
    made: Callable[..., Any] = space["call"]
    return made


def fitting(writer: Writer, kinds: Sequence[Kind], xs: Sequence[str], strided: bool) -> Iterator[str]:
    """Looks at columns of n lanes. `strided`: elements that are arrays may lie in memory as they like."""
    array, shaped = writer.name(np.ndarray), any(kind.lane_shape for kind in kinds)
    for x, kind in zip(xs, kinds, strict=True):
        dtype = writer.name(kind.dtype)
        yield f"if type({x}) is not {array} or {x}.dtype is not {dtype} and {x}.dtype != {dtype}: return MISS"
        if x != xs[0]:
            yield f"if len({x}) != n: return MISS"
        if shaped:
            yield f"if {x}.shape[1:] != {kind.lane_shape!r}: return MISS"
        if kind.shape is None or not strided:
            yield f"if not {x}.flags.c_contiguous: return MISS"


def built(writer: Writer, form: Form, ys: Iterator[str]) -> str:
    """The result, of its columns."""
    if form.cls is None:
        return next(ys)
    if form.cls is tuple:
        return f"({''.join(built(writer, child, ys) + ', ' for child in form.children)})"
    leaves = ", ".join(next(ys) for _ in range(form.size))
    return f"{writer.name(form.build)}(iter(({leaves},)))"
