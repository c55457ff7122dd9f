"""The command `upshift info`: what this machine has, and which gears it can use."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import sys

from ..api import GEARS
from ..config import settings
from ..folder import folder
from ..gears.frameworks import why_no_gpu

FRAMEWORKS = {
    "numpy": "comes with upshift",
    "llvmlite": "comes with upshift",
    "jax": 'pip install "upshift[jax]"',
    "tensorflow": 'pip install "upshift[tensorflow]"',
    "ray": 'pip install "upshift[ray]"',
    "torch": 'pip install "upshift[torch]"',
    "pandas": 'pip install "upshift[pandas]"',
    "polars": 'pip install "upshift[polars]"',
    "pyarrow": 'pip install "upshift[arrow]"',
    "zarr": 'pip install "upshift[zarr]"',
    "cloudpickle": 'pip install "upshift[parallel]"',
    "rich": 'pip install "upshift[progress]"',
}
"""What a gear or an adapter may need, and how to get it."""
NEEDS = {"jax": ("jax",), "processes": ("cloudpickle",), "ray": ("ray", "cloudpickle")}


def describe() -> str:
    """Machine, versions, gears, and how to get what is missing."""
    now = settings()
    lacks = {gear: _lacks(gear) for gear in GEARS}
    run = ", ".join(gear for gear, lack in lacks.items() if not lack)
    lines = [
        f"upshift {importlib.metadata.version('upshift')}",
        f"python {sys.version.split()[0]} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"{now.num_threads} threads used",
        f"gears that run: {run}" + (" (UPSHIFT_DISABLE is set: the loop runs everything)" if now.disable else ""),
        *(f"  not {gear}: {lack}" for gear, lack in lacks.items() if lack),
        kept(),
        "",
    ]
    for name, remedy in FRAMEWORKS.items():
        found = importlib.util.find_spec(name) is not None
        lines.append(f"  {name:<12} {_version(name) if found else 'not installed: ' + remedy}")
    return "\n".join(lines)


def _lacks(gear: str) -> str:
    """What a gear does not find here; empty where it can run."""
    if gear == "cuda":
        return why_no_gpu() or ""
    missing = [name for name in NEEDS.get(gear, ()) if importlib.util.find_spec(name) is None]
    return f"{missing[0]} is not installed: {FRAMEWORKS[missing[0]]}" if missing else ""


def kept() -> str:
    """Where machine code is kept."""
    if settings().disable:
        return "machine code: none is used or kept, while UPSHIFT_DISABLE is set"
    place = folder()
    if place is None:
        return "machine code: kept in memory only"
    files = [path.stat().st_size for path in (place / "code").glob("*")]
    return f"machine code: {len(files)} files, {sum(files) / 1e6:.1f} MB, kept in {place}"


def clear() -> str:
    """Take away the machine code that is kept; processes that run have theirs in memory."""
    place = folder()
    gone = 0
    for path in (place / "code").glob("*") if place else ():
        try:
            path.unlink()
            gone += 1
        except OSError:  # somebody else was faster, or it may not be taken away
            continue
    return f"{gone} files of machine code taken away"


def _version(name: str) -> str:
    for distribution in (name, name.replace("_", "-"), f"{name}-cpu"):
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "installed"
