"""The rules with their samples: a failure for each row whose batched call is not the plain one."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

from law import check
from upshift.rules import RULES
from upshift.rules.table import name_of

ROWS = [pytest.param(rule, id=f"{name_of(rule.fn)}-{rule.on}") for rule in RULES.values() if rule.samples]


def columns_of(samples):
    """Samples of one arity and one kind of arguments belong together; repeated, so that groups form."""
    groups = defaultdict(list)
    for sample in samples:
        groups[tuple(map(type, sample))].append(sample)
    return [list(zip(*(rows * 20), strict=True)) for rows in groups.values()]


@pytest.mark.parametrize("rule", ROWS)
@pytest.mark.parametrize("exact", [False, True], ids=["close", "exact"])
def test_samples(rule, exact):
    fn = rule.fn
    for columns in columns_of(rule.samples):
        check(lambda *args: fn(*args), *map(list, columns), exact=exact)


def test_most_rows_have_samples():
    without = sorted({name_of(rule.fn) for rule in RULES.values() if not rule.samples})
    assert [name for name in without if "ranked" not in name] == []


def test_remainders_of_nothing():
    """fmod(NaN, 0.0) is NaN, fmod(1.0, 0.0) raises: whatever is traced first."""

    def f(x):
        try:
            return math.fmod(x, 0.0)
        except ValueError:
            return -1.0

    for xs in ([1.0] * 30 + [math.nan, math.inf] * 5, [math.nan] * 30 + [2.0] * 5):
        check(f, xs)
        check(f, np.array(xs))
