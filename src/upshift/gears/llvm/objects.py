"""Writes IR that reads Python's and NumPy's objects, and makes new ones. Where they lie as is tested in `layout.py`."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

from ...compiler.arrays.python_calls import NEW_ARRAY, NEW_SCALAR, SET_BASE, numpy_function

MARKS = """!0 = !{!"branch_weights", i32 1, i32 100000}
!1 = !{!"branch_weights", i32 100000, i32 1}
"""
DECLARED = {
    "up_array_new": "declare ptr @up_array_new(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)",
    "up_array_scalar": "declare ptr @up_array_scalar(ptr, ptr, ptr)",
    "up_array_base": "declare i32 @up_array_base(ptr, ptr)",
    "PyEval_SaveThread": "declare ptr @PyEval_SaveThread()",
    "PyEval_RestoreThread": "declare void @PyEval_RestoreThread(ptr)",
    "PyTuple_New": "declare ptr @PyTuple_New(i64)",
    "PyList_New": "declare ptr @PyList_New(i64)",
    "PyFloat_FromDouble": "declare ptr @PyFloat_FromDouble(double)",
    "PyLong_FromLongLong": "declare ptr @PyLong_FromLongLong(i64)",
    "PyLong_AsLongLongAndOverflow": "declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)",
    "PyBool_FromLong": "declare ptr @PyBool_FromLong(i64)",
    "PyComplex_FromDoubles": "declare ptr @PyComplex_FromDoubles(double, double)",
    "PyUnicode_FromStringAndSize": "declare ptr @PyUnicode_FromStringAndSize(ptr, i64)",
    "PyObject_CallObject": "declare ptr @PyObject_CallObject(ptr, ptr)",
    "PyErr_SetNone": "declare void @PyErr_SetNone(ptr)",
    "PyErr_CheckSignals": "declare i32 @PyErr_CheckSignals()",
    "PyContextVar_Get": "declare i32 @PyContextVar_Get(ptr, ptr, ptr)",
    "up_gettrace": "declare ptr @up_gettrace(ptr, ptr)",
    "Py_DecRef": "declare void @Py_DecRef(ptr)",
    "Py_IncRef": "declare void @Py_IncRef(ptr)",
    "memcpy": "declare ptr @memcpy(ptr, ptr, i64)",
}
"""C functions of Python's and NumPy's, by the names that IR calls them by."""
_OF_NUMPY = {"up_array_new": NEW_ARRAY, "up_array_scalar": NEW_SCALAR, "up_array_base": SET_BASE}


def symbols_of(names: set[str]) -> dict[str, int]:
    """The addresses of C functions that the linker does not find by itself."""
    found = {}
    for name in names:
        if name in _OF_NUMPY:
            found[name] = numpy_function(_OF_NUMPY[name])
        elif name == "up_gettrace":
            found[name] = _address_of(sys.gettrace)
        elif name.startswith("Py"):
            found[name] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
    return found


def _address_of(builtin: Any) -> int:
    """The C function behind a built-in one."""
    function = ctypes.pythonapi.PyCFunction_GetFunction
    function.restype, function.argtypes = ctypes.c_void_p, (ctypes.py_object,)
    return function(builtin) or 0


class Writer:
    """Writes one function of IR that deals with objects."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.count = 0
        self.used: set[str] = set()
        self.objects: dict[int, tuple[str, Any]] = {}
        """Python's objects that the code knows: their names in it, by which it is linked in every process anew."""

    def new(self, text: str) -> str:
        """Writes an instruction; the name of its result."""
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def do(self, text: str) -> None:
        """Writes an instruction without a result."""
        self.lines.append(f"  {text}")

    def call(self, name: str, given: str) -> str:
        """The result of a C function."""
        self.used.add(name)
        result = DECLARED[name].split()[1]
        if result == "void":
            self.do(f"call void @{name}({given})")
            return ""
        return self.new(f"call {result} @{name}({given})")

    def object(self, thing: Any) -> str:
        """A Python object as a constant; it must live as long as the code."""
        return f"@{self.objects.setdefault(id(thing), (f'up_object{len(self.objects)}', thing))[0]}"

    def object_symbols(self) -> dict[str, int]:
        """Addresses of Python objects, by the names that the IR has for them."""
        return {name: place for place, (name, _) in self.objects.items()}

    def object_declarations(self) -> str:
        """The IR that declares these names."""
        return "".join(f"@{name} = external global i8\n" for name, _ in self.objects.values())

    def local(self, ll: str) -> str:
        """Memory on the stack for one value."""
        self.count += 1
        self.entry.append(f"  %a{self.count} = alloca {ll}")
        return f"%a{self.count}"

    def at(self, p: str, offset: int, ll: str) -> str:
        """The field of a struct that lies so many bytes behind its address."""
        return self.new(f"load {ll}, ptr {self.new(f'getelementptr i8, ptr {p}, i64 {offset}')}")

    def place(self, p: str, offset: int) -> str:
        """An address some bytes behind another."""
        return self.new(f"getelementptr i8, ptr {p}, i64 {offset}")

    def label(self, hint: str) -> str:
        """A label that is not in use."""
        self.count += 1
        return f"{hint}{self.count}"

    def start(self, label: str) -> None:
        """Begins a block."""
        self.lines.append(f"{label}:")

    def miss_unless(self, flag: str, to: str = "miss") -> None:
        """Leaves the fast path where a flag does not hold."""
        on = self.label("on")
        self.do(f"br i1 {flag}, label %{on}, label %{to}, !prof !1")
        self.start(on)

    def is_of(self, item: str, cls: type, to: str = "miss") -> None:
        """Go on where an object is of this very class."""
        self.miss_unless(self.new(f"icmp eq ptr {self.at(item, 8, 'ptr')}, {self.object(cls)}"), to)

    def loop(self, count: str, body: Callable[[str], None]) -> None:
        """`for i in range(count): body(i)`; the count is not zero."""
        before, head, after = self.label("before"), self.label("head"), self.label("after")
        latch = self.label("latch")
        turn = f"%{self.label('turn')}"
        self.do(f"br label %{before}")
        self.start(before)
        self.do(f"br label %{head}")
        self.start(head)
        i = self.new(f"phi i64 [ 0, %{before} ], [ {turn}, %{latch} ]")
        body(i)
        self.do(f"br label %{latch}")
        self.start(latch)
        self.do(f"{turn} = add nuw nsw i64 {i}, 1")
        self.do(f"br i1 {self.new(f'icmp slt i64 {turn}, {count}')}, label %{head}, label %{after}")
        self.start(after)

    def read_int(self, item: str, to: str = "miss") -> str:
        """The value of an int of at most two digits of 30 bits; larger ones are a miss."""
        size = self.at(item, 16, "i64")
        if sys.version_info >= (3, 12):
            count = self.new(f"lshr i64 {size}, 3")
            negative = self.new(f"icmp ne i64 {self.new(f'and i64 {size}, 2')}, 0")
        else:
            negative = self.new(f"icmp slt i64 {size}, 0")
            count = self.new(f"select i1 {negative}, i64 {self.new(f'sub i64 0, {size}')}, i64 {size}")
        self.miss_unless(self.new(f"icmp ult i64 {count}, 3"), to)
        # the word of digits lies within the object from one digit on; a zero has room for one as well
        low = self.new(f"zext i32 {self.at(item, 24, 'i32')} to i64")
        low = self.new(f"select i1 {self.new(f'icmp eq i64 {count}, 0')}, i64 0, i64 {low}")
        two, join = self.label("two"), self.label("join")
        here = self.label("here")
        self.do(f"br label %{here}")
        self.start(here)
        self.do(f"br i1 {self.new(f'icmp eq i64 {count}, 2')}, label %{two}, label %{join}")
        self.start(two)
        wide = self.new(f"zext i32 {self.at(item, 28, 'i32')} to i64")
        both = self.new(f"or i64 {low}, {self.new(f'shl i64 {wide}, 30')}")
        self.do(f"br label %{join}")
        self.start(join)
        found = self.new(f"phi i64 [ {low}, %{here} ], [ {both}, %{two} ]")
        return self.new(f"select i1 {negative}, i64 {self.new(f'sub i64 0, {found}')}, i64 {found}")

    def declarations(self) -> str:
        """The IR that declares what was used of CPython's and C's functions."""
        return "\n".join(DECLARED[name] for name in sorted(self.used))
