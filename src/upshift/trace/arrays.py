"""Follows what a function does with arrays. Writes make new values, so that every step of the tree is a value.

A lane array knows its storage and the calls by which it is seen from there. A write through any view is one step, which
makes the storage's next value; views are read again when they are next used. So the tree holds no memory and no order
of writes, and a gear may do in place what nobody else looks at.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..columns.forms import Form, flatten, parts
from ..columns.kinds import bundle_kind, kind_of, kind_of_value
from ..columns.layout import copy_as_it_lies
from ..errors import Untraceable
from ..libraries import method_acting
from ..rules.arrays import Put, Seen, Slot, flat_results, lower_call, row_of
from ..rules.arrays.call import never
from ..rules.arrays.dynamic import AS_MADE, SIGNATURES, Each, Item, Unpack, signature_of
from ..rules.arrays.elementwise import OPERATORS
from ..rules.arrays.images import is_foreign
from ..rules.conversions import larger, smaller
from .lane import Lane, LaneArray, Storage, is_lane
from .names import UfuncMethod, applied, user_line
from .tree import Const
from .words import FACTS, METHODS, OWN_METHODS, PROPERTIES, SPECIAL, STATIC, Flat, true

Function = Callable[..., Any]


class Arrays:
    """Records what one trace does with arrays."""

    def __init__(self, trace: Any) -> None:
        self.trace = trace

    # ---- lane arrays

    def of_element(self, value: Any, id: int) -> LaneArray:
        """An element's array: a copy, since the function may write into it."""
        own = copy_as_it_lies(value)
        return LaneArray(own, self.trace, Storage(own, id, uniform=False))

    def captured(self, value: Any, id: int) -> LaneArray:
        """A captured array: the same for all lanes, and not to be written to."""
        return LaneArray(value, self.trace, Storage(value, id, uniform=True, captured=True))

    def _fresh(self, value: Any, id: int, uniform: bool) -> Any:
        if kind_of(value) is not None:
            return Lane(value, id, self.trace, uniform)
        own = value if value.base is None else np.array(value)
        return LaneArray(own, self.trace, Storage(own, id, uniform))

    def read_again(self, view: LaneArray) -> int:
        """The id of a view whose storage was written to since it was last read."""
        if view._up_path is None:
            raise Untraceable("writes into an array that a part chosen by data was taken of", where=user_line())
        storage = view._up_storage
        current: Any = LaneArray(storage.value, self.trace, storage)
        value = storage.value
        for seen in view._up_path:
            leaves = (current, *(leaf.value for leaf in seen.leaves))
            value = seen.of(value)
            id = self._step(seen.fn, seen.form, leaves, value, storage.uniform)
            current = LaneArray(value, self.trace, storage, view._up_path, id)
        return int(current._up_key)

    # ---- calls

    def call(self, fn: Function, args: Any, keywords: dict[str, Any]) -> Any:
        """A call with arrays among its arguments, or one that makes arrays."""
        self.trace._alive()
        if fn in SPECIAL:
            return SPECIAL[fn](self, *args, **keywords)
        if fn in STATIC:
            return fn(*(true(a) for a in args), **{name: true(value) for name, value in keywords.items()})
        names = _from_out_on(fn)
        if names and len(args) > names[0]:
            args, keywords = args[: names[0]], {**keywords, **dict(zip(names[1], args[names[0] :], strict=False))}
        if keywords.get("out") is not None:
            return self._into(fn, args, dict(keywords))
        keywords = {name: value for name, value in keywords.items() if name != "out"}
        return self._recorded(fn, tuple(args), keywords)

    def ufunc(self, ufunc: np.ufunc, method: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What `__array_ufunc__` asks for."""
        out = keywords.pop("out", None)
        if out is not None:
            keywords["out"] = out[0] if len(out) == 1 else out
        if method == "at":
            return self._at(ufunc, *args)
        return self.call(ufunc if method == "__call__" else UfuncMethod.of(ufunc, method), args, keywords)

    def _recorded(self, fn: Function, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if fn in OPERATORS or isinstance(fn, np.ufunc):
            kinds = tuple(kind_of_value(true(a)) for a in args)
            args, _ = self.trace._cast_weak(fn, args, kinds)
        form, leaves = flatten((args, keywords))
        if any(_is_python_function(leaf) for leaf in leaves):
            raise Untraceable(f"gives a function to {getattr(fn, '__name__', fn)}", where=user_line())
        plain = applied(fn, form)
        lanes = [leaf for leaf in leaves if is_lane(leaf)]
        before = [np.copy(true(lane)) for lane in lanes] if is_foreign(fn) else []
        try:
            value = plain(*map(true, leaves))
        except Exception as error:
            if not lanes:
                raise
            raise self.trace._leaves(f"{type(error).__name__} in {fn}") from error
        if not all(map(_is_unchanged, lanes, before)):
            raise Untraceable(f"{getattr(fn, '__name__', fn)} writes into its argument", where=user_line())
        return self._made(fn, form, tuple(leaves), value, all(lane._up_uniform for lane in lanes))

    def _made(self, fn: Function, form: Form, leaves: tuple[Any, ...], value: Any, uniform: bool) -> Any:
        """A call's results as lane values: numbers, arrays, views, or several of them."""
        whole, found = flatten(value)
        kinds = [kind_of_value(one) for one in found]
        if None in kinds:
            if uniform and not any(isinstance(one, np.ndarray) for one in found):
                return value if not any(is_lane(leaf) for leaf in leaves) else self._refuse(fn, value)
            return self._refuse(fn, value)
        if whole.cls is None:
            for leaf in leaves:
                if type(leaf) is LaneArray and leaf._up_value is value:
                    return leaf
            id = self._step(fn, form, leaves, value, uniform)
            return self._wrapped(fn, form, leaves, value, id, uniform)
        bundle = self._step(fn, form, leaves, value, uniform)
        made = []
        for j, one in enumerate(found):
            id = self._pick(bundle, value, j, one, uniform)
            made.append(self._wrapped(None, form, leaves, one, id, uniform))
        return whole.build(iter(made))

    def _refuse(self, fn: Function, value: Any) -> Any:
        name = getattr(fn, "__name__", str(fn))
        raise Untraceable(f"{name} gives a {type(value).__name__}, not numbers", where=user_line())

    def _wrapped(self, fn: Any, form: Form, leaves: tuple[Any, ...], value: Any, id: int, uniform: bool) -> Any:
        if kind_of(value) is not None:
            return Lane(value, id, self.trace, uniform)
        owner = next((leaf for leaf in leaves if type(leaf) is LaneArray and _is_view(value, leaf)), None)
        if owner is None:
            return self._fresh(value, id, uniform)
        path = None
        known = fn is not None and leaves[0] is owner and not any(is_lane(leaf) for leaf in leaves[1:])
        row = row_of(fn) if known else None
        known = row is not None and row.rule is not never  # else it may have looked at the data to choose its part
        if known and owner._up_path is not None:
            kind = kind_of_value(value)
            assert kind is not None
            path = (*owner._up_path, Seen(fn, form, tuple(map(Const, leaves[1:])), kind))
        return LaneArray(value, self.trace, owner._up_storage, path, id)

    def _step(self, fn: Function, form: Form, leaves: tuple[Any, ...], value: Any, uniform: bool) -> int:
        """One step for a call whose true value is known; its id."""
        trace = self.trace
        plain = applied(fn, form)
        found = flat_results(value)
        makes = tuple(kind_of_value(one) for one in found)
        several = parts(value) is not None
        kind = bundle_kind(makes) if several else makes[0]
        kinds = tuple(kind_of_value(true(leaf)) for leaf in leaves)
        if uniform:
            return int(trace._write(plain, leaves, kinds, kind, None))
        slots = tuple(
            Slot(i, kind_of_value(leaf._up_value), not leaf._up_uniform) if is_lane(leaf) else leaf  # type: ignore[arg-type]
            for i, leaf in enumerate(leaves)
        )
        layouts = tuple(leaf._up_value.strides if type(leaf) is LaneArray else None for leaf in leaves)
        op = lower_call(fn, form, slots, plain, makes, several, layouts)  # type: ignore[arg-type]
        if op is not None:
            return int(trace._write(plain, leaves, kinds, kind, op))
        return self._each(plain, leaves, slots, kinds, value, kind, layouts)

    def _each(self, plain: Function, leaves: Any, slots: Any, kinds: Any, value: Any, kind: Any, layouts: Any) -> int:
        """A call without a rule: made for every lane; lanes go on together where they made the same kind of things."""
        trace = self.trace
        lanes = tuple(isinstance(slot, Slot) and slot.lane for slot in slots)
        objects = trace._write(plain, leaves, kinds, AS_MADE, Each.of(plain, lanes, kinds, layouts))
        held = Lane(value, objects, trace)
        signature = Lane(
            signature_of(value), trace._write(signature_of, (held,), (AS_MADE,), kind_of(0), SIGNATURES), trace
        )
        trace.pin(signature)
        unpack = Unpack.of(kind)
        return int(trace._write(unpack, (held,), (AS_MADE,), kind, unpack.op))

    def _pick(self, bundle: int, value: Any, j: int, one: Any, uniform: bool) -> int:
        item = Item.of(j)
        held = Lane(value, bundle, self.trace, uniform)
        kind = bundle_kind(tuple(map(kind_of_value, flat_results(value))))
        return int(self.trace._write(item, (held,), (kind,), kind_of_value(one), None if uniform else item.op))

    # ---- reading and writing parts

    def get_item(self, x: LaneArray, key: Any) -> Any:
        """Records `x[key]`: a view where NumPy would give one."""
        real = self._true_key(key)
        key = self._key(x, key)
        try:
            value = x._up_value[real]
        except Exception as error:
            if not _has_lanes((x, key)):
                raise
            raise self.trace._leaves(f"{type(error).__name__} in an index") from error
        form, leaves = flatten(((x, key), {}))
        if any(type(leaf) is list for leaf in leaves):
            raise Untraceable("an index that is not numbers", where=user_line())
        uniform = all(leaf._up_uniform for leaf in leaves if is_lane(leaf))
        return self._made(operator.getitem, form, tuple(leaves), value, uniform)

    def set_item(self, x: LaneArray, key: Any, value: Any) -> None:
        """Records `x[key] = value`: all views of the same memory are new values from here on."""
        storage, path = x._up_storage, x._up_path
        if storage.captured:
            self.trace.refuse_write("writes into a captured array")
        if path is None:
            raise Untraceable("writes through a view that data chose", where=user_line())
        if isinstance(value, list | tuple):
            value = self.call(np.array, (value,), {"dtype": x._up_value.dtype})
        elif type(value) is np.ndarray:
            value = value.copy()
        real = self._true_key(key)
        key = self._key(x, key)
        base = LaneArray(storage.value, self.trace, storage)
        put = Put.of(path)
        form, leaves = flatten(((base, value, key), {}))
        uniform = all(leaf._up_uniform for leaf in leaves if is_lane(leaf))
        for leaf in leaves:
            if is_lane(leaf):
                leaf._up_id  # noqa: B018 - views are read as they are before the write
        try:
            x._up_value[real] = true(value)
        except Exception as error:
            if uniform:
                raise
            raise self.trace._leaves(f"{type(error).__name__} in a write") from error
        storage.id = self._step(put, form, tuple(leaves), storage.value, uniform)
        storage.uniform = uniform
        storage.version += 1

    def _true_key(self, key: Any) -> Any:
        if type(key) is tuple:
            return tuple(self._true_key(item) for item in key)
        if type(key) is list:
            return [self._true_key(item) for item in key]
        if isinstance(key, slice):
            return slice(*(true(part) for part in (key.start, key.stop, key.step)))
        return true(key)

    def _key(self, x: LaneArray, key: Any) -> Any:
        """A key whose lanes are ints and arrays of ints, or masks that pick equally many in every lane."""
        if type(key) is not tuple:
            return self._item(x._up_value.shape, 0, key)
        axes = sum(item is not None and item is not Ellipsis for item in key)
        made, axis = [], 0
        for item in key:
            made.append(self._item(x._up_value.shape, axis, item))
            if item is Ellipsis:
                axis += x._up_value.ndim - axes
            elif item is not None:
                axis += max(np.ndim(true(item)), 1) if _is_mask(true(item)) else 1
        return tuple(made)

    def _item(self, shape: tuple[int, ...], axis: int, item: Any) -> Any:
        if isinstance(item, slice):
            return self._slice(shape[axis] if axis < len(shape) else 0, item)
        if type(item) is list and _has_lanes(item):
            item = self.call(np.array, (item,), {})
        if is_lane(item):
            value = item._up_value
            if isinstance(value, bool | np.bool_):
                return self.trace.decide_truth(item)
            if isinstance(value, np.ndarray) and value.dtype == bool and value.ndim and not item._up_uniform:
                self.trace.pin(self.call(np.count_nonzero, (item,), {}))
            if isinstance(value, np.ndarray) and not value.ndim:
                return item.item()
        return item

    def _slice(self, size: int, key: slice) -> Any:
        """`start:stop` with lane values: where it starts may differ between lanes, how long it is may not."""
        parts = (key.start, key.stop, key.step)
        if not any(is_lane(part) for part in parts):
            return key
        if is_lane(key.step) or key.step not in (None, 1):
            return slice(*(self.trace.pin(part) if is_lane(part) else part for part in parts))
        start = self._edge(0 if key.start is None else key.start, size)
        stop = self._edge(size if key.stop is None else key.stop, size)
        length = stop - start
        length = max(int(self.trace.pin(length)) if is_lane(length) else int(length), 0)
        if not is_lane(start):
            return slice(start, start + length)
        return self.call(np.arange, (length,), {}) + start

    def _edge(self, edge: Any, size: int) -> Any:
        if edge < 0:
            edge = edge + size
        if not is_lane(edge):
            return max(min(edge, size), 0)
        return self.trace.record(larger, (self.trace.record(smaller, (edge, size)), 0))

    # ---- writing by other words

    def in_place(self, fn: Function, x: LaneArray, other: Any) -> Any:
        """`x += other`: computed as for a new array, then written into the old one."""
        if type(other) is np.ndarray:
            other = other.copy()
        made = self.call(fn, (x, other), {})
        return self._assigned(x, made)

    def _assigned(self, x: LaneArray, made: Any) -> LaneArray:
        value, target = true(made), x._up_value
        if not np.can_cast(np.asarray(value).dtype, target.dtype, "same_kind"):
            np.add(target, value, out=target)  # raises as NumPy does
        if np.broadcast_shapes(np.shape(value), target.shape) != target.shape:
            raise ValueError("non-broadcastable output operand")
        self.set_item(x, Ellipsis, made)
        return x

    def _into(self, fn: Function, args: Any, keywords: dict[str, Any]) -> Any:
        """`out=`: computed as for a new array, then written into the one that was given."""
        out = keywords.pop("out")
        where = keywords.pop("where", True) if isinstance(fn, np.ufunc) else True  # a reduction's is about its input
        if type(out) is not LaneArray:
            raise Untraceable("writes into an array by out=", where=user_line())
        made = self.call(fn, args, keywords)
        if where is not True:
            made = self.call(np.where, (where, made, out), {})
        return self._assigned(out, made)

    def _at(self, ufunc: np.ufunc, x: LaneArray, key: Any, *operand: Any) -> None:
        """`np.add.at(x, key, value)`."""
        made = self.call(UfuncMethod.of(ufunc, "at"), (x, self._key(x, key), *operand), {})
        self.set_item(x, Ellipsis, made)

    # ---- attributes and methods

    def attribute(self, x: LaneArray, name: str) -> Any:
        """An attribute or a method of a lane's array."""
        if name in FACTS:
            return getattr(x._up_value, name)
        if name in PROPERTIES:
            return self.call(PROPERTIES[name], (x,), {})
        if name in METHODS:
            fn = METHODS[name]
            return lambda *args, **keywords: self.call(fn, (x, *args), keywords)
        if name in OWN_METHODS:
            method = OWN_METHODS[name]
            return lambda *args, **keywords: method(self, x, *args, **keywords)
        if name == "flat":
            return Flat(x)
        getattr(x._up_value, name)  # an AttributeError is the element's own
        if name.startswith("__array_"):  # NumPy asks everybody, and asks on
            raise AttributeError(name)
        raise Untraceable(method_acting(name) or f"uses .{name} of an array", where=user_line())

    def set_attribute(self, x: LaneArray, name: str, value: Any) -> None:
        """Records a write to an attribute of a lane's array, such as `x.real = 0`."""
        if name == "flat":
            self.set_item(
                x, Ellipsis, self.call(np.reshape, (value, x._up_value.shape), {}) if is_lane(value) else value
            )
        elif name in ("real", "imag"):
            if name == "imag" and x._up_value.dtype.kind != "c":
                x._up_value.imag = 0  # raises as NumPy does
            self.attribute(x, name)[...] = value
        else:
            raise Untraceable(f"sets .{name} of an array", where=user_line())

    def truth(self, x: LaneArray) -> bool:
        """`bool(x)`: of one number only, as NumPy has it."""
        bool(x._up_value)
        return self.trace.decide_truth(self.call(np.any, (x,), {})) if x._up_value.size else False

    def item(self, x: LaneArray, *at: Any) -> Any:
        """`x.item()`: a Python number."""
        x._up_value.item(*map(true, at))  # raises as NumPy does
        if not at:
            one = self.call(np.reshape, (x, (-1,)), {})[0]
        elif len(at) == 1 and type(at[0]) is not tuple:
            one = self.call(np.reshape, (x, (-1,)), {})[at[0]]
        else:
            one = x[at[0] if len(at) == 1 else at]
        return self.python_number(one)

    def python_number(self, number: Any) -> Any:
        """A NumPy number as Python's own."""
        if not is_lane(number):
            return number.item()
        kind = number._up_value.dtype.kind
        convert = {"b": bool, "i": int, "u": int, "f": float, "c": complex}.get(kind)
        if convert is None:
            raise Untraceable("makes a Python date of a NumPy one", where=user_line())
        return self.trace.record(convert, (number,))

    def scalar(self, cls: Any, x: Any) -> Any:
        """`np.float32(x)` of an array: an array of that dtype, a number where it is 0-d."""
        made = self.call(np.astype, (x, np.dtype(cls)), {})
        return made[()] if not true(made).ndim else made

    def tolist(self, x: LaneArray) -> Any:
        """`x.tolist()`: nested lists of lane values."""
        if x._up_value.ndim == 0:
            return self.item(x)
        return [self.tolist(row) if type(row) is LaneArray else self.python_number(row) for row in x]

    def pin(self, x: Any) -> Any:
        raise Untraceable("hands an array to code that Upshift cannot see into", where=user_line())


def _has_lanes(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_lanes, value))
    return is_lane(value)


@functools.lru_cache(maxsize=1024)
def _from_out_on(fn: Any) -> tuple[int, list[str]] | None:
    """Where among its arguments a function takes `out`, and the names from there on."""
    try:
        names = [p.name for p in inspect.signature(fn).parameters.values() if p.kind <= p.POSITIONAL_OR_KEYWORD]
    except (TypeError, ValueError):
        return None
    return (names.index("out"), names[names.index("out") :]) if "out" in names else None


def _is_python_function(leaf: Any) -> bool:
    """Whether this would be called by code that Upshift cannot see into."""
    return isinstance(leaf, types.FunctionType | types.MethodType | types.LambdaType)


def _is_mask(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.dtype.kind == "b"


def _is_unchanged(lane: Any, before: Any) -> bool:
    """Whether another library's function has left an argument alone."""
    return bool(true(lane) is before or np.array_equal(true(lane), before, equal_nan=before.dtype.kind in "fc"))


def _is_view(value: Any, lane: LaneArray) -> bool:
    return bool(value.size) and bool(np.may_share_memory(value, lane._up_storage.value))
