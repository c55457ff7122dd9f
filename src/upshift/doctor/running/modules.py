"""The user's own modules that a script imports: run with their sites wrapped, like the script itself."""

from __future__ import annotations

import ast
import importlib.machinery
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import CodeType, ModuleType
from typing import Any

from .. import checks  # noqa: F401  (fills the table that files are examined by)
from ..finding import Finding, Span
from ..sources import SKIPPED, Source, Unreadable, read
from ..walk import File
from .instrument import RECORDER, instrument
from .recorder import Recorder
from .sites import Site, find_sites


@dataclass
class Part:
    """One file of the program: what the checks found in it, and where it is measured."""

    file: File
    findings: list[Finding]
    sites: dict[Span, Site]
    names: dict[str, Any] = field(default_factory=dict)
    """The globals of the script or module while it runs and afterwards."""


def instrumented(source: Source, recorder: Recorder, replay: bool, shown: str = "") -> tuple[Part, CodeType]:
    """A file that is about to run: its findings, its sites, and the code that reports them."""
    file = File(source.path, source.text, ast.parse(source.text, source.path))
    findings = [replace(f, path=shown or source.path) for f in file.examine() if source.wants(f)]
    sites = find_sites(file, findings, len(recorder.sites)) if replay else {}
    recorder.add(sites.values())
    return Part(file, findings, sites), compile(instrument(file, sites), source.path, "exec", dont_inherit=True)


class Modules:
    """Finds what is imported from the script's own folder, in place of Python's finder while the script runs."""

    def __init__(self, script: Source, recorder: Recorder, texts: Mapping[str, str], replay: bool) -> None:
        self.folder, self.start = os.path.realpath(os.path.dirname(script.path) or "."), os.getcwd()
        self.codes = script.codes
        self.recorder, self.texts, self.replay = recorder, texts, replay
        self.parts: list[Part] = []

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Python's own answer, with a loader that wraps the sites; None leaves the import to the finders after this."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader or not self._is_own(spec):
            return None
        try:
            source = read(str(spec.origin), self.codes)
            shown = os.path.relpath(source.path, self.start)
            source = replace(source, text=self.texts.get(shown, source.text))
            part, code = instrumented(source, self.recorder, self.replay, shown)
        except (Unreadable, SyntaxError, ValueError, RecursionError):
            return None  # Python says what is wrong with it, as without the doctor
        spec.loader = _Loader(name, source.path, self, part, code)
        return spec

    def _is_own(self, spec: importlib.machinery.ModuleSpec) -> bool:
        path = os.path.realpath(str(spec.origin))
        if not path.startswith(os.path.join(self.folder, "")):
            return False
        return not SKIPPED & set(os.path.relpath(path, self.folder).split(os.sep))

    @contextmanager
    def installed(self) -> Iterator[None]:
        """While the script runs."""
        sys.meta_path.insert(0, self)
        try:
            yield
        finally:
            sys.meta_path.remove(self)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, modules: Modules, part: Part, code: CodeType) -> None:
        super().__init__(name, path)
        self.modules, self.part, self.code = modules, part, code

    def get_code(self, fullname: str) -> CodeType:
        return self.code

    def exec_module(self, module: ModuleType) -> None:
        recorder = self.modules.recorder
        module.__dict__[RECORDER] = recorder
        self.part.names = module.__dict__
        self.modules.parts.append(self.part)
        with recorder.imports.paused():  # what the user's own module does is a part of the run
            super().exec_module(module)
