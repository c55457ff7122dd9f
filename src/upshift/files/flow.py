"""Blocks of a source through a function into a sink; the one before is written, and the one after read, meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from .journal import Journal
from .sinks import Sink
from .sources import Source


def flow(
    source: Source, sink: Sink, run: Callable[..., Any], print_of: Callable[[], str] | None, watch: Any = None
) -> Any:
    """`run(columns, low)` gives the results of a block. `print_of`: what makes this run up, where it may be resumed."""
    journal = None
    if print_of is not None:
        journal = Journal(sink.place, print_of())
    done = sink.begin(journal)
    if watch is not None and done:
        watch.advance(min(done * source.rows, source.n), watch.gear)
    try:
        _move(source, sink, run, done)
        result = sink.finish()
    except BaseException:
        sink.abandon()
        raise
    if journal is not None:
        journal.remove()
    return result


def _move(source: Source, sink: Sink, run: Callable[..., Any], done: int) -> None:
    with ThreadPoolExecutor(2, "upshift files") as helpers:
        blocks = source.blocks(done * source.rows)
        following: Future[Any] = helpers.submit(next, blocks, None)
        written: Future[None] | None = None
        while (block := following.result()) is not None:
            following = helpers.submit(next, blocks, None)
            result = run(block.columns, block.low)
            if written is not None:
                written.result()
            source.give_back()
            written = helpers.submit(sink.write, done, block.low, block.n, result)
            done += 1
        if written is not None:
            written.result()
