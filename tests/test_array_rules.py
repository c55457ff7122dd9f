"""Every row of the table of array rules, with its samples: a failure where all lanes are not the loop.

Mutation check (broken on purpose, then counted what fails in the three test files for arrays):
- reductions, sorting, shaping: `negative` in rules/arrays/call.py gives the axis as it is: 50 + 9 + 3 failures;
- indexing: `front` in rules/arrays/indexing.py is always 0: a wrong shape makes the plain call for every lane, and
  results stay right; seen by test_rules_are_used, and by results where the shape happens to fit: m[:, k[:3] % 3];
- views: `_up_id` in trace/lane.py does not look at the version: 27 + 3 failures.
"""

from __future__ import annotations

import numpy as np
import pytest

import upshift as up
from array_samples import columns, function_of
from law import check
from upshift.plan.functions import FUNCTIONS
from upshift.rules.arrays import ARRAYS, ArrayOp
from upshift.rules.arrays.dynamic import Each

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


OTHERS = {"float32": "xymcvs", "int64": "xymcv", "uint8": "xymcvk", "bool": "xymcv", "complex128": "xymcv",
          "float16": "xycv", "int16": "xymvk"}  # fmt: skip


@pytest.mark.parametrize("dtype", OTHERS)
@pytest.mark.parametrize(("name", "sample"), SAMPLES[2::3], ids=[f"{n}-{s}" for n, s in SAMPLES[2::3]])
@pytest.mark.filterwarnings("ignore")
def test_other_dtypes(name, sample, dtype):
    """Whatever NumPy makes of them, errors included."""
    given = {n: (c * 3).astype(dtype) if n in OTHERS[dtype] else c for n, c in columns(4, 7).items()}
    f, found = function_of(sample, given)
    check(f, *found, gears=("numpy",), atol=1e-2 if dtype == "float16" else 1e-3 if dtype == "float32" else 1e-9)


UNSET = ("irfft", "irfft2", "irfftn", "hfft")  # NumPy's read memory that was never set there
DEFINED = [(name, sample) for name, sample in SAMPLES[::2] if name not in UNSET]


@pytest.mark.parametrize(("name", "sample"), DEFINED, ids=[f"{n}-{s}" for n, s in DEFINED])
@pytest.mark.filterwarnings("ignore")
def test_nothing_in_them(name, sample):
    """Arrays with an axis of length zero: a result or NumPy's own error."""
    given = {n: c[:, :0] if c.ndim > 1 else c for n, c in columns(5, 4).items()}
    f, found = function_of(sample, given)
    check(f, *found, gears=("numpy",))


def test_there_are_many():
    assert len(ARRAYS) >= 300


PER_LANE = {
    "np.fmax(x, w)", "np.fmin(x, w)",  # w has a zero
    "np.unique(k, return_counts=True)", "np.unique_values(k)", "np.union1d(k, j)", "np.intersect1d(k, j)",
    "np.setdiff1d(k, j)", "np.setxor1d(k, j)", "np.trim_zeros(k)", "np.interp(v, np.arange(6.0), np.sort(v))",
    "np.cov(v)",
    "x.reshape((4, 5), order='F')", "np.ravel(x, order='F')", "np.searchsorted(np.sort(v), s)", "np.bincount(k)",
}  # fmt: skip
"""Samples that no rule does for all lanes at once."""


def test_rules_are_used():
    """A rule whose result does not fit falls back to the plain call for every lane: right, but no rule."""
    fell_back = set()
    for _, sample in SAMPLES:
        f, given = function_of(sample, columns())
        FUNCTIONS.clear()
        up.map(f, *given, gear="numpy")
        trees = [tree for known in FUNCTIONS.known.values() for found in known.traces.trees.values() for tree in found]
        ops = [step.op for tree in trees for node in tree.nodes() for step in node.steps]
        if any(isinstance(op, Each) or (isinstance(op, ArrayOp) and op.calls[0]) for op in ops):
            fell_back.add(sample)
    assert fell_back == PER_LANE
