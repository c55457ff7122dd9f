"""Functions that mix TensorFlow's operations with NumPy and Python: a failure where they are not the loop's.

They have no graph, since they leave TensorFlow in between: every operation is computed on all elements by itself.
"""

from __future__ import annotations

import math
import random
import warnings

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift as up  # noqa: E402
import upshift.tensorflow as ut  # noqa: E402
from tf_law import loop, same  # noqa: E402
from upshift.tensorflow import memory, plain, plan  # noqa: E402
from upshift.tensorflow.bridge import as_array  # noqa: E402
from upshift.tensorflow.call import make_call  # noqa: E402
from upshift.tensorflow.mixed import standing_in  # noqa: E402

RNG = np.random.default_rng(3)
XS = tf.constant(RNG.uniform(-4.0, 9.0, 300), tf.float32)
WIDE = tf.constant(RNG.uniform(-4.0, 9.0, 300))
ROWS = tf.constant(RNG.uniform(-2.0, 4.0, (60, 8)), tf.float32)
IMAGES = tf.constant(RNG.integers(0, 256, (30, 12, 10)), tf.uint8)
OFFSET = tf.constant(2.5)
TABLE = np.linspace(0.0, 1.0, 16, dtype=np.float32)
SCALE = 1.75


def by_sign(x):
    y = tf.abs(x)
    return tf.sqrt(y) * np.float32(2) if x.numpy() > 0 else y


def counted(x):
    total = tf.constant(0.0)
    for i in range(abs(int(x))):
        total = total + tf.sin(x + i)
    return total


def by_python(x):
    return tf.maximum(x, math.floor(float(x)) * 0.5)


def in_numpy(x):
    return tf.exp(-x * 0.1) + np.clip(x.numpy(), 0.0, 3.0)


def back_again(row):
    values = row.numpy()
    return tf.convert_to_tensor(np.where(values > 1, values, 0.0).astype(np.float32)) + row


def constants(row):
    return tf.constant(np.sort(row.numpy())) * tf.constant([1.0, 2.0] * 4) + tf.cast(tf.range(8), tf.float32)


def median(image):
    pixels = tf.cast(image, tf.float32)
    return tf.abs(pixels - np.median(image.numpy()).astype(np.float32))


def looked_up(x):
    place = int(np.clip(x.numpy(), 0, 9))
    return tf.constant(TABLE)[place] + x


def captured(x):
    return (x + OFFSET) * SCALE if x.numpy() > 1 else tf.zeros_like(x) - OFFSET


def several(x):
    if x.numpy() > 0:
        return tf.math.log(x), tf.cast(x, tf.int32)
    return tf.math.log(1 - x), tf.constant(0)


def nested(pair):
    a, b = pair
    return {"sum": tf.add(a, b), "more": tf.stack([a, b]) if a.numpy() > float(b) else tf.stack([b, a])}


def helper(y):
    return tf.nn.relu(y - 1.0)


def by_helper(x):
    return helper(x) if not np.isnan(x.numpy()) else x


@tf.function
def graphed(y):
    return tf.where(y > 1, y * y, -y)


def by_graph(x):
    return graphed(x) + int(x.numpy())


def summed(row):
    total = tf.reduce_sum(row * row)
    return total / row.numpy().max()


def softmaxed(row):
    weights = tf.nn.softmax(row)
    return weights * (2.0 if row.numpy()[0] > 0 else 1.0)


def rounded(x):
    return tf.round(tf.exp(x * 0.3)) + np.float64(x.numpy() > 2)


def shaped(row):
    if row.shape[0] == 8 and row.dtype == tf.float32 and row.numpy()[0] > 0:
        return tf.reshape(row, (2, 4))
    return tf.transpose(tf.reshape(row, (4, 2)))


def truths(x):
    return tf.logical_and(x > 0, bool(x.numpy() < 5))


def decides_by_a_mean(row):
    return row if tf.reduce_mean(row).numpy() > 0.5 else -row


def decides_by_a_sum_in_tensorflow(row):
    return row * (2.0 if tf.reduce_sum(row) > 1 and row.numpy()[0] > 0 else 1.0)


CASES = {
    **{f.__name__: (f, XS) for f in (by_sign, counted, by_python, in_numpy, looked_up, captured, several, by_helper)},
    **{f.__name__: (f, WIDE) for f in (rounded,)},
    **{f.__name__: (f, ROWS) for f in (back_again, constants, summed, softmaxed, shaped, decides_by_a_mean,
       decides_by_a_sum_in_tensorflow)},
    "by_graph": (by_graph, XS), "truths": (truths, XS), "median": (median, IMAGES), "nested": (nested, (XS, XS[::-1])),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_mixed_functions_are_batched_and_the_loops(name: str) -> None:
    fn, elems = CASES[name]
    call = make_call(fn, elems)
    way = plan.made_in("python", call, memory.fresh(call, with_operations=False))
    with standing_in():  # and traced: not run one by one
        up.map(plain.of_numbers(call, fn(call.row(0)), mixed=True), *map(as_array, call.leaves), gear="numpy")
    same(loop(fn, elems), way.pack(way.over(call)))
    same(loop(fn, elems), ut.map_fn(fn, elems, fn_output_signature=None))


def test_the_way_is_found_and_explained() -> None:
    for _ in range(30):  # until the loop has cost as much as the way does, on any machine
        ut.map_fn(counted, XS)
    explained = ut.explain(counted, XS)
    assert explained.gear == "python", explained


@pytest.mark.parametrize("name", ["exp", "sin", "tanh", "sigmoid"])
def test_decisions_are_tensorflows_to_the_last_bit(name: str) -> None:
    """Elements that are as near to the edge as floats can be, on both sides of it."""
    op = getattr(tf, name)
    middle = np.float32(0.7)
    edge = float(op(tf.constant(middle)))
    near = middle + np.arange(-200, 200, dtype=np.float32) * np.spacing(middle)
    xs = tf.constant(np.concatenate([near, np.linspace(-2, 2, 200, dtype=np.float32)]))

    def decide(x):
        return tf.constant(1.0) if op(x).numpy() >= edge else x - x

    call = make_call(decide, xs)
    way = plan.made_in("python", call, memory.fresh(call, with_operations=False))
    assert np.array_equal(loop(decide, xs), way.over(call)[0])


def test_decisions_by_sums_are_tensorflows_to_the_last_bit() -> None:
    """NumPy and TensorFlow add up in different orders: the sums of many of these rows differ in their last bits."""
    rows = np.random.default_rng(5).normal(0, 1e3, (300, 33)).astype(np.float32)
    rows[:, -1] = -rows[:, :-1].sum(axis=1, dtype=np.float64)
    sums = np.array([tf.reduce_sum(row).numpy() for row in rows])
    assert (np.sign(sums) != np.sign([row.sum() for row in rows])).any()

    def decide(row):
        return row[0] if tf.reduce_sum(row).numpy() > 0 else row[1]

    call = make_call(decide, tf.constant(rows))
    way = plan.made_in("python", call, memory.fresh(call, with_operations=False))
    assert np.array_equal(loop(decide, tf.constant(rows)), way.over(call)[0])


def test_what_a_function_captured_may_change() -> None:
    state = {"shift": tf.constant(1.0)}

    def fn(x):
        return x + state["shift"] if x.numpy() > 0 else tf.negative(x)

    for shift in (1.0, 5.0, 5.0):
        state["shift"] = tf.constant(shift)
        same(loop(fn, XS), ut.map_fn(fn, XS))


VARIABLE = tf.Variable(1.0)


def reads_a_variable(x):
    return x + VARIABLE if x.numpy() > 0 else x


def draws(x):
    return x + tf.random.uniform(()) * float(x)


def knows_its_class(x):
    return tf.abs(x) if isinstance(x, tf.Tensor) and x.numpy() > 0 else x


@pytest.mark.parametrize(
    "fn, elems",
    [(reads_a_variable, XS), (draws, XS),
     (knows_its_class, XS)],
    ids=lambda one: getattr(one, "__name__", ""),
)  # fmt: skip
def test_what_numpy_cannot_know_is_the_loops(fn, elems) -> None:
    call = make_call(fn, elems)
    with standing_in(), pytest.raises(up.GearRefused):
        up.map(plain.of_numbers(call, fn(call.row(0)), mixed=True), *map(as_array, call.leaves), gear="numpy")
    if fn is not draws:
        same(loop(fn, elems), ut.map_fn(fn, elems))


def test_a_variable_is_read_anew() -> None:
    for value in (1.0, 2.0):
        VARIABLE.assign(value)
        same(loop(reads_a_variable, XS), ut.map_fn(reads_a_variable, XS))
    VARIABLE.assign(1.0)


def test_functions_that_act_run_once_for_every_element() -> None:
    seen = []

    def fn(x):
        seen.append(float(x))
        return tf.sqrt(tf.abs(x))

    ut.map_fn(fn, XS[:50])
    assert seen == XS[:50].numpy().tolist()


def test_errors_are_tensorflows() -> None:
    def fn(x):
        if x.numpy() > 8.5:
            raise ValueError("too much")
        return tf.exp(x)

    with pytest.raises(ValueError, match="too much"):
        ut.map_fn(fn, XS)


def test_numpys_arrays_do_not_become_tensors() -> None:
    """In `up.map` a function that calls TensorFlow gives tensors, as in the loop."""
    made = up.map(lambda x: tf.sqrt(x), XS.numpy()[:20] + 5)
    assert np.allclose(np.asarray(made), np.sqrt(XS.numpy()[:20] + 5))


# ---- made-up programs

VALUES = ("tf.sin({a})", "tf.exp(-{a} * {a})", "tf.abs({a})", "tf.square({a})", "tf.maximum({a}, {b})", "{a} + {b}",
          "{a} - {b} * 0.5", "{a} * {b}", "tf.where({a} > {b}, {a}, -{b})", "tf.sqrt(tf.abs({a}))", "tf.round({a})",
          "tf.constant(np.cos({a}.numpy()))", "{a} + float({b})", "tf.cast(tf.cast({a}, tf.int32), {a}.dtype)",
          "tf.convert_to_tensor(np.abs({a}.numpy()) + np.float32(1))", "tf.floor({a}) + int({b})",
          "tf.clip_by_value({a}, -2.0, 3.0)", "tf.stack([{a}, {b}])[1]",
          "tf.tanh({a}) / (1.0 + tf.abs({b}))")  # fmt: skip
TESTS = ("{a}.numpy() > {b}.numpy()", "float({a}) < 1.5", "{a} > 0.25", "np.sin({a}.numpy()) > 0", "int({a}) % 2 == 0",
         "abs(float({a})) < abs(float({b}))")  # fmt: skip


def made_up(seed: int):
    rng = random.Random(seed)
    names = ["x"]
    lines = ["def fn(x):"]
    indent = "    "
    for i in range(rng.randint(3, 7)):
        a, b = rng.choice(names), rng.choice(names)
        value = rng.choice(VALUES).format(a=a, b=b)
        if rng.random() < 0.35:
            test, other = rng.choice(TESTS).format(a=a, b=b), rng.choice(VALUES).format(a=b, b=a)
            lines += [
                f"{indent}if {test}:",
                f"{indent}    v{i} = {value}",
                f"{indent}else:",
                f"{indent}    v{i} = {other}",
            ]
        else:
            lines.append(f"{indent}v{i} = {value}")
        names.append(f"v{i}")
    lines.append(f"{indent}return {names[-1]} + {rng.choice(names)}")
    space = {"tf": tf, "np": np}
    exec(compile("\n".join(lines), f"<program {seed}>", "exec"), space)
    return space["fn"], "\n".join(lines)


@pytest.mark.parametrize("seed", range(40))
def test_made_up_mixtures(seed: int) -> None:
    fn, text = made_up(seed)
    xs = tf.constant(np.random.default_rng(seed).normal(0, 3, 120), tf.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = loop(fn, xs)
        call = make_call(fn, xs)
        try:
            way = plan.made_in("python", call, memory.fresh(call, with_operations=False))
        except up.GearRefused as refused:
            assert "the gear" not in refused.refusal.reason, f"only the sample saved it: {refused}\n{text}"
            return
        got = way.over(call)[0]
    assert got.dtype == want.dtype, text
    a, b = want.numpy().astype(float), got.numpy().astype(float)
    np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-5 * np.nanmax(np.abs(a), initial=1.0), err_msg=text)
