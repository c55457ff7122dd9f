"""Dicts and sets by name, and the dicts in which cached functions keep what they gave."""

from __future__ import annotations

import collections
import functools
from typing import Any

from .deques import Deque
from .dicts import Counter, Defaultdict, Dict, Items, Keys, Ordereddict, Values
from .hashes import hash_of, is_ours
from .intrinsics import give_up, item
from .iterables import listed
from .registry import inline, prelude
from .sets import Frozenset, Set

__all__ = ["Counter", "Defaultdict", "Deque", "Dict", "Frozenset", "Items", "Keys", "Ordereddict", "Set", "Values",
           "hash_of", "is_ours"]  # fmt: skip
TABLES = (Dict, Counter, Defaultdict, Ordereddict, Set, Frozenset, Deque, Keys, Values, Items)


class GivenSet:
    """A set as it is given back: its items in order."""

    gives: type = set

    def __init__(self, listed_: Any) -> None:
        self.listed = listed_


class GivenFrozenset(GivenSet):
    """Likewise a frozenset."""

    gives = frozenset


class GivenDeque(GivenSet):
    """Likewise a deque, with its `maxlen`."""

    gives = collections.deque

    def __init__(self, listed_: Any, maxlen: Any) -> None:
        self.listed = listed_
        self.maxlen = maxlen


@prelude
@inline
def given_set(s: Any) -> Any:
    """A set as it is given back, if one that is made of its items in their order has them in the same order."""
    if not s.ordered:
        give_up()
    made = s.empty()
    for x in s.any_order():
        if is_ours(x):
            give_up()
        made.add_with_hash(x, hash_of(x))
    again = iter(made.any_order())
    for x in s.any_order():
        for y in again:
            if not x == y:
                give_up()
            break
    xs = listed(s.any_order())
    return GivenFrozenset(xs) if isinstance(s, frozenset) else GivenSet(xs)


@prelude
@inline
def given_deque(d: Any) -> Any:
    """A deque as it is given back."""
    return GivenDeque(listed(d), d.maxlen)


@prelude
def new_memo() -> Any:
    """An empty dict in which a cached function keeps its results."""
    return Dict()


@prelude
@inline
def call_with_memo(memo: Any, f: Any, *args: Any, **words: Any) -> Any:
    """`f(*args)`, or what it gave for equal arguments before: `functools.cache`."""
    if words:
        return f(*args, **words)
    place = memo.find(args)
    if place >= 0:
        return item(memo.values_, place)
    value = f(*args)
    memo[args] = value
    return value


@prelude
@inline
def new_cache(f: Any) -> Any:
    """`functools.cache(f)` of a function that is made inside."""
    return functools.partial(call_with_memo, Dict(), f)
