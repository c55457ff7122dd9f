"""A function and one call's NumPy arrays in; XLA's program for arrays of these shapes out, or why there is none.

The function's own tree, traced on these arrays, is the program of one lane. What it is not right for (another branch, a
warning, a float that may be off) is left to the plain function, and so are arrays of other shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from ...columns.forms import flatten
from ...columns.inputs import lanes_of
from ...columns.kinds import Kind
from ...trace import Leaf, Tree, bind, grow
from ..binder import MISS
from ..calls import Call
from .context import in_full
from .element import kind_of_result
from .gear import LaneProgram, shared_values, traced, warnings_raise
from .value import refuse

BUDGET = 20_000
"""Steps that the trace may have."""


def compile_call(f: Any, values: Sequence[Any]) -> Call:
    """One program for calls like this one."""
    lanes = lanes_of([[value] for value in values])[0].lanes
    if lanes is None:
        raise refuse("its arguments are not numbers and arrays")
    tree = Tree(lanes)
    outcome = grow(tree, f, tuple(values), {}, BUDGET)
    if not outcome.grown:
        raise refuse(str(outcome.refusal) if outcome.refusal else "it could not be traced")
    program = traced(tree, careful=_decides(tree))
    if program.outline.writes:
        raise refuse("it writes into arrays")
    run = _run_of(program, tree)

    def bound(f: Any) -> Any:
        captured = bind(tree, f, {})
        return MISS if captured is None else (captured,)

    run(*values, *bound(f))  # XLA compiles when it is first called
    return Call(run, bound, object, (), (), False, "jax", exact=False)


def _decides(tree: Tree) -> bool:
    """Whether something hangs on a number's last bits, so that bounds on them have to be computed along."""
    nodes = list(tree.nodes())
    steps = [step for node in nodes for step in node.steps]
    return len(nodes) > 1 or any(step.op is None or step.op.cuts for step in steps)


def _run_of(program: LaneProgram, tree: Tree) -> Callable[..., Any]:
    outline, closed, numbers = program.outline, program.closed, program.numbers
    leaf = next(node.end for node in tree.nodes() if isinstance(node.end, Leaf))
    kinds = [kind_of_result(leaf, i) for i in range(len(leaf.refs))]
    computed = {step.out for node in tree.nodes() for step in node.steps}
    if any(kind.shape is not None and ref not in computed for ref, kind in zip(leaf.refs, kinds, strict=True)):
        raise refuse("it returns an array that it was given")
    shapes = [kind.lane_shape for kind in tree.kinds]

    def one(constants: Any, inputs: Any) -> Any:
        return jaxpr_as_fun(ClosedJaxpr(closed.jaxpr, list(constants)))(*inputs)

    compiled = jax.jit(one)

    def run(*given: Any) -> Any:
        *values, captured = given
        leaves = flatten(tuple(values))[1]
        if [np.shape(leaf) for leaf in leaves] != shapes or (outline.warns and warnings_raise()):
            raise LookupError("left to the plain function")
        inputs = [np.asarray(leaf, kind.dtype) for leaf, kind in zip(leaves, tree.kinds, strict=True)]
        with in_full():
            *made, odd = compiled(closed.consts, [*inputs, *shared_values(outline, captured), numbers])
            results = [np.array(one, kind.dtype) for one, kind in zip(made, kinds, strict=True)]
        if odd or (outline.warns and not all(np.isfinite(one.sum()) for one in results)):
            raise LookupError("left to the plain function")
        return outline.form.build(map(_as_kind, results, kinds))

    return run


def _as_kind(made: Any, kind: Kind) -> Any:
    if kind.shape is not None:
        return made
    return made.item() if kind.python else made[()]
