"""A function and the kinds of its arguments in; out, machine code that runs it over lanes.

The kernel is one loop over lanes. A lane that raises is marked, and the loop goes on: the plain function runs it later.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import from_dtype, njit
from numba.core import cgutils, errors, types
from numba.extending import intrinsic

from ...columns.forms import LEAF, Form
from ...columns.kinds import Kind, array_kind, kind_of, kind_of_dtype
from ...trace.paths import Capture, Path, Roots
from ..ran import NotCompiled
from .beside import Watch
from .blocks import Refused
from .build import BUILD, Again, Build
from .classes import sort_of_argument
from .floats import register_symbols
from .inferred import is_wide
from .kept import kept
from .narrow import CASTS, is_narrow
from .pipeline import dispatcher_of
from .ranges import RELAXED
from .unit import NARROW, WIDE, Unit, text_of, unit_of, where_of

Shapes = Callable[[], Sequence[Any]]
"""Gives the shapes of a result's leaves, None for a number; it runs an element for that."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """Machine code for one function on one kind of elements."""

    unit: Unit
    bound: tuple[Capture, ...]
    """Arguments that are not elements: shared keywords, defaults and what was captured, in order."""
    run: Any
    """`run(left, *columns, *outs, *captured)`: fills in results, marks and counts lanes that are left."""
    form: Form
    kinds: tuple[Kind, ...]
    mixed: bool
    unsure: bool
    """Whether a result may be Python's number for one element and NumPy's for another."""
    near_numpy: bool
    """Whether NumPy's numbers are in play, which warn where Python's do not."""
    relaxed: bool
    """Whether lanes are left whose ints are not small."""
    packed: bool
    """Whether all arrays that it is given lie without gaps."""
    exact: bool
    """Whether its results are the plain function's very bits."""


def type_of(kind: Kind, readonly: bool = True, narrow: bool = False, layout: str = "A") -> Any:
    """The type of an element, or of a captured value."""
    if kind.dtype not in WIDE and not (narrow and kind.dtype in NARROW):
        raise NotCompiled("numba", f"its elements are of {kind.name}, which Numba promotes by rules of its own")
    number = from_dtype(kind.dtype)
    return number if kind.shape is None else types.Array(number, len(kind.shape), layout, readonly=readonly)


def compile_kernel(
    f: Any, kinds: Sequence[Kind], shared: dict[str, Any], shapes: Shapes, packed: bool, writes: bool = False,
    relaxed: bool = True,
) -> Kernel:  # fmt: skip
    """The kernel of a function, or `NotCompiled` with the reason.

    `shapes`: of results, where they are arrays. `packed`: elements that are arrays lie without gaps. `writes`: the
    function writes into its element, and is given a copy.
    `relaxed`: ints in loops may go unchecked where those that a turn begins with are small; else the lane is left.
    """
    unit = unit_of(f)
    build = Build({}, narrow=True)
    token, looked_at = BUILD.set(build), RELAXED.set([] if relaxed else None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.NumbaWarning)
            return _compile(unit, build, kinds, shared, shapes, packed, writes)
    except NotCompiled:
        raise
    except Exception as error:  # Numba's own, of many classes: every one is a reason to stay plain
        raise NotCompiled("numba", *reason_of(error, unit)) from error
    finally:
        BUILD.reset(token)
        RELAXED.reset(looked_at)


def _compile(
    unit: Unit, build: Build, kinds: Sequence[Kind], shared: dict[str, Any], shapes: Shapes, packed: bool, writes: bool
) -> Kernel:
    register_symbols()
    found = (*defaults_of(unit, len(kinds), shared), *unit.extra.values())
    bound = tuple(replace(capture, id=-i) for i, capture in enumerate(found, start=1))
    roots = Roots(unit.f, shared)
    packed = packed and all(roots.read(taken.path).flags.c_contiguous for taken in bound if taken.mode == "array")
    layout = "C" if packed else "A"
    captured = [type_of_capture(capture, narrow=True, layout=layout) for capture in bound]
    arguments = (*(type_of(kind, not writes, narrow=True, layout=layout) for kind in kinds), *captured)
    classes = [kind.python for kind in kinds] + [c.mode != "array" and c.expected.python for c in bound]
    given = _sorts(arguments, classes)
    taken, elements = classes[len(kinds) :], classes[: len(kinds)]
    alike = len(set(elements)) <= 1
    ways = [[python] * len(kinds) for python in (True, False)] if alike else [elements]
    either = [_sorts(arguments, [*way, *taken]) for way in ways]

    def make() -> tuple[Any, Any]:
        made = _settled(unit, build, arguments, given, either)
        form, results = form_of(made.signature.return_type, unit)
        outs = kinds_of(results)
        space = {"__name__": __name__, "attempt": _attempt(made)}
        exec(compile(_source(kinds, form, outs, len(bound), writes), "<upshift kernel>", "exec"), space)
        signature = _signature(kinds, outs, captured, layout)
        kernel = njit([signature], nogil=True, error_model="numpy", no_cfunc_wrapper=True)(space["kernel"])
        axes = [(k.dtype.str, None if k.shape is None else len(k.shape)) for k in outs]
        besides = form, axes, build.mixed, build.unsure, build.loose, bool(RELAXED.get())
        return kernel.overloads[signature.args], besides

    own = text_of(unit)
    told = not alike or any(map(_is_narrow, arguments)) or NAMES_NARROW.search(own)
    beside = classes if told else taken
    text = f"{own}\n{arguments}\n{beside}\n{[capture.path for capture in bound]}\n{writes}"
    run, (form, axes, mixed, unsure, loose, relaxed) = kept(f"{text}\n{RELAXED.get() is not None}", make)
    made = _shaped(axes, shapes, unit)
    near_numpy = is_near_numpy(kinds, bound, unit)
    unsure, exact = unsure and near_numpy, not (loose and near_numpy)
    return Kernel(unit, bound, run, form, made, mixed, unsure, near_numpy, relaxed, packed, exact)


NAMES_NARROW = re.compile(
    rf"\b({'|'.join(name for name, value in vars(np).items() if isinstance(value, type) and value in CASTS)})\b"
    r"|'[<>=|]?[bBhHiIfu][1248]?'"
)
"""Where a function names numbers of less than 64 bits; else what is Python's and what NumPy's makes no difference."""


def _is_narrow(t: Any) -> bool:
    return is_narrow(t.dtype if isinstance(t, types.Array) else t)


def _sorts(arguments: Sequence[Any], classes: Sequence[bool]) -> list[Any]:
    return [sort_of_argument(t, python) for t, python in zip(arguments, classes, strict=True)]


def _settled(unit: Unit, build: Build, arguments: tuple[Any, ...], given: list[Any], either: list[list[Any]]) -> Any:
    """The function as Numba compiles it, over again as long as something is learnt about its types."""
    while True:
        build.units.clear()
        build.dispatchers.clear()
        build.watch = Watch(unit, given, either, build).look
        try:
            dispatcher = dispatcher_of(unit, build)
            dispatcher.compile(arguments)
            return dispatcher.overloads[arguments]
        except Exception as error:  # Numba's own hold the one that counts
            if not any(isinstance(cause, Again) for cause in _causes(error)):
                raise


def _causes(error: BaseException) -> list[BaseException]:
    """An error, and all that it came from."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return chain


def _kind_of(dtype: np.dtype[Any], shape: tuple[int, ...] | None) -> Kind:
    kind = kind_of_dtype(dtype) if shape is None else array_kind(dtype, shape)
    assert kind is not None
    return kind


def is_near_numpy(kinds: Sequence[Kind], bound: Sequence[Capture], unit: Unit) -> bool:
    if any(not kind.python for kind in kinds):
        return True
    if any(taken.mode == "array" or not taken.expected.python for taken in bound):
        return True
    return any(_is_numpys(taken.expected) for taken in unit.built_in)


def _is_numpys(thing: Any) -> bool:
    return thing is np or isinstance(thing, np.ufunc) or str(getattr(thing, "__module__", "")).startswith("numpy")


def _attempt(made: Any) -> Any:
    """A call that says whether it raised, instead of raising."""
    result = made.signature.return_type
    returned = types.Tuple((types.boolean, result))

    @intrinsic  # type: ignore[untyped-decorator]
    def attempt(typing: Any, args: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            context.active_code_library.add_linking_library(made.library)
            given = [
                context.cast(builder, value, have, want)
                for value, have, want in zip(
                    cgutils.unpack_tuple(builder, values[0]), args.types, made.signature.args, strict=True
                )
            ]
            fn = context.declare_function(builder.module, made.fndesc)
            types_of = made.signature.return_type, made.signature.args
            status, value = context.call_conv.call_function(builder, fn, *types_of, given, ("alwaysinline",))
            value = builder.select(status.is_ok, value, cgutils.get_null_value(value.type))
            return context.make_tuple(builder, returned, (status.is_ok, value))

        return returned(args), generate

    return attempt


def _source(kinds: Sequence[Kind], form: Form, outs: list[Kind], captured: int, writes: bool) -> str:
    """The loop over lanes."""
    xs = [f"c{i}" for i in range(len(kinds))]
    ys = [f"o{i}" for i in range(len(outs))]
    ks = [f"k{i}" for i in range(captured)]
    copy = [".copy()" if writes and kind.shape is not None else "" for kind in kinds]
    given = "".join(f"{x}[i]{copied}, " for x, copied in zip(xs, copy, strict=True)) + "".join(f"{k}, " for k in ks)
    leaves = list(_leaves(form, "y"))
    fits = [
        f"{leaf}.shape == {y}.shape[1:]" for leaf, y, k in zip(leaves, ys, outs, strict=True) if k.shape is not None
    ]
    lines = [
        f"def kernel(left, {', '.join([*xs, *ys, *ks])}):",
        "    count = 0",
        "    for i in range(len(left)):",
        f"        ok, y = attempt(({given}))",
        f"        if {' and '.join(['ok', *fits])}:",
        *[f"            {line}" for leaf, y, k in zip(leaves, ys, outs, strict=True) for line in _stored(leaf, y, k)],
        "        else:",
        "            left[i] = True",
        "            count += 1",
        "    return count",
    ]
    return "\n".join(lines)


def _stored(leaf: str, y: str, kind: Kind) -> list[str]:
    """A result into its place. Arrays number by number: Numba takes seconds to compile how shapes might not fit."""
    index = [f"j{axis}" for axis in range(len(kind.lane_shape))]
    loops = [f"{'    ' * axis}for {j} in range({y}.shape[{axis + 1}]):" for axis, j in enumerate(index)]
    value = f"{leaf}[{', '.join(index)}]" if kind.shape is not None else leaf
    return [*loops, f"{'    ' * len(index)}{y}[{', '.join(['i', *index])}] = {value}"]


def _leaves(form: Form, text: str) -> Any:
    if form.cls is None:
        yield text
    for i, child in enumerate(form.children):
        yield from _leaves(child, f"{text}[{i}]")


def _signature(kinds: Sequence[Kind], outs: list[Kind], captured: Sequence[Any], layout: str) -> Any:
    def column(kind: Kind, layout: str, readonly: bool) -> Any:
        return types.Array(from_dtype(kind.dtype), 1 + len(kind.lane_shape), layout, readonly=readonly)

    columns = [column(kind, "C" if kind.shape is None else layout, True) for kind in kinds]
    results = [column(kind, "C", False) for kind in outs]
    left = types.Array(types.boolean, 1, "C")
    return types.int64(left, *columns, *results, *captured)


def type_of_capture(taken: Capture, narrow: bool = False, layout: str = "A") -> Any:
    if taken.mode != "array":
        return type_of(taken.expected, narrow=narrow)
    dtype, ndim = taken.expected
    return types.Array(type_of(_kind_of(dtype, None), narrow=narrow), ndim, layout, readonly=True)


def defaults_of(unit: Unit, columns: int, shared: dict[str, Any]) -> list[Capture]:
    """Arguments that no column fills: shared keywords and defaults."""
    f = unit.f
    parameters = list(inspect.signature(f).parameters.values())
    if any(p.kind not in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters):
        raise NotCompiled("numba", "takes variadic or keyword-only arguments", where_of(f))
    first = len(parameters) - len(f.__defaults__ or ())
    found = []
    for i, parameter in enumerate(parameters[columns:], start=columns):
        if parameter.name in shared:
            path: Path = (("shared", parameter.name),)
            value = shared[parameter.name]
        elif i >= first:
            path = (("f", None), ("default", i - first))
            value = f.__defaults__[i - first]  # type: ignore[index]
        else:
            raise NotCompiled("numba", f"it needs an argument {parameter.name}", where_of(f))
        found.append(_taken(value, path, parameter.name, f))
    if columns > len(parameters) or set(shared) - {p.name for p in parameters[columns:]}:
        raise NotCompiled("numba", "its arguments do not fit the elements", where_of(f))
    return found


def _taken(value: Any, path: Path, name: str, f: Any) -> Capture:
    kind = kind_of(value)
    if kind is not None and kind.dtype in WIDE | NARROW:
        return Capture(path, "input", kind)
    if type(value) is np.ndarray and value.dtype in WIDE | NARROW:
        return Capture(path, "array", (value.dtype, value.ndim))
    raise NotCompiled("numba", f"its argument {name} is a {type(value).__name__}", where_of(f), "use 64-bit numbers")


def form_of(result: Any, unit: Unit) -> tuple[Form, list[Any]]:
    """The form of a result, and the types of its leaves."""
    if isinstance(result, types.BaseTuple) and not isinstance(result, types.BaseNamedTuple):
        parts = [form_of(part, unit) for part in result]
        form = Form(tuple, tuple(range(len(parts))), tuple(part[0] for part in parts))
        return form, [leaf for part in parts for leaf in part[1]]
    if isinstance(result, types.Array) or is_wide(result) or is_narrow(result):
        return LEAF, [types.unliteral(result)]
    raise NotCompiled("numba", f"returns a {result}", where_of(unit.f))


def kinds_of(results: list[Any]) -> list[Kind]:
    """The kinds of a result's leaves; of the shapes of arrays, only how many axes they have is true."""
    return [
        _kind_of(_dtype_of(result.dtype), (0,) * result.ndim)
        if isinstance(result, types.Array)
        else _kind_of(_dtype_of(result), None)
        for result in results
    ]


def _shaped(axes: list[tuple[str, int | None]], shapes: Shapes, unit: Unit) -> tuple[Kind, ...]:
    """The kinds of a result's leaves. Arrays have the shapes that the plain function's have."""
    if all(count is None for _, count in axes):
        return tuple(_kind_of(np.dtype(dtype), None) for dtype, _ in axes)
    found = [*shapes(), *[None] * len(axes)]
    made = []
    for shape, (dtype, count) in zip(found, axes, strict=False):
        if count is not None and (shape is None or len(shape) != count):
            raise NotCompiled("numba", "the shapes of its results are not known", where_of(unit.f))
        made.append(_kind_of(np.dtype(dtype), None if count is None else shape))
    return tuple(made)


def _dtype_of(number: Any) -> np.dtype[Any]:
    return np.dtype("bool" if isinstance(number, types.Boolean) else str(number))


def reason_of(error: BaseException, unit: Unit) -> tuple[str, str]:
    """One sentence of what Numba says, and the place in the user's code."""
    chain = _causes(error)
    for cause in chain:
        if isinstance(cause, NotCompiled):
            return cause.refusal.reason, cause.refusal.where
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(map(str, chain)))
    lines = re.findall(r'File "[^"]*?([^"/\\]+)", line (\d+)', text)
    own = unit.f.__code__.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    line = next((int(number) for file, number in lines if file == own), None)
    marked = re.search(re.escape(Refused.MARK) + r"([^\n]+)", text)
    return marked.group(1) if marked else _first_sentence(text), where_of(unit.f, line)


def _first_sentence(text: str) -> str:
    """What is wrong, from Numba's wall of text."""
    patterns = (
        (
            r"Cannot unify ([\w\[\](), ]+?) and ([\w\[\](), ]+?) for '([\w.]+)'",
            "{2} is {0} on one path and {1} on another",
        ),
        (r"Can't unify return type from the following types: ([^\n]+)", "returns different types: {0}"),
        (r"Unknown attribute '(\w+)' of type ([^\n]+)", "uses the attribute {0} of a {1}"),
        (
            r"No implementation of function Function\((.+?)\) found for signature",
            "calls {0} in a way that is not compiled",
        ),
        (r"Untyped global name '(\w+)': *([^\n]*)", "uses {0}, which has no type in machine code"),
        (
            r"takes \d+ positional argument|missing \d+ required positional",
            "calls a function with other arguments than are compiled",
        ),
        (r"(\w+Error[^\n]*)", "{0}"),
    )
    for pattern, sentence in patterns:
        found = re.search(pattern, text)
        if found:
            return sentence.format(*found.groups())
    return next((line.strip() for line in text.splitlines() if line.strip()), "Numba refuses it")[:200]
