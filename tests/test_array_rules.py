"""In: every row of the table of array rules, with its samples. Out: a failure where all lanes are not the loop.

Mutation check (a rule broken on purpose, then seen to fail here): `negative` in rules/arrays/call.py without its shift
(reductions, sorting, shaping: 152 samples failed); `spelled_out` with `front` always 0 (indexing: 2); `exact_product`
without the last squeeze (products: falls back to the plain call, seen by test_rules_are_used).
"""

from __future__ import annotations

import numpy as np
import pytest

from array_samples import columns, function_of
from law import check
from upshift.rules.arrays import ARRAYS

SAMPLES = [(getattr(fn, "__name__", str(fn)), sample) for fn, row in ARRAYS.items() for sample in row.samples]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")


@pytest.mark.parametrize(("name", "sample"), SAMPLES, ids=[f"{n}-{s}" for n, s in SAMPLES])
def test_samples(name, sample):
    f, given = function_of(sample, columns())
    check(f, *given, atol=1e-12, must_batch=True)


@pytest.mark.parametrize(("name", "sample"), SAMPLES[::3], ids=[f"{n}-{s}" for n, s in SAMPLES[::3]])
def test_samples_exactly(name, sample):
    f, given = function_of(sample, columns(1, 5))
    check(f, *given, exact=True, gears=("numpy",), must_batch=True)


@pytest.mark.parametrize(("name", "sample"), SAMPLES[1::4], ids=[f"{n}-{s}" for n, s in SAMPLES[1::4]])
def test_other_layouts(name, sample):
    """Columns in Fortran order, backwards, with gaps, and read-only."""
    given = {}
    for at, (letter, column) in enumerate(columns(2, 9).items()):
        column = [np.asfortranarray(column), column[::-1], np.repeat(column, 2, axis=0)[::2]][at % 3]
        column.flags.writeable = False
        given[letter] = column
    f, found = function_of(sample, given)
    check(f, *found, atol=1e-12, gears=("numpy",), must_batch=True)


def test_there_are_many():
    assert len(ARRAYS) >= 300
