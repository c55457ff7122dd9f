"""Fifteen scripts with TensorFlow as people write them: named, repaired, made faster, with the same results.

One process runs them all, and the other TensorFlow programs of these tests: loading TensorFlow takes seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from doctor.programs import make_program
from upshift.doctor.checks import CHECKS

pytest.importorskip("tensorflow")
FOLDER = Path(__file__).parent / "doctor"
PROGRAMS = 40

# name: (arguments, codes, whether it runs as it is, what the output says at these sizes, whether --fix changes it)
PATIENTS: dict[str, tuple[list[str], set[str], bool, str, bool]] = {
    "p01_square": (["300"], {"UPS102", "UPS123"}, True, "100.1672", True),
    "p02_sine_eager": (["100"], {"UPS112"}, True, "(100,) float32", True),
    "p03_sine_function": (["1000"], {"UPS102"}, True, "(1000,) float32", True),
    "p04_pixels": (["6", "16"], {"UPS101", "UPS113"}, False, "(6, 16, 16, 3) float32 79.750", True),
    "p05_one_operation": (["200"], {"UPS102"}, True, "(200, 8) float32 3198.0", True),
    "p06_casts": (["20"], {"UPS104", "UPS118"}, False, "(20, 32, 32, 3) uint8 True", True),
    "p07_add_ints": (["60"], {"UPS110", "UPS111"}, True, "tf.Tensor(60, shape=(), dtype=int32)", True),
    "p08_matmul": (["100"], set(), True, "100.0 100.0", False),
    "p09_loop_with_if": ([], {"UPS120"}, True, "tf.Tensor(16668333, shape=(), dtype=int32)", True),
    "p10_session_steps": (["60"], {"UPS101", "UPS117"}, False, "(60,) float32 10.981", True),
    "p11_polynomial_map": (["200"], {"UPS102", "UPS117"}, False, "-1134.67", True),
    "p12_polynomial_direct": ([], set(), True, "-5668.00", False),
    "p13_add_one": (["200"], {"UPS101", "UPS115", "UPS117"}, False, "(200,) int64 20100", True),
    "p14_rotation": (["6"], {"UPS101", "UPS115", "UPS116"}, False, "(6, 32, 32, 1) (6, 32, 32, 1) 768.0 True", True),
    "p15_random_flips": (["100"], {"UPS105", "UPS106", "UPS108"}, True, "409529600 44", False),
}
FIGURES = [
    c.code
    for c in CHECKS.values()
    if "tensorflow" in c.figure.setup and c.code not in ("UPS110", "UPS118", "UPS116", "UPS108")
]


REPAIRED = {
    "variable": "import tensorflow as tf\nv = tf.Variable([0.0, 1.0, 2.0])\n"
    "v[1] = 5.0\nv[2] *= 2.0\nprint(v.numpy())\n",
    "scattered": "import tensorflow as tf\nt = tf.zeros([3])\nfor i in range(2):\n    t[i] = i * 5.0\n"
    "t[2] += 6.0\nt[2] -= 2.0\nprint(t.numpy())\n",
    "moved": "import tensorflow as tf\nx = tf.to_float([0, 5, 4])\n"
    "print(tf.segment_sum(tf.random_shuffle(x, seed=1) * 0.0 + x, [0, 1, 2]).numpy())\n",
    "dtype": "import tensorflow as tf\ndef f(i):\n    half = i / 2\n    return half * 2.0\n"
    "print(tf.map_fn(f, tf.constant([0, 5, 4])).numpy())\n",
    "tuple": "import tensorflow as tf\na, b = tf.constant([0, 1, 1], tf.float32), tf.constant([3, 5, 4], tf.float32)\n"
    "print(tf.map_fn(lambda t: t[0] * t[1], (a, b)).numpy())\n",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("patients")
    jobs: dict[str, Any] = {
        name: {"do": "file", "path": str(FOLDER / "patients" / f"{name}.py"), "argv": row[0]}
        for name, row in PATIENTS.items()
    }
    jobs["images"] = {"do": "file", "path": str(FOLDER / "training" / "images.py"), "argv": []}
    for seed in range(PROGRAMS):
        text = make_program("tensorflow", seed)
        jobs[f"program {seed}"] = {"do": "text", "text": text, "folder": str(folder), "name": f"program{seed}.py"}
    for name, text in REPAIRED.items():
        jobs[name] = {"do": "text", "text": text, "folder": str(folder), "name": f"{name}.py"}
    for code in FIGURES:
        jobs[code] = {"do": "figure", "code": code}
    jobs["names"] = {"do": "names"}
    given, made = folder / "jobs.json", folder / "results.json"
    given.write_text(json.dumps(jobs), encoding="utf-8")
    command = [sys.executable, str(FOLDER / "driver.py"), str(given), str(made)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    assert done.returncode == 0, done.stderr[-4000:]
    yield json.loads(made.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(PATIENTS))
def test_a_patient(name: str, results: dict[str, Any]) -> None:
    _, codes, runs, says, changed = PATIENTS[name]
    made = results[name]
    assert set(made["codes"]) == codes
    assert (made["first_error"] == "") is runs, made["first_error"]
    assert made["error"] == "", made["error"]
    assert says in made["output"], made["words"]
    if runs:
        assert (
            made["output"].split() == made["first_output"].split()
            or not changed
            or name in ("p02_sine_eager", "p03_sine_function")
        )
    if name != "p15_random_flips":  # whether it pays depends on the machine
        assert made["changed"] is changed, made["words"]
    assert made["idempotent"]


def test_nine_run_and_six_do_not(results: dict[str, Any]) -> None:
    assert sum(results[name]["first_error"] != "" for name in PATIENTS) == 6


@pytest.mark.parametrize(
    "name", [n for n, row in PATIENTS.items() if row[4] and n not in ("p04_pixels", "p14_rotation")]
)
def test_the_gain_is_measured_and_told(name: str, results: dict[str, Any]) -> None:
    words = "\n".join(results[name]["words"])
    assert "rewritten (" in words and " before, " in words and " after" in words
    assert any(
        t["verdict"] in ("equal", "close") and t["saved"] > 0 for s in results[name]["sites"] for t in s["trials"]
    )


def test_a_function_of_numpy_is_mapped_over_the_array(results: dict[str, Any]) -> None:
    (site,) = results["p13_add_one"]["sites"]
    assert {trial["name"]: trial["verdict"] for trial in site["trials"]}["up.map"] == "equal"


def test_traces_are_counted(results: dict[str, Any]) -> None:
    (site,) = results["p07_add_ints"]["sites"]
    assert (site["calls"], site["traces"]) == (60, 60)


def test_a_training_script_prints_the_same(results: dict[str, Any]) -> None:
    made = results["images"]
    assert made["changed"] and made["error"] == ""
    assert made["output"] == made["first_output"]
    assert "flat * 0.5 + 1.0" in made["text"] and "batch(options.batch).map(scale" in made["text"]


def test_names_that_are_said_to_have_moved_have(results: dict[str, Any]) -> None:
    assert results["names"]["wrong"] == []


@pytest.mark.parametrize("name", REPAIRED)
def test_what_raises_is_repaired(name: str, results: dict[str, Any]) -> None:
    made = results[name]
    assert made["before"][0] and made["after"] == ["", "[0. 5. 4.]\n"], made["text"]


def test_fuzz_programs_print_the_same_after_a_fix(results: dict[str, Any]) -> None:
    made = [results[f"program {seed}"] for seed in range(PROGRAMS)]
    for one in made:
        assert one["after"] == one["before"] or one["before"][0], one["text"]
    assert sum(one["changed"] for one in made) >= PROGRAMS // 4


@pytest.mark.parametrize("code", FIGURES)
def test_a_figure_compares_the_same(code: str, results: dict[str, Any]) -> None:
    assert results[code]["same"], results[code]
