"""TensorFlow's settings, changed between two calls: a failure where a map that is known does not follow."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift as up  # noqa: E402
import upshift.tensorflow as ut  # noqa: E402

XS = tf.constant(np.linspace(-2, 2, 600), tf.float32)


def log(x: Any) -> Any:
    return tf.math.log(x)


def known(fn: Any, xs: Any = XS) -> None:
    for _ in range(5):
        ut.map_fn(fn, xs)


def test_numerics_are_checked_of_a_function_that_is_known() -> None:
    graph = tf.function(lambda a: ut.map_fn(log, a))
    known(log)
    tf.debugging.enable_check_numerics()
    try:
        for mapper in (ut.map_fn, ut.vectorized_map):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Infinity or NaN") as caught:
                mapper(log, XS)
            assert caught.value.upshift_element == 0
        assert ut.map_fn(log, XS[500:]).shape == (100,)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Infinity or NaN"):
            graph(XS)
        assert "check_numerics" in ut.explain(log, XS).refusals["numpy"].reason
    finally:
        tf.debugging.disable_check_numerics()
    assert np.isnan(ut.map_fn(log, XS)[0])


def test_up_function_obeys_as_well() -> None:
    f = up.function(lambda x: tf.math.log(x) * 2.0 + tf.math.log(x * 3.0))
    for _ in range(300):
        f(XS)
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Infinity or NaN"):
            f(XS)
    finally:
        tf.debugging.disable_check_numerics()


def test_functions_that_are_to_run_eagerly_do() -> None:
    seen: list[bool] = []

    @tf.function
    def inner(x: Any) -> Any:
        seen.append(tf.executing_eagerly())
        return x * 2

    fn = inner
    known(fn)
    seen.clear()
    tf.config.run_functions_eagerly(True)
    try:
        assert ut.map_fn(fn, XS[:7]).shape == (7,)
    finally:
        tf.config.run_functions_eagerly(False)
    assert seen == [True] * 7


def test_seeds_between_calls_are_seen() -> None:
    def noisy(x: Any) -> Any:
        return x * 0 + tf.random.uniform(())

    def drawn(mapper: Any) -> list[float]:
        tf.random.set_seed(3)
        made: list[float] = mapper(noisy, XS[:5]).numpy().tolist()
        return made

    tf.compat.v1.set_random_seed(None)
    known(noisy, XS[:100])
    try:
        want = drawn(lambda fn, xs: tf.stack([fn(x) for x in tf.unstack(xs)]))
        assert drawn(ut.map_fn) == want and drawn(ut.map_fn) == want
    finally:
        tf.compat.v1.set_random_seed(None)
    assert len({ut.map_fn(noisy, XS).numpy()[0] for _ in range(5)}) > 1


@pytest.mark.parametrize("draw", [lambda: tf.random.normal(()), lambda: tf.random.uniform((), seed=5)])
def test_after_a_seed_numbers_are_the_loops_however_many(draw: Any) -> None:
    def noisy(x: Any) -> Any:
        return x * 0 + draw()

    def plain(x: Any) -> Any:
        return float(x) * 0 + float(draw())

    def drawn(mapper: Any, fn: Any) -> Any:
        tf.random.set_seed(3)
        return [np.asarray(mapper(fn, XS[:100])) for _ in range(2)]

    known(noisy, XS[:100])
    try:
        want = drawn(lambda fn, xs: [float(fn(x)) for x in xs], noisy)
        for mapper, fn in ((ut.map_fn, noisy), (ut.vectorized_map, noisy), (up.map, noisy), (up.map, plain)):
            for _ in range(2):
                np.testing.assert_array_equal(np.float32(want), np.float32(drawn(mapper, fn)))
    finally:
        tf.compat.v1.set_random_seed(None)


CHILD = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np, tensorflow as tf, upshift.tensorflow as ut
XS = np.linspace(-2, 2, 600, dtype=np.float32)
def call(fn, xs=XS):
    for _ in range(4):
        made = ut.map_fn(fn, tf.constant(xs))
    return made
"""


def child(body: str, quiet: bool = True) -> str:
    code = CHILD if quiet else CHILD.replace('"3"', '"0"')
    done = subprocess.run([sys.executable, "-c", code + body], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_device_scopes_are_obeyed_where_there_are_several_devices() -> None:
    told = child("""
cpu, = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
fn = lambda x: tf.sin(x) * x
want, xs = call(fn), tf.constant(XS)
for _ in range(4):
    with tf.device("/CPU:1"):
        made = ut.map_fn(fn, xs)
        graph = tf.function(lambda a: ut.map_fn(fn, a))(xs)
    assert made.device.endswith("CPU:1") and graph.device.endswith("CPU:1"), made.device
    assert np.allclose(made, want, rtol=1e-5)
assert call(fn).device.endswith("CPU:0")
print("fine")
""")
    assert "fine" in told


def test_placements_are_logged() -> None:
    told = child(
        """
tf.debugging.set_log_device_placement(True)  # TensorFlow takes no notice later
call(lambda x: tf.sin(x) * x, XS[:50])
""",
        quiet=False,
    )
    assert told.count("Executing op Sin in device") == 4 * 50


def test_tensors_that_behave_like_arrays() -> None:
    told = child("""
ints = np.arange(600)
def fn(n):
    return n * 0.5 + 1
try:
    call(fn, ints)
    raise SystemExit("a float was multiplied")
except (TypeError, tf.errors.InvalidArgumentError):
    pass
tf.experimental.numpy.experimental_enable_numpy_behavior()
made = call(fn, ints)
want = tf.stack([fn(n) for n in tf.unstack(tf.constant(ints))])
assert made.dtype == want.dtype and np.allclose(made, want)
print("fine")
""")
    assert "fine" in told


def test_random_numbers_without_a_seed_where_results_must_be_the_same() -> None:
    told = child("""
fn = lambda x: x + tf.random.uniform(())
call(fn)
tf.config.experimental.enable_op_determinism()
try:
    call(fn)
    raise SystemExit("it drew")
except RuntimeError as error:
    assert "seed" in str(error), error
tf.random.set_seed(4)
a = call(fn)
tf.random.set_seed(4)
assert np.array_equal(a, call(fn))
print("fine")
""")
    assert "fine" in told


def test_a_function_that_raises_in_a_graph_leaves_nothing_behind() -> None:
    scope = tf.compat.v1.get_variable_scope()
    before = scope.caching_device

    def raises(x: Any) -> Any:
        raise KeyError("in every graph")

    for mapper in (ut.map_fn, ut.vectorized_map):
        with pytest.raises(Exception, match="in every graph"):
            tf.function(lambda a, mapper=mapper: mapper(raises, a))(XS)
    with tf.Graph().as_default():
        inner = tf.compat.v1.get_variable_scope()
        inner.set_use_resource(False)
        with pytest.raises(Exception, match="in every graph"):
            ut.map_fn(raises, tf.zeros(3))
        assert inner.caching_device is None and inner.use_resource is False
    assert scope.caching_device is before


def test_datasets_in_debug_mode() -> None:
    told = child("""
tf.data.experimental.enable_debug_mode()
ds = tf.data.Dataset.range(40)
print([int(x) for x in ut.map_dataset(ds, lambda n: n * n)] == [n * n for n in range(40)])
print([int(x) for x in ut.map_dataset(ds, lambda n: n * n, batch_size=8).unbatch()] == [n * n for n in range(40)])
""")
    assert told.splitlines()[-2:] == ["True", "True"] or told.count("True") == 2, told
