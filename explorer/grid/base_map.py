"""Base maps: coasts, roads, borders and names of places, public, to be drawn below answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.polygon_files import read_frame
from explorer.grid.projection import LONLAT, transform

#: What a line or a name belongs to; "border" is what a file does not say.
KINDS = ("water", "park", "road", "border", "place")
#: Corners of all lines on a map, and names: what a browser draws in a frame.
MOST_CORNERS, MOST_NAMES = 20_000, 400
#: Letters of a name that is drawn.
LONGEST = 40
#: Bends that are shorter than this part of the longer side of a map are left out, half a pixel, and
#: lines that are shorter than this one, such as skerries: three pixels.
_COARSE, _SHORT = 1 / 1000, 1 / 150

Bounds = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class BaseMap:
    """Lines and names of a place.

    Parameters
    ----------
    lines : LineStrings in one CRS
    kinds : of each line, one of `KINDS`
    names : of places, the most important first
    places : (m, 2) where they are
    of : what each of them names, one of `KINDS`
    crs : of all of it, degrees unless it is said
    """

    lines: Sequence[Any]
    kinds: Sequence[str]
    names: Sequence[str] = ()
    places: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2)))
    of: Sequence[str] = ()
    crs: Any = LONLAT

    @classmethod
    def read(cls, path: str | Path) -> BaseMap:
        """A file of lines, polygons and points.

        Its columns may be ``name`` (drawn where a shape is a point), ``kind`` (one of `KINDS`) and
        ``rank`` (a number; names of the lowest are drawn first).

        Raises
        ------
        InputError
            For a file that is no file of shapes, or has none, or says no CRS.
        """
        frame = read_frame(path, (), "base map", ("name", "kind", "rank"))
        shapes = np.asarray(frame.geometry.array, dtype=object)
        if frame.crs is None:
            raise InputError(f"{Path(path).name} says no CRS: save the base map with one.")
        there = ~(shapely.is_missing(shapes) | shapely.is_empty(shapes))
        if not there.any():
            raise InputError(f"{Path(path).name} holds no shapes: give lines, polygons or points.")
        frame, shapes = frame[there], shapes[there]
        if not np.isfinite(shapely.get_coordinates(shapes)).all():
            raise InputError(f"{Path(path).name} has a corner that is no number; mend it.")
        kinds = _column(frame, "kind")
        shape_kinds = np.array(
            [kind if kind in KINDS else "border" for kind in kinds], dtype=object
        )
        lines, owner = _lines(shapes)
        points = np.flatnonzero(shapely.get_type_id(shapes) == shapely.GeometryType.POINT)
        names = _column(frame, "name")
        named = [at for at in points if names[at]]
        ranks = np.array([_number(rank) for rank in _column(frame, "rank")])
        named = sorted(named, key=lambda at: ranks[at])[:MOST_NAMES]
        places = [kinds[at] if kinds[at] in KINDS else "place" for at in named]
        return cls(
            list(lines),
            list(shape_kinds[owner]),
            [names[at][:LONGEST] for at in named],
            shapely.get_coordinates(shapes[named]).reshape(-1, 2),
            places,
            frame.crs,
        )

    def on(self, grid: Grid) -> BaseMap:
        """What of it is on a grid, in the grid's unit, without bends that no one would see.

        Nothing of it is on a grid without a place on the Earth.
        """
        crs = grid.crs
        if crs is None:
            return BaseMap((), ())

        def moved(at: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.column_stack(transform(self.crs, crs, at[:, 0], at[:, 1]))

        x0, y0, x1, y1 = grid.bounds
        lines = shapely.transform(np.array([*self.lines, None], dtype=object)[:-1], moved)
        # What a projection lacks is at no finite place.
        for at, line in enumerate(lines):
            if not np.isfinite(shapely.get_coordinates(line)).all():
                lines[at] = shapely.LineString()
        side = max(x1 - x0, y1 - y0)
        cut, owner = shapely.get_parts(
            shapely.clip_by_rect(lines, x0, y0, x1, y1), return_index=True
        )
        long = shapely.length(cut) >= _SHORT * side
        parts, owner = shapely.simplify(cut[long], _COARSE * side), owner[long]
        drawn = np.flatnonzero(shapely.get_num_coordinates(parts) > 1)
        # Of too many corners those of the longest lines stay.
        drawn = drawn[np.argsort(-shapely.length(parts[drawn]), kind="stable")]
        drawn = drawn[np.cumsum(shapely.get_num_coordinates(parts[drawn])) <= MOST_CORNERS]
        places = moved(self.places) if len(self.places) else self.places
        with np.errstate(invalid="ignore"):
            within = (places >= (x0, y0)).all(axis=1) & (places <= (x1, y1)).all(axis=1)
        inside = np.flatnonzero(within).tolist()
        return BaseMap(
            list(parts[drawn]),
            [self.kinds[at] for at in owner[drawn].tolist()],
            [self.names[at] for at in inside],
            places[inside],
            [self.of[at] for at in inside],
            crs,
        )

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not len(self.lines) and not len(self.names)


def _column(frame: Any, name: str) -> list[str]:
    """The values of a column as texts; "" where there is none."""
    if name not in frame:
        return [""] * len(frame)
    return ["" if value is None or value != value else str(value).strip() for value in frame[name]]


def _number(text: str) -> float:
    """A rank; what is none comes last."""
    try:
        rank = float(text)
    except ValueError:
        return np.inf
    return rank if np.isfinite(rank) else np.inf


def _lines(shapes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """All lines, and outlines of all polygons, each once; and of which shape each is."""
    parts, owner = shapes, np.arange(len(shapes))
    # Collections may hold collections.
    while (shapely.get_type_id(parts) >= shapely.GeometryType.MULTIPOINT).any():
        parts, at = shapely.get_parts(parts, return_index=True)
        owner = owner[at]
    areas = shapely.get_type_id(parts) == shapely.GeometryType.POLYGON
    rings, at = shapely.get_rings(parts[areas], return_index=True)
    straight = np.isin(shapely.get_type_id(parts), (1, 2))
    lines = np.concatenate([parts[straight], rings])
    of = np.concatenate([owner[straight], owner[areas][at]])
    return np.array([shapely.LineString(line) for line in lines] + [None], dtype=object)[:-1], of
