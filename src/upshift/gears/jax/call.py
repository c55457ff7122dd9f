"""A call on one element's arrays, as its row sees it: values wherever lanes differ, constants as they are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...columns.kinds import Kind
from . import arithmetic as do
from .value import Value, Work, refuse


@dataclass(frozen=True, slots=True)
class JaxCall:
    """One call. Arguments are values, or constants as they are."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    keywords: dict[str, Any]
    makes: tuple[Kind, ...]
    several: bool = False

    @property
    def kind(self) -> Kind:
        """The kind of the one array that the call makes."""
        if self.several:
            raise refuse(f"{self.name} makes several arrays")
        return self.makes[0]

    @property
    def name(self) -> str:
        """NumPy's name of the function, for refusals."""
        return str(getattr(self.fn, "__name__", self.fn))

    def bound(self, *names: str) -> dict[str, Any]:
        """Arguments by name; one that is not among `names` is refused, never ignored."""
        try:
            found = dict(inspect.signature(self.fn).bind(*self.args, **self.keywords).arguments)
        except (TypeError, ValueError):
            raise refuse(f"the arguments of {self.name}") from None
        found |= found.pop("kwargs", {})
        given = {name: value for name, value in found.items() if value is not None and value is not _NOT_GIVEN}
        for name, value in given.items():
            if name not in names and not (name in _HARMLESS and value in (True, False, "C", "K", "same_kind")):
                raise refuse(f"{self.name} with {name}=")
        return given


Row = Callable[[Work, JaxCall], Value]
_NOT_GIVEN = getattr(np, "_NoValue", None)
_HARMLESS = frozenset(("out", "like", "subok", "copy", "casting", "order"))


def _values_in(tree: Any) -> Iterator[Value]:
    """All values among nested arguments."""
    if isinstance(tree, Value):
        yield tree
    elif isinstance(tree, list | tuple):
        for one in tree:
            yield from _values_in(one)
    elif isinstance(tree, dict):
        yield from _values_in(list(tree.values()))
    elif isinstance(tree, slice):
        yield from _values_in([tree.start, tree.stop, tree.step])


def is_known(tree: Any) -> bool:
    """Whether it is the same for all lanes and known now."""
    return next(_values_in(tree), None) is None


def known(value: Any, what: str) -> Any:
    """An argument that must be known now."""
    if not is_known(value):
        raise refuse(f"{what} that is not written in the function")
    return value


def value_of(work: Work, arg: Any, dtype: np.dtype[Any] | None = None) -> Value:
    """An argument as a value, of a dtype if one is asked for."""
    if isinstance(arg, list | tuple) and not is_known(arg):
        parts = [value_of(work, one, dtype) for one in arg]
        return work.moved(jnp.stack([part.x for part in parts]), *parts)
    if isinstance(arg, Value):
        return arg if dtype is None else do.cast(work, arg, dtype)
    array = np.asarray(arg)
    wanted = dtype or array.dtype
    if wanted.kind not in "biufc" or wanted == np.float16 or wanted.itemsize > 16 or array.dtype.kind not in "biufc":
        raise refuse(f"it computes with {wanted.name}")
    return do.from_constant(work, array if array.ndim else array[()], wanted)


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes of a reduction, counted from the first."""
    axis = known(axis, "an axis")
    if axis is None:
        return tuple(range(ndim))
    listed = axis if isinstance(axis, list | tuple) else (axis,)
    return tuple(sorted(int(one) % ndim for one in listed))
