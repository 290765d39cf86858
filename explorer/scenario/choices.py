"""The choices of a screen, declared once: scenarios, states and widgets take them from here.

An option's title is for people; its value is in files and links.
"""

from __future__ import annotations

import re
from typing import Any

import param

from explorer.errors import InputError
from explorer.grid.values import shown
from explorer.mechanisms import first_compared
from explorer.privacy.epsilon_range import MAX_EPSILON

GRID_SIDES = (256, 512, 1024, 2048)
#: What is protected: 0 is each record, k is a person of whom at most k records count.
BOUNDS = (0, 1, 2, 5, 10, 20, 50, 100)
#: Cells along each side of every place of trips.
TRIP_SIDES = (16, 32, 64, 128, 256, 512, 1024)
#: Metres of the sides of the cells inside areas.
CELLS = (250, 500, 1000, 2000)
#: The lowest level of any country.
LOWEST = 20
#: Characters of the name of an area.
LONGEST_NAME = 200
MAX_SEED = 2**31 - 1
#: How far B's seed is from A's where it has other noise.
_APART = 500_009
_PLACES = re.compile(r"(o|d|s[0-9]{1,2})(,(o|d|s[0-9]{1,2}))+")

#: Title of each workload of a sweep; the last one is made of the visitor's own boxes.
WORKLOADS = {
    "random": "2,000 random rectangles",
    "sq2": "2,000 squares of 2 %",
    "sq6": "2,000 squares of 6 %",
    "sq10": "2,000 squares of 10 %",
    "drawn": "the boxes of the table",
}
METRICS = {
    "mreRho": "Mean relative error (floor 0.1 % of all)",
    "mre20": "Mean relative error (floor 20 points)",
    "mae": "Mean absolute error, points",
    "rmse": "Root mean squared error, points",
    "mreRho median": "Median relative error (floor 0.1 % of all)",
    "smape": "Symmetric relative error, 0 to 2",
}
#: Epsilons of a sweep, two to a factor of ten.
EPSILONS = tuple(
    number for number in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0) if number <= MAX_EPSILON
)


def _protected(what: str) -> param.Selector:
    """What is protected: each record, called ``what``, or a person."""
    titles = {0: f"each {what}"} | {
        k: f"each person, at most {k} {what}{'s' * (k > 1)}" for k in BOUNDS if k
    }
    objects = {title: bound for bound, title in titles.items()}
    return param.Selector(default=0, objects=objects, label="What is protected")


def checked_places(value: Any) -> str:
    """A list of places of trips, "o,d" or "o,s1,d", if it is one; raises `InputError` if not."""
    if not (isinstance(value, str) and _PLACES.fullmatch(value)):
        raise InputError(f"The places are {shown(value)}: give two or more such as o,d or o,s1,d.")
    if len(set(value.split(","))) < len(value.split(",")):
        raise InputError(f"The places are {shown(value)}: name each of them once.")
    return value


def checked_path(value: Any, what: str = "area") -> tuple[str, ...] | None:
    """The names of an area from the whole downwards, None for none, if it is that.

    Raises
    ------
    InputError
        For anything but a list of so many names as there may be levels.
    """
    if value is None:
        return None
    if (
        isinstance(value, list | tuple)
        and len(value) <= LOWEST
        and all(isinstance(name, str) and 0 < len(name) <= LONGEST_NAME for name in value)
        # A file may hold halves of characters, which nothing can write again.
        and "".join(value).encode(errors="replace").decode() == "".join(value)
    ):
        return tuple(value)
    raise InputError(
        f"The {what} is {shown(value)}: give its names from the coarsest level down, such as "
        "[England, London]."
    )


def _turned(names: dict[str, str]) -> dict[str, str]:
    """Titles to values, as a selector takes them."""
    return {title: name for name, title in names.items()}


#: Of the maps, see `views.palette`.
PALETTES = ["cividis", "magma", "paper"]


class PlaceChoices(param.Parameterized):
    """What is counted."""

    city = param.String(default="madeup", label="City")
    side = param.Selector(
        default=1024, objects={f"{n} × {n} cells": n for n in GRID_SIDES}, label="Grid"
    )
    bound = _protected("record")


class MapChoices(param.Parameterized):
    """How the maps of every page are drawn."""

    scale = param.Selector(default="log", objects=["log", "linear"], label="Colour scale")
    palette = param.Selector(default="cividis", objects=PALETTES, label="Colours")
    partition = param.Boolean(default=True, label="Show partition")
    base_map = param.Boolean(default=True, label="Coast, roads and names")


class LookChoices(MapChoices):
    """How the maps are drawn; nothing in it touches an answer."""

    right = param.Selector(default="private", objects=["private", "difference"], label="Right map")
    colour = param.Selector(
        default="density",
        objects={
            "density": "density",
            "depth of the leaf": "depth",
            "size of the leaf": "size",
            "noise of its count": "noise",
            "error of its count": "error",
        },
        label="Private map coloured by",
    )
    scale_from = param.Selector(
        default="data",
        objects={"true data": "data", "private release": "release"},
        label="Colour range taken from",
    )
    truth = param.Selector(
        default="points",
        objects={"single points": "points", "counts per cell": "counts"},
        label="Left map shows",
    )
    partition_over = param.Selector(
        default="private", objects=["private", "truth", "both"], label="Show areas' outlines on"
    )


class PeopleChoices(PlaceChoices, LookChoices):
    """Whose places are asked about, and how the two maps and the rounds on them are drawn."""

    # Each record of the matrix is one person with one place.
    bound = param.Selector(
        default=0,
        objects={"each record, as one person's": 0, "each person, with one place": 1},
        label="What is protected",
    )
    grey = param.Boolean(default=True, label="Stripes where noise exceeds the count")


class TripChoices(MapChoices):
    """What is counted of trips, and how their maps are drawn."""

    city = param.String(default="madeup", label="Trips")
    places = param.String(default="o,d", label="Places")
    side = param.Selector(
        default=64, objects={f"{n} × {n} cells": n for n in TRIP_SIDES}, label="Grid of each place"
    )
    bound = _protected("trip")
    shows = param.Selector(
        default="private", objects=["private", "true", "difference"], label="Maps show"
    )
    focus = param.Selector(
        default="row",
        objects={"trips of the row": "row", "all trips": "all"},
        label="Maps count",
    )
    spread = param.Selector(
        default="maps",
        objects={"by the maps": "maps", "even": "uniform"},
        label="Inside a leaf",
    )
    scale_from = param.Selector(
        default="release",
        objects={"true data": "data", "private release": "release"},
        label="Colour range taken from",
    )


class CountryChoices(MapChoices):
    """What is counted of a country, and how its maps are drawn."""

    city = param.String(default="nation", label="Country")
    side = param.Selector(
        default=500,
        objects={f"{n:,} m" if n < 1000 else f"{n // 1000} km": n for n in CELLS},
        label="Cells inside areas",
    )
    bound = _protected("record")
    level = param.Integer(default=LOWEST, bounds=(0, LOWEST), label="Areas on the map")
    # Names from the whole downwards; the whole is (), and None is the one that the page chooses.
    area = param.Parameter(default=None, label="Area")
    shows = param.Selector(
        default="private", objects=["private", "true", "difference"], label="Maps show"
    )
    per = param.Selector(
        default="km2",
        objects={"records per ground": "km2", "records": "area"},
        label="Colours show",
    )


class PairChoices(param.Parameterized):
    """What is next to A and B, and whether their noise is the same."""

    apart = param.Boolean(default=False, label="B has other random noise")
    third = param.Selector(
        default="none",
        objects={"None": "none", "Truth": "truth", "B − A": "change"},
        label="Third map",
    )


def seeds_of_pair(seed: int, apart: bool) -> tuple[int, int]:
    """The seeds of A and B: the same one, or B's far from it, since a new draw goes on by one.

    >>> seeds_of_pair(7, apart=False), seeds_of_pair(7, apart=True)
    ((7, 7), (7, 500016))
    """
    return seed, (seed + _APART * apart) % MAX_SEED


class SweepChoices(param.Parameterized):
    """What the error curves of Compare are asked for."""

    chosen = param.List(
        default=list(first_compared()),
        label="Mechanisms in the sweep",
    )
    with_sides = param.Boolean(default=True, label="A and B as they are set")
    with_named = param.Boolean(
        default=False, label="Mosaic made for regions, blocks and single cells, too"
    )
    workload = param.Selector(default="random", objects=_turned(WORKLOADS), label="Questions")
    metric = param.Selector(default="mreRho", objects=_turned(METRICS), label="Error measured as")
    at = param.Selector(
        default=0.1 if 0.1 in EPSILONS else EPSILONS[0],
        objects={f"{epsilon:g}": epsilon for epsilon in EPSILONS},
        label="Ranking at epsilon",
    )
    seeds = param.Integer(default=5, bounds=(2, 20), label="Repetitions per setting")
