"""The gears that stand on a framework: loaded when first asked for, a refusal where the framework is missing."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

from ..columns.inputs import Lanes
from ..errors import GearRefused, Refusal
from ..trace import Tree
from .calls import Argument, Call, Result, gear_of
from .formula import formula_of
from .ran import NotCompiled, Prepared

FRAMEWORKS = {"numba": "numba", "jax": "jax", "cuda": "numba"}
"""What each gear stands on; cuda needs NVIDIA's driver besides, and says so."""
INSTALL = {
    "numba": "pip install numba", "jax": 'pip install "upshift[jax]"', "cuda": 'pip install "upshift[cuda]"',
    "tensorflow": "pip install tensorflow",
}  # fmt: skip


def is_installed(framework: str) -> bool:
    """Whether a framework could be imported; nothing is."""
    return importlib.util.find_spec(framework) is not None


def prepare(
    gear: str, f: Any, shared: dict[str, Any], lanes: Lanes, tree: Tree | None, exact: bool,
    shapes: Callable[[], Sequence[Any]],
) -> Prepared | Refusal:  # fmt: skip
    """A function made ready in a compiled gear, or why not. `tree`: what was traced of it; `shapes`: of its results,
    for which an element is run: not before the function is known to do nothing else."""
    if not is_installed(FRAMEWORKS[gear]):
        return Refusal(gear, f"{FRAMEWORKS[gear]} is not installed", remedy=INSTALL[gear])
    traced = tree if tree is not None and tree.root is not None else None
    try:
        if gear == "jax":
            return _in_jax(traced, exact)
        if gear == "cuda":
            return _in_cuda(f, shared, lanes, traced, exact)
        return _in_numba(f, shared, lanes, traced, exact, shapes)
    except NotCompiled as reason:
        return reason.refusal


def prepare_call(
    gear: str, f: Any, arguments: Sequence[Argument], values: Sequence[Any], wanted: Result | None, free: bool
) -> Call | Refusal:
    """A whole function made ready to be called with such arguments, or why not. `values`: those of one call, `wanted`:
    what one has given; `free`: other threads run meanwhile."""
    if not is_installed(gear):
        return Refusal(gear, f"{gear} is not installed", remedy=INSTALL[gear])
    try:
        if gear == "tensorflow":
            return _graph_of(f, arguments)
        if gear == "jax":
            return _xla_of(f, arguments, values)
        return _machine_code_of(f, arguments, wanted, free)
    except NotCompiled as reason:
        return reason.refusal


def _machine_code_of(f: Any, arguments: Sequence[Argument], wanted: Result | None, free: bool) -> Call:
    from .numba import call, fused

    formula = formula_of(f, arguments) if wanted is not None else None
    if formula is not None and wanted is not None:
        return fused.compile_call(f, arguments, wanted, formula)
    return call.compile_call(f, arguments, wanted, free)


def _graph_of(f: Any, arguments: Sequence[Argument]) -> Call:
    from ..tensorflow.whole import compile_call

    return compile_call(f, arguments)


def _xla_of(f: Any, arguments: Sequence[Argument], values: Sequence[Any]) -> Call:
    from .jax import single, whole

    return whole.compile_call(f, arguments) if gear_of(arguments) == "jax" else single.compile_call(f, values)


def _in_numba(f: Any, shared: Any, lanes: Lanes, tree: Tree | None, exact: bool, shapes: Any) -> Prepared:
    """The tree without branches, which runs on many lanes at once, or as a nest of loops; else the function itself."""
    from .numba import branchless, function, nests

    ways: tuple[Callable[[Tree, bool], Prepared], ...] = (branchless.prepare, nests.prepare)
    for way in ways if tree is not None else ():
        with contextlib.suppress(NotCompiled):
            return way(tree, exact)  # type: ignore[arg-type]
    return function.prepare(f, shared, lanes, shapes, exact)


def _in_jax(tree: Tree | None, exact: bool) -> Prepared:
    from .jax.gear import prepare

    if tree is None:
        raise NotCompiled("jax", "it could not be traced")
    return prepare(tree, exact)


def _in_cuda(f: Any, shared: Any, lanes: Lanes, tree: Tree | None, exact: bool) -> Prepared:
    """The function itself, in a thread for every lane; else the tree without branches."""
    from .cuda import branchless, function

    try:
        return function.prepare(f, shared, lanes, exact)
    except NotCompiled:
        if tree is None:
            raise
    return branchless.prepare(tree, exact)


def why_no_gpu() -> str:
    """Why the cuda gear cannot run here; empty where it can."""
    if not is_installed("numba"):
        return "numba is not installed: pip install numba"
    from .cuda.driver import why_not

    return why_not()


# ---- arrays that are a framework's own


def owner_of(xs: Sequence[Any]) -> str | None:
    """The gear of columns that live in a framework: "jax", or "cuda" for other arrays on a GPU; None for all others."""
    for x in xs:
        cls = type(x)
        if cls not in _OWNERS:
            _OWNERS[cls] = _owner(cls)
        owner = _OWNERS[cls]
        if owner == "jax" or (owner == "cuda" and getattr(x, "is_cuda", True)):
            return owner
    return None


_OWNERS: dict[type, str | None] = {}


def _owner(cls: type) -> str | None:
    """The gear of a class of arrays, some of which may be elsewhere."""
    module = cls.__module__.partition(".")[0]
    if module in ("jax", "jaxlib"):
        return "jax"
    known = module in ("cupy", "torch", "numba", "numba_cuda")
    return "cuda" if known and hasattr(cls, "__cuda_array_interface__") else None


def run_on_jax(f: Any, xs: Sequence[Any], shared: dict[str, Any], plain: Any, check: Any) -> Any:
    """JAX arrays in, JAX arrays out."""
    from .jax.columns import run_on_jax as run

    return run(f, xs, shared, plain, check)


def run_on_device(f: Any, xs: Sequence[Any], shared: dict[str, Any], exact: bool, differ: Any) -> Any:
    """Arrays on a GPU in, arrays of the same kind out."""
    from .cuda.arrays import run_on_device as run

    try:
        return run(f, xs, shared, exact, differ)
    except NotCompiled as reason:
        raise GearRefused(reason.refusal) from None
