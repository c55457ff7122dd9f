"""The gears that stand on a framework: loaded when first asked for, a refusal where the framework is missing."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

from ..columns.inputs import Lanes
from ..errors import Refusal
from ..trace import Tree
from .ran import NotCompiled, Prepared


def is_installed(framework: str) -> bool:
    """Whether a framework could be imported; nothing is."""
    return importlib.util.find_spec(framework) is not None


def prepare_function(f: Any, shared: dict[str, Any], lanes: Lanes, shapes: Sequence[Any]) -> Prepared | Refusal:
    """The numba gear's machine code of a function, or why there is none."""
    if not is_installed("numba"):
        return Refusal("numba", "Numba is not installed", remedy="pip install numba")
    from .numba.function import prepare

    try:
        return prepare(f, shared, lanes, shapes)
    except NotCompiled as reason:
        return reason.refusal


def prepare_tree(tree: Tree, exact: bool) -> Prepared | Refusal:
    """The numba gear's machine code of a tree without branches, or why there is none."""
    if not is_installed("numba"):
        return Refusal("numba", "Numba is not installed", remedy="pip install numba")
    from .numba.branchless import prepare

    try:
        return prepare(tree, exact)
    except NotCompiled as reason:
        return reason.refusal
