"""Settings are those of a thread, of a task, of a block: what one asks for, no other is given."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import warnings

import numpy as np
import pytest

import upshift as up
from upshift.config import bytes_of, settings
from upshift.gears import chunks

XS = np.arange(1000.0)
WHOLE = settings()


def in_threads(*works):
    """Run them side by side, each a few turns ahead of or behind the others; their errors are raised."""
    errors = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_memory_of_four_threads_at_once():
    gate = threading.Barrier(4)

    def work(size):
        def f(x):
            if x == 3.0 and seen[-1] is None:
                seen[-1] = settings().memory
                gate.wait(20)  # all four calls are in the middle
            return x + 1

        for _ in range(5):
            seen = [None]
            up.map(f, XS, memory=size, gear="loop")
            assert seen == [bytes_of(size)]
            assert settings() is WHOLE

    in_threads(*[lambda size=size: work(size) for size in ("1MB", "2MB", "3MB", "4MB")])
    assert settings() is WHOLE


def test_a_block_in_one_thread_is_not_seen_in_another():
    inside, looked = threading.Event(), threading.Event()

    def holds():
        with up.config(disable=True, num_threads=7):
            inside.set()
            assert looked.wait(20)
            assert settings().disable and settings().num_threads == 7

    def looks():
        assert inside.wait(20)
        try:
            assert settings() is WHOLE
            assert up.explain(lambda x: x * 2, XS).gear != "loop"
        finally:
            looked.set()

    in_threads(holds, looks)


def test_tasks_have_settings_of_their_own():
    async def work(threads):
        with up.config(num_threads=threads):
            for _ in range(3):
                await asyncio.sleep(0)
                assert settings().num_threads == threads

    async def all_of_them():
        await asyncio.gather(*(work(k) for k in range(1, 5)))

    asyncio.run(all_of_them())
    assert settings() is WHOLE


def test_blocks_within_blocks():
    with up.config(memory=1 << 20) as outer:
        with up.config(num_threads=3) as inner:
            assert (inner.memory, inner.num_threads) == (1 << 20, 3)
            assert settings() is inner
        assert settings() is outer
    assert settings() is WHOLE


def test_a_block_that_ends_in_an_error():
    with pytest.raises(ZeroDivisionError), up.config(memory=1):
        1 / 0
    with pytest.raises(ZeroDivisionError):
        up.map(lambda x: 1 / int(x), XS, memory="1MB")
    assert settings() is WHOLE


def test_a_block_that_is_left_in_another_context():
    block = up.config(num_threads=5)
    contextvars.copy_context().run(block.__enter__)
    block.__exit__(None, None, None)
    assert settings() == WHOLE


def test_a_context_is_left_as_it_was():
    before = list(contextvars.copy_context())
    up.map(lambda x: x + 1, XS, memory="1MB")
    with up.config(verify=False):
        pass
    assert list(contextvars.copy_context()) == before


def test_no_such_setting():
    with pytest.raises(TypeError, match="no setting named 'speed'"), up.config(speed=3):
        pass


def test_threads_of_ours_have_the_callers_context():
    """Settings, and NumPy's error state, which is a context variable, too."""
    seen = []
    work = [slice(i, i + 1) for i in range(12)]
    gate = threading.Barrier(3)

    def look(chunk):
        if chunk.start < 3:
            gate.wait(20)
        seen.append((threading.get_ident(), settings().memory, np.geterr()["under"]))

    with up.config(memory=12345), np.errstate(under="warn"):
        chunks.side_by_side(look, work, 3)
    assert len({thread for thread, *_ in seen}) == 3
    assert {about for _, *about in [(t, m, u) for t, m, u in seen] for about in [tuple(about)]} == {(12345, "warn")}


@pytest.mark.parametrize("threads", [1, 2])
def test_warnings_on_several_threads(threads):
    def f(x):
        return x * np.float64(1e-300) * np.float64(1e-300)

    xs = np.linspace(1.0, 2.0, 200_000)
    for _ in range(3):
        with up.config(num_threads=threads), np.errstate(under="warn"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            up.map(f, xs, gear="numpy")
        assert any("underflow" in str(one.message) for one in caught)


@pytest.mark.parametrize(
    "word",
    [{"workers": -1}, {"workers": "4"}, {"workers": 1.5}, {"workers": True}, {"timeout": 0}, {"timeout": -1.0},
     {"timeout": "5"}, {"memory": 0}, {"memory": "much"}, {"memory": -5}, {"memory": 1.5}],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused(word):
    (name,) = word
    with pytest.raises(ValueError, match=f"^{name} must|^a size of memory"), up.config(**word):
        pass
    with pytest.raises(ValueError, match=f"^{name} must|^a size of memory"):
        up.map(lambda x: x, [1], **word)


def test_words_for_memory_are_bytes():
    with up.config(memory="1 MB", workers=np.int64(2), timeout=None) as now:
        assert (now.memory, now.workers, now.timeout) == (1 << 20, 2, None)
