"""dp-explorer info: what a file is, what it cost and what it protects, without its counts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands.files import require_file
from explorer.commands.formats import as_json
from explorer.commands.terminal import note, one_line, paragraph, table

if TYPE_CHECKING:
    from explorer.grid.grid import Grid

HELP = "say what a file of a release or of counts is"

PREVIEW = "preview: reproducible noise, not private, not to be published"
EXACT = "exact counts: the curator's own, never to be published"
# Digits of a centre in degrees: a decimetre on the ground.
_DEGREES = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the file and the form."""
    parser.description = (
        "Say of a file that `release`, `trips`, `country`, `federated` or `count` wrote what it "
        "is: mechanism, epsilon and where it was spent, unit of privacy, extent, software. Of "
        "exact counts no count is said, but what this machine's ledger has booked on them."
    )
    parser.add_argument("map", metavar="MAP", help="a file of a release, or of counts")
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", help="default table"
    )


def run(arguments: argparse.Namespace) -> None:
    """Read the file and print what it says of itself."""
    require_file(arguments.map)
    facts = {"file": Path(arguments.map).name, **_about(arguments.map)}
    if arguments.format == "json":
        print(as_json(facts), end="")
        return
    stages = facts.pop("ledger", [])
    width = max(map(len, facts)) + 2
    for name, value in facts.items():
        line = paragraph(_said(value), width).lstrip()
        print(f"{one_line(name).replace('_', ' '):<{width}}{line}")
    if stages:
        print()
        print(table(list(stages[0]), [[_said(cell) for cell in row.values()] for row in stages]))
    if facts["kind"] == "counts":
        note("These counts are exact: the curator's own, not to be published.")


def _about(path: str) -> dict[str, Any]:
    from explorer.points.counts_file import is_counts
    from explorer.releases.country import is_country
    from explorer.releases.release import Release

    if is_counts(path):
        return _of_counts(path)
    if is_country(path):
        from explorer.releases.country import CountryRelease

        country = CountryRelease.load(path)
        areas = country.windows.areas
        shape = {"levels": list(areas.levels), "lowest_areas": len(areas)}
        maps = sum(area_map is not None for area_map in country.maps)
        extent = _extent(country.windows.grid)
        return {**_of_release(country), **shape, "maps_inside": maps, **extent}
    release: Any = Release.load(path)
    places: list[Any] = getattr(release.domain, "grids", None) or [release.domain]
    names = getattr(release.domain, "names", None) or [""]
    extent = _extent(places[0])
    if release.kind == "trips":
        extent = {"places": {n: _extent(g) for n, g in zip(names, places, strict=True)}}
    people = {}
    if release.kind == "distributed":
        people = {"people_taking_part": release.population, "neighbours": release.neighbours}
    return {**_of_release(release), **people, "leaves": release.n_leaves, **extent}


def _of_release(release: Any) -> dict[str, Any]:
    """What releases of all kinds say of themselves."""
    from explorer.releases.file import of_any
    from explorer.scenario.parts import known_mechanisms

    facts = of_any(release)
    kinds = known_mechanisms()
    declared = kinds[release.mechanism].param if release.mechanism in kinds else None
    parameters = facts["parameters"]
    if declared is not None:
        parameters = {
            name: value
            for name, value in parameters.items()
            if name not in declared or declared[name].default != value
        }
    return {
        "kind": release.kind,
        "status": PREVIEW if release.preview else "release: differentially private",
        "mechanism": release.mechanism,
        "changed_parameters": parameters,
        "epsilon": release.epsilon,
        "unit_of_privacy": release.unit,
        "contribution_bound": release.contribution_bound,
        "records_in_all": round(release.total, 1),
        "software": facts["software"],
        "ledger": facts["ledger"],
    }


def _of_counts(path: str) -> dict[str, Any]:
    from explorer.points.counts_file import load_counts
    from explorer.privacy.ledger import Ledger
    from explorer.releases.units import to_epsilon

    matrix = load_counts(path)
    ledger = Ledger()
    left = ledger.left(matrix)
    return {
        "kind": "counts",
        "status": EXACT,
        "unit_of_privacy": matrix.unit,
        "contribution_bound": matrix.contribution_bound,
        "population": ledger.whose(matrix),
        "epsilon_booked_here": to_epsilon(ledger.spent(matrix)),
        "epsilon_left_here": None if left is None else to_epsilon(left),
        **_extent(matrix.grid),
    }


def _extent(grid: Grid) -> dict[str, Any]:
    """Cells and edges of a grid in its unit, and where on the Earth its centre is."""
    extent = {"cells": list(grid.shape), "bounds": list(grid.bounds), "bounds_in": grid.unit}
    if grid.crs is None:
        return extent
    x0, y0, x1, y1 = grid.bounds
    (lon,), (lat,) = grid.to_lonlat([(x0 + x1) / 2], [(y0 + y1) / 2])
    centre = [round(float(lon), _DEGREES), round(float(lat), _DEGREES)]
    return {**extent, "centre_lonlat": centre, "crs": grid.crs.to_string()}


def _said(value: Any) -> str:
    """A value in a line: lists and dicts without brackets."""
    if isinstance(value, dict):
        return "; ".join(f"{name} {_said(entry)}" for name, entry in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    if isinstance(value, float):
        return f"{value:,.12g}"
    if value is None:
        return "no cap"
    return f"{value:,}" if type(value) is int else str(value)
