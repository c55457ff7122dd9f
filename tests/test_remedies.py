"""Every refusal says what to do about it; and what it says works."""

from __future__ import annotations

import ast
import random
import re
import time
from pathlib import Path

import numpy as np
import pytest

import upshift as up
from upshift.compiler.parsing import parsed
from upshift.errors import Refusal
from upshift.remedies import ELSE, REMEDIES, remedy_for

SOURCES = Path(up.__file__).parent
MAKERS = {"Refusal": 1, "NotCompiled": 1, "Untraceable": 0, "refuse": 0, "Refused": 0, "_refused": 0}


def _words(node):
    return "".join(
        part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def _reasons():
    """The constant words of every reason in the package."""
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(parsed(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                at = MAKERS.get(name)
                given = [word.value for word in node.keywords if word.arg == "reason"]
                if (
                    at is not None
                    and (given or len(node.args) > at)
                    and (words := _words((given or node.args[at:])[0]))
                ):
                    yield words


def test_every_reason_of_the_package_has_a_remedy():
    reasons = set(_reasons())
    assert len(reasons) > 150
    assert all(Refusal("numpy", reason).remedy for reason in reasons)


def test_all_that_refuses_is_known():
    """A class or function of another name that makes refusals would not be seen above."""
    made = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))
    classes = set(re.findall(r"^class (\w*(?:Refus|NotCompiled|Untraceable)\w*)", made, re.MULTILINE))
    assert classes - {"GearRefused"} <= set(MAKERS)
    assert set(MAKERS) - classes <= set(re.findall(r"^ *def (\w+)", made, re.MULTILINE))


def test_every_row_is_the_first_for_something():
    """No row stands behind another that takes all of its reasons."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py") if path.name != "remedies.py")
    for words, remedy in REMEDIES:
        assert words in text, words
        assert remedy_for(words) == remedy


def test_a_remedy_of_its_own_is_kept():
    assert Refusal("numpy", "prints", remedy="be quiet").remedy == "be quiet"
    assert Refusal("numpy", "is odd").remedy == ELSE


XS = np.linspace(0.0, 1.0, 50)


def _mended():
    def clock(x):
        return x + time.time()

    def clock_outside(x, now):
        return x + now

    def prints(x):
        print(x)
        return x

    def quiet(x):
        return x

    def draws(x):
        return x + random.random() if x > 0.5 else x

    def drawn(x, r):
        return x + r if x > 0.5 else x

    kept = []

    def keeps(x):
        kept.append(x)
        return x * 2

    def gives(x):
        return x * 2

    draws_outside = [random.random() for _ in XS]
    yield clock, clock_outside, (XS,), {"now": 1.5}, "clock"
    yield prints, quiet, (XS,), {}, "side effects"
    yield draws, drawn, (XS, draws_outside), {}, "draw"
    yield keeps, gives, (XS,), {}, ""


@pytest.mark.parametrize(
    "refused, mended, xs, shared, words", list(_mended()), ids=lambda v: getattr(v, "__name__", "")
)
def test_the_remedy_works(refused, mended, xs, shared, words, capsys):
    told = up.explain(refused, XS).refusals["numpy"]
    assert words in told.remedy and told.remedy
    assert "numpy" not in up.explain(mended, *xs, **shared).refusals
