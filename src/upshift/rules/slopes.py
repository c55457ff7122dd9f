"""How steep functions of floats are, which tells how far a result may be off because its argument is.

This is the one table of it. Each gear makes bounds of it in its own arithmetic: `error_bounds.py` for whole columns,
`emit/select_rows.py` as lines of Python, `gears/jax/functions.py` for XLA, `gears/cuda/bounds.py` as LLVM IR. How far a
gear's own functions are off, apart from that, is its own matter.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slope:
    """`|f'(x)| <= fixed + by_result * |f(x)| + by_inverse / |x|`, wherever f has a value.

    For a small change of x; how small, and what is added for that, is for whoever makes a bound of it.
    """

    fixed: float = 0.0
    by_result: float = 0.0
    by_inverse: float = 0.0


SLOPES: dict[str, Slope] = {
    **dict.fromkeys(("sin", "cos", "tanh", "atan", "asinh"), Slope(1.0)),
    **dict.fromkeys(("erf", "erfc"), Slope(1.13)),
    "radians": Slope(0.0175), "degrees": Slope(57.3),
    **dict.fromkeys(("exp", "cosh"), Slope(by_result=1.0)), "exp2": Slope(by_result=0.6932),
    **dict.fromkeys(("expm1", "sinh"), Slope(1.0, by_result=1.0)),
    "log": Slope(by_inverse=1.0), "log2": Slope(by_inverse=1.443), "log10": Slope(by_inverse=0.4343),
}  # fmt: skip
"""By C's names."""
C_NAMES = {f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")}
"""By NumPy's names of functions that have others in C, and in `math`."""
NUMPY_NAMES = {c: name for name, c in C_NAMES.items()}
ROUND = {8: 2.3e-16, 4: 1.2e-7}
"""Two roundings, relative, by the bytes of a float: the loop's and ours."""
