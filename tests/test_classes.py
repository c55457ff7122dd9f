"""Classes of the user's in a traced function: they mean what they mean in the loop, and nobody hears of copies."""

from __future__ import annotations

import abc
import collections
import collections.abc
import contextlib
import copy
import dataclasses
import fractions
import functools
import gc
import math
import numbers
import statistics
import string
import typing

import numpy as np
import pytest

import upshift as up
from cases import agrees, is_batched

XS = [float(k) for k in range(1500)]
COLUMNS = (XS,)
INTS = (list(range(1500)),)
CASES = []


def case(make=None, *, columns=COLUMNS):
    """A maker of a function that is batched, and of what else it shows."""

    def add(make):
        def made():
            found = make()
            f, state = found if isinstance(found, tuple) else (found, lambda: None)
            return f, columns, state

        CASES.append(pytest.param(made, id=make.__name__))
        return make

    return add if make is None else add(make)


def nothing():
    return None


# ---- abstract classes


@case
def mapping():
    class Row(collections.abc.Mapping):
        def __init__(self, x):
            self.inside = {"x": x}

        def __getitem__(self, key):
            return self.inside[key]

        def __iter__(self):
            return iter(self.inside)

        def __len__(self):
            return 1

    def f(x):
        row = Row(x)
        known = isinstance(row, collections.abc.Mapping) + isinstance(row, dict) + isinstance(row, Row)
        return (
            row["x"]
            + row.get("y", 2)
            + ("x" in row)
            + (row == {"x": x})
            + known
            + len(dict(row))
            + len(list(row.items()))
        )

    def state():
        return isinstance(5, collections.abc.Mapping), Row.__subclasses__(), isinstance({}, Row)

    return f, state


@case(columns=INTS)
def rationals():
    def f(n):
        q = fractions.Fraction(n, 7) + fractions.Fraction(1, 3)
        return q.numerator / q.denominator + float(q)

    return f, lambda: (isinstance(5, numbers.Rational), fractions.Fraction.__subclasses__())


@case
def own_abstract_class():
    class Shape(abc.ABC):
        def __init__(self, side):
            self.side = side

        @abc.abstractmethod
        def area(self): ...

        def twice(self):
            return 2 * self.area()

    class Square(Shape):
        def area(self):
            return self.side**2

    def f(x):
        return Square(x).twice() + isinstance(Square(x), Shape) + issubclass(Square, Shape)

    return f, lambda: [c.__name__ for c in Shape.__subclasses__()]


@case
def class_that_cannot_be_made():
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self): ...

    def f(x):
        try:
            return Shape().area()
        except TypeError as error:
            return x + len(str(error))

    return f


@case
def registered_class():
    class Shape(abc.ABC):  # noqa: B024
        pass

    class Circle:
        def __init__(self, r):
            self.r = r

    Shape.register(Circle)
    return lambda x: Circle(x).r + isinstance(Circle(x), Shape) + issubclass(Circle, Shape)


@case
def iterator():
    class Countdown:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if not self.n:
                raise StopIteration
            self.n -= 1
            return self.n

    return lambda x: (
        sum(Countdown(4)) * x + isinstance(Countdown(2), collections.abc.Iterator) + len(list(Countdown(3)))
    )


# ---- inheritance


@case
def several_bases():
    class A:
        def value(self):
            return 1

    class B(A):
        def value(self):
            return super().value() + 10

    class C(A):
        def value(self):
            return super().value() + 100

    class D(B, C):
        def __init__(self, x):
            self.x = x

        def value(self):
            return super().value() + self.x

    return lambda x: D(x).value() + len(D.__mro__) + len(D.mro()) + len(D.__bases__) + (D.__base__ is B)


@case
def two_classes_of_one_name():
    class Point:
        def value(self):
            return 1.0

    inner = Point

    class Point(inner):
        def __init__(self, x):
            self.x = x

        def value(self):
            return super().value() + self.x

    return lambda x: Point(x).value() + inner().value()


@case
def class_of_oneself():
    class A:
        def __init__(self, x):
            self.x = x

        def other(self):
            return self.__class__(self.x + 1)

        def third(self):
            return type(self)(self.x + 2)

    class B(A):
        pass

    captured = B(1.0)

    def f(x):
        own = B(x).other().x + B(x).third().x + isinstance(B(x).other(), B) + B(x).__class__(x).x
        return own + captured.other().x + type(captured)(x).x + (captured.__class__ is B) + (type(captured) is B)

    return f


@case
def classes_as_keys():
    class A:
        def __init__(self, x):
            self.x = x

    class B(A):
        pass

    table, known = {A: 5.0, B: 7.0}, {A}

    def f(x):
        a = A(x)
        return table[type(a)] + table.get(type(B(x)), 0.0) + (type(a) in known) + (type(a) in (A,)) + x + (B in known)

    return f


@case
def private_slots():
    class A:
        __slots__ = ("__x", "y")

        def __init__(self, x):
            self.__x, self.y = x, 1

        def value(self):
            return self.__x + self.y

    class B(A):
        __slots__ = ()

    return lambda x: A(x).value() + B(x).value() + hasattr(B(x), "__dict__")


@case
def generic():
    T = typing.TypeVar("T")

    class Box(typing.Generic[T]):
        def __init__(self, inside):
            self.inside = inside

    return lambda x: Box(x).inside * 2


@case
def user_dict():
    class Own(collections.UserDict):
        def total(self):
            return sum(self.values())

    return lambda x: Own(a=x, b=2).total() + collections.UserDict(a=x)["a"], lambda: len(Own.__subclasses__())


# ---- members


@case
def kinds_of_methods():
    class A:
        rate = 2.0
        root = math.sqrt
        smaller = staticmethod(min)

        def __init__(self, x):
            self.x = x

        @classmethod
        def double(cls, x):
            return cls(x * cls.rate)

        @staticmethod
        def next(x):
            return x + 1

        @property
        def value(self):
            return self.x

        @value.setter
        def value(self, new):
            self.x = new * 2

        def add(self, k):
            return self.x + k

        add_two = functools.partialmethod(add, 2)

    def f(x):
        a = A.double(x)
        a.value = A.next(a.value)
        return a.value + a.root(x) + a.smaller(x, 3.0) + a.add(1)

    return f


@case
def operators():
    class V:
        def __init__(self, x):
            self.x = x

        def __eq__(self, other):
            return isinstance(other, V) and self.x == other.x

        def __hash__(self):
            return 7

        def __lt__(self, other):
            return self.x < other.x

        def __index__(self):
            return 3

        def __call__(self, y):
            return self.x + y

        def __matmul__(self, other):
            return self.x * other.x

        def __iadd__(self, k):
            self.x += k
            return self

    def f(x):
        v = V(x)
        v += 1
        return (v @ V(2.0)) + v(3) + [0, 1, 2, 3][v] + (v == V(x + 1)) + min(V(1.0), V(x)).x + len({v, V(x + 1)})

    return f


@case
def own_attribute_access():
    class A:
        def __init__(self, x):
            self.__dict__["x"] = x

        def __getattr__(self, name):
            return self.__dict__["x"] * 2

        def __setattr__(self, name, value):
            self.__dict__[name] = value + 1

    def f(x):
        a = A(x)
        a.y = x
        return a.anything + a.y

    return f


@case
def class_within_a_class():
    class Outer:
        class Inner:
            def __init__(self, x):
                self.x = x

        def __init__(self, x):
            self.inner = self.Inner(x)

    return lambda x: Outer(x).inner.x + Outer.Inner(x).x


@case
def copies_of_objects():
    class A:
        def __init__(self, x):
            self.x = x

    def f(x):
        a = A(x)
        b, c = copy.copy(a), copy.deepcopy(a)
        b.x = 5.0
        return a.x + b.x + c.x

    return f


@case
def names_of_classes():
    class A:
        """Five."""

    return lambda x: x + len(A.__name__) + len(A.__qualname__) + len(A.__module__) + len(A.__doc__) + len(str(A))


@case
def records():
    @dataclasses.dataclass(order=True)
    class P:
        x: float
        y: float = 2.0
        scale: typing.ClassVar[float] = 4.0

        def __post_init__(self):
            self.z = self.x + self.y

    class Q(typing.NamedTuple):
        a: float
        b: float = 1.0

        def total(self):
            return self.a + self.b

    captured = Q(3.0)

    def f(x):
        p, q = P(x), Q(x)._replace(b=3.0)
        a, b = q
        of_p = p.z + dataclasses.replace(p, y=1.0).z + (p < P(3.0)) + (p == P(x)) + P.scale + len(dataclasses.fields(p))
        first, second = captured
        return of_p + q.total() + a * b + len(q) + (q == (x, 3.0)) + captured.total() + captured[0] + first + second

    return f


@case
def errors_of_ones_own():
    class Failure(KeyError):
        code = 3.0

        def __init__(self, message, x):
            super().__init__(message)
            self.x = x

        def __str__(self):
            return "failed"

    def f(x):
        try:
            if x > 5:
                raise Failure("a", x)
        except LookupError as error:
            return error.x + error.code + len(str(error)) + len(error.args) + isinstance(error, Failure)
        return x

    return f


@case
def errors_that_stop_everything():
    class Stop(BaseException):
        def __init__(self, x):
            self.x = x

    def f(x):
        try:
            try:
                if x > 50:
                    raise Stop(x)
            except Exception:
                return 0.0
        except Stop as stop:
            return -stop.x
        return x * 2

    return f


@case
def object_of_a_library():
    formatter = string.Formatter()
    return lambda x: x + len(formatter.format("{:.1f}", 2.5)), lambda: string.Formatter.__subclasses__()


@case(columns=(np.array(XS),))
def scalar_types():
    def f(x):
        kinds = isinstance(np.float32(x), np.float32) + issubclass(np.float32, np.floating) + (x.dtype == np.float64)
        return np.float32(x) + np.float64(2) * kinds + np.dtype(np.int8).itemsize + (x.dtype.type is np.float64)

    return f, lambda: (np.float32.__subclasses__(), np.floating.__subclasses__())


@case
def what_type_tells():
    numbers_, names, known, pair = [1.0, 2.0], {"a": 1.0}, {1.0}, (1, 2)

    def f(x):
        plain = (type(numbers_) is list) + (type(names) is dict) + (type(known) is set) + (type(pair) is tuple)
        plain += (numbers_.__class__ is list) + (type(np) is type(math)) + len(type(math.sin).__name__)
        return x + plain + {list: 256, dict: 512}[type(numbers_)] + (type([x]) is list) + (type(x) is float)

    return f


@case
def kinds_of_numbers():
    return lambda x: (
        x + isinstance(x, numbers.Number) + isinstance(x, numbers.Integral) + isinstance(x, (int, numbers.Real))
    )


@case
def context_manager_of_a_class():
    class Scaled:
        def __init__(self, x):
            self.x = x

        def __enter__(self):
            self.x *= 2
            return self

        def __exit__(self, kind, error, place):
            return kind is ZeroDivisionError

    def f(x):
        with Scaled(x) as scaled:
            return 1 / scaled.x
        return -1.0

    return f


@pytest.mark.parametrize("make", CASES)
def test_batched(make):
    is_batched(make)


@pytest.mark.parametrize("make", CASES)
def test_as_it_comes(make, capfd):
    agrees(make, capfd)


# ---- classes that change between calls


def follow(f, changes):
    for gear in ("numpy", None):
        assert up.map(f, XS, gear=gear).tolist() == [f(x) for x in XS]
    for change in changes:
        change()
        for gear in ("numpy", None):
            assert up.map(f, XS, gear=gear).tolist() == [f(x) for x in XS]


def test_a_method_that_is_added_or_replaced():
    class A:
        rate = 2.0

        def value(self):
            return 1.0

    class B(A):
        def __init__(self, x):
            self.x = x

    def added():
        B.value = lambda self: 2.0

    def replaced():
        A.value = lambda self: 3.0

    def removed():
        del B.value

    def rated():
        A.rate = 5.0

    follow(lambda x: B(x).x * B(x).rate + B(x).value(), [added, replaced, removed, rated])


def test_bases_that_change():
    class A:
        def value(self):
            return 1.0

    class C:
        def value(self):
            return 7.0

    class B(A):
        def __init__(self, x):
            self.x = x

    def changed():
        B.__bases__ = (C,)

    follow(lambda x: B(x).x + B(x).value(), [changed])


def test_a_method_of_elements_that_is_replaced():
    @dataclasses.dataclass
    class Point:
        x: float
        rate: typing.ClassVar[float] = 2.0

        def value(self):
            return self.x * self.rate

    points = [Point(x) for x in XS]

    def f(p):
        return p.value()

    def check():
        for gear in ("numpy", None):
            assert up.map(f, points, gear=gear).tolist() == [f(p) for p in points]

    check()
    Point.rate = 3.0
    check()
    Point.value = lambda self: self.x + 1
    check()


def test_a_captured_named_tuple_that_is_exchanged():
    Pair = collections.namedtuple("Pair", "a b")
    space = {"PAIR": Pair(1.0, 2.0)}
    exec("def f(x):\n    a, b = PAIR\n    return x * a + PAIR[1] + PAIR.a + len(PAIR)\n", space)
    follow(space["f"], [lambda: space.update(PAIR=Pair(3.0, 4.0)), lambda: space.update(PAIR=Pair(3.0, 5.0))])


# ---- what people broke


def test_abstract_classes_after_a_map():
    class Row(collections.abc.Mapping):
        def __init__(self, x):
            self.inside = {"x": x}

        def __getitem__(self, key):
            return self.inside[key]

        def __iter__(self):
            return iter(self.inside)

        def __len__(self):
            return 1

    assert up.map(lambda x: Row(x)["x"], [1.0] * 3000).tolist() == [1.0] * 3000
    assert not isinstance(5, collections.abc.Mapping)
    assert not isinstance(object(), collections.abc.Collection)
    assert Row.__subclasses__() == []


def test_fractions_of_a_map():
    expected = [fractions.Fraction(n, 7) for n in range(3000)]
    assert up.map(fractions.Fraction, range(3000), [7] * 3000) == expected
    assert not isinstance("", numbers.Rational)


def test_means_of_rows():
    rows = [[float(k), 2.0, 3.0] for k in range(100)]
    for _ in range(5):
        assert up.map(statistics.mean, rows).tolist() == [statistics.mean(row) for row in rows]
    assert isinstance(fractions.Fraction(1, 2), numbers.Rational)
    assert not isinstance("", numbers.Rational)


def test_subclasses_that_a_function_counts():
    class Base:
        def __init__(self, x):
            self.x = x

    class Child(Base):
        pass

    def f(x):
        return Base(x).x + len(Base.__subclasses__())

    for _ in range(4):
        assert up.map(f, XS).tolist() == [x + 1 for x in XS]
    assert Base.__subclasses__() == [Child]


def test_copies_die_with_their_trace():
    class Thing:
        def __init__(self, x):
            self.x = x

    captured = Thing(1.0)

    def f(x):
        return Thing(x).x + captured.x

    up.map(f, XS, gear="numpy")
    gc.collect()
    alive = [o for o in gc.get_objects() if issubclass(type(o), type) and o.__qualname__ == Thing.__qualname__]
    assert alive == [Thing]
    assert [o for o in gc.get_objects() if issubclass(type(o), Thing)] == [captured]


def test_a_class_that_cannot_be_copied_is_the_reason_that_is_told():
    class Meta(type):
        pass

    class Thing(metaclass=Meta):
        def __init__(self, x):
            self.x = x

    with pytest.raises(up.GearRefused, match=r"Thing.*test_classes\.py:\d+"):
        up.map(lambda x: Thing(x).x, XS, gear="numpy")


def test_objects_of_c_are_not_taken_for_ones_own(tmp_path):
    """Some of C's classes look like Python's: locks, connections, sockets."""
    import _thread
    import queue
    import select
    import socket

    with contextlib.ExitStack() as stack:
        things = [_thread.allocate_lock(), queue.SimpleQueue(), stack.enter_context(socket.socket())]
        things += [stack.enter_context(open(tmp_path / "file", "w")), iter([]), memoryview(b""), select.poll()]
        for thing in things:
            f = lambda x, thing=thing: x * 2 if thing is not None else x
            assert up.map(f, XS).tolist() == up.map(f, XS, gear="numpy").tolist() == [x * 2 for x in XS]
            with pytest.raises(up.GearRefused, match=type(thing).__name__):
                up.map(lambda x, thing=thing: x * bool(thing), XS, gear="numpy")
            assert up.map(lambda x, thing=thing: x * bool(thing), XS).tolist() == [x * bool(thing) for x in XS]
