"""What the machine costs: measured once, kept on disk, corrected by what compilations took."""

from __future__ import annotations

import dataclasses
import math
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from upshift import config, folder
from upshift.plan import calibration as module
from upshift.plan import disk
from upshift.plan.calibration import TYPICAL, Calibration, calibration, note_compile

SECONDS = [field.name for field in dataclasses.fields(Calibration) if field.name != "cores"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Every test has a folder of its own, in a process that has not measured yet."""
    monkeypatch.setenv("UPSHIFT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(disk, "EVERY", 3600.0)
    monkeypatch.setattr(folder, "_said", set())
    restart(monkeypatch)
    yield tmp_path / "cache"
    for book in list(disk._notebooks):
        book.begin()  # nothing is left for the folder of the next test


def restart(monkeypatch):
    """As a new process begins: only what is on disk is known."""
    monkeypatch.setattr(module, "NOTEBOOK", disk.Notebook())
    for name, value in (("found", None), ("compilations", 0), ("measured", 0.0)):
        monkeypatch.setattr(module._Current, name, value)


@pytest.fixture
def measured(monkeypatch):
    """How often the machine was measured."""
    times = []
    measure = module._measure
    monkeypatch.setattr(module, "_measure", lambda: (times.append(1), measure())[1])
    monkeypatch.setattr(module, "_is_watched", lambda: False)  # coverage may look at this very test
    return times


def far(seconds):
    """Every probe takes so long."""
    return dict.fromkeys(module._PROBES, lambda: seconds)


def test_what_is_measured_is_plausible():
    found = calibration()
    for name in SECONDS:
        assert TYPICAL.__getattribute__(name) / 101 < getattr(found, name) < TYPICAL.__getattribute__(name) * 101
    assert found.cores == (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    assert found.stream < found.ufunc
    assert found.step < found.thread


def test_it_is_measured_once(measured, monkeypatch):
    found = calibration()
    assert calibration() is found
    module.NOTEBOOK.flush()
    restart(monkeypatch)
    assert calibration() == found
    assert len(measured) == 1


def test_it_outlives_the_process():
    code = "from upshift.plan.calibration import calibration; print(calibration())"
    told = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout for _ in range(2)}
    assert len(told) == 1 and "Calibration" in told.pop()


def test_cores_are_those_of_the_process(measured, monkeypatch):
    found = calibration()
    module.NOTEBOOK.flush()
    restart(monkeypatch)
    monkeypatch.setattr(module, "_cores", lambda: 77)
    assert calibration() == dataclasses.replace(found, cores=77)


@pytest.mark.parametrize("name", [*SECONDS, "measured"])
@pytest.mark.parametrize("value", [None, "1e-8", -1.0, 0.0, 1e9, 10**400, [1.0]])
def test_a_note_that_makes_no_sense_is_measured_again(name, value, measured, monkeypatch):
    calibration()
    note = module.NOTEBOOK.read(module.KEY)
    restart(monkeypatch)
    module.NOTEBOOK.write(module.KEY, {**note, name: value} if value is not None else {name: 1})
    assert all(type(getattr(calibration(), name)) is float for name in SECONDS)
    assert len(measured) == 2


def test_an_old_note_is_measured_again(measured, monkeypatch):
    calibration()
    note_compile(0.25)
    then = module.NOTEBOOK.read(module.KEY)["measured"]
    monkeypatch.setattr(time, "time", lambda: then + module.KEPT_SECONDS - 1)
    note_compile(0.25)  # which makes nothing else newer
    module.NOTEBOOK.flush()
    restart(monkeypatch)
    calibration()
    assert len(measured) == 1
    monkeypatch.setattr(time, "time", lambda: then + module.KEPT_SECONDS + 1)
    restart(monkeypatch)
    calibration()
    assert len(measured) == 2


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e-30, 1e3, math.inf])
def test_accidents_are_bounded(seconds, monkeypatch):
    monkeypatch.setattr(module, "_PROBES", far(seconds))
    monkeypatch.setattr(module, "_time_thread", lambda pool: seconds)
    found = calibration()
    for name in SECONDS:
        assert 0.009 < getattr(found, name) / getattr(TYPICAL, name) < 101


def test_measuring_ends_on_a_slow_machine(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now.__setitem__(0, now[0] + 0.03) or now[0])
    began = now[0]
    calibration()
    assert now[0] - began < 1.0  # every look at the clock takes 30 ms: one round, and no second one


def test_the_best_round_counts(monkeypatch):
    rounds = iter([9e-8, 5e-8, 7e-8, 4e-7, 4e-8, 6e-8, 8e-8])
    monkeypatch.setattr(module, "_PROBES", {**far(1e-8), "call": lambda: next(rounds)})
    assert calibration().call == 4e-8


def test_where_no_thread_can_be_started(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert calibration().thread == TYPICAL.thread * module.FARTHEST


def test_compilations_correct_the_guess(measured, monkeypatch):
    guess = calibration().compile
    assert guess == pytest.approx(calibration().call * module.CALLS_PER_COMPILATION)
    note_compile(0.5)
    assert calibration().compile == 0.5
    note_compile(1.0)
    assert 0.5 < calibration().compile < 0.75
    known = calibration()
    module.NOTEBOOK.flush()
    restart(monkeypatch)
    assert calibration() == known
    note_compile(0.5)
    assert 0.5 < calibration().compile < known.compile
    assert len(measured) == 1


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf])
def test_compilations_that_took_no_time_do_not_count(seconds):
    before = calibration()
    note_compile(seconds)
    assert calibration() == before


def test_a_watched_process_keeps_its_figures_to_itself(place):
    before = sys.getprofile()
    sys.setprofile(lambda *event: None)
    try:
        calibration()
    finally:
        sys.setprofile(before)
    assert module.NOTEBOOK.read(module.KEY) is None


def test_disabled(measured, place):
    with config(disable=True):
        assert calibration() == dataclasses.replace(TYPICAL, cores=module._cores())
        note_compile(1.0)
    assert not measured and not place.exists()
    assert module._Current.found is None


def test_threads_measure_once(measured):
    found = []
    threads = [threading.Thread(target=lambda: found.append(calibration())) for _ in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(found) == 6 and len(set(found)) == 1 and len(measured) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_forked_while_a_thread_measures():
    release, holds = threading.Event(), threading.Event()

    def hold():
        with module._Current.lock:
            holds.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    pid = os.fork()
    if not pid:
        signal.alarm(30)  # a child that hangs is ended
        os._exit(0 if calibration().call > 0 else 1)
    release.set()
    thread.join()
    assert os.waitpid(pid, 0)[1] == 0
