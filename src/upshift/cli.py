"""The command line: words in, text out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .report import demo, info, rules


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status: 0 done, 2 not understood."""
    parser = argparse.ArgumentParser(prog="upshift", description="Run a function of one element over many, fast.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    commands.add_parser("demo", help="map six real functions in every gear and print the table")
    commands.add_parser("rules", help="how every NumPy function is run for all elements, as a page")
    commands.add_parser("info", help="this machine, versions, and which gears can run")
    command = parser.parse_args(argv).command
    try:
        if command == "demo":
            demo.show()
        elif command == "rules":
            print(rules.page(), end="")
        else:
            print(info.describe())
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
