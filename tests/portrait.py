"""Modules and functions of a user in; a portrait of the process out: everything that a careful program could look at.

`python portrait.py` maps every function of the tables, and more, in every gear, and tells what the process shows after
it that it did not show before. It prints nothing where that is nothing.
"""

from __future__ import annotations

import _abc
import abc
import atexit
import builtins
import collections
import contextlib
import contextvars
import copyreg
import decimal
import gc
import io
import linecache
import locale
import logging
import os
import random
import signal
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

OURS = ("upshift", "numba", "llvmlite")
"""What Upshift is, and what it loads when it is first needed."""


def is_ours(name: object) -> bool:
    return str(name).partition(".")[0] in OURS


def portrait(watched: list[types.ModuleType]) -> dict[str, Any]:
    """What there is to see; `watched` are the user's modules."""
    gc.collect()
    gc.collect()
    classes = all_classes()
    mine = [c for c in classes if any(c.__module__ == module.__name__ for module in watched)]
    objects = gc.get_objects()
    named = {module.__name__ for module in watched}
    return {
        **settings(),
        **interpreter(),
        "modules": sorted(name for name in sys.modules if not is_ours(name)),
        "subclasses": {name_of(c): names(type.__subclasses__(c)) for c in classes if not is_of_ours(c)},
        "abstract classes": {name_of(c): registered(c) for c in classes if is_abstract(c)},
        "strangers in their caches": [name for c in classes if is_abstract(c) for name in strangers(c)],
        "module contents": {module.__name__: identities(vars(module)) for module in watched},
        "class contents": {f"{name_of(c)} {id(c):x}": identities(vars(c)) for c in mine},
        "functions": {f"{name}.{key}": facts(f) for name, key, f in functions_in(watched)},
        "objects alive": collections.Counter(name_of(type(o)) for o in objects if type(o).__module__ in named),
        "functions alive": collections.Counter(
            f"{o.__module__}.{o.__qualname__}"
            for o in objects
            if type(o) is types.FunctionType and o.__module__ in named and not is_ours(o.__globals__.get("__name__"))
        ),
        "weak references": {
            name: weakref.getweakrefcount(o)
            for name, o in [*((name_of(c), c) for c in mine), *((f"{n}.{k}", f) for n, k, f in functions_in(watched))]
        },
    }


def settings() -> dict[str, Any]:
    """What the process is set to."""
    return {
        "warnings": [repr(entry) for entry in warnings.filters],
        "NumPy's errors": (np.geterr(), np.geterrcall()),
        "NumPy's options": repr(np.get_printoptions()),
        "random": random.getstate(),
        "NumPy's random": repr(np.random.get_state()),
        "decimal": repr(decimal.getcontext()),
        "locale": locale.setlocale(locale.LC_ALL),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "context variables": sorted(variable.name for variable in contextvars.copy_context()),
        "logging": (
            logging.root.level,
            list(logging.root.handlers),
            sorted(name for name in logging.root.manager.loggerDict if not is_ours(name)),
        ),
        "pickling": identities(copyreg.dispatch_table),
    }


def interpreter() -> dict[str, Any]:
    """What depends on the interpreter."""
    return {
        "builtins": identities(vars(builtins)),
        "linecache": sorted(name for name in linecache.cache if f"{os.sep}numba{os.sep}" not in name),
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_debug(), list(gc.callbacks)),
        "exits": atexit._ncallbacks(),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "signals": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
        "hooks": [id(hook) for hook in (sys.excepthook, sys.unraisablehook, sys.displayhook, threading.excepthook)],
        "tracing": (sys.gettrace(), sys.getprofile()),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval()),
        "imports": (list(sys.path), [repr(one) for one in sys.meta_path], len(sys.path_hooks)),
        "streams": [id(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
        "ABC token": abc.get_cache_token(),
    }


def all_classes() -> list[type]:
    """Every class that can be reached from `object`."""
    found: dict[int, type] = {}
    pending: list[type] = [object]
    while pending:
        cls = pending.pop()
        if id(cls) not in found:
            found[id(cls)] = cls
            pending += type.__subclasses__(cls)
    return list(found.values())


def is_of_ours(cls: type) -> bool:
    """Whether a class is Numba's, or made of one of Numba's."""
    return any(is_ours(c.__module__) for c in cls.__mro__)


def is_abstract(cls: type) -> bool:
    return isinstance(cls, abc.ABCMeta) and not is_of_ours(cls)


def name_of(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def names(classes: list[type]) -> list[str]:
    return sorted(name_of(c) for c in classes if not is_ours(c.__module__))


def _referents(references: Any) -> list[type]:
    return [cls for cls in (reference() for reference in references) if cls is not None]


def registered(cls: Any) -> list[str]:
    return names(_referents(_abc._get_dump(cls)[0]))


def strangers(cls: Any) -> list[str]:
    """Classes that an abstract class remembers, and that only we can have asked about."""
    _, known, unknown, _ = _abc._get_dump(cls)
    seen = [*_referents(known), *_referents(unknown)]
    mine = [c for c in seen if c.__module__.startswith("upshift") or type(c).__module__.startswith("upshift")]
    return [f"{name_of(cls)}: {name_of(c)}" for c in mine]


def identities(space: Any) -> dict[str, int]:
    return {str(key): id(value) for key, value in space.items()}


def functions_in(modules: list[types.ModuleType]) -> Iterator[tuple[str, str, types.FunctionType]]:
    for module in modules:
        for key, value in vars(module).items():
            if type(value) is types.FunctionType:
                yield module.__name__, key, value


def facts(f: types.FunctionType) -> Any:
    return id(f.__code__), identities(vars(f)), f.__defaults__, f.__kwdefaults__, f.__name__, f.__qualname__


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What changed, one line for each."""
    found = []
    for name, was in before.items():
        now = after[name]
        if isinstance(was, dict):
            keys = [key for key in {*was, *now} if was.get(key) != now.get(key)]
            found += [f"{name}: {key}: {_short(was.get(key))} -> {_short(now.get(key))}" for key in sorted(keys)]
        elif was != now and isinstance(was, list):
            more, less = [x for x in now if x not in was], [x for x in was if x not in now]
            found.append(f"{name}: new {_short(more)}, gone {_short(less)}")
        elif was != now:
            found.append(f"{name}: {_short(was)} -> {_short(now)}")
    return found


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 300 else f"{text[:280]}..."


def changes_by(run: Callable[[], None], watched: list[types.ModuleType]) -> list[str]:
    """What the process shows after a run that it did not show before, and what was printed."""
    before = portrait(watched)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run()
        gc.collect()
    printed = [f"printed: {_short(text.getvalue())}" for text in (out, err) if text.getvalue()]
    return [*differences(before, portrait(watched)), *printed]
