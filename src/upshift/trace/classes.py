"""Copies of the user's classes with traced methods, which the rest of the process cannot find.

A copy of `class Row(Mapping)` has the order of look-up (copy, Mapping, Collection, ..., object), but it is no subclass
of Row, and Mapping does not know it: it is made as a subclass of a class of ours, and then told where to look. So no
`__subclasses__`, `__init_subclass__`, `__set_name__`, metaclass or cache of an abstract class hears of it.
"""

from __future__ import annotations

import abc
import collections
import functools
import sys
import types
from typing import Any, NoReturn

from ..errors import Untraceable
from ..libraries import is_left_alone
from .arraylike import as_ufunc
from .lane import is_lane
from .names import Names, refuse, user_line
from .opaque import Unseen
from .paths import VOLATILE, Path, about_class, frozen, names_of


class Copied(type):
    """The class of copies. What is an instance of the original is one of the copy, and they are equal as keys."""

    _up_original: type
    """The user's class."""
    _up_order: tuple[type, ...]
    """Where attributes are looked up after the copy itself."""
    _up_seen: type
    """The class that a traced function is told: for the class of a captured object, that of all such objects."""

    def __new__(meta, name: str, bases: Any, body: Any, **keywords: Any) -> Any:
        raise Untraceable(f"makes a subclass of {original_of(bases[0]).__qualname__}", where=user_line())

    def mro(cls) -> list[type]:
        """The copies of the classes in the order of the original's."""
        return [cls, *OWN_DICT.__get__(cls)["_up_order"]]

    def __instancecheck__(cls, instance: Any) -> bool:
        return is_instance(instance, cls)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return is_subclass(subclass, cls)

    def __eq__(cls, other: object) -> bool:
        return bool(original_of(cls) == original_of(other))

    def __hash__(cls) -> int:
        return hash(original_of(cls))

    def __getattr__(cls, name: str) -> NoReturn:
        if not name.startswith("_up_") and hasattr(cls._up_original, name):
            raise Untraceable(f"reads {name} of the class {cls.__name__}", where=user_line())
        raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")

    def __setattr__(cls, name: str, value: Any) -> None:
        if name not in VOLATILE:  # such as the notes that copyreg keeps in classes
            refuse(f"changes the class {cls.__name__}", "return the value instead")

    def __delattr__(cls, name: str) -> None:
        refuse(f"changes the class {cls.__name__}", "return the value instead")

    def __subclasses__(cls) -> NoReturn:
        raise Untraceable(f"looks at the subclasses of {cls.__name__}", where=user_line())

    @property
    def __bases__(cls) -> tuple[type, ...]:  # type: ignore[override]
        known = {original_of(c): c for c in cls.__mro__[1:]}
        return tuple(known.get(base, base) for base in original_of(cls).__bases__)

    @property
    def __base__(cls) -> type:
        return cls.__bases__[0]

    @property  # type: ignore[misc]
    def __dict__(cls) -> Any:  # type: ignore[override]
        if type(sys._getframe(1).f_globals) is Names:
            raise Untraceable(f"reads the __dict__ of the class {cls.__name__}", where=user_line())
        return OWN_DICT.__get__(cls)


OWN_DICT: Any = type.__dict__["__dict__"]
"""`OWN_DICT.__get__(cls)`: what a class itself holds, whatever it says."""


def original_of(value: Any) -> Any:
    """The user's class that a copy stands for; all else as it is."""
    return value._up_original if type(value) is Copied else value


def class_seen(value: Any) -> Any:
    """`type(value)` as a traced function is told."""
    cls = type(value)
    if type(cls) is Copied:
        return cls._up_seen
    return value.__class__ if cls.__module__.startswith("upshift.trace.") else cls  # which tell what they stand for


def is_instance(value: Any, classes: Any) -> bool:
    """`isinstance` with true classes: abstract classes remember whom they were asked about, none of ours."""
    if is_lane(value):
        value = value._up_value
    cls = type(value)
    if type(cls) is Copied:
        return issubclass(original_of(cls), _originals(classes))
    return isinstance(value, _originals(classes))


def is_subclass(cls: Any, classes: Any) -> bool:
    """`issubclass` with true classes."""
    return issubclass(original_of(cls), _originals(classes))


def _originals(classes: Any) -> Any:
    if type(classes) in (tuple, types.UnionType):
        return tuple(map(_originals, getattr(classes, "__args__", classes)))
    return original_of(classes)


# ---- which classes can be copied


class _Root:
    __slots__ = ()


class _TupleRoot(tuple[Any, ...]):
    __slots__ = ()


class _ErrorRoot(Exception):
    pass


_ROOTS: dict[type, type] = {object: _Root, tuple: _TupleRoot, BaseException: _ErrorRoot}
"""What copies are made as subclasses of, by what their objects are made of. They are there from the start, and stay."""
_HEAP, _IMMUTABLE, _MAY_HAVE_SUBCLASSES = 1 << 9, 1 << 8, 1 << 10
_OF_C = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)


def is_python(cls: type) -> bool:
    """Whether a class and its bases are written in Python; a tuple underneath (named tuples) is fine, or an error."""
    return all(c in _ROOTS or _is_plain_error(c) or _is_written(c) for c in cls.__mro__)


def _is_written(cls: type) -> bool:
    """Whether a class was made by a class statement: C's are on the heap, too, and some may be subclassed."""
    if not cls.__flags__ & _HEAP or not cls.__flags__ & _MAY_HAVE_SUBCLASSES or cls.__flags__ & _IMMUTABLE:
        return False
    for name, member in vars(cls).items():
        if isinstance(member, _OF_C) and member.__objclass__ is cls:
            return False
        if isinstance(member, types.BuiltinFunctionType) and name == "__new__":
            return False
        if isinstance(member, types.GetSetDescriptorType) and name not in ("__dict__", "__weakref__"):
            return False
    return True


def _is_plain_error(cls: type) -> bool:
    """Whether a built-in error is made of nothing but its arguments, so that it needs no memory of its own."""
    return cls.__module__ == "builtins" and issubclass(cls, BaseException) and _size(cls) == _size(BaseException)


def _size(cls: type) -> int:
    return cls.__basicsize__


def needs_copy(cls: type) -> bool:
    """Whether an error's class holds more than its name: then what it does is traced."""
    written = [c for c in cls.__mro__ if c.__module__ != "builtins"]
    return any(set(names_of(c)) - {"__module__", "__qualname__"} for c in written)


# ---- copies


class Member:
    """A class's attribute that is no method: held when it is first read."""

    def __init__(self, holder: Any, value: Any, path: Path) -> None:
        self._up_read = holder, value, path

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        holder, value, path = self._up_read
        return holder.hold(value, path)


class Refused:
    """A class's attribute that Upshift cannot follow: reading it and writing to it end the trace."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __get__(self, instance: Any, owner: Any = None) -> NoReturn:
        raise Untraceable(self.reason, where=user_line())

    def __set__(self, instance: Any, value: Any) -> None:
        refuse(self.reason)

    def __delete__(self, instance: Any) -> None:
        refuse(self.reason)


_NOT_COPIED = VOLATILE | {"__init_subclass__", "__subclasshook__", "__class_getitem__", "__del__", "__orig_bases__"}


def copy_of(holder: Any, cls: type, path: Path) -> type:
    """The copy of a class, made once for every trace; the class itself where a library is left alone."""
    if cls in _ROOTS or _is_plain_error(cls) or is_left_alone(cls.__module__):
        return cls
    if id(cls) in holder.trace.held:
        made: type = holder.trace.held[id(cls)]
        return made
    if type(cls) not in (type, abc.ABCMeta) or not is_python(cls):
        raise Untraceable(f"uses the class {cls.__qualname__}, which cannot be copied", where=user_line())
    holder.note(path, "same", cls)
    holder.note((*path, ("about", None)), "equal", frozen(about_class(cls)))
    order = order_of(holder, cls, path)[1:]
    bases = tuple(c for c in order if type(c) is Copied and original_of(c) in cls.__bases__)
    slots = [name for name, member in vars(cls).items() if isinstance(member, types.MemberDescriptorType)]
    copy: Any = make_class(cls, bases, order, {"__slots__": slots} if "__slots__" in vars(cls) else {})
    holder.trace.held[id(cls)] = copy
    for name, member in {"_up_seen": copy, "__doc__": cls.__doc__, **_members(holder, cls, path)}.items():
        type.__setattr__(copy, name, member)
    return copy  # type: ignore[no-any-return]


def order_of(holder: Any, cls: type, path: Path) -> tuple[type, ...]:
    """Where the attributes of a class are looked up, with copies in place of the user's classes."""
    order = [cls if i == 0 else copy_of(holder, c, (*path, ("mro", i))) for i, c in enumerate(cls.__mro__)]
    return tuple(c for c in order if c.__module__ != "typing")  # which would take notes of its subclasses


def make_class(cls: type, bases: tuple[type, ...], order: tuple[type, ...], body: dict[str, Any]) -> Any:
    """A class that stands for another. Its objects have room for all that those of the classes in its order have."""
    bases = bases or (next(_ROOTS[c] for c in cls.__mro__ if c in _ROOTS),)
    if "__slots__" in body:
        for name, offset in (("__dict__", "__dictoffset__"), ("__weakref__", "__weakrefoffset__")):
            if getattr(cls, offset) and not any(getattr(base, offset) for base in bases):
                body["__slots__"] = [*body["__slots__"], name]
    about = {"_up_original": cls, "_up_order": order, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
    return type.__new__(Copied, cls.__name__, bases, {**about, **body})


def _members(holder: Any, cls: type, path: Path) -> dict[str, Any]:
    made = {}
    for name, member in vars(cls).items():
        if name not in _NOT_COPIED and not isinstance(member, types.MemberDescriptorType):
            made[name] = _member(holder, name, member, (*path, ("member", name)))
    if hasattr(cls, "__class_getitem__"):
        made["__class_getitem__"] = Refused(f"uses {cls.__qualname__}[...]")
    if hasattr(cls, "__del__"):
        made["__new__"] = staticmethod(_makes_mortals)
    if hasattr(cls, "__array__") and not hasattr(cls, "__array_ufunc__"):
        made["__array_ufunc__"] = as_ufunc
    for name in ("__abstractmethods__", "__annotations__"):
        if name in vars(cls):
            made[name] = getattr(cls, name)
    return made


def _makes_mortals(cls: type, *args: Any, **keywords: Any) -> NoReturn:
    raise Untraceable(f"makes objects that have a finaliser: {cls.__qualname__}.__del__", where=user_line())


_AS_IT_IS: tuple[type, ...] = (*_OF_C, types.GetSetDescriptorType, collections._tuplegetter)  # type: ignore[attr-defined]
"""Members that C made: they have no state, and take objects as they come."""


def _member(holder: Any, name: str, member: Any, path: Path) -> Any:
    """What stands in the copy for a member of a class."""
    if isinstance(member, types.FunctionType):
        return holder.lazily(member, path)
    if type(member) in (staticmethod, classmethod):
        return type(member)(holder.lazily(member.__func__, path))
    if type(member) is property:
        accessors = (member.fget, member.fset, member.fdel)
        return property(*(g and holder.lazily(g, (*path, ("property", i))) for i, g in enumerate(accessors)))
    if type(member) is functools.cached_property:
        made: Any = functools.cached_property(holder.lazily(member.func, (*path, ("attr", "func"))))
        made.attrname = member.attrname
        return made
    if isinstance(member, _AS_IT_IS):
        return member
    if hasattr(type(member), "__get__") or hasattr(type(member), "__set__"):  # it is asked, not read
        held = holder.lazily(member, path)
        return Refused(held._up_refusal.reason) if type(held) is Unseen else held
    if name.startswith("__") and name.endswith("__"):  # Python and NumPy look at it
        try:
            holder.note(path, "equal", frozen(member))
        except TypeError:
            pass
        return member
    return Member(holder, member, path)
