"""dp-explorer country: from points and boundaries to private counts of areas and maps inside."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from explorer.commands import drawing, flags, reading
from explorer.commands.files import add_output, require_file
from explorer.commands.terminal import progress, table
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.grid.areas.areas import Areas
    from explorer.points.area_counts import AreaCounts
    from explorer.releases.country import CountryRelease

HELP = "draw private counts and maps of areas inside each other"

_SETTINGS = ("inside", "budgets", "own_share", "threshold", "consistency")
_ENDINGS = (".gpkg", ".parquet")
_CELL = "500m"
_SET = "--inside-set"
_INSIDE = "map inside"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare points, areas, budget and the settings of the hierarchy."""
    from explorer.country.mechanism import Country

    parser.usage = (
        "dp-explorer country POINTS [POINTS ...] --areas FILE --levels country,region,district "
        "--epsilon 1 -o gb.gpkg [options]"
    )
    parser.description = (
        "Draw private counts of areas inside each other, such as districts, regions and countries, "
        "and a private map inside each of the lowest. Boundaries are public. A point counts in the "
        "first area of the file that covers it, and nowhere if there is none. Each release costs "
        "epsilon, which is booked in a ledger before it is drawn. No exact count is printed."
    )
    reading.add_points(parser)
    add_output(parser, "GeoPackage (.gpkg, a layer per level) or .parquet")
    group = parser.add_argument_group("public areas")
    group.add_argument("--areas", required=True, metavar="FILE", help="polygons with their names")
    group.add_argument(
        "--levels", required=True, metavar="COLUMNS", help="of the names, coarsest first"
    )
    group.add_argument(
        "--crs-areas",
        metavar="CRS",
        help="of the areas where the file has none or a wrong one (default --crs)",
    )
    group.add_argument(
        "--nearest",
        metavar="LENGTH",
        help="a point in no area belongs to the nearest within this, such as 200m",
    )
    group.add_argument(
        "--cell", metavar="LENGTH", default=_CELL, help=f"side of the cells (default {_CELL})"
    )
    group = parser.add_argument_group("privacy")
    drawing.add_budget(group, "privacy budget of the whole release", "--preview", "--seed")
    for name in _SETTINGS:
        text = flags.described(Country.param[name]).replace("%", "%%")
        group.add_argument(flags.flag(name), metavar="VALUE", help=text)
        if name == "inside":
            group.add_argument(
                _SET,
                metavar="NAME=VALUE",
                action="append",
                default=[],
                help="a setting of the mechanism inside, such as T=5; may be given several times",
            )
    reading.add_columns(parser)
    reading.add_parts(parser.add_argument_group("points in parts"))


def run(arguments: argparse.Namespace) -> None:
    """Check everything that can be checked, then read, count, book, draw and save."""
    from explorer.country.mechanism import Country
    from explorer.points.counts_file import is_counts

    typed = {name: getattr(arguments, name) for name in ("epsilon", *_SETTINGS)}
    settings = {
        name: flags.value_of(Country.param[name], text)
        for name, text in typed.items()
        if text is not None
    }
    country = Country(**settings, **_settings_inside(arguments, settings))
    bound = drawing.bound_of(arguments)
    drawing.check_unit(arguments, bound)
    sources: list[str] = arguments.points
    reading.require_points(sources)
    if any(is_counts(source) for source in sources):
        raise InputError(
            "Counts of `dp-explorer count` know their grid and no areas; give the points."
        )
    where = reading.workers(arguments)
    read = (*(source for source in sources if "://" not in source), arguments.areas)
    kind = "of areas is a GeoPackage or GeoParquet"
    path = drawing.release_path(arguments, arguments.output, read, _ENDINGS, "gb.gpkg", kind)
    areas, cell = _areas(arguments)

    def load() -> tuple[AreaCounts, Iterable[str]]:
        counts = _counted(arguments, areas, cell, bound, where)
        return counts, (*areas.notes, *counts.notes)

    release: Any = drawing.draw_and_save(arguments, country, load, path)
    _say(release)
    if path is not None and path.suffix == ".gpkg":
        from explorer.releases.country import layers

        print(f"Layers: {', '.join(layers(areas))}.")


def _settings_inside(
    arguments: argparse.Namespace, settings: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    from explorer.country.mechanism import NO_MAPS, Country
    from explorer.mechanisms import mechanism

    if not arguments.inside_set:
        return {}
    inside = settings.get("inside", Country.param.inside.default)
    if inside == NO_MAPS:
        raise InputError(f"{_SET} is not needed with --inside {NO_MAPS}; leave it out.")
    return {"inside_settings": flags.pairs(arguments.inside_set, mechanism(inside), _SET)}


def _areas(arguments: argparse.Namespace) -> tuple[Areas, float]:
    """The public areas, and the side of the cells in metres."""
    from explorer.grid.areas.areas import Areas
    from explorer.grid.extent import as_metres

    levels = [name.strip() for name in arguments.levels.split(",")]
    if not all(levels):
        raise InputError(
            f"--levels is {arguments.levels!r}; give names of columns such as country,region."
        )
    require_file(arguments.areas)
    nearest = None if arguments.nearest is None else as_metres(arguments.nearest, "--nearest")
    cell = as_metres(arguments.cell, "--cell")

    def read(stated_crs: Any) -> Areas:
        return Areas.read(arguments.areas, levels, nearest, stated_crs)

    areas: Areas = drawing.in_own_crs(arguments, "areas", read)
    areas.lattice(cell)  # refuses cells before anything is read
    return areas, cell


def _counted(
    arguments: argparse.Namespace,
    areas: Areas,
    cell: float,
    bound: int | None,
    where: str | None,
) -> AreaCounts:
    """Exact counts, with sentences about the reading that have exact numbers in them."""
    from explorer.points.partitions import PointFiles

    draws = arguments.preview is None
    points = reading.look_at_points(arguments.points, arguments, arguments.gaps, draws=draws)
    with drawing.as_typed(reading.as_flags), progress("Counting the points") as tell:
        if isinstance(points, PointFiles):
            return points.count_areas(areas, cell, bound, tell, workers=where)
        return areas.count(points, cell, bound, tell, per="record" if bound is None else "user")


def _say(release: CountryRelease) -> None:
    """Levels, their areas, what each was paid and how noisy it is; private or public, all of it."""
    import numpy as np

    from explorer.country.mechanism import AREAS
    from explorer.releases.units import UNITS_PER_EPSILON

    areas, tree = release.windows.areas, release.tree
    place = np.full(len(release.windows.people), -1)
    place[release.node] = np.arange(len(tree))
    place = place[release.windows.people.of]
    paid = tree.spent[:, tree.stages.index(AREAS)] if AREAS in tree.stages else np.zeros(len(tree))
    rows = []
    for level, name in enumerate(("the whole", *areas.levels)):
        here = areas.level == level
        at = place[here & (place >= 0)]
        rows.append(
            [
                name,
                f"{here.sum():,}",
                f"{np.median(paid[at]) / UNITS_PER_EPSILON:.4g}" if len(at) else "-",
                f"{np.median(release.sd[at]):,.1f}" if len(at) else "-",
            ]
        )
    drawn = sum(area_map is not None for area_map in release.maps)
    if drawn:
        counted = tree.path_spent[tree.leaves, tree.stages.index(AREAS)] if paid.any() else 0
        left = release.epsilon - float(np.median(counted)) / UNITS_PER_EPSILON
        rows.append([_INSIDE, f"{drawn:,}", f"{left:.4g}", "-"])
    print(table(["level", "areas", "epsilon", "median sd"], rows))
    alone = int(np.count_nonzero(~areas.measured))
    if alone:
        one = "area is the only one" if alone == 1 else "areas are the only ones"
        print(f"{alone:,} {one} inside another: the same people, counted once.")
