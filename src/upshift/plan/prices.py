"""What things cost on this machine before they were measured: each a typical figure, corrected by what was seen since.

All are seconds on a core of some 4 GHz. What one function teaches (a check took twice as long as expected) holds for
the next one: there is one factor for every kind of price.
"""

from __future__ import annotations

import dis
import functools
import sys
import threading
import types

from ..compiler.llvm import is_loaded

LOOP_CALL = 5e-6
"""The most that a loop takes beside its elements: to begin, and to make an array of the results."""
TRACE, TRACE_BRANCH, TRACE_OF_ARRAYS = 250e-6, 150e-6, 1.5e-3
"""The first trace of a function and its check, more for every branch in its code; and where elements are arrays."""
TRACE_SLOWER = 60.0
"""How many times as long as a plain call one that is traced takes."""
BATCH_CALL, BATCH_GAIN = 20e-6, 10.0
"""A batch by NumPy before its first element, and how much faster than the loop it is expected to be."""
BATCH_OF_ARRAYS = 8e-6
"""What a batch saves at most for an element that is an array: the rest is NumPy's own work."""
CHECK = 30e-6
"""To find the kinds of a function, for every instruction of its bytecode and of what it calls."""
CHECK_OF_ARRAYS = 2.0
"""How many times as long that takes where elements are arrays or lists."""
FIRST_CHECK = 2e-3
"""More for the first check of a process, which finds nothing of the library at hand."""
CODE, CODE_STEP = 3e-3, 12e-6
"""To compile a function quickly, and more for every step of it."""
CODE_OF_ARRAYS = 2.5
"""How many times as long that takes where elements are arrays or lists: every formula is a nest of loops."""
OPTIMISED, OPTIMISED_GAIN = 5e-3, 2.5
"""To optimise a function's code, and how much faster it is expected to be then."""
OPTIMISED_CHARACTER = 0.5e-6
"""More for every character of its LLVM IR, which is there when it is asked what that costs."""
OPTIMISED_WHOLE, OPTIMISED_GAIN_OF_ARRAYS = 4.0, 6.0
"""How many times as long a character takes by LLVM's whole list of passes (code without loops, and loops over arrays),
and how much faster loops over arrays are expected to be then."""
EXPECTED_STEPS, EXPECTED_CHARACTERS = 150, 12_000
"""Steps of a function of which nobody knows how many it has, and characters of its LLVM IR."""
CHARACTERS = 240
"""Characters of LLVM IR that stand for a line of the program without branches, with its vector maths."""
LLVM = 15e-3
"""To load LLVM, once in a process."""
TRACING = 40e-3
"""To load what traces functions, with the rules of NumPy's functions, once in a process."""
KERNEL_CALL, KERNEL_GAIN, KERNEL_LANE = 4e-6, 10.0, 2e-9
"""A call of machine code before its first lane, how much faster than the loop it is expected to be, and the least that
a lane takes."""
LIST_ITEM, COLUMN_ITEM = 2e-9, 12e-9
"""To read one number out of a list, by machine code and into a column."""
FIELD, FIELD_OF_TUPLE = 100e-9, 3e-9
"""To read one field of a dict, an object or a tuple into a column of NumPy's; and of a tuple for machine code."""
RECORD, PICKED, PICKED_OBJECT = 4e-9, 3e-9, 30e-9
"""A look at a record whose fields have names, and each number that is picked out of it, or anything else."""
SIMD_GAIN, SIMD_GAIN_OF_BATCH = 40.0, 2.0
"""How much faster than the loop, and than a batch by NumPy, vector code with vector maths is expected to be."""
GPU, GPU_CALL, GPU_GAIN, GPU_GAIN_OF_CODE, GPU_TRAVELS = 0.15, 200e-6, 300.0, 4.0, 10e9
"""What calls lose while a GPU is woken and its code compiled on another thread; a call; how much faster than the loop,
and than machine code; bytes a second to the GPU and back."""

_FACTORS: dict[str, float] = {}
_LOCK = threading.Lock()
FARTHEST = 8.0


def learn(kind: str, expected: float, seconds: float) -> None:
    """A price of this kind was paid: the next ones are expected to be as far from the typical figure."""
    if expected <= 0 or seconds <= 0:
        return
    with _LOCK:
        before = _FACTORS.get(kind, 1.0)
        seen = min(max(before * seconds / expected, 1 / FARTHEST), FARTHEST)
        share = 0.5 if kind not in _FACTORS else 0.2
        _FACTORS[kind] = before ** (1 - share) * seen**share


def factor(kind: str) -> float:
    """How much more than typical something costs on this machine, as far as it was measured."""
    return _FACTORS.get(kind, 1.0)


@functools.lru_cache(maxsize=4096)
def _instructions(code: types.CodeType) -> tuple[int, int, bool, tuple[str, ...]]:
    """Of a code and those inside it: instructions, branches, whether it jumps backwards, and the names it reads."""
    opcodes = code.co_code[::2]
    branches = sum(opcodes.count(op) for op in _branching())
    loops = any(op in opcodes for op in _backwards())
    count = len(opcodes) - opcodes.count(dis.opmap["CACHE"])
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _instructions(constant)
            count, branches, loops = count + inner[0], branches + inner[1], loops or inner[2]
            names.update(dict.fromkeys(inner[3]))
    return count, branches, loops, tuple(names)


@functools.cache
def _branching() -> tuple[int, ...]:
    return tuple(op for name, op in dis.opmap.items() if "JUMP_IF" in name)


@functools.cache
def _backwards() -> tuple[int, ...]:
    return tuple(op for name, op in dis.opmap.items() if "BACKWARD" in name)


MOST_HELPERS = 24


def size_of(f: object) -> tuple[int, int, bool]:
    """Of a function and the helpers that it names: instructions, branches, whether its own code has a loop."""
    codes = _codes_of(f)
    if not codes:
        return 50, 2, True
    _, branches, loops, _ = _instructions(codes[0])
    return sum(_instructions(code)[0] for code in codes), branches, loops


def loops_in(f: object) -> bool:
    """Whether a function, or a helper of it, has a loop or a function of its own inside."""
    codes = _codes_of(f)
    within = any(isinstance(constant, types.CodeType) for code in codes for constant in code.co_consts)
    return not codes or within or any(_instructions(code)[2] for code in codes)


def _codes_of(f: object) -> list[types.CodeType]:
    """The code of a function and of the helpers that it names."""
    inner = getattr(f, "__wrapped__", None) or getattr(f, "func", None) or getattr(f, "__func__", None) or f
    if not isinstance(inner, types.FunctionType):
        return []
    found, todo = [inner.__code__], [inner]
    while todo and len(found) < MOST_HELPERS:
        one = todo.pop()
        for name in _instructions(one.__code__)[3]:
            helper = one.__globals__.get(name)
            helper = getattr(helper, "__wrapped__", helper)
            if isinstance(helper, types.FunctionType) and helper.__code__ not in found:
                found.append(helper.__code__)
                todo.append(helper)
    return found


_MATHS = frozenset(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p cbrt hypot pow "
    "atan2 erf erfc arcsin arccos arctan arcsinh arccosh arctanh arctan2 power".split()
)


def uses_maths(f: object) -> bool:
    """Whether a function, or a helper of it, names a function that there are vector functions for."""
    inner = getattr(f, "__wrapped__", None) or getattr(f, "func", None) or getattr(f, "__func__", None) or f
    if not isinstance(inner, types.FunctionType):
        return False
    seen, todo = {inner.__code__}, [inner]
    while todo and len(seen) < MOST_HELPERS:
        one = todo.pop()
        names = _instructions(one.__code__)[3]
        if not _MATHS.isdisjoint(names):
            return True
        for name in names:
            helper = one.__globals__.get(name)
            if isinstance(helper, types.FunctionType) and helper.__code__ not in seen:
                seen.add(helper.__code__)
                todo.append(helper)
    return False


def trace_price(f: object, of_arrays: bool, per_element: float) -> float:
    """`per_element`: seconds that the loop takes for an element, which matters where the function has loops."""
    _, branches, loops = size_of(f)
    paths = min(branches, 12) + 1 if loops else 1
    base = (TRACE_OF_ARRAYS if of_arrays else TRACE) + TRACE_BRANCH * min(branches, 12)
    loading = 0.0 if tracing_is_loaded() else TRACING
    return factor("trace") * (base + TRACE_SLOWER * paths * per_element) + loading


def tracing_is_loaded() -> bool:
    """Whether what traces functions is in memory, all of it."""
    return hasattr(sys.modules.get("upshift.plan.batch"), "batch")


def check_price(f: object, of_arrays: bool) -> float:
    """Seconds that it is expected to take to check a function. `of_arrays`: of arrays or lists."""
    first = 0.0 if "check" in _FACTORS else FIRST_CHECK
    return factor("check") * CHECK * max(size_of(f)[0], 20) * (CHECK_OF_ARRAYS if of_arrays else 1.0) + first


def code_price(steps: int, of_arrays: bool) -> float:
    """Seconds that it is expected to take to compile so many steps. `of_arrays`: on arrays or lists."""
    loading = 0.0 if is_loaded() else LLVM
    return factor("code") * (CODE + CODE_STEP * steps) * (CODE_OF_ARRAYS if of_arrays else 1.0) + loading


def optimised_price(characters: int, whole: bool = False) -> float:
    """Seconds that it is expected to take to optimise so much LLVM IR. `whole`: by LLVM's whole list of passes."""
    each = OPTIMISED_CHARACTER * (OPTIMISED_WHOLE if whole else 1.0)
    return factor("optimised") * (OPTIMISED + each * characters)
