"""Dicts, in the order of insertion, with their views; `Counter`, `defaultdict` and `OrderedDict`."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

from .hashes import empty_table, hash_of
from .intrinsics import give_up, item, plus, set_item, shift_down, shortened, wrapping_mul
from .objects import equals
from .registry import apart, implements, inline, prelude


@prelude
@inline
def next_slot(at: Any, rest: Any) -> Any:
    """Where to look after a slot that is taken: CPython's way, so that keys that follow each other make no cluster.

    `rest`: what is left of the hash, five bits fewer each time.
    """
    return plus(plus(wrapping_mul(at, 5), rest), 1)


class Dict:
    """A hash table of places in two lists, of keys and values in the order of insertion."""

    stands_for: type = dict
    size = "count"
    """The field that says how many items there are."""

    def __init__(self) -> None:
        self.count = 0
        self.changes = 0
        """How often keys came or went."""
        self.keys_ = []
        self.values_ = []
        self.alive = []
        self.slots = [-1, -1, -1, -1, -1, -1, -1, -1]

    # ---- places

    def find(self, key: Any) -> Any:
        """The place of a key, or -1."""
        mask = len(self.slots) - 1
        h = hash_of(key)
        at = h & mask
        while True:
            place = item(self.slots, at)
            if place == -1:
                return -1
            if place >= 0 and item(self.keys_, place) == key:
                return place
            h = shift_down(h, 5)
            at = next_slot(at, h) & mask

    def insert(self, key: Any, value: Any) -> None:
        """A key that is not in yet."""
        if 3 * (len(self.keys_) + 1) > 2 * len(self.slots):
            self.grow()
        place = len(self.keys_)
        self.keys_.append(key)
        self.values_.append(value)
        self.alive.append(True)
        self.count = plus(self.count, 1)
        self.changes = plus(self.changes, 1)
        self.enter(place, hash_of(key))

    def enter(self, place: Any, h: Any) -> None:
        """Writes the place of a new item into the hash table, in the first free slot of its probe sequence."""
        mask = len(self.slots) - 1
        at = h & mask
        while item(self.slots, at) != -1:
            h = shift_down(h, 5)
            at = next_slot(at, h) & mask
        set_item(self.slots, at, place)

    @apart
    def grow(self) -> None:
        """A larger table, without places of keys that were deleted."""
        if self.count < len(self.keys_):
            to = 0
            i = 0
            n = len(self.keys_)
            while i < n:
                if item(self.alive, i):
                    set_item(self.keys_, to, item(self.keys_, i))
                    set_item(self.values_, to, item(self.values_, i))
                    set_item(self.alive, to, True)
                    to = plus(to, 1)
                i = plus(i, 1)
            shortened(self.keys_, to)
            shortened(self.values_, to)
            shortened(self.alive, to)
        size = 8
        while 3 * (len(self.keys_) + 1) > size:
            size = size * 2
        self.slots = empty_table(size, -1)
        i = 0
        n = len(self.keys_)
        while i < n:
            self.enter(i, hash_of(item(self.keys_, i)))
            i = plus(i, 1)

    def forget(self, place: Any, key: Any) -> None:
        """Marks an item as deleted; its slot stays taken, as a probe sequence may lead through it."""
        mask = len(self.slots) - 1
        h = hash_of(key)
        at = h & mask
        while item(self.slots, at) != place:
            h = shift_down(h, 5)
            at = next_slot(at, h) & mask
        set_item(self.slots, at, -2)
        set_item(self.alive, place, False)
        self.count = self.count - 1
        self.changes = plus(self.changes, 1)

    # ---- one key

    def __setitem__(self, key: Any, value: Any) -> None:
        place = self.find(key)
        if place >= 0:
            self.values_[place] = value
        else:
            self.insert(key, value)

    def __getitem__(self, key: Any) -> Any:
        place = self.find(key)
        if place < 0:
            raise KeyError(key)
        return item(self.values_, place)

    def __contains__(self, key: Any) -> Any:
        return self.find(key) >= 0

    def __len__(self) -> Any:
        return self.count

    def __delitem__(self, key: Any) -> None:
        place = self.find(key)
        if place < 0:
            raise KeyError(key)
        self.forget(place, key)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or a default."""
        place = self.find(key)
        if place < 0:
            return default
        return item(self.values_, place)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of a key, which is inserted with a default if it is not there."""
        place = self.find(key)
        if place >= 0:
            return item(self.values_, place)
        self.insert(key, default)
        return default

    def pop(self, key: Any, default: Any = ...) -> Any:
        """Removes a key and gives its value, or the default, or a KeyError."""
        place = self.find(key)
        if place < 0:
            if default is ...:
                raise KeyError(key)
            return default
        value = item(self.values_, place)
        self.forget(place, key)
        return value

    def popitem(self) -> Any:
        """Removes the pair that was inserted last."""
        if self.count == 0:
            raise KeyError("popitem(): dictionary is empty")
        i = len(self.keys_) - 1
        while not item(self.alive, i):
            i = plus(i, -1)
        return self.taken_out(i)

    def taken_out(self, i: Any) -> Any:
        """The pair at place `i`, which is removed."""
        key = item(self.keys_, i)
        value = item(self.values_, i)
        self.forget(i, key)
        return key, value

    # ---- all keys

    def __iter__(self) -> Any:
        return dict_keys(self, self.count, self.changes)

    def __reversed__(self) -> Any:
        return dict_keys_backwards(self, self.count, self.changes)

    def keys(self) -> Any:
        """A view of the keys."""
        return Keys(self)

    def values(self) -> Any:
        """A view of the values."""
        return Values(self)

    def items(self) -> Any:
        """A view of the pairs."""
        return Items(self)

    def clear(self) -> None:
        """Removes everything."""
        self.count = 0
        self.changes = plus(self.changes, 1)
        self.keys_ = []
        self.values_ = []
        self.alive = []
        self.slots = [-1, -1, -1, -1, -1, -1, -1, -1]

    def copy(self) -> Any:
        """Another dict of the same pairs."""
        made = Dict()
        made.take(self)
        return made

    @apart
    def take(self, other: Any) -> None:
        """Take in all of another dict."""
        i = 0
        n = len(other.keys_)
        while i < n:
            if item(other.alive, i):
                self[item(other.keys_, i)] = item(other.values_, i)
            i = plus(i, 1)

    def __or__(self, other: Any) -> Any:
        made = self.copy()
        made.take(other)
        return made

    def __ior__(self, other: Any) -> Any:
        self.update(other)  # type: ignore[attr-defined]
        return self

    def __eq__(self, other: Any) -> Any:
        if self.count != len(other):
            return False
        for key, value in dict_items(self, self.count, self.changes):
            place = other.find(key)
            if place < 0:
                return False
            if not equals(item(other.values_, place), value):
                return False
        return True

    def __ne__(self, other: Any) -> Any:
        return not self.__eq__(other)


for _name in ("get", "pop", "__iter__", "__reversed__", "__ior__"):
    getattr(Dict, _name).inline = True


def check_changes(table: Any, n: Any, changes: Any) -> None:
    """Keys that come and go while they are iterated over."""
    if table.changes != changes:
        if table.count != n:
            raise RuntimeError("dictionary changed size during iteration")
        give_up()


def dict_keys(table: Any, n: Any, changes: Any) -> Iterator[Any]:
    """The keys in the order of insertion, and an error once the dict is changed meanwhile."""
    i = 0
    while True:
        check_changes(table, n, changes)
        while i < len(table.keys_) and not item(table.alive, i):
            i = plus(i, 1)
        if i >= len(table.keys_):
            return
        yield item(table.keys_, i)
        i = plus(i, 1)


def dict_values(table: Any, n: Any, changes: Any) -> Iterator[Any]:
    """The values in the order of insertion, and an error once the dict is changed meanwhile."""
    i = 0
    while True:
        check_changes(table, n, changes)
        while i < len(table.keys_) and not item(table.alive, i):
            i = plus(i, 1)
        if i >= len(table.keys_):
            return
        yield item(table.values_, i)
        i = plus(i, 1)


def dict_items(table: Any, n: Any, changes: Any) -> Iterator[Any]:
    """The pairs in the order of insertion, and an error once the dict is changed meanwhile."""
    i = 0
    while True:
        check_changes(table, n, changes)
        while i < len(table.keys_) and not item(table.alive, i):
            i = plus(i, 1)
        if i >= len(table.keys_):
            return
        yield item(table.keys_, i), item(table.values_, i)
        i = plus(i, 1)


def dict_keys_backwards(table: Any, n: Any, changes: Any) -> Iterator[Any]:
    """The keys from the last inserted to the first, and an error once the dict is changed meanwhile."""
    i = len(table.keys_) - 1
    while True:
        check_changes(table, n, changes)
        while i >= 0 and not item(table.alive, i):
            i = plus(i, -1)
        if i < 0:
            return
        yield item(table.keys_, i)
        i = plus(i, -1)


class Keys:
    """`d.keys()`: a view of a dict, which can be gone over again and again."""

    stands_for = type({}.keys())

    def __init__(self, table: Any) -> None:
        self.table = table

    def __iter__(self) -> Any:
        return dict_keys(self.table, self.table.count, self.table.changes)

    def __reversed__(self) -> Any:
        return dict_keys_backwards(self.table, self.table.count, self.table.changes)

    def __len__(self) -> Any:
        return self.table.count

    def __contains__(self, key: Any) -> Any:
        return self.table.find(key) >= 0


class Values:
    """The view that `d.values()` gives."""

    stands_for = type({}.values())

    def __init__(self, table: Any) -> None:
        self.table = table

    def __iter__(self) -> Any:
        return dict_values(self.table, self.table.count, self.table.changes)

    def __len__(self) -> Any:
        return self.table.count

    def __contains__(self, value: Any) -> Any:
        for one in self:
            if equals(one, value):
                return True
        return False


class Items:
    """The view that `d.items()` gives."""

    stands_for = type({}.items())

    def __init__(self, table: Any) -> None:
        self.table = table

    def __iter__(self) -> Any:
        return dict_items(self.table, self.table.count, self.table.changes)

    def __len__(self) -> Any:
        return self.table.count

    def __contains__(self, pair: Any) -> Any:
        place = self.table.find(pair[0])
        return place >= 0 and equals(item(self.table.values_, place), pair[1])


for _view in (Keys, Values, Items):
    _view.__iter__.inline = True  # type: ignore[attr-defined]
Keys.__reversed__.inline = True  # type: ignore[attr-defined]


@prelude
@inline
def new_dict(source: Any = ()) -> Any:
    """`dict(source)`, of another dict or of pairs."""
    made = Dict()
    dict_update(made, source)
    return made


@prelude
@inline
def dict_update(table: Any, source: Any = ()) -> None:
    """Inserts all pairs of another dict, or of an iterable of pairs."""
    if isinstance(source, dict):
        table.take(source)
    else:
        for key, value in source:
            table[key] = value


Dict.update = dict_update  # type: ignore[attr-defined]


@implements(dict.fromkeys)
@inline
def dict_from_keys(keys: Any, value: Any = None) -> Any:
    """A dict that has the same value for all keys."""
    made = Dict()
    for key in keys:
        made[key] = value
    return made


class Counter(Dict):
    """`collections.Counter`."""

    stands_for = collections.Counter

    def __getitem__(self, key: Any) -> Any:
        place = self.find(key)
        if place < 0:
            return 0
        return item(self.values_, place)

    def __delitem__(self, key: Any) -> None:
        place = self.find(key)
        if place >= 0:
            self.forget(place, key)

    def count_all(self, it: Any) -> None:
        """Counts the items of an iterable, or adds the counts of a dict."""
        if isinstance(it, dict):
            self.add_counts(it, 1)
        else:
            for key in it:
                place = self.find(key)
                if place < 0:
                    self.insert(key, 1)
                else:
                    self.values_[place] = item(self.values_, place) + 1

    def add_counts(self, other: Any, sign: Any) -> None:
        """Adds the counts of another table, or subtracts them if `sign` is -1."""
        i = 0
        n = len(other.keys_)
        while i < n:
            if item(other.alive, i):
                key = item(other.keys_, i)
                place = self.find(key)
                if place < 0:
                    if sign == 1:
                        self.insert(key, item(other.values_, i))
                    else:
                        self.insert(key, 0 - item(other.values_, i))
                else:
                    self.values_[place] = item(self.values_, place) + sign * item(other.values_, i)
            i = plus(i, 1)

    def update(self, it: Any = ()) -> None:
        """Counts more items."""
        self.count_all(it)

    def subtract(self, it: Any = ()) -> None:
        """Counts items downwards, below zero as well."""
        if isinstance(it, dict):
            self.add_counts(it, -1)
        else:
            for key in it:
                self[key] = self[key] - 1

    def copy(self) -> Any:
        """Another counter of the same counts."""
        made = Counter()
        made.take(self)
        return made

    def elements(self) -> Iterator[Any]:
        """Every key as often as it was counted."""
        for key, count in dict_items(self, self.count, self.changes):
            for _ in range(count):
                yield key

    def total(self) -> Any:
        """The sum of all counts."""
        total = 0
        for value in dict_values(self, self.count, self.changes):
            total += value
        return total

    def most_common(self, n: Any = None) -> Any:
        """The `n` pairs with the highest counts, or all, equal counts in the order of insertion."""
        made = []
        for key, value in dict_items(self, self.count, self.changes):
            made.append((key, value))
        made.sort(key=lambda pair: pair[1], reverse=True)
        if n is None:
            return made
        return made[:n] if n > 0 else made[:0]

    def __add__(self, other: Any) -> Any:
        made = Counter()
        for key, count in dict_items(self, self.count, self.changes):
            new = count + other[key]
            if new > 0:
                made[key] = new
        for key, count in dict_items(other, other.count, other.changes):
            if count > 0 and key not in self:
                made[key] = count
        return made

    def __sub__(self, other: Any) -> Any:
        made = Counter()
        for key, count in dict_items(self, self.count, self.changes):
            new = count - other[key]
            if new > 0:
                made[key] = new
        for key, count in dict_items(other, other.count, other.changes):
            if count < 0 and key not in self:
                made[key] = 0 - count
        return made

    def __or__(self, other: Any) -> Any:
        made = Counter()
        for key, count in dict_items(self, self.count, self.changes):
            more = other[key]
            new = more if count < more else count
            if new > 0:
                made[key] = new
        for key, count in dict_items(other, other.count, other.changes):
            if count > 0 and key not in self:
                made[key] = count
        return made

    def __and__(self, other: Any) -> Any:
        made = Counter()
        for key, count in dict_items(self, self.count, self.changes):
            less = other[key]
            new = count if count < less else less
            if new > 0:
                made[key] = new
        return made

    def __iadd__(self, other: Any) -> Any:
        return give_up()

    def __isub__(self, other: Any) -> Any:
        return give_up()

    def __ior__(self, other: Any) -> Any:
        return give_up()

    def __iand__(self, other: Any) -> Any:
        return give_up()

    def __eq__(self, other: Any) -> Any:
        if isinstance(other, collections.Counter):
            for key in dict_keys(self, self.count, self.changes):
                if not self[key] == other[key]:
                    return False
            for key in dict_keys(other, other.count, other.changes):
                if not self[key] == other[key]:
                    return False
            return True
        if self.count != other.count:
            return False
        for key, value in dict_items(self, self.count, self.changes):
            place = other.find(key)
            if place < 0:
                return False
            if not equals(item(other.values_, place), value):
                return False
        return True


for _name in ("count_all", "update", "subtract", "most_common"):
    getattr(Counter, _name).inline = True


@implements(collections.Counter)
@inline
def new_counter(iterable: Any = None) -> Any:
    """`collections.Counter(iterable)`."""
    made = Counter()
    if iterable is not None:
        made.count_all(iterable)
    return made


class Defaultdict(Dict):
    """`collections.defaultdict` of a class or function without arguments."""

    stands_for = collections.defaultdict

    def __getitem__(self, key: Any) -> Any:
        place = self.find(key)
        if place >= 0:
            return item(self.values_, place)
        if self.default_factory is None:  # type: ignore[attr-defined]
            raise KeyError(key)
        value = self.default_factory()  # type: ignore[attr-defined]
        self.insert(key, value)
        return value

    def copy(self) -> Any:
        """Another dict of the same pairs with the same `default_factory`."""
        made = Defaultdict()
        made.default_factory = self.default_factory  # type: ignore[attr-defined]
        made.take(self)
        return made


Defaultdict.__getitem__.inline = True  # type: ignore[attr-defined]
Defaultdict.copy.inline = True  # type: ignore[attr-defined]


@implements(collections.defaultdict)
@inline
def new_defaultdict(make: Any = None, source: Any = ()) -> Any:
    """`collections.defaultdict(make, source)`."""
    made = Defaultdict()
    made.default_factory = make  # type: ignore[attr-defined]
    dict_update(made, source)
    return made


class Ordereddict(Dict):
    """`collections.OrderedDict`."""

    stands_for = collections.OrderedDict

    def move_to_end(self, key: Any, last: Any = True) -> None:
        """Moves a key to the end; or to the front with `last=False`."""
        place = self.find(key)
        if place < 0:
            raise KeyError(key)
        value = item(self.values_, place)
        self.forget(place, key)
        self.insert(key, value)
        if not last:
            self.turn()

    @apart
    def turn(self) -> None:
        """Moves the last pair to the front."""
        n = len(self.keys_) - 1
        key = item(self.keys_, n)
        value = item(self.values_, n)
        i = n
        while i > 0:
            set_item(self.keys_, i, item(self.keys_, i - 1))
            set_item(self.values_, i, item(self.values_, i - 1))
            set_item(self.alive, i, item(self.alive, i - 1))
            i = plus(i, -1)
        set_item(self.keys_, 0, key)
        set_item(self.values_, 0, value)
        set_item(self.alive, 0, True)
        size = len(self.slots)
        self.slots = empty_table(size, -1)
        while i <= n:
            if item(self.alive, i):
                self.enter(i, hash_of(item(self.keys_, i)))
            i = plus(i, 1)

    def popitem(self, last: Any = True) -> Any:
        """Removes the last pair, or the first one with `last=False`."""
        if self.count == 0:
            raise KeyError("dictionary is empty")
        if last:
            i = len(self.keys_) - 1
            while not item(self.alive, i):
                i = plus(i, -1)
            return self.taken_out(i)
        i = 0
        while not item(self.alive, i):
            i = plus(i, 1)
        return self.taken_out(i)

    def copy(self) -> Any:
        """Another ordered dict of the same pairs."""
        made = Ordereddict()
        made.take(self)
        return made

    def __eq__(self, other: Any) -> Any:
        return give_up()


@implements(collections.OrderedDict)
@inline
def new_ordereddict(source: Any = ()) -> Any:
    """`collections.OrderedDict(source)`."""
    made = Ordereddict()
    dict_update(made, source)
    return made
