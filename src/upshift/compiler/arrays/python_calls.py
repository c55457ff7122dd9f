"""Functions of NumPy's that have no row: machine code calls them in Python for that one step, and goes on from there.

`np.einsum("ij,jk->ik", a, b)` inside a loop does not keep the loop from being compiled. Arguments are shown to Python
where they lie; results are copied. Their kinds are found out beforehand, by a call with small arrays of such dtypes. A
call that raises, warns, or gives something of another kind leaves the lane.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import operator
from collections.abc import Callable, Iterator
from types import EllipsisType
from typing import Any

import numpy as np

from ..calls import FALLBACKS, Given, Words
from ..check import Walk
from ..code import Op
from ..kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMPY,
    Array,
    Fused,
    Kind,
    List,
    Literal,
    Scalar,
    Slice,
    Static,
    Tuple,
)
from ..rows import arrays
from ..rows.memory import NO_MEMORY
from ..rows.nests import SETTINGS
from ..rows.numbers import base, is_numpy_number
from ..values import constant, item_of_tuple, tuple_of
from ..write import INTERRUPTED
from .elementwise import force, force_all, new_kind

ALIGNED, WRITEABLE = 0x100, 0x400
"""NumPy's flags of an array."""
NEW_ARRAY, NEW_SCALAR, SET_BASE = 93, 60, 282
"""Where `PyArray_New`, `PyArray_Scalar` and `PyArray_SetBaseObject` stand in the table of NumPy's C functions."""


def _named(home: Any, names: str) -> list[Any]:
    return [getattr(home, name) for name in names.split() if hasattr(home, name)]


PURE: dict[Any, str] = {
    fn: fn.__name__
    for fn in [
        *_named(np, """
            einsum tensordot kron vdot interp digitize gradient trapezoid percentile quantile median average unique
            sort argsort partition argpartition lexsort searchsorted isin intersect1d union1d setdiff1d setxor1d select
            choose compress extract take take_along_axis repeat tile roll pad concatenate stack vstack hstack dstack
            column_stack block append insert delete tril triu tri vander diagflat histogram histogram2d
            histogram_bin_edges bincount corrcoef cov correlate convolve cumsum cumprod argmax argmin clip where nonzero
            argwhere flatnonzero count_nonzero diff ediff1d cross inner outer dot matmul poly polyval polyadd polymul
            polysub polyder polyint roots i0 sinc unwrap angle blackman hanning hamming bartlett kaiser indices meshgrid
            triu_indices tril_indices diag_indices logspace geomspace linspace arange eye packbits unpackbits isclose
            allclose array_equal ptp any all sum prod max min mean std var amax amin around round fix nan_to_num nansum
            nanprod nancumsum nanargmax nanargmin array full zeros ones full_like zeros_like ones_like cumulative_sum
            cumulative_prod vecdot matvec vecmat trace resize apply_over_axes tril_indices_from triu_indices_from
            bitwise_count unravel_index ravel_multi_index"""),
        *_named(np.linalg, """
            qr svd eig eigvals eigh eigvalsh lstsq pinv matrix_rank matrix_power slogdet cond norm multi_dot det inv
            solve tensorsolve tensorinv cholesky svdvals matrix_norm vector_norm"""),
        *_named(np.fft, """
            fft ifft rfft irfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift
            ifftshift"""),
    ]
}  # fmt: skip
"""Functions that do nothing but compute, warn of nothing but arithmetic, and give arrays of their own."""
SPREAD = frozenset(_named(np, "cov corrcoef mean std var median average quantile percentile"))
"""Functions that warn, in words of their own, where there is too little to compute from."""
WRITING: dict[Any, str] = {
    fn: fn.__name__ for fn in _named(np, "fill_diagonal put place putmask copyto put_along_axis")
}
"""Functions that write into their first argument, and give nothing."""
METHODS = frozenset("""
    argsort take cumsum cumprod argmax argmin repeat searchsorted argpartition round clip dot sum prod max min mean std
    var any all nonzero compress choose trace copy flatten astype
""".split())  # fmt: skip
WRITING_METHODS = frozenset("sort partition put fill".split())
_OF_UFUNCS = frozenset(("reduce", "accumulate", "reduceat", "outer"))


def _callee(value: Any) -> tuple[str, bool] | None:
    """A name for a function that may be called in Python, and whether it writes into its first argument."""
    if isinstance(value, np.ufunc):
        return value.__name__, False
    own: Any = getattr(value, "__self__", None)
    word = getattr(value, "__name__", "")
    home = getattr(own, "__name__", "")
    if isinstance(own, np.ufunc) and getattr(np, home, None) is own and word in (*_OF_UFUNCS, "at"):
        return f"{home}.{word}", word == "at"
    try:
        if value in PURE:
            return PURE[value], False
        return (WRITING[value], True) if value in WRITING else None
    except TypeError:  # not hashable
        return None


# ---- arguments


class Template:
    """How arguments are put together again from the values that come from machine code."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.names: list[str] = []
        """The variables that hold those values."""

    def take(self, name: str) -> Any:
        """One argument: a value that is known, the position of one that is not, or several of these."""
        walk = self.walk
        kind = walk.env[name]
        if isinstance(kind, Fused):
            kind = force(walk, name)
        if kind is NONE:
            return "known", None
        if isinstance(kind, Literal | Static):
            if not isinstance(kind.value, int | float | complex | str | np.dtype | type | EllipsisType):
                raise walk.doubt(f"passes {kind!r} to Python")
            return "known", kind.value
        if isinstance(kind, Tuple | Slice):
            word = "slice" if isinstance(kind, Slice) else "tuple"
            if isinstance(kind, Tuple) and kind.cls is not None:
                raise walk.doubt(f"passes {kind!r} to Python")
            return word, tuple(self.take(item_of_tuple(walk, name, i)) for i in range(len(kind.items)))
        if isinstance(kind, List) and walk.displays.get(name) is not None:
            return "list", tuple(self.take(one) for one in walk.displays[name])
        if not (isinstance(kind, Array) or base(kind) in _BOXES or is_numpy_number(kind)):
            raise walk.doubt(f"passes {kind!r} to Python")
        self.names.append(name)
        return "given", len(self.names) - 1


def _together(part: Any, values: Any) -> Any:
    word, inside = part
    if word == "known":
        return inside
    if word == "given":
        return values[inside]
    made = [_together(one, values) for one in inside]
    return made if word == "list" else tuple(made) if word == "tuple" else slice(*made)


def _sample(kind: Kind, size: int) -> Any:
    """A value of a kind, to see what a function makes of it."""
    if isinstance(kind, Array):
        count = size**kind.ndim
        made = (np.arange(count) * 7 % 5 / 3 + 0.25).reshape((size,) * kind.ndim)
        if kind.ndim > 1:
            made = made + 3 * np.eye(size)
        if kind.dtype.kind in "biu":
            made = np.arange(count).reshape(made.shape) % 2
        return made.astype(kind.dtype)
    if is_numpy_number(kind):
        return kind.dtype.type(1)  # type: ignore[attr-defined]
    return _PYTHONS[base(kind)](1)


SIZES = (3, 4, 7)
"""Lengths of the axes of the arrays with which a function is tried."""


def _shown(fn: Any, parts: Any, words: Any, kinds: list[Kind]) -> Any:
    """The form of what a function gives for such arguments; None where it is not known."""
    found: set[Any] = set()
    for size in SIZES:
        values = [_sample(kind, size) for kind in kinds]
        try:
            with np.errstate(all="ignore"):
                made = fn(
                    *(_together(part, values) for part in parts),
                    **{word: _together(part, values) for word, part in words.items()},
                )
        except Exception:  # arrays of these lengths do not go together
            continue
        if any(np.may_share_memory(x, y) for x in _arrays_in(made) for y in values if isinstance(y, np.ndarray)):
            return None
        found.add(_form(made))
    return found.pop() if len(found) == 1 else None


def _arrays_in(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for item in value:
            yield from _arrays_in(item)
    elif isinstance(value, np.ndarray):
        yield value


def _form(value: Any) -> Any:
    """What is known of a result beforehand: dtypes and axes of arrays, classes of numbers."""
    cls = type(value)
    if isinstance(value, tuple) and (cls is tuple or hasattr(cls, "_fields")):
        return "tuple", cls, tuple(map(_form, value))
    if cls is np.ndarray and value.ndim and value.dtype in NUMPY and value.dtype.isnative:
        order = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else None
        return ("array", value.dtype, value.ndim, order) if order is not None else None
    if cls in _LEAVES:
        return "number", cls, None
    return ("none", None, None) if value is None else None


_PYTHONS: dict[Any, Any] = {BOOL: bool, INT: int, FLOAT: float, COMPLEX: complex}
_LEAVES: dict[type, Any] = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}
_LEAVES.update({kind.cls: kind.cls for kind in NUMPY.values()})
"""Classes of numbers in results, and those that they are handed over as."""


def _is_known(form: Any) -> bool:
    if form is None:
        return False
    return form[0] != "tuple" or all(map(_is_known, form[2]))


def _flat(form: Any, value: Any, made: list[Any]) -> bool:
    """The arrays and numbers in a result, one behind the other; False where it is of another form."""
    if form[0] == "tuple":
        if type(value) is not form[1] or len(value) != len(form[2]):
            return False
        return all(_flat(one, item, made) for one, item in zip(form[2], value))
    if form[0] == "array":
        _, dtype, ndim, order = form
        if type(value) is not np.ndarray or value.dtype != dtype or value.ndim != ndim:
            return False
        made.append(value)
        return bool(value.flags.c_contiguous if order == "C" else value.flags.f_contiguous)
    if form[0] == "number":
        made.append(_LEAVES[form[1]](value))
        return type(value) is form[1]
    return value is None


# ---- the call in Python


@functools.lru_cache(maxsize=64)
def _raising(settings: Any) -> Any:
    """NumPy's settings with which it raises where it would warn."""
    with np.errstate(**{word: "ignore" if way == "ignore" else "raise" for word, way in np.geterr().items()}):  # type: ignore[arg-type]
        return SETTINGS.get()


class Step:
    """One function of NumPy's with what is known of its arguments and results: called from machine code."""

    def __init__(self, fn: Any, parts: Any, words: Any, form: Any) -> None:
        self.fn, self.parts, self.words, self.form = fn, parts, words, form
        self.least = 2 if fn in SPREAD or getattr(fn, "__name__", "") in ("mean", "std", "var") else 0
        """The least length of an axis with which nothing is warned of."""

    def __call__(self, *values: Any) -> Any:
        """The arrays and numbers that the function gives; None where the lane is to be left."""
        if any(min(value.shape) < self.least for value in values if type(value) is np.ndarray):
            return None
        token = SETTINGS.set(_raising(SETTINGS.get()))
        try:
            made = self.fn(
                *[_together(part, values) for part in self.parts],
                **{word: _together(part, values) for word, part in self.words.items()},
            )
        except Exception:  # the plain function will raise it
            return None
        finally:
            SETTINGS.reset(token)
        found: list[Any] = []
        return tuple(found) if _flat(self.form, made, found) else None


_STEPS: dict[str, Step] = {}
"""All that was made, by their names in machine code, which refers to them for good."""


def _step(callee: str, fn: Any, parts: Any, words: Any, form: Any) -> str:
    text = repr((callee, parts, sorted(words.items()), form))
    name = f"up_step_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    _STEPS.setdefault(name, Step(fn, parts, words, form))
    return name


# ---- how machine code calls it


@functools.cache
def numpy_function(index: int) -> int:
    """The address of one of NumPy's C functions."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = get(np._core._multiarray_umath._ARRAY_API, None)  # type: ignore[attr-defined]
    return ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[index] or 0


_DECLARED = {
    "PyGILState_Ensure": "i32 ()", "PyGILState_Release": "void (i32)", "PyErr_Clear": "void ()",
    "PyObject_Vectorcall": "ptr (ptr, ptr, i64, ptr)", "Py_DecRef": "void (ptr)",
    "PyFloat_FromDouble": "ptr (double)", "PyLong_FromLongLong": "ptr (i64)", "PyBool_FromLong": "ptr (i64)",
    "PyComplex_FromDoubles": "ptr (double, double)",
    "new_array": "ptr (ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)", "new_scalar": "ptr (ptr, ptr, ptr)",
}  # fmt: skip


def _call(w: Any, name: str, *given: str) -> str:
    """The result of a C function of Python's or NumPy's, under a name of our own."""
    result, _, rest = _DECLARED[name].partition(" ")
    own = f"up_step_{name}"
    if own not in w.module.symbols:
        index = {"new_array": NEW_ARRAY, "new_scalar": NEW_SCALAR}.get(name)
        pointer = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value if index is None else None
        w.module.symbols[own] = pointer or numpy_function(index or 0)
        w.module.declare(f"@{own}", f"declare {result} @{own}{rest}")
    types = [part.strip() for part in rest.strip("()").split(",") if part.strip()]
    text = f"call {result} @{own}({', '.join(f'{ll} {x}' for ll, x in zip(types, given, strict=True))})"
    if result == "void":
        w.do(text)
        return ""
    return str(w.new(text))


def _object(w: Any, name: str, thing: Any) -> str:
    """The address of a Python object that lives for good."""
    w.module.symbols[name] = id(thing)
    w.module.declare(f"@{name}", f"@{name} = external global i8")
    return f"@{name}"


def _at(w: Any, pointer: str, offset: int, ll: str) -> str:
    return str(w.new(f"load {ll}, ptr {w.new(f'getelementptr i8, ptr {pointer}, i64 {offset}')}"))


_BOXES: dict[Any, Callable[[Any, str], str]] = {
    FLOAT: lambda w, x: _call(w, "PyFloat_FromDouble", x),
    INT: lambda w, x: _call(w, "PyLong_FromLongLong", x),
    BOOL: lambda w, x: _call(w, "PyBool_FromLong", w.new(f"zext i1 {x} to i64")),
    COMPLEX: lambda w, x: _call(
        w, "PyComplex_FromDoubles", w.extract("{ double, double }", x, 0), w.extract("{ double, double }", x, 1)
    ),
}
"""How Python's own numbers are made."""


def _boxed(w: Any, kind: Kind, x: str, flags: int) -> str:
    """A Python object of a value; an array stays where it is."""
    if isinstance(kind, Array):
        shape, strides = (w.local(f"[{kind.ndim} x i64]") for _ in range(2))
        for room, words in ((shape, arrays.shape_of(w, kind, x)), (strides, arrays.strides_of(w, kind, x))):
            for i, word in enumerate(words):
                w.do(f"store i64 {word}, ptr {w.new(f'getelementptr i64, ptr {room}, i64 {i}')}")
        return _call(
            w, "new_array", _object(w, "up_step_ndarray", np.ndarray), str(kind.ndim), shape, str(kind.dtype.num),
            strides, arrays.data(w, kind, x), "0", str(flags), "null",
        )  # fmt: skip
    plain = _BOXES.get(base(kind))
    if plain is not None:
        return plain(w, x)
    dtype = kind.dtype  # type: ignore[attr-defined]
    room = w.local(arrays.item_ll(dtype))
    arrays.store(w, dtype, room, x)
    return _call(w, "new_scalar", room, _object(w, f"up_step_dtype_{dtype.num}", dtype), "null")


def _kinds_of(walk: Walk, form: Any) -> list[Kind]:
    """The kinds of the arrays and numbers in a result."""
    if form[0] == "tuple":
        return [kind for one in form[2] for kind in _kinds_of(walk, one)]
    if form[0] == "array":
        walk.made += 1
        made = new_kind(walk, form[1], form[2])
        return [made if form[3] == "C" else Array(made.dtype, made.ndim, made.cell, turned=True)]
    if form[0] == "number":
        own: Kind | None = next((kind for kind, cls in _PYTHONS.items() if cls is form[1]), None)
        return [own or NUMPY[np.dtype(form[1])]]
    return []


def _copied(w: Any, kind: Kind, item: str) -> tuple[str, str]:
    """A value out of a Python object, and whether there was memory for it."""
    if not isinstance(kind, Array):
        assert isinstance(kind, Scalar)
        if kind.ll == "i1":
            return str(w.new(f"icmp ne i8 {_at(w, item, 16, 'i8')}, 0")), "true"
        return _at(w, item, 16, kind.ll or ""), "true"
    shape, strides = _at(w, item, 32, "ptr"), _at(w, item, 40, "ptr")
    lengths = [_at(w, shape, 8 * i, "i64") for i in range(kind.ndim)]
    steps = [_at(w, strides, 8 * i, "i64") for i in range(kind.ndim)]
    if kind.contiguous:
        steps = arrays.packed(w, kind.dtype, lengths)
    size = arrays.product(w, arrays.count(w, lengths), str(kind.dtype.itemsize))
    pointer = w.new(f"call ptr @up_alloc(ptr %context, i64 {size})")
    some = w.new(f"icmp ne ptr {pointer}, null")
    w.do(
        f"call void @llvm.memcpy.p0.p0.i64(ptr {pointer}, ptr {_at(w, item, 16, 'ptr')}, "
        f"i64 {w.choose(some, 'i64', size, '0')}, i1 false)"
    )
    return arrays.put_together(w, kind, pointer, lengths, steps), some


def _emit(step: str, kinds: list[Kind], results: list[Kind], whole: Kind, writes: bool) -> Any:
    def emit(w: Any, *values: str) -> Any:
        state = _call(w, "PyGILState_Ensure")
        given = [
            _boxed(w, kind, x, ALIGNED | (WRITEABLE if writes and i == 0 else 0))
            for i, (kind, x) in enumerate(zip(kinds, values))
        ]
        made = arrays.all_of(w, [w.new(f"icmp ne ptr {one}, null") for one in given])
        _leave_unless(w, made, state, "PyErr_Clear", None)
        room = w.local(f"[{max(len(given), 1)} x ptr]")
        for i, one in enumerate(given):
            w.do(f"store ptr {one}, ptr {w.new(f'getelementptr ptr, ptr {room}, i64 {i}')}")
        fn = _object(w, step, _STEPS[step])
        found = _call(w, "PyObject_Vectorcall", fn, room, str(len(given)), "null")
        own = [w.new(f"icmp eq i64 {w.new(f'load i64, ptr {one}')}, 1")
               for one, kind in zip(given, kinds) if isinstance(kind, Array)]  # fmt: skip
        for one in given:
            _call(w, "Py_DecRef", one)
        _leave_unless(w, w.new(f"icmp ne ptr {found}, null"), state, None, INTERRUPTED)
        done = w.new(f"icmp ne ptr {found}, {_object(w, 'up_step_none', None)}")
        _leave_unless(w, arrays.all_of(w, [*own, done]), state, None, None, found)
        parts = [_copied(w, kind, _at(w, found, 24 + 8 * i, "ptr")) for i, kind in enumerate(results)]
        _call(w, "Py_DecRef", found)
        _call(w, "PyGILState_Release", state)
        w.leave_if(w.new(f"xor i1 {arrays.all_of(w, [flag for _, flag in parts])}, true"), None, NO_MEMORY)
        if isinstance(whole, Tuple):
            return w.build(whole.ll, *((kind.ll, x) for kind, (x, _) in zip(results, parts))) if parts else "undef"
        return parts[0][0] if parts else ""

    return emit


def _leave_unless(w: Any, flag: str, state: str, before: str | None, reason: str | None, held: str = "") -> None:
    """Leave the lane where a flag does not hold, without the interpreter's lock."""
    if flag == "true":
        return
    on, off = w.fresh("on"), w.fresh("off")
    w.do(f"br i1 {flag}, label %{on}, label %{off}, !prof !1")
    w.start(off)
    if before is not None:
        _call(w, before)
    if held:
        _call(w, "Py_DecRef", held)
    _call(w, "PyGILState_Release", state)
    w.leave(None, reason or "a function of NumPy's raises, warns, or gives something of another kind")
    w.start(on)


# ---- where it stands in for a row


def _in_python(walk: Walk, op: Op, fn: Any, callee: str, writes: bool, args: Given, words: Words) -> bool:
    """A call in Python, where that is known to work."""
    if not walk.unit.calls_python or SETTINGS is None:
        return False
    force_all(walk)
    template = Template(walk)
    parts = [template.take(name) for name in args]
    named = {word: template.take(name) for word, name in words.items()}
    kinds: list[Any] = [walk.env[name] for name in template.names]
    if not any(isinstance(kind, Array) for kind in kinds) or "out" in words:
        return False
    form = ("none", None, None) if writes else _shown(fn, parts, named, kinds)
    if not _is_known(form):
        return False
    if writes:
        if parts[0] != ("given", 0) or not isinstance(kinds[0], Array):
            return False
        walk.writes(kinds[0].cell)
    results = _kinds_of(walk, form)
    whole: Kind = results[0] if form[0] in ("array", "number") else Tuple(tuple(results)) if results else NONE
    step = _step(callee, fn, parts, named, form)
    made = walk.temporary(whole, _emit(step, kinds, results, whole, writes), *template.names)
    if form[0] == "tuple":
        made = _nested(walk, form, iter([item_of_tuple(walk, made, i) for i in range(len(results))]))
    elif form[0] == "none":
        made = walk.temporary(NONE, constant(NONE))
    return walk.give_name(op, made)


def _nested(walk: Walk, form: Any, leaves: Iterator[str]) -> str:
    if form[0] != "tuple":
        return next(leaves) if form[0] != "none" else walk.temporary(NONE, constant(NONE))
    return tuple_of(walk, [_nested(walk, one, leaves) for one in form[2]], None if form[1] is tuple else form[1])


def _of_function(walk: Walk, op: Op, value: Any, args: Given, words: Words) -> bool:
    found = _callee(value)
    return found is not None and _in_python(walk, op, value, *found, args, words)


def _of_method(walk: Walk, op: Op, name: str, args: Given, words: Words) -> bool:
    writes = name in WRITING_METHODS
    if not isinstance(walk.env[args[0]], Array | Fused) or not (writes or name in METHODS):
        return False
    return _in_python(walk, op, getattr(np.ndarray, name), f"ndarray.{name}", writes, args, words)


def _of_item(walk: Walk, op: Op, word: str, args: Given, words: Words) -> bool:
    fn = operator.getitem if word == "item" else operator.setitem
    return _in_python(walk, op, fn, word, word != "item", args, words)


FALLBACKS.update(function=_of_function, method=_of_method, item=_of_item)
