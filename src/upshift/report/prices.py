"""The generated tables of the plan's constants, with what each stands for."""

from __future__ import annotations

import ast
import inspect
import re
import types
from collections.abc import Iterator

from ..plan import arms, call, entries, ledger, parallel, prices

MODULES: dict[str, tuple[types.ModuleType, ...]] = {
    "prices": (prices,),
    "rule": (ledger, call, entries, arms, parallel),
}
"""What each table is made of."""
UNSAID = {
    "FARTHEST": "How many times the typical figure, or one part in so many, a price is expected to be at most.",
    "MOST_HELPERS": "Functions that a function names whose instructions are counted with its own.",
    "MOST_COUNTED": "Items of a list that are looked at to find how many numbers an element has.",
    "MOST_ENTRIES": "Entries that are kept; all are forgotten when there are more.",
    "MOST_PREPARED": "Versions of a function's machine code, for what it captured at different times.",
}
"""What constants mean that have no words beside them."""
FORCED = frozenset({"FORCED"})
"""Figures that stand for 'whatever it costs'."""
_NO_TIME = re.compile(r"\bshare\b|\bmany times\b|GAIN|TRAVELS")
"""In the words or the name of a float that is no time."""


def ways() -> str:
    """The arms of a map, by the class of each, in Markdown."""
    named = {**vars(arms), **vars(parallel)}.values()
    found = [cls for cls in named if isinstance(cls, type) and issubclass(cls, arms.Way)]
    leaves = [cls for cls in found if cls not in (arms.Way, parallel.Workers)]
    rows = [f"| `{cls.__name__}` | {' '.join((cls.__doc__ or '').split())} |" for cls in leaves]
    return "\n".join(["| arm | what it is |", "| --- | --- |", *rows])


def table(which: str) -> str:
    """The constants of one table, in Markdown."""
    rows = [f"| {name} | {value} | {meaning} |" for name, value, meaning in _rows(MODULES[which])]
    return "\n".join(["| constant | value | what it is |", "| --- | ---: | --- |", *rows])


def _rows(modules: tuple[types.ModuleType, ...]) -> Iterator[tuple[str, str, str]]:
    for module in modules:
        file = module.__name__.rpartition(".")[2]
        for names, meaning in constants(module).items():
            shown = ", ".join(f"`{name}`" for name in names)
            values = ", ".join(_shown(name, getattr(module, name), meaning) for name in names)
            yield shown if len(modules) == 1 else f"`{file}.py` {shown}", values, meaning


def constants(module: types.ModuleType) -> dict[tuple[str, ...], str]:
    """What stands in capitals in a module and is a number, by the names that are set together, with what it means."""
    found: dict[tuple[str, ...], str] = {}
    body = ast.parse(inspect.getsource(module)).body
    for statement, following in zip(body, [*body[1:], ast.Pass()]):
        names = tuple(name for name in _names(statement) if type(getattr(module, name)) in (int, float))
        if not names or FORCED.intersection(names):
            continue
        beside = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        words = following.value.value if beside else UNSAID.get(names[0])  # type: ignore[attr-defined]
        if not words:
            raise ValueError(f"{module.__name__}: say what {', '.join(names)} means, in a text below it")
        found[names] = " ".join(words.split())
    return found


def _names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            for node in ast.walk(target):
                if isinstance(node, ast.Name) and node.id.isupper() and not node.id.startswith("_"):
                    yield node.id


def _shown(name: str, value: float, meaning: str) -> str:
    """A number with its unit: a float is a time, where neither its name nor its words say otherwise."""
    if type(value) is int or _NO_TIME.search(f"{name} {meaning}"):
        return f"{value:g}"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value / 1e-9:g} ns"
