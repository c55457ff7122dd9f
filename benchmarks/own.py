"""How fast each way to map a user's `module:function` is here, beside installed peers.

upshift bench prices.py:price --data "np.linspace(0, 200, n)" -o price.html

Peers are given the function as it is. One that refuses it is listed with its words, since that is an answer, too.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

import upshift as up

from . import contenders, life, measure
from .cases import Case, Columns
from .contenders import LOOP, UPSHIFT, Contender, Run, make_fresh
from .measure import Effort
from .told import Bench, Panel

SIZES, QUICK_SIZES = (1, 10, 100, 1_000, 10_000, 100_000), (10, 1_000, 100_000)
THOROUGH = Effort(rounds=9, budget=0.1, again=0.3, limit=1.0, settle=1.0, memory=True)
QUICK = Effort(rounds=5, least=2, budget=0.03, again=0.0, limit=0.3, settle=0.3, memory=True)
SUFFIXES = (".html", ".json", ".txt", ".svg", ".md")


class NotUnderstood(Exception):
    """What is wrong with the words of the command, in one sentence."""


def main(argv: Sequence[str], prog: str) -> int:
    parser = parser_of(prog)
    options = parser.parse_args(argv)
    try:
        check_outputs(options.output)
        f, data = function_of(options.target), data_of(options.data)
        made = bench(options.target, f, data, tuple(options.sizes or ()), options)
    except NotUnderstood as error:
        parser.error(str(error))
    return show(made, options.output)


def parser_of(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, description="How fast each way to map a function of yours is here.")
    parser.add_argument("target", metavar="MODULE:FUNCTION", help="or FILE.py:FUNCTION: a function of one element")
    parser.add_argument(
        "--data", action="append", default=[], metavar="DATA",
        help="one column each: an expression with np, rng and n, such as 'rng.random(n)'; a file .npy; "
        "or MODULE:NAME, an array or a function of n",
    )  # fmt: skip
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="numbers of elements")
    parser.add_argument("--peers", nargs="+", choices=PEERS, metavar="PEER", help="some of them")
    add_common(parser)
    return parser


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="few sizes, little time, no TensorFlow unless asked for")
    parser.add_argument(
        "-o", "--output", type=Path, action="append", default=[], metavar="FILE",
        help="a page (.html), data (.json), text (.txt), plots (.svg), or a table and plots (.md); may be repeated",
    )  # fmt: skip


def check_outputs(files: Sequence[Path]) -> None:
    for file in files:
        if file.suffix not in SUFFIXES:
            raise NotUnderstood(f"{file} ends in none of {', '.join(SUFFIXES)}")
        if not file.parent.is_dir():
            raise NotUnderstood(f"there is no folder {file.parent} to write {file.name} to")


def show(made: Bench, files: Sequence[Path]) -> int:
    made.show()
    for file in files:
        try:
            made.write(file)
        except OSError as error:
            print(f"{file} cannot be written: {error.strerror}", file=sys.stderr)
            return 2
    return 0


# ---- what was asked for


def found_in(place: str) -> Any:
    """What `module:name` or `file.py:name` stands for."""
    where, _, name = place.rpartition(":")
    if not where or not name:
        raise NotUnderstood(f"{place!r} is not MODULE:NAME or FILE.py:NAME")
    if where.endswith(".py"):
        if not Path(where).is_file():
            raise NotUnderstood(f"there is no file {where}")
        spec = importlib.util.spec_from_file_location(Path(where).stem, where)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(Path(where).stem, module)
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, "")
        try:
            module = importlib.import_module(where)
        except ModuleNotFoundError as error:
            raise NotUnderstood(f"there is no module {error.name}; for a file, write {where}.py:{name}") from None
        finally:
            sys.path.remove("")
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise NotUnderstood(f"{where} has no {name}")
    return found


def function_of(target: str) -> FunctionType:
    found = found_in(target)
    found = getattr(found, "plain", found)
    if not isinstance(found, FunctionType):
        raise NotUnderstood(f"{target} is a {type(found).__name__}, not a function written in Python")
    return found


def data_of(words: Sequence[str]) -> Callable[[int, np.random.Generator], Columns]:
    """A function of the number of elements that gives one column for every word."""
    if not words:
        raise NotUnderstood("what are its elements? for instance --data 'rng.random(n)', once for every argument")
    makers = [column_of(word) for word in words]
    return lambda n, rng: tuple(make(n, rng) for make in makers)


def column_of(word: str) -> Callable[[int, np.random.Generator], Any]:
    if word.endswith(".npy"):
        if not Path(word).is_file():
            raise NotUnderstood(f"there is no file {word}")
        given: Any = np.load(word)
    elif word.replace(":", "").replace(".", "").replace("/", "").isidentifier() and ":" in word:
        given = found_in(word)
    else:
        try:
            code = compile(word, "<data>", "eval")
            column = eval(code, {"np": np, "n": 1, "rng": np.random.default_rng(0)})
            len(column)
        except Exception as error:
            raise NotUnderstood(f"--data {word!r}: {type(error).__name__}: {error}") from None
        return lambda n, rng: eval(code, {"np": np, "n": n, "rng": rng})
    return (lambda n, rng: given(n)) if callable(given) else (lambda n, rng: given[:n])


# ---- measuring


def stacked(rows: list[Any]) -> Any:
    """What the loop gives, in columns where it can be."""
    try:
        if rows and isinstance(rows[0], dict):
            return tuple(np.array([row[key] for row in rows]) for key in rows[0])
        return tuple(map(np.array, zip(*rows))) if rows and isinstance(rows[0], tuple) else np.array(rows)
    except (ValueError, KeyError):  # of different lengths: a list
        return rows


def by_loop(f: Run) -> Run:
    return lambda *xs: stacked([f(*e) for e in zip(*xs)])


def by_upshift(f: Run) -> Run:
    def run(*xs: Any) -> Any:
        made = up.map(f, *xs)
        return tuple(made.values()) if isinstance(made, dict) else made

    return run


def by_pandas(case: Case) -> Run:
    import pandas as pd

    f = make_fresh(case.f)
    return lambda xs: pd.Series(xs).map(f).to_numpy()


def by_polars(case: Case) -> Run:
    import polars as pl

    f, (dtype, _) = make_fresh(case.f), contenders.result_columns(case)[0]
    kind = pl.Series(np.empty(0, dtype)).dtype
    return lambda xs: pl.Series(xs).map_elements(f, return_dtype=kind).to_numpy()


PEERS = ("numpy", "numba", "jax", "tensorflow", "pandas", "polars")


def contenders_of(case: Case, arrays: bool, lists: bool, peers: Sequence[str]) -> list[Contender]:
    found = [
        Contender(LOOP, lambda: by_loop(make_fresh(case.f))),
        Contender(UPSHIFT, lambda: by_upshift(make_fresh(case.f)), settles=True),
    ]
    one = case.f.__code__.co_argcount == 1
    if "numpy" in peers and not arrays:
        found.append(Contender("np.vectorize", lambda: np.vectorize(make_fresh(case.f)), True))
    for name, make in (("pandas", by_pandas), ("polars", by_polars)):
        if name in peers and one and not arrays:
            found.append(Contender({"pandas": "Series.map", "polars": "map_elements"}[name], partial(make, case), True))
    for peer, makers in contenders.COMPILED.items():
        if peer in peers and not lists:
            found += [Contender(name, partial(make, case, peer), True) for name, make in makers.items()]
    return found


def bench(target: str, f: FunctionType, data: Any, sizes: tuple[int, ...], options: argparse.Namespace) -> Bench:
    try:
        sample = data(1, np.random.default_rng(measure.SEED))
        if any(len(column) < 1 for column in sample):
            raise NotUnderstood("its data has no elements")
        f(*(column[0] for column in sample))
    except NotUnderstood:
        raise
    except Exception as error:
        raise NotUnderstood(f"{target} fails on its first element: {type(error).__name__}: {error}") from None
    sizes = tuple(dict.fromkeys(sizes)) or (QUICK_SIZES if options.quick else SIZES)
    sizes = held_by(data, sizes)
    quickly = [peer for peer in PEERS if peer != "tensorflow"]
    wanted = options.peers or (quickly if options.quick else list(PEERS))
    missing = [peer for peer in wanted if importlib.util.find_spec(peer) is None]
    case = Case(target, "", sizes, None, data, f, dict.fromkeys(("numba", "jax", "tensorflow"), f))
    arrays, lists = any(np.ndim(column[0]) for column in sample), any(isinstance(c, list) for c in sample)
    entrants = contenders_of(case, arrays, lists, [peer for peer in wanted if peer not in missing])
    with life.empty_cache():
        life.warm_up()
        rows = measure.measure_contenders(case, entrants, sizes, QUICK if options.quick else THOROUGH)
    notes = [f"not installed, and so not measured: {', '.join(missing)}"] if missing else []
    if lists:
        notes.append("lists: compiled peers take arrays only")
    command = " ".join(["upshift bench", target, *(f'--data "{word}"' for word in options.data)])
    kinds = ", ".join(type(column[0]).__name__ for column in sample)
    return Bench(target, command, [Panel(f"{f.__name__} over elements of {kinds}", rows)], notes)


def held_by(data: Any, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that there are data for; all of them, where they are fewer than asked for."""
    rng = np.random.default_rng(measure.SEED)
    there = min(len(column) for column in data(max(sizes), rng))
    return tuple(size for size in sizes if size < there) + ((min(there, max(sizes)),) if there else ())
