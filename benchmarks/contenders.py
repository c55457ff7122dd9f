"""The contenders of a case, each of which makes a fresh `columns -> result` that nothing remembers."""

from __future__ import annotations

import itertools
import linecache
import os
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np

import upshift as up

from .cases import Case

Run = Callable[..., Any]

LOOP, UPSHIFT, BY_HAND = "loop", "up.map", "numpy by hand"
NUMBA, JAX, XLA = "numba loop", "jax.jit(vmap)", "tf.vectorized_map xla"


@dataclass(frozen=True)
class Contender:
    """`make()` gives a new callable of the columns; its first call pays for everything it has to prepare.

    `compiled` first calls cost so much that one sample tells enough.
    """

    name: str
    make: Callable[[], Run]
    compiled: bool = False
    settles: bool = False
    """Whether it becomes faster while it is called, which is waited for."""


_fresh_numbers = itertools.count(1)


def make_fresh(f: Callable[..., Any]) -> types.FunctionType:
    """A copy of `f` that no cache can know, with a source of its own, which compilers read.

    Code objects compare by value, lines included: the copy stands so many lines further down in a file that is not.
    """
    assert isinstance(f, types.FunctionType)
    number = next(_fresh_numbers)
    file = f.__code__.co_filename
    name = f"<copy {number} of {file}>"
    linecache.cache[name] = (0, None, ["\n"] * number + linecache.getlines(file, f.__globals__), name)
    code = _moved(f.__code__, name, number)
    copy = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    copy.__kwdefaults__ = f.__kwdefaults__
    return copy


def _moved(code: types.CodeType, name: str, lines: int) -> types.CodeType:
    consts = tuple(_moved(one, name, lines) if isinstance(one, types.CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=name, co_firstlineno=code.co_firstlineno + lines, co_consts=consts)


def list_contenders(case: Case, lists: bool = False, peers: bool = True) -> list[Contender]:
    """All that can run here. Given lists, only what takes lists as it is, and NumPy with the conversion."""
    found = [
        Contender(LOOP, lambda: make_loop(make_fresh(case.f))),
        Contender(UPSHIFT, lambda: partial(up.map, make_fresh(case.f)), settles=True),
    ]
    if not peers:
        return found
    if not case.arrays:
        found.append(Contender("np.vectorize", lambda: np.vectorize(make_fresh(case.f))))
    if "numpy" in case.peers:
        by_hand = case.peers["numpy"]
        found.append(Contender(BY_HAND, lambda: make_converting(by_hand) if lists else by_hand))
    if not lists:
        for peer, makers in COMPILED.items():
            if peer in case.peers and find_spec(peer.removesuffix("_columns")):
                found += [Contender(name, partial(make, case, peer), True) for name, make in makers.items()]
    return found


def make_loop(f: Run) -> Run:
    """The law: call `f` for each element and stack what it gives."""

    def one_column(xs: Any) -> Any:
        return stack([f(x) for x in xs])

    def columns(*xs: Any) -> Any:
        return stack([f(*e) for e in zip(*xs)])

    return one_column if f.__code__.co_argcount == 1 else columns


def stack(rows: list[Any]) -> Any:
    if isinstance(rows[0], tuple):
        return tuple(np.array(column) for column in zip(*rows))
    return np.array(rows)


def make_converting(by_hand: Run) -> Run:
    return lambda *xs: by_hand(*[np.asarray(x) for x in xs])


# Frameworks are loaded before any clock starts: a first call prepares the function, not the framework.


@cache
def load_numba() -> Any:
    import numba

    numba.njit(lambda x: x + 1)(1)
    return numba


@cache
def load_jax() -> Any:
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.jit(lambda x: x + 1)(1)
    return jax


@cache
def load_tensorflow() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    tensorflow.function(lambda x: x + 1, jit_compile=True)(tensorflow.constant(1))
    return tensorflow


# Numba: a loop over lanes in machine code -----------------------------------------------------------------


def make_numba(case: Case, peer: str) -> Run:
    numba = load_numba()
    f = numba.njit(make_fresh(case.peers[peer]))
    results = result_columns(case)
    ins = ", ".join(f"x{i}" for i in range(case.f.__code__.co_argcount))
    outs = [f"o{i}" for i in range(len(results))]
    given = ", ".join(f"{x}[i]" for x in ins.split(", "))
    text = f"""def kernel({ins}, {", ".join(outs)}):
    for i in range(len(x0)):
        {", ".join(f"{out}[i]" for out in outs)} = f({given})
"""
    space: dict[str, Any] = {"f": f}
    exec(text, space)
    kernel = numba.njit(space["kernel"])

    def run(*xs: Any) -> Any:
        out = tuple(np.empty((len(xs[0]), *shape), dtype) for dtype, shape in results)
        kernel(*xs, *out)
        return out if len(out) > 1 else out[0]

    return run


def make_numba_columns(case: Case, peer: str) -> Run:
    """Where elements or results are arrays, a Numba user writes all loops."""
    compiled: Run = load_numba().njit(make_fresh(case.peers[peer]))
    return compiled


@cache
def result_columns(case: Case) -> tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]:
    """The dtype of every column of results, and the shape of its elements."""
    result = make_loop(case.f)(*case.data(8, np.random.default_rng(0)))
    columns = result if isinstance(result, tuple) else (result,)
    return tuple((column.dtype, column.shape[1:]) for column in columns)


# JAX and TensorFlow: NumPy arrays in and out, as for all others --------------------------------------------


def make_jax(case: Case, peer: str) -> Run:
    jax = load_jax()
    compiled = jax.jit(jax.vmap(make_fresh(case.peers[peer])))
    return lambda *xs: jax.tree.map(np.asarray, compiled(*xs))


def make_map_fn(case: Case, peer: str, graph: bool) -> Run:
    tf = load_tensorflow()
    f, dtypes = make_fresh(case.peers[peer]), [dtype for dtype, _ in result_columns(case)]
    signature = tuple(dtypes) if len(dtypes) > 1 else dtypes[0]
    if case.f.__code__.co_argcount == 1:
        run = partial(tf.map_fn, f, fn_output_signature=signature)
    else:

        def run(*xs: Any) -> Any:
            return tf.map_fn(lambda e: f(*e), xs, fn_output_signature=signature)

    return with_tensors(tf, tf.function(run, autograph=False) if graph else run)


def make_vectorized_map(case: Case, peer: str, xla: bool) -> Run:
    tf = load_tensorflow()
    f = make_fresh(case.peers[peer])
    if case.f.__code__.co_argcount == 1:
        run = partial(tf.vectorized_map, f)
    else:

        def run(*xs: Any) -> Any:
            return tf.vectorized_map(lambda e: f(*e), xs)

    return with_tensors(tf, tf.function(run, autograph=False, jit_compile=xla))


def with_tensors(tf: Any, run: Run) -> Run:
    return lambda *xs: tf.nest.map_structure(lambda t: t.numpy(), run(*[tf.constant(x) for x in xs]))


COMPILED: dict[str, dict[str, Callable[[Case, str], Run]]] = {
    "numba": {NUMBA: make_numba},
    "numba_columns": {NUMBA: make_numba_columns},
    "jax": {JAX: make_jax},
    "tensorflow": {
        "tf.map_fn eager": partial(make_map_fn, graph=False),
        "tf.map_fn graph": partial(make_map_fn, graph=True),
        "tf.vectorized_map": partial(make_vectorized_map, xla=False),
        XLA: partial(make_vectorized_map, xla=True),
    },
}

_COMPILED_NAMES = dict.fromkeys(name for makers in COMPILED.values() for name in makers)
NAMES = (LOOP, UPSHIFT, "np.vectorize", BY_HAND, *_COMPILED_NAMES)
