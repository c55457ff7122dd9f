"""The doctor's settings: `[tool.upshift.doctor]` of the nearest pyproject.toml, and what the command line says."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .checks import CHECKS


class BadSetting(Exception):
    """A setting that is not understood."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Which codes are looked for, and where."""

    select: tuple[str, ...] = ("UPS",)
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @property
    def codes(self) -> frozenset[str]:
        """All that are looked for."""
        return frozenset(filter(self.wants, CHECKS))

    def wants(self, code: str) -> bool:
        """The longest prefix that fits decides, as in ruff; at equal length, ignore does."""
        chosen = max((len(p) for p in self.select if code.startswith(p)), default=-1)
        ignored = max((len(p) for p in self.ignore if code.startswith(p)), default=-1)
        return chosen > ignored


def read_settings(start: Path) -> Settings:
    """Those of the nearest pyproject.toml at or above a folder."""
    folder = start.resolve()
    for place in [folder, *folder.parents]:
        path = place / "pyproject.toml"
        if path.is_file():
            return _parse(path)
    return Settings()


def _parse(path: Path) -> Settings:
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except (tomllib.TOMLDecodeError, OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{path}: {error}") from None
    table = tables.get("tool", {}).get("upshift", {}).get("doctor", {})
    given: dict[str, tuple[str, ...]] = {}
    for name, value in table.items():
        if name not in ("select", "ignore", "exclude"):
            raise BadSetting(f"{path}: [tool.upshift.doctor] has no setting {name!r}; use select, ignore or exclude")
        given[name] = _texts(f"{path}: {name}", value)
    settings = Settings(**given)
    check_codes([*settings.select, *settings.ignore], str(path))
    return settings


def _texts(where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise BadSetting(f"{where} = {value!r}: write a list of texts")
    return tuple(value)


def check_codes(codes: list[str], where: str) -> None:
    """Every code or prefix must be one of some check."""
    for code in codes:
        if not any(known.startswith(code) for known in CHECKS):
            raise BadSetting(f"{where}: {code!r} is no code; see upshift doctor --list")
