"""In: a command line. Out: what `ut.map_fn` takes beside every way of TensorFlow, and the promises kept or broken.

python -m benchmarks.tensorflow [--quick] [--cases NAME ...] [--json FILE]

All contenders of a row are timed in turns in one run; a time is the fastest call. First calls include what is made.
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
from skimage.transform import rotate

import upshift.tensorflow as ut
from upshift.tensorflow import memory

from .figures import Figure
from .readme import show_figure
from .tables import show_machine, show_size, show_time

OURS, LOOP, EAGER = "ut.map_fn", "loop of eager calls", "tf.map_fn eager"
NUMBERS, IMAGES = (1, 10, 100, 1_000, 10_000, 100_000), (1, 10, 100, 1_000)
FEW, SMALL = (1, 10, 50), (1, 10, 100, 1_000, 10_000)
"""Of images that take long, and of small ones."""
LIMIT = 0.5
"""Seconds of the longest call that is waited for; longer ones are estimated from fewer elements, or left out."""

Mapper = Callable[[Any], Any]


@dataclass(frozen=True)
class Case:
    """A function of one element, the same written for a batch by hand, and how elements are made."""

    name: str
    fn: Callable[[Any], Any]
    direct: Callable[[Any], Any] | None
    data: Callable[[int], Any]
    sizes: tuple[int, ...] = NUMBERS
    random: bool = False
    autograph: bool = False
    numpy: Callable[[Any], Any] | None = None
    """The same of an array, where it is no function of tensors that a graph could hold."""


def square(x: Any) -> Any:
    return x * x


def sine_mix(x: Any) -> Any:
    return tf.sin(x) + tf.cos(x) * tf.exp(-x)


def polynomial(x: Any) -> Any:
    return x**3 - 2.0 * x**2 + 3.0 * x - 1.0


def hundred_steps(x: Any) -> Any:
    for _ in range(100):
        x = x * 0.99 + 0.01
    return x


def accumulate(x: Any) -> Any:
    total, i = tf.constant(0.0), tf.constant(0)
    while i < 50:
        if x * tf.cast(i, tf.float32) > 1.0:
            total += x
        i += 1
    return total


def root(image: Any) -> Any:
    return tf.sqrt(image)


def root_of_bytes(image: Any) -> Any:
    return tf.cast(tf.sqrt(tf.cast(image, tf.float32)), tf.uint8)


def add_one(x: Any) -> Any:
    return x + 1.0


def flip(pair: Any) -> Any:
    image, label = pair
    if tf.random.uniform(()) > 0.5:
        return tf.reverse(image, [1]), 1 - label
    return image, label


def flip_batch(pair: Any) -> Any:
    images, labels = pair
    draw = tf.random.uniform([tf.shape(labels)[0]]) > 0.5
    flipped = tf.where(draw[:, None, None, None], tf.reverse(images, [2]), images)
    return flipped, tf.where(draw, 1 - labels, labels)


def numpy_sines(x: Any) -> Any:
    return np.sin(x) + np.cos(x) * np.exp(-x)


def on_numpy_sines(x: Any) -> Any:
    return numpy_sines(x.numpy())


def numpy_sines_of_batch(xs: Any) -> Any:
    return tf.numpy_function(numpy_sines, [xs], tf.float32)


def checkered(image: Any) -> Any:
    out = image.copy()
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            out[i, j] = image[i, j] * 2 if (i + j) % 2 else image[i, j] + 1
    return out


def on_checkered(x: Any) -> Any:
    return checkered(x.numpy())


def turned(image: Any) -> Any:
    return rotate(image, 30.0)


def on_turned(x: Any) -> Any:
    return turned(x.numpy())


def numbers(n: int) -> Any:
    return tf.constant(np.random.default_rng(7).uniform(0, 2, n), tf.float32)


def side(n: int) -> int:
    return 256 if n < 1_000 else 128


def pictures(n: int) -> Any:
    return tf.constant(np.random.default_rng(7).random((n, side(n), side(n), 3), np.float32))


def pictures_of_bytes(n: int) -> Any:
    return tf.constant(np.random.default_rng(7).integers(0, 256, (n, side(n), side(n), 3), np.uint8))


def small_pictures(n: int) -> Any:
    return tf.constant(np.random.default_rng(7).random((n, 24, 24), np.float32))


def labelled(n: int) -> Any:
    return pictures_of_bytes(n), tf.range(n) % 2


CASES = (
    Case("squares", square, square, numbers),
    Case("sine mix", sine_mix, sine_mix, numbers),
    Case("polynomial", polynomial, polynomial, numbers),
    Case("100 steps", hundred_steps, hundred_steps, numbers, autograph=True),
    Case("add one", add_one, add_one, numbers),
    Case("conditional accumulation", accumulate, None, numbers, autograph=True),
    Case("sqrt of images", root, root, pictures, IMAGES),
    Case("cast, sqrt, cast", root_of_bytes, root_of_bytes, pictures_of_bytes, IMAGES),
    Case("random flip", flip, flip_batch, labelled, IMAGES, random=True, autograph=True),
    Case("NumPy's sines", on_numpy_sines, numpy_sines_of_batch, numbers, numpy=numpy_sines),
    Case("writes by pixel 24x24", on_checkered, None, small_pictures, SMALL, numpy=checkered),
    Case("rotation by skimage", on_turned, None, pictures, FEW, numpy=turned),
)


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


def by_map_fn(case: Case) -> Callable[[Any], Any]:
    fn = tf.autograph.to_graph(case.fn) if case.autograph else case.fn
    return lambda elems: tf.map_fn(fn, elems)


def by_vectorized_map(case: Case) -> Callable[[Any], Any]:
    fn = tf.autograph.to_graph(case.fn) if case.autograph else case.fn
    return lambda elems: tf.vectorized_map(fn, elems, warn=False)


def by_numpy_function(case: Case) -> Callable[[Any], Any]:
    assert case.numpy is not None
    called = case.numpy

    def one(x: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(called, [x], x.dtype), x.shape)

    return lambda elems: tf.map_fn(one, elems)


def by_ours(case: Case) -> Mapper:
    memory.MEMORY.kinds.clear()
    memory.MEMORY.glances.clear()
    return lambda elems: ut.map_fn(case.fn, elems)


def contenders(case: Case) -> dict[str, Callable[[], Mapper]]:
    """Ways to run a case, by name; what they make is part of the first call."""
    found: dict[str, Callable[[], Mapper]] = {
        OURS: lambda: by_ours(case),
        LOOP: lambda: by_loop(case),
        EAGER: lambda: lambda elems: tf.map_fn(case.fn, elems),
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
    size: int
    contender: str
    status: str = "ok"
    first: float | None = None
    steady: float | None = None


def clock(run: Mapper, elems: Any) -> float:
    began = time.perf_counter()
    for leaf in tf.nest.flatten(run(elems)):
        np.asarray(leaf)  # wait for the result
    return time.perf_counter() - began


def measure(case: Case, sizes: Sequence[int], settle: float) -> list[Row]:
    rows: list[Row] = []
    rates: dict[str, float] = {}
    for size in sizes:
        elems = case.data(size)
        want = by_loop(case)(part(elems, min(size, 20)))
        ready: dict[str, tuple[Row, Mapper]] = {}
        for name, make in contenders(case).items():
            row = Row(case.name, size, name)
            rows.append(row)
            if name != OURS and rates.get(name, 0.0) * size > LIMIT:
                row.status, row.steady = "estimated", rates[name] * size
                continue
            try:
                began = time.perf_counter()
                run = make()
                made = run(elems)
                row.first = time.perf_counter() - began
                row.status = "ok" if case.random or same(want, part(made, min(size, 20))) else "wrong"
            except Exception as error:  # a contender that cannot is out, with its words; ours must not
                if name == OURS:
                    raise
                row.status = f"failed: {type(error).__name__}"
                continue
            ready[name] = row, run
        take_turns(ready, elems, settle)
        rates |= {name: (row.steady or 0.0) / size for name, (row, _) in ready.items() if size >= 10}
    return rows


def take_turns(ready: dict[str, tuple[Row, Mapper]], elems: Any, settle: float) -> None:
    """One sample of each in every round, in changing order; ours is first called until its plan has settled."""
    samples: dict[str, list[float]] = {name: [] for name in ready}
    spent = 0.0
    while spent < settle:
        spent += clock(ready[OURS][1], elems) + 1e-6
    order = list(ready)
    for turn in range(15):
        for name in order:
            if turn < 2 or sum(samples[name]) < settle / 4:
                number = max(1, min(20, int(200e-6 / min(samples[name], default=1.0))))
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
    groups: dict[tuple[str, int], dict[str, Row]] = {}
    for row in rows:
        groups.setdefault((row.case, row.size), {})[row.contender] = row
    steady, firsts, loops, eagers = [], [], [], []
    for (case, size), group in groups.items():
        place, ours = f"{case}, {show_size(size)}", group[OURS]
        theirs = [row for name, row in group.items() if name not in (OURS, LOOP) and row.status in ("ok", "estimated")]
        best = min((row.steady for row in theirs if row.steady), default=math.nan)
        first = min((row.first for row in theirs if row.first), default=math.nan)
        steady.append((best / ours.steady, place))
        firsts.append((first / ours.first, place))
        loops.append((group[LOOP].steady / ours.steady, place))
        if size == 1_000 and group[EAGER].steady:
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
        floor("slower than the best of them nowhere (within 10%)", steady, 1 / 1.1),
        floor("never slower than the loop of eager calls", loops, 1 / 1.1),
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
    lines = [f"{rows[0].case:<26}" + "".join(f"{show_size(size):>22}" for size in sizes)]
    for name in dict.fromkeys(row.contender for row in rows):
        cells = [next(row for row in rows if row.contender == name and row.size == size) for size in sizes]
        lines.append(f"  {name:<24}" + "".join(f"{show(cell):>22}" for cell in cells))
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
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every row to this file")
    options = parser.parse_args(argv)
    print(f"{show_machine()}, TensorFlow {tf.__version__}")
    rows: list[Row] = []
    for case in CASES:
        if options.cases and case.name not in options.cases:
            continue
        sizes = case.sizes[:-1:2] if options.quick else case.sizes
        measured = measure(case, sizes, 0.6 if options.quick else 1.5)
        print(table(measured), flush=True)
        rows += measured
    print(*(show_figure(figure) for figure in figures(rows)), sep="\n")
    if options.json:
        options.json.write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
