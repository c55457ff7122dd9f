"""TensorFlow, loaded whole before anything else here stands on it: an interrupt would leave it broken for good."""

from __future__ import annotations

from ..loading import loaded


def _tensorflow() -> None:
    import tensorflow  # noqa: F401


loaded(_tensorflow, within_imports=True)
