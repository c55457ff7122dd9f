"""Nothing in; what this machine has and which gears it can use, in words, out."""

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
from ..plan.calibration import calibration

FRAMEWORKS = {
    "numpy": "comes with upshift",
    "numba": "comes with upshift",
    "jax": 'pip install "upshift[jax]"',
    "tensorflow": 'pip install "upshift[tensorflow]"',
    "ray": 'pip install "upshift[ray]"',
    "pandas": 'pip install "upshift[pandas]"',
}
"""What a gear or an adapter may need, and how to get it."""


def describe() -> str:
    """Machine, versions, gears, and how to get what is missing."""
    now = settings()
    lines = [
        f"upshift {importlib.metadata.version('upshift')}",
        f"python {sys.version.split()[0]} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"{now.num_threads} threads used",
        f"gears: {', '.join(GEARS)}" + (" (UPSHIFT_DISABLE is set: the loop runs everything)" if now.disable else ""),
        _machine(),
        "",
    ]
    for name, remedy in FRAMEWORKS.items():
        found = importlib.util.find_spec(name) is not None
        lines.append(f"  {name:<12} {_version(name) if found else 'not installed: ' + remedy}")
    lines.append(f"  {'cuda':<12} {why_no_gpu() or 'ready'}")
    return "\n".join(lines)


def _machine() -> str:
    """What this machine's calibration says."""
    if settings().disable:
        return "calibration: none, while UPSHIFT_DISABLE is set"
    found = calibration()
    return (
        f"calibration: {found.call * 1e9:.0f} ns a Python call, {found.ufunc * 1e6:.2f} us a NumPy call, "
        f"{found.stream * 1e9:.2f} ns an element in cache, {found.thread * 1e6:.0f} us to wake a thread, "
        f"{found.compile:.2f} s a compilation; kept in {folder() or 'memory only'}"
    )


def _version(name: str) -> str:
    for distribution in (name, name.replace("_", "-"), f"{name}-cpu"):
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "installed"
