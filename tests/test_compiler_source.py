"""The right source, or none: never another function's tree."""

from __future__ import annotations

import ast
import functools
import importlib.util
import linecache
import os
import subprocess
import sys
import textwrap
import types

import pytest

from compiled import check, refusal
from upshift.compiler import source


def test_two_lambdas_on_one_line():
    f, g = lambda x: x + 1, lambda x: x - 1
    check(f, [1, 2])
    check(g, [1, 2])


def test_two_lambdas_on_one_line_with_the_same_text():
    f, g = lambda x, k=1: x * k, lambda x, k=2: x * k
    assert f.__code__.co_code == g.__code__.co_code and f.__code__.co_consts == g.__code__.co_consts
    check(f, [1, 2])
    check(g, [1, 2])


def test_two_lambdas_that_differ_in_a_constant():
    fs = [lambda x: x + 1.0, lambda x: x + 1, lambda x: x + True]
    for f in fs:
        check(f, [1, 2])


def test_lambdas_in_calls_defaults_and_comprehensions():
    def taken(f=lambda x: x * 3):
        return f

    check(taken(), [1, 2])
    check(taken(lambda x: x * 4), [1, 2])
    check(sorted([lambda x: x * 5], key=lambda f: 0)[0], [1, 2])
    for f in [lambda x, k=k: x * k for k in range(3)]:
        check(f, [1, 2])
    check({"a": lambda x: x + 9}["a"], [1, 2])
    check((lambda: lambda x: x + 8)(), [1, 2])


def test_lambdas_over_several_lines():
    f = lambda x: (
        x + 1  # a comment
    )
    g = lambda x, y=2, *, z=(
        3
    ): x * y + \
        z  # fmt: skip
    h = lambda x: [
        x,
        x + 1,
    ][
        0
    ]  # fmt: skip
    for one in (f, g, h):
        check(one, [1, 2])


def test_lambdas_of_few_instructions():
    check(lambda x: x, [1, 2])
    check(lambda x: None, [1, 2])
    check(lambda x: 7, [1, 2])
    check(lambda x: (x, 1), [1, 2])
    check(lambda x, /: x + 1, [1, 2])
    check(lambda *xs: len(xs), [1, 2])
    check(lambda x: (lambda y: y * 2)(x), [1, 2])


def test_lambdas_behind_letters_of_several_bytes():
    s, f = "äöü€", lambda x: x + 31
    assert s
    check(f, [1, 2])


def factory(k):
    def made(x):
        return x * k

    return made


def test_functions_made_by_a_factory_in_a_loop():
    for f in [factory(k) for k in range(4)]:
        check(f, [1, 2])


def test_functions_of_the_same_name():
    def f(x):
        return x + 1

    first = f

    def f(x):
        return x + 2

    check(first, [1, 2])
    check(f, [1, 2])


if sys.version_info >= (3, 0):

    def in_a_branch(x):
        return x + 1

else:

    def in_a_branch(x):
        return x + 2


def test_function_in_a_branch():
    check(in_a_branch, [1, 2])


def plain_decorator(f):
    return f


def replaced_by_another(f):
    def other(x):
        return x + 100

    return other


@plain_decorator
def decorated(x):
    return x + 1


@replaced_by_another
def replaced(x):
    return x + 1


@functools.partial(lambda f, n: f, n=1)
@plain_decorator
def decorated_twice(x):
    return x + 2


def test_decorated_functions():
    check(decorated, [1, 2])
    check(decorated_twice, [1, 2])
    assert replaced(1) == 101
    check(replaced, [1, 2])


class Private:
    __factor = 3

    def __init__(self, k):
        self.__k = k

    def times(self, x):
        def inner(y):
            return y * self.__k * Private.__factor

        return inner(x)


def test_private_names_are_those_of_their_class():
    check(Private(2).times, [1, 2])


def _imported(path, text):
    path.write_text(textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_file_that_changed_after_its_import(tmp_path):
    path = tmp_path / "changing.py"
    module = _imported(path, "def f(x):\n    return x + 1\n\ndef g(x):\n    return x * 2\n")
    path.write_text("def f(x):\n    return x + 2\n\ndef g(x):\n    return x * 2\n")
    os.utime(path, (1, 1))
    linecache.clearcache()
    refused = refusal(module.f, 1)
    assert refused is not None and "changed" in refused.reason and refused.remedy
    check(module.g, [1, 2])


def test_a_file_whose_lines_moved(tmp_path):
    path = tmp_path / "moved.py"
    module = _imported(path, "def f(x):\n    return x + 1\n\ndef f2(x):\n    return x + 1\n")
    path.write_text("\n\n\ndef f(x):\n    return x + 7\n\ndef f2(x):\n    return x + 1\n")
    linecache.clearcache()
    assert refusal(module.f, 1) is not None
    assert refusal(module.f2, 1) is not None


def test_a_file_that_is_gone(tmp_path):
    path = tmp_path / "gone.py"
    module = _imported(path, "def f(x):\n    return x + 10017\n")
    path.unlink()
    linecache.clearcache()
    refused = refusal(module.f, 1)
    assert refused is not None and "source" in refused.reason


def _executed(text, name, known=True):
    if known:
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {}
    exec(compile(text, name, "exec"), space)
    return space


def test_executed_code_that_linecache_knows():
    check(_executed("def f(x):\n    return x + 1\n", "<made 1>")["f"], [1, 2])
    space = _executed("f = lambda x: x + 1; g = lambda x: x + 2\n", "<ipython-input-1-abc>")
    check(space["f"], [1, 2])
    check(space["g"], [1, 2])


def test_executed_code_of_a_name_that_is_used_again():
    """A cell of a notebook that was run twice, with another text."""
    f = _executed("def f(x):\n    return x + 10018\n", "<cell>")["f"]
    g = _executed("def f(x):\n    return x + 10019\n", "<cell>")["f"]
    check(g, [1, 2])
    assert refusal(f, 1) is not None


def test_executed_code_without_source():
    refused = refusal(_executed("def f(x):\n    return x + 10020\n", "<string>", known=False)["f"], 1)
    assert refused is not None and "source" in refused.reason and refused.remedy


def test_python_c():
    """The command line has the source; another text of the same name has none."""
    text = """
        from upshift.compiler import kernel
        from upshift.compiler.kinds import INT, Refused
        def f(x):
            return x + 10021
        print(kernel.check(f, [INT]).result)
        exec("def g(x):\\n    return x + 10022")
        try:
            kernel.check(g, [INT])
        except Refused as refused:
            print(refused.reason)
        """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["int", "its source is not at hand"]


def test_code_of_another_function():
    def f(x):
        return x + 1

    def g(x):
        return x * 5

    f.__code__ = g.__code__
    check(f, [1, 2])


def test_code_that_was_changed():
    def f(x):
        return x + 1

    g = types.FunctionType(f.__code__.replace(co_consts=(None, 5)), globals())
    assert g(1) == 6
    refused = refusal(g, 1)
    assert refused is not None


def test_a_copy_with_constants_that_nothing_reads():
    def f(x):
        return x * 3 + 1

    more = types.FunctionType(f.__code__.replace(co_consts=(*f.__code__.co_consts, "unused")), f.__globals__)
    check(more, [1, 5])
    fewer = types.FunctionType(f.__code__.replace(co_consts=(*f.__code__.co_consts[:-1], 7, "unused")), f.__globals__)
    assert "changed" in refusal(fewer, 1).reason


def test_defaults_that_were_changed():
    def f(x, k=1):
        return x * k

    f.__defaults__ = (5,)
    check(f, [1, 2])
    f.__defaults__ = None
    assert refusal(f, 1) is not None


def test_asynchronous_functions_and_generators_are_refused():
    async def f(x):
        return x

    def g(x):
        yield x

    async def h(x):
        yield x

    for one in (f, g, h):
        assert refusal(one, 1) is not None


def test_functions_inside_tabs_and_continued_lines(tmp_path):
    text = "if True:\n\tdef f(x):\n\t\treturn (x +\n1)\n"
    path = tmp_path / "tabs.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("tabs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    check(module.f, [1, 2])


def test_texts_over_several_lines_that_begin_at_the_margin(tmp_path):
    text = 'class C:\n    def f(self, x):\n        """\nat the margin\n"""\n        return x + len("""\na""")\n'
    (tmp_path / "margin2.py").write_text(text)
    spec = importlib.util.spec_from_file_location("margin2", tmp_path / "margin2.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    check(module.C().f, [1, 2])


def test_one_line_definitions():
    def f(x): return x + 1  # fmt: skip

    check(f, [1, 2])


def test_future_annotations_do_not_matter(tmp_path):
    module = _imported(
        tmp_path / "future.py", "def f(x: int, y: 'Nothing' = 2) -> float:\n    z: int = x\n    return z + y\n"
    )
    check(module.f, [1, 2])


def test_docstrings_and_constants_fold():
    def f(x):
        """A docstring."""
        "another"
        y = 2 * 3 + -1
        return x + y if not False else None

    check(f, [1, 2])


def test_trees_are_not_kept_alive_twice():
    def f(x):
        return x + 1

    assert source.code_of(f) is source.code_of(f)


@pytest.mark.parametrize("text", ["x + 1", "x if x > 1 else -x", "[i for i in range(x)]", "(y := x) + y"])
def test_lambda_in_every_place(text):
    made = _executed(f"def take(f, *_):\n    return f\nf = take(lambda x: {text}, lambda x: 0)\n", f"<place {text}>")
    assert ast.parse(text)
    check(made["f"], [1, 2])
