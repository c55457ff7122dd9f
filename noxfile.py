"""The test runs of CI by hand: `nox --list`, then `nox --session core-3.12`."""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "uv|venv"
PYTHONS = ("3.11", "3.12", "3.13")
CORE = ("pytest>=8", "pytest-xdist>=3.6", "hypothesis>=6.100")


@nox.session(python=PYTHONS)
def core(session: nox.Session) -> None:
    """NumPy and llvmlite alone: tests of a framework that is missing are skipped."""
    session.install("-e", ".", *CORE)
    session.run("python", "-m", "pytest", "-n", "auto", "--dist", "worksteal", *session.posargs)


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """The oldest versions that pyproject.toml allows."""
    session.install("numpy==2.0.*", "llvmlite==0.45.*", *CORE)
    session.install("--no-deps", "-e", ".")
    session.run("python", "-m", "pytest", "-n", "auto", "--dist", "worksteal", *session.posargs)


@nox.session(python="3.11")
def everything(session: nox.Session) -> None:
    """Every framework: nothing is skipped."""
    session.install("-e", ".[all,dev]")
    session.run("python", "-m", "pytest", "-n", "auto", "--dist", "worksteal", *session.posargs)
