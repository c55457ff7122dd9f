"""What is known of a decorated function in; out, in fields and in words, what its calls cost and why."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import Refusal
from .life import Life
from .lots import AT_STAKE, SMALLEST, Lot


@dataclass(frozen=True, slots=True)
class KindOfCall:
    """Calls with arguments of one kind. Calls and seconds are estimates, from the calls that were looked at."""

    arguments: str
    gear: str
    calls: dict[str, int]
    seconds: dict[str, float]
    why: str
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class FunctionExplanation:
    """What Upshift knows of a decorated function."""

    function: str
    gear: str
    calls: int
    why: str
    refusal: Refusal | None = None
    kinds: list[KindOfCall] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.function}: about {self.calls:,} calls looked after, runs as {self.gear!r}"]
        if self.why:
            lines.append(f"  {self.why}")
        for kind in self.kinds:
            lines.append(f"  ({kind.arguments}) runs as {kind.gear!r}")
            for gear, seconds in kind.seconds.items():
                each = seconds / max(kind.calls[gear], 1)
                lines.append(
                    f"    {gear:<10} {kind.calls[gear]:>12,} calls {_time(seconds):>9} {_time(each):>9} per call"
                )
            lines.append(f"    {kind.why}")
        return "\n".join(lines)

    __repr__ = __str__


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
        return f"shifted: compiled in {_time(lot.compiled_in)}, compared with the plain function {lot.checked} times"
    if lot.rest:
        return "machine code rests: too many calls were left to the plain function"
    if lot.call is not None:
        return f"compiled in {_time(lot.compiled_in)}, being compared with the plain function"
    if lot.plain > AT_STAKE and lot.per_call <= SMALLEST:
        return f"not shifted: a call takes {_time(lot.per_call)}, which is about what calling machine code takes"
    return f"not shifted yet: it takes about {_time(lot.price())} of plain calls until compiling pays"


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
