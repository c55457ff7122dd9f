"""Checks of what TensorFlow 2 no longer has: tf.contrib, sessions, moved names, random draws in small integers."""

from __future__ import annotations

import ast

from ..finding import Edit, Fix
from ..kinds import argument, keyword
from ..rewriting import offset
from ..table import Figure, check, on_attribute, on_call
from ..walk import File

TF = "import tensorflow as tf\n"
check(
    "UPS116",
    "tf.contrib is gone since TensorFlow 2",
    hits=(
        TF + "y = tf.contrib.image.rotate(images, 0.5)\n",
        TF + "opt = tf.contrib.opt.AdamWOptimizer(0.1)\n",
    ),
    misses=(
        TF + "y = tf.image.rot90(images)\n",
        "contrib = {}\nimport tensorflow as tf\nprint(contrib)\n",
    ),
    figure=Figure(
        "import tensorflow as tf, numpy as np\nfrom skimage.transform import rotate\n"
        "images = np.zeros((4, 32, 32, 3), np.float32)\n"
        "from upshift.doctor.rotation import rotate_images\n"
        "f = lambda im: tf.numpy_function(lambda a: rotate(a, 30.0).astype(np.float32), [im], tf.float32)",
        "tf.map_fn(f, images)",
        "rotate_images(images, 0.5)",
    ),
    broken=True,
)
check(
    "UPS117",
    "A session on eager code",
    hits=(
        TF + "x = tf.constant(2.0)\nwith tf.Session() as sess:\n    print(sess.run(x * x))\n",
        TF + "x = tf.constant(2.0)\nsess = tf.compat.v1.Session()\nprint(sess.run(x))\nsess.close()\n",
        TF + "x = tf.placeholder(tf.float32)\n",
    ),
    misses=(
        "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\nsess = tf.Session()\n",
        TF + "tf.compat.v1.disable_eager_execution()\nx = tf.constant(1)\nsess = tf.compat.v1.Session()\n",
        "import requests, tensorflow\nwith requests.Session() as session:\n    session.get('x')\n",
    ),
    figure=Figure(
        "import tensorflow as tf, numpy as np\nwith tf.Graph().as_default() as g:\n    a = tf.range(1000.0)\n"
        "    b = a * 2.0 + 1.0\nsess = tf.compat.v1.Session(graph=g)\nx = tf.range(1000.0)",
        "sess.run(b)",
        "(x * 2.0 + 1.0).numpy()",
    ),
    broken=True,
)
check(
    "UPS118",
    "tf.random.uniform does not draw this dtype",
    hits=(
        TF + "x = tf.random.uniform((4, 4), maxval=256, dtype=tf.uint8)\n",
        TF + "x = tf.random.uniform([3], 0, 2, tf.int8)\n",
        TF + "x = tf.random.uniform(\n    (2, 2),\n    maxval=9,\n    dtype=tf.uint8,  # small\n)\n",
    ),
    misses=(
        TF + "x = tf.random.uniform((4, 4), maxval=256, dtype=tf.int32)\n",
        TF + "x = tf.random.uniform((4, 4))\n",
        TF + "def f(dtype):\n    return tf.random.uniform((4, 4), dtype=dtype)\n",
    ),
    figure=Figure(
        "import tensorflow as tf, numpy as np",
        "tf.shape(tf.convert_to_tensor([np.random.randint(0, 256) for _ in range(5000)], tf.uint8))",
        "tf.shape(tf.cast(tf.random.uniform((5000,), maxval=256, dtype=tf.int32), tf.uint8))",
    ),
    broken=True,
)
check(
    "UPS119",
    "A name that TensorFlow 2 has moved",
    hits=(
        TF + "y = tf.log(x)\n",
        TF + "y = tf.py_func(f, [x], tf.float32)\n",
        TF + "x = tf.random_uniform((3,))\n",
    ),
    misses=(
        TF + "y = tf.math.log(x)\n",
        "import tensorflow.compat.v1 as tf\ny = tf.log(x)\n",
        "import logging as tf\nimport tensorflow\ntf.log(1, 'x')\n",
    ),
    figure=Figure(
        "import tensorflow as tf\nx = tf.range(1.0, 1000.0)",
        "tf.compat.v1.log(x)",
        "tf.math.log(x)",
    ),
    broken=True,
)

MOVED = {
    "log": "math.log",
    "lgamma": "math.lgamma",
    "py_func": "numpy_function",
    "random_uniform": "random.uniform",
    "random_normal": "random.normal",
    "truncated_normal": "random.truncated_normal",
    "set_random_seed": "random.set_seed",
    "matrix_inverse": "linalg.inv",
    "ceil": "math.ceil",
    "is_nan": "math.is_nan",
    "mod": "math.mod",
    "diag": "linalg.tensor_diag",
    "multinomial": "random.categorical",
    "log1p": "math.log1p",
    "count_nonzero": "math.count_nonzero",
    "image.resize_images": "image.resize",
}
DRAWN = frozenset("float16 bfloat16 float32 float64 int32 int64 double float int half uint32 uint64".split())


@on_attribute("contrib")
def _look_at_contrib(file: File, node: ast.Attribute, name: str) -> None:
    fixes = []
    if name == "tensorflow.contrib.image.rotate":
        edit = Edit("expression", file.span(node), "rotate_images")
        fixes.append(
            Fix("rotate_images", "safe", (edit,), ("from upshift.doctor.rotation import rotate_images",), True)
        )
    file.report("UPS116", node, f"{name.replace('tensorflow', 'tf', 1)} is gone since TensorFlow 2", *fixes)


@on_attribute(*{name.split(".")[0] for name in MOVED})
def _look_at_moved(file: File, node: ast.Attribute, name: str) -> None:
    short = name.partition(".")[2]
    if short not in MOVED or not isinstance(node.value, ast.Name | ast.Attribute):
        return
    if short == "image.resize_images":
        return file.report("UPS119", node, "tf.image.resize_images is now tf.image.resize")
    tf = file.text(node)[: -len(short)]
    fix = Fix("moved name", "safe", (Edit("expression", file.span(node), f"{tf}{MOVED[short]}"),), repairs=True)
    return file.report("UPS119", node, f"tf.{short} is now tf.{MOVED[short]}", fix)


@on_call("tensorflow.random.uniform")
def _look_at_uniform(file: File, node: ast.Call, name: str) -> None:
    given = argument(node, 3, "dtype")
    dtype = file.dtype(given)
    if given is None or not dtype or dtype in DRAWN or not isinstance(given, ast.Attribute | ast.Constant):
        return
    if isinstance(given, ast.Attribute) and not file.dotted(given).startswith(("tensorflow.", "numpy.")):
        return
    tf = file.alias("tensorflow") or "tf"
    fixes = []
    if keyword(node, "maxval") is not None or len(node.args) > 2:
        call, (line, low, last, high) = file.text(node), file.span(given)
        before, after = call[: offset(file, node, line, low)], call[offset(file, node, last, high) :]
        edit = Edit("expression", file.span(node), f"{tf}.cast({before}{tf}.int32{after}, {file.text(given)})")
        fixes.append(Fix("drawn as int32", "safe", (edit,), repairs=True))
    file.report("UPS118", node, f"tf.random.uniform does not draw {dtype}; draw int32 and cast", *fixes)
