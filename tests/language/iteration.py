"""Iterators, containers and numbers of the standard library and of NumPy: what is made of them, and given back."""

from __future__ import annotations

import collections
import enum
import functools
import heapq
import itertools
import math
import operator

import numpy as np

from language.table import Table

table = Table()
LISTS = ([], [1], [3, 1, 2], [5, 5, 5, 7], [-1, 0, 7, 7, -1], list(range(12)))
"""Lists of ints: none, one, equal ones, as long as the others here, and longer."""


def compiles(f):
    table.add(f.__name__, f, *LISTS)
    return f


@compiles
def zips_many(xs):
    return [sum(t) for t in zip(xs, xs, range(9), xs[1:], (1, 2, 3, 4))], [t for t in zip(xs, xs[::-1], xs, xs)]


@compiles
def zips_none_and_one(xs):
    return list(zip()), list(zip(xs)), list(zip(xs, strict=True)), [0 for _ in zip(strict=True)]


@compiles
def zips_as_long_as_others(xs):
    try:
        return list(zip(xs, [1, 2, 3], range(3), strict=True))
    except ValueError:
        return None


@compiles
def zips_four_as_long_as_others(xs):
    return [a + b * c - d for a, b, c, d in zip(xs, "abc", (1, 2, 3), xs, strict=True) if b]


@compiles
def maps_over_many(xs):
    return list(map(lambda a, b, c: a + b * c, xs, xs[::-1], range(5))), list(map(max, xs, xs[1:], xs, xs))


@compiles
def zips_longest(xs):
    return list(itertools.zip_longest(xs, [1, 2])), list(itertools.zip_longest([1.5, 2.5], xs, fillvalue=0))


@compiles
def zips_three_longest(xs):
    return [(a, b, c) for a, b, c in itertools.zip_longest(xs, [1.0, 2.0], range(4))]


@compiles
def zips_four_longest(xs):
    return sum(a + b + c + d for a, b, c, d in itertools.zip_longest(xs, range(3), (1, 2), [3], fillvalue=-1))


@compiles
def combinations_with_replacement(xs):
    pairs = sum(a * b for a, b in itertools.combinations_with_replacement(xs[:3], 2))
    threes = list(itertools.combinations_with_replacement(xs[:4], 3))
    return threes, pairs, list(itertools.combinations_with_replacement(xs, 0))


@compiles
def combinations_with_replacement_of_too_few(xs):
    return list(itertools.combinations_with_replacement(xs, len(xs) - 2))


@compiles
def compressed(xs):
    odd = itertools.compress(xs, [x % 2 for x in xs])
    return list(odd), list(itertools.compress(range(9), xs)), list(itertools.compress("abc", [True, 0, 1.5, 1]))


@compiles
def cycled(xs):
    made = []
    for x, c in zip(range(7), itertools.cycle(xs)):
        made.append((x, c))
    return made, [a for a in itertools.islice(itertools.cycle("ab"), 5)]


@compiles
def asks_a_cycle(xs):
    signs = itertools.cycle([1, -1])
    return sum(next(signs) * x for x in xs), next(signs)


@compiles
def differences_by_tee(xs):
    a, b = itertools.tee(xs)
    next(b, None)
    return [y - x for x, y in zip(a, b)]


@compiles
def three_by_tee(xs):
    a, b, c = itertools.tee((x + 1 for x in xs[:5]), 3)
    next(b, None)
    next(c, None)
    next(c, None)
    return list(zip(a, b, c))


@compiles
def tee_of_what_changes(xs):
    xs = xs + [4, 5]
    a, b = itertools.tee(iter(xs))
    first = next(a)
    xs[0] = 100
    xs.append(6)
    return first, list(b), list(a)


@compiles
def counts_and_finds(xs):
    found = operator.countOf(xs, 7), operator.countOf("abca", "a"), operator.countOf((1, 2.0, 2), 2)
    return found, operator.indexOf(xs, 7)


@compiles
def operators_that_change(xs):
    ys, d = xs[:], {}
    operator.iconcat(ys, [1, 2])
    operator.setitem(ys, 0, 9)
    operator.setitem(d, 1, 2)
    operator.delitem(ys, 1)
    return ys, d, operator.length_hint(ys), operator.length_hint(ys, 3)


@compiles
def calls_by_operator(xs):
    return operator.call(max, 1, len(xs)), operator.call(lambda a, b=2: a + b, len(xs), b=4)


MIDDLE = slice(1, -1)


@compiles
def slices_with_names(xs):
    return (
        xs[slice(1, 3)],
        xs[slice(None, None, -1)],
        xs[slice(2)],
        "abc"[slice(0, 2)],
        (1, 2)[slice(1, None)],
        xs[MIDDLE],
    )


def larger_first(a, b):
    return -1 if a > b else 1 if a < b else 0


@compiles
def sorts_by_comparison(xs):
    key = functools.cmp_to_key(larger_first)
    rests = sorted(xs, key=functools.cmp_to_key(lambda a, b: (a % 5) - (b % 5)))
    return rests, sorted(xs, key=key), max(xs, key=key, default=0), min([3, 1, 2], key=key)


@compiles
def counts_in_deque(xs):
    last = collections.deque(xs, maxlen=4)
    return last.count(7), len(last), list(last)


@compiles
def merges_what_is_sorted(xs):
    three = list(heapq.merge(sorted(xs), [0, 4, 8], sorted(xs)[::2]))
    falling = list(heapq.merge(sorted(xs, reverse=True), [8, 4, 0], reverse=True))
    pairs = heapq.merge(sorted((x, "a") for x in xs), [(0, "b"), (5, "b"), (7, "b")], key=lambda pair: pair[0])
    return three, falling, list(pairs), list(heapq.merge(xs)), list(heapq.merge())


@compiles
def merges_what_is_not_sorted(xs):
    return list(heapq.merge(xs, [0, 4, 2, 8], xs[::-1]))


@compiles
def looks_through_values(xs):
    d = {x: x * 2 for x in xs}
    try:
        return 2 in d.values(), 2 not in d.values(), 3 in d.keys(), (1, 2) in d.items()
    except AttributeError:
        return None


@compiles
def methods_behind_brackets(xs):
    largest = max(range(len(xs)), key=xs.__getitem__, default=-1)
    return largest, list(map("abc".__contains__, "ax")), [(1, 2).__getitem__(i) for i in range(2)], xs.__contains__(7)


@compiles
def moves_to_either_end(xs):
    d = collections.OrderedDict((x, i) for i, x in enumerate(xs))
    if 7 in d:
        d.move_to_end(7, last=False)
    if 5 in d:
        d.move_to_end(5)
    d.pop(1, None)
    if len(d) > 2:
        d.move_to_end(2, False)
    d[7] = 3
    return list(d.items()), d.popitem() if d else None, 2 in d, 7 in d


@compiles
def returns_sets(xs):
    odd = {x for x in xs if x % 2}
    return odd, frozenset(x / 2 for x in xs), {(x, 1.5) for x in xs[:2]}, odd if xs else None


@compiles
def returns_counts(xs):
    return collections.Counter(xs), collections.Counter("abca") + collections.Counter("b")


@compiles
def returns_ordered_dict_and_deque(xs):
    ordered = collections.OrderedDict((x, [x]) for x in xs)
    last = collections.deque(xs, maxlen=3)
    last.appendleft(4)
    return ordered, last, collections.deque(xs[::-1])


@compiles
def returns_groups(xs):
    groups = collections.defaultdict(list)
    for x in xs:
        groups[x % 3].append(x)
    return groups


def returns_set_in_another_order_than_it_is_made(xs):
    return set(xs) | {8, 16, 64, 32, 7}


table.add("another_order", returns_set_in_another_order_than_it_is_made, *LISTS, left=len(LISTS))


def ratio(x):
    return x.as_integer_ratio()


table.add("ratios_of_floats", ratio, 0.0, -0.0, 1.5, -2.25, 0.1, 1e10, 2.0**62, math.inf, math.nan)
table.add("ratios_beyond_64_bits", ratio, 1e300, 5e-324, 2.0**-63, left=3)
table.add("ratios_of_ints", lambda n: (n.as_integer_ratio(), n.conjugate()), 0, -5, 2**62)


def as_text(x):
    return f"{x}", "%s" % x, str(x), repr(x)


def by_formats(x):
    return f"{x:7.2f}|{x:g}|{x:<8.1e}", "%5.2f %g" % (x, x), f"{x}"


def by_formats_of_ints(x):
    return "%03d|%x" % (x, x), f"{x:04d}", f"{x:b}", f"{x:6.1f}"


for _dtype in (np.float64, np.int64, np.uint8, np.bool_, np.int16):
    table.add(f"text_of_{_dtype.__name__}", as_text, *map(_dtype, (0, 1, 5, 100)))
for _dtype in (np.float64, np.float32, np.float16):
    table.add(f"formats_of_{_dtype.__name__}", by_formats, *map(_dtype, (0, 1.1, -5.25, 100, math.inf, math.nan, -0.0)))
    table.add(f"whole_part_of_{_dtype.__name__}", lambda x: "%d" % x, *map(_dtype, (0, 1.1, -5.25, -0.0)))
for _dtype in (np.int64, np.uint8, np.int16):
    table.add(f"formats_of_{_dtype.__name__}", by_formats_of_ints, *map(_dtype, (0, 1, 5, 100)))
table.add("formats_of_bool", lambda x: (f"{x}", f"{x:6}", "{:>5}".format(x), "%d" % x), np.bool_(0), np.bool_(1))


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


for _dtype in (np.float32, np.uint8, np.float64, np.int64):
    numbers = (*map(_dtype, (0, 1, 5)),)
    table.add(f"member_times_{_dtype.__name__}", lambda x: (x * Level.HIGH, Level.LOW + x), *numbers)
    table.add(f"member_beside_{_dtype.__name__}", lambda x: (x > Level.LOW, Level.LOW == x, x // Level.HIGH), *numbers)
