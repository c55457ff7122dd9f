"""Draws time against number of elements on log axes, as SVG, with the sizes at which one line overtakes another.

Hover and toggles are the page's script; the figure stands without it, in light and dark, on paper and in a notebook.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .markup import Markup, joined, tag
from .units import count_text, time_text

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 170, 30, 44
COLOURS = 10
"""How many series have a colour of their own: `--series-0` and so on."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line. `beyond`: how it is expected to go on outside of what was measured."""

    name: str
    points: Sequence[tuple[float, float]]
    beyond: Sequence[tuple[float, float]] = field(default=())


def fastest(series: Sequence[Series]) -> list[tuple[float, str]]:
    """From which size on which series is the lowest, between the points by straight lines on log axes.

    >>> fastest([Series("loop", [(1, 1e-6), (100, 1e-4)]), Series("llvm", [(1, 9e-6), (100, 9e-6)])])
    [(1, 'loop'), (9, 'llvm')]
    """
    sizes = sorted({n for one in series for n, _ in one.points})
    made: list[tuple[float, str]] = []
    for low, high in zip(sizes, [*sizes[1:], sizes[-1]] if sizes else []):
        for i in range(STEPS if high > low else 1):
            n = low * (high / low) ** (i / STEPS)
            there = [(s, one.name) for one in series if (s := _between(one.points, n)) is not None]
            name = min(there)[1]
            if not made or made[-1][1] != name:
                made.append((round(n), name))
    return made


STEPS = 64
"""Between two sizes that were measured."""


def _between(points: Sequence[tuple[float, float]], n: float) -> float | None:
    for (low, first), (high, last) in itertools.pairwise(points):
        if low <= n <= high:
            share = math.log(n / low) / math.log(high / low)
            return math.exp((1 - share) * math.log(first) + share * math.log(last))
    return next((seconds for size, seconds in points if size == n), None)


@dataclass(frozen=True, slots=True)
class Axes:
    """From numbers to places in the figure."""

    low_x: float
    high_x: float
    low_y: float
    high_y: float

    def x(self, n: float) -> float:
        """The place of a number of elements."""
        share = (math.log10(n) - self.low_x) / max(self.high_x - self.low_x, 1e-9)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(self, seconds: float) -> float:
        """The place of a time."""
        share = (math.log10(seconds) - self.low_y) / max(self.high_y - self.low_y, 1e-9)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)


def chart(
    series: Sequence[Series],
    wins: Sequence[tuple[float, str]] = (),
    at: float | None = None,
    what: str = "elements",
    **attributes: Any,
) -> Markup:
    """The figure. `wins`: from which size on which series is the lowest; `at`: the size that was asked for."""
    shown = [point for one in series for point in (*one.points, *one.beyond) if point[0] > 0 and point[1] > 0]
    if not shown:
        return Markup("")
    axes = Axes(
        math.floor(math.log10(min(n for n, _ in shown))),
        max(math.ceil(math.log10(max(n for n, _ in shown))), 1),
        math.floor(math.log10(min(s for _, s in shown))),
        math.ceil(math.log10(max(s for _, s in shown))),
    )
    parts = [*_grid(axes, what), *_marks(axes, wins, at), *_labels(axes, series)]
    parts += [_line(axes, one, i) for i, one in enumerate(series)]
    label = f"time against number of {what}: {', '.join(one.name for one in series)}"
    axis = f"{axes.low_x} {axes.high_x} {axes.low_y} {axes.high_y}"
    box = f"0 0 {WIDTH} {HEIGHT}"
    return tag("svg", *parts, viewBox=box, role="img", aria_label=label, class_="chart", data_axes=axis, **attributes)


def _grid(axes: Axes, what: str) -> list[Markup]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    made = []
    for power in range(int(axes.low_x), int(axes.high_x) + 1):
        x = axes.x(10.0**power)
        made.append(tag("line", x1=x, x2=x, y1=TOP, y2=bottom, class_="grid"))
        made.append(tag("text", count_text(10.0**power), x=x, y=bottom + 18, class_="tick", text_anchor="middle"))
    for power in range(int(axes.low_y), int(axes.high_y) + 1):
        y = axes.y(10.0**power)
        made.append(tag("line", x1=LEFT, x2=right, y1=y, y2=y, class_="grid"))
        made.append(
            tag("text", time_text(10.0**power * 1.0000001), x=LEFT - 8, y=y + 4, class_="tick", text_anchor="end")
        )
    made.append(tag("text", what, x=(LEFT + right) / 2, y=HEIGHT - 6, class_="tick", text_anchor="middle"))
    return made


def _marks(axes: Axes, wins: Sequence[tuple[float, str]], at: float | None) -> list[Markup]:
    """Where one line crosses below the others, and the size that was asked for."""
    made = []
    for n, name in wins:
        if n <= 1 or not axes.low_x <= math.log10(n) <= axes.high_x:
            continue
        x = axes.x(n)
        made.append(tag("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, class_="crossover"))
        words = f"{name} from {count_text(n)}"
        made.append(tag("text", words, x=x + 4, y=TOP - 6, class_="crossover-label"))
    if at is not None and at > 0:
        made.append(tag("line", x1=axes.x(at), x2=axes.x(at), y1=TOP, y2=HEIGHT - BOTTOM, class_="at"))
    return made


def _labels(axes: Axes, series: Sequence[Series]) -> list[Markup]:
    """Names at the ends of the lines, far enough apart to be read."""
    ends = [(axes.y((one.beyond or one.points)[-1][1]), i) for i, one in enumerate(series) if one.points or one.beyond]
    made, above = [], -math.inf
    for y, i in sorted(ends):
        y = max(y, above + 15)
        above = y
        words = tag("text", series[i].name, x=WIDTH - RIGHT + 8, y=y + 4, class_=f"name series-{i % COLOURS}")
        made.append(tag("g", words, data_series=series[i].name))
    return made


def _line(axes: Axes, one: Series, i: int) -> Markup:
    parts = []
    for points, style in ((one.beyond, "line beyond"), (one.points, "line")):
        if len(points) > 1:
            way = "M" + " L".join(f"{axes.x(n)} {axes.y(s)}" for n, s in points)
            parts.append(tag("path", d=way, class_=style))
    for n, seconds in one.points:
        tip = f"{one.name}: {n:,.0f} in {time_text(seconds)}, {time_text(seconds / n)} each"
        parts.append(
            tag("circle", tag("title", tip), cx=axes.x(n), cy=axes.y(seconds), r=3.5, class_="point", data_tip=tip)
        )
    return tag("g", *parts, class_=f"series series-{i % COLOURS}", data_series=one.name)


def standalone(figure: Markup, style: str, theme: str) -> str:
    """A figure as a file of its own, light or dark; `style` is that of the page."""
    colours = style[: style.index("body.upshift")]
    drawn = style[style.index(".upshift .grid") : style.index(".upshift .off")]
    opened = figure.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" data-theme="{theme}" ', 1)
    opened = opened.replace('class="chart"', 'class="chart upshift"', 1)
    head = opened.index(">") + 1
    return joined(Markup(opened[:head]), Markup(f"<style>{colours}{drawn}</style>"), Markup(opened[head:])) + "\n"
