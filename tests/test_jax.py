"""The jax gear gives what the loop gives, or a reason in words."""

from __future__ import annotations

import dataclasses
import math
import threading
from typing import Any

import numpy as np
import pytest

import upshift as up
from array_samples import columns, function_of
from functions.table import Data, Row
from law import Rule, compare
from stacking import Raised, outcomes, stack
from test_law import ROWS, check_all
from upshift.columns.inputs import elements_of
from upshift.columns.outputs import Objects, gather
from upshift.gears.job import Job
from upshift.gears.ran import NotCompiled
from upshift.plan.functions import FUNCTIONS
from upshift.rules.arrays import ARRAYS
from upshift.verify import check_columns

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from upshift.gears.jax.columns import run_on_jax  # noqa: E402
from upshift.gears.jax.gear import Compiled, prepare, rounded_up  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@dataclasses.dataclass
class Outcome:
    """What became of a batch: why it was refused, or the program and the share of elements that it left."""

    reason: str | None = None
    compiled: Compiled | None = None
    left: float = 0.0


def trees_of(f: Any, xs: tuple[Any, ...]) -> dict[Any, Any]:
    """What the numpy gear has traced, by the signature of elements."""
    FUNCTIONS.clear()
    up.map(f, *xs, gear="numpy", on_error="return")
    return {
        signature: found[0]
        for known in FUNCTIONS.known.values()
        for signature, found in known.traces.trees.items()
        if found
    }


def compiled_for(f: Any, *xs: Any) -> Compiled:
    """The program for a batch of one kind of elements."""
    (tree,) = trees_of(f, xs).values()
    return prepare(tree, False)


def run(f: Any, *xs: Any, atol: float = 0.0) -> Outcome:
    """All groups of a batch through the gear, and against the loop."""
    try:
        trees = trees_of(f, xs)
    except up.GearRefused as refused:
        return Outcome(str(refused))
    job = Job(f, [elements_of(x) for x in xs], {}, len(xs[0]))
    outcome = Outcome("there is nothing to compile")
    found = outcomes(f, xs, {})
    for group in job.groups():
        tree = trees.get(group.lanes.signature) if group.lanes is not None else None
        if tree is None or tree.root is None:
            continue
        try:
            compiled = prepare(tree, False)
        except NotCompiled as reason:
            assert reason.refusal.reason
            return Outcome(str(reason.refusal))
        index = np.arange(job.n) if group.index is None else group.index
        ran = compiled.over(f, {}, group.lanes.columns, len(index), 2)
        assert ran is not None, "it does not stand on what it was traced with"
        against_the_loop(f, ran, index, found, job, atol)
        outcome = Outcome(None, compiled, len(ran.left) / ran.n)
    return outcome


def against_the_loop(f: Any, ran: Any, index: Any, found: list[Any], job: Job, atol: float) -> None:
    kept = sorted(set(range(ran.n)) - set(ran.left.tolist()))
    if not kept:
        return
    raised = [i for i in kept if isinstance(found[index[i]], Raised)]
    assert not raised, f"element {raised[0]} raises in the loop: {found[index[raised[0]]]!r}"
    kinds = check_columns(ran, False, f, lambda i: job.row(int(index[i])), kept)
    if isinstance(kinds, str) and kinds.startswith("the loop's results are"):
        return  # ints here and floats there: the plan refuses such a batch
    assert not isinstance(kinds, str), kinds
    want = [found[i] for i in index]
    if any(isinstance(one, Raised) for one in want):
        want = [want[i] for i in kept]
        got = gather(len(kept), [(slice(None), piece) for _, piece in ran.pieces(kinds)])
    else:
        left = [(ran.left, Objects([want[i] for i in ran.left.tolist()]))] if len(ran.left) else []
        got = gather(ran.n, [*ran.pieces(kinds), *left])
    difference = compare(stack(want, f), got, Rule(atol=atol))
    assert difference is None, difference


# ---- the tables


def chosen(row: Row) -> tuple[Data, ...]:
    """Datasets of a row: a nasty one if there is, and an ordinary one of another kind; compiling takes its time."""
    full = [data for data in row.data if all(map(len, data.columns))]
    nasty = [data for data in full if data.name.startswith(("nasty", "wide", "halves"))]
    others = [data for data in full if data not in nasty]
    at = sum(map(ord, row.name))
    return tuple(some[at % len(some)] for some in (nasty, others) if some)


@pytest.mark.parametrize("row", ROWS)
def test_same_as_the_loop(row: Row) -> None:
    check_all(row, lambda data: run(row.f, *data.columns).reason, chosen(row))


SAMPLES = [sample for row in ARRAYS.values() for sample in row.samples]


@pytest.mark.parametrize("sample", SAMPLES[::7])
def test_samples_of_arrays(sample: str) -> None:
    f, given = function_of(sample, columns())
    run(f, *given, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool", "complex128"])
@pytest.mark.parametrize("sample", SAMPLES[1::53])
def test_samples_of_other_dtypes(sample: str, dtype: str) -> None:
    given = {name: (c * 3).astype(dtype) if name in "xymcv" else c for name, c in columns(4, 7).items()}
    f, found = function_of(sample, given)
    run(f, *found, atol=1e-3 if dtype == "float32" else 1e-9)


MUST_RUN = [
    "np.exp(x - x.max()) / np.exp(x - x.max()).sum()", "np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))",
    "(x - x.mean()) / x.std()", "np.tanh(w @ v[:5] + s)", "np.where(x > s, x, y).clip(-1, 1)", "np.sort(v).cumsum()",
    "np.linalg.solve(m, m[0]) if abs(np.linalg.det(m)) > 1e-3 else m[0]", "np.abs(np.fft.rfft(v)) ** 2",
    "np.concatenate([x[0], v, [s, 1.0]])", "np.einsum('ij,kj->ik', x, w)", "x[i] + v[k[0]]", "np.argmax(w @ v[:5])",
    "np.outer(v, v).reshape(4, 9).T[::2]", "(k * 3 + j) % 7", "x.round(2).astype(int).sum()", "np.interp(s, w6, v)",
]  # fmt: skip


@pytest.mark.parametrize("sample", MUST_RUN)
def test_array_programs_run(sample: str) -> None:
    f, given = function_of(sample, columns())
    outcome = run(f, *given, atol=1e-12)
    assert outcome.reason is None and outcome.left < 0.2, outcome


def branches(x):
    if x < -1:
        return x * x
    if x > 1:
        return np.sqrt(x) * 3
    return x / 3 + 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arithmetic_has_the_very_bits(dtype) -> None:
    """XLA would fuse a product and a sum, and multiply by 1/3."""
    x, y, z = np.random.default_rng(0).normal(size=(3, 5000)).astype(dtype)
    for f in (
        lambda x, y, z: x * y + z,
        lambda x, y, z: x / 3 + y * 0.1 * 0.3,
        lambda x, y, z: x / np.sqrt(abs(y)) / z,
        lambda x, y, z: x // y + x % z - (x - y * z if x * y < z * 0.7 else 1 / y),
    ):
        ran = compiled_for(f, x, y, z).over(f, {}, (x, y, z), len(x), 2)
        assert not len(ran.left)
        assert ran.outs[0].tobytes() == up.map(f, x, y, z, gear="loop").tobytes()


def test_what_xla_takes_for_zero_is_left() -> None:
    x = np.array([5e-324, 1e-310, 1.0, 0.0, -1e-320, 2.0] * 4)
    for f in (lambda x: x > 0, lambda x: x * 1e-200 * 1e200, lambda x: 1.0 if x else 2.0, np.exp):
        outcome = run(f, x - 740.0 if f is np.exp else x)
        assert outcome.reason is None


def test_cancelled_results_are_left() -> None:
    x = np.concatenate([np.linspace(0.1, 1, 50), [1e-9, 1e-12]])
    ran = compiled_for(f := lambda x: np.sin(x) - x * np.cos(x), x).over(f, {}, (x,), len(x), 2)
    assert {50, 51} <= set(ran.left.tolist()) and len(ran.left) < 10


def test_decisions_on_what_may_be_off_are_the_loops() -> None:
    x = np.linspace(0, 3, 3001)
    assert run(lambda x: 1 if math.sin(x) ** 2 + math.cos(x) ** 2 > 1 else 0, x.tolist()).reason is None
    assert run(lambda x: math.floor(math.exp(math.log(x + 1.0))), np.arange(1.0, 400).tolist()).reason is None


def test_ints_never_wrap() -> None:
    big = [5, -7, 2**62, -(2**62), 3037000500, 2**63 - 1, -(2**63), 0]
    for f in (lambda n: n * n, lambda n: n + n, lambda n: -n, lambda n: n * 3 - 1, lambda n: n << 2, lambda n: n**3):
        assert run(f, big).reason is None
        assert run(f, np.array(big)).reason is None


def test_it_is_never_exact() -> None:
    (tree,) = trees_of(branches, (np.linspace(-3, 3, 50),)).values()
    with pytest.raises(NotCompiled, match="bits"):
        prepare(tree, True)
    assert prepare(tree, False).exact is False


SCALE = np.arange(3.0)


def test_captured_values_are_read_anew() -> None:
    x = np.random.default_rng(1).normal(size=(20, 3))
    f = lambda v: (v * SCALE * np.sum(SCALE)).sum()
    compiled = compiled_for(f, x)
    for change in (1.0, -2.0, 0.5):
        SCALE[1] = change
        got = compiled.over(f, {}, (x,), 20, 2).outs[0]
        np.testing.assert_allclose(got, [f(v) for v in x], rtol=1e-12)
    assert compiled.compilations == 1


def test_results_can_be_written_to() -> None:
    x = np.linspace(-3, 3, 50)
    out = compiled_for(branches, x).over(branches, {}, (x,), 50, 2).outs[0]
    out[0] = 7.0
    assert x[0] == -3


def test_fifty_lengths_share_a_few_compilations() -> None:
    x = np.linspace(-3, 3, 3000)
    compiled = compiled_for(branches, x)
    for n in np.linspace(1000, 3000, 50).astype(int).tolist():
        ran = compiled.over(branches, {}, (x[:n],), n, 2)
        assert len(ran.outs[0]) == n and not len(ran.left)
    assert compiled.compilations <= 14
    assert all(n <= rounded_up(n) <= max(1.125 * n, 16) for n in range(1, 5000))


def test_the_users_settings_stay() -> None:
    x = np.linspace(-3, 3, 50)
    assert not jax.config.jax_enable_x64
    seen = []

    def work() -> None:
        compiled = compiled_for(branches, x)
        compiled.over(branches, {}, (x,), 50, 2)
        seen.append((jax.config.jax_enable_x64, jnp.arange(2.0).dtype.name))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    work()
    with pytest.raises(NotCompiled):
        compiled_for(lambda v: np.partition(v, 1).sum(), np.ones((3, 4)))
    assert seen == [(False, "float32")] * 2
    assert not jax.config.jax_enable_x64 and jnp.arange(2.0).dtype == np.float32


@pytest.mark.parametrize("name", ["jax_numpy_dtype_promotion", "jax_numpy_rank_promotion", "jax_debug_nans"])
def test_whatever_the_user_has_set(name: str) -> None:
    before = getattr(jax.config, name)
    jax.config.update(
        name, {"jax_numpy_dtype_promotion": "strict", "jax_numpy_rank_promotion": "raise"}.get(name, True)
    )
    try:
        f, given = function_of("(x + 2 * v[:5] * s).sum() + np.log(s)", columns())
        assert run(f, *given, atol=1e-12).reason is None
    finally:
        jax.config.update(name, before)


# ---- JAX arrays


def on_jax(f: Any, *xs: Any, **shared: Any) -> Any:
    return run_on_jax(f, xs, shared, lambda cs: up.map(f, *cs, **shared), check_columns)


def test_jax_arrays_give_jax_arrays() -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=1000).astype(np.float32))
    y = on_jax(branches, x)
    assert isinstance(y, jax.Array) and y.dtype == np.float32 and y.devices() == x.devices()
    np.testing.assert_array_equal(np.asarray(y), up.map(branches, np.asarray(x)))
    assert on_jax(lambda x: math.sin(x), x).dtype == np.float64  # as the loop has it
    assert on_jax(lambda x: x > 0, x).dtype == bool
    pair = on_jax(lambda x: (x, {"twice": [x, x * 2]}), x)
    assert pair[1]["twice"].shape == (1000, 2)
    assert not jax.config.jax_enable_x64


def test_elements_that_are_left_are_put_in_place() -> None:
    x = jnp.asarray(np.array([4.0, 1e-40, -9.0, 16.0] * 20, np.float32))
    f = lambda x: x * np.float32(1e30) if x > 0 else -x
    np.testing.assert_array_equal(np.asarray(on_jax(f, x)), up.map(f, np.asarray(x), gear="loop"))


def test_what_is_refused_is_the_plain_functions() -> None:
    assert on_jax(lambda x: f"{x:.1f}", jnp.arange(3.0)) == ["0.0", "1.0", "2.0"]
    with pytest.raises(ZeroDivisionError) as caught:
        on_jax(lambda x: 1 / float(x), jnp.asarray([1.0, 0.0, 2.0]))
    assert caught.value.upshift_element == 1


def test_inside_jit_vmap_and_grad() -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=(4, 30)).astype(np.float32)) * 2
    hand = lambda x: jnp.where(x < -1, x * x, jnp.where(x > 1, jnp.sqrt(jnp.where(x > 1, x, 1)) * 3, x / 3 + 1))
    mine = lambda x: on_jax(branches, x)
    np.testing.assert_allclose(jax.jit(mine)(x[0]), hand(x[0]), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(mine)(x), hand(x), rtol=1e-6)
    np.testing.assert_allclose(
        jax.grad(lambda x: mine(x).sum())(x[0]), jax.grad(lambda x: hand(x).sum())(x[0]), rtol=1e-6
    )


def test_gradients_of_what_is_shared() -> None:
    rng = np.random.default_rng(0)
    xs, w = (jnp.asarray(rng.normal(size=shape).astype(np.float32)) for shape in ((20, 3), (4, 3)))
    mine = lambda w: on_jax(lambda x, w: np.tanh(w @ x * 2).sum(), xs, w=w).mean()
    hand = lambda w: jax.vmap(lambda x: jnp.tanh(w @ x * 2).sum())(xs).mean()
    with jax.default_matmul_precision("highest"):  # a GPU's default has 10 bits
        np.testing.assert_allclose(jax.jit(jax.grad(mine))(w), jax.grad(hand)(w), rtol=1e-5)


def rare(x):
    if x > 1e6:
        return x * 2
    return x


@pytest.mark.parametrize("f", [rare, lambda x: math.sqrt(x)])
def test_inside_jit_every_branch_must_have_been_tried(f) -> None:
    with pytest.raises(up.GearRefused, match=r"test_jax\.py:\d+"):
        jax.jit(lambda x: on_jax(f, x))(jnp.arange(3.0))
