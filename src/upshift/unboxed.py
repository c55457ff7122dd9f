"""Calls a function with Python's own numbers where its elements come from arrays."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from .columns.forms import LEAF, Form
from .columns.inputs import Group, Lanes
from .columns.kinds import Column
from .columns.unboxed import KINDS, Unboxed, numbers_of
from .config import settings
from .gears.capture_reader import MISS
from .gears.job import Job
from .gears.loop import OnError, run_loop
from .plan.assembly import stacked
from .plan.call import Begun, run
from .plan.entries import look_up, settle
from .plan.forced import run_in
from .plan.functions import FUNCTIONS


def map_unboxed(
    f: Callable[..., Any], arrays: Sequence[Column], gear: str | None, exact: bool, on_error: OnError
) -> Any:
    """`up.map` over one-dimensional arrays of Python's numbers, which `numbers_of` gave."""
    n = len(arrays[0])
    begun: Begun | None = None
    columns = tuple([Unboxed(array) for array in arrays])
    if settings().disable:
        return stacked(run_loop(f, columns, on_error), on_error)
    if gear is None and on_error == "raise" and not exact and type(f) is types.FunctionType:
        result = look_up(f, columns)
        if type(result) is Begun:
            begun = result
        elif result is not MISS:
            return result
    kinds = tuple([KINDS[array.dtype.kind] for array in arrays])
    form = Form(tuple, tuple(range(len(arrays))), (LEAF,) * len(arrays))
    lanes = Lanes(form, tuple(arrays), kinds, (None,) * len(arrays), (False,) * len(arrays))
    job = Job(f, columns, {}, n, exact, _groups=[Group(None, lanes)])
    function = FUNCTIONS.of(f, columns, {}, exact)
    if gear is not None:
        return run_in(gear, job, function, on_error)
    result = run(job, function, on_error, begun)
    if on_error == "raise" and not exact:
        settle(f, columns, function, n)
    return result


__all__ = ["map_unboxed", "numbers_of"]
