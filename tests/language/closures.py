"""Functions made inside: what they take along, how long they live, and how they call themselves; many kinds at once."""

from __future__ import annotations

import math

from language.table import Table

table = Table()
compiles = table.compiles


def compose(*functions):
    def composed(x):
        for f in functions:
            x = f(x)
        return x

    return composed


def adder(n):
    return lambda v: v + n


class Op:
    def __init__(self, f):
        self.f = f

    def __call__(self, x):
        return self.f(x)


@compiles(1.0, -2.0)
def composed_of_composed(x):
    return compose(compose(abs, math.sqrt), lambda v: v + 1, compose(math.floor))(x)


@compiles(1, 2, 3)
def made_in_a_comprehension(n):
    fs = [adder(i) for i in range(n)]
    return [f(10) for f in fs]


@compiles(1, 2, 3)
def three_functions_deep(n):
    def outer(k):
        def middle(j):
            def inner(i):
                return i * 100 + j * 10 + k

            return inner

        return middle

    fs = [outer(a)(b) for a in range(n) for b in range(2)]
    return [f(7) for f in fs]


@compiles(1, 2, 3)
def generators_that_take_along(n):
    def gen(k):
        def g():
            yield k
            yield k + 1

        return g

    gs = [gen(i) for i in range(n)]
    return [x for g in gs for x in g()]


@compiles(1, 2, 3)
def made_by_itself(n):
    def make(k):
        return lambda i: 1 if i <= 0 else i * make(k)(i - 1) + k

    return make(n)(4)


@compiles(1, 2, 3)
def in_a_local_dict(n):
    ops = {"a": lambda x: x + n, "b": lambda x: x * n}
    return ops["a"](3) + ops["b"](4)


@compiles(1, 2, 3)
def in_a_field(n):
    return Op(lambda v: v * 2)(n) + Op(adder(3))(n)


@compiles(0, 1, 2, 3, 5)
def one_that_outlives_the_next(n):
    f = None
    total = 0
    for k in range(n):
        g = f
        f = adder(k)
        if g is not None:
            total += g(10)
    return total


@compiles(1, 2, 3)
def passed_to_one_that_calls_itself(n):
    def rec(g, k):
        y = 100
        return g(k) if k <= 0 else rec(g, k - 1) + y

    y = 3
    y += 1
    return rec(lambda v: v + y, n)


@compiles(1, 2, 3)
def calls_itself_two_functions_deep(n):
    def outer(k):
        base = k * 2
        base += 1

        def rec(i):
            return base if i <= 0 else rec(i - 1) + base + scale(i)

        return rec(k)

    def scale(v):
        return v * n

    return outer(n) + outer(1)


@compiles(1, 2, 3)
def sets_a_variable_two_functions_out(n):
    total = 0

    def walk(k):
        nonlocal total

        def inner(j):
            nonlocal total
            total += j
            return walk(j - 1) if j > 0 else 0

        return inner(k)

    walk(n)
    return total


@compiles(1, 2, 3)
def keeps_what_it_found(n):
    cache = {}

    def go(i, j):
        if (i, j) in cache:
            return cache[i, j]
        if i == 0:
            return j
        r = min(go(i - 1, k) for k in range(j + 1)) + 1
        cache[i, j] = r
        return r

    return go(n, 3)


@compiles(1, 2, 3)
def defined_before_what_it_needs(n):
    def hanoi(k, a, b, c):
        if k > 0:
            hanoi(k - 1, a, c, b)
            moves.append((a, b))
            hanoi(k - 1, c, b, a)

    moves = []
    hanoi(n, 0, 1, 2)
    return moves


@compiles(0, 1, 2, 3, 4, 5, 7, 9, 12, 20, 40)
def variables_of_many_kinds(n):
    a = b = c = d = e = None
    for i in range(n):
        if i % 2 == 0:
            a = i
        if i % 3 == 0:
            b = i * 0.5
        if i % 5 == 1:
            c = (i, 2)
        if i % 7 == 2:
            d = [i]
        if i % 4 == 3:
            e = i if i % 8 == 3 else i / 2
        if i % 11 == 10:
            a = i * 1.5
    return a, b, c, d, e


@compiles(0, 1, 2, 3, 4, 5, 7, 9, 12, 20, 40)
def sums_of_many_kinds(n):
    a = b = c = d = e = f = g = 0
    for i in range(n):
        a += 1 if i % 2 else 0.5
        b += a if i % 3 else 1
        c = c + b if i % 5 else c
        d = max(a, c)
        e = e + (d if i > 4 else 1)
        f = f - e if i % 2 == 0 else f
        g = (a, f)
        if a > 1000:
            break
    return a + b + c + d + e + f, g


@compiles(0, 1, 2, 3, 4, 5)
def star_of_a_tuple_of_many_kinds(n):
    t = (n, 1) if n > 2 else (0.5, n)

    def add(x, y):
        return x * 2 + y

    return add(*t), max(*t)


@compiles(0, 1, 2, 3, left=2)
def generator_that_outlives_the_next(n):
    def gen(k):
        while True:
            yield k
            k += 1

    g = None
    total = 0
    for i in range(n):
        h = g
        g = gen(i * 10)
        next(g)
        if h is not None:
            total += next(h)
    return total
