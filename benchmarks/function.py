"""What whole functions cost: plain, by `up.function` and by its peers, in their first calls and later.

python -m benchmarks.function [--quick] [--json FILE] [--case NAME]

Frameworks are loaded and warm before the clock starts, functions are new. Compilation, retracing, looks and comparisons
are all in the figures. Peers get arrays and numbers as a user has them; where a peer needs a tensor to work at all, it
was made beforehand.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

import upshift as up

from .contenders import make_fresh
from .life import empty_cache, warm_up
from .tables import show_machine

CALLS = (1, 10, 1_000, 100_000)
PATIENCE = 4.0
"""So many times as long as others is `up.function` waited for: it should be there after twice as long."""
PLAIN, OURS = "plain", "up.function"
TF, XLA, NJIT, JAX = "tf.function", "tf.function xla", "njit", "jax.jit"
F = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """A function and the calls that are made of it, over and over."""

    name: str
    f: F
    calls: Sequence[tuple[Any, ...]]
    tensors: bool = False
    """Whether TensorFlow is given tensors, so that its graph has a loop."""
    native: str = ""
    """Whose arrays everybody is given, where it is a framework's own function."""
    without: tuple[str, ...] = ()
    """Who would make a graph with a node for every element, which takes minutes."""


@dataclass
class Found:
    """One contender in one case, in seconds."""

    case: str
    contender: str
    status: str = "ok"
    lives: dict[int, float] = field(default_factory=dict)
    estimated: list[int] = field(default_factory=list)
    steady: float | None = None
    compilations: int | None = None


# ---- cases


def add(a: Any, b: Any) -> Any:
    return a + b


def product(a: Any, b: Any) -> Any:
    return a @ b


def loop(n: int) -> float:
    total = 0.0
    for i in range(n):
        if i % 3 == 0:
            total += i * 0.5
        else:
            total -= 1.0
    return total


def step(x: float, v: float, dt: float) -> tuple[float, float]:
    for _ in range(4):
        a = -x - 0.1 * v
        v = v + a * dt
        x = x + v * dt
    return x, v


def energy(x: Any) -> float:
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            total += x[i] * x[i]
    return total


def affine(x: Any) -> Any:
    return x * 2.0 + 1.0


def cases(quick: bool) -> list[Case]:
    rng = np.random.default_rng(7)

    def pair(*shape: int) -> list[tuple[Any, ...]]:
        return [(rng.normal(size=shape), rng.normal(size=shape))]

    many = 1_000_000 if quick else 10_000_000
    return [
        Case("add two ints", add, [(1, 2), (3, 4)]),
        Case("add arrays of 10", add, pair(10)),
        Case("add arrays of 1k", add, pair(1_000)),
        Case("add arrays of 1M", add, pair(1_000_000)),
        Case("product 1000x1000", product, pair(1_000, 1_000)),
        Case("loop n=10", loop, [(10,)], tensors=True),
        Case("loop n=10k", loop, [(10_000,)], tensors=True),
        Case(f"loop n={many // 1_000_000}M", loop, [(many,)], tensors=True),
        Case("simulation step", step, [(1.0, 0.1 * i, 0.01) for i in range(10)]),
        Case("100 lengths", affine, [(rng.normal(size=n),) for n in range(100, 10_100, 100)]),
        Case("100 lengths, loop", energy, [(rng.normal(size=n),) for n in range(100, 10_100, 100)], without=(TF, XLA)),
        Case("100 ints", loop, [(n,) for n in range(1_000, 1_100)]),
    ]


def tensor_cases() -> list[Case]:
    """Functions of TensorFlow and of JAX, written as their users write them."""
    found = []
    if find_spec("tensorflow"):
        import tensorflow as tf

        def dense(x: Any, k: Any) -> Any:
            for _ in range(4):
                x = tf.tanh(x * k + 0.5) - x * 0.1
            return x

        def halved(x: Any) -> Any:
            while tf.reduce_sum(tf.abs(x)) > 1.0:
                x = x * 0.5
            return x

        few, many = (tf.constant(np.linspace(-1, 1, n), tf.float32) for n in (10, 100_000))
        lengths = [(tf.zeros(n), few[0]) for n in range(100, 10_100, 100)]
        skip = {"native": "tensorflow", "without": (NJIT, JAX)}
        found += [
            Case("tensors of 10", dense, [(few, few)], **skip),
            Case("tensors of 100k", dense, [(many, many)], **skip),
            Case("tensors, 100 lengths", dense, lengths, **skip),
            Case("tensors, 100 floats", dense, [(few, 0.01 * i) for i in range(100)], **skip),
            Case("tensors, while", halved, [(few,)], **skip),
        ]
    if find_spec("jax"):
        import jax.numpy as jnp

        def dense_jax(x: Any, k: Any) -> Any:
            for _ in range(4):
                x = jnp.tanh(x * k + 0.5) - x * 0.1
            return x

        x = jnp.linspace(-1, 1, 1000)
        found.append(Case("JAX arrays of 1k", dense_jax, [(x, x)], native="jax", without=(NJIT, TF, XLA)))
    return found


# ---- contenders


def contenders(quick: bool) -> dict[str, Callable[[F], F]]:
    found: dict[str, Callable[[F], F]] = {PLAIN: lambda f: f, OURS: lambda f: up.function(f)}
    if find_spec("numba"):
        from numba import njit

        found[NJIT] = lambda f: njit(f)
    if find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
        found[JAX] = lambda f: jax.jit(f)
    if find_spec("tensorflow") and not quick:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import tensorflow as tf

        tf.get_logger().setLevel(logging.ERROR)
        found[TF] = lambda f: tf.function(f)
        found[XLA] = lambda f: tf.function(f, jit_compile=True)
    return found


def calls_for(contender: str, case: Case) -> list[tuple[Any, ...]]:
    if contender in (TF, XLA) and case.tensors:
        import tensorflow as tf

        return [tuple(tf.constant(x) for x in args) for args in case.calls]
    return list(case.calls)


def finished(result: Any) -> Any:
    """The result as it is, once it is there: JAX and TensorFlow may give it before."""
    if hasattr(result, "block_until_ready"):
        result.block_until_ready()
    return result


def agrees(want: Any, got: Any) -> bool:
    if isinstance(want, tuple):
        return all(itertools.starmap(agrees, zip(want, got, strict=True)))
    return bool(np.allclose(np.asarray(want), np.asarray(got), rtol=1e-4))


def compilations_of(f: Any) -> int | None:
    """How many versions there are of a function by now."""
    if hasattr(f, "experimental_get_tracing_count"):
        return int(f.experimental_get_tracing_count())
    if hasattr(f, "_cache_size"):
        return int(f._cache_size())
    if hasattr(f, "signatures"):
        return len(f.signatures)
    if hasattr(f, "explain"):
        return sum("compiled in" in kind.why for kind in f.explain().kinds)
    return None


# ---- measuring


def run_calls(f: F, calls: Iterator[tuple[Any, ...]], count: int, wait: bool) -> float:
    """The seconds of so many calls."""
    if wait:
        began = time.perf_counter()
        for args in itertools.islice(calls, count):
            finished(f(*args))
        return time.perf_counter() - began
    began = time.perf_counter()
    for args in itertools.islice(calls, count):
        f(*args)
    return time.perf_counter() - began


def live(found: Found, f: F, calls: list[tuple[Any, ...]], limit: float, wait: bool) -> None:
    """All calls up to 100,000, or until the time is up: the rest is estimated from the last ones."""
    stream, total, done, portion = itertools.cycle(calls), 0.0, 0, 1
    last = 0.0
    for goal in CALLS:
        while done < goal and total < limit:
            portion = max(1, min(goal - done, 2 * portion if last * portion < 0.05 * limit else int(0.1 / last)))
            took = run_calls(f, stream, portion, wait)
            total, done, last = total + took, done + portion, took / portion
        if done < goal:
            found.estimated.append(goal)
        found.lives[goal] = total + last * max(goal - done, 0)


class Entrant:
    """A contender in one case."""

    def __init__(self, case: Case, contender: str, make: Callable[[F], F]) -> None:
        self.case, self.make = case, make
        self.found = Found(case.name, contender)
        self.calls, self.wait = calls_for(contender, case), contender == JAX or case.native == "jax"
        self.f: F = case.f

    def live(self, limit: float) -> None:
        """A new life; the shortest counts."""
        one = Found(self.case.name, self.found.contender)
        self.f = self.make(make_fresh(self.case.f))
        live(one, self.f, self.calls, limit, self.wait)
        for count, seconds in one.lives.items():
            if count not in one.estimated or count not in self.found.lives:
                self.found.lives[count] = min(seconds, self.found.lives.get(count, seconds))
        if not self.found.estimated:
            self.found.estimated = one.estimated

    def live_shortly(self) -> None:
        """The first calls of another life: what is short is measured often."""
        kept = self.f
        self.live(0.02)
        self.f = kept

    def settle(self, limit: float) -> None:
        """Calls until it has come to its steady state, if it comes to one."""
        each = max(self.found.lives[1_000] / 1_000, 1e-7)
        run_calls(self.f, itertools.cycle(self.calls), max(int(limit / each), 1), self.wait)

    def sample(self) -> None:
        """A round of later calls; the shortest counts."""
        stream, least = itertools.cycle(self.calls), len(self.calls)
        if self.found.lives.get(10, 0.0) > 60.0:
            self.found.status = "slow"
            return
        once = run_calls(self.f, stream, least, self.wait) / least
        count = max(int(0.01 / once) // least, 1) * least
        took = run_calls(self.f, stream, count, self.wait) / count
        self.found.steady = min(took, self.found.steady or took)

    def conclude(self) -> None:
        if not agrees(self.case.f(*self.case.calls[0]), finished(self.f(*self.calls[0]))):
            self.found.status = "wrong"
        self.found.compilations = compilations_of(self.f)


def measure(case: Case, made: dict[str, Callable[[F], F]], limit: float, rounds: int) -> list[Found]:
    """All contenders, side by side."""
    entrants = [Entrant(case, name, make) for name, make in made.items()]
    for entrant in entrants:
        if entrant.found.contender in case.without:
            entrant.found.status = "refuses: unrolls" if not case.native else "refuses: not its arrays"
    for round_ in range(rounds):
        for entrant in entrants:
            if round_ == 0 or entrant.found.contender in (PLAIN, OURS):
                patience = PATIENCE if entrant.found.contender == OURS else 1.0
                _allowed(entrant, partial(Entrant.live, limit=limit * patience))
    for _ in range(25):
        for entrant in entrants:
            if entrant.found.contender in (PLAIN, OURS) and entrant.found.lives[1] < 0.02:
                entrant.live_shortly()
    for entrant in entrants:
        if entrant.found.contender == OURS:
            entrant.settle(limit)
    until = time.perf_counter() + 2.5 * limit
    for _ in range(40):
        for entrant in entrants:
            _allowed(entrant, Entrant.sample)
        if time.perf_counter() > until:
            break
    for entrant in entrants:
        _allowed(entrant, Entrant.conclude)
    return [entrant.found for entrant in entrants]


def _allowed(entrant: Entrant, do: Callable[[Entrant], None]) -> None:
    """A peer may refuse to run a function."""
    if entrant.found.status == "ok":
        try:
            do(entrant)
        except Exception as error:
            entrant.found.status = f"refuses: {type(error).__name__}"


def per_call_costs() -> dict[str, float]:
    """What `up.function` costs per call over the plain function while it is plain, and the dispatch of machine code."""

    def trivial(n: int) -> int:
        while n:
            n -= 1
        return n

    case = Case("trivial", trivial, [(0,)])
    made = [
        Entrant(case, name, make) for name, make in ((PLAIN, lambda f: f), (OURS, up.function), (OURS, up.function))
    ]
    for entrant in made:
        entrant.f = entrant.make(make_fresh(trivial))
    compiled: Any = made[2].f
    for _ in range(200_000):
        compiled(100)
        if compiled.explain().gear == "llvm":
            break
    for _ in range(15):
        for entrant in made:
            entrant.sample()
    plain, watched, dispatch = (entrant.found.steady or 0.0 for entrant in made)
    return {"plain": plain, "watched": watched - plain, "dispatch": dispatch - plain}


# ---- telling


def table(results: list[Found], costs: dict[str, float]) -> str:
    names = list(dict.fromkeys(r.contender for r in results))
    by = {(r.case, r.contender): r for r in results}
    shown = list(dict.fromkeys(r.case for r in results))
    lines = ["steady state, microseconds per call (versions compiled)", _head(names)]
    for case in shown:
        lines.append(f"{case:<20}" + "".join(f"{_cell(by[case, n]):>18}" for n in names))
    lines += ["", "life of 1, 10, 1,000 and 100,000 calls: up.function over plain, and over the best of all"]
    for case in shown:
        lines.append(f"{case:<20}" + "".join(_lives(case, count, by, names) for count in CALLS))
    near = [case for case in shown if _over_best(case, by, names) <= 1.1]
    lines += ["", f"within 10% of the best steady state: {len(near)} of {len(shown)}"]
    lines += [f"cost per call: watched {1e9 * costs['watched']:.0f} ns, dispatch {1e9 * costs['dispatch']:.0f} ns"]
    return "\n".join(lines)


def _head(names: list[str]) -> str:
    return " " * 20 + "".join(f"{name:>18}" for name in names)


def _cell(found: Found) -> str:
    if found.steady is None:
        return "refuses" if found.status.startswith("refuses") else found.status
    versions = "" if found.compilations is None else f" ({found.compilations})"
    return f"{1e6 * found.steady:,.3g}{versions}" + ("" if found.status == "ok" else f" {found.status}")


def _lives(case: str, count: int, by: dict[tuple[str, str], Found], names: list[str]) -> str:
    ours, plain = by[case, OURS].lives[count], by[case, PLAIN].lives[count]
    best = min(found.lives[count] for n in names if (found := by[case, n]).status == "ok")
    return f"{ours / plain:>10.2f} {ours / best:>6.2f}"


def _over_best(case: str, by: dict[tuple[str, str], Found], names: list[str]) -> float:
    best = min(found.steady for n in names if (found := by[case, n]).status == "ok" and found.steady is not None)
    ours = by[case, OURS].steady
    return float("inf") if ours is None else ours / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="shorter lives, without TensorFlow")
    parser.add_argument("--json", help="a file for all figures")
    parser.add_argument("--case", help="a part of the names of the cases to run")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    limit, rounds = (1.5, 1) if given.quick else (4.0, 2)
    results = []
    with empty_cache():
        warm_up()
        made = contenders(given.quick)
        for case in [*cases(given.quick), *([] if given.quick else tensor_cases())]:
            if given.case and given.case not in case.name:
                continue
            results += measure(case, made, limit, rounds)
            print(f"{case.name} is done", file=sys.stderr)
        costs = per_call_costs()
    frameworks = [sys.modules[name] for name in ("numba", "jax", "tensorflow") if name in sys.modules]
    print(", ".join([show_machine(), *(f"{one.__name__} {one.__version__}" for one in frameworks)]))
    print(table(results, costs))
    if given.json:
        with contextlib.suppress(FileNotFoundError), open(given.json, "w") as file:
            json.dump({"results": [asdict(r) for r in results], "costs": costs}, file, indent=1)


if __name__ == "__main__":
    main()
