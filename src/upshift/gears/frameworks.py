"""The gears that stand on a framework: loaded when first asked for, a refusal where the framework is missing."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import linecache
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..columns.inputs import Lanes
from ..errors import GearRefused, Refusal
from ..loading import Later, loaded
from ..profiling.probes import catch_up
from . import background
from .ran import NotCompiled, Prepared

if TYPE_CHECKING:
    from ..trace.tree import Tree
    from .calls import Argument, CompiledFunction, Result
    from .llvm import flat, whole
else:
    flat, whole = Later("upshift.gears.llvm.flat"), Later("upshift.gears.llvm.whole")

FRAMEWORKS = {"jax": "jax"}
"""What a gear stands on that may not be installed; cuda needs NVIDIA's driver, and says so."""
INSTALL = {
    "jax": 'pip install "upshift[jax]"', "cuda": 'pip install "upshift[cuda]"',
    "tensorflow": 'pip install "upshift[tensorflow]"', "ray": 'pip install "upshift[ray]"',
}  # fmt: skip


def is_installed(framework: str) -> bool:
    """Whether a framework could be imported; nothing is."""
    return importlib.util.find_spec(framework) is not None


def prepare(
    gear: str, f: Any, shared: dict[str, Any], lanes: Lanes, tree: Tree | None, exact: bool
) -> Prepared | Refusal:
    """A function made ready in a compiled gear, or why not. `tree`: what was traced of it."""
    if gear in FRAMEWORKS and not is_installed(FRAMEWORKS[gear]):
        return Refusal(gear, f"{FRAMEWORKS[gear]} is not installed", remedy=INSTALL[gear])
    with _without_lines():
        try:
            return PREPARES[gear](f, shared, lanes, tree if tree is not None and tree.root is not None else None, exact)
        except NotCompiled as reason:
            return reason.refusal


@contextlib.contextmanager
def _without_lines() -> Iterator[None]:
    """Frameworks quote the user's lines in errors, which are never shown: linecache is left as it was."""
    known = set(linecache.cache)
    try:
        yield
    finally:
        for name in set(linecache.cache) - known:
            linecache.cache.pop(name, None)


def prepare_call(
    gear: str, f: Any, arguments: Sequence[Argument], values: Sequence[Any], wanted: Result | None, free: bool
) -> CompiledFunction | Callable[[], CompiledFunction] | Refusal:
    """A whole function made ready to be called with such arguments, or why not; or what makes it ready on any thread,
    where that is LLVM's and takes long. `values`: those of one call, `wanted`: what one has given; `free`: other
    threads run meanwhile."""
    if gear == "llvm":
        try:
            begun = whole.begin_call(f, arguments, free)
            return begun.call() if background.AT_ONCE or begun.is_at_hand() else begun.call
        except NotCompiled as reason:
            return reason.refusal
    if not is_installed(gear):
        return Refusal(gear, f"{gear} is not installed", remedy=INSTALL[gear])
    with _without_lines():
        try:
            if gear == "tensorflow":
                return _graph_of(f, arguments)
            return _xla_of(f, arguments, values)
        except NotCompiled as reason:
            return reason.refusal


def _graph_of(f: Any, arguments: Sequence[Argument]) -> CompiledFunction:
    from ..tensorflow.whole import compile_call  # TensorFlow itself is there: the arguments are its own

    return compile_call(f, arguments)


def _xla_of(f: Any, arguments: Sequence[Argument], values: Sequence[Any]) -> CompiledFunction:
    loaded(_jax_calls)
    from .jax.whole import compile_call

    return compile_call(f, arguments)


def _in_vectors(f: Any, shared: dict[str, Any], lanes: Lanes, tree: Tree | None, exact: bool) -> Prepared:
    if tree is None:
        raise NotCompiled("simd", "it could not be traced")
    return flat.prepare(tree, exact)


def _in_jax(f: Any, shared: dict[str, Any], lanes: Lanes, tree: Tree | None, exact: bool) -> Prepared:
    if tree is None:
        raise NotCompiled("jax", "it could not be traced")
    loaded(_jax_gear)
    from .jax.gear import prepare

    return prepare(tree, exact)


def _in_cuda(f: Any, shared: dict[str, Any], lanes: Lanes, tree: Tree | None, exact: bool) -> Prepared:
    """The function itself, in a thread for every lane."""
    loaded(_cuda_gear)
    from .cuda import function

    return function.prepare(f, shared, lanes, exact)


PREPARES: dict[str, Callable[[Any, dict[str, Any], Lanes, Tree | None, bool], Prepared]] = {
    "simd": _in_vectors,
    "jax": _in_jax,
    "cuda": _in_cuda,
}
"""What makes a function ready in each of these gears, or raises `NotCompiled`."""


def why_no_gpu() -> str:
    """Why the cuda gear cannot run here; empty where it can."""
    loaded(_cuda_driver)
    from .cuda.driver import why_not

    return why_not()


# ---- arrays that are a framework's own


def owner_of(xs: Sequence[Any]) -> str | None:
    """Who owns columns: "jax", "cuda" for other arrays on a GPU, "frames" for tables, "files", "torch"."""
    for x in xs:
        cls = type(x)
        if cls not in _OWNERS:
            _OWNERS[cls] = _owner(cls)
        owner = _OWNERS[cls]
        if owner in ("jax", "frames", "files", "torch") or (owner == "cuda" and getattr(x, "is_cuda", True)):
            return "cuda" if owner == "torch" and x.is_cuda else owner
    return None


_OWNERS: dict[type, str | None] = {}


def _owner(cls: type) -> str | None:
    """The gear of a class of arrays, some of which may be elsewhere."""
    module = cls.__module__.partition(".")[0]
    if module in ("jax", "jaxlib"):
        return "jax"
    if module == "zarr" or hasattr(cls, "__fspath__") or cls.__module__ == "pyarrow._dataset":
        return "files"
    if module in ("pandas", "polars", "pyarrow"):
        return "frames"
    if module == "torch" and hasattr(cls, "unbind"):
        return "torch"
    known = module in ("cupy", "numba", "numba_cuda")
    return "cuda" if known and hasattr(cls, "__cuda_array_interface__") else None


def run_on_jax(f: Any, xs: Sequence[Any], shared: dict[str, Any], plain: Any, check: Any) -> Any:
    """JAX arrays in, JAX arrays out."""
    loaded(_jax_columns)
    from .jax.columns import run_on_jax as run

    return run(f, xs, shared, plain, check)


def run_on_device(f: Any, xs: Sequence[Any], shared: dict[str, Any], exact: bool, differ: Any) -> Any:
    """Arrays on a GPU in, arrays of the same kind out."""
    loaded(_cuda_arrays)
    from .cuda.arrays import run_on_device as run

    try:
        return run(f, xs, shared, exact, differ)
    except NotCompiled as reason:
        raise GearRefused(reason.refusal) from None


def run_on_torch(f: Any, xs: Sequence[Any], shared: dict[str, Any], exact: bool, in_numpy: Any, plain: Any) -> Any:
    """Tensors of PyTorch in, tensors out."""
    loaded(_torch_columns)
    from .torch.columns import run_on_torch as run

    return run(f, xs, shared, exact, in_numpy, plain)


def stacked_by_torch(results: Any) -> Any:
    """Results that are tensors, or numbers, as tensors."""
    from .torch.columns import stacked

    return stacked(results)


def run_on_ray(job: Any, work: Any) -> Any:
    """A job on a cluster: what was made of every block, and where it begins; or why not. `work`: run by its workers."""
    if not is_installed("ray") or not is_installed("cloudpickle"):
        return Refusal("ray", "ray or cloudpickle is not installed", remedy=INSTALL["ray"])
    loaded(_ray_gear)
    from .ray.gear import run_ray

    return run_ray(job, work)


# ---- functions of TensorFlow's operations


def of_tensors(f: Any, xs: Sequence[Any]) -> bool:
    """Whether TensorFlow is loaded, and columns are its tensors or the function's code names it."""
    if "tensorflow" not in sys.modules:
        return False
    if any(type(x).__module__.startswith("tensorflow.") for x in xs):
        return True
    code = getattr(f, "__code__", None)
    if code is None:
        return _names_tensorflow(f, 1)
    known = _OF_TENSORS.get(id(code))
    if known is None or known[0] is not code:
        if len(_OF_TENSORS) > MOST_CODES:
            _OF_TENSORS.clear()
        known = _OF_TENSORS[id(code)] = code, _names_tensorflow(f, 3)
    return known[1]


_OF_TENSORS: dict[int, tuple[Any, bool]] = {}
MOST_CODES = 4096


def _names_tensorflow(f: Any, deepest: int) -> bool:
    """Whether a function, or one that it names, names something of TensorFlow's, or is an object of its classes."""
    if isinstance(f, types.ModuleType):
        return f.__name__.partition(".")[0] in ("tensorflow", "keras")
    if isinstance(f, types.MethodType | functools.partial):
        own = (f.__func__, f.__self__) if isinstance(f, types.MethodType) else (f.func,)
        return any(_names_tensorflow(one, deepest) for one in own)
    classes = f.__mro__ if isinstance(f, type) else type(f).__mro__
    named = (getattr(f, "__module__", None), *(cls.__module__ for cls in classes))
    if any((module or "").partition(".")[0] in ("tensorflow", "keras") for module in named):
        return True
    if type(f) is not types.FunctionType or not deepest:
        return False
    held = [f.__globals__[name] for name in f.__code__.co_names if name in f.__globals__]
    held += [cell.cell_contents for cell in f.__closure__ or () if cell != types.CellType()]
    return any(
        _names_tensorflow(one, deepest - 1) for one in held if callable(one) or isinstance(one, types.ModuleType)
    )


def run_on_tensors(f: Any, xs: Sequence[Any], shared: dict[str, Any], exact: bool) -> Any:
    """The results of a function that gives tensors, stacked; MISS where it does not."""
    from ..tensorflow.elements import run

    return run(f, xs, shared, exact)


def explain_on_tensors(f: Any, xs: Sequence[Any], shared: dict[str, Any]) -> Any:
    """What is known of such a function; None where it does not give tensors."""
    from ..tensorflow.elements import explain

    return explain(f, xs, shared)


# ---- what is loaded whole, or not at all


def _jax_gear() -> None:
    from .jax import context, gear  # noqa: F401

    context.wake()


def _jax_calls() -> None:
    from .jax import context, whole  # noqa: F401

    context.wake()


def _jax_columns() -> None:
    from .jax import columns, context  # noqa: F401

    context.wake()


def _torch_columns() -> None:
    from .torch import columns  # noqa: F401


def _ray_gear() -> None:
    from .ray import gear  # noqa: F401


def _cuda_gear() -> None:
    from .cuda import function  # noqa: F401


def _cuda_driver() -> None:
    from .cuda import driver  # noqa: F401

    catch_up()


def _cuda_arrays() -> None:
    from .cuda import arrays  # noqa: F401
