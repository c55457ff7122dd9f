# failed AssertionError: AssertionError: 
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
def program(x):
    if all((v11 for v11 in [False] or [False, False])):
        a10 = x // (operator.floordiv(x, x) ^ math.isqrt(x) or 3)
    else:
        a10 = math.pow(-0.0, 5)
    for v13 in reversed(((l14 := list([[x, 5, x], [x, x, 4], [x]])) and l14[len((x, x)) % len(l14)] or [x, x] + [x, x])[:6]):
        a16 = [(x, x) for v15 in [x]]
        a16 = sorted(a16, reverse=True)
        a17, a18 = (math.cos(2.0 ** 53), f'{([1] or [None])[-1]}')
        for i27, v28 in enumerate([1 + 2j, -0.5 - 0j][1:x][:6]):
            try:
                v28 = v28 / x
            except ZeroDivisionError:
                v28 = v28 - v28
            v28 = v28
            if x:
                break
            (a29, a30), a31 = ([*[(x, -3.5)] * 0, [*[(x, 1.0), (i27, 100.0), (i27, 3.0)], (5, 0.1), (x, -3.5)][0], ([(7, 0.1), (v13, 2.5), (4, 3.0)] or [(x, 0.0)])[0]][1], ([True, True] or [False])[-1])
    return a10


COLUMNS = (
    [18],
)
