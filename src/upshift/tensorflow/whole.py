"""Whole functions of tensors, for `up.function`: one graph for all calls with these kinds.

The graph is made for tensors of any lengths. Python's numbers are inputs, too: a `Number` becomes a tensor of the dtype
that is asked for, just as a Python number does, and knows its value as little as the graph does.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record
from tensorflow.python.framework import func_graph

from ..gears.calls import Argument, CompiledFunction, Fixed, Foreign, leaves_of, parts_of, together
from ..gears.capture_reader import MISS
from ..gears.dependencies import names_within
from ..gears.ran import NotCompiled
from ..gears.signatures import call_with, place_of
from ..trace.paths import plain_of
from .assigning import State, assigned, put_assignments_last
from .captured import FOREIGN, Snapshot, snapshot_of
from .glance import glance_of
from .surroundings import watched
from .trace import Traced, convert, function_of, variables_as_they_were

_SOUND = ("Placeholder", "Const", "NoOp")
"""Operations that nobody misses where nothing needs them."""
_TELL_APART = frozenset(("isinstance", "type", "hasattr", "getattr", "float", "int", "str", "repr", "format", "round"))
"""Names by which a function could see that a number is not Python's."""
_LENGTHS = frozenset(("shape", "get_shape", "set_shape"))
"""Names by which a function reads lengths, which a graph does not know."""
INT32 = 2**31


def is_free() -> bool:
    """Whether a call may go to a graph: no tape records, and no other graph is being made."""
    return tf.executing_eagerly() and not record.could_possibly_record() and not watched()


def compile_call(f: Any, arguments: Sequence[Argument]) -> CompiledFunction:
    """One graph for all calls with such arguments."""
    snapshot = snapshot_of(f)
    if snapshot.acts:
        raise NotCompiled("tensorflow", snapshot.acts, place_of(f))
    names = _names_read(f)
    if not names.isdisjoint(_LENGTHS):
        raise NotCompiled("tensorflow", "reads a length, which its graph does not know", place_of(f), "use tf.shape")
    if not names.isdisjoint(_TELL_APART) and any(kind in (int, float) for kind in leaves_of(arguments)):
        raise NotCompiled("tensorflow", "may look at the class of a number", place_of(f), "make it static, or a tensor")
    return _Graph(f, arguments, snapshot).call()


def _names_read(f: Any, deepest: int = 4) -> set[str]:
    """All names in the code of a function, and of the functions that it calls by name."""
    found = names_within(f.__code__)
    cells = [cell.cell_contents for cell in f.__closure__ or () if cell != types.CellType()]
    for inner in (*cells, *map(f.__globals__.get, set(found))) if deepest else ():
        if isinstance(inner, types.FunctionType) and inner.__module__.partition(".")[0] not in FOREIGN:
            found |= _names_read(plain_of(inner), deepest - 1)
    return found


class Bounded(func_graph.FuncGraph):  # type: ignore[misc]
    """A graph that is given up where it becomes too long: a loop of Python's is written out turn by turn."""

    def _create_op_internal(self, *args: Any, **keywords: Any) -> Any:
        self.count = getattr(self, "count", 0) + 1
        if self.count > MOST_OPERATIONS:
            raise NotCompiled("tensorflow", f"is longer than {MOST_OPERATIONS:,} operations", "", "loop over tf.range")
        return super()._create_op_internal(*args, **keywords)


MOST_OPERATIONS = 20_000


class _Graph:
    """The function as a graph, and how calls go to it."""

    def __init__(self, f: Any, arguments: Sequence[Argument], snapshot: Snapshot) -> None:
        self.f, self.arguments = f, arguments
        self.snapshot, self.glance = snapshot.kept_for_good(), glance_of(f, snapshot)
        self.lifted = snapshot.lifted
        self.numbers = [leaf for leaf in leaves_of(arguments) if _is_input(leaf)]
        self.structure: Any = None
        self.ordered = False
        """Whether all that may fail in it runs before it assigns to a variable."""
        self.given: list[int | None] = []
        """Which input a result is; None for one that was computed."""
        concrete = self._traced()
        traced = Traced(concrete.graph, None, (), self.lifted)
        if traced.draws or not traced.assigns:
            reason = "draws random numbers" if traced.draws else f"does more than compute: {traced.acts}"
            raise NotCompiled("tensorflow", reason, place_of(f))
        self.concrete = concrete
        self.state = None
        if traced.acts:
            variables = assigned(concrete)
            if variables is None:
                raise NotCompiled("tensorflow", "changes something else than variables", place_of(f))
            self.state = State(variables, self.ordered)

    def _traced(self) -> Any:
        specs = [_spec(leaf) for leaf in self.numbers]
        specs += [tf.type_spec_from_value(value) for value in self.lifted.values(self.f)]
        try:
            with variables_as_they_were():
                graph = Bounded("call")
                return function_of(func_graph.func_graph_from_py_func("call", self._over, specs, {}, func_graph=graph))
        except NotCompiled:
            raise
        except Exception as error:  # of TensorFlow or of the function: what it does is for the plain function to say
            text = str(error).strip().splitlines() or [""]
            reason = f"its graph cannot be made: {type(error).__name__}: {text[-1].strip()[:200]}"
            raise NotCompiled("tensorflow", reason, place_of(self.f)) from error

    def _over(self, *leaves: Any) -> list[Any]:
        count = len(self.numbers)
        inner = self.lifted.bind(self.f, leaves[count:])
        if self.snapshot.decides:
            inner = convert(inner)
        given = iter([Number(x) if kind in (int, float) else x for x, kind in zip(leaves, self.numbers, strict=False)])
        made = call_with(inner, self.f.__code__, [together(argument, given) for argument in self.arguments])
        return self._results(made, leaves)

    def _results(self, made: Any, leaves: Sequence[Any]) -> list[Any]:
        self.structure = made
        self.ordered = put_assignments_last(tf.compat.v1.get_default_graph())
        self.given, results = [], []
        for one in tf.nest.flatten(made):
            if not isinstance(one, tf.Tensor) or hasattr(one, "_numpy"):
                raise NotCompiled("tensorflow", f"returns a {type(one).__name__} that is not computed from tensors")
            at = next((i for i, leaf in enumerate(leaves) if leaf is one), None)
            self.given.append(at)
            results += [one] if at is None else []
        if not results:
            raise NotCompiled("tensorflow", "computes nothing from tensors")
        return [*results, *_unused(results)]  # which may raise, as they do in the plain function

    def call(self) -> CompiledFunction:
        run = self._run()
        if self.state is not None:
            run = self.state.kept(run)
        return CompiledFunction(
            run, self._bind, object, (), None, False, "tensorflow", exact=False, state=self.state, free=is_free
        )

    def _bind(self, f: Any) -> Any:
        """The tensors in its closure, or MISS where the graph was made for something else."""
        if self.glance is None or not self.glance.holds(f):
            now = snapshot_of(f)
            if not now.agrees(self.snapshot):
                return MISS
        return tuple(self.lifted.values(f))

    def _run(self) -> Callable[..., Any]:
        concrete, structure, given = self.concrete, self.structure, self.given
        captured, flat = concrete.captured_inputs, getattr(concrete, "_call_flat", None)
        width, arguments, count = len(self.arguments), self.arguments, len(self.given)
        simple = all(isinstance(argument, Foreign) for argument in arguments)
        single = isinstance(structure, tf.Tensor)

        def run(*values: Any) -> Any:
            inputs = list(values)
            if not simple:
                inputs = [*_inputs(arguments, values[:width]), *values[width:]]
            made = flat(inputs, captured) if flat is not None else concrete(*inputs)
            if single and given[0] is None:
                return made[0]
            rest = iter(made)
            leaves = [next(rest) if given[i] is None else inputs[given[i]] for i in range(count)]  # type: ignore[index]
            return leaves[0] if single else tf.nest.pack_sequence_as(structure, leaves)

        return run


def _unused(results: Sequence[Any]) -> list[Any]:
    """What is computed and not needed: TensorFlow leaves it out of a graph whose results do not name it."""
    graph = tf.compat.v1.get_default_graph()
    needed, pending = set(), [one.op for one in results]
    while pending:
        op = pending.pop()
        if op not in needed:
            needed.add(op)
            pending += [one.op for one in op.inputs] + list(op.control_inputs)
    others = [op for op in graph.get_operations() if op not in needed and op.type not in _SOUND]
    consumed = {one.op for op in others for one in op.inputs}
    return [one for op in others if op not in consumed for one in op.outputs[:1]]


# ---- arguments


def _is_input(leaf: Argument) -> bool:
    if isinstance(leaf, Foreign) or leaf in (int, float):
        return True
    if isinstance(leaf, Fixed) or leaf is type(None):
        return False
    raise NotCompiled("tensorflow", f"is given a {getattr(leaf, '__name__', leaf)} beside tensors")


def _spec(leaf: Any) -> Any:
    if leaf in (int, float):
        return tf.TensorSpec([], tf.int64 if leaf is int else tf.float64)
    return tf.TensorSpec([None] * leaf.ndim, leaf.dtype)


def _inputs(arguments: Sequence[Argument], values: Sequence[Any]) -> Iterator[Any]:
    """The tensors among arguments that were taken apart, and those for numbers."""
    for argument, value in zip(arguments, values, strict=True):
        inside = parts_of(argument)
        if inside is not None:
            yield from _inputs(inside, value)
        elif argument is float:
            yield tf.constant(value, tf.float64)
        elif argument is int:
            if not -INT32 <= value < INT32:
                raise OverflowError(value)  # TensorFlow makes a wider tensor of it, or none
            yield tf.constant(value, tf.int64)
        elif isinstance(argument, Foreign):
            yield value


class Number:
    """A Python number that is known only when the graph runs. What would need its value raises."""

    __slots__ = ("wide",)
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, wide: Any) -> None:
        self.wide = wide

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        is_float = self.wide.dtype == tf.float64
        wanted = tf.as_dtype(dtype or (tf.float32 if is_float else tf.int32))
        if wanted not in (_FLOATS if is_float else _FLOATS | _INTS):
            raise TypeError(f"a number that is not known yet does not become {wanted.name}")
        return tf.cast(self.wide, wanted)

    def __neg__(self) -> Number:
        return Number(-self.wide)

    def _needs_value(self, *_: Any) -> Any:
        raise TypeError("decides by the value of a Python number, or shows it; make it static, or a tensor")

    __bool__ = __int__ = __float__ = __index__ = __str__ = __repr__ = __format__ = _needs_value
    __eq__ = __ne__ = _needs_value


_FLOATS, _INTS = {tf.float32, tf.float64}, {tf.int32, tf.int64}


def _arithmetic(name: str, among_numbers: bool) -> Callable[[Any, Any], Any]:
    """An operator with a tensor, whose dtype the number takes; or of two floats, which Python would have computed."""

    def operate(self: Number, other: Any) -> Any:
        if isinstance(other, tf.Tensor | tf.Variable):
            return getattr(self.__tf_tensor__(other.dtype), name)(other)
        known = isinstance(other, Number) and other.wide.dtype == tf.float64
        if not among_numbers or self.wide.dtype != tf.float64 or not (known or type(other) in (int, float)):
            return NotImplemented
        right = other.wide if isinstance(other, Number) else tf.constant(float(other), tf.float64)
        return Number(getattr(self.wide, name)(right))

    return operate


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    for _side in ("", "r"):
        _full = f"__{_side}{_name}__"
        setattr(Number, _full, _arithmetic(_full, _name in ("add", "sub", "mul")))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Number, f"__{_name}__", _arithmetic(f"__{_name}__", False))
