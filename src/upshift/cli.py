"""The command line: `upshift demo | bench | doctor | profile | info | cache`, and what makes tables and completions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .doctor import command as doctor
from .report import bench, completion, demo, info, pages, profiled, rules

ACTIONS = ("info", "clear")
QUESTIONS = ("map-fn-vs-loop", "faster-map-fn", "function-vs-python", "map-fn-on-gpu", "numpy-function")
"""What `upshift bench` answers about TensorFlow."""
FOLLOW = {
    "bench": (*QUESTIONS, "--quick", "--data", "--sizes", "--peers", "--output", "--help"),
    "cache": ACTIONS,
    "completion": completion.SHELLS,
    "doctor": tuple(
        f"--{word}" for word in "run fix diff select ignore exclude format explain figure list help".split()
    ),
    "profile": ("--output", "--help"),
}
"""Words that are completed after a command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status: 0 done, 2 not understood."""
    parser = argparse.ArgumentParser(prog="upshift", description="Run a function of one element over many, fast.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    commands.add_parser("demo", help="map six real functions in every gear and print the table")
    commands.add_parser("bench", add_help=False, help="how fast every way to map is here, side by side with its peers")
    commands.add_parser("doctor", add_help=False, help="find slow maps in scripts and notebooks, measure and fix them")
    commands.add_parser("rules", help="how every NumPy function is run for all elements, as a page")
    tables = commands.add_parser("tables", help="make the tables of pages anew: what compiles, what things cost")
    tables.add_argument("pages", nargs="+", metavar="PAGE.md")
    commands.add_parser("info", help="this machine, versions, and which gears can run")
    commands.add_parser("profile", add_help=False, help="run a script and tell where the time of its maps goes")
    cache = commands.add_parser("cache", help="the machine code that is kept on disk")
    cache.add_argument("action", nargs="?", choices=ACTIONS, default="info")
    complete = commands.add_parser("completion", help="a script that completes these words in a shell")
    complete.add_argument("shell", choices=completion.SHELLS)
    words = sys.argv[1:] if argv is None else list(argv)
    if words[:1] == ["doctor"]:
        return doctor.main(words[1:])  # with the words in their order: some are a script's
    if words[:1] == ["profile"]:
        return profiled.main(words[1:])
    known, rest = parser.parse_known_args(words)
    command = known.command
    if rest and command != "bench":
        parser.parse_args(words)  # says what was not understood
    try:
        if command == "demo":
            demo.show()
        elif command == "bench":
            return bench.main(rest)
        elif command == "rules":
            print(rules.page(), end="")
        elif command == "tables":
            print(pages.rewrite(known.pages))
        elif command == "completion":
            print(completion.script(known.shell, {name: FOLLOW.get(name, ()) for name in commands.choices}))
        elif command == "cache":
            print(info.clear() if known.action == "clear" else info.kept())
        else:
            print(info.describe())
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
    except OSError as error:
        print(f"upshift {command}: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
