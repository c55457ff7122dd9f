"""The report as HTML: one page that needs no network, or a notebook's cell."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from typing import Any

from .chart import COLOURS, Series, chart, fastest
from .markup import Markup, joined, tag
from .text import ONCE, bench_cells
from .units import count_text, share_text, time_text

Rows = Iterable[Sequence[Any]]
_PLACE = re.compile(r"  # (\S+):(\d+)$")


@functools.cache
def asset(name: str) -> Markup:
    """A file of this folder."""
    return Markup(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


def page(told: dict[str, Any]) -> str:
    """The whole page."""
    title = told.get("function") or told["kind"]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{title}: Upshift"),
        tag("style", asset("page.css")),
    )
    switch = tag("button", "light or dark", class_="theme", type="button")
    body = tag("body", tag("main", switch, *_sections(told)), tag("script", asset("page.js")), class_="upshift")
    return "<!doctype html>\n" + tag("html", Markup(head), body, lang="en") + "\n"


def fragment(told: dict[str, Any]) -> str:
    """For a cell of a notebook: without scripts."""
    return tag("div", tag("style", asset("page.css")), *_sections(told), class_="upshift")


def _sections(told: dict[str, Any]) -> Iterator[Markup]:
    yield from {"map": _of_map, "function": _of_function, "profile": _of_profile, "bench": _of_bench}[told["kind"]](
        told
    )


# ---- a map


def _of_map(told: dict[str, Any]) -> Iterator[Markup]:
    yield tag("h1", told["function"])
    way = "way" if told["of"] == "tensors" else "gear"
    lead = [f"over {told['n']:,} elements ({told['elements']}), runs in the {way} ", tag("b", told["gear"])]
    yield tag("p", *lead, class_="lead")
    if told["gears"]:
        yield tag("h2", "What each gear costs")
        yield _figure(_series(told), [(win["from"], win["gear"]) for win in told["wins"]], told["n"])
        yield _table_of_gears(told)
    if told["spent"]:
        yield tag("h2", "Where the time of such a call goes")
        yield _bar({phase: seconds for phase, seconds in told["spent"].items() if phase not in ONCE})
        if once := {phase: seconds for phase, seconds in told["spent"].items() if phase in ONCE}:
            yield tag("h2", "What was paid once to make the gear ready")
            yield _bar(once)
    if told["tree"]:
        yield tag("h2", "Paths through the function")
        yield tag("p", f"{told['paths']} paths, {told['steps']} steps, the longest path has {told['longest']}.")
        yield tag("div", tag("ul", _node("all", told["tree"], max(told["tree"]["count"], 1))), class_="tree")
    for left in told["left_because"]:
        share = share_text(left["count"], told["n"])
        words = f"{left['count']:,} elements ({share}) are left to the plain function: {left['reason']}"
        yield tag("p", words, class_="refusal")
    yield from _refusals(told["refusals"])
    if told["source"].get("user") or told["source"].get("batched"):
        yield tag("h2", "Your lines, and the batched program")
        yield _sources(told["source"])
    if told["notes"]:
        yield tag("h2", "Notes")
        yield tag("ul", *(tag("li", note) for note in told["notes"]))


def _series(told: dict[str, Any]) -> list[Series]:
    """As measured; and up to ten times the size at hand as the line through it goes."""
    made = []
    for gear in told["gears"]:
        points = [(n, s) for n, s in gear["points"]] or [(told["n"], gear["seconds"])]
        fixed, rate = gear["fixed"] or 0.0, gear["per_element"]
        low, high = (points[-1][0], 10 * told["n"]) if gear["measured"] else (1, 10 * told["n"])
        beyond = [(low, points[-1][1])] if gear["measured"] else []
        n = low * (2 if gear["measured"] else 1)
        while n <= high:
            beyond.append((n, fixed + n * rate))
            n *= 2
        made.append(Series(gear["name"], points if gear["measured"] else [], beyond))
    return made


def _figure(
    series: Sequence[Series], wins: Sequence[tuple[float, str]] = (), at: float | None = None, what: str = "elements"
) -> Markup:
    data = [{"name": one.name, "points": [*one.points, *one.beyond[bool(one.points) :]]} for one in series]
    buttons = [
        tag(
            "button", one.name, class_=f"series-{i % COLOURS}", type="button", aria_pressed="true", data_toggle=one.name
        )
        for i, one in enumerate(series)
    ]
    drawn = chart(series, wins, at, what)
    scrolled, toggles = tag("div", drawn, class_="scroll"), tag("div", *buttons, class_="toggles")
    return tag("figure", toggles, scrolled, _embedded(data), data_what=what, style="margin:0")


def _embedded(data: Any) -> Markup:
    """Data for the script: nothing in it can end the element."""
    text = json.dumps(data).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return tag("script", Markup(text), type="application/json")


def table(heads: Sequence[str], rows: Rows, marked: int | None = None) -> Markup:
    """A table, one row of which may be marked."""
    body = [
        tag("tr", *(tag("td", cell) for cell in row), class_="runs" if i == marked else None)
        for i, row in enumerate(rows)
    ]
    head = tag("thead", tag("tr", *(tag("th", head) for head in heads)))
    return tag("div", tag("table", head, tag("tbody", *body)), class_="scroll")


def _table_of_gears(told: dict[str, Any]) -> Markup:
    wins = {win["gear"]: count_text(win["from"]) for win in reversed(told["wins"])}
    rows = []
    for gear in told["gears"]:
        about = "" if gear["measured"] else "about "
        ready = time_text(gear["ready_in"]) if gear["ready_in"] else "-"
        fixed = "-" if gear["fixed"] is None else time_text(gear["fixed"])
        cells = [about + time_text(gear["seconds"]), about + time_text(gear["per_element"]), fixed, ready]
        rows.append([gear["name"], *cells, wins.get(gear["name"], "-")])
    runs = next((i for i, gear in enumerate(told["gears"]) if gear["name"] == told["gear"]), None)
    return table(["gear", "this call", "per element", "fixed", "to make ready", "fastest from"], rows, runs)


def _bar(spent: dict[str, float]) -> Markup:
    whole = sum(spent.values()) or 1.0
    parts, legend = [], []
    for i, (phase, seconds) in enumerate(spent.items()):
        tip = f"{phase}: {time_text(seconds)} ({share_text(seconds, whole)})"
        style = f"width:{100 * seconds / whole:.3f}%"
        parts.append(tag("div", class_=f"series-{(i + 1) % COLOURS}", style=style, data_tip=tip, title=tip))
        legend.append(tag("li", tag("i", class_=f"series-{(i + 1) % COLOURS}"), tip))
    return joined(tag("div", *parts, class_="bar"), tag("ul", *legend, class_="legend"))


def _node(answer: str, node: dict[str, Any], whole: int) -> Markup:
    count = f"{node['count']:,} ({share_text(node['count'], whole)})"
    share = tag("span", class_="share", style=f"width:{120 * node['count'] / whole:.1f}px")
    ends = {"splits": f"splits by {node['by']}", "raises": f"raises {node['by']}"}.get(node["ends"], node["ends"])
    words = [tag("code", answer), share, count, " ", ends, " ", tag("span", node["where"], class_="where")]
    if not node["branches"]:
        return tag("li", *words)
    below = tag("ul", *(_node(branch["answer"], branch["node"], whole) for branch in node["branches"]))
    return tag("li", tag("details", tag("summary", *words), below, open="open"))


def _sources(source: dict[str, Any]) -> Markup:
    user = []
    for number, line in enumerate(source["user"].splitlines(), start=source["first"]):
        user.append(tag("span", f"{number:>4}  {line}", data_line=f"{source['file']}:{number}"))
    batched = []
    for line in source["batched"].splitlines():
        found = _PLACE.search(line)
        batched.append(tag("span", line, data_line=f"{found[1]}:{found[2]}" if found else None))
    right = tag("pre", *batched) if batched else tag("p", f"There is no batched program: {source['why_not']}")
    return tag("div", tag("pre", *user), right, class_="sources")


def _refusals(refused: Sequence[dict[str, Any]]) -> Iterator[Markup]:
    if refused:
        yield tag("h2", "Refusals")
    for one in refused:
        words: list[Any] = [tag("b", one["gear"]), " refuses: ", one["reason"], " "]
        words.append(tag("span", one["where"], class_="where"))
        if one["remedy"]:
            words += [tag("br"), "Try this: ", one["remedy"]]
        yield tag("div", *words, class_="refusal")


# ---- a whole function, a profile, a benchmark


def _of_function(told: dict[str, Any]) -> Iterator[Markup]:
    yield tag("h1", told["function"])
    yield tag("p", f"about {told['calls']:,} calls looked after, runs as ", tag("b", told["gear"]), class_="lead")
    yield from _refusals(told["refusals"])
    for kind in told["kinds"]:
        yield tag("h2", f"({kind['arguments']})")
        rows = [
            [gear, f"{kind['calls'][gear]:,}", time_text(seconds), time_text(seconds / max(kind["calls"][gear], 1))]
            for gear, seconds in kind["seconds"].items()
        ]
        yield table(["", "calls", "time", "per call"], rows)
        yield tag("p", kind["why"])


def _of_profile(told: dict[str, Any]) -> Iterator[Markup]:
    yield tag("h1", "Where the time of maps went")
    lead = f"{told['calls']:,} calls, {told['elements']:,} elements, {time_text(told['seconds'])}"
    yield tag("p", lead, class_="lead")
    rows = []
    for site in told["sites"]:
        rate = count_text(site["elements"] / site["seconds"]) if site["elements"] and site["seconds"] else "-"
        cells = [f"{site['calls']:,}", time_text(site["seconds"]), count_text(site["elements"]), rate]
        made = [site["device"], f"{site['traces']:,}", f"{site['compiles']:,}"]
        rows.append([f"{site['function']}  {site['where']}", *cells, ", ".join(site["gears"]), *made])
    yield table(["", "calls", "time", "elements", "elements/s", "gears", "on", "traces", "compiles"], rows)
    for site in told["sites"]:
        yield tag("h2", f"{site['function']}  {site['where']}")
        yield _bar(site["phases"])
    yield tag("ul", *(tag("li", note) for note in told["notes"]))


def _of_bench(told: dict[str, Any]) -> Iterator[Markup]:
    yield tag("h1", told["function"])
    yield tag("p", f"{told['machine']}; made by ", tag("code", told["command"]), class_="lead")
    for panel in told["panels"]:
        yield tag("h2", f"{panel['title']}, {panel['n']:,} {panel['what']}")
        series = [Series(row["name"], [(n, s) for n, s in row["points"]]) for row in panel["rows"] if row["points"]]
        yield _figure(series, fastest(series)[1:], what=panel["what"])
        base = panel["rows"][0]
        heads = ["", "settled", f"x {base['name']}", "first call", "memory", "result"]
        yield table(heads, [bench_cells(row, base) for row in panel["rows"]])
    yield tag("ul", *(tag("li", note) for note in told["notes"]))
