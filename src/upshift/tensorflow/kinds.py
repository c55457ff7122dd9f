"""The names of TensorFlow's operations, by what may be done with them."""

from __future__ import annotations

READS = frozenset("ReadVariableOp ResourceGather ResourceGatherNd VarHandleOp VariableShape".split())
ASSIGNS = frozenset("AssignVariableOp AssignAddVariableOp AssignSubVariableOp".split())
"""What changes variables; so do the operations whose names begin with ResourceApply."""
CHECKS = frozenset("Assert CheckNumerics CheckNumericsV2".split())
WHILE = frozenset(("While", "StatelessWhile"))
IF = frozenset(("If", "StatelessIf"))
CASE = frozenset(("Case", "StatelessCase"))
CALLS = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
CONTROL = WHILE | IF | CASE | CALLS
PASSED = frozenset("Const Placeholder NoOp PlaceholderWithDefault".split())
SHAPES = frozenset("Shape ShapeN Size Rank ZerosLike OnesLike TensorListLength TensorListElementShape".split())
"""What comes of these depends on shapes, not on numbers."""
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
MOVES = frozenset(
    "TopKV2 GatherNd Gather Roll EnsureShape TensorScatterUpdate SpaceToDepth DepthToSpace MatrixSetDiagV3 LogicalXor "
    "TruncateDiv TruncateMod TensorListFromTensor TensorListReserve TensorListGetItem TensorListSetItem MaxPool Where "
    "TensorListStack TensorListGather TensorListPushBack TensorListPopBack Bucketize LowerBound UpperBound MulNoNan "
    "InvertPermutation Unique UniqueV2 VariableShape RandomUniform RandomUniformInt RandomStandardNormal".split()
)
"""So do these, which only move and compare numbers; XLA has ways of its own for some."""
