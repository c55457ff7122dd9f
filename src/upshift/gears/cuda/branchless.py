"""A tree in select form in; a kernel of it for a GPU out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...columns.forms import Form
from ...columns.kinds import Kind
from ...emit.select import Select, select_of
from ...emit.select_rows import NoSelect
from ...trace.tree import Tree
from ..binder import MISS, Binder, binder_of
from ..ran import NotCompiled, Ran
from ..uniform import shared_values
from . import driver
from .flat import Flat, Shared, flatten_lane
from .function import build, look_for_gpu, run_here
from .kernel import Kernel
from .source import lane_of
from .target import Target, target_of


@dataclass(slots=True)
class CudaTree:
    """All paths of a tree, on a GPU."""

    tree: Tree
    paths: int
    kernel: Kernel
    select: Select
    form: Form
    exact: bool
    bind: Binder
    inputs: tuple[int, ...]
    """Ids of what `bind` gives."""
    near_numpy = False

    @property
    def mixed(self) -> bool:
        return self.select.mixed

    @property
    def kinds(self) -> Sequence[Kind]:
        return self.kernel.kinds

    def captured(self, f: Any, shared: dict[str, Any]) -> Any:
        """What all lanes share, as it is now; None where the kernel no longer stands on it."""
        found: Any = self.bind(f, shared) if self.tree.paths == self.paths else MISS
        return None if found is MISS else shared_values(self.select, dict(zip(self.inputs, found, strict=True)))

    def over(self, f: Any, shared: dict[str, Any], columns: Sequence[Any], n: int, threads: int) -> Ran | None:
        captured = self.captured(f, shared)
        if captured is None:
            return None
        return run_here(self.kernel, self.form, columns, n, captured, threads)


def prepare(tree: Tree, exact: bool) -> CudaTree:
    """Compile a tree, or say why not."""
    look_for_gpu()
    select, flat = lane_of_tree(tree, exact, target_of(driver.gpu().capability))
    assert select.form is not None
    shared = [Shared(kind.dtype) for kind in select.uniform_kinds]
    kernel = build(flat, tree.kinds, select.dtypes, shared)
    captures = list(tree.captures.values())
    inputs = tuple(capture.id for capture in captures if capture.is_input)
    return CudaTree(tree, tree.paths, kernel, select, select.form, not select.close, binder_of(captures), inputs)


def lane_of_tree(tree: Tree, exact: bool, target: Target) -> tuple[Select, Flat]:
    """One lane of a tree, for any processor; its checks are among its lines."""
    try:
        select = select_of(tree, exact)
    except NoSelect as reason:
        raise NotCompiled("cuda", str(reason)) from None
    shared = [Shared(kind.dtype) for kind in select.uniform_kinds]
    return select, flatten_lane(lane_of(select, tree.kinds), tree.kinds, shared, target)
