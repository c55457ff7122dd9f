"""Writes the tree as a program without branches: all paths are computed, and every result is selected among them.

Lanes that the program is not right for (an untraced path, an error, a float that may be off) are marked `odd`, and are
the plain function's. The lines are plain Python, to be compiled as the body of a loop over lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..columns.forms import Form
from ..columns.kinds import Kind, fits_int64, kind_of
from ..rules import Op
from ..rules.op import Watched
from ..trace.tree import Const, Guard, Leaf, Node, Ref, Step, Tree
from .select_rows import (
    BOUNDS,
    BOUNDS_OF_POWERS,
    CLOSE,
    FLOATS,
    FLOATS_AND_BOOL,
    LARGE,
    MATHS,
    NEAR,
    NUMBERS,
    ON_LARGE,
    OWN_IN_PYTHON,
    ROUND,
    SCALES,
    SPELLED,
    ULP,
    NoSelect,
)

MOST_STEPS, MOST_PATHS = 200, 16


@dataclass(slots=True)
class Select:
    """The program: lines on `v0`, `v1`, ... (elements) and `c1`, `c2`, ... (what all lanes share)."""

    lines: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    uniform: list[str] = field(default_factory=list)
    """Names of what all lanes share, in order, each with its kind."""
    uniform_kinds: list[Kind] = field(default_factory=list)
    uniform_steps: list[Step] = field(default_factory=list)
    form: Form | None = None
    results: list[str] = field(default_factory=list)
    dtypes: list[np.dtype[Any]] = field(default_factory=list)
    mixed: bool = False
    unsure: bool = False
    """Whether some results are Python's numbers and others NumPy's."""
    close: bool = False


def select_of(tree: Tree, exact: bool = False) -> Select:
    """The tree without branches; `NoSelect` where it has none."""
    if not exact:
        try:
            return _Writer(tree, exact, decides_by_vectors=True).write()
        except NoSelect:
            pass
    return _Writer(tree, exact, decides_by_vectors=False).write()


class _Writer:
    def __init__(self, tree: Tree, exact: bool, decides_by_vectors: bool) -> None:
        self.tree, self.exact = tree, exact
        self.decides_by_vectors = decides_by_vectors
        """Whether decisions may depend on vector functions: lanes in which that could matter are marked."""
        self.made = Select()
        self.kinds: dict[int, Kind] = dict(enumerate(tree.kinds))
        self.inexact: set[int] = set()
        self.shared: set[int] = set()
        self.guards = self.values = 0
        self.nan = "False"

    def write(self) -> Select:
        nodes = list(self.tree.nodes())
        steps = sum(len(node.steps) for node in nodes)
        leaves = [node.end for node in nodes if isinstance(node.end, Leaf)]
        if not leaves or steps > MOST_STEPS or len(leaves) > MOST_PATHS or self.tree.draws:
            raise NoSelect("it has too many steps or paths")
        if any(kind.shape is not None or kind.dtype not in FLOATS_AND_BOOL for kind in self.tree.kinds):
            raise NoSelect("its elements are not floats")
        self._settle_results(leaves)
        floats = [f"v{i}" for i, kind in enumerate(self.tree.kinds) if kind.dtype in FLOATS and not kind.python]
        self.nan = " | ".join(f"({v} != {v})" for v in floats) or "False"
        self.made.lines.append("odd = False")
        assert self.tree.root is not None
        self.made.results = self._node(self.tree.root, "True", {})
        return self.made

    def _settle_results(self, leaves: list[Leaf]) -> None:
        first = leaves[0]
        if any(leaf.form != first.form for leaf in leaves):
            raise NoSelect("its results have different forms")
        for i in range(len(first.refs)):
            kinds = {self._leaf_kind(leaf, i) for leaf in leaves}
            dtype = np.result_type(*(kind.dtype for kind in kinds))
            if dtype.kind not in "fb" and not all(isinstance(leaf.refs[i], Const) for leaf in leaves):
                raise NoSelect("its results are not floats")
            self.made.mixed |= len({kind.dtype for kind in kinds}) > 1
            self.made.unsure |= len({kind.python for kind in kinds}) > 1
            self.made.dtypes.append(dtype)
        self.made.form = first.form

    def _leaf_kind(self, leaf: Leaf, i: int) -> Kind:
        kind = leaf.kinds[i]
        ref = leaf.refs[i]
        if kind is None and isinstance(ref, Const):
            kind = kind_of(ref.value)
        if kind is None or kind.shape is not None or kind.dtype not in NUMBERS:
            raise NoSelect("its results are not numbers")
        return kind

    # ---- nodes

    def _node(self, node: Node, path: str, names: dict[int, str]) -> list[str]:
        """Lines of a node and all below it; the expressions of its results."""
        names = dict(names)
        for step in node.steps:
            self._step(step, node, path, names)
        end = node.end
        if isinstance(end, Leaf):
            return [self._result(ref, i, path, names) for i, ref in enumerate(end.refs)]
        if not isinstance(end, Guard):
            self._odd(path, "True")
            return [self._nothing(dtype) for dtype in self.made.dtypes]
        if end.mode != "truth":
            raise NoSelect("it takes a path for every value")
        return self._branches(end, path, names)

    def _branches(self, guard: Guard, path: str, names: dict[int, str]) -> list[str]:
        self.guards += 1
        yes, no = f"g{self.guards}", f"h{self.guards}"
        decision = self._value(guard.ref, names)
        self.made.lines += [f"{yes} = {self._and(path, decision)}", f"{no} = {self._and(path, f'(not {decision})')}"]
        found = {}
        for answer, name in ((True, yes), (False, no)):
            child = guard.children.get(answer)
            if child is None:
                self._odd(name, "True")
            else:
                found[answer] = self._node(child, name, names)
        if len(found) == 1:
            return next(iter(found.values()))
        results = []
        for i, (a, b) in enumerate(zip(found[True], found[False], strict=True)):
            name = f"r{self.guards}_{i}_{yes}"
            self.made.lines.append(f"{name} = {a} if {yes} else {b}")
            results.append(name)
        return results

    def _and(self, path: str, decision: str) -> str:
        return decision if path == "True" else f"{path} & {decision}"

    def _odd(self, path: str, condition: str) -> None:
        self.made.lines.append(f"odd = odd | ({self._and(path, f'({condition})')})")

    def _nothing(self, dtype: np.dtype[Any]) -> str:
        return self._constant(dtype.type(0))

    def _result(self, ref: Ref, i: int, path: str, names: dict[int, str]) -> str:
        dtype = self.made.dtypes[i]
        value = self._value(ref, names)
        if isinstance(ref, int) and ref in self.inexact:
            size = self.kinds[ref].dtype.itemsize
            self._odd(path, f"e_{value} > {CLOSE[size]} * abs({value}) + 1e-300")
        if isinstance(ref, int) and ref >= 0 and warns_at(self.tree, ref):
            self._odd(path, f"(not isfinite({value})) & (not ({self.nan}))")
        return self._as(value, dtype)

    # ---- steps

    def _step(self, step: Step, node: Node, path: str, names: dict[int, str]) -> None:
        op, kind = step.op, step.kind
        if op is None:
            self._uniform(step, names)
            return
        if kind is None or kind.shape is not None or kind.dtype not in FLOATS_AND_BOOL:
            raise NoSelect(f"{op.name} does not make a float")
        self.values += 1
        out = f"w{self.values}"
        self.kinds[step.out] = kind
        self.inexact.discard(step.out)
        args = [self._value(ref, names) for ref in step.refs]
        names[step.out] = out
        text = self._text(op, step, node, self._operands(step, args))
        self.made.lines.append(f"{out} = {text}")
        self._check(op, step, args, out, path, node)

    def _operands(self, step: Step, args: list[str]) -> list[str]:
        """Arguments in the type that NumPy would compute in: Python's numbers are weak, NumPy's are not."""
        kinds = [self._kind(ref) for ref in step.refs]
        strong = [kind.dtype for kind in kinds if not kind.python]
        weak = [kind.dtype.type(0).item() for kind in kinds if kind.python]
        dtype = np.result_type(*strong, *weak) if strong else np.result_type(*(kind.dtype for kind in kinds))
        if dtype.kind == "b" and step.kind is not None and step.kind.dtype.kind == "b":
            return args
        if dtype.kind not in "f" and step.kind is not None and step.kind.dtype.kind == "f":
            dtype = step.kind.dtype
        if dtype.kind == "i" and step.kind is not None and step.kind.dtype.kind == "b":
            raise NoSelect("it compares ints")
        if dtype not in FLOATS:
            raise NoSelect(f"it computes with {dtype}")
        if step.kind is not None and step.kind.dtype.kind == "f" and dtype != step.kind.dtype:
            dtype = step.kind.dtype
        return [self._as(arg, dtype, kind) for arg, kind in zip(args, kinds, strict=True)]

    def _text(self, op: Op, step: Step, node: Node, args: list[str]) -> str:
        assert step.kind is not None
        if op.name in MATHS and len(args) in (1, 2):
            return f"{self._function(op, step, node)}({', '.join(args)})"
        if op.name in ("pow", "power"):
            return self._power(step, node, args)
        if op.name in SCALES and step.kind.dtype.itemsize == 8:
            return f"{args[0]} * {SCALES[op.name]!r}"
        spelled = SPELLED.get(op.name)
        if spelled is None or op.each:
            raise NoSelect(f"{op.name} is not compiled")
        if op.name in ("float", "cast"):
            return self._as(args[0], step.kind.dtype)
        return spelled.text.format(*args)

    def _function(self, op: Op, step: Step, node: Node) -> str:
        """A vector function, or C's own where a decision depends on its last bits."""
        assert step.kind is not None
        name = MATHS[op.name]
        if self._may_be_inexact(step, node):
            self.made.close = True
            self.inexact.add(step.out)
            return f"vector_{name}"
        if op.warns or step.kind.dtype.itemsize < 8 or name in OWN_IN_PYTHON:
            raise NoSelect(f"a decision depends on the last bits of {op.name}")
        return f"exact_{name}"

    def _may_be_inexact(self, step: Step, node: Node) -> bool:
        """Whether the last bits of a step's result may be other than the loop's."""
        return not self.exact and step.out not in node.sharp and (self.decides_by_vectors or step.out not in node.firm)

    def _power(self, step: Step, node: Node, args: list[str]) -> str:
        if not self._may_be_inexact(step, node):
            if step.kind is None or step.kind.dtype.itemsize < 8:
                raise NoSelect("a decision depends on the last bits of a power")
            return f"exact_pow({', '.join(args)})"
        self.made.close = True
        self.inexact.add(step.out)
        factors = _factors(step)
        if factors:
            return " * ".join([args[0]] * factors)
        return f"vector_pow({', '.join(args)})"

    def _check(self, op: Op, step: Step, args: list[str], out: str, path: str, node: Node) -> None:
        """Mark the lanes that this step is not right for, and keep in mind how far it may be off."""
        if isinstance(op, Watched) or op.name in ("pow", "power"):
            fine = " & ".join(f"isfinite({arg})" for arg in args) or "True"
            self._odd(path, f"(not isfinite({out})) & {fine}")
        elif op.warns and step.kind is not None and step.kind.dtype.kind == "f" and not flows(self.tree, step.out):
            self._odd(path, f"(not isfinite({out})) & (not ({self.nan}))")
        self._spread(op, step, args, out, path)

    def _decides(self, op: Op, step: Step, args: list[str], inexact: list[bool], path: str) -> None:
        """A decision on what may be off: lanes that are so near to where it changes are marked."""
        if op.name in ON_LARGE:
            self._odd(path, f"abs({args[0]}) > {LARGE[self._kind(step.refs[0]).dtype.itemsize]}")
            return
        if op.name not in NEAR:
            raise NoSelect(f"{op.name} decides by what may be off in its last bits")
        off = " + ".join(f"e_{arg}" for arg, b in zip(args, inexact, strict=True) if b)
        self._odd(path, f"({NEAR[op.name].format(*args)} <= {off}) & ({off} > 0.0)")

    def _spread(self, op: Op, step: Step, args: list[str], out: str, path: str) -> None:
        inexact = [isinstance(ref, int) and ref in self.inexact and ref != step.out for ref in step.refs]
        if step.kind is None or not (any(inexact) or step.out in self.inexact):
            return
        if step.kind.dtype.kind == "b":
            self._decides(op, step, args, inexact, path)
            return
        size = step.kind.dtype.itemsize
        own = ULP[size] if step.out in self.inexact else ROUND[size]
        error = f"{own} * abs({out})"
        if any(inexact):
            name = MATHS.get(op.name, op.name)
            text = BOUNDS_OF_POWERS.get(_factors(step)) if name in ("pow", "power") else BOUNDS.get(name)
            if text is None:
                raise NoSelect(f"{op.name} works on what may be off in its last bits")
            errors = {f"e{i}": f"e_{arg}" if b else "0.0" for i, (arg, b) in enumerate(zip(args, inexact, strict=True))}
            error += f" + {text.format(*args, out=out, **errors)}"
        self.inexact.add(step.out)
        self.made.lines.append(f"e_{out} = {error}")

    # ---- values

    def _uniform(self, step: Step, names: dict[int, str]) -> None:
        """A step on what all lanes share is done by Python, before the loop."""
        if step.kind is None or step.kind.shape is not None or step.kind.dtype not in NUMBERS:
            raise NoSelect("it computes other things than numbers from what it captured")
        self.kinds[step.out] = step.kind
        self.shared.add(step.out)
        self.made.uniform_steps.append(step)
        names[step.out] = self._share(step.out, step.kind)

    def _share(self, ref: int, kind: Kind) -> str:
        name = f"c{-ref}" if ref < 0 else f"u{ref}_{len(self.made.uniform_steps)}"
        if name not in self.made.uniform:
            self.made.uniform.append(name)
            self.made.uniform_kinds.append(kind)
        return name

    def _value(self, ref: Ref, names: dict[int, str]) -> str:
        if isinstance(ref, Const):
            self._kind(ref)
            return self._constant(ref.value)
        if ref < 0:
            return self._share(ref, self._kind(ref))
        return names.get(ref, f"v{ref}")

    def _kind(self, ref: Ref) -> Kind:
        if isinstance(ref, Const):
            kind = kind_of(ref.value)
        elif ref < 0:
            found = next(c.expected for c in self.tree.captures.values() if c.mode == "input" and c.id == ref)
            kind = found if isinstance(found, Kind) else None
        else:
            kind = self.kinds[ref]
        too_large = isinstance(ref, Const) and type(ref.value) is int and not fits_int64(ref.value)
        if kind is None or kind.dtype not in NUMBERS or too_large:
            raise NoSelect("it computes with other things than numbers")
        return kind

    def _constant(self, value: Any) -> str:
        name = f"k{len(self.made.constants)}"
        self.made.constants[name] = value
        return name

    def _as(self, value: str, dtype: np.dtype[Any], kind: Kind | None = None) -> str:
        if kind is not None and kind.dtype == dtype:
            return value
        return f"{dtype.name}_({value})"


def _factors(step: Step) -> int:
    """Of how many factors a power is a product; none where it is not made so."""
    exponent = step.refs[1].value if isinstance(step.refs[1], Const) else None
    return int(exponent) if type(exponent) in (int, float) and exponent in BOUNDS_OF_POWERS else 0


def warns_at(tree: Tree, ref: int) -> bool:
    """Whether NumPy may warn of a value."""
    steps = (step for node in tree.nodes() for step in node.steps)
    return any(step.out == ref and step.op is not None and step.op.warns for step in steps)


def flows(tree: Tree, id: int) -> bool:
    """Whether every use of a value hands on that it is not finite, so that a result tells."""
    for node in tree.nodes():
        if isinstance(node.end, Guard) and node.end.ref == id:
            return False
        for step in node.steps:
            if id in step.refs and step.op is not None:
                spelled = SPELLED.get(step.op.name)
                if spelled is None or not spelled.flows or not step.op.warns:
                    return False
    return True
