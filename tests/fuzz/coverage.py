"""How much of the compiler programs have used: functions of its library that were compiled, and of its own that ran."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import upshift.compiler
from upshift.compiler.prelude import registry

ROOT = str(Path(upshift.compiler.__file__).parent)
Place = tuple[str, str, int]
"""A file below the compiler, a qualified name, a line."""


@contextlib.contextmanager
def watched(seen: set[Place]) -> Iterator[None]:
    """The compiler's own functions that are called meanwhile."""

    def call(frame: types.FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if code.co_filename.startswith(ROOT):
            seen.add(_place(code))

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)


def _place(code: types.CodeType) -> Place:
    return code.co_filename[len(ROOT) + 1 :], code.co_qualname, code.co_firstlineno


def compiled_in(unit: Any) -> set[Place]:
    """The functions of the prelude that a program was compiled together with."""
    codes = {spec.home.fn.__code__ for spec in unit.specs.values() if hasattr(spec.home.fn, "__code__")}
    frames = [frame for spec in unit.specs.values() for frame in spec.frames.values()]
    codes |= {frame.home.fn.__code__ for frame in frames if hasattr(frame.home.fn, "__code__")}
    return {_place(code) for code in codes if code.co_filename.startswith(f"{ROOT}/prelude")}


def of_prelude() -> set[Place]:
    """All functions of the prelude that stand for something."""
    tables = (registry.FUNCTIONS, registry.IMPLEMENTS, registry.NAMED, registry.METHODS)
    found = {_place(f.__code__) for table in tables for f in table.values() if hasattr(f, "__code__")}
    for name in list(sys.modules):
        if name.startswith("upshift.compiler.prelude."):
            for cls in vars(sys.modules[name]).values():
                if isinstance(cls, type) and cls.__module__ == name:
                    found |= {_place(f.__code__) for f in vars(cls).values() if isinstance(f, types.FunctionType)}
    return found


def of_rows() -> set[Place]:
    """All functions of the compiler's rows and library, and those inside them."""
    found: set[Place] = set()
    for path in [*Path(ROOT, "rows").glob("*.py"), *Path(ROOT).glob("*librar*.py")]:
        todo = [compile(path.read_text(), str(path), "exec")]
        while todo:
            for constant in todo.pop().co_consts:
                if isinstance(constant, types.CodeType):
                    todo.append(constant)
                    if not constant.co_name.startswith("<") or constant.co_name == "<lambda>":
                        found.add(_place(constant))
    return found
