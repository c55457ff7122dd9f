"""`collections.deque`: a list with a moving start."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

from .intrinsics import give_up, item, plus, set_item, sized
from .objects import equals
from .registry import apart, implements, inline


class Deque:
    """Items in a ring of slots, whose number is a power of two."""

    stands_for = collections.deque
    size = "number"

    def __init__(self, most: Any) -> None:
        self.first = 0
        self.number = 0
        self.changes = 0
        """How often items came or went."""
        self.maxlen = most
        self.buffer = sized(8)

    def __len__(self) -> Any:
        return self.number

    @apart
    def widen(self) -> None:
        """Doubles the ring of places, with the first item at its start."""
        n = len(self.buffer)
        wider = sized(n * 2)
        i = 0
        while i < self.number:
            set_item(wider, i, item(self.buffer, plus(self.first, i) & (n - 1)))
            i = plus(i, 1)
        self.buffer = wider
        self.first = 0

    def place(self, i: Any) -> Any:
        """Where item `i` lies in the ring."""
        return plus(self.first, i) & (len(self.buffer) - 1)

    def append(self, x: Any) -> None:
        """Adds an item at the right end; a full deque with `maxlen` loses its first one."""
        if self.maxlen is not None:
            if self.number >= self.maxlen:
                if self.maxlen == 0:
                    return
                self.first = self.place(1)
                self.number = plus(self.number, -1)
        if self.number == len(self.buffer):
            self.widen()
        set_item(self.buffer, self.place(self.number), x)
        self.number = plus(self.number, 1)
        self.changes = plus(self.changes, 1)

    def appendleft(self, x: Any) -> None:
        """Adds an item at the left end; a full deque with `maxlen` loses its last one."""
        if self.maxlen is not None:
            if self.number >= self.maxlen:
                if self.maxlen == 0:
                    return
                self.number = plus(self.number, -1)
        if self.number == len(self.buffer):
            self.widen()
        self.first = plus(self.first, -1) & (len(self.buffer) - 1)
        set_item(self.buffer, self.first, x)
        self.number = plus(self.number, 1)
        self.changes = plus(self.changes, 1)

    def pop(self) -> Any:
        """Takes the last item out."""
        if self.number == 0:
            raise IndexError("pop from an empty deque")
        self.number = plus(self.number, -1)
        self.changes = plus(self.changes, 1)
        return item(self.buffer, self.place(self.number))

    def popleft(self) -> Any:
        """Takes the first item out."""
        if self.number == 0:
            raise IndexError("pop from an empty deque")
        x = item(self.buffer, self.first)
        self.first = self.place(1)
        self.number = plus(self.number, -1)
        self.changes = plus(self.changes, 1)
        return x

    def where(self, i: int) -> Any:
        """Where item `i` lies, counted from the end if negative, or an IndexError."""
        if i < 0:
            i = i + self.number
        if i < 0 or i >= self.number:
            raise IndexError("deque index out of range")
        return self.place(i)

    def __getitem__(self, i: int) -> Any:
        return item(self.buffer, self.where(i))

    def __setitem__(self, i: int, x: Any) -> None:
        set_item(self.buffer, self.where(i), x)

    def __delitem__(self, i: int) -> None:
        self.where(i)
        if i < 0:
            i = i + self.number
        while i < self.number - 1:
            set_item(self.buffer, self.place(i), item(self.buffer, self.place(i + 1)))
            i = plus(i, 1)
        self.pop()

    def __iter__(self) -> Any:
        return deque_items(self, self.changes)

    def __reversed__(self) -> Any:
        return deque_items_backwards(self, self.changes)

    def __contains__(self, x: Any) -> Any:
        for y in self:
            if equals(y, x):
                return True
        return False

    def extend(self, it: Any) -> None:
        """Appends all items of an iterable that is not the deque itself."""
        if it is self:
            give_up()
        for x in it:
            self.append(x)

    def __iadd__(self, it: Any) -> Any:
        self.extend(it)
        return self

    def extendleft(self, it: Any) -> None:
        """Appends all items at the left end, so that they come in reverse order."""
        if it is self:
            give_up()
        for x in it:
            self.appendleft(x)

    def clear(self) -> None:
        """Removes all items."""
        self.number = 0
        self.changes = plus(self.changes, 1)

    def rotate(self, n: int = 1) -> None:
        """Moves items from the right end to the left one, `n` times."""
        if self.number > 1:
            n = n % self.number
            while n > 0:
                x = self.pop()
                self.appendleft(x)
                n = n - 1

    def reverse(self) -> None:
        """Turns the order of the items around, in place."""
        i = 0
        j = self.number - 1
        while i < j:
            x = item(self.buffer, self.place(i))
            set_item(self.buffer, self.place(i), item(self.buffer, self.place(j)))
            set_item(self.buffer, self.place(j), x)
            i = plus(i, 1)
            j = plus(j, -1)

    def remove(self, x: Any) -> None:
        """Removes the first item that is equal to `x`."""
        i = 0
        while i < self.number:
            if equals(item(self.buffer, self.place(i)), x):
                del self[i]
                return
            i = plus(i, 1)
        raise ValueError("deque.remove(x): x not in deque")

    def count(self, x: Any) -> Any:
        """How many items are equal to `x`."""
        n = 0
        for y in self:
            if equals(y, x):
                n = plus(n, 1)
        return n

    def index(self, x: Any) -> Any:
        """The position of the first item that is equal to `x`."""
        i = 0
        for y in self:
            if equals(y, x):
                return i
            i = plus(i, 1)
        raise ValueError("is not in deque")

    def insert(self, i: int, x: Any) -> None:
        """Puts an item before position `i`; deques with `maxlen` are left to the plain function."""
        if self.maxlen is not None:
            give_up()
        n = self.number
        if i < 0:
            i = i + n
            if i < 0:
                i = 0
        if i > n:
            i = n
        self.append(x)
        while n > i:
            set_item(self.buffer, self.place(n), item(self.buffer, self.place(n - 1)))
            n = plus(n, -1)
        set_item(self.buffer, self.place(i), x)

    def copy(self) -> Any:
        """A deque of the same items and the same `maxlen`."""
        made = Deque(self.maxlen)
        for x in self:
            made.append(x)
        return made

    def __eq__(self, other: Any) -> Any:
        if self.number != other.number:
            return False
        i = 0
        while i < self.number:
            if not equals(item(self.buffer, self.place(i)), item(other.buffer, other.place(i))):
                return False
            i = plus(i, 1)
        return True

    def __ne__(self, other: Any) -> Any:
        return not self.__eq__(other)


for _name in ("__iter__", "__reversed__", "extend", "extendleft", "__iadd__"):
    getattr(Deque, _name).inline = True


def deque_items(items: Any, changes: Any) -> Iterator[Any]:
    """The items from left to right, and an error once the deque is changed meanwhile."""
    i = 0
    n = items.number
    while i < n:
        if items.changes != changes:
            raise RuntimeError("deque mutated during iteration")
        yield item(items.buffer, items.place(i))
        i = plus(i, 1)


def deque_items_backwards(items: Any, changes: Any) -> Iterator[Any]:
    """The items from right to left, and an error once the deque is changed meanwhile."""
    i = items.number - 1
    while i >= 0:
        if items.changes != changes:
            raise RuntimeError("deque mutated during iteration")
        yield item(items.buffer, items.place(i))
        i = plus(i, -1)


@implements(collections.deque)
@inline
def new_deque(iterable: Any = (), maxlen: Any = None) -> Any:
    """`collections.deque(iterable, maxlen)`."""
    if maxlen is not None:
        if maxlen < 0:
            raise ValueError("maxlen must be non-negative")
    made = Deque(maxlen)
    made.extend(iterable)
    return made
