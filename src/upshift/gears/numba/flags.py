"""The processor's floating-point flags: what NumPy would warn of, told without looking at every number."""

from __future__ import annotations

import ctypes
import functools
import platform
from typing import Any

import numpy as np

from ..direct import Flags

_X86 = {"invalid": 1, "divide": 4, "over": 8, "under": 16}
_ARM = {"invalid": 1, "divide": 2, "over": 4, "under": 8}
_INEXACT = 16 if platform.machine() in ("aarch64", "arm64") else 32


@functools.cache
def _library() -> tuple[Any, Any, dict[str, int]] | None:
    """C's functions for the flags; None where they cannot be found."""
    bits = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM}.get(platform.machine())
    try:
        library = ctypes.PyDLL(None)
        return (library.feclearexcept, library.fetestexcept, bits) if bits else None
    except (OSError, AttributeError, TypeError):
        return None


def are_known() -> bool:
    """Whether this machine tells its flags."""
    return _library() is not None


def watched() -> int:
    """The flags that NumPy minds now."""
    found = _library()
    assert found is not None
    return sum(found[2][name] for name, what in np.geterr().items() if what != "ignore")


def clear() -> None:
    """No flag is raised on this thread."""
    _library()[0](31)  # type: ignore[index]


def raised(mask: int) -> bool:
    """Whether one of these flags was raised since."""
    return bool(_library()[1](mask))  # type: ignore[index]


def warns() -> bool:
    """Whether a flag was raised since that NumPy minds now."""
    raised = _library()[1](31 & ~_INEXACT)  # type: ignore[index]
    return bool(raised) and bool(raised & watched())


def at_hand() -> Flags:
    """All of this, for a call that has no time to look for it."""
    found = _library()
    assert found is not None
    return Flags(found[0], found[1], all_of_them(), warns)


def all_of_them() -> int:
    """Every flag that NumPy may mind."""
    found = _library()
    return sum(found[2].values()) if found is not None else 0
