"""Operators and built-in functions on objects: which of their methods Python asks, and in which order."""

from __future__ import annotations

import collections
import enum
import math
from typing import Any

from .captures import HEAP_TYPE
from .check import Walk
from .classes import has_operators
from .code import Op
from .follow import written
from .instances import find_method, is_ours
from .kinds import Kind, Object, Static, Tuple

DUNDERS = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow",
    "LShift": "lshift", "RShift": "rshift", "BitAnd": "and", "BitOr": "or", "BitXor": "xor", "MatMult": "matmul",
}  # fmt: skip
REFLECTED = {"Eq": "Eq", "NotEq": "NotEq", "Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE"}
COMPARED = {"Eq": "__eq__", "NotEq": "__ne__", "Lt": "__lt__", "LtE": "__le__", "Gt": "__gt__", "GtE": "__ge__"}
ASKED: dict[Any, tuple[str, ...]] = {
    abs: ("__abs__",), len: ("__len__",), int: ("__int__", "__index__"), float: ("__float__", "__index__"),
    complex: ("__complex__",), round: ("__round__",), hash: ("__hash__",), next: ("__next__",),
    reversed: ("__reversed__",), math.floor: ("__floor__",), math.ceil: ("__ceil__",), math.trunc: ("__trunc__",),
}  # fmt: skip
"""Built-in functions that ask a method of their one argument."""
UNARY = {"USub": "__neg__", "UAdd": "__pos__", "Invert": "__invert__"}


def is_user_object(kind: Kind) -> bool:
    """Whether a value is an object of a class of the user's, made inside or captured."""
    cls = _class(kind)
    return cls is not None and not is_ours(cls)


def is_object(kind: Kind) -> bool:
    """Whether a value's operators are methods: an object of the user's, or a dict or set of the prelude's."""
    return _class(kind) is not None


def _class(kind: Kind) -> type | None:
    """The class of an object; None for all other values."""
    if isinstance(kind, Object):
        return kind.cls
    if not isinstance(kind, Static) or isinstance(kind.value, type):
        return None
    cls = type(kind.value)
    if isinstance(kind.value, enum.Enum):
        return cls if kind.path is not None and not issubclass(cls, int | str) and has_operators(cls) else None
    return cls if cls.__flags__ & HEAP_TYPE and not cls.__module__.startswith(("builtins", "functools")) else None


def _has(walk: Walk, kind: Kind, name: str) -> bool:
    return _class(kind) is not None and find_method(walk, kind, name) is not None


def _text(tries: list[str], last: str) -> str:
    """A function that asks one method after the other, until one knows the answer. `not `: the answer is turned."""
    lines = ["def asked(a, b):"]
    for one in tries:
        turned = "not " if one.startswith("not ") else ""
        lines += [f"    r = {one.removeprefix('not ')}", "    if r is not NotImplemented:", f"        return {turned}r"]
    return "\n".join([*lines, f"    {last}"])


def _is_behind(a: Kind, b: Kind) -> bool:
    """Whether the right operand is asked first: its class is derived from the left one's."""
    left, right = _class(a), _class(b)
    return left is not None and right is not None and left is not right and issubclass(right, left)


def operate_objects(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind, inplace: bool) -> bool:
    """`a + b` where one of them is an object."""
    if (_class(ka) is None and _class(kb) is None) or operator not in DUNDERS:
        return False
    word = DUNDERS[operator]
    tries = [f"a.__{word}__(b)"] if _has(walk, ka, f"__{word}__") else []
    different = _class(ka) is not _class(kb)
    if different and _has(walk, kb, f"__r{word}__"):
        tries.insert(0 if _is_behind(ka, kb) else len(tries), f"b.__r{word}__(a)")
    if inplace and _has(walk, ka, f"__i{word}__"):
        tries.insert(0, f"a.__i{word}__(b)")
    if not tries and not (is_user_object(ka) or is_user_object(kb)):
        return False
    if isinstance(ka, Object) and is_ours(ka.cls) and tries:
        if not _suits(ka, kb, tries[0]):
            return False
        del tries[1:]  # it knows the answer
    elif isinstance(kb, Object) and is_ours(kb.cls) and len(tries) > 1:
        return False
    written(walk, op, _text(tries, 'raise TypeError("unsupported operands")'), [a, b])
    return True


def _suits(ka: Object, kb: Kind, asked: str) -> bool:
    """Whether a dict, set or deque of ours takes the other operand, as Python's own does."""
    left = ka.cls.stands_for  # type: ignore[attr-defined]
    right = getattr(kb.cls, "stands_for", None) if isinstance(kb, Object) else None
    if left in (set, frozenset):
        return right in (set, frozenset)
    if asked in ("a.__ior__(b)", "a.__iadd__(b)") and left is not collections.Counter:
        return True
    return left is right


def compare_objects(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind) -> bool:
    """`a < b` where one of them is an object."""
    if operator not in COMPARED or not (is_user_object(ka) or is_user_object(kb)):
        return False
    tries = []
    for x, y, kind, sign in (("a", "b", ka, operator), ("b", "a", kb, REFLECTED[operator])):
        if _has(walk, kind, COMPARED[sign]):
            tries.append(f"{x}.{COMPARED[sign]}({y})")
        elif sign == "NotEq" and _has(walk, kind, "__eq__"):
            tries.append(f"not {x}.__eq__({y})")
    if _is_behind(ka, kb) and len(tries) == 2:
        tries.reverse()
    last = 'raise TypeError("not comparable")'
    if operator in ("Eq", "NotEq"):
        last = f"return a {'is' if operator == 'Eq' else 'is not'} b"
        if _class(ka) is not _class(kb):
            last = f"return {operator != 'Eq'}"
    written(walk, op, _text(tries, last), [a, b])
    return True


def asked_for(walk: Walk, op: Op, name: str, kind: Kind, words: tuple[str, ...], wrap: str = "r") -> bool:
    """What the first of some methods of an object gives: `abs(x)`, `len(x)`, `bool(x)`."""
    for word in words:
        if _has(walk, kind, word):
            written(walk, op, f"def asked(a):\n    r = a.{word}()\n    return {wrap}", [name])
            return True
    return False


_BOOL = """def asked(a):
    r = a.__bool__()
    if isinstance(r, bool):
        return r
    raise TypeError("__bool__ should return bool")"""


def truth_of(walk: Walk, op: Op, name: str, kind: Kind) -> bool:
    """Whether an object of the user's counts as true, where that is asked of a method."""
    if not is_user_object(kind):
        return False
    if _has(walk, kind, "__bool__"):
        written(walk, op, _BOOL, [name])
        return True
    return asked_for(walk, op, name, kind, ("__len__",), "r != 0")


def compare_tuples(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind) -> bool:
    """Tuples item by item, where an item is an object, a list, or anything else that needs more than a row."""
    if not isinstance(ka, Tuple) or not isinstance(kb, Tuple) or operator not in COMPARED:
        return False
    n, m = len(ka.items), len(kb.items)
    lines = ["def compared(a, b):"]
    if operator in ("Eq", "NotEq") and n != m:
        lines.append(f"    return {operator == 'NotEq'}")
    else:
        sign = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}.get(operator)
        for i in range(min(n, m)):
            lines.append(f"    if not equals(a[{i}], b[{i}]):")
            lines.append(f"        return a[{i}] {sign} b[{i}]" if sign else f"        return {operator == 'NotEq'}")
        lines.append(f"    return {n} {sign} {m}" if sign else f"    return {operator == 'Eq'}")
    written(walk, op, "\n".join(lines), [a, b])
    return True
