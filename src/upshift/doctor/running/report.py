"""The report of a measured run: which lines cost what, what each alternative costs, which is best."""

from __future__ import annotations

from typing import Any

from ..figures import duration
from ..finding import Finding
from .measure import Measured, Run


def tell(run: Run, path: str) -> str:
    """The report, ranked by the seconds that a run would save."""
    end = f"ended with {run.error}" if run.error else f"ended with status {run.status}"
    imports = f", imported for {duration(run.importing)}" if run.importing > 0.1 else ""
    lines = [f"{path} ran for {duration(run.seconds)}{imports}, {end}"]
    told: set[tuple[str, Any, str]] = set()
    for measured in run.measured:
        if measured.record.calls:
            lines += _tell_site(measured, run)
            told |= {(f.path, f.place, f.code) for f in measured.site.findings}
    rest = [f for f in run.findings if (f.path, f.place, f.code) not in told]
    lines += [_headline(f) for f in rest]
    if not run.findings:
        lines.append("  no slow map was found in it")
    return "\n".join(lines) + "\n"


def _headline(finding: Finding) -> str:
    return f"  {finding.where}: {finding.code} {finding.message}"


def _tell_site(measured: Measured, run: Run) -> list[str]:
    record, site = measured.record, measured.site
    lines = [_headline(f) for f in site.findings]
    share = 100 * record.seconds / run.seconds if run.seconds else 0.0
    parts = [f"{record.calls:,} call{'s' * (record.calls != 1)}"]
    if record.elements > record.calls:
        parts.append(f"{record.elements:,} elements")
    parts += [duration(record.seconds) if record.seconds else "no time", f"{share:.0f}% of the run"]
    if record.traces > 1:
        parts.append(f"traced {record.traces} times")
    lines.append(f"      line {site.span[0]}: " + ", ".join(parts))
    if measured.note:
        lines.append(f"      {measured.note}")
    for trial in measured.trials:
        if trial.verdict in ("equal", "close", "differs"):
            cost = duration(trial.warm) if trial.warm else "no time"
            first = f" (first call {duration(trial.cold)})" if trial.cold > 2 * trial.warm else ""
            word = {"equal": "the same result", "close": "the same up to rounding", "differs": "another result"}[
                trial.verdict
            ]
            gain = f", saves {duration(trial.saved)}" if trial.saved > 0 else ", saves nothing"
            lines.append(f"        {trial.name:<22} {cost}{first}, {word}{gain if trial.verdict != 'differs' else ''}")
        else:
            lines.append(f"        {trial.name:<22} raises {trial.verdict}")
    return lines


def as_report(run: Run, path: str) -> dict[str, Any]:
    """All that whoever started the run needs of it."""
    return {
        "text": tell(run, path),
        "data": _as_data(run),
        "allowed": run.allowed(),
        "refused": run.refused(),
        "error": run.error,
        "line": run.line,
        "status": run.status,
        "seconds": run.seconds,
    }


def _as_data(run: Run) -> dict[str, Any]:
    """The same for programs."""
    return {
        "seconds": run.seconds,
        "importing": run.importing,
        "status": run.status,
        "error": run.error,
        "line": run.line,
        "sites": [
            {
                "path": m.path,
                "line": m.site.span[0],
                "codes": [f.code for f in m.site.findings],
                "calls": m.record.calls,
                "elements": m.record.elements,
                "seconds": m.record.seconds,
                "share": m.record.seconds / run.seconds if run.seconds else 0.0,
                "traces": m.record.traces,
                "note": m.note,
                "trials": [
                    {"name": t.name, "cold": t.cold, "warm": t.warm, "verdict": t.verdict, "saved": t.saved}
                    for t in m.trials
                ],
            }
            for m in run.measured
        ],
    }
