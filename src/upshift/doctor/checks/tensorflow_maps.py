"""Checks of tf.map_fn and tf.vectorized_map: eager, elementwise, of another dtype, with host round-trips inside."""

from __future__ import annotations

import ast

from ..finding import Fix
from ..kinds import Kind, argument, constant, dtype_family, keyword
from ..names import names_in
from ..proposals import UP, UT, renamed, vectorised_fix, with_keyword
from ..table import Figure, check, on_builtin, on_call, on_method
from ..vector import CLOSE, EXACT, Body, body_of, judge
from ..walk import File

TF = "import tensorflow as tf\n"
_LOOPY = TF + "def f(x):\n    for _ in range(100):\n        x = x * 0.99\n    return x\n"

check(
    "UPS101",
    "tf.map_fn runs eagerly, one element at a time",
    hits=(
        _LOOPY + "xs = tf.range(1000.0)\nys = tf.map_fn(f, xs)\n",
        TF + "def main():\n    ys = tf.map_fn(lambda x: tf.reduce_sum(x), tf.ones((9, 3)))\nmain()\n",
        "from tensorflow import map_fn, ones\nprint(map_fn(lambda x: x[0], ones((3, 2))))\n",
    ),
    misses=(
        _LOOPY + "@tf.function\ndef g(xs):\n    return tf.map_fn(f, xs)\ng(tf.range(1000.0))\n",
        TF + "def library(xs):\n    return tf.map_fn(lambda x: x[0], xs)\n",
        "class tf:\n    map_fn = map\ntf.map_fn(len, [[1]])\n",
        TF + "ds = tf.data.Dataset.range(3).map(lambda x: tf.map_fn(lambda y: y[0], tf.ones((2, 2))), 2).prefetch(1)\n",
    ),
    figure=Figure(
        "import tensorflow as tf, upshift.tensorflow as ut\nxs = tf.range(1000.0)\n"
        "def f(x):\n    for _ in range(20):\n        x = x * 0.99\n    return x",
        "tf.map_fn(f, xs)",
        "ut.map_fn(f, xs)",
    ),
)

check(
    "UPS102",
    "tf.map_fn of a function that works on all elements at once",
    hits=(
        TF + "xs = tf.range(1000.0)\nys = tf.map_fn(lambda x: x * x, xs)\n",
        TF + "def f(x):\n    return tf.sin(x) + 1\ndef library(xs):\n    return tf.map_fn(f, xs)\n",
        TF + "@tf.function\ndef g(xs):\n    return tf.map_fn(lambda x: tf.square(x), xs)\n",
    ),
    misses=(
        TF + "def library(xs):\n    return tf.map_fn(lambda x: tf.reduce_sum(x), xs)\n",
        TF + "w = tf.ones(3)\ndef library(xs):\n    return tf.map_fn(lambda x: x * w, xs)\n",
        TF + "def library(xs):\n    return tf.map_fn(lambda x: x / 2, xs)\n",
    ),
    figure=Figure(
        "import tensorflow as tf\nxs = tf.range(1000.0)", "tf.map_fn(lambda x: x * x + 1.0, xs)", "xs * xs + 1.0"
    ),
)

check(
    "UPS103",
    "tf.map_fn of a function that changes the dtype, without fn_output_signature",
    hits=(
        TF + "xs = tf.range(5.0)\nys = tf.map_fn(lambda x: tf.cast(x, tf.int32), xs)\n",
        TF + "ys = tf.map_fn(lambda i: tf.sin(tf.cast(i, tf.float32)) / 2.0, tf.range(5))\n",
        TF + "def f(i):\n    half = i / 2\n    return half * 3.0\nys = tf.map_fn(f, tf.range(5))\n",
        TF + "def f(x):\n    return x > 0\ndef library(xs):\n    return tf.map_fn(f, xs)\n",
        TF + "xs = tf.ones(4, tf.float32)\nys = tf.map_fn(lambda x: (x, x), xs)\n",
        TF + "a, b = tf.range(4.0), tf.ones(4)\nys = tf.map_fn(lambda t: t[0] * t[1], (a, b))\n",
        TF + "def f(t):\n    return tf.reduce_sum(t[0])\ndef lib(a, b):\n    return tf.map_fn(f, [a, b])\n",
    ),
    misses=(
        TF
        + "def lib(xs):\n    return tf.map_fn(lambda x: tf.cast(x[0], tf.int32), xs, fn_output_signature=tf.int32)\n",
        TF + "def lib(xs):\n    return tf.map_fn(lambda x: tf.cast(x[0], xs.dtype), xs)\n",
        TF + "ys = tf.map_fn(lambda i: tf.cast(i, tf.float32) + i, tf.range(5))\n",
        TF + "ys = tf.map_fn(lambda i: i * 2 - 1, tf.range(5))\n",
        TF + "def lib(a, b):\n    return tf.map_fn(lambda t: (t[1], t[0]), (a, b))\n",
        TF + "def lib(a, b):\n    return tf.map_fn(lambda t: g(t), (a, b))\n",
        TF + "def lib(a, b):\n    return tf.map_fn(lambda t: t[0] + t[1], (a, b), fn_output_signature=tf.float32)\n",
    ),
    figure=Figure(
        "import tensorflow as tf, upshift.tensorflow as ut\nxs = tf.range(1000.0)\n"
        "f = lambda x: tf.cast(x, tf.int32)\nsig = dict(fn_output_signature=tf.int32)",
        "tf.map_fn(f, xs, **sig)",
        "ut.map_fn(f, xs)",
    ),
    broken=True,
)

check(
    "UPS104",
    "tf.vectorized_map outside a tf.function traces anew at every call",
    hits=(
        TF + "ys = tf.vectorized_map(lambda x: tf.reduce_sum(x), tf.ones((4, 3)))\n",
        TF + "def main():\n    return tf.vectorized_map(lambda x: x[0], tf.ones((4, 3)))\nprint(main())\n",
    ),
    misses=(
        TF + "@tf.function\ndef g(xs):\n    return tf.vectorized_map(lambda x: x[0], xs)\ng(tf.ones((4, 3)))\n",
        TF + "def library(xs):\n    return tf.vectorized_map(lambda x: x[0], xs)\n",
    ),
    figure=Figure(
        "import tensorflow as tf, upshift.tensorflow as ut\nxs = tf.ones((1000, 8))\n"
        "f = lambda x: tf.reduce_max(x) * 2.0",
        "tf.vectorized_map(f, xs)",
        "ut.vectorized_map(f, xs)",
    ),
)

check(
    "UPS115",
    "A mapped function goes back and forth between TensorFlow and Python",
    hits=(
        TF + "def f(x):\n    return float(x.numpy()) * 2\nys = tf.map_fn(f, tf.range(3.0))\n",
        TF
        + "import numpy as np\ndef library(xs):\n"
        + "    return tf.map_fn(lambda x: tf.numpy_function(np.sin, [x], tf.float32), xs)\n",
        TF + "import numpy as np\ndef f(x):\n    return np.sin(x)\ndef library(xs):\n    return tf.map_fn(f, xs)\n",
        TF + "def f(x):\n    return tf.constant(float(x) * 2 if int(x) else 0.0)\nys = tf.map_fn(f, tf.range(3.0))\n",
    ),
    misses=(
        TF + "y = tf.numpy_function(len, [tf.ones(3)], tf.int64)\n",
        TF + "n = 3\ndef f(x):\n    return x[0] * float(n)\ndef lib(xs):\n    return tf.map_fn(f, xs)\n",
        TF + "def f(x):\n    return tf.sin(x)[0]\ndef library(xs):\n    return tf.map_fn(f, xs)\n",
        TF
        + "import numpy as np\ndef f(x):\n    return x[0] * np.sin(2.0)\ndef lib(xs):\n    return tf.map_fn(f, xs)\n",
    ),
    figure=Figure(
        "import tensorflow as tf, numpy as np, upshift.tensorflow as ut\nxs = tf.range(1000.0)\n"
        "f = lambda x: tf.numpy_function(np.square, [x], tf.float32)",
        "tf.map_fn(f, xs)",
        "ut.map_fn(f, xs)",
    ),
)

BRIDGES = ("tensorflow.numpy_function", "tensorflow.py_function")
_DECLARES = frozenset({"fn", "elems", "dtype", "fn_output_signature"})
_HARMLESS = frozenset({"parallel_iterations", "name", "back_prop", "swap_memory", "infer_shape"})


@on_call("tensorflow.map_fn")
def _look_at_map_fn(file: File, node: ast.Call, name: str) -> None:
    fn, elems = argument(node, 0, "fn"), argument(node, 1, "elems")
    if fn is None or elems is None:
        return
    declared = argument(node, 2, "dtype") or keyword(node, "fn_output_signature")
    kind = file.kind(elems)
    body = body_of(file.function_of(fn))
    if declared is None and body is not None and _changes(file, node, body, elems, kind):
        return
    other = renamed(file, "ut.map_fn", node.func, "ut.map_fn", UT)
    if body is not None and not isinstance(elems, ast.Tuple | ast.List | ast.Dict):
        is_float = dtype_family(kind.dtype) == "float"
        verdict = judge(file, body, "tensorflow", division=is_float, casts=declared is not None)
        if verdict:
            fix = None
            if declared is None and {k.arg for k in node.keywords} <= _HARMLESS | {"fn", "elems"}:
                fix = vectorised_fix(file, node, fn, body, elems, kind, verdict)
            fixes = [fix, other] if fix else [other]
            eager = "" if file.scope.graph else ", eagerly"
            file.report("UPS102", node, f"tf.map_fn{eager}, of operations that take all elements at once", *fixes)
            return
    if file.scope.eager:
        fixes = [*_of_numpy(file, node, body, elems), other]
        file.report("UPS101", node, "tf.map_fn runs the function eagerly for each element; use ut.map_fn", *fixes)


def _of_numpy(file: File, node: ast.Call, body: Body | None, elems: ast.expr) -> list[Fix]:
    """`tf.map_fn(lambda x: tf.numpy_function(f, [x], T), xs)` as a map of `f` over NumPy's array."""
    call = body.expression if body is not None else None
    if body is None or not isinstance(call, ast.Call) or file.dotted(call.func) not in BRIDGES:
        return []
    if len(call.args) != 3 or call.keywords or not {k.arg for k in node.keywords} <= _HARMLESS | _DECLARES:
        return []
    function, given, dtype = call.args
    alone = isinstance(given, ast.List | ast.Tuple) and [getattr(e, "id", "") for e in given.elts] == [*body.parameters]
    single = alone and len(body.parameters) == 1 and not names_in(function, dtype) & set(body.parameters)
    what = file.kind(elems).what
    if not single or not isinstance(elems, ast.Name) or isinstance(dtype, ast.List | ast.Tuple) or not what:
        return []
    xs = elems.id if what == "array" else f"{elems.id}.numpy()"
    tf = file.alias("tensorflow") or "tf"
    text = f"{tf}.convert_to_tensor(up.map({file.text(function)}, {xs}), {file.text(dtype)})"
    return [Fix("up.map", "checked", (file.swap(node, text),), UP)]


def _changes(file: File, node: ast.Call, body: Body, elems: ast.expr, kind: Kind) -> bool:
    """Say so where the function's dtype or structure cannot be that of its argument."""
    made, dtype = body.expression, ""
    if isinstance(elems, ast.Tuple | ast.List) and len(elems.elts) > 1:
        changed = _is_one_tensor(file, made)
        reason, dtype = f"one result for {len(elems.elts)} tensors", _common_dtype(file, made, elems.elts)
    elif isinstance(made, ast.Tuple):
        changed = kind.what == "tensor"
        reason = f"{len(made.elts)} results for one tensor"
    elif isinstance(made, ast.Compare):
        changed = any(isinstance(n, ast.Name) and n.id in body.parameters for n in ast.walk(made))
        reason, dtype = "the function returns truth values", f"{file.alias('tensorflow') or 'tf'}.bool"
    else:
        target = _result_dtype(file, made, dict.fromkeys(body.parameters, kind.dtype))
        changed = kind.what == "tensor" and "" not in (kind.dtype, target) and target not in (kind.dtype, _ANY)
        reason = f"the function returns {target}, its argument is {kind.dtype}"
        dtype = f"{file.alias('tensorflow') or 'tf'}.{target}"
    if not changed:
        return False
    fixes = []
    if dtype and not node.keywords and len(node.args) == 2:
        edit = with_keyword(file, node, f"fn_output_signature={dtype}")
        fixes.append(Fix("fn_output_signature", "safe", (edit,), repairs=True))
    fixes.append(renamed(file, "ut.map_fn", node.func, "ut.map_fn", UT))
    file.report("UPS103", node, f"{reason}: tf.map_fn raises without fn_output_signature", *fixes)
    return True


_ANY = "a Python number"


def _result_dtype(file: File, node: ast.expr, known: dict[str, str]) -> str:
    """The dtype of arithmetic and casts, by that of names; empty where it cannot be told."""
    if isinstance(node, ast.Name):
        return known.get(node.id, _ANY if file.kind(node).what == "number" else "")
    if isinstance(constant(node), int | float):
        return _ANY
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _result_dtype(file, node.operand, known)
    if isinstance(node, ast.BinOp):
        sides = {_result_dtype(file, side, known) for side in (node.left, node.right)} - {_ANY}
        dtype = sides.pop() if len(sides) == 1 else ""
        if isinstance(node.op, ast.Div) and not dtype.startswith("float"):
            return "float64" if dtype in ("int32", "int64") else ""
        return dtype
    if not isinstance(node, ast.Call) or not node.args or node.keywords:
        return ""
    library, _, short = file.dotted(node.func).partition(".")
    if library != "tensorflow":
        return ""
    if short == "cast":
        target = file.dtype(node.args[1]) if len(node.args) == 2 else ""
        return target if target in FULL_NAMES | {"bool", "uint8"} else ""
    if len(node.args) == 1 and short in ELEMENTWISE - {"math.abs", "abs", "sigmoid"}:
        return _result_dtype(file, node.args[0], known)
    return ""


def _is_one_tensor(file: File, node: ast.expr) -> bool:
    """Arithmetic, a comparison, a part of the argument, or an operation that makes one tensor."""
    if isinstance(node, ast.Call):
        return file.kind(node).what == "tensor" and not file.dotted(node.func).endswith("map_fn")
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and type(constant(node.slice)) is int
    return isinstance(node, ast.BinOp | ast.Compare)


def _common_dtype(file: File, made: ast.expr, parts: list[ast.expr]) -> str:
    """The dtype of arithmetic with elements of tensors of one dtype, where that is known."""
    kinds = {(file.kind(part).what, file.kind(part).dtype) for part in parts}
    what, dtype = kinds.pop()
    simple = (ast.BinOp, ast.Subscript, ast.Name, ast.Constant, ast.operator, ast.expr_context)
    if kinds or what != "tensor" or dtype not in FULL_NAMES or not all(isinstance(n, simple) for n in ast.walk(made)):
        return ""
    if any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div | ast.FloorDiv) for n in ast.walk(made)):
        return f"{file.alias('tensorflow') or 'tf'}.{dtype}" if dtype.startswith("float") else ""
    return f"{file.alias('tensorflow') or 'tf'}.{dtype}"


ELEMENTWISE = EXACT | CLOSE
FULL_NAMES = frozenset({"float16", "float32", "float64", "int32", "int64"})


@on_call("tensorflow.vectorized_map")
def _look_at_vectorized_map(file: File, node: ast.Call, name: str) -> None:
    fn, elems = argument(node, 0, "fn"), argument(node, 1, "elems")
    if fn is None or elems is None or not file.scope.eager:
        return
    other = renamed(file, "ut.vectorized_map", node.func, "ut.vectorized_map", UT)
    body, kind = body_of(file.function_of(fn)), file.kind(elems)
    fixes = [other]
    if body is not None and kind.what == "tensor" and not node.keywords:
        is_float = dtype_family(kind.dtype) == "float"
        verdict = judge(file, body, "tensorflow", division=is_float, casts=True)
        fix = vectorised_fix(file, node, fn, body, elems, kind, verdict) if verdict else None
        fixes = [fix, other] if fix else [other]
    file.report("UPS104", node, "tf.vectorized_map traces anew at every call outside a tf.function", *fixes)


@on_call(*BRIDGES)
def _look_at_bridge(file: File, node: ast.Call, name: str) -> None:
    short = name.replace("tensorflow", "tf")
    if file.scope.mapped in ("tensorflow.map_fn", "tensorflow.vectorized_map"):
        file.report("UPS115", node, f"{short} inside a mapped function: Python is called for every element")


@on_method("numpy")
def _look_at_numpy(file: File, node: ast.Call, name: str) -> None:
    if file.scope.mapped not in ("tensorflow.map_fn", "tensorflow.vectorized_map") or node.args:
        return
    assert isinstance(node.func, ast.Attribute)
    if file.kind(node.func.value).what == "tensor":
        file.report("UPS115", node, ".numpy() inside a mapped function: every element leaves TensorFlow and comes back")


@on_builtin("float", "int", "bool")
def _look_at_conversion(file: File, node: ast.Call, name: str) -> None:
    """`float(x)` of a tensor is `.numpy()` by another name."""
    if file.scope.mapped not in ("tensorflow.map_fn", "tensorflow.vectorized_map") or len(node.args) != 1:
        return
    if file.kind(node.args[0]).what == "tensor":
        file.report("UPS115", node, f"{name} of a tensor inside a mapped function: every element leaves TensorFlow")


_UFUNCS = "sin cos exp log sqrt sum mean dot clip abs power tanh maximum minimum where square".split()


@on_call(*(f"numpy.{name}" for name in _UFUNCS))
def _look_at_ufunc(file: File, node: ast.Call, name: str) -> None:
    if file.scope.mapped not in ("tensorflow.map_fn", "tensorflow.vectorized_map"):
        return
    if node.args and file.kind(node.args[0]).what == "tensor":
        short = name.replace("numpy", "np")
        file.report("UPS115", node, f"{short} of a tensor inside a mapped function: every element leaves TensorFlow")
