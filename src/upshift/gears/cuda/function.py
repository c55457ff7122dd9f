"""Compiles the user's function to a kernel for a GPU, and runs it over lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...columns.forms import Form
from ...columns.inputs import Lanes
from ...columns.kinds import Column, Kind
from ..ran import NotCompiled, Ran
from . import driver
from .checks import with_checks
from .flat import EXACT, Flat
from .kernel import TEAM, Kernel, ptx_of_lane
from .lane import Arrays, Captured, Lane, Shapes, lane_of
from .pinned import pinned_pool
from .staging import Transfer, layout_of
from .target import Target, target_of

LONG = 600
"""Lines of a lane's function from which on a thread runs but one lane."""


@dataclass(slots=True)
class CudaFunction:
    """The function itself, on a GPU."""

    kernel: Kernel
    form: Form
    taken: Captured
    exact: bool
    near_numpy: bool
    mixed: bool
    unsure: bool

    @property
    def kinds(self) -> Sequence[Kind]:
        """The kinds of the columns that the kernel takes."""
        return self.kernel.kinds

    def captured(self, f: Any, shared: dict[str, Any]) -> Any:
        """What all lanes share, as it is now; None where the kernel no longer stands on it."""
        return self.taken.values(f, shared)

    def words(self, captured: Any, on: driver.Gpu) -> tuple[list[int], Arrays]:
        """The same as arguments of the kernel, and the memory that arrays among it were copied to."""
        arrays = Arrays(on)
        return self.taken.block(captured, arrays.place), arrays

    def over(self, f: Any, shared: dict[str, Any], columns: Sequence[Any], n: int, threads: int) -> Ran | None:
        """Runs the kernel over all lanes; None if what it captured is not as it was compiled for."""
        captured = self.captured(f, shared)
        if captured is None:
            return None
        if self.near_numpy and np.geterr()["under"] != "ignore":  # of which a GPU tells nothing
            return Ran(self.form, [np.empty(n, dtype) for dtype in self.kernel.outs], np.arange(n), n)
        on = driver.gpu()
        try:
            with on.current():
                words, kept = self.words(captured, on)
                outs = [_empty(on, n, dtype, threads) for dtype in self.kernel.outs]
            left = Transfer(self.kernel, columns, outs, words, on, threads).run()
            del kept
        except driver.DriverError as error:
            driver.give_up(str(error))
            return None
        return Ran(self.form, outs, left, n, self.mixed, self.unsure)


def _empty(on: driver.Gpu, n: int, dtype: np.dtype[Any], threads: int) -> Column:
    array = pinned_pool(on.ordinal).take(n, dtype, threads)
    return np.empty(n, dtype) if array is None else array


def prepare(
    f: Any, shared: dict[str, Any], lanes: Lanes, exact: bool = False, shapes: Shapes | None = None
) -> CudaFunction:
    """Compile a function for lanes of this kind, or say why not. `exact`: not one bit may differ from the loop's;
    `shapes`: of the results that are arrays, where all is in the GPU's memory."""
    _look_for_gpu()
    target = target_of(driver.gpu().capability)
    lane, flat = lane_of_function(f, lanes.form, lanes.kinds, shared, target, exact, shapes)
    kernel = build(flat, lanes.kinds, lane.outs, lane.captured.words, shapes is not None)
    return CudaFunction(kernel, lane.form, lane.captured, not flat.close, lane.near_numpy, lane.mixed, lane.unsure)


def _look_for_gpu() -> None:
    """A GPU, or `NotCompiled`."""
    reason = driver.why_not()
    if reason:
        remedy = "install NVIDIA's driver, from nvidia.com/drivers" if "no NVIDIA driver" in reason else ""
        raise NotCompiled("cuda", reason, remedy=remedy)
    try:
        driver.gpu()
    except driver.DriverError as error:
        raise NotCompiled("cuda", f"NVIDIA's driver does not work: {error}") from None


def lane_of_function(
    f: Any,
    form: Form,
    kinds: Sequence[Kind],
    shared: dict[str, Any],
    target: Target,
    exact: bool,
    shapes: Shapes | None = None,
) -> tuple[Lane, Flat]:
    """One lane of a function, and the same with all checks, for any processor."""
    lane = lane_of(f, form, kinds, shared, target, shapes)
    if exact and lane.flat.close:
        names = ", ".join(sorted(lane.flat.maths - EXACT))
        raise NotCompiled("cuda", f"the last bits of {names} are not the loop's on a GPU")
    return lane, with_checks(lane.flat, lane.near_numpy)


def build(flat: Flat, kinds: Sequence[Kind], outs: Sequence[Kind], captured: int, there: bool) -> Kernel:
    """The kernel of a lane's function, for the GPU that is here. `there`: for columns in its memory alone."""
    on = driver.gpu()
    dtypes, shapes = tuple(kind.dtype for kind in outs), tuple(kind.lane_shape for kind in outs)
    lanes = 1 if flat.loops or flat.text.count("\n") > LONG else 4
    ptx = ptx_of_lane(flat, kinds, target_of(on.capability), lanes)
    threads = TEAM if flat.team else 128 if flat.loops else 256
    shared = flat.shared if flat.team else -1
    kernel = Kernel(ptx, tuple(kinds), dtypes, captured, threads, lanes, shapes, shared)
    if not there and layout_of(kernel) is None:
        raise NotCompiled("cuda", "an element is too large to be sent in one piece")
    try:
        with on.current():
            kernel.launcher(on)
    except driver.DriverError as error:
        raise NotCompiled("cuda", f"NVIDIA's driver does not compile it: {error}") from None
    return kernel
