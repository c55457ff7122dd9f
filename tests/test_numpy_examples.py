"""The examples in NumPy's own docstrings: a failure where they do not hold for elements of a batch.

An example that uses an array which was made before is a function of that array: it is mapped over a few of them.
"""

from __future__ import annotations

import ast
import doctest
import warnings

import numpy as np
import pytest

from law import check
from upshift.rules.arrays import ARRAYS

PARSER = doctest.DocTestParser()
NOT_OURS = (
    "rng", "random", "plt", "open(", "print", ".npy", "time", "ctypes", "savetxt", "ma.", "matrix(", "Polynomial",
    "empty_like", ".flags", ".base",
)  # fmt: skip


def examples(fn):
    """Functions of arrays, with the arrays, from one docstring."""
    try:
        parsed = PARSER.get_examples(fn.__doc__ or "")
    except ValueError:
        return
    space = {"np": np, "numpy": np, "linalg": np.linalg, "LA": np.linalg, "math": __import__("math")}
    for example in parsed:
        source = example.source.strip()
        if any(word in source for word in NOT_OURS):
            continue
        given = expression(source, space)
        if given is not None:
            yield given
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                exec(source, space)
        except Exception:
            continue  # examples of errors


def expression(source, space):
    try:
        names = {node.id for node in ast.walk(ast.parse(source, mode="eval")) if isinstance(node, ast.Name)}
    except SyntaxError:
        return None
    arrays = [name for name in sorted(names) if is_array(space.get(name))]
    if not arrays:
        return None
    f = eval(f"lambda {', '.join(arrays)}: (\n{source}\n)", dict(space))
    f.__doc__ = source
    return source, f, [np.stack([space[name]] * 3 + [space[name][::-1]] * 2) for name in arrays]


def is_array(value):
    return type(value) is np.ndarray and value.ndim > 0 and value.dtype.kind in "biufc" and value.size < 10_000


FOUND = [
    (getattr(fn, "__name__", "?"), *example)
    for fn in ARRAYS
    if getattr(fn, "__module__", "").startswith("numpy") or isinstance(fn, np.ufunc)
    for example in examples(fn)
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "source", "f", "columns"), FOUND, ids=[f"{f[0]}: {f[1][:60]}" for f in FOUND])
def test_examples(name, source, f, columns):
    check(f, *columns, atol=1e-9)


def test_there_are_many():
    assert len(FOUND) > 250
