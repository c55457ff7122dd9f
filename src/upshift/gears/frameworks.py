"""The gears that stand on a framework: loaded when first asked for, a refusal where the framework is missing."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

from ..columns.inputs import Lanes
from ..errors import Refusal
from ..trace import Tree
from .ran import NotCompiled, Prepared

FRAMEWORKS = {"numba": "numba", "jax": "jax", "cuda": "numba_cuda"}
"""What each gear stands on."""
INSTALL = {"numba": "pip install numba", "jax": 'pip install "upshift[jax]"', "cuda": 'pip install "upshift[cuda]"'}


def is_installed(framework: str) -> bool:
    """Whether a framework could be imported; nothing is."""
    return importlib.util.find_spec(framework) is not None


def prepare(
    gear: str, f: Any, shared: dict[str, Any], lanes: Lanes, tree: Tree | None, exact: bool,
    shapes: Callable[[], Sequence[Any]],
) -> Prepared | Refusal:  # fmt: skip
    """A function made ready in a compiled gear, or why not. `tree`: what was traced of it; `shapes`: of its results."""
    if not is_installed(FRAMEWORKS[gear]):
        return Refusal(gear, f"{FRAMEWORKS[gear]} is not installed", remedy=INSTALL[gear])
    traced = tree if tree is not None and tree.root is not None else None
    try:
        if gear == "jax":
            return _in_jax(traced, exact)
        return (_in_numba if gear == "numba" else _in_cuda)(f, shared, lanes, traced, exact, shapes)
    except NotCompiled as reason:
        return reason.refusal


def _in_numba(f: Any, shared: Any, lanes: Lanes, tree: Tree | None, exact: bool, shapes: Any) -> Prepared:
    """The tree without branches, which runs on many lanes at once, or else the function itself."""
    from .numba import branchless, function

    if tree is not None:
        try:
            return branchless.prepare(tree, exact)
        except NotCompiled:
            pass
    return function.prepare(f, shared, lanes, shapes())


def _in_jax(tree: Tree | None, exact: bool) -> Prepared:
    from .jax.gear import prepare

    if tree is None:
        raise NotCompiled("jax", "it could not be traced")
    return prepare(tree, exact)


def _in_cuda(f: Any, shared: Any, lanes: Lanes, tree: Tree | None, exact: bool, shapes: Any) -> Prepared:
    """The function itself, in a thread for every lane; else the tree without branches."""
    from .cuda import branchless, function

    try:
        return function.prepare(f, shared, lanes, shapes(), exact)
    except NotCompiled:
        if tree is None:
            raise
    return branchless.prepare(tree, exact)
