"""Functions to be mapped: closures, defaults, partials, helpers elsewhere, decorators and callables."""

from __future__ import annotations

import functools
import math
from functools import lru_cache, partial

import numpy as np

from functions import helper_module
from functions.data import FEW_FLOATS, FEW_PAIRS, FEW_REALS, SMALL_INTS, TRIPLES, UNIT
from functions.helper_module import normal_density
from functions.table import Table

table = Table("closures")
row = table.row
THRESHOLD = 1.25
STEPS = 3
FLAG = True
MODE = "fast"
ONE_KIND = SMALL_INTS[:1]  # a cache gives np.int64(3) what it remembers of 3
VECTOR = np.array([0.5, 1.5, -2.0])


def _scaled(factor, offset=1):
    def scaled(x):
        return x * factor + offset

    return scaled


def _twice(g):
    @functools.wraps(g)
    def wrapper(*args, **kwargs):
        return g(g(*args, **kwargs))

    return wrapper


table.add("closure_of_ints", _scaled(3), FEW_REALS)
table.add("closure_of_floats", _scaled(2.5, -0.5), FEW_REALS)
table.add("lambda_plain", lambda x: x * x - 1, FEW_REALS)
table.add("lambda_with_branch", lambda x: x if x > 0 else -x, FEW_REALS)
table.add("lambda_with_default", lambda x, k=4: x + k, FEW_REALS)
table.add("partial_of_function", partial(helper_module.shift, by=10), FEW_REALS)
table.add("partial_of_positional", partial(math.pow, 2.0), UNIT)
table.add("partial_of_partial", partial(partial(normal_density, mean=1.0), deviation=2.0), UNIT)
table.add("builtin_itself", math.sin, UNIT)
table.add("abs_itself", abs, FEW_REALS)
table.add("float_itself", float, FEW_REALS)
table.add("helper_itself", helper_module.scale, FEW_REALS)


@row(FEW_REALS)
def default_argument(x, power=2):
    return x**power


@row(FEW_REALS)
def keyword_only(x, *, k=0.5):
    return x * k


@row(TRIPLES)
def star_arguments(*values):
    return sum(values) + len(values)


@row(FEW_REALS)
def star_call(x):
    def g(a, b, *rest, c=1, **more):
        return a * b + sum(rest) + c + more.get("d", 0)

    return g(*(x, 2), *[3, 4], c=5, **{"d": x})


@row(FEW_REALS)
def global_constant(x):
    return x > THRESHOLD, x * STEPS


@row(FEW_REALS)
def global_flag(x):
    if FLAG and MODE == "fast":
        return x + 1
    return x - 1


@row(FEW_REALS)
def helper_in_another_module(x):
    return helper_module.scale(x) + helper_module.shift(x)


@row(FEW_REALS)
def constant_of_another_module(x):
    return x * helper_module.K + helper_module.SCALE


@row(FEW_REALS)
def attributes_of_another_module(x):
    if x > helper_module.settings.limit:
        return helper_module.OPTIONS["deep"]["gain"] * x
    return helper_module.TABLE[1] + helper_module.OPTIONS["offset"]


@row(FEW_FLOATS)
def imported_function(x):
    return normal_density(x, deviation=2.0)


@row(FEW_FLOATS)
def helper_that_raises(x):
    return math.sqrt(helper_module.checked(x))


@row(FEW_REALS)
def function_as_argument(x):
    return helper_module.twice(lambda v: v * 2 + 1, x)


@row(FEW_REALS)
def nested_function(x):
    def inner(y):
        return y * x

    return inner(2) + inner(x)


@row(FEW_REALS)
def nonlocal_inside(x):
    count = 0

    def bump(by):
        nonlocal count
        count += by
        return count

    bump(x)
    bump(1)
    return count


@row(FEW_REALS)
def functions_in_a_dict(x):
    operations = {"double": lambda v: v * 2, "half": lambda v: v / 2}
    return operations["double"](x) - operations["half"](x)


@row(FEW_REALS)
def functions_chosen_by_branch(x):
    g = math.floor if x > 0 else math.ceil
    return g(x)


@row(FEW_REALS)
@_twice
def decorated(x):
    return x * 2 + 1


@row(ONE_KIND)
@lru_cache(maxsize=None)
def cached(x):
    return x * x + 1


@lru_cache(maxsize=8)
def _cached_helper(x, k):
    return x * k


@row(ONE_KIND)
def calls_cached(x):
    return _cached_helper(x, 2) + _cached_helper(x, 3)


@row(FEW_REALS)
def captured_array_item(x):
    return x * VECTOR[1]


@row(FEW_PAIRS)
def inner_partial(x, y):
    add = partial(lambda a, b: a + b, x)
    return add(y)


@row(FEW_REALS)
def late_binding(x):
    fs = [lambda v: v + k for k in range(3)]
    gs = [lambda v, k=k: v + k for k in range(3)]
    return fs[0](x), gs[0](x)


@row(FEW_REALS)
def immediately_called(x):
    return (lambda v: v - 1)(x)


@row(FEW_PAIRS)
def annotated(x: float, y: float) -> float:
    total: float = x + y
    return total


@row(FEW_REALS)
def positional_only(x, /, k=2):
    return x - k


@row(FEW_REALS)
def imports_inside(x):
    import math as m

    return m.fabs(x)


@row(FEW_REALS)
def documented(x):
    """Says nothing."""
    assert x == x or x != x
    return x


@row(FEW_REALS)
def composed(x):
    def compose(*fs):
        return lambda v: functools.reduce(lambda value, g: g(value), fs, v)

    return compose(lambda v: v + 1, lambda v: v * 2)(x)
