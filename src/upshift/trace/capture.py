"""What the traced copy of a function sees instead of its globals, cells, defaults and attributes.

Captured numbers and arrays become inputs of the tree, read again for every call. Everything else that a trace read is
noted with what it was, and a tree is used only while that still holds. Nothing of the user's is ever written to: copies
of containers and objects refuse changes, which is how impure functions are recognised before they do anything.
"""

from __future__ import annotations

import builtins
import collections
import decimal
import enum
import fractions
import functools
import random
import re
import types
from typing import Any, NoReturn

import numpy as np

from ..columns.kinds import NUMERIC, kind_of
from ..errors import Untraceable
from ..libraries import acting, is_left_alone, is_opaque
from ..rules.arrays.images import IMAGES, module_of, name_of
from .arraylike import is_aware
from .classes import copy_of, is_python, needs_copy
from .code import CALLED_CLASSES, traced_code
from .draws import GENERATORS, Module, Source, generator_of
from .enumerations import why_not_vetted
from .independent_draws import OwnNumbers
from .lane import Lane
from .modules import STANDINS, HeldModule, Standin
from .names import Names, user_line
from .objects import proxy_of
from .opaque import Unseen, UnseenCallable
from .paths import STATES, Capture, Path, frozen, plain_of
from .positions import Apart
from .read_only import HeldDict, HeldList, HeldSet, contents_of
from .record import Trace
from .standins import CALLED, IDENTITY, standin_for

PLAIN = (str, bytes, type(None), type(Ellipsis), type(NotImplemented), complex, enum.Enum, re.Pattern, np.dtype,
         decimal.Decimal, slice, range)  # fmt: skip


def is_plain(value: Any) -> bool:
    """Whether a value can be used as it is: it holds nothing else, and nothing can be done to it."""
    return isinstance(value, PLAIN) or type(value) is fractions.Fraction


PLAIN_NUMBERS = (bool, int, float, np.generic)
_MOST_ITEMS = 10_000


_CACHED = frozenset((int, str, bool, bytes, type(None)))
"""Classes of arguments of which equal ones are the same."""


def _cached(f: Any) -> Any:
    """A function behind `functools.lru_cache`, within one trace: calls that no lane has a part in are made once."""
    kept: dict[Any, Any] = {}

    def call(*args: Any, **keywords: Any) -> Any:
        key = tuple([(type(a), a) for a in args]) if not keywords and _CACHED.issuperset(map(type, args)) else None
        if key is None:
            return f(*args, **keywords)
        if key not in kept:
            kept[key] = f(*args)
        return kept[key]

    return call


class Holder:
    """Makes, for one trace, what the traced copy sees of everything that the function captured."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def hold(self, value: Any, path: Path) -> Any:
        """What the traced copy sees in place of `value`, found at `path`."""
        try:
            if kind_of(value) is not None or isinstance(value, np.ndarray) or is_plain(value):
                return self._make(value, path)
            if id(value) in self.trace.held:
                self.note(path, "same", value)
            else:
                self.trace.held[id(value)] = self._make(value, path)
            return self.trace.held[id(value)]
        except Exception as error:  # ours: in the user's code it would pass for one of the function's
            name = getattr(value, "__qualname__", type(value).__qualname__)
            raise Untraceable(f"uses {name}, which cannot be held: {error}", where=user_line()) from error

    def lazily(self, value: Any, path: Path) -> Any:
        """The same, for what may never be used: where it is refused, the trace ends only when it is."""
        try:
            return self.hold(value, path)
        except Untraceable as refusal:
            self.trace.ended = None
            self.note(path, "same", value)
            made = UnseenCallable(refusal) if callable(value) else Unseen(refusal)
            self.trace.held[id(value)] = made
            return made

    def note(self, path: Path, mode: str, expected: Any) -> int:
        """Remember that the trace read this; the id of an input, which is the same in every trace of the tree."""
        tree = self.trace.tree
        found = tree.captures.get(path) or self.trace.captures.get(path)
        if found is None or found.mode != mode:
            if mode == "input":
                tree.inputs += 1
            found = self.trace.captures[path] = Capture(path, mode, expected, -tree.inputs if mode == "input" else 0)
        return int(found.id)

    def _make(self, value: Any, path: Path) -> Any:
        cls = type(value)
        kind = kind_of(value)
        stand_in = STANDINS.get()
        found = stand_in(value) if stand_in is not None and kind is None else None
        if found is not None:
            self.note(path, "same", value)
            return HeldModule(self, value, path) if isinstance(found, types.ModuleType) else found
        if kind is not None and cls is not complex:
            return self._input(value, path, kind)
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        if is_plain(value) or kind is not None:
            if isinstance(value, decimal.Decimal):
                self.read_state("decimal")
            if isinstance(value, enum.Enum):
                self._enumeration(cls)
            self.note(path, "equal", frozen(value))
            return value
        if isinstance(value, types.FunctionType):
            inner = plain_of(value)
            return self._function(inner, path if inner is value else (*path, ("attr", "__wrapped__")))
        if isinstance(value, type):
            return self._class(value, path)
        if isinstance(value, types.ModuleType):
            return self._module(value, path)
        if cls in (list, tuple, dict, set, frozenset, collections.deque, collections.defaultdict, collections.Counter):
            return self._container(value, path)
        return self._callable(value, path)

    def _input(self, value: Any, path: Path, kind: Any) -> Lane:
        if type(value) is int and not -(2**63) <= value < 2**63:
            self.note(path, "equal", frozen(value))
            return value  # type: ignore[return-value]
        return Lane(value, self.note(path, "input", kind), self.trace, uniform=True)

    def _array(self, value: Any, path: Path) -> Any:
        if type(value) is not np.ndarray or value.dtype.kind not in NUMERIC:
            self._opaque(value)
        return self.trace.arrays.captured(value, self.note(path, "input", (value.dtype, value.shape)))

    def _function(self, f: Any, path: Path) -> Any:
        self.note(path, "code", f.__code__)
        if is_opaque(f.__module__ or ""):
            return Standin(self.trace, f)
        if is_left_alone(f.__module__ or ""):
            return f
        reason = acting(f.__module__ or "", f.__name__)
        if reason:
            raise Untraceable(f"{reason}: {f.__module__}.{f.__qualname__}", where=user_line())
        cells = tuple(types.CellType() for _ in f.__closure__ or ())
        names = Names(functools.partial(self._look_up, f, path))
        dict.__setitem__(names, "__builtins__", _BUILTINS | {"__import__": functools.partial(self._import, path)})
        dict.__setitem__(names, "__name__", f.__module__)
        copy = types.FunctionType(traced_code(f.__code__), names, f.__name__, None, cells)
        self.trace.held[id(f)] = copy
        for i, (cell, real) in enumerate(zip(cells, f.__closure__ or (), strict=True)):
            try:
                content = real.cell_contents
            except ValueError:
                continue  # not assigned yet: reading it raises in the copy, too
            cell.cell_contents = self.lazily(content, (*path, ("cell", i)))
        if f.__defaults__:
            copy.__defaults__ = tuple(self.lazily(d, (*path, ("default", i))) for i, d in enumerate(f.__defaults__))
        if f.__kwdefaults__:
            copy.__kwdefaults__ = {k: self.lazily(d, (*path, ("kwdefault", k))) for k, d in f.__kwdefaults__.items()}
        copy.__qualname__, copy.__doc__, copy.__module__ = f.__qualname__, f.__doc__, f.__module__
        for name, value in vars(f).items():
            if name != "__wrapped__":
                copy.__dict__[name] = self.lazily(value, (*path, ("attr", name)))
        self.watched(copy.__dict__)
        return copy

    def _look_up(self, f: types.FunctionType, path: Path, name: str) -> Any:
        """A global name of a traced copy: the user's own, or a builtin's stand-in."""
        if name in IDENTITY:
            return IDENTITY[name]
        plain = name[:-2] if name.endswith("()") else name
        if plain in f.__globals__:
            value = f.__globals__[plain]
            for cls, called in CALLED.items():
                if name != plain and value is cls:
                    return called
            return self.hold(value, (*path, ("global", plain)))
        value = getattr(builtins, plain, None)
        self.note((*path, ("global?", plain)), "same", value)
        if value is None and not hasattr(builtins, plain):
            raise KeyError(plain)  # which Python turns into a NameError
        if name != plain and isinstance(value, type) and plain in CALLED_CLASSES:
            return CALLED[value]
        return standin_for(value) or value

    def _import(self, path: Path, name: str, *args: Any) -> Any:
        module = __import__(name, *args)
        return self.hold(module, (*path, ("import", module.__name__)))

    def _class(self, cls: type, path: Path) -> Any:
        self.note(path, "same", cls)
        if cls.__module__ == "datetime" and cls.__name__ in ("datetime", "date"):
            raise Untraceable("may read the clock: datetime", where=user_line())
        if cls is decimal.Decimal:
            self.read_state("decimal")
        if issubclass(cls, enum.Enum):
            return self._enumeration(cls)
        if is_left_alone(cls.__module__) or is_aware(cls):
            return cls
        if issubclass(cls, BaseException) and not needs_copy(cls):
            return cls
        if acting(cls.__module__):
            raise Untraceable(f"{acting(cls.__module__)}: {cls.__qualname__}", where=user_line())
        return copy_of(self, cls, path)

    def _enumeration(self, cls: type[enum.Enum]) -> type:
        """Its members are known by identity, so that they stay what they are."""
        reason = why_not_vetted(cls)
        if reason:
            raise Untraceable(
                f"uses the enumeration {cls.__qualname__}, whose methods may act: {reason}", where=user_line()
            )
        return cls

    def read_state(self, name: str) -> None:
        """The function depends on what the process is set to."""
        self.note((("state", name),), "equal", frozen(STATES[name]()))

    def _module(self, module: types.ModuleType, path: Path) -> Any:
        self.note(path, "same", module)
        if module is random or module is np.random:
            return Module(self, module, path)
        if acting(module.__name__):
            raise Untraceable(f"{acting(module.__name__)}: {module.__name__}", where=user_line())
        return HeldModule(self, module, path)

    def generator(self, value: Any, path: Path) -> Any:
        """A captured random generator: which one it is may change, its draws are steps."""
        self.note(path, "type", type(value))
        return Source(self.trace, value, path)

    def _apart(self, value: Apart, path: Path) -> Any:
        """A function whose elements draw apart: the traced copy of it, and the streams of the element it is run on."""
        self.note(path, "type", Apart)
        self.note((*path, ("attr", "generators")), "shape", (list, len(value.generators)))
        root = self.hold(value.root, (*path, ("attr", "root")))
        copy = self.hold(value.f, (*path, ("attr", "f")))

        def call(position: Lane, *row: Any, **shared: Any) -> Any:
            self.trace.numbers = OwnNumbers(self.trace, self, value.generators, root, position)
            return copy(*row, **shared)

        return call

    def _container(self, value: Any, path: Path) -> Any:
        if len(value) > _MOST_ITEMS:
            raise Untraceable(f"reads a captured {type(value).__name__} of {len(value):,} items",
                              "make it a NumPy array", user_line())  # fmt: skip
        try:
            held = self._unchangeable(value)
            self.note(path, "equal", frozen(value))
            return held
        except TypeError:
            pass
        self.note(path, "shape", (type(value), tuple(value) if isinstance(value, dict) else len(value)))
        if isinstance(value, dict):
            items = {k: self.hold(v, (*path, ("item", k))) for k, v in value.items()}
            return self.watched(HeldDict(items)) if type(value) is dict else self._opaque(value)
        if isinstance(value, list | tuple):
            held = [self.hold(v, (*path, ("item", i))) for i, v in enumerate(value)]
            return self.watched(HeldList(held)) if type(value) is list else tuple(held)
        return self._opaque(value)

    def _unchangeable(self, value: Any) -> Any:
        """A copy of plain containers, all the way down, that refuses changes."""
        if type(value) is list:
            return self.watched(HeldList(map(self._unchangeable, value)))
        if type(value) is tuple:
            return tuple(map(self._unchangeable, value))
        if type(value) is dict:
            return self.watched(HeldDict({k: self._unchangeable(v) for k, v in value.items()}))
        if type(value) is set:
            return self.watched(HeldSet(value))
        if isinstance(value, (frozenset, *PLAIN_NUMBERS)) or is_plain(value):
            return value
        raise TypeError

    def watched(self, copy: Any) -> Any:
        """C code may write into a copy without asking it: what it holds is compared when the trace ends."""
        self.trace.watched.append((copy, contents_of(copy)))
        return copy

    def _callable(self, value: Any, path: Path) -> Any:
        """Everything else: what can be called, and instances of the user's classes."""
        if type(value) is Apart:
            return self._apart(value, path)
        if is_aware(value):
            self.note(path, "same", value)
            return value
        if isinstance(value, GENERATORS) and type(value) is not random.SystemRandom:
            return self.generator(value, path)
        owner = generator_of(value)
        if owner is not None:
            return getattr(self.generator(owner, (*path, ("attr", "__self__"))), value.__name__)
        if isinstance(value, types.MethodType):
            self.note(path, "type", types.MethodType)
            inner = self._function(value.__func__, (*path, ("attr", "__func__")))
            return types.MethodType(inner, self.hold(value.__self__, (*path, ("attr", "__self__"))))
        if isinstance(value, functools.partial):
            self.note(path, "type", functools.partial)
            f = self.hold(value.func, (*path, ("attr", "func")))
            args = self.hold(value.args, (*path, ("attr", "args")))
            keywords = self.hold(value.keywords, (*path, ("attr", "keywords")))
            return functools.partial(f, *args, **keywords)
        if isinstance(value, functools._lru_cache_wrapper):
            self.note(path, "type", type(value))
            return _cached(self.hold(value.__wrapped__, (*path, ("attr", "__wrapped__"))))
        if isinstance(value, types.BuiltinFunctionType | np.ufunc) or type(value).__module__ in ("operator", "numpy"):
            return self._builtin(value, path)
        if not is_python(type(value)) or type(value) is object:
            self.note(path, "same", value)
            return value if type(value) is object else self._opaque(value)
        if any(
            isinstance(getattr(type(value), n, None), types.FunctionType) for n in ("__getattr__", "__getattribute__")
        ):
            return self._opaque(value)
        return proxy_of(self, value, path)

    def _builtin(self, value: Any, path: Path) -> Any:
        self.note(path, "same", value)
        found = standin_for(value)
        if found is not None:
            return found
        owner = getattr(value, "__self__", None)
        module = module_of(value)
        if owner is not None and not isinstance(owner, types.ModuleType):
            self.hold(owner, (*path, ("attr", "__self__")))
            if isinstance(owner, list | dict | set | np.ndarray):
                raise Untraceable(
                    f"calls the method {value.__name__} of a captured {type(owner).__name__}", where=user_line()
                )
            return value
        reason = acting(module, getattr(value, "__name__", ""))
        if reason:
            raise Untraceable(f"{reason}: {module}.{getattr(value, '__name__', value)}", where=user_line())
        if module == "cv2" and name_of(value) not in IMAGES:
            self._opaque(value)
        if is_opaque(module) and not isinstance(value, np.ufunc):
            return Standin(self.trace, value)
        if isinstance(value, np.ufunc) or is_left_alone(module) or type(value).__module__ in ("operator", "numpy"):
            return value
        return self._opaque(value)

    def _opaque(self, value: Any) -> NoReturn:
        name = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        raise Untraceable(f"uses a captured {name}, which Upshift cannot see into", where=user_line())


_BUILTINS: dict[str, Any] = dict(vars(builtins))
