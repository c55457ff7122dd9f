"""Functions whose classes take notes of what is made of them: a trace must leave none."""

from __future__ import annotations

import abc
import collections
import collections.abc
import contextlib
import dataclasses
import decimal
import fractions
import functools
import numbers
import statistics
import string
import threading
import typing

import numpy as np

FLOATS = [float(k) for k in range(400)]
INTS = list(range(400))
ARRAY = np.arange(400.0)
ROWS: list[tuple[typing.Any, tuple[typing.Any, ...]]] = []
REGISTRY: list[str] = []
LOCK = threading.Lock()
FORMATTER = string.Formatter()


def row(*columns):
    def add(f):
        ROWS.append((f, columns))
        return f

    return add


class Record(collections.abc.Mapping):
    def __init__(self, x):
        self.inside = {"x": x}

    def __getitem__(self, key):
        return self.inside[key]

    def __iter__(self):
        return iter(self.inside)

    def __len__(self):
        return len(self.inside)


class Base:
    """Takes note of every subclass."""

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        REGISTRY.append(cls.__name__)


class Named:
    """Takes note of every class that it is a member of."""

    def __set_name__(self, owner, name):
        REGISTRY.append(f"{owner.__name__}.{name}")

    def __get__(self, instance, owner=None):
        return 3.0


class Child(Base):
    value = Named()

    def __init__(self, x):
        self.x = x

    def doubled(self):
        return self.x * 2 + self.value


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


class Round:
    def __init__(self, r):
        self.r = r

    def area(self):
        return self.r * self.r * 3


Shape.register(Round)
T = typing.TypeVar("T")


class Box(typing.Generic[T]):
    def __init__(self, inside):
        self.inside = inside

    @functools.cached_property
    def weight(self):
        return self.inside * 1.5


class Failure(ValueError):
    def __init__(self, x):
        super().__init__("no")
        self.x = x


@dataclasses.dataclass(order=True)
class Point:
    x: float
    y: float = 1.0

    def length(self):
        return (self.x * self.x + self.y * self.y) ** 0.5


class Pair(typing.NamedTuple):
    a: float
    b: float

    def total(self):
        return self.a + self.b


CAPTURED = Child(5.0)
POINT = Point(3.0, 4.0)
PAIR = Pair(1.0, 2.0)


@row(FLOATS)
def mapping(x):
    record = Record(x)
    return record["x"] + record.get("y", 1.0) + isinstance(record, collections.abc.Mapping) + len(dict(record))


@row(INTS)
def fraction(n):
    return float(fractions.Fraction(n, 7) + 1)


@row([[float(k), 2.0, 3.0] for k in range(100)])
def mean(numbers_):
    return statistics.mean(numbers_)


@row(FLOATS)
def kinds_of_numbers(x):
    return x + isinstance(x, numbers.Rational) + isinstance(x, numbers.Real) + issubclass(float, numbers.Number)


@row(FLOATS)
def child_of_a_registry(x):
    return Child(x).doubled() + CAPTURED.doubled() + len(REGISTRY)


@row(FLOATS)
def counts_subclasses(x):
    return x + len(Base.__subclasses__()) + len(Shape.__subclasses__())


@row(FLOATS)
def abstract(x):
    return Square(x).area() + isinstance(Square(x), Shape) + isinstance(Round(x), Shape) + issubclass(Round, Shape)


@row(FLOATS)
def generic(x):
    return Box(x).weight + Box[float](x).weight


@row(FLOATS)
def raises_and_catches(x):
    try:
        if x > 100:
            raise Failure(x)
    except Failure as failure:
        return failure.x * 2
    return x


@row(FLOATS)
def raises(x):
    if x > 390:
        raise Failure(x)
    return x + 1


@row(FLOATS)
def points(x):
    return max(Point(x), POINT).length() + dataclasses.replace(POINT, y=x).length() + PAIR.total() + Pair(x, 1.0)[0]


@row([Point(x, x + 1) for x in FLOATS])
def elements_with_methods(p):
    return p.length()


@row([Pair(x, x + 1) for x in FLOATS])
def pairs_with_methods(p):
    return p.total() * p.a


@row(FLOATS)
def makes_points(x):
    return Point(x, x * 2)


@row(FLOATS)
def locked(x):
    with LOCK:
        return x * 2


@row(FLOATS)
def formats(x):
    return float(FORMATTER.format("{:.1f}", x))


@row(FLOATS)
def decimals(x):
    return x * float(decimal.Decimal(1) / decimal.Decimal(3))


@row(FLOATS)
def local_precision(x):
    with decimal.localcontext() as context:
        context.prec = 5
        return x * float(decimal.Decimal(1) / decimal.Decimal(3))


@row(FLOATS)
def suppressed(x):
    with contextlib.suppress(ZeroDivisionError):
        return 1 / x
    return 0.0


@row(ARRAY)
def scalar_types(x):
    return np.float32(x) + np.int64(3) + isinstance(np.float32(x), np.floating) + issubclass(np.float32, np.floating)


@row(np.ones((50, 3, 4)))
def images(image):
    return image.sum(axis=0) * 2


@row(ARRAY)
def quiet(x):
    with np.errstate(divide="ignore"):
        return np.float64(1.0) / x
