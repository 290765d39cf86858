"""The release of a country: counts of areas inside each other and a private map in each.

It holds no exact count, no seed and no point; boundaries are public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.areas.people import Row
from explorer.grid.areas.windows import Windows, shown_path
from explorer.grid.cards import card
from explorer.grid.pieces import COVERAGE, check_by
from explorer.grid.projection import transform
from explorer.releases import country_file
from explorer.releases.answers import Z95, Answers
from explorer.releases.area_map import AreaMap
from explorer.releases.area_parts import Asked, asked_of, fractions
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
        """Count, unbiased count and sd of every area: `areas` without geometry.

        Returns
        -------
        (n,), (n,) and (n,) float64
            In records.
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
        country_file.write(path, self)

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
        return cls(**country_file.read(path))

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
