# failed ValueError: ValueError: When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
def program(x):
    a0 = np.complex128()
    return ('', a0)


COLUMNS = (
    [2.75],
)
