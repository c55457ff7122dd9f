"""What names mean in a file: imports resolved to dotted names, and the kinds of variables as the code goes on."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .kinds import (
    ARRAY,
    ARRAY_MAKERS,
    ARRAY_METHODS,
    DATASET_MAKERS,
    DATASET_METHODS,
    DRAWS,
    FLOAT_MAKERS,
    FRAME_ATTRIBUTES,
    FRAME_METHODS,
    NOT_TENSORS,
    NUMBER,
    POLARS_MAKERS,
    SERIES_METHODS,
    SHAPED,
    TENSOR,
    TENSOR_MAKERS,
    TENSOR_MODULES,
    UNKNOWN,
    Kind,
    argument,
    constant,
    dtype_family,
    keyword,
    literal_size,
)

_FLOAT32 = ("random.uniform", "random.normal", "ones", "zeros", "linspace")
"""TensorFlow's makers whose dtype is float32 where none is given."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass
class Loop:
    """A loop that encloses what is looked at: its variables and every name that its body binds."""

    node: ast.For | ast.While | ast.comprehension | ast.AsyncFor
    bound: frozenset[str]
    over: Kind
    guarded: bool = False


@dataclass
class Scope:
    """The names of one function, or of the module."""

    function: FunctionNode | None = None
    parent: Scope | None = None
    names: dict[str, Kind] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    graph: bool = False
    """Traced by tf.function, not run by Python."""
    mapped: str = ""
    """The dotted name of what maps this function over elements, if anything does."""
    eager: bool = True
    """Reached from the module's own statements."""
    inline: bool = False
    """A comprehension: it runs where it stands."""
    mixed: set[str] = field(default_factory=set)
    """Names that have been of different kinds: a function that runs at another time cannot tell which."""

    @property
    def name(self) -> str:
        """The function's name; empty for the module."""
        return getattr(self.function, "name", "")

    def kind(self, name: str) -> Kind | None:
        """What a name is here; None where no scope around this place binds it."""
        scope: Scope | None = self
        here = True
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found if here or name not in scope.mixed else UNKNOWN
            here = here and scope.inline
            scope = scope.parent
        return None

    def bind(self, name: str, kind: Kind) -> None:
        """A name takes a value of a kind."""
        before = self.names.get(name)
        if before is not None and before != kind:
            self.mixed.add(name)
        self.names[name] = kind

    def merge(self, other: dict[str, Kind]) -> None:
        """Another way through the code ends here, too: what differs is not known."""
        for name, kind in other.items():
            mine = self.names.setdefault(name, kind)
            if mine != kind:
                self.names[name] = UNKNOWN
                self.mixed.add(name)


class Names:
    """Resolves expressions of one file."""

    def __init__(self) -> None:
        self.imports: dict[str, str] = {}
        self.functions: dict[str, ast.FunctionDef | None] = {}
        """Functions by name; None where two share one."""
        self.compiled: dict[str, str] = {}
        """Names of functions that tf.function, njit or the like made."""
        self.counts: dict[str, int | None] = {}
        """Names that are given one int and nothing else, such as `N = 1000`; None for all others."""
        self.scope = Scope()

    def add_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Notes which dotted names an import statement gives to the file."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                target = alias.name if alias.asname else alias.name.split(".")[0]
                self.imports[alias.asname or target] = _canonical(target)
        elif node.module and not node.level:
            for alias in node.names:
                self.imports[alias.asname or alias.name] = _canonical(f"{node.module}.{alias.name}")

    def dotted(self, node: ast.expr) -> str:
        """`tf.data.Dataset.range` as "tensorflow.data.Dataset.range"; nothing for what is not an import's."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        root = self.imports.get(node.id)
        if root is None or self.scope.kind(node.id) is not None:
            return ""
        if not parts:
            return root
        parts.append(root)
        return _canonical(".".join(reversed(parts)))

    def kind(self, node: ast.expr | None) -> Kind:
        """What an expression is."""
        if node is None:
            return UNKNOWN
        finder = _KINDS.get(type(node))
        return finder(self, node) if finder else UNKNOWN

    def dtype(self, node: ast.expr | None) -> str:
        """The name of a dtype, as written: tf.uint8, np.float32, "float32", float."""
        if isinstance(node, ast.Attribute):
            return node.attr
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Name) and node.id in ("float", "int", "bool"):
            return node.id
        return ""

    def _name(self, node: ast.Name) -> Kind:
        return self.scope.kind(node.id) or UNKNOWN

    def _constant(self, node: ast.Constant) -> Kind:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            return UNKNOWN
        return NUMBER

    def _list(self, node: ast.List | ast.Tuple) -> Kind:
        return Kind("list", size=len(node.elts))

    def _list_comp(self, node: ast.ListComp) -> Kind:
        return Kind("list")

    def _unary(self, node: ast.UnaryOp) -> Kind:
        return self.kind(node.operand)

    def _binary(self, node: ast.BinOp) -> Kind:
        left, right = self.kind(node.left), self.kind(node.right)
        for what in ("tensor", "frame", "series", "array"):
            for one, other in ((left, right), (right, left)):
                if one.what == what:
                    kept = other.what == "number" and not isinstance(node.op, ast.Div)
                    return one if kept else Kind(what, one.dtype if one.dtype == "float" else "", one.rank, one.size)
        if left.what == right.what == "number":
            return NUMBER
        return UNKNOWN

    def _subscript(self, node: ast.Subscript) -> Kind:
        base = self.kind(node.value)
        if base.what == "tensor":
            return TENSOR
        if base.what == "frame":
            text = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
            return Kind("series") if text else Kind("frame") if isinstance(node.slice, ast.List) else UNKNOWN
        if base.what == "array":
            if isinstance(node.slice, ast.Slice):
                return Kind("array", base.dtype, base.rank)
            if base.rank is not None and base.rank > 1 and not isinstance(node.slice, ast.Tuple):
                return Kind("array", base.dtype, base.rank - 1)
        return UNKNOWN

    def _attribute(self, node: ast.Attribute) -> Kind:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return self.scope.kind(f"self.{node.attr}") or UNKNOWN
        base = self.kind(node.value)
        if base.what == "frame" and node.attr not in FRAME_ATTRIBUTES:
            return Kind("series")
        if node.attr == "T" and base.what == "array":
            return Kind("array", base.dtype, base.rank, base.size)
        if node.attr == "values" and base.what in ("frame", "series"):
            return Kind("array", rank=2 if base.what == "frame" else 1)
        return UNKNOWN

    def _call(self, node: ast.Call) -> Kind:
        name = self.dotted(node.func)
        if name:
            return self._library(node, name)
        if isinstance(node.func, ast.Name):
            return self._plain_call(node, node.func.id)
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func.attr, self.kind(node.func.value))
        return UNKNOWN

    def _plain_call(self, node: ast.Call, name: str) -> Kind:
        if self.compiled.get(name) == "tensorflow.function":
            return TENSOR
        if name in ("len", "int", "float"):
            return NUMBER
        if name in ("list", "sorted", "tuple") and len(node.args) == 1:
            inner = self.kind(node.args[0])
            return Kind("list", element="tensor" if inner.what == "tensor" else "")
        return UNKNOWN

    def _library(self, node: ast.Call, name: str) -> Kind:
        library, _, short = name.partition(".")
        if library == "numpy":
            return self._numpy(node, short)
        if library == "tensorflow":
            return self._tensorflow(node, name, short)
        if library == "pandas":
            if short in ("DataFrame", "read_csv", "read_parquet", "read_excel", "read_json", "concat", "read_sql"):
                return Kind("frame")
            return Kind("series") if short == "Series" else UNKNOWN
        if library == "polars":
            return Kind("polars") if short in POLARS_MAKERS else UNKNOWN
        if name in ("numba.njit", "numba.jit", "jax.jit", "jax.vmap"):
            return Kind("compiled", element=name)
        return UNKNOWN

    def _numpy(self, node: ast.Call, short: str) -> Kind:
        if short == "vectorize":
            return Kind("vectorized")
        if short == "random.default_rng" or short == "random.RandomState":
            return Kind("generator")
        if short.startswith("random."):
            return self._drawn(node, short.partition(".")[2])
        if short not in ARRAY_MAKERS:
            ufunc = short in (
                "sin",
                "cos",
                "exp",
                "log",
                "sqrt",
                "abs",
                "square",
                "where",
                "clip",
                "maximum",
                "minimum",
            )
            inner = self.kind(node.args[0]) if ufunc and node.args else UNKNOWN
            return inner if inner.what == "array" else UNKNOWN
        dtype = dtype_family(self.dtype(keyword(node, "dtype")))
        if not dtype and short in FLOAT_MAKERS | {"zeros", "ones"} and keyword(node, "dtype") is None:
            dtype = "float"
        rank, size = self._numpy_shape(node, short)
        return Kind("array", dtype, rank, size)

    def _drawn(self, node: ast.Call, method: str) -> Kind:
        """What a random generator's method gives; without a size it is one number."""
        if method == "permutation" and node.args:
            given = self.kind(node.args[0])
            return Kind("array", "int", *self._shape(node.args[0])) if given.what == "number" else given
        size: ast.expr | None = ast.Tuple(node.args, ast.Load()) if node.args else None
        if method not in ("rand", "randn"):
            size = argument(node, DRAWS[method], "size") if method in DRAWS else None
        family = "int" if method in ("integers", "randint", "binomial") else "float"
        return UNKNOWN if size is None else Kind("array", family, *self._shape(size))

    def _shape(self, node: ast.expr | None) -> tuple[int | None, int | None]:
        """(rank, number of elements), as far as a written shape tells."""
        if node is None:
            return None, None
        if isinstance(node, ast.List | ast.Tuple):
            sizes = [self.count(e) for e in node.elts]
            return len(sizes), None if None in sizes else math.prod(size for size in sizes if size is not None)
        return (1, self.count(node)) if self.kind(node).what == "number" else (None, None)

    def count(self, node: ast.expr) -> int | None:
        """The int that an expression is: written there, or the only one that its name ever is."""
        size = self.counts.get(node.id) if isinstance(node, ast.Name) else constant(node)
        return size if type(size) is int and self.kind(node).what == "number" else None

    def _numpy_shape(self, node: ast.Call, short: str) -> tuple[int | None, int | None]:
        if short == "arange":
            numbers = [n for n in map(constant, node.args) if isinstance(n, int | float)]
            known = bool(numbers) and len(numbers) == len(node.args) and numbers[-1] != 0
            return 1, _steps(numbers) if known else None
        if short in ("linspace", "logspace", "geomspace"):
            count = constant(argument(node, 2, "num"))
            return 1, count if type(count) is int else 50 if argument(node, 2, "num") is None else None
        if short in SHAPED:
            return self._shape(argument(node, 0, "shape"))
        if short in ("array", "asarray", "fromiter") and node.args:
            inner = self.kind(node.args[0])
            if inner.what in ("array", "tensor"):
                return inner.rank, inner.size
            size = literal_size(node.args[0])
            nested = isinstance(node.args[0], ast.List) and any(isinstance(e, ast.List) for e in node.args[0].elts)
            return (None if nested or size is None else 1), size
        return None, None

    def _tensorflow(self, node: ast.Call, name: str, short: str) -> Kind:
        if short == "function":
            return Kind("compiled", element="tensorflow.function")
        if short == "Variable":
            return Kind("variable")
        if name.startswith("tensorflow.data."):
            method = short.rpartition(".")[2]
            return Kind("dataset", history=(method,)) if method in DATASET_MAKERS else UNKNOWN
        if short in ("Session", "InteractiveSession", "compat.v1.Session", "compat.v1.InteractiveSession"):
            return Kind("session")
        if short in TENSOR_MAKERS or (name.startswith(TENSOR_MODULES) and name not in NOT_TENSORS):
            return self._tensor(node, short)
        return UNKNOWN

    def _tensor(self, node: ast.Call, short: str) -> Kind:
        dtype = keyword(node, "dtype")
        if dtype is None and short in ("cast", "ones", "zeros", "constant", "convert_to_tensor") and len(node.args) > 1:
            dtype = node.args[1]
        named = self.dtype(dtype)
        if not named and dtype is None:
            first = node.args[0] if node.args else None
            given = first.elts if short == "constant" and isinstance(first, ast.List | ast.Tuple) else node.args[:3]
            written = {type(constant(arg)) for arg in given} if short in ("range", "constant") else set()
            named = "float32" if written in ({float}, {int, float}) or short in _FLOAT32 else ""
            named = "int32" if written == {int} else named
        shape = node.args[0] if node.args else keyword(node, "shape")
        rank, size = (
            self._shape(shape) if short in ("ones", "zeros", "random.uniform", "random.normal") else (None, None)
        )
        rank = 1 if short in ("range", "linspace") else rank
        if short in ("constant", "convert_to_tensor") and node.args:
            inner = self.kind(node.args[0])
            rank, size = inner.rank, inner.size
            if isinstance(node.args[0], ast.Constant):
                rank, size = 0, 1
            named = named or (inner.dtype if inner.what == "array" else "")
        if short in ("shape", "size", "rank"):
            rank, size = 1, 4  # a few numbers, whatever their tensor
        return Kind("tensor", named, rank, size)

    def _method(self, node: ast.Call, method: str, base: Kind) -> Kind:
        if base.what == "tensor":
            return Kind("array", base.dtype, base.rank, base.size) if method == "numpy" else UNKNOWN
        if base.what == "dataset":
            return Kind("dataset", history=base.history + (method,)) if method in DATASET_METHODS else UNKNOWN
        if base.what == "array" and method in ARRAY_METHODS:
            if method == "astype":
                return Kind(
                    "array", dtype_family(self.dtype(node.args[0] if node.args else None)), base.rank, base.size
                )
            rank = 1 if method in ("ravel", "flatten") else base.rank
            return ARRAY if method == "reshape" else Kind("array", base.dtype, rank, base.size)
        if base.what == "generator":
            return self._drawn(node, method)
        if base.what == "frame" and method in FRAME_METHODS:
            return Kind("frame")
        if base.what == "series":
            if method in ("to_numpy", "tolist"):
                return Kind("array", rank=1) if method == "to_numpy" else Kind("list")
            return Kind("series") if method in SERIES_METHODS else UNKNOWN
        return UNKNOWN


def _steps(numbers: list[int | float]) -> int:
    """How many numbers np.arange makes."""
    start, stop, step = [0, numbers[0], 1] if len(numbers) == 1 else [*numbers, 1][:3]
    return max(0, int((stop - start) / step))


def _canonical(name: str) -> str:
    """One spelling for names that TensorFlow and Keras have several of."""
    if name.startswith("tensorflow.compat.v2."):
        return "tensorflow." + name[len("tensorflow.compat.v2.") :]
    if name.startswith("jax.api."):
        return "jax." + name[len("jax.api.") :]
    if name.startswith("tensorflow.python."):
        return ""
    return name


_KINDS: dict[type[ast.AST], Callable[[Any, Any], Kind]] = {
    ast.Name: Names._name,
    ast.Constant: Names._constant,
    ast.List: Names._list,
    ast.Tuple: Names._list,
    ast.ListComp: Names._list_comp,
    ast.UnaryOp: Names._unary,
    ast.BinOp: Names._binary,
    ast.Subscript: Names._subscript,
    ast.Attribute: Names._attribute,
    ast.Call: Names._call,
}
