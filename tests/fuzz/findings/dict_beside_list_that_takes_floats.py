# failed RuntimeError: RuntimeError: LLVM does not take this IR: <string>:976:55: error: '%v6.4' defined with type 'double' but expected 'i64'
#   %t40 = getelementptr inbounds double, ptr %t39, i64 %v6.4
#                                                       ^
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
def program(x):
    a8 = [1] * 5
    a8[1] = 1.0
    if {3.0: 1.0}:
        pass


COLUMNS = (
    ['Y2-,-'],
)
