"""Leaves as GeoParquet, GeoPackage, GeoJSON and CSV: the same numbers, the same order."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import geopandas
import shapely

from explorer.publish.leaves import Leaves
from explorer.queries.files import no_formula
from explorer.releases import file as release_file
from explorer.releases.release import Release

#: Decimals of degrees: half of the last is 5 x 10^-10 degrees, a twentieth of a millimetre.
DEGREES = 9
#: Decimals of counts in text, of which half the last is 5 x 10^-7 records.
COUNTS = 6
LAYER = "leaves"
#: Leaves from which on a GeoPackage has an index of places: fewer are read whole at once, and an
#: index is a quarter of such a file.
_INDEXED = 50_000
EDGES = ("x0", "y0", "x1", "y1")


def write_parquet(path: Path, release: Release, leaves: Leaves) -> None:
    """The release as it is saved, with the columns of the other formats next to its own."""
    stored = ("count", "noise_sd")
    also = {name: column for name, column in leaves.columns.items() if name not in stored}
    release_file.write(
        path,
        release.tree,
        release.domain,
        release.in_file(),
        release.maps,
        {"leaf": leaves.leaf, **also},
    )


def write_package(path: Path, leaves: Leaves, metadata: dict[str, str]) -> None:
    """Leaves with what is said of them, in the CRS of the map."""
    import pyogrio

    frame = geopandas.GeoDataFrame(
        {"leaf": leaves.leaf, **leaves.columns},
        geometry=shapely.box(*leaves.boxes.T),
        crs=leaves.grid.crs,
    )
    with warnings.catch_warnings():
        # While it is written its name ends otherwise.
        warnings.filterwarnings("ignore", ".*non conformant file extension")
        pyogrio.write_dataframe(
            frame,
            path,
            driver="GPKG",
            layer=LAYER,
            layer_metadata=metadata,
            SPATIAL_INDEX="YES" if len(leaves) >= _INDEXED else "NO",
        )


def write_geojson(path: Path, leaves: Leaves, about: dict[str, Any]) -> None:
    """Leaves in longitude and latitude (RFC 7946), one on each line."""
    head = {"type": "FeatureCollection", "about": about}
    with path.open("w", encoding="utf8", newline="\n") as file:
        file.write(json.dumps(head, ensure_ascii=False)[:-1] + ', "features": [\n')
        for part in leaves.parts():
            file.writelines(_features(part))
        file.write("]}\n")


def _features(leaves: Leaves) -> Iterator[str]:
    """A line for each leaf; a comma before all but the very first."""
    numbers = (column.tolist() for column in leaves.columns.values())
    for number, place, *row in zip(leaves.leaf.tolist(), leaves.degrees(), *numbers, strict=True):
        text = ",".join(f'"{n}":{_short(v)}' for n, v in zip(leaves.columns, row, strict=True))
        yield (
            f'{"," if number else ""}{{"type":"Feature","id":{number},"properties":'
            f'{{"leaf":{number},{text}}},"geometry":{_geometry(place)}}}\n'
        )


def write_csv(path: Path, leaves: Leaves) -> None:
    """Leaves with their edges, as a spreadsheet reads them."""
    with path.open("w", encoding="utf8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(map(no_formula, ["leaf", *leaves.columns, *EDGES]))
        rows = zip(*(column.tolist() for column in leaves.columns.values()), strict=True)
        for number, (row, edges) in enumerate(zip(rows, leaves.boxes.tolist(), strict=True)):
            table.writerow([number, *map(_short, row), *(f"{edge:.12g}" for edge in edges)])


def _short(value: float) -> str:
    """A number with `COUNTS` decimals, without zeros at its end."""
    text = f"{value:.{COUNTS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _geometry(place: Any) -> str:
    if place.geom_type == "Polygon":
        return f'{{"type":"Polygon","coordinates":[{_ring(place)}]}}'
    parts = ",".join(f"[{_ring(part)}]" for part in place.geoms)
    return f'{{"type":"MultiPolygon","coordinates":[{parts}]}}'


def _ring(polygon: Any) -> str:
    return (
        "["
        + ",".join(f"[{lon:.{DEGREES}f},{lat:.{DEGREES}f}]" for lon, lat in polygon.exterior.coords)
        + "]"
    )
