"""The site: it is built without a warning and without a network, and its examples and commands do what they say."""

from __future__ import annotations

import contextlib
import html.parser
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from upshift.cli import main
from upshift.config import Settings

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NEEDS = {
    "guides/tensorflow.md": ("tensorflow",),
    "guides/datasets.md": ("tensorflow",),
    "guides/tables.md": ("pandas", "polars"),
    "guides/files.md": ("pyarrow",),
}
GIVEN = {"guide.md", "compiler.md", "plan.md"}
"""Pages that show parts of functions: test_docs.py, test_docs_compiler.py and test_docs_plan.py look after them."""


def pages():
    return sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def code(page, language):
    text = (DOCS / page).read_text(encoding="utf-8")
    for one in re.finditer(rf"```{language}\n(.*?)```", text, re.DOTALL):
        yield one.group(1)


# ---- examples: `expression  # -> what it gives`

EXAMPLES = [
    page for page in pages() if not page.startswith("doctor/") and page not in GIVEN and any(code(page, "python"))
]
_CLAIM = re.compile(r"^(?P<indent> *)(?P<made>\S.*?)  # -> (?P<told>.*)$", re.MULTILINE)


def _claimed(text):
    return _CLAIM.sub(lambda one: f"{one['indent']}claim_({one['made']}, {one['told']!r})", text)


@pytest.mark.parametrize("page", EXAMPLES)
def test_examples(page, tmp_path, monkeypatch):
    for name in NEEDS.get(page, ()):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    claims = []

    def claim_(made, text):
        claims.append(text)
        assert re.sub(r"\s", "", repr(made)) == re.sub(r"\s", "", text)

    script = tmp_path / "script.py"
    script.write_text("\n".join(_claimed(block) for block in code(page, "python")), encoding="utf-8")
    space = {"claim_": claim_, "__name__": "script"}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), space)
    assert len(claims) == sum(len(_CLAIM.findall(block)) for block in code(page, "python")) > 0


def test_a_wrong_claim_is_seen():
    with pytest.raises(AssertionError):
        exec(_claimed("1 + 1  # -> 3"), {"claim_": lambda made, text: exec("assert made == text", locals())})


# ---- commands

SLOW = ("upshift bench map", "upshift bench faster", "upshift bench function", "upshift bench numpy")
"""Run in a small form, which has their output but for its figures, in tests/test_bench_own.py."""
COMMANDS = sorted({line[2:] for page in pages() for block in code(page, "console") for line in block.splitlines()})
SCRIPT = """
import numpy as np
import upshift as up


def price(x):
    return x if x < 20 else x * 0.95


if __name__ == "__main__":
    up.map(price, np.linspace(0, 9, 100))
    print(np.vectorize(price)(np.linspace(0, 9, 3)))
"""


@pytest.mark.parametrize("command", [one for one in COMMANDS if not one.startswith(SLOW)])
def test_commands(command, tmp_path, monkeypatch, capsys):
    words = shlex.split(command, comments=True)
    if "doctor" in words:
        pytest.importorskip("libcst")
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "script", None)
    monkeypatch.delitem(sys.modules, "script")
    if "bench" in words:
        words += ["--sizes", "10", "--peers", "numpy"]
    assert words[0] == "upshift" and main(words[1:]) in (0, 1)
    assert capsys.readouterr().out.strip()


def test_commands_of_questions_are_of_questions():
    from benchmarks.questions import QUESTIONS

    assert {path.stem for path in (DOCS / "questions").glob("*.md")} == set(QUESTIONS)
    for name in QUESTIONS:
        page = (DOCS / "questions" / f"{name}.md").read_text(encoding="utf-8")
        assert f"$ upshift bench {name} -o" in page and "Made by `upshift bench" in page and "2 cores" in page
        shown = re.findall(r"\]\((\S+\.svg)#only-(light|dark)\)", page)
        assert {theme for _, theme in shown} == {"light", "dark"}
        for file, theme in shown:
            assert f'data-theme="{theme}"' in (DOCS / "questions" / file).read_text(encoding="utf-8")


# ---- tables


def test_every_setting_has_its_line():
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    for field in fields(Settings):
        assert f"`UPSHIFT_{field.name.upper()}=" in page and f"`{field.name}=" in page
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    assert set(re.findall(r"\bUPSHIFT_[A-Z_]*[A-Z]\b", sources)) <= set(re.findall(r"\bUPSHIFT_[A-Z_]*[A-Z]\b", page))


def test_every_command_has_its_line(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    named = re.search(r"\{([\w,]+)\}", capsys.readouterr().out)
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    found = named[1].split(",") if named else re.findall(r"^    (\w+)  ", capsys.readouterr().out, re.MULTILINE)
    assert all(f"`upshift {name}" in page for name in found)


# ---- the site


class Asked(html.parser.HTMLParser):
    """What a page asks for by itself; links that people follow are no such thing."""

    def __init__(self, text):
        super().__init__()
        self.asked = []
        self.feed(text)

    def handle_starttag(self, name, attributes):
        given = dict(attributes)
        if name in ("script", "img", "iframe", "source"):
            self.asked.append(given.get("src") or "")
        if name == "link" and given.get("rel") in ("stylesheet", "preconnect", "icon", "preload"):
            self.asked.append(given.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material")
    to = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(to)],
        cwd=ROOT, capture_output=True, text=True, timeout=600, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr  # a warning is an error, by --strict
    return to


def test_the_site_is_whole(site):
    made = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    for page in [*pages(), "architecture.md", "contributing.md", "api.md"]:
        assert re.sub(r"README$", "index", page.removesuffix(".md")) + ".html" in made, page


def test_the_site_asks_for_nothing_on_the_network(site):
    for path in site.rglob("*.html"):
        asked = Asked(path.read_text(encoding="utf-8")).asked
        assert asked or path.name == "404.html"
        assert not [one for one in asked if re.match(r"(https?:)?//", one)], path
    for path in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", path.read_text(encoding="utf-8")), path


def test_the_reference_has_every_public_name(site):
    import upshift as up

    text = (site / "api.html").read_text(encoding="utf-8")
    for name in up.__all__:
        assert f"up.{name}<" in text or name in ("Explanation", "FunctionExplanation"), name
    assert "&gt;&gt;&gt; " not in re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL)


def test_numbers_are_numpys():
    assert repr(np.float64(88.5)) == "np.float64(88.5)"
