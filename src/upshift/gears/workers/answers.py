"""The messages between a process and its workers: how a chunk is to be run, and what came out."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...columns.outputs import Objects, Placed
from ...config import Settings


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a function sees of the process that it comes from, and how it is to be run."""

    settings: Settings
    on_error: Any
    exact: bool
    folder: str
    path: tuple[str, ...]
    errors: dict[str, Any]
    filters: tuple[Any, ...]


def surroundings_of(settings: Settings, on_error: Any, exact: bool) -> Surroundings:
    """What workers are told of this process: settings, paths, warnings, how NumPy treats errors."""
    policy = on_error if isinstance(on_error, str) else "skip"  # the fill value itself stays where it is
    kept = replace(settings, num_threads=1, workers=0)
    filters = tuple(warnings.filters)
    return Surroundings(kept, policy, exact, os.getcwd(), tuple(sys.path), dict(np.geterr()), filters)


@dataclass(slots=True)
class Answer:
    """Of one chunk: results, or what went wrong."""

    results: list[Any] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    """Where in the results there is none."""
    seconds: float = 0.0
    warned: list[tuple[Any, ...]] = field(default_factory=list)
    raised: tuple[int, BaseException] | None = None
    refused: str = ""
    made: tuple[list[tuple[Any, list[Any]]], list[Placed]] | None = None
    """Where a gear ran it: by position, results of the plain function, and pieces."""

    def warn(self) -> None:
        """Warn here as it was warned there."""
        for text, category, file, line in self.warned:
            module = next((m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == file), None)
            registry = module.__dict__.setdefault("__warningregistry__", {}) if module else {}
            warnings.warn_explicit(text, category, file, line, registry=registry)


@dataclass(frozen=True, slots=True)
class Made:
    """What workers made of a job: results by position, and positions of elements that are left out."""

    pieces: list[Placed]
    skipped: list[int]


def made_of(results: list[Any], skipped: list[int]) -> Made:
    """Results of all elements, without those that are left out."""
    if not skipped:
        return Made([(slice(0, len(results)), Objects(results))], [])
    kept = np.delete(np.arange(len(results)), skipped)
    return Made([(kept, Objects([results[i] for i in kept.tolist()]))] if len(kept) else [], skipped)
