"""The fuzzer of the compiler: some programs of fixed seeds on every run, and all that it has found before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import finding
from fuzz.isolation import Died, alone, each
from fuzz.kinds import filled, unify
from fuzz.program import HEAD, Program, written
from fuzz.runner import run
from fuzz.shrinker import shrunk
from upshift.compiler.rows import numbers

HERE = Path(__file__).parent
SEEDS = (101, 102, 103)
COUNT = 90
"""Programs of each seed: all together take about 45 seconds on an ordinary core."""
FOUND = {program.name: program for program in finding.all_of()}


@pytest.mark.parametrize("seed", SEEDS)
def test_programs_are_the_loop(seed: int, tmp_path: Path) -> None:
    """In a process of its own, as from the command line."""
    figures, kept = tmp_path / "figures.json", tmp_path / "kept"
    command = [sys.executable, "-W", "ignore", "-m", "fuzz", "--seed", str(seed), "--count", str(COUNT)]
    command += ["--json", str(figures), "--keep", str(kept)]
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        command, cwd=HERE, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    failures = "".join(one.read_text() for one in kept.glob("*.py")) if kept.exists() else ""
    assert done.returncode == 0, done.stdout + done.stderr + failures
    found = json.loads(figures.read_text())
    assert found["programs"] == COUNT and not found["failures"]
    assert found["verdicts"].get("refused", 0) < 0.4 * COUNT, found["refusals"]
    assert found["computed"] > 0.7 * (found["lanes"] - found["raising"]), found["left"]


@pytest.mark.parametrize("name", FOUND)
def test_findings_stay_mended(name: str) -> None:
    outcome = run(FOUND[name])
    assert not outcome.is_wrong, f"{outcome.verdict}: {outcome.told}\n{FOUND[name].text}"


# ---- the fuzzer itself


def test_a_program_is_always_the_same() -> None:
    for number in range(20):
        one, other = written(5, number), written(5, number)
        assert one.text == other.text
        assert list(map(finding.shown, one.columns)) == list(map(finding.shown, other.columns))


def test_kinds() -> None:
    assert unify("list[T]", "list[(int,int)]", {}) == {"T": "(int,int)"}
    assert unify("dict[K,T]", "dict[str,list[int]]", {}) == {"K": "str", "T": "list[int]"}
    assert unify("list[T]", "set[int]", {}) is None and unify("(T,T)", "(int,str)", {}) is None
    assert unify("set[K]", "set[list[int]]", {}) is None
    assert filled("dict[K,(T,T)]", {"K": "int", "T": "str"}, None) == "dict[int,(str,str)]"  # type: ignore[arg-type]


def test_a_wrong_row_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Subtraction that adds, in a program of many lines: what is left is a few, and as a file it fails again."""
    monkeypatch.setitem(numbers._INTS, "Sub", numbers._INTS["Add"])
    text = HEAD + (
        "def program(x, y):\n    a = [1, 2, 3]\n    b = 0\n    for i in range(3):\n        if x > 100:\n"
        "            b += 1\n        a.append(i * 2)\n    c = (x * 3 - 7) % 5 if b < 10 else 0\n    return a, b, c\n"
    )
    program = Program("subtracted", text, ([1, 2, 3, 4], [0.5] * 4))

    def fails(p: Program) -> bool:
        return run(p).verdict == "differs"

    assert fails(program)
    small = shrunk(program, fails)
    assert fails(small) and small.text.removeprefix(HEAD).count("\n") <= 4 and len(small.columns) == 1


def test_findings_are_files(tmp_path: Path) -> None:
    for number in range(30):
        program = written(6, number)
        path = tmp_path / f"finding_{number}.py"
        path.write_text(finding.written(program, "told"))
        again = finding.read(path)
        assert list(map(finding.shown, again.columns)) == list(map(finding.shown, program.columns))


def _crash(number: int) -> int:
    if number == 2:
        os.abort()
    return number * number


def test_processes_put_what_they_found_together(tmp_path: Path) -> None:
    """Two processes, one file; the programs are those that one process runs."""
    found = []
    for jobs in (1, 2):
        file = tmp_path / f"{jobs}.json"
        command = [sys.executable, "-W", "ignore", "-m", "fuzz", "--seed", "4", "--count", "9", "--jobs", str(jobs)]
        path = os.pathsep.join(filter(None, sys.path))
        subprocess.run(
            [*command, "--json", str(file), "--keep", str(tmp_path)], cwd=HERE, env={**os.environ, "PYTHONPATH": path},
            capture_output=True, check=True,
        )  # fmt: skip
        found.append(json.loads(file.read_text()))
    names = ("programs", "verdicts", "refusals", "left", "lanes", "computed", "raising", "failures")
    assert [found[0][name] for name in names] == [found[1][name] for name in names] and found[1]["programs"] == 9


def test_crashes_are_results() -> None:
    import faulthandler

    was = faulthandler.is_enabled()
    faulthandler.disable()
    try:
        found = [result for _, result in each(_crash, range(4))]
        assert found[:2] == [0, 1] and found[3] == 9
        assert isinstance(found[2], Died) and "SIGABRT" in str(found[2])
        assert isinstance(alone(lambda _: __import__("time").sleep(30), 0, silence=0.3), Died)
    finally:
        if was:
            faulthandler.enable()
