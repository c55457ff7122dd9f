"""The report as lines of text, each in parts that have a style (see `terminal.STYLES`)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .units import count_text, share_text, time_text

Part = tuple[str, str]
Line = list[Part]
MOST_BRANCHES = 24
"""Lines of a tree; what is below is counted."""
MARGIN = "  "


def plain(told: dict[str, Any], width: int | None = None) -> str:
    """The whole report as text."""
    return "\n".join("".join(part for part, _ in line).rstrip() for line in lines(told, width))


def lines(told: dict[str, Any], width: int | None = None) -> list[Line]:
    """The whole report, no line wider than told where words can be parted."""
    made = {"map": _of_map, "function": _of_function, "profile": _of_profile, "bench": _of_bench}[told["kind"]](
        told, width
    )
    return [part for line in made for part in _broken(line, width)]


def _broken(line: Line, width: int | None) -> Iterator[Line]:
    """A line that is too wide, in several; tables and trees are made narrow where they are made."""
    whole = "".join(part for part, _ in line)
    if width is None or len(whole) <= width:
        yield line
        return
    indent = whole[: len(whole) - len(whole.lstrip())] + MARGIN
    style = next((style for part, style in line if style and part.strip()), "")
    for one in textwrap.wrap(whole, max(width, 20), subsequent_indent=indent, break_on_hyphens=False):
        yield [(one, style)]


# ---- a map


def _of_map(told: dict[str, Any], width: int | None) -> Iterator[Line]:
    way = "way" if told["of"] == "tensors" else "gear"
    yield [(told["function"], "name"), (f" over {told['n']:,} elements ({told['elements']})", "")]
    yield [(f"  runs in the {way} ", ""), (repr(told["gear"]), "good")]
    yield from _gears(told, width)
    if told["wins"]:
        yield [(f"  fastest: {_wins(told['wins'])}", "")]
    yield from _spent(told)
    yield from refusals(told["refusals"])
    if told["paths"]:
        yield [(f"  {told['paths']} paths, {told['steps']} steps, the longest path has {told['longest']}", "")]
    if told["tree"]:
        yield from _tree(told["tree"])
    for left in told["left_because"]:
        share = left["count"] / max(told["n"], 1)
        yield [(f"  {left['count']:,} elements ({share:.2%}) are left to the plain function: {left['reason']}", "bad")]
    yield from ([(f"  {note}", "")] for note in told["notes"])


def _gears(told: dict[str, Any], width: int | None) -> Iterator[Line]:
    costs = told["gears"]
    if not costs:
        return
    full = any(cost["fixed"] is not None for cost in costs)
    heads = ["", "this call", "per element", *(["fixed", "to make ready"] if full else [])]
    rows = [[cost["name"], *_cells(cost, full)] for cost in costs]
    styles = ["good" if cost["name"] == told["gear"] else "" for cost in costs]
    yield from table(heads, rows, styles, width)


def _cells(cost: dict[str, Any], full: bool) -> list[str]:
    guessed = "~" if not cost["measured"] else ""
    cells = [guessed + time_text(cost["seconds"]), guessed + time_text(cost["per_element"])]
    if full:
        cells.append("-" if cost["fixed"] is None else guessed + time_text(cost["fixed"]))
        cells.append("-" if not cost["ready_in"] else ("" if cost["made"] else "~") + time_text(cost["ready_in"]))
    return cells


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = (), width: int | None = None
) -> Iterator[Line]:
    """Columns of cells, numbers to the right; those that a narrow terminal has no room for are left out."""
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    kept = len(heads)
    while width is not None and kept > 2 and 2 + sum(w + 2 for w in widths[:kept]) > width:
        kept -= 1
    for i, row in enumerate([heads, *rows]):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:kept], widths[1:kept]))]
        style = "head" if i == 0 else styles[i - 1] if i <= len(styles) else ""
        yield [(MARGIN + "  ".join(cells), style)]


def _wins(wins: Iterable[dict[str, Any]]) -> str:
    return ", ".join(f"{win['gear']} from {count_text(win['from'])}" for win in wins)


def _spent(told: dict[str, Any]) -> Iterator[Line]:
    spent = told["spent"]
    if not spent:
        return
    call = {phase: seconds for phase, seconds in spent.items() if phase not in ONCE}
    once = {phase: seconds for phase, seconds in spent.items() if phase in ONCE}
    whole = sum(call.values())
    if call:
        parts = ", ".join(f"{phase} {share_text(seconds, whole)}" for phase, seconds in call.items())
        yield [(f"  where such a call's time goes: {parts}", "")]
    if once:
        yield [(f"  paid once: {', '.join(f'{phase} {time_text(seconds)}' for phase, seconds in once.items())}", "")]


ONCE = ("check", "trace", "compile", "verify")
"""What is paid when a gear is made ready, and never again."""


def refusals(refused: Sequence[dict[str, Any]]) -> Iterator[Line]:
    """Those that refuse for one reason are named together."""
    together: dict[tuple[str, str, str], list[str]] = {}
    for one in refused:
        together.setdefault((one["reason"], one["where"], one["remedy"]), []).append(one["gear"])
    for (reason, where, remedy), gears in together.items():
        verb = "refuses" if len(gears) == 1 else "refuse"
        yield [
            (f"  {', '.join(gears):<6} ", ""),
            (f"{verb}: {reason}", "bad"),
            (f"   {where}" if where else "", "where"),
        ]
        if remedy:
            yield [(f"  {'':<6} try this: {remedy}", "")]


def _tree(root: dict[str, Any]) -> Iterator[Line]:
    if not root["branches"]:
        return
    made = list(_branches(root, "", root["count"]))
    wide = max(len(mark) + len(label) for mark, label, _, _ in made[:MOST_BRANCHES])
    for mark, label, count, rest in made[:MOST_BRANCHES]:
        yield [(f"  {mark}", "faint"), (f"{label:<{wide - len(mark)}} ", ""), (f"{count:>12,}  ", ""), (rest, "where")]
    if len(made) > MOST_BRANCHES:
        yield [(f"  ... and {len(made) - MOST_BRANCHES} branches more", "faint")]


def _branches(node: dict[str, Any], above: str, whole: int) -> Iterator[tuple[str, str, int, str]]:
    if not above:
        yield "", "all", node["count"], _end(node)
    for i, branch in enumerate(node["branches"]):
        last = i == len(node["branches"]) - 1
        below = branch["node"]
        share = share_text(below["count"], whole)
        yield f"{above}{'└ ' if last else '├ '}", branch["answer"], below["count"], f"({share})  {_end(below)}"
        yield from _branches(below, f"{above}{'  ' if last else '│ '}", whole)


def _end(node: dict[str, Any]) -> str:
    at = f" {node['where']}" if node["where"] else ""
    words = {"splits": f"by {node['by']} at{at}", "raises": f"raises {node['by']}{at}"}
    return words.get(node["ends"]) or str(node["ends"])


# ---- a whole function


def _of_function(told: dict[str, Any], width: int | None) -> Iterator[Line]:
    yield [
        (told["function"], "name"),
        (f": about {told['calls']:,} calls looked after, runs as ", ""),
        (repr(told["gear"]), "good"),
    ]
    if told["why"]:
        yield [(f"  {told['why']}", "bad")]
    for kind in told["kinds"]:
        yield [(f"  ({kind['arguments']}) runs as ", ""), (repr(kind["gear"]), "good")]
        for gear, seconds in kind["seconds"].items():
            calls = kind["calls"][gear]
            each = time_text(seconds / max(calls, 1))
            yield [(f"    {gear:<10} {calls:>12,} calls {time_text(seconds):>9} {each:>9} per call", "")]
        yield [(f"    {kind['why']}", "")]


# ---- a profile


def _of_profile(told: dict[str, Any], width: int | None) -> Iterator[Line]:
    yield [
        (f"{told['calls']:,} calls, {told['elements']:,} elements", "name"),
        (f" in {time_text(told['seconds'])}", ""),
    ]
    heads = ["", "calls", "time", "elements", "elements/s", "gears", "most of it", "traces", "compiles"]
    rows = []
    for site in told["sites"]:
        most = ", ".join(f"{phase} {share_text(s, site['seconds'])}" for phase, s in _largest(site["phases"]))
        rate = count_text(site["elements"] / site["seconds"]) if site["elements"] and site["seconds"] else "-"
        cells = [f"{site['calls']:,}", time_text(site["seconds"]), count_text(site["elements"]), rate]
        made = [str(site["traces"]), str(site["compiles"])]
        rows.append([f"{site['function']}  {site['where']}", *cells, " ".join(site["gears"]), most, *made])
    yield from table(heads, rows, (), width)
    for note in told["notes"]:
        yield [(f"  {note}", "")]


def _largest(phases: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(phases.items(), key=lambda item: -item[1])[:2]


# ---- a benchmark


def _of_bench(told: dict[str, Any], width: int | None) -> Iterator[Line]:
    yield [(told["function"], "name"), (f"   {told['machine']}", "faint")]
    for panel in told["panels"]:
        base = panel["rows"][0]
        yield [("", "")]
        yield [(f"{panel['title']}, {panel['n']:,} {panel['what']}", "name")]
        heads = ["", "settled", f"x {base['name']}", "first call", "memory", "result"]
        yield from table(heads, [bench_cells(row, base) for row in panel["rows"]], (), width)
        if len(panel["sizes"]) > 1:
            yield [(f"  how many times the speed of {base['name']}, by number of {panel['what']}:", "")]
            yield from table(["", *map(count_text, panel["sizes"])], list(_ratios(panel)), (), width)
    for note in told["notes"]:
        yield [(f"  {note}", "")]


def bench_cells(row: dict[str, Any], base: dict[str, Any]) -> list[str]:
    """One contender at the largest size."""
    if row["settled"] is None:
        return [row["name"], "-", "-", "-", "-", textwrap.shorten(row["result"], 60, placeholder="...")]
    times = f"{base['settled'] / row['settled']:.3g}" if base["settled"] else "-"
    first = "-" if row["first"] is None else time_text(row["first"])
    return [row["name"], time_text(row["settled"]), times, first, row["memory_text"], row["result"]]


def _ratios(panel: dict[str, Any]) -> Iterator[list[str]]:
    base = dict(panel["rows"][0]["points"])
    for row in panel["rows"][1:]:
        points = dict(row["points"])
        there = [n in points and n in base for n in panel["sizes"]]
        yield [row["name"], *(f"{base[n] / points[n]:.3g}" if ok else "-" for n, ok in zip(panel["sizes"], there))]
