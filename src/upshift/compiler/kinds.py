"""What a value may be, as far as machine code must know: its Python class, and how it is kept at run time.

`INT` is an i64, `FLOAT` a double, a list a pointer to its length and items. A *cell* is a place whose content's kind is
learnt from use (the items of a list, a field of an object): names that may refer to the same object share its cells.
"""

from __future__ import annotations

import copy
import reprlib
from collections.abc import Iterator
from typing import Any

import numpy as np


class Refused(Exception):
    """Why a function is not compiled: one sentence, the line in the user's code, one remedy."""

    def __init__(self, reason: str, line: int = 0, remedy: str = "", filename: str = "") -> None:
        super().__init__(reason)
        self.reason, self.line, self.remedy, self.filename = reason, line, remedy, filename


class Kind:
    """What one value may be."""

    __slots__ = ()
    ll: str | None = None
    """Its LLVM type; None where nothing of it is needed at run time."""


class Scalar(Kind):
    """A number, bool or None: compare them with `is`."""

    __slots__ = ("cls", "dtype", "ll", "name")

    def __init__(self, name: str, ll: str | None, cls: type, dtype: np.dtype[Any] | None = None) -> None:
        self.name, self.ll, self.cls, self.dtype = name, ll, cls, dtype

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (_scalar_named, (self.name,))


INT = Scalar("int", "i64", int)
FLOAT = Scalar("float", "double", float)
BOOL = Scalar("bool", "i1", bool)
COMPLEX = Scalar("complex", "{ double, double }", complex)
NONE = Scalar("None", None, type(None))
STR = Scalar("str", "{ ptr, i64 }", str)
TEXT = Scalar("text that is only raised", None, str)
"""A text that machine code does not write, such as an error's message."""
ELLIPSIS = Scalar("...", None, type(Ellipsis))
UNSET = Scalar("not set", None, object)
"""What a field holds that is not set; whoever reads it raises."""
STATUS = Scalar("exception", "i32", Exception)
"""An exception that was caught: the number of its class and reason."""

_LL = {"b": "i1", "i": "i{bits}", "u": "i{bits}", "f": {2: "half", 4: "float", 8: "double"}}
_LL_COMPLEX = {8: "{ float, float }", 16: "{ double, double }"}
NUMPY: dict[np.dtype[Any], Scalar] = {}
"""NumPy's numbers, by dtype."""
for (
    _name
) in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split():
    _dtype = np.dtype(_name)
    if _dtype.kind == "c":
        _ll = _LL_COMPLEX[_dtype.itemsize]
    elif _dtype.kind == "f":
        _ll = _LL["f"][_dtype.itemsize]  # type: ignore[index]
    else:
        _ll = str(_LL[_dtype.kind]).format(bits=8 * _dtype.itemsize)
    NUMPY[_dtype] = Scalar(f"np.{_name}", _ll, _dtype.type, _dtype)

_NAMED = {k.name: k for k in (INT, FLOAT, BOOL, COMPLEX, NONE, STR, TEXT, ELLIPSIS, UNSET, STATUS, *NUMPY.values())}


def _scalar_named(name: str) -> Scalar:
    return _NAMED[name]


class Literal(Kind):
    """A value that stands in the source, such as the 2 in `x ** 2`; an ordinary one once it has passed a jump."""

    __slots__ = ("kind", "value")

    def __init__(self, kind: Scalar, value: Any) -> None:
        self.kind, self.value = kind, value

    @property
    def ll(self) -> str | None:  # type: ignore[override]
        return self.kind.ll

    def __repr__(self) -> str:
        return f"the literal {self.value!r}"


BIG = Scalar("int beyond 64 bits", None, int)
"""The kind of literals that no i64 holds."""


class Static(Kind):
    """Something that is known when the function is compiled: a function, class, module, or position in a program."""

    __slots__ = ("path", "value")

    def __init__(self, value: Any, path: Any = None) -> None:
        self.value, self.path = value, path

    def __repr__(self) -> str:
        return getattr(self.value, "__name__", None) or repr(self.value)


class Compound(Kind):
    """A value made of others, side by side; `head` is all that tells it from others with the same parts."""

    __slots__ = ("items",)
    items: tuple[Kind, ...]

    @property
    def ll(self) -> str | None:  # type: ignore[override]
        """LLVM's type for a value of this kind; None where everything is known and nothing is kept."""
        return "{ " + ", ".join(ll_of(item) for item in self.items) + " }"

    @property
    def head(self) -> tuple[Any, ...]:
        """All that tells it from other kinds with the same parts."""
        return ()

    def having(self, items: tuple[Kind, ...]) -> Compound:
        """The same with other parts."""
        raise NotImplementedError


class Tuple(Compound):
    """A tuple, or a named one."""

    __slots__ = ("cls",)

    def __init__(self, items: tuple[Kind, ...], cls: type | None = None) -> None:
        self.items, self.cls = items, cls

    @property
    def head(self) -> tuple[Any, ...]:
        return (self.cls,)

    def having(self, items: tuple[Kind, ...]) -> Tuple:
        return Tuple(items, self.cls)

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self.items))})"


class Known(Compound):
    """A dict whose keys are known, such as the keywords that a function collects."""

    __slots__ = ("names",)

    def __init__(self, names: tuple[Any, ...], items: tuple[Kind, ...]) -> None:
        self.names, self.items = names, items

    @property
    def head(self) -> tuple[Any, ...]:
        return self.names

    def having(self, items: tuple[Kind, ...]) -> Known:
        return Known(self.names, items)

    def __repr__(self) -> str:
        return f"dict of {', '.join(map(repr, self.names)) or 'nothing'}"


class Partial(Compound):
    """A function with its first arguments, and some by keyword: the function, then all of them."""

    __slots__ = ("words",)

    def __init__(self, items: tuple[Kind, ...], words: tuple[str, ...] = ()) -> None:
        self.items, self.words = items, words

    @property
    def head(self) -> tuple[Any, ...]:
        return self.words

    def having(self, items: tuple[Kind, ...]) -> Partial:
        return Partial(items, self.words)

    def __repr__(self) -> str:
        return f"a part of {self.items[0]!r}"


class OfObject(Compound):
    """What is an object and something known of it: the object alone is kept at run time."""

    __slots__ = ()

    @property
    def owner(self) -> Kind:
        """The kind of the object."""
        return self.items[0]

    @property
    def ll(self) -> str | None:  # type: ignore[override]
        return self.items[0].ll


class Super(OfObject):
    """`super()`: an object, whose attributes are looked for behind a class."""

    __slots__ = ("cls",)

    def __init__(self, owner: Kind, cls: type) -> None:
        self.items, self.cls = (owner,), cls

    @property
    def head(self) -> tuple[Any, ...]:
        return (self.cls,)

    def having(self, items: tuple[Kind, ...]) -> Super:
        return Super(items[0], self.cls)

    def __repr__(self) -> str:
        return f"super of {self.cls.__name__}"


class Cell:
    """A place whose content may be of one kind, or of several; its kinds are learnt from what is put into it."""

    __slots__ = ("borrowed", "fixed", "kinds", "parent", "seen", "written")

    def __init__(self, *kinds: Kind, fixed: bool = False) -> None:
        self.parent: Cell | None = None
        self.kinds: list[Kind] = list(kinds)
        self.fixed = fixed
        """Whether the object that it is a part of was captured, and must not be changed."""
        self.written = False
        """Whether the object that it is a part of is changed after it was made."""
        self.borrowed = False
        """Whether it may be a part of an element, which is the caller's: a lane that changes it is left."""
        self.seen = False
        """Whether somebody has asked what it holds: if that changes, they have to ask again."""

    def find(self) -> Cell:
        """The cell that stands for all that were merged with this one."""
        cell = self
        while cell.parent is not None:
            cell = cell.parent
        return cell

    @property
    def kind(self) -> Kind | None:
        """What its content is, None where nothing was put into it."""
        root = self.find()
        root.seen = True
        kinds = root.kinds
        return None if not kinds else kinds[0] if len(kinds) == 1 else Either(tuple(kinds))

    def add(self, kind: Kind) -> bool:
        """Take in one more kind of content; whether that is new."""
        cell = self.find()
        if isinstance(kind, Either):
            return sum(cell.add(one) for one in kind.kinds) > 0
        kind = plain(kind)
        for one in cell.kinds:
            if accepts(one, kind):
                return unify(one, kind)
        if isinstance(kind, Array) and cell._loosen(kind):
            return True
        alike = [one for one in cell.kinds if _are_alike(one, kind)]
        if len(alike) >= MOST_ALIKE:
            return cell._merge(alike, kind)
        if len(cell.kinds) >= MOST_IN_CELL and not cell._gather():
            raise Refused(f"holds {', '.join(map(repr, cell.kinds))} and {kind!r} in one place")
        cell.kinds.append(kind)
        return True

    def _loosen(self, kind: Array) -> bool:
        """Where such arrays are here, known to be without gaps, they no longer are; whether there are any."""
        for i, one in enumerate(self.kinds):
            if not isinstance(one, Array) or one.dtype != kind.dtype or one.ndim != kind.ndim:
                continue
            if one.cell.find().fixed == kind.cell.find().fixed:
                self.kinds[i] = kind
                unify(kind, one)
                return True
        return False

    def _gather(self) -> bool:
        """Make one of kinds that have become the same since they were put in; whether there are fewer now."""
        kept: list[Kind] = []
        before = len(self.kinds)
        for kind in self.kinds[:]:
            own = next((one for one in kept if accepts(one, kind)), None)
            if own is None:
                kept.append(kind)
            else:
                unify(own, kind)
        if self.parent is None:
            self.kinds[:] = kept
        return len(self.find().kinds) < before

    def _merge(self, alike: list[Kind], kind: Kind) -> bool:
        """Tuples that differ in the kinds of their items become one, whose items may be of several kinds."""
        assert isinstance(kind, Tuple)
        parts = [Cell(*ways(item)) for item in kind.items]
        for one in alike:
            assert isinstance(one, Tuple)
            for part, item in zip(parts, one.items):
                part.add(item)
        merged = kind.having(tuple(part.kind or NONE for part in parts))
        self.kinds[:] = [one for one in self.kinds if one not in alike] + [merged]
        return True

    def write(self) -> bool:
        """Notes that its content changes while the function runs; whether that is news. Captured content must not."""
        cell = self.find()
        if cell.fixed:
            raise Refused("changes a list, dict or set that it captured", remedy="change a copy")
        changed, cell.written = not cell.written, True
        return changed

    def __repr__(self) -> str:
        return self.find()._named()

    @reprlib.recursive_repr()
    def _named(self) -> str:
        """Its kind, in words; what holds itself has no end."""
        return repr(self.kind)


MOST_IN_CELL = 8
MOST_ALIKE = 3
"""So many kinds of tuples of one length are told apart in one place."""


class List(Kind):
    """A list, or a tuple whose length is not known: a pointer to its length, capacity and items."""

    __slots__ = ("cell", "cls")
    ll = "ptr"

    def __init__(self, cell: Cell, cls: type = list) -> None:
        self.cell, self.cls = cell, cls

    def __repr__(self) -> str:
        name = self.cls.__name__
        return f"{name}[{self.cell!r}]" if self.cell.kind is not None else name


class Object(Kind):
    """An instance of a Python class: a pointer to its fields."""

    __slots__ = ("cls", "fields")
    ll = "ptr"

    def __init__(self, cls: type, fields: Fields) -> None:
        self.cls, self.fields = cls, fields

    def __repr__(self) -> str:
        return getattr(self.cls, "shown_as", self.cls.__name__)


class New(Object):
    """An object that is being made: which of its fields are set is known, under a prefix of its own."""

    __slots__ = ("prefix",)

    def __init__(self, cls: type, fields: Fields, prefix: str) -> None:
        super().__init__(cls, fields)
        self.prefix = prefix


class Fields:
    """The fields of objects made in one place, in the order in which they are first set."""

    __slots__ = ("cells", "parent")

    def __init__(self) -> None:
        self.parent: Fields | None = None
        self.cells: dict[str, Cell] = {}

    def find(self) -> Fields:
        """The fields that stand for all that were merged with these."""
        fields = self
        while fields.parent is not None:
            fields = fields.parent
        return fields


class Closure(Compound):
    """A function made inside the one that is compiled: its code, the function that it stands in, and the prefix of the
    variables around it. Its parts are its defaults, then the values that it takes along where it needs no variables."""

    __slots__ = ("around", "code", "home")

    def __init__(self, code: Any, home: Any, around: str, defaults: tuple[Kind, ...] = ()) -> None:
        self.code, self.home, self.around, self.items = code, home, around, defaults

    @property
    def ll(self) -> str | None:  # type: ignore[override]
        return super().ll if self.items else None

    @property
    def is_free(self) -> bool:
        """Whether it needs no variables of the function around it."""
        return self.code.values is not None

    @property
    def head(self) -> tuple[Any, ...]:
        return (self.code, self.home.fn, "" if self.is_free else self.around)

    def having(self, items: tuple[Kind, ...]) -> Closure:
        return Closure(self.code, self.home, self.around, items)

    def __repr__(self) -> str:
        return f"the function {self.code.name}"


class Method(OfObject):
    """A function together with the object that it was read from."""

    __slots__ = ("name",)

    def __init__(self, owner: Kind, name: str) -> None:
        self.items, self.name = (owner,), name

    @property
    def head(self) -> tuple[Any, ...]:
        return (self.name,)

    def having(self, items: tuple[Kind, ...]) -> Method:
        return Method(items[0], self.name)

    def __repr__(self) -> str:
        return f"the method {self.name} of {self.owner!r}"


class Generator(Kind):
    """A generator: its variables are variables of the function that made it, under a prefix."""

    __slots__ = ("code", "prefix")

    def __init__(self, code: Any, prefix: str) -> None:
        self.code, self.prefix = code, prefix

    def __repr__(self) -> str:
        return f"the generator {self.code.name}"


class Range(Kind):
    """A range; its step where that stands in the source."""

    __slots__ = ("step",)
    ll = "{ i64, i64, i64 }"

    def __init__(self, step: int | None) -> None:
        self.step = step

    def __repr__(self) -> str:
        return "range"


class Slice(Compound):
    """A slice: its bounds and step, each an int or None."""

    __slots__ = ()

    def __init__(self, items: tuple[Kind, ...]) -> None:
        self.items = items

    def having(self, items: tuple[Kind, ...]) -> Slice:
        return Slice(items)

    def __repr__(self) -> str:
        return "slice"


class Items(Kind):
    """An iterator over a tuple, whose items may all be of different kinds: its position is known."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def __repr__(self) -> str:
        return "an iterator over a tuple"


class Either(Kind):
    """One of several kinds, told apart by a tag. Only kept in cells and results: what is read is one kind at once."""

    __slots__ = ("kinds",)

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self.kinds = kinds

    @property
    def ll(self) -> str | None:  # type: ignore[override]
        return "{ i8, " + ", ".join(ll_of(kind) for kind in self.kinds) + " }"

    def __repr__(self) -> str:
        return " or ".join(map(repr, self.kinds))


class Array(Kind):
    """A NumPy array of so many axes: a pointer to its first item, lengths and strides (in bytes).

    `contiguous`: its items are known to lie one behind the other, in C order; `turned`: they are known to do so in
    Fortran's. Arrays that may share memory share their cell, which holds nothing.
    """

    __slots__ = ("cell", "contiguous", "dtype", "ndim", "turned")

    def __init__(
        self, dtype: np.dtype[Any], ndim: int, cell: Cell | None = None, contiguous: bool = False, turned: bool = False
    ) -> None:
        self.dtype, self.ndim, self.contiguous, self.turned = dtype, ndim, contiguous, turned
        self.cell = cell or Cell()

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return Array(self.dtype, self.ndim, copy.deepcopy(self.cell, memo), self.contiguous, self.turned)

    @property
    def item(self) -> Scalar:
        """The kind of one item."""
        return NUMPY[self.dtype]

    @property
    def ll(self) -> str | None:  # type: ignore[override]
        return f"{{ ptr, [{self.ndim} x i64], [{self.ndim} x i64] }}"

    def __repr__(self) -> str:
        return f"{self.ndim}-dimensional array of {self.dtype}"


class Fused(Compound):
    """An array that is not computed yet: `tree` says how an item of it is made of those of its parts, which are arrays
    and numbers; the last part is a tuple of its lengths."""

    __slots__ = ("dtype", "ndim", "tree")

    def __init__(self, items: tuple[Kind, ...], dtype: np.dtype[Any], ndim: int, tree: Any) -> None:
        self.items, self.dtype, self.ndim, self.tree = items, dtype, ndim, tree

    @property
    def head(self) -> tuple[Any, ...]:
        return (self.dtype, self.ndim, self.tree)

    def having(self, items: tuple[Kind, ...]) -> Fused:
        return Fused(items, self.dtype, self.ndim, self.tree)

    def __repr__(self) -> str:
        return f"{self.ndim}-dimensional array of {self.dtype}"


def ll_of(kind: Kind) -> str:
    """The LLVM type in which a kind is kept; something small where there is nothing to keep."""
    return kind.ll or "i8"


def plain(kind: Kind) -> Kind:
    """The kind of a variable that holds such a value: a literal is any number from there on."""
    if isinstance(kind, Literal):
        return kind.kind if kind.kind is not BIG else kind
    if isinstance(kind, Compound) and any(plain(item) is not item for item in kind.items):
        return kind.having(tuple(map(plain, kind.items)))
    return kind


def accepts(a: Kind, b: Kind) -> bool:
    """Whether a place for one kind takes the other: the same one, or a tuple whose items it has room for."""
    if matches(a, b):
        return True
    if isinstance(a, Either):
        return all(any(accepts(one, way) for one in a.kinds) for way in ways(b))
    if isinstance(a, Array) and isinstance(b, Array):
        alike = a.dtype == b.dtype and a.ndim == b.ndim and not a.contiguous and not a.turned
        return alike and a.cell.find().fixed == b.cell.find().fixed
    if not isinstance(a, Tuple) or not isinstance(b, Tuple) or len(a.items) != len(b.items) or a.cls is not b.cls:
        return False
    return all(accepts(x, y) for x, y in zip(a.items, b.items))


def ways(kind: Kind) -> tuple[Kind, ...]:
    """The kinds that a value may be of: several where a tag tells which one it is."""
    return kind.kinds if isinstance(kind, Either) else (kind,)


def _are_alike(a: Kind, b: Kind) -> bool:
    return isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items) and a.cls is b.cls


def matches(a: Kind, b: Kind, seen: tuple[Any, ...] = ()) -> bool:
    """Whether two kinds are the same, or may become the same by learning more of their cells."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, Compound) and isinstance(b, Compound):
        same = len(a.items) == len(b.items) and a.head == b.head
        return same and all(matches(x, y, seen) for x, y in zip(a.items, b.items))
    if isinstance(a, List) and isinstance(b, List):
        return a.cls is b.cls and _cells_match(a.cell, b.cell, seen)
    if isinstance(a, New) and isinstance(b, New) and a.prefix != b.prefix:
        return False
    if isinstance(a, Object) and isinstance(b, Object):
        return a.cls is b.cls and _fields_match(a.fields.find(), b.fields.find(), seen)
    if isinstance(a, Static) and isinstance(b, Static):
        return a.value is b.value or (type(a.value) is tuple and a.value == b.value)
    if isinstance(a, Literal) and isinstance(b, Literal):
        return a.kind is b.kind and type(a.value) is type(b.value) and a.value == b.value
    if isinstance(a, Generator | Items) and isinstance(b, Generator | Items):
        return a.prefix == b.prefix
    if isinstance(a, Range) and isinstance(b, Range):
        return a.step == b.step
    if isinstance(a, Array) and isinstance(b, Array):
        alike = a.dtype == b.dtype and a.ndim == b.ndim
        alike = alike and a.contiguous == b.contiguous and a.turned == b.turned
        return alike and a.cell.find().fixed == b.cell.find().fixed
    if isinstance(a, Either) and isinstance(b, Either):
        return len(a.kinds) == len(b.kinds) and all(matches(x, y, seen) for x, y in zip(a.kinds, b.kinds))
    return False


def _cells_match(a: Cell, b: Cell, seen: tuple[Any, ...]) -> bool:
    a, b = a.find(), b.find()
    if a.fixed != b.fixed:
        return False
    if a is b or not a.kinds or not b.kinds or (a, b) in seen:
        return True
    seen = (*seen, (a, b))
    return all(any(matches(x, y, seen) for y in b.kinds) for x in a.kinds)


def _fields_match(a: Fields, b: Fields, seen: tuple[Any, ...]) -> bool:
    if a is b or (a, b) in seen:
        return True
    seen = (*seen, (a, b))
    return all(_cells_match(a.cells[name], b.cells[name], seen) for name in a.cells if name in b.cells)


def unify(a: Kind, b: Kind) -> bool:
    """Make two kinds that match one; whether something new was learnt by that."""
    if a is b:
        return False
    if isinstance(a, Either) or isinstance(b, Either):
        return sum(unify(next(x for x in ways(a) if accepts(x, y)), y) for y in ways(b)) > 0
    if isinstance(a, Compound) and isinstance(b, Compound):
        return sum(unify(x, y) for x, y in zip(a.items, b.items)) > 0
    if isinstance(a, List) and isinstance(b, List):
        return _unify_cells(a.cell, b.cell)
    if isinstance(a, Array) and isinstance(b, Array):
        return _unify_cells(a.cell, b.cell)
    if isinstance(a, Object) and isinstance(b, Object):
        return _unify_fields(a.fields.find(), b.fields.find())
    return False


def _unify_cells(a: Cell, b: Cell) -> bool:
    a, b = a.find(), b.find()
    if a is b:
        return False
    before = len(a.kinds), len(b.kinds), a.written, b.written
    b.parent = a
    a.written |= b.written
    a.borrowed |= b.borrowed
    a.seen |= b.seen
    learnt = False
    for kind in b.kinds:
        learnt |= a.add(kind)
    a = a.find()
    return learnt or before != (len(a.kinds), len(a.kinds), a.written, a.written)


def _unify_fields(a: Fields, b: Fields) -> bool:
    if a is b:
        return False
    b.parent = a
    changed = a.cells.keys() != b.cells.keys()
    for name, cell in b.cells.items():
        if name in a.cells:
            changed |= _unify_cells(a.cells[name], cell)
        else:
            a.cells[name] = cell
    return changed


def items_in(kind: Kind, seen: tuple[Any, ...] = ()) -> Iterator[Kind]:
    """A kind and all kinds inside it."""
    yield kind
    if isinstance(kind, Compound):
        for item in kind.items:
            yield from items_in(item, seen)
    elif isinstance(kind, Either):
        for item in kind.kinds:
            yield from items_in(item, seen)
    elif isinstance(kind, List | Object):
        cells = [kind.cell] if isinstance(kind, List) else list(kind.fields.find().cells.values())
        for cell in cells:
            root = cell.find()
            if root not in seen:
                for item in list(root.kinds):
                    yield from items_in(item, (*seen, root))


def key_of(kind: Kind, seen: tuple[Any, ...] = ()) -> Any:
    """What two kinds have in common exactly when code for one is code for the other."""
    if isinstance(kind, Compound):
        return (type(kind), kind.head, *(key_of(item, seen) for item in kind.items))
    if isinstance(kind, List):
        return (kind.cls, _key_of_cell(kind.cell, seen))
    if isinstance(kind, Object):
        fields = kind.fields.find()
        if fields in seen:
            return ("again", seen.index(fields))
        inside = (*seen, fields)
        return (
            "object" if type(kind) is Object else kind.prefix,  # type: ignore[attr-defined]
            kind.cls,
            *((name, _key_of_cell(cell, inside)) for name, cell in fields.cells.items()),
        )
    if isinstance(kind, Static):
        return ("static", kind.value if type(kind.value) is tuple else id(kind.value))
    if isinstance(kind, Literal):
        return ("literal", kind.kind.name, repr(kind.value))
    if isinstance(kind, Array):
        return ("array", kind.dtype.str, kind.ndim, kind.contiguous, kind.turned, kind.cell.find().fixed)
    if isinstance(kind, Either):
        return ("either", *(key_of(one, seen) for one in kind.kinds))
    if isinstance(kind, Generator | Items):
        return ("generator", kind.prefix)
    if isinstance(kind, Range):
        return ("range", kind.step)
    return kind


def _key_of_cell(cell: Cell, seen: tuple[Any, ...]) -> Any:
    root = cell.find()
    root.seen = True
    if root in seen:
        return ("again", seen.index(root))
    if not root.kinds:  # nothing is known of it yet, which is not to be the same as another such one
        return (root.fixed, root)
    return (root.fixed, *(key_of(kind, (*seen, root)) for kind in root.kinds))
