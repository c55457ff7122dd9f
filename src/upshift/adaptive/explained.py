"""What `f.explain()` says of a decorated function: what its calls cost, and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..errors import Refusal
from ..plan.explained import refusal_data
from ..views.report import Report
from ..views.units import time_text
from .call_kinds import AT_STAKE, SMALLEST, Lot
from .state import Life


@dataclass(frozen=True, slots=True)
class KindOfCall:
    """Calls with arguments of one kind. Calls and seconds are estimates, from the calls that were looked at."""

    arguments: str
    gear: str
    calls: dict[str, int]
    seconds: dict[str, float]
    why: str
    refusal: Refusal | None


@dataclass(frozen=True, slots=True, repr=False)
class FunctionExplanation(Report):
    """What Upshift knows of a decorated function."""

    function: str
    gear: str
    calls: int
    why: str
    refusal: Refusal | None = None
    kinds: list[KindOfCall] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "function",
            "function": self.function,
            "gear": self.gear,
            "calls": self.calls,
            "why": self.why,
            "refusals": [{"gear": "llvm", **refusal_data(self.refusal)}] if self.refusal else [],
            "kinds": [asdict(kind) for kind in self.kinds],
        }


def explanation_of(life: Life) -> FunctionExplanation:
    """All that the calls so far have told."""
    lots = list(life.lots.values())
    kinds = [_kind(life, lot) for lot in lots]
    name = life.plain.__qualname__.replace("<locals>.", "")
    calls = int(sum(lot.calls + lot.fast_calls for lot in lots))
    gear = life.fast[0].gear if life.fast else "plain"
    return FunctionExplanation(name, gear, calls, _words(life.settled), life.settled, kinds)


def _words(refusal: Refusal | None) -> str:
    if refusal is None:
        return ""
    where = f" ({refusal.where})" if refusal.where else ""
    remedy = f"; {refusal.remedy}" if refusal.remedy else ""
    return f"stays plain for good: {refusal.reason}{where}{remedy}"


def _kind(life: Life, lot: Lot) -> KindOfCall:
    calls, seconds = {"plain": int(lot.calls)}, {"plain": lot.plain}
    if lot.fast_calls:
        calls[lot.gear], seconds[lot.gear] = int(lot.fast_calls), lot.fast
    gear = lot.gear if lot in life.fast else "plain"
    return KindOfCall(lot.name, gear, calls, seconds, _why(life, lot), lot.refusal)


def _why(life: Life, lot: Lot) -> str:
    refusal = lot.refusal or life.settled
    if refusal is not None:
        where = f" ({refusal.where})" if refusal.where else ""
        return f"not shifted: {refusal.reason}{where}" + (f"; {refusal.remedy}" if refusal.remedy else "")
    if lot in life.fast:
        return (
            f"shifted: compiled in {time_text(lot.compiled_in)}, compared with the plain function {lot.checked} times"
        )
    if lot.rest:
        return "machine code rests: too many calls were left to the plain function"
    if lot.call is not None:
        return f"compiled in {time_text(lot.compiled_in)}, being compared with the plain function"
    if lot.plain > AT_STAKE and lot.per_call <= SMALLEST:
        return f"not shifted: a call takes {time_text(lot.per_call)}, which is about what calling machine code takes"
    return f"not shifted yet: it takes about {time_text(lot.price())} of plain calls until compiling pays"
