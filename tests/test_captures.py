"""What a function captured changes between two calls: the next call sees it, in every gear."""

from __future__ import annotations

import functools
import math
import types
from dataclasses import dataclass, field

import numpy as np
import pytest

import upshift as up
from changes import VALUES, XS, agree, follow, setter
from functions import helper_module
from law import GEARS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
each_gear = pytest.mark.parametrize("gear", GEARS)
LIMIT = 1
FLAG = True
MODE = "add"
WEIGHTS = np.array([1.0, 2.0, 3.0])


def helper(x):
    return x * 2


@dataclass
class Settings:
    gain: float = 2.0
    inner: object = None
    items: list = field(default_factory=lambda: [1, 2])

    def scaled(self, x):
        return x * self.gain

    def __call__(self, x):
        return x - self.gain


class Counter:
    step = 1

    @classmethod
    def stepped(cls, x):
        return x + cls.step


SETTINGS = Settings(inner=Settings(5.0))


@each_gear
def test_global(gear, monkeypatch):
    module = globals()

    def f(x):
        return x * LIMIT

    changes = [lambda value=value: monkeypatch.setitem(module, "LIMIT", value) for value in VALUES]
    follow(f, changes, gear)


@each_gear
def test_global_that_decides(gear, monkeypatch):
    module = globals()

    def f(x):
        if FLAG and x > LIMIT:
            return x
        return x + 1 if MODE == "add" else x - 1

    follow(
        f,
        [
            lambda: monkeypatch.setitem(module, "FLAG", False),
            lambda: monkeypatch.setitem(module, "MODE", "subtract"),
            lambda: monkeypatch.setitem(module, "FLAG", 1),
            lambda: monkeypatch.setitem(module, "LIMIT", -5.5),
            lambda: monkeypatch.setitem(module, "LIMIT", math.nan),
        ],
        gear,
    )


@each_gear
def test_global_that_vanishes(gear):
    space = {"K": 2}
    exec("def f(x):\n    return x * K\n", space)
    f = space["f"]
    agree(f, gear, XS)
    del space["K"]
    with pytest.raises(NameError, match="'K' is not defined"):
        up.map(f, XS, gear=gear)
    space["K"] = 7
    agree(f, gear, XS)


@each_gear
def test_global_that_hides_a_builtin(gear):
    space = {}
    exec("def f(x):\n    return abs(x) + max(x, 1)\n", space)
    f = space["f"]
    agree(f, gear, XS)
    space["abs"] = lambda x: x * 100
    agree(f, gear, XS)
    space["max"] = min
    agree(f, gear, XS)
    del space["abs"], space["max"]
    agree(f, gear, XS)


@each_gear
@pytest.mark.parametrize("value", VALUES, ids=str)
def test_closure_cell(gear, value):
    k = 2

    def f(x):
        return x * k + k

    def change():
        nonlocal k
        k = value

    follow(f, [change], gear)


@each_gear
def test_closure_cell_that_holds_a_function(gear):
    g = math.floor

    def f(x):
        return g(x)

    def change(to):
        nonlocal g
        g = to

    follow(f, [lambda: change(math.ceil), lambda: change(helper), lambda: change(lambda x: x > 0)], gear)


@each_gear
def test_defaults(gear):
    def f(x, k=2, *, j=3):
        return x * k + j

    changes = [setter(f, "__defaults__", (value,)) for value in VALUES]
    changes += [setter(f, "__kwdefaults__", {"j": value}) for value in VALUES]
    follow(f, changes, gear)


@each_gear
def test_code_of_the_function(gear):
    def f(x):
        return x + 1

    def other(x):
        return x * 10 if x > 0 else 0.0

    follow(f, [setter(f, "__code__", other.__code__)], gear)


@each_gear
def test_helper_replaced(gear, monkeypatch):
    module = globals()

    def f(x):
        return helper(x) + 1

    follow(
        f,
        [
            lambda: monkeypatch.setitem(module, "helper", lambda x: x - 1),
            lambda: monkeypatch.setitem(module, "helper", abs),
            lambda: monkeypatch.setitem(module, "helper", Settings(4.0)),
        ],
        gear,
    )


@each_gear
def test_code_of_a_helper(gear):
    def inner(x):
        return x + 1

    def f(x):
        return inner(x) * 2

    follow(f, [setter(inner, "__code__", (lambda x: x - 1).__code__)], gear)


@each_gear
def test_default_of_a_helper(gear):
    def inner(x, k=2):
        return x * k

    def f(x):
        return inner(x)

    follow(f, [setter(inner, "__defaults__", (value,)) for value in (3, 0.5, 2**65)], gear)


@each_gear
def test_constants_of_another_module(gear, monkeypatch):
    def f(x):
        return x * helper_module.K + helper_module.shift(x) + helper_module.scale(x)

    follow(
        f,
        [
            lambda: monkeypatch.setattr(helper_module, "K", 0.5),
            lambda: monkeypatch.setattr(helper_module, "SCALE", 8),
            lambda: monkeypatch.setattr(helper_module, "shift", lambda x: x * 3),
        ],
        gear,
    )


@each_gear
def test_deep_contents_of_another_module(gear, monkeypatch):
    def f(x):
        if x > helper_module.settings.limit:
            return x * helper_module.OPTIONS["deep"]["gain"]
        return x + helper_module.TABLE[1]

    follow(
        f,
        [
            lambda: monkeypatch.setattr(helper_module.settings, "limit", -3),
            lambda: monkeypatch.setattr(helper_module.Settings, "limit", 100),
            lambda: monkeypatch.setitem(helper_module.OPTIONS["deep"], "gain", -1),
            lambda: monkeypatch.setattr(helper_module, "TABLE", [0, 77.0]),
            lambda: helper_module.TABLE.__setitem__(1, 5),
            lambda: monkeypatch.setattr(helper_module, "settings", types.SimpleNamespace(limit=0)),
        ],
        gear,
    )


@each_gear
def test_attribute_of_an_object(gear, monkeypatch):
    def f(x):
        return x * SETTINGS.gain + SETTINGS.inner.gain

    changes = [lambda value=value: monkeypatch.setattr(SETTINGS, "gain", value) for value in VALUES]
    changes += [lambda: monkeypatch.setattr(SETTINGS.inner, "gain", 0.25)]
    changes += [lambda: monkeypatch.setattr(SETTINGS, "inner", Settings(-1.0))]
    follow(f, changes, gear)


@each_gear
def test_attribute_of_a_class(gear, monkeypatch):
    follow(Counter.stepped, [lambda: monkeypatch.setattr(Counter, "step", 0.5)], gear)
    counter = Counter()

    def f(x):
        return x + counter.step

    follow(f, [lambda: monkeypatch.setattr(Counter, "step", 9), setter(counter, "step", -2.5)], gear)


@each_gear
def test_bound_method_and_callable_object(gear, monkeypatch):
    box = Settings(3.0)
    follow(box.scaled, [setter(box, "gain", value) for value in VALUES], gear)
    follow(box, [setter(box, "gain", value) for value in VALUES], gear)
    follow(box, [lambda: monkeypatch.setattr(Settings, "__call__", lambda self, x: x * 100)], gear)


@each_gear
def test_property_of_an_object(gear):
    class Lens:
        def __init__(self):
            self.focus = 2.0

        @property
        def power(self):
            return 1 / self.focus

    lens = Lens()

    def f(x):
        return x * lens.power

    follow(f, [setter(lens, "focus", 4.0), setter(lens, "focus", 8)], gear)


@each_gear
def test_contents_of_a_list(gear):
    values = [1.0, 2.0]

    def f(x):
        total = 0
        for value in values:
            total += value * x
        return total + len(values)

    follow(
        f,
        [
            lambda: values.append(5),
            lambda: values.__setitem__(0, 0.25),
            values.clear,
            lambda: values.extend([1, 2, 3]),
        ],
        gear,
    )


@each_gear
def test_item_of_a_list(gear):
    values = [1.0, [2, 3]]

    def f(x):
        return x * values[0] + values[1][-1]

    follow(f, [lambda value=value: values.__setitem__(0, value) for value in VALUES], gear)
    follow(f, [lambda: values[1].append(50)], gear)


@each_gear
def test_contents_of_a_dict(gear):
    values = {"a": 1.0, "b": {"c": 2}}

    def f(x):
        return x * values["a"] + values["b"]["c"] + len(values) + values.get("d", 0)

    follow(
        f,
        [
            lambda: values.update(a=5),
            lambda: values["b"].update(c=0.5),
            lambda: values.update(d=10),
            lambda: values.pop("d"),
        ],
        gear,
    )


@each_gear
def test_dict_that_is_looked_up_by_element(gear):
    prices = {0: 1.5, 1: 2.5, 2: 3.5}

    def f(k):
        return prices[k] * 2

    xs = [0, 1, 2] * 20
    follow(f, [lambda: prices.update({1: 100}), lambda: prices.update({0: -0.5, 2: 2})], gear, xs)
    del prices[2]
    with pytest.raises(KeyError):
        up.map(f, xs, gear=gear)


@each_gear
def test_list_that_is_indexed_by_element(gear):
    table = [10, 20, 30]

    def f(k):
        return table[k]

    xs = [0, 1, 2] * 20
    follow(f, [lambda: table.__setitem__(1, 0.5), lambda: table.append(1), table.reverse], gear, xs)
    table.pop()
    table.pop()
    with pytest.raises(IndexError):
        up.map(f, xs, gear=gear)


@each_gear
def test_contents_of_a_set(gear):
    allowed = {1.0, 2.0}

    def f(x):
        return x in allowed

    follow(f, [lambda: allowed.add(0.5), allowed.clear], gear)


@each_gear
def test_contents_of_an_array(gear):
    weights = np.array([1.0, 2.0, 3.0])

    def f(x):
        return x * weights[1] + weights[0]

    follow(f, [lambda: weights.__setitem__(1, 50.0), lambda: weights.fill(-1), lambda: weights.__imul__(2)], gear)


@each_gear
def test_another_array(gear, monkeypatch):
    module = globals()

    def f(x):
        return x * WEIGHTS[0]

    follow(
        f,
        [
            lambda: monkeypatch.setitem(module, "WEIGHTS", np.array([5, 6])),
            lambda: monkeypatch.setitem(module, "WEIGHTS", np.array([0.5], dtype=np.float32)),
            lambda: monkeypatch.setitem(module, "WEIGHTS", [7]),
        ],
        gear,
    )


@each_gear
def test_partial_with_changing_contents(gear):
    scale = [2.0]
    f = functools.partial(lambda scale, x: x * scale[0], scale)
    follow(f, [lambda: scale.__setitem__(0, 7)], gear)


@each_gear
def test_type_of_a_capture_changes_and_returns(gear):
    k = 2

    def f(x):
        return x + k if isinstance(k, int) else x - k

    def change(value):
        nonlocal k
        k = value

    follow(f, [lambda value=value: change(value) for value in (2.0, 2, True, 2)], gear)


@each_gear
def test_none_becomes_a_number(gear):
    limit = None

    def f(x):
        return x if limit is None else min(x, limit)

    def change(value):
        nonlocal limit
        limit = value

    follow(f, [lambda value=value: change(value) for value in (1.0, None, 0, math.inf)], gear)


def test_imports_in_a_function_are_the_modules_that_they_name():
    def submodule(x):
        from numpy.linalg import norm

        return norm(x)

    def dotted(x):
        import numpy.linalg

        return numpy.linalg.norm(x)

    def renamed(x):
        import numpy.linalg as la

        return la.norm(x)

    xs = np.random.default_rng(0).normal(size=(40, 3))
    for f in (submodule, dotted, renamed):
        for _ in range(2):
            np.testing.assert_allclose(up.map(f, xs, gear="numpy"), [f(x) for x in xs], rtol=1e-12)
        space: dict = {}
        exec(up.source(f, xs), space)
        np.testing.assert_allclose(space["batched"](f, xs), [f(x) for x in xs], rtol=1e-12)


@functools.cache
def ways(n):
    return 1 if n < 2 else ways(n - 1) + ways(n - 2)


@functools.cache
def table_of(n):
    return [n]


@functools.cache
def doubled(x):
    return x * 2.0


def test_what_a_cached_function_gave_is_given_again_within_a_trace():
    """As the cache does: the very same object, and a function that calls itself twice is not run 2**n times."""

    def f(x):
        return x + ways(60) if table_of(3) is table_of(3) else -x

    def of_lanes(x):
        return doubled(x) + doubled(3) + doubled(3.0) + doubled(True)

    xs = [0.5 + i for i in range(40)]
    for g in (f, of_lanes):
        assert up.map(g, xs, gear="numpy").tolist() == [g(x) for x in xs]
