"""Watches calls of our own functions while a profile is open, and leaves no trace afterwards.

Nothing is paid when nobody watches: a place is watched by putting a function of ours where the watched one was, in our
own modules, and by putting that back.

>>> from upshift.profiling import places
>>> from upshift.profiling.probes import watched
>>> with watched(places.PLACES, print):
...     pass
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Place:
    """A function or method of ours, by where it is looked up when it is called."""

    module: str
    name: str
    phase: str
    """What its time is spent on."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One call at a place."""

    place: Place
    began: float
    ended: float
    thread: int
    args: tuple[Any, ...]
    result: Any
    """None where it raised."""


Observer = Callable[[Seen], None]
_lock = threading.RLock()
_observers: dict[Place, tuple[Observer, ...]] = {}
_originals: dict[Place, Any] = {}
_waiting: dict[Place, tuple[Observer, ...]] = {}
"""Those that are not loaded yet, and who will watch them."""


@contextmanager
def watched(places: Sequence[Place], observer: Observer) -> Iterator[None]:
    """The observer sees every call at these places, in all threads; places that are not loaded yet are left out."""
    watch(places, observer)
    try:
        yield
    finally:
        unwatch(places, observer)


def watch(places: Sequence[Place], observer: Observer) -> None:
    """Begin; with places that are not loaded yet, once `catch_up` is called."""
    with _lock:
        for place in places:
            before = _observers.get(place, ())
            if observer in before:
                continue
            if before or _install(place):
                _observers[place] = (*before, observer)
            else:
                _waiting[place] = (*_waiting.get(place, ()), observer)


def catch_up() -> None:
    """Something has been loaded: begin with what somebody waits for."""
    with _lock:
        for place, observers in list(_waiting.items()):
            if _install(place):
                _observers[place] = observers
                del _waiting[place]


def unwatch(places: Sequence[Place], observer: Observer) -> None:
    """Ends an observer's watch; where nobody watches any more, the places are as they were."""
    with _lock:
        for place in places:
            still = tuple(one for one in _waiting.pop(place, ()) if one != observer)
            if still:
                _waiting[place] = still
            rest = tuple(one for one in _observers.get(place, ()) if one != observer)
            if rest:
                _observers[place] = rest
            elif _observers.pop(place, None) is not None:
                owner, name = _owner(place)
                setattr(owner, name, _originals.pop(place))


def _owner(place: Place) -> tuple[Any, str]:
    """What holds the function, and under which name; None where its module is not loaded."""
    owner: Any = sys.modules.get(place.module)
    *path, name = place.name.split(".")
    for part in path:
        owner = getattr(owner, part, None)
    return owner, name


def _install(place: Place) -> bool:
    owner, name = _owner(place)
    original = None if owner is None else vars(owner).get(name)
    if not callable(original):
        return False
    _originals[place] = original
    setattr(owner, name, _watching(place, original))
    return True


def _watching(place: Place, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        result = None
        began = time.perf_counter()
        try:
            result = original(*args, **keywords)
            return result
        finally:
            seen = Seen(place, began, time.perf_counter(), threading.get_ident(), args, result)
            for observer in _observers.get(place, ()):
                observer(seen)

    return call
