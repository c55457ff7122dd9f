"""Pickles a function so that another process makes the same one, with the globals that it reads.

The user's own functions go by value, with the globals that they read: a threshold that was changed since its module was
imported is what it is here. Libraries go by name.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import pickle
import sys
import types
from collections.abc import Iterator
from typing import Any

from ...errors import is_of_library
from ...loading import Later
from .purity import captured_by, functions_of
from .segments import Parcel

cloudpickle: Any = Later("cloudpickle")


class NotSendable(Exception):
    """The function, its elements or results cannot be pickled; the text says why."""


def parcel_of(value: Any) -> Parcel:
    """Anything as bytes, or `NotSendable`."""
    try:
        return Parcel(value, cloudpickle.Pickler)
    except Exception as error:  # whatever __reduce__ of the user's raises
        raise NotSendable(f"it cannot be pickled: {type(error).__name__}: {error}") from None


def function_parcel(f: Any, shared: dict[str, Any], surroundings: Any) -> tuple[Parcel, bytes]:
    """A function with its shared keywords, and the hash of all that makes it up."""
    with _by_value(f, shared):
        parcel = parcel_of((f, shared, surroundings))
    found = hashlib.blake2b(digest_size=16)
    for part in parcel.parts:
        found.update(part)
    return parcel, found.digest()


@contextlib.contextmanager
def _by_value(f: Any, shared: dict[str, Any]) -> Iterator[None]:
    """The modules of the user's own functions that a function reaches go by value for the length of the block."""
    registered = []
    for module in _modules(f, shared):
        if module.__name__ not in cloudpickle.list_registry_pickle_by_value():
            cloudpickle.register_pickle_by_value(module)
            registered.append(module)
    try:
        yield
    finally:
        for module in registered:
            cloudpickle.unregister_pickle_by_value(module)


def _modules(f: Any, shared: dict[str, Any]) -> list[types.ModuleType]:
    found: dict[str, types.ModuleType] = {}
    for one in functions_of(f, shared):
        if not isinstance(one, types.FunctionType) or is_of_library(one.__code__.co_filename):
            continue
        values = [value for _, value in captured_by(one) if isinstance(value, types.ModuleType)]
        for module in [sys.modules.get(one.__module__ or ""), *values]:
            file = getattr(module, "__file__", None)
            if module is not None and file and not is_of_library(file) and module.__name__ != "__main__":
                found[module.__name__] = module
    return list(found.values())


def answer_parcel(value: Any) -> Parcel:
    """What a worker answers: classes that came with the function go back by name, so that they are the caller's own."""
    trackers = cloudpickle.cloudpickle._DYNAMIC_CLASS_TRACKER_BY_CLASS

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, obj: Any) -> Any:
            return trackers.get(obj) if isinstance(obj, type) else None

    try:
        return Parcel(value, Pickler)
    except Exception as error:
        raise NotSendable(f"a result cannot be pickled: {type(error).__name__}: {error}") from None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, pid: Any) -> Any:
        return cloudpickle.cloudpickle._DYNAMIC_CLASS_TRACKER_BY_ID[pid]


def load(data: Any, buffers: Any) -> Any:
    """The inverse of both."""
    return _Unpickler(io.BytesIO(data), buffers=buffers).load()


def unpacked(parts: list[Any], keep: bool = False) -> Any:
    """The object of a parcel's arrays. `keep`: with memory of its own; else it looks into theirs, and only looks."""
    buffers = [bytearray(part) if keep else memoryview(part).toreadonly() for part in parts[1:]]
    return load(memoryview(parts[0]), buffers)
