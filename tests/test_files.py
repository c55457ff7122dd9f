"""Arrays and tables in files: a failure where a map from file to file is not the loop, or leaves pieces."""

from __future__ import annotations

import os
import pathlib
import resource
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import upshift as up
from upshift.files import sources
from upshift.files.journal import fingerprint

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
datasets = pytest.importorskip("pyarrow.dataset")
zarr = pytest.importorskip("zarr")

N = 5000
RNG = np.random.default_rng(3)
TABLE = pa.table({
    "a": RNG.normal(size=N),
    "k": RNG.integers(-5, 5, N),
    "s": [f"t{i % 7}" for i in range(N)],
    "m": [None if i % 11 == 0 else float(i) for i in range(N)],
})  # fmt: skip


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(sources, "BLOCK_BYTES", 1 << 13)


@pytest.fixture
def file(tmp_path):
    path = str(tmp_path / "data.parquet")
    parquet.write_table(TABLE, path, row_group_size=1300)
    return path


def scaled(r):
    return r["a"] * r["k"] if r["k"] > 0 else -r["a"]


def record(r):
    return {"y": scaled(r), "text": r["s"] + "!", "missing": r["m"]}


FUNCTIONS = {
    "numbers": (scaled, ["a", "k"]),
    "records": (record, None),
    "values of one column": (lambda v: v * 2 if v > 0 else 0.0, "a"),
    "texts": (lambda s: s.upper(), "s"),
    "missing values": (lambda v: None if v is None else v + 1, "m"),
    "ints before floats": (lambda k: k if k < 4 else k / 2, "k"),
    "arrays": (lambda r: np.array([r["a"], r["k"]]), ["a", "k"]),
}


def expected(f, columns):
    table = TABLE if columns is None else TABLE.select([columns] if isinstance(columns, str) else columns)
    rows = table[columns].to_pylist() if isinstance(columns, str) else table.to_pylist()
    return [f(row) for row in rows]


def rows_of(table):
    rows = table.to_pylist()
    return [row["result"] for row in rows] if table.column_names == ["result"] else rows


def same_rows(made, wanted):
    assert len(made) == len(wanted)
    for x, y in zip(made, wanted):
        assert np.array_equal(x, y) if isinstance(y, np.ndarray) else x == y


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("end", ["parquet", "arrow"])
@pytest.mark.parametrize("resume", [None, True])
def test_from_table_to_table(name, end, resume, file, tmp_path):
    f, columns = FUNCTIONS[name]
    out = str(tmp_path / f"out.{end}")
    assert up.map(f, file, columns=columns or TABLE.column_names, out=out, resume=resume) == out
    made = parquet.read_table(out) if end == "parquet" else pa.ipc.open_file(out).read_all()
    same_rows(rows_of(made), expected(f, columns))
    assert sorted(os.listdir(tmp_path)) == ["data.parquet", f"out.{end}"]


def test_all_columns_are_read_where_none_is_named(file, tmp_path):
    out = tmp_path / "out.parquet"
    up.map(record, file, out=out)
    same_rows(parquet.read_table(out).to_pylist(), expected(record, None))


def test_without_out_results_are_in_memory(file):
    made = up.map(scaled, file, columns=["a", "k"])
    assert made.to_pylist() == expected(scaled, ["a", "k"])
    assert up.map(scaled, pathlib.Path(file)).to_pylist() == made.to_pylist()
    assert up.map(scaled, datasets.dataset(file)).to_pylist() == made.to_pylist()
    assert up.map(lambda v: v + 1, file, columns="a").to_pylist() == [v + 1 for v in TABLE["a"].to_pylist()]


def test_a_text_is_its_characters():
    assert up.map(str.upper, "ab.parquet") == list("AB.PARQUET")


def test_folders_of_files_with_partitions(tmp_path):
    parquet.write_to_dataset(TABLE, tmp_path / "all", partition_cols=["k"])
    whole = datasets.dataset(tmp_path / "all", partitioning="hive").to_table()
    up.map(scaled, tmp_path / "all", columns=["a", "k"], out=tmp_path / "out.parquet")
    assert parquet.read_table(tmp_path / "out.parquet")["result"].to_pylist() == [scaled(r) for r in whole.to_pylist()]


def test_tables_and_datasets_in_memory_to_a_file(tmp_path):
    for i, x in enumerate((TABLE, datasets.dataset(TABLE))):
        out = tmp_path / f"{i}.parquet"
        up.map(scaled, x, out=out)
        assert parquet.read_table(out)["result"].to_pylist() == expected(scaled, None)


def test_elements_that_raise(file, tmp_path):
    def f(k):
        return 1 / (k - 2)

    out = tmp_path / "out.parquet"
    at = TABLE["k"].to_pylist().index(2, 3000)
    with pytest.raises(ZeroDivisionError) as raised:
        up.map(lambda r: 1 / (r["a"] - TABLE["a"][at].as_py()), file, columns=["a"], out=out)
    assert any(note.startswith(f"element {at}:") for note in raised.value.__notes__)
    assert os.listdir(tmp_path) == ["data.parquet"]
    up.map(f, file, columns="k", out=out, on_error="skip")
    ks = TABLE["k"].to_pylist()
    assert parquet.read_table(out)["result"].to_pylist() == [f(k) for k in ks if k != 2]
    up.map(f, file, columns="k", out=out, on_error=("fill", 0.0))
    assert parquet.read_table(out)["result"].to_pylist() == [f(k) if k != 2 else 0.0 for k in ks]


@pytest.mark.parametrize("gear", [None, "loop", "numpy", "threads"])
def test_arrays(gear, tmp_path):
    x = RNG.normal(size=(700, 6))
    np.save(tmp_path / "x.npy", x)
    stored = zarr.create_array(store=str(tmp_path / "x.zarr"), shape=x.shape, dtype=x.dtype, chunks=(90, 6))
    stored[:] = x

    def f(row):
        return row * 2 if row[0] > 0 else row - 1

    wanted = np.stack([f(row) for row in x])
    here = np.empty_like(x)
    there = zarr.create_array(store=str(tmp_path / "there.zarr"), shape=x.shape, dtype=x.dtype, chunks=(50, 6))
    for given in (x, stored, tmp_path / "x.npy", tmp_path / "x.zarr"):
        for out in (here, there, tmp_path / "out.npy", tmp_path / "out.zarr"):
            made = up.map(f, given, out=out, gear=gear)
            if made is not out:
                made = np.load(made) if made.endswith(".npy") else zarr.open_array(made, mode="r")[:]
            assert np.array_equal(made[:], wanted)
    assert np.array_equal(up.map(f, stored, gear=gear), wanted)
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".upshift")]
    assert zarr.open_array(tmp_path / "out.zarr").metadata.zarr_format == 3


def test_a_wider_dtype_comes_late(tmp_path):
    x = np.arange(4000)
    for end in ("npy", "zarr"):
        out = up.map(lambda n: int(n) if n < 3000 else n / 2, x, out=tmp_path / f"out.{end}")
        made = np.load(out) if end == "npy" else zarr.open_array(out)[:]
        wanted = up.map(lambda n: int(n) if n < 3000 else n / 2, x, gear="loop")
        assert made.dtype == wanted.dtype and np.array_equal(made, wanted)


def test_what_cannot_be():
    with pytest.raises(TypeError, match="out must be"):
        up.map(abs, [1.0], out=3)
    with pytest.raises(ValueError, match="out is a file"):
        up.map(abs, [1.0], out="results.txt")
    with pytest.raises(ValueError, match="resume"):
        up.map(abs, [1.0], out=np.empty(1), resume=True)
    with pytest.raises(ValueError, match="resume"):
        up.map(abs, [1.0], resume=True)
    with pytest.raises(FileNotFoundError):
        up.map(abs, "nowhere.parquet", columns="a")
    with pytest.raises(TypeError, match="columns"):
        up.map(abs, [1.0], columns="a")


def test_arrays_of_other_than_numbers_have_no_file(tmp_path):
    with pytest.raises(up.UpshiftError, match="numbers"):
        up.map(str, [1, 2], out=tmp_path / "out.npy")
    assert os.listdir(tmp_path) == []


# ---- interrupted and resumed

SCRIPT = """
import os, sys
import numpy as np
import upshift as up
from upshift.files import sources
sources.BLOCK_BYTES = 1 << 13
source, out, log, last = sys.argv[1:5]
columns = ["a", "k"] if source.endswith(".parquet") else None
seen = 0
END = int(last)

def advance(p):
    with open(log, "a") as file:
        print(p.done, file=file)
    if 0 < END <= p.done < p.total:
        os._exit(7)

def f(r):
    a, k = (r["a"], r["k"]) if columns else (r[0], int(r[1]))
    return a * k if k > 0 else -a

import upshift.views.progress
upshift.views.progress.APART = 0
up.map(f, source, columns=columns, out=out, resume=True, progress=advance)
"""


def test_an_interrupted_run_is_resumed_to_the_byte(tmp_path, file):
    script, rows = tmp_path / "script.py", np.stack([TABLE["a"].to_numpy(), TABLE["k"].to_numpy()], axis=1)
    script.write_text(SCRIPT)
    np.save(tmp_path / "data.npy", rows)

    def run(source, out, last=0):
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        command = [sys.executable, str(script), str(source), str(tmp_path / out), str(log), str(last)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == (7 if last else 0), done.stderr
        return int(log.read_text().split()[0])

    for source, end in ((file, "parquet"), (tmp_path / "data.npy", "npy")):
        assert run(source, f"whole.{end}") < 2000
        run(source, f"parts.{end}", 2000)
        assert not (tmp_path / f"parts.{end}").exists() and (tmp_path / f"parts.{end}.upshift").exists()
        run(source, f"parts.{end}", 4000)
        assert run(source, f"parts.{end}") >= 2500  # what was finished is not run again
        assert (tmp_path / f"parts.{end}").read_bytes() == (tmp_path / f"whole.{end}").read_bytes()
        assert not (tmp_path / f"parts.{end}.upshift").exists()


def test_another_run_uses_nothing_of_an_interrupted_one(tmp_path):
    x = np.arange(6000.0)
    state = {"at": 5000.0, "add": 1.0}

    def fails(v, y):
        if v == 5000.0 and y < 2:
            raise ValueError(v)
        return v + y

    out = tmp_path / "out.npy"
    with pytest.raises(ValueError):
        up.map(fails, x, y=1.0, out=out, resume=True)
    assert (tmp_path / "out.npy.upshift").exists()
    up.map(fails, x, y=2.0, out=out, resume=True)
    assert np.array_equal(np.load(out), x + 2) and state


def test_fingerprints_tell_functions_and_data_apart():
    def of(f, x, **shared):
        return fingerprint(f, shared, (), sources.Arrays([x]))

    x, k = np.arange(10.0), 3
    same = of(lambda v: v + 1, x)
    assert same == of(lambda v: v + 1, x.copy())
    others = [
        of(lambda v: v + 2, x), of(lambda v: v - 1, x), of(lambda v: v + k, x), of(lambda v: v + 1, x + 1),
        of(lambda v: v + 1, x, y=1), of(np.sin, x), of(np.cos, x), of(abs, x), of(lambda v: abs(v) + 1, x),
    ]  # fmt: skip
    assert len({same, *others}) == 1 + len(others)
    before = of(lambda v: v + k, x)
    k = 4
    assert before != of(lambda v: v + k, x)


def test_a_run_in_an_array_of_the_users_goes_on(tmp_path):
    out = np.memmap(tmp_path / "out", np.float64, "w+", shape=(6000,))
    x = np.arange(6000.0)
    ran, broken = [], [True]

    def f(v, at):
        ran.append(v)
        if v == at and broken:
            raise ValueError(v)
        return v * 2

    with pytest.raises(ValueError):
        up.map(f, x, at=5000.0, out=out, resume=True, gear="loop")
    first = len(ran)
    broken.clear()
    ran.clear()
    up.map(lambda v, at: f(v, at), x, at=5000.0, out=out, gear="loop")
    assert np.array_equal(out, x * 2) and first > 4000
    assert (tmp_path / "out.upshift").exists()


# ---- faults and limits


def run_limited(code, folder, **limits):
    """A script in a process of its own, with limits of the system's."""

    def limit():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))

    script = folder / "limited.py"
    script.write_text(textwrap.dedent(code))
    done = subprocess.run([sys.executable, str(script)], cwd=folder, capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path):
    """The largest file that the process may write stands for the disk."""
    code = """
        import os
        import numpy as np, upshift as up
        x = np.random.default_rng(0).random((40_000, 16))
        before = set(os.listdir("."))
        for out in ("out.parquet", "out.arrow", "out.npy", "out.zarr"):
            try:
                up.map(lambda row: row * 2, x, out=out)
            except OSError as error:
                print(out, "raised")
            assert set(os.listdir(".")) == before, os.listdir(".")
    """
    told = run_limited(code, tmp_path, RLIMIT_FSIZE=1 << 20)
    assert told.splitlines() == [f"out.{end} raised" for end in ("parquet", "arrow", "npy", "zarr")]


def test_a_large_file_in_little_memory(tmp_path):
    """A sparse file of 3 GB; what is resident at the most is far less, for sums and for a file of results."""
    code = """
        import resource
        import numpy as np, upshift as up
        x = np.memmap("x", np.float64, "w+", shape=(3000, 131072))
        x[7, 9] = 1.0
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        up.map(lambda row: row.sum(), x[:100])
        base = peak()
        sums = up.map(lambda row: row.sum(), x)
        assert sums[7] == 1 and sums.sum() == 1
        flat = x[:300].reshape(-1)
        up.map(lambda v: v + 1 if v > 0 else v, flat, out="y.npy")
        y = np.load("y.npy", mmap_mode="r")
        assert y[7 * 131072 + 9] == 2
        print(peak() - base)
    """
    assert int(run_limited(code, tmp_path)) < 250


def test_no_descriptor_or_thread_is_left(tmp_path, file):
    def held():
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    def run():
        for end in ("parquet", "arrow"):
            up.map(scaled, file, columns=["a", "k"], out=tmp_path / f"out.{end}")
            with pytest.raises(ZeroDivisionError):
                up.map(lambda r: 1 / 0, file, columns=["a"], out=tmp_path / f"no.{end}")

    run()  # threads that stay for later calls are there now
    before = held()
    for _ in range(3):
        run()
    for _ in range(200):  # machine code that is still made beside the calls
        if all(now <= then for now, then in zip(held(), before)):
            break
        time.sleep(0.05)
    assert all(now <= then for now, then in zip(held(), before)), (held(), before)
