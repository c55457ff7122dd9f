"""Columns and results that are files, or too large for memory: read, mapped and written block by block.

`source_of` says how columns are read, `sink_of` where results go, and `flow` moves blocks from one to the other: the
next one is read and the last one written while one is computed.
"""

from .flow import flow
from .journal import fingerprint
from .opened import are_files, whole
from .sinks import sink_of, store
from .sources import source_of

__all__ = ["are_files", "fingerprint", "flow", "sink_of", "source_of", "store", "whole"]
