"""Named areas inside each other, their counts, and a release of two levels.

Leaf areas are numbered so that every area is a contiguous range of them. So a country is a domain
of one axis, and areas are the boxes of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid import values
from explorer.grid.domain import Floats
from explorer.grid.grid import Grid
from explorer.mechanisms.base import Mechanism
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.curator import Curator
from explorer.privacy.noise import NoiseSource, is_release_grade, noise_source
from explorer.releases.release import Release
from explorer.releases.transcript import LedgerRow
from explorer.releases.units import share, to_epsilon, to_units

Ints = NDArray[np.int64]


class Areas:
    """The public tree of areas: a `Domain` whose cells are the leaf areas.

    Parameters
    ----------
    parents : mapping
        The parent of every area by name, None for one that lies in no other. Siblings keep the
        order of the mapping.

    Raises
    ------
    InputError
        For no areas, a parent that is none of them, or areas that lie in themselves.

    Attributes
    ----------
    parents : as given
    leaves : names of the leaf areas, (n_leaves,), in the order of their numbers
    ranges : first leaf and first leaf behind it, by name of any area

    Examples
    --------
    >>> areas = Areas({"north": None, "south": None, "a": "north", "b": "south", "c": "north"})
    >>> areas.leaves, areas.ranges["north"]
    (('a', 'c', 'b'), (0, 2))
    """

    kind = "areas"
    axis_names = ("area",)
    unit = "areas"

    def __init__(self, parents: Mapping[str, str | None]) -> None:
        if not parents:
            raise InputError("There are no areas: name at least one.")
        within: dict[str | None, list[str]] = {}
        for name, parent in parents.items():
            if parent is not None and parent not in parents:
                raise InputError(f"{name!r} lies in {parent!r}, which is none of the areas.")
            within.setdefault(parent, []).append(name)
        leaves: list[str] = []
        ranges: dict[str, tuple[int, int]] = {}
        # Downwards an area notes where it begins; met again after all in it, where it ends.
        waiting = [(name, False) for name in reversed(within.get(None, []))]
        while waiting:
            name, is_done = waiting.pop()
            if is_done:
                ranges[name] = ranges[name][0], len(leaves)
                continue
            ranges[name] = len(leaves), len(leaves) + 1
            if name in within:
                waiting.append((name, True))
                waiting.extend((inner, False) for inner in reversed(within[name]))
            else:
                leaves.append(name)
        if len(ranges) < len(parents):
            lost = next(name for name in parents if name not in ranges)
            raise InputError(f"{lost!r} lies in a circle of areas: some area must lie in no other.")
        self.parents = dict(parents)
        self.leaves = tuple(leaves)
        self.ranges = ranges

    @property
    def shape(self) -> tuple[int]:
        """Number of leaf areas, (1,)."""
        return (len(self.leaves),)

    def to_cells(self, boxes: ArrayLike) -> Floats:
        """Ranges of leaf numbers (n, 2), first and first behind, as (n, 2, 1) in cells.

        Raises
        ------
        InputError
            For ranges of another form, not finite, or inside out.
        """
        ranges = np.asarray(boxes, dtype=np.float64)
        if ranges.ndim != 2 or ranges.shape[1] != 2:
            raise InputError("Give ranges of leaf areas: first and first behind, one a row.")
        if not np.isfinite(ranges).all() or (ranges[:, 0] > ranges[:, 1]).any():
            raise InputError("A range of leaf areas is not finite or ends before it begins.")
        return ranges[:, :, np.newaxis]

    def from_cells(self, cells: ArrayLike) -> Floats:
        """Boxes (n, 2, 1) in cells as ranges of leaf numbers, (n, 2)."""
        return np.asarray(cells, dtype=np.float64)[:, :, 0]

    def to_dict(self) -> dict[str, Any]:
        """The areas and their parents."""
        return {"kind": self.kind, "parents": self.parents}


class AreaCounts:
    """Exact counts of records per leaf area: `privacy.counts.Counts` of one axis, without cuts.

    Parameters
    ----------
    areas : Areas
    counts : (n_leaves,) whole numbers, 0 or more, in the order of `Areas.leaves`
    contribution_bound, unit : as of a `FrequencyMatrix`

    Raises
    ------
    InputError
        For counts of another number, or that are no counts.
    """

    def __init__(
        self, areas: Areas, counts: ArrayLike, contribution_bound: int = 1, unit: str = "point"
    ) -> None:
        row = np.asarray(counts)
        if row.shape != areas.shape:
            raise InputError(
                f"The counts have shape {row.shape}, but there are {len(areas.leaves)} leaf areas: "
                "give one count for each."
            )
        # What holds for the counts of a map of one row holds here.
        whole = FrequencyMatrix(
            row[np.newaxis], Grid.cells((1, len(row))), contribution_bound, unit
        )
        self.domain = areas
        self.contribution_bound = whole.contribution_bound
        self.unit = whole.unit
        self._sums = np.concatenate([[0], np.cumsum(whole.counts[0])])

    @property
    def key(self) -> str:
        """SHA-256 of the counts and the areas."""
        digest = hashlib.sha256(repr(self.domain.to_dict()).encode())
        digest.update(np.ascontiguousarray(self._sums, dtype="<i8").tobytes())
        return digest.hexdigest()

    def count(self, lower: Ints, upper: Ints) -> Ints:
        """Exact counts of n ranges of leaf areas, (n,); `lower` and `upper` are (n, 1)."""
        exact: Ints = self._sums[upper[:, 0]] - self._sums[lower[:, 0]]
        return exact

    def split_costs(self, lower: Ints, upper: Ints, axis: Ints, cut: Ints) -> Ints:
        """Areas are divided by their borders: raises InputError."""
        raise _no_cuts()

    def all_split_costs(self, lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints]:
        """Areas are divided by their borders: raises InputError."""
        raise _no_cuts()

    def all_imbalances(self, lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints]:
        """Areas are divided by their borders: raises InputError."""
        raise _no_cuts()

    def __repr__(self) -> str:
        # No count in it: a repr ends up in logs and notebooks.
        return f"AreaCounts({len(self.domain.leaves)} leaf areas, unit of privacy: {self.unit})"


@dataclass(frozen=True, repr=False)
class TwoLevels:
    """A noisy count and a private map of every leaf area.

    Attributes
    ----------
    counts : (n_leaves,) noisy counts; may be negative
    maps : the releases inside the leaf areas, in the same order
    units : the whole budget, in units of 10^-12 epsilon
    spent : what was spent of it
    ledger : rows of the whole; those of the maps are shared by all leaf areas
    preview : True for reproducible noise, as of a `Release`: not private, must not be published
    """

    counts: Ints
    maps: tuple[Release, ...]
    units: int
    spent: int
    ledger: tuple[LedgerRow, ...]
    preview: bool

    def __repr__(self) -> str:
        kind = "Preview (reproducible noise, not private)" if self.preview else "Private release"
        areas = len(self.counts)
        return (
            f"<TwoLevels: {kind} with epsilon {to_epsilon(self.units):g}: the counts of {areas:,} "
            f"leaf {'area' if areas == 1 else 'areas'} and a map inside each.>"
        )


def release_two_levels(
    counts: AreaCounts,
    finer: Sequence[FrequencyMatrix],
    mechanism: Mechanism,
    area_share: float = 0.2,
    rng: int | np.random.Generator | NoiseSource | None = None,
) -> TwoLevels:
    """Count all leaf areas, then draw a map inside each with what its path has left.

    Parameters
    ----------
    counts : AreaCounts
    finer : the records of each leaf area on a grid of its own, (n_leaves,)
    mechanism : draws the maps; its epsilon is the budget of the whole
    area_share : part of the budget that counts the areas, above 0 and below 1
    rng : as of `Mechanism.release`

    Raises
    ------
    InputError
        For another number of maps, a share that is no number above 0 and below 1 or pays for no
        count, too little left for the maps, or maps of another unit of privacy or contribution
        bound than the areas.
    """
    areas = counts.domain
    if len(finer) != len(areas.leaves):
        raise InputError(
            f"There are {len(finer)} maps for {len(areas.leaves)} leaf areas: give one for each."
        )
    part = values.as_number(area_share, 0, 1, whole=False)
    if part is None or part in (0, 1):
        shown = values.shown(area_share)
        raise InputError(f"The areas' share is {shown}: give a part between 0 and 1.")
    units = to_units(mechanism.epsilon)
    paid = share(units, part)
    if paid == 0:
        raise InputError(
            f"The areas' share of {part:g} pays for no count at epsilon {mechanism.epsilon:g}: "
            "give a larger part."
        )
    # Some plans read the epsilon that they have; one that is too small is refused before a draw.
    inside = mechanism.with_(epsilon=to_epsilon(units - paid))
    source = noise_source(rng)
    preview = not is_release_grade(source)
    curator = Curator(counts, units, source)
    first = np.arange(len(areas.leaves), dtype=np.int64)[:, np.newaxis]
    regions = curator.open().divide(np.array([len(first)]), first, first + 1)
    noisy = curator.count(regions, paid, "areas")
    maps = []
    for number, matrix in enumerate(finer):
        inner = curator.within(regions.select(np.array([number])), matrix)
        maps.append(_drawn(inside, inner, matrix, preview))
    return TwoLevels(noisy, tuple(maps), units, curator.spent, tuple(curator.ledger), preview)


def _drawn(mechanism: Mechanism, inner: Curator, matrix: FrequencyMatrix, preview: bool) -> Release:
    return Release.from_estimate(
        mechanism.plan(inner),
        inside=getattr(mechanism, "inside", "uniform"),
        mechanism=mechanism.key,
        parameters=mechanism.settings(),
        units=inner.units,
        preview=preview,
        domain=matrix.domain,
        unit=matrix.unit,
        contribution_bound=matrix.contribution_bound,
        ledger=tuple(inner.ledger),
    )


def _no_cuts() -> InputError:
    return InputError("Areas have no cuts: choose a mechanism that does not look for any.")
