"""`up.profile` sees every map and puts everything back; `upshift profile` and `upshift cache` in words."""

from __future__ import annotations

import gc
import importlib
import json
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import upshift as up
from upshift.cli import main
from upshift.profiling import places
from upshift.profiling.probes import _owner


def cube(x):
    return x * x * x


def _there(place):
    importlib.import_module(place.module)
    owner, name = _owner(place)
    return None if owner is None else vars(owner).get(name)


@pytest.mark.parametrize("place", [*places.PLACES, *places.LANES, *places.LATER], ids=lambda p: f"{p.module}.{p.name}")
def test_every_place_is_there(place):
    if place in places.LATER:
        pytest.importorskip("tensorflow" if place in places.TENSORS else "numba")
    assert callable(_there(place))


def test_all_is_put_back_and_errors_pass():
    before = [_there(place) for place in places.PLACES]
    with pytest.raises(ZeroDivisionError), up.profile():
        up.map(lambda x: 1 / x, [1, 0])
    assert [_there(place) for place in places.PLACES] == before


def test_calls_elements_sites_and_gears():
    xs = np.linspace(0, 1, 200_000)
    with up.profile() as p:
        for _ in range(3):
            ys = up.map(cube, xs)
        up.map(lambda x: x + 1, [1.0, 2.0], gear="loop")
    assert ys.tolist() == [cube(x) for x in xs]
    told = p.to_dict()
    assert told["calls"] == 4 and told["elements"] == 600_002
    first = next(site for site in told["sites"] if site["function"] == "cube")
    assert first["calls"] == 3 and first["where"].startswith("test_profile.py:") and first["gears"]
    assert sum(first["phases"].values()) == pytest.approx(first["seconds"])
    assert "cube" in str(p)


def test_the_trace_is_chromes(tmp_path):
    with up.profile() as p:
        up.map(cube, np.linspace(0, 1, 5_000))
    events = json.loads(p.save(tmp_path / "trace.json").read_text())["traceEvents"]
    (call,) = [event for event in events if event["cat"] in (places.MAP, places.SETTLED)]
    assert call["args"]["elements"] == 5_000 and "cube" in call["name"]
    for event in events:
        assert event["ph"] == "X" and event["dur"] >= 0 and event["ts"] >= 0
    assert "<html" in p.save(tmp_path / "p.html").read_text()


def test_maps_inside_maps_and_other_threads():
    """A map inside a mapped function is part of the outer one; one on another thread is a call by itself."""
    with up.profile() as p:
        up.map(lambda x: sum(up.map(cube, [x, x], gear="loop")), [1.0, 2.0], gear="loop")
        threads = [threading.Thread(target=up.map, args=(cube, [1.0] * n)) for n in (3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    told = p.to_dict()
    assert told["calls"] == 3 and told["elements"] == 2 + 3 + 4
    for site in told["sites"]:
        assert sum(site["phases"].values()) >= site["seconds"] * 0.999


def test_the_users_data_is_not_held():
    xs = np.linspace(0, 1, 1000)
    held = weakref.ref(xs)
    with up.profile() as p:
        made = weakref.ref(up.map(cube, xs, gear="loop"))
        del xs
    gc.collect()
    assert held() is None and made() is None and p.to_dict()["calls"] == 1


def test_nothing_called():
    with up.profile() as p:
        pass
    assert "no map was called" in str(p)


SCRIPT = "import sys, upshift as up\nprint(sum(up.map(lambda x: x + 1, [1.0, 2.0])), sys.argv[1:])\nsys.exit(3)\n"


def test_the_command(tmp_path, capsys):
    script = tmp_path / "a script.py"
    script.write_text(SCRIPT)
    assert main(["profile", "-o", str(tmp_path / "t.json"), str(script), "--own", "x"]) == 3
    out = capsys.readouterr().out
    assert out.startswith("5.0 ['--own', 'x']\n") and "a script.py:2" in out
    assert json.loads((tmp_path / "t.json").read_text())["calls"] == 1


def test_a_script_that_ends_with_a_word(tmp_path, capsys):
    script = tmp_path / "ends.py"
    script.write_text("raise SystemExit('no input')\n")
    assert main(["profile", str(script)]) == 1
    assert capsys.readouterr().err == "no input\n"


@pytest.mark.parametrize("words", [[], ["nowhere.py"], ["-o", "x.pdf", __file__]])
def test_bad_words(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["profile", *words])
    assert stop.value.code == 2 and "upshift profile" in capsys.readouterr().err


def test_the_cache(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("UPSHIFT_CACHE_DIR", str(tmp_path / "kept"))
    (tmp_path / "kept" / "code").mkdir(parents=True, mode=0o700)
    (tmp_path / "kept").chmod(0o700)
    (tmp_path / "kept" / "code" / "a.o").write_bytes(b"12")
    assert main(["cache"]) == 0 and "1 files" in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0 and "1 files" in capsys.readouterr().out
    assert main(["cache", "info"]) == 0 and "0 files" in capsys.readouterr().out


def test_workers_and_what_travels_to_them():
    with up.profile() as p:
        up.map(cube, [1.0, 2.0, 3.0], gear="threads")
        up.map(cube, [1.0, 2.0, 3.0], gear="processes", workers=1)
    phases = {gear: site["phases"] for site in p.to_dict()["sites"] for gear in site["gears"]}
    assert places.WORKER in phases["threads"] and {places.WORKER, places.TRANSFER} <= set(phases["processes"])


def test_maps_over_tensors():
    tf = pytest.importorskip("tensorflow")
    import upshift.tensorflow as ut

    with up.profile() as p:
        ut.map_fn(lambda x: x * 2.0, tf.constant([1.0, 2.0]))
        for _ in range(3):
            ut.vectorized_map(lambda x: x + tf.reduce_sum(x), tf.ones((4, 3)))
        up.map(lambda x: tf.nn.relu(x), tf.constant([1.0, -2.0]))
        up.vectorize(cube)([1.0, 2.0])
    told = p.to_dict()
    assert told["calls"] == 6 and told["elements"] == 2 + 3 * 4 + 2 + 2
    assert all(site["where"].startswith("test_profile.py:") for site in told["sites"])
    assert all(site["device"] == "CPU" and site["traces"] >= 0 for site in told["sites"])


def test_what_is_loaded_while_a_profile_is_open():
    pytest.importorskip("tensorflow")
    code = (
        "import upshift as up\n"
        "with up.profile() as p:\n"
        "    import tensorflow as tf, upshift.tensorflow as ut\n"
        "    ut.map_fn(lambda x: tf.sin(x) if x > 0 else x, tf.constant([1.0, 2.0]))\n"
        "print(p.to_dict()['calls'], p.to_dict()['sites'][0]['elements'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["1", "2"], done.stderr[-2000:]


def test_decorated_functions_have_a_line():
    @up.function
    def total(x):
        made = 0.0
        for value in x:
            made += value
        return made

    xs = [0.5] * 20_000
    with up.profile() as p:
        for _ in range(60):
            total(xs)
    (site,) = [one for one in p.to_dict()["sites"] if one["function"].endswith("total")]
    assert site["calls"] >= 2 and 0 < site["seconds"] < 10 and "plain" in site["gears"]
    assert "estimates" in str(p) and f"{site['where']}" in str(p)
    names = {event["name"] for event in p.events()}
    assert any(name.startswith("function ") and name.endswith("total") for name in names)
    with up.profile() as again:
        total(xs)
    assert all(one["calls"] <= 60 for one in again.to_dict()["sites"])
