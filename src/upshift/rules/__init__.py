"""One row per function: how a call on one element becomes one call on all lanes. Importing this fills the table."""

from . import conversions, maths, operators
from .op import Op, PerLane, per_lane
from .table import RULES, guards, lane_by_lane, lower

__all__ = ["RULES", "Op", "PerLane", "conversions", "guards", "lane_by_lane", "lower", "maths", "operators", "per_lane"]
