"""The right source, through `up.map`: constants that compare equal, notebooks, wrappers, changing files."""

from __future__ import annotations

import functools
import importlib.util
import linecache
import os
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import upshift as up
from compiled import Compiled, check, refusal, same
from upshift.compiler.follow import prelude_home
from upshift.compiler.kinds import Refused
from upshift.compiler.prelude import registry


def mapped(f: Any, xs: list[Any]) -> None:
    """The gear llvm gives what the function gives, or refuses; so does `up.map` as it comes."""
    wanted = [f(x) for x in xs]
    for _ in range(2):
        try:
            found = up.map(f, xs, gear="llvm")
        except up.GearRefused:
            found = up.map(f, xs)
        assert same(list(map(type(wanted[0]), found)), wanted), (found, wanted)


def test_annotations_inside_a_file_that_puts_them_off():
    """This file does, by its first import; `later` and `at_once` are the two forms of one function."""

    def later(n):
        def inner(i: int, found: list[list[int]]) -> list[list[int]]:
            return [*found, [i]]

        return len(inner(n, [[1]]))

    check(later, [1, 2])
    text = "def at_once(n):\n    def inner(i: int) -> int:\n        return i + 1\n    return inner(n)\n"
    linecache.cache["<at once>"] = (len(text), None, text.splitlines(keepends=True), "<at once>")
    try:
        space: dict[str, Any] = {}
        exec(compile(text, "<at once>", "exec", dont_inherit=True), space)
        check(space["at_once"], [1, 2])
    finally:
        del linecache.cache["<at once>"]


# ---- constants that compare equal


def test_lambdas_on_one_line_whose_constants_compare_equal():
    fs = [lambda x: x * 0.0, lambda x: x * -0.0, lambda x: x * 0, lambda x: x * False, lambda x: x * 0j]
    for f in fs:
        check(f, [1.0, -2.0])
    gs = [lambda x: x in (1, 2), lambda x: x in (1.0, 2), lambda x: (x, (0.0, 1)), lambda x: (x, (-0.0, 1))]
    for g in gs:
        check(g, [1, 2, 3])
    hs = [lambda x: "a" if x else "b", lambda x: "b" if x else "a", lambda x: f"{x}a", lambda x: f"{x}b"]
    for h in hs:
        check(h, [0, 1])


def test_lambdas_inside_lambdas_whose_constants_compare_equal():
    fs = [lambda x: (lambda y: y + 1)(x), lambda x: (lambda y: y + 1.0)(x), lambda x: (lambda y: y + True)(x)]
    for f in fs:
        check(f, [1, 2])
    gs = [lambda x: [y * 1 for y in (x,)], lambda x: [y * 1.0 for y in (x,)]]
    for g in gs:
        check(g, [1, 2])


def test_lambdas_on_one_line_that_differ_in_their_defaults_and_closures():
    def pair(k):
        return (lambda x: x + k), (lambda x: x - k), (lambda x, k=k + 1: x + k)

    for k in (1, 2.5):
        for f in pair(k):
            check(f, [1, 2])


def test_functions_that_differ_in_a_name_only():
    f, g, h = (lambda x: abs(x)), (lambda x: bool(x)), (lambda x: float(x))
    for one in (f, g, h):
        check(one, [-1, 2])


# ---- notebooks


def cell(text: str, space: dict[str, Any], number: int, name: str = "/tmp/ipykernel_1/{0}.py") -> dict[str, Any]:
    """Run a cell as IPython does: its source is in linecache, under a name of which there is no file."""
    text, place = textwrap.dedent(text), name.format(number)
    linecache.cache[place] = (len(text), None, text.splitlines(True), place)
    exec(compile(text, place, "exec"), space)
    return space


@pytest.mark.parametrize("name", ["/tmp/ipykernel_1/{0}.py", "<ipython-input-{0}-abcdef>", "Cell [{0}]"])
def test_cells_of_a_notebook(name):
    space: dict[str, Any] = {}
    cell("K = 3\ndef helper(x):\n    return x * K\n", space, 1, name)
    cell("def f(x):\n    return helper(x) + 1\n", space, 2, name)
    check(space["f"], [1, 2])
    mapped(space["f"], [1, 2, 3])
    before = space["f"]
    cell("def helper(x):\n    return x * K * 100\n", space, 3, name)
    mapped(before, [1, 2, 3])
    mapped(space["f"], [1, 2, 3])
    cell("K = 5\n", space, 4, name)
    mapped(space["f"], [1, 2, 3])


def test_a_cell_that_is_edited_and_run_again():
    space: dict[str, Any] = {}
    old = cell("def f(x):\n    return x + 1\n", space, 11)["f"]
    mapped(old, [1, 2])
    new = cell("def f(x):\n    return x + 2\n", space, 11)["f"]
    mapped(new, [1, 2])
    mapped(old, [1, 2])  # compiled before its source was overwritten
    assert refusal(cell("def g(x):\n    return x + 3\n", space, 12)["g"], 1) is None
    gone = space["g"]
    cell("def g(x):\n    return x + 4\n", space, 12)
    assert refusal(gone, 1) is None or "changed" in str(refusal(gone, 1))
    mapped(gone, [1, 2])
    mapped(space["g"], [1, 2])


def test_a_cell_with_lines_that_are_not_python_before_it():
    """What a notebook's magic lines become."""
    text = "get_ipython().run_line_magic('time', '')\ndef f(x):\n    return x + 9\n"
    mapped(cell(text, {"get_ipython": lambda: type("S", (), {"run_line_magic": print})}, 21)["f"], [1, 2])


def test_several_functions_of_one_name_in_a_cell():
    space = cell(
        """
        def f(x):
            return x + 1
        first = f
        def f(x):
            return x + 2
        second = f
        fs = [f for k in range(3) for f in [lambda x, k=k: x * k]]
        """,
        {},
        31,
    )
    for one in (space["first"], space["second"], *space["fs"]):
        check(one, [1, 2])


# ---- decorators


def wrapped_twice(f):
    @functools.wraps(f)
    def wrapper(x):
        return f(x) * 2

    return wrapper


def swapped(f):
    other = lambda x: x - 100
    other.__name__, other.__qualname__, other.__wrapped__ = f.__name__, f.__qualname__, f
    return other


@wrapped_twice
def wrapped(x):
    return x + 1


@swapped
def not_this(x):
    return x + 1


@wrapped_twice
@wrapped_twice
def wrapped_often(x):
    return x + 1


class Decorated:
    @staticmethod
    @wrapped_twice
    def of_nobody(x):
        return x + 1

    @property
    def times(self):
        return lambda x: x * 7


def test_wrappers_are_themselves_and_not_what_they_wrap():
    assert wrapped(1) == 4 and not_this(1) == -99 and wrapped_often(1) == 8
    for f in (wrapped, not_this, wrapped_often, Decorated.of_nobody, Decorated().times):
        check(f, [1, 2])
        mapped(f, [1, 2])


# ---- files that change


def imported(path: Path, text: str) -> Any:
    path.write_text(textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)  # a file of the same second and size
    spec.loader.exec_module(module)
    return module


def test_a_file_that_changes_between_two_calls(tmp_path):
    path = tmp_path / "between.py"
    module = imported(path, "def helper(x):\n    return x + 1\n\ndef f(x):\n    return helper(x) * 2\n")
    mapped(module.f, [1, 2])
    path.write_text("def helper(x):\n    return x - 1\n\ndef f(x):\n    return helper(x) * 3\n")
    os.utime(path, (1, 1))
    linecache.checkcache()
    mapped(module.f, [1, 2])
    mapped(module.f, [1.5, 2.5])  # another kind: compiled anew, from what is known or not at all
    again = imported(path, path.read_text())
    mapped(again.f, [1, 2])
    assert again.f(1) == 0 and module.f(1) == 4


def test_a_helper_whose_file_changed_is_never_another_function(tmp_path):
    path = tmp_path / "helper_changed.py"
    module = imported(path, "def helper(x):\n    return x + 41\n")
    path.write_text("def helper(x):\n    return x + 42\n")
    linecache.checkcache()

    def f(x):
        return module.helper(x)

    assert f(1) == 42
    mapped(f, [1, 2])


@pytest.mark.parametrize(
    "new",
    [
        "def f(x):\n    return x * 0.0\n",
        "def f(x):\n    return x * -0.0 \n",
        "def f(x, y=1):\n    return x * 0\n",
        "def f(y):\n    return y * 0\n",
        "def f(x):\n    return x*0\n",
        "def g(x):\n    return x * 0\n",
        "async def f(x):\n    return x * 0\n",
        "f = lambda x: x * 0\n",
        "",
    ],
)
def test_changes_that_are_hard_to_see(tmp_path, new):
    path = tmp_path / f"hard_{abs(hash(new))}.py"
    module = imported(path, "def f(x):\n    return x * 0\n")
    path.write_text(new)
    linecache.checkcache()
    mapped(module.f, [1.5, -2.5])
    mapped(module.f, [3, -4])
    if refusal(module.f, 1.5) is None:
        rows = [(1.5,), (-2.5,)]
        made, _ = Compiled(module.f, rows).run(rows)
        assert all(same(made[i], module.f(*row)) for i, row in enumerate(rows))


def test_code_from_eval_and_compile():
    f = eval("lambda x: x + 5")
    g = eval(compile("lambda x: x + 6, lambda x: x + 7", "<many>", "eval"))
    for one in (f, *g):
        mapped(one, [1, 2])
    if sys.version_info < (3, 13):
        assert refusal(f, 1) is not None


# ---- functions of one factory


def made(k):
    def plain(x):
        return x + k

    def inner(x):
        return (lambda y: y * k)(x) + [z + k for z in (x,)][0]

    def items(n):
        for i in range(n):
            yield i * k

    def down(n):
        return k if n <= 0 else down(n - 1) + k

    return plain, inner, items, down


ONE, TWO = made(1), made(2.5)
plain_one, inner_one, items_one, down_one = ONE
plain_two, inner_two, items_two, down_two = TWO


def both_are_called(x):
    return plain_one(x), plain_two(x), inner_one(x), inner_two(x), down_one(3), down_two(3)


def both_in_a_loop(x):
    total = 0
    for f in (plain_one, plain_two, inner_one, inner_two):
        total = total * 2 + f(x)
    return total


def both_generators(x):
    return sum(items_one(3)) + x, sum(items_two(3)) + x, [a - b for a, b in zip(items_two(3), items_one(3))]


def one_or_the_other(x):
    f, g = (plain_one, items_one) if x > 1 else (plain_two, items_two)
    return f(x), list(g(2))


def one_calls_the_other(x):
    return composed_of(plain_one, plain_two)(x), plain_two(plain_one(x)), plain_one(plain_two(x))


def composed_of(f, g):
    return lambda x: f(g(x))


@pytest.mark.parametrize("f", [both_are_called, both_in_a_loop, both_generators, one_or_the_other, one_calls_the_other])
def test_functions_of_one_factory_keep_their_own_values(f):
    check(f, [1, 2, 3])
    mapped_whole(f, [1, 2, 3])


def mapped_whole(f: Any, xs: list[Any]) -> None:
    wanted = up.map(f, xs, gear="loop")
    assert repr(up.map(f, xs, gear="llvm")) == repr(wanted)


# ---- our own library


def test_a_library_that_was_replaced_while_we_run(tmp_path: Path) -> None:
    """An update of the package leaves other functions where those stood that were loaded: none of them is taken."""
    text = "from upshift.compiler.prelude.registry import prelude\n\n\ndef double(n):\n    return n + n\n"
    path = tmp_path / "library_of_a_test.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        registry.prelude(module.double)
        path.write_text(text.replace("n + n", "n * n"))
        os.utime(path, ns=(1, 1))  # older than what was loaded, as a package manager may leave it
        with pytest.raises(Refused, match="changed since it was imported"):
            prelude_home(module.double).code
    finally:
        del registry.FUNCTIONS["double"]
