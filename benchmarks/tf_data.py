"""NumPy functions in `tf.data`: microseconds per element of ours, of `tf.numpy_function` and of native TensorFlow.

python -m benchmarks.tf_data [--quick] [--json FILE]

Every pipeline is read to its end, element by element and in batches of 32. Contenders take turns, and the fastest of a
few rounds counts. "native" is what an expert would write instead in TensorFlow's own operations, where that exists.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import upshift.tensorflow as ut

BATCH = 32
AUTOTUNE = tf.data.AUTOTUNE
OURS, TENSORFLOWS, NATIVE = "ut.map_dataset", "tf.numpy_function", "native"


@dataclass(frozen=True)
class Case:
    """A function of one element, the same by hand in TensorFlow, and elements."""

    name: str
    f: Callable[..., Any]
    native: Callable[..., Any]
    columns: Callable[[int], Any]
    size: int
    specs: Any


@dataclass(frozen=True)
class Row:
    """One contender in one case: microseconds per element."""

    case: str
    read: str
    contender: str
    microseconds: float


# ---- cases


def add_one(x):
    return x + np.float32(1)


def cast_root(image):
    return np.sqrt(image.astype(np.float32)).astype(np.uint8)


def native_cast_root(image):
    return tf.cast(tf.sqrt(tf.cast(image, tf.float32)), tf.uint8)


def root(image):
    return np.sqrt(image)


def flip(image, label):
    if np.random.rand() < 0.5:
        return image[:, ::-1], label[:, ::-1]
    return image, label


def native_flip(image, label):
    chosen = tf.random.uniform(()) < 0.5
    return tf.cond(chosen, lambda: (image[:, ::-1], label[:, ::-1]), lambda: (image, label))


def pixels(image):
    out = image.copy()
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            out[i, j] = image[i, j] * 2 if (i + j) % 2 else image[i, j] + 1
    return out


def native_pixels(image):
    odd = (tf.range(24)[:, None] + tf.range(24)[None, :]) % 2 == 1
    return tf.where(odd, image * 2, image + 1)


def _numbers(n: int) -> Any:
    return np.random.default_rng(0).random(n, np.float32)


def _images(*shape: int) -> Callable[[int], Any]:
    return lambda n: np.random.default_rng(0).random((n, *shape), np.float32)


def _doubles(*shape: int) -> Callable[[int], Any]:
    return lambda n: np.random.default_rng(0).random((n, *shape))


def _bytes(*shape: int) -> Callable[[int], Any]:
    return lambda n: np.random.default_rng(0).integers(0, 256, (n, *shape), np.uint8)


def _pairs(size: int) -> Callable[[int], Any]:
    return lambda n: (_bytes(size, size, 3)(n), _bytes(size, size)(n))


def _spec(dtype: Any, *shape: int) -> Any:
    return tf.TensorSpec(shape, dtype)


CASES = [
    Case("add one", add_one, lambda x: x + 1, _numbers, 20_000, _spec(tf.float32)),
    Case("uint8 cast, root, cast 28x28", cast_root, native_cast_root, _bytes(28, 28), 10_000, _spec(tf.uint8, 28, 28)),
    Case("uint8 cast, root, cast 64x64x3", cast_root, native_cast_root, _bytes(64, 64, 3), 3_000,
         _spec(tf.uint8, 64, 64, 3)),
    Case("root 64x64x3", root, tf.sqrt, _images(64, 64, 3), 3_000, _spec(tf.float32, 64, 64, 3)),
    Case("root 256x256x3", root, tf.sqrt, _images(256, 256, 3), 300, _spec(tf.float32, 256, 256, 3)),
    Case("random flip 64x64x3 and label", flip, native_flip, _pairs(64), 3_000,
         (_spec(tf.uint8, 64, 64, 3), _spec(tf.uint8, 64, 64))),
    Case("random flip 256x256x3 and label", flip, native_flip, _pairs(256), 400,
         (_spec(tf.uint8, 256, 256, 3), _spec(tf.uint8, 256, 256))),
    Case("writes pixel by pixel 24x24", pixels, native_pixels, _doubles(24, 24), 1_500, _spec(tf.float64, 24, 24)),
]  # fmt: skip


# ---- pipelines


def per_element(case: Case) -> Callable[..., Any]:
    """`tf.numpy_function` as its users write it."""
    leaves = tf.nest.flatten(case.specs)

    def mapped(*element: Any) -> Any:
        made = tf.numpy_function(case.f, list(element), [leaf.dtype for leaf in leaves])
        for tensor, leaf in zip(made, leaves, strict=True):
            tensor.set_shape(leaf.shape)
        return tf.nest.pack_sequence_as(case.specs, made)

    return mapped


def pipelines(case: Case, n: int) -> dict[tuple[str, str], Any]:
    """Datasets by how they are read, and by whom they are made."""
    ds = tf.data.Dataset.from_tensor_slices(case.columns(n))
    theirs, native = ds.map(per_element(case), AUTOTUNE), ds.map(case.native, AUTOTUNE)
    one, many = "one by one", f"batches of {BATCH}"
    return {
        (one, OURS): ut.map_dataset(ds, case.f),
        (one, TENSORFLOWS): theirs,
        (one, NATIVE): native,
        (many, OURS): ut.map_dataset(ds, case.f).batch(BATCH),
        (many, f"{OURS}(batch_size={BATCH})"): ut.map_dataset(ds, case.f, batch_size=BATCH),
        (many, TENSORFLOWS): theirs.batch(BATCH),
        (many, NATIVE): native.batch(BATCH),
    }


def measure(case: Case, rounds: int, quick: bool) -> list[Row]:
    n = max(case.size // (16 if quick else 4), BATCH)
    made = pipelines(case, n)
    best = dict.fromkeys(made, float("inf"))
    for _ in range(rounds):
        for key, ds in made.items():
            began = time.perf_counter()
            for _ in ds:
                pass
            best[key] = min(best[key], time.perf_counter() - began)
    return [Row(case.name, read, contender, 1e6 * seconds / n) for (read, contender), seconds in best.items()]


# ---- words


def table(rows: list[Row]) -> str:
    lines = [f"{'case':<32} {'read':<14} {'contender':<30} {'us':>8} {'vs numpy_function':>18} {'vs native':>10}"]
    for row in rows:
        same = {r.contender: r.microseconds for r in rows if (r.case, r.read) == (row.case, row.read)}
        lines.append(
            f"{row.case:<32} {row.read:<14} {row.contender:<30} {row.microseconds:>8.1f} "
            f"{same[TENSORFLOWS] / row.microseconds:>16.1f} x {row.microseconds / same[NATIVE]:>8.2f} x"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer elements, fewer rounds")
    parser.add_argument("--json", help="write the rows to this file as well")
    given = parser.parse_args()
    rows = [row for case in CASES for row in measure(case, 4 if given.quick else 12, given.quick)]
    print(table(rows))
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump([asdict(row) for row in rows], file, indent=1)


if __name__ == "__main__":
    main()
