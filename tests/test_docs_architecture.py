"""ARCHITECTURE.md: a failure for files that are not there, layers it forgets, and values that are not so."""

from __future__ import annotations

import ast
import importlib.util
import re
import types
from pathlib import Path

import numpy as np
import pytest

import upshift as up
from test_layers import LAYERS
from upshift.compiler import kernel, lowering
from upshift.gears.llvm import columns, gear
from upshift.plan import entries
from upshift.plan.arms import SAMPLE
from upshift.plan.call import Begun
from upshift.plan.functions import FUNCTIONS, kind_of_column

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
MORE = (ROOT / "docs" / "tracing.md", ROOT / "docs" / "tensors.md", ROOT / "docs" / "walks.md")
WORDS = " ".join(PAGE.split())
PACKAGE = ROOT / "src" / "upshift"
NS = [*range(100_000), 3_000_000]


def test_it_is_brief():
    assert len(PAGE.splitlines()) <= 150


def test_files_and_folders_that_are_named_are_there():
    paths = [*PACKAGE.rglob("*"), *(ROOT / "tests").glob("*"), *(ROOT / "docs").glob("*"), *ROOT.glob("*.md")]
    files = [f"/{path.relative_to(ROOT).as_posix()}" for path in paths]
    text = "".join(path.read_text(encoding="utf-8") for path in MORE) + PAGE
    named = re.findall(r"`((?:\w+/)*\w+\.py)`", text) + re.findall(r"\]\((\S+\.md)\)", PAGE)
    folders = re.findall(r"`((?:\w+/)+)`", text)
    assert len(named) > 80 and len(folders) > 15
    for name in {*named, *(folder.rstrip("/") for folder in folders)} - {"cubes.py"}:
        assert any(file.endswith(f"/{name}") for file in files), name


def test_the_functions_that_walks_lead_to_are_there():
    """Every name in a step is defined, or a name, in one of the files that the step names."""
    steps = re.split(r"\n(?=\d\. |\n)", MORE[-1].read_text(encoding="utf-8"))
    seen = 0
    for step in [step.strip() for step in steps if re.match(r"\d\. ", step.strip())]:
        files = re.findall(r"`((?:\w+/)+\w+\.py)`", step)
        text = "".join(
            path.read_text(encoding="utf-8")
            for file in files
            for path in (PACKAGE / file, ROOT / file)
            if path.exists()
        )
        for name in re.findall(r"`([a-z]\w+|_\w+|MATHS|Llvm)`", step) if files else ():
            assert re.search(rf"\b{name}\b", text), (name, files)
            seen += 1
    assert seen > 15


def test_every_part_of_the_package_is_named():
    """The layers, where they have come about; and all folders of gears."""
    table = PAGE[: PAGE.index("## The words")]
    for name in [name for layer in LAYERS for name in layer if not name.startswith("__")]:
        if (PACKAGE / name).is_dir():
            assert f"`{name}/`" in table, name
        elif (PACKAGE / f"{name}.py").exists():
            assert f"`{name}.py`" in table, name
    for folder in (PACKAGE / "gears").iterdir():
        if (folder / "__init__.py").exists():
            assert f"`gears/{folder.name}/`" in PAGE, folder.name


def test_the_picture_is_that_of_the_layers():
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs" / "picture.py")
    picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(picture)
    svg = picture.TO.read_text(encoding="utf-8")
    assert svg == picture.drawn(), "run: python docs/picture.py"
    shown = [name.strip("/").removesuffix(".py") for names, _, _ in picture.layers() for name in names.split()]
    depths = [next(depth for depth, names in enumerate(LAYERS) if name in names) for name in shown]
    assert depths == sorted(depths) and len(shown) > 25


@pytest.mark.parametrize("word", "lane step guard tree rule gear plan".split())
def test_the_words_are_there(word):
    assert f"**{word}**" in PAGE


# ---- the way of one call


@pytest.fixture
def cube(tmp_path):
    text = "def cube(n):\n    return n * n * n\n"
    (tmp_path / "cubes.py").write_text(text)
    module = types.ModuleType("cubes")
    exec(compile(text, str(tmp_path / "cubes.py"), "exec"), vars(module))
    return module.cube


def test_the_way_begins_as_it_says(cube):
    key = entries.key_of(cube, (NS,))
    assert key == (id(cube.__code__), int, 17) and "`(id(cube.__code__), int, 17)`" in PAGE
    assert entries.look_up(cube, ([2] * 100,)).tolist() == [8] * 100  # brief: the loop's, without a ledger
    assert type(entries.look_up(cube, ([2] * 1_000_000,))) is Begun and "no entry, and not brief" in PAGE
    assert kind_of_column(NS) == (list, int) and "`((list, int),)`" in PAGE
    names = " ".join(arm.name for arm in FUNCTIONS.of(cube, [NS], {}, False).ledger.arms if arm.name != "cuda")
    assert f"`{names}`" in PAGE


def test_the_way_through_the_compiler_is_as_it_says(cube):
    node = ast.parse("def cube(n):\n    return n * n * n").body[0]
    (block,) = lowering.lower(node, "cube", "cubes.py").blocks
    assert ", ".join(f"`{repr(op).strip()}`" for op in block.ops) in PAGE
    checked = gear.check(cube, (int,), {})
    assert repr(checked.result) == "int" and not checked.unit.doubts
    text = kernel.write(checked).text
    for quoted in re.findall(r"`(%t1 = [^`]+|br i1 [^`]+)`", PAGE):
        assert quoted.removesuffix("...") in text, quoted


def test_the_way_ends_as_it_says(cube):
    column = columns.read(NS)
    assert str(column.arrays[0][-3:].tolist())[1:] in PAGE and column.arrays[0].dtype == np.int64
    prepared = gear.prepare(gear.check(cube, (column.key,), {}))
    ran = prepared.over(cube, {}, [column], len(NS), 1)
    assert f"`[..., {', '.join(map(str, ran.status[-3:].tolist()))}]`" in PAGE
    ((reason, count),) = prepared.reasons(ran.status)
    assert count == 1 and f"`{re.sub(r'[(].*/', '(', reason)}`" in PAGE
    assert ran.left.tolist() == [100_000] and "position 100,000 is left" in PAGE
    assert f"{SAMPLE} lanes compared" in PAGE
    made = up.map(cube, NS)
    assert made.dtype == object and f"`{made[-1]}`" in PAGE and made[:3].tolist() == [0, 1, 8]
