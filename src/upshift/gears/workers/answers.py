"""What travels between a process and its workers besides functions and elements: how to run them, and what came out."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...config import Settings


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a function sees of the process that it comes from, and how it is to be run."""

    settings: Settings
    on_error: Any
    exact: bool
    refusals: dict[str, Any]
    folder: str
    path: tuple[str, ...]
    errors: dict[str, Any]
    filters: tuple[Any, ...]


def surroundings_of(settings: Settings, on_error: Any, exact: bool, refusals: dict[str, Any]) -> Surroundings:
    policy = on_error if isinstance(on_error, str) else "skip"  # the fill value itself stays where it is
    kept = replace(settings, num_threads=1, workers=0)
    filters = tuple(warnings.filters)
    return Surroundings(kept, policy, exact, refusals, os.getcwd(), tuple(sys.path), dict(np.geterr()), filters)


@dataclass(slots=True)
class Answer:
    """Of one chunk: results, or what went wrong."""

    looped: list[tuple[Any, list[Any]]]
    pieces: list[Any]
    skipped: list[int]
    seconds: float
    warned: list[tuple[Any, ...]]
    raised: tuple[int, BaseException] | None = None
    refused: str = ""
