"""Checks of NumPy: np.vectorize, np.apply_along_axis, Python loops over array elements."""

from __future__ import annotations

import ast

from ..finding import Fix
from ..kinds import Kind, argument, constant
from ..loops import loop_fixes
from ..proposals import UP, fill_in, renamed
from ..table import Figure, check, on_builtin, on_call, on_loop
from ..vector import Body, judge
from ..walk import File

NP = "import numpy as np\n"
XS = NP + "xs = np.linspace(0, 1, 1000)\n"

check(
    "UPS121",
    "np.vectorize is a Python loop",
    hits=(
        NP + "f = np.vectorize(lambda x: x if x > 0 else -x)\n",
        NP + "@np.vectorize\ndef f(x):\n    return x + 1\n",
        NP + "from functools import partial\n@partial(np.vectorize, otypes=[float])\ndef f(x):\n    return x + 1\n",
        "from numpy import vectorize\n@vectorize\ndef f(x):\n    return x + 1\n",
    ),
    misses=(
        NP + "f = np.abs\n",
        "from numba import vectorize\nimport numpy as np\n@vectorize\ndef f(x):\n    return x + 1\n",
        "import upshift as up\nimport numpy\nf = up.vectorize(abs)\n",
        NP + "ids = np.vectorize(lambda d: d.id, otypes=[int])(devices)\n",
        NP + "f = np.vectorize(lambda x: x.encode('utf8'))\n",
        NP + "def name(x):\n    return f'{x:03d}'\nf = np.vectorize(name)\n",
        NP + "f = np.vectorize(make, otypes=[object])\n",
        NP + "f = np.vectorize(make, otypes=[np.object_])\n",
        NP + "import re\nf = np.vectorize(lambda x: bool(re.search(pattern, x)))\n",
        NP + "f = np.vectorize(str)\n",
    ),
    figure=Figure(
        "import numpy as np, upshift as up\nxs = np.linspace(-1, 1, 100000)\n"
        "def f(x):\n    return x * x if x > 0 else -x\n"
        "slow, fast = np.vectorize(f), up.vectorize(f)",
        "slow(xs)",
        "fast(xs)",
    ),
)
check(
    "UPS122",
    "np.apply_along_axis is a Python loop",
    hits=(
        NP + "ys = np.apply_along_axis(lambda r: r.max() - r.min(), 1, xs)\n",
        NP + "def f(row):\n    return row[0] * row[1]\nys = np.apply_along_axis(f, axis=0, arr=xs)\n",
    ),
    misses=(
        NP + "ys = xs.max(axis=1) - xs.min(axis=1)\n",
        NP + "ys = np.apply_over_axes(np.sum, xs, [0, 2])\n",
    ),
    figure=Figure(
        "import numpy as np, upshift as up\nxs = np.random.default_rng(0).random((5000, 8))\n"
        "def f(row):\n    return row.max() - row.min()",
        "np.apply_along_axis(f, 1, xs)",
        "up.map(f, xs)",
    ),
)
check(
    "UPS123",
    "A Python loop over the elements of an array",
    hits=(
        XS + "ys = [x * x for x in xs]\n",
        XS + "total = 0.0\nfor x in xs:\n    total += x * x\n",
        XS + "ys = np.zeros(1000)\nfor i in range(len(xs)):\n    ys[i] = xs[i] * 2 + 1\n",
        "import math\n" + XS + "ys = [math.sin(x) for x in xs]\n",
        XS + "s = sum(x * x for x in xs)\n",
        XS + "s = max(abs(x - 0.5) for x in xs)\n",
        NP + "a = np.ones((99, 99))\nfor i in range(99):\n    for j in range(99):\n        a[i][j] = a[i][j] * 2\n",
        NP + "s = 0\nfor x in np.ones((99, 99)).ravel():\n    s += x * 2\n",
        NP + "n = 2000\nlat = np.random.default_rng(0).uniform(-90, 90, n)\nfor i in range(n):\n    y = lat[i] * 2\n",
        NP + "n = 2000\nlat = np.random.uniform(-90, 90, n)\ns = max(abs(x) for x in lat)\n",
        XS + "def f(x):\n    return x * 2 if x > 0 else -x\nys = list(map(f, xs))\n",
        XS + "s = sum(map(lambda x: x * x, xs))\n",
    ),
    misses=(
        NP + "for x in np.array([1, 2, 3]):\n    print(x)\n",
        NP + "def f(xs):\n    return [x * x for x in xs]\n",
        XS + "for x in xs:\n    run_experiment(x)\n",
        NP + "images = np.zeros((10, 64, 64))\nfor image in images:\n    total = image * 2\n",
        XS + "ys = xs * xs\n",
        NP + "N = 3\na = np.zeros(N)\nfor i in range(N):\n    a[i] = a[i] * 2\n",
        NP + "rng = np.random.default_rng(0)\na = rng.uniform(0, 1)\nys = [x * 2 for x in range(int(a))]\n",
        XS + "found = any(x > 0.5 for x in xs)\n",
        XS + "words = list(map(str, xs))\n",
        XS + "ys = (x * x for x in xs)\n",
        NP + "def f(xs):\n    return sum(x * x for x in xs), list(map(f, xs))\n",
        XS + "def sum(xs):\n    return 0\ns = sum(x * x for x in xs)\n",
        NP + "ys = [x * x for x in np.arange(0, 2, 0.25)]\n",
    ),
    figure=Figure(
        "import numpy as np\nxs = np.linspace(0, 1, 10000)", "np.array([x * x + 1 for x in xs])", "xs * xs + 1"
    ),
)


@on_call("numpy.vectorize")
def _look_at_vectorize(file: File, node: ast.Call, name: str) -> None:
    func = node.func
    if isinstance(func, ast.Attribute | ast.Name) and not _is_of_objects(file, node):
        fix = renamed(file, "up.vectorize", func, "up.vectorize", UP)
        file.report("UPS121", func, "np.vectorize calls the function for every element; up.vectorize compiles it", fix)


@on_call("functools.partial")
def _look_at_partial(file: File, node: ast.Call, name: str) -> None:
    """`@partial(np.vectorize, otypes=[float])`."""
    if node.args and file.dotted(node.args[0]) == "numpy.vectorize":
        made = ast.copy_location(ast.Call(node.args[0], node.args[1:], node.keywords), node)
        _look_at_vectorize(file, made, "numpy.vectorize")


def _is_of_objects(file: File, node: ast.Call) -> bool:
    """Whether np.vectorize is a handy loop over texts or objects, which compiling does not help."""
    given, otypes = argument(node, 0, "pyfunc"), argument(node, 1, "otypes")
    if otypes is not None and any(
        {getattr(n, "id", ""), getattr(n, "attr", "")} & {"object", "object_", "str", "str_", "bytes", "bytes_"}
        or getattr(n, "value", "") in ("O", "U", "S")
        for n in ast.walk(otypes)
    ):
        return True
    if getattr(given, "id", "") in ("str", "repr", "hash", "type", "id", "bytes", "ord"):
        return True
    function = file.function_of(given) if given is not None else None
    if function is None:
        return False
    own = {arg.arg for arg in function.args.args}
    body = function.body if isinstance(function, ast.FunctionDef) else [function.body]
    if isinstance(function, ast.FunctionDef) and ast.get_docstring(function) is not None:
        body = function.body[1:]
    nodes = [n for part in body for n in ast.walk(part)]
    of_texts = any(isinstance(n, ast.Attribute) and file.dotted(n).startswith("re.") for n in nodes)
    return of_texts or any(_handles_objects(n, own) for n in nodes)


_OF_NUMPY = frozenset("dtype shape size real imag item astype ndim T sum max min mean is_integer conjugate".split())


def _handles_objects(node: ast.AST, own: set[str]) -> bool:
    """A text, or an attribute of the argument that numbers do not have."""
    if isinstance(node, ast.Attribute):
        return getattr(node.value, "id", "") in own and node.attr not in _OF_NUMPY
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


@on_call("numpy.apply_along_axis")
def _look_at_apply(file: File, node: ast.Call, name: str) -> None:
    function, axis, arr = argument(node, 0, "func1d"), argument(node, 1, "axis"), argument(node, 2, "arr")
    if function is None or axis is None or arr is None:
        return
    fixes = []
    if constant(axis) in (1, -1, 0) and len(node.args) + len(node.keywords) == 3:
        rows = file.text(arr)
        if not constant(axis):
            rows = f"{rows}.T" if isinstance(arr, ast.Name | ast.Attribute | ast.Call) else f"({rows}).T"
        fixes.append(Fix("up.map", "checked", (file.swap(node, f"up.map({file.text(function)}, {rows})"),), UP))
    file.report("UPS122", node, "np.apply_along_axis calls the function for every row; up.map batches it", *fixes)


@on_loop
def _look_at_loop(file: File, node: ast.For | ast.ListComp | ast.GeneratorExp | ast.SetComp) -> None:
    if file.scope.graph or file.scope.name in file.compiled:
        return
    if isinstance(node, ast.For):
        looked = _loops_over_elements(file, node) or _loops_over_indices(file, node)
        if looked:
            message = f"a Python loop over the elements of {looked!r}; use array operations or up.map"
            file.report("UPS123", node, message, *loop_fixes(file, node, "numpy"))
    elif isinstance(node, ast.ListComp) and len(node.generators) == 1:
        kind = file.kind(node.generators[0].iter)
        if _is_large(kind) and _is_arithmetic(file, [node.elt]):
            name = file.text(node.generators[0].iter)
            file.report(
                "UPS123",
                node,
                f"a comprehension over the elements of {name!r}; use array operations or up.map",
                *_as_one(file, node, kind),
                *_as_map(file, node),
            )

    elif isinstance(node, ast.GeneratorExp) and len(node.generators) == 1:
        _look_at_generator(file, node)


_TAKERS = {"sum": "sum", "min": "min", "max": "max", "list": "", "tuple": ""}
"""Functions that take all elements, and the array's method that does so."""


def _taker(file: File, node: ast.expr) -> tuple[ast.Call | None, str]:
    """`sum(...)` around an expression that is its only argument."""
    call = file.parents.get(node)
    name = getattr(call.func, "id", "") if isinstance(call, ast.Call) else ""
    own = name in file.functions or file.scope.kind(name) is not None or name in file.imports
    if not isinstance(call, ast.Call) or name not in _TAKERS or own or len(call.args) != 1 or call.keywords:
        return None, ""
    return call, name


def _look_at_generator(file: File, node: ast.GeneratorExp) -> None:
    """`sum(x * x for x in xs)`."""
    generator = node.generators[0]
    call, name = _taker(file, node)
    kind = file.kind(generator.iter)
    if call is None or not _is_large(kind) or not _is_arithmetic(file, [node.elt]):
        return
    fixes: list[Fix] = []
    over, target = generator.iter, generator.target
    if not generator.ifs and isinstance(target, ast.Name) and isinstance(over, ast.Name):
        verdict = judge(file, Body((target.id,), node.elt), "numpy", division=kind.dtype == "float")
        if verdict:
            fixes.append(_taken(file, call, name, "vectorised", f"({fill_in(file, node.elt, {target.id: over.id})})"))
        fixes.append(_taken(file, call, name, "up.map", f"up.map({_function(file, node.elt, target.id)}, {over.id})"))
    text = file.text(over)
    file.report("UPS123", call, f"{name} of a generator over the elements of {text!r}; use array operations", *fixes)


@on_builtin("map")
def _look_at_builtin_map(file: File, node: ast.Call, name: str) -> None:
    """`list(map(f, xs))`."""
    call, taker = _taker(file, node)
    if call is None or len(node.args) != 2 or node.keywords or not _is_large(file.kind(node.args[1])):
        return
    given, over = node.args
    plain = isinstance(given, ast.Lambda) and _is_arithmetic(file, [given.body])
    if not plain and not (isinstance(given, ast.Name) and _computes(file, file.functions.get(given.id))):
        return
    mapped = f"up.map({file.text(given)}, {file.text(over)})"
    fixes = [_taken(file, call, taker, "up.map", mapped)] if isinstance(over, ast.Name) else []
    file.report("UPS123", call, f"map over the elements of {file.text(over)!r}; use array operations or up.map", *fixes)


def _taken(file: File, call: ast.Call, taker: str, name: str, array: str) -> Fix:
    """What a function that takes all elements makes of an array."""
    method = _TAKERS[taker]
    text = f"{array}.{method}()" if method else f"{taker}({array})"
    return Fix(name, "checked", (file.swap(call, text),), UP if name == "up.map" else ())


def _function(file: File, element: ast.expr, name: str) -> str:
    """An expression of one name, as a function of it."""
    plain = isinstance(element, ast.Call) and isinstance(element.func, ast.Name) and not element.keywords
    if plain and [getattr(a, "id", "") for a in element.args] == [name]:  # type: ignore[attr-defined]
        return element.func.id  # type: ignore[attr-defined, no-any-return]
    return f"lambda {name}: {file.text(element)}"


def _is_large(kind: Kind) -> bool:
    """A line of numbers, not a short one."""
    return kind.what == "array" and kind.rank == 1 and (kind.size is None or kind.size >= 100)


def _loops_over_elements(file: File, node: ast.For) -> str:
    """`for x in xs`, `for i, x in enumerate(xs)`, `for x, y in zip(xs, ys)`: the array."""
    over = [node.iter]
    if isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") in ("enumerate", "zip"):
        over = node.iter.args
    elif not isinstance(node.target, ast.Name):
        return ""
    array = next((a for a in over if _is_large(file.kind(a))), None)
    return file.text(array) if array is not None and _is_arithmetic(file, node.body) else ""


def _loops_over_indices(file: File, node: ast.For) -> str:
    """`for i in range(...)`: the array that is read at `i`."""
    iterable = node.iter
    if not (isinstance(iterable, ast.Call) and getattr(iterable.func, "id", "") == "range" and len(iterable.args) == 1):
        return ""
    if not isinstance(node.target, ast.Name) or not _is_arithmetic(file, node.body):
        return ""
    count = file.count(iterable.args[0])
    short = count is not None and count < 100
    for statement in node.body:
        for inner in ast.walk(statement):
            base, places = _indexed(inner)
            if not isinstance(base, ast.Name) or getattr(places[0], "id", "") != node.target.id:
                continue
            kind = file.kind(base)
            if len(places) == 1:
                if isinstance(inner.ctx, ast.Load) and _is_large(kind) and not short:  # type: ignore[attr-defined]
                    return base.id
                continue
            whole = kind.what == "array" and kind.rank == len(places)
            if isinstance(statement, ast.For) and whole and (kind.size or 1000) >= 1000:
                return base.id
    return ""


def _indexed(node: ast.AST) -> tuple[ast.AST, list[ast.expr]]:
    """The array and the indices of `x[i]`, `x[i, j]` or `x[i][j]`."""
    places: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        places = [*(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]), *places]
        node = node.value
    return (node, places) if places else (ast.Pass(), [])


_WORK = (
    *(ast.Assign, ast.AugAssign, ast.If, ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Name, ast.Constant),
    *(ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Subscript, ast.IfExp, ast.Attribute),
    *(ast.Continue, ast.Break, ast.Pass, ast.Expr, ast.Tuple, ast.For),
)
_IN_FUNCTIONS = (*_WORK, ast.Return, ast.arguments, ast.arg, ast.While)
_OF_NUMBERS = frozenset(
    "sin cos tan exp log log10 log2 log1p sqrt abs square sign floor ceil tanh arctan2 hypot power maximum minimum "
    "float64 float32 int64 int32 isnan isfinite".split()
)
"""NumPy's functions whose result is a number where their argument is."""


def _is_arithmetic(file: File, body: list[ast.stmt] | list[ast.expr]) -> bool:
    """Whether a body only computes with numbers, at least once."""
    works = False
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.Call):
                if not _is_known_call(file, node):
                    return False
                works = works or getattr(node.func, "attr", "append") != "append"
                works = works or getattr(node.func, "id", "") in {"abs", *file.functions}
            elif not isinstance(node, _WORK):
                return False
            works = works or isinstance(node, ast.BinOp | ast.Compare)
            works = works or (isinstance(node, ast.AugAssign) and not isinstance(node.value, ast.Constant))
    return works


def _is_known_call(file: File, node: ast.Call) -> bool:
    if isinstance(node.func, ast.Name):
        named = node.func.id in ("abs", "min", "max", "round", "float", "int", "range", "len")
        return named or _computes(file, file.functions.get(node.func.id))
    if isinstance(node.func, ast.Attribute) and node.func.attr == "append" and len(node.args) == 1:
        return True
    library, _, short = file.dotted(node.func).partition(".")
    return library == "math" or (library == "numpy" and short in _OF_NUMBERS)


def _computes(file: File, function: ast.FunctionDef | None) -> bool:
    """Whether a function of the file only computes with numbers, by itself."""
    if function is None or function.decorator_list or not any(isinstance(n, ast.BinOp) for n in ast.walk(function)):
        return False
    parts = [n for statement in function.body for n in ast.walk(statement)]
    local = [n for n in parts if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    if any(n.func.id in file.functions for n in local):  # type: ignore[attr-defined]
        return False
    return all(_is_known_call(file, n) if isinstance(n, ast.Call) else isinstance(n, _IN_FUNCTIONS) for n in parts)


def _as_map(file: File, node: ast.ListComp) -> list[Fix]:
    """`[f(x) for x in xs]` as `list(up.map(f, xs))`; inside np.array, as the map alone."""
    generator = node.generators[0]
    if generator.ifs or not isinstance(generator.target, ast.Name) or not isinstance(generator.iter, ast.Name):
        return []
    text = f"up.map({_function(file, node.elt, generator.target.id)}, {generator.iter.id})"
    if (array := _array_around(file, node)) is not None:
        return [Fix("up.map", "checked", (file.swap(array, text),), UP)]
    ways = {"up.map": f"list({text})", "up.map, tolist": f"{text}.tolist()"}
    return [Fix(name, "checked", (file.swap(node, way),), UP) for name, way in ways.items()]


def _array_around(file: File, node: ast.ListComp) -> ast.Call | None:
    """The call of np.array that takes nothing but a comprehension."""
    around = file.parents.get(node)
    alone = isinstance(around, ast.Call) and len(around.args) == 1 and not around.keywords
    return around if isinstance(around, ast.Call) and alone and file.dotted(around.func) == "numpy.array" else None


def _as_one(file: File, node: ast.ListComp, kind: Kind) -> list[Fix]:
    """`[x * x for x in xs]` as `list(xs * xs)`, whose elements are of the same class; inside np.array, as `xs * xs`."""
    generator = node.generators[0]
    if generator.ifs or not isinstance(generator.target, ast.Name) or not isinstance(generator.iter, ast.Name):
        return []
    verdict = judge(file, Body((generator.target.id,), node.elt), "numpy", division=kind.dtype == "float")
    if not verdict:
        return []
    text = fill_in(file, node.elt, {generator.target.id: generator.iter.id})
    array = _array_around(file, node)
    edit = file.swap(node, f"list({text})") if array is None else file.swap(array, text)
    return [Fix("vectorised", "safe" if verdict == "exact" and kind.dtype == "float" else "checked", (edit,))]
