"""The public functions `map`, `explain` and `source`."""

from __future__ import annotations

import inspect
import os
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, overload

import numpy as np

from .columns.inputs import common_length, elements_of, is_record, listed
from .columns.outputs import empty
from .config import config, settings
from .errors import GearRefused, Refusal, UpshiftError, trim
from .gears.blocks import blocks_of
from .gears.capture_reader import MISS
from .gears.frameworks import (
    explain_on_tensors,
    of_tensors,
    owner_of,
    run_on_device,
    run_on_jax,
    run_on_tensors,
    run_on_torch,
    stacked_by_torch,
)
from .gears.job import Job
from .gears.loop import OnError, check_policy, run_loop
from .gears.pace import Pace
from .loading import Later
from .plan.assembly import stacked
from .plan.call import Begun, run
from .plan.entries import look_up, settle
from .plan.forced import run_in
from .plan.functions import FUNCTIONS, Function
from .trace.paths import plain_of
from .trace.positions import Apart
from .verify import check_columns, differ
from .views.progress import Progress, Watch, shown
from .words import refuse_unknown, split_words

if TYPE_CHECKING:
    from . import emit, files, frames
    from .gears import streams as random_streams
    from .plan import batch as batches
    from .plan import explanation
    from .plan.explained import Explanation
else:  # each takes some ten milliseconds to load
    emit, batches, frames = Later("upshift.emit"), Later("upshift.plan.batch"), Later("upshift.frames")
    random_streams, explanation = Later("upshift.gears.streams"), Later("upshift.plan.explanation")
    files = Later("upshift.files")

__tracebackhide__ = True  # pytest and IPython show the user's call, not ours
Gear = Literal["loop", "numpy", "llvm", "simd", "jax", "cuda", "threads", "processes", "ray"]
GEARS: tuple[Gear, ...] = get_args(Gear)
Out = TypeVar("Out")
Progressing = bool | Callable[[Progress], object] | None


@overload
def map(
    f: Callable[..., Any],
    *xs: Any,
    out: str | os.PathLike[str],
    on_error: OnError = "raise",
    gear: Gear | None = None,
    **words: Any,
) -> str: ...
@overload
def map(
    f: Callable[..., Any],
    *xs: Any,
    out: None = None,
    on_error: OnError = "raise",
    gear: Gear | None = None,
    **words: Any,
) -> Any: ...
@overload
def map(
    f: Callable[..., Any], *xs: Any, out: Out, on_error: OnError = "raise", gear: Gear | None = None, **words: Any
) -> Out: ...
def map(f: Callable[..., Any], *xs: Any, **words: Any) -> Any:
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
    the loop's. `memory`: temporary memory, such as "512MB". `out`: an array that takes the result, such as a memmap, or
    the path of a file. `workers`: so many processes or threads may run what is slow and does not compile, where that
    pays. `timeout`: seconds for an element in a worker process. `pure=True`: calls of `f` are independent of each
    other, whatever they look like. `progress`: True for a bar, or a function. `columns`: of a table or a file, those
    that are read; one name for its values alone. `resume=True`: go on where an interrupted run to the same `out` has
    ended.
    """
    try:
        if type(f) is types.FunctionType and f.__dict__:
            f = plain_of(f)
        if words or not xs:
            return _as_asked(f, xs, **words)
        if "tensorflow" in sys.modules and of_tensors(f, xs):
            result = run_on_tensors(f, xs, {}, False)
            if result is not MISS:
                return result
        begun = None
        if type(f) is types.FunctionType:
            result = look_up(f, xs)
            if type(result) is Begun:
                begun = result
            elif result is not MISS:
                return result
        return _map(f, xs, Asked("raise", None, False, {}), begun)
    except BaseException as error:
        trim(error)
        raise


def _as_asked(
    f: Callable[..., Any],
    xs: tuple[Any, ...],
    /,
    on_error: OnError = "raise",
    gear: Gear | None = None,
    exact: bool = False,
    randomness: Literal["loop", "independent"] = "loop",
    seed: Any = None,
    memory: int | str | None = None,
    out: Any = None,
    workers: int | None = None,
    timeout: float | None = None,
    pure: bool | None = None,
    progress: Progressing = None,
    columns: str | Sequence[str] | None = None,
    resume: bool | None = None,
    **shared: Any,
) -> Any:
    """A call of `map` that says how it is to be run, or what all elements share."""
    said = {"workers": workers, "timeout": timeout, "pure": pure, "progress": progress, "columns": columns}
    said, shared = split_words(f, {**said, "resume": resume}, shared)
    asked = Asked(on_error, gear, exact, shared)
    if not said and memory is out is seed is None and randomness == "loop":
        if gear is None and on_error == "raise" and xs and of_tensors(f, xs):
            result = run_on_tensors(f, xs, shared, exact)
            if result is not MISS:
                return result
        return _map(f, xs, asked)
    late: list[Any] = [said.pop(name, None) for name in LATE]
    with config(**said):
        return _map_with(f, xs, asked, Options(randomness, seed, memory, out, *late))


def _signature_of(spelled: Callable[..., Any]) -> inspect.Signature:
    """The signature that `map` shows: a call without keywords, the most frequent one, is not to look at them."""
    own, spelled_out = inspect.signature(map), inspect.signature(spelled)
    words = [word.replace(kind=word.kind if word.kind is word.VAR_KEYWORD else word.KEYWORD_ONLY)
             for word in list(spelled_out.parameters.values())[2:]]  # fmt: skip
    return own.replace(parameters=[*list(own.parameters.values())[:2], *words])


map.__signature__ = _signature_of(_as_asked)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Asked:
    """How elements are to be run."""

    on_error: OnError
    gear: Gear | None
    exact: bool
    shared: dict[str, Any]
    offset: int = 0
    """Where the first one stands in the whole that the user passed."""
    watch: Watch | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What a call of `map` may ask for besides."""

    randomness: str
    seed: Any
    memory: int | str | None
    out: Any
    progress: Any = None
    columns: str | Sequence[str] | None = None
    resume: bool | None = None


LATE = ("progress", "columns", "resume")
"""Options whose names a function may have for its own keywords."""


def _map_with(f: Any, xs: tuple[Any, ...], asked: Asked, options: Options) -> Any:
    """`map` with options that a plain call has not."""
    if options.randomness not in ("loop", "independent"):
        raise ValueError(f'randomness must be "loop" or "independent", not {options.randomness!r}')
    if options.memory is not None:
        with config(memory=options.memory):
            return _map_with(f, xs, asked, replace(options, memory=None))
    check_policy(asked.on_error)
    if options.resume and options.out is None:
        raise ValueError("resume=True needs out=, the file that an interrupted run has begun")
    if files.are_files(xs, options.out, options.columns):
        return _map_files(f, xs, asked, options)
    if options.progress:
        xs = tuple([x if hasattr(x, "__len__") else list(x) for x in xs])
        with shown(options.progress, _length(xs), asked.gear or owner_of(xs) or "loop") as watch:
            return _map_with(f, xs, replace(asked, watch=watch), replace(options, progress=None))
    if options.randomness == "independent":
        return _stored(_map_apart(f, xs, asked, options.seed), options.out)
    if options.seed is not None:
        asked.shared["seed"] = options.seed
    if asked.gear is None and asked.on_error == "raise" and of_tensors(f, xs):
        result = run_on_tensors(f, xs, asked.shared, asked.exact)
        if result is not MISS:
            return result
    return _map(f, xs, asked)


def _length(xs: tuple[Any, ...]) -> int:
    return common_length([elements_of(x) if is_record(x) else x for x in xs])


_APART = Refusal("llvm", "elements draw from streams of their own")


def _map_apart(f: Any, xs: tuple[Any, ...], asked: Asked, seed: Any) -> Any:
    """Every element with a random stream of its own."""
    if asked.gear not in (None, "loop", "numpy"):
        raise GearRefused(_APART)
    with random_streams.Streams(f, asked.shared, seed) as streams:
        columns = make_job(f, xs, asked.shared, asked.exact).columns
        positions = range(len(columns[0]))
        function = FUNCTIONS.of(streams.apart, (positions, *columns), asked.shared, asked.exact)
        for arm in function.ledger.arms:
            if arm.name not in ("loop", "numpy"):
                arm.refusal = _APART
        return _map(streams.apart, (positions, *columns), asked)


def _map_files(f: Any, xs: tuple[Any, ...], asked: Asked, options: Options) -> Any:
    """Elements from files, or results to them, block by block; all at once where the results are to be in memory."""
    asked.shared.update({} if options.seed is None else {"seed": options.seed})
    if options.out is None:
        whole = tuple([files.whole(x, options.columns) for x in xs])
        return _map_with(f, whole, asked, replace(options, columns=None, seed=None))
    source = files.source_of(xs, options.columns, options.out)
    sink = files.sink_of(options.out, source.n, asked.on_error)
    print_of = partial(files.fingerprint, f, asked.shared, (asked.on_error, asked.exact, asked.gear), source)

    def run(columns: tuple[Any, ...], low: int, watch: Watch | None) -> Any:
        now = replace(asked, shared=dict(asked.shared), offset=low, watch=watch)
        return _map(f, tuple(frames.taken(columns)[0]), now)

    with shown(options.progress, source.n, asked.gear or "loop") as watch:
        return files.flow(source, sink, partial(run, watch=watch), print_of if options.resume else None, watch)


def _stored(result: Any, out: Any) -> Any:
    if out is None:
        return result
    files.store(result, out)
    return out


def _map(f: Any, xs: tuple[Any, ...], asked: Asked, begun: Begun | None = None) -> Any:
    check_policy(asked.on_error)
    if not callable(f):
        raise TypeError(f"the first argument must be callable, not {f!r}")
    if asked.gear is not None and asked.gear not in GEARS:
        raise UpshiftError(f"no gear named {asked.gear!r}; there are {', '.join(GEARS)}")
    owner = owner_of(xs)
    if owner is not None:
        return _map_foreign(owner, f, xs, asked)
    lists = [listed(x) for x in xs]
    if any(made is not x for made, x in zip(lists, xs)):
        return _again(f, lists, asked)
    if asked.shared:
        refuse_unknown(f, asked.shared)
    job = make_job(f, xs, asked.shared, asked.exact)
    job.on_error, job.offset = asked.on_error, asked.offset
    if job.n == 0:
        return empty(_annotation(f))
    if settings().disable:  # whatever was asked for
        return stacked(run_loop(job.call, job.columns, asked.on_error, job.offset), asked.on_error)
    job.blocks = blocks_of(xs, asked.watch)
    function = FUNCTIONS.of(f, job.columns, asked.shared, asked.exact)
    if asked.gear is not None:
        return run_in(asked.gear, job, function, asked.on_error)
    result = run(job, function, asked.on_error, begun)
    if asked.on_error == "raise" and not asked.shared and not asked.exact:
        settle(f, xs, function, job.n)
    return result


def _again(f: Any, columns: Sequence[Any], asked: Asked) -> Any:
    """The same for elements in another shape, in which they may be settled."""
    if asked.watch is not None or asked.offset:
        return _map(f, tuple(columns), asked)
    if asked == Asked("raise", None, False, {}):
        return map(f, *columns)
    return _as_asked(f, tuple(columns), asked.on_error, asked.gear, asked.exact, **asked.shared)


def _map_foreign(owner: str, f: Any, xs: Any, asked: Asked) -> Any:
    """Arrays of JAX, or on a GPU, stay there and come back the same; in a gear that was named, NumPy's are made."""
    if owner == "files":
        return _map(f, tuple([files.whole(x, None) for x in xs]), asked)
    if owner == "frames":
        columns, dress = frames.taken(xs)
        return dress(_again(f, columns, asked))
    off, gear, exact = settings().disable, asked.gear, asked.exact
    plain = asked.on_error == "raise" and not exact and not off
    if owner == "jax" and plain and gear in (None, "jax"):

        def in_numpy(columns: list[Any]) -> Any:
            return _map(f, tuple(columns), replace(asked, gear=None))

        return run_on_jax(f, xs, asked.shared, in_numpy, check_columns)
    if owner == "torch":
        return _map_torch(f, xs, asked, plain and gear is None)
    if owner == "cuda" and off:
        return _map(f, tuple(list(x) for x in xs), asked)
    if owner == "cuda" and asked.on_error == "raise" and gear in (None, "cuda"):
        return run_on_device(f, xs, asked.shared, exact, differ)
    if owner == "cuda":
        raise UpshiftError(f"arrays on a GPU run in the gear 'cuda', with on_error='raise', not in {gear!r}")
    return _map(f, tuple(np.asarray(x) for x in xs), asked)


def _map_torch(f: Any, xs: tuple[Any, ...], asked: Asked, free: bool) -> Any:
    """Tensors of PyTorch; elements are tensors, too, but where a gear is named that computes with NumPy's numbers."""
    if asked.gear not in (None, "loop", "threads", "processes", "ray"):
        return stacked_by_torch(_map(f, tuple([np.asarray(x) for x in xs]), asked))

    def in_numpy(columns: list[Any]) -> Any:
        return _again(f, columns, asked)

    def plain(columns: list[Any]) -> Any:
        return _map(f, tuple(columns), asked)

    if not free:
        return stacked_by_torch(plain([list(x) for x in xs]))
    return run_on_torch(f, xs, asked.shared, asked.exact, in_numpy, plain)


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
