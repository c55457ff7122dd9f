"""What the numpy gear has traced of a function: trees by the signature of their elements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..columns.inputs import Lanes
from ..loading import Later

if TYPE_CHECKING:
    from ..gears.program import Care
    from ..trace import grow, tree
    from ..trace.tree import Tree
else:
    grow, tree = Later("upshift.trace.grow"), Later("upshift.trace.tree")

MOST_TREES = 4
MOST_SIGNATURES = 64
"""Kinds of elements (shapes, in a ragged batch) that a function's trees are kept for."""


@dataclass(slots=True)
class Traces:
    """The trees of one function."""

    trees: dict[Any, list[Tree]] = field(default_factory=dict)
    care: Care | None = None
    """How exact its steps must be, where that is more than is usual."""

    def tree(self, lanes: Lanes, f: Any, shared: dict[str, Any]) -> tuple[Tree, dict[int, Any]]:
        """The tree that fits what the function captures now, and its captured inputs; a new one where none fits."""
        signature = lanes.signature
        if signature not in self.trees and len(self.trees) >= MOST_SIGNATURES:
            self.trees.pop(next(iter(self.trees)), None)
        variants = self.trees.setdefault(signature, [])
        for found in list(variants):
            with found.lock:
                captured = grow.bind(found, f, shared)
            if captured is not None:
                if variants and variants[0] is not found and found in variants:
                    variants.remove(found)
                    variants.insert(0, found)
                return found, captured
        new = tree.Tree(lanes)
        variants.insert(0, new)
        del variants[MOST_TREES:]
        return new, {}

    @property
    def steps(self) -> int:
        """Of all its trees; it may be asked while others grow them."""
        return sum(tree.steps for variants in list(self.trees.values()) for tree in list(variants))

    @property
    def draws(self) -> bool:
        """Whether the function draws random numbers."""
        return any(tree.draws for variants in self.trees.values() for tree in variants)

    def traced(self) -> Tree | None:
        """The tree that was used last, where there is one for all elements."""
        trees = [variants[0] for variants in self.trees.values() if variants]
        return trees[0] if len(trees) == 1 and trees[0].trusted else None

    def tree_of(self, lanes: Lanes) -> Tree | None:
        """What was traced of these lanes."""
        variants = self.trees.get(lanes.signature)
        return variants[0] if variants and variants[0].trusted else None
