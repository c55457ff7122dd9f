"""`np.linalg` of one matrix or system, and of stacks of them: the loops behind it, which call LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..check import Leaves, Walk
from ..follow import called
from ..kinds import Tuple
from ..rows.numpy_casts import DType
from ..values import item_of_tuple, tuple_of
from .elementwise import force
from .library import Given_, function
from .products import LINALG, Core, run
from .written import literal_of

ERROR = np.linalg.LinAlgError


def _dtype(walk: Walk, *names: str) -> DType:
    """The dtype of what `np.linalg` gives."""
    kinds = [force(walk, name).dtype for name in names]
    made = np.result_type(*kinds, np.float32)
    if any(kind.kind in "biu" for kind in kinds):
        made = np.result_type(made, np.float64)
    if made.char not in "fdFD":
        raise walk.doubt(f"linear algebra of {made}")
    return made


def _computed(walk: Walk, core: Core, names: list[str], dtype: DType, *made: DType) -> str:
    """What a loop gives of arrays of this dtype, in the dtypes that are named, or in theirs: LAPACK computes in double
    precision whatever it is given."""
    wide, real, wanted = np.dtype("D" if dtype.kind == "c" else "d"), np.dtype("d"), made or (dtype,)
    found = run(walk, core, names, (*[wide] * len(names), *(wide if one == dtype else real for one in wanted)))
    if dtype.itemsize == wide.itemsize:
        return found
    kind = walk.env[found]
    if not isinstance(kind, Tuple):
        return _narrowed(walk, found, wanted[0])
    return tuple_of(walk, [_narrowed(walk, item_of_tuple(walk, found, i), one) for i, one in enumerate(wanted)])


def _narrowed(walk: Walk, name: str, dtype: DType) -> str:
    return called(walk, f"def narrowed(x):\n    return x.astype(np.{dtype.name})", [name])


def _square(walk: Walk, name: str) -> None:
    """LinAlgError where a matrix is not square."""
    kind = force(walk, name)
    if kind.ndim < 2:
        raise Leaves(ERROR, "must be at least two-dimensional")
    test = f"a.shape[{kind.ndim - 2}] != a.shape[{kind.ndim - 1}]"
    text = f"def check(a):\n    if {test}:\n        give_up()\n    return None"
    called(walk, text, [name])


def _real(dtype: DType) -> DType:
    return np.dtype("f" if dtype.char in "fF" else "d")


def _loop(name: str) -> Any:
    return getattr(LINALG, name)


@function(np.linalg.inv, names="a")
def _inv(walk: Walk, given: Given_) -> str:
    _square(walk, given["a"])
    dtype = _dtype(walk, given["a"])
    return _computed(walk, Core(_loop("inv"), ("nn",), ("nn",), ERROR), [given["a"]], dtype)


@function(np.linalg.det, names="a")
def _det(walk: Walk, given: Given_) -> str:
    _square(walk, given["a"])
    dtype = _dtype(walk, given["a"])
    return _computed(walk, Core(_loop("det"), ("nn",), ("",)), [given["a"]], dtype)


@function(np.linalg.solve, names="a b", of="a b")
def _solve(walk: Walk, given: Given_) -> str:
    _square(walk, given["a"])
    dtype = _dtype(walk, given["a"], given["b"])
    vector = force(walk, given["b"]).ndim == 1
    core = (
        Core(_loop("solve1"), ("nn", "n"), ("n",), ERROR)
        if vector
        else Core(_loop("solve"), ("nn", "nk"), ("nk",), ERROR)
    )
    return _computed(walk, core, [given["a"], given["b"]], dtype)


@function(np.linalg.cholesky, names="a")
def _cholesky(walk: Walk, given: Given_) -> str:
    _square(walk, given["a"])
    dtype = _dtype(walk, given["a"])
    return _computed(walk, Core(_loop("cholesky_lo"), ("nn",), ("nn",), ERROR), [given["a"]], dtype)


@function(np.linalg.eigvalsh, names="a")
def _eigvalsh(walk: Walk, given: Given_) -> str:
    _square(walk, given["a"])
    dtype = _dtype(walk, given["a"])
    return _computed(walk, Core(_loop("eigvalsh_lo"), ("nn",), ("n",), ERROR), [given["a"]], dtype, _real(dtype))


@function(np.linalg.eigh, names="a")
def _eigh(walk: Walk, given: Given_) -> str:
    """A named tuple of NumPy's: values and vectors."""
    _square(walk, given["a"])
    dtype = _dtype(walk, given["a"])
    core = Core(_loop("eigh_lo"), ("nn",), ("n", "nn"), ERROR)
    made = _computed(walk, core, [given["a"]], dtype, _real(dtype), dtype)
    kind = walk.env[made]
    assert isinstance(kind, Tuple)
    return tuple_of(walk, [item_of_tuple(walk, made, i) for i in range(2)], _RESULTS["eigh"])


def _result_class(fn: Any) -> type | None:
    found = type(fn(np.eye(2)))
    return found if hasattr(found, "_fields") else None


_RESULTS = {"eigh": _result_class(np.linalg.eigh)}


@function(np.linalg.norm, names="x ord axis keepdims")
def _norm(walk: Walk, given: Given_) -> str:
    kind = force(walk, given["x"])
    order = literal_of(walk, given["ord"]) if "ord" in given else None
    if "keepdims" in given or kind.dtype.kind == "c":
        raise walk.doubt("np.linalg.norm with these arguments")
    if "axis" not in given and (order is None or (order == 2 and kind.ndim == 1)):
        if not kind.contiguous and kind.ndim > 1:
            raise walk.doubt("the norm of an array with gaps")
        text = "def norm(x):\n    y = x.ravel(){0}\n    return np.sqrt(y @ y)"
        return called(walk, text.format(".astype(np.float64)" if kind.dtype.kind in "biu" else ""), [given["x"]])
    axis = literal_of(walk, given["axis"]) if "axis" in given else None
    if kind.ndim == 1 and axis in (None, 0, -1):
        axis = 0
    if type(axis) is not int or order not in (None, 1, 2, np.inf, -np.inf, 0) or kind.dtype.kind != "f":
        raise walk.doubt("np.linalg.norm with these arguments")
    lines = {
        None: f"np.sqrt(np.add.reduce(x * x, {axis}))", 2: f"np.sqrt(np.add.reduce(x * x, {axis}))",
        1: f"np.add.reduce(np.abs(x), {axis})", np.inf: f"np.max(np.abs(x), {axis})",
        -np.inf: f"np.min(np.abs(x), {axis})", 0: f"np.add.reduce((x != 0).astype(x.dtype), {axis})",
    }  # fmt: skip
    return called(walk, f"def norm(x):\n    return {lines[order]}", [given["x"]])
