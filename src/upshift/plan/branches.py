"""How lanes spread over the branches of the tree, as plain data for the report."""

from __future__ import annotations

import functools
import linecache
import re
import threading
import tokenize
import types
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..gears.store import count_of
from ..loading import Later
from ..profiling import places
from ..profiling.probes import Seen, watched

if TYPE_CHECKING:
    from ..emit import writer as emit
    from ..trace import tree as trees
    from ..trace.tree import Node, Tree
else:
    emit, trees = Later("upshift.emit.writer"), Later("upshift.trace.tree")

MOST_NODES = 400
"""Nodes of a tree that are shown; what is below is counted with the branch that leads there."""
MOST_LINES = 400
_FOLDERS = re.compile(r"(?:[A-Za-z]:)?[\\/][^():;]*[\\/]")


@contextmanager
def counted() -> Iterator[Counter[int]]:
    """Lanes by the id of the node that they came to, as long as the block runs."""
    lanes: Counter[int] = Counter()
    lock = threading.Lock()

    def see(seen: Seen) -> None:
        _, node, band, *_ = seen.args
        with lock:
            lanes[id(node)] += count_of(band.lanes)

    with watched(places.LANES, see):
        yield lanes


def tree_data(tree: Tree, lanes: Counter[int]) -> dict[str, Any] | None:
    """The tree with the number of lanes on each branch."""
    if tree.root is None:
        return None
    left = MOST_NODES

    def shown(node: Node) -> dict[str, Any]:
        nonlocal left
        left -= 1
        steps = len(node.steps)
        while isinstance(node.end, trees.Guard) and len(node.end.children) == 1:  # no lane went another way
            (only,) = node.end.children.values()
            if lanes[id(only)] != lanes[id(node)]:
                break
            node, steps = only, steps + len(only.steps)
        end = node.end
        data: dict[str, Any] = {"count": lanes[id(node)], "steps": steps, "ends": "returns", "by": ""}
        data.update(where="", branches=[])
        if isinstance(end, trees.Raises):
            data.update(ends="raises", by=end.error, where=short(end.where))
        elif isinstance(end, trees.Guard):
            data.update(ends="splits", by=end.mode, where=short(end.where))
            below = sorted(end.children.items(), key=lambda item: -lanes[id(item[1])])
            for answer, child in below if left > 0 else []:
                data["branches"].append({"answer": _answer(end.mode, answer), "node": shown(child)})
        elif end is None:
            data["ends"] = "is not traced"
        return data

    return shown(tree.root)


def _answer(mode: str, answer: Any) -> str:
    if mode != "truth" and isinstance(answer, tuple) and len(answer) == 2:
        answer = answer[1]  # its class comes with it
    text = str(answer)
    return text if len(text) <= 24 else f"{text[:21]}..."


def short(words: str) -> str:
    """Places without the folders of their files.

    >>> short("an int goes beyond 64 bits (/home/me/my work/shop.py:13)")
    'an int goes beyond 64 bits (shop.py:13)'
    """
    return _FOLDERS.sub("", words)


def source_data(f: Any, tree: Tree | None, shared: tuple[str, ...], exact: bool) -> dict[str, Any]:
    """The user's lines and the batched program, or why there is none."""
    made: dict[str, Any] = {"file": "", "first": 1, "user": "", "batched": "", "why_not": ""}
    code = _code_of(f)
    if code is not None:
        lines = _lines_of(code)
        made.update(user="".join(lines[:MOST_LINES]), first=code.co_firstlineno, file=short(code.co_filename))
    if tree is None or tree.root is None:
        made["why_not"] = "it was not traced"
        return made
    try:
        made["batched"] = "\n".join(emit.source_of(tree, f, shared, exact).splitlines()[:MOST_LINES])
    except emit.NoSource as reason:
        made["why_not"] = str(reason)
    return made


def _code_of(f: Any) -> types.CodeType | None:
    while isinstance(f, functools.partial | types.MethodType):
        f = f.func if isinstance(f, functools.partial) else f.__func__
    found = getattr(f, "__code__", None) or getattr(vars(type(f)).get("__call__"), "__code__", None)
    return found if isinstance(found, types.CodeType) else None


def _lines_of(code: types.CodeType) -> list[str]:
    """A function's own lines, without a trace in linecache, which is the user's; none where there is no file."""
    if code.co_filename in linecache.cache:
        lines = linecache.getlines(code.co_filename)
    else:
        try:
            with tokenize.open(code.co_filename) as file:
                lines = file.readlines()
        except (OSError, SyntaxError, UnicodeDecodeError):
            return []
    return lines[code.co_firstlineno - 1 : _last_line(code)]


def _last_line(code: types.CodeType) -> int:
    inner = [_last_line(c) for c in code.co_consts if isinstance(c, types.CodeType)]
    return max([code.co_firstlineno, *(end or 0 for _, end, _, _ in code.co_positions()), *inner])
