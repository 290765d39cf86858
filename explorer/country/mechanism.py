"""Country: counts of areas inside each other, and a private map in each (section 6 of htf-2022)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import param
from numpy.typing import NDArray

from explorer.country import budgets
from explorer.errors import InputError
from explorer.grid.areas.people import People
from explorer.mechanisms import Mechanism, all_mechanisms, mechanism
from explorer.mechanisms.limits import Epsilon
from explorer.points.area_counts import AreaCounts
from explorer.privacy.bars import Progress, teller
from explorer.privacy.curator import Curator
from explorer.privacy.epsilon_range import check_noise
from explorer.privacy.forest import ForestCurator
from explorer.privacy.ledger import Ledger
from explorer.privacy.noise import NoiseSource, is_release_grade, noise_source
from explorer.privacy.regions import Regions
from explorer.releases import inference
from explorer.releases.area_map import AreaMap
from explorer.releases.country import CountryRelease
from explorer.releases.file import by_stage
from explorer.releases.inference import Estimate
from explorer.releases.transcript import Measurement, Transcript
from explorer.releases.tree import Tree
from explorer.releases.units import UNITS_PER_EPSILON, share, to_epsilon, to_units

Ints = NDArray[np.int64]

AREAS = "areas"
MAPS = "total of the map"
NO_MAPS = "none"

UPPER_WITH_MAPS = 0.4
"""With maps inside, upper levels get this part of what is best for counts alone.

Great Britain: .11 for regions in place of .275; what is left serves the maps, too (measured: .1 is
the best compromise, districts 15.0 % at epsilon .1).
"""


class Country(Mechanism):
    """Counts of all areas, level by level, and a map of any mechanism inside each lowest area.

    The paper (section 6 of htf-2022): Eq. 38 shares the budget among levels 0 to 2; a node whose
    count is below a threshold hands all that is left to HTF over its window, and so does every
    lowest area (errata c: there is no draw of level 3, and "the allocated privacy budget" is all
    that is left on the path). ``Country.paper_as_printed()`` is that.

    Departures, each measured on Great Britain: budgets that are best once least squares follows
    (erratum a); a count of its own for every area next to its map (erratum d: HTF's leaves alone
    make it 3.6 times worse); counts combined by inverse variance and made consistent by least
    squares, without negative ones; maps clipped to the public land of their area; no threshold,
    which made districts worse at every value. An only child is the same people as its parent and
    counted once (erratum b: the "unincorporated" rest is an area like any other, if a file has it).

    Privacy: `Curator.within`, area by area. The levels are disjoint regions of one pass, their
    draws add up along a path, the map inside is charged to its area's account, and the last draw
    takes all that is left: epsilon exactly, on every path, of any depth. A threshold compares a
    draw that was paid for. A user of k records costs k times 1/k of the most expensive path,
    wherever in the country they are.

    Examples
    --------
    Two districts of a made-up country, 2 km wide together:

    >>> import numpy as np
    >>> from explorer import Areas, Country
    >>> import geopandas
    >>> from shapely import box
    >>> frame = geopandas.GeoDataFrame(
    ...     {"district": ["West", "East"]},
    ...     geometry=[box(0, 0, 1000, 2000), box(1000, 0, 2000, 2000)],
    ...     crs="EPSG:32633",
    ... )
    >>> areas = Areas.read(frame, levels=("district",))
    >>> middle = frame.representative_point()
    >>> where = {"x": np.repeat(middle.x, 40), "y": np.repeat(middle.y, 40)}
    >>> counts = areas.count(where, cell=250, crs="EPSG:32633")
    >>> preview = Country(epsilon=1, inside="identity").release(counts, rng=7)
    >>> preview.areas().name.tolist(), preview.preview
    (['', 'West', 'East'], True)
    """

    key: ClassVar[str] = "country"
    title: ClassVar[str] = "Country"
    summary: ClassVar[str] = "Counts of areas inside each other, and a map inside each."
    paper: ClassVar[str] = "Shaham et al., ACM TSAS 2022, section 6"
    dimensions: ClassVar[tuple[int, ...]] = ()
    for_maps: ClassVar[bool] = False
    none_is: ClassVar[Mapping[str, str]] = {"threshold": "No threshold"}

    epsilon = Epsilon(default=1.0, softbounds=(0.01, 10), doc="Privacy budget of the release.")
    inside = param.Selector(
        default="mosaic",
        objects=[*all_mechanisms(), NO_MAPS],
        label="Inside areas",
        doc="The mechanism that draws the map inside each area, by its name or with its settings; "
        "none for counts alone.",
    )
    inside_settings = param.Dict(
        default={},
        label="Settings inside",
        doc="Its own parameters, where not the usual ones.",
        # No control of a screen holds them.
        precedence=-1,
    )
    budgets = param.Selector(
        default=budgets.RULES[0],
        objects=list(budgets.RULES),
        label="Budgets",
        doc="How levels share the budget.",
    )
    own_share = param.Number(
        default=0.3,
        bounds=(0.0, 0.95),
        step=0.05,
        label="Own share",
        doc="Part of what an area's path has left that counts the area itself, beside its map.",
    )
    threshold = param.Number(
        default=None,
        bounds=(0, 1e12),
        softbounds=(0, 50_000),
        step=500,
        allow_None=True,
        label="Threshold",
        doc="An upper area whose noisy count is below this is not divided: its map begins there "
        "(one that has no count of its own is always divided). "
        "Automatic: maps begin in the lowest areas.",
    )
    consistency = param.Selector(
        default="non-negative",
        objects=["non-negative", "least squares", "drawn"],
        label="Consistency",
        doc="Whether counts are made to agree, without negative ones or with; drawn publishes the "
        "upper draws as they are, as the paper does.",
    )

    def __init__(self, *epsilon: Any, **settings: Any) -> None:
        inner = settings.get("inside")
        if isinstance(inner, Mechanism):
            settings |= {"inside": inner.key, "inside_settings": inner.settings()}
        super().__init__(*epsilon, **settings)
        if self.inside != NO_MAPS:
            self._map_at(self.epsilon)

    @classmethod
    def paper_as_printed(cls, epsilon: float = 1.0, threshold: float = 10_000) -> Country:
        """Section 6 as printed: Eq. 38, no counts of lowest areas, HTF below the threshold.

        Parameters
        ----------
        epsilon : float, 1e-6 to 10
            The budget.
        threshold : float, 0 or more, or None
            An upper area of fewer records, by its noisy count, is not divided.

        Returns
        -------
        Country

        Raises
        ------
        InputError
            For a value outside its range.

        Examples
        --------
        >>> Country.paper_as_printed(epsilon=0.5).inside
        'htf'
        """
        return cls(
            epsilon=epsilon,
            inside="htf",
            budgets="Eq. 38",
            own_share=0.0,
            threshold=threshold,
            consistency="drawn",
        )

    def plan(self, curator: Curator) -> Estimate:
        """A country is released by `release`: raises InputError."""
        raise InputError("Give Country the counts of areas: areas.count(points).")

    def release(  # type: ignore[override]
        self,
        counts: AreaCounts,
        rng: int | np.random.Generator | NoiseSource | None = None,
        progress: Progress = None,
        ledger: Ledger | None = None,
    ) -> CountryRelease:
        """Draw all counts and maps once.

        Parameters
        ----------
        counts : AreaCounts
        rng, progress, ledger : as of `Mechanism.release`

        Returns
        -------
        CountryRelease

        Raises
        ------
        InputError
            For anything but counts of areas, an `rng` that cannot be used, a budget too small for
            the maps, or a draw over the ledger's cap.
        """
        if not isinstance(counts, AreaCounts):
            raise InputError("Country takes counts of areas: make them with areas.count(points).")
        source = noise_source(rng)
        report = teller(progress, self.title, ledger is not None and is_release_grade(source))
        if is_release_grade(source):
            check_noise(counts.contribution_bound, self.epsilon)
        curator = ForestCurator(counts, to_units(self.epsilon), source, report)
        if ledger is not None and is_release_grade(source):
            if self.inside != NO_MAPS:
                self._map_at(self.epsilon).warm_up()
            booked = ledger.book(counts, curator.units, self.key, repr(self))
            try:
                return self._drawn(curator, counts)
            except InputError:
                ledger.lower(booked, curator.close())
                raise
        return self._drawn(curator, counts)

    def _drawn(self, curator: ForestCurator, counts: AreaCounts) -> CountryRelease:
        windows = counts.windows
        parts = self.parts_of(windows.people, np.bincount(counts.areas.level))
        if self.inside != NO_MAPS:
            # The poorest map; where a threshold starts some above, they have more.
            left = budgets.units_on_paths(windows.people, parts, curator.units)[1]
            least = int(left[windows.people.is_leaf].min())
            self._map_at(to_epsilon(least - share(least, self.own_share)))
        starts, nodes = self._count_levels(curator, windows.people, parts)
        of = [windows.of(windows.members(node)) for node in nodes[starts.ids]]
        maps: tuple[AreaMap | None, ...] = (None,) * len(starts)
        if self.inside != NO_MAPS:
            matrices = [counts.inside(window) for window in of]
            estimates = curator.forest(starts, matrices, self._inner_plan())
            inside = getattr(self._map_at(self.epsilon), "inside", "uniform")
            maps = tuple(
                AreaMap(window, Tree.of(estimate), inside, estimate.haar_variance)
                for window, estimate in zip(of, estimates, strict=True)
            )
        record = with_totals(curator.transcript(starts), starts.ids, maps)
        linear = inference.least_squares(record)
        published = self._consistent(record, linear)
        release = CountryRelease(
            windows=windows,
            tree=Tree.of(published),
            unbiased=linear.value,
            node=nodes,
            maps=maps,
            mechanism=self.key,
            parameters=self.settings(),
            units=curator.units,
            preview=curator.preview,
            unit=counts.unit,
            contribution_bound=counts.contribution_bound,
            ledger=(),
        )
        mean = release.tree.mean_path_spent / UNITS_PER_EPSILON
        spent = [
            (stage, float(part))
            for stage, part in zip(release.tree.stages, mean, strict=True)
            if stage != MAPS
        ]
        return replace(release, ledger=by_stage(spent, curator.ledger))

    def _count_levels(
        self, curator: ForestCurator, people: People, parts: np.ndarray
    ) -> tuple[Regions, Ints]:
        """Draw the counts of areas from the whole downwards.

        Returns the regions in which maps begin, and the node of `people` that each of the book is.
        """
        first, behind = people.ranges
        here, nodes = curator.open(), np.zeros(1, dtype=np.int64)
        book, starts = nodes, []
        while len(here):
            left = curator.remaining(here)
            leaf = people.is_leaf[nodes]
            part = np.where(leaf, 1.0 if self.inside == NO_MAPS else self.own_share, parts[nodes])
            paid = np.array([share(int(r), float(f)) for r, f in zip(left, part, strict=True)])
            noisy = np.full(len(nodes), np.inf)
            if np.any(paid > 0):
                counted = here.select(paid > 0)
                noisy[paid > 0] = curator.count(counted, paid[paid > 0], AREAS)
            ends = leaf.copy()
            if self.threshold is not None and self.inside != NO_MAPS:
                # A released draw decides: no further budget (it is biased once it was selected,
                # erratum 8, and so goes into least squares with the map).
                ends |= noisy < self.threshold
            starts.append(here.select(ends))
            parents = nodes[~ends]
            if len(parents) == 0:
                break
            # In the order of their parents, as the book enters them.
            children = np.flatnonzero(np.isin(people.parent, parents))
            low, high = first[children][:, np.newaxis], behind[children][:, np.newaxis]
            here = here.select(~ends).divide(people.fan_out[parents], low, high)
            nodes = children
            book = np.concatenate([book, nodes])
        return Regions.join(starts), book

    def parts_of(self, people: People, levels: Ints) -> np.ndarray:
        """Which part of what its path has left every node takes, (t,), see `budgets.parts`."""
        parts = budgets.parts(people, self.budgets, levels)
        if self.budgets == "least squares" and self.inside != NO_MAPS:
            parts = np.where(people.is_leaf, 1.0, UPPER_WITH_MAPS * parts)
        return parts

    def _inner_plan(self) -> Callable[[Curator], Estimate]:
        mechanisms: dict[int, Mechanism] = {}

        def plan(curator: Curator) -> Estimate:
            if curator.units not in mechanisms:
                mechanisms[curator.units] = self._map_at(to_epsilon(curator.units))
            return mechanisms[curator.units].plan(curator)

        return plan

    def _map_at(self, epsilon: float) -> Mechanism:
        settings: Mapping[str, Any] = self.inside_settings
        return mechanism(self.inside)(epsilon=epsilon, **settings)

    def _consistent(self, record: Transcript, linear: Estimate) -> Estimate:
        if self.consistency == "least squares":
            return linear
        if self.consistency == "non-negative":
            return inference.non_negative(record)
        return as_drawn(record)


def with_totals(record: Transcript, ids: Ints, maps: tuple[AreaMap | None, ...]) -> Transcript:
    """The transcript of areas with what maps say of them as one more measurement each."""
    drawn = [(at, area_map) for at, area_map in zip(ids, maps, strict=True) if area_map is not None]
    if not drawn:
        return record
    totals = Measurement(
        MAPS,
        np.array([at for at, _ in drawn]),
        np.array([area_map.total for _, area_map in drawn]),
        np.array([area_map.variance for _, area_map in drawn]),
    )
    nothing = np.zeros((len(record), 1), dtype=np.int64)
    return replace(
        record,
        stages=(*record.stages, MAPS),
        spent=np.concatenate([record.spent, nothing], axis=1),
        measurements=(*record.measurements, totals),
    )


def as_drawn(record: Transcript) -> Estimate:
    """Every area's own draws as they are; those without any are the sum of what is in them."""
    noisy, precision = record.counts()
    value, variance = noisy.copy(), np.zeros(len(record))
    for i in range(len(record) - 1, -1, -1):
        if precision[i] > 0:
            value[i], variance[i] = noisy[i], 1 / precision[i]
        if i > 0 and precision[record.parent[i]] == 0:
            value[record.parent[i]] += value[i]
    return Estimate(record, value, precision, linear=False)
