"""Measures two ways of a call together with its gradient, and gives the slower one up."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import tensorflow as tf

from .call import Call
from .ways import Way

RUNS, SECONDS = 5, 20e-3
"""Of each way, at most, after a first run that makes what its gradient needs; two runs at least."""


def slower_with_gradient(one: Way, other: Way, call: Call) -> str:
    """The name of a way. Where several devices share the work, no time is taken, and it is the second one."""
    if tf.distribute.has_strategy():
        return other.name
    found: dict[str, float] = {}

    def compare() -> None:
        with tf.device(device):
            for way in (one, other):
                found[way.name] = _fastest(way, call)

    device = tf.identity(call.leaves[0]).device if len(tf.config.list_logical_devices()) > 1 else None
    thread = threading.Thread(target=compare)  # of its own: tapes of this one are to see none of it
    thread.start()
    thread.join()
    return max((one.name, other.name), key=lambda name: found.get(name, math.inf))


def _fastest(way: Way, call: Call) -> float:
    _run(way, call)
    times: list[float] = []
    while len(times) < 2 or (len(times) < RUNS and sum(times) < SECONDS):
        began = time.perf_counter()
        _run(way, call)
        times.append(time.perf_counter() - began)
    return min(times)


def _run(way: Way, call: Call) -> Any:
    given = [leaf for leaf in call.leaves if _differs(leaf)]
    with tf.GradientTape() as tape:
        tape.watch(given)
        made = [leaf for leaf in way.over(call) if _differs(leaf)]
    return tape.gradient(made, given)


def _differs(leaf: Any) -> bool:
    return isinstance(leaf, tf.Tensor) and bool(leaf.dtype.is_floating or leaf.dtype.is_complex)
