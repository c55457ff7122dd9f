"""Kinds: variables and results of several kinds, lists of lists, aliasing, captured tables, elements that are lists."""

from __future__ import annotations

import enum
from collections import Counter, defaultdict, deque

from language.table import Table

table = Table()
compiles = table.compiles


@compiles(3, 0, -4)
def int_or_float(n):
    x = n
    if n > 0:
        x = n / 2
    return x + 1, x


@compiles(3, 0, -4)
def int_or_none(n):
    best = None
    for i in range(n):
        if best is None or i * 7 % 5 > best:
            best = i * 7 % 5
    return best


@compiles(3, 0, -4)
def list_or_none(n):
    xs = None
    if n > 0:
        xs = [n]
    if xs is None:
        xs = []
    xs.append(1)
    return xs


@compiles(3, 0, -4)
def none_on_some_paths(n):
    if n > 0:
        return n
    if n < 0:
        return None


@compiles(3, 0, -4, 50)
def none_int_float_bool(n):
    if n > 10:
        return True
    if n > 0:
        return n
    return n / 2 if n else None


@compiles(3, 0)
def nested_tuples(n):
    return (n, (n + 1, (None, 2.5)), [(n, [n])], ())


@compiles(3, 0)
def lists_of_lists(n):
    return [[j for j in range(i)] for i in range(n)], [[]], [[[n]]]


@compiles(3, 0)
def lists_of_mixed(n):
    return [n, 0.5, None, True], [(n, 1), (0.5, None)]


@compiles(3, 0)
def lists_of_tuples(n):
    return [(i, i * 0.5, i > 1) for i in range(n)]


def filled(xs, n):
    for i in range(n):
        xs.append(i * 0.5)


@compiles(3, 0)
def empty_list_learnt_in_a_helper(n):
    xs = []
    ys = []
    filled(xs, n)
    if len(ys) == 0:
        ys = [1]
    return xs, ys


@compiles(3, 0)
def always_empty(n):
    xs = []
    return xs, len(xs), sum(xs), [x + 1 for x in xs], xs == [], xs + [n]


@compiles(3, 1)
def grids(n):
    g = [[0] * n for _ in range(n)]
    h = [[0] * n] * n
    g[0][0] = 1
    h[0][0] = 1
    return g, h


@compiles(3, 1)
def aliases(n):
    a = [n]
    b = a
    b.append(1)
    c = a[:]
    c.append(2)
    d = (a, n)
    d[0].append(3)
    return a, b, c, a is b, a is c


def doubled_in_place(xs):
    for i in range(len(xs)):
        xs[i] *= 2
    return xs


@compiles([1, 2, 3], [])
def changed_in_a_helper(xs):
    xs = xs[:]
    ys = doubled_in_place(xs)
    return ys is xs, xs, sum(ys)


@compiles([1, 2, 3], [], left=2)
def changed_argument(xs):
    xs.append(1)
    xs.reverse()
    return xs


TABLE = [5, 3, 8]
MATRIX = [[1.0, 2.0], [3.0, 4.0]]
NAMES = {"one": 1, "two": 2}
NESTED = {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 4}}
LISTS = {1: [1, 2], 2: [3]}
MEMBERS = {1, 5, 7}
FROZEN = frozenset([2, 3])
PAIRS = [(1, 2.5), (3, 4.5)]
DEEP = ((1, 2), (3, (4.5, None)))
MIXED = [1, 2.5, None]
EMPTY = []
EMPTY_DICT = {}


@compiles(0, 1, 2, -3, 3)
def captured_lists(i):
    return TABLE[i] + len(TABLE), sum(TABLE), i in TABLE, TABLE.index(8), [t for t in TABLE if t > 4], sorted(TABLE)


@compiles(0, 1)
def captured_matrices(i):
    return MATRIX[i][1 - i], [sum(row) for row in MATRIX], len(MATRIX), MATRIX[i]


@compiles(0, 1, 2)
def captured_dicts(i):
    return NAMES["two"] * i, NAMES.get("three", i), "one" in NAMES, sum(NAMES.values()), len(NAMES)


@compiles("a", "b")
def captured_nested_dicts(k):
    return NESTED[k]["x"] * 10 + NESTED[k]["y"], NESTED["a"]["x"]


@compiles(1, 2, 3)
def captured_dict_of_lists(k):
    return sum(LISTS[k]), len(LISTS.get(k, [])), [x for xs in LISTS.values() for x in xs]


@compiles(1, 2, 3)
def captured_sets(k):
    return k in MEMBERS, k in FROZEN, len(MEMBERS), k not in MEMBERS, sum(MEMBERS)


@compiles(0, 1)
def captured_tuples(i):
    return PAIRS[i][0], sum(a * b for a, b in PAIRS), DEEP[1][1][0] + i, DEEP[0], [x for x in DEEP[0]]


@compiles(0, 1, 2)
def captured_mixed(i):
    x = MIXED[i]
    return -1 if x is None else x * 2


@compiles(0, 1, 2)
def captured_empty(i):
    return len(EMPTY) + i, i in EMPTY_DICT, EMPTY_DICT.get(i, 5), list(EMPTY)


@compiles(((1, 2.5),), ((3, 4.5),))
def element_is_a_tuple(p):
    a, b = p
    return a * b + p[0], len(p)


@compiles(((1, (2.5, True)),), ((3, (4.5, False)),))
def element_is_a_nested_tuple(p):
    a, (b, c) = p
    return b if c else a


@compiles([True, False], [], [True])
def element_is_a_list_of_bools(bs):
    return sum(bs), any(bs), all(bs), [not b for b in bs]


@compiles((1, [1, 2], (0.5, [3.0])), (2, [], (1.5, [])))
def several_elements(n, xs, p):
    return n + sum(xs) + p[0] + sum(p[1])


@compiles(3, 1)
def sums_of_tuples(n):
    best = (0, -1)
    for i in range(n):
        best = max(best, (i * 3 % 4, i))
    return best


@compiles(4, 1)
def tuple_in_a_list_changed(n):
    state = (0, 1)
    seen = []
    for _ in range(n):
        seen.append(state)
        state = (state[1], state[0] + state[1])
    return seen, state


@compiles(4, 1)
def memo_dict(n):
    memo = {}

    def f(k):
        if k in memo:
            return memo[k]
        memo[k] = k if k < 2 else f(k - 1) + f(k - 2)
        return memo[k]

    return f(n * 5)


def fib_memo(n, memo=None):
    if memo is None:
        memo = {}
    if n in memo:
        return memo[n]
    if n <= 1:
        return n
    memo[n] = fib_memo(n - 1, memo) + fib_memo(n - 2, memo)
    return memo[n]


@compiles(4, 30)
def memo_argument(n):
    return fib_memo(n)


@compiles(4, 10)
def dynamic_programming(n):
    dp = [[0 for _ in range(n + 1)] for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            dp[i][j] = max(dp[i - 1][j], dp[i][j - 1]) + (i * j) % 3
    return dp[n][n], dp[-1][:3]


@compiles(4, 10)
def graph_search(n):
    graph = {i: [(i * 2) % n, (i + 1) % n] for i in range(n)}
    seen = set()
    queue = deque([0])
    order = []
    while queue:
        v = queue.popleft()
        if v in seen:
            continue
        seen.add(v)
        order.append(v)
        for w in graph[v]:
            if w not in seen:
                queue.append(w)
    return order


@compiles(4, 10)
def counters(n):
    c = Counter(i % 3 for i in range(n))
    d = defaultdict(int)
    for i in range(n):
        d[i % 4] += 1
    e = defaultdict(list)
    for i in range(n):
        e[i % 2].append(i)
    return c[0], d[3], sum(d.values()), e[1]


@compiles([5, 2, 9, 1], [1], [])
def quicksort(xs):
    if len(xs) <= 1:
        return xs
    pivot = xs[0]
    return quicksort([x for x in xs[1:] if x < pivot]) + [pivot] + quicksort([x for x in xs[1:] if x >= pivot])


@compiles([5, 2, 9, 1], [1], [])
def merge_sort(xs):
    def merge(a, b):
        out = []
        i = j = 0
        while i < len(a) and j < len(b):
            if a[i] <= b[j]:
                out.append(a[i])
                i += 1
            else:
                out.append(b[j])
                j += 1
        out.extend(a[i:])
        out.extend(b[j:])
        return out

    if len(xs) < 2:
        return xs[:]
    m = len(xs) // 2
    return merge(merge_sort(xs[:m]), merge_sort(xs[m:]))


def flat(x):
    if isinstance(x, list):
        return [v for one in x for v in flat(one)]
    return [x]


@compiles(2, 3)
def flattened_nested(n):
    return flat([n, [1, [2, n]], []])


@compiles(2, 3)
def bool_or_int(n):
    return n > 2 or n, n == 2 and n, True + n


@compiles(2, 3)
def type_checks(n):
    values = [n, 0.5, None, "a", [1], (1,)]
    out = []
    for v in values:
        if isinstance(v, bool):
            out.append(0)
        elif isinstance(v, int):
            out.append(1)
        elif isinstance(v, (float, type(None))):
            out.append(2)
        else:
            out.append(len(v) * 10)
    return out


@compiles(2, 3)
def same_helper_many_kinds(n):
    def last(xs):
        return xs[-1]

    return last([n]), last((n, 0.5)), last("abc"), last([0.5]), last(range(n))


@compiles(2, 3)
def growing_kinds(n):
    x = 1
    for i in range(n):
        x = x / 2 if i % 2 else x * 3
    return x


@compiles(2, 0)
def list_item_kinds(n):
    xs = [0] * 3
    xs[1] = n * 0.5
    xs[2] = None if n else 1
    return xs


@compiles(2, 0)
def sum_start_kinds(n):
    return sum([[1], [n]], []), sum([0.5, n]), sum([True, False, True])  # noqa: RUF017


def default_list(x, xs=[1, 2]):
    return x + sum(xs)


@compiles(2, 0)
def default_list_read(n):
    return default_list(n), default_list(n, [5])


@compiles(2, 5)
def texts_as_results(n):
    return "even" if n % 2 == 0 else "odd"


@compiles(2, 5)
def range_results(n):
    r = range(0, n, 2)
    return len(r), r[1], list(r), 2 in r, list(reversed(r)), r[-1]


@compiles((3, 0.5), (-2, 1.5))
def swap_kinds(a, b):
    a, b = b, a
    if a < 1:
        a, b = b, a
    return a, b


@compiles(3, 0)
def dict_result(n):
    return {i: i * i for i in range(n)}


@compiles(3, 0)
def dict_of_names(n):
    return {"n": n, "square": n * n}


@compiles(3, 0)
def dict_of_lists_result(n):
    d = {}
    for i in range(n):
        d.setdefault(i % 2, []).append(i)
    return d


@compiles([(1, 2.5), (3, 4.5)], [], [(1, 0.5)])
def element_is_a_list_of_tuples(ps):
    return sum(a * b for a, b in ps), len(ps), [p[0] for p in ps]


@compiles([[1, 2], [3]], [], [[]], [[5], [], [7, 8]])
def element_is_a_list_of_lists(rows):
    return [sum(r) for r in rows], len(rows), max((len(r) for r in rows), default=0)


@compiles([[1, 2], [3]], [], [[5], [], [7, 8]])
def element_list_of_lists_changed(rows):
    rows = [list(r) for r in rows]
    for r in rows:
        r.append(0)
    rows.append([1])
    return rows


@compiles(["ab", "c"], [], ["", "xyz"])
def element_is_a_list_of_texts(ws):
    return len(ws), sum(len(w) for w in ws), "c" in ws


@compiles([None, 1, 2], [], [None])
def element_list_with_none(xs):
    return [x for x in xs if x is not None], sum(1 for x in xs if x is None)


@compiles([1, 2.5], [3.5, 4], [])
def element_list_of_ints_and_floats(xs):
    return sum(xs), [x * 2 for x in xs]


class Row:
    def __init__(self, n):
        self.n = n
        if n > 1:
            self.more = [n]

    def __eq__(self, other):
        return type(other) is Row and vars(self) == vars(other)


@compiles(2, 0)
def object_results(n):
    return Row(n), [Row(0)]


class Side(enum.Enum):
    LEFT = -1
    RIGHT = 1


@compiles(2, -1)
def enum_results(n):
    return Side.LEFT if n < 0 else Side.RIGHT, [Side(1)]


@compiles(1, 2.5, None, [1, 2], "ab")
def elements_of_several_kinds(x):
    if x is None:
        return 0
    if isinstance(x, (list, str)):
        return len(x)
    return x * 2


@compiles([1, 2], [], [5])
def element_list_that_gets_other_kinds(xs):
    xs = list(xs)
    xs.append(0.5)
    xs.append(None)
    return xs


@compiles([(1, "a"), (2, "bc")], [], left=0)
def element_list_of_tuples_with_texts(ps):
    return [len(s) * n for n, s in ps]


@compiles([[[1], [2, 3]], []], [[[]]], [])
def element_three_lists_deep(xs):
    return sum(x for a in xs for b in a for x in b), len(xs)
