"""A number or an array of one lane, as JAX traces it, with a bound on how far it may be from the loop's.

XLA's sums, products of matrices and functions such as `sin` have other last bits than NumPy's. A bound travels with
what they make: relative to the value (known while tracing), and absolute (computed with the value, one number for each
lane). Where a decision is nearer to its edge than the bound, or a result may be further off than the law allows, the
lane is `odd`: it is the plain function's. What is made by + - * / and roots has the loop's very bits, since XLA is kept
from rewriting it (`Work.fixed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..ran import NotCompiled

Traced = Any
"""An array while JAX traces: its shape and dtype are known, its numbers are not."""
TINY = {8: 1e-290, 4: 1e-30}
"""XLA's CPUs take numbers below 1e-308 for zero. From numbers above this limit, sums make none that small."""
MOST_NUMBERS = 256
FLOAT = np.dtype(np.float64)


def refuse(reason: str, where: str = "") -> NotCompiled:
    """Why a tree has no XLA program."""
    return NotCompiled("jax", reason, where)


@dataclass(slots=True, eq=False)
class Value:
    """`x`, and how far it may be off: `relative * |x| + absolute`, for each number in it."""

    x: Traced
    relative: float = 0.0
    absolute: Traced | None = None
    nonneg: bool = False
    """Whether no number in it can be negative: sums of such cannot cancel."""
    frail: tuple[Frail, ...] = ()
    """What was taken for zero on the way, if it was too small."""
    parts: tuple[Value, ...] = ()
    """Several values that one call made; then there is no `x`."""
    python: bool = False
    """Whether it is a Python number, which takes on the dtype of the array that it meets."""
    waiting: Any = None
    """A call that is made when it is known what it makes; then there is no `x` either."""
    _most: Traced | None = field(default=None, repr=False)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the number or array."""
        found: np.dtype[Any] = np.dtype(self.x.dtype)
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array, without lanes."""
        return tuple(self.x.shape)

    @property
    def ndim(self) -> int:
        """How many axes the array has, without lanes."""
        return len(self.x.shape)

    @property
    def bytes(self) -> int:
        """Of one real number in it."""
        return self.dtype.itemsize // (2 if self.dtype.kind == "c" else 1)

    @property
    def sharp(self) -> bool:
        """Whether it has the loop's very bits."""
        return not self.relative and self.absolute is None

    def most(self) -> Traced:
        """The largest magnitude in it."""
        if self._most is None:
            size = jnp.abs(self.x)
            size = size if not self.ndim else jnp.max(size) if self.x.size else jnp.zeros((), size.dtype)
            self._most = size.astype(FLOAT)
        return self._most

    def as_large_as(self, a: Value, b: Value, sized: Callable[[Traced, Traced], Traced]) -> Value:
        """The same, made of an array whose largest is known and one number: that of the result follows."""
        if a.ndim == self.ndim and not b.ndim and a._most is not None:
            self._most = sized(a.most(), b.most())
        return self

    def least(self) -> Traced:
        """The smallest magnitude in it."""
        size = jnp.abs(self.x).astype(FLOAT)
        return size if not self.ndim else jnp.min(size) if self.x.size else jnp.ones((), FLOAT)

    def rms(self) -> Traced:
        """The root of the mean of its squares."""
        return jnp.sqrt(jnp.mean(jnp.square(jnp.abs(self.x).astype(FLOAT))))

    def off(self) -> Traced:
        """How far any number in it may be off."""
        made = 0.0 if self.absolute is None else self.absolute
        return made + self.relative * self.most() if self.relative else made

    def off_each(self) -> Traced:
        """How far each number in it may be off."""
        made = 0.0 if self.absolute is None else self.absolute
        return made + self.relative * jnp.abs(self.x).astype(FLOAT) if self.relative else made


@dataclass(slots=True, eq=False)
class Frail:
    """Which numbers were taken for zero; asked for only where that matters."""

    condition: Callable[[], Traced]
    found: Traced | None = None

    def ask(self) -> Traced:
        """The condition, traced once and only if it is asked for."""
        if self.found is None:
            self.found = self.condition()
        return self.found


def _frailties(values: Iterable[Value]) -> tuple[Frail, ...]:
    """All that values depend on, once."""
    return tuple(dict.fromkeys(one for value in values for one in value.frail))


def larger_of(bounds: Iterable[Traced | None]) -> Traced | None:
    """The larger of absolute bounds, some of which are none."""
    made: Traced | None = None
    for bound in bounds:
        made = bound if made is None else made if bound is None else jnp.maximum(made, bound)
    return made


def _bits_of(dtype: Any) -> Any:
    return np.int64 if dtype.itemsize == 8 else np.int32


class Work:
    """What is known while one lane's program is traced: the path that it is on, and the lanes that are odd.

    `careful`: odd lanes are found and bits are kept. Inside somebody's own `jit` there is no plain function to leave
    lanes to: then the program is as plain as if it had been written by hand.
    """

    def __init__(self, numbers: Traced, careful: bool, on_cpu: bool = True) -> None:
        self.numbers, self.careful, self.on_cpu = numbers, careful, on_cpu
        self.places: dict[str, int] = {}
        """Where each constant is among the numbers; the first of them is zero."""
        self.path: Traced | None = None
        self.found: list[Traced] = []
        self.asked: set[tuple[int, int]] = set()
        self.zeros: dict[Any, Traced] = {}

    def odd(self, condition: Traced) -> None:
        """Lanes for which this holds, anywhere in an array, are the plain function's."""
        if not self.careful:
            return
        condition = jnp.any(condition) if jnp.ndim(condition) else condition
        self.found.append(condition if self.path is None else self.path & condition)

    def all_odd(self) -> Traced:
        """Whether the lane is odd."""
        made = jnp.zeros((), bool)
        for condition in self.found:
            made = made | condition
        return made

    def decide_on(self, *values: Value) -> None:
        """Something depends on whether these are zero: then nothing may have been taken for it."""
        if not self.careful:
            return
        for one in _frailties(values):
            key = id(one), id(self.path)
            if key not in self.asked:
                self.asked.add(key)
                self.odd(one.ask())

    def fixed(self, x: Traced) -> Traced:
        """The same bits, in a way that XLA cannot see: it neither fuses nor rewrites what made them."""
        if not self.careful or x.dtype not in (np.float64, np.float32):
            return x
        bits = _bits_of(x.dtype)
        return lax.bitcast_convert_type(lax.bitcast_convert_type(x, bits) ^ self._zero(bits), x.dtype)

    def beside(self, x: Traced, other: Traced) -> Traced:
        """The same bits as if they were another for each number of `other`: XLA multiplies by 1/x where it sees that
        all are divided by one."""
        if not self.careful or x.dtype not in (np.float64, np.float32):
            return x
        bits = _bits_of(x.dtype)
        nothing = lax.bitcast_convert_type(other, bits) & self._zero(bits)
        return lax.bitcast_convert_type(lax.bitcast_convert_type(x, bits) ^ nothing, x.dtype)

    def rounded_right(self, fn: Callable[..., Traced], *args: Traced) -> Traced:
        """A quotient or a root. GPUs do not round those of single floats; rounded from doubles, they are right."""
        if not self.careful or self.on_cpu or args[0].dtype != np.float32:
            return self.fixed(fn(*args))
        wide = self.fixed(fn(*(arg.astype(FLOAT) for arg in args)))
        return self.fixed(wide.astype(np.float32))

    def hidden(self, x: Traced) -> Traced:
        """The same ints: XLA's compiler (JAX 0.10) crashes where it sees that one of an `or` was cut short."""
        if x.dtype.kind != "i" or x.dtype.itemsize == 8:
            return x
        if not self.careful:
            raise refuse(f"it looks at the bits of {x.dtype.name}")
        return x ^ self._zero(x.dtype)

    def _zero(self, bits: Any) -> Traced:
        """A zero that is known only when the program runs."""
        if bits not in self.zeros:
            self.zeros[bits] = lax.bitcast_convert_type(self.numbers[0], np.int64).astype(bits)
        return self.zeros[bits]

    def number(self, value: Any, dtype: np.dtype[Any]) -> Traced:
        """A constant. Floats are given to the program when it runs, or XLA would compute with them beforehand."""
        if dtype.kind == "f" and self.careful:
            if 0 < abs(float(value)) < 2.3e-308 or (dtype.itemsize == 4 and 0 < abs(float(value)) < 1.2e-38):
                raise refuse(f"it computes with {value!r}, which XLA takes for zero")
            place = self.places.setdefault(repr(float(value)), len(self.places) + 1)
            if place >= MOST_NUMBERS:
                raise refuse("it computes with too many constants")
            return self.numbers[place].astype(dtype)
        return jnp.asarray(value, dtype)

    def input(self, x: Traced) -> Value:
        """An element, or something captured."""
        if not self.careful or x.dtype not in (np.float64, np.float32):
            return Value(x)

        def tiny() -> Traced:
            bits = _bits_of(x.dtype)
            some = ((lax.bitcast_convert_type(x, bits) ^ self._zero(bits)) << 1) != 0  # `x != 0` would not see them
            return some & (jnp.abs(x) < TINY[x.dtype.itemsize])

        return Value(x, frail=(Frail(tiny),))

    def made(
        self,
        x: Traced,
        *of: Value,
        relative: float = 0.0,
        absolute: Traced | None = None,
        nonneg: bool = False,
        frail: Callable[[], Traced] | None = None,
    ) -> Value:
        """A value made of others, with its bound."""
        if not self.careful:
            return Value(x)
        own = (Frail(frail),) if frail is not None else ()
        return Value(x, relative, absolute, nonneg, (*_frailties(of), *own))

    def moved(self, x: Traced, *of: Value) -> Value:
        """Numbers of other values in other places."""
        floats = [value for value in of if value.x.dtype != bool or value.x.dtype == x.dtype]
        relative = max((value.relative for value in floats), default=0.0)
        absolute = larger_of(value.absolute for value in floats)
        nonneg = bool(floats) and all(value.nonneg for value in floats)
        return self.made(x, *of, relative=relative, absolute=absolute, nonneg=nonneg)
