"""The places whose time is told, by what it is spent on: columns in, check, trace, compile, run, verify, columns out.

`tests/test_profile.py` looks for every one of them, since a place that is not there any more is silently not watched.
"""

from __future__ import annotations

from .probes import Place

MAP, SETTLED = "map", "settled map"
COLUMNS_IN, COLUMNS_OUT = "columns in", "columns out"
CHECK, TRACE, COMPILE, RUN, VERIFY, PLAIN = "check", "trace", "compile", "run", "verify", "plain function"
PHASES = (COLUMNS_IN, CHECK, TRACE, COMPILE, RUN, VERIFY, PLAIN, COLUMNS_OUT)

CALLS = (
    Place("upshift.api", "_map", MAP),
    Place("upshift.api", "look_up", SETTLED),
)
INSIDE = (
    Place("upshift.api", "make_job", COLUMNS_IN),
    Place("upshift.gears.job", "lanes_of", COLUMNS_IN),
    Place("upshift.gears.llvm.columns", "read", COLUMNS_IN),
    Place("upshift.gears.llvm.gear", "check", CHECK),
    Place("upshift.gears.llvm.gear", "load", COMPILE),
    Place("upshift.gears.llvm.gear", "prepare", COMPILE),
    Place("upshift.gears.llvm.gear", "Prepared.as_optimised", COMPILE),
    Place("upshift.plan.machine", "prepare", COMPILE),
    Place("upshift.gears.walk", "grow", TRACE),
    Place("upshift.plan.arms", "Numpy.run", RUN),
    Place("upshift.plan.arms", "Llvm.run", RUN),
    Place("upshift.plan.arms", "Simd.run", RUN),
    Place("upshift.plan.arms", "Cuda.run", RUN),
    Place("upshift.plan.call", "run_loop", RUN),
    Place("upshift.verify", "check", VERIFY),
    Place("upshift.plan.batch", "check", VERIFY),
    Place("upshift.plan.machine", "check_columns", VERIFY),
    Place("upshift.plan.call", "plain_rows", PLAIN),
    Place("upshift.plan.explanation", "plain_rows", PLAIN),
    Place("upshift.plan.call", "conclude", COLUMNS_OUT),
    Place("upshift.plan.call", "stacked", COLUMNS_OUT),
    Place("upshift.plan.explanation", "conclude", COLUMNS_OUT),
)
FUNCTIONS = (
    Place("upshift.adaptive.life", "Life._look", "function"),
    Place("upshift.adaptive.life", "Life._compiled", COMPILE),
    Place("upshift.adaptive.life", "Life._tried", VERIFY),
)
TENSORS: tuple[Place, ...] = ()
PLACES = (*CALLS, *INSIDE, *FUNCTIONS, *TENSORS)
LANES = (Place("upshift.gears.walk", "Chunk._steps", "lanes"),)
"""Where lanes come to a node of the tree: how they spread over its branches is counted here."""
