"""What the doctor finds, by the samples of every check; pages, formats, settings, exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from upshift.cli import main
from upshift.doctor.checks import CHECKS
from upshift.doctor.examine import examine
from upshift.doctor.fixing import fix, look
from upshift.doctor.pages import page
from upshift.doctor.settings import Settings
from upshift.doctor.sources import Source

HITS = [pytest.param(c.code, s, id=f"{c.code}-hit{i}") for c in CHECKS.values() for i, s in enumerate(c.hits)]
MISSES = [pytest.param(c.code, s, id=f"{c.code}-miss{i}") for c in CHECKS.values() for i, s in enumerate(c.misses)]
SLOW = "import numpy as np\nxs = np.linspace(0, 1, 1000)\nys = [x * x for x in xs]\n"


def codes(text: str) -> list[str]:
    return [f.code for f in examine("x.py", text)]


@pytest.mark.parametrize(("code", "text"), HITS)
def test_a_sample_is_found(code: str, text: str) -> None:
    assert code in codes(text)


@pytest.mark.parametrize(("code", "text"), MISSES)
def test_a_sample_is_left_alone(code: str, text: str) -> None:
    assert code not in codes(text)


def test_the_table_is_large_enough() -> None:
    assert len(HITS) + len(MISSES) >= 60
    assert all(c.hits and len(c.misses) >= 2 for c in CHECKS.values())


@pytest.mark.parametrize(("code", "text"), HITS)
def test_every_fix_of_a_sample_gives_python_and_is_done_once(code: str, text: str) -> None:
    source = Source("x.py", text)
    for finding in look(source):
        for number in range(len(finding.fixes)):
            made = fix(source, choice=lambda f, n=number: f.fixes[n] if f.code == code and n < len(f.fixes) else None)
            compile(made.text, "x.py", "exec")
            assert made.text != text or finding.code != code
    once = fix(source)
    assert fix(Source("x.py", once.text)).text == once.text


@pytest.mark.parametrize("code", sorted(CHECKS))
def test_every_code_has_a_page(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = page(code)
    assert text.startswith(f"# {code}: {CHECKS[code].title}\n")
    for heading in ("## Why it ", "## The rewrite", "## When to ignore it", f"--figure {code}"):
        assert heading in text
    assert main(["doctor", "--explain", code.lower()]) == 0
    assert capsys.readouterr().out == text


def test_pages_and_codes_match() -> None:
    folder = Path(__file__).parents[1] / "docs" / "doctor"
    assert {p.stem for p in folder.glob("UPS*.md")} == set(CHECKS)
    index = (folder / "README.md").read_text(encoding="utf-8")
    assert all(f"[{c.code}]({c.code}.md) {c.title}" in index for c in CHECKS.values())


def test_names_are_resolved_not_spelled() -> None:
    assert codes("import numpy\nimport numpy as n, tensorflow as t\nf = n.vectorize(len)\n") == ["UPS121"]
    assert codes("import numpy as np\ndef f(np):\n    return np.vectorize(len)\n") == []
    assert codes("from numpy import vectorize as v\nf = v(len)\n") == ["UPS121"]
    assert codes("# np.vectorize, in words\nimport numpy as np\ns = 'np.vectorize(f)'\n") == []


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("# noqa", True),
        ("# noqa: UPS123", True),
        ("# noqa: UPS101, UPS123", True),
        ("# noqa: UPS101", False),
        ("# no", False),
    ],
)
def test_noqa(comment: str, silent: bool) -> None:
    assert (look(Source("x.py", SLOW.rstrip() + f"  {comment}\n")) == []) is silent


def test_a_form_feed_ends_no_line() -> None:
    head, line = "# By us.\n\x0c\nimport numpy as np\n\x0c\nxs = np.linspace(0, 1, 1000)\n", "ys = [x * x for x in xs]"
    assert look(Source("x.py", f"{head}{line}  # noqa: UPS123\n")) == []
    source = Source("x.py", f"{head}{line}\nzs = 1  # noqa\n")
    up = fix(source, choice=lambda f: next(one for one in f.fixes if one.imports)).text
    assert up.startswith("# By us.\n\x0c\nimport numpy as np\nimport upshift as up\n\x0c\nxs = ")


def test_select_and_ignore_by_the_longest_prefix() -> None:
    assert Settings(select=("UPS1",), ignore=("UPS12",)).wants("UPS101")
    assert not Settings(select=("UPS1",), ignore=("UPS12",)).wants("UPS121")
    assert Settings(select=("UPS121",), ignore=("UPS1",)).wants("UPS121")
    assert not Settings(ignore=("UPS",)).wants("UPS101")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "clean.py").write_text("print(1)\n")
    return tmp_path


def test_exit_status(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(project / "clean.py")]) == 0
    assert main(["doctor", str(project)]) == 1
    assert main(["doctor", str(project), "--ignore", "UPS123"]) == 0
    assert main(["doctor", str(project), "--select", "UPS101"]) == 0
    assert main(["doctor", str(project / "missing.py")]) == 2
    assert main(["doctor", str(project), "--select", "XYZ"]) == 2
    assert "'XYZ' is no code" in capsys.readouterr().err
    assert main(["doctor", "--explain", "UPS999"]) == 2
    assert main(["doctor", "--run"]) == 2
    assert main(["doctor", "--list"]) == 0


def test_settings_of_a_project(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = project / "pyproject.toml"
    settings.write_text('[tool.upshift.doctor]\nignore = ["UPS123"]\n')
    assert main(["doctor", str(project)]) == 0
    settings.write_text('[tool.upshift.doctor]\nexclude = ["slow*"]\n')
    assert main(["doctor", str(project)]) == 0
    settings.write_text('[tool.upshift.doctor]\nexclude = ["old"]\n')
    (project / "old" / "older").mkdir(parents=True)
    (project / "slow.py").rename(project / "old" / "older" / "slow.py")
    assert main(["doctor", str(project)]) == 0
    settings.write_text('[tool.upshift.doctor]\nselect = "UPS1"\n')
    assert main(["doctor", str(project)]) == 2
    assert "write a list of texts" in capsys.readouterr().err
    settings.write_text("[tool.upshift.doctor]\ncolour = true\n")
    assert main(["doctor", str(project)]) == 2
    settings.write_text("[tool.upshift.doctor\n")
    assert main(["doctor", str(project)]) == 2


def test_text(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", str(project / "slow.py")])
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{project / 'slow.py'}:3:6: UPS123 ") and first.endswith("[*]")
    assert rest[0] == "1 found in 1 file: 1 UPS123."


def test_json_counts_as_editors_do(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--format", "json", str(project)]) == 1
    told = json.loads(capsys.readouterr().out)
    (found,) = told["diagnostics"]
    assert found["range"] == {"start": {"line": 2, "character": 5}, "end": {"line": 2, "character": 24}}
    assert (found["code"], found["severity"], found["source"]) == ("UPS123", 2, "upshift")
    (edit,) = found["fixes"][0]["edits"]
    assert (edit["action"], edit["range"], edit["newText"]) == ("expression", found["range"], "list(xs * xs)")


def test_sarif(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "broken.py").write_text("def f(:\n")
    assert main(["doctor", "--format", "sarif", str(project)]) == 2
    told = json.loads(capsys.readouterr().out)
    (run,) = told["runs"]
    assert told["version"] == "2.1.0"
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "UPS123"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 3
    assert not run["invocations"][0]["executionSuccessful"]


def test_github(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--format", "github", str(project / "slow.py")])
    out = capsys.readouterr().out
    assert out.startswith("::warning file=") and ",line=3,endLine=3,col=6,title=UPS123 " in out


def test_the_hooks_run_the_doctor() -> None:
    text = (Path(__file__).parents[1] / ".pre-commit-hooks.yaml").read_text()
    assert "id: upshift-doctor\n" in text and "entry: upshift doctor --fix\n" in text
