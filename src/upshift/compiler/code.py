"""A function as blocks of simple operations: what a syntax tree is lowered to, and what kinds are found for.

`a * b + 1` becomes `%1 = binary Mult a b; %2 = const 1; %3 = binary Add %1 %2`. A name that begins with `%` is a
temporary, one that begins with `^` is a variable of the function around.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


class Op:
    """One operation: `dst = code(args)`; `extra` is what it needs to know besides."""

    __slots__ = ("args", "code", "dst", "extra", "line")

    def __init__(self, code: str, dst: str | None, args: tuple[str, ...], extra: Any, line: int) -> None:
        self.code, self.dst, self.args, self.extra, self.line = code, dst, args, extra, line

    def reads(self) -> Iterable[str]:
        """The names that it reads: those of its arguments, and those that a function made here takes along."""
        if self.code in ("closure", "genexpr"):
            return (*self.args, *self.extra.around)
        return self.args

    def __repr__(self) -> str:
        extra = "" if self.extra is None else f" {self.extra}"
        return f"{self.dst or ''} = {self.code}{extra} {' '.join(self.args)}"


class Block:
    """Operations that run one after the other, and where they lead: the last one jumps, branches or ends."""

    __slots__ = ("handler", "id", "live", "ops", "sources", "targets")

    def __init__(self, id: int, handler: Block | None) -> None:
        self.id, self.handler = id, handler
        self.ops: list[Op] = []
        self.targets: tuple[Block, ...] = ()
        self.sources = 0
        """How many blocks lead here."""
        self.live: list[frozenset[str]] | None = None
        """For every operation, the names that it or a later one reads."""

    def __repr__(self) -> str:
        return f"block {self.id}"


@dataclass(frozen=True, slots=True)
class Shape:
    """How a call passes its arguments: which of the positional ones are starred, and the names of the others."""

    starred: tuple[bool, ...]
    keywords: tuple[str | None, ...] = ()


@dataclass(eq=False, slots=True)
class Parameters:
    """The parameters of a function by name; the last ones have defaults."""

    positional: tuple[str, ...]
    positional_only: int = 0
    variadic: str | None = None
    keyword_only: tuple[str, ...] = ()
    keywords: str | None = None
    defaults: int = 0
    """How many of the positional ones have a default."""
    keyword_defaults: frozenset[str] = frozenset()


@dataclass(eq=False, slots=True)
class Code:
    """A function: its parameters and blocks. `around`: names that it takes from the function around it."""

    name: str
    parameters: Parameters
    filename: str
    first_line: int
    blocks: list[Block] = field(default_factory=list)
    locals: frozenset[str] = frozenset()
    around: frozenset[str] = frozenset()
    values: tuple[str, ...] | None = None
    """These names, where none of them is ever set anew: then the function can take their values along."""
    generator: bool = False
    annotations: dict[str, Any] = field(default_factory=dict)
    size: int = 0
    quiet: bool = False
    """Whether it is only run where NumPy warns of nothing, so that no lane has to be left for a warning."""
    _unneeded: frozenset[str] | None = None

    @property
    def unneeded(self) -> frozenset[str]:
        """Names of texts that nobody reads, but to make other such texts of them: messages of exceptions."""
        if self._unneeded is None:
            self._unneeded = self._find_unneeded()
        return self._unneeded

    def _find_unneeded(self) -> frozenset[str]:
        ops = [op for block in self.blocks for op in block.ops]
        names = {op.dst for op in ops if op.dst is not None and not op.dst.startswith("^")}
        if not any(op.code in ("join", "call") for op in ops):
            return frozenset()
        pairs = [pair for block in self.blocks for pair in zip(block.ops, block.ops[1:])]
        thrown = {a for a, b in pairs if a.code == "call" and b.code == "raise" and b.args == (a.dst,)}
        changed = True
        while changed:
            changed = False
            for op in ops:
                makes = op.code in _TEXT_MAKERS or (op.code == "binary" and op.extra == "Add")
                if not makes or op.dst not in names:
                    needed = names.intersection(op.args[:1] if op in thrown else op.reads())
                    changed |= bool(needed)
                    names -= needed
        return frozenset(names)

    def live_at(self, block: Block, at: int) -> frozenset[str]:
        """The names that are read from this operation on before they are set."""
        if block.live is None:
            self._find_live()
        assert block.live is not None
        return block.live[at]

    def _find_live(self) -> None:
        starts: dict[Block, frozenset[str]] = {block: frozenset() for block in self.blocks}
        changed = True
        while changed:
            changed = False
            for block in reversed(self.blocks):
                live = set().union(*(starts[target] for target in block.targets))
                if block.handler is not None:
                    live |= starts[block.handler]
                for op in reversed(block.ops):
                    if op.dst is not None and block.handler is None:
                        live.discard(op.dst)
                    live.update(op.reads())
                if len(live) != len(starts[block]):
                    starts[block] = frozenset(live)
                    changed = True
        for block in self.blocks:
            live = set().union(*(starts[target] for target in block.targets))
            kept = starts[block.handler] if block.handler is not None else frozenset()
            live |= kept
            after = [frozenset(live)]
            for op in reversed(block.ops):
                if op.dst is not None and op.dst not in kept:
                    live.discard(op.dst)
                live.update(op.reads())
                after.append(frozenset(live))
            block.live = after[::-1]


_TEXT_MAKERS = frozenset(("join", "format", "percent", "move"))
"""Operations that make a text of others, or another name for one."""
