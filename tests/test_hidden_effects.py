"""Effects that no statement shows: finalisers, class attributes, descriptors, context managers, contexts."""

from __future__ import annotations

import builtins
import contextlib
import contextvars
import dataclasses
import decimal
import enum
import functools
import locale
import math
import os
import sqlite3
import tempfile
import threading
import types
import warnings
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import upshift as up
from cases import agrees, is_refused

XS = [float(k) for k in range(1500)]
COLUMNS = (XS,)
EFFECTS = []


def effect(make):
    EFFECTS.append(pytest.param(make, id=make.__name__))
    return make


# ---- objects that come and go


@effect
def finaliser():
    log = []

    class Mortal:
        def __init__(self, x):
            self.x = x

        def __del__(self):
            log.append(1)

    return lambda x: Mortal(x).x * 2, COLUMNS, lambda: len(log)


@effect
def inherited_finaliser():
    class Mortal:
        deaths = 0

        def __del__(self):
            Mortal.deaths += 1

    class Child(Mortal):
        def __init__(self, x):
            self.x = x

    return lambda x: Child(x).x * 2, COLUMNS, lambda: Mortal.deaths


@effect
def finaliser_of_a_weak_reference():
    log = []

    class Thing:
        pass

    def f(x):
        thing = Thing()
        weakref.finalize(thing, log.append, x)
        return x * 2

    return f, COLUMNS, lambda: len(log)


@effect
def callback_of_a_weak_reference():
    log = []

    class Thing:
        pass

    def f(x):
        thing = Thing()
        reference = weakref.ref(thing, lambda _: log.append(1))
        del thing
        return x * 2 + (reference() is None)

    return f, COLUMNS, lambda: len(log)


@effect
def generator_that_is_never_finished():
    log = []

    def numbers(x):
        try:
            yield x
        finally:
            log.append(x)

    return lambda x: next(numbers(x)) * 2, COLUMNS, lambda: len(log)


@effect
def generator_that_prints_when_it_is_closed():
    def numbers(x):
        try:
            while True:
                yield x
        finally:
            print(end="")

    def f(x):
        for y in numbers(x):
            break
        return y * 2

    return f, COLUMNS, lambda: None


@effect
def generator_that_calls_the_system_when_it_is_closed():
    def numbers(x):
        try:
            yield x
        finally:
            os.getpid()

    return lambda x: next(numbers(x)) * 2, COLUMNS, lambda: None


# ---- classes


@effect
def list_of_a_class():
    class Thing:
        made = []

        def __init__(self, x):
            self.made.append(x)
            self.x = x

    return lambda x: Thing(x).x * 2, COLUMNS, lambda: len(Thing.made)


@effect
def cache_of_a_class():
    class Thing:
        cache = {}

        def __new__(cls, x):
            if x not in cls.cache:
                cls.cache[x] = object.__new__(cls)
            return cls.cache[x]

        def __init__(self, x):
            self.x = x

    return (
        lambda x: Thing(x).x * 2,
        COLUMNS,
        lambda: (len(Thing.cache), {type(v) is Thing for v in Thing.cache.values()}),
    )


@effect
def method_of_a_base():
    log = []

    class Base:
        def __init__(self, x):
            log.append(x)
            self.x = x

    class Child(Base):
        def __init__(self, x):
            super().__init__(x)
            self.y = 1.0

    return lambda x: Child(x).x + 1, COLUMNS, lambda: len(log)


@effect
def class_that_registers():
    registry = []

    class Base:
        def __init_subclass__(cls, **keywords):
            registry.append(cls.__name__)

    def f(x):
        class Child(Base):
            pass

        return x * 2

    return f, COLUMNS, lambda: len(registry)


@effect
def class_made_by_a_call():
    registry = []

    class Base:
        def __init_subclass__(cls, **keywords):
            registry.append(cls.__name__)

    def f(x):
        type("Child", (Base,), {})
        return x * 2

    return f, COLUMNS, lambda: len(registry)


@effect
def member_that_is_told_its_name():
    log = []

    class Member:
        def __set_name__(self, owner, name):
            log.append(name)

    def f(x):
        class Thing:
            member = Member()

        return x * 2

    return f, COLUMNS, lambda: len(log)


@effect
def captured_member_that_is_told_its_name():
    class Member:
        told = 0

        def __set_name__(self, owner, name):
            self.told += 1

    member = Member()

    def f(x):
        class Thing:
            inside = member

        return x * 2

    return f, COLUMNS, lambda: member.told


@effect
def metaclass_that_counts():
    class Counting(type):
        calls = 0

        def __call__(cls, *args):
            Counting.calls += 1
            return super().__call__(*args)

    class Thing(metaclass=Counting):
        def __init__(self, x):
            self.x = x

    return lambda x: Thing(x).x * 2, COLUMNS, lambda: Counting.calls


@effect
def body_of_a_class():
    log = []

    def f(x):
        class Thing:
            log.append(1)

        return x

    return f, COLUMNS, lambda: len(log)


@effect
def error_that_counts():
    log = []

    class Failure(ValueError):
        def __init__(self, x):
            log.append(x)

    def f(x):
        try:
            if x > 5:
                raise Failure(x)
        except Failure:
            return -x
        return x

    return f, COLUMNS, lambda: len(log)


@effect
def method_of_an_enumeration():
    log = []

    class Rate(enum.Enum):
        LOW = 2.0

        def of(self, x):
            log.append(x)
            return x * self.value

    return lambda x: Rate.LOW.of(x), COLUMNS, lambda: len(log)


@effect
def attribute_of_an_enumeration():
    class Rate(enum.Enum):
        LOW = 2.0

        def of(self, x):
            self.used = getattr(self, "used", 0) + 1
            return x * self.value

    return lambda x: Rate.LOW.of(x), COLUMNS, lambda: getattr(Rate.LOW, "used", 0)


# ---- descriptors, and attributes behind one's back


@effect
def descriptor_that_counts():
    class Counted:
        reads = 0

        def __get__(self, instance, owner=None):
            self.reads += 1
            return 2.0

    counted = Counted()

    class Thing:
        value = counted

    return lambda x: Thing().value * x, COLUMNS, lambda: counted.reads


@effect
def descriptor_that_remembers():
    class Remembered:
        def __init__(self):
            self.seen = []

        def __set__(self, instance, value):
            self.seen.append(value)
            instance.__dict__["value"] = value

        def __get__(self, instance, owner=None):
            return instance.__dict__["value"]

    remembered = Remembered()

    class Thing:
        value = remembered

        def __init__(self, x):
            self.value = x

    return lambda x: Thing(x).value * 2, COLUMNS, lambda: len(remembered.seen)


@effect
def cached_property():
    log = []

    class Thing:
        def __init__(self, x):
            self.x = x

        @functools.cached_property
        def double(self):
            log.append(self.x)
            return self.x * 2

    return lambda x: Thing(x).double, COLUMNS, lambda: len(log)


@effect
def store_past_setattr():
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        count: int = 0

        def up(self):
            object.__setattr__(self, "count", self.count + 1)

    frozen = Frozen()

    def f(x):
        frozen.up()
        return x

    return f, COLUMNS, lambda: frozen.count


@effect
def store_into_a_slot():
    class Slotted:
        __slots__ = ("last",)

    slotted = Slotted()
    slotted.last = -1.0

    def f(x):
        object.__setattr__(slotted, "last", x)
        return x

    return f, COLUMNS, lambda: slotted.last


@effect
def attribute_of_a_module_that_is_made_when_asked_for():
    module = types.ModuleType("made")
    module.asked = 0

    def made(name):
        module.asked += 1
        return 2.0

    module.__getattr__ = made
    return lambda x: x * module.scale, COLUMNS, lambda: module.asked


# ---- elements


@effect
def method_of_an_element():
    log = []

    @dataclasses.dataclass
    class Point:
        x: float

        def double(self):
            log.append(self.x)
            return self.x * 2

    return lambda p: p.double(), ([Point(x) for x in XS],), lambda: len(log)


@effect
def method_of_a_tuple_with_names():
    log = []

    class Point(NamedTuple):
        x: float

        def double(self):
            log.append(self.x)
            return self.x * 2

    return lambda p: p.double(), ([Point(x) for x in XS],), lambda: len(log)


# ---- what is swallowed


@effect
def swallowed():
    log = []

    def f(x):
        try:
            log.append(x)
        except:  # noqa: E722
            pass
        return x * 2

    return f, COLUMNS, lambda: len(log)


@effect
def swallowed_by_a_return():
    log = []

    def f(x):
        try:
            log.append(x)
        finally:
            return x * 2

    return f, COLUMNS, lambda: len(log)


# ---- context managers, and what a process or a thread is set to


@effect
def context_manager():
    class Timer:
        uses = 0

        def __enter__(self):
            self.uses += 1

        def __exit__(self, *error):
            return False

    timer = Timer()

    def f(x):
        with timer:
            return x * 2

    return f, COLUMNS, lambda: timer.uses


@effect
def context_manager_made_of_a_generator():
    log = []

    @contextlib.contextmanager
    def noted():
        log.append("in")
        yield
        log.append("out")

    def f(x):
        with noted():
            return x * 2

    return f, COLUMNS, lambda: len(log)


@effect
def exit_stack():
    log = []

    def f(x):
        with contextlib.ExitStack() as stack:
            stack.callback(log.append, x)
            return x * 2

    return f, COLUMNS, lambda: len(log)


@effect
def warnings_that_are_caught():
    def f(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return x * 2

    return f, COLUMNS, lambda: list(map(repr, warnings.filters))


@effect
def warning():
    caught = []

    def f(x):
        with warnings.catch_warnings(record=True) as seen:
            warnings.warn("again", UserWarning, stacklevel=1)
            caught.extend(seen)
        return x * 2

    return f, COLUMNS, lambda: len(caught) > 0


@effect
def context_variable():
    variable = contextvars.ContextVar("calls", default=0)

    def f(x):
        variable.set(variable.get() + 1)
        return x + variable.get()

    def state():
        calls = variable.get()
        variable.set(0)
        return calls

    return f, COLUMNS, state


@effect
def context_variable_that_is_read():
    variable = contextvars.ContextVar("scale", default=1.0)

    def state():
        variable.set(variable.get() + 1)
        return variable.get()

    return lambda x: x * variable.get(), COLUMNS, state


@effect
def numbers_as_the_locale_has_them():
    return lambda x: len(locale.format_string("%.2f", x, grouping=True)), COLUMNS, lambda: None


@effect
def format_as_the_locale_has_it():
    return lambda x: len(f"{x:n}"), COLUMNS, lambda: None


@effect
def decimal_context():
    def f(x):
        decimal.getcontext().prec += 1
        return x * 2

    def state():
        precision, decimal.getcontext().prec = decimal.getcontext().prec, 28
        return precision

    return f, COLUMNS, state


@effect
def decimal_context_for_a_while():
    def f(x):
        with decimal.localcontext() as context:
            context.prec = 5
            return x * float(decimal.Decimal(1) / decimal.Decimal(3))

    return f, COLUMNS, lambda: decimal.getcontext().prec


@effect
def error_state_of_numpy():
    def f(x):
        return x if np.geterr()["divide"] == "warn" else -x

    return f, (np.array(XS),), np.geterr


@effect
def errors_that_numpy_raises():
    def f(x):
        with np.errstate(divide="raise"):
            try:
                return np.float64(1.0) / x
            except FloatingPointError:
                return -1.0

    return f, (np.array(XS),), np.geterr


# ---- things that nobody can see into


@effect
def lock():
    lock = threading.Lock()

    def f(x):
        with lock:
            return x * 2

    return f, COLUMNS, lock.locked


@effect
def thread():
    log = []

    def f(x):
        worker = threading.Thread(target=log.append, args=(x,))
        worker.start()
        worker.join()
        return x

    return f, (XS[:100],), lambda: len(log)


@effect
def event():
    event = threading.Event()

    def f(x):
        if x == 3:
            event.set()
        return x * 2 + event.is_set()

    return f, COLUMNS, event.is_set


@effect
def local_of_a_thread():
    local = threading.local()
    local.calls = 0

    def f(x):
        local.calls += 1
        return x + local.calls

    return f, COLUMNS, lambda: local.calls


@effect
def database():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table numbers (x)")

    def f(x):
        connection.execute("insert into numbers values (?)", (x,))
        return x

    return f, (XS[:100],), lambda: connection.execute("select count(*) from numbers").fetchone()


@effect
def file_of_numpy():
    handle, path = tempfile.mkstemp(".npy")
    os.close(handle)
    os.remove(path)

    def f(x):
        np.save(path, x)
        return x * 2

    def state():
        if not os.path.exists(path):
            return None
        found = float(np.load(path))
        os.remove(path)
        return found

    return f, (np.array(XS[:100]),), state


@pytest.mark.parametrize("make", EFFECTS)
def test_the_loop_does_it(make, capfd):
    agrees(make, capfd)


@pytest.mark.parametrize("make", EFFECTS)
def test_it_is_refused_before_it_is_done(make, capfd):
    assert is_refused(make, capfd)


# ---- what a process is set to is read, not baked in


def test_decimals_follow_their_context():
    a, b = decimal.Decimal(1), decimal.Decimal(3)
    for f in (lambda x: x * float(a / b), lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(3))):
        for precision in (28, 3, 28, 5):
            with decimal.localcontext() as context:
                context.prec = precision
                for gear in ("numpy", None):
                    assert up.map(f, XS, gear=gear).tolist() == [f(x) for x in XS]


def test_an_enumeration_that_only_computes_is_batched():
    class Rate(enum.Enum):
        LOW = 2.0
        HIGH = 3.0

        def of(self, x):
            return x * self.value + math.pi

        @property
        def half(self):
            return self.value / 2

    def f(x):
        return (Rate.LOW if x > 5 else Rate.HIGH).of(x) + Rate.LOW.half

    assert up.map(f, XS, gear="numpy").tolist() == [f(x) for x in XS]


def test_what_is_held_but_not_used_does_not_matter():
    """A lock, a file, a module that acts, in a closure: only using them is refused."""
    lock, log, system = threading.Lock(), open(os.devnull), os

    def f(x, guard=lock):
        if lock is None or log is None or guard is None:
            return 0.0
        if x < 0:
            with lock:
                return float(system.getpid())
        return x * 2

    assert up.map(f, XS, gear="numpy").tolist() == [x * 2 for x in XS]
    with pytest.raises(up.GearRefused, match="lock"):
        up.map(f, [-1.0, *XS], gear="numpy")
    log.close()


def test_a_global_lock_is_the_reason_that_is_told():
    space = {"LOCK": threading.Lock()}
    exec("def f(x):\n    with LOCK:\n        return x * 2\n", space)
    for _ in range(3):
        assert up.map(space["f"], XS).tolist() == [x * 2 for x in XS]
    told = up.explain(space["f"], XS)
    assert told.gear == "loop"
    assert "lock" in told.refusals["numpy"].reason
    assert told.refusals["numpy"].where.endswith(":2")


@pytest.mark.parametrize("gear", ["numpy", "llvm"])
def test_print_is_print_where_a_library_has_put_its_own_in_its_place(gear, monkeypatch):
    plain = builtins.print

    def careful(*words, **keywords):
        plain(*words, **keywords)

    def f(x):
        print(x)
        return x

    def g(x):
        plain(x)
        return x

    monkeypatch.setattr(builtins, "print", careful)
    for fn in (f, g):
        with pytest.raises(up.GearRefused, match="print"):
            up.map(fn, XS, gear=gear)
