# differs: first call: the caller's columns are not what the loop makes of them
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
def program(x):
    if (a2 := x):
        a2 *= 0


COLUMNS = (
    [[-5, 10, 10]],
)
