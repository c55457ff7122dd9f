"""Tells from a function's bytecode, by a few look-ups, whether it only computes with numbers."""

from __future__ import annotations

import dis
import types

import tensorflow as tf

from .batchwise import SMOOTH

SIMPLE = frozenset(dis.opmap[name] for name in
                   "CACHE RESUME NOP LOAD_FAST LOAD_CONST LOAD_GLOBAL LOAD_ATTR LOAD_METHOD PRECALL CALL PUSH_NULL "
                   "BINARY_OP UNARY_NEGATIVE RETURN_VALUE POP_TOP STORE_FAST EXTENDED_ARG".split()
                   if name in dis.opmap)  # fmt: skip
BINARY = dis.opmap["BINARY_OP"]
ROUNDS = frozenset(i for i, (_, symbol) in enumerate(vars(dis)["_nb_ops"]) if symbol.rstrip("=") in "+-*/**")


def is_simple(fn: types.FunctionType) -> bool:
    """Whether a function of numbers only computes, by operators and functions that work on every number alike."""
    code = fn.__code__
    text = code.co_code
    if not SIMPLE.issuperset(text[::2]) or code.co_argcount != 1 or code.co_flags & 0x0C or code.co_freevars:
        return False
    for at in range(0, len(text), 2):
        if text[at] == BINARY and text[at + 1] not in ROUNDS:
            return False
    known = fn.__globals__
    for name in code.co_names:
        if name in known:
            value = known[name]
            if type(value) is not float and type(value) is not int and value is not tf:
                return False
        elif name not in SMOOTH and name not in ("math", "nn"):
            return False
    return all(type(value) in (float, int, type(None)) for value in code.co_consts)
