"""Functions of tensors: a failure where an explanation does not say what runs, why, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import upshift.tensorflow as ut  # noqa: E402
from upshift.tensorflow.explain import WAYS  # noqa: E402

XS = tf.constant(np.linspace(-2, 2, 600), tf.float32)


def many(fn: Any, xs: Any = XS) -> Any:
    """The third call: by then another way has taken over where one can."""
    ut.map_fn(fn, xs)
    ut.map_fn(fn, xs)
    return ut.map_fn(fn, xs)


def test_explain_tells_ways_and_times() -> None:
    told = ut.explain(lambda x: tf.sin(x) * x, XS)
    assert told.gear in told.seconds and set(told.seconds) == {"loop", *WAYS} - {"python"}
    assert "float32[]" in str(told) and "600 elements" in str(told)
    assert any("devices: " in note for note in told.notes)


def test_explain_tells_prices_and_from_where_each_way_wins() -> None:
    told = ut.explain(lambda x: tf.sin(x) * x, tf.constant(np.linspace(-2, 2, 4096), tf.float32))
    data = told.to_dict()
    assert {gear["name"] for gear in data["gears"]} == set(told.seconds)
    for gear in data["gears"]:
        sizes = [n for n, _ in gear["points"]]
        assert len(sizes) > 1 and sizes == sorted(sizes) and gear["fixed"] is not None and gear["per_element"] >= 0
        assert (gear["ready_in"] > 0) is (gear["name"] != "loop")
    assert data["wins"][0]["from"] == 1 and "fastest: " in str(told)
    assert told.spent["run"] > 0 and told.spent["compile"] > 0
    assert "What each gear costs" in told._repr_html_() and "<svg" in told._repr_html_()


def test_explain_has_no_price_of_what_cannot_be_cut() -> None:
    told = ut.explain(lambda x: tf.reduce_sum(x), tf.ragged.constant([[1.0, 2.0], [3.0]] * 50))
    assert all(len(cost.points) == 1 for name, cost in told.costs.items() if name != "loop") and str(told)


def test_explain_gives_remedies_that_belong_to_tensors() -> None:
    told = ut.explain(lambda x: tf.reduce_sum(x, 0), tf.ones((30, 4)))
    assert "direct" in told.seconds
    assert told.refusals["python"].remedy.startswith("none is needed")
    told = ut.explain(lambda x: tf.linalg.inv(tf.linalg.diag(x + 1.0)), tf.ones((30, 4)))
    assert told.refusals["direct"].remedy.startswith("none is needed")


def test_explain_names_the_operation_that_falls_back_and_where() -> None:
    told = ut.explain(lambda im: tf.image.resize(im, [2, 2]), tf.zeros((30, 4, 4, 3)))
    note = next(note for note in told.notes if "ResizeBilinear" in note)
    assert "while loop" in note and "test_tf_explain.py" in note and "outside the map" in note
    assert "ResizeBilinear" in told.refusals["vectorized"].reason
    assert "test_tf_explain.py" in told.refusals["numpy"].where


def test_explain_runs_nothing_that_acts() -> None:
    variable = tf.Variable(0.0)
    told = ut.explain(lambda x: variable.assign_add(x), XS)
    assert variable.numpy() == 0.0 and told.gear == "loop" and not told.seconds
    assert "AssignAdd" in told.refusals["numpy"].reason and told.refusals["numpy"].remedy
    seen: list[float] = []
    told = ut.explain(lambda x: seen.append(float(x)) or x, XS)
    assert "captured" in told.refusals["map"].reason


def test_explain_tells_of_functions_without_a_graph() -> None:
    told = ut.explain(lambda x: np.sin(x.numpy()) * 2, XS)
    assert told.gear in told.seconds and set(told.seconds) == {"loop", "python"}
    assert "numpy" in told.refusals["map"].reason
    told = ut.explain(lambda x: tf.sin(x).numpy() * 2, XS)
    assert told.gear in told.seconds and set(told.seconds) == {"loop", "python"}
    told = ut.explain(lambda x: tf.sin(x) * 2, XS)
    assert "has a graph" in told.refusals["python"].reason


def test_explain_counts_graphs_with_their_reasons() -> None:
    def mapped(scale: float) -> Any:
        def fn(x: Any) -> Any:
            return tf.reshape(tf.sin(x) * scale, [1])

        many(fn)
        return fn

    for scale in (2.0, 3.0):
        fn = mapped(scale)
    note = next(note for note in ut.explain(fn, XS).notes if "graphs traced" in note)
    assert note.startswith("2 graphs") and "changed from 2.0 to 3.0" in note


def test_explain_within_a_graph() -> None:
    told = []

    @tf.function
    def mapped(xs: Any) -> Any:
        told.append(ut.explain(lambda x: tf.sin(x), xs))
        return xs

    mapped(XS)
    assert told[0].gear == "vectorized" and "graph" in str(told[0])


def test_explain_speaks_of_gpus_only_where_tensorflow_has_kernels_for_them() -> None:
    told = str(ut.explain(lambda x: tf.sin(x), XS))
    assert tf.test.is_built_with_gpu_support() or "GPU" not in told


def test_explain_tells_a_reason_once() -> None:
    told = str(ut.explain(lambda s: tf.strings.upper(s), tf.constant(["a", "b"])))
    assert told.count("StringUpper has no rule") <= 1
    told = str(ut.explain(lambda x: print(x) or x, XS))
    assert (
        told.count("calls print()") == 1 and "direct, python, numpy, xla, vectorized, map refuse: calls print()" in told
    )


def test_explain_calls_no_function_that_acts(capsys: Any) -> None:
    ut.explain(lambda x: print("called") or x, XS)
    assert "called" not in capsys.readouterr().out


def test_explain_names_a_line_of_the_users_not_of_a_librarys() -> None:
    layer = tf.keras.layers.Dense(2, dtype="mixed_float16")
    told = ut.explain(lambda v: layer(v[tf.newaxis])[0], tf.ones((40, 3)))
    assert told.refusals["numpy"].where == "" or "test_tf_explain.py" in told.refusals["numpy"].where
