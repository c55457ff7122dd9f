"""Operators and comparisons of lists, tuples, texts, sets and dicts: the function of the prelude for each."""

from __future__ import annotations

from typing import Any

from . import calls, operations, texts
from .calls import Given, find_method, prelude
from .captures import literal_of
from .check import Walk
from .classes import class_of
from .code import Op
from .kinds import BOOL, INT, NONE, STR, TEXT, Generator, Items, Kind, Known, List, Literal, Object, Range, Tuple
from .operations import COMPARISONS, OPERATORS
from .protocol import COMPARED, is_object, is_user_object, operate_objects
from .rows.numbers import base, safe
from .values import constant, item_of_tuple, list_of, tuple_of


def _list_operators(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind, inplace: bool) -> bool:
    if isinstance(ka, List) and inplace and operator == "Add" and ka.cls is list:
        prelude(walk, op, "extended", [a, b])  # which changes the list, and gives it
        return True
    if isinstance(ka, List) and inplace and operator == "Mult" and ka.cls is list and base(kb) in (INT, BOOL):
        prelude(walk, op, "multiplied", [a, b])  # likewise
        return True
    if operator == "Add" and isinstance(ka, List) and isinstance(kb, List) and ka.cls is kb.cls:
        prelude(walk, op, "list_plus" if ka.cls is list else "tuple_plus", [a, b])
        return True
    if operator == "Mult" and isinstance(ka, List) and base(kb) in (INT, BOOL):
        prelude(walk, op, "list_times" if ka.cls is list else "tuple_times", [a, b])
        return True
    if operator == "Mult" and isinstance(kb, List) and base(ka) in (INT, BOOL):
        prelude(walk, op, "list_times" if kb.cls is list else "tuple_times", [b, a])
        return True
    return False


def _tuple_operators(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind, inplace: bool) -> bool:
    assert op.dst is not None
    if operator == "Add" and isinstance(ka, Tuple) and isinstance(kb, Tuple):
        names = [item_of_tuple(walk, a, i) for i in range(len(ka.items))]
        names += [item_of_tuple(walk, b, i) for i in range(len(kb.items))]
        return walk.give_name(op, tuple_of(walk, names))
    if operator == "Mult" and isinstance(ka, Tuple) and isinstance(kb, Literal) and kb.kind is INT and kb.value <= 64:
        names = [item_of_tuple(walk, a, i) for i in range(len(ka.items))] * max(kb.value, 0)
        return walk.give_name(op, tuple_of(walk, names))
    return False


def _text_operators(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind, inplace: bool) -> bool:
    if operator == "Add" and {base(ka), base(kb)} <= {STR, TEXT}:
        if TEXT in (ka, kb):
            walk.give(op, TEXT, constant(NONE))
        else:
            texts.add_texts(walk, op, a, b)
        return True
    if operator == "Mult" and base(ka) is STR and base(kb) in (INT, BOOL):
        prelude(walk, op, "text_times", [a, b])
        return True
    if operator == "Mult" and base(kb) is STR and base(ka) in (INT, BOOL):
        prelude(walk, op, "text_times", [b, a])
        return True
    return False


OPERATORS += [_list_operators, _tuple_operators, _text_operators, operate_objects]


def _list_comparisons(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind) -> bool:
    if not (isinstance(ka, List) and isinstance(kb, List) and ka.cls is kb.cls):
        return False
    if operator == "Eq":
        prelude(walk, op, "list_equal", [a, b])
    elif operator == "NotEq":
        prelude(walk, op, "list_unequal", [a, b])
    elif operator in ("Lt", "LtE"):
        prelude(walk, op, "list_less" if operator == "Lt" else "list_less_or_equal", [a, b])
    elif operator in ("Gt", "GtE"):
        prelude(walk, op, "list_less" if operator == "Gt" else "list_less_or_equal", [b, a])
    else:
        return False
    return True


def _membership(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind) -> bool:
    """`a in b` and `a not in b`."""
    if operator not in ("In", "NotIn"):
        return False
    no = "not_" if operator == "NotIn" else ""
    if isinstance(kb, Known):
        names = [walk.temporary(literal_of(name), constant(literal_of(name))) for name in kb.names]
        b = tuple_of(walk, names)
        kb = walk.env[b]
    if isinstance(kb, Tuple):
        rows = [operations.item_comparison(walk, ka, item) for item in kb.items]
        if any(one is None for one in rows):
            return False

        def emit(w: Any, x: str, t: str) -> str:
            flag = "false"
            for i, one in enumerate(rows):
                item = kb.items[i]
                value = (
                    w.module.constant(item.kind, item.value)
                    if isinstance(item, Literal)
                    else (w.extract(kb.ll, t, i) if item.ll is not None else "")
                )
                flag = w.new(f"or i1 {flag}, {one[1](w, x, value)}")
            return flag if operator == "In" else str(w.new(f"xor i1 {flag}, true"))

        careful = any(not hasattr(one[1], "safe") for one in rows)
        walk.give(op, BOOL, emit if careful else safe(emit), a, b)
        return True
    if isinstance(kb, List):
        prelude(walk, op, f"list_{no}contains", [b, a])
    elif base(kb) is STR and base(ka) is STR:
        texts.is_in_text(walk, op, operator, a, b)
    elif isinstance(kb, Range) and base(ka) in (INT, BOOL):
        prelude(walk, op, f"range_{no}contains", [b, a])
    elif is_object(kb) and find_method(walk, kb, "__contains__") is not None:
        if not hasattr(class_of(kb), "__contains__"):  # `d.values()`, which is looked through
            prelude(walk, op, f"iterable_{no}contains", [b, a])
        elif operator == "In" and not is_user_object(kb):
            calls.method(walk, op, b, "__contains__", [a], {})
        elif not is_user_object(kb):
            prelude(walk, op, "object_not_contains", [b, a])
        else:
            prelude(walk, op, f"object_{no}in", [a, b])
    elif isinstance(kb, Generator | Items) or is_user_object(kb):
        prelude(walk, op, f"iterable_{no}contains", [b, a])
    else:
        return False
    return True


def _table_comparisons(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind) -> bool:
    """Dicts and sets, by the methods of the prelude."""
    name = COMPARED.get(operator, "")
    if isinstance(ka, Object) and find_method(walk, ka, name) is not None:
        calls.method(walk, op, a, name, [b], {})
        return True
    return False


def _tuple_and_list(walk: Walk, op: Op, operator: str, a: str, b: str, ka: Kind, kb: Kind) -> bool:
    """A tuple of known length and one of unknown length: both as the latter."""
    if isinstance(ka, Tuple) and isinstance(kb, Tuple | List) and getattr(kb, "cls", None) in (tuple, None):
        names = [item_of_tuple(walk, a, i) for i in range(len(ka.items))]
        a = as_long_tuple(walk, names)
    if isinstance(kb, Tuple) and isinstance(walk.env[a], List):
        names = [item_of_tuple(walk, b, i) for i in range(len(kb.items))]
        b = as_long_tuple(walk, names)
    ka, kb = walk.env[a], walk.env[b]
    return isinstance(ka, List) and isinstance(kb, List) and _list_comparisons(walk, op, operator, a, b, ka, kb)


def as_long_tuple(walk: Walk, names: Given) -> str:
    """A tuple of these values, as one whose length is known only when it runs."""
    listed = list_of(walk, names)
    kind = walk.env[listed]
    assert isinstance(kind, List)
    return walk.temporary(List(kind.cell, tuple), safe(lambda w, xs: xs), listed)


COMPARISONS += [_membership, _list_comparisons, _table_comparisons, _tuple_and_list]
