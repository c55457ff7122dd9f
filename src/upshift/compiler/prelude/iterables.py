"""Iteration: over lists, ranges and texts, and what is built on it."""

from __future__ import annotations

import itertools
import operator
import sys
from collections.abc import Iterator
from functools import reduce as functools_reduce
from typing import Any

from .intrinsics import (
    as_tuple,
    give_up,
    item,
    part,
    plus,
    poll,
    range_start,
    range_step,
    range_stop,
    set_item,
    sized,
    zip_strict,
)
from .objects import equals
from .registry import implements, inline, prelude

COMPENSATED = sys.version_info >= (3, 12)
"""Whether sums of floats make up for what rounding has lost."""
TURNS = 65536
"""Turns of a loop over a range between two looks at whether it is to end."""
MOST = 2**62


@prelude
def list_items(xs: Any) -> Iterator[Any]:
    """The items of a list, which may grow or shrink meanwhile."""
    i = 0
    while i < len(xs):
        yield item(xs, i)
        i = plus(i, 1)


@prelude
def text_items(s: Any) -> Iterator[Any]:
    """The characters of a text, each a text of its own."""
    i = 0
    n = len(s)
    while i < n:
        j = plus(i, 1)
        yield part(s, i, j)
        i = j


@prelude
def range_up(r: Any) -> Iterator[Any]:
    """The numbers of a range with a positive step, in blocks between which interrupts are seen."""
    i = range_start(r)
    stop = range_stop(r)
    step = range_step(r)
    if stop > MOST or i < -MOST or step > 1000000000:
        give_up()
    while i < stop:
        some = plus(i, step * TURNS)
        if some > stop:
            some = stop
        while i < some:
            yield i
            i = plus(i, step)
        poll()


@prelude
def range_down(r: Any) -> Iterator[Any]:
    """The numbers of a range with a negative step, in blocks between which interrupts are seen."""
    i = range_start(r)
    stop = range_stop(r)
    step = range_step(r)
    if i > MOST or stop < -MOST or step < -1000000000:
        give_up()
    while i > stop:
        some = plus(i, step * TURNS)
        if some < stop:
            some = stop
        while i > some:
            yield i
            i = plus(i, step)
        poll()


@prelude
def range_items(r: Any) -> Iterator[Any]:
    """The numbers of a range whose direction is known only at run time."""
    step = range_step(r)
    if step > 0:
        i = range_start(r)
        stop = range_stop(r)
        if stop > MOST or i < -MOST or step > 1000000000:
            give_up()
        while i < stop:
            yield i
            i = plus(i, step)
            poll()
    else:
        i = range_start(r)
        stop = range_stop(r)
        if i > MOST or stop < -MOST or step < -1000000000:
            give_up()
        while i > stop:
            yield i
            i = plus(i, step)
            poll()


@implements(enumerate)
def enumerate_(it: Any, start: int = 0) -> Iterator[Any]:
    """Pairs of position and item, counted from `start`."""
    i = start
    for x in it:
        yield i, x
        i += 1


@implements(zip)
@inline
def zip_(*its: Any, strict: bool = False) -> Any:
    """Tuples of items, one from each iterable."""
    if strict:
        return zip_strict(*its)
    if len(its) == 0:
        return iter(())
    if len(its) == 1:
        return zip_one(its[0])
    if len(its) == 2:
        return zip_two(its[0], its[1])
    return zip_more(its[0], zip(*its[1:]))


def zip_one(a: Any) -> Iterator[Any]:
    """Items in tuples of one."""
    for x in a:
        yield (x,)


def zip_two(a: Any, b: Any) -> Iterator[Any]:
    """Pairs of items until one iterable ends."""
    rest = iter(b)
    for x in a:
        for y in rest:
            yield x, y
            break
        else:
            return


def zip_more(a: Any, others: Any) -> Iterator[Any]:
    """Items of one iterable before those of the others, which come as tuples, until one of them ends."""
    for x in a:
        for ys in others:
            yield (x, *ys)
            break
        else:
            return


@implements(map)
@inline
def map_(f: Any, *its: Any) -> Any:
    """`f` of the items of iterables, side by side."""
    if len(its) == 1:
        return map_one(f, its[0])
    if len(its) == 2:
        return map_two(f, its[0], its[1])
    return starmap_(f, zip(*its))


def map_one(f: Any, it: Any) -> Iterator[Any]:
    """`f` of every item."""
    for x in it:
        yield f(x)


def map_two(f: Any, a: Any, b: Any) -> Iterator[Any]:
    """`f` of the items of two iterables, side by side."""
    for x, y in zip_two(a, b):
        yield f(x, y)


@implements(filter)
def filter_(f: Any, it: Any) -> Iterator[Any]:
    """The items for which `f` is true, or that are true themselves if it is None."""
    for x in it:
        if f is None:
            if x:
                yield x
        elif f(x):
            yield x


@prelude
def list_backwards(xs: Any) -> Iterator[Any]:
    """The items of a list from the last to the first, which may shrink meanwhile."""
    i = len(xs) - 1
    while i >= 0:
        if i < len(xs):
            yield item(xs, i)
        i = plus(i, -1)


@prelude
def text_backwards(s: Any) -> Iterator[Any]:
    """The characters of a text from the last to the first."""
    i = len(s) - 1
    while i >= 0:
        yield part(s, i, plus(i, 1))
        i = plus(i, -1)


# ---- reductions


@implements(sum)
@inline
def sum_(it: Any, start: Any = 0) -> Any:
    """`sum`: of floats with a second float for what rounding lost, from Python 3.12 on."""
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings")
    total = start
    if COMPENSATED:
        lost = 0.0
        for x in it:
            if type(total) is float:
                if type(x) is float:
                    new = total + x
                    if abs(total) >= abs(x):
                        lost += (total - new) + x
                    else:
                        lost += (x - new) + total
                    total = new
                else:
                    if not isinstance(x, int):  # nothing is made up for from here on
                        if lost != 0.0 and lost - lost == 0.0:
                            total = total + lost
                        lost = 0.0
                    total = total + x
            else:
                total = total + x
        if type(total) is float and lost != 0.0 and lost - lost == 0.0:
            return total + lost
        return total
    for x in it:
        total = total + x
    return total


@implements(any)
@inline
def any_(it: Any) -> Any:
    """Whether one item is true; later ones are not looked at."""
    for x in it:
        if x:
            return True
    return False


@implements(all)
@inline
def all_(it: Any) -> Any:
    """Whether all items are true; what follows a false one is not looked at."""
    for x in it:
        if not x:
            return False
    return True


@prelude
@inline
def in_any_order(it: Any) -> Any:
    """What is iterated over where the order does not matter: sets of texts have one that differs from run to run."""
    if isinstance(it, (set, frozenset)):
        return it.any_order()  # type: ignore[union-attr]
    return it


@prelude
@inline
def min_of(it: Any, *, key: Any = None, default: Any = ...) -> Any:
    """The smallest item of an iterable, the first of equal ones."""
    first = iter(in_any_order(it)) if key is None else iter(it)
    for x in first:
        best = x
        if key is None:
            for y in first:
                if y < best:
                    best = y
        else:
            least = key(x)
            for y in first:
                value = key(y)
                if value < least:
                    best = y
                    least = value
        return best
    if default is ...:
        raise ValueError("min() arg is an empty sequence")
    return default


@prelude
@inline
def max_of(it: Any, *, key: Any = None, default: Any = ...) -> Any:
    """The largest item of an iterable, the first of equal ones."""
    first = iter(in_any_order(it)) if key is None else iter(it)
    for x in first:
        best = x
        if key is None:
            for y in first:
                if y > best:
                    best = y
        else:
            most = key(x)
            for y in first:
                value = key(y)
                if value > most:
                    best = y
                    most = value
        return best
    if default is ...:
        raise ValueError("max() arg is an empty sequence")
    return default


@prelude
@inline
def min_of_two(a: Any, b: Any, key: Any = None) -> Any:
    """The smaller one of two numbers, the first if they are equal."""
    if key is None:
        if b < a:
            return b
        return a
    if key(b) < key(a):
        return b
    return a


@prelude
@inline
def max_of_two(a: Any, b: Any, key: Any = None) -> Any:
    """The larger one of two numbers, the first if they are equal."""
    if key is None:
        if b > a:
            return b
        return a
    if key(b) > key(a):
        return b
    return a


@prelude
@inline
def listed(it: Any) -> Any:
    """`list(it)`."""
    made = []
    for x in it:
        made.append(x)
    return made


@prelude
@inline
def tupled(it: Any) -> Any:
    """`tuple(it)`, where the number of items is known only at run time."""
    made = []
    for x in it:
        made.append(x)
    return as_tuple(made)


@implements(functools_reduce)
@inline
def reduce_(f: Any, it: Any, initial: Any = ...) -> Any:
    """`functools.reduce`: `f` of the result so far and the next item, from left to right."""
    rest = iter(it)
    if initial is ...:
        for x in rest:
            total = x
            for y in rest:
                total = f(total, y)
            return total
        raise TypeError("reduce() of empty iterable with no initial value")
    total = initial
    for y in rest:
        total = f(total, y)
    return total


@implements(operator.countOf)
def count_of(a: Any, b: Any) -> Any:
    """How many items are equal to a value."""
    n = 0
    for x in a:
        if equals(x, b):
            n += 1
    return n


@implements(operator.indexOf)
def index_of(a: Any, b: Any) -> Any:
    """The position of the first item that is equal to a value."""
    i = 0
    for x in a:
        if equals(x, b):
            return i
        i += 1
    raise ValueError("sequence.index(x): x not in sequence")


# ---- lists behind a star


@prelude
@inline
def max_of_star(first: Any, rest: Any, key: Any = None) -> Any:
    """`max(a, *rest)`."""
    made = list(first)
    made.extend(rest)
    if len(made) == 1:
        give_up()
    if len(made) == 0:
        raise TypeError("max expected at least 1 argument, got 0")
    if key is None:
        return max(made)
    return max(made, key=key)


@prelude
@inline
def min_of_star(first: Any, rest: Any, key: Any = None) -> Any:
    """`min(*first, *rest)`: the smallest of arguments whose number is known only at run time."""
    made = list(first)
    made.extend(rest)
    if len(made) == 1:
        give_up()
    if len(made) == 0:
        raise TypeError("min expected at least 1 argument, got 0")
    if key is None:
        return min(made)
    return min(made, key=key)


@prelude
def zip_lists(rows: Any) -> Iterator[Any]:
    """`zip(*rows)` of lists or texts."""
    if len(rows) > 0:
        n = len(rows[0])
        for row in rows:
            if len(row) < n:
                n = len(row)
        i = 0
        while i < n:
            yield tuple([row[i] for row in rows])
            i = plus(i, 1)


@prelude
def product_of_lists(pools: Any) -> Iterator[Any]:
    """`itertools.product(*pools)` of lists."""
    kept = [list(pool) for pool in pools]
    r = len(kept)
    some = True
    for pool in kept:
        if len(pool) == 0:
            some = False
    if some:
        at = [0] * r
        more = True
        while more:
            poll()
            yield tuple([item(kept, k)[item(at, k)] for k in range(r)])
            i = r - 1
            while i >= 0 and at[i] == len(kept[i]) - 1:
                at[i] = 0
                i -= 1
            if i < 0:
                more = False
            else:
                at[i] += 1


# ---- itertools


@implements(itertools.count)
def count_(start: Any = 0, step: Any = 1) -> Iterator[Any]:
    """`start`, `start + step` and so on without an end, interruptible."""
    i = start
    while True:
        poll()
        yield i
        i = i + step


@implements(itertools.chain)
def chain_(*its: Any) -> Iterator[Any]:
    """All items of one iterable after the other."""
    for it in its:
        for x in it:
            yield x


@implements(itertools.chain.from_iterable)
def chain_from(its: Any) -> Iterator[Any]:
    """All items of the iterables that an iterable gives."""
    for it in its:
        for x in it:
            yield x


@implements(itertools.islice)
@inline
def islice_(it: Any, a: Any, b: Any = ..., c: Any = 1) -> Any:
    """The items from `a` up to `b` in steps of `c`, or the first `a` of them."""
    if b is ...:
        return islice_up_to(it, 0, a, 1)
    if a is None:
        return islice_up_to(it, 0, b, c)
    return islice_up_to(it, a, b, c)


def islice_up_to(it: Any, start: Any, stop: Any, step: Any) -> Iterator[Any]:
    """The items at `start`, `start + step` and so on, before `stop`."""
    i = 0
    following = start
    if stop is not None and stop <= start:
        return
    for x in it:
        if i == following:
            yield x
            following += step
        i += 1
        if stop is not None and i >= stop:
            return


@implements(itertools.takewhile)
def takewhile_(f: Any, it: Any) -> Iterator[Any]:
    """The items before the first one for which `f` is false."""
    for x in it:
        if not f(x):
            return
        yield x


@implements(itertools.dropwhile)
def dropwhile_(f: Any, it: Any) -> Iterator[Any]:
    """The items from the first one on for which `f` is false."""
    rest = iter(it)
    for x in rest:
        if not f(x):
            yield x
            break
    for x in rest:
        yield x


@implements(itertools.pairwise)
def pairwise_(it: Any) -> Iterator[Any]:
    """Every item with the one that follows."""
    rest = iter(it)
    for a in rest:
        for b in rest:
            yield a, b
            a = b


@implements(itertools.accumulate)
def accumulate_(it: Any, func: Any = None, *, initial: Any = None) -> Iterator[Any]:
    """All partial sums, or what `func` makes of the result so far and the next item."""
    rest = iter(it)
    if initial is not None:
        total = initial
        yield total
        for x in rest:
            total = total + x if func is None else func(total, x)
            yield total
    else:
        for first in rest:
            total = first
            yield total
            for x in rest:
                total = total + x if func is None else func(total, x)
                yield total


@implements(itertools.groupby)
def groupby_(iterable: Any, key: Any = None) -> Iterator[Any]:
    """Runs of items with equal keys, each as key and list."""
    rest = iter(iterable)
    for first in rest:
        current = first if key is None else key(first)
        group = [first]
        for x in rest:
            k = x if key is None else key(x)
            if isinstance(k, float) and k != k:
                give_up()  # which is equal to itself here, where it is the same object
            if k == current:
                group.append(x)
            else:
                yield current, list_items(group)
                current = k
                group = [x]
        yield current, list_items(group)


@implements(itertools.compress)
def compress_(data: Any, selectors: Any) -> Iterator[Any]:
    """The items whose selector is true."""
    for x, is_kept in zip_two(data, selectors):
        if is_kept:
            yield x


@implements(itertools.cycle)
def cycle_(iterable: Any) -> Iterator[Any]:
    """All items again and again without an end, interruptible."""
    kept = []
    for x in iterable:
        yield x
        kept.append(x)
    while len(kept) > 0:
        poll()
        for x in list_items(kept):
            yield x


@implements(itertools.tee)
@inline
def tee_(iterable: Any, n: Any = 2) -> Any:
    """Two or three iterators over the same items, which are kept until the end of the lane."""
    rest = iter(iterable)
    kept: Any = []
    if n == 2:
        return tee_items(rest, kept), tee_items(rest, kept)
    if n == 3:
        return tee_items(rest, kept), tee_items(rest, kept), tee_items(rest, kept)
    return give_up()


def tee_items(rest: Any, kept: Any) -> Iterator[Any]:
    """The items that some of the iterators have asked for before, then those that follow."""
    i = 0
    while True:
        if i == len(kept):
            for x in rest:
                kept.append(x)
                break
            else:
                return
        yield item(kept, i)
        i = plus(i, 1)


@implements(itertools.zip_longest)
@inline
def zip_longest_(*its: Any, fillvalue: Any = None) -> Any:
    """Tuples of items, one from each iterable, up to the end of the longest one."""
    if len(its) == 0:
        return iter(())
    if len(its) == 1:
        return zip_one(its[0])
    if len(its) == 2:
        return zip_two_longest(its[0], its[1], fillvalue)
    fills = (fillvalue,) * (len(its) - 1)
    return zip_more_longest(its[0], itertools.zip_longest(*its[1:], fillvalue=fillvalue), fillvalue, fills)


def zip_two_longest(a: Any, b: Any, fill: Any) -> Iterator[Any]:
    """Pairs of items up to the end of both iterables."""
    first = iter(a)
    second = iter(b)
    for x in first:
        for y in second:
            yield x, y
            break
        else:
            yield x, fill
            for z in first:
                yield z, fill
            return
    for y in second:
        yield fill, y


def zip_more_longest(a: Any, others: Any, fill: Any, fills: Any) -> Iterator[Any]:
    """The same for items before tuples of the others' items."""
    first = iter(a)
    for x in first:
        for ys in others:
            yield (x, *ys)
            break
        else:
            yield (x, *fills)
            for z in first:
                yield (z, *fills)
            return
    for ys in others:
        yield (fill, *ys)


@implements(itertools.starmap)
def starmap_(f: Any, it: Any) -> Iterator[Any]:
    """`f` of every tuple's items as arguments."""
    for args in it:
        yield f(*args)


@implements(itertools.repeat)
@inline
def repeat_(x: Any, times: Any = None) -> Any:
    """One value `times` times, or without an end."""
    if times is None:
        return repeat_for_good(x)
    return repeat_times(x, times)


def repeat_for_good(x: Any) -> Iterator[Any]:
    """One value without an end, interruptible."""
    while True:
        poll()
        yield x


def repeat_times(x: Any, times: Any) -> Iterator[Any]:
    """One value `times` times."""
    for _ in range(times):
        yield x


@implements(itertools.combinations)
@inline
def combinations_(it: Any, r: Any) -> Any:
    """All choices of `r` items, in the order of their positions."""
    pool = listed(it)
    if r == 2:
        return combinations_of_two(pool)
    return combinations_of(pool, r)


def combinations_of_two(pool: Any) -> Iterator[Any]:
    """All pairs of items, in the order of their positions."""
    n = len(pool)
    i = 0
    while i < n:
        j = plus(i, 1)
        while j < n:
            yield item(pool, i), item(pool, j)
            j = plus(j, 1)
        i = plus(i, 1)


def combinations_of(pool: Any, r: Any) -> Iterator[Any]:
    """All choices of `r` items of a list, by counting positions upwards."""
    n = len(pool)
    if r < 0:
        raise ValueError("r must be non-negative")
    if r <= n:
        at = list(range(r))
        more = True
        while more:
            poll()
            made = sized(r)
            k = 0
            while k < r:
                set_item(made, k, item(pool, item(at, k)))
                k = plus(k, 1)
            yield as_tuple(made)
            i = r - 1
            while i >= 0 and item(at, i) == i + n - r:
                i -= 1
            if i < 0:
                more = False
            else:
                at[i] += 1
                j = i + 1
                while j < r:
                    at[j] = at[j - 1] + 1
                    j += 1


@implements(itertools.permutations)
@inline
def permutations_(it: Any, r: Any = None) -> Any:
    """All orders of `r` items, or of all of them."""
    pool = listed(it)
    if r is None:
        return permutations_of(pool, len(pool))
    return permutations_of(pool, r)


def permutations_of(pool: Any, r: Any) -> Iterator[Any]:
    """All orders of `r` items of a list, by CPython's cycles."""
    n = len(pool)
    if r < 0:
        raise ValueError("r must be non-negative")
    if r <= n:
        at = list(range(n))
        cycles = list(range(n, n - r, -1))
        more = True
        first = True
        while more:
            poll()
            if not first:
                i = r - 1
                found = False
                while i >= 0 and not found:
                    cycles[i] -= 1
                    if cycles[i] == 0:
                        kept = at[i]
                        k = i
                        while k < n - 1:
                            at[k] = at[k + 1]
                            k += 1
                        at[n - 1] = kept
                        cycles[i] = n - i
                        i -= 1
                    else:
                        j = n - cycles[i]
                        kept = at[i]
                        at[i] = at[j]
                        at[j] = kept
                        found = True
                if not found:
                    more = False
            first = False
            if more:
                made = sized(r)
                k = 0
                while k < r:
                    set_item(made, k, item(pool, item(at, k)))
                    k = plus(k, 1)
                yield as_tuple(made)


@implements(itertools.combinations_with_replacement)
@inline
def combinations_with_replacement_(it: Any, r: Any) -> Any:
    """All choices of `r` items, each as often as one likes, in the order of their positions."""
    pool = listed(it)
    if r == 2:
        return pairs_with_replacement(pool)
    return combinations_with_replacement_of(pool, r)


def pairs_with_replacement(pool: Any) -> Iterator[Any]:
    """All pairs of items, also of one with itself, in the order of their positions."""
    n = len(pool)
    i = 0
    while i < n:
        j = i
        while j < n:
            yield item(pool, i), item(pool, j)
            j = plus(j, 1)
        i = plus(i, 1)


def combinations_with_replacement_of(pool: Any, r: Any) -> Iterator[Any]:
    """All choices of `r` items of a list, each as often as one likes, by counting positions upwards."""
    n = len(pool)
    if r < 0:
        raise ValueError("r must be non-negative")
    if n > 0 or r == 0:
        at = [0] * r
        more = True
        while more:
            poll()
            made = sized(r)
            k = 0
            while k < r:
                set_item(made, k, item(pool, item(at, k)))
                k = plus(k, 1)
            yield as_tuple(made)
            i = r - 1
            while i >= 0 and item(at, i) == n - 1:
                i -= 1
            if i < 0:
                more = False
            else:
                following = at[i] + 1
                while i < r:
                    at[i] = following
                    i += 1


@implements(itertools.product)
@inline
def product_(*its: Any, repeat: Any = 1) -> Any:
    """All combinations of one item from each: two or three iterables, or one with `repeat`."""
    if len(its) == 2 and repeat == 1:
        return product_of_two(listed(its[0]), listed(its[1]))
    if len(its) == 3 and repeat == 1:
        return product_of_three(listed(its[0]), listed(its[1]), listed(its[2]))
    if len(its) == 1:
        return product_of_one(listed(its[0]), repeat)
    return give_up()


def product_of_two(a: Any, b: Any) -> Iterator[Any]:
    """All pairs of one item from each of two lists."""
    for x in a:
        for y in b:
            yield x, y


def product_of_three(a: Any, b: Any, c: Any) -> Iterator[Any]:
    """All triples of one item from each of three lists."""
    for x in a:
        for y in b:
            for z in c:
                yield x, y, z


def product_of_one(pool: Any, r: Any) -> Iterator[Any]:
    """All tuples of `r` items of one list, by counting positions upwards."""
    n = len(pool)
    if r < 0:
        raise ValueError("repeat argument cannot be negative")
    if n > 0 or r == 0:
        at = [0] * r
        more = True
        while more:
            poll()
            made = sized(r)
            k = 0
            while k < r:
                set_item(made, k, item(pool, item(at, k)))
                k = plus(k, 1)
            yield as_tuple(made)
            i = r - 1
            while i >= 0 and at[i] == n - 1:
                at[i] = 0
                i -= 1
            if i < 0:
                more = False
            else:
                at[i] += 1
