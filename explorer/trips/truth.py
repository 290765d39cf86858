"""Which flows a release shows that are not there, and which it misses: the curator's alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.kinds import alike
from explorer.points.truth import of_all_records
from explorer.releases.flows import Flows, Zones, flows
from explorer.releases.release import Release
from explorer.trips.matrix import TripMatrix

if TYPE_CHECKING:
    import pandas as pd


LEVELS = (2, 4, 8, 16)
TOP = 100
Floats = NDArray[np.float64]


def exact_flows(
    matrix: TripMatrix, origins: Zones, destinations: Zones, pair: Sequence[int]
) -> Floats:
    """True counts between the zones of two places, (n, m), whatever the other places are.

    Of all trips, whatever a contribution bound leaves out; of trips that are known by their
    weights alone the sums of those.
    """
    matrix = of_all_records(matrix)
    k = len(matrix.shape) // 2
    ends = []
    for zones, place in zip((origins, destinations), pair, strict=True):
        where = matrix.cells[:, 2 * (place % k) : 2 * (place % k) + 2]
        row, column = (
            np.searchsorted(edges, where[:, side], side="right") - 1
            for side, edges in enumerate(zones.edges)
        )
        ends.append(row * zones.columns + column)
    flat = ends[0] * len(destinations) + ends[1]
    size = len(origins) * len(destinations)
    number: Floats = np.bincount(flat, matrix.multiplicities, size) / matrix.lattice
    return number.reshape(len(origins), len(destinations))


def found(
    matrix: TripMatrix,
    release: Release,
    levels: Sequence[int] = LEVELS,
    pair: Sequence[int] = (0, -1),
) -> pd.DataFrame:
    """False discoveries and misses among the flows that a release shows, by size of the zones.

    Parameters
    ----------
    matrix : TripMatrix
        The counts that the release was drawn from.
    release : Release
    levels : zones along a side; those finer than the grids are left out
    pair : the two places, as in `releases.flows.flows`

    Returns
    -------
    DataFrame
        For each level its `zones` and number of `flows`; how many are `shown` (released as 3 k /
        epsilon or more) and how many of those are truly empty (`shown_empty`); how many truly
        are that `large`, and how many of those are not shown (`missed`); `top`, 100 or as many as
        are not empty, and `top_found`, how many of the truly largest are among as many released.

    Raises
    ------
    InputError
        For counts of another domain, or places that are not two of its own.
    """
    import pandas as pd

    if not alike(matrix.domain, release.domain):
        raise InputError("This release belongs to other trips: open those it was drawn from.")
    sides = [side for side in release.domain.shape if side > 1]
    rows = [
        _row(flows(release, zones, pair), zones, matrix, pair)
        for zones in levels
        if zones <= min(sides, default=1)
    ]
    columns = ["zones", "flows", "shown", "shown_empty", "large", "missed", "top", "top_found"]
    return pd.DataFrame(rows, columns=columns)


def _row(private: Flows, zones: int, matrix: TripMatrix, pair: Sequence[int]) -> tuple[int, ...]:
    truth = exact_flows(matrix, private.origins, private.destinations, pair).ravel()
    published, large = private.shown, truth >= private.threshold
    top = min(TOP, int(np.sum(truth > 0)))
    largest, released = (
        set(np.argsort(-values, kind="stable")[:top]) for values in (truth, private.value)
    )
    numbers = (
        published.sum(),
        (published & (truth == 0)).sum(),
        large.sum(),
        (large & ~published).sum(),
    )
    return (zones, len(private), *map(int, numbers), top, len(largest & released))


# What a number of people and an epsilon buy, before anything is drawn: the curator's alone.


#: People (or trips, where those are protected) times epsilon for one leaf of Gravity: 9 to 10.
UNITS_A_LEAF = 9.5
#: Fewer leaves than this are a sketch of a city.
FEW_LEAVES = 200


@dataclass(frozen=True)
class Worth:
    """What a draw of Gravity would be worth.

    Attributes
    ----------
    people : N_eff = sum of min(n_u, k) / k, see `TripMatrix.people`
    epsilon : the budget
    unit : the unit of privacy
    """

    people: float
    epsilon: float
    unit: str

    @property
    def leaves(self) -> int:
        """About how many leaves there would be, 1 or more."""
        return max(1, round(self.people * self.epsilon / UNITS_A_LEAF))

    @property
    def few(self) -> bool:
        """Whether that is too little for more than a sketch."""
        return self.leaves < FEW_LEAVES

    @property
    def sentence(self) -> str:
        """What to say before the draw, a warning where it is little."""
        whose = "trip" if self.unit == "point" else self.unit
        sentence = (
            f"{self.people:,.0f} {whose}s times epsilon {self.epsilon:g} buy about {self.leaves:,} "
            f"{'leaf' if self.leaves == 1 else 'leaves'}, one for each {UNITS_A_LEAF:g}."
        )
        if not self.few:
            return sentence
        if self.unit == "point":
            return f"{sentence} That is a rough sketch: take a larger epsilon."
        return (
            f"{sentence} That is a rough sketch, whatever the contribution bound: only more "
            f"{whose}s or a larger epsilon make it finer."
        )


def worth(matrix: TripMatrix, epsilon: float) -> Worth:
    """What epsilon buys on these trips, from their exact number: for the curator before a draw.

    >>> Worth(537, 1.0, "user").leaves
    57
    """
    if not epsilon > 0:
        raise InputError(f"Epsilon is {epsilon!r}: give a number above 0.")
    return Worth(matrix.people, float(epsilon), matrix.unit)
