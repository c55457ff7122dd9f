"""Functions of objects: callables, methods, properties, operators of one's own, dispatch."""

from __future__ import annotations

import enum
import functools
import math
from dataclasses import dataclass, field, replace

from functions.data import FEW_FLOATS, FEW_PAIRS, FEW_REALS, SMALL_INTS, UNIT, one
from functions.table import Table

table = Table("classes")
row = table.row


class Affine:
    """A callable object with attributes."""

    step = 1

    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def __call__(self, x):
        return self.slope * x + self.offset

    def shifted(self, x):
        return self(x) + self.step

    @classmethod
    def by_class(cls, x):
        return x + cls.step

    @staticmethod
    def by_nobody(x):
        return x * 2

    @property
    def root(self):
        return -self.offset / self.slope


class Steeper(Affine):
    step = 10

    def __call__(self, x):
        return super().__call__(x) * 2


AFFINE = Affine(2.0, -1.0)
table.add("callable_object", AFFINE, FEW_REALS)
table.add("bound_method", AFFINE.shifted, FEW_REALS)
table.add("class_method", Affine.by_class, FEW_REALS)
table.add("inherited_class_method", Steeper.by_class, FEW_REALS)
table.add("static_method", Affine.by_nobody, FEW_REALS)
table.add("object_of_a_subclass", Steeper(3, 1), FEW_REALS)
table.add("method_of_a_subclass", Steeper(3, 1).shifted, FEW_REALS)
table.add("partial_method", functools.partial(Affine.shifted, AFFINE), FEW_REALS)


@dataclass(frozen=True)
class Vector:
    x: float
    y: float = 0.0

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __lt__(self, other):
        return self.length() < other.length()

    def __bool__(self):
        return self.x != 0

    def __getitem__(self, at):
        return (self.x, self.y)[at]

    def __len__(self):
        return 2

    def __iter__(self):
        yield self.x
        yield self.y

    def __contains__(self, value):
        return value == self.x

    def length(self):
        return math.hypot(self.x, self.y)


class Dual:
    """Forward derivatives: a number and its slope."""

    __slots__ = ("slope", "value")

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    __rmul__ = __mul__


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 1


@dataclass
class Account:
    balance: float
    log: list = field(default_factory=list)

    def pay(self, amount):
        if amount > self.balance:
            raise ValueError("not enough")
        self.balance -= amount
        self.log.append(amount)
        return self


@row(FEW_PAIRS)
def own_operators(x, y):
    v = Vector(x, 1) + Vector(y) * 2 + -(3 * Vector(x))
    return v.x, v.y


@row(FEW_PAIRS)
def own_comparison(x, y):
    return Vector(x, 1) < Vector(y, 2)


@row(FEW_REALS)
def own_truth_and_items(x):
    v = Vector(x, 2)
    a, b = v
    return (1 if v else 0), v[0] + v[-1], len(v), x in v, a * b


@row(FEW_FLOATS)
def dual_numbers(x):
    d = Dual(x, 1.0)
    y = 3 * d * d + d + 2
    return y.value, y.slope


@row(FEW_REALS)
def attributes_of_an_object(x):
    return x * AFFINE.slope + AFFINE.root + AFFINE.step


@row(FEW_REALS)
def calls_an_object(x):
    return AFFINE(x) + AFFINE.shifted(x)


@row(FEW_REALS)
def makes_objects(x):
    line = Steeper(2, x)
    return line(1) + line.root


@row(FEW_REALS)
def replaces_fields(x):
    return replace(Vector(x, 1), y=x * 2)


@row(FEW_REALS)
def stateful_local_object(x):
    account = Account(10.0)
    account.pay(2).pay(3)
    if x > 0:
        account.pay(1)
    return account.balance + len(account.log)


@row(UNIT, (one("too much", [1.0, 2.0, 300.0, 4.0] * 20),))
def method_that_raises(x):
    return Account(10.0).pay(x).balance


@row(FEW_REALS)
def match_class_pattern(x):
    shape = Vector(x, 1) if x > 0 else (x, 2)
    match shape:
        case Vector(x=value, y=1):
            return value
        case (value, 2):
            return -value
    return 0


@row(FEW_PAIRS)
def match_point_pattern(x, y):
    match Vector(x, y):
        case Vector(0, 0):
            return 0
        case Vector(a, 0) | Vector(0, a):
            return a
        case Vector(a, b) if a == b:
            return 100
        case _:
            return -1


@row(FEW_REALS)
def enum_by_branch(x):
    colour = Colour.RED if x > 0 else Colour.BLUE
    return colour.value if colour is Colour.RED else 10


@row(FEW_REALS, must_batch=False)
def returns_enum(x):
    return Colour.RED if x > 0 else Colour.BLUE


@row(FEW_REALS)
def int_enum_in_arithmetic(x):
    return x * Level.HIGH + int(Level.LOW)


@functools.singledispatch
def _kind(x):
    return 0


@_kind.register
def _(x: int):
    return 1


@_kind.register
def _(x: float):
    return 2


@row(FEW_REALS, must_batch=False)
def single_dispatch(x):
    return _kind(x)


@row(FEW_REALS)
def attribute_by_name(x):
    return AFFINE.slope * x + getattr(AFFINE, "nothing", 0.5)


@row(FEW_REALS)
def local_class(x):
    class Local:
        k = 2

        def __init__(self, value):
            self.value = value

        def get(self):
            return self.value * self.k

    return Local(x).get()


@row(FEW_REALS)
def attribute_set_on_local(x):
    line = Affine(1, 2)
    line.slope = x
    line.offset = x + 1
    line.extra = 3
    return line(2) + line.extra


@row(FEW_REALS, must_batch=False)
def returns_an_object(x):
    return Affine(x, 1)


@row(SMALL_INTS)
def object_with_index(x):
    class Table:
        def __getitem__(self, k):
            return k * 10

    return Table()[x]


@row(FEW_REALS)
def cached_property(x):
    class Lazy:
        @functools.cached_property
        def value(self):
            return x * 2

    lazy = Lazy()
    return lazy.value + lazy.value


@row(FEW_REALS)
def dunder_calls(x):
    return x.__add__(1) if isinstance(x, int) else float(x).__mul__(2.0)
