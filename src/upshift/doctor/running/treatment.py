"""Measure a script and mend it: repair what does not run, try alternatives, rewrite, run again, compare.

Modules that the script imports are rewritten with it, where they are named."""

from __future__ import annotations

import codecs
import json
import locale
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, TextIO

from ..figures import duration
from ..finding import Finding, Fix
from ..fixing import Fixed, choose_repairs, fix, look
from ..sources import Source

_READS = re.compile(r"\binput\s*\(|\bstdin\b")


@dataclass
class Outcome:
    """What came of a script."""

    source: Source
    """As it was, or repaired where it did not run."""
    report: dict[str, Any]
    output: str
    repaired: bool = False
    words: list[str] = field(default_factory=list)
    text: str = ""
    """The new text of the file."""
    modules: tuple[Source, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    """The new texts of modules, by path."""


Runner = Callable[[Source, Sequence[str], bool, dict[str, str]], tuple[dict[str, Any], str]]
Place = tuple[Any, str]
"""A finding's span and code."""


def treat(source: Source, argv: Sequence[str], runner: Runner, mend: bool, modules: Sequence[Source] = ()) -> Outcome:
    """Measure a script and, where asked, choose its new text and that of modules: checked, and run as a whole."""
    report, output = runner(source, argv, True, {})
    named = tuple(replace(m, path=os.path.relpath(m.path)) for m in modules)
    made = Outcome(source, report, output, text=source.text, modules=named)
    made.words.append(report["text"].rstrip())
    if report["error"]:
        _repair(made, argv, runner)
    if mend and not made.report["error"]:
        _mend(made, argv, runner)
    return made


def _repair(made: Outcome, argv: Sequence[str], runner: Runner) -> None:
    """Run again with what makes it run."""
    repaired = fix(made.source, choice=choose_repairs)
    if not repaired.mended:
        return
    names = ", ".join(dict.fromkeys(f"{f.code} line {f.line}" for f, _ in repaired.mended))
    made.words.append(f"repaired ({names}), it is run again")
    before = made.source
    made.source = replace(made.source, text=repaired.text)
    made.report, made.output = runner(made.source, argv, True, {})
    made.words.append(made.report["text"].rstrip())
    if made.report["error"]:
        made.source = before
        return
    made.repaired, made.text = True, repaired.text


def _mend(made: Outcome, argv: Sequence[str], runner: Runner) -> None:
    """Apply what was checked and what is provably the same; keep it if the whole script still prints the same."""
    chosen = _choose(made.source, made.report)
    whole = chosen | _only_as_a_whole(made.source)
    modules = [(m, _rewritten(m, _choose(m, made.report), made.report)) for m in made.modules]
    changed = {m.path: new for m, new in modules if new.text != m.text}
    for choice in [whole, chosen] if whole != chosen else [chosen]:
        fixed = _rewritten(made.source, choice, made.report)
        if fixed.text == made.source.text and not changed:
            made.words.append("nothing to rewrite" if not made.repaired else "rewritten so that it runs")
        elif not _keep(made, fixed, changed, argv, runner, must_gain=choice is not chosen):
            continue
        return


def _rewritten(source: Source, choice: dict[Place, Fix], report: dict[str, Any]) -> Fixed:
    return fix(source, choice=_by_place(choice), later=safe_but(report["refused"]))


def _by_place(choice: dict[Place, Fix]) -> Callable[[Finding], Fix | None]:
    return lambda finding: choice.get((finding.place, finding.code))


def safe_but(refused: set[Any]) -> Callable[[Finding], Fix | None]:
    """In later rounds places have moved: what is safe, but for what was tried in vain."""
    in_vain = {(code, name) for _, _, code, name in refused}

    def choose(finding: Finding) -> Fix | None:
        safe = finding.safe_fix
        return None if safe is None or (finding.code, safe.name) in in_vain else safe

    return choose


def _keep(
    made: Outcome, fixed: Fixed, modules: dict[str, Fixed], argv: Sequence[str], runner: Runner, must_gain: bool
) -> bool:
    """Run the rewritten script with the rewritten modules, and take them if they do the same."""
    parts = [f"{f.code} line {f.line}: {one.name}" for f, one in fixed.mended]
    parts += [f"{f.code} {f.path}:{f.line}: {one.name}" for new in modules.values() for f, one in new.mended]
    names, texts = ", ".join(parts), {path: new.text for path, new in modules.items()}
    if _READS.search(made.source.text):
        if must_gain:
            return False
        made.text, made.texts = fixed.text, texts
        made.words.append(f"rewritten ({names}); not run again, as it reads standard input")
        return True
    again, output = runner(replace(made.source, text=fixed.text), argv, False, texts)
    before, after = made.report["seconds"], again["seconds"]
    if again["error"] or again["status"] != made.report["status"]:
        made.words.append(f"left alone: rewritten ({names}), it ended with {again['error'] or again['status']}")
        return False
    if not same_output(made.output, output):
        told = _first_difference(made.output, output)
        made.words.append(f"left alone: rewritten ({names}), it printed something else: {told}")
        return False
    if must_gain and after >= before:
        made.words.append(f"left alone: rewritten ({names}), it took {duration(after)}, before {duration(before)}")
        return False
    made.text, made.texts = fixed.text, texts
    gain = f"{before / after:.3g} times faster" if after < before else "no faster"
    figures = f"{duration(before)} before, {duration(after)} after, {gain}"
    made.words.append(f"rewritten ({names}): the same output, {figures}")
    return True


def _only_as_a_whole(source: Source) -> dict[Place, Fix]:
    """Fixes of what has no call to replay: a run of the whole script checks them."""
    return {(f.place, f.code): one for f in look(source) for one in f.fixes if one.tier == "whole"}


def _choose(source: Source, report: dict[str, Any]) -> dict[Place, Fix]:
    """For each finding the checked fix that is fastest, else the safe one, unless it was tried and no good."""
    chosen: dict[Place, Fix] = {}
    for finding in look(source):
        name = report["allowed"].get((finding.path, finding.place, finding.code))
        one = next((f for f in finding.fixes if f.name == name), None) or _untried(finding, report["refused"])
        if one is not None:
            chosen[finding.place, finding.code] = one
    return chosen


def _untried(finding: Finding, refused: set[Any]) -> Fix | None:
    safe = finding.safe_fix
    return None if safe is None or (finding.path, finding.place, finding.code, safe.name) in refused else safe


_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


def same_output(a: str, b: str) -> bool:
    """The same text, but for the last digits of floats."""
    if a == b:
        return True
    if _NUMBER.sub("#", a).split() != _NUMBER.sub("#", b).split():
        return False
    return all(_same_number(x, y) for x, y in zip(_NUMBER.findall(a), _NUMBER.findall(b)))


def _same_number(x: str, y: str) -> bool:
    if x == y:
        return True
    if not {".", "e", "E"} & set(x + y):
        return False
    return abs(float(x) - float(y)) <= 1e-5 * max(abs(float(x)), abs(float(y)))


def _first_difference(a: str, b: str) -> str:
    """The first line that differs, on both sides."""
    for x, y in zip(a.splitlines(), b.splitlines()):
        if x != y:
            return f"{x[:80]!r}, then {y[:80]!r}"
    return f"{len(a.splitlines())} lines, then {len(b.splitlines())}"


def run_in_child(
    source: Source, argv: Sequence[str], replay: bool, texts: dict[str, str], echo: TextIO | None = None
) -> tuple[dict[str, Any], str]:
    """Run a script in a process of its own; its output is passed on while it runs, and kept."""
    with tempfile.TemporaryDirectory(prefix="upshift-doctor-") as folder:
        job, report = Path(folder, "job.json"), Path(folder, "report")
        asked = {"path": source.path, "text": source.text, "codes": None if source.codes is None else [*source.codes]}
        words = {**asked, "argv": list(argv), "replay": replay, "texts": texts, "report": str(report)}
        job.write_text(json.dumps(words), encoding="utf-8")
        command = [sys.executable, "-m", "upshift.doctor.running.child", str(job)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            with _deaf_to_interrupts():
                output = _passed_on(process.stdout, echo)
        if report.exists():
            loaded: dict[str, Any] = pickle.loads(report.read_bytes())
            return loaded, output
    end = f"it left without a word (status {process.returncode}): os._exit, a signal or a crash"
    return _nothing(source.path, end, process.returncode), output


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ctrl-C ends the script, which hears it as well; its report is waited for."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _passed_on(stream: IO[bytes], echo: TextIO | None) -> str:
    """All that is written to a pipe; shown as it comes, since a question asked by `input` ends with no line."""
    decoder = codecs.getincrementaldecoder(locale.getpreferredencoding(False))(errors="replace")
    parts = []
    while data := os.read(stream.fileno(), 1 << 16):
        parts.append(decoder.decode(data))
        if echo is not None:
            echo.write(parts[-1])
            echo.flush()
    parts.append(decoder.decode(b"", final=True))
    if echo is not None:
        echo.write(parts[-1])
    return "".join(parts)


def _nothing(path: str, end: str, status: int) -> dict[str, Any]:
    text = f"{path}: no measurements, {end}"
    return {
        "text": text, "data": {"error": end}, "allowed": {}, "refused": set(),
        "error": end, "line": 0, "status": status, "seconds": 0.0,
    }  # fmt: skip
