"""The generated tables of what the compiler knows: the language, functions and methods."""

from __future__ import annotations

import ast
import bisect
import builtins
import cmath
import collections
import contextlib
import dataclasses
import functools
import heapq
import itertools
import math
import operator
import statistics
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiler import kernel
from ..compiler.calls import ROWS, SPECIAL, SPECIAL_METHODS
from ..compiler.kinds import FLOAT, Refused
from ..compiler.prelude import deques, dicts, sets
from ..compiler.prelude.registry import FUNCTIONS, IMPLEMENTS, METHODS, NAMED
from ..compiler.source import adopt_source

SYNTAX: dict[str, dict[str, str]] = {
    "statements": {
        "`if` `elif` `else`": "if x > 1:\n y = x\nelif x > 0:\n y = 1.0\nelse:\n y = 2.0\nreturn y",
        "`while` with `else`": "while x > 1:\n x -= 1\nelse:\n x = 0.0\nreturn x",
        "`for` with `else`": "for i in range(3):\n x += i\nelse:\n x = 0.0\nreturn x",
        "`break` `continue` `pass`": "while True:\n if x > 1:\n  break\n x += 1\n continue\n pass\nreturn x",
        "`try` `except` `else` `finally`":
            "try:\n y = 1 / x\nexcept ZeroDivisionError:\n y = 0.0\nelse:\n y += 1\nfinally:\n x = 1.0\nreturn y * x",
        "`raise`": "if x < 0:\n raise ValueError(f'{x} is negative')\nreturn x",
        "`assert`": "assert x > 0, 'positive'\nreturn x",
        "`with suppress(...)`": "with contextlib.suppress(ZeroDivisionError):\n return 1 / x\nreturn 0.0",
        "`match`": "match x:\n case 0.0:\n  return 1\n case _ if x > 1:\n  return 2\nreturn 3",
        "`a, *rest = xs`": "a, *rest = x, 1, 2\nreturn a + len(rest)",
        "`xs[i] += y`": "xs = [x, 2.0]\nxs[0] += 1\nreturn xs",
        "`del`": "xs = [x, 2.0]\ndel xs[1]\nreturn xs",
        "`def` inside": "def inner(y, *more, scale=2):\n return y * scale\nreturn inner(x)",
        "`yield`": "def count(n):\n while n < 3:\n  yield n\n  n += 1\nreturn sum(count(0)) + x",
        "`nonlocal`": "n = 0\ndef add():\n nonlocal n\n n += 1\nadd()\nreturn n + x",
        "`import` of what is loaded": "import math\nreturn math.sqrt(x)",
        "`class` inside": "class Local:\n pass\nreturn x",
        "a global that is set": "global limit\nlimit = x\nreturn x",
        "`except*`": "try:\n x += 1\nexcept* ValueError:\n x = 0.0\nreturn x",
        "`with open(...)`": "with open('file') as file:\n return x",
    },
    "expressions": {
        "arithmetic": "return -x + 2 * x - x / 3 // 1 % 4 ** 2",
        "bits": "return int(x) << 2 >> 1 & 7 | 8 ^ 1, ~int(x)",
        "chains of comparisons": "return 0 < x <= 1 != 2",
        "`and` `or` `not`, by value": "return x and 1 or 2, not x",
        "`a if c else b`, of two classes": "return 1 if x > 0 else 'none'",
        "`:=`": "return (y := x) + y",
        "`in` `is`": "return x in (1.0, 2.0), x is None",
        "indices and slices": "return [1, 2, 3][-1], (1, 2)[0], 'abc'[1:], [1, 2, 3][::-1]",
        "comprehensions": "return [i * x for i in range(3) if i], len({i for i in (1, 2)}), {i: x for i in (1, 2)}",
        "generator expressions": "return sum(i * x for i in range(3)), max(y * y for y in (x, 1.0))",
        "f-strings with formats": "return f'{int(x):05d} {x:.2f}'",
        "`%` and `format` of texts": "return '%05d' % int(x), '{:.2f}'.format(x)",
        "`lambda`": "return (lambda y, z=1: y + z)(x)",
        "stars and keywords in calls": "return max(*[x, 2.0]), dict(a=x)['a']",
        "stars in displays": "return {'a': 1, **{'b': 2}}['b'], [*range(2), x]",
        "complex numbers": "return (x + 1j).real",
        "a value sent to a generator": "def g():\n y = yield 1\n return y\nreturn list(g())[0] + x",
        "bytes": "return b'a'[0] + x",
    },
}  # fmt: skip
"""Bodies of functions of one float x, which are checked as they stand."""
MODULES: tuple[tuple[types.ModuleType, str], ...] = (
    (builtins, ""), (math, "math"), (cmath, "cmath"), (statistics, "statistics"), (operator, "operator"),
    (functools, "functools"), (itertools, "itertools"), (bisect, "bisect"), (heapq, "heapq"),
    (collections, "collections"), (contextlib, "contextlib"), (dataclasses, "dataclasses"),
)  # fmt: skip
STANDING: dict[type, Any] = {
    dict: dicts.Dict, set: sets.Set, frozenset: sets.Frozenset, collections.deque: deques.Deque,
    collections.Counter: dicts.Counter, collections.defaultdict: dicts.Defaultdict,
    collections.OrderedDict: dicts.Ordereddict,
}  # fmt: skip
"""Classes whose objects are those of a class of the prelude."""
CLASSES = (int, float, complex, str, list, tuple, *STANDING, np.float64, np.int64, np.ndarray)
_OF_THE_PROMPT = frozenset("copyright credits exit help license quit".split())
_IN_CLASSES = frozenset("classmethod object property staticmethod".split())


@dataclass(frozen=True, slots=True)
class Line:
    """Of one module, class or part of the language: what compiles, and what does not."""

    what: str
    yes: tuple[str, ...]
    no: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"| {self.what} | {' '.join(self.yes)} | {' '.join(self.no)} |"


def lines() -> list[Line]:
    """The whole table."""
    return [*_language(), *_functions(), *_of_numpy(), *_methods()]


def table() -> str:
    """The table, in Markdown, and how what is in it is written."""
    ours = [f for f in (*ROWS, *SPECIAL) if _is_ours(f)]
    rows = len({f for f in ROWS if not _is_ours(f)} - {*IMPLEMENTS})
    written = len({*IMPLEMENTS, *NAMED, *METHODS}) + sum(len(_public(cls)) for cls in STANDING.values())
    kinds = len([f for f in SPECIAL if not _is_ours(f) and f not in ROWS]) + len(SPECIAL_METHODS)
    return "\n".join([
        "| | compiles | has no row |", "| --- | --- | --- |", *map(str, lines()), "",
        f"{written} functions and methods are Python of the prelude, which calls {len(FUNCTIONS)} more of its own and",
        f"{len(ours)} intrinsics; {rows} are a row of IR alone, {kinds} look at the kinds of their arguments first.",
    ])  # fmt: skip


# ---- the language


def _language() -> Iterator[Line]:
    for what, bodies in SYNTAX.items():
        reasons = {words: refusal_of(body) for words, body in bodies.items()}
        yes = [words for words, reason in reasons.items() if reason is None]
        no = [f"{words} ({reason})" for words, reason in reasons.items() if reason is not None]
        yield Line(what, _listed(yes), _listed(no))


def _listed(parts: list[str]) -> tuple[str, ...]:
    return tuple(f"{part}," for part in parts[:-1]) + tuple(parts[-1:])


def refusal_of(body: str) -> str | None:
    """Why a function with this body does not compile for a float; None where it does."""
    text = "def f(x):\n" + "".join(f" {line}\n" for line in body.splitlines())
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    space: dict[str, Any] = {"contextlib": contextlib}
    exec(compile(text, "<row>", "exec"), space)
    f = space["f"]
    try:
        if not adopt_source(f.__code__, node):
            raise AssertionError(f"not its own source: {body!r}")
        checked = kernel.check(f, [FLOAT])
    except Refused as refused:
        return refused.reason
    return checked.unit.doubts[0][0] if checked.unit.doubts else None


# ---- functions


def _functions() -> Iterator[Line]:
    for module, name in MODULES:
        found = dict(_public_functions(module))
        yes = [n for n, f in found.items() if has_row(f)]
        no = [n for n, f in found.items() if not has_row(f) and not isinstance(f, types.FunctionType)]
        followed = module in (functools, contextlib, dataclasses, collections)  # decorators and makers of classes
        yield Line(f"`{name}`" if name else "built-in functions", _quoted(yes), () if followed else _quoted(no))


def _public_functions(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(module)):
        f = getattr(module, name)
        is_error = isinstance(f, type) and issubclass(f, BaseException)
        is_own = getattr(f, "__module__", None) in (module.__name__, f"_{module.__name__}", "io", None)
        if name.startswith("_") or name in _OF_THE_PROMPT | _IN_CLASSES:
            continue
        if callable(f) and not is_error and is_own:
            yield name, f


def has_row(f: Any) -> bool:
    """Whether a call of this function is known; those that are refused by name are not."""
    try:
        special = SPECIAL.get(f)
    except TypeError:  # not hashable
        return False
    if special is not None:
        return bool(special.__qualname__ != SPECIAL[print].__qualname__)
    named = (getattr(f, "__module__", None), getattr(f, "__qualname__", None)) in NAMED
    return f in ROWS or f in IMPLEMENTS or named or f is locals


def _of_numpy() -> Iterator[Line]:
    found = {n: f for n, f in vars(np).items() if not n.startswith("_") and callable(f) and has_row(f)}
    own = {n: f for n, f in found.items() if getattr(f, "__name__", "") == n}  # not its other names
    yield Line("NumPy's dtypes", _quoted(sorted(n for n, f in own.items() if isinstance(f, type))))
    yield Line("ufuncs", _quoted(sorted(n for n, f in own.items() if isinstance(f, np.ufunc))))
    others = [n for n, f in own.items() if not isinstance(f, np.ufunc | type)]
    yield Line("functions of arrays", _quoted(sorted(others)), ("all others",))
    yield Line("`np.linalg`", _quoted(sorted(n for n in np.linalg.__all__ if has_row(getattr(np.linalg, n)))),
               ("all others",))  # fmt: skip


# ---- methods


def _methods() -> Iterator[Line]:
    for cls in CLASSES:
        known = [name for name in _public(cls) if has_method(cls, name)]
        name = f"{cls.__module__}.{cls.__name__}".removeprefix("builtins.").removeprefix("collections.")
        others = [n for n in _public(cls) if n not in known]
        few = issubclass(cls, np.generic | np.ndarray)
        yield Line(f"methods of `{name.replace('numpy', 'np')}`", _quoted(known), ("all others",) if few else
                   _quoted(others))  # fmt: skip


def _public(cls: type) -> list[str]:
    return [name for name in sorted(dir(cls)) if not name.startswith("_") and callable(getattr(cls, name))]


def has_method(cls: type, name: str) -> bool:
    """Whether a method of a built-in class is compiled."""
    key = (cls.__name__, name)
    known = key in METHODS or key in SPECIAL_METHODS or callable(getattr(STANDING.get(cls), name, None))
    return known or has_row(getattr(cls, name)) or key == ("str", "format")  # which is taken apart, as f-strings are


def _is_ours(f: Any) -> bool:
    return (getattr(f, "__module__", None) or "").startswith("upshift.")


def _quoted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"`{name}`" for name in names)
