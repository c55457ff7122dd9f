"""A function of whole arrays in; the formula out that it computes for every number of them, or None.

Found by calling the function on symbols, after a look at its code: nothing in it may do more than compute. Only what
NumPy rounds in one way, whatever the array, is taken: sums, products, quotients, square roots. The sign of a NaN is
nobody's promise.
"""

from __future__ import annotations

import dis
import re
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .calls import Argument, ArrayOf

FLOATS = np.dtype(np.float64)
LEAST = 2
"""Operations from which on one loop is faster than NumPy's: those of a single one is as good."""
MOST = 64
_UFUNCS: dict[Any, str] = {
    np.add: "({} + {})", np.subtract: "({} - {})", np.multiply: "({} * {})", np.true_divide: "({} / {})",
    np.negative: "(-{})", np.absolute: "abs({})", np.sqrt: "sqrt({})", np.square: "({0} * {0})",
}  # fmt: skip
_NAMES = frozenset("add subtract multiply true_divide divide negative absolute abs sqrt square".split())
_COMPUTING = ("RESUME", "LOAD_FAST", "STORE_FAST", "LOAD_CONST", "LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD", "BINARY_OP",
              "UNARY_NEGATIVE", "PUSH_NULL", "PRECALL", "CALL", "RETURN_VALUE", "BUILD_TUPLE", "COPY", "SWAP", "NOP",
              "CACHE")  # fmt: skip


_OPERATOR, _CALL = dis.opmap["BINARY_OP"], dis.opmap["CALL"]


@dataclass(frozen=True, slots=True)
class Formula:
    """Lines that compute values v0, v1, ... from one number of every array, and the names of the results."""

    lines: tuple[str, ...]
    results: tuple[str, ...]
    several: bool
    """Whether the function gives a tuple."""
    reads_numpy: tuple[str, ...]
    """Global names of NumPy's module."""


def formula_of(f: types.FunctionType, kind: Sequence[Argument]) -> Formula | None:
    """The formula of a function, for arguments of these kinds."""
    steps = f.__code__.co_code[::2]
    if steps.count(_OPERATOR) + steps.count(_CALL) < LEAST:
        return None
    arrays = [one for one in kind if isinstance(one, ArrayOf)]
    if not arrays or any(not one.contiguous or one.dtype != FLOATS or one.ndim != arrays[0].ndim for one in arrays):
        return None
    if any(not isinstance(one, ArrayOf) and one not in (int, float, np.float64) for one in kind):
        return None
    reads = _reads(f)
    if reads is None:
        return None
    lines: list[str] = []
    symbols = [_Symbol(lines, f"a{i}", isinstance(one, ArrayOf)) for i, one in enumerate(kind)]
    try:
        made = f(*symbols)
    except Exception:  # not a formula
        return None
    results = made if type(made) is tuple else (made,)
    made_here = all(isinstance(one, _Symbol) and one.name.startswith("v") for one in results)
    if not made_here or not LEAST <= len(lines) <= MOST:
        return None
    names = tuple(one.name for one in results)
    if any(f"v{i}" not in names and not any(_uses(line, i) for line in lines) for i in range(len(lines))):
        return None  # what nobody needs is not computed, and would not warn
    return Formula(tuple(lines), names, type(made) is tuple, reads) if len(set(names)) == len(names) else None


def _uses(line: str, i: int) -> bool:
    return re.search(rf"= .*\bv{i}\b", line) is not None


def _reads(f: types.FunctionType) -> tuple[str, ...] | None:
    """The global names of a function that only computes; None where it may do more."""
    code = f.__code__
    plain = not (code.co_freevars or code.co_cellvars or code.co_flags & 0x0C or code.co_kwonlyargcount)
    if not plain or f.__defaults__:
        return None
    for one in dis.get_instructions(code):
        if not one.opname.startswith(_COMPUTING) or (one.opname == "BINARY_OP" and one.argrepr.endswith("=")):
            return None
    found = tuple(name for name in code.co_names if name not in _NAMES)
    return found if all(f.__globals__.get(name) is np for name in found) else None


class _Symbol:
    """An array's number, or a number that is given; `lines` are the operations so far. What is no formula raises."""

    __slots__ = ("is_array", "lines", "name")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, lines: list[str], name: str, is_array: bool) -> None:
        self.lines, self.name, self.is_array = lines, name, is_array

    def _made(self, text: str, *operands: Any) -> _Symbol:
        names = []
        for one in operands:
            if type(one) not in (_Symbol, int, float) or (type(one) is int and abs(one) > 2**53):
                raise TypeError("not a number of a formula")
            names.append(one.name if type(one) is _Symbol else f"({float(one)!r})")
        if not any(type(one) is _Symbol and one.is_array for one in operands):
            raise TypeError("computed without arrays, which is Python's")
        if "inf" in "".join(names) or "nan" in "".join(names):
            raise TypeError("a constant that is not finite")
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text.format(*names)}")
        return _Symbol(self.lines, name, True)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **keywords: Any) -> _Symbol:
        if method != "__call__" or keywords or ufunc not in _UFUNCS:
            raise TypeError("not a function of a formula")
        return self._made(_UFUNCS[ufunc], *args)

    def __pow__(self, exponent: Any) -> _Symbol:
        """NumPy makes a product of an array's square, and of no other power."""
        if type(exponent) not in (int, float) or exponent != 2:
            raise TypeError("a power that is not a square")
        return self._made("({0} * {0})", self)

    def __neg__(self) -> _Symbol:
        return self._made("(-{})", self)

    def _is_no_formula(self, *_: Any) -> Any:
        raise TypeError("decides by a number, or shows it")

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _is_no_formula


def _operator(sign: str, reflected: bool) -> Callable[[_Symbol, Any], _Symbol]:
    def operate(self: _Symbol, other: Any) -> _Symbol:
        return self._made(f"({{}} {sign} {{}})", *((other, self) if reflected else (self, other)))

    return operate


for _name, _sign in {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}.items():
    setattr(_Symbol, f"__{_name}__", _operator(_sign, reflected=False))
    setattr(_Symbol, f"__r{_name}__", _operator(_sign, reflected=True))
