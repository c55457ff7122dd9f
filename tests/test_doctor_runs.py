"""Measured runs of scripts: those that end well, exit, raise, fork, read standard input; and what is rewritten then."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from upshift.doctor.fixing import look
from upshift.doctor.rewrite import write
from upshift.doctor.running.compare import compare
from upshift.doctor.running.measure import run
from upshift.doctor.running.notebook import run_cell
from upshift.doctor.running.report import as_report
from upshift.doctor.running.treatment import Outcome, same_output, treat
from upshift.doctor.sources import Source, read

TRAINING = Path(__file__).parent / "doctor" / "training"
VECTORIZE = """import sys
import numpy as np

xs = np.linspace(-1, 1, 20000)


def f(x):
    return x * x if x > 0 else -x


g = np.vectorize(f)
for _ in range(3):
    ys = g(xs)
squares = [x * x for x in xs]
print(ys.sum(), len(squares), sys.argv[1:], __name__)
"""


def doctor(*words: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "upshift", "doctor", *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)


def script(folder: Path, text: str) -> str:
    path = folder / "script.py"
    path.write_text(text)
    return str(path)


def run_with_gain(
    source: Source, argv: Sequence[str], replay: bool, texts: dict[str, str]
) -> tuple[dict[str, Any], str]:
    """A run here, in which every alternative that gives the same saves a second, whatever the machine is busy with."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        made = run(source, argv, replay, texts)
    made.measured = [
        replace(m, trials=tuple(replace(t, saved=1.0) if t.is_good else t for t in m.trials)) for m in made.measured
    ]
    return as_report(made, source.path), printed.getvalue()


def treated(path: str, *argv: str) -> Outcome:
    """What `--fix --run` makes of a script, every gain being certain; the file is rewritten."""
    source = read(path)
    made = treat(source, argv, run_with_gain, mend=True)
    write(source, made.text)
    return made


def test_a_run_measures_replays_and_rewrites(tmp_path: Path) -> None:
    path = script(tmp_path, VECTORIZE)
    plain = subprocess.run([sys.executable, path, "--fix", "x"], capture_output=True, text=True).stdout
    made = treated(path, "--fix", "x")
    assert made.output == plain and "the same output" in made.words[-1]
    text = Path(path).read_text()
    assert "list(xs * xs)" in text and "g = up.vectorize(f)" in text
    after = subprocess.run([sys.executable, path, "--fix", "x"], capture_output=True, text=True)
    assert after.stdout == plain, after.stderr


def test_the_command_runs_and_measures(tmp_path: Path) -> None:
    path = script(tmp_path, VECTORIZE)
    plain = subprocess.run([sys.executable, path, "--fix", "x"], capture_output=True, text=True).stdout
    done = doctor("--fix", "--run", path, "--fix", "x")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(plain), "the script's own words come first, its arguments are its own"
    assert "3 calls, 60,000 elements" in done.stdout
    assert "up.vectorize" in done.stdout and "the same result" in done.stdout
    assert "the same output" in done.stdout or "nothing to rewrite" in done.stdout  # a busy machine may see no gain
    after = subprocess.run([sys.executable, path, "--fix", "x"], capture_output=True, text=True)
    assert after.stdout == plain, after.stderr


def test_json_of_a_run(tmp_path: Path) -> None:
    path = script(tmp_path, VECTORIZE)
    done = doctor("--format", "json", "--run", path)
    told = json.loads(done.stdout)
    sites = {code: site for site in told["sites"] for code in site["codes"]}
    assert (sites["UPS121"]["calls"], sites["UPS121"]["elements"]) == (3, 60_000)
    assert {t["name"]: t["verdict"] for t in sites["UPS123"]["trials"]}["vectorised"] == "equal"
    assert 0 < sites["UPS121"]["share"] <= 1
    assert Path(path).read_text() == VECTORIZE


def test_a_run_looks_for_what_is_asked_for(tmp_path: Path) -> None:
    path = script(tmp_path, VECTORIZE)
    assert {f.code for f in run(read(path, frozenset({"UPS121"})), []).findings} == {"UPS121"}
    done = doctor("--ignore", "UPS123", "--fix", "--run", path)
    assert "UPS121" in done.stdout and "UPS123" not in done.stdout, done.stderr
    (tmp_path / "pyproject.toml").write_text('[tool.upshift.doctor]\nignore = ["UPS1"]\n')
    done = doctor("--fix", "--run", path)
    assert done.returncode == 0 and "no slow map was found" in done.stdout, done.stderr
    assert "list(" not in Path(path).read_text()
    assert doctor("--format", "sarif", "--run", path).returncode == 2


def run_here(tmp_path: Path, text: str) -> tuple[int, str, list[tuple[str, int]]]:
    made = run(read(script(tmp_path, text)), [])
    return made.status, made.error, [(m.site.findings[0].code, m.record.calls) for m in made.measured]


HEAD = "import numpy as np\nxs = np.linspace(0, 1, 1000)\nys = [x * x for x in xs]\n"


@pytest.mark.parametrize(
    ("tail", "status", "error"),
    [
        ("", 0, ""),
        ("raise SystemExit\n", 0, ""),
        ("import sys\nsys.exit(3)\n", 3, ""),
        ("raise SystemExit('bye')\n", 1, ""),
        ("raise ValueError('no')\n", 1, "ValueError: no"),
        ("def main():\n    return 1 / 0\nmain()\n", 1, "ZeroDivisionError: division by zero"),
    ],
)
def test_scripts_that_end(tail: str, status: int, error: str, tmp_path: Path) -> None:
    assert run_here(tmp_path, HEAD + tail) == (status, error, [("UPS123", 1)])


def test_nothing_stays_behind(tmp_path: Path) -> None:
    before = sys.argv, list(sys.path), sys.modules["__main__"]
    run_here(tmp_path, HEAD + "import sys\nsys.argv = []\nsys.path.append('x')\n")
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before


def test_scripts_that_fork_or_leave(tmp_path: Path) -> None:
    forking = HEAD + (
        "import os, sys\npid = os.fork()\nif pid == 0:\n    print('child', flush=True)\n    sys.exit(7)\n"
        "print('parent', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    done = doctor("--run", script(tmp_path, forking))
    assert "parent 7" in done.stdout and done.stdout.count("UPS123") == 1, done.stderr
    left = doctor("--fix", "--run", script(tmp_path, HEAD + "import os\nprint('x', flush=True)\nos._exit(5)\n"))
    assert left.returncode == 2 and "no measurements" in left.stdout and "status 5" in left.stdout
    assert "list(" not in (tmp_path / "script.py").read_text()


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="POSIX process groups")
def test_an_interrupted_script_is_reported(tmp_path: Path) -> None:
    path = script(tmp_path, HEAD + "import time\nprint('ready', flush=True)\ntime.sleep(100)\n")
    command = [sys.executable, "-m", "upshift", "doctor", "--run", path]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to the doctor and to the script
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 2 and "ended with KeyboardInterrupt" in out and "line 3: 1 call, 1,000 elements" in out


def test_scripts_that_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script(tmp_path, HEAD + "print(input().upper(), len(ys))\n")
    assert "HELLO 1000" in doctor("--run", path, text="hello\n").stdout
    monkeypatch.setattr(sys, "stdin", io.StringIO("hello\n"))
    made = treated(path)
    assert made.output == "HELLO 1000\n" and "reads standard input" in made.words[-1]
    assert "list(xs * xs)" in Path(path).read_text()


def test_a_question_is_seen_before_its_answer(tmp_path: Path) -> None:
    path = script(tmp_path, HEAD + "print('a', end='\\r')\nname = input('Who? ')\nprint('Hello', name)\n")
    command = [sys.executable, "-m", "upshift", "doctor", "--run", path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None and process.stdout is not None
        told = b""
        while not told.endswith(b"Who? "):
            byte = process.stdout.read(1)
            assert byte, told
            told += byte
        process.stdin.write(b"Ann\n")
        process.stdin.close()
        assert told == b"a\rWho? " and b"Hello Ann" in process.stdout.read()


def test_scripts_that_are_none(tmp_path: Path) -> None:
    done = doctor("--run", script(tmp_path, "def f(:\n"))
    assert done.returncode == 2 and "is it Python 3?" in done.stderr
    assert doctor("--run", str(tmp_path / "none.py")).returncode == 2


def test_functions_with_effects_are_not_called_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "import numpy as np\nseen = []\ndef f(x):\n    seen.append(x)\n    return x * 2\n"
        "g = np.vectorize(f)\nys = g(np.linspace(0, 1, 50))\nprint(len(seen))\n"
        "def h(x):\n    return np.random.random() + x\nzs = np.vectorize(h)(np.linspace(0, 1, 50))\n"
        "from doctor_elsewhere import k\nks = np.vectorize(k)(np.linspace(0, 1, 50))\n"
    )
    (tmp_path / "doctor_elsewhere.py").write_text("def k(x):\n    return x + 1\n")
    made = run(read(script(tmp_path, text)), [])
    notes = sorted(m.note for m in made.measured)
    assert "calls .append(), which may do anything" in notes[0]
    assert "draws random numbers" in notes[1] and "is defined elsewhere" in notes[2]
    assert capsys.readouterr().out == "51\n", (
        "np.vectorize calls it once more than there are elements, the doctor never"
    )


def test_functions_that_are_handed_on_may_have_effects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "import numpy as np\ndef told(x):\n    print('told')\n    return x\n"
        "def f(x):\n    return max(x, 1 - x, key=told)\ng = np.vectorize(f, otypes=[float])\ng(np.zeros(1))\n"
    )
    made = run(read(script(tmp_path, text)), [])
    assert [m.note for m in made.measured] == ["not replayed: f calls 'print', which may do anything"]
    assert capsys.readouterr().out == "told\ntold\n"


def test_an_alternative_that_differs_is_not_used(tmp_path: Path) -> None:
    # np.vectorize takes the first result's dtype for all: an int. up.vectorize does not.
    text = (
        "import numpy as np\nf = np.vectorize(lambda x: 0 if x < 0.5 else x)\nprint(f(np.linspace(0, 1, 1000)).sum())\n"
    )
    made = run(read(script(tmp_path, text)), [])
    (trial,) = made.measured[0].trials
    assert trial.verdict == "differs"
    assert made.allowed() == {}


def test_a_training_script_is_mended(tmp_path: Path) -> None:
    path = script(tmp_path, (TRAINING / "prices.py").read_text())
    plain = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    assert "the same output" in treated(path).words[-1]
    text = Path(path).read_text()
    assert 'df["price"] / df["area"]' in text.replace("'", '"')
    after = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    assert same_output(plain, after)


def test_a_cell_is_run_and_measured() -> None:
    names: dict[str, object] = {"np": np, "xs": np.linspace(0, 1, 1000)}
    value, report = run_cell("%matplotlib inline\nys = [x * x for x in xs]\nlen(ys)", names)
    assert value == 1000 and len(names["ys"]) == 1000
    assert "UPS123" in report and "vectorised" in report and "the same result" in report
    assert set(names) == {"np", "xs", "ys", "__builtins__"}


def test_a_cell_that_raises_is_measured_up_to_there() -> None:
    shown: list[str] = []
    with pytest.raises(ZeroDivisionError):
        run_cell("ys = [x * x for x in xs]\n1 / 0", {"xs": np.linspace(0, 1, 1000)}, shown.append)
    assert "ended with ZeroDivisionError: division by zero" in shown[0] and "1 call, 1,000 elements" in shown[0]


def in_ipython(*cells: str) -> str:
    pytest.importorskip("IPython")
    lines = [
        "from IPython.core.interactiveshell import InteractiveShell",
        "shell = InteractiveShell.instance()",
        "shell.extension_manager.load_extension('upshift.doctor')",
        *(f"shell.run_cell({cell!r})" for cell in cells),
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    return done.stdout


def test_a_cell_keeps_its_magics_and_the_sources_of_its_functions() -> None:
    told = in_ipython(
        "%%upshift\nimport inspect\nwords = !echo one two\n%who\n"
        "class A:\n    x: int = 1\ndef f(x):\n    return x + 1\nprint(words, A.__annotations__['x'] is int)",
        "%%upshift\ndef g(x):\n    return x + 2\nprint(inspect.getsource(f), inspect.getsource(g))",
    )
    assert "['one two'] True" in told and "inspect" in told.splitlines()[0]
    assert "def f(x):\n    return x + 1\n def g(x):\n    return x + 2\n" in told


def test_the_magic_in_ipython() -> None:
    pytest.importorskip("IPython")
    text = (
        "from IPython.core.interactiveshell import InteractiveShell\nshell = InteractiveShell.instance()\n"
        "shell.extension_manager.load_extension('upshift.doctor')\n"
        "shell.run_cell('import numpy as np\\nxs = np.linspace(0, 1, 1000)')\n"
        "shell.run_cell('%%upshift\\nys = [x * x for x in xs]\\nlen(ys)')\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert "UPS123" in done.stdout and "1000" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ([1, 2], [1, 2], "equal"),
        ([1, 2], (1, 2), "differs"),
        (np.array([1e-12]), np.array([1.1e-12]), "differs"),
        ([1], [1.0], "differs"),
        (np.float64(1), 1.0, "differs"),
        (np.zeros(3), np.zeros(3, np.float32), "differs"),
        (np.array([np.nan, 1.0]), np.array([np.nan, 1.0]), "equal"),
        (np.array([1.0]), np.array([1.0 + 1e-12]), "close"),
        (np.array([1.0]), np.array([1.001]), "differs"),
        ({"a": np.arange(3)}, {"a": np.arange(3)}, "equal"),
        ({"a": 1}, {"b": 1}, "differs"),
        ([np.float64(1), np.float64(2)], [np.float64(1), 2.0], "differs"),
        ("x", "x", "equal"),
        ([np.zeros(2), np.ones(2)], [np.zeros(2), np.ones(2) + 1e-13], "close"),
        (np.array([1.0, 1e-15]), np.array([1.0, 2e-15]), "close"),
    ],
)
def test_compare(a: object, b: object, verdict: str) -> None:
    assert compare(a, b) == verdict


def test_outputs_are_the_same_up_to_the_last_digits() -> None:
    assert same_output("a 1.0000001 b\n", "a 1.0000002 b\n")
    assert not same_output("a 1.01\n", "a 1.02\n")
    assert not same_output("1\n", "2\n")
    assert not same_output("took 1.0 s\n", "took 1.0 ms\n")


def test_the_recorder_changes_nothing_that_the_script_sees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "import inspect\nimport numpy as np\nimport sys\n\nxs = np.linspace(0, 1, 500)\n"
        "class C:\n    ys = [x * x for x in xs]\n"
        "def f():\n    return [x * 2 for x in xs], inspect.currentframe().f_lineno\n"
        "print(len(C.ys), f()[1], inspect.getsource(f).count('doctor'), np.vectorize.__module__)\n"
        "print(sorted(n for n in globals() if not n.startswith('__')), __file__ == sys.argv[0])\n"
    )
    source = read(script(tmp_path, text))
    run(source, [])
    measured = capsys.readouterr().out
    run(Source(source.path, source.text), [], replay=False)
    assert capsys.readouterr().out == measured


def test_methods_are_measured(tmp_path: Path) -> None:
    text = (
        "import numpy as np\nclass Base:\n    pass\nclass Model(Base):\n    def __init__(self, n):\n"
        "        self.scale, self.n = 2.0, n\n    @property\n    def scaled(self):\n"
        "        xs = np.linspace(0, 1, self.n)\n        return [x * self.scale for x in xs]\n"
        "    def __call__(self):\n        return np.vectorize(lambda x: x * 3)(np.arange(self.n)).sum()\n"
        "class Layer(np.ndarray):\n    def squares(self):\n        return [x * x for x in np.ones(999)]\n"
        "model = Model(3000)\nprint(sum(model.scaled), model(), len(Layer(1).squares()))\n"
    )
    path = script(tmp_path, text)
    plain = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    sites = treated(path).report["data"]["sites"]
    assert sorted((s["line"], s["calls"], s["elements"]) for s in sites) == [(10, 1, 3000), (12, 1, 3000)]
    assert "up.vectorize(lambda x: x * 3)" in Path(path).read_text()
    after = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    assert same_output(plain, after)


def test_short_calls_are_sampled_and_all_counted(tmp_path: Path) -> None:
    text = "import numpy as np\nf = np.vectorize(lambda x: x + 1)\nxs = np.zeros(3)\nfor i in range(2000):\n    f(xs)\n"
    made = run(read(script(tmp_path, text)), [])
    record = made.measured[0].record
    assert (record.calls, record.elements) == (2000, 6000)
    assert 0 < record.seconds <= made.seconds + made.importing


def test_short_loops_and_comprehensions_are_all_counted(tmp_path: Path) -> None:
    text = (
        "import numpy as np\nxs = np.linspace(0, 1, 120)\ndef f():\n    out = np.zeros(120)\n"
        "    for i in range(120):\n        out[i] = xs[i] * 2\n    return sum(x * x for x in xs), [x * 3 for x in xs]\n"
        "for _ in range(1000):\n    made = f()\nprint(made[0], made[1][-1])\n"
    )
    made = run(read(script(tmp_path, text)), [])
    assert [(m.record.calls, m.record.elements) for m in made.measured] == [(1000, 120_000)] * 3


def test_columns_by_attribute(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    text = (
        "import pandas as pd\nimport numpy as np\nrng = np.random.default_rng(0)\n"
        "df = pd.DataFrame({'a': rng.random(3000), 'b': rng.random(3000)})\n"
        "def f(v):\n    if v > 0.5:\n        return v * 2\n    return -v\n"
        "y = df.apply(lambda r: r.a + r['b'] * 2, axis=1)\nz = df.a.apply(f)\nw = df.b.map(lambda v: v * 2 + 1)\n"
        "print(y.sum(), z.tolist(), w.tolist(), y.name, z.name)\n"
    )
    path = script(tmp_path, text)
    plain = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    assert "the same output" in treated(path).words[-1]
    assert "y = df.a + df['b'] * 2\n" in Path(path).read_text()
    after = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    assert same_output(plain, after)


def test_rows_of_a_function_with_branches(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    text = (
        "import pandas as pd\nimport numpy as np\nrng = np.random.default_rng(0)\n"
        "df = pd.DataFrame({'a': rng.random(3000), 'b': rng.random(3000)}, index=range(1, 3001))\n"
        "def f(row):\n    if row['a'] > row['b']:\n        return row['a'] * 2\n    return row['b']\n"
        "df['c'] = df.apply(f, axis=1)\nprint(df.sum().tolist(), df.iloc[7].tolist())\n"
    )
    path = script(tmp_path, text)
    plain = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    assert "the same output" in treated(path).words[-1]
    assert "df['c'] = up.map(f, df)\n" in Path(path).read_text()
    after = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert same_output(plain, after.stdout)


MODULE = """import numpy as np

LIMITS = [x * x for x in np.linspace(0, 1, 3000)]


def limited(n):
    xs = np.linspace(0, 1, n)
    return [x * 2 for x in xs]
"""
IMPORTING = """import os

os.chdir("/")
from package.limits import LIMITS, limited
import numpy as np

print(len(LIMITS), float(sum(limited(20000))), os.path.basename(limited.__code__.co_filename))
"""


def package(folder: Path) -> tuple[Path, Path]:
    module = folder / "package" / "limits.py"
    module.parent.mkdir()
    (module.parent / "__init__.py").write_text("")
    module.write_text(MODULE)
    return Path(script(folder, IMPORTING)), module


def test_modules_of_the_script_are_measured(tmp_path: Path) -> None:
    path, module = package(tmp_path)
    done = doctor("--format", "json", "--run", str(path))
    assert done.returncode == 1, done.stderr
    sites = {(Path(site["path"]).name, site["line"]): site for site in json.loads(done.stdout)["sites"]}
    assert sites["limits.py", 3]["calls"] == 1 and sites["limits.py", 8]["elements"] == 20_000
    assert any(trial["verdict"] == "equal" for trial in sites["limits.py", 8]["trials"])
    assert all(site["share"] <= 1 for site in sites.values()), (
        "what a module does when it is imported is a part of the run"
    )
    assert module.read_text() == MODULE


def test_modules_are_rewritten_where_they_are_named(tmp_path: Path) -> None:
    path, module = package(tmp_path)
    plain = subprocess.run([sys.executable, path], capture_output=True, text=True).stdout
    source, named = read(str(path)), read(str(module))
    made = treat(source, [], run_with_gain, mend=True, modules=[named])
    assert made.text == IMPORTING and list(made.texts.values()) != [MODULE]
    write(named, *made.texts.values())
    assert "list(xs * 2)" in module.read_text()
    after = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert after.stdout == plain, after.stderr


def test_modules_that_do_not_parse_fail_as_without_the_doctor(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    status, error, _ = run_here(tmp_path, "import broken\n")
    assert status == 1 and error.startswith("SyntaxError")


AS_A_WHOLE = {
    "UPS109": (
        "import tensorflow as tf\ndef f(x):\n    return x * 2\ndef main():\n    total = 0.0\n"
        "    for i in range(12):  # rounds\n        total += float(tf.function(f)(tf.constant(3.0)))\n"
        "    print(total)\nmain()\n",
        "    f_once = tf.function(f)\n    for i in range(12):  # rounds\n        total += float(f_once(",
    ),
    "UPS141": (
        "import jax\nimport jax.numpy as jnp\ndef f(x):\n    return x * 2\nn, total = 0, 0.0\nwhile n < 12:\n"
        "    total += float(jax.vmap(f)(jnp.arange(3.0)).sum())\n    n += 1\nprint(total)\n",
        "f_once = jax.jit(jax.vmap(f))\nwhile n < 12:\n    total += float(f_once(",
    ),
    "UPS142": (
        "from numba import njit\n@njit\ndef area(r):\n    return 3.5 * r * r\nprint(area(2.0))\n",
        "import njit\ndef area(r):",
    ),
    "UPS132": (
        "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2, 3] * 400, 'b': [0.5, 1.5, 2.5] * 400})\ntotal = 0.0\n"
        "for i, row in df.iterrows():\n    total += row['a'] * row['b'] + i\nprint(total, type(total).__name__)\n",
        "for i, row in zip(df.index, (dict(zip(df.columns, values)) for values in df.to_numpy())):\n"
        "    total += row['a']",
    ),
    "UPS134": (
        "import polars as pl\ndef f(x):\n    return x * x + 0.5 if x > 0.5 else -x\n"
        "df = pl.DataFrame({'a': [i / 8 for i in range(40000)]})\n"
        "made = df.with_columns(pl.col('a').map_elements(f, return_dtype=pl.Float64))\nprint(made['a'].sum())\n",
        "pl.col('a').upshift.map(f, return_dtype=pl.Float64)",
    ),
}


@pytest.mark.parametrize("code", AS_A_WHOLE)
def test_what_the_whole_script_decides(code: str, tmp_path: Path) -> None:
    text, wanted = AS_A_WHOLE[code]
    source = read(script(tmp_path, text))
    assert code in {f.code for f in run(source, [], replay=False).findings}
    runs: list[dict[str, Any]] = []

    def slower_at_first(given: Source, argv: Any, replay: bool, texts: dict[str, str]) -> tuple[dict[str, Any], str]:
        report, printed = run_with_gain(given, argv, replay, texts)
        runs.append(report)
        return {**report, "seconds": 1.0 / len(runs)}, printed

    made = treat(source, [], slower_at_first, mend=True)
    assert wanted in made.text, made.text
    assert len(runs) == 2 and "the same output" in made.words[-1]


def test_rows_that_are_used_otherwise_stay_series(tmp_path: Path) -> None:
    head = "import pandas as pd\ndf = pd.read_csv('x.csv')\nfor i, row in df.iterrows():\n"
    for body in ("use(row)", "use(row.a)", "row['a'] = 1", "use(row[i])", "df = use(row['a'])"):
        made = [f for f in look(Source("x.py", f"{head}    {body}\n")) if f.code == "UPS132"]
        assert made and not made[0].fixes, body
