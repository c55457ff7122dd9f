# failed RuntimeError: RuntimeError: LLVM does not take this IR: <string>:1957:23: error: '%v245.6' defined with type '{ i8, ptr, ptr }' but expected 'ptr'
#   %v208.6 = phi ptr [ %v245.6, %v245 ]
#                       ^
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
def program(x):
    a4 = True
    for v6 in '':
        with contextlib.suppress():
            a4 = ([a4] or [None])[0]


COLUMNS = (
    [21],
)
