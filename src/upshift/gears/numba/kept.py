"""A text that says all that machine code is made from in; the code out, from the disk where another process left it.

Numba's own format and files, in a folder that only this user can write to. What was kept is checked against the loop
like code that was just compiled, so the worst that a wrong file could do is to cost time.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import pickle
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import IndexDataCacheFile
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target

from ...folder import folder, stamp
from . import vector

MOST_FILES = 512
"""Kernels that are kept; the oldest go first."""
_DAMAGED = (OSError, pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, KeyError, ImportError,
            IndexError, RuntimeError)  # fmt: skip
"""What reading a damaged file may raise."""


def _count_elsewhere() -> None:
    """Names in machine code end with a number, which Numba counts from 1 in every process.

    Code from the disk could so have the name of other code that was made here, and calls would go to what came first.
    """
    FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48))


_count_elsewhere()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_elsewhere)


def kept(text: str, make: Callable[[], tuple[Any, Any]]) -> tuple[Any, Any]:
    """Machine code and what goes with it: from the disk, else made now and kept. `make` gives Numba's result."""
    place = folder()
    if place is None:
        result, besides = make()
        return result.entry_point, besides
    context = cpu_target.target_context
    context.refresh()  # what is loaded needs it as much as what is compiled
    magic = context.codegen().magic_tuple()
    name = hashlib.sha256(f"{text}\n{magic}\n{stamp()}\n{_makers()}\n{vector.cache_key()}".encode()).hexdigest()[:32]
    code = place / "code"
    file = IndexDataCacheFile(str(code), f"kernel-{name}", text)
    try:
        found = file.load(magic) if code.is_dir() else None
        if found is not None:
            payload, besides = found
            return CompileResult._rebuild(context, *payload).entry_point, besides
    except _DAMAGED:  # it is written anew
        (code / f"kernel-{name}.nbi").unlink(missing_ok=True)
    result, besides = make()
    try:
        code.mkdir(mode=0o700, exist_ok=True)
        file.save(magic, (result._reduce(), besides))
        _sweep(code)
    except (pickle.PicklingError, *_DAMAGED):
        pass  # this process has it all the same
    return result.entry_point, besides


def kernel_of(source: str, space: dict[str, Any], constants: dict[str, Any], signature: Any) -> Any:
    """The function `kernel` of a source that we wrote, as machine code. `space`: what its names stand for."""

    def make() -> tuple[Any, None]:
        exec(compile(source, "<upshift kernel>", "exec"), space)
        kernel = njit([signature], nogil=True, error_model="numpy", no_cfunc_wrapper=True)(space["kernel"])
        return kernel.overloads[signature.args], None

    values = [f"{type(value).__name__} {value!r}" for value in constants.values()]
    return kept(f"{source}\n{values}\n{signature}", make)[0]


@functools.cache
def _makers() -> list[tuple[str, int, int]]:
    """What tells the files that make machine code from those of any other day: a version may be at work for weeks."""
    here = Path(__file__).parent
    files = sorted([*here.glob("*.py"), *(here.parents[1] / "emit").glob("*.py")])
    return [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]


def _sweep(code: Any) -> None:
    """Kernels that were made long ago make room for others."""
    files = sorted(code.glob("kernel-*.nbi"), key=lambda path: path.stat().st_mtime)
    for index in files[:-MOST_FILES]:
        for path in code.glob(f"{index.stem}.*"):
            path.unlink(missing_ok=True)
