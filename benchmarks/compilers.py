"""What compilers of Python make of eleven functions as they stand: prices, refusals, who is right.

python -m benchmarks.compilers [--rounds N]

Every compiler that is installed runs in processes of its own, with nothing kept on disk: its import, the first function
from the first call to the results, then the others. Right means the loop's results, stacked by NumPy; refused, that the
compiler says so; wrong, that it does not.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np


def price(x):
    if x < 20.0:
        return x
    return x * 0.95 if x < 100.0 else x * 0.9 - 1.5


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def product(n):  # beyond 64 bits from 21 on
    total = 1
    for i in range(2, n + 1):
        total *= i
    return total


def root(x):
    if x < 0.0:
        raise ValueError(x)
    return math.sqrt(x)


def ratio(x):
    try:
        return 1.0 / (x - 3.0)
    except ZeroDivisionError:
        return None


def bonus(x):  # an int or a float
    return 0 if x < 1.0 else x / 3


def digits(n):
    return sum(int(d) for d in str(n))


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def deviation(xs):
    mean = sum(xs) / len(xs)
    return (sum((x - mean) ** 2 for x in xs) / len(xs)) ** 0.5


def commonest(n):
    seen = {}
    while n > 0:
        seen[n % 10] = seen.get(n % 10, 0) + 1
        n //= 10
    return max(seen.values(), default=0)


def smallest(xs):
    best, *rest = sorted(xs, key=lambda x: abs(x - 2.5))
    return (best, len(rest))


FLOATS = [float(i) for i in range(40)]
INTS = list(range(1, 41))
LISTS = [[float(i), i + 0.5, 2.0 * i] for i in range(40)]
CASES: tuple[tuple[Callable[..., Any], Sequence[Any]], ...] = (
    (price, FLOATS), (collatz, INTS), (product, INTS), (root, FLOATS), (ratio, FLOATS), (bonus, FLOATS),
    (digits, INTS), (fibonacci, INTS[:12]), (deviation, LISTS), (commonest, INTS), (smallest, LISTS),
)  # fmt: skip

Compiled = Callable[[Sequence[Any]], list[Any]]
Compile = Callable[[Any], Compiled]


def by_upshift() -> Compile:
    import upshift as up

    def compile_(f: Any) -> Compiled:
        def run(xs: Sequence[Any]) -> list[Any]:
            made = up.map(f, xs, gear="llvm")
            return list(zip(*(column.tolist() for column in made))) if isinstance(made, tuple) else list(made)

        return run

    return compile_


def by_numba() -> Compile:
    import numba

    def compile_(f: Any) -> Compiled:
        space = dict(f.__globals__)
        compiled = numba.njit(types.FunctionType(f.__code__, space, f.__name__))
        space[f.__name__] = compiled  # which may call itself
        return lambda xs: [compiled(x) for x in xs]

    return compile_


def by_cython() -> Compile:
    folder = Path(tempfile.mkdtemp())
    sys.path.insert(0, str(folder))

    def compile_(f: Any) -> Compiled:
        file = folder / f"made_{f.__name__}.py"
        file.write_text(f"import math\n\n{inspect.getsource(f)}")
        command = [sys.executable, "-m", "Cython.Build.Cythonize", "-3", "-i", "-q", file.name]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        file.unlink()  # so that it is the compiled module that is imported
        importlib.invalidate_caches()
        compiled = getattr(importlib.import_module(file.stem), f.__name__)
        return lambda xs: [compiled(x) for x in xs]

    return compile_


def by_tuplex() -> Compile:
    import tuplex

    settings = {"executorMemory": "64MB", "driverMemory": "64MB", "executorCount": 1, "webui.enable": False}
    context = tuplex.Context(conf=settings)

    def compile_(f: Any) -> Compiled:
        def run(xs: Sequence[Any]) -> list[Any]:
            made = context.parallelize(list(xs)).map(f).collect()
            if not made:
                raise ValueError("no results")
            return list(made)

        return run

    return compile_


CONTENDERS = {"upshift": by_upshift, "numba": by_numba, "cython": by_cython, "tuplex": by_tuplex}
MODULES = {"upshift": "llvmlite", "numba": "numba", "cython": "Cython", "tuplex": "tuplex"}


def _is_right(found: Sequence[Any], wanted: Sequence[Any]) -> bool:
    a, b = (np.array(results).tolist() for results in (found, wanted))
    return len(a) == len(b) and all(type(x) is type(y) and x == y for x, y in zip(a, b))


def measure(contender: str, first: int) -> None:
    """In one process, from one case on: what its import took, then a line for every function."""
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    compile_ = CONTENDERS[contender]()
    _tell("import", time.perf_counter() - began, "")
    for f, xs in CASES[first:]:
        began = time.perf_counter()
        try:
            compiled = compile_(f)
            made: Any = compiled(xs)
        except Exception:
            made = None
        took = time.perf_counter() - began
        right = made is not None and _is_right(made, [f(x) for x in xs])
        _tell(f.__name__, took, "refused" if made is None else "right" if right else "wrong")
        if f is collatz:
            _tell("speed", _fastest(lambda xs: [collatz(x) for x in xs]) / _fastest(compiled), "")


def _fastest(run: Compiled) -> float:
    times = []
    for _ in range(5):
        began = time.perf_counter()
        run(MANY)
        times.append(time.perf_counter() - began)
    return min(times)


MANY = list(range(1, 5001))


def _tell(name: str, seconds: float, outcome: str) -> None:
    """A line in a file: what the process prints is the contender's own."""
    with open(os.environ[TOLD], "a") as file:
        file.write(json.dumps([name, seconds, outcome]) + "\n")


TOLD = "COMPILERS_TOLD"


@dataclass
class Life:
    """What one contender did in one round."""

    imported: float = 0.0
    speed: float = 0.0
    """Of `collatz` over many ints, as a multiple of the loop's."""
    prices: dict[str, float] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)


def live(contender: str) -> Life:
    """All cases in a process; in another one after a case that has ended it."""
    life = Life()
    while len(life.outcomes) < len(CASES):
        for name, seconds, outcome in in_a_process(contender, len(life.outcomes)):
            if name == "speed":
                life.speed = seconds
            elif name != "import":
                life.prices[name], life.outcomes[name] = seconds, outcome
            elif not life.outcomes:
                life.imported = seconds
        if len(life.outcomes) < len(CASES):
            life.outcomes[CASES[len(life.outcomes)][0].__name__] = "ends the process"
    return life


def in_a_process(contender: str, first: int) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        told.touch()
        environment = {**os.environ, "UPSHIFT_CACHE_DIR": folder, "NUMBA_CACHE_DIR": folder, TOLD: str(told)}
        command = [sys.executable, "-m", "benchmarks.compilers", "--one", contender, "--first", str(first)]
        subprocess.run(command, env=environment, capture_output=True, check=False)
        return [json.loads(line) for line in told.read_text().splitlines()]


def show(rounds: int) -> None:
    system = f"{platform.system()} {platform.machine()}"
    print(f"{os.cpu_count()} cores, {system}, Python {platform.python_version()}, NumPy {np.__version__}")
    installed = [name for name in CONTENDERS if find_spec(MODULES[name])]
    lives: dict[str, list[Life]] = {name: [] for name in installed}
    for _ in range(rounds):  # side by side: one after the other, in every round
        for name in installed:
            lives[name].append(live(name))
    print("| | import | first function | a further one, median | longest | right | refused | wrong | speed |")
    print("| --- " + "| ---: " * 8 + "|")
    for name, found in lives.items():
        outcomes = found[-1].outcomes
        prices = {f: median(life.prices[f] for life in found) for f in found[-1].prices if outcomes[f] != "refused"}
        first, *others = prices.values()
        times = (median(life.imported for life in found), first, median(others), max(others))
        shown = " | ".join(f"{1e3 * t:,.0f} ms" for t in times)
        counts = [sum(outcome == word for outcome in outcomes.values()) for word in ("right", "refused", "wrong")]
        speed = median(life.speed for life in found)
        print(f"| {name} | {shown} | {' | '.join(map(str, counts))} | {speed:.3g} |")
    for name, found in lives.items():
        unlike = [f"{f} ({outcome})" for f, outcome in found[-1].outcomes.items() if outcome != "right"]
        print(f"{name}: {', '.join(unlike) or 'all right'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", choices=CONTENDERS)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    if given.one is None:
        show(given.rounds)
    else:
        measure(given.one, given.first)


if __name__ == "__main__":
    main()
