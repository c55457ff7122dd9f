"""What is the same for all lanes: computed once for each call, and compared with what it was when it was traced."""

from __future__ import annotations

from typing import Any

from ..columns.kinds import Kind, fits_int64, kind_of_value
from ..emit.select import Select
from ..rules.arrays import flat_results
from ..trace.tree import Const, Step


def made_as(value: Any, kind: Kind | None) -> bool:
    """Whether what a call on captured values made is still of the kind that it was when it was traced."""
    if kind is not None and kind.parts is not None:
        return tuple(map(kind_of_value, flat_results(value))) == kind.parts
    return kind_of_value(value) is kind and (type(value) is not int or fits_int64(value))


def shared_values(select: Select, captured: dict[int, Any]) -> list[Any] | None:
    """What all lanes share, as it is now; None where it is no longer what was traced."""
    found: dict[str, Any] = {}
    values: dict[int, Any] = dict(captured)
    steps = iter(select.uniform_steps)
    for name, kind in zip(select.uniform, select.uniform_kinds, strict=True):
        if name.startswith("c"):
            found[name] = captured[-int(name[1:])]
            continue
        value = _once(next(steps), values)
        if not made_as(value, kind):
            return None
        found[name] = value
    return list(found.values())


def _once(step: Step, values: dict[int, Any]) -> Any:
    args = [ref.value if isinstance(ref, Const) else values[ref] for ref in step.refs]
    try:
        values[step.out] = step.fn(*args)
    except Exception:  # of a pure function of numbers: the plain function will raise it where it matters
        return None
    return values[step.out]
