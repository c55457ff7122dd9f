"""A function's own syntax tree: found in its file, and proved to be its own by compiling it again.

The file may have changed since it was imported, two lambdas may stand on one line, a decorator may have put another
function in its place: the tree that is found is compiled, and its bytecode compared with the function's.
"""

from __future__ import annotations
import __future__

import ast
import bisect
import dis
import functools
import inspect
import linecache
import os
import sys
import textwrap
import tokenize
import types
from typing import TypeVar, cast

from .code import Code
from .kinds import Refused
from .lowering import lower
from .parsing import parsed
from .prelude.registry import is_as_loaded

MOST_CODES = 4096
_CODES: dict[types.CodeType, Code | Refused] = {}
NO_SOURCE = "its source is not at hand"


def code_of(f: types.FunctionType, trusted: bool = False) -> Code:
    """A function's blocks, lowered once. `trusted`: it is one of the prelude, which is its own while its file is as it
    was loaded."""
    found = _CODES.get(f.__code__)
    if found is None:
        try:
            found = _lowered(f.__code__, trusted)
        except Refused as refused:
            found = refused
        if len(_CODES) >= MOST_CODES:
            _CODES.clear()
        _CODES[f.__code__] = found
    if isinstance(found, Refused):
        raise found
    return found


def adopt_source(code: types.CodeType, node: ast.FunctionDef | ast.Lambda, quiet: bool = False) -> bool:
    """Take a tree for that of a function without a file, where it compiles to the function's very code.
    `quiet`: the function is only run where NumPy warns of nothing."""
    if isinstance(_CODES.get(code), Code):
        return True
    if not _is_own(node, code):
        return False
    made = _CODES[code] = lower(node, code.co_name, code.co_filename, frozenset(code.co_freevars))
    made.quiet = quiet
    return True


def _lowered(code: types.CodeType, trusted: bool) -> Code:
    trusted = trusted and is_as_loaded(code.co_filename)
    return lower(tree_of(code, trusted), code.co_name, code.co_filename, frozenset(code.co_freevars))


def tree_of(code: types.CodeType, trusted: bool = False) -> ast.FunctionDef | ast.Lambda:
    """A function's own tree, new every time; `Refused` where it is not found."""
    lines = _lines(code.co_filename)
    first = code.co_firstlineno
    if not 0 < first <= len(lines):
        raise Refused(NO_SOURCE, first, "write it in a file", code.co_filename)
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise Refused("is asynchronous", first, "", code.co_filename)
    find = _lambda if code.co_name == "<lambda>" else _definition
    node = find(code, lines)
    if node is None or not (trusted or _is_own(node, code)):
        node = _in_file(code, lines)
    return node


@functools.lru_cache(maxsize=64)
def _file(filename: str, changed: int) -> list[str]:
    with tokenize.open(filename) as file:
        return file.readlines()


def _lines(filename: str) -> list[str]:
    """The lines of a file, or of what a notebook or an interactive session has left in linecache, to which nothing is
    added here: it is the user's."""
    if filename in linecache.cache:
        return linecache.getlines(filename)
    if filename == "<string>" and sys.argv[:1] == ["-c"] and "-c" in sys.orig_argv:  # python -c "..."
        return sys.orig_argv[sys.orig_argv.index("-c") + 1].splitlines(keepends=True)
    try:
        return _file(filename, os.stat(filename).st_mtime_ns)
    except (OSError, SyntaxError, UnicodeDecodeError):
        return []


def _in_file(code: types.CodeType, lines: list[str]) -> ast.FunctionDef | ast.Lambda:
    """The tree among those of the whole file: of functions whose lines are unusual."""
    wanted = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    try:
        tree = parsed("".join(lines))
    except (SyntaxError, ValueError):
        raise Refused(NO_SOURCE, code.co_firstlineno, "write it in a file", code.co_filename) from None
    for node in ast.walk(tree):
        if isinstance(node, wanted) and _first_line(node) == code.co_firstlineno:
            node = _mangled(node, code)
            if _is_own(node, code):
                return node
    if code.co_filename == "<string>":  # some other text than that of `python -c`
        raise Refused(NO_SOURCE, code.co_firstlineno, "write it in a file", code.co_filename)
    raise Refused(
        "its file has changed since it was imported", code.co_firstlineno, "import it again", code.co_filename
    )


def _first_line(node: ast.FunctionDef | ast.Lambda) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(one.lineno for one in decorators)])


class _Mangle(ast.NodeTransformer):
    """Private names as the compiler writes them: `self.__x` in a class C is `self._C__x`."""

    def __init__(self, cls: str) -> None:
        self.cls = cls.lstrip("_")

    def _name(self, name: str) -> str:
        return f"_{self.cls}{name}" if name.startswith("__") and not name.endswith("__") else name

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._name(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        node.attr = self._name(node.attr)
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._name(node.arg)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        node.arg = self._name(node.arg) if node.arg is not None else None
        self.generic_visit(node)
        return node


T = TypeVar("T", bound=ast.FunctionDef | ast.Lambda)


def _mangled(node: T, code: types.CodeType) -> T:
    """The tree of a method, with the private names of its class."""
    parts = code.co_qualname.split(".")[:-1]
    around = [part for part in parts if part != "<locals>"]
    names = {name for name in (*code.co_names, *code.co_varnames, *code.co_freevars) if name.startswith("_")}
    for cls in reversed(around):
        if any(name.startswith(f"_{cls.lstrip('_')}__") for name in names | _inner_names(code)):
            return cast(T, _Mangle(cls).visit(node))
    return node


def _inner_names(code: types.CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return {*code.co_names, *code.co_varnames}.union(*map(_inner_names, inner))


def _definition(code: types.CodeType, lines: list[str]) -> ast.FunctionDef | None:
    """The function that begins in the first line of its code, read alone; None where it cannot be."""
    first = code.co_firstlineno
    last = _last_line(code)
    for end in (last, *range(last + 1, min(last + 40, len(lines)) + 1)):
        text = textwrap.dedent("".join(lines[first - 1 : end]))
        try:
            body = parsed("\n" * (first - 1) + text).body  # its lines are those of the file
        except (SyntaxError, ValueError):
            continue
        if len(body) == 1 and isinstance(body[0], ast.FunctionDef) and body[0].name == code.co_name:
            return _mangled(body[0], code)
        break
    return None


def _last_line(code: types.CodeType) -> int:
    lines = [end or 0 for _, end, _, _ in code.co_positions()]
    inner = [_last_line(c) for c in code.co_consts if isinstance(c, types.CodeType)]
    return max([code.co_firstlineno, *lines, *inner])


def _lambda(code: types.CodeType, lines: list[str]) -> ast.Lambda | None:
    """The expression that a lambda's instructions stand for, by their positions; None where they do not tell."""
    spots = [p for p in _positions(code) if (None not in p and p[0] != p[1]) or p[2] != p[3]]
    if not spots:
        return None
    start = min((p[0], p[2]) for p in spots)
    stop = max((p[1], p[3]) for p in spots)
    part = [line.encode() for line in lines[start[0] - 1 : stop[0]]]
    if len(part) != stop[0] - start[0] + 1:
        return None
    part[-1] = part[-1][: stop[1]]
    part[0] = part[0][start[1] :]
    names = list(code.co_varnames)
    count = code.co_argcount + code.co_kwonlyargcount
    variadic, keywords = bool(code.co_flags & 4), bool(code.co_flags & 8)
    positional = names[: code.co_argcount]
    if code.co_posonlyargcount:
        positional.insert(code.co_posonlyargcount, "/")
    only = names[code.co_argcount : count]
    head = positional + ([f"*{names[count]}"] if variadic else ["*"] if only else []) + only
    head += [f"**{names[count + variadic]}"] if keywords else []
    try:
        tree = parsed(f"lambda {', '.join(head)}: (\n{b''.join(part).decode()}\n)", mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(tree, ast.Lambda):
        return None
    ast.increment_lineno(tree, start[0] - 2)
    return _mangled(tree, code)


def _positions(code: types.CodeType) -> list[tuple[int, int, int, int]]:
    found = []
    for instruction, (line, end, column, end_column) in zip(code.co_code[::2], code.co_positions()):
        if line is not None and end is not None and column is not None and end_column is not None and instruction:
            found.append((line, end, column, end_column))
    return [p for p in found if (p[0], p[2]) < (p[1], p[3])]


def _is_own(node: ast.FunctionDef | ast.Lambda, code: types.CodeType) -> bool:
    """Whether a tree compiles to this very code."""
    return any(_same(made, code) for made in compiled(node, code))


def compiled(node: ast.FunctionDef | ast.Lambda, code: types.CodeType) -> list[types.CodeType]:
    """The codes that a tree compiles to, in the surroundings of this one: its file, name and free variables."""
    body: list[ast.stmt] = [node] if isinstance(node, ast.FunctionDef) else [ast.copy_location(ast.Expr(node), node)]
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        body = [ast.copy_location(_undecorated(node), node)]
    if code.co_freevars:  # compiled inside a function that has these
        names = ", ".join(name for name in code.co_freevars if name != "__class__")
        outer = parsed(f"def around({names}): pass").body[0]
        assert isinstance(outer, ast.FunctionDef)
        outer.body = body
        if "__class__" in code.co_freevars:  # super() is known in a class only
            outer.body = [ast.copy_location(ast.ClassDef("Around", [], [], body, []), node)]
        body = [outer]
    futures = code.co_flags & __future__.annotations.compiler_flag  # which decides what annotations compile to
    try:
        module = compile(ast.Module(body, []), code.co_filename, "exec", futures, dont_inherit=True)
    except (SyntaxError, ValueError):
        return []
    return _codes_in(module, code.co_name)


def _undecorated(node: ast.FunctionDef) -> ast.FunctionDef:
    fields = {name: getattr(node, name) for name in node._fields}
    return ast.FunctionDef(**{**fields, "decorator_list": []})


def _codes_in(code: types.CodeType, name: str) -> list[types.CodeType]:
    found = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += [constant] if constant.co_name == name else []
            found += _codes_in(constant, name)
    return found


def _same(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether two codes do the same; the second one may have further constants, which nothing reads."""
    names = ("co_names", "co_varnames", "co_freevars", "co_argcount", "co_kwonlyargcount", "co_posonlyargcount")
    plain = all(getattr(a, name) == getattr(b, name) for name in names)
    if not plain or len(a.co_consts) > len(b.co_consts) or not all(map(_same_constant, a.co_consts, b.co_consts)):
        return False
    return a.co_code == b.co_code or _instructions(a) == _instructions(b)


def _instructions(code: types.CodeType) -> list[tuple[str, object]]:
    """What a code does, where the compiler has two ways to say it: `m.f(x)` of a module that the file imports is
    called in another way than of any other object."""
    kept = [one for one in dis.get_instructions(code) if one.opname not in _ONE_WAY_ONLY]
    offsets = [one.offset for one in kept]
    found: list[tuple[str, object]] = []
    for one in kept:
        name = "LOAD_ATTR" if one.opname == "LOAD_METHOD" else one.opname
        value = None if isinstance(one.argval, types.CodeType) else one.argval
        if one.opcode in dis.hasjrel or one.opcode in dis.hasjabs:
            value = bisect.bisect_left(offsets, one.argval)  # to which of them it leads
        found.append((name, value))
    return found


_ONE_WAY_ONLY = ("PUSH_NULL", "PRECALL", "EXTENDED_ARG", "CACHE")


def _same_constant(a: object, b: object) -> bool:
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return _same(a, b)
    if type(a) is tuple and type(b) is tuple:
        return len(a) == len(b) and all(map(_same_constant, a, b))
    if isinstance(a, str) and isinstance(b, str):
        return a == b or "<locals>" in a + b  # qualified names of nested functions
    return type(a) is type(b) and repr(a) == repr(b)
