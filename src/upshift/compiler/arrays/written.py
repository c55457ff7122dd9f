"""NumPy's functions of arrays that are a few lines of Python: as NumPy computes them, in the Python that is compiled.

A row is the function, the names of its arguments, and its lines. Arguments named in `static` are known beforehand and
stand in the lines as they are; those that are left out are None, or their default.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..calls import Given, Words
from ..check import Walk
from ..code import Op
from ..follow import called
from ..kinds import NONE, Array, Fused, Kind, Literal, Static, Tuple
from ..numpy_library import before
from ..rows.numbers import rank
from .elementwise import force
from .library import Given_, function
from .making import dtype_of

MISSING = object()


def literal_of(walk: Walk, name: str) -> Any:
    """The value of an argument that is known beforehand; MISSING where it is not."""
    kind = walk.env[name]
    if kind is NONE:
        return None
    if isinstance(kind, Literal):
        return kind.value
    if isinstance(kind, Static) and isinstance(kind.value, np.dtype | type):
        return np.dtype(kind.value).name
    return _value_of(kind)


def _value_of(kind: Kind) -> Any:
    if isinstance(kind, Literal):
        return kind.value
    if not isinstance(kind, Tuple):
        return MISSING
    items = [_value_of(item) for item in kind.items]
    return MISSING if MISSING in items else tuple(items)


def written(
    *originals: Any, names: str, lines: Any, static: str = "", of: str = "", method: str = "",
    defaults: dict[str, Any] | None = None, **more: Any,
) -> None:  # fmt: skip
    """A function whose lines are given, or made by `lines(ndims, values)` for arrays of so many axes; `dtypes` among
    the values are theirs."""
    words, fixed = names.split(), static.split()
    known = {**(defaults or {}), **more}

    def run(walk: Walk, given: Given_) -> str:
        values: dict[str, Any] = {word: known.get(word) for word in fixed}
        for word in fixed:
            if word in given:
                values[word] = literal_of(walk, given[word])
                if values[word] is MISSING:
                    raise walk.doubt(f"{originals[0].__name__} with {word} that is not known beforehand")
        own = [word for word in words if word in given and word not in fixed]
        ndims, dtypes = {}, {}
        for word in own:
            kind = walk.env[given[word]]
            if isinstance(kind, Fused):
                kind = force(walk, given[word])
            ndims[word] = kind.ndim if isinstance(kind, Array) else 0
            dtypes[word] = kind.dtype if isinstance(kind, Array) else None
        values["dtypes"] = dtypes
        text = lines(ndims, values) if callable(lines) else lines
        if text is None:
            raise walk.doubt(f"{originals[0].__name__} with these arguments")
        head = [f"def written({', '.join(own)}):"]
        head += [f"    {word} = {values[word]!r}" for word in fixed]
        head += [f"    {word} = {known.get(word)!r}" for word in words if word not in given and word not in fixed]
        body = ["    " + line for line in text.strip("\n").split("\n")]
        return called(walk, "\n".join([*head, *body]), [given[word] for word in own])

    nones = tuple(word for word in fixed if known.get(word) is not None)
    function(*originals, names=names, of=of, method=method, nones=nones)(run)


# ---- averages

_AVERAGE = """
n = {count}
if n == 0:
    give_up()
m = (np.add.reduce(a, {axis}, {given}, keepdims=True) / np.int64(n)).astype(np.{computed})
x = a - m
x = {square}
r = np.add.reduce(x, {axis}, keepdims={keepdims})
n = max(n - {ddof}, 0)
if n == 0:
    give_up()
return {root}((r / np.int64(n)).astype(np.{real}))
"""


def _spread(root: str) -> Any:
    def lines(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
        axis, ndim, dtype = values["axis"], ndims["a"], values["dtypes"]["a"]
        if axis is None:
            axes = tuple(range(ndim))
        else:
            axes = axis if isinstance(axis, tuple) else (axis,)
        if values["dtype"] is not None or not ndim or type(values["ddof"]) is not int or dtype.char == "e":
            return None
        count = " * ".join(f"a.shape[{a % ndim}]" for a in axes) or "1"
        computed = np.dtype(float) if dtype.kind in "biu" else dtype
        return _AVERAGE.format(
            count=count, axis=axes if len(axes) != 1 else axes[0], keepdims=bool(values["keepdims"]),
            ddof=values["ddof"], root=root, given="np.float64" if dtype.kind in "biu" else "None",
            computed=computed.name, real=np.empty(0, computed).real.dtype.name,
            square="np.multiply(x, x)" if dtype.kind != "c" else "x.real * x.real + x.imag * x.imag",
        )  # fmt: skip

    return lines


for _fn, _root, _name in ((np.var, "", "var"), (np.std, "np.sqrt", "std")):
    written(_fn, names="a axis dtype out ddof keepdims", static="axis dtype ddof keepdims", lines=_spread(_root),
            method=_name, ddof=0, keepdims=False)  # fmt: skip


def _median(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    if values["axis"] is not None and ndims["a"] != 1:
        return None
    return """
x = np.sort(a.ravel())
n = len(x)
if n == 0:
    give_up()
last = at(x, n - 1)
if last != last:
    give_up()
if n % 2:
    return np.mean(x[n // 2:n // 2 + 1])
return np.mean(x[n // 2 - 1:n // 2 + 1])
"""


written(np.median, names="a axis", static="axis", lines=_median)
written(np.average, names="a axis weights", static="axis", lines=lambda ndims, values: (
    None if values["axis"] is not None or "weights" not in ndims or ndims["weights"] != ndims["a"] else """
if a.shape != weights.shape:
    give_up()
scale = np.add.reduce(weights, None)
if scale == 0:
    give_up()
return np.add.reduce(np.multiply(a, weights), None) / scale
"""), of="a weights")  # fmt: skip
_COUNTED = "int" if np.count_nonzero(np.ones(1)).__class__.__name__ == "int" else "np.int64"
"""The class in which this NumPy counts."""
written(np.ptp, names="a axis", static="axis", lines="return np.max(a, axis) - np.min(a, axis)")
written(np.count_nonzero, names="a axis", static="axis", lines=lambda ndims, values: (
    None if values["axis"] is not None else f"return {_COUNTED}(count_true(a != 0))"
))  # fmt: skip


# ---- positions


def _extreme(sign: str) -> Any:
    one = f"""
k = 0
best = at(x, 0)
if best == best:
    for i in range(1, len(x)):
        v = at(x, i)
        if v {sign} best:
            best = v
            k = i
        elif v != v:
            k = i
            break
"""

    def lines(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
        ndim, axis = ndims["a"], values["axis"]
        if axis is None or ndim == 1:
            return "x = a.ravel()\nif len(x) == 0:\n    give_up()\n" + one.strip() + "\nreturn np.int64(k)"
        if type(axis) is not int or ndim != 2:
            return None
        part, kept = ("a[j]", 0) if axis % 2 == 1 else ("a[:, j]", 1)
        body = "\n".join("    " + line for line in one.strip().split("\n"))
        return (
            f"if a.shape[{1 - kept}] == 0:\n    give_up()\nmade = np.empty((a.shape[{kept}],), np.int64)\n"
            f"for j in range(a.shape[{kept}]):\n    x = {part}\n{body}\n    set_at(made, j, k)\nreturn made"
        )

    return lines


written(np.argmax, names="a axis", static="axis", lines=_extreme(">"), method="argmax")
written(np.argmin, names="a axis", static="axis", lines=_extreme("<"), method="argmin")


def _nonzero(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    ndim = ndims["a"]
    variables = [f"i{a}" for a in range(ndim)]
    lines = ["n = count_true(a != 0)"]
    lines += [f"r{a} = np.empty((n,), np.int64)" for a in range(ndim)] + ["k = 0"]
    for depth, variable in enumerate(variables):
        lines.append("    " * depth + f"for {variable} in range(a.shape[{depth}]):")
    pad = "    " * ndim
    lines.append(pad + f"if at(a, {', '.join(variables)}) != 0:")
    lines += [pad + f"    set_at(r{a}, k, {variable})" for a, variable in enumerate(variables)]
    lines += [pad + "    k += 1", f"return ({', '.join(f'r{a}' for a in range(ndim))},)"]
    return "\n".join(lines) if ndim else None


written(np.nonzero, names="a", lines=_nonzero, method="nonzero")
written(np.flatnonzero, names="a", lines="return np.nonzero(a.ravel())[0]")
written(np.argwhere, names="a", lines=lambda ndims, values: (
    "return np.transpose(np.array([" + ", ".join(f"np.nonzero(a)[{i}]" for i in range(ndims["a"])) + "]))"
    if ndims["a"] == 1 else None))  # fmt: skip

_SEARCH = """
made = np.empty((len(v),), np.int64)
for i in range(len(v)):
    set_at(made, i, searched(a, at(v, i)))
return made
"""


def _searchsorted(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    if values["side"] not in ("left", "right") or ndims["v"] > 1 or ndims["a"] != 1:
        return None
    below = "x < y" if values["side"] == "left" else "x <= y"
    one = f"""
def searched(a, y):
    if y != y:
        give_up()
    low = 0
    high = len(a)
    while low < high:
        middle = (low + high) // 2
        x = at(a, middle)
        if x != x:
            give_up()
        if {below}:
            low = middle + 1
        else:
            high = middle
    return low
"""
    return one.strip() + ("\nreturn np.int64(searched(a, v))" if not ndims["v"] else _SEARCH)


written(np.searchsorted, names="a v side", static="side", lines=_searchsorted, side="left", method="searchsorted")


# ---- sums that go on


def _accumulated(sign: str, fn: str) -> Any:
    def lines(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
        ndim, axis = ndims["a"], values["axis"]
        if values["dtype"] is not None:
            return None
        if axis is None or ndim == 1:
            return f"""
x = a.ravel()
s = np.{fn}.reduce(x[:0])
made = new_array(s, (len(x),))
for i in range(len(x)):
    if i == 0:
        set_at(made, 0, at(x, 0))
    else:
        set_at(made, i, at(made, i - 1) {sign} at(x, i))
return made
"""
        if type(axis) is not int or ndim != 2:
            return None
        source = "x[i]" if axis % 2 == 0 else "x[:, i]"
        target = "made[i]" if axis % 2 == 0 else "made[:, i]"
        before = "made[i - 1]" if axis % 2 == 0 else "made[:, i - 1]"
        return f"""
x = a
s = np.{fn}.reduce(x[:0, 0])
made = new_array(s, x.shape)
for i in range(x.shape[{axis % 2}]):
    if i == 0:
        {target} = {source}
    else:
        {target} = {before} {sign} {source}
return made
"""

    return lines


written(np.cumsum, names="a axis dtype", static="axis dtype", lines=_accumulated("+", "add"), method="cumsum")
written(np.cumprod, names="a axis dtype", static="axis dtype", lines=_accumulated("*", "multiply"), method="cumprod")


def _diff(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    ndim, axis = ndims["a"], values["axis"]
    if type(axis) is not int or type(values["n"]) is not int or values["n"] < 0 or not ndim:
        return None
    index = [":"] * ndim
    later, before = list(index), list(index)
    later[axis], before[axis] = "1:", ":-1"
    line = f"a = a[{', '.join(later)}] - a[{', '.join(before)}]"
    return "\n".join(["if a.dtype == np.bool_:", "    give_up()", *[line] * values["n"], "return a"])


written(np.diff, names="a n axis", static="n axis", lines=_diff, n=1, axis=-1)


# ---- sequences of numbers

_ARANGE_FLOAT = """
start = float(start)
stop = float(stop)
step = float(step)
if step == 0:
    give_up()
n = max(math.ceil((stop - start) / step), 0)
made = np.empty((n,), np.float64)
delta = (start + step) - start
for i in range(n):
    set_at(made, i, start + i * delta)
if n > 1:
    set_at(made, 1, start + step)
return made
"""
_ARANGE_INT = """
if step == 0:
    give_up()
r = range(start, stop, step)
made = np.empty((len(r),), np.int64)
i = 0
for x in r:
    set_at(made, i, x)
    i += 1
return made
"""


@before(np.arange)
def _arange(walk: Walk, op: Op, args: Given, words: Words) -> bool:
    kinds = [walk.env[name] for name in args]
    dtype = dtype_of(walk, words["dtype"]) if "dtype" in words else None
    if set(words) - {"dtype"} or not 1 <= len(args) <= 3 or any(rank(kind) < 0 for kind in kinds):
        raise walk.doubt("np.arange with these arguments")
    is_float = any(rank(kind) == 2 for kind in kinds)
    if max(map(rank, kinds)) > 2 or (dtype is not None and dtype != np.dtype(float if is_float else np.int64)):
        raise walk.doubt("np.arange of other numbers")
    names = ["start", "stop", "step"][: len(args)] if len(args) > 1 else ["stop"]
    defaults = [line for word, line in (("start", "    start = 0"), ("step", "    step = 1")) if word not in names]
    lines = (_ARANGE_FLOAT if is_float else _ARANGE_INT).strip().split("\n")
    text = "\n".join([f"def written({', '.join(names)}):", *defaults, *("    " + line for line in lines)])
    return walk.give_name(op, called(walk, text, args))


def _linspace(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    if values["dtype"] is not None or ndims.get("start") or ndims.get("stop"):
        return None
    last = "made[-1] = stop" if values["endpoint"] else "made[0] = made[0]"
    return f"""
start = float(start)
stop = float(stop)
if num < 0:
    give_up()
div = num - {int(bool(values["endpoint"]))}
made = np.empty((num,), np.float64)
delta = stop - start
step = delta / div if div > 0 else 0.0
for i in range(num):
    if div <= 0:
        set_at(made, i, i * delta + start)
    elif step == 0:
        set_at(made, i, i / div * delta + start)
    else:
        set_at(made, i, i * step + start)
if num > 1:
    {last}
return made
"""


written(np.linspace, names="start stop num endpoint retstep dtype", static="endpoint dtype", lines=_linspace, of="-",
        num=50, endpoint=True)  # fmt: skip


# ---- matrices

written(np.eye, names="N M k dtype", static="dtype", of="-", lines=lambda ndims, values: (
    None if values["dtype"] not in (None, "float64", "int64") else f"""
if M is None:
    M = N
made = np.zeros((N, M), np.{values["dtype"] or "float64"})
for i in range(N):
    j = i + k
    if 0 <= j < M:
        set_at(made, i, j, 1)
return made
"""), k=0)  # fmt: skip
written(np.identity, names="n dtype", static="dtype", of="-", lines=lambda ndims, values: (
    None if values["dtype"] not in (None, "float64", "int64") else f"""
made = np.zeros((n, n), np.{values["dtype"] or "float64"})
for i in range(n):
    set_at(made, i, i, 1)
return made
"""))  # fmt: skip


def _diag(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    if ndims["v"] == 1:
        return """
n = len(v)
m = n + abs(k)
made = new_array(v, (m, m))
made.fill(0)
for i in range(n):
    set_at(made, i + max(-k, 0), i + max(k, 0), at(v, i))
return made
"""
    return """
low = max(-k, 0)
high = max(k, 0)
n = max(min(v.shape[0] - low, v.shape[1] - high), 0)
made = new_array(v, (n,))
for i in range(n):
    set_at(made, i, at(v, i + low, i + high))
return made
""" if ndims["v"] == 2 else None  # fmt: skip


written(np.diag, names="v k", lines=_diag, k=0)
written(np.shape, names="a", lines="return a.shape")
written(np.size, names="a axis", static="axis", lines=lambda ndims, values: (
    "return a.size" if values["axis"] is None else f"return a.shape[{values['axis']}]"))  # fmt: skip
written(np.ndim, names="a", lines="return a.ndim")
written(np.iscomplexobj, names="x", lines="return x.dtype.kind == 'c'")
written(np.isrealobj, names="x", lines="return x.dtype.kind != 'c'")
written(np.trace, names="a", lines="return np.add.reduce(np.diag(a))", method="trace")
for _half, _test in ((np.tril, "j <= i + k"), (np.triu, "j >= i + k")):
    written(_half, names="m k", lines=lambda ndims, values, test=_test: None if ndims["m"] != 2 else f"""
made = new_array(m, m.shape)
for i in range(m.shape[0]):
    for j in range(m.shape[1]):
        if {test}:
            set_at(made, i, j, at(m, i, j))
        else:
            set_at(made, i, j, 0)
return made
""", k=0)  # fmt: skip


# ---- moving items around


def _roll(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    ndim, axis = ndims["a"], values["axis"]
    if ndims.get("shift"):
        return None
    if axis is None:
        return """
x = a.ravel()
n = len(x)
made = new_array(x, (n,))
if n:
    s = shift % n
    made[s:] = x[:n - s]
    made[:s] = x[n - s:]
return made.reshape(a.shape)
"""
    if type(axis) is not int:
        return None
    parts = [[":"] * ndim for _ in range(4)]
    for part, text in zip(parts, ("s:", ":n - s", ":s", "n - s:")):
        part[axis] = text
    index = [", ".join(part) for part in parts]
    return f"""
n = a.shape[{axis % ndim}]
made = new_array(a, a.shape)
if n:
    s = shift % n
    made[{index[0]}] = a[{index[1]}]
    made[{index[2]}] = a[{index[3]}]
return made
"""


written(np.roll, names="a shift axis", static="axis", lines=_roll)
written(np.repeat, names="a repeats axis", static="axis", lines=lambda ndims, values: (
    None if ndims.get("repeats") or (values["axis"] is not None and ndims["a"] != 1) else """
x = a.ravel()
if repeats < 0:
    give_up()
made = new_array(x, (len(x) * repeats,))
k = 0
for i in range(len(x)):
    v = at(x, i)
    for _ in range(repeats):
        set_at(made, k, v)
        k += 1
return made
"""), method="repeat")  # fmt: skip
written(np.tile, names="A reps", lines=lambda ndims, values: None if ndims["A"] != 1 or ndims["reps"] else """
n = len(A)
m = max(reps, 0)
made = new_array(A, (n * m,))
for k in range(m):
    made[k * n:(k + 1) * n] = A
return made
""")  # fmt: skip
written(np.round, np.around, names="a decimals", static="decimals", method="round", decimals=0,
        lines=lambda ndims, values: None if type(values["decimals"]) is not int or not ndims["a"] else f"""
if a.dtype.kind != "f":
    give_up()
return {"np.rint(a)" if values["decimals"] == 0 else
        f"np.rint(a * {10.0 ** values['decimals']!r}) / {10.0 ** values['decimals']!r}" if values["decimals"] > 0 else
        f"np.rint(a / {10.0 ** -values['decimals']!r}) * {10.0 ** -values['decimals']!r}"}
""")  # fmt: skip


# ---- sorting


def _sort(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    ndim, axis = ndims["a"], values["axis"]
    if ndim == 1 and axis in (None, -1, 0):
        return "made = a.copy()\nsort_packed(made)\nreturn made"
    if ndim == 2 and axis in (-1, 1):
        return "made = a.copy()\nfor i in range(a.shape[0]):\n    sort_packed(made[i])\nreturn made"
    if axis is None:
        return "made = a.flatten()\nsort_packed(made)\nreturn made"
    return None


written(np.sort, names="a axis", static="axis", lines=_sort, axis=-1)
written(np.argsort, names="a axis", static="axis", axis=-1, method="argsort", lines=lambda ndims, values: (
    None if ndims["a"] != 1 or values["axis"] not in (-1, 0) else """
n = len(a)
x = a.copy()
order = np.empty((n,), np.int64)
for i in range(n):
    set_at(order, i, i)
argsort_packed(x, order)
for i in range(1, n):
    if not at(x, i - 1) < at(x, i):
        give_up()
return order
"""))  # fmt: skip
written(np.unique, names="ar", lines=lambda ndims, values: """
x = np.sort(ar.ravel())
n = len(x)
if n == 0:
    return x
last = at(x, n - 1)
if last != last:
    give_up()
count = 1
for i in range(1, n):
    if at(x, i) != at(x, i - 1):
        count += 1
made = new_array(x, (count,))
set_at(made, 0, at(x, 0))
k = 1
for i in range(1, n):
    if at(x, i) != at(x, i - 1):
        set_at(made, k, at(x, i))
        k += 1
return made
""")  # fmt: skip
written(np.bincount, names="x weights minlength", minlength=0, of="x weights", lines=lambda ndims, values: f"""
n = minlength
for i in range(len(x)):
    v = int(at(x, i))
    if v < 0:
        give_up()
    if v >= n:
        n = v + 1
made = np.zeros((n,), np.{"float64" if "weights" in ndims else "int64"})
{"if len(weights) != len(x): give_up()" if "weights" in ndims else ""}
for i in range(len(x)):
    v = int(at(x, i))
    set_at(made, v, at(made, v) + {"at(weights, i)" if "weights" in ndims else "1"})
return made
""")  # fmt: skip


# ---- functions and series

written(np.polyval, names="p x", of="p x", lines=lambda ndims, values: (
    None if ndims["p"] != 1 or not ndims["x"] else """
y = np.zeros_like(x)
for i in range(len(p)):
    y = y * x + p[i]
return y
"""))  # fmt: skip


def _convolve(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    edges = {"full": "n - 1, n - 1", "same": "n // 2, n - n // 2 - 1", "valid": "0, 0"}.get(values["mode"])
    if edges is None or ndims["a"] != 1 or ndims["v"] != 1:
        return None
    return f"""
n = min(len(a), len(v))
if n <= {SHORT_KERNEL}:
    give_up()
if len(v) > len(a):
    return convolved(v, a, {edges})
return convolved(a, v, {edges})
"""


SHORT_KERNEL = 11
"""Kernels that NumPy has loops of its own for."""
written(np.convolve, names="a v mode", static="mode", of="a v", mode="full", lines=_convolve)


def _isclose(ndims: dict[str, int], values: dict[str, Any]) -> str:
    return """
if not np.all(np.isfinite(b)) or not np.all(np.isfinite(a)):
    give_up()
return np.less_equal(np.abs(a - b), atol + rtol * np.abs(b))
"""


written(np.isclose, names="a b rtol atol", of="a b", lines=_isclose, rtol=1e-5, atol=1e-8)
written(
    np.allclose,
    names="a b rtol atol",
    of="a b",
    rtol=1e-5,
    atol=1e-8,
    lines="return bool(np.all(np.isclose(a, b, rtol, atol)))",
)
written(np.array_equal, names="a1 a2", of="a1 a2", lines=lambda ndims, values: (
    "return False" if ndims["a1"] != ndims["a2"] else
    "if a1.shape != a2.shape:\n    return False\nreturn bool(np.all(a1 == a2))"
))  # fmt: skip


# ---- edges and grids


def _pad(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    ndim, width, mode = ndims["array"], values["pad_width"], values["mode"]
    if mode not in ("constant", "edge") or not ndim:
        return None
    width = (width, width) if type(width) is int else width
    pairs = [width] * ndim if type(width[0]) is int else [*width]
    if len(pairs) != ndim or any(len(pair) != 2 for pair in pairs):
        return None
    shape = ", ".join(f"array.shape[{a}] + {low + high}" for a, (low, high) in enumerate(pairs))
    index = ", ".join(f"{low}:{low} + array.shape[{a}]" for a, (low, _) in enumerate(pairs))
    lines = [f"made = new_array(array, ({shape},))"]
    if mode == "constant":
        lines += ["made.fill(constant_values)", f"made[{index}] = array"]
        return "\n".join([*lines, "return made"])
    for a, (low, _) in enumerate(pairs):
        lines.append("    " * a + f"for i{a} in range(made.shape[{a}]):")
        lines.append("    " * (a + 1) + f"j{a} = min(max(i{a} - {low}, 0), array.shape[{a}] - 1)")
    targets, sources = (", ".join(f"{x}{a}" for a in range(ndim)) for x in "ij")
    lines.append("    " * ndim + f"set_at(made, {targets}, at(array, {sources}))")
    return "\n".join(["if array.size == 0:", "    give_up()", *lines, "return made"])


written(np.pad, names="array pad_width mode constant_values", static="pad_width mode", lines=_pad, mode="constant",
        constant_values=0)  # fmt: skip
written(
    np.meshgrid,
    names="x y",
    of="x y",
    lines="""
a = np.empty((len(y), len(x)), x.dtype)
b = np.empty((len(y), len(x)), y.dtype)
a[:] = x
b[:] = y[:, None]
return (a, b)
""",
)


def _cross(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    if ndims["a"] not in (1, 2) or ndims["a"] != ndims["b"]:
        return None
    part = {k: (f"a[..., {k}]", f"b[..., {k}]") for k in range(3)}
    if ndims["a"] == 1:
        part = {k: (f"a[{k}]", f"b[{k}]") for k in range(3)}
    turns = ((1, 2), (2, 0), (0, 1))
    items = [f"{part[i][0]} * {part[j][1]} - {part[j][0]} * {part[i][1]}" for i, j in turns]
    test = "a.shape != b.shape or a.shape[-1] != 3"
    if ndims["a"] == 1:
        return f"if {test}:\n    give_up()\nreturn np.array([{', '.join(items)}])"
    lines = [f"made[:, {k}] = {item}" for k, item in enumerate(items)]
    return "\n".join([f"if {test}:", "    give_up()", "made = np.empty_like(a * b)", *lines, "return made"])


written(np.cross, names="a b", of="a b", lines=_cross)


# ---- statistics


def _percentile(scale: str) -> Any:
    def lines(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
        if (values["axis"] is not None and ndims["a"] != 1) or ndims["q"] or values["method"] != "linear":
            return None
        return f"""
x = np.sort(a.ravel().astype(np.float64))
n = len(x)
share = {scale}
if n == 0 or not 0 <= share <= 1 or a.dtype.kind == "c" or a.dtype.itemsize < 8:
    give_up()
last = at(x, n - 1)
if last != last:
    give_up()
where = (n - 1) * share
low = math.floor(where)
high = min(low + 1, n - 1)
part = where - low
first = at(x, low)
second = at(x, high)
gap = second - first
if part >= 0.5:
    return second - gap * (1 - part)
return first + gap * part
"""

    return lines


written(
    np.percentile,
    names="a q axis method",
    static="axis method",
    of="a",
    lines=_percentile("q / 100"),
    defaults={"method": "linear"},
)
written(
    np.quantile,
    names="a q axis method",
    static="axis method",
    of="a",
    lines=_percentile("q"),
    defaults={"method": "linear"},
)
written(np.cov, names="m", lines=lambda ndims, values: None if ndims["m"] != 2 else """
n = m.shape[1]
if n < 2:
    give_up()
if lies_in_rows(m):
    x = m.astype(np.float64)
    x -= np.mean(x, axis=1)[:, None]
else:
    y = m.T.astype(np.float64)
    y -= np.mean(y, axis=0)
    x = y.T
c = np.dot(x, x.T)
c *= 1 / (n - 1)
if m.shape[0] == 1:
    give_up()
return c
""")  # fmt: skip


def _histogram(ndims: dict[str, int], values: dict[str, Any]) -> str | None:
    """As NumPy counts in bins of one width: by a product, then by a look at the edges on both sides; and weights are
    added up block by block."""
    if ndims.get("bins") or values["density"] or ("weights" in ndims and ndims["weights"] != 1):
        return None
    weights = "weights" in ndims
    if any(dtype is not None and dtype != np.dtype(float) for dtype in values["dtypes"].values()):
        return None
    return f"""
x = a.ravel()
if len(x) == 0 or bins < 1{" or len(weights) != len(x)" if weights else ""}:
    give_up()
first = np.min(x)
last = np.max(x)
if not np.isfinite(first) or not np.isfinite(last):
    give_up()
if first == last:
    first = first - 0.5
    last = last + 0.5
edges = np.linspace(float(first), float(last), bins + 1)
made = np.zeros((bins,), np.{"float64" if weights else "int64"})
total = made.copy()
width = last - first
near = np.empty((1024,), np.int64)
n = len(x)
low = 0
while low < n:
    if low % 65536 == 0 and low != 0:
        total += made
        made.fill(0)
    part = x[low : low + 1024]
    count = len(part)
    near[:count] = (part - first) / width * bins
    for i in range(count):
        v = at(part, i)
        k = at(near, i).item()
        if k == bins:
            k = plus(k, -1)
        if v < at(edges, k):
            k = plus(k, -1)
        elif v >= at(edges, plus(k, 1)) and plus(k, 1) != bins:
            k = plus(k, 1)
        set_at(made, k, at(made, k).item() + {"at(weights, plus(low, i)).item()" if weights else "1"})
    low += 1024
total += made
return (total, edges)
"""


written(np.histogram, names="a bins density weights", static="density", of="a weights", lines=_histogram, bins=10,
        density=None)  # fmt: skip
