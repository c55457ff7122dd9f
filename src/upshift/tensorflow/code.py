"""Reads bytecode: what a function does besides computing, and whether it decides anything."""

from __future__ import annotations

import builtins
import dis
import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass

ACTING = frozenset(
    "print open input exec eval compile globals locals setattr delattr breakpoint next __import__".split()
)
"""Builtins that do more than compute, or look where no trace can."""
WRITES = frozenset("append extend insert pop remove clear add update setdefault discard popitem appendleft write "
                   "writelines sort reverse put send fill itemset".split())  # fmt: skip
"""Methods by which a captured object changes."""
COMPUTING = frozenset("numpy scipy skimage cv2 math cmath operator itertools functools".split())
"""Packages whose functions only compute, but for random numbers."""
_DECIDES = ("POP_JUMP", "JUMP_IF", "FOR_ITER", "UNARY_NOT", "JUMP_BACKWARD", "RETURN_GENERATOR")


@dataclass(frozen=True)
class Chain:
    """A name that is not local, and the attributes that are read from there."""

    name: str
    free: bool
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """What one code object, and those within it, say."""

    chains: tuple[Chain, ...]
    acts: str
    decides: bool
    writes_items: bool


@functools.lru_cache(maxsize=512)
def facts_of(code: types.CodeType) -> Facts:
    """What the bytecode of a function, and of those within it, says."""
    chains: dict[Chain, None] = {}
    acts, decides, writes_items = "", False, False
    for inner, instructions in _codes(code):
        outer = frozenset(code.co_freevars) & frozenset(inner.co_freevars)
        for i, instruction in enumerate(instructions):
            name = instruction.opname
            decides = decides or name.startswith(_DECIDES)
            writes_items = writes_items or name in ("STORE_SUBSCR", "DELETE_SUBSCR")
            if name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                acts = acts or f"stores the global {instruction.argval!r}"
            if name in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in outer:
                acts = acts or f"stores the nonlocal {instruction.argval!r}"
            if name in ("STORE_ATTR", "DELETE_ATTR"):
                acts = acts or f"sets the attribute {instruction.argval!r}"
            if name == "YIELD_VALUE" and inner is code:
                acts = acts or "yields"
            if name == "IMPORT_NAME" and (instruction.argval.partition(".")[0] not in COMPUTING or _draws(inner)):
                acts = acts or f"imports {instruction.argval}"
            if name == "LOAD_FAST":
                read = tuple(_attributes(instructions, i + 1))
                if len(read) > 1 and read[-1] in WRITES:  # self.seen.append
                    acts = acts or f"may change {instruction.argval}.{'.'.join(read[:-1])}"
            free = name == "LOAD_DEREF" and instruction.argval in outer
            if free or name in ("LOAD_GLOBAL", "LOAD_NAME"):
                chains[Chain(instruction.argval, free, tuple(_attributes(instructions, i + 1)))] = None
    return Facts(tuple(chains), acts, decides, writes_items)


def _draws(code: types.CodeType) -> bool:
    """Whether anything by the name of random is read or imported."""
    return any("random" in name.split(".") for name in code.co_names)


def _codes(code: types.CodeType) -> Iterator[tuple[types.CodeType, list[dis.Instruction]]]:
    yield code, list(dis.get_instructions(code))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _attributes(instructions: list[dis.Instruction], at: int) -> Iterator[str]:
    while at < len(instructions) and instructions[at].opname in ("LOAD_ATTR", "LOAD_METHOD"):
        yield instructions[at].argval
        at += 1


def is_builtin(name: str) -> bool:
    """Whether a name is one of Python's own where no module hides it."""
    return hasattr(builtins, name)
