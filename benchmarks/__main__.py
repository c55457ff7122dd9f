"""The command: prints tables of speeds and, on request, writes JSON and the table of docs/benchmarks.md.

python -m benchmarks                          # everything, some 20 minutes
python -m benchmarks --quick                  # under a minute, without TensorFlow
python -m benchmarks --life                   # the first 1 to 1,000 calls of new functions, in every gear
python -m benchmarks --cases gcd --sizes 1000 100000 --json gcd.json
python -m benchmarks prices.py:price --data "np.linspace(0, 200, n)" -o price.html    # a function of yours
python -m benchmarks map-fn-vs-loop           # one of five questions about TensorFlow
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from . import cases, contenders, life, own, questions
from .figures import figures
from .life import Life
from .measure import Effort, Row, measure_case
from .readme import rewrite, show_figure
from .tables import show_machine, table_of_case, table_of_lives

QUICK_SIZES = (10, 1_000, 100_000)
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def main(argv: Sequence[str] | None = None, prog: str = "python -m benchmarks") -> int:
    words = sys.argv[1:] if argv is None else list(argv)
    if words and words[0] in questions.QUESTIONS:
        return questions.main(words, prog)
    if words and not words[0].startswith("-"):
        return own.main(words, prog)
    options = parse(words, prog)
    if options.quick:
        contenders.COMPILED.pop("tensorflow", None)
    if options.readme and not PAGE.exists():
        raise SystemExit("there is no docs/benchmarks.md to write to")
    print(show_machine())
    with life.empty_cache():
        rows = measure(options) if options.readme or not options.life else []
        lives = measure_lives(options) if options.life else []
    found = figures(rows, lives)
    print(*(show_figure(figure) for figure in found), sep="\n")
    if options.json:
        write_json(options.json, rows, lives)
    if options.readme:
        rewrite(PAGE, rows, lives)
    return int(any(figure.passed is False for figure in found)) if options.strict else 0


def parse(argv: Sequence[str] | None, prog: str) -> argparse.Namespace:
    about = f"""How fast is each way to map? For a function of yours: `{prog} MODULE:FUNCTION --data ...`
(`{prog} MODULE:FUNCTION --help`). Questions about TensorFlow, answered here: {", ".join(questions.QUESTIONS)}."""
    parser = argparse.ArgumentParser(prog=prog, description=about)
    parser.add_argument("--quick", action="store_true", help="few cases and samples, no lists, no TensorFlow")
    parser.add_argument("--life", action="store_true", help="first calls of new functions, in every gear, instead")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="numbers of elements")
    parser.add_argument("--cases", nargs="+", choices=cases.NAMES, metavar="CASE", help="some of them")
    parser.add_argument("--ours", action="store_true", help="only the loop and up.map")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every row to this file")
    parser.add_argument("--readme", action="store_true", help="write the table into docs/benchmarks.md")
    parser.add_argument("--strict", action="store_true", help="exit with status 1 where a promise is broken")
    options = parser.parse_args(argv)
    options.kinds = (False,) if options.quick and not options.cases else (False, True)
    options.cases = options.cases or (cases.QUICK if options.quick else cases.NAMES)
    return options


def measure(options: argparse.Namespace) -> list[Row]:
    effort = Effort(rounds=5, least=2, budget=0.03, again=0.2, limit=0.3, settle=0.5) if options.quick else Effort()
    start = time.perf_counter()
    rows: list[Row] = []
    for name in options.cases:
        case = cases.load(name)
        small = tuple(size for size in case.sizes if size <= 1_000) if case.arrays else QUICK_SIZES
        sizes = tuple(options.sizes or (small if options.quick else case.sizes))
        print(f"\n{name}: {case.about}")
        for lists in (False,) if case.arrays else options.kinds:
            found = measure_case(case, sizes, effort, lists, not options.ours)
            print("", table_of_case(found, first=False), table_of_case(found, first=True), sep="\n", flush=True)
            rows += found
    print(f"\n{len(rows)} rows in {time.perf_counter() - start:.0f} s\n")
    return rows


def measure_lives(options: argparse.Namespace) -> list[Life]:
    limit, rounds = (0.3, 1) if options.quick else (2.0, 3)
    start = time.perf_counter()
    lives: list[Life] = []
    life.warm_up()
    for name in options.cases:
        case = cases.load(name)
        few = QUICK_SIZES if options.quick else life.SIZES
        sizes = tuple(options.sizes or (case.sizes[:2] if case.arrays else few))
        found = life.measure_lives(case, sizes, limit, rounds)
        if found:
            print("", table_of_lives(found), sep="\n", flush=True)
        lives += found
    print(f"\n{len(lives)} lives in {time.perf_counter() - start:.0f} s\n")
    return lives


def write_json(path: Path, rows: list[Row], lives: list[Life]) -> None:
    content = {
        "machine": show_machine(),
        "rows": [dataclasses.asdict(row) for row in rows],
        "lives": [dataclasses.asdict(one) for one in lives],
    }
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
