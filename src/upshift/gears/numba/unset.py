"""Variables that may be used before they are set in; the same code out, with a flag beside each that tells.

`for x in xs: last = x` sets nothing where there is nothing in `xs`. Python raises where `last` is used then; here the
lane is left, and the plain function raises.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass

from .blocks import leave, stand_in
from .build import OwnPass


@register_pass(mutates_CFG=False, analysis_only=False)
class FlagUnset(OwnPass):
    """Uses that may come first are checked."""

    _name = "upshift_flag_unset"

    def run_pass(self, state: Any) -> bool:
        blocks = state.func_ir.blocks
        set_before = _set_before(blocks)
        doubtful = {name for label, block in blocks.items() for name in _doubtful(block, set_before[label])}
        if not doubtful:
            return False
        for label, block in blocks.items():
            block.body = list(_flagged(block, set_before[label], doubtful))
        first = blocks[min(blocks)]
        first.body = [_flag(first, name, False, first.loc) for name in sorted(doubtful)] + first.body
        return True


def _set_before(blocks: dict[int, Any]) -> dict[int, frozenset[str]]:
    """By block: the variables that are set on every way to it."""
    graph = compute_cfg_from_blocks(blocks)
    own = {
        label: frozenset(assign.target.name for assign in block.find_insts(ir.Assign))
        for label, block in blocks.items()
    }
    everything = frozenset().union(*own.values())
    entry = min(blocks)
    before = {label: frozenset() if label == entry else everything for label in blocks}
    changed = True
    while changed:
        changed = False
        for label in blocks:
            ways = [before[source] | own[source] for source, _ in graph.predecessors(label)]
            found = frozenset.intersection(*ways) if ways and label != entry else before[label]
            changed |= found != before[label]
            before[label] = found
    return before


def _uses(statement: Any) -> list[str]:
    """The user's variables that a statement reads."""
    read: list[Any] = []
    value = statement.value if isinstance(statement, ir.Assign) else statement
    if isinstance(value, ir.Var):
        read = [value]
    elif isinstance(value, ir.Inst) and not isinstance(value, ir.Del):
        read = value.list_vars()
    return sorted({variable.name for variable in read if not variable.name.startswith("$")})


def _doubtful(block: Any, known: frozenset[str]) -> set[str]:
    """Variables that a block may read before they are set. `known`: those that are set on every way to it."""
    found: set[str] = set()
    for statement in block.body:
        found.update(name for name in _uses(statement) if name not in known)
        if isinstance(statement, ir.Assign):
            known |= {statement.target.name}
    return found


def _flagged(block: Any, known: frozenset[str], doubtful: set[str]) -> Any:
    """The block's statements, with flags that are set behind those that set, and looked at before those that read."""
    for i, statement in enumerate(block.body):
        for name in [name for name in _uses(statement) if name not in known]:
            yield from _check(block, name, i, statement.loc)
            known |= {name}  # from here on, or the lane is left
        yield statement
        if isinstance(statement, ir.Assign):
            known |= {statement.target.name}
            if statement.target.name in doubtful:
                yield _flag(block, statement.target.name, True, statement.loc)


def _flag(block: Any, name: str, value: bool, loc: Any) -> Any:
    return ir.Assign(ir.Const(value, loc), block.scope.get_or_define(f"$set.{name}", loc), loc)


def _check(block: Any, name: str, i: int, loc: Any) -> Any:
    fn, made = (
        block.scope.get_or_define(f"${part}.{name}.{block.body[0].loc.line}.{i}", loc) for part in ("look", "looked")
    )
    yield ir.Assign(ir.Global("leave_unless", leave_unless, loc), fn, loc)
    yield ir.Assign(ir.Expr.call(fn, (block.scope.get_or_define(f"$set.{name}", loc),), (), loc), made, loc)


def _leave_unless(typing: Any, flag: Any) -> Any:
    """Leave the lane where a flag is not set."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        leave(context, builder, builder.not_(values[0]))
        return values[0]

    return types.boolean(types.boolean), generate


leave_unless = stand_in(_leave_unless)
