"""Readable source, written from a tree."""

from .writer import NoSource, source_of

__all__ = ["NoSource", "source_of"]
