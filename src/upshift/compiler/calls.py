"""Calls: which function is meant, and what stands for it."""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .arguments import REST, Given, Words, coerce, spread, unpack_rest
from .captures import HEAP_TYPE, Home, literal_of
from .check import Defer, Leaves, Walk
from .classes import class_of
from .code import Op, Shape
from .follow import call_closure, call_function, new_generator, prelude, prelude_home, written
from .instances import (
    ATTRIBUTES,
    SPECIAL_METHODS,
    attribute,
    find_method,
    hide_own,
    is_ours,
    make_instance,
    read_field,
    read_static,
    refuse_acting,
)
from .kinds import (
    NONE,
    Array,
    Closure,
    Either,
    Fused,
    Kind,
    List,
    Method,
    New,
    Object,
    Partial,
    Refused,
    Static,
    Super,
    items_in,
    unify,
)
from .prelude.registry import FUNCTIONS, IMPLEMENTS, NAMED, F, registered
from .protocol import ASKED, asked_for, is_user_object
from .rows import memory
from .rows.numbers import safe
from .values import captured, constant, item_of_tuple, value_of_member, values_of_members

SPECIAL: dict[Any, Any] = {}
"""Functions that need more than a row: `f(walk, op, args, keywords)` says whether it was meant."""
STARRED: dict[Any, Any] = {}
"""Functions that can be given a list behind a star: `f(walk, op, args, rest, keywords)` says whether it was meant."""
ROWS: dict[Any, Any] = {}
"""Functions that are a row: kinds in, the kind of the result and how to write it out."""
FALLBACKS: dict[str, Any] = {}
"""How a function, method or index of NumPy's without a row is called in Python, where it may be."""
OTHERS: list[Any] = []
"""What else can be called: `f(walk, op, target, args, keywords)` says whether it was meant."""
KEEP_NEW: set[Any] = {isinstance, type, object.__setattr__}
"""Functions that an object that is being made can be passed to."""


def special(*originals: Any) -> Callable[[F], F]:
    """Registers what is done for a call of these functions: it sees operands by name, and may write several steps."""
    return registered(SPECIAL, originals)


def row(*originals: Any) -> Callable[[F], F]:
    """Registers a row for calls of these functions: from the kinds of operands to that of the result, and its IR."""
    return registered(ROWS, originals)


def give_literal(walk: Walk, op: Op, value: Any) -> bool:
    """The result of an operation is a value that is known."""
    made = literal_of(value)
    walk.give(op, made, constant(made))
    return True


def call(walk: Walk, op: Op, target: Kind, args: Given, shape: Shape, name: str) -> None:
    """`target(*args)`: arguments are full names, the last ones belong to the keywords of the shape."""
    positional, keywords = spread(walk, args, shape)
    if any(isinstance(walk.env[one], Either) for one in (*positional, *keywords.values())):
        return _call_by_kinds(walk, op, name, positional, keywords)
    return call_value(walk, op, target, name, positional, keywords)


def _call_by_kinds(walk: Walk, op: Op, fn: str, args: Given, keywords: Words) -> None:
    """A call with items of a tuple, which may be of several kinds: by way of a function whose arguments they are."""
    given = [f"x{i}" for i in range(len(args))]
    words = [word for word in keywords if word != REST]
    inner = [*given, *(["*rest"] if REST in keywords else []), *(f"{word}={word}" for word in words)]
    outer = ["f", *given, *(["rest"] if REST in keywords else []), *words]
    text = f"def called({', '.join(outer)}):\n    return f({', '.join(inner)})"
    rest = [keywords[REST]] if REST in keywords else []
    written(walk, op, text, [fn, *args, *rest, *(keywords[word] for word in words)])


def call_value(walk: Walk, op: Op, target: Kind, name: str, args: Given, keywords: Words) -> None:
    """A value that is called; `name` holds it."""
    if isinstance(target, Static):
        return call_static(walk, op, target, args, keywords)
    if isinstance(target, Closure):
        return call_closure(walk, op, target, name, args, keywords)
    if isinstance(target, Method):
        owner = walk.temporary(target.owner, safe(lambda w, v: v), name)
        return method(walk, op, owner, target.name, args, keywords)
    if isinstance(target, Partial):
        return _call_partial(walk, op, target, name, args, keywords)
    if isinstance(target, Object):
        return method(walk, op, name, "__call__", args, keywords)
    raise Leaves(TypeError, f"calls {target!r}")


def or_in_python(walk: Walk, op: Op, sort: str, value: Any, args: Given, words: Words, run: Callable[[], Any]) -> Any:
    """Do what `run` does; where there is no row for it, it is called in Python, as if nothing had been tried."""
    if not walk.unit.calls_python or REST in words:
        return run()
    doubts, steps = len(walk.unit.doubts), len(walk.steps)
    env, frame, block, at = dict(walk.env), walk.frame, walk.block, walk.at
    try:
        return run()
    except Leaves as leaves:
        found, told = leaves, walk.unit.doubts[doubts:]
    if found.cls is not None:
        raise found
    del walk.steps[steps:], walk.unit.doubts[doubts:]
    walk.env, walk.frame, walk.block, walk.at = dict(env), frame, block, at
    with contextlib.suppress(Leaves):
        if FALLBACKS[sort](walk, op, value, args, words):
            return True
    del walk.steps[steps:]
    walk.env = env
    walk.unit.doubts[doubts:] = told
    raise found


def _is_numpys(value: Any) -> bool:
    """Whether a function is one of NumPy's, or a method of one of its functions."""
    home = getattr(value, "__module__", None) or ""
    return home.partition(".")[0] == "numpy" or isinstance(getattr(value, "__self__", value), np.ufunc)


def call_static(walk: Walk, op: Op, target: Static, args: Given, keywords: Words) -> None:
    """A function or class that is known."""
    if not _is_numpys(target.value):
        return _call_known(walk, op, target, args, keywords)
    run = functools.partial(_call_known, walk, op, target, args, keywords)
    or_in_python(walk, op, "function", target.value, args, keywords, run)
    return None


def _call_known(walk: Walk, op: Op, target: Static, args: Given, keywords: Words) -> None:
    value = target.value
    try:
        special = SPECIAL.get(value)
    except TypeError:  # not hashable
        raise walk.doubt(f"calls {value!r}") from None
    refuse_acting(value)
    if not isinstance(value, types.FunctionType | type) and value not in KEEP_NEW:
        _complete(walk, args, keywords)
    if (
        REST in keywords
        and not isinstance(value, types.FunctionType)
        and _call_starred(walk, op, value, args, keywords)
    ):
        return None
    asked = ASKED.get(value, ()) if len(args) == 1 and not keywords else ()
    if asked and is_user_object(walk.env[args[0]]) and asked_for(walk, op, args[0], walk.env[args[0]], asked):
        return None
    if special is not None and REST not in keywords and special(walk, op, args, keywords):
        return None
    row = ROWS.get(value)
    if row is not None and not keywords and _takes(row, 1 + len(args)):
        given = values_of_members(walk, args)
        found = row(walk, *[walk.env[name] for name in given])
        if found is not None:
            return walk.give(op, found[0], found[1], *given)
    standing = IMPLEMENTS.get(value) or _named(value)
    if standing is not None:
        return call_function(walk, op, prelude_home(standing), args, keywords)
    if isinstance(value, types.FunctionType):
        if (target.path is None and not _is_prelude(value)) or _is_of_a_library(value):
            raise walk.doubt(f"calls {value.__name__}")
        return call_function(walk, op, Home(value, target.path), args, keywords)
    return _call_other(walk, op, target, args, keywords)


def _takes(row: Any, count: int) -> bool:
    """Whether a row is one for so many arguments."""
    most, default = row.__code__.co_argcount, len(row.__defaults__ or ())
    return bool(row.__code__.co_flags & inspect.CO_VARARGS and count >= most) or most - default <= count <= most


def _complete(walk: Walk, args: Given, keywords: Words) -> None:
    for name in (*args, *keywords.values()):
        kind = walk.env[name]
        if isinstance(kind, New):
            walk.complete(kind)


def _call_other(walk: Walk, op: Op, target: Static, args: Given, keywords: Words) -> None:
    """Something known that is neither a function of Python's own nor one of the user's."""
    value, path = target.value, target.path
    if isinstance(value, types.MethodType) and isinstance(value.__func__, types.FunctionType):
        owner = captured(walk, value.__self__, path and (*path, ("attr", "__self__")))
        home = Home(value.__func__, path and (*path, ("attr", "__func__")))
        return call_function(walk, op, home, [owner, *args], keywords)
    if isinstance(value, functools.partial):
        return _call_captured_partial(walk, op, target, args, keywords)
    if isinstance(value, types.MethodDescriptorType) and args and class_of(walk.env[args[0]]) is value.__objclass__:
        return method(walk, op, args[0], value.__name__, args[1:], keywords)  # `str.upper(s)`
    if hasattr(value, "cache_info") and isinstance(getattr(value, "__wrapped__", None), types.FunctionType):
        return _call_cached(walk, op, target, args, keywords)
    if isinstance(value, operator.itemgetter | operator.attrgetter | operator.methodcaller) and len(args) == 1:
        return written(walk, op, _getter(walk, value), args)
    if any(other(walk, op, target, args, keywords) for other in OTHERS):
        return None
    if isinstance(value, type):
        return make_instance(walk, op, target, args, keywords)
    if callable(value) and isinstance(type(value).__call__, types.FunctionType):
        own = types.MethodType(type(value).__call__, value)
        return call_static(walk, op, Static(own, path and (*path, ("attr", "__call__"))), args, keywords)
    raise walk.doubt(f"calls {getattr(value, '__qualname__', None) or value!r}")


def _named(fn: Any) -> types.FunctionType | None:
    """What stands for a function of a module that this one does not load."""
    home, name = getattr(fn, "__module__", None), getattr(fn, "__qualname__", None)
    found = NAMED.get((home, name)) if home is not None and name is not None else None
    return found if found is not None and getattr(sys.modules.get(home or ""), name or "", None) is fn else None


def _is_of_a_library(f: types.FunctionType) -> bool:
    """Whether a function is a way into code that Python does not run: there is a row for it, or nothing is gained."""
    return (f.__module__ or "").partition(".")[0] in ("numpy", "scipy")


def _is_prelude(f: types.FunctionType) -> bool:
    return (f.__module__ or "").startswith("upshift.compiler.prelude")


def _call_starred(walk: Walk, op: Op, value: Any, args: Given, keywords: Words) -> bool:
    """A list behind a star, passed to a function that is not the user's."""
    words = dict(keywords)
    rest = words.pop(REST)
    starred = STARRED.get(value)
    if starred is not None and starred(walk, op, args, rest, words):
        return True
    if value in IMPLEMENTS and not args and SPECIAL.get(value) is None and ROWS.get(value) is None:
        return False
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    required = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if isinstance(value, type) or len(required) != len(parameters) or any(p.default is not p.empty for p in required):
        if isinstance(value, type) and value.__flags__ & HEAP_TYPE:
            return False
        raise walk.doubt(f"passes a list behind a star to {getattr(value, '__name__', value)}")
    more = unpack_rest(walk, rest, len(required) - len(args), getattr(value, "__name__", ""))
    call_static(walk, op, Static(value), [*args, *more], words)
    return True


# ---- partials, getters, caches, enums


def _call_partial(walk: Walk, op: Op, target: Partial, name: str, args: Given, keywords: Words) -> None:
    """A partial that was made inside."""
    parts = [item_of_tuple(walk, name, i) for i in range(len(target.items))]
    count = len(parts) - len(target.words)
    named = dict(zip(target.words, parts[count:]))
    call_value(walk, op, target.items[0], parts[0], [*parts[1:count], *args], {**named, **keywords})


def _call_captured_partial(walk: Walk, op: Op, target: Static, args: Given, keywords: Words) -> None:
    value = target.value
    path = target.path or ()

    def inside(way: str, key: Any, item: Any) -> str:
        return captured(walk, item, target.path and (*path, ("attr", way), ("item", key)))

    first = [inside("args", i, item) for i, item in enumerate(value.args)]
    named = {word: inside("keywords", word, item) for word, item in value.keywords.items()}
    fn = walk.unit.captures.take(value.func, target.path and (*path, ("attr", "func")))[0]
    assert isinstance(fn, Static)
    call_static(walk, op, fn, [*first, *args], {**named, **keywords})


def _getter(walk: Walk, value: Any) -> str:
    """The source of what a getter does."""
    _, given = value.__reduce__()[:2]
    if isinstance(value, operator.methodcaller):
        if not all(type(x) in (int, float, str, bool, type(None)) for x in given) or len(value.__reduce__()[0:1]) != 1:
            raise walk.doubt("a method caller with arguments")
        if isinstance(value.__reduce__()[0], functools.partial):
            raise walk.doubt("a method caller with keywords")
        return f"def get(x):\n    return x.{given[0]}({', '.join(map(repr, given[1:]))})"
    if isinstance(value, operator.itemgetter):
        if not all(type(x) in (int, str, bool) for x in given):
            raise walk.doubt("an item getter of something else than ints and texts")
        parts = [f"x[{x!r}]" for x in given]
    else:
        parts = [f"x.{name}" for name in given]
    return f"def get(x):\n    return {parts[0] if len(parts) == 1 else '(' + ', '.join(parts) + ')'}"


def _call_cached(walk: Walk, op: Op, target: Static, args: Given, keywords: Words) -> None:
    """A function behind `functools.lru_cache`: what it gave is kept for the rest of the lane."""
    path = target.path and (*target.path, ("attr", "__wrapped__"))
    inner = target.value.__wrapped__
    kind = walk.unit.captures.take(inner, path)[0]
    assert isinstance(kind, Static)
    if keywords or not args:
        return call_static(walk, op, kind, args, keywords)
    memo = _memo_of(walk, inner)
    for held in items_in(walk.env[memo]):
        if isinstance(held, List) and held.cell.find().written and not _is_part_of_table(walk.env[memo], held):
            raise Refused("changes a list that a cached function has given, which later calls would see")
    fn = walk.temporary(kind, constant(kind))
    return prelude(walk, op, "call_with_memo", [memo, fn, *args])


def _is_part_of_table(table: Kind, held: List) -> bool:
    assert isinstance(table, Object)
    cells = table.fields.find().cells.values()
    return any(
        isinstance(kind, List) and kind.cell.find() is held.cell.find() for c in cells for kind in c.find().kinds
    )


def _memo_of(walk: Walk, key: Any) -> str:
    """The dict of one cached function, which is made anew for every lane."""
    made, slot, spec = walk.unit.memo(key, lambda: prelude_home(FUNCTIONS["new_memo"]))
    spec.sweep()
    result = spec.result.kind
    if result is None:
        raise Defer
    walk.unit.changed |= unify(result, made)
    return walk.temporary(made, lambda w: memory.memo(w, spec, slot))


# ---- methods


def call_method(walk: Walk, op: Op, owner: str, name: str, args: Given, shape: Shape) -> None:
    """`owner.name(*args)`."""
    kind = walk.env[owner]
    own = value_of_member(walk, owner)
    if own != owner and isinstance(getattr(class_of(kind), name, None), types.MethodDescriptorType):
        owner, kind = own, walk.env[own]  # a method of texts or ints
    if isinstance(kind, Static):
        fn = read_static(walk, kind, name)
        return call(walk, op, walk.env[fn], args, shape, fn)
    positional, keywords = spread(walk, args, shape)
    return method(walk, op, owner, name, positional, keywords)


def method(walk: Walk, op: Op, owner: str, name: str, args: Given, keywords: Words) -> None:
    """`owner.name(*args)`, of a value that is not known beforehand."""
    kind = walk.env[owner]
    hide_own(walk, kind, name)
    if isinstance(kind, Object) and name in kind.fields.find().cells:
        inside, emit = read_field(walk, owner, name)
        fn = walk.temporary(inside, emit, owner)
        return call_value(walk, op, inside, fn, args, keywords)
    if isinstance(kind, Array | Fused):
        run = functools.partial(_method_of, walk, op, owner, name, args, keywords)
        or_in_python(walk, op, "method", name, [owner, *args], keywords, run)
        return None
    return _method_of(walk, op, owner, name, args, keywords)


def _method_of(walk: Walk, op: Op, owner: str, name: str, args: Given, keywords: Words) -> None:
    kind = walk.env[owner]
    found = find_method(walk, kind, name)
    if found is None:
        return _unusual_method(walk, op, owner, kind, name, args, keywords)
    if isinstance(found, Home):
        own = walk.temporary(kind.owner, safe(lambda w, v: v), owner) if isinstance(kind, Super) else owner
        return call_function(walk, op, found, [own, *args], keywords)
    _complete(walk, args, keywords)
    if REST not in keywords and found(walk, op, [owner, *args], keywords):
        return None
    raise walk.doubt(f"the method {name} of {kind!r} with these arguments")


def _unusual_method(walk: Walk, op: Op, owner: str, kind: Kind, name: str, args: Given, keywords: Words) -> None:
    """A method that is no plain function of the class: a static one, a class's own, or one of `object`."""
    if isinstance(kind, Super | Object) and not (isinstance(kind, Object) and is_ours(kind.cls)):
        cls = kind.cls if isinstance(kind, Object) else class_of(kind.owner)
        after = kind.cls if isinstance(kind, Super) else None
        order = cls.__mro__[cls.__mro__.index(after) + 1 :] if after is not None else cls.__mro__
        found = next((vars(one)[name] for one in order if name in vars(one)), None)
        if isinstance(kind, Super) and found is object.__init__ and not args and not keywords:
            return walk.give(op, NONE, constant(NONE))
        if isinstance(kind, Super) and issubclass(cls, BaseException) and name == "__init__":
            return walk.give(op, NONE, constant(NONE))
        path = walk.unit.class_paths.get(cls)
        if path is not None and isinstance(found, staticmethod | classmethod) and after is None:
            fn = captured(walk, getattr(cls, name), (*path, ("attr", name)))
            return call_value(walk, op, walk.env[fn], fn, args, keywords)
        if path is not None and found is not None and after is None and not hasattr(found, "__get__"):
            fn = captured(walk, found, (*path, ("attr", name)))
            return call_value(walk, op, walk.env[fn], fn, args, keywords)
        if found is None:
            raise Leaves(AttributeError, f"{cls.__name__} has no {name}")
    raise walk.doubt(f"the method {name} of {kind!r}")


__all__ = [
    "ATTRIBUTES", "SPECIAL_METHODS", "Given", "Words", "attribute", "call_function", "coerce", "find_method",
    "make_instance", "new_generator", "prelude", "prelude_home", "written",
]  # fmt: skip
