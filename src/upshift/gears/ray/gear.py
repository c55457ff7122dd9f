"""Elements on a cluster of Ray: blocks go to its nodes, pieces of the result come back in order.

up.map(f, xs, gear="ray")

A running cluster is used, else one of this machine's cores is started. There are never more blocks on the way than
two for each core; a block whose node is lost is run once more, elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import ray

from ...config import cores, settings
from ...errors import Refusal, WorkerLost
from ..job import Job
from ..workers.answers import Answer, surroundings_of
from ..workers.functions import NotSendable, function_parcel, parcel_of, unpacked
from ..workers.purity import REMEDY, why_impure

GEAR = "ray"
BLOCK_BYTES = 1 << 25
"""How many bytes of elements are in a block at most, unless it is one element."""
BLOCK_SECONDS = 1.0
"""What a block is expected to take: long enough for what it costs to send it, short enough to lose one."""
DEPTH = 2
"""Blocks on the way for each core: the next one is there when one is done."""
TWICE = 3
"""How often a block may be lost; Ray itself begins a task anew as often."""

Work = Callable[[Any, Any, int], Any]
"""What a worker runs: given the parts of the function and of the columns, and where these begin, those of an answer."""


@dataclass(slots=True)
class Block:
    """Elements from `low` to `high`, by position in the job."""

    low: int
    high: int
    lost: int = 0


@dataclass(slots=True)
class Run:
    """One job on its way through a cluster."""

    job: Job
    work: Any
    function: Any
    most: int
    rate: float = 0.0
    bytes: float = 0.0
    next: int = 0
    again: list[Block] = field(default_factory=list)
    given: dict[Any, Block] = field(default_factory=dict)
    answers: list[tuple[Block, Answer]] = field(default_factory=list)
    failed: tuple[int, BaseException] | None = None

    def run(self) -> str:
        """All blocks; or why not, in words."""
        try:
            while True:
                while len(self.given) < self.most and (block := self._take()) is not None:
                    self._give(block)
                if not self.given or self._is_settled():
                    return ""
                done, _ = ray.wait(list(self.given), num_returns=1, timeout=0.5)
                for ref in done:
                    refused = self._hear(ref)
                    if refused:
                        return refused
        finally:
            for ref in self.given:
                ray.cancel(ref, force=True)

    def _is_settled(self) -> bool:
        """Whether the error that will be raised is known: all elements before it are done."""
        before = [*self.given.values(), *self.again]
        return self.failed is not None and not any(block.low < self.failed[0] for block in before)

    def _take(self) -> Block | None:
        if self.again:
            return self.again.pop(0)
        if self.failed is not None or self.next >= self.job.n:
            return None
        low, left = self.next, self.job.n - self.next
        share = -(-left // (2 * self.most))
        size = min(share, int(BLOCK_SECONDS / self.rate) if self.rate else share, int(BLOCK_BYTES / max(self.bytes, 1)))
        self.next = min(low + max(size, 1), self.job.n)
        return Block(low, self.next)

    def _give(self, block: Block) -> None:
        part = self.job.part(block.low, block.high)
        parcel = parcel_of(list(part.columns))
        self.bytes = max(self.bytes, parcel.nbytes / part.n)
        self.given[self.work.remote(self.function, parcel.arrays(), part.offset)] = block

    def _hear(self, ref: Any) -> str:
        block = self.given.pop(ref)
        try:
            parts = ray.get(ref)
        except ray.exceptions.RayTaskError as error:
            return f"a worker of Ray cannot run it: {error.cause!r}"
        except ray.exceptions.RayError as error:  # its node, its process or its result is gone
            block.lost += 1
            if block.lost >= TWICE:
                low = self.job.offset + block.low
                raise WorkerLost(
                    f"Ray lost the block of elements {low} to {self.job.offset + block.high - 1} {TWICE} times: {error}"
                ) from None
            self.again.append(block)
            return ""
        answer: Answer = unpacked(parts, keep=True)
        answer.warn()
        if answer.raised is not None:
            at = answer.raised[0] - self.job.offset
            if self.failed is None or at < self.failed[0]:
                self.failed = at, answer.raised[1]
        elif not answer.refused:
            self.rate = max(answer.seconds / (block.high - block.low), 1e-9)
            self.answers.append((block, answer))
            if self.job.blocks is not None:
                self.job.blocks.done(block.high - block.low, GEAR)
        return answer.refused


def connect() -> None:
    """To a cluster that runs, or to one of this machine's cores."""
    if ray.is_initialized():
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        ray.init(address=os.environ.get("RAY_ADDRESS") or "auto", **quiet)
    except ConnectionError:
        if os.environ.get("RAY_ADDRESS"):
            raise
        ray.init(address="local", num_cpus=cores(), include_dashboard=False, **quiet)


def run_ray(job: Job, work: Work) -> list[tuple[int, int, Any]] | Refusal:
    """A job on a cluster: where every block begins, how many it has, and what was made of it; in order."""
    if not settings().pure:
        reason, where = why_impure(job.f, job.shared)
        if reason:
            return Refusal(GEAR, reason, where, REMEDY)
    if settings().timeout:
        return Refusal(GEAR, "timeout= is for worker processes", remedy='gear="processes" ends an element that hangs')
    try:
        parcel, digest = function_parcel(job.f, job.shared, surroundings_of(settings(), job.on_error, job.exact))
        connect()
        cpus = int(ray.cluster_resources().get("CPU", 1))
        task = ray.remote(num_cpus=1, max_retries=TWICE, scheduling_strategy="SPREAD")(work)
        most = (settings().workers or max(cpus, 1)) * DEPTH
        run = Run(job, task, ray.put([np.frombuffer(digest, np.uint8), *parcel.arrays()]), most)
        refused = run.run()
    except NotSendable as reason:
        return Refusal(GEAR, str(reason))
    if refused:
        return Refusal(GEAR, refused, remedy=REMEDY)
    if run.failed is not None:
        raise run.failed[1]
    found = [(block.low, block.high - block.low, answer.made) for block, answer in run.answers]
    return sorted(found, key=lambda one: one[0])
