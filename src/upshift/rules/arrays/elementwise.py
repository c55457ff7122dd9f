"""Functions that work element by element and broadcast: ufuncs, operators, and NumPy's functions made of them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .call import Called, Named, Run, Slot, broadcasting, by_rows, named, never, over, row

UFUNCS: dict[str, np.ufunc] = {
    name: fn for name, fn in vars(np).items() if isinstance(fn, np.ufunc) and not fn.signature
}
"""All of NumPy's ufuncs that work on single numbers."""

_SAMPLES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(UFUNCS, ("np.{0}(x)", "np.{0}(v)")),
    **{name: ("np.{0}(x, y)", "np.{0}(x, s)", "np.{0}(x, 0.5)", "np.{0}(x, w)", "np.{0}(v, x[:, :1])")
       for name, fn in UFUNCS.items() if fn.nin == 2},
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm"),
    ("np.{0}(k, j)", "np.{0}(k, 3)")),
    **dict.fromkeys(("invert", "bitwise_count"), ("np.{0}(k)",)),
    "isnat": ("np.isnat(d)",), "ldexp": ("np.ldexp(x, 3)", "np.ldexp(v, k)"),
    "arccosh": ("np.arccosh(1 + np.abs(x))",), "arctanh": ("np.arctanh(np.tanh(x))",),
    "arcsin": ("np.arcsin(np.sin(x))",), "arccos": ("np.arccos(np.sin(x))",),
    "log": ("np.log(np.abs(x) + 0.1)",), "sqrt": ("np.sqrt(np.abs(x))", "np.sqrt(f)"),
    "add": ("np.add(x, y)", "np.add(x, s)", "np.add(x, 1)", "np.add(f, 1.5)", "np.add(x, y, dtype=complex)",
            "np.add(x, y, where=x > 0, out=np.zeros((4, 5)))", "x + w", "k + 1.5", "f + s", "x + x[0]"),
    "power": ("np.power(np.abs(x), s)", "x ** 2", "x ** 3", "np.abs(x) ** 0.5", "k ** 2"),
}  # fmt: skip


def elementwise(called: Called) -> Run | None:
    """The rule of functions that NumPy broadcasts itself, once all columns have the same number of axes."""
    return broadcasting(called)


def one_zero(called: Called) -> Run | None:
    """Only where no zero of either sign meets one of the other."""
    run = broadcasting(called)

    def careful(*values: Any) -> Any:
        out = run(*values)
        return None if (out.dtype.kind == "f" and not np.all(out)) else out

    return careful


for _name, _ufunc in UFUNCS.items():
    if _ufunc.__name__ != _name and _name in ("abs", "conj", "acos", "pow"):
        continue  # another name of the same function
    _close = _name in ("fmax", "fmin")  # which of two zeros is taken depends on where in the array they stand
    _rule = one_zero if _close else elementwise
    row(_ufunc, _rule, *(sample.format(_name) for sample in _SAMPLES.get(_name, ())), warns=True, close=_close)

OPERATORS: dict[Any, np.ufunc | None] = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.true_divide,
    operator.floordiv: np.floor_divide, operator.mod: np.remainder, operator.pow: None, operator.neg: np.negative,
    operator.pos: np.positive, operator.abs: np.absolute, operator.invert: np.invert,
    operator.lshift: np.left_shift, operator.rshift: np.right_shift, operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or, operator.xor: np.bitwise_xor, operator.lt: np.less, operator.le: np.less_equal,
    operator.gt: np.greater, operator.ge: np.greater_equal, operator.eq: np.equal, operator.ne: np.not_equal,
}  # fmt: skip
"""Python's operators on arrays are these ufuncs; powers with a plain exponent take short cuts of their own."""

for _fn in OPERATORS:
    row(_fn, elementwise, warns=True)


def _where(called: Called) -> Run | None:
    args, _ = called.arguments
    return broadcasting(called) if len(args) == 3 else None


row(np.where, _where, "np.where(x > 0, x, y)", "np.where(b, v, 0)", "np.where(x > s, x, s)", "np.where(v > 0, 1, -1)")
row(np.clip, elementwise, "np.clip(x, -0.5, 0.5)", "x.clip(0)", "np.clip(x, None, s)", "np.clip(k, 1, 3)")
row(np.round, elementwise, "np.round(x)", "np.round(x, 2)", "x.round(1)", "np.round(k, -1)")
row(np.around, elementwise, "np.around(x, 1)")
row(np.fix, elementwise, "np.fix(x * 3)")
row(np.nan_to_num, elementwise, "np.nan_to_num(x)", "np.nan_to_num(x / 0, nan=1.0, posinf=2.0)")
row(np.isclose, elementwise, "np.isclose(x, y)", "np.isclose(x, y, atol=1.0)", "np.isclose(v, 0.1, equal_nan=True)")
row(np.real, elementwise, "np.real(z)", "z.real", "x.real")
row(np.imag, elementwise, "np.imag(z)", "z.imag")
row(np.angle, elementwise, "np.angle(z)", "np.angle(z, deg=True)")
row(np.isreal, elementwise, "np.isreal(z)")
row(np.iscomplex, elementwise, "np.iscomplex(z)")
row(np.isposinf, elementwise, "np.isposinf(x)")
row(np.isneginf, elementwise, "np.isneginf(x)")
row(np.sinc, elementwise, "np.sinc(x)")
row(np.i0, elementwise, "np.i0(x)")
row(np.unwrap, by_rows, "np.unwrap(v * 9)")
row(np.heaviside, elementwise, "np.heaviside(x, 0.5)", warns=True)
row(np.zeros_like, elementwise, "np.zeros_like(x) + s")
row(np.ones_like, elementwise, "np.ones_like(x) * s")
row(np.full_like, elementwise, "np.full_like(x, s)", "np.full_like(x, 2) + x")
row(np.empty_like, lambda called: broadcasting(called, np.zeros_like))
row(np.copy, elementwise, "np.copy(x)", "x.copy()")
row(np.real_if_close, never)


@named
def astype(call: Named) -> Run:
    """The rule of `np.astype`."""
    x, dtype, rest = call.lane("x"), np.dtype(call.constant("dtype")), call.rest("copy", "order")
    if rest.get("order", "K") not in ("K", "C"):
        return lambda *values: None
    return over(x, lambda X: X.astype(dtype))


row(np.astype, astype, "x.astype(np.float32)", "x.astype(int)", "k.astype(float)", "np.astype(x, complex)", warns=True)


def is_ufunc_on_lanes(called: Called) -> np.ufunc | None:
    """The ufunc that does the whole call in one, with a buffer to write into: all arguments in place already."""
    fn = called.fn if isinstance(called.fn, np.ufunc) else OPERATORS.get(called.fn)
    if (
        fn is None
        or fn.nout != 1
        or fn in (np.fmax, np.fmin)
        or called.form.children[1].children
        or len(called.leaves) != fn.nin
    ):
        return None
    slots = called.slots
    lanes = [slot for slot in slots if slot.lane]
    most = max((slot.ndim for slot in slots), default=0)
    fits = all(slot.ndim == most for slot in lanes) and all(slot.lane or slot.ndim <= most for slot in slots)
    return fn if fits and all(isinstance(leaf, Slot) or np.ndim(leaf) <= most for leaf in called.leaves) else None
