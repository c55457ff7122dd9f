"""Keys of functions: the same in every process, another one for other code."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from upshift.plan import fingerprint as fingerprints
from upshift.plan.fingerprint import fingerprint


def python(code, **env):
    """What a process of its own prints."""
    code = "from upshift.plan.fingerprint import fingerprint\n" + code
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.strip()


SOURCE = """
import functools, math
import numpy as np
THRESHOLD = 2.0
def deepest(x): return x - 3.5
def helper(x): return math.sqrt(abs(x)) + deepest(x)
class Scale:
    def __init__(self, k): self.k = k
    def __call__(self, x): return self.times(x)
    def times(self, x): return x * self.k * 1.5
def make(k):
    def scaled(x): return x * k + helper(x)
    return scaled
def f(x, k=2.0, *, name=None):
    '''Words.'''
    try:
        total = sum(i * 0.5 for i in range(10) if x in {"a", "b", "cd", 1, None, (2, b"x")})
    except ValueError:
        return -0.0
    return helper(x) * THRESHOLD + np.sin(total) if x > 1 else [y + 1 for y in (1, 2.0, True)]
@functools.cache
def cached(x): return helper(x) + 0x{digits}
def recursive(x): return recursive(x - 1) if x > 0 else mutual(x)
def mutual(x): return recursive(x + 0.5)
def uses(x): return Scale(x).times(2) + cached(x)
scale = Scale(2.0)
method = scale.__call__
functions = [f, helper, make(2.0), Scale(2.0), Scale(2.0).times, Scale, functools.partial(f, k=3.0), cached, recursive,
    uses, lambda x: x + 1, math.sin, np.sin, float, functools.partial(math.pow, 2)]
""".replace("{digits}", "f" * 5000)
TELL = """
import sys
sys.path.insert(0, {path!r})
import {name}
print(*[fingerprint(f, "float64") for f in {name}.functions])
"""


def namespace(source):
    made = {"__name__": "somewhere"}
    exec(compile(source, "somewhere.py", "exec", dont_inherit=True), made)
    return made


def key_in(source, name="f", *kinds):
    return fingerprint(namespace(source)[name], *kinds)


def test_a_key_is_the_same_in_every_process(tmp_path):
    (tmp_path / "here.py").write_text(SOURCE)
    (tmp_path / "moved.py").write_text("# Further down, in another module.\n\n\n" + SOURCE)
    told = set()
    for name, seed in (("here", "0"), ("here", "1"), ("moved", "2")):
        told.add(python(TELL.format(name=name, path=str(tmp_path)), PYTHONHASHSEED=seed))
    told.add(" ".join(fingerprint(f, "float64") for f in namespace(SOURCE)["functions"]))
    [keys] = told
    assert len(set(keys.split())) == len(namespace(SOURCE)["functions"])


def with_tracer(tracer, work):
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        work()
    finally:
        sys.settrace(before)


def test_a_key_does_not_change_while_a_function_warms_up():
    made = namespace("def g(x): return x * 2.0\ndef f(x):\n t = x\n for i in range(3): t = g(t) + i\n return t")
    f = made["f"]
    before = fingerprint(f)
    for tracer in (None, lambda *event: tracer):
        with_tracer(tracer, lambda: [f(1.0) for _ in range(5000)])
        fingerprints._texts.clear()
        assert fingerprint(f) == before


CHANGES = [
    ("return -0.0", "return 0.0"),
    ("THRESHOLD = 2.0", "THRESHOLD = 2"),
    ("THRESHOLD = 2.0", "THRESHOLD = np.ones(3)"),
    ("x - 3.5", "x - 3.25"),
    ("math.sqrt(abs(x))", "math.exp(abs(x))"),
    ('"cd", 1', '"cd", 2'),
    ('{"a", "b"', '{"a", "c"'),
    ("i * 0.5", "i * 0.25"),
    ("(1, 2.0, True)", "(1, 2.0, 1)"),
    ("(1, 2.0, True)", "(1.0, 2.0, True)"),
    ("k=2.0, *", "k=2, *"),
    ("*, name=None", "name=None"),
    ("except ValueError", "except TypeError"),
    ("if x > 1", "if x < 1"),
    ("np.sin(t", "np.cos(t"),
    ("import numpy as np", "import math as np"),
]


@pytest.mark.parametrize("before, after", CHANGES, ids=[f"{before} -> {after}" for before, after in CHANGES])
def test_a_changed_function_has_another_key(before, after):
    assert SOURCE.count(before) == 1
    assert key_in(SOURCE) != key_in(SOURCE.replace(before, after))


SEEN_THROUGH = [
    ("a class", "x * self.k * 1.5", "x * self.k * 2.5", "uses"),
    ("an object", "x * self.k * 1.5", "x * self.k * 2.5", "scale"),
    ("a method", "x * self.k * 1.5", "x * self.k * 2.5", "method"),
    ("functools.cache", "helper(x) + 0x", "helper(x) - 0x", "uses"),
    ("a helper of a cached function", "x - 3.5", "x - 4.5", "cached"),
    ("a function that calls it back", "x + 0.5", "x + 1.5", "recursive"),
]


@pytest.mark.parametrize("before, after, name", [row[1:] for row in SEEN_THROUGH], ids=[row[0] for row in SEEN_THROUGH])
def test_what_a_function_calls_is_part_of_its_key(before, after, name):
    assert SOURCE.count(before) == 1
    assert key_in(SOURCE, name) != key_in(SOURCE.replace(before, after), name)


def test_functions_of_a_module_are_part_of_the_key(monkeypatch):
    keys = set()
    for constant in (1, 2):
        module = type(sys)("own_module")
        exec(f"def g(x): return x + {constant}\ndef h(x): return {constant}", vars(module))
        keys.add(fingerprint(eval("lambda x: m.g(x)", {"m": module})))
    assert len(keys) == 2


def test_what_a_function_captures_is_part_of_its_key_by_kind():
    make = namespace(SOURCE)["make"]
    assert fingerprint(make(1.0)) == fingerprint(make(2.0)) != fingerprint(make(1))
    assert len({key_in(SOURCE, "f", *kinds) for kinds in ([], ["d"], ["d", "d"], ["dd"], ["l", "d"])}) == 5


def test_where_a_function_stands_is_not_part_of_its_key():
    inside = "def outer():\n    x = 1\n    def f(x): return x + 1.5\n    return f\nf = outer()"
    other = "def other():\n\n\n    def f(x): return x + 1.5\n    return f\nf = other()"
    assert key_in(inside) == key_in(other)


def test_what_has_no_code_has_no_key():

    odd = namespace("def f(x): return 1.5")["f"]
    odd.__code__ = odd.__code__.replace(co_consts=(None, object()))
    for f in (np.vectorize(lambda x: x), odd, 3):
        assert fingerprint(f) is None


def test_no_code_of_the_user_runs():
    class Trap:
        def __getattribute__(self, name):
            raise AssertionError(f"{name} was asked for")

        __call__ = __eq__ = __hash__ = __repr__ = __len__ = __getattribute__

    trap = Trap()
    assert fingerprint(lambda x: trap.what(x))


def test_there_is_an_end_to_what_is_looked_at():
    lines = [f"def f{i}(x): return f{i + 1}(x) + f{(i * 7 + 3) % 300}(x)" for i in range(300)]
    source = "\n".join([*lines, "def f300(x): return x"])
    assert key_in(source, "f0") == key_in(source.replace("return x", "return -x"), "f0")
    assert key_in(source, "f299") != key_in(source.replace("return x", "return -x"), "f299")
