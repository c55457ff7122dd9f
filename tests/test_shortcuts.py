"""Brief calls of machine code, which are one written function: they are right, or a miss."""

import itertools
import logging
import math
import types
import warnings

import numpy as np
import pytest

import upshift as up
from upshift.gears.binder import MISS
from upshift.gears.numba.function import SLOW_RUNS
from upshift.plan.machine import SPOT_CHECK, Swift
from upshift.plan.memory import MEMORY, MOST_FUNCTIONS, SHORTCUTS

N = 100
XS = np.linspace(0.5, 3.0, N)
SCALE, OFFSETS = 2.0, np.array([1.0, 2.0, 3.0])


def scaled(x):
    return math.sqrt(x) * SCALE if x > 1.0 else x * SCALE


def climbed(x):
    total = 0.0
    while total < x:
        total += 0.3
    return total


def moved(v):
    return v * 2.0 + OFFSETS


def looked_up(i):
    total = 0.0
    for k in range(3):
        total += OFFSETS[(i + k) % 3]
    return total


def several(a, b, c):
    if a > 2.0:
        return a + b, SCALE * c
    return a - b, c


def swift_of(f, *columns, traced):
    """Machine code of a function that needs no thought any more: of what was traced, or of the function itself."""
    if traced:
        up.map(f, *columns, gear="numpy")
    up.map(f, *columns, gear="numba")
    known = next(k for k in MEMORY.known.values() if f.__code__ in k.anchors)
    swift = Swift(known.machines, next(iter(known.machines.ready.values()))[0])
    for _ in range(SLOW_RUNS + 1):
        swift.prepared.over(f, {}, columns, len(columns[0]), 1)
    known._shorten(swift.short, len(columns[0]))
    return swift


def fresh(f, number=itertools.count()):
    """The same function with code that is like no other's."""
    code = f.__code__.replace(co_consts=(*f.__code__.co_consts, f"fresh {next(number)}"))
    return types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__)


def loop(f, *columns):
    rows = [f(*row) for row in zip(*columns)]
    return tuple(map(np.array, zip(*rows))) if isinstance(rows[0], tuple) else np.array(rows)


def same(got, want):
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for one, other in zip(got, want):
            same(one, other)
    else:
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-9)


CASES = {
    "numbers by a tree": (scaled, (XS,), True),
    "numbers by the function": (climbed, (XS,), False),
    "arrays by a nest": (moved, (np.arange(3.0 * N).reshape(N, 3),), True),
    "a captured array": (looked_up, (np.arange(N),), False),
    "several columns and results": (several, (XS, XS[::-1].copy(), XS + 1.0), True),
}


@pytest.fixture(params=CASES)
def case(request):
    f, columns, traced = CASES[request.param]
    f = fresh(f)
    return f, columns, swift_of(f, *columns, traced=traced)


def test_they_are_the_loops(case):
    f, columns, swift = case
    result = swift.short(f, *columns)
    assert result is not MISS
    same(result, loop(f, *columns))
    assert SHORTCUTS[id(f.__code__), N.bit_length()][1] is swift.short
    same(up.map(f, *columns), loop(f, *columns))


def test_results_are_new_every_time(case):
    f, columns, swift = case
    first, second = swift.short(f, *columns), swift.short(f, *columns)
    firsts, seconds = (one if isinstance(one, tuple) else (one,) for one in (first, second))
    assert not any(np.shares_memory(a, b) for a in firsts for b in (*seconds, *columns))


def test_other_columns_are_not_theirs(case):
    f, columns, swift = case
    gaps = tuple(np.repeat(column, 2, axis=0)[::2] for column in columns)
    other = tuple(column.astype("i4" if column.dtype.kind == "i" else "f4") for column in columns)
    swapped = tuple(column.astype(column.dtype.newbyteorder()) for column in columns)
    for given in (gaps, other, swapped):
        assert swift.short(f, *given) is MISS
        same(up.map(f, *given), loop(f, *given))
    assert swift.short(f, *(column.tolist() for column in columns)) is MISS


def test_read_only_columns_are(case):
    f, columns, swift = case
    given = tuple(column.copy() for column in columns)
    for column in given:
        column.flags.writeable = False
    same(swift.short(f, *given), loop(f, *columns))


def test_lengths_that_differ_are_an_error():
    f = fresh(several)
    swift = swift_of(f, XS, XS, XS, traced=True)
    assert swift.short(f, XS, XS[:-1], XS) is MISS
    with pytest.raises(ValueError, match="unequal length"):
        up.map(f, XS, XS[:-1], XS)


@pytest.mark.parametrize("value", [3.0, 5, np.float32(7.0), True])
def test_what_is_captured_is_read_again(value, monkeypatch):
    f = fresh(scaled)
    swift_of(f, XS, traced=True)
    monkeypatch.setitem(globals(), "SCALE", value)
    same(up.map(f, XS), loop(f, XS))


@pytest.mark.parametrize(
    "value", [np.array([5.0, 6.0, 7.0]), np.arange(6.0)[::2], np.array([1, 2, 3]), np.ones((3, 2)), [1.0, 2.0, 3.0]]
)
@pytest.mark.parametrize("name", ["arrays by a nest", "a captured array"])
def test_so_are_captured_arrays(name, value, monkeypatch):
    f, columns, traced = CASES[name]
    f = fresh(f)
    swift_of(f, *columns, traced=traced)
    monkeypatch.setitem(globals(), "OFFSETS", value)
    try:
        want = loop(f, *columns)
    except Exception as error:
        with pytest.raises(type(error)):
            up.map(f, *columns)
        return
    same(up.map(f, *columns), want)


def test_a_function_may_get_other_code():
    f = fresh(scaled)
    swift_of(f, XS, traced=True)
    f.__code__ = climbed.__code__
    same(up.map(f, XS), loop(f, XS))


def test_builtins_may_be_covered(monkeypatch):
    def f(x):
        return abs(x) if x < 2.0 else max(x, 2.5)

    swift_of(f, XS, traced=False)
    monkeypatch.setitem(globals(), "max", lambda *_: -1.0)
    same(up.map(f, XS), loop(f, XS))


def test_lanes_that_are_left_are_the_plain_functions():
    def f(x):
        whole = math.floor(x)
        return whole - whole // 3 if whole < 10**18 else 3

    swift = swift_of(f, XS, traced=False)
    large = XS.copy()
    large[[3, 7]] = 1e19, 1e300
    assert swift.short(f, large).tolist() == up.map(f, large).tolist() == [f(x) for x in large]


def test_ints_that_no_array_holds_are_for_others():
    def f(x):
        return math.floor(x) * 2

    swift = swift_of(f, XS, traced=False)
    large = XS.copy()
    large[3] = 1e19
    assert swift.short(f, large) is MISS and swift.over(f, (large,)) is MISS
    assert up.map(f, large).tolist() == [f(x) for x in large]


def test_an_element_that_raises_is_named():
    def f(x):
        if x > 2.0:
            raise ValueError("too much")
        return x + 1.0

    low = np.linspace(0.0, 1.0, N)
    swift_of(f, low, traced=False)
    high = low.copy()
    high[42] = 2.5
    with pytest.raises(ValueError, match="too much") as caught:
        up.map(f, high)
    assert "42" in "".join(caught.value.__notes__)


def test_numpy_warns_as_in_the_loop():
    f = lambda x: 1.0 / x if x > -1.0 else climbed(x)
    swift = swift_of(f, XS, traced=False)
    zero = XS.copy()
    zero[3] = 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        want = loop(f, zero)
        assert len(caught) == 1
        got = up.map(f, zero)
        assert len(caught) == 2
    same(got, want)
    with np.errstate(divide="ignore"):
        same(swift.short(f, zero), want)


def test_disabled_is_disabled():
    f = fresh(climbed)
    swift = swift_of(f, XS, traced=False)
    swift.prepared.kernel = None  # what would fail
    with up.config(disable=True):
        same(up.map(f, XS), loop(f, XS))


def test_a_difference_is_found_in_time(caplog):
    f = fresh(climbed)
    swift = swift_of(f, XS, traced=False)
    honest = swift.prepared.kernel

    class Dishonest:
        def __getattr__(self, name):
            return getattr(honest, name)

        def run(self, *args):
            count = honest.run(*args)
            args[2][:] += 1.0
            return count

    swift.prepared.kernel = Dishonest()
    wrong = 0
    with caplog.at_level(logging.WARNING, "upshift"):
        for _ in range(2 * SPOT_CHECK):
            wrong += not np.array_equal(up.map(f, XS), loop(f, XS))
    assert "not used" in caplog.text and wrong < SPOT_CHECK
    assert swift.short(f, XS) is MISS
    same(up.map(f, XS), loop(f, XS))


def test_there_are_so_many_and_no_more():
    f = fresh(climbed)
    swift = swift_of(f, XS, traced=False)
    known = next(k for k in MEMORY.known.values() if f.__code__ in k.anchors)
    kept = dict(SHORTCUTS)
    try:
        for i in range(MOST_FUNCTIONS + 2):
            SHORTCUTS.setdefault((-i, 1), (f.__code__, None))
            known._shorten(swift.short, N)
        assert len(SHORTCUTS) <= MOST_FUNCTIONS
    finally:
        SHORTCUTS.clear()
        SHORTCUTS.update(kept)


# ---- batches by NumPy


def product(x, y):
    return x * y + SCALE


def express_of(f, *columns):
    for _ in range(3):
        up.map(f, *columns, gear="numpy")
    known = next(k for k in MEMORY.known.values() if any(code is f.__code__ for code in k.anchors))
    known.walked()
    known._shorten(known.express.short, len(columns[0]))
    return known


def test_batches_have_them_too(monkeypatch):
    f, ys = fresh(product), XS[::-1].copy()
    known = express_of(f, XS, ys)
    same(known.express.short(f, XS, ys), loop(f, XS, ys))
    assert SHORTCUTS[id(f.__code__), N.bit_length()][1] is known.express.short
    monkeypatch.setitem(globals(), "SCALE", 0.25)
    same(up.map(f, XS, ys), loop(f, XS, ys))
    monkeypatch.setitem(globals(), "SCALE", 3)
    assert known.express.short(f, XS, ys) is MISS
    same(up.map(f, XS, ys), loop(f, XS, ys))
    for other in (XS[::-1], XS[:-1], XS.astype("f4"), XS.astype(">f8"), XS.tolist()):
        assert known.express.short(f, XS, other) is MISS


@pytest.mark.parametrize("value", [1e308, 1e-200])
def test_batches_that_overflow_or_vanish_are_others(value):
    f = fresh(product)
    known = express_of(f, XS, XS)
    extreme = XS.copy()
    extreme[5] = value
    assert known.express.short(f, extreme, extreme) is MISS
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        want = loop(f, extreme, extreme)
        expected = len(caught)
        got = up.map(f, extreme, extreme)
    assert len(caught) == 2 * expected
    same(got, want)


def test_a_new_way_ends_them():
    f = fresh(product)
    known = express_of(f, XS, XS)
    known.forget_ways()
    assert (id(f.__code__), N.bit_length()) not in SHORTCUTS


def test_columns_of_results_share_no_memory():
    f = fresh(lambda x: (x, x * 2.0, x * 2.0))
    up.map(f, XS, gear="numpy")
    known = next(k for k in MEMORY.known.values() if any(code is f.__code__ for code in k.anchors))
    known.walked()
    assert known.express is None or known.express.short is None
    first, second, third = up.map(f, XS)
    assert not np.shares_memory(first, XS) and not np.shares_memory(second, third)
