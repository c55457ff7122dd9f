"""Functions to be mapped: local lists, dicts, tuples, sets, comprehensions and generators."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from typing import NamedTuple

from functions.data import FEW_INTS, FEW_PAIRS, FEW_REALS, SMALL_INTS, SMALL_PAIRS, TRIPLES, one
from functions.table import Table

table = Table("structures")
row = table.row
PRICES = {0: 1.5, 1: 2.5, 2: 0.25, 3: 10.0, 4: 7.0}
NAMES = {0: "zero", 1: "one", 2: "two"}
WEIGHTS = [0.5, 0.25, 0.125]
FEW_KEYS = (one("keys", [0, 1, 2, 3, 4, 2, 2] * 12), one("whole float keys", [0.0, 1.0, 2.0, 4.0] * 20))
Point = namedtuple("Point", "x y")


class Pair(NamedTuple):
    low: float
    high: float = 1.0


@dataclass
class Box:
    width: float
    height: float

    def area(self):
        return self.width * self.height


@dataclass(frozen=True)
class Line:
    start: Point
    end: Point


# -- inside -------------------------------------------------------------------------------------------------
@row(FEW_REALS)
def list_grows(x):
    values = []
    for k in range(4):
        values.append(x + k)
    values.extend([1, 2])
    values.insert(0, x)
    return sum(values) - values.pop() - values[2]


@row(FEW_REALS)
def list_changes(x):
    values = [0, 0, 0]
    values[1] = x
    values[-1] += x
    del values[0]
    return values[0] + values[1]


@row(FEW_REALS)
def list_multiplied(x):
    return sum([x] * 3 + [1])


@row(TRIPLES)
def list_methods(x, y, z):
    values = [x, y, z, 5]
    values.sort()
    values.reverse()
    copy = values.copy()
    return copy[0], values.count(5), values.index(5) >= 0


@row(TRIPLES)
def unpacking(x, y, z):
    first, *rest = [x, y, z]
    (a, b), c = rest, first
    a, b = b, a
    return a - b + c


@row(TRIPLES)
def star_expressions(x, y, z):
    values = [*(x, y), z, *[1, 2]]
    merged = {**{"a": x}, "b": values[-1]}
    return sum(values) + merged["a"] + merged["b"]


@row(FEW_REALS)
def local_dict(x):
    d = {"a": x, "b": x * 2}
    d["c"] = d["a"] + 1
    d["a"] += 3
    total = 0
    for key, value in d.items():
        total += value if key != "b" else 0
    return total + len(d) + sum(d.values()) + d.get("missing", 7)


@row(FEW_REALS)
def dict_methods(x):
    d = dict(a=x)
    d.update(b=1)
    d.setdefault("c", x)
    return d.pop("a") + len(d.keys()), "b" in d


@row(FEW_KEYS)
def dict_lookup(x):
    return PRICES[x]


@row(SMALL_INTS, FEW_KEYS)
def dict_lookup_may_fail(x):
    return PRICES[x] * 2


@row(SMALL_INTS)
def dict_get(x):
    return PRICES.get(x, -1.0)


@row(SMALL_INTS, must_batch=False)
def dict_of_names(x):
    return NAMES.get(x, "many")


@row(SMALL_INTS)
def is_in_dict(x):
    return x in PRICES


@row(FEW_REALS)
def captured_list(x):
    total = 0
    for k, w in enumerate(WEIGHTS):
        total += w * x**k
    return total


@row(FEW_REALS)
def named_tuple_inside(x):
    p = Point(x, x + 1)
    q = p._replace(y=3)
    return p.x * p.y - q.y + len(q)


@row(FEW_REALS)
def dataclass_inside(x):
    box = Box(x, 2)
    box.height += 1
    return box.area()


@row(FEW_REALS, must_batch=False)
def local_set(x):
    seen = set()
    for k in range(4):
        seen.add(k % 2)
    return len(seen | {5}) * x


@row(FEW_REALS)
def matrix_of_lists(x):
    m = [[x, 1], [2, x]]
    return m[0][0] * m[1][1] - m[0][1] * m[1][0]


@row(FEW_REALS, must_batch=False)
def collections_inside(x):
    q = deque([x, 1, 2], maxlen=3)
    q.append(x)
    d = defaultdict(list)
    d["a"].append(q[0])
    return d["a"][0] + q[-1] + OrderedDict(a=x)["a"] + Counter("aab")["a"]


# -- comprehensions and generators --------------------------------------------------------------------------
@row(FEW_REALS)
def list_comprehension(x):
    return sum([x * k for k in range(5) if k != 2])


@row(FEW_REALS)
def comprehension_with_branch(x):
    return len([k for k in range(5) if k > x])


@row(FEW_REALS)
def nested_comprehension(x):
    return sum([sum([i * j + x for j in range(3)]) for i in range(3)])


@row(FEW_REALS)
def dict_comprehension(x):
    d = {k: x + k for k in range(4)}
    return d[3] - d[1]


@row(SMALL_INTS, must_batch=False)
def set_comprehension(x):
    return len({k % 3 for k in range(x)})


def _countdown(x, steps):
    for k in range(steps):
        yield x - k


def _chained(x):
    yield x
    yield from _countdown(x, 3)
    return


@row(FEW_REALS)
def generator_function(x):
    return sum(_countdown(x, 4))


@row(FEW_REALS)
def generator_with_yield_from(x):
    return list(_chained(x))


@row(FEW_REALS)
def generator_with_send(x):
    def running():
        total = 0
        while True:
            total += yield total

    g = running()
    next(g)
    g.send(x)
    return g.send(2)


@row(FEW_REALS)
def first_from_generator(x):
    return next((k for k in range(10) if k > x), -1)


# -- returned -----------------------------------------------------------------------------------------------
@row(FEW_REALS)
def returns_tuple(x):
    return x, x * 2, 1


@row(FEW_REALS)
def returns_nested_tuple(x):
    return (x, (x > 0, {"a": x * 0.5}))


@row(FEW_REALS)
def returns_dict(x):
    return {"double": x * 2, "positive": x > 0, "constant": 7}


@row(FEW_PAIRS)
def returns_named_tuple(x, y):
    return Pair(x, y)


@row(FEW_PAIRS)
def returns_dataclass(x, y):
    return Box(x, y * 2)


@row(FEW_PAIRS)
def returns_nested_dataclass(x, y):
    return Line(Point(x, 0), Point(y, x > y))


@row(FEW_REALS)
def returns_list(x):
    return [x, x + 1, 0]


@row(FEW_REALS)
def returns_list_of_lists(x):
    return [[x, 1], [2, x]]


@row(FEW_REALS)
def returns_empty_list(x):
    return []


@row(FEW_REALS)
def returns_list_of_tuples(x):
    return [(x, 1), (2, x)]


@row(SMALL_INTS, must_batch=False)
def returns_ragged(x):
    return [1] * (x % 3)


@row(FEW_REALS, must_batch=False)
def returns_none(x):
    return None


@row(FEW_REALS, must_batch=False)
def returns_text(x):
    return "yes" if x > 0 else "no"


@row(FEW_REALS, must_batch=False)
def returns_bytes(x):
    return b"a"


@row(SMALL_INTS, must_batch=False)
def returns_set(x):
    return {x, 1}


@row(FEW_REALS, must_batch=False)
def returns_tuple_of_two_lengths(x):
    return (x,) if x > 0 else (x, x)


@row(FEW_REALS, must_batch=False)
def returns_tuple_with_none(x):
    return x, None, "a"


@row(FEW_REALS, must_batch=False)
def returns_dicts_of_other_keys(x):
    return {"a": x} if x > 0 else {"b": x}


@row(FEW_REALS)
def returns_same_keys_in_other_order(x):
    return {"a": x, "b": 1} if x > 0 else {"b": 2, "a": x}


@row(FEW_REALS, must_batch=False)
def returns_range(x):
    return range(3)


@row(FEW_INTS, must_batch=False)
def returns_slice_and_type(x):
    return slice(0, 2), int


@row(SMALL_PAIRS[:2])
def returns_other_dtypes_by_branch(x, y):
    return (x, 1) if x > y else (y, 0.5)


@row(FEW_REALS)
def returns_columns_of_constants(x):
    return 1, 2.5, True, 1j
