"""What `explain` says: the gear, the reasons of those that refused, the paths and the steps."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import upshift as up

FLOATS = [k * 0.5 for k in range(-100, 100)]
HERE = Path(__file__).name


def straight(x):
    return math.sin(x) * 2 + 1


def three_way(x):
    if x < -1:
        return -x
    if x > 1:
        return x * 2
    return 0.5


def loud(x):
    print(x)
    return x


def line_of(f, offset):
    return f"{HERE}:{f.__code__.co_firstlineno + offset}"


def count(what):
    """`paths` and `steps` may be numbers or the things themselves."""
    return what if isinstance(what, int) else len(what)


def test_fields_of_a_function_that_batches():
    report = up.explain(straight, np.array(FLOATS))
    assert report.gear == min(report.seconds, key=report.seconds.get)
    assert "numpy" not in report.refusals
    assert count(report.paths) == 1
    assert count(report.steps) >= 3


def test_a_long_column_is_worth_a_shift():
    assert up.explain(straight, np.linspace(-5, 5, 200_000)).gear in ("numpy", "llvm", "simd")


def test_a_short_column_is_not():
    assert up.explain(straight, [1.0, 2.0]).gear == "loop"


def test_paths_are_counted():
    assert count(up.explain(three_way, np.array(FLOATS)).paths) == 3


def test_text_names_the_function_the_gear_and_the_line():
    text = str(up.explain(three_way, np.array(FLOATS)))
    assert "three_way" in text and "numpy" in text and "loop" in text
    assert HERE in text


def test_refusals_have_a_reason_and_a_place(capsys):
    report = up.explain(loud, FLOATS)
    assert report.gear == "loop"
    refusal = report.refusals["numpy"]
    assert "print" in refusal.reason
    assert line_of(loud, 1) in refusal.where
    assert "print" in str(report) and line_of(loud, 1) in str(report)


def test_refusals_agree_with_a_forced_gear():
    report = up.explain(loud, FLOATS)
    with pytest.raises(up.GearRefused) as info:
        up.map(loud, FLOATS, gear="numpy")
    assert report.refusals["numpy"].reason in str(info.value)


def test_refusals_of_effects_elsewhere():
    log = []

    def f(x):
        log.append(x)
        return x

    refusal = up.explain(f, FLOATS).refusals["numpy"]
    assert refusal.reason and line_of(f, 1) in refusal.where


@pytest.mark.parametrize(
    "xs",
    [
        FLOATS,
        np.array(FLOATS),
        [1, 2, 3],
        [2**70, 1],
        ["a", "b"],
        [],
        [None],
        np.ones((3, 2)),
        {"a": [1.0, 2.0]},
    ],
    ids=lambda xs: f"{type(xs).__name__}-{str(xs)[:12]}",
)
def test_every_kind_of_column_is_explained(xs):
    report = up.explain(lambda x: x, xs)
    assert report.gear == "loop" or report.seconds[report.gear] <= report.seconds["loop"]
    assert f"runs in the gear '{report.gear}'" in str(report)


def test_shared_keywords_and_several_columns():
    report = up.explain(lambda a, b, k: a * b + k, FLOATS, FLOATS, k=2)
    assert "numpy" not in report.refusals and str(report)


def test_a_function_that_always_raises():
    def f(x):
        raise ValueError("always")

    assert str(up.explain(f, FLOATS))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_slow_function_that_raises(workers):
    """Long calls may be for workers, who are measured as well."""

    def f(x):
        total = Fraction(0)
        for i in range(1, 40):
            total += Fraction(1, i)
        raise ValueError(f"always, and {x}")

    with up.config(workers=workers):
        assert str(up.explain(f, FLOATS[:20]))


def test_lines_are_the_users_own():
    """A branch is shown with the file and line where it stands."""
    text = str(up.explain(three_way, np.array(FLOATS)))
    assert line_of(three_way, 1) in text


def test_the_result_of_map_is_not_changed_by_explaining():
    before = up.map(three_way, FLOATS)
    up.explain(three_way, FLOATS)
    assert (up.map(three_way, FLOATS) == before).all()


def test_a_gear_that_was_stopped_does_not_run():
    report = up.explain(lambda image: (image * image).sum() - image.max(), np.ones((200, 256, 256)))
    assert report.gear in report.seconds and report.gear not in report.refusals
    assert not set(report.seconds) & set(report.refusals)


def test_long_calls_have_their_phases_without_a_second_run():
    report = up.explain(lambda s: s.upper() + "!", ["ab"] * 50_000)
    data = report.to_dict()
    assert all(gear["points"][-1][0] == 50_000 for gear in data["gears"] if gear["measured"])
    slow = up.explain(lambda x: sum(math.sin(x + k) for k in range(300)), np.linspace(0, 1, 4000))
    assert slow.spent.get("run", 0.0) > 0
