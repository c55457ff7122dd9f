"""Ints, floats, bools, complex numbers and None: arithmetic, comparisons, built-ins with all their arguments."""

from __future__ import annotations

CONSTANTS = {
    "int": "0 1 2 3 4 5 7 8 10 12 100 255 1000 -1 -2 -3 -7 2**31 -2**31 2**53+1 2**62 2**63-1 -2**63 10**18".split(),
    "small": "0 1 2 3 4 5".split(),
    "float": """0.0 1.0 0.5 -1.0 2.5 -0.0 0.1 3.0 -3.5 1e-3 100.0 1e16 1e300 1e-300 5e-324 2.0**53 2.0**63
                1e308 math.pi math.inf -math.inf math.nan""".split(),
    "bool": ["True", "False"],
    "complex": ["1j", "(1+2j)", "(-0.5-0j)", "complex(0, -0.0)", "complex(2.5, 1e200)", "complex(math.inf, 1)"],
    "none": ["None"],
}

FORMS = """
8 int = ({int} + {int})
8 int = ({int} - {int})
5 int = ({int} * {int})
3 int = ({int} * {small})
2 int = ({int} // {int})
1 int = ({int} % {int})
4 int = ({int} // ({int} or 3))
4 int = ({int} % ({int} or -2))
6 int = ({int} % 10)
4 int = ({int} // 3)
3 int = (-{int})
1 int = (+{int})
2 int = (~{int})
3 int = abs({int})
3 int = ({int} & {int})
3 int = ({int} | {int})
3 int = ({int} ^ {int})
2 int = ({int} << {small})
2 int = ({int} >> {small})
1 int = ({int} >> ({int} & 63))
1 int = (1 << ({int} & 31))
3 int = ({int} ** 2)
1 int = ({int} ** {small})
1 int = (2 ** {small})
2 int = pow({int}, {small}, 97)
1 int = pow({int}, {int} % 50, {int} or 11)
1 int = pow(base={int}, exp={small}, mod={int} or 2)
1 int = pow({int} % 89 + 1, -1, 97)
4 int = min({int}, {int})
4 int = max({int}, {int})
2 int = min({int}, {int}, {int})
1 int = max({int}, {int}, key=abs)
1 int = min({int}, {int}, key=lambda {v!}: {int|v:int})
1 int = divmod({int}, {int})[{bit}]
3 int = divmod({int}, {int} or 5)[{bit}]
1 int = int({float})
3 int = int({finite})
2 int = int({bool})
1 int = round({float})
3 int = round({finite})
2 int = round({int}, -1)
1 int = round({int}, {offset})
1 int = round(number={float}, ndigits=None)
5 int = ({int} if {bool} else {int})
2 int = ({int} and {int})
2 int = ({int} or {int})
2 int = ({bool} + {int})
2 int = ({bool} * {int})
1 int = ({bool} and {int} or {int})
1 int = {int}.bit_length()
1 int = ({int}).bit_count()
1 int = {int}.real
1 int = {int}.numerator
1 int = int({digits})
1 int = int({digits}, 16)
1 int = int({digits}, base={base})
1 int = (({n!} := {int}) + {int|n:int})
1 int = ({opt[int]} or {int})
1 int = hash({int})
2 finite = ({float} % 1000.0)
1 finite = max(-1e6, min({float}, 1e6))
1 finite = ({int} / 4)
1 finite = (0.0 if {float} != {float} else {small} * 1.5)
2 small = ({int} % 5)
2 small = abs({int}) % 4
1 small = ({int} & 3)
1 small = int({bool})
1 small = ({bool} + {bool})
2 bit = 0
2 bit = 1
1 bit = -1
1 bit = int({bool})
2 offset = ({small} - 2)
1 offset = -1
1 offset = -{small}
1 base = 10
1 base = 16
1 base = 2
1 base = 0
1 base = ({small} + 2)
1 step = 1
1 step = 2
1 step = -1
1 step = -2
1 step = {offset}
1 bound = None
2 bound = {offset}
1 bound = {int}
8 float = ({float} + {float})
8 float = ({float} - {float})
7 float = ({float} * {float})
3 float = ({float} / {float})
1 float = ({float} // {float})
1 float = ({float} % {float})
4 float = ({float} / ({float} or 0.5))
3 float = ({float} // ({float} or 2.0))
3 float = ({float} % ({float} or -1.5))
3 float = ({float} / 2)
3 float = ({float} * 0.5)
1 float = ({int} / {int})
3 float = ({int} / ({int} or 7))
4 float = ({float} + {int})
3 float = ({int} * {float})
3 float = ({bool} * {float})
2 float = ({int} % ({float} or 1))
2 float = ({float} // ({int} or 1))
3 float = (-{float})
1 float = (+{float})
3 float = abs({float})
3 float = ({float} ** 2)
2 float = (abs({float}) ** 0.5)
2 float = (abs({float}) ** {float})
1 float = (2.0 ** {small})
1 float = ({float} ** -1)
3 float = float({int})
1 float = float({bool})
1 float = float({decimals})
4 float = min({float}, {float})
4 float = max({float}, {float})
2 float = min({float}, {float}, {float})
2 float = divmod({float}, {float} or 0.1)[{bit}]
3 float = round({float}, 2)
2 float = round({float}, {offset})
1 float = round({float}, ndigits={offset})
5 float = ({float} if {bool} else {float})
2 float = ({float} and {float})
2 float = ({float} or {float})
2 float = (({n!} := {float}) * {float|n:float})
1 float = {float}.real
1 float = {float}.imag
1 float = float({num})
6 bool = ({int} < {int})
6 bool = ({float} > {float})
4 bool = ({int} == {int})
3 bool = ({int} != {int})
3 bool = ({float} <= {float})
3 bool = ({float} == {float})
3 bool = ({int} >= {float})
2 bool = ({float} != {int})
2 bool = ({int} < {int} <= {int})
1 bool = ({float} > {float} != {float} >= {int})
4 bool = (not {bool})
4 bool = ({bool} and {bool})
4 bool = ({bool} or {bool})
2 bool = ({bool} ^ {bool})
2 bool = ({bool} & {bool})
1 bool = ({bool} == {bool})
1 bool = ({bool} < {bool})
2 bool = bool({int})
2 bool = bool({float})
1 bool = ({bool} if {bool} else {bool})
2 bool = ({int} % 2 == 0)
2 bool = ({int} in ({int}, {int}, 3))
2 bool = ({int} not in (1, {int}))
1 bool = ({float} in ({float}, {float}))
1 bool = ({int} in range({offset}, {int}, {step}))
2 bool = ({opt[int]} is None)
2 bool = ({opt[float]} is not None)
1 bool = ({opt[int]} == {int})
1 bool = isinstance({num}, int)
1 bool = isinstance({num}, (float, bool))
1 bool = (type({num}) is float)
1 bool = ({float}).is_integer()
1 bool = ({num} < {num})
1 bool = ({num} == {num})
3 num = {int}
3 num = {float}
1 num = {bool}
3 num = ({int} if {bool} else {float})
2 num = ({num} + {num})
2 num = ({num} * {num})
1 num = ({num} - {num})
1 num = ({num} / {num})
1 num = ({num} // {num})
1 num = (-{num})
1 num = abs({num})
2 num = max({num}, {num})
2 num = min({int}, {float})
1 num = round({num}, {offset})
1 num = ({int} ** {offset})
1 num = ({num} and {num})
1 num = ({num} or {num})
1 num = sum([{num}, {num}])
3 opt[T] = ({T} if {bool} else None)
1 opt[T] = (None if {bool} else {T})
1 opt[T] = {T}
1 opt[T] = None
1 none = (None if {bool} else None)
T : {self} = {T}
"""

COMPLEXES = """
4 complex = ({complex} + {complex})
3 complex = ({complex} - {complex})
4 complex = ({complex} * {complex})
2 complex = ({complex} / {complex})
2 complex = ({complex} * {float})
2 complex = ({int} + {complex})
2 complex = ({complex} / {int})
2 complex = (-{complex})
2 complex = complex({float}, {float})
1 complex = complex({int}, {float})
1 complex = complex({float})
1 complex = complex(real={float}, imag={int})
2 complex = {complex}.conjugate()
1 complex = ({complex} ** 2)
1 complex = ({complex} ** {small})
1 complex = ({complex} ** {complex})
2 complex = ({complex} if {bool} else {complex})
1 complex = sum([{complex}, {complex}])
1 complex = ({complex} or {complex})
3 float = abs({complex})
2 float = {complex}.real
2 float = {complex}.imag
2 bool = ({complex} == {complex})
1 bool = ({complex} != {float})
1 bool = bool({complex})
"""
