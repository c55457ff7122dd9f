"""In: a Python without Numba, which only TensorFlow's graphs need. Out: a failure where that is an error."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT_NUMBA = "import sys; sys.modules['numba'] = None\n"

ON_NUMBERS = """
import numpy as np
import upshift as up
from upshift.report.info import describe

def f(x):
    return x * x if x > 0 else -x

xs = np.linspace(-1.0, 1.0, 1000)
for gear in (None, "numpy", "llvm", "simd"):
    assert np.array_equal(up.map(f, xs, gear=gear), [f(x) for x in xs]), gear
try:
    up.map(f, xs, gear="cuda")
except up.GearRefused as refused:
    assert "numba" not in str(refused)
print(describe())
"""

ON_TENSORS = """
import tensorflow as tf
import upshift as up
import upshift.tensorflow as ut
from upshift.tensorflow import plan
from upshift.tensorflow.call import make_call

xs = tf.range(100.0)
assert tf.reduce_all(ut.map_fn(tf.square, xs) == xs * xs)
assert tf.reduce_all(plan.run_in("xla", make_call(tf.square, xs)) == xs * xs)
try:
    plan.run_in("numba", make_call(tf.square, xs))
except up.GearRefused as refused:
    print(refused)
"""


def told_without_numba(code: str, folder: Path) -> str:
    script = folder / "script.py"
    script.write_text(WITHOUT_NUMBA + code)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_gears_do_without_numba(tmp_path: Path) -> None:
    told = told_without_numba(ON_NUMBERS, tmp_path)
    assert "numba        not installed: pip install" in told


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="there is no TensorFlow here")
def test_tensors_do_without_numba(tmp_path: Path) -> None:
    told = told_without_numba(ON_TENSORS, tmp_path)
    assert "numba is not installed" in told and 'pip install "upshift[tensorflow]"' in told
