"""A tree in, readable source out."""

from .writer import source_of

__all__ = ["source_of"]
