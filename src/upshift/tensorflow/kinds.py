"""The names of TensorFlow's operations, by what may be done with them."""

from __future__ import annotations

READS = frozenset("ReadVariableOp ResourceGather ResourceGatherNd VarHandleOp VariableShape".split())
CHECKS = frozenset("Assert CheckNumerics CheckNumericsV2".split())
CONTROL = frozenset(
    "If While Case StatelessIf StatelessWhile StatelessCase PartitionedCall StatefulPartitionedCall".split()
)
CUTS = frozenset(
    "Less LessEqual Greater GreaterEqual Equal NotEqual Floor Ceil Round Rint Sign Cast ArgMax ArgMin FloorDiv "
    "FloorMod TruncateDiv TruncateMod TopKV2 Sort Where Bucketize SearchSorted LowerBound UpperBound Unique "
    "UniqueV2 InTopKV2 IsNan IsInf IsFinite".split()
)
"""A tiny change of an argument may change the result by a whole step."""
CLOSE = frozenset(
    "Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Atan2 Sinh Cosh Tanh Asinh Acosh Atanh Sigmoid Erf Erfc Erfinv "
    "Lgamma Digamma Pow Rsqrt Softmax LogSoftmax Softplus Softsign Elu Selu Sum Mean Prod MatMul BatchMatMulV2 Einsum "
    "Cumsum Cumprod L2Loss EuclideanNorm Xlogy Xlog1py Xdivy Complex ComplexAbs Angle "
    "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits".split()
)
"""The last bits may differ between one element and a batch."""
EXACT = frozenset(
    "Identity IdentityN StopGradient PreventGradient Neg Abs Add AddV2 AddN Sub Mul RealDiv Div DivNoNan Square Sqrt "
    "Reciprocal Inv SquaredDifference Maximum Minimum Relu Relu6 LeakyRelu Less LessEqual Greater GreaterEqual Equal "
    "NotEqual LogicalAnd LogicalOr LogicalNot Floor Ceil Round Rint Sign Cast FloorDiv FloorMod Select SelectV2 "
    "Max Min Any All ArgMax ArgMin Reshape ExpandDims Squeeze Transpose Pack Unpack ConcatV2 Split SplitV StridedSlice "
    "Slice GatherV2 Tile ZerosLike OnesLike Fill Range Shape Rank Size ReverseV2 Pad PadV2 MirrorPad BroadcastTo "
    "ClipByValue IsNan IsInf IsFinite Real Imag Conj BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift RightShift "
    "BiasAdd Bitcast OneHot MatrixDiagV3 MatrixDiagPartV3 MatrixBandPart Mod BroadcastGradientArgs".split()
)
"""One element and a batch give the same bits."""
