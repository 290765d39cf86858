"""Answers in numbers and words: what a release says of areas, and how far off it may be."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely

from explorer.audience.exhibits import Exhibit
from explorer.audience.said import words
from explorer.grid.pieces import OutsideWarning
from explorer.grid.range_queries import RangeQueries
from explorer.releases.answers import Z95, Answers

#: Parts of a number that its range is: below the first it is precise, from the second on none.
PRECISE, LOST = 0.1, 0.75
#: Corners that the side of a box gets where another map bends it.
_BENT = 16


def answered(queries: RangeQueries, exhibits: Sequence[Exhibit]) -> bytes:
    """What all maps say of all areas, as JSON.

    Parameters
    ----------
    queries : in metres of the first map
    """
    first = exhibits[0]
    by_map = {exhibit.key: _of(exhibit, _in(queries, first, exhibit)) for exhibit in exhibits}
    document: dict[str, Any] = {"maps": by_map}
    if len(exhibits) == 2:
        document["differences"] = [
            _difference(exhibits, one, other)
            for one, other in zip(*(by_map[exhibit.key] for exhibit in exhibits), strict=True)
        ]
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode()


def same_plane(one: Exhibit, other: Exhibit) -> bool:
    """Whether metres of two maps are the same."""
    return bool(one.release.grid.crs == other.release.grid.crs)


def _in(queries: RangeQueries, first: Exhibit, other: Exhibit) -> Any:
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


def _of(exhibit: Exhibit, queries: Any) -> list[dict[str, Any]]:
    release = exhibit.release
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


def _difference(exhibits: Sequence[Exhibit], one: dict[str, Any], other: dict[str, Any]) -> Any:
    # Draws of two releases do not depend on each other.
    value, half = other["value"] - one["value"], Z95 * float(np.hypot(one["sd"], other["sd"]))
    return {
        "value": _round(value),
        "low": _round(value - half),
        "high": _round(value + half),
        "said": words(
            "difference",
            first=exhibits[0].title,
            second=exhibits[1].title,
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
