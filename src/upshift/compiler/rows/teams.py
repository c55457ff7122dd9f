"""Loops over items that the threads of a GPU's block share: all of them run the same function on one element.

Whatever is not in such a loop every thread computes for itself, with the same result: numbers, decisions, addresses.
Before and behind a loop they wait for each other, so that nobody writes what another has still to read, or reads what
is not written yet. In a loop a thread has its own items, and none of its own decisions leave it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import arrays
from .numpy_casts import DType

THREAD, SIZE, WAIT, ANY = "@upshift_thread", "@upshift_team", "@upshift_wait", "@upshift_any"
"""Which thread this is, how many there are; to wait for all; whether a flag is set in any of them."""
BEGIN, END = "  ; shared", "  ; alone"
"""Around the lines in which a thread has its own items."""
MOST_ITEMS = (1 << 31) - 1
REDUCED: dict[Any, str] = {np.add: "sum", np.maximum: "max", np.minimum: "min"}
"""Reductions of floats that the threads share: NumPy's order for sums, any for the others."""
LEAST_SCRATCH = 512


def each(w: Any, n: str, body: Callable[[str], None]) -> None:
    """`body(i)` for n items, by one thread or another; all wait for the others before and behind it."""
    begin(w)
    thread, size = w.new(f"call i64 {THREAD}()"), w.new(f"call i64 {SIZE}()")
    w.lines.append(BEGIN)
    arrays.each(w, n, body, thread, size)
    w.lines.append(END)
    wait(w)


def begin(w: Any) -> None:
    """Wait for all, before items are shared."""
    w.module.declare(THREAD, f"declare i64 {THREAD}() nounwind willreturn memory(none)")
    w.module.declare(SIZE, f"declare i64 {SIZE}() nounwind willreturn memory(none)")
    wait(w)


def wait(w: Any) -> None:
    """Has all threads of a block wait for each other."""
    w.module.declare(WAIT, f"declare void {WAIT}() convergent nounwind")
    w.do(f"call void {WAIT}()")


def any_of(w: Any, flag: str) -> str:
    """Whether a flag is set in any thread, for all of them."""
    w.module.declare(ANY, f"declare i32 {ANY}(i32) convergent nounwind")
    made = w.new(f"call i32 {ANY}(i32 {w.new(f'zext i1 {flag} to i32')})")
    return str(w.new(f"icmp ne i32 {made}, 0"))


def indices_of(w: Any, i: str, shape: Sequence[str]) -> list[str]:
    """Where the i-th item of an array of this shape is, axis by axis."""
    found: list[str] = []
    rest = w.new(f"trunc i64 {i} to i32")
    for n in reversed(shape[1:]):
        length = w.new(f"trunc i64 {n} to i32")
        found.insert(0, w.new(f"zext i32 {w.new(f'urem i32 {rest}, {length}')} to i64"))
        rest = w.new(f"udiv i32 {rest}, {length}")
    alone = w.new(f"icmp eq i64 {shape[0]}, 1")
    return [w.choose(alone, "i64", "0", w.new(f"zext i32 {rest} to i64")), *found]


def items(w: Any, shape: Sequence[str], body: Callable[[list[str]], None]) -> None:
    """`body(indices)` for all items of an array of this shape."""
    if not shape:
        return each(w, "1", lambda i: body([]))
    total = arrays.count(w, shape)
    w.leave_if(w.new(f"icmp ugt i64 {total}, {MOST_ITEMS}"), None, "an array is too large for a GPU")
    return each(w, total, lambda i: body(indices_of(w, i, shape)))


def reduced(w: Any, ufunc: Any, dtype: DType, source: str, n: str, step: str) -> str | None:
    """What all threads together make of a row of floats; None where they do not share it."""
    word = REDUCED.get(ufunc)
    if word is None or dtype.char not in "df":
        return None
    t = "double" if dtype.char == "d" else "float"
    name = f"@upshift_team_{word}_{dtype.char}"
    w.module.declare(name, f"declare {t} {name}(ptr, i64, i64, ptr) convergent nounwind")
    leaves = w.new(f"lshr i64 {n}, 5")
    scratch = w.alloc(w.new(f"shl i64 {w.new(f'add i64 {leaves}, {LEAST_SCRATCH}')}, 3"))
    return str(w.new(f"call {t} {name}(ptr {source}, i64 {n}, i64 {step}, ptr {scratch})"))
