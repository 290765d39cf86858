"""The catalogue of countries: the made-up one, and known ones whose files are here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from explorer.cities import nation
from explorer.cities.catalogue import folders
from explorer.grid.areas.areas import Areas
from explorer.grid.values import of_key
from explorer.points.points import Points, read_points

#: The key of the country that comes with the package.
MADE_UP = "nation"
GREAT_BRITAIN = "great-britain"
_GB_AREAS, _GB_POINTS = "gb_districts.parquet", "gb_road_accidents.parquet"


@dataclass(frozen=True)
class CountrySet:
    """Public areas inside each other, and points in them.

    Attributes
    ----------
    key : short name for links
    title, description, source : for a screen
    areas, points : read them, however long that takes
    """

    key: str
    title: str
    description: str
    source: str
    areas: Callable[[], Areas] = field(compare=False, repr=False)
    points: Callable[[], Points] = field(compare=False, repr=False)


def countries() -> dict[str, CountrySet]:
    """The countries that can be shown, by key; the made-up one is the first.

    Examples
    --------
    >>> countries()["nation"].title
    'Amber Isles'
    """
    countries = {MADE_UP: _made_up()}
    for folder in folders():
        areas, points = folder / _GB_AREAS, folder / _GB_POINTS
        if areas.is_file() and points.is_file():
            countries[GREAT_BRITAIN] = CountrySet(
                key=GREAT_BRITAIN,
                title="Great Britain, road accidents",
                description="Three countries, eleven regions, 380 districts.",
                source="Department for Transport through deck.gl; boundaries of districts.",
                areas=partial(Areas.read, areas, nation.LEVELS),
                points=partial(read_points, points),
            )
            break
    return countries


def find(key: str) -> CountrySet:
    """The country of a key.

    Raises
    ------
    InputError
        For a key that no country has; it lists those there are.
    """
    return of_key(countries(), key, "There is no country")


def _made_up() -> CountrySet:
    return CountrySet(
        key=MADE_UP,
        title=nation.NAME,
        description="A made-up nation: towns by the rank-size rule, islands, 165 districts.",
        source="Made by this program; nobody lives there.",
        areas=lambda: Areas.read(nation.boundaries(), nation.LEVELS),
        points=nation.points,
    )
