"""Draws the picture of the layers from their table in ARCHITECTURE.md: `python docs/picture.py`."""

from __future__ import annotations

import html
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
TO = ROOT / "docs" / "layers.svg"
WIDTH, LEFT, MIDDLE, RIGHT = 960, 20, 330, 640
LINE, PAD, GAP = 17, 9, 12
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1d2430; }
.name { font: 600 13px ui-monospace, Menlo, Consolas, monospace; }
.head { fill: #667085; } .box { fill: #f6f7f9; stroke: #dfe3e8; }
.paper { fill: #ffffff; } .way { stroke: #0b6bcb; fill: none; }
.core { fill: #e8f1fc; stroke: #9cc4ee; }
@media (prefers-color-scheme: dark) {
text { fill: #e6e9ee; } .head { fill: #98a2b3; } .box { fill: #1b2129; stroke: #323a45; }
.paper { fill: #12161c; } .core { fill: #16283c; stroke: #2f5f92; } .way { stroke: #5aa9f7; } }
"""
CORE = ("columns/", "trace/", "compiler/", "gears/", "plan/")
"""What a call goes through, from what the user passes to what comes back."""


def layers() -> list[tuple[str, str, str]]:
    """Names, what goes in and what comes out, from the top to the bottom."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = page[page.index("| layer |") : page.index("## The words")]
    rows = re.findall(r"^\| (`.*?) \| *(.*?) *\| *(.*?) *\|$", table, re.MULTILINE)
    return [(names.replace("`", ""), given.replace("`", ""), made.replace("`", "")) for names, given, made in rows]


def _text(x: int, y: int, words: str, style: str = "") -> str:
    return f'<text x="{x}" y="{y}"{f" class={chr(34)}{style}{chr(34)}" if style else ""}>{html.escape(words)}</text>'


def drawn() -> str:
    parts = [_text(x, 24, words, "head") for x, words in ((LEFT + 12, "layer"), (MIDDLE, "in"), (RIGHT, "out"))]
    y, before = 36, 0
    for names, given, made in layers():
        columns = [(LEFT + 12, names, 36, "name"), (MIDDLE, given, 42, ""), (RIGHT, made, 40, "")]
        wrapped = [(x, textwrap.wrap(words, width), style) for x, words, width, style in columns]
        height = LINE * max(len(lines) for _, lines, _ in wrapped) + 2 * PAD
        style = "box core" if names.startswith(CORE) else "box"
        if before:
            parts.append(f'<path class="way" d="M{WIDTH // 2} {before} V{y - 3} m-4 -4 l4 4 l4 -4"/>')
        parts.append(f'<rect class="{style}" x="{LEFT}" y="{y}" width="{WIDTH - 2 * LEFT}" height="{height}" rx="8"/>')
        for x, lines, kind in wrapped:
            parts += [_text(x, y + PAD + 13 + LINE * i, line, kind) for i, line in enumerate(lines)]
        before = y + height
        y = before + GAP
    box = f'viewBox="0 0 {WIDTH} {y}" role="img" aria-label="the layers of Upshift, from the top to the bottom"'
    paper = f'<rect class="paper" width="{WIDTH}" height="{y}" rx="10"/>'
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" {box}>', f"<style>{STYLE}</style>", paper, *parts, "</svg>", ""]
    )


if __name__ == "__main__":
    TO.write_text(drawn(), encoding="utf-8")
