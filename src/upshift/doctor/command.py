"""The command `upshift doctor`: its options, what it prints, what it rewrites, and its exit status."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .checks import CHECKS
from .figures import describe
from .finding import Finding
from .fixing import fix, look
from .formats import FORMATS
from .pages import page
from .rewrite import CannotRewrite, check_libcst, difference, write
from .running import treatment
from .running.treatment import run_in_child
from .settings import BadSetting, Settings, check_codes, read_settings
from .sources import Source, Unreadable, find_files, read

CLEAN, FOUND, FAILED = 0, 1, 2


def main(words: Sequence[str]) -> int:
    """0: nothing found; 1: something found; 2: a file or the command was not understood."""
    try:
        options = parse(words)
        if options.list:
            return _show_list()
        if options.explain or options.figure:
            return _show_code(options.explain or options.figure, figure=bool(options.figure))
        if options.fix or options.diff:
            check_libcst()
        settings = merge(read_settings(_start(options.run[:1] or options.paths)), options)
        if options.run:
            return _show_run(options, settings)
        return treat(options, settings)
    except (BadSetting, CannotRewrite) as error:
        print(f"upshift doctor: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
        return FOUND


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The options; what follows `--run SCRIPT` is the script's."""
    parser = argparse.ArgumentParser(
        prog="upshift doctor", description="Find slow maps in scripts and notebooks, measure what they cost, fix them."
    )
    parser.add_argument("paths", nargs="*", help="files and folders (default: this folder)")
    parser.add_argument("--select", action="append", default=[], metavar="CODES", help="look for these codes only")
    parser.add_argument("--ignore", action="append", default=[], metavar="CODES", help="do not look for these codes")
    parser.add_argument(
        "--exclude", action="append", default=[], metavar="GLOB", help="leave these files and folders out"
    )
    parser.add_argument("--format", choices=sorted(FORMATS), default="text")
    parser.add_argument(
        "--fix", action="store_true", help="rewrite what is provably the same; with --run, what was checked"
    )
    parser.add_argument("--diff", action="store_true", help="show what --fix would do")
    parser.add_argument("--explain", metavar="CODE", help="print the page of a code")
    parser.add_argument("--figure", metavar="CODE", help="measure the slow form of a code and its remedy, here and now")
    parser.add_argument("--list", action="store_true", help="list all codes")
    parser.add_argument(
        "--run", nargs="...", metavar="SCRIPT", help="run a script with the words after it, and measure it"
    )
    own, script = _split_run(words)
    options = parser.parse_args(own)
    options.run = script
    return options


def _split_run(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The doctor's own words, and the script with its arguments."""
    given = list(words)
    if "--run" not in given:
        return given, []
    at = given.index("--run")
    if at + 1 == len(given):
        raise BadSetting("--run needs a script: upshift doctor --run script.py")
    return given[:at], given[at + 1 :]


def merge(settings: Settings, options: argparse.Namespace) -> Settings:
    """The command line's words over those of pyproject.toml."""
    select, ignore = _codes(options.select), _codes(options.ignore)
    check_codes([*select, *ignore], "the command line")
    return Settings(
        tuple(select) or settings.select, settings.ignore + tuple(ignore), settings.exclude + tuple(options.exclude)
    )


def _codes(given: list[str]) -> list[str]:
    return [code.strip().upper() for codes in given for code in codes.split(",") if code.strip()]


def _start(paths: Sequence[str]) -> Path:
    first = Path(paths[0]) if paths else Path()
    return first if first.is_dir() else first.parent


def _show_list() -> int:
    for check in CHECKS.values():
        print(f"{check.code}  {check.title}")
    return CLEAN


def _show_code(code: str, figure: bool) -> int:
    code = code.upper()
    if code not in CHECKS:
        raise BadSetting(f"{code!r} is no code; see upshift doctor --list")
    print(describe(CHECKS[code].figure) if figure else page(code), end="")
    return CLEAN


def _show_run(options: argparse.Namespace, settings: Settings) -> int:
    """Run a script, say what its slow places cost, and rewrite it where that is asked for."""
    if options.format not in ("text", "json"):
        raise BadSetting(f"--format {options.format} is for what is found without running: use text or json with --run")
    path, *argv = options.run
    modules = []
    try:
        source = read(path, settings.codes)
        compile(source.text, path, "exec", dont_inherit=True)
        for path in find_files(options.paths, settings.exclude):
            if os.path.realpath(path) != os.path.realpath(source.path):
                modules.append(read(path, settings.codes))
                compile(modules[-1].text, path, "exec", dont_inherit=True)
    except (SyntaxError, Unreadable, RecursionError, MemoryError, ValueError) as error:
        print(f"upshift doctor: {_complaint(path, error)}", file=sys.stderr)
        return FAILED
    if any(s.notebook is not None for s in (source, *modules)):
        raise BadSetting(
            f"{path}: a notebook runs in Jupyter; there, %load_ext upshift.doctor and %%upshift measure a cell"
        )
    echo = sys.stdout if options.format == "text" else None

    def runner(given: Source, words: Sequence[str], replay: bool, texts: dict[str, str]) -> tuple[dict[str, Any], str]:
        return run_in_child(given, words, replay, texts, echo if replay else None)

    made = treatment.treat(source, argv, runner, options.fix or options.diff, modules)
    if options.format == "text":
        print("\n".join(made.words))
    else:
        print(json.dumps({"version": 1, "path": path, "words": made.words, **made.report["data"]}, indent=2))
    new = [(source, made.text), *((m, made.texts.get(os.path.relpath(m.path), m.text)) for m in modules)]
    for old, text in new:
        if options.diff:
            print(difference(old, text), end="")
        elif options.fix and text != old.text:
            write(old, text)
    return FAILED if made.report["error"] else FOUND if made.report["data"].get("sites") else CLEAN


def treat(options: argparse.Namespace, settings: Settings) -> int:
    """Look at every file, and mend or show what is asked for."""
    findings: list[Finding] = []
    errors: list[str] = []
    files = 0
    collecting = gc.isenabled()
    gc.disable()  # syntax trees have no circles: collecting garbage among them costs half the time
    try:
        for path in find_files(options.paths or ["."], settings.exclude):
            source = None
            try:
                source = read(path, settings.codes)
                findings += mend(source, options) if options.fix or options.diff else look(source)
                files += 1
            except (SyntaxError, Unreadable, CannotRewrite, RecursionError, MemoryError, ValueError, OSError) as error:
                errors.append(_complaint(path, error, source))
    finally:
        if collecting:
            gc.enable()
    if not options.diff:
        print(FORMATS[options.format](findings, errors, files), end="")
    else:
        print("".join(f"error: {error}\n" for error in errors), end="", file=sys.stderr)
    return FAILED if errors else FOUND if findings else CLEAN


def mend(source: Source, options: argparse.Namespace) -> list[Finding]:
    """Rewrite the file, or show how; what is left to say."""
    fixed = fix(source)
    if options.diff:
        print(difference(source, fixed.text), end="")
        return [finding for finding, _ in fixed.mended]
    if fixed.text != source.text:
        write(source, fixed.text)
        source = read(source.path, source.codes)
    return look(source)


def _complaint(path: str, error: Exception, source: Source | None = None) -> str:
    """One line about a file that could not be looked at, or written."""
    if isinstance(error, SyntaxError):
        line = error.lineno or 1
        return f"{source.shown(line) if source is not None else f'{path}:{line}'}: {error.msg}; is it Python 3?"
    if isinstance(error, RecursionError | MemoryError):  # the parser says the one or the other
        return f"{path}: nested too deeply to be looked at"
    return str(error) if str(error).startswith(path) else f"{path}: {error}"
