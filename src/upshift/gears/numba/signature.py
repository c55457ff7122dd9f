"""The types of a function's arguments and results for Numba, and in one sentence why Numba refuses a function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import from_dtype
from numba.core import types

from ...columns.forms import LEAF, Form
from ...columns.kinds import Kind, array_kind, kind_of, kind_of_dtype
from ...trace.paths import Capture, Path
from ..ran import NotCompiled
from .blocks import Refused
from .inferred import is_wide
from .unit import WIDE, Unit, where_of


def type_of(kind: Kind) -> Any:
    """The type of an element, or of a captured value."""
    if kind.dtype not in WIDE:
        raise NotCompiled("numba", f"its elements are of {kind.name}, which Numba promotes by rules of its own")
    number = from_dtype(kind.dtype)
    return number if kind.shape is None else types.Array(number, len(kind.shape), "A", readonly=True)


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


def type_of_capture(taken: Capture) -> Any:
    if taken.mode != "array":
        return type_of(taken.expected)
    dtype, ndim = taken.expected
    return types.Array(type_of(_kind_of(dtype, None)), ndim, "A", readonly=True)


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
    if kind is not None and kind.dtype in WIDE:
        return Capture(path, "input", kind)
    if type(value) is np.ndarray and value.dtype in WIDE:
        return Capture(path, "array", (value.dtype, value.ndim))
    raise NotCompiled("numba", f"its argument {name} is a {type(value).__name__}", where_of(f), "use 64-bit numbers")


def form_of(result: Any, unit: Unit) -> tuple[Form, list[Any]]:
    """The form of a result, and the types of its leaves."""
    if isinstance(result, types.BaseTuple) and not isinstance(result, types.BaseNamedTuple):
        parts = [form_of(part, unit) for part in result]
        form = Form(tuple, tuple(range(len(parts))), tuple(part[0] for part in parts))
        return form, [leaf for part in parts for leaf in part[1]]
    if isinstance(result, types.Array) or is_wide(result):
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
