"""The examples in docstrings, the README and the guide are run, and every map in them is compared with the loop."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import upshift as up
from upshift.report import rules

ROOT = Path(__file__).parents[1]


DOCSTRINGS = (
    "upshift upshift.api upshift.config upshift.columns.stacking upshift.remedies upshift.report.completion "
    "upshift.report.profile upshift.views.chart upshift.views.markup upshift.views.units"
)


@pytest.mark.parametrize("name", DOCSTRINGS.split())
def test_examples_in_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried and not failed


def blocks(page):
    """The samples of a page, one after the other, with the lines where they stand."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.finditer(r"```python\n(.*?)```", text, re.DOTALL)
    return [("\n" * text[: one.start(1)].count("\n"), one.group(1)) for one in found]


def run(page, space, tmp_path):
    """As a script: machine code needs the source of functions."""
    script = tmp_path / "shop.py"
    script.write_text("".join(f"{code}\n\n" for _, code in blocks(page)), encoding="utf-8")
    exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), space)


def same(made, expected):
    if isinstance(made, tuple):
        for one, other in zip(made, zip(*expected), strict=True):
            same(one, list(other))
    else:
        expected = np.array(expected)
        assert made.dtype == expected.dtype and made.shape == expected.shape
        np.testing.assert_allclose(made, expected, rtol=1e-9, atol=1e-12)


WORDS = {"gear", "exact", "on_error", "memory", "out", "randomness", "seed"}


@pytest.fixture
def maps(monkeypatch):
    """Every map of a sample, compared with the loop, which draws the same random numbers; how often it was."""
    plain, compared = up.map, []

    def checked(f, *columns, **keywords):
        compared.append(f.__name__)
        if keywords.get("randomness") == "independent":  # other numbers than the loop's, the same ones for a seed
            made = plain(f, *columns, **keywords)
            assert np.array_equal(made, plain(f, *columns, **keywords)) and not np.array_equal(made, columns[0])
            return made
        rng = f.__globals__.get("rng")
        before = rng.bit_generator.state if rng is not None else None
        shared = {name: value for name, value in keywords.items() if name not in WORDS}
        expected = [f(*(np.copy(x) if np.ndim(x) else x for x in xs), **shared) for xs in zip(*columns)]
        if rng is not None:
            after, rng.bit_generator.state = rng.bit_generator.state, before
        made = plain(f, *columns, **keywords)
        same(made, expected)
        assert rng is None or rng.bit_generator.state == after
        return made

    monkeypatch.setattr(up, "map", checked)
    return compared


def test_the_readme_is_brief_and_begins_with_an_example():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    above, first = blocks("README.md")[0]
    assert (above + first).count("\n") <= 15


def test_links_lead_somewhere():
    for name in ("README.md", "docs/guide.md", "CONTRIBUTING.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text(encoding="utf-8")):
            assert (ROOT / name).parent.joinpath(link).exists(), f"{name}: {link}"


def test_the_examples_of_the_readme(maps, tmp_path, capsys):
    pd, tf = pytest.importorskip("pandas"), pytest.importorskip("tensorflow")
    rng = np.random.default_rng(0)
    images, table = rng.random((20, 4, 4)), pd.DataFrame({"net": [1.0, 2.5], "rate": [0.2, 0.07]})
    photos, t = images.astype(np.float32), tf.constant([1.0, -2.0])
    ds = tf.data.Dataset.from_tensor_slices(photos)
    space = {"xs": np.linspace(0, 200, 100_000), "images": images, "df": table, "tensors": photos, "ds": ds, "t": t}
    space["__name__"] = "shop"
    run("README.md", space, tmp_path)
    assert maps == ["price", "augment"]
    assert space["totals"].tolist() == [net * (1 + rate) for net, rate in zip(table["net"], table["rate"])]
    np.testing.assert_allclose(space["scaled"], [photo / (1 + photo.max()) for photo in photos], rtol=1e-5)
    for made, photo in zip(space["ds"], photos, strict=True):
        np.testing.assert_allclose(made, space["augment"](photo.copy()), rtol=1e-4, atol=1e-5)
    assert space["y"].numpy().tolist() == [1.0, 4.0]
    for _ in range(3):
        u, v = rng.random(50), np.zeros(50)
        assert np.array_equal(space["step"](u, v.copy(), 0.1), space["step"].plain(u, v.copy(), 0.1))
    told = {_without_figures(line) for line in capsys.readouterr().out.splitlines()}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text[text.index("\nprice over") : text.index("```\nExplanations")].splitlines()
    steady = [line for line in shown if re.search(r" over |refuses|try this|paths|shop\.py", line)]
    assert len(steady) >= 9
    for line in steady:
        assert _without_figures(line) in told, line


def _without_figures(line):
    line = re.sub(r"\S*shop\.py:", "shop.py:", line)  # wherever it is
    return re.sub(r"\s+", " ", re.sub(r"[\d.,]+%?", "#", line)).strip()


def test_the_examples_of_the_guide(maps, tmp_path, capsys):
    source = "def f(x, y=0.0, scale=1.0):\n    return x * scale + y if x > 0.5 else x\n"
    (tmp_path / "given.py").write_text(source)
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 1000))
    space = {"up": up, "rng": rng, "images": rng.random((30, 4, 4)), "boxes": rng.random((30, 4)), "__name__": "shop"}
    space |= {"a": a, "b": b, "xs": a, "out": np.empty(1000)}
    exec(compile(source, str(tmp_path / "given.py"), "exec"), space)
    run("docs/guide.md", space, tmp_path)
    assert maps == ["augment", *"ffffff", "noisy"]
    same(space["g"](a, 2.0), [space["f"](x, 2.0) for x in a])
    same(space["h"](a), [space["f"](x) for x in a])
    assert space["out"].tolist() == [space["f"](x) for x in a] and "def " in capsys.readouterr().out


def test_the_page_of_numpy_functions_is_current():
    """Another NumPy has other functions: those that both have must be run alike."""
    there, here = ((ROOT / "docs" / "numpy.md").read_text(), rules.page())
    known, found = ({line for line in text.splitlines() if line.startswith("| `")} for text in (there, here))
    names = {line.split("`")[1] for line in known} & {line.split("`")[1] for line in found}
    assert len(names) > 400
    for line in known ^ found:
        assert line.split("`")[1] not in names, f"run: upshift rules > docs/numpy.md ({line})"
