"""What stands on both sides of one lane's function in LLVM IR: its types, its names, and what is known of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

I8, I32, I64, F64 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
POINTER = I8.as_pointer()
LANE = "upshift_lane"
OF_C = "upshift_"
"""What the names of C's functions begin with."""


@dataclass(frozen=True, slots=True)
class Flat:
    """One lane's work: `i32 @upshift_lane(i64 lane, *columns, *outs, *captured)`, 0 where its results stand."""

    text: str
    words: tuple[Any, ...]
    """Types of the arguments behind the first."""
    maths: frozenset[str]
    """C's functions that it calls."""
    team: bool = False
    """Whether several threads run it for one lane."""
    shared: int = 0
    """Bytes of memory that they share."""

    @property
    def loops(self) -> bool:
        """Whether lanes may take different times: a block is entered again from one below it."""
        seen: set[str] = set()
        for line in self.text.splitlines():
            label = re.match(r'((?:[-\w.$]+|"[^"]*")):', line)
            if label:
                seen.add(f"%{label[1]}")
            elif re.match(r"  (br|switch) ", line) and seen.intersection(
                re.findall(r'label (%[-\w.$]+|%"[^"]*")', line)
            ):
                return True
        return False

    @property
    def close(self) -> bool:
        """Whether it depends on functions whose last bits a GPU has otherwise."""
        return bool(self.maths - EXACT)


EXACT = frozenset(("fmod", "single_fmod", "remainder"))
"""Functions of C's whose results have no last bits to differ in."""
