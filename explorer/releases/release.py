"""The release: what may leave the curator. It holds no exact count and no seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.grid.grid import Grid
from explorer.grid.sums import summed
from explorer.releases import exports, kinds
from explorer.releases import file as release_file
from explorer.releases.checks import check_made
from explorer.releases.facts import by_stage, checked, described
from explorer.releases.in_words import sentence
from explorer.releases.inference import Estimate
from explorer.releases.interpolation import SLOPE, interpolate
from explorer.releases.place_maps import Chances, PlaceMaps
from explorer.releases.questions import Questions
from explorer.releases.sampling import Sampled
from explorer.releases.shown import Shown
from explorer.releases.transcript import Candidates, LedgerRow
from explorer.releases.tree import Tree, no_map
from explorer.releases.units import UNITS_PER_EPSILON, to_epsilon
from explorer.version import __version__

if TYPE_CHECKING:
    import geopandas

Floats = NDArray[np.float64]
Boxes = ArrayLike | Mapping[str, Any] | Any


@dataclass(frozen=True, eq=False)
class Release(Questions, Shown, Sampled):
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
        return replace(release, ledger=by_stage(release.stages(), release.ledger))

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
        check_made(tree, domain.shape, ledger, units, unit)
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
        return replace(release, ledger=by_stage(release.stages(), release.ledger))

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
        return sentence(
            preview=self.preview,
            mechanism=self.mechanism,
            epsilon=self.epsilon,
            unit=self.unit,
            bound=self.contribution_bound,
            weighted=self.weighted,
            leaves=self.n_leaves,
            sides=self.domain.shape,
            total=self.total,
            noise=float(np.median(self.sd)),
            inside=self.inside,
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
        return exports.frame_of(self, crs, details)

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
        exports.save(self, path, self.in_file())

    def in_file(self) -> dict[str, Any]:
        """What a file says of this release next to its tree, as JSON can hold it."""
        return described(self)

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
            facts = checked(about, maps is not None)
            loaded = Release(tree=tree, domain=domain, maps=maps, **facts)
            more: Release = kinds.of_file(loaded, about)
            return more
        except release_file.damage(InputError) as error:
            raise InputError(
                f"{path} is a release file but damaged: make it anew with `dp-explorer release`."
            ) from error

    def __repr__(self) -> str:
        return f"<Release: {self.summary()}>"
