"""The words a user says: `map`, `explain`, `source`. Functions and columns in, results and reasons out."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns.inputs import common_length, elements_of, listed
from .columns.outputs import empty
from .config import bytes_of, config, settings
from .errors import GearRefused, Refusal, UpshiftError
from .gears.binder import MISS
from .gears.frameworks import explain_on_tensors, of_tensors, owner_of, run_on_device, run_on_jax, run_on_tensors
from .gears.job import Job
from .gears.loop import OnError, check_policy, run_loop
from .gears.pace import Pace
from .loading import Later
from .plan.call import run, run_in
from .plan.entries import Begun, look_up, settle
from .plan.functions import FUNCTIONS, Function
from .plan.whole import stacked
from .trace.paths import plain_of
from .trace.positions import Apart
from .verify import check_columns, differ
from .words import refuse_unknown, split_words

if TYPE_CHECKING:
    from . import emit, frames
    from .gears import streams as random_streams
    from .plan import batch as batches
    from .plan import explanation
    from .plan.explained import Explanation
else:  # each takes some ten milliseconds to load
    emit, batches, frames = Later("upshift.emit"), Later("upshift.plan.batch"), Later("upshift.frames")
    random_streams, explanation = Later("upshift.gears.streams"), Later("upshift.plan.explanation")

GEARS = ("loop", "numpy", "llvm", "simd", "jax", "cuda", "threads", "processes")


def map(
    f: Callable[..., Any],
    *xs: Any,
    on_error: OnError = "raise",
    gear: str | None = None,
    exact: bool = False,
    randomness: str = "loop",
    seed: Any = None,
    memory: int | str | None = None,
    out: Any = None,
    workers: int | None = None,
    timeout: float | None = None,
    pure: bool | None = None,
    **shared: Any,
) -> Any:
    """`[f(*row, **shared) for row in zip(*xs)]`, stacked, in the fastest gear. Keywords are shared by all elements.

    >>> import upshift as up
    >>> up.map(lambda x: x * x if x > 2 else -x, [1.0, 2.0, 3.0])
    array([-1., -2.,  9.])
    >>> up.map(lambda a, b, scale: (a + b) * scale, [1, 2], [3, 4], scale=10)
    array([40, 60])
    >>> up.map(lambda x: 1 / x, [1, 0, 4], on_error=("fill", None))
    [1.0, None, 0.25]

    `on_error`: "raise" | "return" (the exceptions in place) | "skip" | ("fill", value). `gear`: "loop" | "numpy" |
    "llvm" | "processes" | "threads" forces one. `exact=True`: not one bit may differ from the loop; else floats may, by
    rounding (1e-9).
    `randomness="independent"`: every element has a random stream of its own, from `seed` and its position, instead of
    the loop's. `memory`: temporary memory, such as "512MB". `out`: an array that takes the result, such as a memmap.
    `workers`: how many processes or threads there may be. `timeout`: seconds for an element in a worker process.
    `pure=True`: calls of `f` are independent of each other, whatever they look like.
    """
    if type(f) is types.FunctionType and f.__dict__:
        f = plain_of(f)
    if workers is not None or timeout is not None or pure is not None:
        words = {"workers": workers, "timeout": timeout, "pure": pure}
        asked, shared = split_words(f, words, shared)
        with config(**asked):
            return _map_with(f, xs, on_error, gear, exact, Options(randomness, seed, memory, out), shared)
    if randomness != "loop" or memory is not None or out is not None:
        return _map_with(f, xs, on_error, gear, exact, Options(randomness, seed, memory, out), shared)
    if seed is not None:
        shared["seed"] = seed
    if gear is None and on_error == "raise" and of_tensors(f, xs):
        result = run_on_tensors(f, xs, shared, exact)
        if result is not MISS:
            return result
    if gear is None and on_error == "raise" and not shared and not exact and type(f) is types.FunctionType and xs:
        result = look_up(f, xs)
        if type(result) is Begun:
            return _map(f, xs, on_error, gear, exact, shared, result.results)
        if result is not MISS:
            return result
    return _map(f, xs, on_error, gear, exact, shared)


@dataclass(frozen=True, slots=True)
class Options:
    """What a call of `map` may ask for besides."""

    randomness: str
    seed: Any
    memory: int | str | None
    out: Any


def _map_with(f: Any, xs: Any, on_error: OnError, gear: Any, exact: bool, options: Options, shared: Any) -> Any:
    """`map` with options that a plain call has not."""
    if options.randomness not in ("loop", "independent"):
        raise ValueError(f'randomness must be "loop" or "independent", not {options.randomness!r}')
    if options.memory is not None:
        with config(memory=bytes_of(options.memory)):
            return map(f, *xs, on_error=on_error, gear=gear, exact=exact, randomness=options.randomness,
                       seed=options.seed, out=options.out, **shared)  # fmt: skip
    if options.randomness == "independent":
        check_policy(on_error)
        if gear not in (None, "loop", "numpy"):
            raise GearRefused(_APART)
        with random_streams.Streams(f, shared, options.seed) as streams:
            columns = make_job(f, xs, shared, exact).columns
            positions = range(len(columns[0]))
            function = FUNCTIONS.of(streams.apart, (positions, *columns), shared, exact)
            for arm in function.ledger.arms:
                if arm.name not in ("loop", "numpy"):
                    arm.refusal = _APART
            return _stored(_map(streams.apart, (positions, *columns), on_error, gear, exact, shared), options.out)
    if options.seed is not None:
        shared["seed"] = options.seed
    if options.out is not None:
        return _map_into(options.out, f, xs, on_error, gear, exact, shared)
    if gear is None and on_error == "raise" and of_tensors(f, xs):
        result = run_on_tensors(f, xs, shared, exact)
        if result is not MISS:
            return result
    return _map(f, xs, on_error, gear, exact, shared)


_APART = Refusal("llvm", "elements draw from streams of their own")


def _map_into(out: Any, f: Any, xs: Any, on_error: OnError, gear: Any, exact: bool, shared: Any) -> Any:
    """Part by part, so that neither elements nor results need all be in memory."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an array, not {out!r}")
    columns = [elements_of(x) for x in xs]
    n = common_length(columns)
    if on_error == "skip" or out.shape[:1] != (n,):
        raise ValueError(f"out has {out.shape[:1]} rows for {n} elements")
    size = max(n * PART_BYTES // max(out.nbytes, *(getattr(c, "nbytes", 0) for c in columns), 1), 1)
    for low in range(0, n, size):
        part = _map(f, tuple(column[low : low + size] for column in columns), on_error, gear, exact, shared)
        _stored(part, out[low : low + size])
    return out


PART_BYTES = 1 << 26
"""How much of a column or result is in work at once where the result goes to an array of the user's."""


def _stored(result: Any, out: Any) -> Any:
    if out is None:
        return result
    if not isinstance(result, np.ndarray) or result.shape != out.shape:
        shape = result.shape if isinstance(result, np.ndarray) else type(result).__name__
        raise ValueError(f"out has shape {out.shape}, the result is {shape}")
    np.copyto(out, result, casting="same_kind")
    return out


def _map(
    f: Any, xs: tuple[Any, ...], on_error: OnError, gear: str | None, exact: bool, shared: dict[str, Any],
    begun: list[Any] | None = None,
) -> Any:  # fmt: skip
    check_policy(on_error)
    if not callable(f):
        raise TypeError(f"the first argument must be callable, not {f!r}")
    if gear is not None and gear not in GEARS:
        raise UpshiftError(f"no gear named {gear!r}; there are {', '.join(GEARS)}")
    owner = owner_of(xs)
    if owner is not None:
        return _map_foreign(owner, f, xs, on_error, gear, exact, shared)
    lists = [listed(x) for x in xs]
    if any(made is not x for made, x in zip(lists, xs)):
        return map(f, *lists, on_error=on_error, gear=gear, exact=exact, **shared)
    if shared:
        refuse_unknown(f, shared)
    job = make_job(f, xs, shared, exact)
    job.on_error = on_error
    if job.n == 0:
        return empty(_annotation(f))
    if settings().disable:  # whatever was asked for
        return stacked(run_loop(job.call, job.columns, on_error), on_error)
    function = FUNCTIONS.of(f, job.columns, shared, exact)
    if gear is not None:
        return run_in(gear, job, function, on_error)
    result = run(job, function, on_error, begun)
    if on_error == "raise" and not shared and not exact:
        settle(f, xs, function, job.n)
    return result


def _map_foreign(owner: str, f: Any, xs: Any, on_error: OnError, gear: str | None, exact: bool, shared: Any) -> Any:
    """Arrays of JAX, or on a GPU, stay there and come back the same; in a gear that was named, NumPy's are made."""
    if owner == "frames":
        columns, dress = frames.taken(xs)
        return dress(map(f, *columns, on_error=on_error, gear=gear, exact=exact, **shared))
    off = settings().disable
    plain = on_error == "raise" and not exact and not off
    if owner == "jax" and plain and gear in (None, "jax"):

        def in_numpy(columns: list[Any]) -> Any:
            return _map(f, tuple(columns), on_error, None, exact, shared)

        return run_on_jax(f, xs, shared, in_numpy, check_columns)
    if owner == "cuda" and off:
        return _map(f, tuple(list(x) for x in xs), on_error, gear, exact, shared)
    if owner == "cuda" and on_error == "raise" and gear in (None, "cuda"):
        return run_on_device(f, xs, shared, exact, differ)
    if owner == "cuda":
        raise UpshiftError(f"arrays on a GPU run in the gear 'cuda', with on_error='raise', not in {gear!r}")
    return _map(f, tuple(np.asarray(x) for x in xs), on_error, gear, exact, shared)


def explain(f: Callable[..., Any], *xs: Any, exact: bool = False, **shared: Any) -> Explanation:
    """Which gear runs `f` over `xs`, what each gear costs, and why one refuses: as text, and in fields.

    >>> import upshift as up
    >>> explanation = up.explain(lambda x: print(x), [1.0, 2.0])
    >>> explanation.gear, explanation.refusals["numpy"].reason
    ('loop', 'prints')
    """
    if of_tensors(f, xs) and not exact:
        told: Explanation | None = explain_on_tensors(plain_of(f), xs, shared)
        if told is not None:
            return told
    job, function = _remembered(f, xs, shared, exact)
    return explanation.explain(job, function)


def source(f: Callable[..., Any], *xs: Any, exact: bool = False, **shared: Any) -> str:
    """The batched program as a readable NumPy function `batched(f, *columns)`, whose result is `map`'s.

    >>> import upshift as up
    >>> text = up.source(lambda x: x * x + 1, [1.0, 2.0])
    >>> namespace = {}
    >>> exec(text, namespace)
    >>> namespace["batched"](lambda x: x * x + 1, [1.0, 2.0])
    array([2., 5.])
    """
    if settings().disable:
        raise GearRefused(Refusal("numpy", explanation.SWITCHED_OFF))
    job, function = _remembered(f, xs, shared, exact)
    if job.n == 0:
        raise UpshiftError("an empty batch has no source: pass some elements")
    made = batches.batch(job, function.traces, Pace(1e9, 1e9), trial=True)
    if isinstance(made, Refusal):
        raise GearRefused(made)
    lanes = job.groups()[0].lanes
    if len(job.groups()) > 1 or lanes is None:
        raise GearRefused(Refusal("numpy", "elements are of several kinds; there is one source for each"))
    tree, _ = function.traces.tree(lanes, f, shared)
    try:
        return emit.source_of(tree, f, tuple(shared), exact)
    except emit.NoSource as reason:
        raise GearRefused(Refusal("numpy", f"it has no source: {reason}")) from None


def _remembered(f: Any, xs: tuple[Any, ...], shared: dict[str, Any], exact: bool) -> tuple[Job, Function]:
    if owner_of(xs) == "frames":
        xs = tuple(frames.taken(xs)[0])
    job = make_job(plain_of(f), xs, shared, exact)
    return job, FUNCTIONS.of(job.f, job.columns, shared, exact)


def make_job(f: Any, xs: tuple[Any, ...], shared: dict[str, Any], exact: bool) -> Job:
    """Arguments of `map` -> a job."""
    if not xs:
        raise TypeError("map needs at least one column of elements: up.map(f, xs)")
    columns = [elements_of(x) for x in xs]
    return Job(f, columns, shared, common_length(columns), exact)


def _annotation(f: Any) -> Any:
    f = f.f if isinstance(f, Apart) else f
    try:
        annotation = inspect.signature(f, eval_str=True).return_annotation
    except (TypeError, ValueError, NameError):
        return float
    return float if annotation is inspect.Signature.empty else annotation
