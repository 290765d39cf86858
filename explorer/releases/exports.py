"""A map's leaves as a table of polygons, and as files that other tools read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import shapely

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.grid.grid import Grid
from explorer.grid.whole_file import write_whole
from explorer.releases import facts
from explorer.releases import file as release_file
from explorer.releases.answers import Answers
from explorer.releases.place_maps import PlaceMaps
from explorer.releases.tree import Tree

if TYPE_CHECKING:
    import geopandas

#: The release itself, which loads back, and copies of its leaves for other tools.
WHOLE = (".parquet", ".geoparquet")
COPIES: Mapping[str, str] = {".gpkg": "GPKG", ".geojson": "GeoJSON", ".json": "GeoJSON"}


class Leaves(Protocol):
    """What of a release is needed here; see `Release`."""

    @property
    def tree(self) -> Tree:
        """All nodes."""

    @property
    def domain(self) -> Domain:
        """What it is a map of."""

    @property
    def maps(self) -> PlaceMaps | None:
        """Of the places, if it has some."""

    @property
    def grid(self) -> Grid:
        """Of a map."""

    @property
    def counts(self) -> Any:
        """Of the leaves."""

    @property
    def sd(self) -> Any:
        """Of the noise in them."""

    @property
    def height(self) -> Any:
        """Of the leaves."""

    def boxes(self) -> Any:
        """Of the leaves."""

    def summary(self) -> str:
        """One sentence."""


def frame_of(release: Leaves, crs: Any = None, details: bool = False) -> geopandas.GeoDataFrame:
    """See `Release.to_geodataframe`."""
    import geopandas

    grid = release.grid
    boxes = release.boxes()
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    # Square kilometres where the grid is in metres, cells where it has none.
    area = area / 1e6 if grid.crs is not None else area
    low, high = Answers(release.counts, release.sd).interval()
    columns = {
        "count": release.counts,
        "noise_sd": release.sd,
        "density": release.counts / area,
        "low": low,
        "high": high,
    }
    if details:
        tree, leaves = release.tree, release.tree.leaves
        names = ("row", "column")
        for axis, name in enumerate(names):
            columns[f"first_{name}"] = tree.lower[leaves, axis]
            columns[f"end_{name}"] = tree.upper[leaves, axis]
        columns |= {
            "height": release.height,
            "depth": tree.depth[leaves],
            "cells": np.prod(tree.upper[leaves] - tree.lower[leaves], axis=1),
        }
    frame = geopandas.GeoDataFrame(columns, geometry=shapely.box(*boxes.T), crs=grid.crs)
    if crs is not None:
        if grid.crs is None:
            raise InputError("This map is measured in cells and has no CRS: leave crs= out.")
        frame = frame.to_crs(crs)
    metadata = facts.of_any(release)
    keys = ("mechanism", "parameters", "epsilon", "unit_of_privacy", "preview")
    frame.attrs = {name: metadata[name] for name in keys}
    return frame


def save(release: Leaves, path: str | Path, about: dict[str, Any]) -> None:
    """Write a release by the ending of the name; see `Release.save`."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending in WHOLE:
        also = {}
        if isinstance(release.domain, Grid):
            # What `to_geodataframe` says of a leaf, a file says to anyone who has only GeoPandas.
            also = frame_of(release)[["density", "low", "high"]].to_dict("series")
        release_file.write(path, release.tree, release.domain, about, release.maps, also)
        return
    if ending not in COPIES:
        raise InputError(
            f"A release is not written as {ending or 'a file without an ending'!r}: name it "
            f"{path.stem or 'map'}.parquet to load it back, or .gpkg or .geojson for other tools."
        )
    frame = frame_of(release, details=True)
    if ending != ".gpkg" and frame.crs is not None:
        # GeoJSON is longitude and latitude, whatever is in it.
        frame = frame.to_crs(4326)
    metadata = {name: json.dumps(value) for name, value in frame.attrs.items()}
    metadata |= {"software": "dp-explorer", "summary": release.summary()}
    how = (
        {"layer_metadata": metadata} if ending == ".gpkg" else {"DESCRIPTION": metadata["summary"]}
    )

    def write(part: Path) -> None:
        import pyogrio

        pyogrio.write_dataframe(frame, part, driver=COPIES[ending], layer="leaves", **how)

    write_whole(path, write)
