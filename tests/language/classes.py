"""Classes: dataclasses, named tuples, enums, small classes with operators, linked lists and trees."""

from __future__ import annotations

import enum
import functools
import math
from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from language.table import Table

table = Table()
compiles = table.compiles


@dataclass
class Point:
    x: float
    y: float = 0.0

    def norm(self):
        return math.sqrt(self.x * self.x + self.y * self.y)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


@compiles(1.5, -2.0)
def data_class(x):
    p = Point(x, 2.0)
    q = Point(y=x, x=1.0)
    r = p + q + Point(3.0)
    return r.x, r.y, p.norm(), p == Point(x, 2.0), p != q, p == (x, 2.0)


@compiles(1.5, -2.0)
def data_class_changed(x):
    p = Point(x)
    p.x += 1
    p.y = p.x * 2
    q = p
    q.x = 0.0
    return p.x, p.y


@dataclass(frozen=True)
class Interval:
    low: float
    high: float

    def __contains__(self, x):
        return self.low <= x <= self.high

    @property
    def width(self):
        return self.high - self.low

    @classmethod
    def around(cls, x, by=1.0):
        return cls(x - by, x + by)

    @staticmethod
    def unit():
        return Interval(0.0, 1.0)


@compiles(0.5, -2.0, 1.0)
def frozen_data_class(x):
    i = Interval(0.0, 1.0)
    j = Interval.around(x, by=0.25)
    return x in i, x not in i, j.width, Interval.unit() == i, j.low


UNIT = Interval(0.0, 1.0)


@compiles(0.5, -2.0, 1.0)
def captured_data_class(x):
    return x in UNIT, UNIT.width * x, UNIT.low, x not in UNIT


@dataclass(order=True)
class Version:
    major: int
    minor: int = 0


@compiles(0, 1, 2)
def ordered_data_class(x):
    a, b = Version(x, 1), Version(1, x)
    return a < b, a <= b, a > b, a >= b, a == b, max(a, b).major, sorted([a, b, Version(0, 5)])[0].minor


@dataclass
class Account:
    balance: float
    history: list = field(default_factory=list)
    limit: float = field(default=100.0)

    def __post_init__(self):
        self.start = self.balance

    def deposit(self, amount):
        if amount > self.limit:
            raise ValueError("too much")
        self.balance += amount
        self.history.append(amount)


@compiles(0.5, 20.0, 500.0)
def data_class_with_a_list(x):
    a = Account(10.0)
    b = Account(x, limit=50.0)
    a.deposit(x)
    a.deposit(1.0)
    b.deposit(2.0)
    return a.balance, a.history, len(b.history), b.balance - b.start


@compiles(0.5, -2.0)
def data_class_replaced(x):
    p = replace(Point(x, 1.0), y=3.0)
    return p.x, p.y


class Vec(NamedTuple):
    x: float
    y: float = 1.0

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @property
    def size(self):
        return math.hypot(self.x, self.y)


Pair = namedtuple("Pair", "a b")
Loose = namedtuple("Loose", ["a", "b", "c"], defaults=(5,))


@compiles(1, -2)
def collections_named_tuples(x):
    p = Pair(x, b=2)
    q = Loose(x, 2)
    return p.a, p.b, q.c, p._replace(a=9).a, q._replace(b=x)[1], isinstance(p, tuple), type(p) is Pair


@compiles(1, -2)
def returns_named_tuples(x):
    return Pair(x, [x, x]) if x > 0 else Pair(0, [])


ORIGIN = Vec(1.0, 2.0)


@dataclass(frozen=True)
class Named:
    point: Point
    name: str = "p"
    hidden: int = field(default=0, repr=False)


@compiles(1.5, 0.1, -0.0)
def dataclasses_as_texts(x):
    p = Point(x, 2)
    return repr(p), str(p), f"{p}|{Named(p, 'q', 5)!r}", "%s" % Named(p)


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3

    def darker(self):
        return self.value * 10


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Word(str, enum.Enum):
    YES = "y"
    NO = "n"


class Flag(enum.IntFlag):
    A = 1
    B = 2
    C = 4


@compiles(0, 1, 2)
def enums(x):
    c = Color.RED if x == 0 else Color.GREEN if x == 1 else Color.BLUE
    if c is Color.RED:
        return 100
    if c == Color.GREEN:
        return c.value
    return Color.BLUE.value * 7


@compiles(1, 2, 3)
def enum_methods_and_names(x):
    return Color.GREEN.darker() + x, len(Color.RED.name), Color.RED != Color.BLUE


@compiles(1, 2, 3, 4)
def enum_by_value(x):
    return Color(x) is Color.GREEN


@compiles(1, 2, 3)
def enum_by_value_attribute(x):
    return Color(x).value * 2


WEIGHTS = {Color.RED: 0.5, Color.GREEN: 1.5, Color.BLUE: 2.5}


@compiles(0, 1, 2)
def enums_as_keys(x):
    c = Color.RED if x == 0 else Color.GREEN
    return WEIGHTS[c] * x + WEIGHTS[Color.BLUE]


@compiles(0, 1, 11)
def int_enums(x):
    return Level.LOW + x, Level.HIGH > x, Level.HIGH * 2, x == Level.LOW, Level.HIGH.value, max(x, Level.LOW + 0)


@compiles(0, 1, 5, 7)
def flags(x):
    return bool(x & Flag.B.value), (x | 4) & Flag.C.value


@compiles(3, 1)
def goes_over_an_enum(x):
    return sum(c.value * x for c in Color), [c.value for c in Color]


class Grade(enum.Enum):
    LOW = 1
    HIGH = 2

    def __lt__(self, other):
        return self.value < other.value

    def __bool__(self):
        return self.value > 1


@compiles(0, 3)
def enums_with_operators(x):
    c = Grade.LOW if x > 2 else Grade.HIGH
    return (
        c < Grade.HIGH,
        c > Grade.LOW,
        max(Grade.LOW, c).name,
        sorted([Grade.HIGH, c])[0].value,
        bool(c),
        c == Grade.LOW,
    )


@compiles(0, 1, 5)
def dicts_with_enums_as_keys(x):
    counts = {c: 0 for c in Color}
    for i in range(x):
        counts[Color(i % 3 + 1)] += 1
    c = Color.RED if x % 2 else Color.BLUE
    return [counts[c] for c in Color], counts, counts.get(c), (c, 1) == (Color.RED, 1), {c} == {Color.RED}


@compiles(0, 1, 5)
def members_as_their_ints_and_texts_in_dicts(x):
    return {Level.LOW: x}[1], {1: x}.get(Level.LOW), {Word.YES: x}["y"], hash(Level.LOW), {"n": 1}.get(Word.NO, 2)


@compiles(0, 1)
def members_as_texts(x):
    c = Color.RED if x else Color.GREEN
    return (
        str(c),
        f"{c!r:>20}|{Level.LOW:03d}|{Level.HIGH}|{Word.YES}",
        repr(Level.HIGH),
        Word.YES.upper(),
        str(Word.NO),
        f"{c}",
    )


@compiles(0, 1)
def members_of_int_enums_as_arguments(x):
    c = Level.LOW if x else Level.HIGH
    return int(c), float(c), abs(c), -c, ~c, list(range(c)), math.sqrt(c), math.gcd(c, 6), "ab" * c


class Money:
    rate = 2

    def __init__(self, amount):
        self.amount = amount

    def __add__(self, other):
        if isinstance(other, Money):
            return Money(self.amount + other.amount)
        return Money(self.amount + other)

    __radd__ = __add__

    def __mul__(self, k):
        return Money(self.amount * k)

    def __neg__(self):
        return Money(-self.amount)

    def __abs__(self):
        return Money(abs(self.amount))

    def __bool__(self):
        return self.amount != 0

    def __eq__(self, other):
        return isinstance(other, Money) and self.amount == other.amount

    def __lt__(self, other):
        return self.amount < other.amount

    def __sub__(self, other):
        return self + -other

    def __iadd__(self, other):
        self.amount += other.amount
        return self

    def doubled(self):
        return self.amount * self.rate


@compiles(0, 3, -7)
def operators_of_ones_own(x):
    a, b = Money(x), Money(2)
    c = a + b * 3 - Money(1)
    return c.amount, (-c).amount, abs(c).amount, a == Money(x), a != b, a < b, a > b, 1 if a else 0, not a, c.doubled()


@compiles(0, 3, -7)
def reflected_operators(x):
    return (1 + Money(x)).amount, (Money(x) + 2).amount, sum([Money(x), Money(1)]).amount


@compiles(0, 3, -7)
def inplace_operators(x):
    a = Money(x)
    b = a
    a += Money(5)
    return b.amount, min(Money(x), Money(2)).amount, max([Money(x), Money(2)]).amount


class Stack:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)

    def pop(self):
        return self.items.pop()

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def __setitem__(self, i, value):
        self.items[i] = value

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, x):
        return x in self.items


@compiles(0, 1, 4)
def containers_of_ones_own(n):
    s = Stack()
    for i in range(n):
        s.push(i * i)
    t = Stack()
    t.push(0.5)
    if s:
        s[0] = 9
    return len(s), [x for x in s], 4 in s, sum(s), bool(s), t[0], s.pop() if len(s) else -1


class Range3:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        i = 0
        while i < self.n:
            yield i
            i += 3


@compiles(0, 1, 10)
def iterator_by_generator(n):
    return list(Range3(n)), sum(Range3(n)), max(Range3(n + 1))


class Counting:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


@compiles(0, 1, 5)
def iterator_class(n):
    return [x for x in Counting(n)], sum(Counting(n))


class Shape:
    sides = 0

    def __init__(self, name):
        self.name = name

    def area(self):
        return 0.0

    def described(self):
        return self.area() * 10 + self.sides


class Square(Shape):
    sides = 4

    def __init__(self, side):
        super().__init__("square")
        self.side = side

    def area(self):
        return self.side**2


class Circle(Shape):
    def __init__(self, r):
        super().__init__("circle")
        self.r = r

    def area(self):
        return math.pi * self.r * self.r


class Cube(Square):
    sides = 6

    def area(self):
        return 6 * super().area()


@compiles(0.5, 2.0)
def inheritance(x):
    a, b, c = Square(x), Circle(x), Cube(x)
    return a.described(), b.described(), c.described(), isinstance(c, Square), isinstance(b, Square), type(a) is Square


@compiles(0.5, 2.0)
def objects_of_several_classes(x):
    shapes = [Square(x), Circle(x), Cube(x)]
    return sum(s.area() for s in shapes), [s.sides for s in shapes]


@compiles(0.5, 2.0)
def one_or_the_other_class(x):
    s = Square(x) if x > 1 else Circle(x)
    if isinstance(s, Square):
        return s.side
    return s.area()


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


@compiles(0, 1, 5)
def linked_list(n):
    head = None
    for i in range(n):
        head = Node(i, head)
    total, length = 0, 0
    while head is not None:
        total = total * 3 + head.value
        length += 1
        head = head.next
    return total, length


@compiles([1, 2, 3], [], [7])
def reversed_linked_list(xs):
    head = None
    for x in reversed(xs):
        head = Node(x, head)
    back = None
    while head:
        head.next, back, head = back, head, head.next
    out = []
    while back:
        out.append(back.value)
        back = back.next
    return out


class Tree:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None

    def insert(self, key):
        if key < self.key:
            if self.left is None:
                self.left = Tree(key)
            else:
                self.left.insert(key)
        elif self.right is None:
            self.right = Tree(key)
        else:
            self.right.insert(key)

    def depth(self):
        a = self.left.depth() if self.left else 0
        b = self.right.depth() if self.right else 0
        return 1 + max(a, b)

    def walk(self):
        if self.left:
            yield from self.left.walk()
        yield self.key
        if self.right:
            yield from self.right.walk()


@compiles([3, 1, 2, 5], [7], [1, 2, 3, 4, 5])
def binary_tree(xs):
    root = Tree(xs[0])
    for x in xs[1:]:
        root.insert(x)
    return root.depth()


def inserted(root, key):
    if root is None:
        return Tree(key)
    if key < root.key:
        root.left = inserted(root.left, key)
    else:
        root.right = inserted(root.right, key)
    return root


def in_order(root, out):
    if root is None:
        return
    in_order(root.left, out)
    out.append(root.key)
    in_order(root.right, out)


@compiles([3, 1, 2, 5], [], [1, 2, 3, 4, 5])
def sorted_by_tree(xs):
    root = None
    for x in xs:
        root = inserted(root, x)
    out = []
    in_order(root, out)
    return out


@dataclass
class Leaf:
    value: int


@dataclass
class Branch:
    left: Branch | Leaf
    right: Branch | Leaf


def built(n):
    return Leaf(n) if n < 2 else Branch(built(n - 1), built(n - 2))


def evaluated(t):
    if isinstance(t, Leaf):
        return t.value
    return evaluated(t.left) + evaluated(t.right)


@compiles(0, 1, 6)
def expression_tree(n):
    return evaluated(built(n))


@compiles(0, 1, 6)
def tuples_as_trees(n):
    def depth(t):
        return 0 if t is None else 1 + max(depth(t[0]), depth(t[1]))

    t = None
    for _ in range(n):
        t = Node(t, None)
    k = 0
    while t is not None:
        t = t.value
        k += 1
    return k


class Partial:
    def __init__(self, x):
        if x > 0:
            self.y = x

    def get(self):
        return self.y


@compiles(1, 2, 0, -1, left=4)
def field_that_may_not_be_set(x):
    p = Partial(x)
    return p.get()


@compiles(1, 2, 0, -1, left=4)
def field_set_in_a_branch(x):
    p = Money(x)
    if x > 0:
        p.extra = x
    return p.extra + 1


class WithSlots:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a
        self.b = a * 2


@compiles(1, 2)
def slots(x):
    p = WithSlots(x)
    p.a += 1
    return p.a + p.b


class Constants:
    TAX = 0.2
    TABLE = [1, 2, 3]

    @staticmethod
    def of(x):
        return x * (1 + Constants.TAX)


@compiles(1, 2)
def class_attributes(x):
    return Constants.TAX * x + Constants.TABLE[x] + Constants.of(x) + Money.rate


@functools.total_ordering
class Rank:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        return self.n < other.n


@compiles(1, 2, 3)
def total_ordering(x):
    return Rank(x) >= Rank(2), Rank(x) <= Rank(2), Rank(x) > Rank(2)


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows])

    def __getitem__(self, at):
        i, j = at
        return self.rows[i][j]

    @classmethod
    def identity(cls, n):
        return cls([[1 if i == j else 0 for j in range(n)] for i in range(n)])

    def __pow__(self, n):
        result = Matrix.identity(len(self.rows))
        for _ in range(n):
            result = result @ self
        return result


@compiles(0, 1, 10)
def matrix_class(n):
    m = Matrix([[1, 1], [1, 0]]) ** n
    return m[0, 1], m.rows


class Particle:
    def __init__(self, position, velocity):
        self.position = position
        self.velocity = velocity

    def step(self, dt):
        self.position = tuple(p + v * dt for p, v in zip(self.position, self.velocity))


@compiles(0.5, 2.0)
def fields_that_are_tuples(x):
    p = Particle((0.0, x), (1.0, 2.0))
    for _ in range(3):
        p.step(0.1)
    return p.position


class Cached:
    def __init__(self, x):
        self._x = x

    @functools.cached_property
    def square(self):
        return self._x**2

    @property
    def x(self):
        return self._x

    @x.setter
    def x(self, value):
        self._x = value


@compiles(0.5, 2.0)
def properties(x):
    c = Cached(x)
    c.x = c.x + 1
    return c.x, c.square


class Temperature:
    def __init__(self, celsius):
        self.celsius = celsius

    def __call__(self, scale):
        return self.celsius * scale

    def __str__(self):
        return "warm"

    def __hash__(self):
        return hash(self.celsius)


@compiles(0.5, 2.0)
def called_objects(x):
    t = Temperature(x)
    return t(2), [t(i) for i in range(3)], list(map(t, [1.0, 2.0]))


class Config:
    def __init__(self):
        self.scale = 2.0
        self.table = [1, 2, 3]
        self.inner = Temperature(3.0)


config = Config()


@compiles(0, 2)
def captured_attributes(x):
    return config.scale * x + config.table[x] + config.inner.celsius + config.inner(2)


@compiles(3, 1)
def objects_in_dicts(n):
    table = {i: Money(i) for i in range(n)}
    table[0].amount = 7
    return sum(m.amount for m in table.values())


@compiles([3, 1, 2], [5])
def objects_in_lists(xs):
    ms = [Money(x) for x in xs]
    ms.sort()
    ms[0] += Money(1)
    return [m.amount for m in ms], [m.amount for m in sorted(ms, key=lambda m: -m.amount)]


@compiles([3, 1, 2], [5])
def objects_in_tuples(xs):
    pairs = [(x, Money(x)) for x in xs]
    return sum(a * b.amount for a, b in pairs)


def grow(m, by):
    m.amount += by


@compiles(3, 5)
def objects_changed_in_helpers(x):
    m = Money(x)
    grow(m, 2)
    grow(m, by=0.5)
    return m.amount


@compiles(3, -5)
def none_or_object(x):
    m = Money(x) if x > 0 else None
    return m.amount if m is not None else -1


@compiles(1.5, -2.0)
def named_tuples(x):
    v = Vec(x)
    w = Vec(y=x, x=2.0)
    a, b = w
    return v.x, v[1], v.dot(w), w.size, a + b, len(v), v == (x, 1.0), v < w, sum(v)


@compiles(1.5, -2.0)
def captured_named_tuple(x):
    return ORIGIN.x * x + ORIGIN[1] + ORIGIN.dot(Vec(x)) + ORIGIN.size


@compiles(1, 10)
def members_of_int_enums_compared(x):
    level = Level(x)
    return level < Level.HIGH, Level.LOW <= level, max(level, Level.LOW) + 0, level == Level.HIGH, level == x


@compiles(1, 2, 3)
def members_are_never_equal_to_anything_else(x):
    return Color(x) == x, Color.RED != "RED", Color.RED in [1, 2, 3], Color(x) == None, (Color.RED, x) == (1, x)  # noqa: E711


@compiles("y", "n", "maybe")
def members_of_text_enums_are_texts(text):
    return Word.YES == text, Word.YES + text, Word.NO < Word.YES, Word.NO == "n", text != Word.NO
