"""What makes a run up, as one text; and a folder beside its result that says how far it has come."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pickle
import shutil
import types
from typing import Any

import numpy as np

from ..gears.workers.purity import captured_by, functions_of

SUFFIX = ".upshift"
"""What the folder is called besides the result's name."""


class Journal:
    """A run that may be interrupted: of another one's blocks, none is used."""

    def __init__(self, place: str, fingerprint: str) -> None:
        self.folder, self.fingerprint = place + SUFFIX, fingerprint
        self.state: dict[str, Any] = {}
        try:
            with open(self.path("run.json"), encoding="utf-8") as file:
                self.state = json.load(file)
        except (OSError, ValueError):
            pass
        if self.state.get("run") != fingerprint:
            self.remove()
            self.state = {"run": fingerprint, "done": 0}
        os.makedirs(self.folder, exist_ok=True)

    @property
    def done(self) -> int:
        """Blocks that are finished."""
        return int(self.state["done"])

    def path(self, name: str) -> str:
        """Where a file of the run lies."""
        return os.path.join(self.folder, name)

    def note(self, done: int, **more: Any) -> None:
        """So many are, with all that there is to know about them; at once, or not at all."""
        self.state |= {"done": done, **more}
        with open(self.path("new.json"), "w", encoding="utf-8") as file:
            json.dump(self.state, file)
        os.replace(self.path("new.json"), self.path("run.json"))

    def remove(self) -> None:
        """Forgets the run: its result is whole."""
        shutil.rmtree(self.folder, ignore_errors=True)


def fingerprint(f: Any, shared: dict[str, Any], words: tuple[Any, ...], source: Any) -> str:
    """The same for the same function, keywords and columns, in any process; another one wherever that is not sure."""
    found = hashlib.blake2b(digest_size=16)
    for one in [f, *functions_of(f, shared)]:
        if isinstance(one, types.FunctionType):
            _add(found, one.__code__)
            for name, value in captured_by(one):
                _add(found, (name, _name(value) if callable(value) else value))
        else:
            _add(found, one)
    _add(found, (sorted(shared.items()), words, source.identity()))
    return found.hexdigest()


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"


def _add(found: Any, value: Any) -> None:
    """A value, by all that it is; hashes of texts, on which the order of a set hangs, differ between processes."""
    found.update(type(value).__name__.encode())
    if isinstance(value, types.CodeType):
        found.update(value.co_code)
        _add(found, (value.co_consts, value.co_names, value.co_varnames, value.co_freevars))
    elif isinstance(value, types.FunctionType):
        _add(found, (value.__code__, _name(value)))
    elif isinstance(value, functools.partial):
        _add(found, (value.func, value.args, value.keywords))
    elif isinstance(value, np.ndarray) and value.dtype != object:
        found.update(repr((value.dtype.descr, value.shape)).encode())
        found.update(np.ascontiguousarray(value).data if value.size else b"")
    elif isinstance(value, tuple | list):
        found.update(str(len(value)).encode())
        for item in value:
            _add(found, item)
    elif isinstance(value, dict):
        _add(found, list(value.items()))
    elif isinstance(value, set | frozenset):
        _add(found, sorted(map(repr, value)))
    elif isinstance(value, types.ModuleType):
        found.update(value.__name__.encode())
    elif isinstance(value, str | bytes | int | float | complex | bool | type(None) | type(Ellipsis)):
        found.update(repr(value).encode())
    else:
        try:
            found.update(pickle.dumps(value))
        except Exception:  # whatever it is: a run is not taken for the one before
            found.update(os.urandom(16))
