"""Checks of tf.data pipelines: Python inside, one call at a time, one element at a time, no prefetch."""

from __future__ import annotations

import ast

from ..finding import Edit, Fix
from ..kinds import argument
from ..proposals import UT, with_keyword
from ..table import Figure, check, on_call, on_loop, on_method
from ..vector import body_of, judge
from ..walk import File

TF = "import tensorflow as tf\n"
RANGE = TF + "ds = tf.data.Dataset.range(1000)\n"

check(
    "UPS105",
    "Python is called for every element of a tf.data pipeline",
    hits=(
        RANGE + "import numpy as np\nds = ds.map(lambda x: tf.numpy_function(np.sin, [x], tf.double), 4).prefetch(1)\n",
        TF + "def f(x):\n    return tf.py_function(g, [x], tf.float32)\ndef load(ds):\n    return ds.map(f)\n",
    ),
    misses=(
        RANGE + "ds = ds.map(lambda x: x + 1, 4).prefetch(1)\n",
        TF + "def f(x):\n    return tf.numpy_function(len, [x], tf.int64)\nf(tf.ones(3))\n",
    ),
    figure=Figure(
        "import tensorflow as tf, numpy as np, upshift.tensorflow as ut\nds = tf.data.Dataset.range(2000)\n"
        "def g(x):\n    return x + 1\n"
        "sink = lambda d: d.reduce(np.int64(0), lambda a, b: a + b)",
        "sink(ds.map(lambda x: tf.numpy_function(g, [x], tf.int64)).map(lambda x: tf.ensure_shape(x, [])))",
        "sink(ut.map_dataset(ds, g))",
    ),
)
check(
    "UPS106",
    "Dataset.map runs one call at a time",
    hits=(
        RANGE + "for x in ds.map(lambda x: tf.strings.as_string(x)).prefetch(1):\n    pass\n",
        TF + "def load(files):\n    return tf.data.TFRecordDataset(files).map(tf.io.parse_tensor).prefetch(1)\n",
        TF + "class Data:\n    def __init__(self):\n        self.ds = tf.data.Dataset.range(9)\n"
        "    def squares(self):\n        return self.ds.map(lambda x: x * x)\n",
    ),
    misses=(
        TF + "class Data:\n    def __init__(self, ds):\n        self.ds = ds\n"
        "    def squares(self):\n        return self.ds.map(lambda x: x * x)\n",
        RANGE + "ds = ds.map(lambda x: x, num_parallel_calls=tf.data.AUTOTUNE)\n",
        "ds = [1]\nimport tensorflow as tf\nlist(map(str, ds))\n",
        TF + "def f(pool, xs):\n    return pool.map(len, xs)\n",
    ),
    figure=Figure(
        "import tensorflow as tf\nds = tf.data.Dataset.range(16)\nwork = lambda x: tf.reduce_sum(\n"
        "    tf.linalg.matmul(*[tf.fill((160, 160), tf.cast(x, tf.float32))] * 2))\n"
        "sink = lambda d: d.reduce(0.0, lambda a, b: a + b)",
        "sink(ds.map(work))",
        "sink(ds.map(work, num_parallel_calls=tf.data.AUTOTUNE))",
    ),
)
check(
    "UPS107",
    "Dataset.map before batch, of a function that works on whole batches",
    hits=(
        RANGE + "ds = ds.map(lambda x: x * 2 + 1, num_parallel_calls=4).batch(32).prefetch(1)\n",
        TF + "def load(a):\n    ds = tf.data.Dataset.range(a)\n    return ds.map(lambda x: x * 2, 4).batch(8)\n",
        RANGE + "ds = ds.map(lambda x: x * 2 + 1, 4)\nds = ds.batch(32)\nds = ds.prefetch(1)\n",
    ),
    misses=(
        RANGE + "ds = ds.batch(32).map(lambda x: x * 2, num_parallel_calls=4)\n",
        RANGE + "ds = ds.map(lambda x: tf.reduce_sum(x), num_parallel_calls=4).batch(32)\n",
        RANGE + "ds = ds.map(lambda x: x * 2, num_parallel_calls=4).padded_batch(32)\n",
        RANGE + "ds = ds.map(lambda x: x * 2, 4)\nby = ds.batch(32)\nfor x in ds.take(1):\n    print(x)\n",
    ),
    figure=Figure(
        "import tensorflow as tf, numpy as np\nds = tf.data.Dataset.range(20000)\nf = lambda x: x * 2 + 1\n"
        "sink = lambda d: d.reduce(np.int64(0), lambda a, b: a + tf.reduce_sum(b))",
        "sink(ds.map(f).batch(100))",
        "sink(ds.batch(100).map(f))",
    ),
)
check(
    "UPS108",
    "A pipeline is consumed without prefetch",
    hits=(
        RANGE + "ds = ds.batch(32)\nfor x in ds:\n    print(x)\n",
        RANGE + "model = make()\nmodel.fit(ds.map(lambda x: x[0], 4).batch(32), epochs=2)\n",
    ),
    misses=(
        RANGE + "ds = ds.batch(32).prefetch(tf.data.AUTOTUNE)\nfor x in ds:\n    print(x)\n",
        RANGE + "for x in ds:\n    print(x)\n",
        TF + "def train(ds):\n    for x in ds:\n        print(x)\n",
    ),
    figure=Figure(
        "import tensorflow as tf, time\nw = tf.random.normal((400, 400))\n"
        "work = lambda x: tf.reduce_sum(tf.matmul(w * tf.cast(x, tf.float32), w))\n"
        "ds = tf.data.Dataset.range(16).map(work).batch(2)\n"
        "def train(d):\n    for x in d:\n        time.sleep(0.01)",
        "train(ds)",
        "train(ds.prefetch(2))",
    ),
)

_STATEFUL = tuple(
    f"tensorflow.{name}"
    for name in ("random.", "image.random_", "numpy_function", "py_function", "print", "summary.", "io.write")
)
_ACTING = ("numpy_function", "py_function", "from_generator", "random", "tf.print", ".assign", "summary.", "io.write")
"""Words that tell of pipelines whose work somebody may notice when it is done earlier."""


@on_call("tensorflow.numpy_function", "tensorflow.py_function")
def _look_at_bridge(file: File, node: ast.Call, name: str) -> None:
    if not file.scope.mapped.endswith(".map"):
        return
    short = name.replace("tensorflow", "tf")
    fix = _as_map_dataset(file, node)
    file.report(
        "UPS105",
        node,
        f"{short} in Dataset.map: Python is called for every element",
        *([fix] if fix is not None else ()),
    )


def _as_map_dataset(file: File, node: ast.Call) -> Fix | None:
    """`ds.map(lambda x: tf.numpy_function(g, [x], T))` as `ut.map_dataset(ds, g)`."""
    inner = file.scope.function
    outer = file.outline.mapped.get(inner) if isinstance(inner, ast.Lambda) else None
    if not isinstance(inner, ast.Lambda) or inner.body is not node or outer is None or len(node.args) < 2:
        return None
    names = [arg.arg for arg in inner.args.args]
    given = node.args[1]
    if not isinstance(given, ast.List) or [getattr(e, "id", "") for e in given.elts] != names:
        return None
    assert isinstance(outer.func, ast.Attribute)
    text = f"ut.map_dataset({file.text(outer.func.value)}, {file.text(node.args[0])})"
    return Fix("ut.map_dataset", "whole", (file.swap(outer, text),), UT)


@on_method("map")
def _look_at_map(file: File, node: ast.Call, name: str) -> None:
    assert isinstance(node.func, ast.Attribute)
    receiver = file.kind(node.func.value)
    function = argument(node, 0, "map_func")
    if receiver.what != "dataset" or function is None:
        return
    if argument(node, 1, "num_parallel_calls") is None:
        _one_at_a_time(file, node, function)
    batch = _next_in_chain(file, node)
    if batch is not None and "batch" not in receiver.history and "padded_batch" not in receiver.history:
        _before_batch(file, node, function, batch)


def _one_at_a_time(file: File, node: ast.Call, function: ast.expr) -> None:
    fixes = []
    if _is_stateless(file, function):
        tf = file.alias("tensorflow") or "tf"
        edit = with_keyword(file, node, f"num_parallel_calls={tf}.data.AUTOTUNE")
        fixes.append(Fix("num_parallel_calls", "safe", (edit,)))
    file.report("UPS106", node, "Dataset.map without num_parallel_calls runs one call at a time", *fixes)


def _is_stateless(file: File, node: ast.expr) -> bool:
    """Whether calls may overlap: only TensorFlow's operations, none that draws or calls Python."""
    function = file.function_of(node)
    if function is None:
        return False
    for inner in ast.walk(function):
        if isinstance(inner, ast.Call):
            name = file.dotted(inner.func)
            if not name.startswith("tensorflow.") or name.startswith(_STATEFUL):
                return False
    return True


def _next_in_chain(file: File, node: ast.Call) -> ast.Call | None:
    """The call of `.batch` that follows at once in the chain."""
    attribute = file.parents.get(node)
    if isinstance(attribute, ast.Attribute) and attribute.attr == "batch":
        call = file.parents.get(attribute)
        return call if isinstance(call, ast.Call) and call.func is attribute else None
    return None


@on_method("batch")
def _look_at_batch(file: File, node: ast.Call, name: str) -> None:
    """`ds = ds.batch(n)` in the line after `ds = ds.map(f)`."""
    assert isinstance(node.func, ast.Attribute)
    history = file.kind(node.func.value).history
    if history[-1:] != ("map",) or {"batch", "padded_batch"} & set(history):
        return
    named = getattr(node.func.value, "id", "")
    here = file.parents.get(node)
    before = _statement_before(file, here)
    if not named or not _assigns(here, named) or not _assigns(before, named):
        return
    mapped = before.value  # type: ignore[union-attr]
    if isinstance(mapped, ast.Call) and isinstance(mapped.func, ast.Attribute) and mapped.func.attr == "map":
        function = argument(mapped, 0, "map_func")
        if function is not None:
            _before_batch(file, mapped, function, node)


def _statement_before(file: File, statement: ast.AST | None) -> ast.AST | None:
    """The one above in the same block."""
    around = file.parents.get(statement) if statement is not None else None
    for _, block in ast.iter_fields(around) if around is not None else ():
        if isinstance(block, list) and statement in block and block.index(statement):
            return block[block.index(statement) - 1]  # type: ignore[no-any-return]
    return None


def _assigns(statement: ast.AST | None, name: str) -> bool:
    return isinstance(statement, ast.Assign) and [getattr(t, "id", "") for t in statement.targets] == [name]


def _before_batch(file: File, node: ast.Call, function: ast.expr, batch: ast.Call) -> None:
    body = body_of(file.function_of(function))
    if body is None or len(body.parameters) != 1:
        return
    verdict = judge(file, body, "tensorflow", division=True, casts=True)
    if not verdict or batch.keywords or len(batch.args) != 1:
        return
    assert isinstance(node.func, ast.Attribute) and isinstance(batch.func, ast.Attribute)
    base, mapped, named = (file.text(each) for each in (node.func.value, node, batch.func.value))
    tail, size = mapped[len(base) :], file.text(batch)[len(named) :]
    if batch.func.value is node:
        edits: tuple[Edit, ...] = (Edit("expression", file.span(batch), base + size + tail),)
    else:  # in two statements
        places = file.span(node), file.span(batch)
        edits = tuple(Edit("expression", place, text) for place, text in zip(places, (base + size, named + tail)))
    fix = Fix("batch first", "safe" if verdict == "exact" else "checked", edits)
    file.report("UPS107", node, "Dataset.map before batch: the function also takes whole batches", fix)


@on_loop
def _look_at_consumer(file: File, node: ast.For | ast.ListComp | ast.GeneratorExp | ast.SetComp) -> None:
    if isinstance(node, ast.For):
        iterable = node.iter
        if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "enumerate":
            iterable = iterable.args[0] if iterable.args else iterable
        _check_prefetch(file, iterable)


@on_method("fit", "evaluate", "predict")
def _look_at_training(file: File, node: ast.Call, name: str) -> None:
    if node.args:
        _check_prefetch(file, node.args[0])


def _check_prefetch(file: File, node: ast.expr) -> None:
    kind = file.kind(node)
    if kind.what != "dataset" or file.scope.graph or {"?", "prefetch", "take"} & set(kind.history):
        return
    if not {"map", "batch", "padded_batch", "interleave"} & set(kind.history):
        return
    tf = file.alias("tensorflow") or "tf"
    fix = Fix("prefetch", "safe", (file.swap(node, f"{file.text(node)}.prefetch({tf}.data.AUTOTUNE)"),))
    stateful = any(word in file.source for word in _ACTING)
    stateless = not stateful and not {"interleave", "apply"} & set(kind.history)
    file.report(
        "UPS108",
        node,
        "the pipeline is consumed without prefetch: work and waiting take turns",
        *([fix] if stateless else ()),
    )
