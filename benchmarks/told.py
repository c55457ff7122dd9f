"""Reports rows of a run, in panels, as text, JSON, a page, plots, or a table in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from upshift.views import chart, page
from upshift.views.report import Report
from upshift.views.units import bytes_text, count_text, time_text

from .measure import Row
from .tables import show_machine, show_ratio

START, END = "<!-- bench:start -->", "<!-- bench:end -->"
THEMES = ("light", "dark")


@dataclass(slots=True)
class Panel:
    """One function and its contenders, at several sizes. The first contender is what all are compared with."""

    title: str
    rows: list[Row]
    what: str = "elements"

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(row.contender for row in self.rows))

    @property
    def sizes(self) -> list[int]:
        return sorted({row.size for row in self.rows})

    def row(self, name: str, size: int) -> Row:
        return next(row for row in self.rows if (row.contender, row.size) == (name, size))

    def to_dict(self) -> dict[str, Any]:
        largest = self.sizes[-1]
        return {
            "title": self.title,
            "n": largest,
            "what": self.what,
            "sizes": self.sizes,
            "rows": [self._told(name, largest) for name in self.names],
        }

    def _told(self, name: str, largest: int) -> dict[str, Any]:
        rows = [self.row(name, size) for size in self.sizes]
        timed = [row for row in rows if row.steady is not None]
        last = rows[-1]
        results = {"ok": "the loop's", "estimated": "estimated", "slow": "takes too long", "wrong": last.note}
        return {
            "name": name,
            "settled": last.steady,
            "first": last.first,
            "memory": last.memory,
            "memory_text": "-" if last.memory is None else bytes_text(last.memory),
            "result": last.note if last.status == "failed" else results[last.status],
            "points": [[row.size, row.steady] for row in timed],
            "firsts": [[row.size, row.first] for row in timed],
        }


@dataclass(slots=True, repr=False)
class Bench(Report):
    """What was measured, side by side in one run."""

    function: str
    command: str
    panels: list[Panel]
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "bench",
            "function": self.function,
            "command": self.command,
            "machine": show_machine(),
            "panels": [panel.to_dict() for panel in self.panels],
            "notes": self.notes,
        }

    def write(self, to: Path) -> list[Path]:
        """One file by its suffix; plots are a light and a dark one for every panel."""
        if to.suffix == ".svg":
            return [path for panel in self.panels for path in self._plots(panel, to)]
        if to.suffix == ".md":
            plots = [self._plots(panel, to.with_suffix(".svg")) for panel in self.panels]
            text = to.read_text(encoding="utf-8") if to.exists() else f"{START}\n{END}\n"
            before, start, rest = text.partition(START)
            _, end, after = rest.partition(END)
            if not start or not end:
                raise SystemExit(f"{to} has no block between {START} and {END}")
            to.write_text(f"{before}{START}\n{self.markdown(plots)}\n{END}{after}", encoding="utf-8")
            return [to, *(path for pair in plots for path in pair)]
        return [self.save(to)]

    def _plots(self, panel: Panel, to: Path) -> list[Path]:
        told = panel.to_dict()
        series = [chart.Series(row["name"], row["points"]) for row in told["rows"] if row["points"]]
        drawn = chart.chart(series, chart.fastest(series)[1:], what=panel.what)
        if not drawn:
            return []
        number = "" if panel is self.panels[0] else f"-{self.panels.index(panel) + 1}"
        made = []
        for theme in THEMES:
            path = to.with_name(f"{to.stem}{number}-{theme}.svg")
            path.write_text(chart.standalone(drawn, page.asset("page.css"), theme), encoding="utf-8")
            made.append(path)
        return made

    def markdown(self, plots: Sequence[Sequence[Path]] = ()) -> str:
        """Every panel as a table, with its plots."""
        lines = [
            f"Made by `{self.command}` ({show_machine()}). Seconds of a settled call; in brackets the first one.",
            "",
        ]
        for i, panel in enumerate(self.panels):
            lines += [f"**{panel.title}**", ""]
            for path, theme in zip(plots[i] if plots else (), THEMES):
                lines += [f"![{panel.title}: time against {panel.what}]({path.name}#only-{theme})"]
            heads = ["", *(count_text(size) for size in panel.sizes), f"x the speed at {count_text(panel.sizes[-1])}"]
            lines += ["", f"| {' | '.join(heads)} |", f"| --- {'| ---: ' * (len(heads) - 1)}|"]
            base = panel.row(panel.names[0], panel.sizes[-1]).steady
            for name in panel.names:
                cells = [cell_of(panel.row(name, size)) for size in panel.sizes]
                last = panel.row(name, panel.sizes[-1]).steady
                lines.append(f"| {name} | {' | '.join(cells)} | {show_ratio(base / last) if base and last else '-'} |")
            lines.append("")
        return "\n".join([*lines, *(f"{note}\n" for note in self.notes)]).rstrip()


def cell_of(row: Row) -> str:
    if row.steady is None:
        return {"slow": "-", "failed": "refuses"}.get(row.status, row.status)
    if row.status == "estimated" or row.first is None:
        return f"~{time_text(row.steady)}"
    return f"{time_text(row.steady)} ({time_text(row.first)})" + (" wrong" if row.status == "wrong" else "")
