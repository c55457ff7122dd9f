"""Binds the arguments that all elements share, so that a function of the mapped ones is left.

`vmap` and `vectorize` take calls such as `f(w, x)` with `w` shared. What they map is `lambda x: f(w, x)`, written down
as source, so that every function has code of its own by which it is remembered, and the same code in every call.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from typing import Any

from .columns.forms import assemble
from .compiler.parsing import parsed
from .compiler.source import adopt_source

_LITERAL_KEYS = (str, int)


class Arguments:
    """One call as an expression: `v0`, `v1` are elements of columns, `s0`, `s1` are shared."""

    def __init__(self) -> None:
        self.columns: list[Any] = []
        self.shared: list[Any] = []

    def map(self, column: Any) -> str:
        """The name of an element of this column."""
        self.columns.append(column)
        return f"v{len(self.columns) - 1}"

    def share(self, value: Any) -> str:
        """The name of a value that is the same for all elements."""
        self.shared.append(value)
        return f"s{len(self.shared) - 1}"

    def build(self, cls: type, keys: tuple[Any, ...], children: list[str]) -> str:
        """An expression that makes a container of these."""
        inside = ", ".join(children)
        if cls is tuple:
            return f"({inside}{',' if len(children) == 1 else ''})"
        if cls is list:
            return f"[{inside}]"
        if cls is dict and all(type(key) in _LITERAL_KEYS for key in keys):
            return "{" + ", ".join(f"{key!r}: {child}" for key, child in zip(keys, children, strict=True)) + "}"
        return f"assemble({self.share(cls)}, {self.share(keys)}, [{inside}])"


class Partials:
    """A function with some of its arguments filled in, for every way in which it is called."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.makers: dict[str, Callable[..., Any]] = {}

    def of(self, arguments: Arguments, passed: list[str]) -> Callable[..., Any]:
        """`f` called with these expressions, as a function of one element of every column; `f` itself if it is that."""
        if passed and passed == [f"v{i}" for i in range(len(arguments.columns))]:
            return self.f
        made: Callable[..., Any] = self.maker(passed, len(arguments.columns), len(arguments.shared))(*arguments.shared)
        return made

    def maker(self, passed: list[str], columns: int, shared: int) -> Callable[..., Any]:
        """Takes what is shared and gives that function. Its code is the same in every call."""
        call = f"f({', '.join(passed)})"
        found = self.makers.get(call)
        if found is None:
            found = self.makers[call] = self._write(call, columns, shared)
        return found

    def _write(self, call: str, columns: int, shared: int) -> Callable[..., Any]:
        lines = [
            "def bind(f, name, annotations):",
            f"    def make({', '.join(f's{i}' for i in range(shared))}):",
            f"        def partial({', '.join(f'v{i}' for i in range(columns)) or '_'}):",
            f"            return {call}",
            "        partial.__name__ = partial.__qualname__ = name",
            "        partial.__annotations__ = annotations",
            "        return partial",
            "    return make",
        ]
        name = getattr(self.f, "__name__", "partial")
        space: dict[str, Any] = {"assemble": assemble, "__name__": getattr(self.f, "__module__", None) or __name__}
        tree = parsed("\n".join(lines))
        exec(compile(tree, "<upshift partial>", "exec"), space)
        _keep_source(tree, space["bind"].__code__)
        made: Callable[..., Any] = space["bind"](self.f, name, _return_annotation(self.f))
        return made


def _keep_source(tree: ast.Module, code: types.CodeType) -> None:
    """Show the compiler the source of the inner function, which stands in no file."""
    node: Any = tree.body[0]
    for _ in range(2):
        node = node.body[0]
        code = next(
            inner for inner in code.co_consts if isinstance(inner, types.CodeType) and inner.co_name == node.name
        )
    adopt_source(code, node)


def _return_annotation(f: Callable[..., Any]) -> dict[str, Any]:
    """What `map` makes of no elements depends on it. Not the whole signature, which is not the partial's."""
    try:
        annotation = inspect.signature(f, eval_str=True).return_annotation
    except (TypeError, ValueError, NameError):
        return {}
    return {} if annotation is inspect.Signature.empty else {"return": annotation}
