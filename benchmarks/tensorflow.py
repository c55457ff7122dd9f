"""What `ut.map_fn` takes beside every way of TensorFlow, and the promises kept or broken.

python -m benchmarks.tensorflow [--quick] [--processor] [--cases NAME ...] [--modes MODE ...] [--json FILE]

All contenders of a row are timed in turns in one run; a time is the fastest call. Ours are called before until its plan
has made nothing new for a while. First calls include what is made, and are the fastest of three, in turns as well, each
with a function that nobody has seen. Modes: `eager`, and as `up.map`; inside a graph;
with a gradient, by a tape outside and inside a graph; in a pipeline of `tf.data`; a whole function, by `up.function`.
Images are 256x256x3; where there are 1,000 of them, 128x128x3, so that all that is alive at a time stays in memory.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import upshift as up
import upshift.tensorflow as ut
from upshift.tensorflow import memory

from .figures import Figure
from .readme import show_figure
from .tables import show_machine, show_size, show_time
from .tf_cases import CASES, MODES, Case

OURS, LOOP, EAGER = "ut.map_fn", "loop of eager calls", "tf.map_fn eager"
FIRSTS = 3
"""First calls, of which the fastest counts."""
LONGEST_FIRST = 2.0
"""Seconds of a first call above which there is no second one."""
MOST_SETTLES = 8
"""How often the time in which nothing new is made is waited for, at most."""
BATCHES = 20
"""In a dataset."""
LIMIT = 0.5
"""Seconds of the longest call that is waited for; longer ones are estimated from fewer elements, or left out."""

CLOCK: Callable[[], float] = time.perf_counter
"""`time.process_time` on a machine that others use: the seconds of all threads of this process, and of nobody else."""

Mapper = Callable[[Any], Any]


# ---- contenders


def by_loop(case: Case) -> Mapper:
    def run(elems: Any) -> Any:
        columns = [tf.unstack(leaf) for leaf in tf.nest.flatten(elems)]
        rows = [case.fn(row[0] if len(row) == 1 else row) for row in zip(*columns, strict=True)]
        return tf.nest.map_structure(lambda *leaves: tf.stack([*map(tf.convert_to_tensor, leaves)]), *rows)

    return run


def in_graph(mapped: Callable[[Any], Any], xla: bool) -> Mapper:
    made = tf.function(mapped, jit_compile=xla, reduce_retracing=True, autograph=False)
    return lambda elems: made(elems)


def by_map_fn(case: Case) -> Mapper:
    fn = tf.autograph.to_graph(case.fresh()) if case.autograph else case.fresh()
    return lambda elems: tf.map_fn(fn, elems, fn_output_signature=case.signature)


def by_vectorized_map(case: Case) -> Mapper:
    fn = tf.autograph.to_graph(case.fresh()) if case.autograph else case.fresh()
    return lambda elems: tf.vectorized_map(fn, elems, warn=False)


def by_numpy_function(case: Case) -> Mapper:
    assert case.numpy is not None
    called = case.numpy

    def one(x: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(called, [x], x.dtype), x.shape)

    return lambda elems: tf.map_fn(one, elems)


def by_ours(case: Case, mapped: Callable[..., Any] = ut.map_fn) -> Mapper:
    memory.MEMORY.kinds.clear()
    memory.MEMORY.glances.clear()
    fn = case.fresh()
    return lambda elems: mapped(fn, elems)


def with_gradient(mapped: Mapper) -> Mapper:
    """Results, and the gradient of their sum."""

    def run(elems: Any) -> Any:
        given = [leaf for leaf in tf.nest.flatten(elems) if leaf.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(given)
            made = mapped(elems)
            total = tf.add_n([tf.reduce_sum(leaf) for leaf in tf.nest.flatten(made) if leaf.dtype.is_floating])
        return made, tape.gradient(total, given)

    return run


def in_pipeline(mapped: Mapper) -> Mapper:
    """The last of some batches, all of which are the same, of a dataset that is read to its end."""
    made: list[Any] = []

    def run(elems: Any) -> Any:
        if not made:
            made.append(tf.data.Dataset.from_tensors((elems,)).repeat(BATCHES).map(mapped))
        *_, last = made[0]
        return last

    return run


def contenders(case: Case, mode: str) -> dict[str, Callable[[], Mapper]]:
    """Ways to run a case, by name; what they make is part of the first call."""
    if mode == "function":
        fn = case.fresh
        return {OURS: lambda: spread(up.function(fn())), "plain": lambda: spread(fn()),
                "tf.function": lambda: spread(tf.function(fn())),
                "tf.function XLA": lambda: spread(tf.function(fn(), jit_compile=True))}  # fmt: skip
    if mode in ("eager", "up.map"):
        return at_once(case, up.map if mode == "up.map" else ut.map_fn)
    forms: dict[str, Callable[[], Mapper]] = {
        OURS: lambda: by_ours(case),
        "tf.map_fn": lambda: by_map_fn(case),
        "tf.vectorized_map": lambda: by_vectorized_map(case),
    }
    if case.direct is not None:
        forms["direct"] = lambda: case.direct
    if mode == "tape":
        made = {name: lambda form=form: with_gradient(in_graph(form(), False)) for name, form in forms.items()}
        made |= {OURS: lambda: with_gradient(by_ours(case))}
        return made | ({"direct eager": lambda: with_gradient(case.direct)} if case.direct is not None else {})
    if mode == "pipeline":
        return {name: lambda form=form: in_pipeline(form()) for name, form in forms.items()}
    outer = with_gradient if mode == "graph tape" else lambda mapped: mapped
    return {name: lambda form=form: in_graph(outer(form()), False) for name, form in forms.items()}


def spread(f: Callable[..., Any]) -> Mapper:
    return lambda elems: f(*elems)


def at_once(case: Case, mapped: Callable[..., Any]) -> dict[str, Callable[[], Mapper]]:
    """In eager mode."""
    found: dict[str, Callable[[], Mapper]] = {
        OURS: lambda: by_ours(case, mapped),
        LOOP: lambda: by_loop(case),
        EAGER: lambda: lambda elems: tf.map_fn(case.fn, elems, fn_output_signature=case.signature),
    }
    if case.numpy is not None:
        found["tf.map_fn numpy_function"] = lambda: in_graph(by_numpy_function(case), False)
        if case.direct is not None:
            found["direct numpy_function"] = lambda: in_graph(case.direct, False)
        return found
    found |= {
        "tf.map_fn graph": lambda: in_graph(by_map_fn(case), False),
        "tf.map_fn XLA": lambda: in_graph(by_map_fn(case), True),
        "tf.vectorized_map graph": lambda: in_graph(by_vectorized_map(case), False),
    }
    if not case.autograph or case.name == "100 steps":  # a vectorized tf.cond takes XLA minutes to compile
        found["tf.vectorized_map XLA"] = lambda: in_graph(by_vectorized_map(case), True)
    if case.direct is not None:
        found["direct graph"] = lambda: in_graph(case.direct, False)
        found["direct XLA"] = lambda: in_graph(case.direct, True)
    return found


# ---- measuring


@dataclass
class Row:
    """One contender at one size of a case."""

    case: str
    mode: str
    size: int
    contender: str
    status: str = "ok"
    first: float | None = None
    steady: float | None = None


def clock(run: Mapper, elems: Any) -> float:
    began = CLOCK()
    for leaf in tf.nest.flatten(run(elems)):
        np.asarray(leaf)  # wait for the result
    return CLOCK() - began


def measure(case: Case, mode: str, sizes: Sequence[int], settle: float) -> list[Row]:
    rows: list[Row] = []
    rates: dict[str, float] = {}
    for size in sizes:
        elems = case.data(size)
        few = min(size, 20)
        want = case.fn(*elems) if mode == "function" else by_loop(case)(part(elems, few))
        made = {name: (Row(case.name, mode, size, name), make) for name, make in contenders(case, mode).items()}
        for name, (row, _) in made.items():
            if name != OURS and rates.get(name, 0.0) * size > LIMIT:
                row.status, row.steady = "estimated", rates[name] * size
        ready = first_calls({name: pair for name, pair in made.items() if pair[0].status == "ok"}, elems)
        for row, run in ready.values():
            got = run(elems)[0] if "tape" in mode else run(elems)
            if not case.random and not same(want, got if mode == "function" else part(got, few)):
                row.status = "wrong"
        take_turns(ready, elems, settle)
        rates |= {name: (row.steady or 0.0) / size for name, (row, _) in ready.items() if size >= 10}
        rows += [row for row, _ in made.values()]
    return rows


def first_calls(made: dict[str, tuple[Row, Callable[[], Mapper]]], elems: Any) -> dict[str, tuple[Row, Mapper]]:
    """First calls in turns, each with a function that nobody has seen; whoever fails is out, with its words."""
    ready: dict[str, tuple[Row, Mapper]] = {}
    for _ in range(FIRSTS):
        for name, (row, make) in made.items():
            if row.status != "ok" or (row.first or 0.0) > LONGEST_FIRST:
                continue
            began = CLOCK()
            try:
                run = make()
                for leaf in tf.nest.flatten(run(elems)):
                    np.asarray(leaf)
            except Exception as error:
                if name == OURS:
                    raise
                row.status = f"failed: {type(error).__name__}"
                continue
            row.first = min(row.first or math.inf, CLOCK() - began)
            ready[name] = row, run
    return {name: pair for name, pair in ready.items() if pair[0].status == "ok"}


def ways_made() -> int:
    """How often the plan has made something; of whole functions it is not known."""
    return sum(len(known.made_in) for variants in memory.MEMORY.kinds.values() for known in variants)


def take_turns(ready: dict[str, tuple[Row, Mapper]], elems: Any, settle: float) -> None:
    """One sample of each in every round, in changing order; ours is first called until its plan has settled."""
    samples: dict[str, list[float]] = {name: [] for name in ready}
    spent, since, known = 0.0, 0.0, ways_made()
    while since < settle and spent < MOST_SETTLES * settle:
        took = clock(ready[OURS][1], elems) + 1e-6
        spent, since = spent + took, since + took
        if ways_made() != known:
            since, known = 0.0, ways_made()
    order = list(ready)
    for turn in range(15):
        for name in order:
            if turn < 2 or sum(samples[name]) < settle / 4:
                number = max(1, min(20, int(2e-3 / min(samples[name], default=1.0))))
                samples[name].append(min(clock(ready[name][1], elems) for _ in range(number)))
        random.Random(turn).shuffle(order)
    for name, (row, _) in ready.items():
        row.steady = min(samples[name])


def part(nest: Any, n: int) -> Any:
    return tf.nest.map_structure(lambda leaf: leaf[:n], nest)


def same(want: Any, got: Any) -> bool:
    pairs = zip(tf.nest.flatten(want), tf.nest.flatten(got), strict=True)
    return all(a.dtype == b.dtype and np.allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6) for a, b in pairs)


# ---- promises


def figures(rows: list[Row]) -> list[Figure]:
    """Each promise, kept or broken."""
    groups: dict[tuple[str, str, int], dict[str, Row]] = {}
    for row in rows:
        groups.setdefault((row.case, row.mode, row.size), {})[row.contender] = row
    steady, firsts, loops, eagers = [], [], [], []
    for (case, mode, size), group in groups.items():
        place, ours = f"{case}, {mode}, {show_size(size)}", group[OURS]
        theirs = [row for name, row in group.items() if name not in (OURS, LOOP) and row.status in ("ok", "estimated")]
        best = min((row.steady for row in theirs if row.steady), default=math.nan)
        first = min((row.first for row in theirs if row.first), default=math.nan)
        steady.append((best / ours.steady, place))
        firsts.append((first / ours.first, place))
        if LOOP in group and group[LOOP].steady:
            loops.append((group[LOOP].steady / ours.steady, place))
        if size == 1_000 and EAGER in group and group[EAGER].steady:
            eagers.append((group[EAGER].steady / ours.steady, place))
    by_case: dict[str, list[float]] = {}
    for ratio, place in steady:
        by_case.setdefault(place.rpartition(",")[0], []).append(ratio)
    middle = statistics.median(statistics.median(ratios) for ratios in by_case.values())
    return [
        Figure(
            "no result is wrong", all(group[OURS].status == "ok" for group in groups.values()), f"{len(groups)} rows"
        ),
        Figure("1.5 × the speed of the best TensorFlow way on the median case", middle >= 1.5, f"{middle:.2f} ×"),
        floor("slower than the best of them nowhere (within 5%)", steady, 0.95),
        floor("never slower than the loop of eager calls", loops, 0.95),
        floor("1,000 × the speed of tf.map_fn eager at 1,000 elements", eagers, 1_000.0),
        floor("first call at most 1.5 × that of the best TensorFlow way", firsts, 1 / 1.5),
    ]


def floor(promise: str, ratios: list[tuple[float, str]], least: float) -> Figure:
    found = sorted((ratio, place) for ratio, place in ratios if not math.isnan(ratio))
    kept = sum(ratio >= least for ratio, _ in found)
    worst = "; ".join(f"{ratio:.2g} × ({place})" for ratio, place in found[:4])
    return Figure(promise, kept == len(found) if found else None, f"{kept} of {len(found)}; lowest {worst}")


def table(rows: list[Row]) -> str:
    """Contenders down, sizes across: steady, and the first call in brackets."""
    sizes = sorted({row.size for row in rows})
    lines = [f"{f'{rows[0].case}, {rows[0].mode}':<38}" + "".join(f"{show_size(size):>22}" for size in sizes)]
    for name in dict.fromkeys(row.contender for row in rows):
        cells = [next(row for row in rows if row.contender == name and row.size == size) for size in sizes]
        lines.append(f"  {name:<36}" + "".join(f"{show(cell):>22}" for cell in cells))
    return "\n".join(lines)


def show(row: Row) -> str:
    if row.steady is None:
        return row.status.removeprefix("failed: ")[:20]
    first = f" ({show_time(row.first)})" if row.first is not None else ""
    mark = {"ok": "", "estimated": "~"}.get(row.status, "wrong ")
    return f"{mark}{show_time(row.steady)}{first}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tensorflow", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few sizes, less time")
    parser.add_argument("--cases", nargs="+", choices=[case.name for case in CASES], metavar="CASE")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES, metavar="MODE")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every row to this file")
    parser.add_argument("--processor", action="store_true", help="processor time, on a machine that others use")
    options = parser.parse_args(argv)
    if options.processor:
        global CLOCK
        CLOCK = time.process_time
    print(f"{show_machine()}, TensorFlow {tf.__version__}{', processor time' if options.processor else ''}")
    rows: list[Row] = []
    for case in CASES:
        if options.cases and case.name not in options.cases:
            continue
        for mode in [mode for mode in case.modes if mode in options.modes]:
            sizes = (case.sizes[:-1:2] or case.sizes) if options.quick else case.sizes
            measured = measure(case, mode, sizes if mode == "eager" else [case.usual], 1.0 if options.quick else 1.5)
            print(table(measured), flush=True)
            rows += measured
    print(*(show_figure(figure) for figure in figures(rows)), sep="\n")
    if options.json:
        options.json.write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
