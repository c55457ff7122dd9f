"""A tree in, readable source out."""

from .writer import NoSource, source_of

__all__ = ["NoSource", "source_of"]
