"""Random small programs for the doctor: arithmetic over arrays or tensors, in every form that a fix may touch."""

from __future__ import annotations

import random

_NUMBERS = ("2.0", "0.5", "-1.5", "3", "1e-3")
_FORMS = {
    "numpy": (
        "ys = [{body} for x in xs]\nprint(len(ys), type(ys[0]).__name__, ys[:3], ys[-1])",
        "ys = np.array([{body} for x in xs])\nprint(ys.dtype, ys.shape, ys[:4], ys.sum())",
        "print(sum([{body} for x in xs]), max([{body} for x in xs]))",
        "ys = [{body} for x in xs if x > 0.5]\nprint(len(ys), ys[:2])",
        "def f(x):\n    return {body}\nys = [f(x) for x in xs]\nprint(ys[:3])",
        "xs = list(xs)\nys = [{body} for x in xs]\nprint(ys[:3], type(ys))",
        "total = 0.0\nfor x in xs:\n    total += {body}\nprint(total)",
        "print([{body} for x in xs][7] * 2, -[{body} for x in xs][1])",
    ),
    "tensorflow": (
        "ys = tf.map_fn(lambda x: {body}, xs)\nprint(ys.dtype.name, ys.shape, ys[:3].numpy())",
        "def f(x):\n    return {body}\nys = tf.map_fn(f, xs)\nprint(ys[:3].numpy(), float(ys[-1]))",
        "ys = [{body} for x in xs]\nprint(len(ys), ys[0].numpy(), type(ys))",
        "ys = tf.stack([{body} for x in xs])\nprint(ys.shape, ys[-1].numpy())",
        "print(tf.map_fn(lambda x: {body}, xs)[2].numpy())",
        "ds = tf.data.Dataset.from_tensor_slices(xs)\n"
        "for y in ds.map(lambda x: {body}).batch(7):\n    print(y.numpy()[:2])",
        "ds = tf.data.Dataset.from_tensor_slices(xs)\n"
        "ds = ds.map(lambda x: {body})\nds = ds.batch(7)\nfor y in ds:\n    print(y.numpy()[:2])",
        "ys = tf.vectorized_map(lambda x: {body}, xs)\nprint(ys.dtype.name, ys[:3].numpy())",
        "@tf.function\ndef add(a, b):\n    return a + b\nfor i in range(3):\n    print(add(i, 2), add(i, -1))",
        "x = tf.random.uniform((5,), maxval=9, dtype=tf.int32)\nprint(x.dtype.name, x.shape)",
        "t = tf.zeros(4)\nprint((t + 1.0).numpy(), tf.map_fn(lambda x: ({body}) * -1.0, xs)[0].numpy())",
    ),
}
_HEADS = {
    "numpy": (
        "import numpy as np\nxs = np.linspace(0.1, 2.0, 200)\n",
        "import numpy as np\nxs = np.random.default_rng(5).random(150)\n",
        "import numpy as np\nxs = np.arange(120)\n",
        "import numpy as np\nN = 130\nrng = np.random.default_rng(5)\nxs = rng.uniform(0.1, 2.0, N)\n",
        "import numpy as np\ntable = np.linspace(0.1, 2.0, 150).reshape(10, 15)\nxs = table.ravel()\n",
    ),
    "tensorflow": (
        "import tensorflow as tf\nxs = tf.linspace(0.1, 2.0, 20)\n",
        "import tensorflow as tf\nxs = tf.range(1.0, 21.0)\n",
    ),
}
_CALLS = {
    "numpy": ("np.sqrt({})", "np.abs({})", "np.square({})", "np.sin({})", "np.maximum({}, 0.25)"),
    "tensorflow": ("tf.sqrt({})", "tf.abs({})", "tf.square({})", "tf.sin({})", "tf.maximum({}, 0.25)"),
}


def make_program(library: str, seed: int) -> str:
    """One program; the same for the same seed."""
    rng = random.Random(f"{library} {seed}")
    body = _expression(rng, library, rng.randint(1, 3))
    return rng.choice(_HEADS[library]) + rng.choice(_FORMS[library]).format(body=body) + "\n"


def _expression(rng: random.Random, library: str, depth: int) -> str:
    if depth == 0:
        return "x" if rng.random() < 0.75 else rng.choice(_NUMBERS)
    sort = rng.random()
    if sort < 0.65:
        sign = rng.choice("+-*/") if rng.random() < 0.9 else "**"
        right = "2" if sign == "**" else _expression(rng, library, depth - 1)
        return f"({_expression(rng, library, depth - 1)} {sign} {right})" if sign != "**" else f"x {sign} {right}"
    if sort < 0.9:
        return rng.choice(_CALLS[library]).format(_expression(rng, library, depth - 1) if rng.random() < 0.7 else "x")
    return f"-{_expression(rng, library, 0)} * x"
