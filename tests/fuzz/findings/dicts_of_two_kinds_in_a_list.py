# failed RuntimeError: RuntimeError: LLVM does not take this IR: <string>:1150:57: error: '%t104' defined with type '{ i8, double, i64 }' but expected 'double'
#   %t106 = insertvalue { i8, double, i64 } %t105, double %t104, 1
#                                                         ^
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
def program(x):
    return {w0: 0, **next(iter([{1000: 0.0}, {2: 1}]), {8: 0})} if [(w0 := 0)] else 0.0


COLUMNS = (
    [[2, 8]],
)
