"""How a call's arguments become the values of parameters: stars, keywords, defaults, what is collected."""

from __future__ import annotations

import ast
from typing import Any

from .captures import Home
from .check import Leaves, Walk
from .code import Code, Parameters, Shape
from .kinds import BOOL, COMPLEX, FLOAT, INT, STR, Kind, Known, List, Tuple
from .rows import memory, numpy_numbers
from .rows.numbers import base, is_numpy_number, rank, safe, to_complex, to_float, to_int
from .values import captured, item_of_tuple, tuple_of, tuple_row, value_of_member

Given = list[str]
Words = dict[str, str]
REST = "*"
"""The keyword under which a list behind a star goes: arguments whose number is known only when a lane runs."""


def spread(walk: Walk, args: Given, shape: Shape) -> tuple[Given, Words]:
    """Arguments one by one. A list behind a star, which is the last of them, is the keyword `REST`."""
    positional: Given = []
    keywords: Words = {}
    for name, starred in zip(args, shape.starred):
        kind = walk.env[name]
        if not starred:
            positional.append(name)
        elif isinstance(kind, Tuple):
            positional += [item_of_tuple(walk, name, i) for i in range(len(kind.items))]
        elif isinstance(kind, List):
            keywords[REST] = name
        else:
            raise walk.doubt(f"passes {kind!r} behind a star")
    for name, word in zip(args[len(shape.starred) :], shape.keywords):
        kind = walk.env[name]
        more = {word: name} if word is not None else {}
        if word is None:
            if not isinstance(kind, Known):
                raise walk.doubt(f"passes {kind!r} behind two stars")
            more = {one: item_of_tuple(walk, name, i) for i, one in enumerate(kind.names)}
        for one, value in more.items():
            if one in keywords:
                raise Leaves(TypeError, f"passes the keyword {one} twice")
            keywords[one] = value
    return positional, keywords


def known_of(walk: Walk, words: Words) -> str:
    """A temporary that holds a dict whose keys are known."""
    kind = Known(tuple(words), tuple(walk.env[name] for name in words.values()))
    return walk.temporary(kind, tuple_row(kind), *words.values())


def parameter_names(code: Code) -> list[str]:
    """All parameters, in the order in which their values are passed."""
    parameters = code.parameters
    names = [*parameters.positional, *parameters.keyword_only]
    names += [n for n in (parameters.variadic, parameters.keywords) if n is not None]
    return names


def _wrong(walk: Walk, home: Home, closure: str | None, reason: str) -> Leaves:
    """Arguments that a function does not take; one of the prelude may take fewer than that which it stands for."""
    return walk.doubt(reason) if home.path is None and closure is None else Leaves(TypeError, reason)


def bind(walk: Walk, home: Home, code: Code, args: Given, keywords: Words, closure: str | None = None) -> Words:
    """The full name of the value of every parameter. `closure`: the variable that holds the function."""
    try:
        return _bind(walk, home, code, args, keywords, closure)
    except Leaves as leaves:
        if home.path is None and closure is None:  # Python's own function may take more than ours
            raise walk.doubt(leaves.reason) from None
        raise


def _bind(walk: Walk, home: Home, code: Code, args: Given, keywords: Words, closure: str | None) -> Words:
    parameters = code.parameters
    words = dict(keywords)
    rest = words.pop(REST, None)
    bound = dict(zip(parameters.positional, args))
    more = args[len(parameters.positional) :]
    if rest is not None:
        many = _bind_rest(walk, home, code, bound, words, rest, closure)
    if more and parameters.variadic is None:
        raise _wrong(walk, home, closure, f"{code.name}() is given too many arguments")
    collected: Words = {}
    for word, name in words.items():
        known = word in parameters.positional[parameters.positional_only :] or word in parameters.keyword_only
        if known and word not in bound:
            bound[word] = name
        elif known or parameters.keywords is None:
            raise _wrong(walk, home, closure, f"{code.name}() is given the keyword {word} twice, or does not know it")
        else:
            collected[word] = name
    _bind_defaults(walk, home, code, bound, closure)
    if parameters.variadic is not None:
        if rest is not None and more:
            raise walk.doubt("passes a list behind a star, and more arguments before it than are named")
        bound[parameters.variadic] = tuple_of(walk, more) if rest is None else many
    if parameters.keywords is not None:
        bound[parameters.keywords] = known_of(walk, collected)
    return bound


def _bind_rest(walk: Walk, home: Home, code: Code, bound: Words, words: Words, rest: str,
               closure: str | None) -> str:  # fmt: skip
    """The parameters that a list behind a star fills; what is left of it where the function takes any number."""
    parameters = code.parameters
    kind = walk.env[rest]
    assert isinstance(kind, List)
    named = list(parameters.positional[len(bound) :])
    stop = next((i for i, name in enumerate(named) if name in words), len(named))
    named = named[:stop]
    have_defaults = _defaults(home, parameters, closure)
    required = sum(1 for name in named if name not in have_defaults)
    variadic = parameters.variadic is not None
    count = len(named)
    wrong = TypeError if home.path is not None or closure is not None else None

    def check(w: Any, xs: str) -> None:
        n = memory.length(w, xs)
        w.leave_if(w.new(f"icmp slt i64 {n}, {required}"), wrong, f"{code.name}() is given too few arguments")
        w.leave_if(w.new(f"icmp slt i64 {n}, {count}"), None, "a list behind a star leaves parameters to defaults")
        if not variadic:
            w.leave_if(w.new(f"icmp sgt i64 {n}, {count}"), wrong, f"{code.name}() is given too many arguments")

    walk.step(check, None, (rest,))
    inside = walk.read(kind.cell) if named else None
    for i, name in enumerate(named):
        assert inside is not None
        bound[name] = walk.temporary(inside, _item_row(kind, i), rest)
    if not variadic:
        return rest
    part = List(walk.cell("rest"), tuple)
    if kind.cell.kind is not None:
        walk.learn(part.cell, kind.cell.kind)
    return walk.temporary(part, memory.middle(kind, part, count, 0), rest)


def _item_row(kind: List, i: int) -> Any:
    return safe(lambda w, xs: memory.get(w, kind, xs, str(i)))


def unpack_rest(walk: Walk, rest: str, count: int, name: str) -> Given:
    """A list behind a star as so many arguments."""
    kind = walk.env[rest]
    assert isinstance(kind, List)
    inside = walk.read(kind.cell)

    def check(w: Any, xs: str) -> None:
        n = memory.length(w, xs)
        w.leave_if(w.new(f"icmp ne i64 {n}, {count}"), TypeError, f"{name}() is given another number of arguments")

    walk.step(check, None, (rest,))
    return [walk.temporary(inside, _item_row(kind, i), rest) for i in range(count)]


def _defaults(home: Home, parameters: Parameters, closure: str | None) -> dict[str, Any]:
    """The parameters that have a default, and which one it is."""
    if closure is not None or home.given is not None:
        first = len(parameters.positional) - parameters.defaults
        found: dict[str, Any] = {name: i for i, name in enumerate(parameters.positional[first:])}
        with_default = [word for word in parameters.keyword_only if word in parameters.keyword_defaults]
        return found | {word: parameters.defaults + i for i, word in enumerate(with_default)}
    count = len(home.fn.__defaults__ or ())
    named = parameters.positional[len(parameters.positional) - count :]
    return {name: i for i, name in enumerate(named)} | {word: word for word in home.fn.__kwdefaults__ or {}}


def _bind_defaults(walk: Walk, home: Home, code: Code, bound: Words, closure: str | None) -> None:
    parameters = code.parameters
    missing = [word for word in (*parameters.positional, *parameters.keyword_only) if word not in bound]
    if not missing:
        return
    defaults = _defaults(home, parameters, closure)
    captures = walk.unit.captures
    for word in missing:
        if word not in defaults:
            raise _wrong(walk, home, closure, f"{code.name}() is not given {word}")
        at = defaults[word]
        if closure is not None:
            bound[word] = item_of_tuple(walk, closure, at)
        else:
            found = captures.default_of(home, at) if type(at) is int else captures.keyword_default_of(home, at)
            bound[word] = captured(walk, *found)


_CLASSES = {"int": INT, "float": FLOAT, "complex": COMPLEX, "bool": BOOL, "str": STR}


def coerced(walk: Walk, code: Code, i: int, name: str) -> str:
    """An argument of a function of the prelude, as its annotation asks for."""
    parameters = code.parameters
    if i >= len(parameters.positional):
        return name
    annotation = code.annotations.get(parameters.positional[i])
    wanted = _CLASSES.get(annotation.id) if isinstance(annotation, ast.Name) else None
    if wanted is None:
        return name
    name = value_of_member(walk, name)
    if base(walk.env[name]) is wanted:
        return name
    return coerce(walk, name, wanted)


def coerce(walk: Walk, name: str, wanted: Kind) -> str:
    """A number as another kind of number, where Python takes one for the other."""
    kind = walk.env[name]
    if is_numpy_number(kind):
        row = numpy_numbers.converted(kind, wanted)
        if row is not None:
            return walk.temporary(wanted, row, name)
    have = rank(kind)
    if wanted is INT and have == 0:
        return walk.temporary(INT, safe(lambda w, v: to_int(w, v, kind)), name)
    if wanted is FLOAT and 0 <= have <= 2:
        return walk.temporary(FLOAT, safe(lambda w, v: to_float(w, v, kind)), name)
    if wanted is COMPLEX and have >= 0:
        return walk.temporary(COMPLEX, safe(lambda w, v: to_complex(w, v, kind)), name)
    raise Leaves(None, f"{kind!r} where {wanted!r} is expected")
