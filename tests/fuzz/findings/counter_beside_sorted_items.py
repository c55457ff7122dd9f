# failed RuntimeError: RuntimeError: LLVM does not take this IR: <string>:2202:54: error: '%v115.9' defined with type 'double' but expected 'i64'
#   %t672 = getelementptr inbounds i64, ptr %t671, i64 %v115.9
#                                                      ^
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
def helper0(p1=5, p2=2):
    return sum([])

def program(y):
    a15 = helper0()
    a16 = dict(sorted({y: a15}.items()))
    return ([list(Counter([a15, 2.5]).elements()) for v17 in '' if min([True], default=True)] or [y % 5 * list(a16.values())])[0]


COLUMNS = (
    [-3],
)
