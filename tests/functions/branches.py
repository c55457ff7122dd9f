"""Functions to be mapped: if, ternaries, early returns, walrus and match."""

from __future__ import annotations

import math

import numpy as np

from functions.data import (
    FEW_FLOATS,
    FEW_INTS,
    FEW_PAIRS,
    FEW_REALS,
    PAIRS_FLOAT,
    REALS,
    SMALL_INTS,
    TRIPLES,
    one,
)
from functions.table import Table

table = Table("branches")
row = table.row
RARE = (
    one("one rare element", np.arange(150.0)),
    one("one rare element in a list", list(range(150))),
)


@row(REALS)
def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    else:
        return 0


@row(REALS)
def relu(x):
    return x if x > 0 else 0.0


@row(REALS)
def three_way(x):
    if x < -1:
        return -x - 0.5
    if x > 1:
        return x - 0.5
    return 0.5 * x * x


@row(FEW_REALS)
def clamp(x):
    return -2 if x < -2 else 2 if x > 2 else x


@row(FEW_REALS)
def by_truth(x):
    if x:
        return 1 / x
    return 0


@row(FEW_REALS)
def int_or_float(x):
    return 1 if x > 0 else 0.5


@row(FEW_REALS)
def bool_or_int(x):
    return True if x > 0 else 2


@row(FEW_REALS, must_batch=False)
def number_or_none(x):
    if x > 0:
        return x


@row(FEW_REALS, must_batch=False)
def number_or_text(x):
    return x if x > 0 else "no"


@row(FEW_REALS, must_batch=False)
def number_or_tuple(x):
    return x if x > 0 else (x, x)


@row(FEW_PAIRS)
def nested(x, y):
    if x > 0:
        if y > 0:
            return x + y
        else:
            return x - y
    else:
        if y > 0:
            return y * 2
        return -1


@row(PAIRS_FLOAT)
def assigned_in_branches(x, y):
    if x > y:
        big, small = x, y
    else:
        big, small = y, x
    ratio = small / 2
    if ratio > 1:
        big += ratio
    return big - small


@row(TRIPLES)
def quadratic_roots(a, b, c):
    if a == 0:
        if b == 0:
            return math.nan
        return -c / b
    d = b * b - 4 * a * c
    if d < 0:
        return math.nan
    return (-b + math.sqrt(d)) / (2 * a)


@row(FEW_REALS)
def walrus(x):
    if (y := x * 2) > 3:
        return y
    return x - y


@row(FEW_REALS)
def walrus_in_chain(x):
    return (y := x + 1) > 0 and y < 4, y


@row(FEW_REALS)
def eight_paths(x):
    n = 0
    if x > 0:
        n += 1
    if x > 1:
        n += 2
    if x == x:
        n += 4
    return n


@row(FEW_PAIRS)
def guards_a_division(x, y):
    return x / y if y != 0 else 0.0


@row(FEW_PAIRS)
def short_circuit(x, y):
    return y != 0 and x / y > 1


@row(RARE)
def rare_path(x):
    if x == 77:
        return -5.0
    return x * 2.0


@row(RARE)
def two_rare_paths(x):
    if x == 3:
        return 1
    elif x == 149:
        return 2
    return 0


@row(FEW_REALS)
def match_literals(x):
    match x:
        case 0:
            return 10
        case 1 | 2 | 3:
            return 20
        case _:
            return 30


@row(FEW_REALS)
def match_with_guard(x):
    match x:
        case y if y > 2:
            return y
        case y if y < -2:
            return -y
        case _:
            return 0


@row(FEW_REALS)
def match_classes(x):
    match x:
        case bool():
            return 1
        case int():
            return 2
        case float():
            return 3
        case _:
            return 4


@row(FEW_PAIRS)
def match_sequence(x, y):
    match [x > 0, y > 0]:
        case [True, True]:
            return 1
        case [True, _]:
            return 2
        case [_, other]:
            return 3 + other


@row(FEW_REALS)
def match_mapping(x):
    match {"kind": x > 0, "value": x}:
        case {"kind": True, "value": v}:
            return v
        case {"value": v, **rest}:
            return v * len(rest)


@row(FEW_REALS)
def nan_is_neither(x):
    if x > 0:
        return 1
    if x <= 0:
        return 2
    return 3


@row(FEW_REALS)
def ternaries_in_arithmetic(x):
    return (1 if x > 0 else 2) * (x if x < 5 else 5) + (0.5 if x == 1 else 0)


@row(FEW_INTS)
def parity(x):
    return x // 2 if x % 2 == 0 else 3 * x + 1


@row(FEW_INTS)
def fizzbuzz_code(x):
    if x % 15 == 0:
        return 15
    if x % 3 == 0:
        return 3
    if x % 5 == 0:
        return 5
    return x


@row(SMALL_INTS)
def steps_of_a_table(x):
    if x == 0:
        y = 1
    elif x == 1:
        y = 4
    elif x == 2:
        y = 9
    elif x < 6:
        y = x * 10
    else:
        y = -1
    return y


@row(FEW_FLOATS)
def replace_nan(x):
    return 0.0 if math.isnan(x) else x


@row(FEW_REALS)
def del_and_rebind(x):
    y = x + 1
    if y > 0:
        del y
        y = x * 3
    return y


@row(FEW_REALS)
def unused_branch(x):
    if False:
        return "never"
    if x > 1e400:
        return 1
    return x


@row(FEW_REALS)
def pass_branch(x):
    if x > 0:
        pass
    else:
        x = x - 1
    return x
