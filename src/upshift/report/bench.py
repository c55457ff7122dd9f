"""The command `upshift bench`: how fast each way to map is, side by side on this machine.

The cases are the folder `benchmarks/` of the repository, which a wheel carries along inside the package. So what a user
runs is what the table of docs/benchmarks.md was made with.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
PLACES = (PACKAGE / "benchmarks", PACKAGE.parents[1] / "benchmarks")
"""In an installed package, and in a checkout."""
NAME = "upshift_benchmarks"
"""Not `benchmarks`, which may be anybody's."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and on request write JSON; the exit status."""
    place = next((place for place in PLACES if (place / "__main__.py").is_file()), None)
    if place is None:
        print(f"the benchmarks are not installed: there is no {PLACES[0]}", file=sys.stderr)
        return 2
    status: int = _load(place).main(argv, prog="upshift bench")
    return status


def _load(place: Path) -> Any:
    """The program of the package at this place, under a name of our own."""
    if NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(NAME, place / "__init__.py")
        assert spec is not None and spec.loader is not None
        sys.modules[NAME] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[NAME])
    return importlib.import_module(f"{NAME}.__main__")
