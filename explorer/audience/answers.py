"""What visitors ask about areas of maps, and the answers in numbers and words.

Questions are checked before anything is computed. An answer is what a release says of an area, and
how far off it may be.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from explorer.audience.pictures import numbers_of
from explorer.audience.releases import ServedRelease
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.pieces import OutsideWarning
from explorer.grid.range_queries import RangeQueries
from explorer.releases.answers import Z95, Answers
from explorer.views.texts import texts_of

_WORDS = Path(__file__).parent / "words" / "audience.md"
#: Parts of a number that its range is: below the first it is precise, from the second on none.
PRECISE, LOST = 0.1, 0.75
#: Corners that the side of a box gets where another map bends it.
_BENT = 16
#: Areas, corners of all of them together, and maps of one question.
MOST_AREAS, MOST_CORNERS, MOST_MAPS = 30, 400, 12
#: Corners of a shape whose lines cross each other, which takes long to untangle.
MOST_CROSSED = 30
#: How often shapes may cover the map, all together.
MOST_COVERED = 4.0
#: How far beyond a map an area may reach, in its own sizes.
_FAR = 10.0
_BAD = "This is no question of this page: draw the area again."


def words(heading: str, **facts: Any) -> str:
    """The text below a heading."""
    return texts_of(_WORDS)[heading].format(**facts)


def facts_of(served: ServedRelease) -> dict[str, Any]:
    """What words about a release are filled in with."""
    release = served.release
    factor = math.exp(release.epsilon)
    return {
        "one": "record" if release.unit == "point" else "person",
        "record": served.published.about.record,
        "factor": f"{factor:,.3g}",
        "sure": f"{100 * factor / (1 + factor):.3g} %",
        "bound": f"{release.contribution_bound:,}",
    }


def maps_of(content: bytes) -> tuple[tuple[str, ...], list[Any]]:
    """The keys of the maps that are asked, and the areas as they were sent.

    Raises
    ------
    InputError
        For what is no question.
    """
    try:
        document = json.loads(content)
        maps, areas = document["maps"], document["areas"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(_BAD) from None
    listed = isinstance(maps, list) and isinstance(areas, list)
    if not listed or not 1 <= len(maps) <= MOST_MAPS or len(areas) > MOST_AREAS:
        raise InputError(
            f"One question may have {MOST_AREAS} areas and {MOST_MAPS} maps: take some away."
        )
    if not all(isinstance(key, str) and len(key) <= 40 for key in maps):
        raise InputError(_BAD)
    return tuple(dict.fromkeys(maps)), areas


def queries_of(areas: Sequence[Any], grid: Grid) -> RangeQueries:
    """Areas in metres of a map.

    Parameters
    ----------
    areas : each {"box": [x0, y0, x1, y1]} or {"shape": [[x, y], ...]}

    Raises
    ------
    InputError
        For anything else, for corners far beyond the map and for too many.
    """
    boxes, corners = np.zeros((len(areas), 4)), 0
    shapes: list[Any] = []
    for row, area in enumerate(areas):
        box = area.get("box") if isinstance(area, dict) else None
        shape = area.get("shape") if isinstance(area, dict) else None
        if box is not None:
            places = _places([box[:2], box[2:]] if _is_list(box, 4) else None, grid)
            shapes.append(None)
        else:
            places = _places(shape, grid)
            corners += len(places)
            if len(places) < 3 or corners > MOST_CORNERS:
                raise InputError(
                    f"A shape has 3 corners or more, and all together {MOST_CORNERS} at most."
                )
            shapes.append(_polygon(places))
        boxes[row] = *places.min(axis=0), *places.max(axis=0)
    drawn = np.array([polygon is not None for polygon in shapes], dtype=bool)
    low, high = boxes[drawn, :2], boxes[drawn, 2:]
    edges = np.array(grid.bounds)
    sides = np.clip(np.minimum(high, edges[2:]) - np.maximum(low, edges[:2]), 0, None)
    if sides.prod(axis=1).sum() > MOST_COVERED * grid.width * grid.height:
        raise InputError("These shapes are too large together: take some away, or draw boxes.")
    if len(areas) and (boxes[:, 2:] - boxes[:, :2] <= 0).any():
        raise InputError("An area has no width or no height: draw it larger.")
    return RangeQueries(boxes, shapes)


def _is_list(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count


def _places(corners: Any, grid: Grid) -> Any:
    if not isinstance(corners, list) or not 2 <= len(corners) <= MOST_CORNERS:
        raise InputError(_BAD)
    for place in corners:
        numbers = _is_list(place, 2) and all(type(number) in (int, float) for number in place)
        # Nothing of what is no number, or has 400 digits, is below anything.
        if not numbers or not all(abs(number) < 1e12 for number in place):
            raise InputError(_BAD)
    places = np.array(corners, dtype=np.float64)
    x0, y0, x1, y1 = grid.bounds
    size = np.array([x1 - x0, y1 - y0])
    if (np.abs(places - [(x0 + x1) / 2, (y0 + y1) / 2]) > _FAR * size).any():
        raise InputError("An area lies far away from the map: draw it on the map.")
    return places


def _polygon(places: Any) -> Any:
    """A polygon whose lines may have crossed each other."""
    shape = shapely.Polygon(places)
    if not shape.is_valid and len(places) > MOST_CROSSED:
        raise InputError("The lines of this shape cross each other: draw it without.")
    shape = shapely.make_valid(shape)
    parts = [polygon for polygon in shapely.get_parts(shape) if polygon.geom_type == "Polygon"]
    if not parts or shape.area <= 0:
        raise InputError("This shape has no area: put its corners further apart.")
    return parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)


def answered(queries: RangeQueries, maps: Sequence[ServedRelease]) -> bytes:
    """What all maps say of all areas, as JSON.

    Parameters
    ----------
    queries : in metres of the first map
    """
    first = maps[0]
    by_map = {
        served.key: _answers_of(served, _reprojected(queries, first, served)) for served in maps
    }
    document: dict[str, Any] = {"maps": by_map}
    if len(maps) == 2:
        document["differences"] = [
            _difference(maps, one, other)
            for one, other in zip(*(by_map[served.key] for served in maps), strict=True)
        ]
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode()


def same_plane(one: ServedRelease, other: ServedRelease) -> bool:
    """Whether metres of two maps are the same."""
    return bool(one.release.grid.crs == other.release.grid.crs)


def _reprojected(queries: RangeQueries, first: ServedRelease, other: ServedRelease) -> Any:
    """The areas as another map is asked for them: polygons in degrees where it bends them."""
    if same_plane(first, other):
        return queries
    shapes = [
        shape if shape is not None else shapely.box(*box)
        for shape, box in zip(queries.shapes, queries.boxes.tolist(), strict=True)
    ]
    sides = (queries.boxes[:, 2:] - queries.boxes[:, :2]).max(axis=1)
    bent = shapely.segmentize(np.array(shapes, dtype=object), sides / _BENT)
    return shapely.transform(
        bent, lambda places: np.stack(first.release.grid.to_lonlat(*places.T), axis=1)
    )


def _answers_of(served: ServedRelease, queries: Any) -> list[dict[str, Any]]:
    release = served.release
    if len(queries) == 0:
        return []
    crs = None if isinstance(queries, RangeQueries) else 4326
    with warnings.catch_warnings():
        # It is said next to the answer.
        warnings.simplefilter("ignore", OutsideWarning)
        answers = release.answer(queries, crs=crs)
        touched = release.touched(queries) if crs is None else None
    low, high = answers.interval()
    rows = []
    for row, (value, sd) in enumerate(zip(answers.value, answers.sd, strict=True)):
        outside = not sd > 0 and value == 0
        rows.append(
            {
                "value": _round(value),
                "low": _round(low[row]),
                "high": _round(high[row]),
                "sd": _round(sd),
                "exact": answers.sd_exact,
                "areas": None if touched is None else int(touched[row]),
                "said": words("outside") if outside else in_words(answers, row, touched),
            }
        )
    return rows


def in_words(answers: Answers, row: int, touched: Any = None) -> str:
    """One answer in sentences."""
    value, half = float(answers.value[row]), Z95 * float(answers.sd[row])
    cut = 0 if touched is None else int(touched[row])
    text = words(
        "answer",
        value=count(max(value, 0.0)),
        range=range_in_words(value, half, answers.sd_exact),
        size=size_in_words(value, half),
    )
    return f"{text} {words('cut', cut=f'{cut:,}')}" if cut else text


def range_in_words(value: float, half: float, exact: bool) -> str:
    """The range of the noise; no count is below zero."""
    low, high = max(value - half, 0.0), max(value + half, 0.0)
    return words("range" if exact else "range about", low=count(low), high=count(high))


def size_in_words(value: float, half: float) -> str:
    """How large noise is next to a number."""
    part = half / value if value > 0 else np.inf
    if part >= LOST:
        return words("size large")
    return words("size small" if part <= PRECISE else "size middle", percent=percent(part))


def _difference(maps: Sequence[ServedRelease], one: dict[str, Any], other: dict[str, Any]) -> Any:
    # Draws of two releases do not depend on each other.
    value, half = other["value"] - one["value"], Z95 * float(np.hypot(one["sd"], other["sd"]))
    return {
        "value": _round(value),
        "low": _round(value - half),
        "high": _round(value + half),
        "said": words(
            "difference",
            first=maps[0].title,
            second=maps[1].title,
            value=count(value),
            low=count(value - half),
            high=count(value + half),
            verdict=words("difference noise" if abs(value) <= half else "difference real"),
        ),
    }


def count(value: float) -> str:
    """A number of records as people read it: no digit that noise has made up.

    >>> count(12345.6), count(3.4), count(-0.2)
    ('12,346', '3', '0')
    """
    whole = round(value)
    return f"{whole:,}".replace("-", "−")


def percent(part: float) -> str:
    """A part as percent, in one or two digits.

    >>> percent(0.004), percent(0.123)
    ('less than 1 %', '12 %')
    """
    return "less than 1 %" if part < 0.01 else f"{round(100 * part)} %"


def _round(value: float) -> float:
    return round(float(value), 3)


def place_of(arguments: Mapping[str, str], served: ServedRelease) -> int:
    """Which leaf is under "at", x and y in metres.

    Raises
    ------
    InputError
        For a place that is not on the map.
    """
    x, y = numbers_of(arguments.get("at", ""), 2)
    release = served.release
    west, south, east, north = release.grid.bounds
    if not (west <= x < east and south <= y < north):
        raise InputError("There is nothing: this place is not on the map.")
    place = release.grid.to_cells([[x, y, x, y]])[0, 0]
    inside = (release.lower <= place).all(axis=1) & (place < release.upper).all(axis=1)
    return int(np.argmax(inside))


def described(served: ServedRelease, leaf: int) -> bytes:
    """A leaf in numbers and words, as JSON."""
    release, grid = served.release, served.release.grid
    value, sd = float(release.counts[leaf]), float(release.sd[leaf])
    half, depth = Z95 * sd, int(release.tree.depth[release.tree.leaves[leaf]])
    rows, columns = (release.upper[leaf] - release.lower[leaf]).tolist()
    width, height = columns * grid.cell_width, rows * grid.cell_height
    low, high = value - half, value + half
    facts = [
        ("Records, with noise", count(value)),
        ("Range of 95 % of the noise", f"{count(low)} to {count(high)}"),
        ("Size", f"{length(width)} by {length(height)}"),
        ("Records on a square kilometre", density(value / (width * height / 1e6))),
        ("Cuts between the whole map and this area", f"{depth:,}"),
    ]
    text = words(
        "leaf",
        number=f"{leaf + 1:,}",
        leaves=f"{release.n_leaves:,}",
        value=count(max(value, 0.0)),
        range=range_in_words(value, half, release.linear),
        size=size_in_words(value, half),
    )
    place = words("leaf place", width=length(width), height=length(height), depth=f"{depth:,}")
    document = {
        "leaf": leaf + 1,
        "box": served.leaves.boxes[leaf].tolist(),
        "said": f"{text} {place}",
        "facts": facts,
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode()


def density(value: float) -> str:
    """Records on an area, in no more digits than say something.

    >>> density(1234.5), density(0.4567)
    ('1,234', '0.46')
    """
    return count(value) if abs(value) >= 10 else f"{value:.2g}".replace("-", "−")


def length(metres: float) -> str:
    """A length as people say it.

    >>> length(312.5), length(2500.0)
    ('312 m', '2.5 km')
    """
    return f"{metres:,.0f} m" if metres < 1000 else f"{metres / 1000:,.3g} km"
