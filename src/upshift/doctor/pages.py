"""The page of each code, as in docs/doctor: found beside the package where it is installed, else in the repository."""

from __future__ import annotations

from pathlib import Path

_INSTALLED = Path(__file__).with_name("pages")
_REPOSITORY = Path(__file__).parents[3] / "docs" / "doctor"


def page(code: str) -> str:
    """The text of a page."""
    for folder in (_INSTALLED, _REPOSITORY):
        path = folder / f"{code}.md"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError(f"no page for {code} in {_INSTALLED} or {_REPOSITORY}")
