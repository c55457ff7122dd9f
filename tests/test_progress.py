"""Maps that are watched: a failure where a gear does not tell how far it is, or results are others."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import upshift as up
from upshift.views import progress

XS = np.random.default_rng(0).normal(size=20_000)
WANTED = [x * x if x > 0 else -x for x in XS]


def f(x):
    return x * x if x > 0 else -x


@pytest.fixture(autouse=True)
def every_look(monkeypatch):
    monkeypatch.setattr(progress, "APART", 0.0)


@pytest.mark.parametrize("gear", [None, "loop", "numpy", "llvm", "simd", "threads", "processes"])
def test_every_gear_tells(gear):
    if gear == "processes":
        pytest.importorskip("cloudpickle")
    n = {None: 4000, "threads": len(XS), "processes": len(XS)}.get(gear, 400)  # a look is at one element here
    seen = []
    made = up.map(f, XS[:n], gear=gear, progress=seen.append)
    assert np.array_equal(made, WANTED[:n])
    counts = [p.done for p in seen]
    assert counts == sorted(counts) and counts[-1] == n and len(set(counts)) > 2
    assert all(p.total == n and p.rate >= 0 for p in seen)
    if gear is not None:
        assert seen[-2].gear == gear


def test_records_tables_and_iterators():
    pd = pytest.importorskip("pandas")
    seen = []
    rows = [{"a": x, "b": 2.0} for x in XS[:300]]
    for xs in (rows, iter(rows), pd.DataFrame(rows).to_dict("list"), pd.DataFrame(rows)):
        seen.clear()
        assert np.array_equal(up.map(lambda r: r["a"] * r["b"], xs, progress=seen.append), XS[:300] * 2)
        assert seen[-1].done == seen[-1].total == 300


def test_off_by_default_and_by_name(capsys):
    up.map(f, XS)
    up.map(f, XS, progress=False)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(TypeError, match="progress"):
        up.map(f, XS, progress=3)
    assert up.map(lambda x, progress: x + progress, [1, 2], progress=3).tolist() == [4, 5]


def test_a_map_within_a_map_is_not_counted():
    seen = []
    up.map(lambda x: float(np.sum(up.map(f, XS[:20]))), [1.0] * 30, progress=seen.append)
    assert seen[-1].total == 30 and max(p.done for p in seen) == 30


def test_errors_come_through_and_the_bar_is_closed(capsys):
    with pytest.raises(ZeroDivisionError):
        up.map(lambda x: 1 / x, [1.0, 2.0, 0.0], progress=True)
    up.map(f, XS[:10], progress=True)
    assert "100% 10 of 10 elements" in capsys.readouterr().err

    def stop(p):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        up.map(f, XS, progress=stop)


class Terminal:
    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


def test_a_terminal_has_a_bar(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys, "stderr", Terminal())
    up.map(f, XS[:100], progress=True)
    assert "100 of 100 elements" in sys.stderr.text.replace("\n", " ")
    monkeypatch.setattr(progress.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    up.map(f, XS[:100], progress=True)
    assert sys.stderr.text.count("\r") > 2 and sys.stderr.text.endswith("\n")


def test_a_notebook_has_its_own(monkeypatch):
    shown = []

    class ZMQInteractiveShell:
        pass

    handle = types.SimpleNamespace(update=shown.append)
    display = types.SimpleNamespace(display=lambda html, display_id: shown.append(html) or handle, HTML=str)
    notebook = types.SimpleNamespace(get_ipython=ZMQInteractiveShell, display=display)
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    up.map(f, XS[:100], progress=True)
    assert len(shown) > 2 and 'value="100" max="100"' in shown[-1]
