"""Comprehensions, generator expressions, iterators, and functions without a name."""

from __future__ import annotations

COMPREHENSIONS = """
6 list[T] = [{T|v:U} for {v!} in {list[U]}]
3 list[T] = [{T|v:U} for {v!} in {list[U]} if {bool|v:U}]
4 list[T] = [{T|i:int} for {i!} in range({small})]
1 list[T] = [{T|i:int,j:int} for {i!} in range({small}) for {j!} in range({i!})]
1 list[T] = [{T|i:int,j:U} for {i!}, {j!} in enumerate({list[U]})]
1 list[T] = [{T|i:int,j:U} for {i!}, {j!} in enumerate({list[U]}, {small})]
1 list[T] = [{T|a:U,b:int} for {a!}, {b!} in zip({list[U]}, {list[int]})]
1 list[T] = [{v!} for {v!} in {list[T]} if {v!} in {list[T]}]
1 list[T] = [{v!} for {w!} in {list[U]} if ({v!} := {T|w:U}) == {v!}]
3 int = sum({int|v:U} for {v!} in {list[U]})
2 int = sum(1 for {v!} in {list[U]} if {bool|v:U})
2 float = sum({float|v:U} for {v!} in {list[U]})
1 float = sum([{float|v:float} for {v!} in {list[float]}])
2 bool = any({bool|v:U} for {v!} in {list[U]})
2 bool = all({bool|v:U} for {v!} in {list[U]})
2 K = max(({K|v:U} for {v!} in {list[U]}), default={K})
1 int = min(({int|v:U} for {v!} in {list[U]}), key=lambda {w!}: {int|w:int}, default=-1)
1 int = len([{v!} for {v!} in {list[U]} if {bool|v:U}])
1 int = len({{{K|v:U} for {v!} in {list[U]}}})
1 T = next(({T|v:U} for {v!} in {list[U]} if {bool|v:U}), {T})
1 list[T] = list({T|v:U} for {v!} in {list[U]})
1 tuple[T] = tuple({T|v:U} for {v!} in {list[U]})
1 list[K] = sorted({K|v:U} for {v!} in {list[U]})
"""

ITERATORS = """
2 list[T] = list(map(lambda {v!}: {T|v:U}, {list[U]}))
1 list[T] = [*map(lambda {v!}, {w!}: {T|v:U,w:int}, {list[U]}, range({small}))]
2 list[T] = list(filter(lambda {v!}: {bool|v:T}, {list[T]}))
1 list[int] = list(filter(None, {list[int]}))
2 list[(T,U)] = list(zip({list[T]}, {list[U]}))
1 list[(T,U)] = list(zip({list[T]}, {list[U]}, strict={bool}))
1 list[(int,T)] = list(enumerate({list[T]}))
1 list[int] = list(map(abs, {list[int]}))
1 list[float] = list(map(float, {list[int]}))
1 list[str] = list(map(str, {list[int]}))
1 list[int] = list(map(int, {list[float]}))
1 list[int] = list(map(len, {list[str]}))
1 list[int] = list(map(max, {list[int]}, {list[int]}))
1 int = sum(map(abs, {list[int]}))
1 int = sum({a!} * {b!} for {a!}, {b!} in zip({list[int]}, {list[int]}))
1 int = sum(range({offset}, {small} * 3, {step}))
1 int = len(range({offset}, {int}, {step}))
1 int = range({small}, {int})[{offset}]
1 bool = any(map(lambda {v!}: {bool|v:T}, {list[T]}))
1 bool = ({int} in map(abs, {list[int]}))
1 T = next(iter({list[T]}))
1 T = next(iter({list[T]}), {T})
1 T = next(reversed({list[T]}), {T})
1 list[int] = [{a!} - {b!} for {a!}, {b!} in zip({list[int]}, {list[int]}[1:])]
1 list[int] = sorted(map(lambda {v!}: {int|v:T}, {list[T]}))
"""

LAMBDAS = """
3 int = (lambda {a!}: {int|a:T})({T})
2 T = (lambda {a!}, {b!}: {T|a:U,b:int})({U}, {int})
1 int = (lambda {a!}, {b!}={int}: {int|a:int,b:int})({int})
1 int = (lambda *{a!}: sum({a!}) + len({a!}))({int}, {int})
1 int = (lambda {a!}, *{b!}: {a!} + len({b!}))({int}, *{list[int]})
1 int = (lambda **{a!}: {a!}['p'] - {a!}['q'])(p={int}, q={int})
1 float = (lambda {a!}, *, {b!}=2.0: {float|a:float,b:float})({float})
1 int = (lambda {f!}: {f!}({int}) + {f!}({int}))(lambda {v!}: {int|v:int})
1 T = ((lambda: {T}) if {bool} else (lambda: {T}))()
1 int = [lambda {v!}: {int|v:int}, lambda {w!}: {int|w:int}][{small} % 2]({int})
"""
