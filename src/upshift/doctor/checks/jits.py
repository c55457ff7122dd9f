"""Checks of JAX and Numba: transformations made in a loop, compilation of what runs once."""

from __future__ import annotations

import ast

from ..finding import Edit, Fix
from ..kinds import keyword
from ..names import names_in, parameters_in
from ..proposals import made_once
from ..table import Figure, check, on_call, on_function
from ..walk import File

JAX = "import jax\n"

check(
    "UPS141",
    "jax.vmap or jax.jit is made inside a loop",
    hits=(
        JAX + "def f(x):\n    return x * x\nfor batch in data():\n    y = jax.vmap(f)(batch)\n",
        JAX + "for batch in data():\n    y = jax.vmap(lambda x: x * 2)(batch)\n",
        "from jax import vmap\nimport jax.numpy as jnp\nfor batch in data():\n    y = vmap(jnp.linalg.norm)(batch)\n",
        "from jax import jit\ndef f(x):\n    return x + 1\nwhile True:\n    y = jit(f)(y)\n",
    ),
    misses=(
        JAX + "def f(x):\n    return x * x\ng = jax.jit(jax.vmap(f))\nfor batch in data():\n    y = g(batch)\n",
        JAX + "for k in range(9):\n    y = jax.vmap(lambda x: x * k)(xs)\n",
        JAX + "for f in functions:\n    y = jax.vmap(f)(x)\n",
        JAX + "@jax.jit\ndef g(xs):\n    for i in range(3):\n        xs = jax.vmap(h)(xs)\n    return xs\n",
    ),
    figure=Figure(
        "import jax, jax.numpy as jnp\nxs = jnp.arange(1000.0)\n"
        "f = lambda x: jnp.sin(x) * x\ng = jax.jit(jax.vmap(f))\n"
        "def slow():\n    for _ in range(5):\n        y = jax.vmap(f)(xs)\n    return y.shape\n"
        "def fast():\n    for _ in range(5):\n        y = g(xs)\n    return y.shape",
        "slow()",
        "fast()",
    ),
)
check(
    "UPS142",
    "njit of a function that runs once",
    hits=(
        "from numba import njit\n@njit\ndef f(x):\n    return x * x + 1\nprint(f(3.0))\n",
        "import numba\n@numba.jit(nopython=True)\ndef area(r):\n    return 3.14 * r * r\nx = area(2.0)\n",
    ),
    misses=(
        "from numba import njit\n@njit\ndef f(x):\n    return x * x + 1\nfor i in range(9):\n    f(i)\n",
        "from numba import njit\n@njit\ndef f(n):\n"
        "    s = 0\n    for i in range(n):\n        s += i\n    return s\nprint(f(10**9))\n",
        "from numba import njit\n@njit\ndef library(x):\n    return x * x\n",
        "from numba import njit\n@njit(cache=True)\ndef f(x):\n    return x * x + 1\nprint(f(3.0))\n",
        "from numba import njit\n@njit\ndef f(x):\n    return x + 1\n"
        "@njit\ndef g(x):\n    return f(x)\nfor i in range(3):\n    g(i)\n",
    ),
    figure=Figure(
        "from numba import njit\ndef f(x):\n    return x * x + 1",
        "njit(f)(3.0)",
        "f(3.0)",
    ),
)


@on_call("jax.vmap", "jax.jit")
def _look_at_transformation(file: File, node: ast.Call, name: str) -> None:
    loop = file.in_loop
    if loop is None or isinstance(loop.node, ast.comprehension) or not node.args:
        return
    if file.compiled.get(file.scope.name) == "jax.jit" or file.scope.name in file.traced:
        return
    given = node.args[0]
    bound = frozenset().union(*(each.bound for each in file.scope.loops))
    names = names_in(*node.args, *node.keywords) - parameters_in(given)
    known = isinstance(given, ast.Lambda) or (isinstance(given, ast.Name) and file.functions.get(given.id) is not None)
    known = known or bool(file.dotted(given))
    if known and not names & bound:
        short = name.rpartition(".")[2]
        text = file.text(node) if short == "jit" else f"{file.alias('jax')}.jit({file.text(node)})"
        fixes = made_once(file, node, loop.node, text) if short == "jit" or file.alias("jax") else []
        file.report(
            "UPS141", node, f"jax.{short} in a loop is traced anew every time; make it once, before the loop", *fixes
        )


@on_function
def _look_at_definition(file: File, node: ast.FunctionDef) -> None:
    if file.compiled.get(node.name) != "numba.njit" or file.scope.function is not None:
        return
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and (keyword(decorator, "cache") is not None or decorator.args):
            return
    loops = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)
    if any(isinstance(n, loops) for n in ast.walk(node)):
        return
    mentions = [n for n in ast.walk(file.tree) if isinstance(n, ast.Name) and n.id == node.name]
    if len(mentions) == 1 and _runs_once(file, mentions[0]):
        fix = Fix("plain", "whole", tuple(Edit("decorator", file.span(d)) for d in node.decorator_list))
        file.report("UPS142", node, f"compiling {node.name!r} takes longer than its one call", fix)


def _runs_once(file: File, name: ast.Name) -> bool:
    """A call by the module's own statements, in no loop; its arguments are not arrays."""
    call = file.parents.get(name)
    if not isinstance(call, ast.Call) or call.func is not name:
        return False
    if not all(isinstance(arg, ast.Constant) for arg in call.args):
        return False
    node: ast.AST | None = call
    while node is not None:
        if isinstance(
            node, ast.For | ast.While | ast.FunctionDef | ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.ClassDef
        ):
            return False
        node = file.parents.get(node)
    return True
