"""Compiles IR to machine code: LLVM's list of passes, and where the code is kept."""

from __future__ import annotations

import ctypes
import itertools

from . import code_cache
from .llvm import llvm

_NUMBERS = itertools.count()
PASSES = ("AlwaysInliner", "SROA", "SimplifyCFG")
"""The short list: a third of the time that LLVM's own list for -O2 takes, for code that is a tenth slower. To combine
instructions besides takes half as long again, for nothing."""


def object_code(text: str, whole: bool, level: int = 2) -> bytes:
    """Machine code of a module, as an object file, from the disk or made anew.

    `whole`: by all that LLVM knows, its vectoriser among it. `level` 2: optimised; 1: quickly, a quarter of the price
    for code that takes two to three times as long; 0: as it stands, for code that runs once a call.
    """
    name = _name(text, whole, level)
    found = code_cache.load(name)
    if found is None:
        found = compiled(text, whole, level)
        code_cache.keep(name, found)
    return found


def kept_code(text: str, whole: bool) -> bytes | None:
    """Optimised code of a module, where it is on disk already."""
    return code_cache.load(_name(text, whole, 2))


def _name(text: str, whole: bool, level: int) -> str:
    made_by = llvm()
    return code_cache.name_of(made_by.maker, made_by.head, f"{PASSES} {whole} {level}", text)


def compiled(text: str, whole: bool, level: int) -> bytes:
    """Machine code of a module, made by LLVM."""
    passes = () if not level else None if whole and level == 2 else PASSES
    return llvm().object_code(text, passes, 2 if level == 2 else 0)


class Loaded:
    """Machine code in memory, for as long as this object lives."""

    def __init__(self, code: bytes, exports: tuple[str, ...], symbols: dict[str, int] | None = None) -> None:
        self.linked = llvm().link(f"upshift{next(_NUMBERS)}", code, exports, symbols or {})

    def address(self, name: str) -> int:
        """Where a function of it begins."""
        return self.linked.addresses[name]


LANES = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_int64)
