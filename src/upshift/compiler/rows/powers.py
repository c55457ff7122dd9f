"""Powers of floats: C's pow, and products where it is sure to give the very same float.

`x ** 2` by C's pow takes forty times as long as a product, and LLVM's own rewriting of it differs in the last bit now
and then. Here the product is worked out with what its rounding loses; where that leaves no doubt, pow is not called.
"""

from __future__ import annotations

import functools
import platform
import struct
from typing import Any

import numpy as np

LOW, HIGH = (1023 - 48) << 52, (1023 + 48) << 52
"""Bits of 2 ** -48 and 2 ** 48."""
SURE = 0.5 / 0.487


@functools.cache
def knows_pow() -> bool:
    """Whether C's pow is the one whose error is known, and what a product loses costs one instruction."""
    name, version = platform.libc_ver()
    if name != "glibc" or tuple(map(int, version.split(".")[:2])) < (2, 28):
        return False
    if platform.machine() in ("aarch64", "arm64"):
        return True
    return has_feature("FMA3")


def has_feature(name: str) -> bool:
    """Whether the processor has a feature, by NumPy's word for it; False where NumPy does not tell."""
    core = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    return bool(getattr(core, "__cpu_features__", {}).get(name, False))


def value_of(text: str) -> float | None:
    """The number that a constant of IR stands for."""
    if text.startswith("0x") and len(text) == 18:
        return float(struct.unpack(">d", bytes.fromhex(text[2:]))[0])
    return None


def power_of_doubles(w: Any, x: str, y: str) -> str:
    """C's `pow(x, y)`."""
    exponent = value_of(y)
    short = _SHORT.get(exponent) if exponent is not None and knows_pow() and not w.module.for_gpu else None
    if short is None:
        return str(w.call_c("pow", "double", ("double", x), ("double", y)))
    high, low = short(w, x)
    made = w.new(f"fadd double {high}, {low}")
    rest = w.new(f"fsub double {low}, {w.new(f'fsub double {made}, {high}')}")
    sure = _is_sure(w, made, rest)
    slow, on = w.fresh("pow"), w.fresh("on")
    before = w.label
    w.do(f"br i1 {sure}, label %{on}, label %{slow}, !prof !1")
    w.start(slow)
    by_c = w.call_c("pow", "double", ("double", x), ("double", y))
    w.do(f"br label %{on}")
    w.start(on)
    return str(w.new(f"phi double [ {made}, %{before} ], [ {by_c}, %{slow} ]"))


def _is_sure(w: Any, made: str, rest: str) -> str:
    """Whether C's pow gives this very float, where `rest` is what the power itself is more than it.

    Where the result is within 2**-48 and 2**48, pow is off by less than 0.513 of the distance between floats: before
    it rounds, by less than 0.013. So where the product is off by less than 0.487 of that distance, pow can only round
    to the same float; and it is, where somewhat more than the rest, added to the product, is still rounded off.
    """
    more = w.new(f"fmul double {rest}, 0x{struct.pack('>d', SURE).hex().upper()}")
    near = w.new(f"fcmp oeq double {w.new(f'fadd double {made}, {more}')}, {made}")
    size = w.intrinsic("llvm.fabs.f64", "double", ("double", made))
    above = w.new(f"sub i64 {w.new(f'bitcast double {size} to i64')}, {LOW}")
    inside = w.new(f"icmp ult i64 {above}, {HIGH - LOW}")
    return str(w.new(f"and i1 {near}, {inside}"))


# ---- powers as sums of two floats, far more exact than one


def _fma(w: Any, a: str, b: str, c: str) -> str:
    return str(w.intrinsic("llvm.fma.f64", "double", ("double", a), ("double", b), ("double", c)))


def _minus(w: Any, a: str) -> str:
    return str(w.new(f"fneg double {a}"))


def _square(w: Any, x: str) -> tuple[str, str]:
    high = w.new(f"fmul double {x}, {x}")
    return high, _fma(w, x, x, _minus(w, high))


def _cube(w: Any, x: str) -> tuple[str, str]:
    square, rest = _square(w, x)
    high = w.new(f"fmul double {square}, {x}")
    return high, _fma(w, rest, x, _fma(w, square, x, _minus(w, high)))


def _fourth(w: Any, x: str) -> tuple[str, str]:
    square, rest = _square(w, x)
    high = w.new(f"fmul double {square}, {square}")
    twice = w.new(f"fadd double {square}, {square}")
    return high, _fma(w, twice, rest, _fma(w, square, square, _minus(w, high)))


def _root(w: Any, x: str) -> tuple[str, str]:
    """Of a negative number it is NaN, of which nothing is sure."""
    high = w.intrinsic("llvm.sqrt.f64", "double", ("double", x))
    rest = _fma(w, _minus(w, high), high, x)
    return high, w.new(f"fdiv double {rest}, {w.new(f'fadd double {high}, {high}')}")


def _inverse(w: Any, x: str) -> tuple[str, str]:
    high = w.new(f"fdiv double 1.0, {x}")
    return high, w.new(f"fmul double {_fma(w, _minus(w, high), x, '1.0')}, {high}")


_SHORT: dict[float, Any] = {2.0: _square, 3.0: _cube, 4.0: _fourth, 0.5: _root, -1.0: _inverse}
