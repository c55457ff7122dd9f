"""In: the docstrings of the public modules and the README. Out: a failure for each example that is not true."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

from upshift.report.rules import page

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "name", ["upshift", "upshift.api", "upshift.config", "upshift.columns.stacking", "upshift.report.profile"]
)
def test_examples_in_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried and not failed


def test_the_first_example_of_the_readme_runs():
    import numpy as np

    text = (ROOT / "README.md").read_text()
    first = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    assert text[: text.index(first) + len(first)].count("\n") <= 15
    xs = np.linspace(0, 200, 1000)
    space = {"xs": xs}
    exec(first, space)
    assert space["ys"].tolist() == [space["price"](x) for x in xs]


def test_the_page_of_numpy_functions_is_current():
    """Another NumPy has other functions: those that both have must be run alike."""
    there, here = ((ROOT / "docs" / "numpy.md").read_text(), page())
    known, found = ({line for line in text.splitlines() if line.startswith("| `")} for text in (there, here))
    names = {line.split("`")[1] for line in known} & {line.split("`")[1] for line in found}
    assert len(names) > 400
    for line in known ^ found:
        assert line.split("`")[1] not in names, f"run: upshift rules > docs/numpy.md ({line})"
