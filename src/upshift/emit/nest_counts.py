"""Calls that count in; loops that count the same out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .nest import Value, Writer, in_memory
from .select_rows import FLOATS, NoSelect


def histogram(w: Writer, args: tuple[Any, ...], keywords: dict[str, Any]) -> list[Value]:
    """How many numbers lie in each of so many bins of one width, and the edges of these.

    A product says which bin it is, and a look at the bin's edges whether it is the one before or behind. So NumPy does
    it: where edges are well apart, neither product is off by more than one bin, and the edges decide.
    """
    given = dict(zip(("a", "bins", "range"), args, strict=False)) | keywords
    bins, span = given.get("bins", 10), given.get("range")
    if len(args) > 3 or set(given) - {"a", "bins", "range"} or type(bins) is not int or not 0 < bins <= 1 << 12:
        raise NoSelect("histograms of this kind are NumPy's")
    if type(span) is not tuple or len(span) != 2 or any(type(end) not in (int, float) for end in span):
        raise NoSelect("the range of its histogram is not known")
    value = w.value(given["a"])
    if value.dtype not in FLOATS or not value.shape or not value.exact:
        raise NoSelect("histograms of other things than floats are NumPy's")
    low, high = map(float, span)
    edges = _edges(low, high, bins, value.dtype)
    b, k, x = (w.name(wish) for wish in "bkx")
    w.made.stored.append((b, (bins,), np.dtype(np.int64)))
    w.line(f"{b}_[:] = 0")
    per_bin = bins / (high - low)
    decided = _is_exact(low, per_bin, edges)
    e = "" if decided else _made_edges(w, low, high, edges)
    _each(w, value, x)
    w.line(f"if {x} >= {float(edges[0])!r} and {x} <= {float(edges[-1])!r}:")
    w.line(f"    {k} = min(int((float64_({x}) - {low!r}) * {per_bin!r}), {bins - 1})")
    if not decided:
        w.line(f"    if {x} < {e}[{k}]:")
        w.line(f"        {k} -= 1")
        w.line(f"    elif {k} < {bins - 1} and {x} >= {e}[{k} + 1]:")
        w.line(f"        {k} += 1")
    w.line(f"    {b}_[{k}] += 1")
    w.depth = 0
    return [in_memory((bins,), np.dtype(np.int64), b)]


def _is_exact(low: float, per_bin: float, edges: Any) -> bool:
    """Whether no product that says which bin it is was rounded: then the edges have nothing to add."""
    power_of_two = math.frexp(per_bin)[0] == 0.5
    return low == 0.0 and power_of_two and bool((edges * per_bin == np.arange(len(edges))).all())


def _made_edges(w: Writer, low: float, high: float, edges: Any) -> str:
    """The edges, made once for all lanes."""
    e, j = w.name("e"), w.name("j")
    bins, step = len(edges) - 1, (high - low) / (len(edges) - 1)
    w.made.before += [
        f"{e} = empty({bins + 1}, type_{e})",
        f"for {j} in range({bins}):",
        f"    {e}[{j}] = {edges.dtype.name}_(float64_({j}) * {step!r} + {low!r})",
        f"{e}[{bins}] = {edges.dtype.name}_({high!r})",
    ]
    w.made.types[e] = edges.dtype
    return e


def _edges(low: float, high: float, bins: int, dtype: np.dtype[Any]) -> Any:
    """NumPy's, where they are what the loop makes, and so far apart that no rounding leads two bins away."""
    if not math.isfinite(low) or not math.isfinite(high) or not low < high:
        raise NoSelect("the range of its histogram is odd")
    edges = np.histogram_bin_edges(np.zeros(1, dtype), bins, (low, high))
    made = np.arange(bins) * ((high - low) / bins) + low
    ends = edges[0] == low and edges[-1] == high
    apart = np.diff(edges).min() > 64 * np.finfo(edges.dtype).eps * np.abs(edges).max()
    if edges.dtype != dtype or not ends or not apart or not np.array_equal(made.astype(dtype), edges[:-1]):
        raise NoSelect("the edges of its histogram are NumPy's")
    return edges


def _each(w: Writer, value: Value, x: str) -> None:
    """For every number of an array, in any order."""
    if value.flat is not None:
        j = w.name("j")
        w.line(f"for {j} in range({math.prod(value.shape)}):")
        w.depth += 1
        w.line(f"{x} = {value.flat(j)}")
        return
    index = tuple(w.name("j") for _ in value.shape)
    for j, n in zip(index, value.shape, strict=True):
        w.line(f"for {j} in range({n}):")
        w.depth += 1
    w.line(f"{x} = {value.at(index)}")
