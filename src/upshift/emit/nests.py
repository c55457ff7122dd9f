"""A tree of array calls in; one nest of loops over a lane's numbers out, with nothing stored that need not be.

NumPy makes an array of every step. Here elements of views, of arithmetic and of short sums are expressions, computed
where they are needed; only results, arguments of NumPy's own loops and what is used twice get memory. Every number is
made as NumPy makes it, in its order, so the results are the loop's very bits.
"""

from __future__ import annotations

import math
from typing import Any

from ..columns.kinds import Kind
from ..rules.arrays.dynamic import Item
from ..trace import Const, Leaf, Ref, Step, Tree
from ..trace.names import Applied
from .nest import Id, Nest, Writer, is_view, lane_of
from .nest_rows import SEVERAL, name_of, value_of
from .select_rows import FLOATS_AND_BOOL, NoSelect

MOST_STEPS = 100


def nest_of(tree: Tree, exact: bool = False) -> Nest:
    """The tree as a nest of loops; `NoSelect` where it has none."""
    steps, leaf = _only_path(tree)
    if not any(kind.shape for kind in tree.kinds):
        raise NoSelect("its elements are numbers")
    writer = Writer(tree, exact)
    for i, kind in enumerate(tree.kinds):
        writer.values[i] = writer.column(f"x{i}", kind)
    for ref in [ref for step in steps for ref in step.refs] + list(leaf.refs):
        if isinstance(ref, int):
            writer.uses[ref] = writer.uses.get(ref, 0) + 1
    writer.results = {ref for ref in leaf.refs if isinstance(ref, int)}
    for step in steps:
        if step.out in writer.uses:
            _write_step(writer, step)
    for i, ref in enumerate(leaf.refs):
        _write_result(writer, i, ref, leaf.kinds[i])
    writer.made.form = leaf.form
    return writer.made


def _only_path(tree: Tree) -> tuple[list[Step], Leaf]:
    nodes = list(tree.nodes())
    steps = [step for node in nodes for step in node.steps]
    if len(nodes) != 1 or not isinstance(nodes[0].end, Leaf):
        raise NoSelect("it takes several paths")
    if tree.draws or len(steps) > MOST_STEPS:
        raise NoSelect("it draws, or has too many steps")
    return steps, nodes[0].end


def _write_step(writer: Writer, step: Step) -> None:
    if isinstance(step.fn, Item):
        parts = writer.parts.get(step.refs[0], [])
        if step.fn.j >= len(parts):
            raise NoSelect("it takes something that is not made")
        writer.values[step.out] = parts[step.fn.j]
        return
    if getattr(step.op, "updates", False):
        raise NoSelect("it writes into arrays")
    fn, args, keywords = _call_of(step)
    if fn in SEVERAL:
        writer.parts[step.out] = SEVERAL[fn](writer, args, keywords)
        return
    if step.op is None or step.kind is None or step.kind.dtype not in FLOATS_AND_BOOL or step.kind.shape == ():
        raise NoSelect(f"{name_of(step.fn)} does not make an array of floats")
    made = value_of(writer, step, fn, args, keywords)
    if made.shape != step.kind.lane_shape:
        raise NoSelect(f"{name_of(step.fn)} makes another shape")
    again = writer.uses.get(step.out, 0) > 1 and made.place is None and not is_view(made)
    writer.values[step.out] = writer.stored(made) if again or not made.shape else made
    writer.made.close |= not made.exact


def _write_result(writer: Writer, i: int, ref: Ref, kind: Kind | None) -> None:
    if not isinstance(ref, int) or kind is None or kind.python or kind.shape == ():
        raise NoSelect("its results are not arrays")
    made = writer.value(Id(ref))
    writer.made.kinds.append(kind)
    if not made.shape:
        writer.line(f"y{i}[i] = {made.at(())}")
        return
    writer.line(lane_of(f"y{i}", made.shape))
    writer.fill(f"y{i}", made, lane=math.prod(made.shape))


def _call_of(step: Step) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The call that a step is: constants as they are, values by their ids."""
    leaves = [ref.value if isinstance(ref, Const) else Id(ref) for ref in step.refs]
    if isinstance(step.fn, Applied):
        args, keywords = step.fn.form.build(iter(leaves))
        return step.fn.fn, tuple(args), dict(keywords)
    return step.fn, tuple(leaves), {}
