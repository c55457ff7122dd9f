"""Answers five questions about TensorFlow by figures: as it is, and with Upshift.

upshift bench map-fn-vs-loop            # the same for faster-map-fn, function-vs-python, map-fn-on-gpu, numpy-function

Tensors, arrays and lists are made before the clock starts; results are waited for. Contenders take turns.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import upshift as up

from . import life, measure
from .cases import Case
from .contenders import BY_HAND, LOOP, UPSHIFT, Contender, Run, load_tensorflow, make_fresh
from .measure import Effort
from .own import NotUnderstood, add_common, check_outputs, show
from .told import Bench, Panel

OURS = "ut.map_fn"
SIZES, QUICK_SIZES = (10, 100, 1_000, 10_000, 100_000), (10, 1_000)
THOROUGH = Effort(rounds=7, budget=0.08, again=0.0, limit=1.0, settle=0.8, memory=True)
QUICK = Effort(rounds=3, least=1, budget=0.02, again=0.0, limit=1.0, settle=0.2, memory=True)


# ---- the functions, for one element: the same text for numbers and for tensors


def polynomial(x: Any) -> Any:
    return x * x * x - 2.0 * x * x + 3.0 * x - 1.0


def stepwise(x: Any) -> Any:
    for _ in range(20):
        x = x * 0.9 + 0.1
    return x


def clipped_sum(xs: Any) -> Any:
    """A whole function, with a loop and a decision."""
    total = xs[0] * 0.0
    for x in xs:
        if x > 0.5:
            total += x * x
    return total


def added(xs: Any) -> Any:
    return xs + 1.0


def blurred(row: Any) -> Any:
    """NumPy on one element, which is a row."""
    padded = np.concatenate((row[:1], row, row[-1:]))
    return (padded[:-2] + 2.0 * padded[1:-1] + padded[2:]) / 4.0


# ---- contenders


class Once:
    """What is made of a column beforehand: kept for the columns that were seen last."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make, self.kept = make, []

    def __call__(self, column: Any) -> Any:
        for known, made in self.kept:
            if known is column:
                return made
        made = self.make(column)
        self.kept = [*self.kept[-3:], (column, made)]
        return made


def as_arrays(tf: Any, made: Any) -> Any:
    return made.numpy() if tf.is_tensor(made) else np.asarray(made)


def over_tensors(tf: Any, run: Run, tensor: Once) -> Run:
    return lambda xs: as_arrays(tf, run(tensor(xs)))


def in_graph(tf: Any, run: Run, **words: Any) -> Run:
    return tf.function(run, reduce_retracing=True, **words)  # type: ignore[no-any-return]


def plain_loop(f: Run) -> Callable[[], Run]:
    numbers = Once(lambda xs: xs.tolist())

    def make() -> Run:
        fresh = make_fresh(f)
        return lambda xs: np.array([fresh(x) for x in numbers(xs)])

    return make


def maps_of(tf: Any, f: Run, device: str = "") -> dict[str, Callable[[], Run]]:
    """Every way of TensorFlow's to map a function, by name."""
    tensor = Once(lambda xs: tf.constant(xs))

    def way(run: Callable[[Run], Run]) -> Callable[[], Run]:
        def make() -> Run:
            made = over_tensors(tf, run(make_fresh(f)), tensor)
            if not device:
                return made

            def on_device(xs: Any) -> Any:
                with tf.device(device):
                    return made(xs)

            return on_device

        return make

    return {
        "loop of tensors": way(lambda fn: lambda t: tf.stack([fn(x) for x in tf.unstack(t)])),
        "tf.map_fn": way(lambda fn: lambda t: tf.map_fn(fn, t)),
        "tf.map_fn, graph": way(lambda fn: in_graph(tf, lambda t: tf.map_fn(fn, t))),
        "  the same, parallel": way(lambda fn: in_graph(tf, lambda t: tf.map_fn(fn, t, parallel_iterations=64))),
        "tf.map_fn, XLA": way(lambda fn: in_graph(tf, lambda t: tf.map_fn(fn, t), jit_compile=True)),
        "tf.vectorized_map": way(lambda fn: in_graph(tf, lambda t: tf.vectorized_map(fn, t))),
        "  the same, XLA": way(lambda fn: in_graph(tf, lambda t: tf.vectorized_map(fn, t), jit_compile=True)),
        "called on the batch": way(lambda fn: fn),
    }


def ours_of(tf: Any, f: Run) -> list[Contender]:
    import upshift.tensorflow as ut

    tensor = Once(lambda xs: tf.constant(xs))

    def make() -> Run:
        fresh = make_fresh(f)
        return over_tensors(tf, lambda t: ut.map_fn(fresh, t), tensor)

    return [Contender(OURS, make, True, settles=True), Contender(UPSHIFT, lambda: up_map(make_fresh(f)), settles=True)]


def up_map(f: Run) -> Run:
    return lambda xs: up.map(f, xs)


def some(found: dict[str, Callable[[], Run]], *names: str) -> list[Contender]:
    return [Contender(name.strip(), found[name], True) for name in names]


def numbers(n: int, rng: np.random.Generator) -> Any:
    return (rng.uniform(0, 2, n),)


def rows_of(n: int, rng: np.random.Generator) -> Any:
    return (rng.uniform(0, 2, (n, 64)),)


Made = tuple[str, list[Contender], Callable[..., Any], str]


def map_fn_vs_loop(tf: Any) -> list[Made]:
    """Is tf.map_fn faster than a loop?"""
    found = maps_of(tf, polynomial)
    names = ("loop of tensors", "tf.map_fn", "tf.map_fn, graph", "tf.vectorized_map")
    entrants = [Contender(LOOP, plain_loop(polynomial)), *some(found, *names)]
    entrants += [Contender(BY_HAND, lambda: polynomial), *ours_of(tf, polynomial)]
    return [("polynomial, one number", entrants, numbers, "elements")]


def faster_map_fn(tf: Any) -> list[Made]:
    """How is tf.map_fn made faster?"""
    names = ("tf.map_fn, graph", "  the same, parallel", "tf.map_fn, XLA", "tf.vectorized_map", "  the same, XLA")
    return [
        (
            f"{f.__name__}, one number",
            [Contender(LOOP, plain_loop(f)), *some(maps_of(tf, f), *names, "called on the batch"), *ours_of(tf, f)],
            numbers,
            "elements",
        )
        for f in (polynomial, stepwise)
    ]


def function_vs_python(tf: Any) -> list[Made]:
    """When is tf.function faster than plain Python?"""
    tensor = Once(lambda xs: tf.constant(xs))

    def whole(f: Run) -> list[Contender]:
        return [
            Contender(LOOP, lambda: (lambda fresh: lambda xs: np.asarray(fresh(xs)))(make_fresh(f))),
            Contender("tf.function", lambda: over_tensors(tf, in_graph(tf, make_fresh(f)), tensor), True),
            Contender(
                "tf.function, XLA",
                lambda: over_tensors(tf, in_graph(tf, make_fresh(f), jit_compile=True), tensor),
                True,
            ),
            Contender(
                "up.function",
                lambda: (lambda made: lambda xs: np.asarray(made(xs)))(up.function(make_fresh(f))),
                settles=True,
            ),
        ]

    return [
        ("a loop with a decision over an array", whole(clipped_sum), numbers, "numbers in the array"),
        ("one addition to an array", whole(added), numbers, "numbers in the array"),
    ]


def map_fn_on_gpu(tf: Any) -> list[Made]:
    """Why does tf.map_fn not become faster on a GPU?"""
    from upshift.gears.frameworks import why_no_gpu

    entrants = [Contender(LOOP, plain_loop(stepwise))]
    for device in tf.config.list_logical_devices():
        if device.device_type in ("CPU", "GPU"):
            found = maps_of(tf, stepwise, device.name)
            for name in ("tf.map_fn, graph", "tf.vectorized_map", "tf.map_fn, XLA"):
                entrants.append(Contender(f"{device.device_type}: {name}", found[name], True))
    entrants += ours_of(tf, stepwise)
    if not why_no_gpu():

        def on_gpu() -> Run:
            fresh = make_fresh(stepwise)
            return lambda xs: up.map(fresh, xs, gear="cuda")

        entrants.append(Contender("up.map, gear cuda", on_gpu, True))
    return [("20 steps, one number", entrants, numbers, "elements")]


def numpy_function(tf: Any) -> list[Made]:
    """Why is tf.numpy_function slow, and what is faster?"""
    import upshift.tensorflow as ut

    tensor = Once(lambda xs: tf.constant(xs))

    def element(f: Run) -> Run:
        return lambda x: tf.ensure_shape(tf.numpy_function(f, [x], x.dtype), x.shape)

    def mapped() -> Run:
        fn = element(make_fresh(blurred))
        return over_tensors(tf, in_graph(tf, lambda t: tf.map_fn(fn, t)), tensor)

    def loop() -> Run:
        fn = make_fresh(blurred)
        return lambda xs: np.array([fn(x) for x in xs])

    def piped(last: Callable[[Any], Any]) -> Callable[[], Run]:
        def make() -> Run:
            dataset = Once(lambda xs: last(tf.data.Dataset.from_tensor_slices(xs)))
            return lambda xs: np.concatenate(list(dataset(xs).as_numpy_iterator()))

        return make

    def ours() -> Run:
        fn = make_fresh(blurred)
        return over_tensors(tf, lambda t: ut.map_fn(lambda x: fn(x.numpy()), t), tensor)

    by_element = Contender(
        "Dataset.map, numpy_function", piped(lambda ds: ds.map(element(make_fresh(blurred))).batch(64)), True
    )
    by_us = Contender("ut.map_dataset", piped(lambda ds: ut.map_dataset(ds, make_fresh(blurred)).batch(64)), True)
    return [
        (
            "NumPy on rows of 64 numbers",
            [
                Contender(LOOP, loop),
                Contender("map_fn, numpy_function", mapped, True),
                by_element,
                by_us,
                Contender(OURS, ours, True, settles=True),
                Contender(UPSHIFT, lambda: up_map(make_fresh(blurred)), settles=True),
            ],
            rows_of,
            "elements",
        )
    ]


QUESTIONS: dict[str, Callable[[Any], list[Made]]] = {
    made.__name__.replace("_", "-"): made
    for made in (map_fn_vs_loop, faster_map_fn, function_vs_python, map_fn_on_gpu, numpy_function)
}
"""By the name of the command; the first line of each is the question."""


def main(argv: Sequence[str], prog: str) -> int:
    name, *rest = argv
    question = QUESTIONS[name]
    parser = argparse.ArgumentParser(prog=f"{prog} {name}", description=question.__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="numbers of elements")
    add_common(parser)
    options = parser.parse_args(rest)
    try:
        check_outputs(options.output)
    except NotUnderstood as error:
        parser.error(str(error))
    if importlib.util.find_spec("tensorflow") is None:
        print('TensorFlow is not installed: pip install "upshift[tensorflow]"', file=sys.stderr)
        return 2
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with measure.quiet_stderr():  # it speaks of itself
        tf = load_tensorflow()
    sizes = tuple(options.sizes or (QUICK_SIZES if options.quick else SIZES))
    effort = QUICK if options.quick else THOROUGH
    panels = []
    with life.empty_cache():
        life.warm_up()
        for title, entrants, data, what in question(tf):
            case = Case(title, "", sizes, None, data, entrants[0].make, {})
            panels.append(Panel(title, measure.measure_contenders(case, entrants, sizes, effort), what))
    notes = [f"TensorFlow {tf.__version__}; devices: {', '.join(d.name for d in tf.config.list_logical_devices())}."]
    if question is map_fn_on_gpu and not tf.config.list_physical_devices("GPU"):
        notes.append("There is no GPU here that TensorFlow can use: the lines of one are left out.")
    return show(Bench(str(question.__doc__), f"upshift bench {name}", panels, notes), options.output)
