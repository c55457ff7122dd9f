"""Finds in its bytecode what a function that computes with tensors does to a whole column of them.

Where it gives for the column what it gives for each element, calling it is all that is needed: no graph, no trace.
Where a batch needs other arguments (`tf.reduce_sum(x)`, `x[0]`), its calls are listed with these, as a program. Its
instructions are followed with values of which only the form is known; Python's own numbers are computed with, so that
loops over `range(100)` end.
"""

from __future__ import annotations

import builtins
import dataclasses
import dis
import functools
import math
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..config import settings
from .batchwise import (
    ANY_DTYPE,
    NUMBERS,
    RULES,
    Known,
    Largest,
    Raised,
    Spelled,
    Unknown,
    Value,
    alike,
    combined,
    numbers_only,
    part,
    turned,
)
from .call import Call
from .captured import FOREIGN
from .followed import ANNOTATIONS, CLOSURE, DEFAULTS, NULL, Function, held, items, plain_function
from .results import EAGER, check_spec, is_dense, wanted_of

MOST_STEPS = 4000
DEEPEST = 4
EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
CUTS: dict[str, Callable[[Any, Any], Any]] = {"//": operator.floordiv, "%": operator.mod}
COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
UNARY: dict[str, Callable[[Any], Any]] = {
    "UNARY_NEGATIVE": operator.neg, "UNARY_INVERT": operator.invert, "UNARY_POSITIVE": operator.pos,
}  # fmt: skip
SKIPPED = frozenset("RESUME NOP CACHE PRECALL COPY_FREE_VARS MAKE_CELL PUSH_NULL NOT_TAKEN".split())


HEAVY, LONGER, FEW = 1 << 25, 4, 16
"""Bytes that a step of a program may read and make; where nobody knows how many elements there are, how many times the
numbers of an element and its result, which are taken for so many at least."""
Columnwise = Callable[[Any, Any], Any]
"""A function and columns in, columns of its results out."""


def look_at(call: Call) -> Columnwise:
    """What gives for columns what the function gives for each of their elements; `Unknown` where nobody knows."""
    if not is_dense(call.signature):
        raise Unknown("results are not to be tensors")
    if not call.is_dense or any(leaf.shape.rank is None for leaf in call.leaves):
        raise Unknown("elements of any rank")
    elements = [
        Value(True, leaf.shape.rank - 1, sizes=tuple(leaf.shape[1:]) if leaf.shape[1:].is_fully_defined() else None,
              step=i) for i, leaf in enumerate(call.leaves)
    ]  # fmt: skip
    given: Any = elements[0]
    if call.elems is not call.leaves[0]:
        if type(call.elems) not in (tuple, list) or len(call.elems) != len(call.leaves):
            raise Unknown("elements are nested")
        given = type(call.elems)(elements)
    function = Function.of(plain_function(call.fn), first=True)
    program = None
    try:
        made = _Run(MOST_STEPS).called(function, [given], {}, 0)
    except Otherwise:
        program = Program(call)
        program.made = made = _Run(MOST_STEPS, program).called(function, [given], {}, 0)
    if not all(isinstance(leaf, Value) and leaf.stacked for leaf in tf.nest.flatten(made)):
        raise Unknown("a result is the same for all elements")
    if program is None:
        return _as_written
    program.check()
    return program


def _as_written(fn: Any, elems: Any) -> Any:
    """A call of the function itself: that of a `tf.function` would wait for its tracing."""
    return plain_function(fn)(elems)


class Otherwise(Exception):
    """A batch needs other arguments than an element."""


class Program:
    """The calls that a function makes, with the arguments that a batch needs."""

    def __init__(self, call: Call) -> None:
        self.leaves = call.leaves
        self.n = call.n
        self.steps: list[tuple[Any, Any, Any]] = []
        """Functions, their arguments and keywords; of these, a `Value` stands for what an earlier step makes."""
        self.made: Any = None
        self.heaviest = 0
        """Numbers of one element that a step reads and makes."""
        self.most = 0
        """Elements that it may be run on."""

    def add(self, fn: Any, args: Any, keywords: dict[str, Any], made: Any) -> Any:
        """A call; what it makes, so that later ones may refer to it."""
        args = [self._raised(one) if isinstance(one, Raised) else one for one in args]
        self.steps.append((fn, args, keywords))
        if isinstance(made, Largest):
            place = self._place()
            whole = dataclasses.replace(made.values, step=place)
            return Largest(*(self.add(operator.itemgetter(i), [whole], {}, one) for i, one in enumerate(made)))
        stacked = [one for one in (*args, made) if isinstance(one, Value) and one.stacked]
        self.heaviest = max(self.heaviest, sum(_numbers_in(one) for one in stacked))
        return dataclasses.replace(made, step=self._place(), read=None)

    def _place(self) -> int:
        return len(self.leaves) + len(self.steps) - 1

    def _raised(self, raised: Raised) -> Any:
        value = raised.value
        for _ in range(raised.by):
            after = dataclasses.replace(value, rank=value.rank + 1, sizes=value.sizes and (1, *value.sizes))
            value = self.add(tf.expand_dims, [value, Known(1)], {}, after)
        return value

    def check(self) -> None:
        """`Unknown` where it is not to be run on all elements at once, or gives what is no tensor of one column."""
        if not _is_nest(self.made):
            raise Unknown("its result is an object of TensorFlow's")
        width = max(leaf.dtype.size for leaf in self.leaves)
        ends = tf.nest.flatten(self.made)
        few = sum(leaf.shape[1:].num_elements() or 0 for leaf in self.leaves) + sum(map(_numbers_in, ends))
        self.most = HEAVY // width // max(self.heaviest, 1)
        if self.n > self.most if self.n is not None else self.heaviest > LONGER * max(few, FEW):
            raise Unknown("the numbers in between would take too much room")

    def __call__(self, fn: Any, elems: Any) -> Any:
        values = list(tf.nest.flatten(elems))
        function = plain_function(fn)

        def value_of(one: Any) -> Any:
            if isinstance(one, Value):
                return one.read(function) if one.read is not None else values[one.step]
            if isinstance(one, Known):
                return one.value
            return type(one)(map(value_of, one))

        for step, args, keywords in self.steps:
            values.append(step(*map(value_of, args), **{name: value_of(one) for name, one in keywords.items()}))
        return value_of(self.made)


def _numbers_in(value: Value) -> int:
    """Of one element."""
    if value.sizes is None:
        raise Unknown("how large the numbers in between are")
    return math.prod(value.sizes)


def _is_nest(made: Any) -> bool:
    return isinstance(made, Value) or (type(made) in (tuple, list) and all(map(_is_nest, made)))


def leaves_of(made: Any, call: Call) -> list[Any]:
    """Columns of results, leaf by leaf; an error where they are not what was asked for."""
    leaves: list[Any] = [made] if type(made) is EAGER else tf.nest.flatten(made)
    if call.signature is None:
        return leaves
    for leaf, wanted in zip(leaves, wanted_of(made, call), strict=True):
        check_spec(leaf.dtype, leaf.shape[1:], wanted)
    return leaves


def fits(call: Call, columnwise: Columnwise) -> bool:
    """Whether there is memory for the numbers in between, all at once."""
    if isinstance(columnwise, Program) and (call.n or 0) > columnwise.most:
        return False
    size = sum(leaf.dtype.size * math.prod(leaf._shape_tuple()) for leaf in call.leaves)
    return bool(4 * size <= settings().memory)


@functools.lru_cache(maxsize=512)
def _instructions(code: types.CodeType) -> tuple[list[dis.Instruction], dict[int, int]]:
    found = list(dis.get_instructions(code))
    return found, {instruction.offset: i for i, instruction in enumerate(found)}


class _Run:
    """Follows the instructions of a function, and of those that it calls."""

    def __init__(self, steps: int, program: Program | None = None) -> None:
        self.steps, self.program = steps, program

    def step(self, fn: Any, args: Sequence[Any], keywords: dict[str, Any], made: Any) -> Any:
        """What a call of TensorFlow's makes, noted down where a program is written."""
        if self.program is None:
            if isinstance(made, Spelled):
                raise Otherwise
            return made
        if isinstance(made, Spelled):
            return self.program.add(fn, made.args, made.keywords, made.made)
        return self.program.add(fn, args, keywords, made)

    def called(self, fn: Function, args: Sequence[Any], keywords: dict[str, Any], depth: int) -> Any:
        code = fn.code
        flags = code.co_flags & (0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200)  # *args, **keywords, generators
        if depth > DEEPEST or flags or keywords or code.co_kwonlyargcount:
            raise Unknown("a function that nobody has looked at")
        missing = code.co_argcount - len(args)
        if missing < 0 or missing > len(fn.defaults):
            raise Unknown("arguments that do not fit")
        given = [*args, *fn.defaults[len(fn.defaults) - missing :]]
        return _Frame(self, fn, dict(zip(code.co_varnames, given, strict=False)), depth).run()


class _Frame:
    """One call: its variables, and the values that its instructions put on a stack."""

    def __init__(self, run: _Run, fn: Function, names: dict[str, Any], depth: int) -> None:
        self.whole, self.fn, self.names, self.depth = run, fn, names, depth
        self.stack: list[Any] = []
        self.keywords: tuple[str, ...] = ()
        self.at = 0

    def run(self) -> Any:
        instructions, self.places = _instructions(self.fn.code)
        while True:
            self.whole.steps -= 1
            if self.whole.steps < 0:
                raise Unknown("it is longer than looking is worth")
            instruction = instructions[self.at]
            self.at += 1
            name = instruction.opname
            if name == "RETURN_VALUE":
                return self.stack.pop()
            if name in SKIPPED:
                continue
            step = _STEPS.get(name)
            if step is None:
                raise Unknown(f"it does more than compute with whole tensors: {name}")
            step(self, instruction)

    def pop(self, count: int) -> list[Any]:
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken

    def jump(self, instruction: dis.Instruction) -> None:
        self.at = self.places[instruction.argval]

    # ---- names

    def load_fast(self, instruction: dis.Instruction) -> None:
        for name in instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,):
            inner = name in self.fn.code.co_cellvars or name in self.fn.code.co_freevars
            self.stack.append(self.cell(name) if inner else self.named(name))

    def named(self, name: str) -> Any:
        if name not in self.names:
            raise Unknown("a variable that has no value yet")
        return self.names[name]

    def cell(self, name: str) -> Callable[[], Any]:
        """What a variable that functions share is, when they ask."""
        code = self.fn.code
        return self.fn.cells[code.co_freevars.index(name)] if name in code.co_freevars else lambda: self.named(name)

    def store_fast(self, instruction: dis.Instruction) -> None:
        self.names[instruction.argval] = self.stack.pop()

    def store_shared(self, instruction: dis.Instruction) -> None:
        if instruction.argval in self.fn.code.co_freevars:
            raise Unknown("it changes a variable of another function")
        self.store_fast(instruction)

    def load_const(self, instruction: dis.Instruction) -> None:
        self.stack.append(Known(instruction.argval))

    def load_global(self, instruction: dis.Instruction) -> None:
        name = instruction.argval
        known = self.fn.globals
        if name in known:
            self.stack.append(held(known[name]))
        elif hasattr(builtins, name):
            self.stack.append(Known(getattr(builtins, name)))
        else:
            raise Unknown("a name that is not there")

    def load_deref(self, instruction: dis.Instruction) -> None:
        self.stack.append(self.cell(instruction.argval)())

    def load_closure(self, instruction: dis.Instruction) -> None:
        self.stack.append(self.cell(instruction.argval))

    def load_attribute(self, instruction: dis.Instruction) -> None:
        owner = self.stack.pop()
        if isinstance(owner, Value):
            if instruction.argval != "dtype":
                raise Unknown(f"it reads .{instruction.argval} of a tensor")
            if self.whole.program is not None:
                raise Unknown("it reads .dtype of a tensor")
            self.stack.append(ANY_DTYPE)
        elif isinstance(owner, Largest) and instruction.argval in Largest._fields:
            self.stack.append(getattr(owner, instruction.argval))
        elif isinstance(owner, Known) and isinstance(owner.value, types.ModuleType):
            self.stack.append(held(getattr(owner.value, instruction.argval, NULL)))
        else:
            raise Unknown("it reads an attribute")

    # ---- computing

    def binary(self, instruction: dis.Instruction) -> None:
        left, right = self.pop(2)
        symbol = instruction.argrepr.rstrip("=")
        self.stack.append(self._computed(symbol, left, right))

    def _computed(self, symbol: str, left: Any, right: Any) -> Any:
        compute = EXACT.get(symbol) or CUTS.get(symbol) or (operator.pow if symbol == "**" else None)
        if compute is None:
            raise Unknown(f"the operator {symbol}")
        if isinstance(left, Known) and isinstance(right, Known):
            return _folded(compute, left, right)
        if not isinstance(left, Value | Known) or not isinstance(right, Value | Known):
            raise Unknown("an operator of something else than numbers")
        made = combined([left, right], symbol == "**", cuts=symbol in CUTS)
        return self.whole.step(compute, [left, right], {}, made)

    def compare(self, instruction: dis.Instruction) -> None:
        left, right = self.pop(2)
        symbol = str(instruction.argval)
        compute = COMPARED.get(symbol.removeprefix("bool(").rstrip(")"))
        if compute is None or symbol.startswith("bool("):
            raise Unknown("a comparison")
        if isinstance(left, Known) and isinstance(right, Known):
            self.stack.append(_folded(compute, left, right))
        else:
            made = combined([left, right], False, cuts=True)
            self.stack.append(self.whole.step(compute, [left, right], {}, made))

    def unary(self, instruction: dis.Instruction) -> None:
        value = self.stack.pop()
        if not isinstance(value, Value) or instruction.opname not in UNARY:
            raise Unknown("an operator")
        self.stack.append(self.whole.step(UNARY[instruction.opname], [value], {}, value))

    def item(self, instruction: dis.Instruction) -> None:
        owner, key = self.pop(2)
        self.stack.append(self._part(owner, key))

    def slice(self, instruction: dis.Instruction) -> None:
        """`x[low:high]`, as Python 3.12 has it."""
        owner, low, high = self.pop(3)
        self.stack.append(self._part(owner, _known([low, high], slice)))

    def build_slice(self, instruction: dis.Instruction) -> None:
        self.stack.append(_known(self.pop(instruction.arg or 2), slice))

    def _part(self, owner: Any, key: Any) -> Any:
        if isinstance(owner, Value):
            key = _known(key, lambda *items: items) if type(key) is tuple else key
            if not isinstance(key, Known):
                raise Unknown("a part that is computed")
            return self.whole.step(operator.getitem, [owner, key], {}, part(owner, key.value))
        if type(owner) not in (tuple, list, Largest) or not isinstance(key, Known) or type(key.value) is not int:
            raise Unknown("it takes a part of something")
        return owner[key.value]

    def unpack(self, instruction: dis.Instruction) -> None:
        owner = self.stack.pop()
        if type(owner) not in (tuple, list, Largest) or len(owner) != instruction.argval:
            raise Unknown("it takes something apart")
        self.stack.extend(reversed(owner))

    def build(self, instruction: dis.Instruction) -> None:
        items = self.pop(instruction.arg or 0)
        self.stack.append(tuple(items) if instruction.opname == "BUILD_TUPLE" else items)

    def extend(self, instruction: dis.Instruction) -> None:
        items = self.stack.pop()
        if not isinstance(items, Known) or type(items.value) is not tuple or type(self.stack[-1]) is not list:
            raise Unknown("a list that is computed")
        self.stack[-1] = [*self.stack[-1], *map(Known, items.value)]

    # ---- calls

    def kw_names(self, instruction: dis.Instruction) -> None:
        value = instruction.argval
        self.keywords = value if isinstance(value, tuple) else self.fn.code.co_consts[instruction.arg or 0]

    def call(self, instruction: dis.Instruction) -> None:
        if instruction.opname == "CALL_KW":
            self.keywords = self.stack.pop().value
        args = self.pop(instruction.arg or 0)
        names, self.keywords = self.keywords, ()
        keywords = dict(zip(names, args[len(args) - len(names) :], strict=True))
        fn = self.stack.pop()
        self.stack.append(self.result(fn, args[: len(args) - len(names)], keywords))

    def make_function(self, instruction: dis.Instruction) -> None:
        """`lambda`, `def`."""
        code, flags = self.stack.pop().value, instruction.arg or 0
        cells = self.stack.pop() if flags & CLOSURE else ()
        if flags & ~(CLOSURE | DEFAULTS | ANNOTATIONS):
            raise Unknown("a function with arguments by name only")
        self.pop(bool(flags & ANNOTATIONS))
        defaults = self.stack.pop() if flags & DEFAULTS else ()
        self.stack.append(Function(code, self.fn.globals, items(defaults), tuple(cells)))

    def set_attribute(self, instruction: dis.Instruction) -> None:
        """What Python 3.13 adds to a function that was made."""
        made, value = self.stack.pop(), self.stack.pop()
        if instruction.arg == CLOSURE:
            made = dataclasses.replace(made, cells=tuple(value))
        elif instruction.arg == DEFAULTS:
            made = dataclasses.replace(made, defaults=items(value))
        elif instruction.arg != ANNOTATIONS:
            raise Unknown("a function with arguments by name only")
        self.stack.append(made)

    def result(self, fn: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
        if isinstance(fn, Function):
            return self.whole.called(fn, args, keywords, self.depth + 1)
        if isinstance(fn, Known) and fn.value is tf.while_loop:
            if self.whole.program is not None:
                raise Unknown("it loops")
            return turned(args, keywords, lambda inner, state: self.result(inner, list(state), {}))
        if not isinstance(fn, Known) or not isinstance(fn.value, types.FunctionType | types.BuiltinFunctionType | type):
            raise Unknown("it calls an object")
        if all(isinstance(arg, Known) for arg in (*args, *keywords.values())) and numbers_only(fn.value):
            return _folded(fn.value, *args) if not keywords else _refused()
        rule = RULES.get(fn.value)
        if fn.value is abs and len(args) == 1:
            return self.whole.step(abs, args, {}, alike(args[0]))
        if rule is not None:
            return self.whole.step(fn.value, args, keywords, rule(args, keywords))
        module = (getattr(fn.value, "__module__", None) or "").partition(".")[0]
        if type(fn.value) is not types.FunctionType or module in FOREIGN:
            raise Unknown(f"it calls {getattr(fn.value, '__name__', fn.value)}")
        return self.whole.called(Function.of(fn.value), args, keywords, self.depth + 1)

    # ---- control flow

    def get_iter(self, instruction: dis.Instruction) -> None:
        value = self.stack.pop()
        if not isinstance(value, Known) or type(value.value) is not range:
            raise Unknown("it goes through something else than a range")
        self.stack.append(iter(value.value))

    def for_iter(self, instruction: dis.Instruction) -> None:
        number = next(self.stack[-1], NULL)
        if number is not NULL:
            self.stack.append(Known(number))
        elif instruction.opname == "FOR_ITER" and _POPS_ITERATOR:
            self.stack.pop()
            self.jump(instruction)
        else:
            self.stack.append(NULL)
            self.jump(instruction)

    def branch(self, instruction: dis.Instruction) -> None:
        value = self.stack.pop()
        if not isinstance(value, Known) or type(value.value) is not bool:
            raise Unknown("what it does depends on its element")
        if value.value is ("IF_TRUE" in instruction.opname):
            self.jump(instruction)

    def pop_top(self, instruction: dis.Instruction) -> None:
        self.stack.pop()

    def end_for(self, instruction: dis.Instruction) -> None:
        while self.stack and (self.stack[-1] is NULL or isinstance(self.stack[-1], type(iter(range(0))))):
            self.stack.pop()


_POPS_ITERATOR = "END_FOR" not in dis.opmap
"""Python 3.11 takes the iterator away itself when it is done; later ones have an instruction for that."""
_STEPS: dict[str, Callable[[_Frame, dis.Instruction], None]] = {
    "LOAD_FAST": _Frame.load_fast, "LOAD_FAST_CHECK": _Frame.load_fast, "LOAD_FAST_LOAD_FAST": _Frame.load_fast,
    "STORE_FAST": _Frame.store_fast, "LOAD_CONST": _Frame.load_const, "LOAD_GLOBAL": _Frame.load_global,
    "LOAD_DEREF": _Frame.load_deref, "STORE_DEREF": _Frame.store_shared, "LOAD_CLOSURE": _Frame.load_closure,
    "MAKE_FUNCTION": _Frame.make_function, "SET_FUNCTION_ATTRIBUTE": _Frame.set_attribute,
    "LOAD_ATTR": _Frame.load_attribute, "LOAD_METHOD": _Frame.load_attribute,
    "BINARY_OP": _Frame.binary, "COMPARE_OP": _Frame.compare, "UNARY_NEGATIVE": _Frame.unary,
    "UNARY_INVERT": _Frame.unary, "UNARY_POSITIVE": _Frame.unary, "BINARY_SUBSCR": _Frame.item,
    "BINARY_SLICE": _Frame.slice, "BUILD_SLICE": _Frame.build_slice,
    "UNPACK_SEQUENCE": _Frame.unpack, "BUILD_TUPLE": _Frame.build, "BUILD_LIST": _Frame.build,
    "LIST_EXTEND": _Frame.extend,
    "KW_NAMES": _Frame.kw_names, "CALL": _Frame.call, "CALL_KW": _Frame.call, "GET_ITER": _Frame.get_iter,
    "FOR_ITER": _Frame.for_iter, "END_FOR": _Frame.end_for, "POP_TOP": _Frame.pop_top,
    "JUMP_FORWARD": _Frame.jump, "JUMP_BACKWARD": _Frame.jump, "JUMP_BACKWARD_NO_INTERRUPT": _Frame.jump,
    "POP_JUMP_FORWARD_IF_FALSE": _Frame.branch, "POP_JUMP_FORWARD_IF_TRUE": _Frame.branch,
    "POP_JUMP_BACKWARD_IF_FALSE": _Frame.branch, "POP_JUMP_BACKWARD_IF_TRUE": _Frame.branch,
    "POP_JUMP_IF_FALSE": _Frame.branch, "POP_JUMP_IF_TRUE": _Frame.branch,
}  # fmt: skip


def _folded(compute: Callable[..., Any], *operands: Known) -> Known:
    """What Python makes of its own numbers."""
    values = [one.value for one in operands]
    if not all(type(value) in NUMBERS and abs(value) < 1e9 for value in values):
        raise Unknown("Python computes with something else than small numbers")
    try:
        return Known(compute(*values))
    except Exception as error:
        raise Unknown("Python raises") from error


def _known(items: Sequence[Any], make: Callable[..., Any]) -> Known:
    if not all(isinstance(one, Known) for one in items):
        raise Unknown("a part that is computed")
    return Known(make(*(one.value for one in items)))


def _refused() -> Any:
    raise Unknown("arguments that nobody has looked at")
