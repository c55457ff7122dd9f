# differs: lane 0: expected 6, got 3
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
def program(x):
    a = b = [x, x + 1, x]
    b *= 2
    return len(a)


COLUMNS = (
    [1, 2, 3],
)
