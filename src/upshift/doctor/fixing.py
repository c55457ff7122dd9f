"""Apply the chosen fixes to a source file, round after round, until nothing is left to fix."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from .examine import examine
from .finding import Finding, Fix
from .rewrite import apply
from .sources import Source

ROUNDS = 20
"""Fixes of one place wait for those around it; more rounds than any file has needed."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A new text, and what was mended."""

    text: str
    mended: tuple[tuple[Finding, Fix], ...]


Choice = Callable[[Finding], Fix | None]


def _choose_safe(finding: Finding) -> Fix | None:
    """What is provably the same."""
    return finding.safe_fix


def choose_repairs(finding: Finding) -> Fix | None:
    """What makes code run that does not."""
    return next((fix for fix in finding.fixes if fix.repairs and fix.tier == "safe"), None)


def look(source: Source) -> list[Finding]:
    """The findings that are asked for and not silenced by `# noqa`."""
    return [source.locate(f) for f in examine(source.path, source.text) if source.wants(f)]


def fix(source: Source, choice: Choice = _choose_safe, later: Choice | None = None) -> Fixed:
    """Mend until nothing is left that the choice would mend; from the second round on, that `later` would."""
    mended: list[tuple[Finding, Fix]] = []
    for number in range(ROUNDS):
        choice = later if number and later is not None else choice
        chosen = _apart([(f, c) for f in look(source) if (c := choice(f)) is not None and _has_room(source, c)])
        if not chosen:
            break
        text = apply(source.text, list(dict.fromkeys(c for _, c in chosen)))
        if text == source.text:
            break
        mended += chosen
        source = replace(source, text=text)
    return Fixed(source.text, tuple(mended))


def _has_room(source: Source, one: Fix) -> bool:
    """Whether the names that a fix imports mean nothing else in the file."""
    for line in one.imports:
        name = line.split()[-1]
        if line not in source.text and re.search(rf"\b{name}\b(?!\s*\()", source.text):
            return False
    return True


def _apart(chosen: list[tuple[Finding, Fix]]) -> list[tuple[Finding, Fix]]:
    """Those whose edits do not touch each other; the others wait for the next round."""
    kept: list[tuple[Finding, Fix]] = []
    taken: list[tuple[int, int, int, int]] = []
    for finding, one in chosen:
        same = any(one is other or one == other for _, other in kept)
        spans = [edit.span for edit in one.edits]
        if not same and any(a[:2] < b[2:] and b[:2] < a[2:] for a in spans for b in taken):
            continue
        kept.append((finding, one))
        taken += spans
    return kept
