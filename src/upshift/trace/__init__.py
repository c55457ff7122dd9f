"""A function and one real element in, a path of the tree out."""

from .grow import Outcome, bind, grow
from .names import call_of
from .record import value_key
from .tree import Const, Guard, Leaf, Node, Raises, Ref, Step, Tree, Waiting

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
    "Waiting",
    "bind",
    "call_of",
    "grow",
    "value_key",
]
