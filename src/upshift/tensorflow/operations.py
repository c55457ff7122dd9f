"""One NumPy expression for each TensorFlow operation on one element, dtypes and all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import tensor_util

DTYPES = frozenset(
    (tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64, tf.bool,
     tf.complex64, tf.complex128)
)  # fmt: skip
"""In half precision NumPy and TensorFlow round at different places."""


class Unreadable(Exception):
    """This operation has no NumPy expression; the text says which, and why."""


class Step:
    """An operation with the names of its arguments."""

    def __init__(self, op: Any, names: list[str], keep: Callable[[Any], str]) -> None:
        self.op, self.names, self.keep = op, names, keep
        self.lines: list[str] = []
        """Statements that come before the expression."""

    def __getitem__(self, i: int) -> str:
        return self.names[i]

    def rank(self, i: int = 0) -> int:
        """How many axes an operand has."""
        return int(self.op.inputs[i].shape.rank)

    def shape(self, i: int = 0) -> tuple[int, ...]:
        return tuple(self.op.inputs[i].shape)

    def dtype(self, i: int = 0) -> Any:
        """The dtype of an operand."""
        return self.op.inputs[i].dtype

    @property
    def out(self) -> Any:
        """The operation's first result."""
        return self.op.outputs[0]

    @property
    def out_shape(self) -> tuple[int, ...]:
        """The shape of its result."""
        return tuple(self.out.shape)

    @property
    def numpy_type(self) -> str:
        """The name of NumPy's class for its result."""
        name = self.out.dtype.name
        return f"np.{name}" if name != "bool" else "np.bool_"

    def attr(self, name: str) -> Any:
        """An attribute of the operation."""
        return self.op.get_attr(name)

    def constant(self, i: int) -> Any:
        """The value of an argument that is the same for all elements."""
        value = tensor_util.constant_value(self.op.inputs[i])
        if value is None:
            raise Unreadable(f"{self.op.type} with an argument that depends on the element")
        return value

    def refuse(self, condition: str) -> None:
        """Where this holds, NumPy would give something else than TensorFlow."""
        self.lines.append(f"if {condition}:\n    raise ArithmeticError")

    def as_number(self, expression: str) -> str:
        """An array of no dimensions as a number."""
        return f"{expression}[()]" if not self.out_shape else expression


Rule = Callable[[Step], str]


def text(template: str) -> Rule:
    """A rule that puts the names of operands into a template."""
    return lambda step: template.format(*step.names)


def _refuses_integers(rule: Rule) -> Rule:
    def checked(step: Step) -> str:
        if step.dtype().is_integer:
            raise Unreadable(f"{step.op.type} of integers")
        return rule(step)

    return checked


def _divides(rule: Rule) -> Rule:
    """Integers: TensorFlow raises where the divisor is zero."""

    def checked(step: Step) -> str:
        if step.dtype().is_integer:
            divisor = tensor_util.constant_value(step.op.inputs[1])
            if divisor is None:
                zero = f"{step[1]} == 0" if not step.rank(1) else f"np.any({step[1]} == 0)"
                step.refuse(zero)
            elif not np.all(divisor):
                raise Unreadable("a division by zero")
        return rule(step)

    return checked


def _floor_div(step: Step) -> str:
    if step.dtype().is_integer:
        return f"{step[0]} // {step[1]}"
    return f"np.floor({step[0]} / {step[1]})"


def _power(step: Step) -> str:
    exponent = tensor_util.constant_value(step.op.inputs[1])
    if exponent is not None and exponent.ndim == 0 and exponent in (2, 3):
        return " * ".join([step[0]] * int(exponent))
    if step.dtype().is_integer:
        raise Unreadable("Pow of integers")
    if exponent is not None and exponent.ndim == 0 and exponent == 0.5:  # of which NumPy makes a root
        step.refuse(f"{step[0]} == -np.inf" if not step.rank() else f"np.any({step[0]} == -np.inf)")
        return f"np.sqrt({step[0]}) + 0"
    return f"np.power({step[0]}, {step[1]})"


def _select(step: Step) -> str:
    if all(step.rank(i) == 0 for i in range(3)):
        return f"{step[1]} if {step[0]} else {step[2]}"
    return f"np.where({step[0]}, {step[1]}, {step[2]})"


def _cast(step: Step) -> str:
    before, after = step.dtype(), step.out.dtype
    if before == after:
        return step[0]
    if before.is_complex and not after.is_complex:
        return f"{step.numpy_type}({step[0]}.real)" if not step.rank() else f"{step[0]}.real.astype({step.numpy_type})"
    if before.is_floating and after.is_integer:
        _check_range(step, after)
    return f"{step.numpy_type}({step[0]})" if not step.rank() else f"{step[0]}.astype({step.numpy_type})"


def _check_range(step: Step, after: Any) -> None:
    """What is out of range is not defined, in C: the loop decides."""
    low, high = float(after.min), float(after.max)
    inside = f"({step[0]} > {low - 1!r}) & ({step[0]} < {high + 1!r})"
    inside = inside if not step.rank() else f"np.all({inside})"
    step.refuse(f"not ({inside})")


def _axes(step: Step, i: int = 1) -> str:
    rank = step.rank()
    axes = sorted({int(axis) % rank for axis in np.ravel(step.constant(i))}) if rank else []
    return repr(tuple(axes))


def _reduction(fn: str, keeps_dtype: bool = False) -> Rule:
    def rule(step: Step) -> str:
        if not step.rank():
            return step[0]
        if _axes(step) == "()":
            return step[0]
        if not all(step.shape()):
            raise Unreadable(f"{step.op.type} of nothing")
        dtype = f", dtype={step.numpy_type}" if keeps_dtype else ""
        if fn == "np.mean" and step.dtype().is_integer:
            raise Unreadable("Mean of integers")
        return f"{fn}({step[0]}, axis={_axes(step)}, keepdims={step.attr('keep_dims')}{dtype})"

    return rule


def _reshape(step: Step) -> str:
    return step.as_number(f"np.reshape({_array(step, 0)}, {step.out_shape})")


def _array(step: Step, i: int) -> str:
    return step[i] if step.rank(i) else f"np.asarray({step[i]})"


def _transpose(step: Step) -> str:
    return f"np.transpose({step[0]}, {tuple(step.constant(1).tolist())})" if step.rank() else step[0]


def _pack(step: Step) -> str:
    items = ", ".join(step.names)
    if not step.rank():
        return f"np.array([{items}])"
    return f"np.stack(({items},), axis={step.attr('axis')})"


def _concat(step: Step) -> str:
    axis = int(step.constant(len(step.names) - 1))
    return f"np.concatenate(({', '.join(step.names[:-1])},), axis={axis})"


def _strided_slice(step: Step) -> str:
    begin, end, strides = (step.constant(i).tolist() for i in (1, 2, 3))
    masks = {name: step.attr(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    keys = []
    for i in range(len(begin)):
        bit = 1 << i
        if masks["ellipsis"] & bit:
            keys.append("...")
        elif masks["new_axis"] & bit:
            keys.append("None")
        elif masks["shrink_axis"] & bit:
            keys.append(repr(begin[i]))
        else:
            low = "" if masks["begin"] & bit else repr(begin[i])
            high = "" if masks["end"] & bit else repr(end[i])
            keys.append(f"{low}:{high}:{strides[i]}" if strides[i] != 1 else f"{low}:{high}")
    if not step.rank():
        return f"np.reshape({step[0]}, {step.out_shape})" if step.out_shape else step[0]
    return step.as_number(f"{step[0]}[{', '.join(keys)}]") if "..." in keys else f"{step[0]}[{', '.join(keys)}]"


def _slice(step: Step) -> str:
    begin, sizes = step.constant(1).tolist(), step.out_shape
    return f"{step[0]}[{', '.join(f'{low}:{low + size}' for low, size in zip(begin, sizes, strict=True))}]"


def _gather(step: Step) -> str:
    axis = int(step.constant(2))
    if step.attr("batch_dims") or tensor_util.constant_value(step.op.inputs[1]) is None:
        raise Unreadable("GatherV2 by an index that depends on the element")
    index = step.constant(1)
    if not np.all((index >= 0) & (index < step.shape()[axis])):
        raise Unreadable("GatherV2 out of range")
    return f"np.take({step[0]}, {step.keep(index)}, axis={axis})"


def _matmul(step: Step) -> str:
    a, b = step[0], step[1]
    names = ("transpose_a", "transpose_b") if step.op.type == "MatMul" else ("adj_x", "adj_y")
    if step.dtype().is_complex and any(map(step.attr, names)):
        raise Unreadable("a product of complex matrices")
    if step.attr(names[0]):
        a = f"np.swapaxes({a}, -1, -2)"
    if step.attr(names[1]):
        b = f"np.swapaxes({b}, -1, -2)"
    return f"{a} @ {b}"


def _fill(step: Step) -> str:
    return f"np.full({step.out_shape}, {step[1]})" if step.out_shape else step[1]


def _like(value: str) -> Rule:
    def rule(step: Step) -> str:
        return (
            f"np.full({step.out_shape}, {value}, {step.numpy_type})" if step.rank() else f"{step.numpy_type}({value})"
        )

    return rule


def _arg(fn: str) -> Rule:
    def rule(step: Step) -> str:
        if step.out.dtype != tf.int64:
            raise Unreadable(f"{step.op.type} as {step.out.dtype.name}")
        if step.dtype().is_floating:
            step.refuse(f"np.isnan({step[0]}).any()")
        return f"{fn}({step[0]}, axis={int(step.constant(1))})"

    return rule


def _cumulative(fn: str) -> Rule:
    def rule(step: Step) -> str:
        if step.attr("exclusive") or step.attr("reverse"):
            raise Unreadable(f"{step.op.type} that is exclusive or reversed")
        return f"{fn}({step[0]}, axis={int(step.constant(1))}, dtype={step.numpy_type})"

    return rule


def _pad(step: Step) -> str:
    widths = tuple(map(tuple, step.constant(1).tolist()))
    value = f", constant_values={step[2]}" if step.op.type == "PadV2" else ""
    return f"np.pad({step[0]}, {widths}{value})"


def _reverse(step: Step) -> str:
    return f"np.flip({step[0]}, {_axes(step)})"


def _round(step: Step) -> str:
    return step[0] if step.dtype().is_integer else f"np.rint({step[0]})"


def _sigmoid(step: Step) -> str:
    return f"1.0 / (1.0 + np.exp(-{step[0]}))"


def _broadcast(step: Step) -> str:
    return f"np.broadcast_to({step[0]}, {step.out_shape}).copy()" if step.out_shape else step[0]


def _clip(step: Step) -> str:
    return f"np.minimum(np.maximum({step[0]}, {step[1]}), {step[2]})"


def _einsum(step: Step) -> str:
    return f"np.einsum({step.attr('equation').decode()!r}, {', '.join(step.names)})"


def _softmax(step: Step) -> str:
    step.lines.append(f"e = np.exp({step[0]} - np.max({step[0]}, axis=-1, keepdims=True))")
    return "e / np.sum(e, axis=-1, keepdims=True)"


def _divide_no_nan(step: Step) -> str:
    if any(step.rank(i) for i in (0, 1)):
        raise Unreadable("DivNoNan of arrays")
    return f"{step[0]} * 0 if {step[1]} == 0 else {step[0]} / {step[1]}"


UNARY = {
    "Neg": "-{0}", "Abs": "np.abs({0})", "Square": "{0} * {0}", "Sqrt": "np.sqrt({0})", "Exp": "np.exp({0})",
    "Expm1": "np.expm1({0})", "Log": "np.log({0})", "Log1p": "np.log1p({0})", "Sin": "np.sin({0})",
    "Cos": "np.cos({0})", "Tan": "np.tan({0})", "Asin": "np.arcsin({0})", "Acos": "np.arccos({0})",
    "Atan": "np.arctan({0})", "Sinh": "np.sinh({0})", "Cosh": "np.cosh({0})", "Tanh": "np.tanh({0})",
    "Asinh": "np.arcsinh({0})", "Acosh": "np.arccosh({0})", "Atanh": "np.arctanh({0})", "Floor": "np.floor({0})",
    "Ceil": "np.ceil({0})", "Rint": "np.rint({0})", "Rsqrt": "1.0 / np.sqrt({0})", "Reciprocal": "1.0 / {0}",
    "LogicalNot": "np.logical_not({0})", "IsNan": "np.isnan({0})", "IsInf": "np.isinf({0})",
    "IsFinite": "np.isfinite({0})", "Identity": "{0}", "StopGradient": "{0}", "PreventGradient": "{0}",
    "ReadVariableOp": "{0}", "Real": "{0}.real", "Imag": "{0}.imag", "Conj": "np.conj({0})", "Invert": "~{0}",
    "Relu": "np.maximum({0}, 0)", "Relu6": "np.minimum(np.maximum({0}, 0), 6)",
    "Softplus": "np.logaddexp({0}, 0)",
}  # fmt: skip
BINARY = {
    "Add": "{0} + {1}", "AddV2": "{0} + {1}", "Sub": "{0} - {1}", "Mul": "{0} * {1}", "RealDiv": "{0} / {1}",
    "Less": "{0} < {1}", "LessEqual": "{0} <= {1}", "Greater": "{0} > {1}", "GreaterEqual": "{0} >= {1}",
    "Equal": "{0} == {1}", "NotEqual": "{0} != {1}", "LogicalAnd": "np.logical_and({0}, {1})",
    "LogicalOr": "np.logical_or({0}, {1})", "Maximum": "np.maximum({0}, {1})", "Minimum": "np.minimum({0}, {1})",
    "Atan2": "np.arctan2({0}, {1})", "BitwiseAnd": "{0} & {1}", "BitwiseOr": "{0} | {1}", "BitwiseXor": "{0} ^ {1}",
    "SquaredDifference": "({0} - {1}) * ({0} - {1})", "BiasAdd": "{0} + {1}",
}  # fmt: skip
"""Where one side is a constant, it is written as a Python number, which takes on the dtype of the other."""

RULES: dict[str, Rule] = {
    **{name: text(template) for name, template in (UNARY | BINARY).items()},
    "Reciprocal": _refuses_integers(text(UNARY["Reciprocal"])),
    "FloorDiv": _divides(_floor_div), "FloorMod": _divides(text("{0} % {1}")), "Pow": _power,
    "SelectV2": _select, "Select": _select, "Cast": _cast, "DivNoNan": _divide_no_nan,
    "Sum": _reduction("np.sum", True), "Prod": _reduction("np.prod", True), "Mean": _reduction("np.mean"),
    "Max": _reduction("np.max"), "Min": _reduction("np.min"), "Any": _reduction("np.any"), "All": _reduction("np.all"),
    "Reshape": _reshape, "ExpandDims": _reshape, "Squeeze": _reshape, "Transpose": _transpose, "Pack": _pack,
    "ConcatV2": _concat, "StridedSlice": _strided_slice, "Slice": _slice, "GatherV2": _gather, "MatMul": _matmul,
    "BatchMatMulV2": _matmul, "Einsum": _einsum, "Fill": _fill, "ZerosLike": _like("0"), "OnesLike": _like("1"),
    "ArgMax": _arg("np.argmax"), "ArgMin": _arg("np.argmin"), "Cumsum": _cumulative("np.cumsum"),
    "Cumprod": _cumulative("np.cumprod"), "Pad": _pad, "PadV2": _pad, "ReverseV2": _reverse, "Round": _round,
    "Sign": text("np.sign({0})"), "Sigmoid": _sigmoid, "BroadcastTo": _broadcast, "ClipByValue": _clip,
    "Softmax": _softmax, "AddN": lambda step: " + ".join(step.names),
    "Tile": lambda step: f"np.tile({step[0]}, {tuple(step.constant(1).tolist())})",
}  # fmt: skip

ELEMENTWISE = frozenset(
    """FloorDiv FloorMod Pow SelectV2 Select Cast DivNoNan Round Sign Sigmoid ClipByValue AddN
    Const Placeholder NoOp""".split()
).union(UNARY, BINARY)
"""Operations that work on every number of an array alike."""
