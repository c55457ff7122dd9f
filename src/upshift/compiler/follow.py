"""Functions that are called: followed where the call stands, or compiled on their own for these kinds."""

from __future__ import annotations

import ast
import types
from typing import Any

from .arguments import Given, Words, bind, coerced, parameter_names
from .captures import Home
from .check import Defer, Frame, Walk
from .code import Code, Op
from .kinds import Closure, Compound, Generator, Kind, New, items_in, plain
from .lowering import lower
from .parsing import parsed
from .prelude.objects import nowhere
from .prelude.registry import FUNCTIONS
from .values import is_tied, item_of_tuple, nothing

MOST_NESTED = 5
"""How often a function of the prelude may be followed inside itself."""


def call_function(walk: Walk, op: Op, home: Home, args: Given, keywords: Words) -> None:
    """A function of the user's, or of the prelude."""
    code = home.code
    if home.path is None:
        args = [coerced(walk, code, i, name) for i, name in enumerate(args)]
        known = code.parameters.positional
        keywords = {w: coerced(walk, code, known.index(w), n) if w in known else n for w, n in keywords.items()}
    bound = bind(walk, home, code, args, keywords)
    if code.generator:
        return new_generator(walk, op, home, code, "", bound)
    kinds = [walk.env[name] for name in bound.values()]
    if _must_follow(walk, home, code, kinds):
        most = MOST_NESTED if home.path is None else 0  # `sum(sum(row) for row in rows)`
        if sum(outer is code for outer in walk.frame.codes()) <= most:
            return follow(walk, op, home, code, bound, "")
        if any(_is_tied(kind) for kind in kinds):
            raise _turn(walk, code)
        for kind in kinds:
            if isinstance(kind, New):
                walk.complete(kind)
    order = parameter_names(code)
    spec = walk.unit.spec(home, code, [walk.env[bound[n]] for n in order])
    return _call_spec(walk, op, spec, [bound[n] for n in order])


def _turn(walk: Walk, code: Code) -> Exception:
    """A function that is followed calls itself: by way of one made inside, that is compiled on its own from now on."""
    frame: Frame | None = walk.frame
    while frame is not None and frame.code is not code:
        if frame.mode == "closure" and frame.code not in walk.unit.recursive:
            walk.unit.recursive.add(frame.code)
            walk.unit.changed = True
            return Defer()
        frame = frame.parent
    return walk.doubt("a function calls itself with a function or a generator")


def _must_follow(walk: Walk, home: Home, code: Code, kinds: list[Kind]) -> bool:
    """Whether a function is followed where it is called, because what it is given, or gives, is tied to this place."""
    if code in walk.unit.inlined or home.given is not None:
        return True
    if home.path is None and getattr(home.fn, "inline", False):
        return True
    return any(isinstance(kind, New) or _is_tied(kind) for kind in kinds)


def _is_tied(kind: Kind) -> bool:
    """Whether a value holds on to variables of the function that is being followed."""
    if not isinstance(kind, Compound):
        return is_tied(kind)
    return isinstance(kind, Compound) and any(is_tied(inner) for inner in items_in(kind))


def _call_spec(walk: Walk, op: Op, spec: Any, args: Given) -> None:
    """Call a function that is compiled on its own."""
    if spec.active:
        walk.unit.recursive.add(spec.code)
    spec.sweep()
    if spec.code in walk.unit.inlined and not spec.around:
        raise Defer  # it is followed from the next sweep on
    if walk.unit.making:
        walk.makes_arrays()
    kind = spec.result.kind
    if kind is None:
        walk.step(lambda w, *values: w.call(spec, list(values)), None, tuple(args))
        raise Defer
    walk.give(op, kind, lambda w, *values: w.call(spec, list(values)), *args)


def call_closure(walk: Walk, op: Op, closure: Closure, name: str, args: Given, keywords: Words) -> None:
    """A function that was made inside the one that is compiled; `name` holds it."""
    code = closure.code
    bound = bind(walk, closure.home, code, args, keywords, name)
    if closure.is_free:
        return _call_free(walk, op, closure, name, bound)
    if code.generator:
        return new_generator(walk, op, closure.home, code, closure.around, bound)
    if code in walk.unit.recursive:
        return _call_lifted(walk, op, closure, bound)
    if code in walk.frame.codes():
        walk.unit.recursive.add(code)
        walk.unit.changed = True
        raise Defer
    return follow(walk, op, closure.home, code, bound, closure.around, "closure")


def _call_free(walk: Walk, op: Op, closure: Closure, name: str, bound: Words) -> None:
    """A function that has taken along all that it needs."""
    code = closure.code
    values = code.values or ()
    first = len(closure.items) - len(values)
    taken = {one: item_of_tuple(walk, name, first + i) for i, one in enumerate(values)}
    tied = any(_is_tied(walk.env[full]) for full in (*bound.values(), *taken.values()))
    if code.generator or tied or code not in walk.unit.recursive:
        if code in walk.frame.codes() and not code.generator:
            if tied:
                raise _turn(walk, code)
            walk.unit.recursive.add(code)
            walk.unit.changed = True
            raise Defer
        around = _set_values(walk, code, taken, bound)
        if code.generator:
            return new_generator(walk, op, closure.home, code, around, bound)
        return follow(walk, op, closure.home, code, bound, around, "closure")
    order = parameter_names(code)
    kinds = {one: plain(walk.env[full]) for one, full in taken.items()}
    spec = walk.unit.spec(closure.home, code, [walk.env[bound[n]] for n in order], kinds)
    return _call_spec(walk, op, spec, [bound[n] for n in order] + list(taken.values()))


def _set_values(walk: Walk, code: Code, taken: Words, bound: Words) -> str:
    """The prefix of variables that hold what a function has taken along; one more for every function further out."""
    depth = max((len(name) - len(name.lstrip("^")) for name in taken), default=0)
    prefixes = [walk.spec.prefix(("values", walk.frame, walk.block, walk.at, code, i)) for i in range(depth + 1)]
    for prefix, outer in zip(prefixes, [*prefixes[1:], ""]):
        walk.claim(prefix, (*bound.values(), *taken.values()))
        walk.spec.arounds[prefix] = outer
    for name, full in taken.items():
        own = name.lstrip("^")
        walk.alias(prefixes[len(name) - len(own)] + own, full)
    return prefixes[0]


def _call_lifted(walk: Walk, op: Op, closure: Closure, bound: Words) -> None:
    """A nested function that calls itself: the variables around it are passed along."""
    levels = _levels(walk, closure.around)
    names: dict[str, str] = {}
    todo = [*closure.code.around, *(one for full in bound.values() for one in _needed(walk.env[full], levels))]
    while todo:
        name = todo.pop()
        full = walk.spec.outer(closure.around, name)
        kind = walk.env.get(full)
        if kind is None or name in names:
            continue
        names[name] = full
        todo += _needed(kind, levels)
    if any(op.dst is not None and op.dst[0] == "^" for block in closure.code.blocks for op in block.ops):
        raise walk.doubt("a function that calls itself sets a variable of the function around it")
    around = {name: _moved(walk, walk.env[full], levels) for name, full in sorted(names.items())}
    order = parameter_names(closure.code)
    kinds = [_moved(walk, walk.env[bound[n]], levels) for n in order]
    spec = walk.unit.spec(closure.home, closure.code, kinds, around)
    _call_spec(walk, op, spec, [bound[n] for n in order] + [names[n] for n in around])


def _needed(kind: Kind, levels: dict[str, str]) -> list[str]:
    """The variables that functions in a value need, as they are called from inside."""
    if not isinstance(kind, Compound):
        return []
    held = [one for one in items_in(kind) if isinstance(one, Closure) and not one.is_free and one.around in levels]
    return [levels[one.around][2:] + name for one in held for name in one.code.around]


def _levels(walk: Walk, prefix: str) -> dict[str, str]:
    """The prefixes of the variables around a function, and what they are in a function that is compiled on its own."""
    found: dict[str, str] = {}
    own = "^."
    while prefix not in found and own in walk.spec.arounds:
        found[prefix] = own
        if prefix not in walk.spec.arounds:
            break
        prefix, own = walk.spec.arounds[prefix], walk.spec.arounds[own]
    return found


def _moved(walk: Walk, kind: Kind, levels: dict[str, str]) -> Kind:
    """A value as it is seen from inside a function that is compiled on its own."""
    if isinstance(kind, Closure) and not kind.is_free:
        if kind.around not in levels:
            raise walk.doubt("passes a function to one that calls itself")
        kind = Closure(kind.code, kind.home, levels[kind.around], kind.items)
    elif is_tied(kind):
        raise walk.doubt("passes a generator to a function that calls itself")
    if isinstance(kind, Compound) and any(_moved(walk, item, levels) is not item for item in kind.items):
        kind = kind.having(tuple(_moved(walk, item, levels) for item in kind.items))
    return plain(kind)


def follow(walk: Walk, op: Op, home: Home, code: Code, bound: Words, around: str, mode: str = "call") -> None:
    """Go on inside a function that is called."""
    frame = enter(walk, op, home, code, around, mode)
    walk.claim(frame.prefix, bound.values())
    set_parameters(walk, frame.prefix, code, bound)
    walk.enter(frame, code.blocks[0])


def enter(walk: Walk, op: Op, home: Home, code: Code, around: str, mode: str) -> Frame:
    """The frame of a function that is followed from here."""
    parent, block, at = walk.frame, walk.block, walk.at
    dst = walk.name(op.dst) if op.dst is not None else None
    key = (mode, parent, block, at, home.fn, code, around)

    def make() -> Frame:
        prefix = walk.spec.prefix(key)
        walk.spec.arounds[prefix] = around
        return Frame(home, code, prefix, around, parent, block, at, dst, mode)

    return walk.spec.frame(key, make)


def set_parameters(walk: Walk, prefix: str, code: Code, bound: Words) -> None:
    """Binds the parameters of a function that is followed in place; what an earlier call has left is forgotten."""
    for name in code.locals:  # what an earlier call has left
        walk.env.pop(prefix + name, None)
    for name, full in bound.items():
        walk.alias(prefix + name, full)


def new_generator(walk: Walk, op: Op, home: Home, code: Code, around: str, bound: Words) -> None:
    """A generator that has not begun; its variables are this function's, under a prefix of their own."""
    assert op.dst is not None
    for full in bound.values():
        kind = walk.env[full]
        if isinstance(kind, New):
            walk.complete(kind)
    prefix = walk.spec.prefix(("generator", walk.frame, walk.block, walk.at, home.fn, code))
    walk.claim(prefix, bound.values())
    walk.spec.arounds[prefix] = around
    walk.spec.homes[prefix] = home
    set_parameters(walk, prefix, code, bound)
    walk.position(prefix, code.blocks[0], 0)
    walk.env[walk.name(op.dst)] = Generator(code, prefix)
    walk.steps.append(nothing(walk, walk.name(op.dst)))
    walk.next_op()


# ---- the prelude


def prelude_home(f: types.FunctionType) -> Home:
    """A function of the library as something to be called: no path leads to it from the user's function."""
    found = _HOMES.get(f)
    if found is None:
        found = _HOMES[f] = Home(f, None)
    return found


_HOMES: dict[types.FunctionType, Home] = {}


def prelude(walk: Walk, op: Op, name: str, args: Given, keywords: Words | None = None) -> None:
    """The result of an operation is what a function of the prelude gives."""
    f = FUNCTIONS.get(name)
    if f is None:
        raise walk.doubt(f"needs {name}")
    call_function(walk, op, prelude_home(f), args, keywords or {})


def written(walk: Walk, op: Op, text: str, args: Given) -> None:
    """The result of an operation is what a function gives whose source is written for these kinds."""
    call_function(walk, op, text_home(text), args, {})


def called(walk: Walk, text: str, args: Given) -> str:
    """A temporary that holds what a function gives whose source is written for these kinds; it is compiled on its own,
    so that the operation that needs it can go on."""
    return result_of(walk, text_home(text), args)


def result_of(walk: Walk, home: Home, args: Given) -> str:
    """A temporary that holds what a function of the library gives, compiled on its own."""
    spec = walk.unit.spec(home, home.code, [walk.env[name] for name in args])
    spec.sweep()
    kind = spec.result.kind
    if kind is None:
        walk.step(lambda w, *values: w.call(spec, list(values)), None, tuple(args))
        raise Defer
    return walk.temporary(kind, lambda w, *values: w.call(spec, list(values)), *args)


def text_home(text: str) -> Home:
    """Where a function stands whose source is given."""
    home = _WRITTEN.get(text)
    if home is None:
        node = parsed(text).body[0]
        assert isinstance(node, ast.FunctionDef)
        home = _WRITTEN[text] = Home(nowhere, None, lower(node, node.name, "<upshift>"))  # type: ignore[arg-type]
    return home


_WRITTEN: dict[str, Home] = {}
