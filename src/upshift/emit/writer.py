"""Writes the tree as a readable NumPy function over all elements: `up.source`.

The source is flat: every branch is a run of lines on the elements that reach it, `at` says which they are. What no line
answers (an error, an int beyond 64 bits, a branch that nobody traced) is left to the plain function by `finish`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..columns.forms import Form
from ..rules import PerLane
from ..rules.arrays import ArrayOp, Put
from ..rules.arrays.dynamic import Item
from ..rules.table import name_of
from ..trace.names import Applied, Member, UfuncMethod
from ..trace.tree import Guard, Leaf, Node, Raises, Ref, Step, Tree

HEAD = '''"""{title}

`f` is the plain function: it answers for the elements that no line below does.
"""
import cmath, math, operator

import numpy as np
import upshift
from numpy import inf, nan
from upshift.emit.runtime import attribute, call, columns_of, finish, inside, method, of, only, per_lane, put, record


def batched(f, {arguments}):
    columns = ({columns},)
    n, ({inputs}) = columns_of(*columns)
    at, done = np.arange(n), []
'''

_WAYS = {
    "f": "f", "shared": "{1}", "global": "{0}.__globals__[{1!r}]", "cell": "{0}.__closure__[{1}].cell_contents",
    "default": "{0}.__defaults__[{1}]", "kwdefault": "{0}.__kwdefaults__[{1!r}]", "attr": "{0}.{1}",
    "item": "{0}[{1!r}]",
    "class": "type({0})", "import": "__import__('importlib').import_module({1!r})", "member": "vars({0})[{1!r}]",
    "mro": "{0}.__mro__[{1}]",
    "property": "({0}.fget, {0}.fset, {0}.fdel)[{1}]",
}  # fmt: skip
"""How each step of a path to something captured is written."""


class Writer:
    """Writes one tree, node by node; names are given once, so that a line means the same wherever it stands."""

    def __init__(
        self, tree: Tree, f: Callable[..., Any], arguments: list[str], shared: Sequence[str], exact: bool
    ) -> None:
        self.exact = exact
        self.tree, self.f, self.arguments, self.shared = tree, f, arguments, shared
        self.lines: list[str] = []
        self.used: set[str] = {"f", "n", "at", "done", "columns", "np", "math", "inf", "nan", *arguments}
        self.counts: dict[str, int] = {}
        """By name: the highest number that one like it has."""
        self.uniforms = {s.out for node in tree.nodes() for s in node.steps if s.op is None}

    def write(self) -> str:
        """The source of the function."""
        inputs = self._inputs()
        names = dict(enumerate(inputs))
        for capture in self.tree.captures.values():
            if capture.mode == "input":
                names[capture.id] = self._captured(capture.path)
        if self.tree.root is not None:
            self._node(self.tree.root, "at", names)
        columns = ", ".join(self.arguments)
        keywords = f", *, {', '.join(self.shared)}" if self.shared else ""
        shared = f", {', '.join(f'{s}={s}' for s in self.shared)}" if self.shared else ""
        head = HEAD.format(
            title=f"{_name_of_function(self.f)}, for all elements at once: {self.tree.paths} paths.",
            arguments=columns + keywords,
            inputs=", ".join(inputs) + ",",
            columns=columns,
        )
        return head + "\n".join([*self.lines, f"    return finish(f, columns, done{shared})", ""])

    def _inputs(self) -> list[str]:
        """A name for every leaf of the arguments: the argument's own where it is one number."""
        names = []
        for argument, form in zip(self.arguments, self.tree.form.children, strict=True):
            for path in _leaf_paths(form):
                names.append(argument if not path else self._name("_".join([argument, *path])))
        return names

    def _captured(self, path: Any) -> str:
        text = ""
        if path[0][0] == "given":
            raise NoSource(f"it reads an attribute of the class {path[0][1].__qualname__}")
        for way, key in path:
            text = _WAYS[way].format(text, key)
        if len(path) == 1:
            return text
        name = self._name(str(path[-1][1]) if isinstance(path[-1][1], str) else f"captured_{len(self.used)}")
        self._line(f"{name} = {text}", "captured")
        return name

    # ---- nodes

    def _node(self, node: Node, at: str, names: dict[int, str]) -> None:
        pending = [(node, at, names)]
        while pending:
            node, at, names = pending.pop()
            names = dict(names)
            later = self._later(node)
            for i, step in enumerate(node.steps):
                at = self._step(step, self.exact or step.out in node.firm, at, names, later[i])
            pending += reversed(self._end(node, at, names))

    def _later(self, node: Node) -> list[set[int]]:
        """For every step, which values are still needed after it."""
        needed = node.needed_after()
        result = []
        for step in reversed(node.steps):
            result.append(set(needed))
            needed.discard(step.out)
            needed.update(ref for ref in step.refs if isinstance(ref, int))
        return result[::-1]

    def _step(self, step: Step, sharp: bool, at: str, names: dict[int, str], later: set[int]) -> str:
        args = [self._ref(ref, names) for ref in step.refs]
        out = names[step.out] = self._name(f"v{step.out}")
        if step.op is None:
            self._line(f"{out} = {_call_text(step.fn, args)}", step.where)
            return at
        op = step.exact if sharp else step.op
        if isinstance(op, ArrayOp):
            lanes = [f"of({a}, {k.name!r})" if lane and k is not None else a
                     for a, k, lane in zip(args, op.kinds, op.lanes, strict=True)]  # fmt: skip
            makes = ("several " if op.several else "") + " ".join(kind.name for kind in op.makes)
            keep = self._name("keep")
            self._line(f"{out}, {keep} = {_call_text(step.fn, lanes, f'call({makes!r}, ')}", step.where)
            return self._narrow(keep, at, names, later)
        if isinstance(step.fn, Item):
            self._line(f"{out} = {args[0]}[{step.fn.j}]", step.where)
            return at
        if not op.spell:
            raise NoSource(f"what {op.name} makes has another size in every element")
        if isinstance(op, PerLane):
            keep = self._name("keep")
            self._line(f"{out}, {keep} = {op.spelled(args)}", step.where)
            return self._narrow(keep, at, names, later)
        self._line(f"{out} = {op.spelled(args)}", step.where)
        check = op.spelled_check(args, out)
        return self._narrow(check, at, names, later) if check else at

    def _narrow(self, keep: str, at: str, names: dict[int, str], later: set[int]) -> str:
        """Elements that a step is not right for go: they are the plain function's."""
        alive = [i for i in sorted(later) if i in names and not self._uniform(i)]
        return self._only(keep, at, names, alive, "")

    def _uniform(self, id: int) -> bool:
        return id < 0 or id in self.uniforms

    def _end(self, node: Node, at: str, names: dict[int, str]) -> list[tuple[Node, str, dict[int, str]]]:
        end = node.end
        if isinstance(end, Leaf):
            leaves = iter([self._leaf(ref, kind, at, names) for ref, kind in zip(end.refs, end.kinds, strict=True)])
            kinds = " ".join(kind.name if kind is not None else "-" for kind in end.kinds)
            self._line(f"done.append(({at}, {_spelled(end.form, leaves)}, {kinds!r}))", "")
            return []
        if isinstance(end, Raises):
            self._line(f"# {at}: raises {end.error}", "")
            return []
        assert isinstance(end, Guard)
        made = []
        for answer, child in end.children.items():
            made.append(self._branch(end, answer, child, at, names))
        return made

    def _branch(
        self, guard: Guard, answer: Any, child: Node, at: str, names: dict[int, str]
    ) -> tuple[Node, str, dict[int, str]]:
        on = names[guard.ref]
        if guard.mode == "truth":
            test = on if answer else f"~{on}" if not self._uniform(guard.ref) else f"not {on}"
        else:
            test = f"{on} == {_constant_text(answer)}"
        alive = [i for i in sorted(child.needs) if not self._uniform(i)]
        names = dict(names)
        return child, self._only(test, at, names, alive, guard.where), names

    def _only(self, keep: str, at: str, names: dict[int, str], alive: list[int], where: str) -> str:
        """A line that keeps some elements, and gives new names to what is alive of them."""
        old = [at, *(names[i] for i in alive)]
        new = [self._name("at"), *(self._name(names[i]) for i in alive)]
        left = ", ".join(new) + ("," if len(new) == 1 else "")
        self._line(f"{left} = only({keep}, {', '.join(old)})", where)
        names.update(zip(alive, new[1:], strict=True))
        return new[0]

    def _leaf(self, ref: Ref, kind: Any, at: str, names: dict[int, str]) -> str:
        text = self._ref(ref, names)
        if isinstance(ref, int) and self._uniform(ref) and kind is not None and kind.shape is not None:
            return f"np.broadcast_to({text}, (len({at}), *{kind.shape!r}))"
        return text

    # ---- names and lines

    def _ref(self, ref: Ref, names: dict[int, str]) -> str:
        return names[ref] if isinstance(ref, int) else constant_text(ref.value)

    def _name(self, wish: str) -> str:
        base = wish.split("__")[0]
        base = base if base.isidentifier() else "value"
        name, i = base, self.counts.get(base, 1)
        while name in self.used:
            i += 1
            name = f"{base}__{i}"
        self.counts[base] = i
        self.used.add(name)
        return name

    def _line(self, text: str, where: str) -> None:
        comment = f"  # {where.rsplit('/', 1)[-1]}" if where else ""
        self.lines.append(f"    {text}{comment}")


def _leaf_paths(form: Form) -> list[list[str]]:
    if form.cls is None:
        return [[]]
    pairs = zip(form.keys, form.children, strict=True)
    return [[str(key), *path] for key, child in pairs for path in _leaf_paths(child)]


def _spelled(form: Form, leaves: Any) -> str:
    """A result as source; a record of a user's class by `record`."""
    if form.cls is None:
        return str(next(leaves))
    inside_ = [_spelled(child, leaves) for child in form.children]
    if form.cls is tuple:
        return f"({', '.join(inside_)}{',' if len(inside_) == 1 else ''})"
    if form.cls is list:
        return f"[{', '.join(inside_)}]"
    if form.cls is dict:
        return "{" + ", ".join(f"{k!r}: {v}" for k, v in zip(form.keys, inside_, strict=True)) + "}"
    return f"record({form.cls.__module__!r}, {form.cls.__qualname__!r}, {form.keys!r}, [{', '.join(inside_)}])"


class NoSource(Exception):
    """A step that cannot be written down; the text says why."""


def _call_text(fn: Callable[..., Any], args: list[str], head: str = "") -> str:
    """A call as source; `head` is what it is wrapped in, which takes the function as its next argument."""
    inside_ = ", ".join(args)
    if isinstance(fn, Applied):
        leaves = iter(args)
        positional, named = fn.form.children
        texts = [_spelled(child, leaves) for child in positional.children]
        texts += [f"{k}={_spelled(child, leaves)}" for k, child in zip(named.keys, named.children, strict=True)]
        fn, inside_ = fn.fn, ", ".join(texts)
    name = _function_text(fn)
    return f"{head}{name}, {inside_})" if head else f"{name}({inside_})"


_MODULES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft, "np.lib.stride_tricks": np.lib.stride_tricks}


def _function_text(fn: Any) -> str:
    """How a function is written in source."""
    if isinstance(fn, Put):
        if fn.path:
            raise NoSource("it writes through a view")
        return "put"
    name = str(getattr(fn, "__name__", ""))
    for module, found in _MODULES.items():
        if getattr(found, name, None) is fn:
            return f"{module}.{name}"
    if isinstance(fn, UfuncMethod) or (type(fn).__module__.startswith("upshift.") and not isinstance(fn, Member)):
        raise NoSource(f"it calls {name}")
    return name_of(fn)


def constant_text(value: Any) -> str:
    """A constant as source that makes it anew."""
    if isinstance(value, np.ndarray):
        if value.size > 1_000:
            raise NoSource("it makes a large array")
        return f"np.array({value.tolist()!r}, np.{value.dtype.name})"
    if isinstance(value, np.dtype):
        return f"np.dtype({value.str!r})"
    return name_of(value).replace("numpy.", "np.") if isinstance(value, type) else repr(value)


def _constant_text(key: Any) -> str:
    return key[1] if isinstance(key[1], str) else repr(key[1])


def _name_of_function(f: Any) -> str:
    return getattr(f, "__name__", None) or type(f).__name__


def source_of(tree: Tree, f: Callable[..., Any], shared: Sequence[str], exact: bool = False) -> str:
    """The tree as a function `batched(f, *columns)`."""
    count = len(tree.form.children)
    try:
        names = [p.name for p in inspect.signature(f).parameters.values() if p.name not in shared and p.kind in (0, 1)]
    except (TypeError, ValueError):
        names = []
    names = names if len(names) >= count and all(n.isidentifier() for n in names) else []
    taken = {name: f"{name}_" for name in ("f", "n", "at", "done", "columns", "np", "math", "operator", "inf", "nan")}
    arguments = [taken.get(n, n) for n in names[:count]] or [f"x{i}" if count > 1 else "x" for i in range(count)]
    return Writer(tree, f, arguments, shared, exact).write()
