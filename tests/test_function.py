"""`up.function` beside the plain function: what it looks like, when it shifts, what it never does."""

from __future__ import annotations

import asyncio
import dataclasses
import doctest
import gc
import inspect
import math
import multiprocessing
import pickle
import sys
import traceback
import weakref
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import functions_table
import upshift as up
from eagerly import compile_at_once, compile_wrongly, kinds_compiled
from law import overheard
from upshift.adaptive import decorate, pace, specialization, state


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code is compiled at the second call of a kind, and looked at all the time."""
    compile_at_once(monkeypatch)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return kinds_compiled(monkeypatch)


def spiral(n: int, k: float = 0.5, *, start: float = 0.0) -> float:
    """Goes round."""
    total = start
    for i in range(n):
        total = total * k + i
    return total


RATE = 2.0
COUNT = 0
TABLE = np.array([1.0, 2.0, 3.0])


def scaled(x: float) -> float:
    total = 0.0
    for _ in range(3):
        total += x * RATE
    return total


def looked_up(i: int) -> float:
    total = 0.0
    for _ in range(2):
        total += TABLE[i]
    return total


def helped(x: float) -> float:
    total = 0.0
    for _ in range(2):
        total += helper(x)
    return total


def helper(x: float) -> float:
    return x + 1


def counting(x: float) -> float:
    global COUNT
    for _ in range(3):
        COUNT += 1
    return x


def factorial(n: int) -> int:
    return 1 if n < 2 else n * decorated_factorial(n - 1)


decorated_factorial = up.function(factorial)


@up.function
def pickled(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


# ---- what it looks like


def test_the_example_in_the_docstring() -> None:
    failed, tried = doctest.testmod(decorate)
    assert tried and not failed


def test_it_looks_like_the_plain_function() -> None:
    f: Any = up.function(spiral)
    assert (f.__name__, f.__qualname__, f.__doc__, f.__module__) == ("spiral", "spiral", "Goes round.", __name__)
    assert inspect.signature(f) == inspect.signature(spiral)
    assert f.__annotations__ == spiral.__annotations__
    assert inspect.getsource(f) == inspect.getsource(spiral)
    assert f.plain is spiral and f.__wrapped__ is spiral
    assert f.__defaults__ == (0.5,) and f.__kwdefaults__ == {"start": 0.0}
    assert inspect.isfunction(f) and f is not spiral
    assert up.function(f) is f


def test_arguments_are_python_s() -> None:
    f: Any = up.function(spiral)
    for args, keywords in [((3,), {}), ((3, 2.0), {"start": 1.0}), ((), {"n": 2, "k": 1}), ((2,), {"start": 3})]:
        for _ in range(3):
            assert f(*args, **keywords) == spiral(*args, **keywords)
    for args, keywords in [((), {}), ((1, 2, 3), {}), ((1,), {"no": 2}), ((1,), {"n": 2})]:
        with pytest.raises(TypeError) as expected:
            spiral(*args, **keywords)
        with pytest.raises(TypeError) as got:
            f(*args, **keywords)
        assert str(got.value) == str(expected.value)


def test_positional_only_and_odd_names(eager: None) -> None:
    @up.function
    def f(a: float, /, _upshift0: float = 1.0, *, type: float = 2.0) -> float:
        total = 0.0
        for _ in range(3):
            total += a + _upshift0 * type
        return total

    for i in range(8):
        assert f(1.0 + i) == f.plain(1.0 + i)  # type: ignore[attr-defined]
        assert f(1.0, 2.0, type=float(i)) == f.plain(1.0, 2.0, type=float(i))  # type: ignore[attr-defined]


def test_methods(eager: None) -> None:
    class Thing:
        rate = 3

        @up.function
        def method(self, x: float) -> float:
            return x * self.rate

        @up.function
        @staticmethod
        def static(x: float) -> float:
            return x + 1

        @staticmethod
        @up.function
        def inner(x: float) -> float:
            return x + 2

        @up.function
        @classmethod
        def of_class(cls, x: float) -> float:
            return x + cls.rate

        @property
        @up.function
        def doubled(self) -> int:
            return 2 * self.rate

    class Child(Thing):
        rate = 5

        @up.function
        def method(self, x: float) -> float:
            return super().method(x) + 1

    for _ in range(6):
        thing = Thing()
        assert (thing.method(2.0), thing.static(1.0), thing.inner(1.0), thing.of_class(1.0)) == (6.0, 2.0, 3.0, 4.0)
        assert (thing.doubled, Thing.method(thing, 1.0), Child().method(1.0)) == (6, 3.0, 6.0)
        assert Thing.static(1.0) == 2.0 and Thing.of_class(1.0) == 4.0 and Child.of_class(0.0) == 5.0
    assert up.function(thing.method)(2.0) == 6.0
    assert "Thing" in thing.method.explain().kinds[0].why


def test_generators_and_coroutines() -> None:
    @up.function
    def numbers(n: int) -> Any:
        yield from range(n)

    @up.function
    async def later(x: int) -> int:
        await asyncio.sleep(0)
        return x + 1

    assert inspect.isgeneratorfunction(numbers) and inspect.iscoroutinefunction(later)
    assert list(numbers(3)) == [0, 1, 2] and asyncio.run(later(1)) == 2
    assert "generator" in numbers.explain().why and "coroutine" in later.explain().why  # type: ignore[attr-defined]


def test_recursion_is_as_deep_as_ever() -> None:
    assert decorated_factorial(400) == math.factorial(400)

    @up.function
    def down(n: int) -> int:
        return 0 if n == 0 else 1 + down(n - 1)

    assert down(600) == 600
    ways: dict[str, Any] = {}

    @up.function
    def by_table(n: int) -> int:
        return 0 if n == 0 else 1 + ways["down"](n - 1)

    ways["down"] = by_table
    assert by_table(600) == 600


def test_recursion_of_two(eager: None) -> None:
    @up.function
    def even(n: int) -> bool:
        return True if n == 0 else odd(n - 1)

    @up.function
    def odd(n: int) -> bool:
        return False if n == 0 else even(n - 1)

    assert [even(i) for i in range(20)] == [i % 2 == 0 for i in range(20)]


def test_other_callables() -> None:
    assert up.function(len) is len
    assert up.function(np.sin) is np.sin
    with pytest.raises(TypeError, match="takes a function, not 3"):
        up.function(3)  # type: ignore[type-var]
    with pytest.raises(up.UpshiftError, match="no gear named 'warp'"):
        up.function(spiral, gears="warp")


def test_gears() -> None:
    f: Any = up.function(gears="plain")(spiral)
    assert f.__code__ is spiral.__code__ and "allowed" in f.explain().why
    assert up.function(spiral, gears=("plain", "llvm"), exact=True)(3) == spiral(3)


def test_static_arguments(eager: None, compilations: list[Any]) -> None:
    def moved(x: float, mode: str, n: int = 3) -> float:
        for i in range(n):
            x = x * 2.0 if mode == "fast" else x + i
        return x

    f = up.function(moved, static=("mode",))
    for i in range(30):
        for mode in ("fast", "slow"):
            assert f(1.0 + i, mode) == moved(1.0 + i, mode)
    assert len(compilations) == 2 and f.explain().gear == "llvm"  # type: ignore[attr-defined]
    with pytest.raises(up.UpshiftError, match="has no argument 'speed'"):
        up.function(moved, static="speed")
    by_position = up.function(moved, static=2)
    for n in (True, 1, 2, 2, 1, True) * 4:
        assert by_position(1.0, "slow", n) == moved(1.0, "slow", n)


def test_disabled() -> None:
    with up.config(disable=True):
        assert up.function(spiral) is spiral
        assert up.function(gears="llvm")(spiral) is spiral


def test_pickling() -> None:
    assert pickle.loads(pickle.dumps(pickled)) is pickled
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert list(pool.map(functions_table._inner, [1.0, 2.0])) == [2.5, 3.5]


def test_tracebacks_show_the_user_s_code_only() -> None:
    @up.function
    def fails(x: int) -> float:
        for _ in range(3):
            x = 1 // x
        return x

    for _ in range(10):
        with pytest.raises(ZeroDivisionError) as caught:
            fails(0)
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert frames[-1].line == "x = 1 // x"
        ours = [frame.name for frame in frames if "upshift/adaptive" in frame.filename]
        assert not ours
        assert caught.value.__context__ is None


def test_other_kinds_beside_machine_code(eager: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that machine code is not made for are plain calls, of which few are looked at."""
    monkeypatch.setattr(pace, "FAST_PAUSE", 50)
    f: Any = up.function(functions_table.summed_from_float)
    for _ in range(60):
        f(np.ones(3))
    assert f.explain().gear == "llvm"
    f.__upshift__.pace.pause = 50
    monkeypatch.setattr(pace.Pace, "changes", lambda self, took: False)
    f.__upshift__.install()
    before = f.__upshift__.pace.looks
    for _ in range(100):
        assert f([1.0, 2.0]) == 3.0
    assert 0 < f.__upshift__.pace.looks - before < 10


def test_a_debugger_sees_the_plain_function(eager: None) -> None:
    f: Any = up.function(spiral)
    for i in range(6):
        f(i, 0.5)
    assert f.explain().gear == "llvm"
    lines = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal lines
        lines += event == "line" and frame.f_code is spiral.__code__
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for i in range(9):
            f(i, 0.5)
    finally:
        sys.settrace(before)
    assert lines == sum(3 + 2 * i for i in range(9))


def test_a_decorated_closure_is_freed(eager: None) -> None:
    def make(k: float) -> Any:
        @up.function
        def f(x: float) -> float:
            for _ in range(3):
                x = x * k
            return x

        for _ in range(8):
            f(1.0)
        assert f.explain().gear == "llvm"  # type: ignore[attr-defined]
        return weakref.ref(f), weakref.ref(f.plain), weakref.ref(f.__upshift__)  # type: ignore[attr-defined]

    gone = make(2.0)
    gc.collect()
    assert [one() for one in gone] == [None] * 3


def test_arguments_are_not_held(eager: None) -> None:
    """Also where machine code leaves a call in its middle."""
    f: Any = up.function(functions_table.write_then_maybe_fail)
    x, many = np.ones(3), [np.ones(3) for _ in range(60)]
    for _ in range(6):
        f(x, 3)
    assert f.explain().gear == "llvm"
    before = [sys.getrefcount(one) for one in many]
    for i, one in enumerate(many):
        if i % 10:
            assert f(one, 3) is one
        else:
            with pytest.raises(IndexError):
                f(one, 4)
    del one
    assert [sys.getrefcount(one) for one in many] == before


# ---- what it never does


def test_an_impure_function_runs_once_per_call(eager: None) -> None:
    f: Any = up.function(counting)
    before = COUNT
    for _ in range(20):
        f(1.0)
    assert COUNT - before == 60
    assert "sets COUNT" in str(f.explain()) and "test_function.py" in str(f.explain())


@pytest.mark.parametrize("name", ["print", "random", "clock", "nonlocal", "captured"])
def test_impurity_is_named(eager: None, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    import random
    import time

    seen: list[float] = []
    count = 0

    def prints(x: float) -> float:
        for _ in range(2):
            print(x)
        return x

    def draws(x: float) -> float:
        for _ in range(2):
            x += random.random()
        return x

    def clock(x: float) -> float:
        for _ in range(2):
            x += time.time()
        return x

    def outer(x: float) -> float:
        nonlocal count
        for _ in range(2):
            count += 1
        return x

    def grows(x: float) -> float:
        for _ in range(2):
            seen.append(x)
        return x

    words = {"print": (prints, "prints"), "random": (draws, "random numbers"), "clock": (clock, "clock"),
             "nonlocal": (outer, "sets count"), "captured": (grows, "")}  # fmt: skip
    f, word = words[name]
    decorated: Any = up.function(f)
    for _ in range(8):
        decorated(1.0)
    explanation = decorated.explain()
    assert explanation.gear == "plain" and word in str(explanation)
    assert (len(capsys.readouterr().out.split()), count, len(seen)) == {
        "print": (16, 0, 0), "nonlocal": (0, 16, 0), "captured": (0, 0, 16)}.get(name, (0, 0, 0))  # fmt: skip


def test_wrong_machine_code_is_never_seen(eager: None, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_wrongly(monkeypatch, [1.0])
    f: Any = up.function(spiral)
    with overheard() as said:
        assert [f(i, 0.5) for i in range(9)] == [spiral(i, 0.5) for i in range(9)]
    assert len(said) == 1 and "is not used" in said[0]
    assert "not the plain function's" in f.explain().kinds[0].why


def test_machine_code_that_becomes_wrong_is_found(eager: None, monkeypatch: pytest.MonkeyPatch) -> None:
    off = [0.0]
    compile_wrongly(monkeypatch, off)
    monkeypatch.setattr(state, "CHECKED_SHARE", math.inf)
    f: Any = up.function(spiral)
    for i in range(9):
        f(i, 0.5)
    assert f.explain().gear == "llvm"
    off[0] = 1.0
    with overheard() as said:
        for i in range(20):
            f(i, 0.5)
    assert said and f.explain().gear == "plain"


# ---- captured things may change


def test_captured_numbers_arrays_and_helpers_change(eager: None, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[__name__]
    f, g, h = (up.function(one) for one in (scaled, looked_up, helped))
    for i in range(40):
        if i == 10:
            monkeypatch.setattr(module, "RATE", 3.0)
            TABLE[1] += 1.0
        if i == 20:
            monkeypatch.setattr(module, "RATE", 4)
            monkeypatch.setattr(module, "TABLE", np.array([9.0, 8.0]))
            monkeypatch.setattr(module, "helper", lambda x: x - 1)
        if i == 30:
            monkeypatch.setattr(module, "RATE", np.float64(0.1))
            monkeypatch.setattr(module, "TABLE", [1, 2])
        for one, other, x in ((f, scaled, 1.5), (g, looked_up, 1), (h, helped, 2.5)):
            got, want = one(x), other(x)  # type: ignore[operator]
            assert got == want and type(got) is type(want)


def test_a_changed_kind_of_capture_is_compiled_anew(eager: None, compilations: list[Any]) -> None:
    rate: Any = 2.0

    @up.function
    def f(x: float) -> float:
        for _ in range(2):
            x = x * rate
        return x

    for rate in (2.0, np.float64(3.0)):
        for _ in range(60):
            got = f(2.0)
            assert got == 2.0 * rate * rate and type(got) is type(2.0 * rate)
    assert f.explain().gear == "llvm" and len(compilations) == 2  # type: ignore[attr-defined]


def test_deep_tuples_and_odd_classes(eager: None) -> None:
    class Meta(type):
        def __hash__(cls) -> int:
            raise RuntimeError

        def __eq__(cls, other: object) -> bool:
            raise RuntimeError

    class Odd(metaclass=Meta):
        @property
        def __class__(self) -> Any:
            raise RuntimeError

    @up.function
    def f(x: Any) -> Any:
        for _ in range(2):
            y = x
        return y

    deep: Any = ()
    for _ in range(5000):
        deep = (deep, 1.0)
    odd = Odd()
    for _ in range(12):
        assert f(deep) is deep and f(odd) is odd


def test_a_closure_changes(eager: None) -> None:
    k = 1.0

    @up.function
    def f(x: float) -> float:
        for _ in range(2):
            x = x * k
        return x

    for i in range(20):
        k = float(i)
        assert f(2.0) == 2.0 * k * k
    assert f.explain().gear == "llvm"  # type: ignore[attr-defined]


# ---- when it shifts


def test_new_ints_and_new_lengths_compile_nothing(eager: None, compilations: list[Any]) -> None:
    f, g = up.function(spiral), up.function(functions_table.summed_from_float)
    for i in range(100):
        assert f(i, 0.5) == spiral(i, 0.5)
        assert g(np.arange(1.0, i + 2)) == functions_table.summed_from_float(np.arange(1.0, i + 2))
    assert len(compilations) == 2


def test_it_waits_until_compiling_pays(compilations: list[Any]) -> None:
    f: Any = up.function(spiral)
    for i in range(300):
        f(i)
    assert not compilations and f.explain().gear == "plain"
    assert "until a check pays" in f.explain().kinds[0].why
    spec = next(iter(f.__upshift__.specializations.values()))
    for _ in range(2):  # the check, and what LLVM does
        spec.add(spec.missing(), 10)
        for i in range(600):
            f(i)
    assert len(compilations) == 1 and f.explain().gear == "llvm"


def test_few_instructions_become_the_plain_function_s_code(
    compilations: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "TOO_BRIEF", math.inf)

    @up.function
    def add(a: Any, b: Any) -> Any:
        return a + b

    for _ in range(200):
        add(1, 1)
    assert add.__code__ is add.plain.__code__ and not compilations  # type: ignore[attr-defined]
    assert "stays plain for good" in add.explain().why  # type: ignore[attr-defined]


def test_calls_that_machine_code_leaves_make_it_rest(eager: None) -> None:
    f: Any = up.function(functions_table.factorial)
    for _ in range(10):
        f(10)
    assert f.explain().gear == "llvm"
    for _ in range(40):
        assert f(30) == math.factorial(30)
    assert f.explain().gear == "plain" and "rests" in f.explain().kinds[0].why
    for _ in range(400):
        assert f(10) == math.factorial(10)
    assert f.explain().gear == "llvm"


def test_numpy_s_error_state(eager: None) -> None:
    f: Any = up.function(functions_table.dot)
    a, b = np.array([1e-200, 1.0]), np.array([1e-200, 1.0])
    for _ in range(6):
        f(np.ones(2), np.ones(2))
    assert f.explain().gear == "llvm"
    assert f(a, b) == 1.0
    with np.errstate(under="raise"), pytest.raises(FloatingPointError):
        f(a, b)
    with np.errstate(all="ignore"):
        assert f(np.array([np.inf]), np.array([0.0])) != 0.0


def test_explanation(eager: None) -> None:
    f: Any = up.function(functions_table.of_two_classes)
    for _ in range(12):
        f(1.0)
        f("a") if False else f(2)
    explanation = f.explain()
    assert explanation.function == "of_two_classes" and explanation.gear == "llvm" and explanation.calls > 0
    assert {kind.arguments for kind in explanation.kinds} == {"float", "int"}
    text = str(explanation)
    assert "shifted: compiled in" in text and "per call" in text
    strange: Any = up.function(functions_table.of_list)
    strange([1.0])
    assert "its argument xs is a list" in str(strange.explain())


def test_map_sees_through(eager: None) -> None:
    f: Any = up.function(scaled)
    xs = np.linspace(-1, 1, 5000)
    want = [scaled(x) for x in xs]
    assert np.array_equal(up.map(f, xs), want)
    assert up.explain(f, xs).function == "scaled"
    assert not f.explain().kinds

    def outer(x: float) -> float:
        return f(x) + 1

    assert np.array_equal(up.map(outer, xs, gear="numpy"), [w + 1 for w in want])
    assert np.array_equal(up.map(outer, xs, gear="llvm"), [w + 1 for w in want])
    assert np.array_equal(up.vmap(f)(xs), want) and np.array_equal(up.vectorize(f)(xs), want)


# ---- the code that it has


@pytest.mark.parametrize("k", [1, 2])
def test_frames_can_be_looked_into(k: int) -> None:
    """Also in the middle of a look, and where variables are those of a function around it."""

    @up.function
    def fails(x: float) -> float:
        return 1.0 / (x - k)

    @up.function
    def fails_with_variables(x: float, *more: float, scale: float = 2.0) -> float:
        a = b = x - k
        inner = [a * scale for _ in range(2)]
        try:
            return 1.0 / b
        except ZeroDivisionError:
            raise ValueError(f"{a} {inner}") from None

    for f, name in ((fails, "fails"), (fails_with_variables, "fails_with_variables")):
        for i in range(50):
            assert f(k + 1.0 + i) == 1.0 / (1.0 + i)
            with pytest.raises((ZeroDivisionError, ValueError)) as caught:
                f(float(k))
            frames = [
                frame for frame, _ in traceback.walk_tb(caught.value.__traceback__) if frame.f_code.co_name == name
            ]
            assert frames and all(frame.f_locals["x"] == k and frame.f_locals["k"] == k for frame in frames)
            assert frames[-1].f_lineno > frames[-1].f_code.co_firstlineno


def test_calls_begin_once_for_a_profiler() -> None:
    def work(n: int) -> int:
        total = 0
        for i in range(n):
            total += i
        return total

    counts = []
    for f in (work, up.function(work)):
        events: list[str] = []
        sys.setprofile(lambda frame, event, _: events.append(event) if frame.f_code.co_name == "work" else None)
        try:
            for n in range(5):
                f(n)
        finally:
            sys.setprofile(None)
        counts.append((events.count("call"), events.count("return")))
    assert counts[1][0] == counts[1][1] and counts[1][0] <= counts[0][0] + 1


def test_what_a_function_sees_of_itself() -> None:
    @up.function
    def names(a: int, b: int = 2) -> list[str]:
        c = a + b
        return sorted(locals()) + [str(c)]

    @up.function
    def unset(a: int) -> int:
        if a:
            found = a
        return found

    for i in range(50):
        assert names(i) == ["a", "b", "c", str(i + 2)]
        assert unset(i + 1) == i + 1
        with pytest.raises(UnboundLocalError):
            unset(0)


def test_a_long_call_is_compared_with_the_one_before(eager: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (state, specialization):
        monkeypatch.setattr(module, "HEAVY", -1.0)
    k = 1.0

    @up.function
    def f(n: int) -> float:
        total = 0.0
        for i in range(n):
            total += i * k
        return total

    assert [f(n) for n in range(4, 8)] == [6.0, 10.0, 15.0, 21.0]  # looks are at the first and the fourth
    assert f.explain().gear == "llvm"  # type: ignore[attr-defined]

    @up.function
    def g(n: int) -> float:
        total = 0.0
        for i in range(n):
            total += i * k + 1.0
        return total

    with overheard() as said:
        assert g(5) == 15.0
        k = 2.0
        assert [g(n) for n in range(8)] == [sum(2.0 * i + 1.0 for i in range(n)) for n in range(8)]
    assert not said and g.explain().gear == "llvm"  # type: ignore[attr-defined]


def test_objects_that_are_not_what_they_were(eager: None) -> None:
    """An attribute that is gone, and one that is somebody's code."""

    @dataclasses.dataclass
    class Odd:
        x: float
        y: float = 0.0

        def __getattr__(self, name: str) -> float:
            raise RuntimeError(name)

    @up.function
    def f(body: Any) -> float:
        total = 0.0
        for _ in range(3):
            total += body.x
        return total

    for i in range(12):
        body, odd = functions_table.Body(1.0 * i, 2.0), Odd(1.0 * i)
        assert f(body) == 3.0 * i
        del body.v, odd.y
        assert f(body) == 3.0 * i and f(odd) == 3.0 * i
        del body.x
        with pytest.raises(AttributeError):
            f(body)
    assert f.explain().gear == "llvm"  # type: ignore[attr-defined]
