"""The law of `up.function` for tensors: decorated and plain agree, and only one graph is made for all lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import upshift as up
from eagerly import Row, compile_at_once, compile_wrongly, into, kinds_compiled, outcome
from law import overheard

tf = pytest.importorskip("tensorflow")

WEIGHTS = tf.Variable([1.0, -2.0, 0.5])
SCALE = 2.0
TABLE = tf.constant([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph is made at the second call of a kind, and looked at all the time."""
    compile_at_once(monkeypatch)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return kinds_compiled(monkeypatch)


# ---- a table of functions


def vector(i: int, dtype: str = "float32") -> Any:
    return tf.constant(np.random.default_rng(i).normal(0, 2, i % 5 + 1).astype(dtype))


def of_three(i: int) -> Any:
    return tf.constant(np.random.default_rng(i).normal(0, 2, 3).astype("float32"))


ROWS: list[Row] = []
row = into(ROWS)


@row(lambda i: (vector(i), vector(i)))
def added(a, b):
    return tf.tanh(a * 2.0 + b) - a / (b * b + 1.0)


@row(lambda i: (vector(i), 0.1 * i))
def scaled(x, k):
    return x * k + k * x - (1 - k) * x


@row(lambda i: (vector(i, "float64"), 0.1 * i))
def scaled_doubles(x, k):
    return x * k + 2.0 * k


@row(lambda i: (vector(i), i))
def by_an_int(x, n):
    return x * n + tf.cast(n, tf.float32)


@row(lambda i: (tf.range(i % 5 + 1), 3 if i % 4 else 2**40))
def of_ints(x, n):
    return x * 2 + (n if n is None else x)


@row(lambda i: (vector(i),))
def branching(x):
    if tf.reduce_sum(x) > 0:
        return x * 2.0
    return x - 1.0


@row(lambda i: (vector(i),))
def looping(x):
    n = 0
    while tf.reduce_sum(tf.abs(x)) > 0.5:
        x = x * 0.5
        n = n + 1
    return x


@row(lambda i: (vector(i),))
def unrolled(x):
    for k in range(4):
        x = tf.sin(x) * k
    return x


@row(lambda i: (of_three(i),))
def with_variable(x):
    return tf.reduce_sum(x * WEIGHTS) * SCALE


@row(lambda i: (of_three(i),))
def with_captured_tensor(x):
    return x * TABLE


@row(lambda i: (vector(i), vector(i)))
def gives_arguments(a, b):
    return {"first": a, "both": (a + b, b)}


@row(lambda i: ({"w": vector(i), "b": tf.constant(1.0)}, vector(i)))
def with_params(params, x):
    return params["w"] * x + params["b"]


@row(lambda i: (vector(i), i % 2 == 0, "fast" if i % 3 else "slow"))
def with_flags(x, flag, mode):
    x = x * 2.0 if flag else x - 1.0
    return -x if mode == "fast" else x


@row(lambda i: (vector(i), *(vector(i),) * (i % 3)))
def of_many(*xs):
    return tf.add_n(xs) if len(xs) > 1 else xs[0] * 1.0


@row(lambda i: (vector(i), tf.constant(i % 4)))
def gathered(x, i):
    return tf.gather(x, [i])


@row(lambda i: (vector(i), tf.constant(i % 4)))
def unused_and_wrong(x, i):
    tf.gather(x, [i])
    return x * 2.0


@row(lambda i: (vector(i), of_three(i)))
def mismatched(a, b):
    return a + b


@row(lambda i: (tf.constant(i), tf.constant(i % 4)))
def int_division(a, b):
    return a // b


@row(lambda i: (tf.constant(["a", "b"]),))
def of_texts(x):
    return tf.strings.join([x, x])


@row(lambda i: (of_three(i),))
def with_tape_inside(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x * WEIGHTS)
    return y, tape.gradient(y, x)


@row(lambda i: (vector(i),), shifts=False)
def reads_length(x):
    return x / x.shape[0] if x.shape[0] > 2 else x


def by_length(x):
    return x * 2.0 if x.shape[0] == 3 else x


@row(lambda i: (vector(i),), shifts=False)
def reads_length_elsewhere(x):
    return (lambda y: by_length(y))(x)


@row(lambda i: (vector(i), i), shifts=False)
def decides_by_number(x, n):
    return x * 2.0 if n > 3 else x


@row(lambda i: (vector(i), float(i)), shifts=False)
def looks_at_class(x, n):
    return x * 2.0 if isinstance(n, float) else x


@row(lambda i: (vector(i),), shifts=False)
def gives_number(x):
    return float(tf.reduce_sum(x)), x * 2.0


@row(lambda i: (vector(i),), shifts=False)
def by_numpy(x):
    return np.sort(x.numpy())


@row(lambda i: (vector(i), np.ones(i % 5 + 1, np.float32)), shifts=False)
def beside_array(x, a):
    return x + a


@row(lambda i: (vector(i), WEIGHTS), shifts=False)
def beside_variable(x, w):
    return tf.reduce_sum(x) * w


def same(want: Any, got: Any) -> None:
    assert type(want) is type(got)
    if isinstance(want, tf.Tensor):
        assert want.dtype == got.dtype and want.shape == got.shape
        a, b = want.numpy(), got.numpy()
        if want.dtype.is_floating:
            np.testing.assert_allclose(a, b, rtol=1e-5 if want.dtype == tf.float32 else 1e-9, atol=1e-6)
        else:
            assert np.array_equal(a, b)
    elif isinstance(want, tuple):
        assert len(want) == len(got)
        for one, other in zip(want, got, strict=True):
            same(one, other)
    elif isinstance(want, dict):
        assert list(want) == list(got)
        same(tuple(want.values()), tuple(got.values()))
    elif isinstance(want, np.ndarray):
        assert np.array_equal(want, got)
    else:
        assert want == got


def places(result: Any, args: tuple[Any, ...]) -> list[list[int]]:
    return [[i for i, a in enumerate(args) if a is one] for one in tf.nest.flatten(result)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.f.__name__)
def test_every_function_of_the_table(row: Row) -> None:
    f: Any = up.function(row.f)
    with overheard() as said:
        for i in range(24):
            args = row.make(i)
            want, error = outcome(row.f, args)
            got, raised = outcome(f, args)
            assert type(raised) is type(error) and str(raised) == str(error)
            if error is None:
                same(want, got)
                assert places(want, args) == places(got, args)
    assert not said, said
    shifted = any(kind.gear == "tensorflow" for kind in f.explain().kinds)
    assert shifted is row.shifts, f.explain()
    assert row.shifts or f.explain().kinds[0].refusal is not None


# ---- what it never does


def test_new_lengths_and_numbers_make_no_new_graph(compilations: list[Any]) -> None:
    f: Any = up.function(scaled)
    for i in range(60):
        x = tf.constant(np.arange(i + 1.0, dtype=np.float32))
        same(scaled(x, 0.3 * i), f(x, 0.3 * i))
    assert len(compilations) == 1 and f.explain().gear == "tensorflow"


def test_what_it_captured_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    f: Any = up.function(with_variable)
    g: Any = up.function(with_captured_tensor)
    for i in range(120):
        WEIGHTS.assign([float(i), 1.0, 2.0])
        if i == 15:
            monkeypatch.setitem(globals(), "SCALE", 7.0)
            monkeypatch.setitem(globals(), "TABLE", tf.constant([0.0, 5.0, 1.0]))
        same(with_variable(of_three(i)), f(of_three(i)))
        same(with_captured_tensor(of_three(i)), g(of_three(i)))
    assert f.explain().gear == g.explain().gear == "tensorflow"


def test_a_tensor_in_a_closure_is_an_input(compilations: list[Any]) -> None:
    k = tf.constant(1.0)

    @up.function
    def f(x: Any) -> Any:
        return x * k

    for i in range(20):
        k = tf.constant(float(i))
        same(tf.constant([2.0, 3.0]) * k, f(tf.constant([2.0, 3.0])))
    assert len(compilations) == 1


@pytest.mark.parametrize("inside", [True, False])
def test_tapes_see_the_plain_function(inside: bool) -> None:
    def f(x: Any) -> Any:
        return tf.reduce_sum(tf.sin(x * WEIGHTS)) if inside else tf.gather(x, [0, 0]) * x[1]

    g: Any = up.function(f)
    for i in range(8):
        g(of_three(i))
    assert g.explain().gear == "tensorflow"
    x = of_three(3)
    found = []
    for one in (f, g):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = one(x)
            first = tf.convert_to_tensor(tape.gradient(y, x))
        with tf.autodiff.ForwardAccumulator(x, tf.ones(3)) as accumulator:
            z = one(x)
        found.append((y, first, outer.gradient(first, x), accumulator.jvp(z)))
    for want, got in zip(*found, strict=True):
        same(want, got) if want is not None else None
        assert (want is None) is (got is None)


@pytest.mark.parametrize("f", [branching, added, with_variable])
def test_in_another_graph_it_is_not_there(f: Any) -> None:
    g: Any = up.function(f)
    args = (of_three(1), of_three(2))[: f.__code__.co_argcount]
    for _ in range(6):
        g(*args)
    assert g.explain().gear == "tensorflow"
    same(tf.function(f)(*args), tf.function(lambda *given: g(*given))(*args))
    same(tf.function(f)(*args), tf.function(lambda: g(*args))())
    kinds = {op.type for op in tf.function(lambda: g(*args)).get_concrete_function().graph.get_operations()}
    assert "PartitionedCall" not in kinds and "StatefulPartitionedCall" not in kinds


def test_impure_functions_run_once_per_call(capsys: pytest.CaptureFixture[str]) -> None:
    count = tf.Variable(0)
    seen: list[int] = []
    random = tf.random.Generator.from_seed(1)

    def assigns(x: Any) -> Any:
        count.assign_add(1)
        return x * 2.0

    def prints(x: Any) -> Any:
        print("here")
        return x * 2.0

    def appends(x: Any) -> Any:
        seen.append(1)
        return x * 2.0

    def draws(x: Any) -> Any:
        return x + tf.random.uniform([])

    def draws_from(x: Any) -> Any:
        return x + random.normal([])

    for f in (assigns, prints, appends, draws, draws_from):
        g: Any = up.function(f)
        for i in range(9):
            g(of_three(i))
        if f is assigns:  # in order, and once: a graph does that as well
            assert g.explain().gear == "tensorflow", g.explain()
        else:
            assert g.explain().gear == "plain" and g.explain().kinds[0].refusal is not None, g.explain()
    assert (int(count), len(seen), capsys.readouterr().out.split()) == (9, 9, ["here"] * 9)


def test_a_wrong_graph_is_never_seen(monkeypatch: pytest.MonkeyPatch) -> None:

    compile_wrongly(monkeypatch, [1.0])
    f: Any = up.function(added)
    with overheard() as said:
        for i in range(9):
            same(added(vector(i), vector(i)), f(vector(i), vector(i)))
    assert len(said) == 1 and f.explain().gear == "plain"


def test_exact_and_gears() -> None:
    for f in (up.function(added, exact=True), up.function(added, gears="llvm")):
        for i in range(6):
            f(vector(i), vector(i))
        assert f.explain().gear == "plain"  # type: ignore[attr-defined]
        assert "not allowed, or not exact" in str(f.explain())  # type: ignore[attr-defined]


def test_tensorflow_s_name_for_it() -> None:
    import upshift.tensorflow as ut

    assert ut.function is up.function


# ---- functions that change variables


def steps(wrap: Any, count: int = 12, toggles: Any = None) -> tuple[list[float], list[Any], Any]:
    """Losses and weights of a model that is trained by a step of the user's own."""
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(3)
    layers = [
        keras.layers.Dense(8, activation="relu"),
        keras.layers.Dropout(0.3),
        keras.layers.BatchNormalization(),
        keras.layers.Dense(1),
    ]
    model = keras.Sequential([keras.Input((4,)), *layers])
    optimizer, loss_of = keras.optimizers.Adam(0.02), keras.losses.MeanSquaredError()

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    step = wrap(step)
    rng = np.random.default_rng(0)
    losses = []
    for i in range(count):
        x = tf.constant(rng.normal(size=(16, 4)), tf.float32)
        if toggles is not None:
            toggles(i, model)
        losses.append(float(step(x, tf.reduce_sum(x, 1, keepdims=True))))
    return losses, [w.numpy() for w in (*model.variables, *optimizer.variables)], step


def test_a_training_step_is_one_graph() -> None:
    plain_losses, plain_weights, _ = steps(lambda f: f)
    losses, weights, step = steps(up.function)
    assert step.explain().gear == "tensorflow", step.explain()
    np.testing.assert_allclose(losses, plain_losses, rtol=1e-4)
    for mine, theirs in zip(weights, plain_weights, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=2e-4)


def test_settings_of_layers_are_seen_between_steps() -> None:
    def toggles(i: int, model: Any) -> None:
        if i == 6:
            model.layers[0].trainable = False
        if i == 9:
            model.layers[1].rate = 0.6

    plain_losses, plain_weights, _ = steps(lambda f: f, toggles=toggles)
    losses, weights, _ = steps(up.function, toggles=toggles)
    np.testing.assert_allclose(losses, plain_losses, rtol=1e-4)
    for mine, theirs in zip(weights, plain_weights, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=2e-4)


def test_a_call_that_fails_changes_variables_as_the_plain_one_does() -> None:
    """Whether all that may fail can be put before the assignments, or not."""
    first, second = tf.Variable(0.0), tf.Variable(1.0)

    def postponed(x: Any, i: Any) -> Any:
        first.assign_add(1.0)
        return tf.gather(x, i) * 2.0

    def in_between(x: Any, i: Any) -> Any:
        first.assign_add(1.0)
        second.assign(tf.gather(x, tf.cast(first, tf.int32) * 0 + i))
        return second * 2.0

    for f in (postponed, in_between):
        found = []
        for g in (f, up.function(f)):
            first.assign(0.0)
            second.assign(1.0)
            seen = []
            for i in (0, 1, 2, 0, 1, 2, 7, 1, 2, 7, 0):
                try:
                    seen.append(float(g(tf.constant([1.0, 2.0, 3.0]), tf.constant(i))))
                except tf.errors.InvalidArgumentError:
                    seen.append("raised")
                seen.append((float(first), float(second)))
            found.append(seen)
        assert found[0] == found[1] and g.explain().gear == "tensorflow", g.explain()


def test_tables_queues_and_prints_stay_plain() -> None:
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0.0, -1, -2)

    def remembers(x: Any) -> Any:
        table.insert(tf.constant(1, tf.int64), tf.reduce_sum(x))
        return x * 2.0

    def says(x: Any) -> Any:
        tf.print("", end="")
        return x * 2.0

    for f in (remembers, says):
        g: Any = up.function(f)
        for i in range(6):
            g(of_three(i))
        assert g.explain().gear == "plain", g.explain()


# ---- numbers alone, of which tensors are made


def summed(n: int) -> Any:
    total = tf.constant(0.0)
    for i in tf.range(n):
        if i % 2 == 0:
            total += tf.cast(i, tf.float32)
    return total


def halved(n: int) -> Any:
    x = tf.constant(1.0)
    for _ in range(n):
        x = x * 0.5 + 1.0
    return x


def chosen(n: int, backwards: bool) -> Any:
    return tf.range(n)[::-1] if backwards else tf.range(n)


def spread(k: float) -> Any:
    return tf.linspace(0.0, 1.0, 5) * k, tf.ones(3) + k


@pytest.mark.parametrize(
    ("f", "calls"),
    [
        (summed, [(3,), (4,), (5,), (60,), (4,)]),
        (halved, [(3,)] * 6 + [(4,)] * 6 + [(3,)]),
        (chosen, [(3, True)] * 6 + [(3, False)] * 6 + [(3, True)]),
        (spread, [(0.1,), (0.2,), (0.3,), (5.0,)]),
    ],
)
def test_functions_of_numbers_that_give_tensors(f: Any, calls: Any) -> None:
    g: Any = up.function(f)
    for args in calls:
        want, got = f(*args), g(*args)
        tf.nest.assert_same_structure(want, got)
        for one, other in zip(tf.nest.flatten(want), tf.nest.flatten(got), strict=True):
            same(one, other)
    assert g.explain().gear == "tensorflow", g.explain()


def test_a_loop_of_pythons_is_not_written_out_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    from upshift.tensorflow import whole

    monkeypatch.setattr(whole, "MOST_OPERATIONS", 30)
    g: Any = up.function(halved)
    for _ in range(12):
        same(halved(20), g(20))
    assert g.explain().gear == "plain" and "operations" in str(g.explain())
