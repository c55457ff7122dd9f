"""The commands, as people call them: wrong words, nothing installed, no terminal, a narrow one, no way to write."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import upshift as up
from upshift.cli import ACTIONS, FOLLOW, main
from upshift.errors import Refusal
from upshift.plan.explained import Cost, Explanation
from upshift.report import bench, completion, demo
from upshift.views import terminal, text


def made_up():
    """An explanation that does not depend on this machine."""
    told = Explanation("price", 1_000_000, "np.float64", "llvm", paths=2, steps=3, longest=2, left=4)
    told.seconds = {"loop": 0.178, "llvm": 0.00222}
    told.costs = {
        "loop": Cost(0.178, [(10, 2e-6), (1_000_000, 0.178)]),
        "llvm": Cost(0.00222, [(10, 13e-6), (1_000_000, 0.00222)], 0.0123, made=True),
    }
    told.refusals = {
        "numpy": Refusal("numpy", "prints", "shop.py:14"),
        "simd": Refusal("simd", "prints", "shop.py:14"),
    }
    told.spent = {"columns in": 1e-5, "run": 2.2e-3, "compile": 3e-3}
    leaf = {"ends": "returns", "by": "", "where": "", "branches": []}
    told.tree = {
        "ends": "splits", "by": "truth", "where": "shop.py:5", "count": 1_000_000,
        "branches": [
            {"answer": "False", "node": {**leaf, "count": 900_000}},
            {"answer": "True", "node": {**leaf, "count": 100_000}},
        ],
    }  # fmt: skip
    told.left_because = [(4, "an int goes beyond 64 bits (shop.py:6)")]
    told.notes = ["elements are of 2 kinds"]
    return told


WIDE = """\
price over 1,000,000 elements (np.float64)
  runs in the gear 'llvm'
        this call  per element   fixed  to make ready
  loop     178 ms       178 ns  220 ns              -
  llvm    2.22 ms      2.21 ns   13 us        12.3 ms
  fastest: loop from 1, llvm from 73
  where such a call's time goes: columns in 0.5%, run 99.5%
  paid once: compile 3 ms
  numpy, simd refuse: prints   shop.py:14
         try this: print outside of the mapped function
  2 paths, 3 steps, the longest path has 2
  all        1,000,000  by truth at shop.py:5
  ├ False      900,000  (90.0%)  returns
  └ True       100,000  (10.0%)  returns
  4 elements (0.00%) are left to the plain function: an int goes beyond 64 bits (shop.py:6)
  elements are of 2 kinds"""


def test_an_explanation_as_text():
    assert str(made_up()) == WIDE


def test_a_narrow_terminal_and_none(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_: os.terminal_size((40, 20)))
    monkeypatch.setenv("NO_COLOR", "1")
    narrow, none = Terminal(), io.StringIO()
    terminal.show(made_up().to_dict(), narrow)
    terminal.show(made_up().to_dict(), none)
    assert none.getvalue() == WIDE + "\n"
    lines = narrow.getvalue().splitlines()
    assert max(map(len, lines)) <= 44 and len(lines) > len(WIDE.splitlines())
    assert "to make ready" not in narrow.getvalue() and "per element" in narrow.getvalue()


def test_colours_are_for_terminals(monkeypatch):
    pytest.importorskip("rich")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = Terminal()
    terminal.show(made_up().to_dict(), shown)
    assert "\x1b[" in shown.getvalue()
    assert "\x1b[" not in text.plain(made_up().to_dict())


def test_an_explanation_as_json():
    told = json.loads(made_up().json())
    assert sorted(told) == sorted(
        "elements function gear gears kind left left_because longest n notes of paths refusals source spent steps tree "
        "wins".split()
    )
    assert told["wins"] == [{"from": 1, "gear": "loop"}, {"from": 73, "gear": "llvm"}]
    assert sorted(told["gears"][0]) == sorted("fixed made measured name per_element points ready_in seconds".split())
    assert told["refusals"][0]["remedy"] == "print outside of the mapped function"


# ---- words that are not understood


@pytest.mark.parametrize(
    "words, said",
    [
        ([], "command"),
        (["fly"], "invalid choice: 'fly'"),
        (["info", "--loud"], "unrecognized arguments: --loud"),
        (["cache", "burn"], "invalid choice: 'burn'"),
        (["completion"], "shell"),
        (["completion", "tcsh"], "invalid choice: 'tcsh'"),
        (["tables"], "PAGE.md"),
        (["profile"], "script"),
        (["profile", "nowhere.py"], "there is no file nowhere.py"),
        (["profile", "-o", "x.pdf", __file__], "ends in none of"),
        (["bench", "nowhere.py:f", "--data", "range(n)"], "there is no file nowhere.py"),
        (["bench", "--cases", "none"], "invalid choice: 'none'"),
        (["bench", "map-fn-vs-loop", "-o", "x.pdf"], "ends in none of"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_words_say_so_and_end_with_2(words, said, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    shown = capsys.readouterr()
    assert stop.value.code == 2 and said in shown.err and "usage: upshift" in shown.err
    assert "Traceback" not in shown.err and not shown.out


def test_a_page_that_is_not_there(capsys):
    assert main(["tables", "nowhere.md"]) == 2
    assert "nowhere.md" in capsys.readouterr().err


# ---- what is not there


@pytest.fixture
def without(monkeypatch):
    """Nothing but NumPy and llvmlite."""
    find = importlib.util.find_spec
    missing = {"tensorflow", "jax", "ray", "pandas", "polars", "numba", "rich", "libcst"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name in missing else find(name, *more))
    for name in missing:
        for loaded in [one for one in sys.modules if one.split(".")[0] == name]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, name, None)


def test_info_tells_how_to_get_what_is_missing(without, capsys):
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    for name in ("tensorflow", "jax", "pandas"):
        assert f'not installed: pip install "upshift[{name}]"' in out


def test_questions_without_tensorflow(without, capsys):
    assert main(["bench", "map-fn-vs-loop", "--quick"]) == 2
    assert capsys.readouterr().err == 'TensorFlow is not installed: pip install "upshift[tensorflow]"\n'


def test_reports_without_rich(without):
    shown = io.StringIO()
    terminal.show(made_up().to_dict(), shown)
    assert shown.getvalue() == WIDE + "\n"


def test_benchmarks_that_are_not_installed(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench, "PLACES", (tmp_path,))
    assert main(["bench", "--quick"]) == 2
    assert "not installed" in capsys.readouterr().err


# ---- folders


@pytest.fixture
def nowhere(tmp_path):
    """A path that nobody can write to, root included."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "inside"


def test_a_cache_that_cannot_be_written(nowhere, monkeypatch, capsys):
    monkeypatch.setenv("UPSHIFT_CACHE_DIR", str(nowhere))
    assert main(["info"]) == 0 and main(["cache"]) == 0 and main(["cache", "clear"]) == 0
    out = capsys.readouterr().out
    assert out.count("machine code: kept in memory only") == 2 and "0 files of machine code taken away" in out
    assert up.map(lambda x: x * 2, [1, 2]).tolist() == [2, 4]


def test_an_output_that_cannot_be_written(nowhere, tmp_path, capsys):
    (tmp_path / "s.py").write_text("import upshift as up\nup.map(abs, [1, -2])\n")
    assert main(["profile", "-o", str(nowhere.with_name("p.json")), str(tmp_path / "s.py")]) in (0, 2)
    assert main(["profile", "-o", str(nowhere / "p.json"), str(tmp_path / "s.py")]) == 2
    assert "cannot be written" in capsys.readouterr().err


# ---- the rest


def test_python_m_upshift():
    done = subprocess.run([sys.executable, "-m", "upshift", "cache"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith("machine code: ") and not done.stderr


def test_a_reader_that_has_seen_enough():
    done = subprocess.run(
        f'"{sys.executable}" -m upshift rules | head -n 1', shell=True, capture_output=True, text=True
    )
    assert done.stdout == "# NumPy functions\n" and not done.stderr


def test_only_public_names_are_shown():
    assert set(dir(up)) == {*up.__all__, "__version__"} and not any(name[0] == "_" for name in up.__all__)
    assert all(getattr(up, name).__doc__ for name in up.__all__)


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_words_that_are_completed(shell, capsys):
    from benchmarks.questions import QUESTIONS

    assert set(QUESTIONS) < set(FOLLOW["bench"])
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert "doctor" in out and " ".join(ACTIONS) in out and "map-fn-vs-loop" in out


@pytest.mark.parametrize(
    "words", [["doctor"], ["profile"], ["bench", "map-fn-vs-loop"], ["bench", "m:f"]], ids=" ".join
)
def test_every_option_is_completed(words, capsys):
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    options = set(re.findall(r"(?<!\S)--[a-z]+", capsys.readouterr().out))
    assert options and options <= set(FOLLOW[words[0]])


def test_completion_in_bash(capsys, tmp_path):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    main(["completion", "bash"])
    script = tmp_path / "c.bash"
    script.write_text(capsys.readouterr().out)
    ask = f'source "{script}"; COMP_WORDS=($*); COMP_CWORD=$(($#-1)); _upshift; echo "${{COMPREPLY[@]}}"'
    for words, found in (
        ("upshift ca", "cache"),
        ("upshift cache c", "clear"),
        ("upshift bench map-fn-o", "map-fn-on-gpu"),
    ):
        done = subprocess.run([bash, "-c", ask, "ask", *words.split()], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == found


def test_the_demonstration(monkeypatch):
    """Each function with its first call and later ones, then the gears by their names, then an explanation."""
    monkeypatch.setattr(demo, "SIZES", (300,))
    monkeypatch.setattr(demo, "best_time", lambda run, seconds: (run(), 1e-3)[1])
    monkeypatch.setattr(demo, "measured_anew", demo.measure)
    demo.show(out := io.StringIO())
    lines = out.getvalue().splitlines()
    names = [f.__name__ for f, _ in demo.cases(1)]
    assert [line.split()[0] for line in lines if re.search(r" ms +1\.0x$", line)] == names
    gears = [line.split() for line in lines if line.startswith("function")][1][1:]
    assert gears == list(demo.SHOWN) and {"numpy", "llvm", "simd"} < set(gears)
    by_name = [line.split() for line in lines if len(line.split()) == len(gears) + 1 and line.split()[0] in names]
    assert [row[0] for row in by_name] == names and all(row[2] == "1.0x" for row in by_name)
    assert "discount over 300 elements" in out.getvalue()


def test_first_calls_are_those_of_a_new_process():
    found = demo.measured_anew(20)
    assert set(found) == {f.__name__ for f, _ in demo.cases(1)}
    assert all(len(times) == 3 and min(times) > 0 for times in found.values())


def test_a_profile_takes_its_output_behind_the_script(tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint('given', sys.argv[1:])\n")
    trace = tmp_path / "trace.json"
    assert main(["profile", str(script), "-o", str(trace), "one"]) == 0
    assert "given ['one']" in capsys.readouterr().out and trace.exists()
    assert main(["profile", str(script), "--", "-o", "mine"]) == 0
    assert "given ['-o', 'mine']" in capsys.readouterr().out


def test_info_tells_which_gears_run(without, capsys):
    assert main(["info"]) == 0
    runs, *lines = [line for line in capsys.readouterr().out.splitlines() if "gears that run" in line or "not " in line]
    assert "loop, numpy, llvm" in runs and "jax" not in runs and "ray" not in runs
    assert any(line.startswith('  not jax: jax is not installed: pip install "upshift[jax]"') for line in lines)
