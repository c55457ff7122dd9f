"""A function that is told the position of its element, so that each may draw from random streams of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..columns.kinds import Column
from ..errors import name_element


class Apart:
    """`f` of a position and an element. `begin` puts the generators where the streams of a position begin."""

    def __init__(
        self, f: Callable[..., Any], generators: list[Any], root: Column, begin: Callable[[int], None]
    ) -> None:
        self.f, self.generators, self.root, self.begin = f, generators, root, begin

    def __call__(self, position: int, *row: Any, **shared: Any) -> Any:
        self.begin(position)
        try:
            return self.f(*row, **shared)
        except Exception as error:
            name_element(error, position, row)
            raise
