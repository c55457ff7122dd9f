"""What programs find besides their own lines: helpers, classes, and values that they capture."""

from __future__ import annotations

import enum
import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

LIMIT = 10
RATE = 0.25
TABLE = [3, 1, 4, 1, 5, -9, 2**40]
WEIGHTS = (0.5, -1.5, 1e-3)
BY_NAME = {"a": 1.5, "abc": -0.0, "": 7.0}
BY_NUMBER = {0: 5, 1: -3, 2: 2**62, 7: 0}
PRIMES = {2, 3, 5, 7, 11, 13}
NAMES = frozenset({"a", "zz"})
GRID = [[1, 2], [3, 4]]
ARRAY = np.array([0.5, -1.25, 3.0, 1e300, -0.0, 2.0])
COUNTS = np.array([1, 200, 7], np.uint8)


class TooLarge(ValueError):
    """Raised by a helper, to be caught."""


def clamp(x, low=0, high=10):
    if x < low:
        return low
    return high if x > high else x


def total(*xs, scale=1):
    s = 0
    for x in xs:
        s += x * scale
    return s


def weighted(a, b=2, **more):
    return a + 2 * b + sum(more.values())


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@functools.lru_cache(maxsize=None)
def cached_fibonacci(n):
    return n if n < 2 else cached_fibonacci(n - 1) + cached_fibonacci(n - 2)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def is_even(n):
    return True if n <= 0 else is_odd(n - 1)


def is_odd(n):
    return False if n <= 0 else is_even(n - 1)


def digits_sum(n):
    n, s = abs(n), 0
    while n:
        n, digit = divmod(n, 10)
        s += digit
    return s


def collatz(n):
    n = abs(n) % 30 + 1
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def safe_divide(a, b, otherwise=0.0):
    try:
        return a / b
    except ZeroDivisionError:
        return otherwise
    except OverflowError:
        return -1.0


def newton(x):
    if not math.isfinite(x) or x <= 0:
        return 0.0
    guess = x
    for _ in range(8):
        guess = 0.5 * (guess + x / guess)
    return guess


def mean(xs):
    return sum(xs) / len(xs) if xs else math.nan


def halved(x):
    return x // 2 if isinstance(x, int) else x / 2


def first_even(xs):
    for x in xs:
        if x % 2 == 0:
            return x
    return None


def extremes(xs):
    low = high = 0
    for i, x in enumerate(xs):
        if i == 0 or x < low:
            low = x
        if i == 0 or x > high:
            high = x
    return low, high


def countdown(n):
    while n > 0:
        yield n
        n -= 1


def flattened(xss):
    for xs in xss:
        yield from xs


def merged(a, b):
    i = j = 0
    out = []
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    return out + a[i:] + b[j:]


def identity(x):
    return x


def choose(flag, a, b):
    return a if flag else b


def adder(k):
    def add(x):
        return x + k

    return add


def composed(f, x):
    return f(f(x))


def checked(x):
    if x > 1000:
        raise TooLarge(f"{x} is too large")
    return x


def shouted(s):
    return s.upper() + "!"


def make_counter():
    count = 0

    def more(by):
        nonlocal count
        count += by
        return count

    return more


def kind_of(x):
    match x:
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case _:
            return "?"


@dataclass
class Point:
    x: float
    y: float = 1.0

    def norm(self):
        return math.hypot(self.x, self.y)

    @property
    def area(self):
        return self.x * self.y

    def scaled(self, k):
        return Point(self.x * k, self.y * k)

    def move(self, by):
        self.x += by
        self.y -= by

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __neg__(self):
        return Point(-self.x, -self.y)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y


ORIGIN = Point(0.0, -0.0)


class Pair(NamedTuple):
    a: int
    b: int = 7

    def spread(self):
        return self.b - self.a


UNIT = Pair(0, 1)


class Money:
    def __init__(self, amount):
        self.amount = amount

    def __add__(self, other):
        return Money(self.amount + (other.amount if isinstance(other, Money) else other))

    __radd__ = __add__

    def __mul__(self, k):
        return Money(self.amount * k)

    def __int__(self):
        return self.amount

    def __bool__(self):
        return self.amount != 0

    def __eq__(self, other):
        return isinstance(other, Money) and self.amount == other.amount

    def __hash__(self):
        return hash(self.amount)

    def __lt__(self, other):
        return self.amount < other.amount

    def __gt__(self, other):
        return self.amount > other.amount

    def __len__(self):
        return abs(self.amount) % 7

    def __getitem__(self, i):
        return self.amount - i


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Box:
    def __init__(self, items=()):
        self.items = list(items)

    def push(self, x):
        self.items.append(x)
        return self

    def pop(self):
        return self.items.pop()

    def largest(self, otherwise):
        return max(self.items, default=otherwise)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def __setitem__(self, i, x):
        self.items[i] = x

    def __contains__(self, x):
        return x in self.items

    def __iter__(self):
        return iter(self.items)


class Link:
    def __init__(self, value, following=None):
        self.value, self.following = value, following

    def total(self):
        link, s = self, 0
        while link is not None:
            s += link.value
            link = link.following
        return s


def chain_of(xs):
    link = Link(0)
    for x in xs:
        link = Link(x, link)
    return link


class Tree:
    def __init__(self, value):
        self.value = value
        self.left = None
        self.right = None

    def insert(self, value):
        if value < self.value:
            if self.left is None:
                self.left = Tree(value)
            else:
                self.left.insert(value)
        elif self.right is None:
            self.right = Tree(value)
        else:
            self.right.insert(value)

    def depth(self):
        left = self.left.depth() if self.left else 0
        right = self.right.depth() if self.right else 0
        return 1 + max(left, right)

    def in_order(self):
        out = self.left.in_order() if self.left else []
        out.append(self.value)
        return out + (self.right.in_order() if self.right else [])


def tree_of(xs):
    tree = Tree(0)
    for x in xs:
        tree.insert(x)
    return tree


class Shape:
    def __init__(self, size):
        self.size = size

    def area(self):
        return 0.0

    def name(self):
        return f"{type(self).__name__} of {self.area() > 1}"


class Circle(Shape):
    def area(self):
        return math.pi * self.size**2


class Square(Shape):
    def area(self):
        return super().area() + self.size * self.size


class Affine:
    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def __call__(self, x):
        return self.slope * x + self.offset


AFFINE = Affine(3, -1)


def multiples(k):
    def of(n):
        for i in range(n):
            yield i * k

    return of


def doubled(f):
    @functools.wraps(f)
    def inner(x):
        return f(x) * 2

    return inner


PLUS_ONE, PLUS_SEVEN, PLUS_HALF = adder(1), adder(7), adder(0.5)
BY_TWO, BY_MINUS = multiples(2), multiples(-1)


@doubled
@doubled
def TWICE_WRAPPED(x):
    return x - 1
