"""The catalogue of cities: the made-up one, those whose files are here, those of the net."""

from __future__ import annotations

import os
import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from explorer.cities import madeup, nation
from explorer.cities.city import City, Download
from explorer.errors import InputError
from explorer.grid.description import WAYS, declared_grid
from explorer.grid.values import of_key

__all__ = ["City", "cities", "find", "folders"]

# What a description may say; unknown entries are refused, not ignored.
_ENTRIES = {"key", "title", "description", "source", "file", "cells", "columns", "download"}
_COLUMNS = {"lon", "lat", "crs", "user", "weight", "time"}
_ENDING = ".city.toml"
_MADE_UP = ("madeup", "nation")


def cities() -> dict[str, City]:
    """Return the cities that can be shown, by key; the made-up one is the first.

    Known files (`cities.toml`) appear where a folder of `folders` holds them, and, without a
    local file, where they can be downloaded. Other files appear with a description next to them,
    ``NAME.city.toml``, see `data/README.md`. A description that cannot be used is left out with a
    warning that says why.

    Examples
    --------
    >>> cities()["madeup"].title
    'Port Amber'
    """
    cities = {"madeup": _made_up(), "nation": _nation()}
    for table in _known():
        city = _local(table) or (describe(table, None) if "download" in table else None)
        if city is not None:
            cities[city.key] = city
    for city in _described():
        if city.make is None and city.key in _MADE_UP:
            warnings.warn(
                f"The key '{city.key}' is taken; give the city another one.", stacklevel=2
            )
        else:
            cities[city.key] = city
    return cities


def find(key: str) -> City:
    """Return the city of a key.

    Raises
    ------
    InputError
        For a key that no city has; it lists those there are.
    """
    return of_key(cities(), key, "There is no city")


def folders() -> list[Path]:
    """Return the folders where files of cities are looked for.

    The one that the environment variable ``EXPLORER_DATA`` names, and nothing else; without it
    ``data`` and ``../shared/data`` next to the checkout (or the working directory).
    """
    named = os.environ.get("EXPLORER_DATA")
    if named:
        return [folder for folder in [Path(named).expanduser()] if folder.is_dir()]
    checkout = Path(__file__).resolve().parents[2]
    root = checkout if (checkout / "pyproject.toml").is_file() else Path.cwd()
    here = [root / "data", root.parent / "shared" / "data"]
    return [folder for folder in here if folder.is_dir()]


def describe(table: Mapping[str, Any], folder: Path | None) -> City:
    """Return the city that a table of a description says.

    Parameters
    ----------
    table : mapping
        Entries as in `data/README.md`.
    folder : Path or None
        Where its files are; ``None`` if they are to be downloaded.

    Raises
    ------
    InputError
        For an entry that is missing, unknown or not what it should be. What an extent says is
        looked at when the city is used.
    """
    columns = table.get("columns", {})
    if not isinstance(columns, Mapping):
        raise InputError("The entry 'columns' is not a table; write it as [columns].")
    allowed = _ENTRIES | {entry for way in WAYS for entry in way}
    unknown = sorted(set(table) - allowed) + sorted(set(columns) - _COLUMNS)
    if unknown:
        raise InputError(f"The entry {unknown[0]!r} is unknown; see data/README.md for the list.")
    title = table.get("title")
    if not isinstance(title, str) or not title.strip():
        raise InputError("The entry 'title' is missing; give the city a name.")
    extent = {entry: table[entry] for way in WAYS for entry in way if entry in table}
    if "boundary" in extent:
        extent["boundary"] = _beside(folder, extent["boundary"])
    cells = table.get("cells", 1024)
    return City(
        key=str(table.get("key") or re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")),
        title=title,
        description=str(table.get("description", "")),
        source=str(table.get("source", "")),
        extent=extent,
        cells=tuple(cells) if isinstance(cells, list) else cells,
        file=None if folder is None else _beside(folder, table.get("file")),
        columns=dict(columns),
        downloads=tuple(Download(**entry) for entry in table.get("download", [])),
    )


def _made_up() -> City:
    return City(
        key="madeup",
        title=madeup.NAME,
        description="A made-up city of a million points: coast, centres, streets, empty country.",
        source="Made by this program; nobody lives there.",
        extent={"around": [madeup.LON, madeup.LAT], "size_km": madeup.SIZE / 1000},
        make=madeup.points,
    )


def _nation() -> City:
    return City(
        key="nation",
        title=nation.NAME,
        description="A made-up nation: towns by the rank-size rule, islands, 165 districts.",
        source="Made by this program, for countries of any number of points; nobody lives there.",
        extent={
            "around": [nation.LON, nation.LAT],
            "size_km": [nation.WIDTH, nation.HEIGHT],
        },
        make=nation.points,
    )


@cache
def _known() -> list[dict[str, Any]]:
    """Tables of the files that this program knows."""
    text = (Path(__file__).parent / "cities.toml").read_text("utf8")
    tables: list[dict[str, Any]] = tomllib.loads(text)["city"]
    return tables


def _local(table: Mapping[str, Any]) -> City | None:
    """Return the city of a known file if it is in one of the folders."""
    for folder in folders():
        if (folder / table["file"]).is_file():
            return describe(table, folder)
    return None


def _described() -> Iterator[City]:
    """Yield the cities that files of the user describe."""
    for folder in folders():
        for path in sorted(folder.glob(f"*{_ENDING}")):
            try:
                table = tomllib.loads(path.read_text("utf8"))
                table.setdefault("key", path.name.removesuffix(_ENDING))
                if "download" in table:
                    raise InputError("Only the catalogue downloads files; name one with 'file'.")
                city = describe(table, folder)
                if not city.is_matrix and "boundary" not in city.extent:
                    declared_grid(city.extent, city.cells)  # refuses an extent that cannot be used
                yield city
            except (InputError, OSError, ValueError) as error:
                warnings.warn(f"{path.name} is left out: {error}", stacklevel=3)


def _beside(folder: Path | None, name: Any) -> Path:
    """Return a file of the description's own folder: a description cannot reach elsewhere."""
    if folder is None or not isinstance(name, str) or Path(name).name != name:
        raise InputError("The entry 'file' or 'boundary' is not the name of a file beside it.")
    path = folder / name
    if not path.is_file():
        raise InputError(f"The file {name} is not there; put it beside its description.")
    return path
