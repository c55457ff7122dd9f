"""Functions to be mapped: itertools, functools and operator over lane values."""

from __future__ import annotations

import functools
import itertools
import operator
from dataclasses import dataclass

from functions.data import FEW_PAIRS, FEW_REALS, PAIRS_INT, SMALL_INTS, SMALL_PAIRS, TRIPLES
from functions.table import Table, written

table = Table("itertools")
row = table.row


@row(TRIPLES)
def accumulated(x, y, z):
    return list(itertools.accumulate([x, y, z]))


@row(TRIPLES)
def accumulated_by_function(x, y, z):
    return list(itertools.accumulate([x, y, z], max, initial=0))


@row(TRIPLES)
def chained(x, y, z):
    return sum(itertools.chain([x], (y, z), range(3)))


@row(TRIPLES)
def chained_from_iterable(x, y, z):
    return sum(itertools.chain.from_iterable([[x, y], [z]]))


@row(TRIPLES)
def product(x, y, z):
    return sum(a * b for a, b in itertools.product([x, y, z], repeat=2))


@row(TRIPLES)
def combinations(x, y, z):
    return sum(a * b for a, b in itertools.combinations([x, y, z], 2))


@row(TRIPLES)
def combinations_with_replacement(x, y, z):
    return len(list(itertools.combinations_with_replacement([x, y, z], 2))) + x


@row(TRIPLES)
def permutations(x, y, z):
    return sum(a - 2 * b for a, b in itertools.permutations((x, y, z), 2))


@row(FEW_REALS)
def counted_and_sliced(x):
    return sum(itertools.islice(itertools.count(x, 2), 4))


@row(FEW_REALS)
def cycled(x):
    return sum(itertools.islice(itertools.cycle([x, 1]), 5))


@row(FEW_REALS)
def repeated(x):
    return sum(itertools.repeat(x, 3))


@row(TRIPLES)
def taken_and_dropped(x, y, z):
    values = [x, y, z]
    return (
        len(list(itertools.takewhile(lambda v: v > 0, values))),
        len(list(itertools.dropwhile(lambda v: v > 0, values))),
    )


@row(TRIPLES)
def pairs(x, y, z):
    return [b - a for a, b in itertools.pairwise([x, y, z])]


@row(TRIPLES)
def zipped_longest(x, y, z):
    return sum(a * b for a, b in itertools.zip_longest([x, y, z], [2, 3], fillvalue=1))


@row(TRIPLES)
def star_mapped(x, y, z):
    return sum(itertools.starmap(lambda a, b: a * b, [(x, y), (y, z)]))


@row(TRIPLES)
def filtered_and_compressed(x, y, z):
    values = [x, y, z]
    return len(list(itertools.filterfalse(lambda v: v > 0, values))) + sum(itertools.compress(values, [1, 0, 1]))


@row(TRIPLES)
def grouped(x, y, z):
    return sum(1 for _ in itertools.groupby([x, y, z], key=lambda v: v > 0))


@row(TRIPLES)
def teed(x, y, z):
    a, b = itertools.tee([x, y, z])
    return sum(a) + max(b)


# -- functools ----------------------------------------------------------------------------------------------
@row(TRIPLES)
def reduced(x, y, z):
    return functools.reduce(lambda a, b: a * 2 + b, [x, y, z])


@row(TRIPLES)
def reduced_with_start(x, y, z):
    return functools.reduce(operator.add, (x, y, z), 100)


@row(TRIPLES)
def reduced_by_builtin(x, y, z):
    return functools.reduce(max, [x, y, z])


@row(TRIPLES)
def sorted_by_comparison(x, y, z):
    return sorted([x, y, z], key=functools.cmp_to_key(lambda a, b: (a < b) - (a > b)))


# -- operator -----------------------------------------------------------------------------------------------
@dataclass
class Holder:
    value: float

    def plus(self, k):
        return self.value + k


def _binary(name):
    """`operator.name` of two numbers, as a user would write it."""
    text = f"def operator_{name}(x, y):\n    return operator.{name}(x, y)\n"
    return written(f"operator_{name}", text, {"operator": operator})


def _unary(name):
    text = f"def operator_{name}(x):\n    return operator.{name}(x)\n"
    return written(f"operator_{name}", text, {"operator": operator})


_ORDER = "lt le eq ne ge gt".split()
_ARITHMETIC = "add sub mul truediv floordiv mod iadd isub imul itruediv ifloordiv imod".split()
_BITS = "and_ or_ xor iand ior ixor".split()
for _name in (*_ORDER, *_ARITHMETIC):
    table.add(f"operator_{_name}", _binary(_name), FEW_PAIRS)
for _name in _BITS:
    table.add(f"operator_{_name}", _binary(_name), PAIRS_INT)
for _name in "pow lshift rshift ipow ilshift irshift".split():
    table.add(f"operator_{_name}", _binary(_name), SMALL_PAIRS[:3])
for _name in "is_ is_not".split():
    table.add(f"operator_{_name}", _binary(_name), FEW_PAIRS, must_batch=False)
for _name in "neg pos abs not_ truth".split():
    table.add(f"operator_{_name}", _unary(_name), FEW_REALS)
for _name in "inv invert index".split():
    table.add(f"operator_{_name}", _unary(_name), SMALL_INTS)


@row(TRIPLES)
def items_of_list(x, y, z):
    values = [x, y, z]
    operator.setitem(values, 0, y)
    return operator.getitem(values, 0) + operator.itemgetter(2)(values) + sum(operator.itemgetter(0, 1)(values))


@row(TRIPLES)
def membership_and_count(x, y, z):
    values = [x, y, z, 1]
    return operator.contains(values, 1), operator.countOf(values, 1), operator.indexOf(values, 1) >= 0


@row(FEW_REALS)
def attributes_and_methods(x):
    holder = Holder(x)
    return operator.attrgetter("value")(holder) + operator.methodcaller("plus", 2)(holder)


@row(TRIPLES)
def sorted_by_item(x, y, z):
    return sorted([(x, 1), (y, 2), (z, 3)], key=operator.itemgetter(0))[0][1]


@row(FEW_REALS)
def concatenated(x):
    return operator.concat([x], [1]), operator.iconcat([x], [2])


@row(FEW_REALS)
def length_hint(x):
    return operator.length_hint([x, x])


if hasattr(operator, "call"):

    @row(FEW_REALS)
    def called(x):
        return operator.call(abs, x)


if hasattr(itertools, "batched"):

    @row(TRIPLES)
    def batched(x, y, z):
        return [sum(part) for part in itertools.batched([x, y, z, 1], 2)]
