"""A made-up nation of any number of points: for trying what is meant for whole countries.

Towns by the rank-size rule, the country between them nearly empty, and boundaries of countries,
regions and districts with an island and a region that is a country. It is in the open Atlantic
around 45 degrees north and 35 west, where there is no land; `nation.npz` is its plan. Points come
in row groups, each from a generator of its own, so that any of them can be made alone, in any
order, on any machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid, Progress
from explorer.points.points import Points

if TYPE_CHECKING:
    import geopandas

NAME = "Amber Isles"
SEED = 1907
LON, LAT = -35.0, 45.0
#: The public extent, km: west to east and south to north.
WIDTH, HEIGHT = 640.0, 880.0
#: Levels of its boundaries, coarsest first.
LEVELS = ("country", "region", "district")
#: Rows of a row group, and row groups of a file.
GROUP, GROUPS = 1_000_000, 10
#: Records that a person has on average, in files with a column of people.
RECORDS = 4

_RURAL = 0.12
_KM_LAT = 1 / 111.13
# Width and height of a small piece of land, degrees.
_PIECE = (0.05, 0.036)

Floats = NDArray[np.float64]


class Plan(NamedTuple):
    """Districts and towns.

    Attributes
    ----------
    names : (m, 3) country, region and district of each
    shapes : (m,) polygons in degrees, neighbours with the same corners along their border
    towns : (t, 2) degrees; the first m are one in each district
    share : (t,) of the people, by the rank-size rule: the town of rank r has 1 / r of the largest
    radius : (t,) km
    land : (c, 2) south-western corners, in degrees, of small pieces of land
    """

    names: NDArray[np.str_]
    shapes: NDArray[np.object_]
    towns: Floats
    share: Floats
    radius: Floats
    land: Floats


@lru_cache(maxsize=1)
def plan() -> Plan:
    """The nation; always the same one."""
    with np.load(Path(__file__).with_suffix(".npz")) as archive:
        written, starts = archive["shapes"], archive["starts"]
        shapes = [shapely.from_wkb(part.tobytes()) for part in np.split(written, starts[1:-1])]
        others = (archive[name] for name in Plan._fields[2:])
        return Plan(archive["names"], np.array(shapes, dtype=object), *others)


def grid(shape: int | tuple[int, int] = (1024, 1024)) -> Grid:
    """Return the nation's public grid of 640 x 880 km."""
    return Grid.around(LON, LAT, WIDTH * 1000, HEIGHT * 1000, shape=shape, name=NAME)


def boundaries() -> geopandas.GeoDataFrame:
    """Return its districts: columns country, region, district and polygons in degrees.

    Neighbours share the corners of their border. One country is a single region, one region a
    single district.
    """
    import geopandas

    columns = dict(zip(LEVELS, plan().names.T.tolist(), strict=True))
    return geopandas.GeoDataFrame(columns, geometry=plan().shapes, crs="EPSG:4326")


def points(n: int = 1_000_000, seed: int = SEED) -> Points:
    """Return ``n`` points of the Amber Isles in memory, the first rows of its files."""
    groups = [row_group(k, rows, seed) for k, rows in enumerate(_rows(n))]
    lon, lat = (np.concatenate([group[side] for group in groups]) for side in (0, 1))
    return Points(lon, lat, name=NAME, notes=(f"{NAME} are made up: nobody lives there.",))


def row_group(k: int, rows: int = GROUP, seed: int = SEED) -> tuple[Floats, Floats]:
    """Longitudes and latitudes of row group k, (rows,) each, from SeedSequence([seed, 1, k]).

    Some lie in the sea next to the coast, as in any real file.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, 1, k]))
    nation = plan()
    rural = int(rows * _RURAL)
    # Whole numbers, so that a last bit of a sum on another machine moves no one.
    sums = np.cumsum(np.rint(1e9 * nation.share)).astype(np.int64)
    town = np.searchsorted(sums, rng.integers(0, sums[-1], rows - rural), side="right")
    # Dense in the middle, with a long tail: bell-shaped, times a spread that is now and then large.
    spread = nation.radius[town] * 0.14 / (0.1 + rng.random(len(town)))
    dx, dy = (spread * (rng.random(len(town)) + rng.random(len(town)) - 1.0) for _ in range(2))
    middle = nation.towns[town]
    lat = middle[:, 1] + dy * _KM_LAT
    lon = middle[:, 0] + dx * _KM_LAT / np.cos(np.radians(nation.towns[:, 1]))[town]
    corner = nation.land[rng.integers(0, len(nation.land), rural)]
    lon = np.concatenate([lon, corner[:, 0] + _PIECE[0] * rng.random(rural)])
    lat = np.concatenate([lat, corner[:, 1] + _PIECE[1] * rng.random(rural)])
    order = rng.permutation(rows)
    return lon[order], lat[order]


def people(k: int, rows: int, total: int, seed: int = SEED) -> NDArray[np.int64]:
    """Whose records row group k of ``total`` rows holds, (rows,): numbers from 0."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2, k]))
    return rng.integers(0, max(total // RECORDS, 1), rows)


def write(
    folder: str | Path,
    rows: int,
    seed: int = SEED,
    users: bool = False,
    progress: Progress | None = None,
) -> list[Path]:
    """Write points to ``part-00000.parquet`` and so on, one row group in memory at a time.

    Parameters
    ----------
    folder : made if it is not there; empty
    rows : 1 or more
    seed : of the people; the nation is always the same
    users : whether there is a column "person" as well
    progress : called with the fraction done

    Returns
    -------
    list of Path

    Raises
    ------
    InputError
        For a number of rows below 1, or a folder that has files in it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if rows < 1:
        raise InputError(f"{rows} rows are not written; give 1 or more.")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise InputError(f"{folder.name} is not empty; give a new folder, so that no file is old.")
    kinds = {"lon": pa.float64(), "lat": pa.float64()} | ({"person": pa.int64()} if users else {})
    schema = pa.schema(list(kinds.items()))
    written: list[Path] = []
    writer: pq.ParquetWriter | None = None
    try:
        for k, size in enumerate(_rows(rows)):
            if k % GROUPS == 0:
                if writer is not None:
                    writer.close()
                written.append(folder / f"part-{k // GROUPS:05d}.parquet")
                # Read 1.7 times as fast as plain pages, and 6 % smaller.
                writer = pq.ParquetWriter(
                    written[-1],
                    schema,
                    compression="zstd",
                    use_dictionary=False,
                    column_encoding=dict.fromkeys(("lon", "lat"), "BYTE_STREAM_SPLIT"),
                )
            columns: list[NDArray[Any]] = list(row_group(k, size, seed))
            if users:
                columns.append(people(k, size, rows, seed))
            assert writer is not None
            writer.write_table(pa.table(columns, schema=schema), row_group_size=GROUP)
            if progress is not None:
                progress((k + 1) / -(-rows // GROUP))
    finally:
        if writer is not None:
            writer.close()
    return written


def _rows(total: int) -> Iterator[int]:
    """Rows of each row group."""
    for start in range(0, total, GROUP):
        yield min(GROUP, total - start)
