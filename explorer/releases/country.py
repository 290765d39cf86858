"""The release of a country: counts of areas inside each other and a private map in each.

It holds no exact count, no seed and no point; boundaries are public.
"""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid import gdal
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.people import Row
from explorer.grid.areas.windows import Windows, shown_path
from explorer.grid.cards import card
from explorer.grid.grid import Grid
from explorer.grid.pieces import COVERAGE, check_by
from explorer.grid.projection import transform
from explorer.grid.whole_file import write_whole
from explorer.releases.answers import Z95, Answers
from explorer.releases.area_map import AreaMap, Asked, asked_of, fractions
from explorer.releases.file import KEY, check_tree, checked, damage, of_any, packed, unpacked
from explorer.releases.forms import Family
from explorer.releases.release import Release
from explorer.releases.transcript import LedgerRow
from explorer.releases.tree import Tree
from explorer.releases.units import to_epsilon
from explorer.version import __version__

if TYPE_CHECKING:
    import geopandas


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
OUTLINE = 200.0
"""Metres by which the outlines of upper areas may be simplified, see `Areas.outlines`."""


@dataclass(frozen=True, eq=False, repr=False)
class CountryRelease:
    """`Country` makes it and `load` reads it; no one needs to call this class.

    Parameters
    ----------
    windows : Windows
        The public areas, their people and their lattice.
    tree : Tree
        Over the lowest areas in a row (`people.Row`): the areas that were counted; its leaves are
        those in which there is a map.
    unbiased : (nodes,) array
        Counts after least squares, before negative ones were moved.
    node : (nodes,) array
        The node of `windows.people` that each node of the tree is.
    maps : tuple of AreaMap or None, one for each leaf of the tree
        Private map in each leaf; None where there is none.
    mechanism : str
    parameters : mapping
    units : int, in 10^-12 epsilon
    preview : bool
    unit : {"point", "user"}
    contribution_bound : int, 1 or more
    ledger : tuple of LedgerRow
    facts : mapping
    version : str
        These nine as of a `Release`.

    Examples
    --------
    >>> import tempfile
    >>> import geopandas
    >>> from shapely import box
    >>> from explorer import Areas, Country, CountryRelease
    >>> frame = geopandas.GeoDataFrame(
    ...     {"district": ["West", "East"]},
    ...     geometry=[box(0, 0, 1000, 2000), box(1000, 0, 2000, 2000)],
    ...     crs="EPSG:32633",
    ... )
    >>> areas = Areas.read(frame, levels=("district",))
    >>> where = {"x": 40 * [500] + 20 * [1500], "y": 60 * [900]}
    >>> counts = areas.count(where, cell=250, crs="EPSG:32633")
    >>> release = Country(epsilon=1, inside="identity").release(counts, rng=7)
    >>> release.areas().name.tolist(), release.figures()[0].shape
    (['', 'West', 'East'], (3,))
    >>> west = release.answer([("West",)])
    >>> len(west), release.inside("West").kind, bool(release.density().sum() > 0)
    (1, 'grid', True)
    >>> release.summary()[:7]
    'Preview'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release.save(f"{folder}/country.gpkg")
    ...     again = CountryRelease.load(f"{folder}/country.gpkg")
    >>> bool(abs(again.total - release.total) < 1e-9)
    True
    """

    windows: Windows
    tree: Tree
    unbiased: Floats
    node: Ints
    maps: tuple[AreaMap | None, ...]
    mechanism: str
    parameters: Mapping[str, Any]
    units: int
    preview: bool
    unit: str
    contribution_bound: int
    ledger: tuple[LedgerRow, ...]
    facts: Mapping[str, float] = field(default_factory=dict)
    version: str = __version__

    kind = "areas"

    @property
    def domain(self) -> Row:
        """The lowest areas in a row."""
        return Row(len(self.windows.areas))

    @property
    def epsilon(self) -> float:
        """The budget as a number to read."""
        return to_epsilon(self.units)

    @property
    def total(self) -> float:
        """Private number of records in the whole country."""
        return float(self.tree.value[0])

    @cached_property
    def family(self) -> Family:
        """The tree as the noise of its counts sees it."""
        return Family(self.tree.parent, self.tree.precision)

    @cached_property
    def sd(self) -> Floats:
        """Standard deviation of the noise of every node of the tree, (nodes,).

        That of `unbiased`; a count moved away from negative ones has no more. Where upper draws
        are published as they are it is theirs.
        """
        if self.parameters.get("consistency") != "drawn":
            return np.sqrt(self.family.final)
        variance = np.zeros(len(self.tree))
        drawn = self.tree.precision > 0
        variance[drawn] = 1 / self.tree.precision[drawn]
        for i in range(len(self.tree) - 1, 0, -1):
            above = self.tree.parent[i]
            variance[above] += 0.0 if drawn[above] else variance[i]
        return np.sqrt(variance)

    def areas(self) -> geopandas.GeoDataFrame:
        """Every area of every level, the whole first.

        Returns
        -------
        GeoDataFrame in the CRS of the boundaries
            level (0 for the whole), path ("/" between names), name, count, low and high (95 %
            interval of the noise, `count` -+ 1.96 `sd`), unbiased, sd, geometry (upper
            areas have the outlines of theirs, simplified to `OUTLINE`). An area inside one whose
            map begins above it is answered from that map, by its share of cells: there
            `unbiased` is `count`, and neither knows how uneven records are in the map's leaves.
        """
        import geopandas

        value, unbiased, sd = self._of_nodes
        areas = self.windows.areas
        return geopandas.GeoDataFrame(
            {
                "level": areas.level,
                "path": ["/".join(path) for path in areas.paths],
                "name": [path[-1] if path else "" for path in areas.paths],
                "count": value,
                "low": value - Z95 * sd,
                "high": value + Z95 * sd,
                "unbiased": unbiased,
                "sd": sd,
            },
            geometry=self._unions,
            crs=areas.crs,
        )

    def figures(self) -> tuple[Floats, Floats, Floats]:
        """Count, unbiased count and sd of every area, (n,) each: `areas` without geometry.

        Returns
        -------
        (n,), (n,) and (n,) float64
        """
        return self._of_nodes

    def answer(self, where: Any, *, crs: Any = None, by: str = COVERAGE) -> Answers:
        """Private counts of rectangles, polygons or other areas, by coverage.

        Parameters
        ----------
        where : (n, 4) array, frame, path, polygons, Areas or names
            Numbers are x0, y0, x1, y1 in metres of the lattice; a GeoDataFrame, a GeoSeries or a
            file of polygons has a CRS of its own, shapely geometries have that of the lattice;
            other `Areas`; or names of own areas, each a path such as ("England", "London"): their
            union for a list of paths.
        crs, by : as of `Release.answer`

        Returns
        -------
        Answers
            An area that is wholly in the question counts with its own count, one that is cut
            through by what its map has inside the question. `sd` follows from one linear form over
            all draws; it is exact for unions of areas.

        Raises
        ------
        InputError
            For anything else.
        """
        check_by(by)
        questions = asked_of(where, self.windows, crs)
        value = np.zeros(len(questions))
        form, shared = np.zeros((2, len(questions), len(self.tree)))
        alone = self.family.variances[0]
        cut = np.zeros(len(questions), dtype=bool)
        for place, leaf in enumerate(self.tree.leaves):
            whole, part, weights = self._fractions(place, questions)
            value += self.tree.value[leaf] * np.where(whole, 1.0, 0.0)
            form[whole, leaf], shared[whole, leaf] = alone[leaf], alone[leaf]
            some = np.flatnonzero((part != 0) & ~whole)
            if len(some) == 0:
                continue
            cut[some] = True
            value[some] += part[some]
            area_map = self.maps[place]
            if area_map is None:
                share = weights[some, 0]
                q, c = share**2 * alone[leaf], share * alone[leaf]
            else:
                q, c = area_map.moments(weights[some])
                # What the area's own draws add to its map's total B: precision - 1 / B.
                own_precision = self.tree.precision[leaf] - 1 / area_map.variance
                if own_precision > 1e-12 * self.tree.precision[leaf]:
                    s = 1 / own_precision
                    q = q - c**2 / (area_map.variance + s)
                    c = c * s / (area_map.variance + s)
            form[some, leaf], shared[some, leaf] = q, c
        variance = self.family.joined(form, shared)
        return Answers(value, np.sqrt(np.maximum(variance, 0)), not cut.any(), questions.rows)

    def inside(self, path: Sequence[str] | str) -> Release:
        """The map within one area, as a release over its own window.

        Parameters
        ----------
        path : str or sequence of str
            Names from the highest level down, or one name that is an area's only once.

        Returns
        -------
        Release

        Raises
        ------
        InputError
            For an area that is not there, or has no map of its own.
        """
        node = self.windows.people.of[self.windows.find(path)]
        positions = np.flatnonzero(self.node[self.tree.leaves] == node)
        area_map = self.maps[int(positions[0])] if len(positions) else None
        if area_map is None:
            raise InputError(
                f"There is no map inside {shown_path(path)}: ask for {self._with_maps()}."
            )
        count = float(self.tree.value[self.tree.leaves[positions[0]]])
        return _as_release(self, area_map, count)

    def density(self) -> Floats:
        """Private count of every cell of the lattice, (rows, cols).

        Returns
        -------
        (rows, cols) float64
        """
        whole = np.zeros(self.windows.grid.shape)
        for place in range(len(self.maps)):
            window, cells = self._cells[place]
            k, (rows, cols) = window.scale, window.shape
            fine = np.repeat(np.repeat(cells / k**2, k, axis=0), k, axis=1)
            r, c = window.row * k, window.col * k
            part = whole[r : r + rows * k, c : c + cols * k]
            part += fine[: part.shape[0], : part.shape[1]]
        return whole

    def summary(self) -> str:
        """One sentence that says what this is and how good.

        Returns
        -------
        str
        """
        kind = "Preview (reproducible noise, not private)" if self.preview else "Private release"
        protects = "each record"
        if self.unit == "user":
            protects = f"each user, of up to {self.contribution_bound} records in all areas,"
        number = sum(area_map is not None for area_map in self.maps)
        lowest = float(np.median(self.sd[self.tree.leaves]))
        return (
            f"{kind} by {self.mechanism} that protects {protects} with epsilon {self.epsilon:g}: "
            f"counts of {len(self.windows.areas.parent):,} areas, {number:,} maps inside them, "
            f"{self.total:,.0f} records in all, noise of a lowest area about {lowest:,.1f}."
        )

    def save(self, path: str | Path) -> None:
        """Write one file: a GeoPackage (.gpkg) with a layer per level, or GeoParquet (.parquet).

        Parameters
        ----------
        path : path ending in .gpkg or .parquet

        Raises
        ------
        InputError
            For another ending, and when it cannot be written: an older file is as it was then.
        """
        file = Path(path)
        if file.suffix not in (".gpkg", ".parquet"):
            raise InputError(f"{file.name} ends in neither .gpkg nor .parquet: choose one.")
        write_whole(file, lambda part: _write(part, self))

    @classmethod
    def load(cls, path: str | Path) -> CountryRelease:
        """Read what `save` wrote; needs no points.

        Parameters
        ----------
        path : path
            Of a file that `save` wrote.

        Returns
        -------
        CountryRelease

        Raises
        ------
        InputError
            For a file that is missing, damaged, not a release of areas, or from another version.
        """
        return cls(**_read(path))

    def _repr_html_(self) -> str:
        rows = {
            "areas": f"{len(self.family.parent):,}",
            "epsilon": f"{self.epsilon:.12g} per {self.unit}",
            "records in all": f"about {self.total:,.0f}",
        }
        badge = "preview" if self.preview else "release"
        return card("Private counts of a country", rows, badge=badge, note=self.summary())

    def __repr__(self) -> str:
        return f"<CountryRelease: {self.summary()}>"

    @cached_property
    def _cells(self) -> list[tuple[Any, Floats]]:
        """Window and private count per cell of every leaf of the tree."""
        cells = []
        for place, leaf in enumerate(self.tree.leaves):
            area_map, count = self.maps[place], float(self.tree.value[leaf])
            window = self._window(place)
            if area_map is not None:
                cells.append((window, area_map.density(count)))
                continue
            land = window.land if window.land.any() else np.ones(window.shape)
            cells.append((window, land * (count / land.sum())))
        return cells

    def _window(self, place: int) -> Any:
        area_map = self.maps[place]
        if area_map is not None:
            return area_map.window
        return self.windows.of(self.windows.members(int(self.node[self.tree.leaves[place]])))

    def _fractions(self, place: int, questions: Asked) -> tuple[NDArray[np.bool_], Floats, Floats]:
        window, cells = self._cells[place]
        return fractions(self.windows, window, self.maps[place], cells, questions)

    @cached_property
    def _of_nodes(self) -> tuple[Floats, Floats, Floats]:
        """Count, unbiased count and sd of every area as given, (n,) each."""
        people, areas = self.windows.people, self.windows.areas
        value, unbiased, sd = np.full((3, len(people)), np.nan)
        value[self.node], unbiased[self.node], sd[self.node] = (
            self.tree.value,
            self.unbiased,
            self.sd,
        )
        below = np.flatnonzero(np.isnan(value))
        if len(below):
            members = [tuple(self.windows.members(int(node))) for node in below]
            answer = self.answer(Asked.of_members(members, len(areas)))
            value[below], unbiased[below], sd[below] = answer.value, answer.value, answer.sd
        return value[people.of], unbiased[people.of], sd[people.of]

    @cached_property
    def _unions(self) -> NDArray[Any]:
        """Geometry of every area as given, (n,)."""
        areas = self.windows.areas
        shapes = np.empty(len(areas.parent), dtype=object)
        shapes[areas.lowest] = areas.geometry
        upper = np.array([shape is None for shape in shapes])
        if upper.any():
            # Borders of many small areas dissolved exactly would take longer than a release.
            drawn = areas.outlines(OUTLINE)[upper]
            shapes[upper] = shapely.transform(
                drawn, lambda xy: np.column_stack(transform(areas.plane, areas.crs, *xy.T))
            )
        return shapes

    def _with_maps(self) -> str:
        node = self.windows.people.top[self.node[self.tree.leaves]]
        has = [i for i, area_map in zip(node, self.maps, strict=True) if area_map is not None]
        if not has:
            return "counts alone, which this release has"
        return "one of its areas with a map, such as " + shown_path(
            self.windows.areas.paths[has[0]]
        )


def _as_release(country: CountryRelease, area_map: AreaMap, count: float) -> Release:
    """A map whose leaves add up to the area's count, as a plain release."""
    window = country.windows.grid_of(area_map.window)
    leaves = area_map.tree.leaves
    owner = area_map.tree.owners(area_map.window.shape)
    cells = area_map.density(count)
    value = area_map.tree.value.copy()
    value[:] = 0.0
    value[leaves] = np.bincount(owner.ravel(), cells.ravel(), len(leaves))
    for i in range(len(value) - 1, 0, -1):
        value[area_map.tree.parent[i]] += value[i]
    tree = Tree(
        area_map.tree.lower,
        area_map.tree.upper,
        area_map.tree.parent,
        value,
        area_map.tree.precision,
        area_map.tree.stages,
        area_map.tree.spent,
        area_map.tree.draws,
        area_map.tree.tested,
    )
    spent = int(tree.path_spent.sum(axis=1).max())
    ledger = []
    for number, stage in enumerate(tree.stages):
        epsilon = float(to_epsilon(int(tree.spent[:, number].max())))
        draws = int(np.count_nonzero(tree.spent[:, number]))
        ledger.append(
            LedgerRow(stage, epsilon, draws, float(country.contribution_bound), "parallel")
        )
    return Release(
        tree=tree,
        domain=window,
        mechanism=str(country.parameters.get("inside", country.mechanism)),
        parameters=dict(country.parameters.get("inside_settings", {})),
        units=max(spent, 1),
        preview=country.preview,
        unit=country.unit,
        contribution_bound=country.contribution_bound,
        ledger=tuple(ledger),
        inside=area_map.inside,
        linear=False,
        haar_variance=area_map.haar_variance,
        version=country.version,
    )


# The file of a country's release: a layer per level for others, everything for us.
#
# A GeoPackage has a layer for every level and a table without geometry; GeoParquet one table with
# the levels below each other, and metadata. Table and metadata hold what is not for the eye: the
# tree, the maps inside, what was paid. Nothing in it is exact, and it loads back without the
# points.


FORMAT = 4
"""Of releases of areas; those of maps have 1 to 3."""
TABLE = "dp_explorer"
# Names that begin so are tables of GeoPackage and SQLite.
_NOT_OURS = ("gpkg_", "rtree_", "sqlite_")
_MOST_NODES = 2**25
_COLUMNS = ("level", "path", "name", "count", "low", "high", "unbiased", "sd")
_TREE = ("lower", "upper", "parent", "value", "precision", "spent", "draws")


def _write(file: Path, release: CountryRelease) -> None:
    """All layers, or the one table, into a file that is not there yet."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    frame = release.areas().reset_index(names="node")
    facts = json.dumps(_facts(release))
    if file.suffix == ".gpkg":
        for level, name in enumerate(layers(release.windows.areas)):
            some = frame[frame["level"] == level]
            some.to_file(file, layer=name, driver="GPKG", engine="pyogrio")
        import pyogrio

        pyogrio.write_dataframe(pd.DataFrame({"facts": [facts]}), file, TABLE, "GPKG", append=True)
    else:
        buffer = io.BytesIO()
        frame.to_parquet(buffer)
        table = pq.read_table(pa.BufferReader(buffer.getvalue()))
        metadata = {**(table.schema.metadata or {}), KEY: facts.encode()}
        pq.write_table(table.replace_schema_metadata(metadata), file, compression="zstd")


def _read(path: str | Path) -> dict[str, Any]:
    """What a `CountryRelease` is made of, see its `load`."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"There is no release file {path}: check the name.")
    try:
        text = _read_facts(file)
    except damage(InputError, sqlite3.Error) as error:
        raise InputError(
            f"{path} is not a release of areas: make one with `dp-explorer country`. A map is "
            "asked as Parquet, release.save('map.parquet'); other tools read its GeoPackage."
        ) from error
    try:
        facts = json.loads(text)
        file_format = facts.get("format") if isinstance(facts, dict) else None
        if file_format != FORMAT:
            raise InputError(
                f"{path} has release format {str(file_format)[:20]} and releases of areas have "
                f"{FORMAT}: open it with Release.load, or the version that wrote it."
            )
        return _release(facts, _frame(file, facts))
    except InputError:
        raise
    except damage(sqlite3.Error, RuntimeError, shapely.GEOSException) as error:
        raise InputError(
            f"{path} is a release of areas but damaged: make it anew with `dp-explorer country`."
        ) from error


def is_country(path: str | Path) -> bool:
    """Whether a file is to be read as a release of areas: a GeoPackage, or Parquet that says so."""
    file = Path(path)
    if file.suffix == ".gpkg":
        return True
    try:
        return bool(json.loads(_read_facts(file)).get("kind") == "areas")
    except damage(InputError, RuntimeError):
        return False


def layers(areas: Areas) -> list[str]:
    """Names of the layers, the whole first."""
    return _layers(areas.levels)


def _layers(levels: Sequence[str]) -> list[str]:
    """Names that a GeoPackage can hold next to each other and next to what is its own.

    >>> _layers(["Whole", "Region", "region", "gpkg_contents"])
    ['whole', 'Whole_', 'Region', 'region_', 'level gpkg_contents']
    """
    layers, used = ["whole"], {"whole", TABLE}
    for level in levels:
        name = f"level {level}" if level.lower().startswith(_NOT_OURS) else level
        # Its tables are distinguished by their letters, not by their case.
        while name.casefold() in used:
            name += "_"
        used.add(name.casefold())
        layers.append(name)
    return layers


def _facts(release: CountryRelease) -> dict[str, Any]:
    """All that is not for the eye, as JSON can hold it."""
    areas = release.windows.areas
    maps = [area_map for area_map in release.maps if area_map is not None]
    stages = tuple(dict.fromkeys(stage for area_map in maps for stage in area_map.tree.stages))
    arrays: dict[str, Any] = {f"tree_{n}": getattr(release.tree, n) for n in _TREE}
    arrays |= {"unbiased": release.unbiased, "node": release.node}
    arrays |= {"parent": areas.parent, "level": areas.level, "lowest": areas.lowest}
    arrays["has_map"] = np.array([area_map is not None for area_map in release.maps])
    arrays["haar"] = np.array([area_map.haar_variance or np.nan for area_map in maps])
    if maps:
        arrays["size"] = np.array([len(area_map.tree) for area_map in maps])
        for name in _TREE[:5]:
            arrays[f"map_{name}"] = np.concatenate(
                [getattr(area_map.tree, name) for area_map in maps]
            )
        for name, nothing in (("spent", 0), ("draws", np.nan)):
            parts = [_by_stage(getattr(area_map.tree, name), area_map.tree.stages, stages, nothing)
                     for area_map in maps]  # fmt: skip
            arrays[f"map_{name}"] = np.concatenate(parts)
    return {
        "format": FORMAT,
        "kind": "areas",
        **of_any(release),
        "elsewhere": [],
        "inside": maps[0].inside if maps else "uniform",
        "linear": True,
        "haar_variance": None,
        "areas": {
            "levels": list(areas.levels),
            "paths": [list(path) for path in areas.paths],
            "crs": areas.crs.to_wkt(),
            "nearest": areas.nearest,
            "key": areas.key,
        },
        "lattice": release.windows.grid.to_dict(),
        "stages": list(release.tree.stages),
        "map_stages": list(stages),
        "nodes": len(release.tree) + sum(len(area_map.tree) for area_map in maps),
        "arrays": packed(arrays),
    }


def _by_stage(
    values: Any, map_stages: tuple[str, ...], stages: tuple[str, ...], nothing: float
) -> np.ndarray:
    """Columns of a map's own stages among those of all maps."""
    result = np.full((len(values), len(stages)), nothing, dtype=values.dtype)
    for number, stage in enumerate(map_stages):
        result[:, stages.index(stage)] = values[:, number]
    return result


def _read_facts(file: Path) -> str:
    import pyarrow.parquet as pq

    if file.suffix == ".gpkg":
        # Plain SQL: no other program's idea of a text field cuts it short.
        address = f"{Path(str(gdal.checked(file))).as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as database:
            (text,) = database.execute(f"SELECT facts FROM {TABLE}").fetchone()
        return str(text)
    return str((pq.ParquetFile(file).schema_arrow.metadata or {})[KEY].decode())


def _frame(file: Path, facts: dict[str, Any]) -> geopandas.GeoDataFrame:
    """Nodes and geometries of the file."""
    import geopandas
    import pandas as pd

    if file.suffix != ".gpkg":
        return geopandas.read_parquet(file, columns=["node", "geometry"])
    return pd.concat(
        [
            geopandas.read_file(gdal.checked(file), layer=name, columns=["node"])
            for name in _layers(facts["areas"]["levels"])[1:]
        ]
    )


def _release(facts: dict[str, Any], frame: geopandas.GeoDataFrame) -> dict[str, Any]:
    about = checked(facts)
    nodes, width = facts["nodes"], 2 * (len(facts["stages"]) + len(facts["map_stages"]))
    if not isinstance(nodes, int) or not 0 < nodes <= _MOST_NODES:
        raise ValueError("more nodes than there can be")
    declared = facts["areas"]
    limit = 2**16 + 8 * (nodes * (12 + width) + 8 * len(declared["paths"]))
    stored = unpacked(facts["arrays"], limit)
    by_node = dict(zip(frame["node"], frame.geometry, strict=True))
    geometry = np.empty(len(stored["lowest"]), dtype=object)
    geometry[:] = [by_node[node] for node in stored["lowest"]]
    areas = Areas(
        tuple(declared["levels"]),
        stored["parent"],
        stored["level"],
        tuple(tuple(map(str, parameter)) for parameter in declared["paths"]),
        stored["lowest"],
        geometry,
        pyproj.CRS.from_user_input(declared["crs"]),
        declared["nearest"],
    )
    if areas.key != declared["key"]:
        raise ValueError("the areas are not those that were released")
    windows = Windows(areas, _lattice(areas, Grid.from_dict(facts["lattice"])))
    tree = Tree(stages=tuple(facts["stages"]), **{n: stored[f"tree_{n}"] for n in _TREE})
    check_tree(tree, (len(areas),))
    if not tree.spent.shape == tree.draws.shape == (len(tree), len(tree.stages)):
        raise ValueError("stages are missing")
    node, unbiased = stored["node"], stored["unbiased"]
    first, behind = windows.people.ranges
    fits = node.shape == unbiased.shape == (len(tree),)
    if not fits or not np.array_equal(
        np.column_stack([first[node], behind[node]]), np.column_stack([tree.lower, tree.upper])
    ):
        raise ValueError("the tree is not one of these areas")
    maps = _maps(windows, tree, node, stored, tuple(facts["map_stages"]), facts["inside"])
    for name in ("elsewhere", "inside", "linear", "haar_variance", "weighted"):
        about.pop(name)
    return {"windows": windows, "tree": tree, "unbiased": unbiased, "node": node, "maps": maps,
            **about}  # fmt: skip


def _lattice(areas: Areas, grid: Grid) -> Any:
    """The lattice that was released over: the areas' own, unless another grid was given."""
    lattice = areas.lattice(grid.cell_width)
    return lattice if lattice.grid == grid else areas.lattice(grid.cell_width, grid)


def _maps(
    windows: Windows,
    tree: Tree,
    node: Any,
    stored: dict[str, Any],
    stages: tuple[str, ...],
    inside: str,
) -> tuple[AreaMap | None, ...]:
    has_map, haar = stored["has_map"], stored["haar"]
    if len(has_map) != len(tree.leaves):
        raise ValueError("a map is missing")
    results: list[AreaMap | None] = []
    sizes = iter(stored.get("size", ()))
    begin, number = 0, 0
    for leaf, has in zip(tree.leaves, has_map, strict=True):
        if not has:
            results.append(None)
            continue
        end = begin + int(next(sizes))
        arrays = {name: stored[f"map_{name}"][begin:end] for name in _TREE}
        used = (arrays["spent"] > 0).any(axis=0) | np.isfinite(arrays["draws"]).any(axis=0)
        if len(used) != len(stages):
            raise ValueError("stages are missing")
        arrays["spent"], arrays["draws"] = arrays["spent"][:, used], arrays["draws"][:, used]
        names = tuple(s for s, u in zip(stages, used, strict=True) if u)
        window = windows.of(windows.members(int(node[leaf])))
        inner = Tree(stages=names, **arrays)
        check_tree(inner, window.shape)
        variance = float(haar[number])
        results.append(AreaMap(window, inner, inside, None if np.isnan(variance) else variance))
        begin, number = end, number + 1
    return tuple(results)
