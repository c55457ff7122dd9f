"""Maps over PyTorch's tensors. The law is the loop over their elements, which are tensors, too.

A function of plain arithmetic runs in the gears for NumPy's numbers, on the very memory of the tensors (DLPack); one of
PyTorch's operations, or under autograd, by `torch.func.vmap`. Both are compared with the loop on some elements, and
where they differ or cannot, there is the loop itself, through which gradients flow.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ...libraries import acting
from ..workers.purity import captured_by, may_change, why_impure

Map = Callable[[list[Any]], Any]
COMPARED = 8
"""Elements on which a way is compared with the loop."""
FLOATS = (torch.float32, torch.float64)
"""What NumPy and PyTorch compute alike; their ints differ where they overflow or are divided."""
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-5}
_OWN = acting("torch")
"""What `vmap` itself knows of: it refuses random numbers, and writes to what is captured."""
MOST_KNOWN = 1024
_REFUSED: dict[Any, Any] = {}
"""Ways that were tried and are not the loop's, by function and kinds of columns; with what keeps the ids alive."""


class Other(Exception):
    """This way does not give what the loop gives."""


def run_on_torch(
    f: Any,
    xs: Sequence[Any],
    shared: dict[str, Any],
    exact: bool,
    in_numpy: Callable[..., Any],
    plain: Callable[..., Any],
) -> Any:
    """`in_numpy(columns)`: the map over NumPy's arrays; `plain(columns)`: over lists of tensors."""
    n = len(xs[0])
    tensors = [x for x in xs if isinstance(x, torch.Tensor)]
    refused = _REFUSED.setdefault(_key(f, xs), (f, set()))[1]
    if len(_REFUSED) > MOST_KNOWN:
        _REFUSED.clear()
    for way in _ways(f, xs, tensors, shared, exact) if n > 1 else []:
        if way in refused:
            continue
        try:
            return _by_vmap(f, xs, shared, n) if way == "vmap" else _by_numpy(f, xs, shared, in_numpy, n)
        except Exception:  # whatever it is, the loop gives it for the element that it comes from
            refused.add(way)
    return stacked(plain([list(x) if isinstance(x, torch.Tensor) else x for x in xs]))


def _key(f: Any, xs: Sequence[Any]) -> Any:
    kinds = tuple([(x.dtype, x.shape[1:], x.requires_grad) if isinstance(x, torch.Tensor) else type(x) for x in xs])
    return id(getattr(f, "__code__", f)), torch.is_grad_enabled(), kinds


def _ways(f: Any, xs: Sequence[Any], tensors: list[Any], shared: dict[str, Any], exact: bool) -> list[str]:
    if why_impure(f, shared, allowed=_OWN)[0] or may_change(f, shared):
        return []
    tracked = torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
    if tracked or _names_torch(f, 3):
        return ["vmap"] if len(tensors) == len(xs) and not exact else []
    on_cpu = all(x.device.type == "cpu" and x.dtype in FLOATS and x.layout is torch.strided for x in tensors)
    return ["numpy"] if on_cpu and not any(x.is_conj() or x.is_neg() for x in tensors) else []


def _names_torch(f: Any, deepest: int) -> bool:
    """Whether a function, or one that it names, uses something of PyTorch's."""
    if isinstance(f, types.ModuleType):
        return f.__name__.partition(".")[0] == "torch"
    if isinstance(f, torch.Tensor | torch.nn.Module) or type(f).__module__.partition(".")[0] == "torch":
        return True
    if (getattr(f, "__module__", None) or "").partition(".")[0] == "torch":
        return True
    if type(f) is not types.FunctionType or not deepest:
        return False
    return any(_names_torch(value, deepest - 1) for _, value in captured_by(f))


def _by_vmap(f: Any, xs: Sequence[Any], shared: dict[str, Any], n: int) -> Any:
    made = torch.func.vmap(lambda *row: f(*row, **shared))(*xs)
    _compare(made, f, xs, shared, n)
    return made


def _by_numpy(f: Any, xs: Sequence[Any], shared: dict[str, Any], in_numpy: Callable[..., Any], n: int) -> Any:
    columns = [np.from_dlpack(x.detach()) if isinstance(x, torch.Tensor) else x for x in xs]
    with np.errstate(all="ignore"):  # PyTorch does not warn
        made = _as_tensors(in_numpy(columns))
    _compare(made, f, xs, shared, n)
    return made


def _as_tensors(made: Any) -> Any:
    """Arrays as tensors on the same memory, in whatever they are in."""
    if isinstance(made, np.ndarray):
        return torch.from_dlpack(made if made.flags.writeable else made.copy())
    if isinstance(made, dict):
        return {key: _as_tensors(value) for key, value in made.items()}
    if isinstance(made, tuple):
        columns = [_as_tensors(value) for value in made]
        return type(made)(*columns) if hasattr(made, "_fields") else tuple(columns)
    raise Other


def _compare(made: Any, f: Any, xs: Sequence[Any], shared: dict[str, Any], n: int) -> None:
    """`Other`, where some elements of it are not the loop's."""
    at = sorted({int(i) for i in np.linspace(0, n - 1, COMPARED)})
    with torch.no_grad():
        wanted = stacked([f(*(x[i] for x in xs), **shared) for i in at])
    _same(made, wanted, at)


def _same(made: Any, wanted: Any, at: list[int]) -> None:
    if isinstance(wanted, torch.Tensor):
        if not isinstance(made, torch.Tensor) or made.dtype != wanted.dtype or made.shape[1:] != wanted.shape[1:]:
            raise Other
        some = made.detach()[at]
        close = CLOSE.get(wanted.dtype)
        same = (
            torch.equal(some, wanted) if close is None else torch.allclose(some, wanted, close, close, equal_nan=True)
        )
        if not same:
            raise Other
        return
    if type(made) is not type(wanted) or not isinstance(wanted, dict | tuple) or len(made) != len(wanted):
        raise Other
    for key in wanted if isinstance(wanted, dict) else range(len(wanted)):
        _same(made[key], wanted[key], at)


def stacked(results: Any) -> Any:
    """A loop's results as tensors, where they are numbers or tensors of one shape; in dicts and tuples alike."""
    if isinstance(results, np.ndarray) and results.dtype != object:
        return torch.from_numpy(results)
    if isinstance(results, dict):
        return {key: stacked(value) for key, value in results.items()}
    if isinstance(results, tuple):
        columns = [stacked(value) for value in results]
        return type(results)(*columns) if hasattr(results, "_fields") else tuple(columns)
    if not isinstance(results, list) or not results:
        return results
    if all(isinstance(one, torch.Tensor) for one in results):
        kinds = {(one.shape, one.dtype, one.device) for one in results}
        return torch.stack(results) if len(kinds) == 1 else results
    return _of_objects(results)


def _of_objects(results: list[Any]) -> Any:
    first = results[0]
    if all(type(one) in (int, float, bool) for one in results):
        return torch.from_numpy(np.array(results))
    if type(first) is dict and all(type(one) is dict and one.keys() == first.keys() for one in results):
        return {key: stacked([one[key] for one in results]) for key in first}
    if isinstance(first, tuple) and all(type(one) is type(first) and len(one) == len(first) for one in results):
        columns = [stacked(list(column)) for column in zip(*results)]
        return type(first)(*columns) if hasattr(first, "_fields") else tuple(columns)
    return results
