"""What the cuda gear takes on an NVIDIA GPU beside kernels by hand, CuPy, JAX and PyTorch.

python -m benchmarks.gpu FOLDER        writes gpu.json and gpu.txt there

All contenders take turns in one run; a time is the median of many calls, each waited for. Results are compared first.
"""

from __future__ import annotations

import json
import math
import os
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
warnings.simplefilter("ignore")

SIDE, STEPS = 2048, 200
COUNT = 1 << 26
ROUNDS, CALLS = 15, 3
OURS = "upshift"

Contenders = dict[str, Callable[[], Any]]


def escape(cr, ci):
    zr = 0.0
    zi = 0.0
    i = 0
    while i < 200 and zr * zr + zi * zi < 4.0:
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        i += 1
    return i


def sine_mix(x):
    return math.sin(x) + math.cos(x) * math.exp(x)


BY_HAND = r"""
extern "C" __global__ void escape(const double* cr, const double* ci, long long* out, long long n) {
    long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (t >= n) return;
    double zr = 0, zi = 0, a = cr[t], b = ci[t];
    long long i = 0;
    while (i < 200 && zr * zr + zi * zi < 4.0) { double q = zr * zr - zi * zi + a; zi = 2 * zr * zi + b; zr = q; i++; }
    out[t] = i;
}
extern "C" __global__ void sine_mix(const double* x, double* out, long long n) {
    long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (t < n) out[t] = sin(x[t]) + cos(x[t]) * exp(x[t]);
}
"""


def take_turns(contenders: Contenders, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Milliseconds of every call. Contenders take turns, in another order every round.

    The first call of a turn is not timed: what another contender leaves behind (JAX's loop keeps this machine's caches
    for its own) is not the next one's.
    """
    names = list(contenders)
    times: dict[str, list[float]] = {name: [] for name in names}
    order = random.Random(0)
    for i in range(rounds + 2):
        order.shuffle(names)
        for name in names:
            contenders[name]()
            for _ in range(CALLS):
                wait_for_gpu()
                began = time.perf_counter()
                contenders[name]()
                took = time.perf_counter() - began
                if i >= 2:
                    times[name].append(1e3 * took)
    return times


def wait_for_gpu() -> None:
    import cupy as cp

    cp.cuda.Device().synchronize()


def escape_contenders() -> tuple[Contenders, dict[str, Any]]:
    import cupy as cp
    import jax

    import upshift as up
    from upshift.gears.cuda.arrays import run_on_device

    cr, ci = (
        np.ascontiguousarray(a.ravel()) for a in np.meshgrid(np.linspace(-2, 0.6, SIDE), np.linspace(-1.3, 1.3, SIDE))
    )
    n = cr.size
    a, b = cp.asarray(cr), cp.asarray(ci)
    ja, jb = jax.device_put(cr), jax.device_put(ci)
    made: dict[str, Any] = {}

    def by_hand(options: tuple[str, ...]) -> Callable[[], Any]:
        kernel = cp.RawKernel(BY_HAND, "escape", options=options)

        def run() -> Any:
            out = cp.empty(n, np.int64)
            kernel((-(-n // 256),), (256,), (a, b, out, np.int64(n)))
            cp.cuda.Device().synchronize()
            return out

        return run

    def one(x: Any, y: Any) -> Any:
        def going(s: Any) -> Any:
            return (s[0] < STEPS) & (s[1] * s[1] + s[2] * s[2] < 4.0)

        def move(s: Any) -> Any:
            return s[0] + 1, s[1] * s[1] - s[2] * s[2] + x, 2 * s[1] * s[2] + y

        return jax.lax.while_loop(going, move, (0, 0.0 * x, 0.0 * y))[0]

    batched = jax.jit(jax.vmap(one))
    contenders: Contenders = {
        OURS: lambda: run_on_device(escape, [a, b]),
        "CUDA by hand": by_hand(()),
        "CUDA by hand, not fused": by_hand(("--fmad=false",)),
        "jax.vmap(while_loop)": lambda: batched(ja, jb).block_until_ready(),
    }
    want = up.map(escape, cr, ci, gear="llvm")  # this machine's processor does not fuse either
    for name, run in contenders.items():
        got = run()
        same = np.asarray(got) if name.startswith("jax") else cp.asnumpy(cp.asarray(got))
        made[name] = float((same == want).mean())
    return contenders, {"elements": n, "share equal to the loop": made}


def mix_contenders() -> tuple[Contenders, dict[str, Any]]:
    import cupy as cp
    import jax
    import jax.numpy as jnp
    import torch

    from upshift.gears.cuda.arrays import run_on_device

    x = np.random.default_rng(5).uniform(-3.0, 3.0, COUNT)
    cx = cp.asarray(x)
    tx, jx = torch.as_tensor(cx, device="cuda"), jax.device_put(x)
    fused = cp.ElementwiseKernel("float64 x", "float64 y", "y = sin(x) + cos(x) * exp(x)", "mix")
    kernel = cp.RawKernel(BY_HAND, "sine_mix")
    compiled = torch.compile(lambda x: torch.sin(x) + torch.cos(x) * torch.exp(x))
    jitted = jax.jit(lambda x: jnp.sin(x) + jnp.cos(x) * jnp.exp(x))
    n = COUNT

    def by_hand() -> Any:
        out = cp.empty(n)
        kernel((-(-n // 256),), (256,), (cx, out, np.int64(n)))
        cp.cuda.Device().synchronize()
        return out

    def by_cupy() -> Any:
        out = fused(cx)
        cp.cuda.Device().synchronize()
        return out

    def by_torch() -> Any:
        out = compiled(tx)
        torch.cuda.synchronize()
        return out

    contenders: Contenders = {
        OURS: lambda: run_on_device(sine_mix, [cx]),
        "CuPy, one fused kernel": by_cupy,
        "jax.jit": lambda: jitted(jx).block_until_ready(),
        "torch.compile": by_torch,
        "CUDA by hand": by_hand,
    }
    want = np.sin(x) + np.cos(x) * np.exp(x)
    off = {}
    for name, run in contenders.items():
        got = run()
        there = np.asarray(got) if name == "jax.jit" else cp.asnumpy(cp.asarray(got))
        off[name] = float(np.max(np.abs(there - want) / np.maximum(np.abs(want), 1e-3)))
    return contenders, {"elements": n, "largest difference": off}


def bus(threads: int) -> dict[str, Any]:
    """From this machine's memory: the raw rate of pinned memory, and the gear's."""
    from upshift.columns.inputs import lanes_of
    from upshift.gears.cuda import driver
    from upshift.gears.cuda.function import prepare

    x = np.random.default_rng(6).uniform(-3.0, 3.0, COUNT)
    lanes = lanes_of([x])[0].lanes
    assert lanes is not None
    prepared = prepare(sine_mix, {}, lanes, ())
    on = driver.gpu()
    with on.current():
        there, back = driver.Memory(on, x.nbytes), driver.Memory(on, x.nbytes)
        here, home = driver.Pinned(on, x.nbytes), driver.Pinned(on, x.nbytes)
        here.bytes[:] = x.view(np.uint8)
        up, down = driver.new_stream(), driver.new_stream()

        def send() -> None:
            driver.send(there.address, here.address, x.nbytes, up)
            driver.wait(up)

        def fetch() -> None:
            driver.fetch(home.address, back.address, x.nbytes, down)
            driver.wait(down)

        def both() -> None:
            driver.send(there.address, here.address, x.nbytes, up)
            driver.fetch(home.address, back.address, x.nbytes, down)
            driver.wait(up)
            driver.wait(down)

        contenders: Contenders = {
            "pinned, there": send,
            "pinned, back": fetch,
            "pinned, both at once": both,
            OURS: lambda: prepared.over(sine_mix, {}, [x], COUNT, threads),
        }
        began = time.perf_counter()
        prepared.over(sine_mix, {}, [x], COUNT, threads)
        first = 1e3 * (time.perf_counter() - began)
        times = take_turns(contenders, 5)
    ms = {name: statistics.median(found) for name, found in times.items()}
    one_after_the_other = ms["pinned, there"] + ms["pinned, back"]
    return {
        "elements": COUNT,
        "threads": threads,
        "milliseconds": {**ms, "upshift, the first call": first},
        "GB/s there": x.nbytes / ms["pinned, there"] / 1e6,
        "GB/s back": x.nbytes / ms["pinned, back"] / 1e6,
        "GB/s of the gear, there and back together": 2 * x.nbytes / ms[OURS] / 1e6,
        "share of the pinned rate (there, then back)": one_after_the_other / ms[OURS],
        "share of the pinned rate (both at once)": ms["pinned, both at once"] / ms[OURS],
    }


def figure(name: str, contenders: Contenders, facts: dict[str, Any]) -> dict[str, Any]:
    times = take_turns(contenders)
    ms = {who: statistics.median(found) for who, found in times.items()}
    best = min(value for who, value in ms.items() if who != OURS)
    return {
        "case": name,
        **facts,
        "milliseconds": ms,
        "spread": {who: [min(found), max(found)] for who, found in times.items()},
        "upshift to the best other": ms[OURS] / best,
        "upshift to each": {who: ms[OURS] / value for who, value in ms.items()},
    }


def machine() -> dict[str, str]:
    import importlib.metadata as metadata

    from upshift.gears.cuda import driver

    names = ("numpy", "llvmlite", "jax", "torch", "cupy-cuda13x")
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "-"
    on = driver.gpu()
    found["GPU"] = f"compute capability {on.capability / 10}"
    return {"python": sys.version.split()[0], **found}


def text_of(report: dict[str, Any]) -> str:
    lines = ["Figures of the cuda gear (medians, all contenders in the same run)", ""]
    lines += [f"  {name}: {value}" for name, value in report["machine"].items()]
    for one in report["figures"]:
        lines += ["", f"{one['case']}: {one['elements']} elements"]
        for who, ms in one["milliseconds"].items():
            ratio = one["upshift to each"][who]
            lines.append(f"  {who:28} {ms:9.3f} ms   upshift takes {ratio:6.3f} times as long")
        for fact in ("share equal to the loop", "largest difference"):
            lines += [f"  {fact}: {who}: {value:.9g}" for who, value in one.get(fact, {}).items()]
    for one in report["bus"]:
        lines += ["", f"From this machine's memory: sine mix of {one['elements']} float64, {one['threads']} threads"]
        lines += [f"  {who:28} {ms:9.3f} ms" for who, ms in one["milliseconds"].items()]
        lines += [f"  {name}: {value:.3f}" for name, value in one.items() if isinstance(value, float)]
    return "\n".join(lines) + "\n"


def main(folder: str) -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    figures = [figure("escape time", *escape_contenders()), figure("sine mix on the GPU", *mix_contenders())]
    threads = len(os.sched_getaffinity(0))
    report = {"machine": machine(), "figures": figures, "bus": [bus(count) for count in sorted({threads, 8})]}
    Path(folder, "gpu.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    Path(folder, "gpu.txt").write_text(text_of(report), encoding="utf-8")
    sys.stdout.write(text_of(report))


if __name__ == "__main__":
    main(sys.argv[1])
