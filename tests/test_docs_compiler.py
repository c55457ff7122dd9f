"""docs/compiler.md: a failure for whatever it says that is not so; its steps to add a row are followed."""

from __future__ import annotations

import ast
import itertools
import math
import platform
import re
import types
from pathlib import Path

import numpy as np
import pytest

import compiled
import upshift as up
from upshift.cli import main
from upshift.compiler import check, kernel, library, lowering, write
from upshift.compiler.captures import MOST_IN_TABLE
from upshift.compiler.instances import SPECIAL_METHODS
from upshift.compiler.kinds import FLOAT, Refused
from upshift.compiler.prelude import iterables
from upshift.compiler.prelude.registry import IMPLEMENTS
from upshift.compiler.source import adopt_source
from upshift.plan.arms import SAMPLE
from upshift.report import compiles, pages

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "compiler.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
MADE_WITH = ("3.11", "2.4")
"""Python and NumPy that the table was made with: others have other functions."""

SHOP = """import math


def ratio(x):
    if x < 0.0:
        return -x
    return math.sqrt(x) / (x - 2.0)


def growth(n):
    total = 1
    for i in range(2, n + 1):
        total *= i
    return total
"""


def blocks_of_code(language):
    fenced = PAGE.split("```")[1::2]
    return [text.partition("\n")[2] for text in fenced if text.partition("\n")[0] == language]


@pytest.fixture
def shop(tmp_path):
    """The module of the page's examples, in a file of its own."""
    (tmp_path / "shop.py").write_text(SHOP)
    module = types.ModuleType("shop")
    exec(compile(SHOP, str(tmp_path / "shop.py"), "exec"), vars(module))
    return module


# ---- the table


def rows_of(text):
    """What the table says: for each line, which names compile and which do not."""
    found = {}
    for line in text.splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if line.startswith("| ") and len(cells) == 5 and not set(line) <= set("|- "):
            found[cells[1].strip()] = tuple(frozenset(re.findall(r"`[^`]+`", cell)) for cell in cells[2:4])
    return found


def table_in(page):
    return page[page.index("<!-- compiles:start -->") : page.index("<!-- compiles:end -->")]


def test_the_table_is_current():
    """Another Python or NumPy has other functions: those that both have must compile alike."""
    there, here = rows_of(table_in(PAGE)), rows_of(compiles.table())
    advice = "run: upshift tables docs/compiler.md"
    assert there.keys() == here.keys(), advice
    assert len(here) > 25 and sum(len(yes) for yes, _ in here.values()) > 500
    for what, (yes, no) in here.items():
        known = there[what][0] | there[what][1]
        assert yes & known == there[what][0] & (yes | no), f"{what}: {advice}"
        assert no & known == there[what][1] & (yes | no), f"{what}: {advice}"
    versions = (platform.python_version().rpartition(".")[0], np.__version__.rpartition(".")[0])
    assert versions != MADE_WITH or pages.filled(PAGE) == PAGE, advice


def test_a_stale_table_is_seen_and_mended(tmp_path, capsys):
    stale = tmp_path / "page.md"
    stale.write_text(PAGE.replace("`lgamma` ", "", 1))
    assert rows_of(table_in(stale.read_text())) != rows_of(compiles.table())
    assert main(["tables", str(stale)]) == 0
    assert rows_of(table_in(stale.read_text())) == rows_of(compiles.table())
    assert "1 pages" in capsys.readouterr().out


def test_what_the_table_says_is_so():
    """Some of what is said to compile, and all of the language, by compiling it."""
    for bodies in compiles.SYNTAX.values():
        reasons = [compiles.refusal_of(body) for body in bodies.values()]
        assert reasons.count(None) > 10 and reasons.count(None) < len(reasons)
    assert compiles.has_row(math.lgamma) and compiles.has_row(sorted) and not compiles.has_row(print)
    assert compiles.has_method(list, "sort") and not compiles.has_method(str, "encode")
    compiled.check(lambda x: (math.lgamma(x), sorted([x, 2.0])), [0.5, 3.0])


# ---- the stations of one function


def test_the_blocks_are_those_of_the_example(shop):
    node = ast.parse(SHOP).body[1]
    made = lowering.lower(node, "ratio", "shop.py")
    lines = []
    for block in made.blocks:
        targets = ", ".join(map(repr, block.targets))
        lines.append(f"{block!r}{' -> ' if targets else ''}{targets}")
        lines += [f"  {repr(op).strip()}" for op in block.ops]
    assert [line.rstrip() for line in lines] == blocks_of_code("")[0].splitlines()


def test_the_ir_is_that_of_the_example(shop):
    checked = kernel.check(shop.ratio, [FLOAT])
    (quoted,) = blocks_of_code("llvm")
    assert quoted in kernel.write(checked).text


def test_lanes_are_left_as_the_example_says(shop):
    made = kernel.Kernel(kernel.check(shop.ratio, [FLOAT]))
    status = made.run(None, [np.array([4.0, -1.0, 2.0, 9.0])], 4).status.tolist()
    assert f"gives the statuses `{status}`" in WORDS
    assert divmod(status[2], 256) == (2, 2)
    told = [f"{i}  {_short(reason)}" for i, reason in enumerate(made.reasons, start=1)]
    assert "\n".join(told) in PAGE


def _short(reason):
    return re.sub(r"\([^()]*[\\/]", "(", str(reason))


def test_explain_counts_what_is_left(shop):
    told = [_short(line) for line in str(up.explain(shop.growth, list(range(1, 41)))).splitlines()]
    assert any(f"{line}\n" in PAGE for line in told if "beyond 64 bits (" in line), told


# ---- refusals and limits


def reason_for(body):
    text = "def f(x):\n" + "".join(f" {line}\n" for line in body.split("; "))
    space = {"seen": [1.0]}
    exec(compile(text, "<page>", "exec"), space)
    try:
        assert adopt_source(space["f"].__code__, ast.parse(text).body[0])
        kernel.check(space["f"], [FLOAT])
    except Refused as refused:
        return refused.reason
    return None


def test_refusals_are_what_the_page_says():
    part = PAGE[PAGE.index("## What is refused") : PAGE.index("## How a lane is left")]
    rows = re.findall(r"^\| `(.+?)` \| (.+) \|$", part, re.MULTILINE)
    assert len(rows) >= 12
    for body, reason in rows:
        if body.startswith("import csv"):
            body = body.replace("csv", "imaplib")  # which nothing here has loaded
            reason = reason.replace("csv", "imaplib")
        assert reason_for(body) == reason, body
    assert reason_for("return x if x > 0 else x.hex()") is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (check.MOST_ALIKE, "more than {} versions that differ"),
        (check.MOST_VERSIONS_OF_BLOCK, "more than {} versions of a block"),
        (check.MOST_VERSIONS, "or {} in all"),
        (check.MOST_FRAMES, "deeper than {} functions"),
        (check.MOST_SWEEPS, "in {} rounds"),
        (f"{MOST_IN_TABLE:,}", "more than {} items"),
        (write.MOST_DEPTH, "deeper than {} calls"),
        (f"{write.POLL_EVERY:,}", "every {} turns"),
        (kernel.ARENA >> 30, "more than {} GB in one lane"),
        (kernel.KEPT >> 20, "{} MB of the arena"),
        (SAMPLE, "on {} lanes"),
    ],
)
def test_figures_are_those_of_the_code(value, words):
    assert words.format(value) in WORDS


def test_files_that_are_named_are_there():
    files = [f"/{path.relative_to(ROOT).as_posix()}" for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
    for name in set(re.findall(r"`((?:\w+/)*\w+\.py)`", PAGE)) - {"shop.py"}:
        assert any(file.endswith(f"/{name}") for file in files), name


# ---- the worked example


@pytest.fixture
def tidy():
    """The tables as they were, whatever is added to them."""
    before = [(table, dict(table)) for table in (IMPLEMENTS, SPECIAL_METHODS)]
    yield
    for table, known in before:
        table.clear()
        table.update(known)


def step(file):
    """The code that the page puts into a file."""
    (found,) = [code for code in blocks_of_code("python") if code.startswith(f"# {file}\n")]
    return found


def follow(file, module, tmp_path):
    """Put the page's code into a copy of a module, as if it stood there."""
    text = step(file)
    place = tmp_path / Path(file).name
    place.write_text(text)
    space = dict(vars(module))
    exec(compile(text, str(place), "exec"), space)
    return space


def test_the_steps_to_add_a_row(tmp_path, tidy):
    later = "it has a row by now: choose another example"
    assert not compiles.has_row(itertools.filterfalse), later
    assert not compiles.has_method(float, "conjugate"), later
    place = tmp_path / "test_more.py"
    place.write_text(step("tests/test_compiler.py"))
    space = {"itertools": itertools, "math": math, "check": compiled.check}
    exec(compile(place.read_text(), str(place), "exec"), space)
    with pytest.raises(Refused) as first:
        space["test_more_rows"]()
    with pytest.raises(Refused) as second:
        compiled.check(space["conjugated"], [1.5])
    assert f"It fails: `{first.value.reason}`, `{second.value.reason}`." in WORDS

    made = follow("src/upshift/compiler/prelude/iterables.py", iterables, tmp_path)
    for f in (None, lambda k: k % 2 == 0):
        assert list(made["filterfalse_"](f, range(9))) == list(itertools.filterfalse(f, range(9)))
    follow("src/upshift/compiler/library.py", library, tmp_path)
    space["test_more_rows"]()
    assert compiles.has_row(itertools.filterfalse) and compiles.has_method(float, "conjugate")


def test_the_row_that_is_shown_is_the_one_in_the_source():
    file = "src/upshift/compiler/rows/maths.py"
    assert step(file).partition("\n")[2] in (ROOT / file).read_text(encoding="utf-8")
