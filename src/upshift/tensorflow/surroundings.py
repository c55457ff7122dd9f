"""Which of TensorFlow's settings say how operations are run, so that compiled calls obey them."""

from __future__ import annotations

import sys
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.eager.polymorphic_function import eager_function_run
from tensorflow.python.framework import ops
from tensorflow.python.framework.config import is_op_determinism_enabled
from tensorflow.python.ops import control_flow_util


def watched() -> str:
    """Why every operation is to be run by TensorFlow, for one element after the other; empty where it need not be."""
    now = context.context()
    if now.op_callbacks:
        return "TensorFlow's operations are watched, as by tf.debugging.enable_check_numerics()"
    if now._log_device_placement:
        return "TensorFlow logs where its operations run (tf.debugging.set_log_device_placement)"
    if eager_function_run.RUN_FUNCTIONS_EAGERLY:
        return "functions are to run eagerly (tf.config.run_functions_eagerly)"
    return ""


def scoped() -> bool:
    """Whether operations are to run on one of several devices, which the user named."""
    return bool(context.context().device_name) and len(tf.config.list_logical_devices()) > 1


def by_kernels() -> bool:
    """Whether operations that are emitted now run by TensorFlow's own kernels on a processor: not by XLA, nor a GPU."""
    compiled = control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph())
    return not (compiled or tf.config.optimizer.get_jit() or len(tf.config.list_logical_devices()) > 1)


def settings_now() -> tuple[Any, ...]:
    """Settings by which the graph of a function, or its results, may be others."""
    now, keras = context.context(), sys.modules.get("keras")
    floatx = keras.config.floatx() if keras is not None and hasattr(keras, "config") else ""
    device = now.device_name if len(tf.config.list_logical_devices()) > 1 else ""
    return context.global_seed(), device, like_numpy(), is_op_determinism_enabled(), floatx


def like_numpy() -> bool:
    """Whether tensors behave as NumPy's arrays do (tf.experimental.numpy.experimental_enable_numpy_behavior)."""
    return bool(ops._numpy_style_slicing or ops.is_auto_dtype_conversion_enabled())


def draws_as_told() -> bool:
    """Whether all random numbers depend on the order in which they are drawn (tf.random.set_seed), or those without a
    seed are an error (tf.config.experimental.enable_op_determinism)."""
    return bool(is_op_determinism_enabled()) or context.global_seed() is not None
