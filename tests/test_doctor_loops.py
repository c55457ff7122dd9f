"""Loops that the doctor writes as maps of one round: each form is run in place of the loop, and the output compared."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from upshift.doctor.examine import examine
from upshift.doctor.fixing import fix, look
from upshift.doctor.running.measure import run
from upshift.doctor.running.treatment import same_output
from upshift.doctor.sources import Source, read

HEAD = """import math
import numpy as np
rng = np.random.default_rng(3)
xs = rng.random(400)
ys = rng.random(400)
out = np.full(400, -1.0)
image = rng.random((30, 40))
limit = 0.5
def f(x):
    if x > limit:
        return x * 2
    return -x
"""
TAIL = "\nprint(out.tolist(), image.tolist())\n"

ALONE = {
    "append": "made = []\nfor x in xs:\n    made.append(x * 2)\nprint(made)",
    "append, temporary": "made = []\nfor x in xs:\n    w = x * 2\n    made.append(w + 1)  # shifted\nprint(made)",
    "append a call": "made = []\nfor x in xs:\n    made.append(f(x))\nprint(made)",
    "append to a list with something in it": "made = [0.5]\nfor x in xs:\n    made.append(x + 1)\nprint(made)",
    "sum": "s = 0.0\nfor x in xs:\n    s += x * x\nprint(s)",
    "sum onto something": "s = np.float64(7.0)\nfor x in xs:\n    s += math.sin(x)\nprint(s)",
    "sum of some": "s = 0.0\nfor x in xs:\n    if x > limit:\n        s += x * x\nprint(s)",
    "set": "for i in range(len(xs)):\n    out[i] = xs[i] * 2 + 1",
    "set, by shape": "for i in range(xs.shape[0]):\n    out[i] = xs[i] * 2 if xs[i] > limit else 0.0",
    "set a part": "for i in range(200):\n    out[i] = xs[i] * 2 + ys[i]",
    "set some": "for i in range(400):\n    if xs[i] > limit:\n        out[i] = xs[i] * i",
    "set from itself": "for i in range(len(xs)):\n    out[i] = out[i] + xs[i] * 2",
    "set two": "zs = np.zeros(400)\n"
    "for i in range(400):\n    out[i] = xs[i] * 2\n    zs[i] = ys[i] + 1\nprint(zs.tolist())",
    "add to an item": "for i in range(400):\n    out[i] += xs[i] * 2",
    "enumerate": "for i, x in enumerate(xs):\n    out[i] = x * 2 + f(x)",
    "zip": "made = []\nfor x, y in zip(xs, ys):\n    made.append(x * y if x > y else y)\nprint(made)",
    "inner loop": "made = []\nfor x in xs:\n    t = 0.0\n    for _ in range(3):\n        t += x * t + x\n"
    "    made.append(t)\nprint(made)",
    "rows": "for i in range(image.shape[0]):\n    for j in range(image.shape[1]):\n"
    "        image[i, j] = i * j + image[i, j] if image[i, j] > 0.2 else -1.0",
    "rows, a whole array read": "src = image.copy()\nfor i in range(30):\n    for j in range(30):\n"
    "        image[i, j] = image[i, j] * 2 + src[j, i]",
    "in a function": "def g():\n    a = np.linspace(0, 1, 300)\n    b = np.zeros(300)\n    for k in range(300):\n"
    "        b[k] = a[k] * 2 + 1\n    return b\nprint(g().tolist())",
}
TOGETHER = {
    "carried": "last = 0.0\nfor i in range(400):\n    out[i] = xs[i] + last\n    last = xs[i]",
    "the round before": "for i in range(1, 400):\n    out[i] = out[i - 1] + xs[i]",
    "read as a whole": "for i in range(400):\n    out[i] = xs[i] + out[0]",
    "stops early": "s = 0.0\nfor x in xs:\n    if x > 0.99:\n        break\n    s += x * 2\nprint(s)",
    "leaves its variable": "s = 0.0\nfor x in xs:\n    s += x * 2\nprint(s, x)",
    "leaves a temporary": "made = []\nfor x in xs:\n    w = x * 2\n    made.append(w + 1)\nprint(w, made)",
    "an else": "s = 0.0\nfor x in xs:\n    s += x * 2\nelse:\n    s = -s\nprint(s)",
    "the sum is read": "s = 0.0\nmade = []\nfor x in xs:\n    s += x * 2\n    made.append(s + 1)\nprint(made)",
    "a product": "s = 1.0\nfor x in xs:\n    s *= x + 0.5\nprint(s)",
    "two appended": "a, b = [], []\nfor x in xs:\n    a.append(x * 2)\n    b.append(x + 1)\nprint(a, b)",
    "one name written elsewhere": "for i in range(399):\n    out[i + 1] = xs[i] * 2",
}


EXPRESSIONS = {
    "sum": "s = sum(x * x for x in xs)\nprint(s)",
    "sum of calls": "print(sum(f(x) for x in xs))",
    "max": "print(max(abs(x - limit) for x in xs))",
    "min, in a function": "def g(k):\n    zs = np.linspace(-1, 1, 300)\n"
    "    return min(z * k for z in zs)\nprint(g(3.0))",
    "tuple": "made = tuple(x * 2 for x in xs)\nprint(made, type(made[0]))",
    "list of a map": "made = list(map(f, xs))\nprint(made, type(made[0]))",
    "sum of a map": "print(sum(map(lambda x: x * x + 1, xs)))",
}


def loop_findings(text: str) -> list:
    return [f for f in examine("x.py", text) if f.code == "UPS123"]


def output_of(path: str, text: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        made = run(Source(path, text), [], replay=False)
    assert not made.error, f"{made.error}\n{text}"
    return printed.getvalue()


@pytest.mark.parametrize("name", [*ALONE, *EXPRESSIONS])
def test_every_form_that_was_found_equal_prints_the_same(name: str, tmp_path: Path) -> None:
    text = HEAD + (ALONE | EXPRESSIONS)[name] + TAIL
    path = tmp_path / "script.py"
    path.write_text(text)
    printed = output_of(str(path), text)
    with contextlib.redirect_stdout(io.StringIO()):
        made = run(read(str(path)), [])
    (measured,) = made.measured
    assert measured.record.calls == 1
    good = {t.name for t in measured.trials if t.verdict in ("equal", "close")}
    assert good & {"vectorised", "up.map"}, (measured.note, measured.trials)
    for form in good:
        new = fix(Source(str(path), text), choice=lambda f, form=form: next(o for o in f.fixes if o.name == form)).text
        assert new != text
        assert same_output(printed, output_of(str(path), new)), new
        assert not [f for f in look(Source(str(path), new)) if f.code == "UPS123" and f.fixes]


@pytest.mark.parametrize("name", TOGETHER)
def test_rounds_that_do_not_stand_alone_stay(name: str) -> None:
    assert not [fix for f in loop_findings(HEAD + TOGETHER[name] + TAIL) for fix in f.fixes]


@pytest.mark.parametrize(
    "loop",
    [
        "out = xs\nfor i in range(400):\n    out[i] = xs[i - 1] * 2 + xs[i]\n",  # one array by two names
        "count = 0\nfor x in xs:\n    if x > limit:\n        count += 1\nprint(type(count))\n",  # a Python int
        "whole = np.zeros(400, int)\nfor i in range(400):\n    whole[i] = xs[i] * 5\nmade = []\n"
        "for x in whole:\n    made.append(x * 1.5 if x > 2 else x + 1)\nprint(made)\n",  # ints among floats
    ],
)
def test_what_differs_is_not_written(loop: str, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(HEAD + loop + TAIL)
    with contextlib.redirect_stdout(io.StringIO()):
        made = run(read(str(path)), [])
    last = made.measured[-1] if "made" in loop else made.measured[0]
    assert last.trials and all(t.verdict == "differs" for t in last.trials if t.name == "up.map"), last.trials


def test_comments_stay() -> None:
    text = HEAD + "# before\nfor i in range(len(xs)):\n    # inside\n    out[i] = xs[i] * 2  # after\n" + TAIL
    made = fix(Source("x.py", text), choice=lambda f: next(o for o in f.fixes if o.name == "up.map")).text
    assert "# before\n# inside\n# after\nout[:len(xs)] = up.map(lambda xs_i: xs_i * 2, xs)\n" in made


def test_functions_with_effects_are_not_called_again(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(HEAD + "def noisy(x):\n    return x * np.random.random()\nmade = list(map(noisy, xs))\n")
    assert loop_findings(path.read_text()) == []
    path.write_text(HEAD + "seen = []\nmade = sum(seen.append(x * 2) or x * 2 for x in xs)\nprint(len(seen))\n")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        made = run(read(str(path)), [])
    assert printed.getvalue() == "400\n" and made.allowed() == {}
