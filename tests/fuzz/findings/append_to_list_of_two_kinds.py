# failed AssertionError: AssertionError: 
import bisect, cmath, contextlib, dataclasses, functools, heapq, itertools, math, operator, statistics
from collections import Counter, defaultdict, deque
import numpy as np
from fuzz import vocabulary as lib
from fuzz.vocabulary import LIMIT, TABLE
def program(x):
    a4 = True
    try:
        for v6, i5 in zip(list(filter(lambda v7: 0.1.is_integer(), [a4] * 1))[:6], sorted([7, 3])):
            if not {3: [i5]}[i5]:
                continue
            if (a11 := next(reversed([{'12': -math.inf}]), dict(a=0.0, b=-0.0))['%r' % round(-3.5, 1)]):
                a11 += max(([(i5, i5, 100), (i5, i5)] or [(i5, i5)])[0], default=0)
        (a12, a13), a14 = ([(2, True), (0, False)][1], 2)
        if ((7, 5) == (1, 5)) < isinstance(a4, (float, bool)):
            raise RuntimeError('odd')
    except TypeError as e:
        a4 += max([-2, 7, 100], key=abs)
    else:
        a15 = ([None, None, None] or [(-2 ** 31, None)[0]])[-1]


COLUMNS = (
    np.array([-1], np.int8),
)
