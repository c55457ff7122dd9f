"""What an expression is, as far as a reader of the source can tell: tensor, array, frame, dataset, Python number."""

from __future__ import annotations

import ast
from typing import NamedTuple

Constant = bool | int | float | str | None


class Kind(NamedTuple):
    """What is known of a value."""

    what: str
    dtype: str = ""
    """"float" or "int" where every element surely is one; the full name where that is known."""
    rank: int | None = None
    size: int | None = None
    history: tuple[str, ...] = ()
    """For a dataset: the methods that made it."""
    element: str = ""
    """For a list or a loop's variable: what its elements are."""


UNKNOWN = Kind("")
NUMBER = Kind("number")
TENSOR = Kind("tensor")
ARRAY = Kind("array")

TENSOR_MAKERS = frozenset(
    "constant convert_to_tensor range linspace zeros ones fill eye cast identity stack concat reshape transpose "
    "expand_dims squeeze gather gather_nd where reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_any "
    "reduce_all matmul tensordot einsum add subtract multiply divide square sqrt exp sin cos tan tanh sigmoid abs pow "
    "maximum minimum negative floor round sign map_fn vectorized_map scan numpy_function py_function argmax argmin "
    "cumsum clip_by_value one_hot pad tile repeat reverse roll slice boolean_mask zeros_like ones_like norm "
    "strided_slice tensor_scatter_nd_update sort argsort shape size rank".split()
)
TENSOR_MODULES = (
    "tensorflow.math.",
    "tensorflow.random.",
    "tensorflow.nn.",
    "tensorflow.linalg.",
    "tensorflow.signal.",
)
NOT_TENSORS = frozenset(
    "tensorflow.random.Generator tensorflow.random.set_seed tensorflow.random.get_global_generator "
    "tensorflow.random.create_rng_state tensorflow.nn.RNNCellDropoutWrapper tensorflow.nn.moments "
    "tensorflow.random.set_global_generator tensorflow.nn.compute_average_loss tensorflow.math.top_k "
    "tensorflow.linalg.svd tensorflow.linalg.eigh tensorflow.linalg.qr tensorflow.linalg.lu tensorflow.math.frexp "
    "tensorflow.nn.top_k tensorflow.linalg.slogdet tensorflow.linalg.logdet".split()
)
FLOATS = frozenset("float64 float32 float16 bfloat16 double single half float".split())
INTS = frozenset("int64 int32 int16 int8 uint8 uint16 uint32 uint64 int intp".split())
FLOAT_MAKERS = frozenset("linspace logspace geomspace".split())
SHAPED = frozenset("zeros ones empty full".split())
ARRAY_MAKERS = FLOAT_MAKERS | frozenset(
    "zeros ones empty full arange array asarray loadtxt "
    "zeros_like ones_like empty_like full_like fromiter concatenate stack vstack hstack tile repeat cumsum sort".split()
)
ARRAY_METHODS = frozenset("astype copy reshape ravel flatten transpose clip cumsum round standard_normal".split())
DRAWS = {"random": 0, "random_sample": 0, "standard_normal": 0, "exponential": 1}
DRAWS |= dict.fromkeys("normal uniform integers randint lognormal gamma beta binomial".split(), 2)
"""What np.random and its generators draw numbers by, and which of its arguments is the size."""
SERIES_METHODS = frozenset(
    "map apply astype fillna clip abs round shift cumsum dropna sort_values reset_index copy where mask".split()
)
FRAME_METHODS = frozenset(
    "copy dropna fillna reset_index sort_values head tail sample assign drop rename merge query set_index astype "
    "sort_index drop_duplicates".split()
)
FRAME_ATTRIBUTES = frozenset(
    "T at attrs axes columns dtypes empty flags iat iloc index loc ndim plot shape size sparse style values".split()
)
POLARS_MAKERS = frozenset("DataFrame read_csv read_parquet read_json scan_csv scan_parquet LazyFrame".split())
DATASET_METHODS = frozenset(
    "map batch shuffle repeat prefetch cache filter take skip interleave padded_batch unbatch enumerate shard window "
    "concatenate flat_map apply with_options rebatch ragged_batch snapshot".split()
)
DATASET_MAKERS = frozenset(
    "from_tensor_slices from_tensors from_generator range list_files zip TextLineDataset TFRecordDataset".split()
)


def constant(node: ast.expr | None) -> Constant:
    """The constant that an expression is, with its sign; None where it is not one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant(node.operand)
        return -inner if isinstance(inner, int | float) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str):
        return node.value
    return None


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """A keyword's value."""
    for given in call.keywords:
        if given.arg == name:
            return given.value
    return None


def argument(call: ast.Call, at: int, name: str) -> ast.expr | None:
    """A positional or keyword argument's value."""
    if at < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: at + 1]):
        return call.args[at]
    return keyword(call, name)


def dtype_family(name: str) -> str:
    """float, int, or nothing."""
    return "float" if name in FLOATS else "int" if name in INTS else ""


def literal_size(node: ast.expr) -> int | None:
    """How many elements a written-out list has, or a list repeated a constant number of times."""
    if isinstance(node, ast.List | ast.Tuple):
        return len(node.elts)
    return None
