"""Dicts and sets by name, and the dicts in which cached functions keep what they gave."""

from __future__ import annotations

import functools
from typing import Any

from .deques import Deque
from .dicts import Counter, Defaultdict, Dict, Items, Keys, Ordereddict, Values
from .hashes import hash_of, is_ours
from .intrinsics import item
from .registry import inline, prelude
from .sets import Frozenset, Set

__all__ = ["Counter", "Defaultdict", "Deque", "Dict", "Frozenset", "Items", "Keys", "Ordereddict", "Set", "Values",
           "hash_of", "is_ours"]  # fmt: skip
TABLES = (Dict, Counter, Defaultdict, Ordereddict, Set, Frozenset, Deque, Keys, Values, Items)


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
