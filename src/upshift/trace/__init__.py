"""A function and one real element in, a path of the tree out."""

from .grow import Outcome, bind, grow
from .record import call_of, value_key
from .tree import Const, Guard, Leaf, Node, Raises, Ref, Step, Tree

__all__ = [
    "Const",
    "Guard",
    "Leaf",
    "Node",
    "Outcome",
    "Raises",
    "Ref",
    "Step",
    "Tree",
    "bind",
    "call_of",
    "grow",
    "value_key",
]
