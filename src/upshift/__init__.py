"""Write the function for one element; Upshift runs it over many, with exactly the loop's results.

>>> import upshift as up
>>> up.map(lambda x: x * x if x > 0 else -x, [-2.0, 3.0])
array([2., 9.])
"""

from .api import explain, map, source
from .axes import vmap
from .broadcast import vectorize
from .config import config
from .errors import GearRefused, LengthError, Refusal, UpshiftError
from .function import FunctionExplanation, function
from .plan.explanation import Explanation

__version__ = "0.1.0"
__all__ = [
    "Explanation",
    "FunctionExplanation",
    "GearRefused",
    "LengthError",
    "Refusal",
    "UpshiftError",
    "config",
    "explain",
    "function",
    "map",
    "source",
    "vectorize",
    "vmap",
]
