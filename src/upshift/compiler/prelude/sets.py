"""Sets: CPython's own hash table, slot by slot, so that items come in its order after whatever was done to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .hashes import empty_table, hash_of, is_ours
from .intrinsics import give_up, item, plus, set_item, shift_down, sized, wrapping_add, wrapping_mul
from .registry import apart, inline, prelude


class Set:
    """A table of slots that are empty (0), taken (1) or were taken once (2)."""

    stands_for: type = set
    size = "count"

    def __init__(self) -> None:
        self.count = 0
        self.fill = 0
        """Slots that are, or were, taken."""
        self.mask = 7
        self.finger = 0
        """Where `pop` goes on."""
        self.ordered = True
        """Whether it is known in which order items come."""
        self.state = [0, 0, 0, 0, 0, 0, 0, 0]
        self.hashes = [0, 0, 0, 0, 0, 0, 0, 0]
        self.items_ = sized(8)

    def empty(self) -> Any:
        """A new set of the same class."""
        return Set()

    # ---- slots

    def find(self, key: Any, h: Any) -> Any:
        """The place of a key, or -1."""
        mask = self.mask
        perturb = h
        i = h & mask
        while True:
            probes = 9 if plus(i, 9) <= mask else 0
            at = i
            while probes >= 0:
                if item(self.state, at) == 0:
                    return -1
                if item(self.state, at) == 1 and item(self.hashes, at) == h and item(self.items_, at) == key:
                    return at
                at = plus(at, 1)
                probes = plus(probes, -1)
            perturb = shift_down(perturb, 5)
            i = wrapping_add(wrapping_add(wrapping_mul(i, 5), 1), perturb) & mask

    def add_with_hash(self, key: Any, h: Any) -> None:
        """Adds a key whose hash is known: CPython's probe sequence, nine neighbours and then a jump."""
        mask = self.mask
        perturb = h
        i = h & mask
        free = -1
        while True:
            probes = 9 if plus(i, 9) <= mask else 0
            at = i
            while probes >= 0:
                state = item(self.state, at)
                if state == 0:
                    self.put(key, h, at, free)
                    return
                if state == 2:
                    free = at  # the last one on the way is taken
                elif item(self.hashes, at) == h and item(self.items_, at) == key:
                    return
                at = plus(at, 1)
                probes = plus(probes, -1)
            perturb = shift_down(perturb, 5)
            i = wrapping_add(wrapping_add(wrapping_mul(i, 5), 1), perturb) & mask

    def put(self, key: Any, h: Any, at: Any, free: Any) -> None:
        """A key that is not in yet, into an empty slot, or into one that was taken once where there is one."""
        self.count = plus(self.count, 1)
        if free >= 0:
            at = free
        else:
            self.fill = plus(self.fill, 1)
        set_item(self.state, at, 1)
        set_item(self.hashes, at, h)
        set_item(self.items_, at, key)
        if free < 0 and self.fill * 5 >= self.mask * 3:
            self.resize(self.with_room())

    def with_room(self) -> Any:
        """For how many slots the table grows: four times its items, or twice once it is large."""
        return self.count * 2 if self.count > 50000 else self.count * 4

    @apart
    def resize(self, least: Any) -> None:
        """A table for more than so many items, without slots that were taken once."""
        size = 8
        while size <= least:
            size = size * 2
        old_state = self.state
        old_hashes = self.hashes
        old_items = self.items_
        n = self.mask + 1
        self.state = empty_table(size, 0)
        self.hashes = empty_table(size, 0)
        self.items_ = sized(size)
        self.mask = size - 1
        self.fill = self.count
        i = 0
        while i < n:
            if item(old_state, i) == 1:
                self.insert_clean(item(old_items, i), item(old_hashes, i))
            i = plus(i, 1)

    @apart
    def insert_clean(self, key: Any, h: Any) -> None:
        """A key that is known not to be in, into a table without slots that were taken once."""
        mask = self.mask
        perturb = h
        i = h & mask
        while True:
            probes = 9 if plus(i, 9) <= mask else 0
            at = i
            while probes >= 0:
                if item(self.state, at) == 0:
                    set_item(self.state, at, 1)
                    set_item(self.hashes, at, h)
                    set_item(self.items_, at, key)
                    return
                at = plus(at, 1)
                probes = plus(probes, -1)
            perturb = shift_down(perturb, 5)
            i = wrapping_add(wrapping_add(wrapping_mul(i, 5), 1), perturb) & mask

    def forget(self, at: Any) -> None:
        """Marks slot `at` as deleted; it stays part of the probe sequences that lead through it."""
        set_item(self.state, at, 2)
        set_item(self.hashes, at, -1)
        self.count = self.count - 1

    @apart
    def merge(self, other: Any) -> None:
        """Take in all of another set."""
        if other is self or other.count == 0:
            return
        self.ordered = self.ordered and other.ordered
        if (self.fill + other.count) * 5 >= self.mask * 3:
            self.resize((self.count + other.count) * 2)
        i = 0
        n = other.mask
        if self.fill == 0 and self.mask == n and other.fill == other.count:
            while i <= n:
                if item(other.state, i) == 1:
                    set_item(self.state, i, 1)
                    set_item(self.hashes, i, item(other.hashes, i))
                    set_item(self.items_, i, item(other.items_, i))
                i = plus(i, 1)
            self.fill = other.fill
            self.count = other.count
            return
        fresh = self.fill == 0
        if fresh:
            self.fill = other.count
            self.count = other.count
        while i <= n:
            if item(other.state, i) == 1:
                if fresh:
                    self.insert_clean(item(other.items_, i), item(other.hashes, i))
                else:
                    self.add_with_hash(item(other.items_, i), item(other.hashes, i))
            i = plus(i, 1)

    def take(self, it: Any) -> None:
        """Take in what an iterable yields."""
        if isinstance(it, (set, frozenset)):
            self.merge(it)
        else:
            if is_plain_dict(it) and (self.fill + len(it)) * 5 >= self.mask * 3:
                self.resize((self.count + len(it)) * 2)
            for x in it:
                self.add_with_hash(x, hash_of(x))

    @apart
    def discard_all(self, other: Any) -> None:
        """Forget all items of another set."""
        if other is self:
            self.clear()
            return
        i = 0
        while i <= other.mask:
            if item(other.state, i) == 1:
                at = self.find(item(other.items_, i), item(other.hashes, i))
                if at >= 0:
                    self.forget(at)
            i = plus(i, 1)
        self.tidy()

    def tidy(self) -> None:
        """A new table where many slots were taken once."""
        if self.fill - self.count > self.mask // 4:
            self.resize(self.with_room())

    # ---- one item

    def __contains__(self, key: Any) -> Any:
        return self.find(key, hash_of(key)) >= 0

    def add(self, key: Any) -> None:
        """Adds a key."""
        self.add_with_hash(key, hash_of(key))

    def discard(self, key: Any) -> None:
        """Removes a key if it is there."""
        at = self.find(key, hash_of(key))
        if at >= 0:
            self.forget(at)

    def remove(self, key: Any) -> None:
        """Removes a key, or raises a KeyError."""
        at = self.find(key, hash_of(key))
        if at < 0:
            raise KeyError(key)
        self.forget(at)

    def pop(self) -> Any:
        """Removes the item that CPython would: the first one from the slot where the last `pop` ended."""
        if self.count == 0:
            raise KeyError("pop from an empty set")
        i = self.finger & self.mask
        while item(self.state, i) != 1:
            i = plus(i, 1)
            if i > self.mask:
                i = 0
        x = item(self.items_, i)
        if is_ours(x) or not self.ordered:
            give_up()  # which one, only this process knows
        self.forget(i)
        self.finger = plus(i, 1)
        return x

    def __len__(self) -> Any:
        return self.count

    def __iter__(self) -> Any:
        return set_items(self, self.count)

    def any_order(self) -> Iterator[Any]:
        """All items, for what does not depend on their order."""
        i = 0
        while i <= self.mask:
            if item(self.state, i) == 1:
                yield item(self.items_, i)
            i = plus(i, 1)

    def clear(self) -> None:
        """Removes all items and goes back to eight slots."""
        self.count = 0
        self.ordered = True
        self.fill = 0
        self.mask = 7
        self.state = [0, 0, 0, 0, 0, 0, 0, 0]
        self.hashes = [0, 0, 0, 0, 0, 0, 0, 0]
        self.items_ = sized(8)

    # ---- with others

    def cloned(self) -> Any:
        """Another set of the same class with the same items."""
        made = self.empty()
        made.merge(self)
        return made

    def copy(self) -> Any:
        """Another set of the same items, in the same order."""
        return self.cloned()

    def update(self, *others: Any) -> None:
        """Adds all items of the others."""
        for other in others:
            self.take(other)

    def union(self, *others: Any) -> Any:
        """A new set of the items of all."""
        made = self.cloned()
        for other in others:
            made.take(other)
        return made

    def __or__(self, other: Any) -> Any:
        made = self.cloned()
        if other is not self:
            made.merge(other)
        return made

    def __ior__(self, other: Any) -> Any:
        self.merge(other)
        return self

    def shared_with(self, it: Any) -> Any:
        """What an iterable and this have in common."""
        made = self.empty()
        if isinstance(it, (set, frozenset)):
            if it is self:
                return self.cloned()
            if it.count > self.count:
                fill_with_shared(made, self, it)
            else:
                fill_with_shared(made, it, self)
        else:
            for x in it:
                h = hash_of(x)
                if self.find(x, h) >= 0:
                    made.add_with_hash(x, h)
        return made

    def intersection(self, *others: Any) -> Any:
        """A new set of the items that all have."""
        if len(others) == 0:
            return self.cloned()
        made = self
        for other in others:
            made = made.shared_with(other)
        return made

    def __and__(self, other: Any) -> Any:
        return self.shared_with(other)

    def become(self, other: Any) -> None:
        """Take the table of a set that nobody else holds."""
        self.count = other.count
        self.fill = other.fill
        self.mask = other.mask
        self.ordered = other.ordered
        self.state = other.state
        self.hashes = other.hashes
        self.items_ = other.items_

    def intersection_update(self, *others: Any) -> None:
        """Keeps the items that all have."""
        if len(others) == 0:
            self.become(self.cloned())
        made = self
        for other in others:
            made = made.shared_with(other)
        self.become(made)

    def __iand__(self, other: Any) -> Any:
        self.become(self.shared_with(other))
        return self

    def without(self, other: Any) -> Any:
        """A new set of what is not in an iterable."""
        if self.count == 0:
            return self.cloned()
        if isinstance(other, (set, frozenset)):
            if (self.count >> 2) > other.count:
                made = self.cloned()
                made.discard_all(other)
                return made
        elif is_plain_dict(other):
            if (self.count >> 2) > len(other):
                return self.without_each(other)
        else:
            return self.without_each(other)
        made = self.empty()
        made.ordered = self.ordered
        i = 0
        while i <= self.mask:
            if item(self.state, i) == 1:
                x = item(self.items_, i)
                if x not in other:
                    made.add_with_hash(x, item(self.hashes, i))
            i = plus(i, 1)
        return made

    def without_each(self, it: Any) -> Any:
        """A copy without the items of an iterable."""
        made = self.cloned()
        for x in it:
            made.discard(x)
        made.tidy()
        return made

    def difference(self, *others: Any) -> Any:
        """A new set of the items that none of the others has."""
        if len(others) == 0:
            return self.cloned()
        made = self.without(others[0])
        for other in others[1:]:
            made.difference_update(other)
        return made

    def __sub__(self, other: Any) -> Any:
        return self.without(other)

    def difference_update(self, *others: Any) -> None:
        """Removes all items of the others."""
        for other in others:
            if isinstance(other, (set, frozenset)):
                self.discard_all(other)
            else:
                for x in other:
                    self.discard(x)
                self.tidy()

    def __isub__(self, other: Any) -> Any:
        self.discard_all(other)
        return self

    @apart
    def turn(self, other: Any) -> None:
        """Forget what another set has in common with this, and take in the rest of it."""
        if other is self:
            self.clear()
            return
        self.ordered = self.ordered and other.ordered
        i = 0
        n = other.mask
        while i <= n:
            if item(other.state, i) == 1:
                x = item(other.items_, i)
                h = item(other.hashes, i)
                at = self.find(x, h)
                if at >= 0:
                    self.forget(at)
                else:
                    self.add_with_hash(x, h)
            i = plus(i, 1)

    def symmetric_difference(self, other: Any) -> Any:
        """A new set of the items that exactly one of the two has."""
        made = self.empty()
        made.take(other)
        made.turn(self)
        return made

    def __xor__(self, other: Any) -> Any:
        return self.symmetric_difference(other)

    def symmetric_difference_update(self, other: Any) -> None:
        """Keeps the items that exactly one of the two has."""
        if isinstance(other, (set, frozenset)):
            self.turn(other)
        elif is_plain_dict(other):
            give_up()
        else:
            made = self.empty()
            made.take(other)
            self.turn(made)

    def __ixor__(self, other: Any) -> Any:
        self.turn(other)
        return self

    # ---- order among sets

    @apart
    def is_inside(self, other: Any) -> Any:
        """Whether another set has all items of this one."""
        if self.count > other.count:
            return False
        for x in self.any_order():
            if x not in other:
                return False
        return True

    def issubset(self, it: Any) -> Any:
        """Whether an iterable has all items of this one."""
        if isinstance(it, (set, frozenset)):
            return self.is_inside(it)
        return self.is_inside(new_set(it))

    def issuperset(self, it: Any) -> Any:
        """Whether this set has all items of an iterable."""
        for x in each(it):
            if x not in self:
                return False
        return True

    def isdisjoint(self, it: Any) -> Any:
        """Whether this set has no item of an iterable."""
        for x in each(it):
            if x in self:
                return False
        return True

    def __le__(self, other: Any) -> Any:
        return self.is_inside(other)

    def __lt__(self, other: Any) -> Any:
        return self.count < other.count and self.is_inside(other)

    def __ge__(self, other: Any) -> Any:
        return other.is_inside(self)

    def __gt__(self, other: Any) -> Any:
        return other.count < self.count and other.is_inside(self)

    def __eq__(self, other: Any) -> Any:
        return self.count == other.count and self.is_inside(other)

    def __ne__(self, other: Any) -> Any:
        return not (self.count == other.count and self.is_inside(other))


class Frozenset(Set):
    """A set that is never changed once it is made."""

    stands_for = frozenset

    def empty(self) -> Any:
        """A new set of the same class."""
        return Frozenset()

    def copy(self) -> Any:
        """The set itself, which cannot change."""
        return self


for _name in (
    "__iter__", "update", "union", "intersection", "intersection_update", "difference", "difference_update", "take",
    "shared_with", "without", "without_each", "symmetric_difference", "symmetric_difference_update", "issubset",
    "issuperset", "isdisjoint",
):  # fmt: skip
    getattr(Set, _name).inline = True


@inline
def is_plain_dict(it: Any) -> Any:
    """Whether it is a dict itself and not of a subclass."""
    return type(it) is dict


@inline
def each(it: Any) -> Any:
    """An iterator whose order does not matter."""
    if isinstance(it, (set, frozenset)):
        return it.any_order()
    return it


@apart
def fill_with_shared(made: Any, small: Any, large: Any) -> None:
    """Adds the items that both sets have, in the order of the smaller one."""
    made.ordered = small.ordered
    i = 0
    while i <= small.mask:
        if item(small.state, i) == 1:
            x = item(small.items_, i)
            h = item(small.hashes, i)
            if large.find(x, h) >= 0:
                made.add_with_hash(x, h)
        i = plus(i, 1)


def set_items(items: Any, n: Any) -> Iterator[Any]:
    """The items in the order of their slots; an order that depends on our hashes is left to the plain function."""
    i = 0
    while True:
        if items.count != n:
            raise RuntimeError("Set changed size during iteration")
        while i <= items.mask and item(items.state, i) != 1:
            i = plus(i, 1)
        if i > items.mask:
            return
        x = item(items.items_, i)
        if is_ours(x) or not items.ordered:
            give_up()  # in an order that only this process knows
        i = plus(i, 1)
        yield x


@prelude
@inline
def new_set(it: Any = ()) -> Any:
    """`set(it)`."""
    made = Set()
    made.take(it)
    return made


@prelude
@inline
def new_frozenset(it: Any = ()) -> Any:
    """`frozenset(it)`, which is the same object if it is one already."""
    if isinstance(it, frozenset):
        return it
    made = Frozenset()
    made.take(it)
    return made


@prelude
def literal_set(items: Any, ordered: Any, copied: Any) -> Any:
    """A set of literals. Python's compiler makes a frozen one, from which `{1, 2, 3}` is copied; in which order it is
    filled depends on where the code comes from, so that its own order may be anything."""
    items.ordered = ordered
    if not copied:
        return items
    made = Set()
    made.merge(items)
    return made
