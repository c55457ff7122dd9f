"""Random programs on random columns: what the numpy gear gives is what the loop gives."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from functions.data import FLOAT_VALUES, INT_VALUES
from law import check
from programs import Captures, compile_program, forget, smooth_sources, sources

pytestmark = pytest.mark.filterwarnings("ignore")

MANY = settings(
    max_examples=1000,
    deadline=None,
    derandomize=False,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
CALM_INTS = [*range(-12, 13)]
CALM_FLOATS = [k / 4 for k in range(-20, 21)]
SMOOTH_VALUES = [v for v in FLOAT_VALUES if abs(v) < 1e6]
GEARS = ("numpy",)


def column(kind: str, form: str, nasty: bool, seed: int, count: int):
    """`count` numbers of a kind, as a list or as an array of a dtype."""
    dice = random.Random(seed)
    calm, hard = (CALM_INTS, INT_VALUES) if kind == "i" else (CALM_FLOATS, FLOAT_VALUES)
    pool = calm + hard if nasty else calm
    values = [dice.choice(pool) for _ in range(count)]
    if form == "list":
        return values
    with np.errstate(all="ignore"):
        return np.array(values).astype(form)


INT_FORMS = st.sampled_from(("list", "list", "list", "int64", "int32", "int16", "int8", "uint8", "uint64", "bool"))
FLOAT_FORMS = st.sampled_from(("list", "list", "list", "float64", "float64", "float32", "float16"))


def columns(kinds: str):
    forms = [INT_FORMS if kind == "i" else FLOAT_FORMS for kind in kinds]
    return st.tuples(*forms, st.booleans(), st.integers(0, 2**32), st.integers(1, 40)).map(
        lambda drawn: [
            column(kind, form, drawn[-3], drawn[-2] + at, drawn[-1])
            for at, (kind, form) in enumerate(zip(kinds, drawn))
        ]
    )


def check_program(source: str, xs, **options) -> None:
    note(source)
    f = compile_program(source)
    try:
        check(f, *xs, gears=GEARS, **options)
    finally:
        forget(f)


@MANY
@given(sources("ii"), columns("ii"))
def test_programs_of_ints(source, xs):
    check_program(source, xs)


@MANY
@given(sources("ff"), columns("ff"))
def test_programs_of_floats(source, xs):
    check_program(source, xs)


@MANY
@given(sources("if"), columns("if"))
def test_programs_of_ints_and_floats(source, xs):
    check_program(source, xs)


CAPTURED_INTS = st.sampled_from([0, 1, -1, 2, 3, 7, 300, 2**31, 2**62, 2**70, True, np.int64(5), np.uint8(7)])
CAPTURED_FLOATS = st.sampled_from([0.0, -0.0, 0.5, -1.5, 2.5, 1e300, np.inf, np.nan, 3, np.float32(1.5), np.float64(2)])
STATES = st.lists(
    st.tuples(
        st.lists(CAPTURED_INTS, min_size=3, max_size=3),
        st.lists(CAPTURED_FLOATS, min_size=3, max_size=3),
    ),
    min_size=2,
    max_size=4,
)


@settings(MANY, max_examples=700)
@given(sources("if", captures=True), columns("if"), STATES)
def test_programs_with_captures_that_change(source, xs, states):
    note(source)
    f, captures = compile_program(source), Captures()
    try:
        for ints, floats in states:
            captures.change(f.__globals__, ints, floats)
            note(f"captures: {ints} {floats}")
            check(f, *xs, gears=GEARS)
    finally:
        forget(f)


@MANY
@given(smooth_sources(), st.integers(0, 2**32), st.integers(1, 40), st.booleans())
def test_programs_of_maths(source, seed, count, as_arrays):
    dice = random.Random(seed)
    xs = [[dice.choice(SMOOTH_VALUES + CALM_FLOATS) for _ in range(count)] for _ in range(2)]
    check_program(source, [np.array(x) for x in xs] if as_arrays else xs, atol=1e-9)
