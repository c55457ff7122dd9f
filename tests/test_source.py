"""The batched program as source: run with the plain function, it gives what the loop gives."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

import numpy as np
import pytest

import upshift as up
from array_samples import columns, function_of
from functions.tables import TABLES
from law import Rule, assert_error, compare
from stacking import Raised, outcomes, stack
from upshift.rules.arrays import ARRAYS as ROWS

pytestmark = pytest.mark.filterwarnings("ignore")
BY_TABLE = 12
CHOSEN = [
    pytest.param(row, id=f"{table.name}-{row.name}")
    for table in TABLES
    for row in [row for row in table.rows if row.must_batch][:: max(1, len(table.rows) // BY_TABLE)]
]
FLOATS = [k * 0.5 for k in range(-60, 60)]


def run_source(f, *columns, on=None):
    """The result of the program written for `columns`, run over `on` or over the same columns."""
    space = {}
    exec(compile(up.source(f, *columns), "<batched>", "exec"), space)
    return space["batched"](f, *(on or columns))


def check_source(f, *columns, on=None):
    found = outcomes(f, on or columns, {})
    failed = next((at for at, one in enumerate(found) if isinstance(one, Raised)), None)
    if failed is None:
        difference = compare(stack(found, f), run_source(f, *columns, on=on))
        assert difference is None, f"{difference}\n{up.source(f, *columns)}"
        return
    with pytest.raises(type(found[failed].error)) as info:
        run_source(f, *columns, on=on)
    assert_error(found[failed].error, failed, info.value)


@pytest.mark.parametrize("row", CHOSEN)
def test_source_gives_what_the_loop_gives(row):
    for data in [data for data in row.data if data.easy and len(data.columns[0])][:4]:
        check_source(row.f, *data.columns)


@dataclass
class Box:
    width: float
    height: float


K = 3


def three_way(x):
    if x < -1:
        return -x - 0.5
    if x > 1:
        return x - 0.5
    return 0.5 * x * x


def several(x):
    total = 0
    for k in range(3):
        total += math.sin(x) * k
    return total, {"big": x > K}, Box(x, K)


def test_it_is_python_that_a_reader_can_read():
    text = up.source(three_way, FLOATS)
    tree = ast.parse(text)
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert "batched" in names
    assert text.isprintable() or "\n" in text
    assert max(len(line) for line in text.splitlines()) <= 160


def test_it_takes_the_plain_function_first():
    tree = ast.parse(up.source(three_way, FLOATS))
    batched = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "batched")
    assert batched.args.args[0].arg == "f"


def test_other_columns_of_the_same_kind():
    """Another length, and elements that take paths nobody has seen."""
    check_source(three_way, FLOATS[:10], on=(FLOATS,))
    check_source(three_way, [5.0, 6.0], on=([-7.0, 0.25, math.nan, 9.0],))
    check_source(three_way, np.array(FLOATS), on=(np.array(FLOATS[::-1]),))


def test_structures():
    check_source(several, FLOATS)
    check_source(several, np.array(FLOATS))


def test_failures():
    check_source(lambda x: 1 / (x - 3.5), FLOATS)
    check_source(lambda x: math.sqrt(x), FLOATS[::-1])


def test_ints_that_leave_64_bits():
    check_source(lambda x: x * x * x, [1, 2**40, -(2**62), 3] * 20)


def test_several_columns():
    check_source(lambda a, b: a * b if a > b else a - b, FLOATS, list(range(120)))


def test_captures_that_changed():
    """What the function captured is read when the program runs."""
    k = 2.0

    def f(x):
        return x * k

    space = {}
    exec(up.source(f, FLOATS), space)
    k = 5.0
    assert compare(np.array(FLOATS) * 5.0, space["batched"](f, FLOATS)) is None


def test_impure_functions_have_none(capsys):
    def f(x):
        print(x)
        return x

    with pytest.raises(up.GearRefused, match="print"):
        up.source(f, FLOATS)
    assert capsys.readouterr().out == ""


def test_shared_keywords():
    def f(x, k):
        return x * k if x > 0 else k

    text = up.source(f, FLOATS, k=3.0)
    assert "def batched" in text


ARRAYS = columns(6, 23)
SOURCED = [(getattr(fn, "__name__", "?"), s) for fn, row in ROWS.items() for s in row.samples][::5]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(("name", "sample"), SOURCED, ids=[f"{n}-{s}" for n, s in SOURCED])
def test_functions_of_arrays(name, sample):
    f, given = function_of(sample, ARRAYS)
    try:
        text = up.source(f, *given)
    except up.GearRefused as refusal:
        assert "no source" in str(refusal)
        return
    space = {}
    exec(compile(text, "<batched>", "exec"), space)
    found = [f(*row) for row in zip(*(copies(column) for column in given))]
    difference = compare(stack(found, f), space["batched"](f, *given), Rule(atol=1e-12))
    assert difference is None, f"{difference}\n{text}"


def copies(column):
    return [one.copy() if isinstance(one, np.ndarray) else one for one in column]


def test_most_functions_of_arrays_have_a_source():
    def has_source(sample):
        f, given = function_of(sample, ARRAYS)
        try:
            return bool(up.source(f, *given))
        except up.GearRefused:
            return False

    assert sum(has_source(sample) for _, sample in SOURCED) > 0.8 * len(SOURCED)


def test_a_source_of_arrays_to_read():
    def scaled(x, s):
        y = x - x.mean(axis=0)
        return y / s if s > 0 else y[0]

    text = up.source(scaled, ARRAYS["x"], ARRAYS["s"])
    assert "np.mean, of(x, 'float64[4,5]'), axis=0" in text
    check_source(scaled, ARRAYS["x"], ARRAYS["s"])
