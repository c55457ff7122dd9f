"""Nothing that Upshift makes can be seen by the user's program: a portrait of the process before and after."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPT = """
import random, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import upshift as up
from functions import visible
from functions.tables import TABLES
from portrait import changes_by

OPTIONS = ({"gear": "numpy"}, {"gear": "llvm"}, {}, {}, {"on_error": "return"})

def run(f, columns):
    for options in OPTIONS:
        try:
            up.map(f, *columns, **options)
        except Exception:
            pass
    try:
        up.explain(f, *columns)
    except Exception:
        pass

def tables():
    states = random.getstate(), np.random.get_state()
    for table in TABLES:
        for row in table.rows:
            for data in row.data[:1]:
                run(row.f, data.columns)
    random.setstate(states[0])
    np.random.set_state(states[1])

def visibles():
    for f, columns in visible.ROWS:
        run(f, columns)

def plainly(rows):
    for f, columns in rows:
        for row in zip(*columns):
            try:
                f(*row)
            except Exception:
                pass

up.map(lambda x: x + 1, np.arange(9.0), gear="llvm")  # loads LLVM
up.map(lambda x: x + 1, np.arange(9.0), gear="numpy")  # loads the rules, and with them all of NumPy
up.map(lambda x: np.sin(x), np.arange(9.0), gear="simd")  # loads libmvec
up.explain(lambda x: x + 1, np.arange(9.0))  # loads the views: json and shutil
plainly(visible.ROWS)  # what the functions themselves leave behind, such as Python's notes of warnings
plainly((row.f, data.columns) for table in TABLES for row in table.rows for data in row.data)
modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("functions.")]
for line in changes_by(RUN, modules):
    print(line)
"""


def changes(run):
    """What a fresh process shows after all functions have been mapped in all gears."""
    paths = [str(HERE), str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "UPSHIFT_NUM_THREADS": "1"}
    script = SCRIPT.replace("RUN", run)
    found = subprocess.run([sys.executable, "-c", script], env=environment, cwd=HERE, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr[-4000:]
    return [*found.stdout.splitlines(), *found.stderr.splitlines()]


def test_classes_that_take_notes():
    assert changes("visibles") == []


def test_all_functions_of_the_tables():
    assert changes("tables") == []
