"""Reads one field of all records into a column, at the speed of C.

field_of([{"a": 1.5}, {"a": 2.5}], "item", "a")      -> [1.5, 2.5]
field_of([Point(1.5, 0.0)], "attr", "x")             -> [1.5]

Nothing of the user's is run for it: where reading a field may run code (a property, `__getattr__`, `__missing__`),
there is no column.
"""

from __future__ import annotations

import inspect
import operator
import types
from typing import Any

import numpy as np

from .forms import is_namedtuple
from .inputs import Elements, Records, Rows, elements_of
from .list_reader import are_all

_SLOTS = (types.MemberDescriptorType, type(inspect.getattr_static(type("", (), {"__slots__": ("x",)}), "x")))
_NAMED = type(inspect.getattr_static(inspect.FullArgSpec, "args"))
"""How named tuples read a field."""


class NotFields(Exception):
    """Why a field of these records is not a column."""


def are_records(elements: Elements) -> bool:
    """Whether elements are such that fields may be read from them, by the look of the first one."""
    if isinstance(elements, Records | Rows):
        return True
    if isinstance(elements, np.ndarray):
        return elements.ndim == 1 and elements.dtype.names is not None
    if type(elements) not in (list, tuple) or not len(elements):
        return False
    cls = type(elements[0])
    if cls in (dict, tuple, list) or is_namedtuple(elements[0]):
        return True
    return isinstance(cls, type) and cls.__module__ != "builtins" and not issubclass(cls, np.ndarray | np.generic)


def classes_in(elements: Elements) -> frozenset[type]:
    """The classes of records in a list; none for records that are columns already."""
    if not isinstance(elements, list | tuple) or not len(elements):
        return frozenset()
    cls = type(elements[0])
    return frozenset((cls,)) if are_all(elements, cls) else frozenset(map(type, elements))


def field_of(elements: Elements, how: str, name: Any, classes: frozenset[type] | None = None) -> Elements:
    """What reading a field of every element gives; `how`: "attr", "item", or "item of N", all of them of N items.

    `classes`: those of the elements, where they are known.
    """
    how, _, width = how.partition(" of ")
    if isinstance(elements, Rows):
        if width:
            raise NotFields("rows are unpacked")
        return elements.field(how, name)
    if isinstance(elements, Records):
        return _of_columns(elements, how, name, width)
    if isinstance(elements, np.ndarray):
        names = elements.dtype.names or ()
        if how != "item" or name not in names or width:
            raise NotFields(f"records of a structured array have no {name!r}")
        return elements_of(elements[name])
    for cls in classes_in(elements) if classes is None else classes:
        if not is_plain(cls, how, name):
            raise NotFields(f"reading {name!r} of {cls.__name__} may run code")
    if width and set(map(len, elements)) != {int(width)}:
        raise NotFields("elements have several lengths")
    get: Any = operator.itemgetter(name) if how == "item" else operator.attrgetter(name)
    try:
        return elements_of(list(map(get, elements)))
    except (LookupError, AttributeError, TypeError):
        raise NotFields(f"some records have no {name!r}") from None


def _of_columns(records: Records, how: str, name: Any, width: str) -> Elements:
    by_name = records.cls is not tuple and name in records.keys
    if width and (records.cls is dict or int(width) != len(records.keys)):
        raise NotFields("records of columns are unpacked")
    if records.cls is dict:
        if how == "item" and by_name:
            return records.columns[records.keys.index(name)]
    elif how == "attr":
        if by_name:
            return records.columns[records.keys.index(name)]
    elif issubclass(records.cls, tuple) and type(name) is int and -len(records.keys) <= name < len(records.keys):
        return records.columns[name]
    raise NotFields(f"records of columns have no {name!r}")


def is_plain(cls: type, how: str, name: Any) -> bool:
    """Whether nothing but a look at the record reads this field."""
    if how == "item":
        if cls is dict:
            return True
        is_sequence = cls in (tuple, list) or (issubclass(cls, tuple) and cls.__getitem__ is tuple.__getitem__)
        return is_sequence and type(name) is int
    if issubclass(cls, type | types.ModuleType) or hasattr(cls, "__getattr__"):
        return False
    if cls.__getattribute__ not in (object.__getattribute__, tuple.__getattribute__):
        return False
    found = inspect.getattr_static(cls, name, None)
    return isinstance(found, (*_SLOTS, _NAMED)) or not hasattr(type(found), "__get__")
