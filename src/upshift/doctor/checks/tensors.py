"""Checks of tensors taken apart in Python: loops over elements, item assignment, .numpy() in a loop."""

from __future__ import annotations

import ast

from ..finding import Edit, Fix
from ..kinds import Kind, constant, dtype_family
from ..loops import loop_fixes
from ..proposals import UP, fill_in
from ..table import Figure, check, on_loop, on_method, on_store
from ..vector import Body, judge
from ..walk import File

TF = "import tensorflow as tf\n"
XS = TF + "xs = tf.range(1000.0)\n"

check(
    "UPS112",
    "A Python loop over the elements of a tensor",
    hits=(
        XS + "ys = [tf.sin(x) + tf.cos(x) for x in xs]\n",
        XS + "total = 0.0\nfor x in xs:\n    total += x * x\n",
        XS + "for i in range(len(xs)):\n    y = xs[i] * 2\n",
    ),
    misses=(
        XS + "@tf.function\ndef f(xs):\n    s = 0.0\n    for x in xs:\n        s += x\n    return s\nf(xs)\n",
        TF + "layers = [tf.keras.layers.Dense(1)]\nfor layer in layers:\n    layer.build((1, 1))\n",
        TF + "for x in tf.constant([1, 2]):\n    print(x)\n",
        TF + "def library(ts):\n    return [tf.sin(t) for t in ts]\n",
    ),
    figure=Figure(
        "import tensorflow as tf\nxs = tf.range(1000.0)",
        "tf.stack([tf.square(x) + x for x in xs])",
        "tf.square(xs) + xs",
    ),
)
check(
    "UPS113",
    "Item assignment on a tensor",
    hits=(
        TF + "t = tf.zeros((3,))\nt[0] = 1.0\n",
        TF
        + "def draw(image):\n    for i in range(8):\n        image[i, i] = 1.0\n    return image\n"
        + "out = tf.map_fn(draw, tf.zeros((2, 8, 8)))\n",
        TF + "t = tf.ones((2, 2))\nfor i in range(2):\n    t[i, 0] += 1.0\n",
        TF + "v = tf.Variable([1.0, 2.0])\nv[0] = 3.0\nv[1] += 2.0\n",
    ),
    misses=(
        TF + "t = tf.zeros(3).numpy()\nt[0] = 1.0\n",
        TF + "v = tf.Variable([1.0])\nv[0].assign(2.0)\n",
        TF + "d = {}\nd[0] = tf.zeros(3)\n",
    ),
    figure=Figure(
        "import tensorflow as tf, numpy as np, upshift as up\nxs = np.zeros((20, 16, 16), np.float32)\n"
        "def by_scatter(t):\n    for i in range(16):\n"
        "        t = tf.tensor_scatter_nd_update(t, [[i, i]], [1.0])\n    return t\n"
        "def draw(t):\n    for i in range(16):\n        t[i, i] = 1.0\n    return t",
        "tf.map_fn(by_scatter, xs)",
        "tf.convert_to_tensor(up.map(draw, xs))",
    ),
    broken=True,
)
check(
    "UPS114",
    ".numpy() in a loop waits for every result",
    hits=(
        XS + "out = []\nfor i in range(10):\n    y = tf.sin(xs) * i\n    out.append(y.numpy())\n",
        TF + "@tf.function\ndef step(x):\n    return x * x\nfor x in data():\n"
        "    loss = step(x)\n    print(loss.numpy())\n",
    ),
    misses=(
        XS + "y = tf.sin(xs).numpy()\n",
        TF
        + "@tf.function\ndef step(x):\n    return x * x\nfor i, x in enumerate(data()):\n    loss = step(x)\n"
        + "    if i % 100 == 0:\n        print(loss.numpy())\n",
        "import tensorflow\nfor d in devices():\n    print(d.numpy())\n",
    ),
    figure=Figure(
        "import tensorflow as tf\nxs = tf.ones(500000)\nn = 20\n"
        "def slow():\n    return [tf.reduce_sum(xs * i).numpy() for i in range(n)]\n"
        "def fast():\n    return list(tf.stack([tf.reduce_sum(xs * i) for i in range(n)]).numpy())",
        "slow()",
        "fast()",
    ),
)


@on_loop
def _look_at_loop(file: File, node: ast.For | ast.ListComp | ast.GeneratorExp | ast.SetComp) -> None:
    if file.scope.graph or file.scope.mapped:
        return
    iterable = (node if isinstance(node, ast.For) else node.generators[0]).iter
    if isinstance(iterable, ast.Call) and getattr(iterable.func, "id", "") == "enumerate" and iterable.args:
        iterable = iterable.args[0]
    kind = file.kind(iterable)
    if kind.what == "tensor" and _is_large(kind):
        file.report(
            "UPS112",
            node,
            "a Python loop over a tensor's elements pays for an operation each",
            *_as_one(file, node, kind),
        )
    elif isinstance(node, ast.For) and _indexes_tensor(file, node):
        message = "a Python loop that takes elements out of a tensor pays for an operation each"
        file.report("UPS112", node, message, *loop_fixes(file, node, "tensorflow"))


def _is_large(kind: Kind) -> bool:
    return kind.size is None or kind.size >= 16


def _as_one(file: File, node: ast.expr | ast.For, kind: Kind) -> list[Fix]:
    """A comprehension or loop of elementwise operations as one operation and its parts."""
    if isinstance(node, ast.For):
        return loop_fixes(file, node, "tensorflow")
    if not isinstance(node, ast.ListComp) or len(node.generators) > 1 or node.generators[0].ifs:
        return []
    target, elems = node.generators[0].target, node.generators[0].iter
    if not isinstance(target, ast.Name) or not isinstance(elems, ast.Name):
        return []
    is_float = dtype_family(kind.dtype) == "float"
    verdict = judge(file, Body((target.id,), node.elt), "tensorflow", division=is_float, casts=True)
    if not verdict:
        return []
    tf = file.alias("tensorflow") or "tf"
    text = fill_in(file, node.elt, {target.id: elems.id})
    parent = file.parents.get(node)
    stacked = isinstance(parent, ast.Call) and file.dotted(parent.func) == "tensorflow.stack" and len(parent.args) == 1
    edit = file.swap(node, f"{tf}.unstack({text})")
    if stacked and isinstance(parent, ast.Call) and not parent.keywords:
        edit = file.swap(parent, text)
    return [Fix("vectorised", "safe" if verdict == "exact" else "checked", (edit,))]


def _indexes_tensor(file: File, node: ast.For) -> bool:
    """`for i in range(...)` whose body reads `t[i]`."""
    iterable = node.iter
    if not (isinstance(iterable, ast.Call) and getattr(iterable.func, "id", "") == "range"):
        return False
    if not isinstance(node.target, ast.Name) or (type(n := constant(iterable.args[0])) is int and n < 16):
        return False
    index = node.target.id
    return any(
        isinstance(inner, ast.Subscript)
        and isinstance(inner.ctx, ast.Load)
        and getattr(inner.slice, "id", "") == index
        and file.kind(inner.value).what == "tensor"
        and _is_large(file.kind(inner.value))
        for statement in node.body
        for inner in ast.walk(statement)
    )


@on_method("numpy")
def _look_at_numpy(file: File, node: ast.Call, name: str) -> None:
    loop = file.in_loop
    if (
        loop is None
        or loop.node.__class__ is ast.While
        or loop.guarded
        or node.args
        or file.scope.graph
        or file.scope.mapped
    ):
        return
    assert isinstance(node.func, ast.Attribute)
    if (loop.over.what == "list" and loop.over.size is not None and loop.over.size < 16) or "take" in loop.over.history:
        return
    if loop.over.what == "dataset" and getattr(node.func.value, "id", "") == getattr(
        getattr(loop.node, "target", None), "id", "-"
    ):
        return  # a pipeline's elements are there already
    if file.kind(node.func.value).what == "tensor":
        file.report("UPS114", node, ".numpy() in a loop waits for every result; collect tensors, convert once after it")


@on_store
def _look_at_store(file: File, target: ast.Subscript, statement: ast.stmt) -> None:
    what = file.kind(target.value).what
    if what == "variable":
        file.report(
            "UPS113", statement, "a tf.Variable's items take values by .assign", *_assign(file, target, statement)
        )
    if what != "tensor":
        return
    fixes = (
        _through_numpy(file, target) if file.scope.mapped == "tensorflow.map_fn" else _scatter(file, target, statement)
    )
    text = file.text(target.value)
    file.report("UPS113", statement, f"{text!r} is a tensor: its items cannot be assigned", *fixes)


def _assign(file: File, target: ast.Subscript, statement: ast.stmt) -> list[Fix]:
    """`v[i] = x` as `v[i].assign(x)`, `v[i] += x` as `v[i].assign(v[i] + x)`."""
    place = file.text(target)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        text = f"{place}.assign({file.text(statement.value)})"
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add | ast.Sub | ast.Mult):
        sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(statement.op)]
        text = f"{place}.assign({place} {sign} ({file.text(statement.value)}))"
    else:
        return []
    return [Fix("assign", "safe", (Edit("statement", file.span(statement), text),), repairs=True)]


_PLAIN = (
    *(ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.For, ast.If, ast.While),
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Name, ast.Constant, ast.Subscript, ast.Tuple, ast.Slice),
    *(ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Pass, ast.Expr, ast.IfExp),
)


def _through_numpy(file: File, target: ast.Subscript) -> list[Fix]:
    """A mapped function of indexing and arithmetic only: map it over NumPy's arrays, where items can be assigned."""
    function = file.scope.function
    name = getattr(function, "name", "")
    call = file.outline.mapped.get(name)
    if not isinstance(function, ast.FunctionDef) or call is None or len(call.args) != 2 or call.keywords:
        return []
    if not all(isinstance(n, _PLAIN) or _is_range(n) for n in ast.walk(function)):
        return []
    elems = call.args[1]
    tf = file.alias("tensorflow") or "tf"
    source = file.text(elems)
    if file.kind(elems).what != "array":
        source = f"{source}.numpy()" if isinstance(elems, ast.Name | ast.Call) else f"({source}).numpy()"
    edit = file.swap(call, f"{tf}.convert_to_tensor(up.map({name}, {source}))")
    return [Fix("up.map", "safe", (edit,), UP, repairs=True)]


def _is_range(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("range", "len", "abs", "min", "max", "int")


def _scatter(file: File, target: ast.Subscript, statement: ast.stmt) -> list[Fix]:
    """`t[i, j] = v` as `t = tf.tensor_scatter_nd_update(t, [[i, j]], [v])`, one index for each axis; or `+=`."""
    rank = file.kind(target.value).rank
    index = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    whole = all(isinstance(constant(i), int) or file.kind(i).what == "number" for i in index)
    negative = any(isinstance(n, int | float) and n < 0 for n in map(constant, index))
    if rank != len(index) or not whole or negative or not isinstance(target.value, ast.Name):
        return []
    how = ""
    if isinstance(statement, ast.AugAssign):
        how = {ast.Add: "add", ast.Sub: "sub"}.get(type(statement.op), "")
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        how = "update"
    if not how or not isinstance(statement, ast.Assign | ast.AugAssign) or file.scope.graph:
        return []
    if file.kind(statement.value).what not in ("number", "tensor"):
        return []
    tf = file.alias("tensorflow") or "tf"
    name, at = target.value.id, ", ".join(file.text(i) for i in index)
    text = f"{name} = {tf}.tensor_scatter_nd_{how}({name}, [[{at}]], [{file.text(statement.value)}])"
    return [Fix(f"tensor_scatter_nd_{how}", "safe", (Edit("statement", file.span(statement), text),), repairs=True)]
