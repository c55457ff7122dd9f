"""Write the function for one element; Upshift runs it over many, with exactly the loop's results.

>>> import upshift as up
>>> up.map(lambda x: x * x if x > 0 else -x, [-2.0, 3.0])
array([2., 9.])
"""

import importlib
from typing import TYPE_CHECKING, Any

from .api import explain, map, source
from .config import config
from .errors import GearRefused, LengthError, Refusal, UpshiftError
from .loading import Later

if TYPE_CHECKING:
    from .adaptive import FunctionExplanation, function
    from .axes import vmap
    from .broadcast import vectorize
    from .map_batches import batched
    from .plan.explained import Explanation
    from .report.profile import profile

__version__ = "0.1.0"
__all__ = [
    "Explanation",
    "FunctionExplanation",
    "GearRefused",
    "LengthError",
    "Refusal",
    "UpshiftError",
    "batched",
    "config",
    "explain",
    "function",
    "map",
    "profile",
    "source",
    "vectorize",
    "vmap",
]

_HOMES = {
    "Explanation": "plan.explained",
    "FunctionExplanation": "adaptive.explained",
    "batched": "map_batches",
    "function": "adaptive.decorate",
    "profile": "report.profile",
    "vectorize": "broadcast",
    "vmap": "axes",
}
"""Where names are found that take some ten milliseconds to load, when they are first asked for."""


def __getattr__(name: str) -> Any:
    if name in ("pandas", "polars", "torch"):
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(Later(f"{__name__}.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
