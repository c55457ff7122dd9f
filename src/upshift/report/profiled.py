"""`upshift profile script.py`: runs the script as if by itself, then tells where the time of its maps went."""

from __future__ import annotations

import argparse
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from ..views.report import SUFFIXES
from .profile import Profile


def main(argv: Sequence[str]) -> int:
    """The exit status is the script's; 2 where the words were not understood."""
    parser = argparse.ArgumentParser(prog="upshift profile", description="Where the time of a script's maps goes.")
    parser.add_argument("-o", "--output", type=Path, help="a trace for Perfetto (.json), a page (.html) or text (.txt)")
    parser.add_argument("script", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's own; all of them, behind --")
    at = list(argv).index("--") if "--" in argv else len(argv)
    options = parser.parse_args(argv[:at])
    if options.output is None and options.arguments[:1] in (["-o"], ["--output"]) and len(options.arguments) > 1:
        options.output, options.arguments = Path(options.arguments[1]), options.arguments[2:]
    options.arguments += argv[at:] if options.arguments else argv[at + 1 :]
    if not options.script.is_file():
        parser.error(f"there is no file {options.script}")
    if options.output and options.output.suffix not in SUFFIXES:
        parser.error(f"{options.output} ends in none of {', '.join(SUFFIXES)}")
    output = options.output.absolute() if options.output else None  # the script may go to another folder
    status = 0
    before = sys.argv, sys.path[0]
    sys.argv, sys.path[0] = [str(options.script), *options.arguments], str(options.script.parent)
    try:
        with Profile() as made:
            try:
                runpy.run_path(str(options.script), run_name="__main__")
            except SystemExit as stop:
                status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
                if stop.code is not None and not isinstance(stop.code, int):
                    print(stop.code, file=sys.stderr)  # as Python does
            except (Exception, KeyboardInterrupt) as error:  # shown as Python shows it; then, what there was until then
                status = 130 if isinstance(error, KeyboardInterrupt) else 1
                _show(error, str(options.script))
    finally:
        sys.argv, sys.path[0] = before
    made.show()
    if output:
        try:
            made.save(output)
        except OSError as error:
            print(f"{options.output} cannot be written: {error.strerror}", file=sys.stderr)
            return 2
    return status


def _show(error: BaseException, script: str) -> None:
    """The traceback from the script on, without the frames of what runs it."""
    at = error.__traceback__
    while at is not None and at.tb_frame.f_code.co_filename != script:
        at = at.tb_next
    traceback.print_exception(type(error), error, at)
