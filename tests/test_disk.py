"""Notes on disk: what comes back after a restart, what is ignored, and what survives kills, forks and crowds."""

from __future__ import annotations

import errno
import json
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from upshift import config, folder
from upshift.plan import disk
from upshift.plan.disk import Notebook

NOTE = {"gear": "numba", "rate": 1.5e-9, "sizes": [1, 2], "deep": {"a": None, "b": True}, "text": 'é\t\n":, {}'}
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Every test has a folder of its own, and a process that has said nothing yet."""
    monkeypatch.setenv("UPSHIFT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(folder, "_said", set())
    monkeypatch.setattr(disk, "EVERY", 3600.0)
    yield tmp_path / "cache"
    for book in list(disk._notebooks):
        book.begin()  # nothing is left for the folder of the next test


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO, "upshift")
    return caplog


def python(code, **env):
    """A process of its own, which has the folder of this test; what it prints."""
    code = "from upshift import folder; from upshift.plan import disk; from upshift.plan.disk import Notebook\n" + code
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.strip()


def stored(**notes):
    """The file that a notebook with these notes leaves."""
    book = Notebook()
    for key, note in notes.items():
        book.write(key, note)
    book.flush()
    return book._file(folder.folder())


def in_child(work):
    """What `work` does in a forked child; whether it went well. A child that hangs is ended."""
    pid = os.fork()
    if not pid:
        signal.alarm(30)
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0


# ---- there and back


@pytest.mark.parametrize("key", ["k", "", 'a":\t[1,\n', "ключ", "x" * 500, "\udc80"])
def test_a_note_comes_back(key):
    book = Notebook()
    book.write(key, NOTE)
    assert book.read(key) == NOTE
    book.flush()
    assert book.read(key) == NOTE
    assert Notebook().read(key) == NOTE
    assert Notebook().read(key + "?") is None


def test_a_note_is_what_it_was_when_written():
    book, note = Notebook(), {"sizes": [1]}
    book.write("k", note)
    note["sizes"].append(2)
    book.read("k")["sizes"].append(3)
    assert book.read("k") == {"sizes": [1]}


def test_the_file_is_plain_json():
    file = stored(a={"x": 1}, b=NOTE)
    notes = json.loads(file.read_text())["notes"]
    assert {key: note for key, (_, _, note) in notes.items()} == {"a": {"x": 1}, "b": NOTE}
    assert file.stat().st_mode & 0o777 == 0o600


def test_notes_are_written_at_exit():
    python("Notebook().write('k', {'a': 1})\nNotebook().write('l', {'a': 2})")
    assert python("print(disk.NOTEBOOK.read('k'), disk.NOTEBOOK.read('l'))") == "{'a': 1} {'a': 2}"


def test_notes_are_written_before_exit(monkeypatch):
    monkeypatch.setattr(disk, "EVERY", 0.0)
    book = Notebook()
    for key in ("k", "l"):
        book.write(key, {"a": 1})
        until = time.monotonic() + 30
        while Notebook().read(key) is None and time.monotonic() < until:
            time.sleep(0.01)
        assert Notebook().read(key) == {"a": 1}


def test_nothing_happens_before_the_first_note(place):
    python("import upshift")
    assert not place.exists()
    book = Notebook()
    book.write("k", {"a": 1})
    assert not place.exists()


@pytest.mark.parametrize("note", [{"a": float("nan")}, {"a": object()}, {"a": "x" * disk.MOST_NOTE}])
def test_what_cannot_be_kept_is_not(note, said):
    book = Notebook()
    book.write("k", note)
    book.write("k", note)
    assert book.read("k") is None
    assert [record.levelname for record in said.records] == ["WARNING"]


# ---- what is ignored


def ignored_and_replaced(file, said):
    """One line about it, however often it is read, and a good file in the end."""
    said.clear()
    folder._said.clear()
    book = Notebook()
    assert book.read("k") is None
    assert book.read("other") is None
    assert Notebook().read("k") is None
    book.write("k", {"a": 2})
    book.flush()
    assert [record.levelname for record in said.records] == ["INFO"], [record.getMessage() for record in said.records]
    assert str(file) in said.records[0].getMessage()
    assert Notebook().read("k") == {"a": 2}
    json.loads(file.read_text())


def another_head(data, **changes):
    head, _, rest = data.partition(disk._HEAD_ENDS)
    return json.dumps({**json.loads(head + b"}"), **changes})[:-1].encode() + disk._HEAD_ENDS + rest


DAMAGES = {
    "empty": lambda data: b"",
    "zeros": lambda data: bytes(len(data)),
    "not JSON": lambda data: b"\x80\x04\x95 no json",
    "a list": lambda data: b"[]",
    "a number": lambda data: b"1",
    "a dict of something else": lambda data: b"{}",
    "no notes": lambda data: data.partition(disk._HEAD_ENDS)[0] + b"}",
    "a list of notes": lambda data: data.replace(b'"notes": {', b'"notes": [').replace(b"\n}}\n", b"\n]}\n"),
    "a head of another shape": lambda data: b"[1" + disk._HEAD_ENDS + data.partition(disk._HEAD_ENDS)[2],
    "a deep head": lambda data: b"[" * 4000 + disk._HEAD_ENDS + data.partition(disk._HEAD_ENDS)[2],
    "JSON, but changed": lambda data: data.replace(b'"a": 1', b'"a": 7'),
    "JSON, but rewritten": lambda data: json.dumps(json.loads(data), indent=1).encode(),
    "huge": lambda data: data + b" " * (2 * disk.MOST_BYTES),
    "another format": lambda data: another_head(data, format=2),
    "another stamp": lambda data: another_head(data, stamp={**disk.stamp(), "numpy": "1.0"}),
    "a stamp of another shape": lambda data: another_head(data, stamp=[1]),
    "twice": lambda data: data + data,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_replaced(damage, said):
    file = stored(k={"a": 1}, l={"a": 1})
    file.write_bytes(damage(file.read_bytes()))
    ignored_and_replaced(file, said)


def test_a_file_cut_anywhere_is_replaced(said):
    file = stored(k={"a": 1}, l={"b": [1, 2]})
    data = file.read_bytes()
    for end in {*range(0, len(data), 7), *range(len(data) - 20, len(data))}:
        file.write_bytes(data[:end])
        ignored_and_replaced(file, said)


def test_a_bit_that_flipped_anywhere_is_seen():
    file = stored(k={"a": 1}, l={"b": [1, 2]})
    data = file.read_bytes()
    for at in range(len(data)):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 7]) + data[at + 1 :])
        assert Notebook().read("k") is None


@pytest.mark.parametrize("line", ["7", "[1,\t2]", '[1,\t2,\t"text"]', "[1,\t2,\t{]", "[x,\ty,\t{}]"])
def test_a_well_formed_file_of_other_notes_is_survived(line):
    file = stored(k={"a": 1})
    body = disk._body_of({'"k"': line, '"l"': '[1,\t2,\t{"a": 3}]'})
    file.write_bytes(disk._head_of(body) + body)
    book = Notebook()
    assert book.read("k") is None
    assert book.read("l") == {"a": 3}
    book.write("k", {"a": 4})
    book.flush()
    assert [Notebook().read(key) for key in "kl"] == [{"a": 4}, {"a": 3}]


@pytest.mark.skipif(os.name == "nt", reason="modes, links and pipes are POSIX")
@pytest.mark.parametrize("change", ["mode", "link", "pipe"])
def test_a_file_that_may_be_another_users_is_replaced(change, said, tmp_path):
    file = stored(k={"a": 1})
    if change == "mode":
        file.chmod(0o622)
    elif change == "link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    else:
        file.unlink()
        os.mkfifo(file)
    ignored_and_replaced(file, said)
    assert file.is_file() and not file.is_symlink()


def test_a_folder_in_place_of_the_file_is_survived(said):
    file = stored(k={"a": 1})
    file.unlink()
    file.mkdir()
    book = Notebook()
    book.write("k", {"a": 2})
    book.flush()
    book.flush()
    assert book.read("k") == {"a": 2}
    assert len(said.records) == 2  # it cannot be read, and not be replaced
    assert not list(file.parent.glob("*.tmp"))


# ---- the folder


def test_the_folder_is_made_for_this_user_alone(place):
    assert folder.folder() == place
    assert place.stat().st_mode & 0o777 == 0o700


def unused(said, *levels):
    """No folder: one line, no error, and notes for this process only."""
    assert folder.folder() is None
    book = Notebook()
    book.write("k", {"a": 1})
    book.flush()
    assert book.read("k") == {"a": 1}
    assert Notebook().read("k") is None
    assert [record.levelname for record in said.records] == list(levels)


def test_a_folder_that_cannot_be_made(tmp_path, monkeypatch, said):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("UPSHIFT_CACHE_DIR", str(tmp_path / "file" / "cache"))
    unused(said, "INFO")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(place, said):
    place.mkdir(mode=0o500)
    unused(said, "INFO")


def test_a_file_system_that_is_read_only(monkeypatch, said):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    unused(said, "INFO")


@pytest.mark.skipif(os.name == "nt", reason="modes and owners are POSIX")
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_a_folder_that_others_may_write_to(mode, place, said):
    place.mkdir()
    place.chmod(mode)
    unused(said, "WARNING")


@pytest.mark.skipif(os.name == "nt", reason="modes and owners are POSIX")
def test_a_folder_of_another_user(place, monkeypatch, said):
    place.mkdir()
    uid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    unused(said, "WARNING")


def test_no_home(monkeypatch, said):
    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("UPSHIFT_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", home)
    unused(said, "INFO")


@pytest.mark.skipif(sys.platform != "linux", reason="the variables of Linux")
@pytest.mark.parametrize("xdg", [None, "", "relative", "absolute"])
def test_the_users_folder(xdg, monkeypatch, tmp_path):
    platformdirs = pytest.importorskip("platformdirs")
    monkeypatch.delenv("UPSHIFT_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x") if xdg == "absolute" else xdg or "")
    if xdg is None:
        monkeypatch.delenv("XDG_CACHE_HOME")
    expected = tmp_path / ".cache" / "upshift" if xdg == "relative" else Path(platformdirs.user_cache_dir("upshift"))
    assert folder.folder() == expected and expected.is_relative_to(tmp_path)


def test_disabled(place):
    book = Notebook()
    with config(disable=True):
        book.write("k", {"a": 1})
        book.flush()
        assert book.read("k") is None
        assert folder.folder() is None
    assert book.read("k") is None
    code = "book = disk.NOTEBOOK; book.write('k', {}); book.flush(); print(book.read('k'), folder.folder())"
    place.rmdir()
    assert python(code, UPSHIFT_DISABLE="1") == "None None"
    assert not place.exists()


# ---- bounds


def test_notes_are_bounded_and_the_unused_are_dropped(monkeypatch):
    monkeypatch.setattr(disk, "MOST_NOTES", 50)
    monkeypatch.setattr(disk, "DAY", 0)  # every use counts
    book = Notebook()
    for i in range(120):
        book.write(f"k{i}", {"i": i})
        assert book.read("k0") == {"i": 0}
        if i % 10 == 0:
            book.flush()
    book.flush()
    kept = [i for i in range(120) if Notebook().read(f"k{i}")]
    assert 40 <= len(kept) <= 50
    assert kept == [0, *range(121 - len(kept), 120)]


def test_bytes_are_bounded(monkeypatch):
    monkeypatch.setattr(disk, "MOST_BYTES", 20_000)
    book = Notebook()
    for i in range(100):
        book.write(f"k{i}", {"text": "x" * 1000})
    book.flush()
    assert 10_000 < book._file(folder.folder()).stat().st_size < 21_000
    assert Notebook().read("k99") and not Notebook().read("k0")


def test_memory_is_bounded_where_there_is_no_disk(monkeypatch):
    monkeypatch.setattr(disk, "MOST_NOTES", 50)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    book = Notebook()
    for i in range(1000):
        book.write(f"k{i}", {"i": i})
    assert len(book.lines) <= 100
    assert book.read("k999") == {"i": 999}


def test_what_others_left_is_swept(place):
    file = stored(k={"a": 1})
    old, young = [place / f"{file.name}.{name}.tmp" for name in ("old", "young")]
    for path in (old, young, *(place / f"plans-{i}.json" for i in range(20)), place / "another.tmp"):
        path.write_text("")
        os.utime(path, (0, 0) if path != young else None)
    stored(l={"a": 1})
    left = sorted(path.name for path in place.iterdir())
    assert young.name in left and "another.tmp" in left and old.name not in left
    assert len([name for name in left if name.endswith(".json")]) == disk.MOST_FILES
    assert [Notebook().read(key) for key in "kl"] == [{"a": 1}] * 2


# ---- several at once


def test_notebooks_that_are_open_at_once_are_merged():
    one, two = Notebook(), Notebook()
    assert one.read("a") is two.read("a") is None
    one.write("a", {"by": 1})
    one.write("same", {"by": 1})
    two.write("b", {"by": 2})
    two.write("same", {"by": 2})
    two.flush()
    one.flush()
    for book in (one, Notebook()):
        assert [book.read(key)["by"] for key in ("a", "b", "same")] == [1, 2, 2]


def test_a_clock_that_was_wrong_does_not_win_for_ever(monkeypatch):
    now = time.time_ns()
    with monkeypatch.context() as then:
        then.setattr(time, "time_ns", lambda: now + 3650 * disk.DAY)
        stored(k={"a": "then"})
    stored(k={"a": "now"})
    assert Notebook().read("k") == {"a": "now"}


CROWD = """
import sys
disk.PATIENCE = float(sys.argv[1])
book = Notebook()
for i in range(60):
    book.write(f"{sys.argv[2]}-{i}", {"i": i})
    if i % 5 == 4:
        book.flush()
"""


@pytest.mark.parametrize("patience", [600.0, 0.0])
def test_processes_that_write_at_once(patience, place):
    """Who waits for its turn loses nothing; who does not may lose notes, but never the file."""
    code = "from upshift import folder; from upshift.plan import disk; from upshift.plan.disk import Notebook\n" + CROWD
    crowd = [subprocess.Popen([sys.executable, "-c", code, str(patience), str(i)]) for i in range(4)]
    seen = 0
    while any(process.poll() is None for process in crowd):
        for file in place.glob("*.json"):
            seen += len(json.loads(file.read_text())["notes"])
    assert [process.returncode for process in crowd] == [0] * 4 and seen
    book = Notebook()
    kept = [(i, j) for i in range(4) for j in range(60) if book.read(f"{i}-{j}") == {"i": j}]
    assert kept and (len(kept) == 240 or not patience)
    assert not list(place.glob("*.tmp"))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no turns")
def test_nobody_waits_for_a_process_that_does_not_move(place):
    with disk._turn(folder.folder()):
        stored(k={"a": 1})
        assert Notebook().read("k") == {"a": 1}


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_processes_that_are_killed_while_they_write(place, monkeypatch):
    """However they end, there is a whole file, which never gets older, and no growing heap of parts."""
    monkeypatch.setattr(disk, "STALE", 0.0)
    rng = random.Random(7)
    last = -1
    for round in range(40):
        pid = os.fork()
        if not pid:
            book, i = Notebook(), last
            while True:
                i += 1
                book.write("count", {"i": i})
                book.write(f"k{i % 100}", {"text": "x" * 3000})
                book.flush()
        time.sleep(rng.uniform(0.001, 0.03) if round else 0.3)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        [file] = place.glob("*.json")
        notes = json.loads(file.read_text())["notes"]
        assert notes["count"][2]["i"] >= last
        last = Notebook().read("count")["i"]
        assert last == notes["count"][2]["i"]
    stored(done={})
    assert last > 0 and not list(place.glob("*.tmp"))


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_writes_its_own_notes_only():
    book = Notebook()
    book.write("parent", {"a": 1})

    def work():
        book.flush()
        assert Notebook().read("parent") is None
        book.write("child", {"a": 2})
        book.flush()

    in_child(work)
    assert Notebook().read("child") == {"a": 2}
    assert Notebook().read("parent") is None
    book.flush()
    assert [book.read(key) for key in ("parent", "child")] == [{"a": 1}, {"a": 2}]


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_forked_while_a_thread_writes():
    book = Notebook()

    def work():
        book.write("child", {"a": 2})
        book.flush()

    with book.lock, book.writing, disk._turn(folder.folder()):
        in_child(work)
    assert book.read("child") == {"a": 2}


def test_threads():
    book = Notebook()

    def work(me):
        for i in range(50):
            book.write(f"{me}-{i}", {"i": i})
            assert book.read(f"{me}-{i}") == {"i": i}
            if i % 10 == me:
                book.flush()

    errors = []
    threading.excepthook, before = errors.append, threading.excepthook
    threads = [threading.Thread(target=work, args=(me,)) for me in range(6)]
    try:
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    finally:
        threading.excepthook = before
    assert not errors
    book.flush()
    assert all(Notebook().read(f"{me}-{i}") == {"i": i} for me in range(6) for i in range(0, 50, 7))


def test_a_full_disk(monkeypatch, said, place):
    def full(*paths):
        raise OSError(errno.ENOSPC, "No space left on device")

    book = Notebook()
    book.write("k", {"a": 1})
    with monkeypatch.context() as now:
        now.setattr(os, "replace", full)
        book.flush()
        book.flush()
    assert [record.levelname for record in said.records] == ["INFO"]
    assert book.read("k") == {"a": 1}
    assert not list(place.glob("*.tmp"))
    book.flush()
    assert Notebook().read("k") == {"a": 1}
