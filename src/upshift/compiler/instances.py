"""Objects of Python classes: how they are made, and where their attributes are found."""

from __future__ import annotations

import abc
import dataclasses
import functools
import inspect
import types
import typing
from typing import Any

from ..libraries import acting
from .arguments import Given, Words, bind
from .captures import HEAP_TYPE, Home
from .check import Defer, Leaves, Walk
from .classes import class_of
from .code import Op
from .follow import call_function, enter, prelude_home, set_parameters
from .generated import adopt, dataclass_repr
from .kinds import NONE, UNSET, Cell, Fields, Kind, Method, New, Object, Refused, Static, Super, Tuple
from .prelude.registry import METHODS
from .rows import memory
from .rows.numbers import safe
from .values import captured, constant, item_of_tuple, storable, tuple_of

SPECIAL_METHODS: dict[tuple[str, str], Any] = {}
"""Methods that need more than a function, by class and name: see `SPECIAL`."""
ATTRIBUTES: list[Any] = []
"""Attributes that are rows: kind and name in, the kind of the result and how to write it, or None, out."""
_MISSING = object()


# ---- classes


def is_ours(cls: type) -> bool:
    """Whether a class is one of the prelude's."""
    return cls.__module__.startswith("upshift.compiler.prelude")


def class_path(walk: Walk, cls: type) -> Any:
    """The way to a class of the user's; None for one of our own."""
    if is_ours(cls):
        return None
    path = walk.unit.class_paths.get(cls)
    if path is None:
        raise walk.doubt(f"how {cls.__name__} is reached is not known")
    return path


def _know_class(walk: Walk, cls: type, path: Any) -> None:
    if path is not None and cls not in walk.unit.class_paths:
        walk.unit.captures.take(cls, path)
        walk.unit.captures.look_at_class(path, cls)
        walk.unit.class_paths[cls] = path


def _is_plain_class(cls: type) -> bool:
    """Whether an instance is nothing but its fields."""
    if is_ours(cls):
        return True
    if (
        type(cls) not in (type, abc.ABCMeta)
        or getattr(cls, "__new__", None) is not object.__new__
        or inspect.isabstract(cls)
    ):
        return False
    odd = ("__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__")
    for one in cls.__mro__[:-1]:
        if one in (abc.ABC, typing.Generic, typing.Protocol):
            continue
        if not one.__flags__ & HEAP_TYPE:
            return False
        frozen = _is_frozen(one)
        if any(name in vars(one) for name in odd if not (frozen and name in ("__setattr__", "__delattr__"))):
            return False
    return True


def _is_frozen(cls: type) -> bool:
    """Whether a dataclass has made itself frozen, and nobody has changed that."""
    parameters = vars(cls).get("__dataclass_params__")
    setter = vars(cls).get("__setattr__")
    made = isinstance(setter, types.FunctionType) and setter.__code__.co_filename == "<string>"
    return parameters is not None and parameters.frozen and made


def member(cls: type, name: str, after: type | None = None) -> tuple[Any, type | None]:
    """What a class has under a name, as it stands in the class, and the class that it stands in."""
    order = cls.__mro__
    if after is not None:
        order = order[order.index(after) + 1 :]
    for one in order:
        if name in vars(one):
            return vars(one)[name], one
    return _MISSING, None


def _member_home(walk: Walk, cls: type, name: str, fn: types.FunctionType, owner: type, inner: str = "") -> Home:
    """A function that stands in a class; `inner`: it is the getter or setter of a property."""
    written = dataclass_repr(owner, name, fn)
    if written is not None:
        fn, inner = written, "__wrapped__"
    adopt(owner, name, fn)
    if is_ours(cls):
        return prelude_home(fn)
    path = (*class_path(walk, cls), ("mro", cls.__mro__.index(owner)), ("member", name))
    if inner in ("fget", "fset"):
        path = (*path, ("property", ("fget", "fset").index(inner)))
    elif inner:
        path = (*path, ("attr", inner))
    walk.unit.captures.take(fn, path)
    return Home(fn, path)


# ---- making


def make_instance(walk: Walk, op: Op, target: Static, args: Given, keywords: Words) -> None:
    """`cls(*args)`."""
    cls = target.value
    path = target.path or walk.unit.class_paths.get(cls)
    init, owner = member(cls, "__init__")
    if issubclass(cls, BaseException) and not isinstance(init, types.FunctionType):
        return walk.give(op, Static(cls, path), constant(NONE))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _make_named_tuple(walk, op, cls, path, args, keywords)
    if not (_is_plain_class(cls) or _is_plain_exception(cls)) or (path is None and not is_ours(cls)):
        raise walk.doubt(f"makes a {cls.__name__}")
    _know_class(walk, cls, path)
    assert op.dst is not None
    dst = walk.name(op.dst)
    fields = walk.cell("object", Fields) if is_ours(cls) else walk.unit.fields_of(cls, walk)
    walk.alias(dst, _new_object(walk, cls, fields))
    if not isinstance(init, types.FunctionType):
        if args or keywords:
            raise Leaves(TypeError, f"{cls.__name__}() takes no arguments")
        made = walk.env[dst]
        assert isinstance(made, New)
        walk.complete(made)
        return walk.next_op()
    assert owner is not None
    home = _member_home(walk, cls, "__init__", init, owner)
    code = home.code
    bound = bind(walk, home, code, [dst, *args], keywords)
    frame = enter(walk, op, home, code, "", "init")
    walk.claim(frame.prefix, bound.values())
    set_parameters(walk, frame.prefix, code, bound)
    return walk.enter(frame, code.blocks[0])


def _is_plain_exception(cls: type) -> bool:
    return issubclass(cls, Exception) and "__new__" not in {
        name for one in cls.__mro__ for name in vars(one) if one.__flags__ & HEAP_TYPE
    }


def _new_object(walk: Walk, cls: type, fields: Fields) -> str:
    """An object without fields, but for those that its class has a value for."""
    prefix = walk.spec.prefix(("new", walk.frame, walk.block, walk.at))
    made = New(cls, fields, prefix)
    name = walk.temporary(made, lambda w: memory.new_object(w, made))
    walk.env[f"{prefix}$set"] = Static(())
    for field in fields.find().cells:
        value, owner = member(cls, field)
        if owner is not None and not hasattr(value, "__get__"):
            given = captured(walk, value, (*class_path(walk, cls), ("attr", field)))
            set_field(walk, name, field, given)
    return name


def _make_named_tuple(walk: Walk, op: Op, cls: Any, path: Any, args: Given, keywords: Words) -> None:
    if not str(cls.__new__.__module__).startswith("namedtuple_") or cls.__init__ is not object.__init__ or path is None:
        raise walk.doubt(f"makes a {cls.__name__}")
    _know_class(walk, cls, path)
    words = dict(keywords)
    names = list(args)
    for field in cls._fields[len(args) :]:
        if field in words:
            names.append(words.pop(field))
        elif field in cls._field_defaults:
            where = (*path, ("attr", "_field_defaults"), ("item", field))
            names.append(captured(walk, cls._field_defaults[field], where))
        else:
            raise Leaves(TypeError, f"{cls.__name__}() is not given {field}")
    if words or len(names) > len(cls._fields):
        raise Leaves(TypeError, f"{cls.__name__}() is given what it does not know")
    walk.give_name(op, tuple_of(walk, names, cls))


# ---- fields


def set_field(walk: Walk, owner: str, name: str, value: str) -> None:
    """Set a field of an object, by full names; nothing of the class is asked."""
    of, kind = walk.env[owner], walk.env[value]
    assert isinstance(of, Object)
    if isinstance(kind, New):
        walk.complete(kind)
        kind = walk.env[value]
    cells = of.fields.find().cells
    if name not in cells:
        cells[name] = Cell() if isinstance(of, New) else Cell(UNSET)
        walk.unit.changed = True
    walk.hold(of, kind)
    _refuse_given(cells[name])
    walk.learn(cells[name], storable(walk, kind))
    walk.step(lambda w, p, v: memory.set_field(w, of, p, name, v, kind), None, (owner, value))
    if isinstance(of, New):
        walk.sets(of, name)


def _refuse_given(cell: Cell) -> None:
    if cell.find().fixed:
        raise Refused("changes an object that it was given", remedy="change a copy")


def read_field(walk: Walk, owner: str, name: str, cls: type = AttributeError) -> tuple[Kind, Any]:
    """The kind of a field, and how it is read."""
    kind = walk.env[owner]
    assert isinstance(kind, Object)
    if isinstance(kind, New) and not walk.is_set(kind, name):
        raise Leaves(cls, f"{name} is not set")
    inside = walk.read(kind.fields.find().cells[name])
    if inside is UNSET:
        raise Leaves(cls, f"{name} is not set")
    rest = memory.without_unset(inside)
    if rest is inside:
        return inside, safe(lambda w, p: memory.get_field(w, kind, p, name))
    return rest, lambda w, p: memory.get_set_field(w, kind, p, name, cls)


def set_attribute(walk: Walk, op: Op, owner: str, name: str, value: str) -> None:
    """`owner.name = value`."""
    of = walk.env[owner]
    assert isinstance(of, Object)
    found, where = member(of.cls, name)
    if isinstance(found, property):
        if not isinstance(found.fset, types.FunctionType):
            raise Leaves(AttributeError, f"{name} has no setter")
        assert where is not None
        return call_function(walk, op, _member_home(walk, of.cls, name, found.fset, where, "fset"), [owner, value], {})
    if any(_is_frozen(one) for one in of.cls.__mro__):
        raise Leaves(dataclasses.FrozenInstanceError, f"cannot assign to field {name!r}")
    if not _takes(of.cls, name):
        raise Leaves(AttributeError, f"{of.cls.__name__} has no {name}")
    if hasattr(found, "__set__") and not isinstance(found, types.MemberDescriptorType):
        raise walk.doubt(f"sets {name}, which is a descriptor")
    set_field(walk, owner, name, value)
    return walk.next_op()


def _takes(cls: type, name: str) -> bool:
    """Whether instances can have a field of this name."""
    if is_ours(cls) or cls.__dictoffset__ != 0:
        return True
    return isinstance(member(cls, name)[0], types.MemberDescriptorType)


# ---- attributes and methods


def hide_own(walk: Walk, kind: Kind, name: str) -> None:
    """What only our dicts and sets have, and not Python's, is nothing to the user's code."""
    shown = getattr(kind.cls, "stands_for", None) if isinstance(kind, Object) else None
    if shown is not None and walk.frame.home.path is not None and not hasattr(shown, name):
        raise Leaves(AttributeError, f"{shown.__name__} has no {name}")


def attribute(walk: Walk, op: Op, owner: str, kind: Kind, name: str) -> None:
    """`owner.name`, as the result of an operation."""
    assert op.dst is not None
    hide_own(walk, kind, name)
    if isinstance(kind, Static):
        return _static_attribute(walk, op, owner, kind, name)
    if name == "__class__":
        cls = class_of(kind)
        return walk.give(op, Static(cls, walk.unit.class_paths.get(cls)), constant(NONE))
    if isinstance(kind, Tuple) and kind.cls is not None and name in getattr(kind.cls, "_fields", ()):
        walk.give_name(op, item_of_tuple(walk, owner, kind.cls._fields.index(name)))  # type: ignore[attr-defined]
        return
    if isinstance(kind, Object | Super) or (isinstance(kind, Tuple) and kind.cls is not None):
        return _object_attribute(walk, op, owner, kind, name)
    row = next(filter(None, (find(kind, name) for find in ATTRIBUTES)), None)
    if row is not None:
        return walk.give(op, row[0], row[1], owner)
    if find_method(walk, kind, name) is not None:
        return walk.give(op, Method(kind, name), safe(lambda w, v: v), owner)
    raise walk.doubt(f"the attribute {name} of {kind!r}")


def has_attribute(walk: Walk, owner: str, name: str) -> Any:
    """Whether a value has an attribute: known, or a row that tells."""
    kind = walk.env[owner]
    if isinstance(kind, Static):
        if _answers_itself(type(kind.value)):
            raise walk.doubt(f"an attribute of {kind.value!r}")
        return inspect.getattr_static(kind.value, name, _MISSING) is not _MISSING
    if not isinstance(kind, Object):
        return hasattr(class_of(kind), name) or name in getattr(class_of(kind), "_fields", ())
    if is_ours(kind.cls):
        return hasattr(kind.cls.stands_for, name)  # type: ignore[attr-defined]
    found = member(kind.cls, name)[0]
    if found is not _MISSING and not isinstance(found, types.MemberDescriptorType):
        return True
    cell = kind.fields.find().cells.get(name)
    if cell is None or cell.kind is UNSET:
        return False
    if cell.kind is None:
        raise Defer
    if memory.without_unset(cell.kind) is cell.kind:
        return True
    return safe(lambda w, p: memory.is_set_field(w, kind, p, name))


def _answers_itself(cls: type) -> bool:
    """Whether to ask an object for an attribute runs code of the user's."""
    own = (vars(one) for one in cls.__mro__ if one.__flags__ & HEAP_TYPE)
    return any(name in names for names in own for name in ("__getattr__", "__getattribute__"))


def _of_class(kind: Kind) -> tuple[type, type | None]:
    """The class in which attributes of a value are looked for, and the class behind which."""
    if isinstance(kind, Super):
        return _of_class(kind.owner)[0], kind.cls
    if isinstance(kind, Static):
        return type(kind.value), None
    assert isinstance(kind, Object | Tuple) and kind.cls is not None
    return kind.cls, None


def _know_captured(walk: Walk, kind: Kind) -> None:
    """The class of a captured object whose attributes are looked for behind a class."""
    owner = kind.owner if isinstance(kind, Super) else None
    if isinstance(owner, Static) and (owner.path is None or isinstance(owner.value, type)):
        raise walk.doubt(f"super() of {owner!r}")
    if isinstance(owner, Static):
        refuse_acting(owner.value)
        _know_class(walk, type(owner.value), (*owner.path, ("class", None)))


def _object_attribute(walk: Walk, op: Op, owner: str, kind: Kind, name: str) -> None:
    _know_captured(walk, kind)
    cls, after = _of_class(kind)
    found, where = member(cls, name, after)
    assert op.dst is not None
    if isinstance(found, property | functools.cached_property):
        getter = found.fget if isinstance(found, property) else found.func
        inner = "fget" if isinstance(found, property) else "func"
        if isinstance(getter, types.FunctionType) and where is not None:
            return call_function(
                walk, op, _member_home(walk, cls, name, getter, where, inner), [_self(walk, owner)], {}
            )
        raise walk.doubt(f"the property {name}")
    if isinstance(kind, Object) and name in kind.fields.find().cells:
        return walk.give(op, *read_field(walk, owner, name), owner)
    if where is None or isinstance(found, types.MemberDescriptorType):
        raise Leaves(AttributeError, f"{cls.__name__} has no {name}")
    if isinstance(found, types.FunctionType) or find_method(walk, kind, name) is not None:
        return walk.give(op, Method(kind, name), safe(lambda w, v: v), owner)
    if hasattr(found, "__get__") and not isinstance(found, staticmethod | classmethod):
        raise walk.doubt(f"the attribute {name} of {kind!r}")
    path = (*class_path(walk, cls), ("attr", name))
    walk.give_name(op, captured(walk, getattr(cls, name), path))


def _self(walk: Walk, owner: str) -> str:
    """The object itself, where `super()` of it is given."""
    kind = walk.env[owner]
    return walk.temporary(kind.owner, safe(lambda w, v: v), owner) if isinstance(kind, Super) else owner


def _static_attribute(walk: Walk, op: Op, owner: str, kind: Static, name: str) -> None:
    """An attribute of something captured."""
    assert op.dst is not None
    value = kind.value
    if not isinstance(value, types.ModuleType | type):
        found, where = member(type(value), name)
        if isinstance(found, property | functools.cached_property) and name not in getattr(value, "__dict__", {}):
            getter = found.fget if isinstance(found, property) else found.func
            inner = "fget" if isinstance(found, property) else "func"
            if kind.path is None or where is None or not isinstance(getter, types.FunctionType):
                raise walk.doubt(f"the property {name}")
            _know_class(walk, type(value), (*kind.path, ("class", None)))
            return call_function(walk, op, _member_home(walk, type(value), name, getter, where, inner), [owner], {})
    walk.give_name(op, read_static(walk, kind, name))


def refuse_acting(value: Any) -> None:
    """What acts on the world, or depends on it, is not compiled."""
    owner = getattr(value, "__self__", None)
    module = getattr(value, "__module__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        module = owner.__module__ if isinstance(owner, type) else type(owner).__module__
    elif not isinstance(value, type | types.FunctionType | types.BuiltinFunctionType | types.MethodType):
        module = type(value).__module__
    name = getattr(value, "__name__", type(value).__name__)
    reason = acting(module or "", name)
    if reason:
        raise Refused(f"{reason}: {name}")


def read_static(walk: Walk, kind: Static, name: str) -> str:
    """A temporary that holds an attribute of something known."""
    value = kind.value
    if not isinstance(value, types.ModuleType):
        refuse_acting(value)
    if not isinstance(value, types.ModuleType | type):
        if _answers_itself(type(value)):
            raise walk.doubt(f"an attribute of {value!r}")
        found = inspect.getattr_static(value, name, _MISSING)
        if isinstance(found, property | functools.cached_property):
            raise walk.doubt(f"the property {name}")
    try:
        attribute_ = getattr(value, name)
    except AttributeError:
        raise Leaves(AttributeError, f"{value!r} has no {name}") from None
    return captured(walk, attribute_, kind.path and (*kind.path, ("attr", name)))


def find_method(walk: Walk, kind: Kind, name: str) -> Any:
    """A method of a value: a function with its home, something special, or None."""
    if isinstance(kind, Static) and kind.path is not None:
        found, where = member(type(kind.value), name)
        if not isinstance(found, types.FunctionType) or where is None:
            return None
        refuse_acting(kind.value)
        _know_class(walk, type(kind.value), (*kind.path, ("class", None)))
        return _member_home(walk, type(kind.value), name, found, where)
    if isinstance(kind, Object | Super) or (isinstance(kind, Tuple) and kind.cls not in (None, list)):
        _know_captured(walk, kind)
        cls, after = _of_class(kind)
        found, where = member(cls, name, after)
        if isinstance(found, types.FunctionType) and where is not None and not _is_generated_tuple(found):
            return _member_home(walk, cls, name, found, where)
        if isinstance(found, functools.partialmethod):
            raise walk.doubt(f"the method {name}")
        if isinstance(kind, Object | Super):
            return None
    cls = class_of(kind)
    if isinstance(kind, Tuple) and cls is list:
        return None
    if issubclass(cls, tuple):
        cls = tuple
    special = SPECIAL_METHODS.get((cls.__name__, name))
    if special is not None:
        return special
    written = METHODS.get((cls.__name__, name))
    return prelude_home(written) if written is not None else None


def _is_generated_tuple(fn: types.FunctionType) -> bool:
    """Whether a method is one that every named tuple has."""
    return fn.__module__ == "collections" or str(fn.__module__).startswith("namedtuple_")
