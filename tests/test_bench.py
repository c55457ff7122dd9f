"""The benchmark cases and made-up measurements: a failure where a contender is wrong or a figure misjudges."""

from __future__ import annotations

import inspect
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import upshift as up
from benchmarks import cases, contenders, life, tables
from benchmarks.contenders import BY_HAND, JAX, LOOP, NUMBA, UPSHIFT, XLA
from benchmarks.figures import check_lives, check_peers, figures
from benchmarks.life import Life
from benchmarks.measure import Row, compare
from benchmarks.readme import END, START, rewrite
from upshift.report import bench


@pytest.fixture(autouse=True, scope="module")
def jax_as_it_was():
    """The contender asks JAX for 64 bits, for the whole process."""
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", False)


FRAMEWORKS = ("numba", "numba_columns", "jax")


def contenders_of(case):
    """Those whose frameworks load in no time worth speaking of."""
    wanted = [peer for peer in case.peers if peer in FRAMEWORKS]
    names = {LOOP, UPSHIFT, "np.vectorize", BY_HAND, *(name for peer in wanted for name in contenders.COMPILED[peer])}
    return [one for one in contenders.list_contenders(case) if one.name in names]


@pytest.mark.parametrize("name", cases.NAMES)
def test_every_contender_gives_the_loops_results(name):
    case = cases.load(name)
    columns = case.data(12, np.random.default_rng(3))
    assert {len(column) for column in columns} == {12}
    found = {}
    for one in contenders_of(case):
        case.reset()
        found[one.name] = one.make()(*columns)
    for contender, result in found.items():
        assert compare(result, found[LOOP], contender == UPSHIFT) == "", contender


def test_every_case_is_listed_and_described():
    files = {path.stem for path in Path(cases.__file__).parent.glob("*.py")} - {"__init__", "data"}
    assert files == set(cases.NAMES) and set(cases.QUICK) <= files
    for name in cases.NAMES:
        case = cases.load(name)
        assert case.about.endswith(".") and case.sizes and set(case.peers) <= {"numpy", *FRAMEWORKS, "tensorflow"}


def test_a_fresh_copy_is_nobody_elses():
    f = cases.load("square").f
    one, other = contenders.make_fresh(f), contenders.make_fresh(f)
    assert one.__code__ != other.__code__ and one(3.0) == other(3.0) == f(3.0)
    for copy in (one, other):  # compilers read its source
        assert inspect.getsource(copy) == inspect.getsource(f)
        assert up.map(copy, [2.0, 3.0], gear="llvm").tolist() == [f(2.0), f(3.0)]


# -- figures, from times that are made up


def row(case, size, contender, steady, status="ok"):
    return Row(case, "array", size, contender, status, steady, steady, steady, steady)


def table(speeds, size=1_000):
    """For each case, Upshift takes a second and the peers what is given."""
    rows = []
    for case, peers in speeds.items():
        rows.append(row(case, size, UPSHIFT, 1.0))
        rows += [row(case, size, name, seconds) for name, seconds in peers.items()]
    return rows


def test_the_best_peer_counts():
    kept = table({"square": {NUMBA: 2.0, JAX: 1.6, "np.vectorize": 0.1}, "gcd": {BY_HAND: 0.92, XLA: 5.0}})
    near, median, chain, _ = check_peers(kept)
    assert near.passed is True and near.measured.startswith("2 of 2; furthest gcd at 1,000: 1 s against 920 ms")
    assert median.passed is False and median.measured == "1.26 × over 2 cases"
    assert chain.passed is None and chain.measured == "not measured"
    assert check_peers(table({"sine_mix": {NUMBA: 2.5}}))[2].passed is True
    assert check_peers(table({"square": {NUMBA: 0.9}}))[0].passed is False


def test_nine_rows_of_ten_are_enough():
    names = cases.NAMES[:10]
    for slow, passed in ((1, True), (2, False)):
        speeds = {name: {NUMBA: 0.5 if i < slow else 1.0} for i, name in enumerate(names)}
        assert check_peers(table(speeds))[0].passed is passed


def test_small_sizes_and_wrong_results_do_not_count():
    rows = table({"square": {NUMBA: 0.1}}, size=100)
    rows += [row("gcd", 1_000, UPSHIFT, 1.0), row("gcd", 1_000, NUMBA, 0.1, "wrong"), row("gcd", 1_000, JAX, 3.0)]
    assert check_peers(rows)[0].measured.startswith("1 of 1")


def test_what_was_too_slow_to_wait_for_counts():
    rows = [row("collatz", 100_000, UPSHIFT, None, "slow"), row("collatz", 100_000, NUMBA, 0.1)]
    near = check_peers(rows)[0]
    assert near.passed is False and "collatz at 100,000: too long against 100 ms" in near.measured


def test_the_loop_may_be_estimated():
    rows = [row("collatz", 100_000, UPSHIFT, 0.1), row("collatz", 100_000, LOOP, 6.0, "estimated")]
    assert check_peers(rows)[3].passed is True
    assert check_peers([*rows, row("gcd", 100_000, UPSHIFT, 1.0), row("gcd", 100_000, LOOP, 9.0)])[3].passed is False


def test_each_case_counts_once():
    rows = [row("square", size, UPSHIFT, 1.0) for size in (1_000, 10_000, 100_000)]
    rows += [row("square", size, NUMBA, 9.0) for size in (1_000, 10_000, 100_000)]
    rows += table({"gcd": {NUMBA: 1.0}})
    assert check_peers(rows)[1].measured == "5 × over 2 cases"


def test_whole_lives():
    lives = [Life("gcd", 10, 1, "loop", 1.0), Life("gcd", 10, 1, "numpy", 5.0), Life("gcd", 10, 1, UPSHIFT, 1.5)]
    worst, median = check_lives(lives)
    assert worst.passed is True and median.passed is False and median.measured == "1.5 × over 1 lives"
    lives += [Life("gcd", 10, 10, "loop", 9.0), Life("gcd", 10, 10, "numpy", 6.0), Life("gcd", 10, 10, UPSHIFT, 13.0)]
    worst, _ = check_lives(lives)
    assert worst.passed is False and "gcd at 10, 10 calls (numpy): 13 s against 6 s" in worst.measured
    lives.append(Life("gcd", 10, 100, "loop", 30.0))
    assert "too long against 30 s" in check_lives(lives)[0].measured


def test_all_figures_have_a_verdict():
    rows = table({"square": {NUMBA: 2.0, LOOP: 50.0}, "softmax": {BY_HAND: 1.0, JAX: 1.0}})
    lives = [Life("gcd", 10, 1, "loop", 1.0), Life("gcd", 10, 1, UPSHIFT, 1.0)]
    promises = [figure.promise for figure in figures(rows, lives)]
    assert len(set(promises)) == len(promises)
    assert sum("whole life" in promise for promise in promises) == 2
    assert [figure.promise for figure in figures([], lives)] == promises[-2:]


# -- lives


def test_a_life_is_counted_from_its_first_call():
    case = cases.load("square")
    columns = case.data(20, np.random.default_rng(0))
    totals = life.live(case, "loop", columns, limit=60.0)
    assert tuple(totals) == life.CALLS and sorted(totals.values()) == [*totals.values()]
    assert tuple(life.live(case, UPSHIFT, columns, limit=0.0)) == (1,)


def test_gears_that_refuse_have_no_life():
    case = cases.load("square")
    prints = cases.Case("printing", "", (10,), 1, case.data, lambda x: print(end="") or x, {})
    found = life.measure_lives(prints, (10,), limit=0.01, rounds=1)
    assert {one.gear for one in found} == {"loop", UPSHIFT}
    assert {one.calls for one in found} <= set(life.CALLS) and all(one.size == 10 for one in found)


def test_a_size_that_takes_too_long_is_left_out():
    assert life.measure_lives(cases.load("collatz"), (1_000_000,), limit=0.01, rounds=1) == []


def test_nothing_is_read_from_or_left_in_the_users_cache(monkeypatch):
    monkeypatch.setenv("UPSHIFT_CACHE_DIR", "mine")
    with life.empty_cache():
        folder = Path(os.environ["UPSHIFT_CACHE_DIR"])
        assert folder.is_dir() and not any(folder.iterdir())
        up.map(lambda x: x + 1, np.arange(3.0))
    assert os.environ["UPSHIFT_CACHE_DIR"] == "mine" and not folder.exists()
    monkeypatch.delenv("UPSHIFT_CACHE_DIR")
    with life.empty_cache():
        pass
    assert "UPSHIFT_CACHE_DIR" not in os.environ


# -- tables and the command


def test_tables():
    assert tables.show_time(float("inf")) == "too long" and tables.show_time(0.0015) == "1.5 ms"
    lives = [Life("gcd", 10, 1, "loop", 1.0), Life("gcd", 10, 1, UPSHIFT, 2.0), Life("gcd", 1_000, 10, UPSHIFT, 3.0)]
    assert tables.table_of_lives(lives).splitlines() == [
        "gcd, whole life  calls  loop  up.map",
        "10                   1   1 s     2 s",
        "1k                  10     -     3 s",
    ]


def test_the_readme_keeps_what_is_around_the_block(tmp_path):
    page = tmp_path / "README.md"
    page.write_text(f"before\n{START}\nold\n{END}\nafter\n", encoding="utf-8")
    rewrite(page, table({"square": {LOOP: 2.0, NUMBA: 4.0}}), [])
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{START}\n") and text.endswith(f"{END}\nafter\n") and "old" not in text
    assert "| [square](../benchmarks/cases/square.py) | 1k | 2 s | **2** | 0.5 |" in text


def test_the_command(tmp_path, capsys):
    file = tmp_path / "rows.json"
    assert bench.main(["--quick", "--ours", "--cases", "square", "--sizes", "10", "--json", str(file)]) == 0
    content = json.loads(file.read_text(encoding="utf-8"))
    assert {(r["case"], r["size"], r["contender"]) for r in content["rows"]} == {
        ("square", 10, LOOP),
        ("square", 10, UPSHIFT),
    }
    assert content["lives"] == [] and all(r["status"] == "ok" for r in content["rows"])
    shown = capsys.readouterr().out
    assert "square (array), steady" in shown and "✅ up.map gives the loop's results" in shown
    assert bench.main(["--life", "--quick", "--cases", "square", "--sizes", "10", "--json", str(file)]) == 0
    content = json.loads(file.read_text(encoding="utf-8"))
    assert content["rows"] == [] and {one["gear"] for one in content["lives"]} >= {"loop", UPSHIFT}
    assert "square, whole life" in capsys.readouterr().out


def test_the_command_without_its_cases(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench, "PLACES", (tmp_path,))
    assert bench.main([]) == 2
    assert f"there is no {tmp_path}" in capsys.readouterr().err
