"""The user's function in; a kernel of it for a GPU out, ready to run over lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...columns.forms import Form
from ...columns.inputs import Lanes
from ...columns.kinds import Column, Kind
from ..binder import MISS, Binder, binder_of
from ..ran import NotCompiled, Ran
from . import driver
from .belts import Trip, layout_of
from .checks import with_checks
from .flat import Flat, Shared, flatten_lane
from .kernel import Kernel, ptx_of_lane, words_of
from .rooms import rooms_of
from .source import Source, source_of
from .target import Target, target_of

LONG = 600
"""Lines of a lane's function from which on a thread runs but one lane."""


@dataclass(slots=True)
class CudaFunction:
    """The function itself, on a GPU."""

    kernel: Kernel
    form: Form
    bind: Binder
    exact: bool
    mixed: bool
    near_numpy: bool

    @property
    def kinds(self) -> Sequence[Kind]:
        return self.kernel.kinds

    def captured(self, f: Any, shared: dict[str, Any]) -> Any:
        """What all lanes share, as it is now; None where the kernel no longer stands on it."""
        found = self.bind(f, shared)
        return None if found is MISS else found

    def over(self, f: Any, shared: dict[str, Any], columns: Sequence[Any], n: int, threads: int) -> Ran | None:
        captured = self.captured(f, shared)
        if captured is None:
            return None
        if self.near_numpy and np.geterr()["under"] != "ignore":  # of which a GPU tells nothing
            return Ran(self.form, [np.empty(n, dtype) for dtype in self.kernel.outs], np.arange(n), n)
        return run_here(self.kernel, self.form, columns, n, captured, threads)


def run_here(
    kernel: Kernel, form: Form, columns: Sequence[Any], n: int, captured: Sequence[Any], threads: int
) -> Ran | None:
    """Lanes in this machine's memory; None where the GPU fails, which is noted."""
    on = driver.gpu()
    try:
        with on.current():
            words, kept = words_of(kernel.shared, captured, on)
            outs = [_room(on, n, dtype, threads) for dtype in kernel.outs]
        left = Trip(kernel, columns, outs, words, on, threads).run()
        del kept
    except driver.DriverError as error:
        driver.give_up(str(error))
        return None
    return Ran(form, outs, left, n)


def _room(on: driver.Gpu, n: int, dtype: np.dtype[Any], threads: int) -> Column:
    room = rooms_of(on.ordinal).take(n, dtype, threads)
    return np.empty(n, dtype) if room is None else room


def prepare(f: Any, shared: dict[str, Any], lanes: Lanes, exact: bool = False) -> CudaFunction:
    """Compile a function for lanes of this kind, or say why not. `exact`: not one bit may differ from the loop's."""
    if any(child.cls is not None for child in lanes.form.children):
        raise NotCompiled("cuda", "its elements are records, not numbers or arrays")
    look_for_gpu()
    source, flat = lane_of_function(f, lanes.kinds, shared, target_of(driver.gpu().capability), exact)
    kernel = build(flat, lanes.kinds, [kind.dtype for kind in source.outs], source.shared)
    bind = binder_of([*source.unit.built_in, *source.bound])
    return CudaFunction(kernel, source.form, bind, not flat.close, source.mixed, source.near_numpy)


def look_for_gpu() -> None:
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
    f: Any, kinds: Sequence[Kind], shared: dict[str, Any], target: Target, exact: bool
) -> tuple[Source, Flat]:
    """One lane of a function, with all checks, for any processor."""
    source = source_of(f, kinds, shared)
    flat = flatten_lane(source.made, kinds, source.shared, target)
    if exact and flat.close:
        names = ", ".join(sorted(flat.maths - {"fmod"}))
        raise NotCompiled("cuda", f"the last bits of {names} are not the loop's on a GPU")
    return source, with_checks(flat, source.near_numpy)


def build(flat: Flat, kinds: Sequence[Kind], outs: Sequence[np.dtype[Any]], shared: Sequence[Shared]) -> Kernel:
    """The kernel of a lane's function, for the GPU that is here."""
    on = driver.gpu()
    lanes = 1 if flat.loops or flat.text.count("\n") > LONG else 4
    ptx = ptx_of_lane(flat, kinds, target_of(on.capability), lanes)
    kernel = Kernel(ptx, tuple(kinds), tuple(outs), tuple(shared), 128 if flat.loops else 256, lanes)
    if layout_of(kernel) is None:
        raise NotCompiled("cuda", "an element is too large to be sent in one piece")
    try:
        with on.current():
            kernel.launcher(on)
    except driver.DriverError as error:
        raise NotCompiled("cuda", f"NVIDIA's driver does not compile it: {error}") from None
    return kernel
