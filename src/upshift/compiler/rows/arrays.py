"""Arrays in LLVM IR: where their items are, how long their axes are, new ones, loops over them.

An array is a pointer to its first item, its lengths and its strides in bytes, all of them values at run time. Whether
items lie one behind the other is looked at when a loop begins; only where a kind says that they do is it known before.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kinds import NUMPY, Array
from . import results
from .memory import NO_MEMORY

DType = np.dtype[Any]
MOST_ITEMS = 1 << 34


def item_ll(dtype: DType) -> str:
    """The LLVM type of an item in memory."""
    return "i8" if dtype.kind == "b" else str(NUMPY[dtype].ll)


def data(w: Any, kind: Array, x: str) -> str:
    """The address of the first item."""
    return str(w.extract(kind.ll, x, 0))


def dim(w: Any, kind: Array, x: str, axis: int) -> str:
    """The length of an axis."""
    return str(w.extract(kind.ll, x, 1, axis))


def stride(w: Any, kind: Array, x: str, axis: int) -> str:
    """Bytes from one item to the next along an axis; known where items lie side by side."""
    if kind.contiguous and axis == kind.ndim - 1:
        return str(kind.dtype.itemsize)
    return str(w.extract(kind.ll, x, 2, axis))


def shape_of(w: Any, kind: Array, x: str) -> list[str]:
    """The lengths of all axes."""
    return [dim(w, kind, x, i) for i in range(kind.ndim)]


def strides_of(w: Any, kind: Array, x: str) -> list[str]:
    """The strides of all axes, in bytes."""
    return [stride(w, kind, x, i) for i in range(kind.ndim)]


def put_together(w: Any, kind: Array, pointer: str, shape: Sequence[str], strides: Sequence[str]) -> str:
    """An array from its parts."""
    made = w.new(f"insertvalue {kind.ll} undef, ptr {pointer}, 0")
    parts: dict[tuple[int, ...], str] = {(0,): pointer}
    for i, (n, step) in enumerate(zip(shape, strides, strict=True)):
        made = w.new(f"insertvalue {kind.ll} {made}, i64 {n}, 1, {i}")
        made = w.new(f"insertvalue {kind.ll} {made}, i64 {step}, 2, {i}")
        parts[1, i], parts[2, i] = n, step
    w.parts[made] = parts
    return str(made)


def packed(w: Any, dtype: DType, shape: Sequence[str]) -> list[str]:
    """The strides of an array of this shape whose items lie one behind the other."""
    found = [str(dtype.itemsize)] if shape else []
    for n in reversed(shape[1:]):
        found.insert(0, product(w, found[0], n))
    return found


def product(w: Any, a: str, b: str) -> str:
    """A product of two counts, folded where both are known."""
    if a == "1" or b == "1":
        return b if a == "1" else a
    if a.lstrip("-").isdigit() and b.lstrip("-").isdigit():
        return str(int(a) * int(b))
    return str(w.new(f"mul i64 {a}, {b}"))


def count(w: Any, shape: Sequence[str]) -> str:
    """How many items an array of this shape has."""
    total = "1"
    for n in shape:
        total = product(w, total, n)
    return total


def bounded(w: Any, shape: Sequence[str]) -> str:
    """How many items a new array of this shape has; the lane is left where that is too many."""
    total = "1"
    for n in shape:
        if n.isdigit() and total.isdigit():
            total = str(int(total) * int(n))
            continue
        both = w.intrinsic("llvm.umul.with.overflow.i64", "{ i64, i1 }", ("i64", total), ("i64", n))
        w.leave_if(w.extract("{ i64, i1 }", both, 1), None, NO_MEMORY)
        total = w.extract("{ i64, i1 }", both, 0)
    w.leave_if(w.new(f"icmp ugt i64 {total}, {MOST_ITEMS}"), None, NO_MEMORY)
    return total


def new(w: Any, kind: Array, shape: Sequence[str]) -> str:
    """An array whose items are not set yet."""
    size = product(w, bounded(w, shape), str(kind.dtype.itemsize))
    alloc = "up_alloc"
    if kind.cell.find() in w.module.unit.given_back:
        w.module.declare("@up_result", results.IR)
        alloc = "up_result"
    pointer = w.new(f"call ptr @{alloc}(ptr %context, i64 {size})")
    w.leave_if(w.new(f"icmp eq ptr {pointer}, null"), None, NO_MEMORY)
    return put_together(w, kind, pointer, shape, packed(w, kind.dtype, shape))


def load(w: Any, dtype: DType, pointer: str) -> str:
    """The item at an address."""
    value = w.new(f"load {item_ll(dtype)}, ptr {pointer}")
    return str(w.new(f"icmp ne i8 {value}, 0")) if dtype.kind == "b" else str(value)


def store(w: Any, dtype: DType, pointer: str, value: str) -> None:
    """Writes an item; bools are bytes in memory."""
    if dtype.kind == "b":
        value = w.new(f"zext i1 {value} to i8")
    w.do(f"store {item_ll(dtype)} {value}, ptr {pointer}")


def moved(w: Any, pointer: str, steps: str, step: str) -> str:
    """An address so many strides further on."""
    if steps == "0" or step == "0":
        return pointer
    return str(w.new(f"getelementptr i8, ptr {pointer}, i64 {product(w, steps, step)}"))


def place(w: Any, kind: Array, x: str, indices: Sequence[str]) -> str:
    """The address of an item, or of the part that the first indices lead to."""
    w.module.items.add(w.module.at)
    pointer = data(w, kind, x)
    if kind.contiguous and len(indices) == kind.ndim and kind.ndim:
        flat = indices[0]
        for axis in range(1, kind.ndim):
            flat = w.new(f"add i64 {product(w, flat, dim(w, kind, x, axis))}, {indices[axis]}")
        return str(w.new(f"getelementptr inbounds {item_ll(kind.dtype)}, ptr {pointer}, i64 {flat}"))
    for axis, index in enumerate(indices):
        pointer = moved(w, pointer, index, stride(w, kind, x, axis))
    return pointer


def each(w: Any, n: str, body: Callable[[str], None], first: str = "0", step: int | str = 1) -> None:
    """`for i in range(first, n, step): body(i)`."""
    before, head, turn, latch, end = w.label, w.fresh("head"), w.fresh("turn"), w.fresh("latch"), w.fresh("end")
    following = f"%{w.fresh('next')}"
    w.do(f"br label %{head}")
    w.start(head)
    i = w.new(f"phi i64 [ {first}, %{before} ], [ {following}, %{latch} ]")
    w.do(f"br i1 {w.new(f'icmp slt i64 {i}, {n}')}, label %{turn}, label %{end}")
    w.start(turn)
    body(i)
    w.do(f"br label %{latch}")
    w.start(latch)
    w.do(f"{following} = add nuw nsw i64 {i}, {step}")
    w.do(f"br label %{head}")
    w.start(end)


def nested(w: Any, counts: Sequence[str], body: Callable[[list[str]], None]) -> None:
    """One loop inside the other, the last one innermost."""

    def at(indices: list[str]) -> None:
        if len(indices) == len(counts):
            body(indices)
        else:
            each(w, counts[len(indices)], lambda i: at([*indices, i]))

    at([])


def all_of(w: Any, flags: Sequence[str]) -> str:
    """Whether all flags hold."""
    made = "true"
    for flag in flags:
        made = flag if made == "true" else w.new(f"and i1 {made}, {flag}")
    return made


def passes_on(w: Any, kind: Array, x: str, made: str) -> str:
    """A view whose axes stand in the order of those that it is a view of: what is known of them holds for it."""
    if kind.contiguous or x in w.rowwise:
        w.rowwise.add(made)
    return made


def lies_in_rows(w: Any, kind: Array, x: str) -> str:
    """Whether the axes of an array lie in memory in their order; those of length 1 may lie anyhow."""
    shape, strides = shape_of(w, kind, x), strides_of(w, kind, x)
    flags = []
    for i, j in itertools.combinations(range(kind.ndim), 2):
        ways = [w.new(f"icmp eq i64 {shape[k]}, 1") for k in (i, j)] + [
            w.new(f"icmp sge i64 {strides[i]}, {strides[j]}")
        ]
        flags.append(w.new(f"or i1 {w.new(f'or i1 {ways[0]}, {ways[1]}')}, {ways[2]}"))
    return all_of(w, flags)


ANOTHER_ORDER = "arrays lie in memory in another order than row by row, and so does what NumPy makes of them"


def leave_unless_rowwise(w: Any, ndim: int, parts: Sequence[tuple[Array, str]]) -> None:
    """NumPy lays out what it makes of arrays as they lie; here it lies row by row, and the lane is left where that is
    not so. Strides of 0 and axes of length 1 tell nothing, and where arrays disagree NumPy goes row by row."""
    if all(kind.contiguous or kind.ndim < 2 or x in w.rowwise for kind, x in parts):
        return
    seen = [(ndim - kind.ndim, shape_of(w, kind, x), strides_of(w, kind, x)) for kind, x in parts]
    for i, j in itertools.combinations(range(ndim), 2):
        turned, straight = "false", "false"
        for missing, shape, strides in seen:
            if i < missing:
                continue
            flags = [w.new(f"icmp ne i64 {shape[k - missing]}, 1") for k in (i, j)]
            flags += [w.new(f"icmp ne i64 {strides[k - missing]}, 0") for k in (i, j)]
            tells = all_of(w, flags)
            sizes = [w.intrinsic("llvm.abs.i64", "i64", ("i64", strides[k - missing]), ("i1", "false")) for k in (i, j)]
            less = w.new(f"icmp ult i64 {sizes[0]}, {sizes[1]}")
            turned = w.choose(w.new(f"and i1 {tells}, {less}"), "i1", "true", turned)
            straight = w.choose(w.new(f"and i1 {tells}, {w.new(f'xor i1 {less}, true')}"), "i1", "true", straight)
        w.leave_if(w.new(f"and i1 {turned}, {w.new(f'xor i1 {straight}, true')}"), None, ANOTHER_ORDER)


def is_packed(w: Any, dtype: DType, shape: Sequence[str], strides: Sequence[str]) -> list[str]:
    """Flags that together tell whether items lie one behind the other."""
    flags = []
    for n, step, wanted in zip(shape, strides, packed(w, dtype, shape)):
        if step != wanted:
            alone = w.new(f"icmp eq i64 {n}, 1")
            flags.append(w.new(f"or i1 {alone}, {w.new(f'icmp eq i64 {step}, {wanted}')}"))
    return flags


def extent(w: Any, kind: Array, x: str) -> tuple[str, str]:
    """The addresses between which all items lie."""
    low = w.new(f"ptrtoint ptr {data(w, kind, x)} to i64")
    high = w.new(f"add i64 {low}, {kind.dtype.itemsize}")
    for n, step in zip(shape_of(w, kind, x), strides_of(w, kind, x)):
        span = w.new(f"mul i64 {w.new(f'sub i64 {n}, 1')}, {step}")
        down = w.new(f"icmp slt i64 {span}, 0")
        low = w.new(f"add i64 {low}, {w.choose(down, 'i64', span, '0')}")
        high = w.new(f"add i64 {high}, {w.choose(down, 'i64', '0', span)}")
    return low, high
