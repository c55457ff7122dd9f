"""Checks of what TensorFlow 2 no longer has: tf.contrib, sessions, moved names, random draws in small integers."""

from __future__ import annotations

import ast

from ..finding import Edit, Fix
from ..kinds import argument, keyword
from ..proposals import offset
from ..table import Figure, check, on_attribute, on_call, on_import
from ..walk import File

TF = "import tensorflow as tf\n"
check(
    "UPS116",
    "tf.contrib is gone since TensorFlow 2",
    hits=(
        TF + "y = tf.contrib.image.rotate(images, 0.5)\n",
        TF + "opt = tf.contrib.opt.AdamWOptimizer(0.1)\n",
        "from tensorflow.contrib import layers\n",
        "import tensorflow.contrib.slim as slim\n",
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
        TF + "x = tf.to_float(y)\nopt = tf.train.AdamOptimizer(0.1)\n",
        TF + "w = tf.get_variable('w', [3])\n",
        TF + "tf.logging.set_verbosity(tf.logging.ERROR)\n",
    ),
    misses=(
        TF + "y = tf.math.log(x)\n",
        "import tensorflow.compat.v1 as tf\ny = tf.log(x)\nz = tf.to_float(y)\n",
        TF + "y = tf.compat.v1.to_float(x)\nopt = tf.train.Checkpoint()\n",
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


OF_VERSION_1 = frozenset(
    "to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32 to_int64 accumulate_n angle arg_max arg_min "
    "assert_greater_equal assert_integer assert_less_equal assert_near assert_negative assert_non_negative "
    "assert_non_positive assert_positive assert_scalar assert_type assign assign_add assign_sub batch_gather "
    "batch_to_space_nd betainc bincount check_numerics cholesky cholesky_solve confusion_matrix conj ConfigProto "
    "cross cumprod decode_base64 decode_csv decode_raw depth_to_space diag_part digamma div div_no_nan encode_base64 "
    "erf erfc expm1 extract_image_patches fft fft2d fft3d FixedLenFeature FixedLenSequenceFeature floor_div floordiv "
    "floormod global_norm GPUOptions ifft ifft2d ifft3d igamma igammac imag invert_permutation is_finite is_inf "
    "is_non_decreasing is_strictly_increasing lbeta lin_space log_sigmoid logical_xor matching_files matrix_band_part "
    "matrix_determinant matrix_diag matrix_diag_part matrix_set_diag matrix_solve matrix_transpose "
    "matrix_triangular_solve parse_example parse_single_example parse_tensor polygamma Print qr random_crop "
    "random_gamma random_poisson random_shuffle read_file real reciprocal reduce_join regex_replace reverse_v2 rint "
    "rsqrt scatter_nd_update segment_max segment_mean segment_min segment_prod segment_sum self_adjoint_eig "
    "serialize_tensor setdiff1d space_to_depth sparse_add sparse_concat sparse_mask sparse_reorder sparse_reshape "
    "sparse_retain sparse_softmax sparse_tensor_dense_matmul sparse_tensor_to_dense sparse_to_dense "
    "squared_difference string_join string_split string_strip string_to_number substr svd tensor_scatter_add "
    "tensor_scatter_sub tensor_scatter_update trace unsorted_segment_max unsorted_segment_mean unsorted_segment_min "
    "unsorted_segment_prod unsorted_segment_sum VarLenFeature verify_tensor_all_finite write_file zeta "
    "train.AdamOptimizer train.AdagradOptimizer train.AdadeltaOptimizer train.FtrlOptimizer "
    "train.GradientDescentOptimizer train.MomentumOptimizer train.RMSPropOptimizer train.exponential_decay "
    "train.polynomial_decay train.piecewise_constant losses.mean_squared_error losses.sigmoid_cross_entropy "
    "losses.softmax_cross_entropy losses.sparse_softmax_cross_entropy losses.huber_loss losses.log_loss".split()
)
"""Names that only `tf.compat.v1` has, and that work on eager code."""
MODULES = frozenset({"app", "flags", "gfile", "logging", "python_io"})
OF_GRAPHS = frozenset(
    "AUTO_REUSE GraphKeys add_to_collection get_collection get_default_graph get_default_session get_variable "
    "get_variable_scope global_variables make_template reset_default_graph trainable_variables variable_scope "
    "layers.dense layers.conv2d layers.dropout layers.batch_normalization nn.dynamic_rnn train.Saver "
    "train.get_or_create_global_step".split()
)
"""Names of the graph that there was: what they did is done by objects now."""


@on_attribute("contrib")
def _look_at_contrib(file: File, node: ast.Attribute, name: str) -> None:
    fixes = []
    if name == "tensorflow.contrib.image.rotate":
        edit = Edit("expression", file.span(node), "rotate_images")
        fixes.append(
            Fix("rotate_images", "safe", (edit,), ("from upshift.doctor.rotation import rotate_images",), True)
        )
    file.report("UPS116", node, f"{name.replace('tensorflow', 'tf', 1)} is gone since TensorFlow 2", *fixes)


@on_import("tensorflow")
def _look_at_import(file: File, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        name = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        if f"{name}.".startswith("tensorflow.contrib."):
            file.report("UPS116", node, f"{name} is gone since TensorFlow 2")


@on_attribute(*{name.split(".")[0] for name in {*MOVED, *OF_VERSION_1, *OF_GRAPHS, *MODULES}})
def _look_at_moved(file: File, node: ast.Attribute, name: str) -> None:
    short = name.partition(".")[2]
    known = short in OF_VERSION_1 or short.partition(".")[0] in MODULES
    now = MOVED.get(short) or (f"compat.v1.{short}" if known else "")
    if short in OF_GRAPHS:
        return file.report(
            "UPS119", node, f"tf.{short} belongs to the graphs of TensorFlow 1: use tf.Variable and layers"
        )
    if not now:
        return None
    if short == "image.resize_images":
        return file.report("UPS119", node, "tf.image.resize_images is now tf.image.resize")
    tf = file.text(node)[: -len(short)]
    fix = Fix("moved name", "safe", (Edit("expression", file.span(node), f"{tf}{now}"),), repairs=True)
    return file.report("UPS119", node, f"tf.{short} is now tf.{now}", fix)


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
