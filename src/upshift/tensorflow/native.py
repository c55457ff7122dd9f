"""A NumPy function and the specs of its arguments in; the same in TensorFlow's own operations out, or why not.

The function is traced with made-up arrays. Where all of its paths are known, however long the arrays are, each step is
spelled in TensorFlow, each decision is a `tf.cond`, and the whole is compared with the function. All that could tell is
refused: effects, random numbers, branches that no example took, decisions that hang on last bits, lengths that are
looked at, what it captured and may change.
"""

from __future__ import annotations

import functools
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ..columns.forms import flatten
from ..columns.inputs import copied, elements_of, lanes_of
from ..config import settings
from ..trace import Const, Guard, Leaf, Node, Step, Tree, bind, grow
from ..trace.names import Applied
from ..trace.paths import Roots
from ..verify import differ
from . import arranging, elementwise
from .examples import examples, tries
from .mapping import as_written
from .value import DTYPES, Call, NotNative, Value, of_input, operand

LENGTHS = (3, 5)
"""Of axes whose length is not known, while a function is traced."""
TRIED = (*LENGTHS, 1, 2)
"""Of the same, while its results are compared."""
AUTOGRAPHS = ("autograph_info__", "ag_dnc_wrapper__")
"""Attributes that TensorFlow gives to functions it has seen."""
BUDGET = 2_000
"""Steps that a trace may have."""
LOOKS = frozenset(("shape", "size", "len", "nbytes", "strides", "__len__", "itemsize", "__array_interface__", "ctypes"))
"""Names by which a function could look at lengths without leaving a step."""


@as_written
def native_form(func: Callable[..., Any], *specs: Any, stateful: bool = True) -> Native:
    """The function in TensorFlow's own operations, for tensors of these specs; `NotNative` says why there is none.

    >>> import numpy as np, tensorflow as tf, upshift.tensorflow as ut
    >>> ut.native_form(lambda x: np.tanh(x) * 2, tf.TensorSpec([None, 3]))(tf.zeros([1, 3]))[0].numpy().tolist()
    [[0.0, 0.0, 0.0]]
    """
    return native_of(prove(func, specs), specs, stateful)


@dataclass(frozen=True, slots=True)
class Path:
    """Steps, and then a result, or a decision between two paths."""

    steps: list[Step]
    leaf: Leaf | None = None
    ref: int = 0
    branches: tuple[Path, ...] = ()
    """Where the decision is true, and where it is not."""
    unknown: str = ""
    """Why it is not known what happens here, where it is not."""

    def leaves(self) -> Iterator[Leaf]:
        if self.leaf is not None:
            yield self.leaf
        for branch in self.branches:
            yield from branch.leaves()

    def is_like(self, other: Path) -> bool:
        """Whether the other does the same, for arguments of other lengths."""
        if (
            bool(self.unknown) != bool(other.unknown)
            or len(self.steps) != len(other.steps)
            or len(self.branches) != len(other.branches)
            or self.ref != other.ref
        ):
            return False
        if self.leaf is not None and other.leaf is not None and self.leaf.refs != other.leaf.refs:
            return False
        if not all(_alike(a, b) for a, b in zip(self.steps, other.steps, strict=True)):
            return False
        return all(a.is_like(b) for a, b in zip(self.branches, other.branches, strict=True))


def _alike(a: Step, b: Step) -> bool:
    if a.fn is not b.fn or a.refs != b.refs or a.kind is None or b.kind is None:
        return False
    return a.kind.dtype == b.kind.dtype and len(a.kind.lane_shape) == len(b.kind.lane_shape)


@dataclass(frozen=True, slots=True)
class Proved:
    """A function whose paths are all known, whatever the numbers are."""

    func: Any
    tree: Tree
    path: Path
    outputs: list[Any]
    """The specs of its results."""
    several: bool
    """Whether it gives a tuple or list of results."""


def prove(func: Any, specs: Sequence[Any], partly: bool = False) -> Proved:
    """What is known of a function for all arguments of these specs; for most of them, where `partly` will do."""
    if "__autograph_generated" in getattr(getattr(func, "__code__", None), "co_filename", ""):
        raise NotNative("AutoGraph has rewritten it: write it outside of the tf.function")
    for spec in specs:
        if spec.shape.rank is None or np.dtype(spec.dtype.as_numpy_dtype).char not in DTYPES:
            raise NotNative(f"an argument is {spec}")
    known = all(spec.shape.is_fully_defined() for spec in specs)
    trees = [_traced(func, specs, length) for length in (LENGTHS[:1] if known else LENGTHS)]
    paths = [_path_of(tree.root, partly) for tree in trees]
    if not all(path.is_like(paths[0]) for path in paths):
        raise NotNative("what it does depends on the lengths of its arguments")
    if not known:
        _looks_at_no_length(func, trees[0])
    leaves = [leaf for path in paths for leaf in path.leaves()]
    if not leaves:
        raise NotNative(paths[0].unknown or "it raises for all arguments")
    return Proved(func, trees[0], paths[0], _outputs(leaves), leaves[0].form.cls is not None)


def _outputs(leaves: list[Leaf]) -> list[Any]:
    """What all paths give, as far as it is the same."""
    form = leaves[0].form
    if form.cls not in (None, tuple, list) or any(child.cls is not None for child in form.children):
        raise NotNative("its result is not an array, or several")
    if any(leaf.form != form or None in leaf.kinds for leaf in leaves):
        raise NotNative("its results are not numbers, or not as many on every path")
    specs = []
    for kinds in zip(*(leaf.kinds for leaf in leaves), strict=True):
        shapes, dtypes = {kind.lane_shape for kind in kinds if kind}, {kind.dtype for kind in kinds if kind}
        if len(dtypes) > 1 or len(set(map(len, shapes))) > 1 or next(iter(dtypes)).kind not in "biuf":
            raise NotNative("its results are not numbers of one dtype and rank")
        sizes = [size.pop() if len(size) == 1 else None for size in map(set, zip(*shapes, strict=True))]
        specs.append(tf.TensorSpec(sizes, dtypes.pop()))
    return specs


def _traced(func: Any, specs: Sequence[Any], length: int) -> Tree:
    rows = [examples(specs, length, i) for i in tries(specs)]
    group = lanes_of([elements_of([argument]) for argument in rows[0]])[0]
    if group.lanes is None:
        raise NotNative(group.reason)
    tree = Tree(group.lanes)
    for row in rows:
        refusal = grow(tree, func, copied(row), {}, BUDGET).refusal
        if refusal is not None:
            raise NotNative(refusal.reason + (f" ({refusal.where})" if refusal.where else ""))
    if tree.draws:
        raise NotNative("it draws random numbers")
    return tree


def _path_of(node: Node | None, partly: bool) -> Path:
    end = node.end if node is not None else None
    if node is None or not isinstance(end, Leaf | Guard):
        return _unknown("it raises for some arguments", partly)
    if isinstance(end, Leaf):
        return Path(node.steps, end)
    if end.mode != "truth":
        return _unknown(f"what it does depends on the numbers that it is given ({end.where})", partly)
    if len(end.children) < 2 and not partly:
        raise NotNative(f"it has a branch that no example took ({end.where})")
    branches = [_path_of(end.children.get(answer), partly) for answer in (True, False)]
    return Path(node.steps, None, end.ref, tuple(branches))


def _unknown(reason: str, partly: bool) -> Path:
    if not partly:
        raise NotNative(reason)
    return Path([], unknown=reason)


def _looks_at_no_length(func: Any, tree: Tree) -> None:
    roots = Roots(func, {})
    captured = [roots.read(capture.path) for capture in tree.captures.values() if capture.mode == "code"]
    plain = [_plain(f) for f in (func, *captured)]
    if not all(isinstance(f, types.FunctionType) for f in plain):
        raise NotNative("it is no plain function, and may look at lengths")
    pending = [f.__code__ for f in plain]
    while pending:
        code = pending.pop()
        looks = LOOKS.intersection(code.co_names)
        if looks:
            raise NotNative(f"it looks at lengths, which are not known: {min(looks)}")
        pending += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def _plain(f: Any) -> Any:
    """The function of a method, or of a function with some arguments given."""
    while isinstance(f, types.MethodType | functools.partial):
        f = f.__func__ if isinstance(f, types.MethodType) else f.func
    return f


# ---- what is known already


@dataclass(frozen=True, slots=True)
class Known:
    """What became of a function: `why` where it has no form in TensorFlow's operations."""

    proved: Proved | None
    native: Native | None
    why: str = ""


_KNOWN: OrderedDict[Any, Known] = OrderedDict()
_LOCK = threading.Lock()
MOST_KNOWN = 256


def look_at(func: Any, specs: Sequence[Any], stateful: bool, partly: bool = False) -> Known:
    """What is known of a function for arguments of these specs; looked at anew where what it stands on has changed."""
    if settings().disable:
        return Known(None, None, "UPSHIFT_DISABLE is set")
    anchor = func
    if isinstance(func, types.FunctionType) and not (func.__closure__ or func.__defaults__ or func.__kwdefaults__):
        anchor = func.__code__
    key = (
        anchor,
        stateful,
        partly,
        *((spec.dtype, tuple(spec.shape) if spec.shape.rank is not None else None) for spec in specs),
    )
    try:
        known = _KNOWN.get(key)
    except TypeError:  # a callable that cannot be looked up
        return _look(func, specs, stateful, partly)
    if known is None or (known.proved is not None and bind(known.proved.tree, func, {}) is None):
        known = _look(func, specs, stateful, partly)
        with _LOCK:
            _KNOWN[key] = known
            while len(_KNOWN) > MOST_KNOWN:
                _KNOWN.popitem(last=False)
    return known


def _look(func: Any, specs: Sequence[Any], stateful: bool, partly: bool) -> Known:
    proved = None
    try:
        proved = prove(func, specs, partly)
        return Known(proved, native_of(proved, specs, stateful, partly))
    except NotNative as reason:
        return Known(proved, None, str(reason))


# ---- TensorFlow's operations


Python = Callable[[str], list[Any]]
"""Calls the function itself on the tensors that are given, and remembers why."""


@dataclass(frozen=True, slots=True)
class Native:
    """A function in TensorFlow's operations."""

    proved: Proved
    constants: dict[int, Any]
    """What it captured, as it was when this was made."""

    def __call__(self, *tensors: Any, python: Python | None = None) -> list[Any]:
        """Results, as tensors. `python`: what is asked on paths that have no operations."""
        kinds = self.proved.tree.kinds
        values: dict[int, Any] = dict(self.constants)
        values |= {i: of_input(x, kind.dtype) for i, (x, kind) in enumerate(zip(tensors, kinds, strict=True))}
        return self._along(self.proved.path, values, python)

    def _along(self, path: Path, values: dict[int, Any], python: Python | None) -> list[Any]:
        values = dict(values)
        for step in path.steps:
            values[step.out] = _made(step, [_read(ref, values) for ref in step.refs])
        if path.leaf is not None:
            pairs = zip(path.leaf.refs, self.proved.outputs, strict=True)
            return [_result(_read(ref, values), spec) for ref, spec in pairs]
        decision = operand(_read(path.ref, values), np.dtype(bool))
        if decision.ndim:
            raise NotNative("it decides by an array")
        yes, no = (functools.partial(self._aside, branch, values, python) for branch in path.branches)
        made: list[Any] = tf.cond(decision.x, yes, no)
        for x, spec in zip(made, self.proved.outputs, strict=True):
            if python is None:
                x.set_shape(spec.shape)
        return made

    def _aside(self, path: Path, values: dict[int, Any], python: Python | None) -> list[Any]:
        """One side of a decision, which may be Python's."""
        if python is None:
            return self._along(path, values, None)
        try:
            if not path.unknown:
                return self._along(path, values, python)
            reason = path.unknown
        except NotNative as found:
            reason = str(found)
        return python(reason)


def _result(value: Any, spec: Any) -> Any:
    x = tf.identity(value.x) if isinstance(value, Value) else tf.constant(np.asarray(value), spec.dtype)
    if x.dtype != spec.dtype or x.shape.rank != spec.shape.rank:
        raise NotNative(f"TensorFlow makes {x.dtype.name}{x.shape}, NumPy {spec}")
    x.set_shape(spec.shape)
    return x


def native_of(proved: Proved, specs: Sequence[Any], stateful: bool, partly: bool = False) -> Native:
    """A function in TensorFlow's operations, compared with the function itself."""
    made = Native(proved, _captured(proved, stateful))
    for length in TRIED if any(None in spec.shape.as_list() for spec in specs) else TRIED[:1]:
        for i in tries(specs):
            _compare(made, examples(specs, length, i), partly)
    return made


def _captured(proved: Proved, stateful: bool) -> dict[int, Any]:
    roots = Roots(proved.func, {})
    found = {}
    for capture in proved.tree.captures.values():
        if capture.path[-1][1] in AUTOGRAPHS:
            continue
        value = roots.read(capture.path)
        if stateful and (capture.is_input or not _stays(value)) and capture.mode not in ("code", "type"):
            name = capture.path[-1][1]
            raise NotNative(f"it captures {name!r}, which may change: say stateful=False if it does not")
        if capture.is_input:
            found[capture.id] = np.array(value) if isinstance(value, np.ndarray) else value
    return found


def _stays(value: Any) -> bool:
    return callable(value) or isinstance(value, types.ModuleType | type | np.dtype)


def _compare(made: Native, row: tuple[Any, ...], partly: bool) -> None:
    with np.errstate(all="ignore"):
        try:
            want = flatten(made.proved.func(*copied(row)))[1]
        except Exception as error:
            if partly:
                return  # as it will in the graph
            raise NotNative(f"it raises {type(error).__name__} for some arguments") from error
    outputs = made.proved.outputs

    def python(reason: str) -> list[Any]:
        return [tf.constant(one, spec.dtype) for one, spec in zip(want, outputs, strict=True)]

    try:
        with tf.init_scope():
            tensors = [tf.constant(argument) for argument in row]
            got = [result.numpy() for result in made(*tensors, python=python if partly else None)]
    except (TypeError, ValueError, tf.errors.OpError) as error:
        text = str(error).strip().split("\n")[0]
        raise NotNative(f"TensorFlow does not take it: {text[:160]}") from error
    for one, other in zip(want, got, strict=True):
        reason = differ(np.asarray(one), np.asarray(other), exact=False)
        if reason is not None:
            raise NotNative(f"its result is not NumPy's: {reason}")


def _read(ref: Any, values: dict[int, Any]) -> Any:
    return ref.value if isinstance(ref, Const) else values[ref]


def _made(step: Step, args: list[Any]) -> Any:
    """What a step makes; by Python, where its arguments are constants."""
    if not any(isinstance(arg, Value) for arg in args):
        return step.fn(*args)
    fn, given, keywords = step.fn, tuple(args), {}
    if isinstance(fn, Applied):
        listed, keywords = fn.form.build(iter(args))
        fn, given = fn.fn, tuple(listed)
    row = elementwise.row_of(fn) or arranging.row_of(fn)
    if row is None or step.kind is None or step.kind.parts is not None:
        raise NotNative(f"{getattr(fn, '__name__', fn)} is not spelled in TensorFlow ({step.where})")
    value = row(Call(fn, given, dict(keywords), step.kind))
    if value.dtype != step.kind.dtype or value.ndim != len(step.kind.lane_shape):
        raise NotNative(f"TensorFlow's {getattr(fn, '__name__', fn)} makes {value.dtype}, NumPy's {step.kind}")
    return value
