"""Arrays, item by item: iteration, sorting, and functions of NumPy's that are loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .intrinsics import at, new_array, plus, set_at
from .registry import prelude

RUN = 16
"""Items that are sorted by insertion, before runs of them are merged."""


@prelude
def array_items(xs: Any) -> Iterator[Any]:
    """The items of an array, or its parts along the first axis."""
    i = 0
    while i < len(xs):
        yield xs[i]
        i = plus(i, 1)


def stands_before(a: Any, b: Any) -> Any:
    """NumPy's order: NaN stands behind everything else."""
    return a < b or (b != b and a == a)


def sort_packed(x: Any) -> None:
    """Sort an array of one axis, in place."""
    n = len(x)
    for start in range(0, n, RUN):
        for i in range(start + 1, min(start + RUN, n)):
            v = at(x, i)
            j = i - 1
            while j >= start and stands_before(v, at(x, j)):
                set_at(x, j + 1, at(x, j))
                j -= 1
            set_at(x, j + 1, v)
    width = RUN
    if width < n:
        scratch = new_array(x, (n,))
        while width < n:
            for low in range(0, n, 2 * width):
                middle = min(low + width, n)
                high = min(low + 2 * width, n)
                i = low
                j = middle
                for k in range(low, high):
                    if i < middle and (j >= high or not stands_before(at(x, j), at(x, i))):
                        set_at(scratch, k, at(x, i))
                        i += 1
                    else:
                        set_at(scratch, k, at(x, j))
                        j += 1
            x[:] = scratch
            width *= 2


def argsort_packed(x: Any, order: Any) -> None:
    """Sort an array of one axis in place, and move the numbers of its items along."""
    n = len(x)
    scratch = new_array(x, (n,))
    places = new_array(order, (n,))
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle = min(low + width, n)
            high = min(low + 2 * width, n)
            i = low
            j = middle
            for k in range(low, high):
                if i < middle and (j >= high or not stands_before(at(x, j), at(x, i))):
                    set_at(scratch, k, at(x, i))
                    set_at(places, k, at(order, i))
                    i += 1
                else:
                    set_at(scratch, k, at(x, j))
                    set_at(places, k, at(order, j))
                    j += 1
        x[:] = scratch
        order[:] = places
        width *= 2


def convolved(a: Any, v: Any, left: Any, right: Any) -> Any:
    """`np.convolve` of a longer and a shorter array, with so many values at the edges: one product after the other."""
    n = len(v)
    turned = v[::-1].copy()
    inside = len(a) - n + 1
    made = new_array(a, (left + inside + right,))
    k = 0
    for i in range(left):
        count = n - left + i
        set_at(made, k, a[:count] @ turned[n - count :])
        k += 1
    for i in range(inside):
        set_at(made, k, a[i : i + n] @ turned)
        k += 1
    for i in range(right):
        count = n - 1 - i
        set_at(made, k, a[len(a) - count :] @ turned[:count])
        k += 1
    return made
