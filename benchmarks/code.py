"""How fast optimised machine code is beside Numba by hand, for every case: one thread each, in turns.

python -m benchmarks.code [CASE ...]

Of each case the size is taken at which a call of Numba's takes about a millisecond, or the largest; what is told is the
ratio of the processor's shortest times, Numba's by ours: above 1, ours is faster.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import upshift as up

from .cases import NAMES, load
from .contenders import list_contenders, make_fresh

TURNS, SECONDS, ENOUGH = 9, 4.0, 1e-3


def main(names: list[str]) -> None:
    print("| case | elements | Numba by hand | `llvm` | times Numba's speed |\n| --- | ---: | ---: | ---: | ---: |")
    for name in names or NAMES:
        case = load(name)
        peer = next((one for one in list_contenders(case) if one.name.startswith("numba")), None)
        if peer is not None:
            told = beside(case, peer.make())
            print(f"| {name} | {told} |", flush=True)


def beside(case: Any, numba: Callable[..., Any]) -> str:
    f = make_fresh(case.f)

    def ours(*columns: Any) -> Any:
        return up.map(f, *columns, gear="llvm")

    for n in case.sizes:
        columns = case.data(n, np.random.default_rng(0))
        with up.config(num_threads=1):
            try:
                ours(*columns)
            except up.GearRefused as refused:
                return f"{n:,} | | | {str(refused).partition('function: ')[2][:60]}"
            numba(*columns)
            theirs = timed(numba, columns)
            if theirs > ENOUGH or n == case.sizes[-1]:
                times = [(timed(numba, columns), timed(ours, columns)) for _ in range(turns(theirs))]
                a, b = (min(taken) for taken in zip(*times))
                return f"{n:,} | {1e3 * a:.3g} ms | {1e3 * b:.3g} ms | {a / b:.2f}"
    raise AssertionError("a case without sizes")


def turns(seconds: float) -> int:
    return max(3, min(40 * TURNS, int(SECONDS / 4 / max(seconds, 1e-6))))


def timed(run: Callable[..., Any], columns: Any) -> float:
    """The processor's seconds: others at work on the machine disturb them least."""
    began = time.process_time()
    run(*columns)
    return time.process_time() - began


if __name__ == "__main__":
    main(sys.argv[1:])
