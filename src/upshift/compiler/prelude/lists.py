"""Lists: their operators, methods and slices."""

from __future__ import annotations

import bisect
import functools
import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np

from .intrinsics import (
    as_tuple,
    give_up,
    item,
    plus,
    set_item,
    shortened,
    sized,
    slice_start,
    slice_step,
    slice_stop,
)
from .iterables import in_any_order, listed
from .objects import equals
from .registry import apart, implements, inline, method, prelude


@prelude
def list_plus(a: Any, b: Any) -> Any:
    """`a + b`: a new list of both."""
    n = len(a)
    m = len(b)
    made = sized(n + m)
    i = 0
    while i < n:
        set_item(made, i, item(a, i))
        i = plus(i, 1)
    i = 0
    while i < m:
        set_item(made, plus(n, i), item(b, i))
        i = plus(i, 1)
    return made


@prelude
@apart
def list_times(xs: Any, times: int) -> Any:
    """`xs * times`: a new list that repeats the items."""
    n = len(xs)
    if times < 0:
        times = 0
    made = sized(n * times)
    at = 0
    if n == 1:
        x = item(xs, 0)
        while at < times:
            set_item(made, at, x)
            at = plus(at, 1)
        return made
    while at < n * times:
        i = 0
        while i < n:
            set_item(made, plus(at, i), item(xs, i))
            i = plus(i, 1)
        at = plus(at, n)
    return made


@prelude
def list_slice(xs: Any, bounds: Any) -> Any:
    """`xs[start:stop:step]`: a new list."""
    n = len(xs)
    start = slice_start(bounds)
    stop = slice_stop(bounds)
    step = slice_step(bounds)
    if step is None:
        low = bound(start, n, 0)
        high = bound(stop, n, n)
        count = high - low
        if count < 0:
            count = 0
        made = sized(count)
        i = 0
        while i < count:
            set_item(made, i, item(xs, plus(low, i)))
            i = plus(i, 1)
        return made
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, count = strided(start, stop, step, n)
    made = sized(count)
    i = 0
    at = low
    while i < count:
        set_item(made, i, item(xs, at))
        at = plus(at, step)
        i = plus(i, 1)
    return made


@prelude
def bound(i: Any, n: Any, default: Any) -> Any:
    """Where a bound of a slice with step 1 stands."""
    if i is None:
        return default
    if not isinstance(i, int):
        give_up()
    if i < 0:
        i = i + n
        if i < 0:
            return 0
        return i
    if i > n:
        return n
    return i


@prelude
def strided(start: Any, stop: Any, step: Any, n: Any) -> Any:
    """The first place of a slice, and how many it has."""
    for one in (start, stop, step):
        if one is not None and not isinstance(one, int):
            give_up()
    if step > 0:
        low = bound(start, n, 0)
        high = bound(stop, n, n)
        if high <= low:
            return low, 0
        return low, (high - low - 1) // step + 1
    if start is None:
        first = n - 1
    elif start < 0:
        first = start + n
        if first < -1:
            first = -1
    elif start > n - 1:
        first = n - 1
    else:
        first = start
    if stop is None:
        last = -1
    elif stop < 0:
        last = stop + n
        if last < -1:
            last = -1
    elif stop > n - 1:
        last = n - 1
    else:
        last = stop
    if last >= first:
        return first, 0
    return first, (first - last - 1) // (-step) + 1


@prelude
def set_list_slice(xs: Any, bounds: Any, values: Any) -> None:
    """`xs[start:stop:step] = values`, which may change the length where there is no step."""
    n = len(xs)
    step = slice_step(bounds)
    new = listed(values)
    m = len(new)
    if step is None:
        low = bound(slice_start(bounds), n, 0)
        high = bound(slice_stop(bounds), n, n)
        if high < low:
            high = low
        rest = n - high
        by = m - (high - low)
        if by > 0:
            k = 0
            while k < by:
                xs.append(item(new, 0))
                k = plus(k, 1)
            i = rest - 1
            while i >= 0:
                set_item(xs, plus(plus(high, i), by), item(xs, plus(high, i)))
                i = plus(i, -1)
        elif by < 0:
            i = 0
            while i < rest:
                set_item(xs, plus(plus(high, i), by), item(xs, plus(high, i)))
                i = plus(i, 1)
            shortened(xs, n + by)
        i = 0
        while i < m:
            set_item(xs, plus(low, i), item(new, i))
            i = plus(i, 1)
    else:
        if step == 0:
            raise ValueError("slice step cannot be zero")
        low, count = strided(slice_start(bounds), slice_stop(bounds), step, n)
        if m != count:
            raise ValueError("attempt to assign sequence of another size to extended slice")
        at = low
        i = 0
        while i < count:
            set_item(xs, at, item(new, i))
            at = plus(at, step)
            i = plus(i, 1)


@prelude
def delete_item(xs: Any, i: int) -> None:
    """`del xs[i]`."""
    xs.pop(i)


@prelude
def delete_slice(xs: Any, bounds: Any) -> None:
    """`del xs[start:stop:step]`."""
    n = len(xs)
    step = slice_step(bounds)
    if step is None:
        low = bound(slice_start(bounds), n, 0)
        high = bound(slice_stop(bounds), n, n)
        if high > low:
            while high < n:
                set_item(xs, low, item(xs, high))
                low = plus(low, 1)
                high = plus(high, 1)
            shortened(xs, low)
    else:
        if step == 0:
            raise ValueError("slice step cannot be zero")
        low, count = strided(slice_start(bounds), slice_stop(bounds), step, n)
        if step < 0 and count > 0:
            low = low + (count - 1) * step
            step = -step
        to = 0
        i = 0
        gone = 0
        while i < n:
            if gone < count and i == low + gone * step:
                gone += 1
            else:
                set_item(xs, to, item(xs, i))
                to += 1
            i += 1
        shortened(xs, to)


@method("list", "extend", "__iadd__")
@inline
def list_extend(xs: Any, it: Any) -> None:
    """Appends all items of an iterable."""
    for x in it:
        xs.append(x)


@prelude
@inline
def list_extend_list(xs: Any, other: Any) -> None:
    """Appends as many items of a list as it has now, so that it may be the same one."""
    n = len(other)
    i = 0
    while i < n:
        xs.append(item(other, i))
        i = plus(i, 1)


@method("list", "pop")
def list_pop(xs: Any, i: int = -1) -> Any:
    """Removes and gives item `i`, and moves those that follow."""
    n = len(xs)
    if n == 0:
        raise IndexError("pop from empty list")
    if i < 0:
        i = i + n
    if i < 0 or i >= n:
        raise IndexError("pop index out of range")
    x = item(xs, i)
    while i < n - 1:
        set_item(xs, i, item(xs, plus(i, 1)))
        i = plus(i, 1)
    shortened(xs, n - 1)
    return x


@method("list", "insert")
def list_insert(xs: Any, i: int, x: Any) -> None:
    """Puts an item before position `i`, which is clipped to the list."""
    n = len(xs)
    if i < 0:
        i = i + n
        if i < 0:
            i = 0
    if i > n:
        i = n
    xs.append(x)
    j = n
    while j > i:
        set_item(xs, j, item(xs, plus(j, -1)))
        j = plus(j, -1)
    set_item(xs, i, x)


@method("list", "remove")
def list_remove(xs: Any, x: Any) -> None:
    """Removes the first item that is equal to `x`."""
    i = 0
    while i < len(xs):
        if equals(item(xs, i), x):
            xs.pop(i)
            return
        i = plus(i, 1)
    raise ValueError("list.remove(x): x not in list")


@method("list", "clear")
def list_clear(xs: Any) -> None:
    """Removes all items."""
    shortened(xs, 0)


@method("list", "copy")
def list_copy(xs: Any) -> Any:
    """A new list of the same items."""
    n = len(xs)
    made = sized(n)
    i = 0
    while i < n:
        set_item(made, i, item(xs, i))
        i = plus(i, 1)
    return made


@method("list", "reverse")
def list_reverse(xs: Any) -> None:
    """Turns the order of the items around, in place."""
    i = 0
    j = len(xs) - 1
    while i < j:
        x = item(xs, i)
        set_item(xs, i, item(xs, j))
        set_item(xs, j, x)
        i = plus(i, 1)
        j = plus(j, -1)


@method("list", "index")
@method("tuple", "index")
def list_index(xs: Any, x: Any, start: int = 0, stop: int = 9223372036854775807) -> Any:
    """The position of the first item between the bounds that is equal to `x`."""
    n = len(xs)
    if start < 0:
        start = start + n
        if start < 0:
            start = 0
    if stop < 0:
        stop = stop + n
    if stop > n:
        stop = n
    i = start
    while i < stop and i < len(xs):
        if equals(item(xs, i), x):
            return i
        i = plus(i, 1)
    raise ValueError("the item is not in the list")


@method("list", "count")
@method("tuple", "count")
def list_count(xs: Any, x: Any) -> Any:
    """How many items are equal to `x`."""
    count = 0
    for y in xs:
        if equals(y, x):
            count = plus(count, 1)
    return count


@prelude
def list_contains(xs: Any, x: Any) -> Any:
    """Whether one item is equal to `x`."""
    i = 0
    while i < len(xs):
        if equals(item(xs, i), x):
            return True
        i = plus(i, 1)
    return False


@prelude
@inline
def iterable_contains(it: Any, x: Any) -> Any:
    """Whether an iterable gives an item that is equal to `x`."""
    for y in it:
        if equals(y, x):
            return True
    return False


@prelude
def list_equal(a: Any, b: Any) -> Any:
    """Whether two lists have equal items; what is the same object is equal."""
    n = len(a)
    if n != len(b):
        return False
    i = 0
    while i < len(a) and i < len(b):
        if not equals(item(a, i), item(b, i)):
            return False
        i = plus(i, 1)
    return True


@prelude
def list_less(a: Any, b: Any) -> Any:
    """Whether the first items that differ are in this order, or the first list is shorter."""
    i = 0
    while i < len(a) and i < len(b):
        x = item(a, i)
        y = item(b, i)
        if not equals(x, y):
            return x < y
        i = plus(i, 1)
    return len(a) < len(b)


@prelude
def list_less_or_equal(a: Any, b: Any) -> Any:
    """Whether the first items that differ are in this order, or the first list is not longer."""
    i = 0
    while i < len(a) and i < len(b):
        x = item(a, i)
        y = item(b, i)
        if not equals(x, y):
            return x <= y
        i = plus(i, 1)
    return len(a) <= len(b)


# ---- sorting: a stable merge, which gives what Python's does wherever `<` is an order


def has_no_order(x: Any) -> Any:
    """Whether it is NaN, or holds one: what sorting makes of it depends on which items are compared."""
    if isinstance(x, (float, np.floating)):
        return x != x
    if isinstance(x, (tuple, list)):
        for y in x:
            if has_no_order(y):
                return True
        return False
    return isinstance(x, (set, frozenset))


def check_order(xs: Any) -> None:
    """Leaves the lane if something cannot be sorted as numbers are, such as NaN."""
    for x in xs:
        if has_no_order(x):
            give_up()


@prelude
@apart
def sort_list(xs: Any) -> None:
    """A stable merge sort, in place, of runs that were sorted by insertion."""
    check_order(xs)
    n = len(xs)
    i = 0
    while i < n:  # runs of 8, by insertion
        stop = plus(i, 8)
        if stop > n:
            stop = n
        j = plus(i, 1)
        while j < stop:
            x = item(xs, j)
            k = j
            while k > i and x < item(xs, plus(k, -1)):
                set_item(xs, k, item(xs, plus(k, -1)))
                k = plus(k, -1)
            set_item(xs, k, x)
            j = plus(j, 1)
        i = stop
    if n > 8:
        other = list_copy(xs)
        width = 8
        while width < n:
            merge_runs(xs, other, width, n)
            i = 0
            while i < n:
                set_item(xs, i, item(other, i))
                i = plus(i, 1)
            width = width * 2


def merge_runs(xs: Any, to: Any, width: Any, n: Any) -> None:
    """Merges neighbouring sorted runs of one width into runs of twice that width."""
    start = 0
    while start < n:
        middle = plus(start, width)
        if middle > n:
            middle = n
        stop = plus(middle, width)
        if stop > n:
            stop = n
        i = start
        j = middle
        k = start
        while k < stop:
            if i < middle and (j >= stop or not item(xs, j) < item(xs, i)):
                set_item(to, k, item(xs, i))
                i = plus(i, 1)
            else:
                set_item(to, k, item(xs, j))
                j = plus(j, 1)
            k = plus(k, 1)
        start = stop


@prelude
@apart
def sort_by_keys(xs: Any, keys: Any) -> None:
    """Sort a list by the keys of its items."""
    check_order(keys)
    n = len(xs)
    order = list(range(n))
    other = list(range(n))
    width = 1
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(middle + width, n)
            i = start
            j = middle
            k = start
            while k < stop:
                if i < middle and (j >= stop or not item(keys, item(order, j)) < item(keys, item(order, i))):
                    set_item(other, k, item(order, i))
                    i = plus(i, 1)
                else:
                    set_item(other, k, item(order, j))
                    j = plus(j, 1)
                k = plus(k, 1)
            start = stop
        order, other = other, order
        width = width * 2
    kept = list_copy(xs)
    i = 0
    while i < n:
        set_item(xs, i, item(kept, item(order, i)))
        i = plus(i, 1)


@method("list", "sort")
@inline
def list_sort(xs: Any, *, key: Any = None, reverse: Any = False) -> None:
    """`xs.sort`, stable in both directions."""
    if reverse:  # stable as well: equal items keep their order
        list_reverse(xs)
    if key is None:
        sort_list(xs)
    else:
        keys = []
        for x in xs:
            keys.append(key(x))
        sort_by_keys(xs, keys)
    if reverse:
        list_reverse(xs)


@implements(sorted)
@inline
def sorted_(it: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """A sorted list of any iterable."""
    made = listed(in_any_order(it)) if key is None else listed(it)
    list_sort(made, key=key, reverse=reverse)
    return made


# ---- bisect, heapq


@implements(bisect.bisect_left)
@inline
def bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """Where to insert `x` into a sorted list, before items that are equal."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        y = a[mid]
        if key is None:
            less = y < x
        else:
            less = key(y) < x
        if less:
            lo = mid + 1
        else:
            hi = mid
    return lo


@implements(bisect.bisect_right, bisect.bisect)
@inline
def bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """Where to insert `x` into a sorted list, after items that are equal."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        y = a[mid]
        if key is None:
            less = x < y
        else:
            less = x < key(y)
        if less:
            hi = mid
        else:
            lo = mid + 1
    return lo


@implements(bisect.insort_right, bisect.insort)
def insort_right(a: Any, x: Any) -> None:
    """Inserts `x` into a sorted list, after items that are equal."""
    list_insert(a, bisect_right(a, x), x)


@implements(bisect.insort_left)
def insort_left(a: Any, x: Any) -> None:
    """Inserts `x` into a sorted list, before items that are equal."""
    list_insert(a, bisect_left(a, x), x)


@implements(heapq.heappush)
def heappush(heap: Any, x: Any) -> None:
    """Adds an item to a heap."""
    heap.append(x)
    sift_down(heap, 0, len(heap) - 1)


def sift_down(heap: Any, start: Any, pos: Any) -> None:
    """Moves the item at `pos` towards the root until its parent is not larger."""
    new = heap[pos]
    while pos > start:
        above = (pos - 1) >> 1
        parent = heap[above]
        if new < parent:
            heap[pos] = parent
            pos = above
        else:
            break
    heap[pos] = new


def sift_up(heap: Any, pos: Any) -> None:
    """Moves the item at `pos` to a leaf along the smaller children, then back to where it belongs."""
    end = len(heap)
    start = pos
    new = heap[pos]
    child = 2 * pos + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[pos] = heap[child]
        pos = child
        child = 2 * pos + 1
    heap[pos] = new
    sift_down(heap, start, pos)


@implements(heapq.heappop)
def heappop(heap: Any) -> Any:
    """Removes the smallest item of a heap."""
    last = heap.pop()
    if heap:
        first = heap[0]
        heap[0] = last
        sift_up(heap, 0)
        return first
    return last


class CompareKey:
    """A key for sorting that is compared by a function of two items."""

    shown_as = "functools.K"

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare = compare
        self.obj = obj

    def __lt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) < 0

    def __gt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) > 0


@implements(functools.cmp_to_key)
@inline
def cmp_to_key_(mycmp: Any) -> Any:
    """`functools.cmp_to_key`: a function that makes keys."""
    return lambda obj: CompareKey(mycmp, obj)


@implements(heapq.merge)
@inline
def merge_(*iterables: Any, key: Any = None, reverse: Any = False) -> Any:
    """The items of sorted iterables, all in order; of equal ones those of the first iterable come first."""
    if len(iterables) == 0:
        return iter(())
    if len(iterables) == 1:
        return iter(iterables[0])
    return merge_two(iterables[0], heapq.merge(*iterables[1:], key=key, reverse=reverse), key, reverse)


def merge_two(a: Any, b: Any, key: Any, reverse: Any) -> Iterator[Any]:
    """The items of two sorted iterables."""
    first = iter(a)
    second = iter(b)
    for y in second:
        k = y if key is None else key(y)
        for x in first:
            if comes_first(k, x if key is None else key(x), reverse):
                yield y
                for z in second:
                    y = z
                    k = y if key is None else key(y)
                    if not comes_first(k, x if key is None else key(x), reverse):
                        break
                    yield y
                else:
                    yield x
                    break
            yield x
        else:
            yield y
            break
    for x in first:
        yield x
    for y in second:
        yield y


@inline
def comes_first(k: Any, j: Any, reverse: Any) -> Any:
    """Whether an item of a later iterable is due before one of an earlier iterable, by their keys."""
    if (isinstance(k, float) and k != k) or (isinstance(j, float) and j != j):
        give_up()
    return j < k if reverse else k < j


@implements(heapq.heapify)
def heapify(heap: Any) -> None:
    """Turns a list into a heap, in place."""
    i = len(heap) // 2 - 1
    while i >= 0:
        sift_up(heap, i)
        i -= 1


@implements(heapq.heapreplace)
def heapreplace(heap: Any, x: Any) -> Any:
    """Gives the smallest item of a heap and puts `x` in its place."""
    first = heap[0]
    heap[0] = x
    sift_up(heap, 0)
    return first


@implements(heapq.heappushpop)
def heappushpop(heap: Any, x: Any) -> Any:
    """The smallest of a heap and `x`; the others stay in the heap."""
    if heap and heap[0] < x:
        first = heap[0]
        heap[0] = x
        sift_up(heap, 0)
        return first
    return x


@implements(heapq.nsmallest)
@inline
def nsmallest(n: Any, it: Any, key: Any = None) -> Any:
    """The `n` smallest items, in order."""
    return sorted_(it, key=key)[:n] if n > 0 else sorted_(it, key=key)[:0]


@implements(heapq.nlargest)
@inline
def nlargest(n: Any, it: Any, key: Any = None) -> Any:
    """The `n` largest items, from the largest on."""
    return sorted_(it, key=key, reverse=True)[:n] if n > 0 else sorted_(it, key=key)[:0]


@prelude
def tuple_of_list(xs: Any) -> Any:
    """A tuple of the items that a list has now."""
    return as_tuple(list_copy(xs))


@prelude
@inline
def extended(xs: Any, it: Any) -> Any:
    """`xs += it`, which gives the list itself."""
    list_extend(xs, it)
    return xs


@prelude
@inline
def multiplied(xs: Any, times: int) -> Any:
    """`xs *= times`, which gives the list itself."""
    n = len(xs)
    left = times - 1
    if left < 0:
        shortened(xs, 0)
    while left > 0:
        i = 0
        while i < n:
            xs.append(item(xs, i))
            i = plus(i, 1)
        left = left - 1
    return xs


@prelude
def tuple_plus(a: Any, b: Any) -> Any:
    """`a + b` of tuples whose lengths are known only at run time."""
    return as_tuple(list_plus(a, b))


@prelude
def tuple_times(xs: Any, times: int) -> Any:
    """`xs * times` of a tuple whose length is known only at run time."""
    return as_tuple(list_times(xs, times))


@prelude
def list_unequal(a: Any, b: Any) -> Any:
    """`a != b`."""
    return not list_equal(a, b)


@prelude
def list_not_contains(xs: Any, x: Any) -> Any:
    """`x not in xs`, of a list."""
    return not list_contains(xs, x)


@prelude
@inline
def iterable_not_contains(it: Any, x: Any) -> Any:
    """`x not in it`, of what is iterated."""
    return not iterable_contains(it, x)


@prelude
@inline
def object_not_contains(table: Any, x: Any) -> Any:
    """`x not in table`, by its `__contains__`."""
    return not table.__contains__(x)
