"""Calls: how arguments are bound, and which functions are followed."""

from __future__ import annotations

import functools
import math
import operator
from functools import partial, reduce

from language import elsewhere
from language.elsewhere import clamped, even, evens, halved, scaled, shifted, squared, traced
from language.table import Table

table = Table()
compiles = table.compiles


def weighted(a, b=2, c=3):
    return a + 10 * b + 100 * c


@compiles(0, 1, -5)
def keywords_in_any_order(x):
    return weighted(c=x, a=1) + weighted(x, c=2, b=x) + weighted(b=1, a=x)


@compiles(0.5, -1.0)
def defaults_of_several(x):
    return weighted(x), weighted(x, 1), weighted(x, 1, 0)


def total(*xs):
    t = 0
    for x in xs:
        t += x
    return t


@compiles(1, 2)
def variadic(x):
    return total() + total(x) + total(x, x + 1, 2.5)


def first_and_rest(first, *rest, scale=1):
    return first, len(rest), [r * scale for r in rest]


@compiles(1, 2)
def variadic_with_keyword(x):
    return first_and_rest(x), first_and_rest(x, 1, 2, scale=x)


def configured(x, **options):
    return x * options["scale"] + options.get("offset", 7)


@compiles(1.5, -2.0)
def collected_keywords(x):
    return configured(x, scale=2), configured(x, scale=3.0, offset=x)


def passes_on(x, *args, **kwargs):
    return weighted(x, *args, **kwargs)


@compiles(1, 2)
def keywords_passed_on(x):
    return passes_on(x), passes_on(x, 1), passes_on(x, c=1), passes_on(x, 5, c=x)


def asks_for(x, **kwargs):
    if "y" in kwargs:
        return x + kwargs["y"]
    if not kwargs:
        return x
    return len(kwargs)


@compiles(1, 5)
def keywords_looked_for(x):
    return asks_for(x), asks_for(x, y=x), asks_for(x, z=1, w=2)


def summed_keywords(**kwargs):
    t = 0
    for name, value in kwargs.items():
        t += value * len(name)
    return t + sum(kwargs.values())


@compiles(1, 5)
def keywords_gone_over(x):
    return summed_keywords(a=x, bc=2, d=3)


def popped(x, **kwargs):
    by = kwargs.pop("by", 2)
    return weighted(x * by, **kwargs)


@compiles(1, 5)
def keywords_popped(x):
    return popped(x, by=3, b=1), popped(x, c=x)


OPTIONS = {"b": 4, "c": 5}


@compiles(1, 2)
def keywords_of_a_captured_dict(x):
    return weighted(x, **OPTIONS)


@compiles(1, 2)
def keywords_of_a_display(x):
    return weighted(x, **{"b": x, "c": 2})


@compiles([1, 2, 3], [5], [2, 9])
def star_of_a_list_to_max(xs):
    return max(*xs, 0) + min(0, *xs)


@compiles([1, 2, 3], [5], [])
def star_of_a_list_to_variadic(xs):
    return total(*xs)


@compiles([1.0, 2.0], [5.0, 2.5], [1.0])
def star_of_a_list_to_two(xs):
    return math.atan2(*xs)


@compiles([1, 2], [5, 2], [3, 4, 5], [1], left=3)
def star_of_a_list_to_fixed(xs):
    return weighted(*xs)


@compiles(1, 3)
def star_of_a_tuple(x):
    args = (x, 2)
    return weighted(*args) + weighted(*args, 1) + weighted(0, *args)


@compiles(3, 2)
def transposed(n):
    rows = [[i * 10 + j for j in range(n + 1)] for i in range(n)]
    return [list(column) for column in zip(*rows)]


@compiles(3, 2)
def transposed_sums(n):
    rows = [[i * 10 + j for j in range(n)] for i in range(n)]
    return [sum(column) for column in zip(*rows)]


@compiles(3, 1)
def unzipped(n):
    pairs = [(i, i * 0.5) for i in range(n)]
    a, b = zip(*pairs)
    return sum(a), sum(b)


def positional_only(a, /, b, *, c):
    return a - b * c


@compiles(1, 3)
def kinds_of_parameters(x):
    return positional_only(x, 2, c=3) + positional_only(x, b=1, c=x)


def same_name(x, /, **kwargs):
    return x + kwargs["x"]


@compiles(1, 3)
def a_positional_only_name_again(x):
    return same_name(x, x=10)


by_ten = partial(weighted, b=10)
from_one = partial(weighted, 1)
of_both = partial(from_one, c=2)


@compiles(1, 3)
def partials(x):
    return by_ten(x) + from_one(x) + from_one(x, 2) + of_both(b=x)


@compiles(1, 3)
def local_partial(x):
    f = partial(weighted, x)
    g = functools.partial(weighted, b=x)
    return f(1) + f(1, 2) + g(1)


class Affine:
    step = 1

    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def __call__(self, x):
        return self.slope * x + self.offset

    def moved(self, x, by=2):
        return self(x) + self.step * by

    @classmethod
    def of_class(cls, x):
        return x + cls.step

    @staticmethod
    def of_nobody(x):
        return x * 2

    @property
    def root(self):
        return -self.offset / self.slope


affine = Affine(2.0, -1.0)
bound = affine.moved


@compiles(1, 3)
def captured_object(x):
    return affine(x), affine.moved(x, by=1), affine.slope, affine.step, bound(x)


@compiles(1, 3)
def class_and_static_methods(x):
    return Affine.of_class(x), Affine.of_nobody(x), affine.of_class(x), affine.of_nobody(x)


@compiles(1, 3)
def captured_property(x):
    return affine.root * x


@compiles(1, 3)
def method_in_a_variable(x):
    f = affine.moved
    return f(x) + f(x, 3)


table.add("mapped_object", affine, 1.0, 2.5)
table.add("mapped_method", affine.moved, 1.0, 2.5)
table.add("mapped_class_method", Affine.of_class, 1)
table.add("mapped_partial", of_both, 1, 2)
table.add("mapped_static_method", Affine.of_nobody, 1, 2)
table.add("mapped_wrapper", elsewhere.shifted, 1, 2)


@compiles(2.0, 12.0, -3.0)
def functions_elsewhere(x):
    return scaled(x), scaled(x, by=3), clamped(x, low=0, high=10), elsewhere.settings.gain * elsewhere.settings.offset


@compiles(2.0, 12.0)
def constants_elsewhere(x):
    return x + elsewhere.RATE + elsewhere.LIMITS["low"] + elsewhere.LIMITS["high"]


@compiles(2, 12)
def decorated(x):
    return shifted(x) + shifted(x, by=3) + squared(x)


@compiles(2.0, 12.0)
def decorated_with_arguments(x):
    return halved(x)


@functools.lru_cache(maxsize=None)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@compiles(0, 1, 10, 60)
def cached_module_function(n):
    return fibonacci(n)


@functools.cache
def paths(i, j):
    if i == 0 or j == 0:
        return 1
    return paths(i - 1, j) + paths(i, j - 1)


@compiles((0, 1), (3, 3), (12, 12))
def cached_of_two(i, j):
    return paths(i, j)


@functools.lru_cache
def with_default(n, by=2):
    return n * by


@compiles(1, 5)
def cached_with_keywords(n):
    return with_default(n) + with_default(n, by=3) + with_default(n=n)


@compiles((0, 1), (3, 3), (12, 12))
def cached_nested_function(i, j):
    @functools.cache
    def dp(i, j):
        if i == 0 or j == 0:
            return 1
        return dp(i - 1, j) + dp(i, j - 1)

    return dp(i, j)


@compiles([1, 5, 3], [2, 4, 6, 8], [])
def cached_nested_over_a_list(xs):
    @functools.lru_cache(None)
    def best(i):
        if i >= len(xs):
            return 0
        return max(best(i + 1), xs[i] + best(i + 2))

    return best(0)


@compiles(1, 10, 30)
def cached_nested_called_twice(n):
    @functools.lru_cache(maxsize=None)
    def f(k):
        if k <= 1:
            return k
        return f(k - 1) + f(k - 2)

    return [f(i) for i in range(n)]


@compiles(1, 4)
def cached_lambda(n):
    f = functools.cache(lambda k: 1 if k < 2 else k * f(k - 1))
    return f(n)


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@compiles(0, 5, 20)
def recursion(n):
    return factorial(n)


@compiles(0, 5, 20)
def mutual_recursion(n):
    return even(n), elsewhere.odd(n)


@compiles(0, 5, 20)
def nested_mutual_recursion(n):
    def is_even(k):
        return True if k == 0 else is_odd(k - 1)

    def is_odd(k):
        return False if k == 0 else is_even(k - 1)

    return is_even(n)


@compiles(0, 4, 9)
def nested_with_nonlocal(n):
    count = 0

    def visit(k):
        nonlocal count
        count += 1
        if k > 0:
            visit(k - 1)
            visit(k - 2)

    visit(n)
    return count


@compiles(0, 3, 5)
def permutations_by_hand(n):
    found = []

    def go(chosen, rest):
        if not rest:
            found.append(chosen[:])
            return
        for i in range(len(rest)):
            go(chosen + [rest[i]], rest[:i] + rest[i + 1 :])

    go([], list(range(n)))
    return found


@compiles(0, 3, 6)
def queens(n):
    count = 0
    columns = []

    def safe(c):
        r = len(columns)
        return all(c != k and abs(c - k) != r - i for i, k in enumerate(columns))

    def place(row):
        nonlocal count
        if row == n:
            count += 1
            return
        for c in range(n):
            if safe(c):
                columns.append(c)
                place(row + 1)
                columns.pop()

    place(0)
    return count


@compiles(1, 3)
def counter_by_closure(n):
    def make():
        count = 0

        def step():
            nonlocal count
            count += 1
            return count

        return step

    a, b = make(), make()
    for _ in range(n):
        a()
    return a(), b()


@compiles(1, 3)
def accumulator(n):
    total = 0.0

    def add(x):
        nonlocal total
        total += x
        return total

    for i in range(n):
        add(i * 0.5)
    return total


@compiles(1, 3)
def closure_sees_later_values(n):
    k = 1

    def f(x):
        return x * k

    a = f(n)
    k = 10
    return a + f(n)


@compiles(1, 3)
def lambdas_in_variables(n):
    square = lambda x: x * x
    both = lambda f, x: f(f(x))
    return both(square, n) + square(2.5)


@compiles(1.0, 3.0)
def chosen_function(x):
    f = math.sin if x > 2 else math.cos
    return f(x)


@compiles(1.0, 3.0)
def chosen_lambda(x):
    if x > 2:
        f = lambda v: v * 2
    else:
        f = lambda v: v + 0.5
    return f(x)


def integrate(f, a, b, n=10):
    h = (b - a) / n
    return sum(f(a + (i + 0.5) * h) for i in range(n)) * h


@compiles(1.0, 3.0)
def function_as_argument(x):
    return integrate(math.sin, 0, x) + integrate(lambda t: t * x, 0.0, 1.0, n=5)


def bisection(f, low, high):
    while high - low > 1e-9:
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return low


@compiles(2.0, 9.0)
def root_by_bisection(x):
    def g(t):
        return t * t - x

    return bisection(g, 0.0, x)


@compiles([3, 1, 2], [5, -7], [])
def sorted_by_key(xs):
    return sorted(xs, key=lambda v: -v), sorted(xs, key=abs, reverse=True)


@compiles([3, 1, 2], [5, -7], [])
def mapped_and_filtered(xs):
    return list(map(lambda v: v * 2, filter(lambda v: v > 1, xs))), list(map(abs, xs))


OPERATIONS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": operator.mul}
BY_NUMBER = {0: math.sin, 1: math.cos, 2: scaled}
IN_ORDER = [math.floor, math.ceil, abs]


@compiles((0, 2.0), (1, 3.0), (2, 3.0), (5, 1.0))
def dispatch_by_number(k, x):
    return BY_NUMBER[k](x)


@compiles((0, 2.0), (1, 3.5), (2, -3.0), (5, 1.0))
def dispatch_by_get(k, x):
    f = BY_NUMBER.get(k)
    if f is None:
        return -1.0
    return f(x)


@compiles((0, 2.5), (1, 3.5), (2, -3.5), (-1, 1.0))
def dispatch_by_position(k, x):
    return IN_ORDER[k](x)


@compiles(2.5, -3.5)
def all_functions_of_a_list(x):
    return [f(x) for f in IN_ORDER]


@compiles(1, 5)
def called_at_once(x):
    return (lambda a, b=2: a * b)(x) + (lambda *a: len(a))(x, x)


@compiles(1, 5)
def returned_functions(x):
    def adder(n):
        return lambda v: v + n

    f, g = adder(1), adder(x)
    return f(x) * g(x)


def compose(*functions):
    def composed(x):
        for f in functions:
            x = f(x)
        return x

    return composed


@compiles(1.5, 5.0)
def composed(x):
    return compose(math.floor, math.sqrt, lambda v: v + 1)(x)


pipeline = compose(abs, math.sqrt)
table.add("mapped_closure", pipeline, -2.0, 4.0)


def squares(n):
    for i in range(n):
        yield i * i


@compiles(0, 5)
def generators(n):
    return sum(squares(n)), list(squares(n)), max(squares(n + 1)), [x for x in squares(n) if x % 2]


def flattened(rows):
    for row in rows:
        yield from row


@compiles(0, 3)
def yield_from(n):
    return list(flattened([[i] * i for i in range(n)]))


def pairs(n):
    yield from squares(n)
    yield -1
    yield from [7, 8]


@compiles(0, 3)
def yield_from_several(n):
    return list(pairs(n))


def averaged(xs):
    count = total = 0
    for x in xs:
        total += x
        count += 1
    return total / count if count else None


@compiles(0, 3)
def generators_passed_to_helpers(n):
    return averaged(squares(n)), averaged(x * 0.5 for x in range(n))


def odd_squares(n):
    return (x for x in squares(n) if x % 2)


@compiles(0, 3, 8)
def generators_returned_from_helpers(n):
    return sum(odd_squares(n)), list(evens(n))


@compiles(0, 3, 8)
def next_of_a_generator(n):
    it = squares(n)
    return next(it, -1), next(it, None), next((x for x in range(n) if x * x > 10), n)


@compiles(0, 3, 8)
def next_that_raises(n):
    it = iter(range(n))
    next(it)
    return next(it)


@compiles([1, 2, 3], [5, 6])
def next_of_a_list(xs):
    it = iter(xs)
    first = next(it)
    return [x - first for x in it]


@compiles([1, 2, 3, 4], [5, 6], [])
def pairs_of_one_iterator(xs):
    it = iter(xs)
    return [a * b for a, b in zip(it, it)]


@compiles(0, 1, 2, 3)
def strict_zips(n):
    return [a * b for a, b in zip(range(n), [1, 2], strict=True)], list(zip([n], [n, n], strict=False))


@compiles(0, 1, 2, 3)
def strict_zips_of_three(n):
    return len([a for a, b, c in zip(range(2), range(n), "ab", strict=n > 0)])


@compiles(0, 1, 2, 3)
def strict_zips_take_no_more_than_they_say(n):
    first, second = iter(range(2)), iter(range(n))
    try:
        pairs = [a + b for a, b in zip(first, second, strict=True)]
    except ValueError:
        pairs = [-1]
    return pairs, list(first), list(second)


@compiles(0, 1, 2, 3)
def strict_zips_of_three_take_no_more_than_they_say(n):
    first, second, third = iter(range(2)), iter(range(n)), iter(range(9))
    total = 0
    try:
        for a, b, c in zip(first, second, third, strict=True):
            total += a + b + c
    except ValueError:
        total = -1
    return total, list(first), list(second), list(third)


def countdown(n):
    while True:
        if n < 0:
            return
        yield n
        n -= 1


@compiles(0, 5)
def generator_that_returns(n):
    return [x for x in countdown(n)], sum(x for x in countdown(n) if x % 2 == 0)


def primes():
    n = 2
    while True:
        if all(n % d for d in range(2, n)):
            yield n
        n += 1


@compiles(1, 5)
def endless_generator(n):
    found = []
    for p in primes():
        if len(found) == n:
            break
        found.append(p)
    return found


def newton(f, x, steps=4):
    for _ in range(steps):
        d = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        x = x - f(x) / d
    return x


@compiles(2.0, 9.0)
def higher_order(x):
    return newton(lambda t: t**2 - x, x)


@traced
def walk(n):
    return 0 if n <= 0 else 1 + walk(n - 2)


@compiles(0, 7)
def decorated_recursion(n):
    return walk(n)


@compiles(3, 7)
def local_helper_with_defaults(n):
    def f(a, b=n, *, c=1):
        return a * b + c

    return f(1) + f(1, 2) + f(1, c=n)


@compiles((48, 18), (7, 0))
def recursive_gcd(a, b):
    def gcd(a, b):
        return a if b == 0 else gcd(b, a % b)

    return gcd(a, b)


@compiles(5, 1)
def operator_functions(n):
    f = operator.itemgetter(1)
    pairs = [(i, -i) for i in range(n)]
    return [f(p) for p in pairs], sorted(pairs, key=operator.itemgetter(1))


@compiles(1, 3)
def closures_with_defaults(n):
    fs = [lambda x, i=i: x * i for i in range(3)]
    return [f(n) for f in fs]


@compiles([3, 1, 2], [5, -7])
def reduced(xs):
    return reduce(lambda a, b: a * b, xs), reduce(operator.add, xs, 10), reduce(max, xs)


@compiles((1.0, 2.0), (3.5, 4.5))
def dispatch_by_a_known_key(a, b):
    return OPERATIONS["+"](a, b) * OPERATIONS["*"](a, b)


@compiles(("+", 2, 3), ("-", 3, 4), ("*", 5, 6))
def dispatch_by_a_key(op, a, b):
    return OPERATIONS[op](a, b)


@compiles(2.5, -3.5)
def functions_in_a_local_dict(x):
    table = {"double": lambda v: v * 2, "half": lambda v: v / 2}
    return table["double"](x) + table["half"](x)
