"""What a number of people and an epsilon buy, before anything is drawn: the curator's alone."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import InputError
from explorer.trips.matrix import TripMatrix

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

    Raises
    ------
    InputError
        For an epsilon that is not above 0.

    Examples
    --------
    >>> Worth(537, 1.0, "user").leaves
    57
    """
    if not epsilon > 0:
        raise InputError(f"Epsilon is {epsilon!r}: give a number above 0.")
    return Worth(matrix.people, float(epsilon), matrix.unit)
