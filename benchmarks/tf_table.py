"""Writes the table of docs/benchmarks.md from rows that `benchmarks.tensorflow --json` wrote.

python -m benchmarks.tf_table FILE ... [--page docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from .readme import show_figure
from .tables import show_size, show_time
from .tensorflow import LOOP, OURS, Row, figures

START, END = "<!-- tensorflow:start -->", "<!-- tensorflow:end -->"


def read(files: Sequence[Path]) -> list[Row]:
    return [Row(**row) for file in files for row in json.loads(file.read_text(encoding="utf-8"))]


def markdown(rows: list[Row]) -> str:
    """One line for every case, mode and size: ours, the best form of TensorFlow's, and how much faster ours is."""
    groups: dict[tuple[str, str, int], dict[str, Row]] = {}
    for row in rows:
        groups.setdefault((row.case, row.mode, row.size), {})[row.contender] = row
    lines = [
        "| case | mode | elements | ours | best of TensorFlow's | × it | × the loop | first call × best first |",
        "| --- | --- | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for (case, mode, size), group in groups.items():
        ours, loop = group[OURS], group.get(LOOP) or group.get("plain")
        theirs = [row for name, row in group.items() if name not in (OURS, LOOP, "plain")]
        fair = [row for row in theirs if row.status in ("ok", "estimated") and row.steady]
        first = min(row.first for row in fair if row.first)
        best = min(fair, key=lambda row: row.steady or 0.0)
        assert ours.steady and ours.first and best.steady
        slower = f"{loop.steady / ours.steady:.3g}" if loop is not None and loop.steady else ""
        lines.append(
            f"| {case} | {mode} | {show_size(size)} | {show_time(ours.steady)} | {best.contender}, "
            f"{show_time(best.steady)} | {best.steady / ours.steady:.2f} | {slower} | {first / ours.first:.2f} |"
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tf_table", description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--page", type=Path, help="a page whose block of these figures is written anew")
    options = parser.parse_args(argv)
    rows = read(options.files)
    block = "\n\n".join((START, markdown(rows), "\n".join(map(show_figure, figures(rows))), END))
    if options.page is None:
        print(block)
        return 0
    text = options.page.read_text(encoding="utf-8")
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise SystemExit(f"{options.page.name} has no block between {START} and {END}")
    options.page.write_text(before + block + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
