"""The gear `ray`, and batches for Ray's datasets: the loop's results from a cluster of two nodes; one of them lost."""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import upshift as up
from law import compare
from upshift.errors import GearRefused

ray = pytest.importorskip("ray")
pytest.importorskip("cloudpickle")
THRESHOLD = 3.0


@dataclass
class Point:
    x: float
    y: float


def above(x):
    return x > THRESHOLD


ROWS = [{"net": float(i), "rate": 0.5 if i % 2 else 0.25} for i in range(400)]


def total(row):
    return {"total": row["net"] * (1 + row["rate"])}


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 120 << 20, "include_dashboard": False}
    quick = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
    made = Cluster(initialize_head=True, head_node_args={**node, "_system_config": quick})
    made.more = {name: value for name, value in node.items() if name != "include_dashboard"}
    made.second = made.add_node(**made.more)
    ray.init(address=made.address, log_to_driver=False, logging_level=logging.ERROR)
    yield made
    ray.shutdown()
    made.shutdown()


FUNCTIONS = {
    "floats": (lambda x: x * x + 1 if x > 5 else -x, [x / 7 for x in range(200)]),
    "ints beyond 64 bits": (lambda n: n**9, list(range(0, 2000, 17))),
    "texts": (lambda s: s.upper() + "!", ["a", "bc", "", "ünï"] * 20),
    "objects": (lambda x: Point(x, -x), [0.5, 1.5] * 20),
    "records": (lambda r: {"z": r["a"] * r["b"], "n": 1}, [{"a": i / 3, "b": 2} for i in range(300)]),
    "None among numbers": (lambda x: None if x % 3 else x, list(range(50))),
    "images": (lambda image: image.mean(axis=0), np.random.default_rng(0).random((20, 32, 24))),
    "a global": (above, list(np.arange(0.0, 6.0, 0.25))),
}


def test_results_are_the_loops(cluster):
    for name, (f, xs) in FUNCTIONS.items():
        made, wanted = up.map(f, xs, gear="ray"), up.map(f, xs, gear="loop")
        assert compare(made, wanted) is None, name


def test_a_large_column_travels_in_blocks_and_is_watched(cluster, monkeypatch):
    from upshift.gears.ray import gear

    monkeypatch.setattr(gear, "BLOCK_BYTES", 1 << 20)
    xs, seen = np.random.default_rng(0).normal(size=1_000_000), []
    made = up.map(lambda x: x * 2 if x > 0 else 1 - x, xs, gear="ray", progress=seen.append)
    assert np.array_equal(made, np.where(xs > 0, xs * 2, 1 - xs))
    assert made.flags.writeable and seen[-1].done == len(xs) and seen[-1].gear == "ray"


def test_errors_and_policies(cluster):
    def f(x):
        if x == 31:
            raise KeyError(x)
        return x / 2

    xs = list(range(60))
    with pytest.raises(KeyError) as raised:
        up.map(f, xs, gear="ray")
    assert any(note.startswith("element 31: 31") for note in raised.value.__notes__)
    assert any("In a worker process" in note for note in raised.value.__notes__)
    assert up.map(f, xs, gear="ray", on_error="skip").tolist() == [x / 2 for x in xs if x != 31]
    assert up.map(f, xs, gear="ray", on_error=("fill", -1.0)).tolist() == [x / 2 if x != 31 else -1 for x in xs]
    returned = up.map(f, xs, gear="ray", on_error="return")
    assert isinstance(returned[31], KeyError) and returned[30] == 15.0


def test_what_has_effects_is_refused(cluster):
    with pytest.raises(GearRefused, match="prints"):
        up.map(lambda x: print(x), [1, 2], gear="ray")
    with pytest.raises(GearRefused, match="timeout"):
        up.map(above, [1.0, 2.0], gear="ray", timeout=3)


def test_warnings_come_home(cluster):
    def f(x):
        return np.float64(x) / np.float64(0.0)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        up.map(f, [1.0, 2.0], gear="ray", pure=True)
    assert any("divide by zero" in str(one.message) for one in seen)


def test_batches_of_datasets(cluster):
    made = ray.data.from_items(ROWS).map_batches(up.batched(total), batch_format="numpy").take_all()
    assert sorted(row["total"] for row in made) == sorted(total(row)["total"] for row in ROWS)


def test_batches_of_any_kind():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pd.DataFrame(ROWS)
    columns = {name: frame[name].to_numpy() for name in frame.columns}
    totals = [total(row)["total"] for row in ROWS]
    g, h = up.batched(total), up.batched(lambda row: row["net"] + 1)
    for batch in (columns, frame, pa.Table.from_pylist(ROWS)):
        for made, name, wanted in ((g(batch), "total", totals), (h(batch), "result", [row["net"] + 1 for row in ROWS])):
            assert type(made) is type(batch)
            assert list(made) == [name] if type(batch) is dict else True
            assert np.array_equal(np.asarray(made[name]), wanted)
    frames = up.batched(lambda row: {"total": row["net"]})(frame)
    assert list(frames.columns) == ["total"] and repr(g) == "batched(total)"


def test_a_lost_node_loses_nothing(cluster, tmp_path):
    """It is ended when each node has begun a block; the blocks that it had are run again on the other one."""

    def f(x):
        open(tmp_path / f"{os.environ.get('RAY_RAYLET_PID')}", "a").close()
        time.sleep(0.02)
        return x * 2

    ended = []

    def end():
        while len(os.listdir(tmp_path)) < 2:
            time.sleep(0.02)
        cluster.remove_node(cluster.second, allow_graceful=False)
        ended.append(True)

    helper = threading.Thread(target=end, daemon=True)
    helper.start()
    made = up.map(f, list(range(100)), gear="ray", pure=True)
    assert made.tolist() == [2 * x for x in range(100)]
    helper.join(10)
    assert ended
