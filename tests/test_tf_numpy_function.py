"""`ut.numpy_function` gives what TensorFlow's own gives, for functions of NumPy and tensors of every sort."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift as up  # noqa: E402
import upshift.tensorflow as ut  # noqa: E402

RNG = np.random.default_rng(1)
X = RNG.normal(size=(6, 4)).astype(np.float32)
Y = RNG.normal(size=(6, 4)).astype(np.float32)
D = RNG.normal(size=(6, 4))
V = RNG.normal(size=7)
K = RNG.integers(-9, 9, (5, 3))
IMAGES = RNG.integers(0, 256, (4, 8, 6, 3), dtype=np.uint8)
B = X > 0
W = RNG.normal(size=(4, 2)).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def written(x):
    y = x.copy()
    y[:, 0] = 7
    y[1:, ::2] = -1
    y[-1] += 1
    return y


def wrote(x):
    x[0] = 0
    return x


def filled(x):
    out = np.zeros_like(x)
    out[...] = x * 2
    return out


def counted(x):
    total = 0
    for row in x:
        if row.sum() > 0:
            total += 1
    return np.int64(total)


def chosen(x):
    return x * 2 if x.mean() > 0 else -x


def scaled(x):
    if x.max() > 1:
        x = x / 255
    return x * 2 - 1


def mended(x):
    if np.isnan(x).any():
        return np.where(np.isnan(x), np.float32(0), x)
    if (x < 0).all():
        return -x
    return x


NATIVE: dict[str, tuple[Any, list[Any], Any]] = {
    "affine": (lambda x: x * 2 + 1, [X], tf.float32),
    "contiguous": (lambda x: np.ascontiguousarray(x[:, ::-1]), [X], tf.float32),
    "float64": (lambda x: x / (1 + x * x), [D], tf.float64),
    "two": (lambda x, y: (x + y, x - y), [X, Y], [tf.float32, tf.float32]),
    "mixed dtypes": (lambda x, k: x * k, [D[:3, :3], K[:3]], tf.float64),
    "ints": (lambda k: k * 3 - k // 2 + k % 5, [K], tf.int64),
    "int32": (lambda k: k * k, [K.astype(np.int32)], tf.int32),
    "bits": (lambda k: (k & 3) | (k ^ 5), [K], tf.int64),
    "truths": (lambda b: ~b | (b & b), [B], tf.bool),
    "true division of ints": (lambda k: k / 4, [K], tf.float64),
    "powers": (lambda x: x**2 + np.abs(x) ** 1.5, [D], tf.float64),
    "powers of ints": (lambda k: k**3, [K], tf.int64),
    "roots": (lambda x: np.sqrt(np.abs(x)), [X], tf.float32),
    "image roots": (lambda x: np.sqrt(x.astype(np.float32)).astype(np.uint8), [IMAGES], tf.uint8),
    "normalised images": (lambda x: (x.astype(np.float32) - 127.5) / 127.5, [IMAGES], tf.float32),
    "sines": (lambda x: np.sin(x) + np.cos(x) * np.exp(-x) + np.tanh(x), [D], tf.float64),
    "logs": (lambda x: np.log(np.abs(x) + 1) + np.log1p(x * x) + np.log2(x * x + 1), [D], tf.float64),
    "arcs": (lambda x: np.arctan(x) + np.arcsinh(x) + np.arctan2(x, 1 + x * x), [D], tf.float64),
    "floor": (lambda x: np.floor(x) + np.ceil(x) + np.rint(x) + np.trunc(x), [D], tf.float64),
    "round": (lambda x: np.round(x), [X], tf.float32),
    "sign": (lambda x: np.sign(x), [X], tf.float32),
    "remainder": (lambda x: x % 0.75, [D], tf.float64),
    "larger": (lambda x, y: np.maximum(x, y) - np.minimum(x, 0.1), [X, Y], tf.float32),
    "clip": (lambda x: np.clip(x, -0.5, 0.5), [X], tf.float32),
    "where": (lambda x, y: np.where(x > y, x, -y), [X, Y], tf.float32),
    "decisions": (lambda x: (x > 0) & (x < 1) | np.isnan(x), [X], tf.bool),
    "cast": (lambda x: x.astype(np.float64), [X], tf.float64),
    "count": (lambda b: b.astype(np.int32), [B], tf.int32),
    "sums": (lambda x: x.sum(axis=1), [X], tf.float32),
    "all sums": (lambda x: np.sum(x), [D], tf.float64),
    "means": (lambda x: x - x.mean(axis=0), [X], tf.float32),
    "spread": (lambda x: (x - x.mean(axis=1, keepdims=True)) / (x.std(axis=1, keepdims=True) + 1e-3), [D], tf.float64),
    "largest": (lambda x: x.max(axis=1) - x.min(axis=1), [X], tf.float32),
    "where largest": (lambda x: x.argmax(axis=1), [X], tf.int64),
    "any, all": (lambda b: b.any(axis=1) ^ b.all(axis=1), [B], tf.bool),
    "running": (lambda x: np.cumsum(x, axis=1), [D], tf.float64),
    "softmax": (softmax, [X], tf.float32),
    "transposed": (lambda x: x.T, [X], tf.float32),
    "swapped": (lambda x: np.swapaxes(x, 1, 2), [IMAGES], tf.uint8),
    "flipped": (lambda x: x[:, ::-1], [IMAGES], tf.uint8),
    "flip": (lambda x: np.flip(x, axis=2), [IMAGES], tf.uint8),
    "rolled": (lambda x: np.roll(x, 1, axis=1), [X], tf.float32),
    "flat": (lambda x: x.reshape(-1), [X], tf.float32),
    "cut": (lambda x: x[:, 1:3], [X], tf.float32),
    "cropped": (lambda x: x[:, 2:6, 1:5, :], [IMAGES], tf.uint8),
    "new axis": (lambda x: x[:, None, :] * x[:, :, None], [X], tf.float32),
    "joined": (lambda x, y: np.concatenate([x, y], axis=1), [X, Y], tf.float32),
    "stacked": (lambda x, y: np.stack([x, y], axis=-1), [X, Y], tf.float32),
    "padded": (lambda x: np.pad(x, ((0, 0), (1, 2))), [X], tf.float32),
    "repeated": (lambda x: np.repeat(x, 2, axis=1), [X], tf.float32),
    "products": (lambda x: x @ x.T, [X], tf.float32),
    "dot": (lambda x, y: np.dot(x, y.T), [D, D], tf.float64),
    "einsum": (lambda x, y: np.einsum("ij,ij->i", x, y), [X, Y], tf.float32),
    "writes": (written, [X], tf.float32),
    "writes into its argument": (wrote, [X], tf.float32),
    "fills": (filled, [X], tf.float32),
    "itself": (lambda x: x, [X], tf.float32),
    "vector": (lambda v: v[1:] - v[:-1], [V], tf.float64),
    "number": (lambda x, s: x * s, [X, np.float32(3)], tf.float32),
    "a Python int": (lambda x: 3, [X], tf.int64),
    "a list": (lambda x: [x, x.sum()], [D], [tf.float64, tf.float64]),
    "a decision by the largest": (scaled, [IMAGES[0].astype(np.float32)], tf.float32),
    "two decisions": (mended, [X], tf.float32),
    "safe cast": (lambda k: k.astype(np.int32) * 2, [K], tf.int64),
}
PYTHON: dict[str, tuple[Any, list[Any], Any]] = {
    "a decision": (chosen, [X], tf.float32),
    "a loop": (counted, [X], tf.int64),
    "sorted": (lambda x: np.sort(x, axis=1), [X], tf.float32),
    "unique": (lambda k: np.unique(k), [K], tf.int64),
    "lengths": (lambda x: x * len(x), [X], tf.float32),
    "captured": (lambda x: x @ W, [X], tf.float32),
    "a Python float": (lambda x: 1.5, [X], tf.float32),
    "texts": (lambda text: text + b"!", [np.array(b"abc")], tf.string),
    "close decisions": (lambda x: np.exp(x) > 1, [X], tf.bool),
}
ALL = NATIVE | PYTHON


def assert_same(expected: Any, actual: Any) -> None:
    assert isinstance(expected, list) == isinstance(actual, list)
    pairs = zip(tf.nest.flatten(expected), tf.nest.flatten(actual), strict=True)
    for want, got in pairs:
        assert want.dtype == got.dtype and want.shape == got.shape, (want, got)
        if want.dtype == tf.string:
            assert np.array_equal(want.numpy(), got.numpy())
        else:
            rtol = 1e-5 if want.dtype == tf.float32 else 1e-9
            atol = rtol * float(np.abs(want.numpy()).max()) if want.dtype.is_floating else 0
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=rtol, atol=atol)


def tensors(arrays: list[Any]) -> list[Any]:
    return [tf.constant(array) for array in arrays]


def as_numpy_says(func: Any, arrays: list[Any], Tout: Any) -> Any:
    """What the function gives, in the promised dtypes."""
    result = func(*(np.array(array) if np.ndim(array) else np.array(array)[()] for array in arrays))
    if isinstance(Tout, list):
        return [tf.constant(one, dtype) for one, dtype in zip(result, Tout, strict=True)]
    return tf.constant(result, Tout)


@pytest.mark.parametrize("name", ALL)
def test_eager(name: str) -> None:
    func, arrays, Tout = ALL[name]
    if name == "texts":
        arrays = [np.array([b"a", b"bc"], object)]
        assert ut.numpy_function(lambda t: t + b"!", tensors(arrays), Tout).numpy().tolist() == [b"a!", b"bc!"]
        return
    assert_same(as_numpy_says(func, arrays, Tout), ut.numpy_function(func, tensors(arrays), Tout))


def graph(func: Any, Tout: Any, arrays: list[Any], free: bool, call: Any = ut.numpy_function, **options: Any) -> Any:
    """A graph in which the first axes are known, or free."""
    specs = [
        tf.TensorSpec([None if free and i == 0 else size for i, size in enumerate(x.shape)], x.dtype)
        for x in tensors(arrays)
    ]
    return tf.function(lambda *args: call(func, list(args), Tout), input_signature=specs, **options)


@pytest.mark.parametrize("free", [False, True], ids=["known", "free"])
@pytest.mark.parametrize("name", ALL)
def test_graph(name: str, free: bool) -> None:
    func, arrays, Tout = ALL[name]
    made = graph(func, Tout, arrays, free)
    assert_same(as_numpy_says(func, arrays, Tout), made(*tensors(arrays)))


def ops_of(made: Any) -> set[str]:
    definition = made.get_concrete_function().graph.as_graph_def()
    return {node.op for node in definition.node} | {n.op for f in definition.library.function for n in f.node_def}


@pytest.mark.parametrize("name", NATIVE)
def test_functions_that_become_tensorflows_own_operations(name: str) -> None:
    func, arrays, Tout = NATIVE[name]
    assert not any("PyFunc" in op for op in ops_of(graph(func, Tout, arrays, free=True)))


@pytest.mark.parametrize("name", PYTHON)
def test_functions_that_python_runs(name: str) -> None:
    func, arrays, Tout = PYTHON[name]
    assert "PyFunc" in ops_of(graph(func, Tout, arrays, free=True))


@pytest.mark.parametrize("name", ["affine", "softmax", "image roots", "writes", "a decision", "two"])
def test_datasets(name: str) -> None:
    func, arrays, Tout = ALL[name]
    ds = tf.data.Dataset.from_tensor_slices(tuple(arrays)).batch(2)
    for element in ds.map(lambda *args: ut.numpy_function(func, list(args), Tout)):
        assert all(x.shape[0] == 2 for x in tf.nest.flatten(element))
    ours = ds.map(lambda *args: ut.numpy_function(func, list(args), Tout))
    theirs = ds.map(lambda *args: tf.numpy_function(func, [tf.identity(x) for x in args], Tout))
    for want, got in zip(theirs, ours, strict=True):
        assert_same(list(want) if isinstance(want, tuple) else want, list(got) if isinstance(got, tuple) else got)


@pytest.mark.parametrize(
    "name",
    ["affine", "float64", "softmax", "image roots", "writes", "flipped", "spread", "two decisions", "larger", "clip"],
)
def test_odd_numbers(name: str) -> None:
    func, arrays, Tout = NATIVE[name]
    odd = []
    for array in arrays:
        odd.append(array.copy())
        if array.dtype.kind == "f":
            odd[-1].flat[:4] = [np.nan, np.inf, -np.inf, 0]
    with np.errstate(all="ignore"):
        expected = as_numpy_says(func, odd, Tout).numpy()
    made = graph(func, Tout, odd, True)
    np.testing.assert_allclose(made(*tensors(odd)).numpy(), expected, rtol=1e-5)
    if name in ("larger", "clip"):  # XLA's own maximum drops a NaN
        compiled = tf.function(lambda *args: ut.numpy_function(func, list(args), Tout), jit_compile=True)
        np.testing.assert_allclose(compiled(*tensors(odd)).numpy(), expected, rtol=1e-5)


def test_many_lengths_are_one_graph() -> None:
    made = graph(softmax, tf.float32, [X], free=True)
    for n in (1, 2, 6, 100):
        x = RNG.normal(size=(n, 4)).astype(np.float32)
        np.testing.assert_allclose(made(x).numpy(), softmax(x), rtol=1e-5)
    assert made.experimental_get_tracing_count() == 1


def test_shapes_are_set() -> None:
    def outputs(func: Any, Tout: Any, array: Any) -> Any:
        return graph(func, Tout, [array], free=True).get_concrete_function().output_shapes

    assert outputs(softmax, tf.float32, X).as_list() == [None, 4]
    assert outputs(lambda x: np.sort(x, axis=1)[:, :2], tf.float32, X).as_list() == [None, 2]
    assert outputs(lambda x: x.sum(axis=0), tf.float32, X).as_list() == [4]
    assert outputs(lambda k: np.unique(k), tf.int64, K).rank is None


# ---- what TensorFlow promises


@pytest.mark.parametrize("mode", ["eager", "known", "free"])
def test_a_result_of_another_dtype_is_an_error(mode: str) -> None:
    def call(x: Any) -> Any:
        return ut.numpy_function(lambda x: x.astype(np.float64), [x], tf.float32)

    made = call if mode == "eager" else graph(lambda x: x.astype(np.float64), tf.float32, [X], mode == "free")
    with pytest.raises(tf.errors.InvalidArgumentError, match="float64"):
        made(tf.constant(X))


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_too_few_results_are_an_error(mode: str) -> None:
    Tout = [tf.float32, tf.float32]
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 results"):
        if mode == "eager":
            ut.numpy_function(lambda x: x, [tf.constant(X)], Tout)
        else:
            graph(lambda x: x, Tout, [X], True)(tf.constant(X))


def test_errors_are_the_functions() -> None:
    def f(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ut.numpy_function(f, [tf.constant(X)], tf.float32)
    with pytest.raises(tf.errors.UnknownError, match="KeyError: 'mine'"):
        graph(f, tf.float32, [X], True)(tf.constant(X))


def test_as_a_decorator() -> None:
    @ut.numpy_function(Tout=tf.float32)
    def doubled(x):
        return x * 2

    assert np.array_equal(doubled(tf.constant(X)), X * 2)


def test_lists_of_one() -> None:
    assert not isinstance(ut.numpy_function(lambda x: x, [tf.constant(X)], [tf.float32]), list)
    made = tf.function(lambda x: ut.numpy_function(lambda x: x, [x], [tf.float32]))
    assert isinstance(made(tf.constant(X)), list)


def test_variables_and_arrays_are_taken() -> None:
    assert np.array_equal(ut.numpy_function(lambda x: x + 1, [tf.Variable(X)], tf.float32), X + 1)
    assert np.array_equal(ut.numpy_function(lambda x: x + 1, [X], tf.float32), X + 1)


# ---- memory


def sorts(x):
    x.sort(axis=0)
    x[0] = 100
    return x


def adds(x):
    np.add.at(x, 0, 100)
    x[0] = 100
    return np.sort(x, axis=1)


def fills(x):
    x[:, np.argsort(x[1])] = 100
    return x


@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.parametrize("func", [sorts, adds, fills])
def test_the_callers_tensor_does_not_change(func: Any, mode: str) -> None:
    tensor = tf.constant(RNG.normal(size=(64, 64)))
    before = tensor.numpy()
    made = graph(func, tf.float64, [before], True) if mode == "graph" else None
    result = made(tensor) if made else ut.numpy_function(func, [tensor], tf.float64)
    assert np.array_equal(tensor.numpy(), before)
    assert np.all(result.numpy()[0] == 100)


@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.parametrize("size", [4, 100_000])
def test_a_result_that_changes_later_does_not_show(mode: str, size: int) -> None:
    from upshift.tensorflow.bridge import aligned

    kept = aligned((size,), np.float64)

    def f(x):
        kept[:] = x[0]
        return kept

    def call(x: Any) -> Any:
        return ut.numpy_function(f, [x], tf.float64)

    made = call if mode == "eager" else tf.function(call)
    one, two = made(tf.constant([1.0])), made(tf.constant([2.0]))
    kept[:] = 3
    assert np.all(one.numpy() == 1) and np.all(two.numpy() == 2)


# ---- what may change


def test_captured_numbers_are_read_anew() -> None:
    factor = [2.0]
    made = graph(lambda x: x * np.float32(factor[0]), tf.float32, [X], True)
    assert np.array_equal(made(X), X * 2)
    factor[0] = 3.0
    assert np.array_equal(made(X), X * 3)


def test_what_is_said_not_to_change_is_native() -> None:
    specs = [tf.TensorSpec([None, 4])]
    with pytest.raises(ut.NotNative, match=r"captures 'W'.*stateful=False"):
        ut.native_form(lambda x: x @ W, *specs)
    made = ut.native_form(lambda x: x @ W, *specs, stateful=False)
    np.testing.assert_allclose(made(tf.constant(X))[0], X @ W, rtol=1e-5)


@pytest.mark.parametrize(
    "func, reason",
    [
        (chosen, "last bits"),
        (lambda x: -x if x.max() > 1e6 else x, "no example took"),
        (lambda x: x if x.max() < 1 else x[0], "one dtype and rank"),
        (lambda x: np.arange(int(x[0, 0])), "no example took|depends on the numbers"),
        (lambda x: x + np.random.rand(), "random"),
        (lambda x: print(x), "prints"),
        (lambda x: x * len(x), "length"),
        (lambda x: x if x.shape[0] < 100 else -x, "shape"),
        (lambda x: np.exp(x) > 1, "last bits"),
        (lambda x: x.astype(np.uint8), "too large"),
        (lambda x: np.sort(x), "sort"),
        (lambda x: {"a": x}, "several"),
    ],
)
def test_reasons(func: Any, reason: str) -> None:
    with pytest.raises(ut.NotNative, match=reason):
        ut.native_form(func, tf.TensorSpec([None, 4]))


# ---- paths that are Python's


def refuses_nan(x):
    if np.isnan(x).any():
        raise ValueError("not a number")
    return x * 2


def sorts_large(x):
    if x.max() > 1e6:
        return np.sort(x, axis=0)
    return x + 1


def cuts_large(x):
    return x[:1] if x.max() > 1e6 else x


def counts(x):
    return np.full(3, int(x[0, 0]), np.float32) if x[0, 0] > 50 else np.zeros(3, np.float32)


@pytest.mark.parametrize("func", [refuses_nan, sorts_large, cuts_large, counts, lambda x: -x if x.max() > 1e6 else x])
def test_python_is_called_on_other_paths_alone(func: Any) -> None:
    made = graph(func, tf.float32, [X], True)
    calls = []
    watched = graph(lambda x: calls.append(1) or func(x), tf.float32, [X], True)
    assert "PyFunc" in ops_of(made) and {"If", "StatelessIf"} & set(ops_of(made))
    for x in (X, np.abs(X) + 60, X * 1e7):
        np.testing.assert_allclose(made(x), func(x), rtol=1e-6)
        np.testing.assert_allclose(watched(x), func(x), rtol=1e-6)
    assert len(calls) == 3  # a function that acts is Python's wholly


def test_errors_on_other_paths_are_the_functions_own() -> None:
    made = graph(refuses_nan, tf.float32, [X], True)
    np.testing.assert_allclose(made(X), X * 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a number"):
        made(np.where(X > 0, np.float32(np.nan), X))


def test_no_gradient_is_made_up_on_other_paths() -> None:
    @tf.function
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(ut.numpy_function(sorts_large, [x], tf.float32))
        return tape.gradient(y, x)

    with pytest.raises(ut.NotNative, match="no gradient"):
        slope(tf.constant(X))


def test_python_is_called_where_upshift_is_switched_off() -> None:
    with up.config(disable=True):
        made = graph(softmax, tf.float32, [X], True)
        assert "PyFunc" in ops_of(made)
    assert "PyFunc" not in ops_of(graph(softmax, tf.float32, [X], True))


class Looks:
    """Functions that look at lengths, in other forms than plain."""

    def method(self, x):
        return x if len(x) < 100 else -x

    def __call__(self, x):
        return x if len(x) < 100 else -x


def looks(x, sign):
    return x if len(x) < 100 else sign * x


@pytest.mark.parametrize("func", [Looks().method, Looks(), functools.partial(looks, sign=-1)])
def test_lengths_are_seen_to_be_looked_at(func: Any) -> None:
    with pytest.raises(ut.NotNative):
        ut.native_form(func, tf.TensorSpec([None, 4]), stateful=False)
    x = np.ones((120, 4), np.float32)
    assert np.array_equal(graph(func, tf.float32, [X], True)(x), -x)


def test_functions_that_act_do_so_every_time() -> None:
    seen: list[int] = []
    counter = itertools.count()

    def f(x):
        seen.append(next(counter))
        return x

    made = graph(f, tf.float32, [X], True)
    made(X), made(X)
    assert seen == [0, 1]


# ---- gradients and XLA


@pytest.mark.parametrize("name", ["affine", "softmax", "sines", "spread", "clip", "where", "largest", "float64"])
def test_gradients_are_those_of_the_function(name: str) -> None:
    func, arrays, _ = NATIVE[name]
    arrays = [np.asarray(array, np.float64) for array in arrays]
    made = graph(func, tf.float64, arrays, True)
    inputs = tensors(arrays)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        total = tf.reduce_sum(tf.sin(made(*inputs)))
    for at, gradient in enumerate(tape.gradient(total, inputs)):
        h = 1e-6
        for place in ((0, 0), (3, 2), (5, 3)):
            up, down = [a.copy() for a in arrays], [a.copy() for a in arrays]
            up[at][place] += h
            down[at][place] -= h
            want = (np.sin(func(*up)).sum() - np.sin(func(*down)).sum()) / (2 * h)
            assert abs(gradient.numpy()[place] - want) < 1e-5 * max(1, abs(want))


@pytest.mark.parametrize("name", ["affine", "softmax", "means", "two"])
def test_gradients_in_eager_mode_are_those_of_a_graph(name: str) -> None:
    func, arrays, Tout = NATIVE[name]
    found = []
    for call in (lambda *args: ut.numpy_function(func, list(args), Tout), graph(func, Tout, arrays, True)):
        inputs = tensors(arrays)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            total = tf.add_n([tf.reduce_sum(tf.sin(y)) for y in tf.nest.flatten(call(*inputs))])
        found.append(tape.gradient(total, inputs))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_a_function_that_is_written_anew_is_looked_at_anew() -> None:
    def called(x):
        return helper(x)

    global helper
    for factor in (2, 3):
        exec(f"def helper(x): return x * {factor}", globals())
        made = graph(called, tf.float32, [X], True)
        assert np.array_equal(made(X), X * factor)


def test_without_operations_there_is_no_gradient() -> None:
    x = tf.constant(X)
    made = graph(chosen, tf.float32, [X], True)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = made(x)
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize("name", ["affine", "softmax", "image roots", "writes"])
def test_under_xla(name: str) -> None:
    func, arrays, Tout = NATIVE[name]
    made = graph(func, Tout, arrays, True, jit_compile=True)
    assert_same(as_numpy_says(func, arrays, Tout), made(*tensors(arrays)))


# ---- py_function


def halves(x):
    return x / 2 if x[0, 0] > 0 else x * 2


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_py_function(mode: str) -> None:
    def ours(x: Any) -> Any:
        return ut.py_function(halves, [x], tf.float32)

    def theirs(x: Any) -> Any:
        return tf.py_function(halves, [x], tf.float32)

    wrap = tf.function if mode == "graph" else (lambda call: call)
    for array in (X, -X):
        found = []
        for call in (wrap(ours), wrap(theirs)):
            x = tf.constant(array)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = call(x)
            found.append((y.numpy(), tape.gradient(y, x).numpy()))
        assert np.array_equal(found[0][0], found[1][0]) and np.array_equal(found[0][1], found[1][1])


def test_py_function_of_several() -> None:
    made = ut.py_function(lambda x: [x, x + 1], [tf.constant(X)], [tf.float32, tf.float32])
    assert np.array_equal(made[1], X + 1)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        ut.py_function(lambda x: tf.cast(x, tf.float64), [tf.constant(X)], tf.float32)


# ---- imports in the function


def blurred(x):
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(x, 1.0)


def turned(x):
    import numpy.linalg

    return numpy.linalg.norm(x, axis=1)


@pytest.mark.parametrize("func", [blurred, turned])
def test_a_function_may_import_in_its_body(func: Any) -> None:
    made = tf.function(lambda x: ut.numpy_function(func, [x], tf.float32))
    np.testing.assert_allclose(made(X).numpy(), func(X), rtol=1e-6)
    np.testing.assert_allclose(ut.numpy_function(func, [X], tf.float32).numpy(), func(X), rtol=1e-6)


# ---- memory


def aligned_zeros(n: int) -> Any:
    room = np.zeros(n + 16, np.float32)
    start = (-room.ctypes.data % 64) // 4
    return room[start : start + n]


BUFFER = aligned_zeros(1000)


def refilled(x):
    BUFFER[:] = x
    return BUFFER


def refilled_in_part(x):
    BUFFER[:] = x
    return BUFFER[:]


def kept(x, seen=[]):
    made = aligned_zeros(1000)
    made[:] = x
    for one in seen:
        one[:] = -1
    seen.append(made)
    return made


@pytest.mark.parametrize("func", [refilled, refilled_in_part, kept])
def test_what_a_function_writes_later_does_not_show_in_its_results(func: Any) -> None:
    made = tf.function(lambda x: ut.numpy_function(func, [x], tf.float32))
    first, second = made(tf.ones(1000)), made(2 * tf.ones(1000))
    assert first.numpy().max() == first.numpy().min() == 1 and second.numpy().max() == second.numpy().min() == 2


def negated_in_place(x):
    x *= -1
    return x


def sorted_in_place(x):
    x.sort()
    return x


@pytest.mark.parametrize("func", [negated_in_place, sorted_in_place, wrote])
def test_a_function_that_writes_into_its_argument_changes_no_tensor(func: Any) -> None:
    given = np.linspace(3, -3, 1000, dtype=np.float32)
    x = tf.constant(given)
    made = tf.function(lambda x: ut.numpy_function(func, [x], tf.float32))
    for _ in range(3):
        np.testing.assert_array_equal(made(x).numpy(), func(given.copy()))
    np.testing.assert_array_equal(x.numpy(), given)


def test_a_function_that_acts_and_writes_is_called_once() -> None:
    calls = []

    def act(x):
        calls.append(1)
        x[0] = 9
        return x

    made = tf.function(lambda x: ut.numpy_function(act, [x], tf.float32))
    for k in range(1, 4):
        assert made(tf.ones(5)).numpy()[0] == 9 and len(calls) == k


def test_results_may_be_the_arguments() -> None:
    xs, ys = tf.random.uniform([2000]), tf.random.uniform([2000])

    def swapped(a, b):
        return b, a[::2], a.reshape(40, 50)

    made = tf.function(lambda a, b: ut.numpy_function(swapped, [a, b], [tf.float32] * 3))
    b, halved, reshaped = made(xs, ys)
    np.testing.assert_array_equal(b, ys)
    np.testing.assert_array_equal(halved, xs[::2])
    np.testing.assert_array_equal(reshaped, tf.reshape(xs, [40, 50]))
    again = tf.function(
        lambda a: tf.tensor_scatter_nd_update(ut.numpy_function(lambda a: a, [a], tf.float32), [[0]], [5.0])
    )
    before = xs.numpy().copy()
    assert again(xs).numpy()[0] == 5
    np.testing.assert_array_equal(xs, before)
