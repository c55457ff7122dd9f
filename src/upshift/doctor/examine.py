"""Run all checks over the text of one file. Nothing of the file is executed."""

from __future__ import annotations

import ast
import re
import warnings

from .checks import CHECKS
from .finding import Finding
from .walk import File

WORDS = re.compile(r"\b(?:tensorflow|numpy|pandas|polars|jax|numba)\b")
"""A file without any of these has nothing to look for."""


def examine(path: str, source: str) -> list[Finding]:
    """The findings of one text. A SyntaxError where it is not Python."""
    with warnings.catch_warnings():  # what the compiler thinks of the user's escapes is not asked
        warnings.simplefilter("ignore")
        tree = ast.parse(source, path)
    if not WORDS.search(source):
        return []
    assert CHECKS
    return File(path, source, tree).examine()
