"""Every table, in one tuple."""

from __future__ import annotations

from functions import (
    arithmetic,
    branches,
    builtins_,
    classes,
    closures,
    cmaths,
    comparisons,
    complex_,
    exceptions,
    itertools_,
    loops,
    maths,
    numpy_scalars,
    randoms,
    recursion,
    strings,
    structures,
)

TABLES = tuple(
    module.table
    for module in (
        arithmetic,
        comparisons,
        branches,
        loops,
        maths,
        cmaths,
        complex_,
        builtins_,
        structures,
        closures,
        recursion,
        exceptions,
        classes,
        strings,
        itertools_,
        numpy_scalars,
        randoms,
    )
)
