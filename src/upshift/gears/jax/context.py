"""A context in which JAX computes in 64 bits and in full precision, whatever the user's settings are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import jax
import jax.experimental

_enable_x64: Any = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64


@contextmanager
def in_full() -> Iterator[None]:
    """All of these are settings of this thread and this block: the user's own are as they were afterwards."""
    with ExitStack() as stack:
        stack.enter_context(_enable_x64(True))
        stack.enter_context(jax.default_matmul_precision("highest"))  # a GPU's default has 10 bits
        stack.enter_context(jax.numpy_dtype_promotion("standard"))
        stack.enter_context(jax.numpy_rank_promotion("allow"))
        stack.enter_context(jax.debug_nans(False))
        stack.enter_context(jax.debug_infs(False))
        yield


def wake() -> None:
    """JAX loads its dialects and its backend when something first runs, and an interrupt in there breaks it for good.

    So something runs at once, where `loading.loaded` lets no interrupt in.
    """
    with in_full():
        jax.jit(jax.vmap(lambda x: jax.numpy.where(x > 0, x * 2, x)))(jax.numpy.zeros(1))
