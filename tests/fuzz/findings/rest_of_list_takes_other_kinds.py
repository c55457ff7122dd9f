# differs: first call: lane 0: expected array([-2.5]), got array([0.])
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
def program(z):
    a0, *a1 = [0.1, z]
    try:
        []
    except Exception:
        a1[1] = 2
    return a1


COLUMNS = (
    [-2.5],
)
