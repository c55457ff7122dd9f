"""A rule's run as an Op: what it makes is looked at, and where it is not what the plain call makes, that is called."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...columns.forms import flatten
from ...columns.kinds import Column, Kind, kind_of_value
from ...columns.layout import Strides, is_dense, laid_out, lanes_laid_out, order_of
from ...errors import is_refused_write
from ..op import Op, Span, Spans

Made = tuple[Kind, ...]
"""The kinds of what a call makes: one, or several for a call that makes several arrays."""


BUFFER = 8192
"""Numbers that NumPy gathers at a time where they are not together in memory, or not of the dtype it works in."""


@dataclass(frozen=True, eq=False)
class ArrayOp(Op):
    """A call on arrays, for all lanes. `plain` is the call for one lane; `lanes` tells which arguments are columns."""

    plain: Callable[..., Any] = max
    lanes: tuple[bool, ...] = ()
    kinds: tuple[Kind | None, ...] = ()
    makes: Made = ()
    several: bool = False
    updates: bool = False
    """Whether it gives back its first argument, changed; which may be done in place when nobody else looks at it."""
    by_rows: bool = False
    frees: bool = False
    ordered: bool = False
    """Whether its bits depend on the order of the axes in memory."""
    layouts: tuple[Strides | None, ...] = ()
    """How each array lay in memory when it was traced: products of matrices have other bits for other layouts."""
    calls: list[int] = field(default_factory=lambda: [0])
    """How often the plain call had to be made for every lane, for tests."""

    simple = False

    @property
    def each(self) -> bool:  # type: ignore[override]
        """Whether the function is called for every lane by itself."""
        return self.by_rows

    def over(self, args: list[Any], spans: Spans) -> tuple[Any, Column | None, Span | None]:
        """The rule's result for all lanes, or the plain call lane by lane where it is not of the expected kind."""
        n = len(args[self.lanes.index(True)])
        try:
            out = self._in_order(args) if self.ordered else self.run(*args)
        except Exception:  # a lane that raises, or arguments that are none of the rule's: found out lane by lane
            out = None
        if self.fits(out, n):
            return out, None, None
        self.calls[0] += 1
        made, leave = each_lane(self.plain, args, self.lanes, self.kinds, self.makes, n, self.layouts)
        return (made if self.several else made[0]), leave, None

    def _in_order(self, args: list[Any]) -> Any:
        """The call on lanes that lie as they did when traced; None where NumPy would go through one part by part."""
        orders = self._orders
        if orders is None:
            return None
        return self.run(*[lanes_laid_out(arg, orders[at]) if at in orders else arg for at, arg in enumerate(args)])

    @functools.cached_property
    def _orders(self) -> dict[int, list[int]] | None:
        found = {}
        for at, (strides, kind, lane) in enumerate(zip(self.layouts, self.kinds, self.lanes, strict=True)):
            if strides is None or kind is None or not lane:
                continue
            shape, alike = kind.lane_shape, kind.dtype == self.makes[0].dtype
            large = not self.by_rows and math.prod(shape) > BUFFER
            if large and not (alike and is_dense(shape, strides, kind.dtype.itemsize)):
                return None
            found[at] = order_of(shape, strides)
        return found

    def fits(self, out: Any, n: int) -> bool:
        """Whether a result has the dtype and shape that the plain call gave for the traced element."""
        if not self.several:
            kind = self.makes[0]
            return type(out) is np.ndarray and out.dtype == kind.dtype and out.shape == (n, *kind.lane_shape)
        if out is None or len(out) != len(self.makes):
            return False
        return all(
            type(column) is np.ndarray and column.dtype == kind.dtype and column.shape == (n, *kind.lane_shape)
            for column, kind in zip(out, self.makes, strict=True)
        )


def each_lane(
    fn: Callable[..., Any],
    args: list[Any],
    lanes: tuple[bool, ...],
    kinds: tuple[Kind | None, ...],
    makes: Made,
    n: int,
    layouts: tuple[Strides | None, ...] = (),
) -> tuple[tuple[Column, ...], Column | None]:
    """The plain call for every lane, and a mask of the lanes where it raised or made something of another kind."""
    outs = tuple(np.zeros((n, *kind.lane_shape), kind.dtype) for kind in makes)
    leave = np.zeros(n, bool)
    for i, row in enumerate(rows_of(args, lanes, kinds, n, layouts)):
        try:
            result = call_on(fn, row)
            found = flat_results(result)
            fits = len(found) == len(makes) and all(kind_of_value(r) is k for r, k in zip(found, makes, strict=True))
        except Exception:
            fits = False
        if not fits:
            leave[i] = True
            continue
        for out, one in zip(outs, found, strict=True):
            out[i] = one
    return outs, leave if leave.any() else None


def rows_of(
    args: list[Any],
    lanes: tuple[bool, ...],
    kinds: tuple[Kind | None, ...],
    n: int,
    layouts: tuple[Strides | None, ...] = (),
) -> Iterator[list[Any]]:
    """The arguments of every lane, as the loop would see them: arrays are not to be written to."""
    columns = [
        kind.scalars(protected(arg)) if lane and kind is not None else None
        for arg, lane, kind in zip(args, lanes, kinds, strict=True)
    ]
    for i in range(n):
        row = [arg if column is None else column[i] for arg, column in zip(args, columns, strict=True)]
        yield [_lying(arg, strides) for arg, strides in zip(row, layouts, strict=True)] if layouts else row


def protected(column: Column) -> Column:
    """A column that cannot be written to: it may be the caller's own."""
    view = column.view()
    view.flags.writeable = False
    return view


def call_on(fn: Callable[..., Any], args: list[Any], keywords: dict[str, Any] | None = None) -> Any:
    """A call on protected arrays, or on copies where it insists on arrays that it could write to."""
    try:
        return fn(*args, **keywords or {})
    except Exception as error:
        if not is_refused_write(error):
            raise
        return fn(*[arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args], **keywords or {})


def _lying(arg: Any, strides: Strides | None) -> Any:
    return arg if strides is None or arg.strides == strides else laid_out(arg, strides)


def flat_results(result: Any) -> list[Any]:
    """What a call made: its arrays in order."""
    return [result] if type(result) is np.ndarray else flatten(result)[1]
