"""Run a script with its slow places watched: what each one cost, what was tried there, how the script ended."""

from __future__ import annotations

import os
import sys
import time
import traceback
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..finding import Finding, Span
from ..sources import Source, remember
from .instrument import RECORDER
from .modules import Modules, instrumented
from .recorder import Record, Recorder
from .replay import Trial, try_all
from .sites import Site


@dataclass(frozen=True)
class Measured:
    """A site, what happened there, and what was tried."""

    site: Site
    record: Record
    trials: tuple[Trial, ...]
    note: str

    @property
    def path(self) -> str:
        """The file in which the site is."""
        return self.site.findings[0].path

    def best(self) -> list[tuple[Finding, str]]:
        """The checked fix that saves most; of those within a twentieth of it, the first that is listed."""
        good = {t.name: t for t in self.trials if t.is_good and t.saved > 0}
        fixes = [(finding, fix.name) for finding in self.site.findings for fix in finding.fixes if fix.name in good]
        most = max((good[name].saved for _, name in fixes), default=0.0)
        chosen = next((name for _, name in fixes if good[name].saved >= 0.95 * most), None)
        return [(finding, name) for finding, name in fixes if name == chosen]


@dataclass
class Run:
    """One run of a script."""

    seconds: float = 0.0
    """Without the imports at the top."""
    importing: float = 0.0
    status: int = 0
    error: str = ""
    """The last line of the traceback, where it raised."""
    line: int = 0
    """The script's line that led to the error."""
    measured: list[Measured] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def allowed(self) -> dict[tuple[str, Span, str], str]:
        """The fastest checked fix of each finding: by file, place and code, the fix's name."""
        found: dict[tuple[str, Span, str], str] = {}
        for measured in self.measured:
            for finding, name in measured.best():
                found[finding.path, finding.place, finding.code] = name
        return found

    def refused(self) -> set[tuple[str, Span, str, str]]:
        """Fixes that were tried and did not give the same, or not faster, or less than another of the same place."""
        allowed = self.allowed()
        return {
            (finding.path, finding.place, finding.code, trial.name)
            for measured in self.measured
            for finding in measured.site.findings
            for trial in measured.trials
            if allowed.get((finding.path, finding.place, finding.code)) != trial.name
        }


def run(source: Source, argv: Sequence[str], replay: bool = True, texts: Mapping[str, str] | None = None) -> Run:
    """Run a script as `python script.py argv` would, measured; `replay=False` runs it as it is.

    Modules that it imports from its own folder are measured, too; `texts` has, by path, what some of them are to be.
    """
    made = Run()
    recorder = Recorder()
    script, code = instrumented(source, recorder, replay)
    modules = Modules(source, recorder, texts or {}, replay)
    with modules.installed():
        script.names = _execute(source, code, argv, recorder, made)
    recorder.finish(made.seconds)
    made.importing = recorder.imports.seconds
    made.seconds -= made.importing
    for part in (script, *modules.parts):
        made.findings += part.findings
        for site in part.sites.values():
            record = recorder.records[site.number]
            trials, note = try_all(part.file, site, record, part.names) if record.calls else ([], "not reached")
            made.measured.append(Measured(site, record, tuple(trials), note))
    made.measured.sort(key=lambda m: (-max((t.saved for t in m.trials), default=0.0), -m.record.seconds))
    return made


def _execute(
    source: Source, code: types.CodeType, argv: Sequence[str], recorder: Recorder, made: Run
) -> dict[str, Any]:
    """Run code as `__main__`; what the process had before is put back."""
    path = source.path
    module = types.ModuleType("__main__")
    remember(path, source.text)
    module.__dict__.update(__file__=path, __builtins__=__builtins__, **{RECORDER: recorder})
    before = sys.argv, sys.path[:], sys.modules["__main__"]
    sys.argv = [path, *argv]
    sys.path.insert(0, str(Path(path).resolve().parent))
    sys.modules["__main__"] = module
    parent = os.getpid()
    start = time.perf_counter()
    try:
        exec(code, module.__dict__)
    except SystemExit as end:
        made.status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if os.getpid() != parent:
            raise
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except (Exception, KeyboardInterrupt) as error:  # it is shown as Python shows it, and the doctor goes on
        if os.getpid() != parent:
            raise
        made.status = 130 if isinstance(error, KeyboardInterrupt) else 1
        made.error = traceback.format_exception_only(error)[-1].strip().splitlines()[-1].strip()
        made.line = _line(error, path)
        _show(error, path)
    finally:
        made.seconds = time.perf_counter() - start
        sys.argv, sys.path[:], sys.modules["__main__"] = before
    if os.getpid() != parent:  # a fork of the script came to its end: it is not to write a report
        sys.stdout.flush()
        raise SystemExit(made.status)
    return module.__dict__


def _line(error: BaseException, path: str) -> int:
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return (lines[-1] or 0) if lines else 0


def _show(error: BaseException, path: str) -> None:
    """The traceback from the script on, without the doctor's own frames."""
    at = error.__traceback__
    while at is not None and at.tb_frame.f_code.co_filename != path:
        at = at.tb_next
    traceback.print_exception(type(error), error, at or error.__traceback__)
