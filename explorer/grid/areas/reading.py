"""Tables of areas: polygons with a name at every level, checked and repaired, each change said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid import values
from explorer.grid.plane import in_one_world, on_plane
from explorer.grid.polygon_files import FORMATS, check_columns, check_rows, read_frame
from explorer.grid.stated_crs import crs_of_polygons, in_degrees
from explorer.grid.values import shown

Ints = NDArray[np.int64]
AreaPath = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AreaTree:
    """Nodes level by level; node 0 is the whole and has no name.

    Attributes
    ----------
    parent : (n,) node that each is in, -1 for the root
    level : (n,) how many names its path has, 0 for the root
    paths : (n,) names from the highest level down
    lowest : (m,) node of each row of the table, in its order
    """

    parent: Ints
    level: Ints
    paths: tuple[AreaPath, ...]
    lowest: Ints


def tree_of(paths: Sequence[AreaPath], levels: Sequence[str]) -> AreaTree:
    """The tree of m areas from their paths, siblings in the order of the table.

    Parameters
    ----------
    paths : (m,) names from the highest level down; branches may have fewer levels than others
    levels : what the levels are called

    Raises
    ------
    InputError
        For a path that is there twice, or that is an area and holds others as well.
    """
    rows: dict[AreaPath, int] = {}
    for number, path in enumerate(paths):
        if path in rows:
            raise InputError(
                f"Rows {rows[path] + 1} and {number + 1} are both the area {spoken(path)}; give "
                "each area one row and a name of its own."
            )
        rows[path] = number
    nodes: list[AreaPath] = [()]
    for depth in range(1, len(levels) + 1):
        nodes += dict.fromkeys(path[:depth] for path in paths if len(path) >= depth)
    number_of = {path: number for number, path in enumerate(nodes)}
    parent = np.array([number_of[path[:-1]] if path else -1 for path in nodes], dtype=np.int64)
    holds = set(parent.tolist())
    for path, row in rows.items():
        if number_of[path] in holds:
            raise InputError(
                f"Row {row + 1} is the area {spoken(path)}, and other areas lie in it; name it at "
                f"the level {levels[len(path)]!r} too."
            )
    level = np.array([len(path) for path in nodes], dtype=np.int64)
    lowest = np.array([number_of[path] for path in paths], dtype=np.int64)
    for array in (parent, level, lowest):
        array.setflags(write=False)
    return AreaTree(parent, level, tuple(nodes), lowest)


def spoken(path: AreaPath) -> str:
    """A path for a sentence, each name cut to what one can read.

    >>> spoken(("Wales", "Powys"))
    "'Wales' > 'Powys'"
    """
    return " > ".join(values.shown(name) for name in path)


Floats = NDArray[np.float64]

#: An overlap goes to the first area of the file up to so many km2, or up to this part of the
#: smaller area; above the last part it is refused however small it is.
TOLERATED_KM2, TOLERATED_PART, MOST_PART = 1.0, 0.001, 0.1
# Overlaps below a square metre are rounding of corners, and not spoken of.
_SPOKEN_KM2 = 1e-6


def measured(
    geometry: NDArray[Any], flat: NDArray[Any], crs: pyproj.CRS, plane: pyproj.CRS
) -> dict[str, NDArray[Any]]:
    """Sizes and overlaps of polygons in km2, on an equal-area plane.

    Parameters
    ----------
    geometry, flat : (m,) the polygons in `crs` and on the plane
    crs, plane

    Returns
    -------
    "sizes" : (m,)
    "pairs" : (k, 2) areas that overlap, the first in file order first
    "shared" : (k,) what they share
    """
    sizes = shapely.area(flat) / 1e6
    tree = shapely.STRtree(geometry)
    first, second = tree.query(geometry, predicate="intersects")
    first, second = first[first < second], second[first < second]
    common = shapely.intersection(geometry[first], geometry[second])
    has = shapely.area(common) > 0
    shared = np.zeros(len(first))
    shared[has] = shapely.area(on_plane(common[has], crs, plane)) / 1e6
    order = np.lexsort([second[has], first[has]])
    pairs = np.stack([first[has], second[has]], axis=1)[order]
    return {"sizes": sizes, "pairs": pairs, "shared": shared[has][order]}


def check_overlaps(
    sizes: Floats, pairs: NDArray[np.int64], shared: Floats, paths: Sequence[AreaPath]
) -> list[str]:
    """Notes on small overlaps.

    Raises
    ------
    InputError
        For two areas that share more than a crooked border, by their names.
    """
    if not len(pairs):
        return []
    smaller = sizes[pairs].min(axis=1)
    fine = (shared <= TOLERATED_KM2) | (shared <= TOLERATED_PART * smaller)
    fine &= (shared <= MOST_PART * smaller) | (shared <= _SPOKEN_KM2)
    if not fine.all():
        worst = np.flatnonzero(~fine)[np.argmax(shared[~fine])]
        one, other = (spoken(paths[number]) for number in pairs[worst])
        more = np.count_nonzero(~fine) - 1
        more_pairs = "1 more pair does" if more == 1 else f"{more:,} more pairs do"
        others = f" (and {more_pairs})" if more else ""
        raise InputError(
            f"The areas {one} and {other} overlap by {shared[worst]:.3g} km2{others}; each place "
            "may lie in one area only, so mend the borders."
        )
    mentioned = shared > _SPOKEN_KM2
    if not mentioned.any():
        return []
    number, largest = int(np.count_nonzero(mentioned)), float(shared.max())
    pairs_overlap = (
        "1 pair of areas overlaps" if number == 1 else f"{number:,} pairs of areas overlap"
    )
    return [f"{pairs_overlap}, by {largest:.2g} km2 at most: that goes to the first in the file."]


#: Letters of a name, at most.
MAX_NAME = 200
_POLYGON, _MULTIPOLYGON = 3, 6


@dataclass(frozen=True, eq=False)
class AreaTable:
    """A table of m areas.

    Attributes
    ----------
    levels : names of the columns
    paths : (m,) names from the highest level down; branches may have fewer levels than others
    geometry : (m,) valid polygons and multipolygons in `crs`
    crs : of the boundaries
    notes : sentences on what was changed
    """

    levels: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...]
    geometry: NDArray[Any]
    crs: pyproj.CRS
    notes: tuple[str, ...]


def read_table(
    source: str | Path | bytes | Any, levels: Sequence[str], crs: Any = None
) -> AreaTable:
    """Read areas, one a row; see `Areas.read`.

    What is no polygon is dropped from a row, a row without any polygon is left out, invalid rings
    are repaired by their structure (`shapely.make_valid`), and polygons over the antimeridian are
    cut there. Each of these is a sentence in the notes.

    Raises
    ------
    InputError
        For what cannot be repaired: no such column, no name, no CRS, no polygons, a corner that is
        not on the Earth.
    """
    columns = _columns(levels)
    frame: Any = source
    if isinstance(source, str | Path | bytes):
        frame = read_frame(source, columns, "areas")
    elif hasattr(source, "columns") and hasattr(source, "geometry"):
        has = list(source.columns)
        check_columns(has, columns, "areas")
        if len(set(has)) < len(has):
            raise InputError("Two columns of this frame have one name; rename one of them.")
        check_rows(len(source), "areas")
    else:
        raise InputError(f"Areas are the path of a file ({FORMATS}) or a GeoDataFrame.")
    if not len(frame):
        raise InputError("There is no area in this table; give one row for each.")
    table_crs = _crs(crs_of_polygons(frame.crs, crs, frame.geometry.to_numpy(), "areas"))
    paths, notes = _paths(frame, columns)
    shapes, usable, repair_notes = _polygons(frame.geometry.to_numpy(), paths, table_crs)
    named = tuple(path for path, keep in zip(paths, usable, strict=True) if keep)
    return AreaTable(columns, named, shapes, table_crs, (*notes, *repair_notes))


def _columns(levels: Sequence[str]) -> tuple[str, ...]:
    columns = (levels,) if isinstance(levels, str) else tuple(levels)
    if not columns or not all(type(name) is str and name for name in columns):
        raise InputError(
            "Name the columns of the levels, coarsest first, such as country, region, district."
        )
    if len(set(columns)) < len(columns):
        raise InputError("A level is named twice; name each column once, coarsest first.")
    return columns


def _crs(crs: pyproj.CRS) -> pyproj.CRS:
    if crs.is_geographic and not in_degrees(crs):
        raise InputError(f"{crs.name} is not in degrees; save the areas in EPSG:4326.")
    return crs.to_2d()


def _paths(frame: Any, columns: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """Paths of names; a branch may end above the lowest level, not begin below the highest."""
    names = [[_name(value, level) for value in frame[level]] for level in columns]
    paths, ended = [], 0
    for row, path in enumerate(zip(*names, strict=True)):
        length = max((depth for depth, name in enumerate(path, 1) if name), default=0)
        if not all(path[:length]) or not length:
            level = columns[path.index("")]
            raise InputError(f"Row {row + 1} of the areas has no name in {shown(level)}; give one.")
        ended += length < len(columns)
        paths.append(path[:length])
    notes = [f"{_areas(ended, 'ends', 'end')} above the lowest level."] if ended else []
    return tuple(paths), notes


def _name(value: Any, level: str) -> str:
    import pandas

    if value is None or value is pandas.NA or value is pandas.NaT or value != value:
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    # What a terminal or a table would obey is no part of a name.
    plain = "".join(sign if sign.isprintable() else " " for sign in str(value)[: 10 * MAX_NAME])
    name = " ".join(plain.split())
    if len(name) > MAX_NAME:
        raise InputError(f"A name in {shown(level)} has more than {MAX_NAME} letters; shorten it.")
    return name


def _polygons(
    shapes: NDArray[Any], paths: Sequence[tuple[str, ...]], crs: pyproj.CRS
) -> tuple[NDArray[Any], NDArray[np.bool_], list[str]]:
    """Valid polygons, which rows have any, and what was done."""
    notes = []
    shapes = shapely.force_2d(np.asarray(shapes, dtype=object))
    corners, row = shapely.get_coordinates(shapes, return_index=True)
    bad = ~np.isfinite(corners).all(axis=1)
    if crs.is_geographic:
        bad |= (np.abs(corners) > (540.0, 90.0)).any(axis=1)
    if bad.any():
        where = spoken(paths[row[bad][0]])
        raise InputError(f"The area {where} has a corner that is not on the Earth; mend it.")
    parts, owner = _parts(shapes)
    flat = np.isin(shapely.get_type_id(parts), (_POLYGON, _MULTIPOLYGON))
    flat &= ~shapely.is_empty(parts)
    has = np.bincount(owner[flat], minlength=len(shapes)) > 0
    other = ~(has | shapely.is_missing(shapes) | shapely.is_empty(shapes))
    if other.any():
        kind = shapes[other][0].geom_type
        where = spoken(paths[np.flatnonzero(other)[0]])
        raise InputError(f"The area {where} is a {kind}; areas are polygons.")
    _refuse_none(has)
    dropped = int(np.count_nonzero(~flat[has[owner]]))
    if dropped:
        what = "1 part that is" if dropped == 1 else f"{dropped:,} parts that are"
        notes.append(f"{what} no polygon, such as stray lines, left out.")
    joined = shapely.multipolygons(
        *shapely.get_parts(parts[flat], return_index=True)[:1],
        indices=np.repeat(owner[flat], shapely.get_num_geometries(parts[flat])),
        out=np.full(len(shapes), None),
    )
    if crs.is_geographic:
        joined, cut = in_one_world(joined)
        if cut:
            notes.append(f"{_areas(cut, 'crosses', 'cross')} the antimeridian, cut there.")
    broken = has & ~shapely.is_valid(joined)
    if broken.any():
        joined[broken] = shapely.make_valid(
            joined[broken], method="structure", keep_collapsed=False
        )
        number = int(np.count_nonzero(broken))
        where = spoken(paths[np.flatnonzero(broken)[0]])
        notes.append(f"{_areas(number, 'has', 'have')} invalid rings, mended: first {where}.")
        has &= ~shapely.is_empty(joined)
        _refuse_none(has)
    if not has.all():
        gone = np.flatnonzero(~has)
        where = spoken(paths[gone[0]])
        notes.append(f"{_areas(len(gone), 'has', 'have')} no polygon, left out: first {where}.")
    return joined[has], has, notes


def _refuse_none(has: NDArray[np.bool_]) -> None:
    if not has.any():
        raise InputError("These areas have no polygons; give a file that has some.")


def _parts(shapes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Members of collections, collections inside them opened too, and the row of each."""
    parts, owner = shapes, np.arange(len(shapes))
    while (shapely.get_type_id(parts) == 7).any():
        parts, inner = shapely.get_parts(parts, return_index=True)
        owner = owner[inner]
    return parts, owner


def _areas(number: int, one: str, several: str) -> str:
    return f"1 area {one}" if number == 1 else f"{number:,} areas {several}"
