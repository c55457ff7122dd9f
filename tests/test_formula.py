"""In: functions of whole arrays. Out: a failure where one loop over their numbers is not NumPy's to the last bit."""

from __future__ import annotations

import random
import types
import warnings
from typing import Any

import numpy as np
import pytest

import upshift as up
from eagerly import compile_at_once
from upshift.function import life
from upshift.gears.calls import argument_of
from upshift.gears.formula import formula_of

RNG = np.random.default_rng(11)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code is compiled at the second call of a kind, and wins every race."""
    compile_at_once(monkeypatch)
    monkeypatch.setattr(life, "BRIEF", -1.0)
    monkeypatch.setattr(life, "why_slow", lambda *_: None)


def affine(x):
    return x * 2.0 + 1.0


def horner(x, a, b):
    y = a * x + b
    y = y * x - 3
    return y / 7.0


def distance(x, y):
    return np.sqrt(x**2 + np.square(y))


def several(x, y):
    total = x + y
    return total, -(x * y) / 2


def named(x, scale):
    return np.absolute(np.subtract(x, 1.5)) * scale + np.multiply(x, 2)


FORMULAS = {"affine": 1, "horner": 1, "distance": 2, "several": 2, "named": 1}
NUMBERS = {"horner": (2, 0.5), "named": (np.float64(3.0),)}


def calls_of(name: str, *shape: int) -> tuple[Any, ...]:
    return (*(RNG.normal(size=shape) for _ in range(FORMULAS[name])), *NUMBERS.get(name, ()))


def same(want: Any, got: Any) -> None:
    assert type(want) is type(got)
    for one, other in zip(want, got, strict=True) if type(want) is tuple else [(want, got)]:
        assert type(one) is type(other) and one.dtype == other.dtype and one.strides == other.strides
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("shape", [(1,), (7,), (1000,), (0,), (3, 4), (2, 3, 5)], ids=str)
def test_formulas_are_numpys_to_the_last_bit(eager: None, name: str, shape: tuple[int, ...]) -> None:
    f = globals()[name]
    decorated = up.function(f)
    for _ in range(30):
        args = calls_of(name, *shape)
        same(f(*args), decorated(*args))
    compiled = any(kind.gear == "numba" for kind in decorated.explain().kinds)
    assert compiled or 0 in shape, decorated.explain()


def test_other_arrays_are_numpys_own(eager: None) -> None:
    """Broadcast, with gaps, turned round, of other dtypes, of classes of their own, and read-only ones."""
    decorated = up.function(distance)
    square = RNG.normal(size=(40, 40))
    locked = RNG.normal(size=40)
    locked.flags.writeable = False
    cases = [
        (square, square[0]), (square, square[:, :1]), (square[::2], square[::2]), (square.T, square.T),
        (square.astype(np.float32), square.astype(np.float32)), (locked, locked), (square[0], square[0][::-1]),
        (square.astype(int), square.astype(int)), (np.asfortranarray(square), square),
        (np.ma.masked_less(square[0], 0), square[0]), (square[0].astype(complex), square[0]), (square[0], square[0]),
    ]  # fmt: skip
    for _ in range(6):
        for args in cases:
            want, got = distance(*args), decorated(*args)
            assert type(want) is type(got) and want.dtype == got.dtype and want.strides == got.strides
            assert want.tobytes() == got.tobytes()


@pytest.mark.parametrize("bad", [0.0, np.inf, np.nan, 1e308, 5e-324])
def test_numpys_warnings_and_errors(eager: None, bad: float) -> None:
    def f(x, y):
        return x * x / y + 1.0

    decorated = up.function(f)
    x, y = RNG.normal(size=50), RNG.normal(size=50)
    for _ in range(5):
        same(f(x, y), decorated(x, y))
    odd = y.copy()
    odd[17] = bad
    for args in ((x, odd), (odd, y), (odd, odd)):
        heard = []
        for g in (f, decorated):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                made = g(*args)
            heard.append((made.tobytes(), sorted(str(w.message) for w in caught)))
        assert heard[0] == heard[1]
        with np.errstate(all="raise"):
            outcomes = []
            for g in (f, decorated):
                try:
                    outcomes.append(g(*args).tobytes())
                except FloatingPointError as error:
                    outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


def test_a_mismatch_is_numpys_error(eager: None) -> None:
    decorated = up.function(distance)
    for _ in range(4):
        decorated(np.ones(5), np.ones(5))
    with pytest.raises(ValueError, match="could not be broadcast"):
        decorated(np.ones(5), np.ones(4))


def writes(x):
    x += 1.0
    return x * 2.0


def gives_back(x):
    y = x * 2.0 + 1.0  # noqa: F841
    return x


def decides(x):
    y = x * 2.0 + 1.0
    return y if y.any() else x


def reduces(x):
    return (x * 2.0 + 1.0).sum() * x


def cubes(x):
    return x**3 * 2.0 + 1.0


def curves(x):
    return np.sin(x) * 2.0 + 1.0


def wastes(x):
    """Machine code would not compute what nobody needs, and so would not warn."""
    np.sqrt(x)
    y = x - x  # noqa: F841
    return x * 2.0 + 1.0


LIST: list[Any] = []


def remembers(x):
    LIST.append(x)
    return x * 2.0 + 1.0


def by_numbers(x, a, b):
    return x * (a * b) + 1.0


def defaulted(x, a=2.0):
    return x * a + 1.0


@pytest.mark.parametrize(
    "f", [writes, gives_back, decides, reduces, cubes, curves, remembers, by_numbers, defaulted, wastes]
)
def test_what_is_no_formula(eager: None, f: types.FunctionType) -> None:
    args = (np.linspace(0.1, 2, 60), *((2, 3) if f is by_numbers else ()))
    assert formula_of(f, tuple(map(argument_of, args))) is None
    decorated = up.function(f)
    for _ in range(5):
        first, second = args[0].copy(), args[0].copy()
        same(f(first, *args[1:]), decorated(second, *args[1:]))
        same(first, second)


def test_a_formula_is_found_without_running_anything_else() -> None:
    LIST.clear()
    formula_of(remembers, (argument_of(np.ones(3)),))
    assert not LIST


def test_numpy_by_its_global_name(eager: None, monkeypatch: pytest.MonkeyPatch) -> None:
    decorated = up.function(distance)
    x = np.ones(8)
    for _ in range(4):
        decorated(x, x)
    other = types.SimpleNamespace(sqrt=lambda y: y * 10.0, square=lambda y: y)
    monkeypatch.setitem(globals(), "np", other)
    got = decorated(x, x)
    monkeypatch.undo()
    assert np.array_equal(got, np.full(8, 20.0))


TERMS = ("{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / ({b} * {b} + 0.5)", "-{a}", "np.sqrt(np.abs({a}))", "{a} ** 2",
         "np.square({a})", "3 * {a}", "{a} - 0.25", "1.5 / (1.0 + np.square({a}))", "np.add({a}, {b}) * s")  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_made_up_formulas(eager: None, seed: int) -> None:
    rng = random.Random(seed)
    names, lines = ["x", "y"], ["def f(x, y, s):"]
    for i in range(rng.randint(3, 9)):
        lines.append(f"    v{i} = {rng.choice(TERMS).format(a=rng.choice(names), b=rng.choice(names))}")
        names.append(f"v{i}")
    body = "\n".join(lines)
    unused = [name for name in names if body.count(name) == 1]
    lines.append(f"    return {' + '.join(unused)} * {rng.choice(names)} - x * y")
    space = {"np": np}
    exec(compile("\n".join(lines), f"<formula {seed}>", "exec"), space)
    f: Any = space["f"]
    decorated = up.function(f)
    assert formula_of(f, (argument_of(RNG.normal(size=3)),) * 2 + (float,)) is not None, "\n".join(lines)
    for _ in range(5):
        args = RNG.normal(size=97), RNG.normal(size=97), rng.choice([2, 0.7, -3.0])
        with np.errstate(all="ignore"):
            assert f(*args).tobytes() == decorated(*args).tobytes(), "\n".join(lines)
