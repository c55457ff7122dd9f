"""Checks of data frames: apply by rows, iterrows, Python functions over a column, in pandas and Polars."""

from __future__ import annotations

import ast

from ..finding import Fix
from ..kinds import FRAME_ATTRIBUTES, argument, constant
from ..names import bound_by, filled
from ..proposals import POLARS, UP
from ..table import Figure, check, on_method
from ..vector import body_of
from ..walk import File

PD = "import pandas as pd\n"
DF = PD + "df = pd.read_csv('x.csv')\n"
_MAKE = (
    "import pandas as pd, numpy as np, upshift as up\nrng = np.random.default_rng(0)\n"
    "df = pd.DataFrame({'a': rng.random(3000), 'b': rng.random(3000)})\n"
)

check(
    "UPS131",
    "DataFrame.apply(axis=1) makes a Series of every row",
    hits=(
        DF + "y = df.apply(lambda row: row['a'] + row['b'], axis=1)\n",
        PD + "def f(row):\n    return row.a * 2\ndef load(table):\n    return table.apply(f, axis='columns')\n",
        DF + "y = df.apply(lambda row: row['a'] + row['b'], 1)\n",
        DF + "from scores import score\ny = df.apply(score, axis=1)\n",
    ),
    misses=(
        DF + "y = df.apply(np.sum, axis=0)\n",
        DF + "y = df.apply('sum', axis=1)\n",
        "import numpy as np\n" + DF + "y = df.apply(np.sum, axis=1)\n",
        DF + "y = df.apply(lambda values: values[0], axis=1, raw=True)\n",
        DF + "y = df.groupby('a').apply(len)\n",
        "def f(x):\n    return x.apply(lambda r: r, axis=1)\nimport numpy\n",
    ),
    figure=Figure(_MAKE, "df.apply(lambda r: r['a'] * 2 + r['b'], axis=1)", "df['a'] * 2 + df['b']"),
)
check(
    "UPS132",
    "DataFrame.iterrows makes a Series of every row",
    hits=(
        DF + "for i, row in df.iterrows():\n    print(row['a'])\n",
        PD + "def f(table):\n    return [r.a for _, r in table.iterrows()]\n",
    ),
    misses=(
        DF + "for row in df.itertuples():\n    print(row.a)\n",
        DF + "index, row = next(df.iterrows())\n",
        "import numpy\nfor r in table.iterrows():\n    print(r)\n",
    ),
    figure=Figure(
        _MAKE,
        "sum(row['a'] * row['b'] for _, row in df.iterrows())",
        "sum(a * b for a, b in zip(df['a'].to_numpy(), df['b'].to_numpy()))",
    ),
)
check(
    "UPS133",
    "A Python function over a column, one value at a time",
    hits=(
        DF + "y = df['a'].map(lambda v: v * 2 + 1)\n",
        DF + "def f(v):\n    return v if v > 0 else 0.0\ndf['b'] = df['a'].apply(f)\n",
        DF + "def f(v):\n    return v if v > 0 else 0.0\ny = df.a.apply(f)\n",
        PD + "class Table:\n    def __init__(self):\n        self.df = pd.read_csv('x.csv')\n"
        "    def scaled(self):\n        return self.df['a'].map(lambda v: v * 2)\n",
    ),
    misses=(
        DF + "y = df['a'].map({1: 'x'})\n",
        DF + "y = df['a'] * 2\n",
        PD + "def f(s):\n    return s.map(lambda v: v)\n",
        DF + "y = df['a'].apply(np.sqrt)\n",
        DF + "y = df.columns.map(lambda c: c.lower())\nz = df.index.map(lambda i: i + 1)\n",
        PD + "class Table:\n    def __init__(self, df):\n        self.df = df\n"
        "    def scaled(self):\n        return self.df['a'].map(lambda v: v * 2)\n",
    ),
    figure=Figure(_MAKE + "s = df['a']\n", "s.map(lambda v: v * 2 + 1)", "s * 2 + 1"),
)
check(
    "UPS134",
    "Polars' map_elements calls Python for every value",
    hits=(
        "import polars as pl\ny = df.with_columns(pl.col('a').map_elements(lambda v: v * 2))\n",
        "import polars as pl\ndef f(s):\n    return s.map_elements(len, return_dtype=pl.Int64)\n",
    ),
    misses=(
        "import polars as pl\ny = df.with_columns(pl.col('a') * 2)\n",
        "import pandas\ny = x.map_elements(len)\n",
    ),
    figure=Figure(
        "import polars as pl, upshift as up\ns = pl.Series('a', [float(i) for i in range(20000)])\n"
        "def f(v):\n    return v * 2 if v > 10 else -v",
        "s.map_elements(f, return_dtype=pl.Float64)",
        "pl.Series('a', up.map(f, s.to_list()))",
    ),
)


@on_method("apply")
def _look_at_apply(file: File, node: ast.Call, name: str) -> None:
    assert isinstance(node.func, ast.Attribute)
    given = argument(node, 0, "func")
    if not file.alias("pandas") or given is None:
        return
    kind = file.kind(node.func.value)
    if file.function_of(given) is None and not (kind.what == "frame" and _is_the_users(file, given)):
        return
    axis = argument(node, 1 if kind.what == "frame" else len(node.args), "axis")  # of others, it may be the function's
    by_rows = constant(axis) in (1, "columns") and argument(node, 2, "raw") is None
    if by_rows and kind.what in ("frame", ""):
        fixes = [*_by_columns(file, node), *_by_rows(file, node)]
        file.report("UPS131", node, "DataFrame.apply(axis=1) makes a Series of every row; use whole columns", *fixes)
    elif kind.what == "series" and file.function_of(given) is not None and len(node.args) == 1 and not node.keywords:
        _look_at_column(file, node)


def _is_the_users(file: File, node: ast.expr) -> bool:
    """A function from a module that is none of the libraries: pandas takes their names to mean its own methods."""
    root = file.dotted(node).partition(".")[0]
    return bool(root) and root not in ("numpy", "pandas", "scipy", "math", "builtins")


@on_method("map")
def _look_at_map(file: File, node: ast.Call, name: str) -> None:
    assert isinstance(node.func, ast.Attribute)
    if not file.alias("pandas") or len(node.args) != 1 or file.function_of(node.args[0]) is None:
        return
    if file.kind(node.func.value).what == "series":
        _look_at_column(file, node)


def _look_at_column(file: File, node: ast.Call) -> None:
    assert isinstance(node.func, ast.Attribute)
    column = file.text(node.func.value)
    body = body_of(file.function_of(node.args[0]))
    fixes = []
    formula = body is not None and len(body.parameters) == 1 and isinstance(node.args[0], ast.Lambda)
    if formula and body is not None and _is_formula(body.expression, frozenset(body.parameters)):
        text = filled(body.expression, {body.parameters[0]: column})
        fixes.append(Fix("vectorised", "checked", (file.swap(node, text),)))
    if file.alias("pandas") and _is_simple(node.func.value):
        pd = file.alias("pandas")
        text = f"{pd}.Series(up.map({file.text(node.args[0])}, {column}.tolist()), {column}.index, name={column}.name)"
        fixes.append(Fix("up.map", "checked", (file.swap(node, text),), UP))
    method = node.func.attr
    file.report(
        "UPS133", node, f"Series.{method} calls a Python function for every value; compute with the column", *fixes
    )


def _is_simple(node: ast.expr) -> bool:
    """Whether an expression may be evaluated three times."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant)
    return isinstance(node.value if isinstance(node, ast.Attribute) else node, ast.Name)


def _is_formula(node: ast.expr, names: frozenset[str]) -> bool:
    """Arithmetic of the names and of constants."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        return _is_formula(node.left, names) and _is_formula(node.right, names)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_formula(node.operand, names)
    return (isinstance(node, ast.Name) and node.id in names) or type(constant(node)) in (int, float)


def _by_columns(file: File, node: ast.Call) -> list[Fix]:
    """`df.apply(lambda r: r["a"] + r.b, axis=1)` as `df["a"] + df.b`."""
    assert isinstance(node.func, ast.Attribute)
    function, frame = argument(node, 0, "func"), node.func.value
    alone = len(node.args) + len(node.keywords) == 2 and node.args
    if not isinstance(function, ast.Lambda) or not isinstance(frame, ast.Name) or not alone:
        return []
    body = body_of(function)
    if body is None or len(body.parameters) != 1 or not _is_row_formula(body.expression, body.parameters[0]):
        return []
    return [Fix("vectorised", "checked", (file.swap(node, filled(body.expression, {body.parameters[0]: frame.id})),))]


def _by_rows(file: File, node: ast.Call) -> list[Fix]:
    """`df.apply(f, axis=1)` as `up.map(f, df)`."""
    function, frame = argument(node, 0, "func"), getattr(node.func, "value", None)
    if (
        len(node.args) + len(node.keywords) != 2
        or not isinstance(frame, ast.Name)
        or file.function_of(function) is None
    ):
        return []
    assert function is not None
    return [Fix("up.map", "checked", (file.swap(node, f"up.map({file.text(function)}, {frame.id})"),), UP)]


def _is_row_formula(node: ast.expr, row: str) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        return _is_row_formula(node.left, row) and _is_row_formula(node.right, row)
    if isinstance(node, ast.Subscript):
        return getattr(node.value, "id", "") == row and isinstance(constant(node.slice), str)
    if isinstance(node, ast.Attribute):
        return getattr(node.value, "id", "") == row and node.attr not in FRAME_ATTRIBUTES
    return type(constant(node)) in (int, float)


@on_method("iterrows")
def _look_at_iterrows(file: File, node: ast.Call, name: str) -> None:
    around = file.parents.get(node) if file.alias("pandas") else None
    one = isinstance(around, ast.Call) and getattr(around.func, "id", "") == "next"
    if file.alias("pandas") and not node.args and not one:
        message = "iterrows makes a Series of every row; use columns, or itertuples"
        file.report("UPS132", node, message, *_as_dicts(file, node, around))


def _as_dicts(file: File, node: ast.Call, loop: ast.AST | None) -> list[Fix]:
    """`for i, row in df.iterrows():` with dicts in the place of Series, where rows are only read by `row["name"]`."""
    assert isinstance(node.func, ast.Attribute)
    frame = node.func.value
    if not isinstance(loop, ast.For) or loop.iter is not node or not isinstance(frame, ast.Name):
        return []
    if not isinstance(loop.target, ast.Tuple) or not all(isinstance(part, ast.Name) for part in loop.target.elts):
        return []
    row = getattr(loop.target.elts[-1], "id", "")
    for n in ast.walk(file.tree):
        if isinstance(n, ast.Name) and n.id == row and n is not loop.target.elts[-1]:
            item = file.parents.get(n)
            if not isinstance(item, ast.Subscript) or not isinstance(item.ctx, ast.Load) or item.value is not n:
                return []
            if not isinstance(constant(item.slice), str):
                return []
    if frame.id in bound_by(loop):
        return []
    rows = f"(dict(zip({frame.id}.columns, values)) for values in {frame.id}.to_numpy())"
    return [Fix("rows as dicts", "whole", (file.swap(node, f"zip({frame.id}.index, {rows})"),))]


@on_method("map_elements")
def _look_at_map_elements(file: File, node: ast.Call, name: str) -> None:
    if file.alias("polars") and node.args:
        message = "map_elements calls Python for every value; write it with expressions, or use up.map"
        file.report("UPS134", node, message, *_in_namespace(file, node))


def _in_namespace(file: File, node: ast.Call) -> list[Fix]:
    """`s.map_elements(f, return_dtype=t)` as `s.upshift.map(f, return_dtype=t)`."""
    assert isinstance(node.func, ast.Attribute)
    if len(node.args) != 1 or {word.arg for word in node.keywords} - {"return_dtype"}:
        return []
    column = file.text(node.func.value)
    given = ", ".join(file.text(part) for part in [*node.args, *node.keywords])
    return [Fix("upshift.map", "whole", (file.swap(node, f"{column}.upshift.map({given})"),), POLARS)]
