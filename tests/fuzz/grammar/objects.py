"""Helpers, classes and captured values of `vocabulary.py`, as programs use them."""

from __future__ import annotations

CONSTANTS = {
    "point": ["lib.ORIGIN", "lib.Point(1.0, 2.0)"],
    "pair": ["lib.Pair(1, 2)", "lib.UNIT"],
    "money": ["lib.Money(3)"],
    "color": ["lib.Color.RED", "lib.Color.BLUE"],
    "box": ["lib.Box([1, 2])"],
}

HELPERS = """
2 int = lib.clamp({int}, {int}, {int})
1 int = lib.clamp({int}, high={small})
2 int = lib.total({int}, {int}, {int})
1 int = lib.total(*{list[int]})
1 int = lib.total({int}, *{list[int]}, scale={int})
1 int = lib.weighted(a={int}, b={int})
1 int = lib.weighted(**{{'a': {int}, 'c': {int}}})
2 int = lib.fibonacci({small} * 2)
1 int = lib.cached_fibonacci({small} * 5)
1 int = lib.ackermann({small} % 3, {small})
1 bool = lib.is_even({small})
1 int = lib.digits_sum({int})
1 int = lib.collatz({int})
2 float = lib.safe_divide({float}, {float})
1 float = lib.safe_divide({int}, {int}, otherwise={float})
1 float = lib.newton({float})
1 float = lib.mean({list[float]})
1 num = lib.halved({num})
1 opt[int] = lib.first_even({list[int]})
2 (int,int) = lib.extremes({list[int]})
1 list[int] = list(lib.countdown({small}))
1 int = sum(lib.countdown({small}))
1 list[int] = list(lib.flattened([[{int}], {list[int]}]))
1 list[int] = lib.merged({list[int]}, {list[int]})
1 T = lib.identity({T})
1 T = lib.choose({bool}, {T}, {T})
1 int = lib.adder({int})({int})
1 int = lib.composed(lambda {v!}: {int|v:int}, {int})
1 int = lib.checked({int})
1 str = lib.shouted({str})
1 int = lib.make_counter()({int})
1 str = lib.kind_of({num})
"""

OBJECTS = """
3 point = lib.Point({float}, {float})
1 point = lib.Point(y={float}, x={float})
1 point = lib.Point({float})
2 point = ({point} + {point})
1 point = {point}.scaled({float})
1 point = (-{point})
1 point = ({point} if {bool} else {point})
1 point = dataclasses.replace({point}, x={float})
2 float = {point}.x
2 float = {point}.y
1 float = {point}.norm()
1 float = {point}.area
1 float = ({point} @ {point})
1 bool = ({point} == {point})
2 point : {self}.x = {float}
1 point : {self}.y += {float}
1 point : {self}.move({float})
2 pair = lib.Pair({int}, {int})
1 pair = lib.Pair({int}, b={int})
1 pair = lib.Pair({int})
1 pair = {pair}._replace(a={int})
1 int = {pair}.a
1 int = {pair}.b
1 int = {pair}[{bit}]
1 int = {pair}.spread()
1 int = sum({pair})
1 bool = ({pair} < {pair})
1 bool = ({pair} == {(int,int)})
1 (int,int) = tuple({pair})
2 money = lib.Money({int})
1 money = ({money} + {money})
1 money = ({money} * {int})
1 money = ({int} + {money})
1 money = sum([{money}, {money}], lib.Money({int}))
1 money = max({money}, {money})
1 int = {money}.amount
1 int = int({money})
1 bool = ({money} < {money})
1 bool = bool({money})
1 bool = ({money} == {money})
1 int = len({money})
1 int = {money}[{small}]
1 money : {self} += {money}
1 money : {self}.amount -= {int}
2 color = (lib.Color.RED if {bool} else lib.Color.GREEN)
1 color = lib.Color({small})
1 color = lib.Color['BLUE']
1 int = {color}.value
1 str = {color}.name
1 bool = ({color} is lib.Color.RED)
1 bool = ({color} == {color})
1 int = lib.Level.HIGH + {int}
1 bool = ({int} > lib.Level.LOW)
1 int = sum({c!}.value for {c!} in lib.Color)
2 box = lib.Box({list[int]})
1 box = lib.Box()
1 int = len({box})
1 int = {box}[{bit}]
1 bool = ({int} in {box})
1 int = sum({v!} for {v!} in {box})
1 list[int] = list({box})
1 list[int] = {box}.items
2 box : {self}.push({int})
1 box : {self}[{bit}] = {int}
1 box : {self}.items.append({int})
1 box : {self}.pop()
1 int = {box}.largest({int})
1 int = lib.chain_of({list[int]}).total()
1 int = lib.tree_of({list[int]}).depth()
1 list[int] = lib.tree_of({list[int]}).in_order()
1 float = lib.Circle({float}).area()
1 float = lib.Square({float}).area()
1 str = lib.Square({float}).name()
1 float = (lib.Circle({float}) if {bool} else lib.Square({float})).area()
1 int = lib.AFFINE({int})
"""

CAPTURES = """
2 int = lib.LIMIT
1 float = lib.RATE
2 int = lib.TABLE[{small}]
1 int = lib.TABLE[{offset}]
1 float = lib.WEIGHTS[{small} % 3]
1 float = lib.BY_NAME.get({str}, 0.5)
1 int = lib.BY_NUMBER[{small}]
1 bool = ({int} in lib.PRIMES)
1 bool = ({str} in lib.NAMES)
1 int = sum(lib.TABLE)
1 list[int] = [{int|v:int} for {v!} in lib.TABLE]
1 int = len(lib.BY_NAME)
1 int = LIMIT
1 int = TABLE[{bit}]
1 int = lib.GRID[{bit}][{bit}]
1 int = lib.PLUS_ONE({int})
1 int = lib.PLUS_SEVEN({int})
1 float = lib.PLUS_HALF({float})
1 int = sum(lib.BY_TWO({small}))
1 list[int] = list(lib.BY_MINUS({small}))
1 int = lib.TWICE_WRAPPED({int})
1 int = (lib.PLUS_ONE if {bool} else lib.PLUS_SEVEN)({int})
"""
