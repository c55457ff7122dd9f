"""Lists, tuples, dicts, sets, deques, counters: what makes them, what reads them, what changes them."""

from __future__ import annotations

LISTS = """
5 list[T] = [{T}, {T}]
4 list[T] = [{T}, {T}, {T}]
2 list[T] = [{T}]
1 list[T] = []
3 list[T] = ({list[T]} + {list[T]})
3 list[T] = ({list[T]} * {small})
1 list[T] = ({small} * {list[T]})
3 list[T] = [{T}] * {small}
3 list[T] = {list[T]}[{bound}:{bound}]
2 list[T] = {list[T]}[{bound}:{bound}:{step}]
2 list[T] = {list[T]}[::-1]
2 list[T] = [*{list[T]}, {T}]
1 list[T] = [*{list[T]}, *{list[T]}]
2 list[int] = list(range({small}))
2 list[int] = list(range({offset}, {small} + 3))
1 list[int] = list(range({small}, {offset}, {step}))
1 list[int] = [*range({small})]
2 list[T] = list({list[T]})
2 list[T] = {list[T]}.copy()
3 list[K] = sorted({list[K]})
2 list[K] = sorted({list[K]}, reverse={bool})
2 list[K] = sorted({list[K]}, key=lambda {v!}: {int|v:K})
1 list[T] = sorted({list[T]}, key=lambda {v!}: {float|v:T}, reverse=True)
2 list[int] = sorted({list[int]}, key=abs)
1 list[T] = list(reversed({list[T]}))
2 list[T] = ({list[T]} if {bool} else {list[T]})
1 list[T] = ({list[T]} or {list[T]})
1 list[list[int]] = [{list[int]}, {list[int]}]
1 list[list[int]] = [[{int}] * {small} for {i!} in range({small})]
1 list[int] = {list[list[int]]}[{bit}]
1 list[int] = sum({list[list[int]]}, [])
5 int = len({list[T]})
1 T = {list[T]}[{offset}]
1 T = {list[T]}[{bit}]
4 T = ({list[T]} or [{T}])[0]
4 T = ({list[T]} or [{T}])[-1]
3 T = [*{list[T]}, {T}, {T}][{bit}]
2 T = ({list[T]} + [{T}])[{int} % 2 - 1]
2 T = (({l!} := {list[T]}) and {l!}[{int} % len({l!})] or {T})
1 T = [{T}, {T}, {T}][{int} % 3]
4 int = sum({list[int]})
2 int = sum({list[int]}, {int})
1 int = sum({list[bool]})
3 float = sum({list[float]})
1 float = sum({list[float]}, start={float})
1 num = sum({list[num]})
1 K = max({list[K]})
2 K = max({list[K]} or [{K}])
2 K = min([{K}, {K}, {K}])
2 K = min({list[K]}, default={K})
1 K = max({list[K]}, key=lambda {v!}: {int|v:K}, default={K})
1 int = max({list[int]}, key=abs)
2 int = {list[T]}.count({T})
1 int = {list[K]}.index({K})
1 int = {list[K]}.index({K}, {small})
1 int = [{K}, {w!}, {w!}].index({w!}) if ({w!} := {K}) else 0
2 bool = ({T} in {list[T]})
1 bool = ({T} not in {list[T]})
2 bool = ({list[T]} == {list[T]})
1 bool = ({list[T]} != {list[T]})
1 bool = ({list[K]} < {list[K]})
1 bool = ({list[int]} >= {list[int]})
2 bool = bool({list[T]})
1 bool = (not {list[T]})
2 bool = any({list[bool]})
2 bool = all({list[T]})
6 list[T] : {self}.append({T})
2 list[T] : {self}.extend({list[T]})
2 list[T] : {self} += {list[T]}
1 list[T] : {self} *= {small}
2 list[T] : {self}.insert({offset}, {T})
1 list[T] : {self}.pop()
1 list[T] : {self}.pop({bit})
2 list[T] : {self}.pop() if {self} else 0
1 list[T] : {self}.remove({T})
2 list[K] : {self}.sort()
2 list[K] : {self}.sort(key=lambda {v!}: {int|v:K}, reverse={bool})
1 list[T] : {self}.reverse()
1 list[T] : {self}.clear()
1 list[T] : {self}[{bit}] = {T}
1 list[T] : {self}[{offset}] = {T}
3 list[T] : {self}[{int} % (len({self}) or 1):][:1] = [{T}]
4 list[T] : {self}[len({self}) // 2 - 1] = {T}
2 list[int] : {self}[{bit}] += {int}
1 list[float] : {self}[{bit}] *= {float}
2 list[T] : {self}[{bound}:{bound}] = {list[T]}
1 list[T] : {self}[::2] = {self}[1::2] + {self}[:len({self}) % 2]
2 list[T] : del {self}[{bit}]
1 list[T] : del {self}[{bound}:{bound}]
1 list[T] : del {self}[::{step}]
1 list[T] : {self}[:] = {list[T]}
1 list[int] : {self}[{bit}], {self}[-1] = {self}[-1], {self}[{bit}]
"""

TUPLES = """
4 (T,U) = ({T}, {U})
3 (T,U,K) = ({T}, {U}, {K})
2 (T,U) = (({T}, {U}) if {bool} else ({T}, {U}))
1 (T,U) = ({T},) + ({U},)
1 (int,int) = divmod({int}, {int})
1 (T,T) = ({T},) * 2
1 (T,T) = tuple({list[T]}[:2])
2 T = ({T}, {T})[{bit}]
1 T = ({T}, {T}, {T})[{offset}]
2 T = ({T}, {T}, {T})[-{small} % 3]
1 T = {(T,U)}[0]
1 U = {(T,U)}[1]
2 bool = ({(int,int)} < {(int,int)})
1 bool = ({(K,K)} == {(K,K)})
1 bool = ({(int,float)} != {(int,float)})
1 bool = ({int} in {tuple[int]})
1 int = ({n!}, {int}, {n!}).index({n!}) if ({n!} := {int}) else {int}
1 int = {tuple[K]}.count({K})
1 int = len({tuple[T]})
2 tuple[T] = tuple({list[T]})
1 tuple[T] = ({tuple[T]} + {tuple[T]})
1 tuple[T] = {tuple[T]}[{bound}:{bound}]
1 tuple[T] = ({tuple[T]} * {small})
1 list[T] = list({tuple[T]})
1 int = sum({tuple[int]})
1 int = max({tuple[int]}, default=0)
2 list[(T,U)] = [({T}, {U}), ({T}, {U})]
1 int = hash(({int}, {int}))
"""

DICTS = """
3 dict[K,T] = {{{K}: {T}, {K}: {T}}}
1 dict[K,T] = {{}}
2 dict[K,T] = {{{k!}: {T|k:K} for {k!} in {list[K]}}}
1 dict[K,T] = dict(zip({list[K]}, {list[T]}))
1 dict[str,T] = dict(a={T}, b={T})
1 dict[K,T] = {{**{dict[K,T]}, {K}: {T}}}
1 dict[K,T] = ({dict[K,T]} | {dict[K,T]})
1 dict[K,T] = dict({dict[K,T]})
1 dict[K,T] = {dict[K,T]}.copy()
1 dict[K,T] = dict.fromkeys({list[K]}, {T})
1 dict[K,int] = {{{v!}: {i!} for {i!}, {v!} in enumerate({list[K]})}}
1 dict[K,T] = dict(sorted({dict[K,T]}.items()))
3 T = {dict[K,T]}.get({K}, {T})
1 opt[T] = {dict[K,T]}.get({K})
1 T = {dict[K,T]}[{K}]
1 T = {{{w!}: {T}, **{dict[K,T]}}}[{w!}] if [{w!} := {K}] else {T}
2 int = len({dict[K,T]})
2 bool = ({K} in {dict[K,T]})
1 bool = ({K} not in {dict[K,T]})
1 bool = ({dict[K,int]} == {dict[K,int]})
1 bool = bool({dict[K,T]})
2 list[K] = list({dict[K,T]})
2 list[T] = list({dict[K,T]}.values())
2 list[(K,T)] = list({dict[K,T]}.items())
1 list[K] = sorted({dict[K,T]})
1 list[K] = [{k!} for {k!}, {v!} in {dict[K,T]}.items() if {bool|v:T}]
1 list[K] = list(reversed({dict[K,T]}))
1 int = sum({dict[K,int]}.values())
1 int = max({dict[K,int]}.values(), default=0)
1 K = max({d!}, key={d!}.get) if ({d!} := {dict[K,int]}) else {K}
1 K = next(iter({dict[K,T]}), {K})
4 dict[K,T] : {self}[{K}] = {T}
2 dict[K,int] : {self}[{K}] = {self}.get({K}, 0) + 1
1 dict[K,int] : {self}[{K}] += {int}
2 dict[K,T] : {self}.setdefault({K}, {T})
1 dict[K,T] : {self}.pop({K}, None)
1 dict[K,T] : {self}.pop({K})
1 dict[K,T] : del {self}[{K}]
1 dict[K,T] : {self}.update({dict[K,T]})
1 dict[K,T] : {self} |= {dict[K,T]}
1 dict[K,T] : {self}.popitem()
1 dict[K,T] : {self}.clear()
2 counter[K] = Counter({list[K]})
1 counter[K] = Counter()
1 counter[str] = Counter({str})
1 counter[K] = ({counter[K]} + {counter[K]})
1 counter[K] = ({counter[K]} - {counter[K]})
2 int = {counter[K]}[{K}]
1 int = sum({counter[K]}.values())
1 int = {counter[K]}.total()
1 list[(K,int)] = {counter[K]}.most_common()
1 list[(K,int)] = {counter[K]}.most_common({small})
1 list[(K,int)] = list({counter[K]}.items())
1 list[K] = list({counter[K]}.elements())
3 counter[K] : {self}[{K}] += 1
1 counter[K] : {self}.update({list[K]})
1 counter[K] : {self}.subtract({list[K]})
2 defaultdict[K,int] = defaultdict(int)
1 defaultdict[K,list[T]] = defaultdict(list)
1 defaultdict[K,float] = defaultdict(lambda: 1.5)
1 int = {defaultdict[K,int]}[{K}]
1 list[(K,int)] = list({defaultdict[K,int]}.items())
3 defaultdict[K,int] : {self}[{K}] += {int}
2 defaultdict[K,list[T]] : {self}[{K}].append({T})
1 defaultdict[K,float] : {self}[{K}] *= {float}
"""

SETS = """
3 set[K] = {{{K}, {K}, {K}}}
1 set[K] = set()
2 set[K] = set({list[K]})
1 set[str] = set({str})
2 set[K] = {{{K|v:T} for {v!} in {list[T]}}}
1 set[int] = set(range({small}))
2 set[K] = ({set[K]} | {set[K]})
2 set[K] = ({set[K]} & {set[K]})
2 set[K] = ({set[K]} - {set[K]})
1 set[K] = ({set[K]} ^ {set[K]})
1 set[K] = {set[K]}.union({list[K]})
1 set[K] = {set[K]}.intersection({list[K]})
1 set[K] = {set[K]}.difference({set[K]})
1 set[K] = {set[K]}.symmetric_difference({set[K]})
1 set[K] = {set[K]}.copy()
1 set[K] = frozenset({list[K]})
2 bool = ({K} in {set[K]})
1 bool = ({set[K]} == {set[K]})
1 bool = ({set[K]} <= {set[K]})
1 bool = ({set[K]} < {set[K]})
1 bool = {set[K]}.isdisjoint({set[K]})
1 bool = {set[K]}.issubset({set[K]})
1 bool = {set[K]}.issuperset({list[K]})
1 bool = bool({set[K]})
2 int = len({set[K]})
1 int = sum({set[int]})
1 K = max({set[K]}, default={K})
2 list[K] = sorted({set[K]})
2 list[K] = list({set[K]})
1 list[K] = [{v!} for {v!} in {set[K]}]
3 set[K] : {self}.add({K})
1 set[K] : {self}.discard({K})
1 set[K] : {self}.remove({K})
1 set[K] : {self}.update({list[K]})
1 set[K] : {self} |= {set[K]}
1 set[K] : {self} &= {set[K]}
1 set[K] : {self} -= {set[K]}
1 set[K] : {self} ^= {set[K]}
1 set[K] : {self}.pop()
1 set[K] : {self}.clear()
"""

DEQUES = """
3 deque[T] = deque({list[T]})
2 deque[T] = deque([{T}])
1 deque[T] = deque()
1 deque[T] = deque({list[T]}, maxlen=3)
1 T = {deque[T]}[{bit}]
2 T = ({deque[T]} or [{T}])[0]
2 int = len({deque[T]})
1 bool = ({K} in {deque[K]})
1 bool = bool({deque[T]})
1 int = sum({deque[int]})
1 int = {deque[K]}.count({K})
1 K = max({deque[K]}, default={K})
2 list[T] = list({deque[T]})
1 list[T] = list(reversed({deque[T]}))
1 list[K] = sorted({deque[K]})
3 deque[T] : {self}.append({T})
2 deque[T] : {self}.appendleft({T})
1 deque[T] : {self}.popleft()
2 deque[T] : {self} and {self}.popleft()
1 deque[T] : {self}.pop()
1 deque[T] : {self}.extend({list[T]})
1 deque[T] : {self}.extendleft({list[T]})
1 deque[T] : {self}.rotate({offset})
1 deque[T] : {self}[{bit}] = {T}
1 deque[T] : {self}.reverse()
1 deque[T] : {self}.clear()
1 deque[K] : {self}.remove({K})
1 deque[T] : {self}.insert({bit}, {T})
"""
