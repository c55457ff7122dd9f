"""A compilation that is refused is paid for once: the next process with the same folder knows it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")
SOURCE = Path(__file__).parents[1] / "src"
SCRIPT = """
import sys
import numpy as np
import upshift as up
from upshift.plan import machine

tried = []
plain = machine.prepare

def counted(gear, *rest):
    tried.append(gear)
    return plain(gear, *rest)

machine.prepare = counted
SEEN = []

def f(x):
    try:
        rows = sorted(x.tolist(), key=lambda v: f"{v:.3f}")
    except ValueError:
        SEEN.append(1)
        rows = [0.0]
    return rows[0] + len({str(v) for v in rows})

xs = np.arange(40000.0, dtype=sys.argv[1]).reshape(2000, 20)
expected = [f(x) for x in xs]
if sys.argv[2] == "named":
    try:
        up.map(f, xs, gear="numba")
    except up.GearRefused as error:
        print(len(tried), error)
else:
    told = up.explain(f, xs)
    print(len(tried), told.refusals["numba"])
assert up.map(f, xs).tolist() == expected
"""


def run(script, place, dtype="float64", how="explained"):
    environment = {**os.environ, "UPSHIFT_CACHE_DIR": str(place), "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, str(script), dtype, how]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr[-3000:]
    tried, _, reason = found.stdout.partition(" ")
    return int(tried), reason.strip()


def test_refused_once(tmp_path):
    script, place = tmp_path / "script.py", tmp_path / "notes"
    script.write_text(SCRIPT)
    first = run(script, place)
    assert first[0] == 1 and "try" in first[1]
    assert run(script, place) == (0, first[1])
    assert run(script, place, "float32")[0] == 1  # of other elements nothing is known
    assert run(script, place, how="named") == first  # who names a gear gets it tried
    assert run(script, tmp_path / "elsewhere") == first
    script.write_text(SCRIPT.replace("rows = [0.0]", "rows = [1.0]"))
    assert run(script, place)[0] == 1  # another function
