"""Calls of the prelude's intrinsics: the few instructions of machine code that stand for each."""

from __future__ import annotations

from typing import Any

from .calls import ROWS, SPECIAL, Given, Words, give_literal, row, special
from .check import Leaves, Walk
from .code import Op
from .kinds import BOOL, FLOAT, INT, NONE, STR, Kind, List, Object, Range, Slice
from .prelude import intrinsics
from .rows import memory
from .rows.numbers import safe
from .values import constant, item_of_tuple


@row(intrinsics.item)
def _item(walk: Walk, of: Kind, at: Kind) -> Any:
    if isinstance(of, List):
        return walk.read(of.cell), safe(lambda w, xs, i: memory.get(w, of, xs, i))
    return None


@special(intrinsics.set_item)
def _set_item(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    of, _, kind = (walk.env[name] for name in args)
    if not isinstance(of, List):
        return False
    walk.learn(of.cell, kind)
    walk.writes(of.cell)

    def emit(w: Any, xs: str, i: str, v: str) -> None:
        memory.keep_callers(w, of, xs)
        memory.put(w, of, xs, i, v, kind)

    walk.step(emit, None, tuple(args))
    walk.give(op, NONE, constant(NONE))
    return True


@special(intrinsics.sized)
def _sized(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    made = List(walk.cell())
    walk.give(op, made, lambda w, n: memory.new_list(w, made, n), *args)
    return True


@special(intrinsics.shortened)
def _shortened(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    of = walk.env[args[0]]
    assert isinstance(of, List)
    walk.writes(of.cell)
    walk.step(lambda w, xs, n: memory.set_length(w, of, xs, n), None, tuple(args))
    walk.give(op, NONE, constant(NONE))
    return True


@special(intrinsics.same_object)
def _same_object(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kinds = [walk.env[name] for name in args]
    if not all(isinstance(kind, List | Object) for kind in kinds) or type(kinds[0]) is not type(kinds[1]):
        return give_literal(walk, op, False)
    walk.give(op, BOOL, safe(lambda w, x, y: w.new(f"icmp eq ptr {x}, {y}")), *args)
    return True


@row(intrinsics.as_tuple)
def _as_tuple(walk: Walk, of: Kind) -> Any:
    assert isinstance(of, List)
    return List(of.cell, tuple), safe(lambda w, xs: xs)


def _ints(op: str) -> Any:
    return lambda walk, a, b: (INT, safe(lambda w, x, y: w.new(f"{op} i64 {x}, {y}")))


def _of_llvm(name: str) -> Any:
    """A function of doubles that is LLVM's own."""
    return safe(lambda w, *values: w.intrinsic(name, "double", *(("double", value) for value in values)))


def _product_fits(w: Any, a: str, b: str) -> str:
    both = w.intrinsic("llvm.smul.with.overflow.i64", "{ i64, i1 }", ("i64", a), ("i64", b))
    return str(w.new(f"xor i1 {w.extract('{ i64, i1 }', both, 1)}, true"))


def _high_product(w: Any, a: str, b: str) -> str:
    x, y = w.new(f"zext i64 {a} to i128"), w.new(f"zext i64 {b} to i128")
    product = w.new(f"mul i128 {x}, {y}")
    return str(w.new(f"trunc i128 {w.new(f'lshr i128 {product}, 64')} to i64"))


ROWS.update({
    intrinsics.plus: _ints("add nsw"), intrinsics.minus: _ints("sub nsw"), intrinsics.wrapping_add: _ints("add"),
    intrinsics.wrapping_mul: _ints("mul"), intrinsics.shift_down: _ints("lshr"), intrinsics.shift_up: _ints("shl"),
    intrinsics.unsigned_div: _ints("udiv"), intrinsics.unsigned_rem: _ints("urem"),
    intrinsics.unsigned_less: lambda walk, a, b: (BOOL, safe(lambda w, x, y: w.new(f"icmp ult i64 {x}, {y}"))),
    intrinsics.product_fits: lambda walk, a, b: (BOOL, safe(_product_fits)),
    intrinsics.high_product: lambda walk, a, b: (INT, safe(_high_product)),
    intrinsics.leading_zeros: lambda walk, a: (
        INT, safe(lambda w, x: w.intrinsic("llvm.ctlz.i64", "i64", ("i64", x), ("i1", "false")))),
    intrinsics.byte: lambda walk, s, i: (INT, memory.text_byte),
    intrinsics.part: lambda walk, s, i, j: (STR, memory.text_part),
    intrinsics.new_text: lambda walk, n: (STR, memory.text_new),
    intrinsics.whole: lambda walk, x: (FLOAT, _of_llvm("llvm.floor.f64")),
    intrinsics.nearest_even: lambda walk, x: (FLOAT, _of_llvm("llvm.roundeven.f64")),
    intrinsics.fma: lambda walk, a, b, c: (FLOAT, _of_llvm("llvm.fma.f64")),
    intrinsics.is_nan: lambda walk, x: (BOOL, safe(lambda w, v: w.new(f"fcmp uno double {v}, 0.0"))),
    intrinsics.bits_of: lambda walk, x: (INT, safe(lambda w, v: w.new(f"bitcast double {v} to i64"))),
    intrinsics.float_of_bits: lambda walk, x: (FLOAT, safe(lambda w, v: w.new(f"bitcast i64 {v} to double"))),
})  # fmt: skip


@special(intrinsics.set_byte)
def _set_byte(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    walk.step(memory.text_put, None, tuple(args))
    walk.give(op, NONE, constant(NONE))
    return True


@special(intrinsics.poll)
def _poll(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    walk.step(lambda w: w.poll_now(), None, ())
    walk.give(op, NONE, constant(NONE))
    return True


@special(intrinsics.give_up)
def _give_up(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    raise Leaves(None, "there is no short way for this")


def _part_of(at: int, of: type) -> Any:
    def find(walk: Walk, op: Op, args: Given, words: Words) -> bool:
        kind = walk.env[args[0]]
        assert op.dst is not None
        if isinstance(kind, Range):
            walk.give(op, INT, safe(lambda w, r: w.extract("{ i64, i64, i64 }", r, at)), *args)
            return True
        if isinstance(kind, Slice):
            return walk.give_name(op, item_of_tuple(walk, args[0], at))
        return False

    return find


for _at, _name in enumerate(("start", "stop", "step")):
    SPECIAL[getattr(intrinsics, f"range_{_name}")] = _part_of(_at, Range)
    SPECIAL[getattr(intrinsics, f"slice_{_name}")] = _part_of(_at, Slice)
