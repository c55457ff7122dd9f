"""`function`: a whole function, compiled only when that pays."""

from .decorate import function
from .explained import FunctionExplanation

__all__ = ["FunctionExplanation", "function"]
