"""Nothing that a test makes Upshift remember goes to the user's own notes; tests of GPUs run where there is one."""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator

import pytest

NOTES = tempfile.mkdtemp(prefix="upshift-tests-")
os.environ["UPSHIFT_CACHE_DIR"] = NOTES


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in an order of no meaning")


def pytest_configure() -> None:
    """Machine code is there when it is asked for: no test depends on when another thread has made it, nor on how the
    tests were started."""
    from upshift.gears import background

    background.AT_ONCE = True
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a job in a shell's background has it, and its children
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def nothing_goes_on_behind_the_next_test() -> Iterator[None]:
    """What a test has begun on other threads ends with it."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("upshift "):
            thread.join(60)


def pytest_unconfigure() -> None:
    shutil.rmtree(NOTES, ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without a GPU there is nothing to test on one: its results are under benchmarks/results."""
    seed = config.getoption("--shuffle")
    if seed is not None:  # the same on all workers
        random.Random(seed).shuffle(items)
    of_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if of_gpu:
        from upshift.gears.cuda.driver import why_not

        if why_not():
            items[:] = [item for item in items if not item.get_closest_marker("gpu")]
            config.hook.pytest_deselected(items=of_gpu)
