"""Dicts, sets and deques of the compiler: what they hold, and in which order it comes, against Python's own."""

from __future__ import annotations

import collections
import random

import pytest

from compiled import check
from upshift.compiler.prelude import tables as ours
from upshift.compiler.prelude.hashes import hash_of

KEYS = [
    0,
    1,
    -1,
    -2,
    7,
    8,
    16,
    1000,
    2**61 - 1,
    2**61,
    -(2**61) + 1,
    2**63 - 1,
    -(2**63),
    0.5,
    -0.0,
    1e300,
    5e-324,
    2.0,
]
"""Numbers whose hashes meet, or are wrapped."""


@pytest.mark.parametrize("key", KEYS)
def test_hashes_are_pythons(key):
    assert hash_of(key) == hash(key)


def numbers(rng: random.Random) -> list[int]:
    top = rng.choice([8, 40, 1000, 2**57])
    return [rng.randrange(-top, top) * rng.choice([1, 1, 8, 32]) for _ in range(rng.randrange(40))]


def grown(rng: random.Random) -> tuple[object, set[int]]:
    """A set, and ours after the same was done to it."""
    own, pythons = ours.Set(), set()
    for n in numbers(rng):
        own.add(n), pythons.add(n)
        if rng.random() < 0.4:
            gone = rng.choice([n, next(iter(pythons))])
            own.discard(gone), pythons.discard(gone)
        if pythons and rng.random() < 0.1:
            assert own.pop() == pythons.pop()
    return own, pythons


METHODS = ["union", "intersection", "difference", "symmetric_difference"]
UPDATES = ["update", "intersection_update", "difference_update", "symmetric_difference_update"]


@pytest.mark.parametrize("seed", range(100))
def test_sets_keep_pythons_order(seed):
    rng = random.Random(seed)
    (a, x), more = grown(rng), numbers(rng)
    assert list(a) == list(x)
    for name in METHODS[:3]:
        assert list(getattr(a, name)(more)) == list(getattr(x, name)(more)), name
    name = rng.choice(UPDATES[:3])
    getattr(a, name)(more), getattr(x, name)(more)
    assert list(a) == list(x), name


def methods(xs, ys):
    a, b = set(xs), set(ys)
    made = [list(a.union(b)), list(a.intersection(b)), list(a.difference(b)), list(a.symmetric_difference(b))]
    c = a.copy()
    c.update(b, ys)
    made.append(list(c))
    c.difference_update(xs)
    made.append(list(c))
    c.symmetric_difference_update(a)
    made.append(list(c))
    c.intersection_update(b)
    return made, list(c), a.issubset(b), a.issuperset(ys), a.isdisjoint(b), list(a.symmetric_difference(ys))


def set_algebra(xs, ys):
    a, b = set(xs), set(ys)
    c = (a | b) - (a & b)
    d = a ^ b
    for x in xs[:3]:
        d.add(x)
        c.discard(x)
    a -= b
    b |= c
    return list(a), list(b), list(c), list(d), [x for x in c if x in d], list(b.union(ys, xs))


def popped(xs, ys):
    a = set(xs)
    out = []
    while len(a) > len(ys):
        out.append(a.pop())
        if out[-1] in ys:
            a.add(out[-1] + 1)
    return out, list(a), list(frozenset(a) | frozenset(ys))


def of_tuples(xs, ys):
    a = {(x, y) for x in xs for y in ys[:4]}
    a.discard((1, 1))
    return list(a), [x for x, y in a if x < y]


def compared(xs, ys):
    a, b = set(xs), frozenset(ys)
    return a <= b, a < b, a >= b, a > b, a == b, a != b, len(a), bool(a), sorted(a), max(a, default=None)


def frozen(xs, ys):
    a = frozenset(xs)
    b = a | set(ys)
    c = a.copy()
    return (
        list(a),
        list(b),
        list(c | b),
        c is a,
        list(a - b),
        list(a ^ b),
        list(a.union(ys)),
        list(a.difference()),
        len(a),
    )


def literals(xs, ys):
    a = {3, 1, 2}
    return [x for x in a], [y for y in {5, 6, 4}], [x for x in xs if x in {1, 2, 3}], list({*xs, *ys, 9})


@pytest.mark.parametrize("f", [set_algebra, methods, popped, of_tuples, compared, frozen, literals])
@pytest.mark.parametrize("of", [int, float])
def test_compiled_sets(f, of):
    rng = random.Random(7)
    rows = [([of(x) for x in numbers(rng)], [of(y) for y in numbers(rng)]) for _ in range(200)]
    check(f, [([of(1)], [of(2)]), *rows], left=2 if f is popped else 0)


def dict_story(xs, ys):
    d = {}
    for i, x in enumerate(xs):
        d[x] = i
        if i % 3 == 2:
            del d[x]
        if x in ys:
            d.pop(x, None)
    e = dict(zip(ys, xs))
    m = d | e
    e.update(d)
    first = next(iter(m), None)
    out = [m.get(first, -1), m.setdefault(first, 5), len(m)]
    if m:
        out.append(m.popitem()[1])
    return d, list(e.items()), m, out, list(reversed(m)), [k for k in d if k in e.keys()], d == e, 0 in d


def counted(xs, ys):
    c = collections.Counter(xs)
    c.update(ys)
    b = collections.Counter(ys)
    more, both, either, less = c + b, c & b, c | b, c - b
    found = collections.defaultdict(list)
    for x in xs:
        found[x % 3].append(x)
    return (
        c.most_common(3),
        list(more.items()),
        list(both),
        list(either),
        list(less.items()),
        sum(c.values()),
        dict(found),
    )


def queued(xs, ys):
    q = collections.deque(xs, maxlen=5)
    q.extend(ys)
    q.appendleft(1)
    q.rotate(2)
    out = list(q)
    while q:
        out.append(q.popleft() if len(q) % 2 else q.pop())
    return out, len(q), 3 in q


@pytest.mark.parametrize("f", [dict_story, counted, queued])
def test_compiled_dicts_and_deques(f):
    rng = random.Random(8)
    check(f, [([1], [2]), *((numbers(rng), numbers(rng)) for _ in range(200))])


CAPTURED = set(range(0, 300, 7)) - {7, 14}
FROZEN = frozenset([32, 0, 64, 8, 16, 1])


@pytest.mark.parametrize("f", [
    lambda x: ([y for y in CAPTURED if y % 3 == x], x in CAPTURED),
    lambda x: (list(FROZEN), list(FROZEN | {x, 40}), list(CAPTURED & FROZEN)),
])  # fmt: skip
def test_captured_sets_come_in_their_own_order(f):
    check(f, [0, 1, 7, 14, 21])


def test_nan_as_a_key_is_left():
    check(lambda x: len({x, x + 1.0}), [1.0, float("nan")], left=1)
