"""Which of our functions the profiler times, by phase: columns, check, trace, compile, run, verify, transfer.

`tests/test_profile.py` looks for every one of them, since a place that is not there any more is silently not watched.
"""

from __future__ import annotations

from .probes import Place

MAP, SETTLED = "map", "settled map"
COLUMNS_IN, COLUMNS_OUT = "columns in", "columns out"
CHECK, TRACE, COMPILE, RUN, VERIFY, PLAIN = "check", "trace", "compile", "run", "verify", "plain function"
TRANSFER, WORKER, FUNCTION = "transfer", "worker", "function"
PHASES = (COLUMNS_IN, CHECK, TRACE, COMPILE, TRANSFER, RUN, WORKER, VERIFY, PLAIN, COLUMNS_OUT)

CALLS = (
    Place("upshift.api", "_map", MAP),
    Place("upshift.api", "run_on_tensors", MAP),
    Place("upshift.api", "look_up", SETTLED),
    Place("upshift.broadcast", "map_unboxed", MAP),
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
    Place("upshift.unboxed", "look_up", RUN),
    Place("upshift.verify", "check", VERIFY),
    Place("upshift.plan.batch", "check", VERIFY),
    Place("upshift.plan.machine", "check_columns", VERIFY),
    Place("upshift.plan.call", "plain_rows", PLAIN),
    Place("upshift.plan.explanation", "plain_rows", PLAIN),
    Place("upshift.plan.call", "conclude", COLUMNS_OUT),
    Place("upshift.plan.call", "stacked", COLUMNS_OUT),
    Place("upshift.plan.explanation", "conclude", COLUMNS_OUT),
    Place("upshift.plan.forced", "run_loop", RUN),
    Place("upshift.plan.forced", "plain_rows", PLAIN),
    Place("upshift.plan.forced", "conclude", COLUMNS_OUT),
)
WORKERS = (
    Place("upshift.plan.workers", "run_threads", WORKER),
    Place("upshift.plan.parallel", "run_threads", WORKER),
    Place("upshift.gears.processes", "run_processes", WORKER),
    Place("upshift.plan.workers", "run_on_ray", WORKER),
    Place("upshift.gears.workers.pool", "Worker.give", TRANSFER),
    Place("upshift.gears.workers.pool", "Worker.answer", TRANSFER),
)
FUNCTIONS = (
    Place("upshift.adaptive.state", "FunctionState._look", FUNCTION),
    Place("upshift.adaptive.state", "FunctionState._compiled", COMPILE),
    Place("upshift.adaptive.state", "FunctionState._tried", VERIFY),
)
GPU = (
    Place("upshift.gears.cuda.driver", "send", TRANSFER),
    Place("upshift.gears.cuda.driver", "fetch", TRANSFER),
)
TENSOR_MAP = Place("upshift.tensorflow.mapping", "run", MAP)
TENSORS = (
    TENSOR_MAP,
    Place("upshift.tensorflow.plan", "at_a_glance", SETTLED),
    Place("upshift.tensorflow.memory", "trace_element", TRACE),
    Place("upshift.tensorflow.graph", "trace_element", TRACE),
    Place("upshift.tensorflow.memory", "Known.make", COMPILE),
    Place("upshift.tensorflow.xla", "_compiled", COMPILE),
    Place("upshift.tensorflow.plan", "check", VERIFY),
    Place("upshift.tensorflow.plan", "_try", RUN),
    Place("upshift.tensorflow.plan", "_by_way", RUN),
    Place("upshift.tensorflow.plan", "_directly", RUN),
    Place("upshift.tensorflow.plan", "call_each", RUN),
    Place("upshift.tensorflow.plan", "run_loop", RUN),
)
PLACES = (*CALLS, *INSIDE, *WORKERS, *FUNCTIONS)
LATER = (*TENSORS, *GPU)
"""Places in what stands on a framework: watched from when somebody else loads it."""
LANES = (Place("upshift.gears.walk", "Chunk._steps", "lanes"),)
"""Where lanes come to a node of the tree: how they spread over its branches is counted here."""
