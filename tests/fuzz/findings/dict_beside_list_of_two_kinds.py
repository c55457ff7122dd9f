# failed RuntimeError: RuntimeError: LLVM does not take this IR: <string>:1170:55: error: '%v6.4' defined with type 'i1' but expected 'i64'
#   %t40 = getelementptr inbounds double, ptr %t39, i64 %v6.4
#                                                       ^
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
def program(x):
    a8 = 0
    a14 = {-1.0: -0.0}
    a22 = list(([a8] * 5, [True, a8, a8] * 5))


COLUMNS = (
    np.array([-0.0], np.float32),
)
