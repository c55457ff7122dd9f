"""The kinds of maps that TensorFlow's own tests go through: a failure where TensorFlow's map passes and ours
does not give the same: at once, when known, in a graph of a known or any length, under a tape, compiled by XLA."""

from __future__ import annotations

from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")

import upshift.tensorflow as ut  # noqa: E402
from tf_law import same  # noqa: E402
from tf_ported import MAPPED, RAGGED, VECTORIZED, WRONG, Case, Wrong  # noqa: E402

CASES = [*MAPPED, *RAGGED, *VECTORIZED]


def mapped(module: Any, case: Any, elems: Any) -> Any:
    if case.vectorized:
        return module.vectorized_map(case.fn, elems)
    return module.map_fn(case.fn, elems, fn_output_signature=case.signature)


def known(module: Any, case: Any) -> Any:
    if module is tf:
        return mapped(module, case, case.elems)
    return [mapped(module, case, case.elems) for _ in range(4)][-1]


def tensors(case: Any) -> Any:
    return tf.nest.map_structure(lambda x: x if tf.is_tensor(x) else tf.constant(x), case.elems)


def in_graph(module: Any, case: Any) -> Any:
    return tf.function(lambda elems: mapped(module, case, elems), autograph=not case.vectorized)(tensors(case))


def of_any_length(module: Any, case: Any) -> Any:
    columns = tf.nest.map_structure(lambda x: tf.type_spec_from_value(x)._unbatch()._batch(None), tensors(case))
    return tf.function(lambda elems: mapped(module, case, elems), [columns], autograph=not case.vectorized)(
        tensors(case)
    )


def slopes(module: Any, case: Any) -> Any:
    """What each number of the elements, and of the variables, adds to the results. Where it adds nothing TensorFlow's
    loops give zeros in some modes, and None in others: that is the same here."""
    with tf.GradientTape() as tape:
        elems = tensors(case)
        leaves = [leaf for leaf in tf.nest.flatten(elems, expand_composites=True) if leaf.dtype.is_floating]
        tape.watch(leaves)
        made = tf.nest.flatten(mapped(module, case, elems), expand_composites=True)
        loss = [tf.reduce_sum(tf.cast(tf.sin(leaf) * leaf, tf.float64)) for leaf in made if leaf.dtype.is_floating]
        total = tf.add_n(loss) if loss else tf.zeros([], tf.float64)
    found = tape.gradient(total, [*leaves, *tape.watched_variables()])
    return [tf.zeros_like(x) if one is None else tf.convert_to_tensor(one)
            for x, one in zip([*leaves, *tape.watched_variables()], found, strict=True)]  # fmt: skip


def slopes_in_graph(module: Any, case: Any) -> Any:
    return tf.function(lambda: slopes(module, case), autograph=not case.vectorized)()


def by_xla(module: Any, case: Any) -> Any:
    return tf.function(lambda elems: mapped(module, case, elems), autograph=not case.vectorized, jit_compile=True)(
        tensors(case)
    )


MODES: dict[str, Any] = {
    "eager": known,
    "graph": in_graph,
    "any length": of_any_length,
    "tape": slopes,
    "tape in graph": slopes_in_graph,
    "xla": by_xla,
}


SELDOM = ("any length", "tape in graph", "xla")
"""Modes that take long: some cases are run in all of them, others in every third one of these."""


def modes_of(i: int, case: Case) -> list[str]:
    leaves = tf.nest.flatten(tensors(case), expand_composites=True)
    sloped = case.slopes and any(leaf.dtype.is_floating for leaf in leaves)
    modes = [mode for mode in MODES if case.everywhere or mode not in SELDOM or mode == SELDOM[i % 3]]
    return [mode for mode in modes if sloped or "tape" not in mode]


RUNS = [(case, mode) for i, case in enumerate(CASES) for mode in modes_of(i, case)]
IDS = [f"{'vectorized' if case.vectorized else 'mapped'}: {case.name}: {mode}" for case, mode in RUNS]


@pytest.mark.parametrize(("case", "mode"), RUNS, ids=IDS)
def test_what_tensorflows_map_gives_ours_gives(case: Case, mode: str) -> None:
    try:
        want = MODES[mode](tf, case)
    except tf.errors.InvalidArgumentError:
        assert mode == "xla", "TensorFlow's own has to pass, but for operations that XLA cannot compile"
        return
    got = MODES[mode](ut, case)
    tf.nest.assert_same_structure(want, got)
    same(tf.nest.flatten(want, expand_composites=True), tf.nest.flatten(got, expand_composites=True), loose=10.0)


@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.name)
def test_what_tensorflows_map_refuses_ours_refuses(case: Wrong, mode: str) -> None:
    if case.theirs:
        with pytest.raises(case.theirs):
            MODES[mode](tf, case)
    with pytest.raises(case.error, match=case.text if mode == "eager" else None):
        MODES[mode](ut, case)
