"""A function and one real element in, a path of the tree out."""

from .draws import Draw, copied
from .grow import Outcome, bind, grow
from .names import call_of
from .record import value_key
from .tree import Const, Guard, Leaf, Node, Raises, Ref, Step, Tree

__all__ = [
    "Const",
    "Draw",
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
    "copied",
    "grow",
    "value_key",
]
