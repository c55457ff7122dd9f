"""Switched off, Upshift is the plain loop: every element once, in order, whatever is asked for; nothing is traced."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import upshift as up
from upshift.api import GEARS

XS = [float(k) for k in range(400)]


class Logged:
    """A function that keeps a list of what it was called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, x):
        self.calls.append(x)
        return x * 2


@pytest.mark.parametrize("gear", [None, *GEARS])
@pytest.mark.parametrize("make", [list, np.array], ids=["list", "array"])
def test_every_element_once_and_in_order(gear, make):
    f = Logged()
    with up.config(disable=True):
        for _ in range(3):
            assert up.map(f, make(XS), gear=gear).tolist() == [x * 2 for x in XS]
    assert f.calls == XS * 3


@pytest.mark.parametrize("gear", [None, "numpy", "llvm"])
def test_errors_are_the_loops(gear):
    def f(x):
        return 1 / (x - 3)

    with up.config(disable=True):
        with pytest.raises(ZeroDivisionError) as caught:
            up.map(f, XS, gear=gear)
        assert caught.value.upshift_element == 3
        assert isinstance(up.map(f, XS, gear=gear, on_error="return")[3], ZeroDivisionError)
        assert len(up.map(f, XS, gear=gear, on_error="skip")) == len(XS) - 1


def test_a_gear_that_does_not_exist_is_still_an_error():
    with up.config(disable=True), pytest.raises(up.UpshiftError, match="no gear named 'fast'"):
        up.map(abs, XS, gear="fast")


def test_all_ways_to_map():
    f = Logged()
    with up.config(disable=True):
        assert up.vmap(f, gear="numpy")(np.array(XS)).tolist() == [x * 2 for x in XS]
        assert up.vectorize(f, gear="numpy")(XS).tolist() == [x * 2 for x in XS]
        assert up.map(f, XS, out=np.empty(len(XS)), gear="numpy").tolist() == [x * 2 for x in XS]
        assert up.map(f, XS, memory="1MB", gear="numpy").tolist() == [x * 2 for x in XS]
    assert f.calls == XS * 4


def test_what_is_told():
    f = Logged()
    with up.config(disable=True):
        told = up.explain(f, XS)
        with pytest.raises(up.GearRefused, match="switched off"):
            up.source(lambda x: x * 2, XS)
    assert told.gear == "loop" and not told.refusals and not told.seconds
    assert "UPSHIFT_DISABLE" in str(told)
    assert f.calls == []  # to be explained, it need not be run


def test_switched_on_again_it_is_as_it_was():
    def f(x):
        return x * 2 + 1

    with up.config(disable=True):
        up.map(f, XS)
    assert up.map(f, XS, gear="numpy").tolist() == [f(x) for x in XS]
    assert up.explain(f, XS).gear in ("loop", "numpy", "llvm")


def test_by_the_environment(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nimport upshift as up\n"
        "calls = []\n"
        "def f(x):\n    calls.append(x)\n    return x * 2\n"
        "print(up.explain(f, [1.0, 2.0] * 500).gear, len(calls))\n"
        "up.map(f, [1.0, 2.0] * 500, gear='llvm')\n"
        "print(len(calls), 'llvmlite' in sys.modules)\n"
    )
    source = str(Path(__file__).parents[1] / "src")
    environment = {**os.environ, "UPSHIFT_DISABLE": "1", "PYTHONPATH": source}
    found = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=120)
    assert found.stdout.split() == ["loop", "0", "1000", "False"], found.stderr
