"""Checks of tf.function: made in a loop, traced anew for every number, around a few scalar operations, around loops."""

from __future__ import annotations

import ast

from ..finding import Edit, Fix
from ..kinds import constant, keyword
from ..names import bound_by, names_in, parameters_in
from ..proposals import made_once
from ..table import Figure, check, on_call, on_function, on_local_call
from ..walk import File

TF = "import tensorflow as tf\n"
ADD = TF + "@tf.function\ndef add(a, b):\n    return a + b\n"

check(
    "UPS109",
    "A tf.function is made inside a loop",
    hits=(
        TF + "def f(x):\n    return x + 1\nfor i in range(3):\n    print(tf.function(f)(tf.constant(1)))\n",
        TF + "for i in range(3):\n    @tf.function\n    def g(x):\n        return x + 1\n    g(tf.constant(1))\n",
    ),
    misses=(
        TF + "def f(x):\n    return x + 1\ng = tf.function(f)\nfor i in range(3):\n    g(tf.constant(1))\n",
        TF + "fs = [len, abs]\nfor f in fs:\n    g = tf.function(f)\n",
        TF + "for n in (1, 2):\n    @tf.function\n    def g(x):\n        return x + n\n",
    ),
    figure=Figure(
        "import tensorflow as tf\nx = tf.ones(10)\nf = lambda x: x * 2.0 + 1.0\ng = tf.function(f)\n"
        "def slow():\n    for _ in range(10):\n        y = tf.function(f)(x)\n    return y\n"
        "def fast():\n    for _ in range(10):\n        y = g(x)\n    return y",
        "slow()",
        "fast()",
    ),
)
check(
    "UPS110",
    "A tf.function is called with Python numbers and traced for each",
    hits=(
        ADD + "for i in range(100):\n    add(i, 2)\n",
        ADD + "for n in [1, 2, 3]:\n    add(n, tf.constant(2))\n",
        ADD + "for n in range(9):\n    add(tf.ones(3), b=n * 0.1)\n",
        TF + "g = tf.function(lambda x: x * x)\ntotal = sum(g(i) for i in range(10))\n",
    ),
    misses=(
        ADD + "for i in range(100):\n    add(tf.constant(i), 2)\n",
        ADD + "add(1, 2)\n",
        ADD + "for n in ['a', 'b']:\n    add(n, tf.constant('c'))\n",
        TF + "@tf.function(input_signature=[tf.TensorSpec([], tf.int32)])\ndef g(x):\n    return x\n"
        "for i in range(9):\n    g(i)\n",
    ),
    figure=Figure(
        "import tensorflow as tf\ng = tf.function(lambda x: x * x + x)\n"
        "import itertools\ncount = itertools.count()\n"
        "def slow():\n    for _ in range(20):\n        y = g(next(count))\n    return 0\n"
        "def fast():\n    for _ in range(20):\n        y = g(tf.constant(next(count)))\n    return 0",
        "slow()",
        "fast()",
    ),
)
check(
    "UPS111",
    "A tf.function around a few operations on Python numbers",
    hits=(
        ADD + "print(add(1, 2))\n",
        TF + "@tf.function\ndef area(r):\n    return 3.14 * r * r\nfor r in range(5):\n    print(area(r))\n",
    ),
    misses=(
        ADD + "print(add(tf.ones(3), tf.ones(3)))\n",
        TF + "@tf.function\ndef f(a):\n    return tf.matmul(a, a)\nf(2)\n",
        TF + "@tf.function\ndef library(a, b):\n    return a + b\n",
    ),
    figure=Figure(
        "import tensorflow as tf\n@tf.function\ndef add(a, b):\n    return a + b\n"
        "def plain(a, b):\n    return tf.convert_to_tensor(a + b)",
        "add(1, 2)",
        "plain(1, 2)",
    ),
)
check(
    "UPS120",
    "A loop of scalar operations inside a tf.function",
    hits=(
        TF + "@tf.function\ndef f():\n    s = 0\n"
        "    for i in tf.range(10000):\n        if i % 2 == 0:\n            s += i\n    return s\n",
        TF + "@tf.function\ndef f(x):\n    for i in range(500):\n        x = x * 0.5 + 1.0\n    return x\n",
    ),
    misses=(
        TF + "@tf.function(jit_compile=True)\ndef f():\n"
        "    s = 0\n    for i in tf.range(10000):\n        s += i\n    return s\n",
        TF + "@tf.function\ndef f(x, w):\n    for i in range(3):\n        x = x * 2\n    return x\n",
        TF + "@tf.function\ndef f(ds):\n    for x in ds:\n        train(x)\n",
        TF + "def f(x):\n    for i in range(500):\n        x = x * 0.5\n    return x\n",
    ),
    figure=Figure(
        "import tensorflow as tf\ndef f():\n    s = 0\n    for i in tf.range(2000):\n        if i % 2 == 0:\n"
        "            s += i\n    return s\ng = tf.function(f)\nh = tf.function(f, jit_compile=True)",
        "g()",
        "h()",
    ),
)


@on_call("tensorflow.function")
def _look_at_function(file: File, node: ast.Call, name: str) -> None:
    loop = file.in_loop
    if loop is None or isinstance(loop.node, ast.comprehension) or not node.args or file.scope.graph:
        return
    given = node.args[0]
    if isinstance(given, ast.Name | ast.Lambda) and not (names_in(given) - parameters_in(given)) & loop.bound:
        fixes = made_once(file, node, loop.node, file.text(node))
        file.report(
            "UPS109", node, "tf.function in a loop traces anew every time; make it once, before the loop", *fixes
        )


@on_function
def _look_at_definition(file: File, node: ast.FunctionDef) -> None:
    decorator = _decorator(file, node)
    if decorator is None:
        return
    loop = file.in_loop
    if loop is not None:
        if not (names_in(node) - bound_by(node) - parameters_in(node)) & loop.bound:
            file.report(
                "UPS109", node, f"the tf.function {node.name!r} is made and traced anew in every round of the loop"
            )
        return
    _look_at_scalar_loop(file, node, decorator)
    _look_at_few_operations(file, node, decorator)


def _decorator(file: File, node: ast.FunctionDef) -> ast.expr | None:
    """The tf.function among a function's decorators."""
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if file.dotted(called) == "tensorflow.function":
            return decorator
    return None


def _look_at_scalar_loop(file: File, node: ast.FunctionDef, decorator: ast.expr) -> None:
    if isinstance(decorator, ast.Call) and keyword(decorator, "jit_compile") is not None:
        return
    for loop in node.body:
        if isinstance(loop, ast.For) and _is_long(file, loop.iter) and _is_scalar_work(loop.body):
            extra = [file.text(k) for k in decorator.keywords] if isinstance(decorator, ast.Call) else []
            called = file.text(decorator.func if isinstance(decorator, ast.Call) else decorator)
            text = f"{called}({', '.join([*extra, 'jit_compile=True'])})"
            fix = Fix("jit_compile", "checked", (Edit("expression", file.span(decorator), text),))
            file.report("UPS120", loop, "scalar operations in a loop cost an op each in a graph; compile it", fix)
            return


def _is_long(file: File, node: ast.expr) -> bool:
    """A hundred iterations or more, or nobody knows."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name = file.dotted(node.func)
    plain = isinstance(node.func, ast.Name) and node.func.id == "range"
    if name != "tensorflow.range" and not plain:
        return False
    count = constant(node.args[min(1, len(node.args) - 1)])
    return isinstance(count, int | float) and count >= 100


_WORK = (
    *(ast.Assign, ast.AugAssign, ast.If, ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Name, ast.Constant),
    *(ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Pass, ast.Continue),
)


def _is_scalar_work(body: list[ast.stmt]) -> bool:
    return all(isinstance(node, _WORK) for statement in body for node in ast.walk(statement))


def _look_at_few_operations(file: File, node: ast.FunctionDef, decorator: ast.expr) -> None:
    """Where every call in the file passes Python numbers only."""
    args = node.args
    if args.vararg or args.kwarg or args.defaults or args.kwonlyargs or len(node.decorator_list) > 1 or not args.args:
        return
    last = node.body[-1]
    if not isinstance(last, ast.Return) or last.value is None or len(node.body) > 1:
        return
    names = {arg.arg for arg in args.args}
    nodes = list(ast.walk(last.value))
    simple = all(
        isinstance(n, ast.BinOp | ast.UnaryOp | ast.Name | ast.Constant) or not isinstance(n, ast.expr) for n in nodes
    )
    used = {n.id for n in nodes if isinstance(n, ast.Name)}
    operations = sum(isinstance(n, ast.BinOp) for n in nodes)
    if not simple or not 1 <= operations <= 4 or not used <= names or isinstance(decorator, ast.Call):
        return
    calls = [n for n in ast.walk(file.tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == node.name]
    mentions = sum(isinstance(n, ast.Name) and n.id == node.name for n in ast.walk(file.tree))
    if not calls or mentions != len(calls) or not all(_passes_numbers(file, call) for call in calls):
        return
    tf = file.text(decorator).rpartition(".")[0] or "tf"
    edits = (
        Edit("decorator", file.span(decorator)),
        Edit("expression", file.span(last.value), f"{tf}.convert_to_tensor({file.text(last.value)})"),
    )
    whole = all(isinstance(n.op, ast.Add | ast.Sub | ast.Mult) for n in nodes if isinstance(n, ast.BinOp))
    fix = Fix("plain function", "safe" if whole else "checked", edits)
    file.report(
        "UPS111", node, f"the tf.function {node.name!r} computes with Python numbers; a plain function is faster", fix
    )


def _passes_numbers(file: File, call: ast.Call) -> bool:
    given = [*call.args, *(k.value for k in call.keywords)]
    return bool(given) and all(_is_number(file, node) for node in given)


def _is_number(file: File, node: ast.expr) -> bool:
    """A number as written, the variable of a range or of written numbers, or arithmetic of them."""
    if isinstance(node, ast.Name):
        return any(
            _are_numbers(loop.iter) and getattr(loop.target, "id", "") == node.id
            for loop in ast.walk(file.tree)
            if isinstance(loop, ast.For | ast.comprehension)
        ) and not any(
            isinstance(n, ast.Assign) and any(getattr(t, "id", "") == node.id for t in n.targets)
            for n in ast.walk(file.tree)
        )
    if isinstance(node, ast.BinOp):
        return _is_number(file, node.left) and _is_number(file, node.right)
    return isinstance(constant(node), int | float)


def _are_numbers(node: ast.expr) -> bool:
    """A range, or a list of numbers as written."""
    if isinstance(node, ast.List | ast.Tuple):
        return all(type(constant(e)) in (int, float) for e in node.elts)
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range"


@on_local_call
def _look_at_call(file: File, node: ast.Call, name: str) -> None:
    loop = file.in_loop
    if file.compiled.get(name) != "tensorflow.function" or loop is None or file.scope.graph:
        return
    function = file.functions.get(name)
    decorator = _decorator(file, function) if function is not None else None
    if isinstance(decorator, ast.Call) and keyword(decorator, "input_signature") is not None:
        return
    made = next((call for target, call in file.outline.wrapped if target == name), None)
    if made is not None and keyword(made, "input_signature") is not None:
        return
    bound = frozenset().union(*(each.bound for each in file.scope.loops))
    given = [*node.args, *(k.value for k in node.keywords)]
    numbers = [arg for arg in given if file.kind(arg).what == "number" and names_in(arg) & bound]
    if numbers:
        tf = file.alias("tensorflow") or "tf"
        edits = tuple(Edit("expression", file.span(arg), f"{tf}.constant({file.text(arg)})") for arg in numbers)
        file.report(
            "UPS110",
            node,
            f"the tf.function {name!r} is traced anew for every new Python number; pass tensors",
            Fix("tensor arguments", "checked", edits),
        )
