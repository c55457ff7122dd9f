"""Arrays written to after a call, and many calls: a failure where memory is shared, or grows."""

from __future__ import annotations

import gc
import random
import resource
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift.tensorflow as ut  # noqa: E402
from upshift.tensorflow import memory  # noqa: E402
from upshift.tensorflow.bridge import adopt, aligned, as_array, as_tensor  # noqa: E402

XS = tf.constant(np.linspace(-2, 2, 600), tf.float32)


def many(fn: Any, xs: Any = XS) -> Any:
    """The third call: by then another way has taken over where one can."""
    ut.map_fn(fn, xs)
    ut.map_fn(fn, xs)
    return ut.map_fn(fn, xs)


def test_what_is_written_later_does_not_show_up() -> None:
    array = np.arange(6, dtype=np.float32)
    tensor = as_tensor(array)
    array[:] = -1
    assert tensor.numpy().tolist() == [0, 1, 2, 3, 4, 5]
    xs = np.arange(1000, dtype=np.float32)
    made = many(lambda x: x + 0, xs)
    kept = made.numpy().copy()
    xs[:] = -1
    many(lambda x: x + 0, xs)
    np.testing.assert_array_equal(made.numpy(), kept)
    view = as_array(made)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 3
    variable = tf.Variable([1.0, 2.0])
    seen = as_array(variable)
    variable.assign([5.0, 6.0])
    assert seen.tolist() == [1.0, 2.0]


def test_large_results_keep_their_memory_as_long_as_somebody_looks() -> None:
    xs = tf.zeros((500, 1000))
    known = [ut.map_fn(lambda v: v + 1.0, xs) for _ in range(3)]
    made = [ut.map_fn(lambda v: v * 0.0 + float(k), xs) for k in range(12)]
    views = [as_array(tensor) for tensor in made]
    del made
    gc.collect()
    others = [ut.map_fn(lambda v: v - 7.0, xs) for _ in range(12)]
    assert all((view == k).all() for k, view in enumerate(views))
    assert all((one.numpy() == 1).all() for one in known) and all((one.numpy() == -7).all() for one in others)
    rooms = [aligned((1 << 19,), np.float32) for _ in range(3)]
    for k, room in enumerate(rooms):
        room[...] = k
    assert all((room == k).all() for k, room in enumerate(rooms))


@pytest.mark.parametrize("dtype", "float32 float64 int8 int64 uint8 complex64 bool float16".split())
def test_memory_is_taken_over_aligned_or_not_at_all(dtype: str) -> None:
    for n in (1, 3, 1000):
        room = aligned((n, 2), dtype)
        assert room.ctypes.data % 64 == 0
        room[...] = 1
        assert (tf.identity(adopt(room)).numpy() == 1).all()
        odd = np.zeros(2 * n * room.itemsize + 1, np.uint8)[1:].view(dtype)
        assert tf.reshape(as_tensor(odd), [n, 2]).numpy().sum() == 0
        if dtype != "bool":
            with pytest.raises(ValueError, match="aligned"):
                adopt(odd)


def test_ten_thousand_calls_of_changing_lengths_make_no_new_graph(monkeypatch: Any) -> None:
    graphs = []
    make = memory.Known.make
    monkeypatch.setattr(memory.Known, "make", lambda self, *args: graphs.append(args[0]) or make(self, *args))
    xs = tf.constant(np.random.default_rng(0).normal(size=3000), tf.float32)
    lengths = random.Random(0).choices(range(1, 3000), k=10_000)
    used = 0
    for at, n in enumerate(lengths):
        made = ut.map_fn(lambda x: tf.sin(x) * x + 1.0, xs[:n])
        if at == 6000:  # by then whatever pays is made
            used = _used()
    assert len(graphs) == len(set(graphs)), "each way is made once"
    assert _used() - used < 30_000, "kilobytes"
    np.testing.assert_allclose(made.numpy(), np.sin(xs[:n]) * xs[:n] + 1, rtol=1e-5, atol=1e-6)


def _used() -> int:
    gc.collect()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_functions_that_are_forgotten_are_freed() -> None:
    for k in range(memory.MOST_KINDS + 50):
        ut.map_fn(eval(f"lambda x: x + {k}"), XS[:2])
    assert len(memory.MEMORY.kinds) <= memory.MOST_KINDS


# ---- peak memory, each in a process of its own

CHILD = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import resource, sys
import numpy as np, tensorflow as tf, upshift.tensorflow as ut

def kernel(v):
    return tf.reduce_sum(tf.exp(-(v[:, None] - v[None, :]) ** 2))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

mapper, length, n, size = eval(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
told = {} if mapper in (ut.vectorized_map, tf.vectorized_map) else {"fn_output_signature": tf.float32}
mapped = lambda a: mapper(kernel, a, **told)
if length != "eager":
    spec = tf.TensorSpec([None if length == "any" else n, size], tf.float32)
    mapped = tf.function(mapped).get_concrete_function(spec)
xs = tf.random.uniform((n, size))
before = peak()
for _ in range(3):
    made = mapped(xs).numpy()
used = peak() - before
for i in (0, n // 2, n - 1):
    np.testing.assert_allclose(made[i], kernel(xs[i]).numpy(), rtol=1e-4)
print("megabytes", used)
"""


def megabytes(mapper: str, length: str, n: int, size: int) -> int:
    command = [sys.executable, "-c", CHILD, mapper, length, str(n), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


@pytest.mark.parametrize("mapper", ["ut.map_fn", "ut.vectorized_map"])
@pytest.mark.parametrize("length", ["known", "any"])
def test_a_graph_needs_no_more_memory_than_map_fn(mapper: str, length: str) -> None:
    """All at once, these would be 1.5 GB."""
    assert megabytes(mapper, length, 200, 1000) < 1.5 * megabytes("tf.map_fn", length, 200, 1000) + 64


@pytest.mark.parametrize("length", ["known", "any", "eager"])
def test_small_elements_are_mapped_in_parts(length: str) -> None:
    """All at once, these would be 480 MB."""
    assert megabytes("ut.map_fn", length, 3000, 200) < 200
