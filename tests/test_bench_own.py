"""`upshift bench` for a function of the user's, and for the five questions: figures, files, wrong words."""

from __future__ import annotations

import json
import sys
import xml.dom.minidom

import numpy as np
import pytest

from benchmarks import own, questions
from benchmarks.contenders import LOOP, UPSHIFT
from benchmarks.measure import Row, compare, peak_memory
from benchmarks.told import END, START, Bench, Panel
from upshift.cli import main

SOURCE = """
import numpy as np

values = np.arange(7.0)

def price(x):
    return x if x < 20 else x * 0.95

def both(a, b):
    return {"sum": a + b, "words": str(int(a))}

def wrong(x):
    return x.nothing

class Other: pass
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "shop.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("shop", None)


def test_a_function_of_the_users(place, capsys):
    words = [
        "bench",
        "shop.py:price",
        "--data",
        "np.linspace(0, 40, n)",
        "--quick",
        "--peers",
        "numpy",
        "--sizes",
        "5",
        "50",
    ]
    assert main([*words, "-o", "p.json", "-o", "p.html", "-o", "p.svg", "-o", "p.md"]) == 0
    told = json.loads((place / "p.json").read_text())
    (panel,) = told["panels"]
    assert [row["name"] for row in panel["rows"]] == [LOOP, UPSHIFT, "np.vectorize"] and panel["sizes"] == [5, 50]
    for row in panel["rows"]:
        assert row["result"] == "the loop's" and row["settled"] > 0 and row["first"] > 0 and len(row["points"]) == 2
    assert "<html" in (place / "p.html").read_text()
    for theme in ("light", "dark"):
        drawn = (place / f"p-{theme}.svg").read_text()
        assert xml.dom.minidom.parseString(drawn).documentElement.getAttribute("data-theme") == theme
    assert "| up.map | " in (place / "p.md").read_text()
    assert "x loop" in capsys.readouterr().out


def test_several_columns_lists_and_results_that_are_no_numbers(place, capsys):
    words = ["bench", "shop:both", "--data", "rng.random(n)", "--data", "[1.0] * n", "--quick", "--sizes", "5"]
    assert main([*words, "-o", "p.json"]) == 0
    rows = {row["name"]: row for row in json.loads((place / "p.json").read_text())["panels"][0]["rows"]}
    assert rows[UPSHIFT]["result"] == "the loop's" and "np.vectorize" in rows


def test_data_that_is_there_already(place):
    np.save("xs.npy", np.arange(3.0))
    rng = np.random.default_rng(0)
    assert [len(column) for column in own.data_of(["xs.npy", "shop.py:values"])(100, rng)] == [3, 7]
    assert own.held_by(own.data_of(["xs.npy"]), (1, 10, 100)) == (1, 3)
    assert own.held_by(own.data_of(["rng.random(n)"]), (1, 10, 100)) == (1, 10, 100)


@pytest.mark.parametrize(
    "words, said",
    [
        (["shop"], "MODULE:NAME"),
        (["nowhere:f"], "no module nowhere"),
        (["nowhere.py:f"], "no file nowhere.py"),
        (["shop.py:nothing"], "has no nothing"),
        (["shop.py:Other"], "not a function"),
        (["shop.py:price"], "what are its elements"),
        (["shop.py:price", "--data", "1 +"], "SyntaxError"),
        (["shop.py:price", "--data", "xs.npy"], "no file xs.npy"),
        (["shop.py:price", "--data", "np.zeros(0)"], "no elements"),
        (["shop.py:wrong", "--data", "np.zeros(n)"], "fails on its first element: AttributeError"),
        (["shop.py:price", "--data", "np.zeros(n)", "-o", "x.pdf"], "none of .html"),
        (["shop.py:price", "--data", "np.zeros(n)", "-o", "nowhere/x.html"], "no folder nowhere"),
        (["map-fn-vs-loop", "-o", "x.pdf"], "none of .html"),
        (["--cases", "nothing"], "invalid choice"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_words_that_are_not_understood(place, words, said, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["bench", *words])
    assert stop.value.code == 2 and said in capsys.readouterr().err


def test_without_tensorflow(monkeypatch, capsys):
    monkeypatch.setattr(questions.importlib.util, "find_spec", lambda name: None)
    assert own.importlib.util is questions.importlib.util
    assert questions.main(["map-fn-vs-loop"], "upshift bench") == 2
    assert 'pip install "upshift[tensorflow]"' in capsys.readouterr().err


@pytest.mark.parametrize("name", questions.QUESTIONS)
def test_every_contender_of_a_question_gives_the_loops_results(name):
    tf = pytest.importorskip("tensorflow")
    for _, entrants, data, _ in questions.QUESTIONS[name](tf):
        columns = data(6, np.random.default_rng(1))
        loop, *others = entrants
        assert loop.name == LOOP and any(one.name.startswith("up.") for one in others)
        want = loop.make()(*columns)
        for one in others:
            if "XLA" not in one.name:  # which takes its time to compile
                assert compare(one.make()(*columns), want, False) == "", one.name


def test_a_question_in_words(tmp_path, capsys):
    pytest.importorskip("tensorflow")
    page = tmp_path / "p.md"
    page.write_text(f"before\n{START}\nold\n{END}\nafter\n")
    assert main(["bench", "map-fn-vs-loop", "--quick", "--sizes", "3", "-o", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "`upshift bench map-fn-vs-loop`" in text and "p-dark.svg#only-dark" in text
    assert "| ut.map_fn | " in text and "TensorFlow" in capsys.readouterr().out


def test_memory_is_that_of_a_call():
    used = peak_memory(lambda: np.ones(4_000_000).sum(), ())
    assert used is None or 20e6 < used < 200e6


def test_what_a_bench_says():
    """Golden: rows that are made up, in text."""
    rows = [
        Row("f", "array", n, name, status, *([time * n] * 4 if time else [None] * 4), note, memory)
        for n in (10, 1000)
        for name, time, status, note, memory in (
            (LOOP, 1e-7, "ok", "", 2_000_000),
            (UPSHIFT, 2.5e-9, "ok", "", None),
            ("jax.jit(vmap)", None, "failed", "TypeError: no", None),
            ("tf.map_fn", None, "slow", "", None),
        )
    ]
    made = Bench("shop:f", "upshift bench shop:f", [Panel("f over elements of float64", rows)], ["a note"])
    _, *lines = str(made).splitlines()
    assert lines == [
        "",
        "f over elements of float64, 1,000 elements",
        "                 settled  x loop  first call  memory          result",
        "  loop            100 us       1      100 us    2 MB      the loop's",
        "  up.map          2.5 us      40      2.5 us       -      the loop's",
        "  jax.jit(vmap)        -       -           -       -   TypeError: no",
        "  tf.map_fn            -       -           -       -  takes too long",
        "  how many times the speed of loop, by number of elements:",
        "                 10  1k",
        "  up.map         40  40",
        "  jax.jit(vmap)   -   -",
        "  tf.map_fn       -   -",
        "  a note",
    ]
