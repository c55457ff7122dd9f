"""What arrays do in operations and calls: hooks into the compiler, and the table of NumPy's functions and methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..calls import ATTRIBUTES, OTHERS, SPECIAL_METHODS, Given, Words
from ..check import Leaves, Walk
from ..code import Op
from ..follow import called, prelude_home, result_of
from ..kinds import BOOL, INT, NONE, NUMPY, STR, Array, Fused, Kind, List, Literal, Object, Static, Tuple, items_in
from ..numpy_library import before
from ..operations import OF_ARRAYS, operation
from ..prelude import arrays as _arrays
from ..prelude import intrinsics
from ..prelude.registry import FUNCTIONS
from ..prelude.tables import Deque, Frozenset, Set
from ..rows import arrays, items, masks, memory, nests
from ..rows.numbers import base, safe
from ..rows.numpy_casts import cast, is_true, operand_of
from ..values import constant, item_of_tuple, tuple_of
from . import elementwise, indexing, making, products, reductions, shaping, sweeping
from .elementwise import apply, as_dtype, assign, converted, force, is_array, put_off, shape_of

Given_ = dict[str, str]
Function = Callable[[Walk, Given_], str]
_USED = _arrays


# ---- registering


def by_name(
    walk: Walk, fn: str, args: Given, words: Words, names: tuple[str, ...], nones: tuple[str, ...] = ()
) -> Given_:
    """Arguments by their names; those that are None are left out, but for those in `nones`."""
    if len(args) > len(names) or any(word not in names for word in words):
        raise walk.doubt(f"{fn} with these arguments")
    given = dict(zip(names, args)) | words
    return {word: name for word, name in given.items() if walk.env[name] is not NONE or word in nones}


def _is_meant(walk: Walk, names: Any) -> bool:
    """Whether an argument is an array, or a list that NumPy makes one of."""
    return any(isinstance(walk.env[name], Array | Fused | List | Tuple) for name in names)


def function(
    *originals: Any, names: str, of: str = "", method: str = "", nones: tuple[str, ...] = ()
) -> Callable[[Function], Function]:
    """NumPy's functions of arrays. `names`: of their arguments; `of`: those that are made arrays first; `method`: names
    of methods that do the same; `nones`: arguments that may be None and are something else where they are left out."""
    words = tuple(names.split())
    turned = tuple(of.split()) or words[:1]

    def register(f: Function) -> Function:
        def run(walk: Walk, op: Op, args: Given, keywords: Words, names: tuple[str, ...], fn: str, c: bool) -> bool:
            given = by_name(walk, fn, args, keywords, names, nones)
            for word in turned:
                if word in given:
                    given[word] = (
                        making.array_of(walk, given[word], None) if not _is_number(walk, given[word]) else given[word]
                    )
            made = f(walk, given)
            if not c:
                elementwise.check_order(walk, made, list(given.values()))
            return walk.give_name(op, made)

        for original in originals:
            name = original.__name__

            def find(walk: Walk, op: Op, args: Given, keywords: Words, name: str = name) -> bool:
                meant = _is_meant(walk, [*args, *keywords.values()][: len(turned) + 1]) or name in _ALWAYS
                return meant and run(walk, op, args, keywords, words, name, name in IN_ROWS)

            before(original)(find)
        for name in method.split():

            def find_method(walk: Walk, op: Op, args: Given, keywords: Words, name: str = name) -> bool:
                meant = is_array(walk.env[args[0]])
                return meant and run(walk, op, args, keywords, words, name, name in IN_ROWS or name == "copy")

            SPECIAL_METHODS["ndarray", name] = find_method
        return f

    return register


def _method(*names: str) -> Callable[[Any], Any]:
    """A method of arrays that takes any number of arguments."""

    def register(f: Any) -> Any:
        def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
            return is_array(walk.env[args[0]]) and not words and walk.give_name(op, f(walk, args[0], args[1:]))

        for name in names:
            SPECIAL_METHODS["ndarray", name] = find
        return f

    return register


IN_ROWS = frozenset("dot outer inner flatten ascontiguousarray cov".split())
"""Functions whose results lie row by row, whatever they are given; and the method `copy`, but not the function."""
_ALWAYS = frozenset("zeros ones empty full arange linspace eye identity ndarray".split())
"""Functions that make arrays of numbers."""


def _is_number(walk: Walk, name: str) -> bool:
    return operand_of(walk.env[name]) is not None


def _flag_of(walk: Walk, name: str | None) -> bool:
    """A flag that is known beforehand."""
    kind = walk.env[name] if name is not None else Literal(BOOL, False)
    if not isinstance(kind, Literal):
        raise walk.doubt("a flag that is not known beforehand")
    return bool(kind.value)


# ---- ufuncs


def _ufunc(ufunc: np.ufunc) -> Any:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        if not _is_meant(walk, args):
            return False
        out = words.get("out") if set(words) <= {"out"} else ""
        given = args[: ufunc.nin]
        if len(args) == ufunc.nin + 1 and ufunc.nout == 1 and not words:
            out = args[-1]
        elif len(args) != ufunc.nin or out == "":
            raise walk.doubt(f"{ufunc.__name__} with these arguments")
        given = [name if _is_number(walk, name) else making.array_of(walk, name, None) for name in given]
        if not any(is_array(walk.env[name]) for name in given):
            return False
        return walk.give_name(op, into(walk, apply(walk, ufunc, given), out))

    return find


def into(walk: Walk, name: str, out: str | None) -> str:
    """A result that goes into an array, where one is given."""
    if out is None or walk.env[out] is NONE:
        return name
    kind, made = walk.env[out], walk.env[name]
    if (
        not isinstance(kind, Array)
        or not isinstance(made, Array | Fused)
        or not np.can_cast(made.dtype, kind.dtype, "same_kind")
    ):
        raise walk.doubt("puts a result into something else than an array")
    if made.ndim != kind.ndim:
        raise walk.doubt("puts a result into an array of other axes")
    assign(walk, out, name)
    return out


for _found in list(vars(np).values()):
    if isinstance(_found, np.ufunc) and not _found.signature:
        before(_found)(_ufunc(_found))


def _outer_of_ufunc(walk: Walk, op: Op, target: Static, args: Given, words: Words) -> bool:
    """`np.add.outer(a, b)`: every item of one with every item of the other."""
    ufunc = getattr(target.value, "__self__", None)
    if not isinstance(ufunc, np.ufunc) or target.value.__name__ != "outer" or words or len(args) != 2:
        return False
    a, b = (name if _is_number(walk, name) else making.array_of(walk, name, None) for name in args)
    if not is_array(walk.env[a]) or not is_array(walk.env[b]):
        return False
    for _ in range(walk.env[b].ndim):  # type: ignore[attr-defined]
        a = shaping.expand(walk, a, walk.env[a].ndim)  # type: ignore[attr-defined]
    return walk.give_name(op, apply(walk, ufunc, [a, b]))


OTHERS.append(_outer_of_ufunc)


@before(abs)
def _abs(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    return len(args) == 1 and is_array(walk.env[args[0]]) and walk.give_name(op, apply(walk, np.absolute, args))


# ---- intrinsics


@before(intrinsics.at)
def _at(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = force(walk, args[0])
    where = args[1:]
    if len(where) != kind.ndim:
        return False
    walk.give(
        op, NUMPY[kind.dtype], safe(lambda w, x, *i: arrays.load(w, kind.dtype, arrays.place(w, kind, x, i))), *args
    )
    return True


@before(intrinsics.set_at)
def _set_at(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = force(walk, args[0])
    operand = operand_of(walk.env[args[-1]])
    if operand is None or len(args) != kind.ndim + 2:
        return False
    walk.writes(kind.cell)
    own = operand.dtype

    def emit(w: Any, x: str, *values: str) -> None:
        *where, number = values
        arrays.store(w, kind.dtype, arrays.place(w, kind, x, where), cast(w, number, own, kind.dtype))

    walk.step(emit, None, tuple(args))
    walk.give(op, NONE, constant(NONE))
    return True


@before(intrinsics.new_array)
def _new_array(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    dtype = walk.env[args[0]].dtype  # type: ignore[attr-defined]
    return walk.give_name(op, making.empty(walk, making.lengths_of(walk, args[1]), dtype))


@before(intrinsics.wrapped)
def _wrapped(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    name, kind = indexing.as_int(walk, args[0])
    if kind is not INT and not isinstance(kind, Literal):
        return False
    walk.give(op, INT, lambda w, i, n: memory.index(w, n, i, "array"), name, args[1])
    return True


@before(intrinsics.raise_broadcast)
def _raise_broadcast(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    raise Leaves(None, "arrays in an index have different lengths")


@before(intrinsics.count_true)
def _count_true(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = force(walk, args[0])
    walk.give(op, INT, safe(lambda w, x: masks.count(w, kind, x)), args[0])
    return True


@before(intrinsics.lies_in_rows)
def _lies_in_rows(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = force(walk, args[0])

    def emit(w: Any, x: str) -> str:
        return arrays.lies_in_rows(w, kind, x)

    walk.give(op, BOOL, safe(emit), args[0])
    return True


def _of_masked(row: Any) -> Any:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        own, mask, other = (walk.env[name] for name in args)
        if isinstance(other, Fused):
            other = force(walk, args[2])
        assert isinstance(own, Array) and isinstance(mask, Array)
        if not isinstance(other, Array) and (operand_of(other) is None or operand_of(other).dtype.kind == "c"):  # type: ignore[union-attr]
            return False
        walk.writes(own.cell)
        walk.step(row(own, mask, other), None, tuple(args))
        walk.give(op, NONE, constant(NONE))
        return True

    return find


before(intrinsics.take_true)(_of_masked(masks.taken))
before(intrinsics.put_true)(_of_masked(masks.put))


@before(len)
def _len(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kind = walk.env[args[0]]
    if not isinstance(kind, Array | Fused):
        return False
    if kind.ndim == 0:
        raise Leaves(TypeError, "len() of unsized object")
    walk.give(op, INT, safe(lambda w, x: shape_of(w, kind, x)[0]), args[0])
    return True


# ---- attributes


def _attribute(kind: Kind, name: str) -> Any:
    if not isinstance(kind, Array | Fused):
        return None
    if name == "shape":
        made = Tuple((INT,) * kind.ndim)
        return made, safe(
            lambda w, x: w.build(made.ll, *(("i64", n) for n in shape_of(w, kind, x))) if kind.ndim else "undef"
        )
    if name == "dtype":
        return Static(kind.dtype), safe(lambda w, x: "")
    known = {"ndim": kind.ndim, "itemsize": kind.dtype.itemsize}
    if name in known:
        literal = Literal(INT, known[name])
        return literal, _constant_of(literal)
    if name in ("size", "nbytes"):
        times = "1" if name == "size" else str(kind.dtype.itemsize)
        return INT, safe(lambda w, x: arrays.product(w, arrays.count(w, shape_of(w, kind, x)), times))
    if name == "T" and isinstance(kind, Array):
        return shaping.transposed_row(kind, list(range(kind.ndim))[::-1])
    if name in ("real", "imag") and isinstance(kind, Array) and kind.dtype.kind == "c":
        return shaping.part_row(kind, name)
    if name == "real" and isinstance(kind, Array):
        return kind, safe(lambda w, x: x)
    return None


def _constant_of(literal: Literal) -> Any:
    return safe(lambda w, x: w.module.constant(literal.kind, literal.value))


ATTRIBUTES.insert(0, _attribute)


# ---- making


def _maker(fill: Any, number: Any = None) -> Function:
    def make(walk: Walk, given: Given_) -> str:
        _only_rows(walk, given)
        dtype = making.dtype_of(walk, given.get("dtype")) or np.dtype(float)
        lengths = making.lengths_of(walk, given["shape"])
        if number is not None:
            literal = Literal(INT, number)
            return making.full(walk, lengths, dtype, walk.temporary(literal, constant(literal)))
        return making.empty(walk, lengths, dtype, fill)

    return make


function(np.zeros, names="shape dtype order", of="-")(_maker(making.zeroed))
function(np.ndarray, names="shape dtype", of="-")(_maker(None))
function(np.empty, names="shape dtype order", of="-")(_maker(None))
function(np.ones, names="shape dtype order", of="-")(_maker(None, 1))


@function(np.full, names="shape fill_value dtype", of="-")
def _full(walk: Walk, given: Given_) -> str:
    operand = operand_of(walk.env[given["fill_value"]])
    if operand is None:
        raise walk.doubt("fills an array with something else than a number")
    dtype = making.dtype_of(walk, given.get("dtype")) or operand.dtype
    return making.full(walk, making.lengths_of(walk, given["shape"]), dtype, given["fill_value"])


def _like(fill: Any, number: Any = None) -> Function:
    def make(walk: Walk, given: Given_) -> str:
        kind = walk.env[given["a"]]
        assert isinstance(kind, Array | Fused)
        dtype = making.dtype_of(walk, given.get("dtype")) or kind.dtype
        lengths = [walk.temporary(INT, _length_row(kind, i), given["a"]) for i in range(kind.ndim)]
        if number is not None or "fill_value" in given:
            literal = Literal(INT, number)
            value = given["fill_value"] if "fill_value" in given else walk.temporary(literal, constant(literal))
            return making.full(walk, lengths, dtype, value)
        return making.empty(walk, lengths, dtype, fill)

    return make


def _length_row(kind: Any, axis: int) -> Any:
    return safe(lambda w, x: shape_of(w, kind, x)[axis])


function(np.zeros_like, names="a dtype", of="a")(_like(making.zeroed))
function(np.empty_like, names="a dtype", of="a")(_like(None))
function(np.ones_like, names="a dtype", of="a")(_like(None, 1))
function(np.full_like, names="a fill_value dtype", of="a")(_like(None))


@function(np.array, names="object dtype copy", of="-")
def _array(walk: Walk, given: Given_) -> str:
    made = making.array_of(walk, given["object"], making.dtype_of(walk, given.get("dtype")))
    return making.copy(walk, made) if made == given["object"] else made


@function(np.ascontiguousarray, names="a dtype", of="-")
def _packed_array(walk: Walk, given: Given_) -> str:
    return making.packed(walk, _asarray(walk, given))


@function(np.asarray, np.asanyarray, names="a dtype", of="-")
def _asarray(walk: Walk, given: Given_) -> str:
    return making.array_of(walk, given["a"], making.dtype_of(walk, given.get("dtype")))


@function(np.copy, names="a", method="copy")
def _copy(walk: Walk, given: Given_) -> str:
    return making.copy(walk, given["a"])


@function(names="a dtype copy", method="astype")
def _astype(walk: Walk, given: Given_) -> str:
    dtype = making.dtype_of(walk, given.get("dtype"))
    assert dtype is not None
    made = converted(walk, given["a"], dtype)
    if made == given["a"]:
        return making.copy(walk, made) if _flag_of(walk, given.get("copy")) or "copy" not in given else made
    force(walk, made)
    return made


@_method("tolist")
def _tolist(walk: Walk, name: str, rest: list[str]) -> str:
    ndim = force(walk, name).ndim
    lines = ["def listed(x0):"]
    for a in range(ndim):
        pad = "    " * (a + 1)
        lines += [f"{pad}made{a} = []", f"{pad}for x{a + 1} in x{a}:"]
    lines.append("    " * (ndim + 1) + f"made{ndim - 1}.append(x{ndim}.item())")
    for a in range(ndim - 2, -1, -1):
        lines.append("    " * (a + 2) + f"made{a}.append(made{a + 1})")
    return called(walk, "\n".join([*lines, "    return made0"]), [name])


@function(names="a", method="conj conjugate")
def _conjugated(walk: Walk, given: Given_) -> str:
    return apply(walk, np.conjugate, [given["a"]])


@function(names="a value", method="fill")
def _fill(walk: Walk, given: Given_) -> str:
    force(walk, given["a"])
    assign(walk, given["a"], given["value"])
    return walk.temporary(NONE, constant(NONE))


# ---- choosing


@function(np.where, names="condition x y", of="condition x y")
def _where(walk: Walk, given: Given_) -> str:
    if len(given) == 1:
        return called(walk, "def found(a):\n    return np.nonzero(a)", [given["condition"]])
    if len(given) != 3:
        raise walk.doubt("np.where with two arguments")
    names = [given[word] for word in ("condition", "x", "y")]
    if not is_array(walk.env[names[0]]) and not any(is_array(walk.env[name]) for name in names[1:]):
        raise walk.doubt("np.where of numbers")
    samples: list[Any] = []
    for name in names[1:]:
        kind = walk.env[name]
        operand = operand_of(kind)
        if isinstance(kind, Array | Fused):
            samples.append(kind.dtype)
        elif operand is not None and operand.weak:
            samples.append({"i": 1, "f": 1.0, "c": 1j}[operand.dtype.kind])
        else:
            assert operand is not None
            samples.append(operand.dtype)
    want = np.result_type(*samples)
    if want not in NUMPY or want.char == "e":
        raise walk.doubt(f"np.where of {want}")
    flag = np.dtype(bool)
    dtypes = (flag, want, want)
    turned = []
    for name, dtype in zip(names, dtypes):
        operand = operand_of(walk.env[name])
        turned.append(name if operand is None else as_dtype(walk, name, operand, dtype))
    return put_off(walk, "where", dtypes, want, turned)


@function(np.clip, names="a a_min a_max", of="a", method="clip")
def _clip(walk: Walk, given: Given_) -> str:
    low, high = given.get("a_min"), given.get("a_max")
    if low is not None and high is not None:
        for bound in (low, high):
            kind = walk.env[bound]
            if is_array(kind):
                raise walk.doubt("np.clip with arrays as bounds")
            walk.step(_no_nan(kind), None, (bound,))
        return apply(walk, items.CLIP, [given["a"], low, high])
    if low is not None:
        return apply(walk, np.maximum, [given["a"], low])
    if high is not None:
        return apply(walk, np.minimum, [given["a"], high])
    raise walk.doubt("np.clip without bounds")


def _no_nan(kind: Kind) -> Any:
    """The lane is left where a bound is NaN."""
    operand = operand_of(kind)

    def emit(w: Any, x: str) -> None:
        if operand is not None and operand.dtype.kind == "f" and not isinstance(kind, Literal):
            y = cast(w, x, operand.dtype, np.dtype(float))
            w.leave_if(w.new(f"fcmp uno double {y}, {y}"), None, "a bound that is NaN")

    return emit


# ---- reductions


def _reduction(ufunc: Any) -> Function:
    def run(walk: Walk, given: Given_) -> str:
        kind = walk.env[given["a"]]
        assert isinstance(kind, Array | Fused)
        axes = reductions.axes_of(walk, given.get("axis"), kind.ndim)
        dtype = making.dtype_of(walk, given.get("dtype"))
        made = reductions.reduce(walk, ufunc, given["a"], axes, _flag_of(walk, given.get("keepdims")), dtype)
        return into(walk, made, given.get("out"))

    return run


_NAMES = "a axis dtype out keepdims"
function(np.sum, np.add.reduce, names=_NAMES, method="sum")(_reduction(np.add))
function(np.prod, np.multiply.reduce, names=_NAMES, method="prod")(_reduction(np.multiply))
function(np.max, np.maximum.reduce, names="a axis out keepdims", method="max")(_reduction(np.maximum))
function(np.min, np.minimum.reduce, names="a axis out keepdims", method="min")(_reduction(np.minimum))
function(np.any, np.logical_or.reduce, names="a axis out keepdims", method="any")(_reduction(np.logical_or))
function(np.all, np.logical_and.reduce, names="a axis out keepdims", method="all")(_reduction(np.logical_and))


@function(np.mean, names="a axis dtype out keepdims", method="mean")
def _mean(walk: Walk, given: Given_) -> str:
    kind = walk.env[given["a"]]
    assert isinstance(kind, Array | Fused)
    if "dtype" in given or "out" in given:
        raise walk.doubt("np.mean with a dtype")
    axes = reductions.axes_of(walk, given.get("axis"), kind.ndim)
    return reductions.mean(walk, given["a"], axes, _flag_of(walk, given.get("keepdims")))


# ---- operations


@operation("own")
def _own(walk: Walk, op: Op) -> None:
    """An element that is an array: the caller's own, or a copy where the function writes into it."""
    kind = walk.kind(op.args[0])
    assert isinstance(kind, Array)
    loose = Array(kind.dtype, kind.ndim, kind.cell, kind.contiguous)

    def emit(w: Any, x: str) -> str:
        if not kind.cell.find().written:
            return x
        made = arrays.new(w, elementwise.room_kind(kind.dtype, kind.ndim), arrays.shape_of(w, kind, x))
        nests.copy(w, loose, made, kind, x)
        return made

    walk.put(op, kind, emit, op.args[0])


@operation("give")
def _give(walk: Walk, op: Op) -> None:
    """A result as it is given back: arrays without gaps, where they are given to nobody else, sets as lists."""
    name = walk.name(op.args[0])
    if op.extra:
        name = _packed(walk, name)
    elif isinstance(walk.env[name], Fused):
        force(walk, name)
    walk.give_name(op, name)


def _packed(walk: Walk, name: str) -> str:
    kind = walk.env[name]
    if isinstance(kind, Array | Fused):
        return making.packed(walk, name)
    if isinstance(kind, Object) and kind.cls in (Set, Frozenset, Deque):
        held = kind.fields.find().cells["items_" if kind.cls is not Deque else "buffer"].kind
        if kind.cls is not Deque and held is not None and any(base(one) in (STR, NONE) for one in items_in(held)):
            raise walk.doubt("returns a set of texts, whose order only this process knows")
        return result_of(walk, prelude_home(FUNCTIONS["given_deque" if kind.cls is Deque else "given_set"]), [name])
    if isinstance(kind, Tuple) and any(isinstance(item, Array | Tuple | Object) for item in kind.items):
        return tuple_of(walk, [_packed(walk, item_of_tuple(walk, name, i)) for i in range(len(kind.items))], kind.cls)
    return name


def _truth(walk: Walk, kind: Array) -> Any:
    """An array of one item is as true as that; of several, a ValueError."""

    def emit(w: Any, x: str) -> str:
        n = arrays.count(w, arrays.shape_of(w, kind, x))
        w.leave_if(w.new(f"icmp ne i64 {n}, 1"), None, "the truth value of an array with several elements")
        return is_true(w, arrays.load(w, kind.dtype, arrays.data(w, kind, x)), kind.dtype)

    return emit


OF_ARRAYS.update(
    operator=elementwise.operator, unary=elementwise.unary, compare=elementwise.compare, item=indexing.item,
    set_item=indexing.set_item, truth=_truth, sweep=sweeping.sweep,
)  # fmt: skip


# ---- shapes


def _only_rows(walk: Walk, given: Given_) -> None:
    """Items are taken, and put, row by row."""
    kind = walk.env[given["order"]] if "order" in given else NONE
    if kind is not NONE and not (isinstance(kind, Literal) and kind.value == "C"):
        raise walk.doubt("an order other than row by row")


def _lengths(walk: Walk, names: list[str]) -> list[str]:
    """The lengths of a shape, given as one tuple or one by one."""
    if len(names) == 1:
        return making.lengths_of(walk, names[0])
    return [name for one in names for name in making.lengths_of(walk, one)]


@before(np.reshape)
def _reshape(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    given = by_name(walk, "reshape", args, words, ("a", "shape"))
    name = making.array_of(walk, given["a"], None)
    return walk.give_name(op, shaping.reshaped(walk, name, _lengths(walk, [given["shape"]])))


@_method("reshape")
def _reshape_method(walk: Walk, name: str, rest: list[str]) -> str:
    return shaping.reshaped(walk, name, _lengths(walk, rest))


@function(np.ravel, names="a order", method="ravel")
def _ravel(walk: Walk, given: Given_) -> str:
    _only_rows(walk, given)
    minus = Literal(INT, -1)
    return shaping.reshaped(walk, given["a"], [walk.temporary(minus, constant(minus))], True)


@function(names="a order", method="flatten")
def _flatten(walk: Walk, given: Given_) -> str:
    _only_rows(walk, given)
    minus = Literal(INT, -1)
    return shaping.reshaped(walk, making.copy(walk, given["a"]), [walk.temporary(minus, constant(minus))])


def _ints(walk: Walk, names: list[str]) -> list[int] | None:
    """Ints that are known beforehand, as a tuple or one by one."""
    kinds = [walk.env[name] for name in names]
    if len(kinds) == 1 and isinstance(kinds[0], Tuple):
        kinds = list(kinds[0].items)
    if not all(isinstance(kind, Literal) and kind.kind is INT for kind in kinds):
        return None
    return [kind.value for kind in kinds]  # type: ignore[attr-defined]


def _transposed(walk: Walk, name: str, rest: list[str]) -> str:
    ndim = force(walk, name).ndim
    order = list(range(ndim))[::-1] if not rest or walk.env[rest[0]] is NONE else _ints(walk, rest)
    if order is None or sorted(a % ndim for a in order) != list(range(ndim)):
        raise walk.doubt("transposes by axes that are not known beforehand")
    return shaping.transposed(walk, name, [a % ndim for a in order])


_method("transpose")(_transposed)


@function(np.transpose, names="a axes")
def _transpose(walk: Walk, given: Given_) -> str:
    return _transposed(walk, given["a"], [given["axes"]] if "axes" in given else [])


@function(np.swapaxes, names="a axis1 axis2", method="swapaxes")
def _swapaxes(walk: Walk, given: Given_) -> str:
    ndim = force(walk, given["a"]).ndim
    axes = _ints(walk, [given["axis1"], given["axis2"]])
    if axes is None:
        raise walk.doubt("swaps axes that are not known beforehand")
    order = list(range(ndim))
    i, j = axes[0] % ndim, axes[1] % ndim
    order[i], order[j] = order[j], order[i]
    return shaping.transposed(walk, given["a"], order)


@function(np.expand_dims, names="a axis")
def _expand_dims(walk: Walk, given: Given_) -> str:
    ndim = force(walk, given["a"]).ndim
    axes = _ints(walk, [given["axis"]])
    if axes is None or len(axes) != 1:
        raise walk.doubt("adds an axis that is not known beforehand")
    return shaping.expand(walk, given["a"], axes[0] % (ndim + 1))


@function(np.flip, names="m axis")
def _flip(walk: Walk, given: Given_) -> str:
    ndim = force(walk, given["m"]).ndim
    axes = reductions.axes_of(walk, given.get("axis"), ndim)
    return shaping.flipped(walk, given["m"], range(ndim) if axes is None else axes)


@function(np.fliplr, names="m")
def _fliplr(walk: Walk, given: Given_) -> str:
    return shaping.flipped(walk, given["m"], [1])


@function(np.flipud, names="m")
def _flipud(walk: Walk, given: Given_) -> str:
    return shaping.flipped(walk, given["m"], [0])


# ---- products


@function(np.dot, names="a b", of="a b", method="dot")
def _dot(walk: Walk, given: Given_) -> str:
    return products.dot(walk, given["a"], given["b"])


@before(np.matmul)
def _matmul(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    if len(args) != 2 or set(words) - {"out"}:
        return False
    names = [making.array_of(walk, name, None) for name in args]
    return walk.give_name(op, into(walk, products.matmul(walk, *names), words.get("out")))


@function(np.outer, names="a b", of="a b")
def _outer(walk: Walk, given: Given_) -> str:
    a, b = (_ravel(walk, {"a": given[word]}) for word in ("a", "b"))
    return apply(walk, np.multiply, [shaping.expand(walk, a, 1), shaping.expand(walk, b, 0)])


@function(np.inner, names="a b", of="a b")
def _inner(walk: Walk, given: Given_) -> str:
    if any(force(walk, given[word]).ndim != 1 for word in ("a", "b")):
        raise walk.doubt("np.inner of matrices")
    return products.matmul(walk, given["a"], given["b"])
