"""More cores, more than memory, and other libraries' data, beside what one writes today.

python -m benchmarks.scale                       # everything that is installed, some minutes
python -m benchmarks.scale processes records     # some of it

Ratios are of the smallest of several runs side by side in this process; above 1 is better for Upshift, unless said.
"""

from __future__ import annotations

import collections
import dataclasses
import gc
import importlib.util
import itertools
import math
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import upshift as up

ROUNDS = 5


def best(*runs: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """The least seconds of each, in turns."""
    found = [math.inf] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            gc.collect()
            began = time.perf_counter()
            run()
            found[i] = min(found[i], time.perf_counter() - began)
    return found


def tell(what: str, value: str, wanted: str) -> None:
    print(f"{what:<72} {value:>14}   {wanted}", flush=True)


def has(*names: str) -> bool:
    return all(importlib.util.find_spec(name) is not None for name in names)


# ---- workers


def opaque(x: float) -> str:
    """Some 1 ms that does not compile."""
    until = time.thread_time() + 1e-3
    count = 0
    while time.thread_time() < until:
        count += 1
    return f"{x:.3f}"


def processes() -> None:
    """A function of 1 ms, and images, on processes."""
    xs = list(np.linspace(0, 1, 2000))
    words: dict[str, Any] = {"gear": "processes", "workers": 2, "pure": True}
    up.map(opaque, xs[:50], **words)
    runs: list[Callable[[], object]] = [lambda: up.map(opaque, xs, gear="loop"), lambda: up.map(opaque, xs, **words)]
    if has("joblib"):
        import joblib

        parallel = joblib.Parallel(n_jobs=2)
        parallel(joblib.delayed(opaque)(x) for x in xs[:50])
        runs.append(lambda: parallel(joblib.delayed(opaque)(x) for x in xs))
    found = best(*runs, rounds=3)
    tell("2,000 elements of 1 ms, two processes, over the loop", f"{found[0] / found[1]:.2f}", "1.8 wanted")
    if len(found) > 2:
        tell("  joblib's time over it", f"{found[2] / found[1]:.2f}", "at least 0.83 wanted")
    images = np.random.default_rng(0).random((64, 256, 512))  # 1 MB each
    alone, sent = best(
        lambda: up.map(lambda image: image, images, gear="loop"), lambda: up.map(lambda image: image, images, **words)
    )
    tell("1 MB image to a worker and back, ms", f"{(sent - alone) / len(images) * 1e3:.2f}", "below 1 wanted")


# ---- out of core

LARGE = """
    import sys
    import numpy as np, upshift as up
    rows = int(sys.argv[1])
    np.memmap("x", np.float64, "w+", shape=(rows, 131072)).flush()
    x = np.memmap("x", np.float64, "r", shape=(rows, 131072))
    sums = up.map(lambda row: row.sum(), x)
    assert sums.shape == (rows,)
    told = dict(line.split(":") for line in open("/proc/self/status"))  # ru_maxrss would have the parent's in it
    print(int(told["VmHWM"].split()[0]) >> 10)
"""


def memory() -> None:
    """A sparse file of 20 GB, and what is resident at the most."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "large.py"
        script.write_text(textwrap.dedent(LARGE))
        rows = 20_000
        done = subprocess.run(
            [sys.executable, script, str(rows)], cwd=folder, capture_output=True, text=True, check=True
        )
    tell(f"memmap of {rows * 131072 * 8 / 1e9:.0f} GB, resident MB at the most", done.stdout.strip(), "300 wanted")


def parquet() -> None:
    """A file to a file, beside reading and writing it."""
    if not has("pyarrow"):
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = 8_000_000
    numbers = np.random.default_rng(0).random((2, n))
    with tempfile.TemporaryDirectory() as folder:
        source, result, copy = (os.path.join(folder, f"{name}.parquet") for name in ("source", "result", "copy"))
        pq.write_table(pa.table({"a": numbers[0], "b": numbers[1]}), source)

        def plain() -> None:
            table = pq.read_table(source, columns=["a", "b"])
            pq.write_table(pa.table({"result": table["a"]}), copy)

        def f(r: Any) -> float:
            return r["a"] * r["b"] if r["a"] > 0.5 else -r["a"]

        def mapped() -> None:
            up.map(f, source, columns=["a", "b"], out=result)

        mapped()
        moved, run = best(plain, mapped, rounds=3)
    tell(f"Parquet, {n:,} rows of 2 columns: speed over reading and writing alone", f"{moved / run:.2f}", "0.8 wanted")


# ---- tables


def branches(r: Any) -> float:
    if r["a"] > 0:
        return r["a"] * r["b"]
    if r["b"] > 1:
        return r["a"] - r["b"]
    return r["b"] + 1


def branch(x: float) -> float:
    return math.sqrt(x) * 2 if x > 0.5 else x - 1


def tables() -> None:
    """pandas' rows and Polars' expressions."""
    if has("pandas"):
        import pandas as pd

        n = 1_000_000
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(n, 2)), columns=["a", "b"])
        few = frame.iloc[: n // 50]
        for _ in range(6):
            up.map(branches, frame)
        plain, run = best(lambda: few.apply(branches, axis=1), lambda: up.map(branches, frame))
        tell(
            "DataFrame.apply(axis=1) over up.map, 1M rows (apply timed on 20,000)",
            f"{plain * 50 / run:.0f}",
            "100 wanted",
        )
    if has("polars"):
        import polars as pl

        assert up.polars is not None
        data = pl.DataFrame({"x": np.random.default_rng(0).random(1_000_000)})
        run_ours = lambda: data.select(pl.col("x").upshift.map(branch))  # noqa: E731
        for _ in range(6):
            run_ours()
        theirs = pl.col("x").map_elements(branch, return_dtype=pl.Float64)
        plain, run = best(lambda: data.select(theirs), run_ours)
        tell("Polars map_elements over .upshift.map, 1M rows", f"{plain / run:.0f}", "20 wanted")


# ---- records

Named = collections.namedtuple("Named", "a b")


@dataclasses.dataclass
class Data:
    a: float
    b: float


class Object:
    def __init__(self, a: float, b: float) -> None:
        self.a, self.b = a, b


RECORDS: dict[str, Callable[[float, float], Any]] = {
    "dicts": lambda a, b: {"a": a, "b": b}, "tuples": lambda a, b: (a, b), "lists": lambda a, b: [a, b],
    "named tuples": Named, "dataclasses": Data, "objects": Object,
}  # fmt: skip
READS = {"dicts": ("r['a']", "r['b']"), "tuples": ("r[0]", "r[1]"), "lists": ("r[0]", "r[1]")}


def functions(kind: str, folder: str, opaque: bool) -> Iterator[Callable[[Any], Any]]:
    """New functions that do the same, in files of their own."""
    a, b = READS.get(kind, ("r.a", "r.b"))
    for i in itertools.count():
        path = Path(folder) / f"{kind.replace(' ', '_')}_{opaque}_{i}.py"
        body = f"return str({a}) + '{i}'" if opaque else f"return {a} * {b} + {i} if {a} > 100 else {a} - {b}"
        path.write_text(f"def f(r):\n    {body}\n")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module.f


def records() -> None:
    """30,000 records of every kind: the first call, and later ones."""
    for kind, make in RECORDS.items():
        xs = [make(i / 3, i * 2.0) for i in range(30_000)]
        for is_opaque in (False, True):
            firsts, later = [], []
            with tempfile.TemporaryDirectory() as folder:
                made = functions(kind, folder, is_opaque)
                for _ in range(ROUNDS):
                    f = next(made)
                    loop = best(partial(up.map, f, xs, gear="loop"), rounds=3)[0]
                    f = next(made)
                    time.sleep(0.1)  # code of the function before is made better on another thread
                    firsts.append(best(partial(up.map, f, xs), rounds=1)[0] / loop)
                    for _ in range(60):
                        up.map(f, xs)
                    later.append(loop / best(partial(up.map, f, xs))[0])
            what = f"{kind}, {'a function of texts' if is_opaque else 'arithmetic'}"
            first, settled = sorted(firsts)[ROUNDS // 2], sorted(later)[ROUNDS // 2]
            tell(f"{what}: first call over the loop", f"{first:.2f}", "at most 1.1 wanted")
            tell(f"{what}: the loop over later calls", f"{settled:.2f}", "0.9 wanted" if is_opaque else "5 wanted")


# ---- progress


def progress() -> None:
    """What it costs to be watched."""
    xs = np.random.default_rng(0).random(3_000_000)
    ignore = lambda p: None  # noqa: E731
    gears: tuple[Any, ...] = ("llvm", "numpy", "loop")
    for gear in gears:
        f = lambda x: x * x + 1 if x > 0.5 else -x  # noqa: E731
        up.map(f, xs, gear=gear)
        plain, seen = best(
            lambda f=f, g=gear: up.map(f, xs, gear=g), lambda f=f, g=gear: up.map(f, xs, gear=g, progress=ignore)
        )
        tell(f"{gear}, 3M elements: watched over not", f"{seen / plain:.3f}", "at most 1.01 wanted")


# ---- a cluster


def on_ray() -> None:
    """Two nodes of one core over one of them, 1 GB of columns."""
    if not has("ray", "cloudpickle"):
        return
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 3 << 30}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    x, y = np.random.default_rng(0).random((2, 1 << 26))  # 0.5 GB each

    def f(a: float, b: float) -> float:
        total = 0.0
        for _ in range(60):
            total = total * a + b
        return total

    try:
        up.map(f, x[:100_000], y[:100_000], gear="ray")
        (one,) = best(lambda: up.map(f, x, y, gear="ray"), rounds=2)
        cluster.add_node(**node)
        cluster.wait_for_nodes()
        up.map(f, x[:100_000], y[:100_000], gear="ray")
        (two,) = best(lambda: up.map(f, x, y, gear="ray"), rounds=2)
    finally:
        ray.shutdown()
        cluster.shutdown()
    tell("Ray, 1 GB of columns: one node of one core over two of them", f"{one / two:.2f}", "1.7 wanted")


FIGURES: dict[str, Callable[[], None]] = {
    "processes": processes, "memory": memory, "parquet": parquet, "tables": tables, "records": records,
    "progress": progress, "ray": on_ray,
}  # fmt: skip


def main(names: list[str]) -> None:
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    for name in names or FIGURES:
        FIGURES[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
