"""The release: what may leave the curator. It holds no exact count and no seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.grid.grid import Grid
from explorer.grid.pieces import COVERAGE, Shapes, check_by, warn_outside
from explorer.grid.sums import summed
from explorer.releases import file as release_file
from explorer.releases.answers import Answers
from explorer.releases.asking import asked, chosen_axes, marginal_density
from explorer.releases.inference import Estimate
from explorer.releases.interpolation import SLOPE, interpolate
from explorer.releases.place_maps import Chances, PlaceMaps
from explorer.releases.shown import Shown
from explorer.releases.transcript import Candidates, LedgerRow
from explorer.releases.tree import Tree, no_map
from explorer.releases.units import UNITS_PER_EPSILON, to_epsilon
from explorer.version import __version__

if TYPE_CHECKING:
    import geopandas

Floats = NDArray[np.float64]
Boxes = ArrayLike | Mapping[str, Any] | Any

MOST_POINTS = 10_000_000
"""Of a sample."""


@dataclass(frozen=True, eq=False)
class Release(Shown):
    """A private map: a partition of a domain with a private count for every leaf.

    Mechanisms make it and `load` reads it; no one needs to call this class.

    Parameters
    ----------
    tree : Tree
        All nodes with their noisy counts; leaves tile the domain.
    domain : Domain
        The public space of d axes: a `Grid`, or several places of trips.
    mechanism : str
        How it was made.
    parameters : mapping
        The settings of the mechanism.
    units : int
        The budget, in units of 10^-12 epsilon.
    preview : bool
        True for reproducible noise: such a map is not private and must not be published.
    unit : {"point", "user", "client"}
        The unit of privacy: adding or removing one makes two data sets neighbours.
    contribution_bound : int, 1 or more
        How many records one unit may have given.
    ledger : tuple of LedgerRow
        One row a stage; what a leaf's path spent on each, averaged, adds up to epsilon.
    facts : mapping
        Choices made from noisy figures, such as the height.
    elsewhere : tuple of (str, float)
        What passes over the domain before this tree cost, as stage and epsilon.
    inside : {"uniform", "interpolated", "maps"}
        How a leaf's count is inside it: evenly, after released neighbours, or by the maps of
        the places.
    linear : bool
        Whether counts are linear in the draws, so that the noise has a closed form.
    haar_variance : float, 0 or more, or None
        Variance of every Haar coefficient, for Privlet.
    candidates : tuple
        Cuts that HTF's search looked at, with their noisy costs; no file keeps them.
    maps : PlaceMaps or None
        Private maps of all places, drawn next to the tree.
    weighted : bool
        Whether counts are sums of weights of a user's records, see `share`.
    version : str
        Of the software that drew it.

    Examples
    --------
    >>> import tempfile
    >>> from explorer import UG, FrequencyMatrix, Release
    >>> matrix = FrequencyMatrix.from_array([[9, 0], [8, 1]])
    >>> release = UG(epsilon=1, grid_size=2).release(matrix)
    >>> release.preview, release.n_leaves, release.density().shape, release.boxes()[0].tolist()
    (False, 4, (2, 2), [0.0, 0.0, 1.0, 1.0])
    >>> [(stage, round(part, 9)) for stage, part in release.stages()]
    [('cells', 1.0)]
    >>> release.spread("interpolated").inside
    'interpolated'
    >>> release.summary()[:34]
    'Private release by ug with epsilon'
    >>> list(release.to_geodataframe().columns)
    ['count', 'noise_sd', 'density', 'low', 'high', 'geometry']
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release.save(f"{folder}/map.parquet")
    ...     again = Release.load(f"{folder}/map.parquet")
    >>> bool((again.counts == release.counts).all())
    True
    """

    tree: Tree
    domain: Domain
    mechanism: str
    parameters: Mapping[str, Any]
    units: int
    preview: bool
    unit: str
    contribution_bound: int
    ledger: tuple[LedgerRow, ...]
    facts: Mapping[str, float] = field(default_factory=dict)
    elsewhere: tuple[tuple[str, float], ...] = ()
    inside: str = "uniform"
    linear: bool = True
    haar_variance: float | None = None
    candidates: tuple[Candidates, ...] = ()
    maps: PlaceMaps | None = None
    weighted: bool = False
    version: str = __version__

    @classmethod
    def from_estimate(cls, estimate: Estimate, **about: Any) -> Self:
        """Build a release from what a plan inferred; everything in it has been released."""
        if estimate.maps is not None:
            about["inside"] = "maps"
        release = cls(
            tree=Tree.of(estimate),
            maps=estimate.maps,
            facts=dict(estimate.facts),
            elsewhere=estimate.transcript.elsewhere,
            linear=estimate.linear,
            haar_variance=estimate.haar_variance,
            candidates=estimate.transcript.candidates,
            **about,
        )
        return replace(release, ledger=release_file.by_stage(release.stages(), release.ledger))

    @classmethod
    def from_tree(
        cls,
        tree: Tree,
        *,
        domain: Domain,
        ledger: Sequence[LedgerRow],
        mechanism: str,
        parameters: Mapping[str, Any],
        units: int,
        preview: bool,
        unit: str = "point",
        contribution_bound: int = 1,
        facts: Mapping[str, float] | None = None,
        linear: bool = True,
    ) -> Release:
        """Build a release from a tree that no single plan drew, such as one put together of parts.

        Parameters
        ----------
        tree : Tree
            Everything in it has been released: the caller's word, nothing here can check it.
        domain : Domain
        ledger : sequence of LedgerRow
            Rows of what was measured, one or more for each of the tree's stages.
        mechanism : str
            How it was made.
        parameters : mapping
            With these settings.
        units : int, 1 or more
            What any path of the tree spent at most, in 10^-12 epsilon.
        preview : bool
        unit : {"point", "user"}
        contribution_bound : int, 1 or more
        facts : mapping, optional
        linear : bool
            All as in the parameters of the class.

        Returns
        -------
        Release

        Raises
        ------
        InputError
            For a tree that does not tile the domain or was not measured, stages without a row in
            the ledger, a path that spent more than ``units``, or another unit of privacy.

        Examples
        --------
        >>> from explorer import UG
        >>> tried = UG(epsilon=1, grid_size=2).release([[9, 0], [8, 1]], rng=7)
        >>> same = Release.from_tree(
        ...     tried.tree,
        ...     domain=tried.domain,
        ...     ledger=tried.ledger,
        ...     mechanism="mine",
        ...     parameters={},
        ...     units=tried.units,
        ...     preview=True,
        ... )
        >>> same.mechanism, same.n_leaves
        ('mine', 4)
        """
        release_file.check_made(tree, domain.shape, ledger, units, unit)
        release = cls(
            tree=tree,
            domain=domain,
            mechanism=mechanism,
            parameters=dict(parameters),
            units=units,
            preview=preview,
            unit=unit,
            contribution_bound=contribution_bound,
            ledger=tuple(ledger),
            facts=dict(facts or {}),
            linear=linear,
        )
        return replace(release, ledger=release_file.by_stage(release.stages(), release.ledger))

    @property
    def kind(self) -> str:
        """What sort of domain it is over: "grid", "trips"."""
        return self.domain.kind

    @property
    def grid(self) -> Grid:
        """The grid of a map of two axes, also of trips of one place.

        Raises
        ------
        InputError
            For a release over anything else.
        """
        grids: Sequence[Grid] = getattr(self.domain, "grids", [self.domain])
        if len(grids) == 1 and isinstance(grids[0], Grid):
            return grids[0]
        raise no_map(len(self.domain.shape))

    @property
    def is_uniform(self) -> bool:
        """Whether a leaf's count is evenly inside it."""
        return self.inside == "uniform"

    @property
    def sd_exact(self) -> bool:
        """Whether the noise of answers has a closed form."""
        return self.linear and self.is_uniform

    @property
    def epsilon(self) -> float:
        """The budget as a number to read."""
        return to_epsilon(self.units)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.tree.leaves)

    @property
    def lower(self) -> NDArray[np.int64]:
        """Lower edge of every leaf in cells, (leaves, d)."""
        return self.tree.leaf_edges[0]

    @property
    def upper(self) -> NDArray[np.int64]:
        """Upper edge of every leaf in cells, (leaves, d), half open."""
        return self.tree.leaf_edges[1]

    @cached_property
    def counts(self) -> Floats:
        """Private count of every leaf, (leaves,); noise may make it negative."""
        return self.tree.value[self.tree.leaves]

    @cached_property
    def sd(self) -> Floats:
        """Standard deviation of the noise in every leaf's count, (leaves,)."""
        return self.tree.sd[self.tree.leaves]

    @cached_property
    def height(self) -> NDArray[np.int64]:
        """Height of every leaf above the lowest level that the tree could have, (leaves,)."""
        deepest = int(self.facts.get("height", self.tree.depth.max()))
        return deepest - self.tree.depth[self.tree.leaves]

    @property
    def total(self) -> float:
        """Private number of records in the whole domain."""
        return float(self.tree.value[0])

    @property
    def people(self) -> float:
        """Private N_eff = total / k: how many users who give all k records they may; 0 or more.

        Of n_u records of each user u it is about the sum of min(n_u, k) / k, k the contribution
        bound. How many there are decides what a release is worth, k hardly.
        """
        return max(self.total, 0.0) / self.contribution_bound

    def boxes(self) -> Floats:
        """Leaves as people write boxes of the domain: of a grid x0, y0, x1, y1, (leaves, 4).

        Returns
        -------
        (leaves, 4) float64
            In metres of the grid, or cells; of k places (leaves, 4k).
        """
        return self.domain.from_cells(np.stack([self.lower, self.upper], axis=1))

    def spread(self, inside: str) -> Release:
        """The same release with counts spread otherwise inside leaves; costs nothing.

        Parameters
        ----------
        inside : {"uniform", "interpolated", "maps"}
            "interpolated" of a grid alone, "maps" where the release has some.

        Returns
        -------
        Release

        Raises
        ------
        InputError
            For anything else.
        """
        here = {"uniform": True, "interpolated": len(self.domain.shape) == 2}
        here["maps"] = self.maps is not None
        possible = [name for name, can in here.items() if can]
        if inside not in possible:
            raise InputError(
                f"Counts cannot be spread by {inside!r} here: choose one of {', '.join(possible)}."
            )
        return replace(self, inside=inside)

    def density(self) -> Floats:
        """Private count per cell of a map, (rows, cols).

        Returns
        -------
        (rows, cols) float64
            Row 0 is the southern edge.

        Raises
        ------
        InputError
            For a release of other than two axes: see `marginal`.
        """
        return self._density

    @cached_property
    def chances(self) -> Chances | None:
        """What the maps inside say of every node; None without them."""
        tree, maps = self.tree, self.maps_inside
        return None if maps is None else maps.over(tree.lower, tree.upper)

    @cached_property
    def owners(self) -> NDArray[np.int32]:
        """Which leaf every cell of a map belongs to, (rows, cols)."""
        return self.tree.owners(self.grid.shape)

    @cached_property
    def _density(self) -> Floats:
        even = self.tree.paint(self.grid.shape)
        if self.is_uniform:
            return even
        return interpolate(even, self.owners, self.facts.get("slope", SLOPE))

    @cached_property
    def sums(self) -> Floats:
        """Summed-area table of `density`, (rows + 1, cols + 1)."""
        return summed(self._density)

    def stages(self) -> list[tuple[str, float]]:
        """What a leaf's path spent on each stage, averaged over leaves; adds up to epsilon.

        Returns
        -------
        list of (str, float)
            Name and epsilon of each.
        """
        mean = self.tree.mean_path_spent / UNITS_PER_EPSILON
        here = [(stage, float(part)) for stage, part in zip(self.tree.stages, mean, strict=True)]
        return [*self.elsewhere, *here]

    def summary(self) -> str:
        """One sentence that says what this is and how good.

        Returns
        -------
        str
            It holds released numbers alone.
        """
        kind = "Preview (reproducible noise, not private)" if self.preview else "Private release"
        spread = ", spread inside leaves by the maps of the places" if self.inside == "maps" else ""
        records = f"about {self.total:,.0f} records in all"
        if self.weighted:
            bound = self.contribution_bound
            units = f"{self.unit}{'' if round(self.total / bound) == 1 else 's'}"
            records += f" by weight, {bound} at most of each {self.unit}, "
            records += f"as many as {self.people:,.0f} {units} would give"
        sides = self.domain.shape
        return (
            f"{kind} by {self.mechanism} with epsilon {self.epsilon:g} per {self.unit}: "
            f"{self.n_leaves:,} {'leaf' if self.n_leaves == 1 else 'leaves'} over "
            f"{' x '.join(map(str, sides))} {'cell' if math.prod(sides) == 1 else 'cells'}, "
            f"{records}, noise of a leaf's count typically {float(np.median(self.sd)):,.1f} "
            f"(standard deviation){spread}."
        )

    def to_geodataframe(self, *, crs: Any = None, details: bool = False) -> geopandas.GeoDataFrame:
        """The leaves as polygons, with what was released of each.

        Parameters
        ----------
        crs : int, str or CRS, optional
            To project to; by default the grid's own.
        details : bool
            Whether cells, height and depth of every leaf are columns too.

        Returns
        -------
        GeoDataFrame
            count, noise_sd, density (per km2, or per cell without a CRS), low and high (95 % of
            the noise); ``attrs`` say mechanism, epsilon, unit and whether it is a preview.

        Raises
        ------
        InputError
            For a release that is no map, and a CRS where the grid has none.
        """
        return release_file.frame_of(self, crs, details)

    def save(self, path: str | Path) -> None:
        """Write a file whose kind is told by its ending; one of that name is replaced.

        Parameters
        ----------
        path : path ending in .parquet, .gpkg or .geojson
            GeoParquet is the release itself, leaves as rows, all else as metadata: what `load`
            reads. The others are copies of the leaves for other tools.

        Raises
        ------
        InputError
            For another ending, for what is no map as .gpkg or .geojson, and when it cannot be
            written: an older file is as it was then, and the release can be saved elsewhere.
        """
        release_file.save(self, path, self.in_file())

    def in_file(self) -> dict[str, Any]:
        """What a file says of this release next to its tree, as JSON can hold it."""
        return release_file.described(self)

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Read a release file; needs no points.

        Parameters
        ----------
        path : path
            Of a .parquet that `save` wrote.

        Returns
        -------
        Release
            A `DistributedRelease` where the file holds rounds.

        Raises
        ------
        InputError
            For a file that is missing, damaged, not a release, or from another version.
        """
        tree, domain, about, maps = release_file.read(path)
        try:
            facts = release_file.checked(about, maps is not None)
            loaded = Release(tree=tree, domain=domain, maps=maps, **facts)
            if "distributed" in about:
                # It is a release itself, so that this module cannot import its module.
                kind = import_module("explorer.releases.distributed").DistributedRelease
                loaded = kind.of_file(loaded, about["distributed"])
            return loaded
        except release_file.damage(InputError) as error:
            raise InputError(
                f"{path} is a release file but damaged: make it anew with `dp-explorer release`."
            ) from error

    def answer(self, where: Boxes, *, crs: Any = None, by: str = COVERAGE) -> Answers:
        """Private counts of rectangles, of polygons, or of the boxes of another domain.

        Parameters
        ----------
        where : (n, 4) x0, y0, x1, y1, polygons, frame, path or mapping
            Numbers are metres of the grid's CRS, or cells (x along columns, y along rows) when the
            grid has none. Polygons of shapely, a GeoSeries, a GeoDataFrame or a file of them are
            asked as they are, of one map. Cells that are cut through count by area; what is
            outside the grid is 0, with an `OutsideWarning` for polygons that are wholly there. Of
            several places (n, k, 4), NaN for anywhere, or a mapping from places to frames.
        crs : int, str or CRS, optional
            Of numbers and geometries that have none of their own, such as 4326 for west, south,
            east, north in degrees.
        by : "coverage"
            Cells on a border count by the area inside.

        Returns
        -------
        Answers
            With the index and the shapes of a frame or file that was asked.

        Raises
        ------
        InputError
            For rectangles that are not (n, 4), not finite, or inside out; for degrees without a
            CRS; for shapes that are no polygons, and for polygons asked of several places.

        Examples
        --------
        >>> from shapely import Polygon
        >>> from explorer import UG
        >>> release = UG(epsilon=1, grid_size=2).release([[9, 0], [8, 1]], rng=7)
        >>> south, all_of_it = release.answer([[0, 0, 2, 1], [0, 0, 2, 2]]).value
        >>> bool(abs(all_of_it - release.total) < 1e-9)
        True
        >>> triangle = Polygon([(0, 0), (2, 0), (0, 2)])
        >>> release.answer(triangle).to_frame().shape[0], int(release.touched(triangle)[0])
        (1, 3)
        """
        check_by(by)
        shapes = Shapes.of(where, crs)
        value, variance, touched = asked(self, where if shapes is None else shapes)
        rows = None if shapes is None else shapes.rows
        if shapes is not None:
            warn_outside(int((touched == 0).sum()), 2)
        return Answers(value, np.sqrt(np.maximum(variance, 0.0)), self.sd_exact, rows)

    def share(self, rectangles: ArrayLike) -> Answers:
        """Shares of all records in boxes, 0 to 1 but for noise.

        What answers say where users are protected: a user's records are bounded, so that counts
        are none of trips or visits, and how many there are has no bounded sensitivity. `people`
        says how many users are behind it.

        Parameters
        ----------
        rectangles : (n, 4) or (n, k, 4) array
            As in `answer`.

        Returns
        -------
        Answers
            Parts of 1; their standard deviations are estimates.

        Raises
        ------
        InputError
            See `answer`, or for a release in which no one is found.

        Examples
        --------
        >>> from explorer import Uniform
        >>> release = Uniform(epsilon=1).release([[9, 0], [8, 1]], rng=7)
        >>> release.share([[0, 0, 1, 2]]).value.tolist()
        [0.5]
        """
        if self.total <= 0:
            raise InputError("This release finds no records at all, so there are no shares of it.")
        answer = self.answer(rectangles)
        return Answers(answer.value / self.total, answer.sd / self.total, False)

    def map_answer(self, place: int, rectangles: ArrayLike) -> Floats:
        """What the map of one place says itself, next to the tree's own `answer`.

        Parameters
        ----------
        place : int, 0 to k - 1
        rectangles : (n, 4) x0, y0, x1, y1, as people write boxes of this place

        Returns
        -------
        (n,) private counts of records that are there with this place, wherever their others are

        Raises
        ------
        InputError
            For a release without maps, a place that it has not, or bad rectangles.

        Examples
        --------
        >>> from explorer import Gravity, TripMatrix
        >>> trips = TripMatrix.from_coordinates(12 * [[0, 1, 3, 2]], [4, 4])
        >>> release = Gravity(epsilon=1).release(trips, rng=7)
        >>> release.map_answer(0, [[0, 0, 4, 4]]).shape
        (1,)
        """
        grids: Sequence[Grid] = getattr(self.domain, "grids", ())
        if self.maps is None or not grids:
            raise InputError("This release has no maps of its places: ask with answer.")
        if place not in range(len(grids)):
            raise InputError(f"The place is {place!r}: give a number, 0 to {len(grids) - 1}.")
        return self.maps.answer(int(place), grids[int(place)].to_cells(rectangles))

    def touched(self, where: Boxes) -> NDArray[np.int64]:
        """Number of leaves that each rectangle or polygon touches.

        Parameters
        ----------
        where : (n, 4) array, polygons, frame or path
            As in `answer`.

        Returns
        -------
        (n,) int64

        Raises
        ------
        InputError
            See `answer`.

        Examples
        --------
        >>> from explorer import UG
        >>> release = UG(epsilon=1, grid_size=2).release([[9, 0], [8, 1]], rng=7)
        >>> release.touched([[0, 0, 2, 2], [0, 0, 0.5, 0.5]]).tolist()
        [4, 1]
        """
        return asked(self, where)[2]

    def marginal(self, axes: Sequence[int]) -> Floats:
        """Private count per cell of some axes, all others summed.

        Parameters
        ----------
        axes : sequence of k different int, 0 to d - 1
            The order is that of the result; (0, 1) of trips is where they begin.

        Returns
        -------
        (shape[axes[0]], shape[axes[1]], ...)
            Sums over it equal the answers to boxes that hold the other axes whole. Cells share
            noise, so that of a sum is asked of `answer`.

        Raises
        ------
        InputError
            For axes that are not there or named twice, and for more cells than a grid may have.

        Examples
        --------
        >>> from explorer import EUG, TripMatrix
        >>> trips = TripMatrix.from_coordinates(12 * [[0, 1, 3, 2]], [4, 5])
        >>> EUG(epsilon=1).release(trips, rng=7).marginal((2, 3)).shape  # where trips end
        (5, 5)
        """
        shape, chosen = self.domain.shape, chosen_axes(self.domain, axes)
        if self.inside != "interpolated":
            return marginal_density(self.tree, shape, chosen, self.maps_inside)
        others = tuple(axis for axis in range(len(shape)) if axis not in chosen)
        return np.transpose(self.density().sum(axis=others), np.argsort(np.argsort(chosen)))

    @property
    def maps_inside(self) -> PlaceMaps | None:
        """The maps by which counts are spread inside leaves; None where they are otherwise."""
        if self.inside == "maps" and self.maps is None:
            raise InputError("This release has no maps of its places: spread it uniform.")
        return self.maps if self.inside == "maps" else None

    def sample(self, n: Any, rng: Any = None) -> geopandas.GeoDataFrame:
        """Synthetic points, spread as the released counts are: post-processing, it costs nothing.

        No one's place is among them: a leaf is drawn in proportion to its count (never one that
        noise made negative), and in it a place, evenly or by the interpolated density.

        Parameters
        ----------
        n : int, 0 to 10,000,000
            How many. The private total says how many records there are about.
        rng : int of 0 or more, numpy Generator or None
            A seed repeats a sample.

        Returns
        -------
        GeoDataFrame
            Points in the grid's CRS with the number of their leaf; ``attrs`` say that they are
            synthetic and of which release.

        Raises
        ------
        InputError
            For another number or rng, a release that is no map, or one without a positive count.

        Examples
        --------
        >>> from explorer import UG
        >>> release = UG(epsilon=1, grid_size=2).release([[9, 0], [8, 1]], rng=7)
        >>> points = release.sample(100, rng=1)
        >>> len(points), points.attrs["synthetic"], points.equals(release.sample(100, rng=1))
        (100, True, True)
        """
        whole = isinstance(n, int | np.integer) and not isinstance(n, bool)
        if not whole or not 0 <= n <= MOST_POINTS:
            raise InputError(
                f"A sample has a whole number of points, 0 to {MOST_POINTS:,}; this is {n!r}."
            )
        grid = self.grid
        try:
            generator = np.random.default_rng(rng)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"rng is {rng!r}; give a whole number of 0 or more, a Generator, or None."
            ) from error
        if self.is_uniform:
            weights, lower, upper = self.counts, self.lower, self.upper
            leaf = _chosen(weights, n, generator)
            low, high = lower[leaf], upper[leaf]
        else:
            cell = _chosen(self.density().ravel(), n, generator)
            low = np.stack(np.divmod(cell, grid.shape[1]), axis=1)
            high = low + 1
            leaf = self.owners.ravel()[cell].astype(np.int64)
        place = low + generator.random((n, 2)) * (high - low)
        x0, y0 = grid.bounds[:2]
        x, y = x0 + place[:, 1] * grid.cell_width, y0 + place[:, 0] * grid.cell_height
        import geopandas
        import shapely

        frame = geopandas.GeoDataFrame({"leaf": leaf}, geometry=shapely.points(x, y), crs=grid.crs)
        frame.attrs = {
            "synthetic": True,
            "said": "Synthetic points, computed from a differentially private release: "
            "no one's places",
            "mechanism": self.mechanism,
            "epsilon": self.epsilon,
            "preview": self.preview,
        }
        return frame

    def __repr__(self) -> str:
        return f"<Release: {self.summary()}>"


def in_records(release: Release, lattice: int) -> Release:
    """A release whose counts are units of a lattice, with counts in records.

    Counts were whole units, and a unit of privacy moved them by its bound in such units; divided by
    the lattice they are records by weight, and the bound is in records. Nothing else changes: the
    noise has the scale bound / epsilon either way.

    Parameters
    ----------
    release : Release
        As it was measured.
    lattice : units of its counts that make one record; 1 returns it as it is
    """
    if lattice == 1:
        return release
    tree, maps = release.tree, release.maps
    if maps is not None:
        places = tuple(replace(place, counts=place.counts / lattice) for place in maps.places)
        maps = PlaceMaps(places)
    return replace(
        release,
        tree=replace(
            tree,
            value=tree.value / lattice,
            precision=tree.precision * float(lattice) ** 2,
            draws=tree.draws / lattice,
            tested=None if tree.tested is None else tree.tested / lattice,
        ),
        maps=maps,
        contribution_bound=release.contribution_bound // lattice,
        ledger=tuple(replace(row, sensitivity=row.sensitivity / lattice) for row in release.ledger),
        weighted=True,
    )


def _chosen(weights: Floats, n: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Positions drawn in proportion to weights, (n,); what noise made negative is never drawn."""
    positive = np.maximum(weights, 0.0)
    total = positive.sum()
    if n and not total > 0:
        raise InputError("This release has no positive count, so there is nothing to draw from.")
    edges = np.cumsum(positive)
    at = np.searchsorted(edges, generator.random(n) * total, side="right")
    # A last bit of the sum must not reach beyond what can be drawn.
    last = np.flatnonzero(positive)[-1:] if n else np.zeros(0, dtype=np.int64)
    result: NDArray[np.int64] = np.minimum(at, last) if n else at
    return result
