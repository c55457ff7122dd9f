"""What `f.explain()` says of a decorated function: what its calls cost, and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..errors import Refusal
from ..plan.explained import refusal_data
from ..plan.ledger import LONGEST
from ..views.report import Report
from ..views.units import time_text
from .specialization import Specialization
from .state import FunctionState


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
        """The explanation as plain data, for JSON and for the page."""
        return {
            "kind": "function",
            "function": self.function,
            "gear": self.gear,
            "calls": self.calls,
            "why": self.why,
            "refusals": [{"gear": "llvm", **refusal_data(self.refusal)}] if self.refusal else [],
            "kinds": [asdict(kind) for kind in self.kinds],
        }


def explanation_of(state: FunctionState) -> FunctionExplanation:
    """All that the calls so far have told."""
    specializations = list(state.specializations.values())
    kinds = [_kind(state, spec) for spec in specializations]
    name = state.plain.__qualname__.replace("<locals>.", "")
    calls = int(sum(spec.calls + spec.fast_calls for spec in specializations))
    gear = state.fast[0].gear if state.fast else "plain"
    return FunctionExplanation(name, gear, calls, _words(state.settled), state.settled, kinds)


def _words(refusal: Refusal | None) -> str:
    if refusal is None:
        return ""
    where = f" ({refusal.where})" if refusal.where else ""
    remedy = f"; {refusal.remedy}" if refusal.remedy else ""
    return f"stays plain for good: {refusal.reason}{where}{remedy}"


def _kind(state: FunctionState, spec: Specialization) -> KindOfCall:
    calls, seconds = {"plain": int(spec.calls)}, {"plain": spec.plain}
    if spec.fast_calls:
        calls[spec.gear], seconds[spec.gear] = int(spec.fast_calls), spec.fast
    gear = spec.gear if spec in state.fast else "plain"
    return KindOfCall(spec.name, gear, calls, seconds, _why(state, spec), spec.refusal)


def _why(state: FunctionState, spec: Specialization) -> str:
    refusal = spec.refusal or state.settled
    if refusal is not None:
        where = f" ({refusal.where})" if refusal.where else ""
        return f"not shifted: {refusal.reason}{where}" + (f"; {refusal.remedy}" if refusal.remedy else "")
    if spec in state.fast:
        return (
            f"shifted: compiled in {time_text(spec.compiled_in)}, compared with the plain function {spec.checked} times"
        )
    if spec.rest:
        return "machine code rests: too many calls were left to the plain function"
    if spec.call is not None:
        return f"compiled in {time_text(spec.compiled_in)}, being compared with the plain function"
    if spec.compiling is not None:
        return "machine code is being made on another thread"
    missing = spec.missing()
    if missing >= LONGEST:
        return f"not shifted: a call takes {time_text(spec.per_call)}, which is about what calling machine code takes"
    step = "compiling" if spec.code_arm.sure else "a check"
    return f"not shifted yet: it takes about {time_text(missing)} more of plain calls until {step} pays"
