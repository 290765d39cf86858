"""A budget for one data set that all its releases share: named before any answer, kept by all."""

from __future__ import annotations

import threading
from typing import Any, Protocol, TypeVar

from explorer.errors import InputError
from explorer.grid.cards import exact_card
from explorer.privacy.bars import Progress
from explorer.privacy.ledger import Counted, Ledger
from explorer.releases.units import to_epsilon, to_units

Made_co = TypeVar("Made_co", covariant=True)


class Draws(Protocol[Made_co]):
    """What a session draws with: a mechanism."""

    def release(
        self,
        matrix: Any,
        rng: None = None,
        progress: Progress = None,
        ledger: Ledger | None = None,
    ) -> Made_co:
        """Draw one private map."""


class Session:
    """Releases of one data set whose budgets add up to at most a total (sequential composition).

    Whom the counts protect and how much all releases together may tell is said before the first of
    them. What a session may spend is its own, next to the cap of the ledger, in which every release
    is booked. Threads may share one.

    Parameters
    ----------
    matrix : FrequencyMatrix, or other counts
        Its unit of privacy and contribution bound are those of all releases.
    epsilon : float, above 0
        The total of all releases.
    ledger : Ledger, optional
        Where releases are booked; by default the user's own.

    Raises
    ------
    InputError
        For an epsilon that is no number above 0, and for what is no counts.

    Examples
    --------
    >>> import tempfile
    >>> from explorer import UG, FrequencyMatrix
    >>> from explorer.privacy.ledger import Counted, Ledger
    >>> matrix = FrequencyMatrix.from_array([[9, 0], [8, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     session = Session(matrix, epsilon=1, ledger=Ledger(f"{folder}/ledger.sqlite3"))
    ...     release = session.release(UG(epsilon=0.25))
    >>> session.left, release.preview
    (0.75, False)
    """

    def __init__(self, matrix: Any, epsilon: float, *, ledger: Ledger | None = None) -> None:
        value: object = epsilon
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 1e-6 <= epsilon <= 1e6:
            raise InputError(
                f"The budget of a session is {epsilon!r}: give a total epsilon, 0.000001 or more."
            )
        if not hasattr(matrix, "key") or not hasattr(matrix, "unit"):
            raise InputError(
                "A session is about counts: count the points first, grid.count(points)."
            )
        self.matrix = matrix
        self.epsilon = float(epsilon)
        self._purse = _Purse(Ledger() if ledger is None else ledger, to_units(self.epsilon))

    @property
    def left(self) -> float:
        """Epsilon that releases may still spend."""
        return float(to_epsilon(self._purse.left_units))

    @property
    def unit(self) -> str:
        """Whom every release protects: "point", each record, or "user", all records of each."""
        return str(self.matrix.unit)

    def release(self, mechanism: Draws[Made_co], progress: Progress = None) -> Made_co:
        """Draw a release from the session's budget; what it would exceed is refused undrawn.

        Parameters
        ----------
        mechanism : Mechanism
            Such as ``HTF(epsilon=0.25)``.
        progress : True or callable, optional
            A bar, or what is called with the finished part, 0 to 1.

        Returns
        -------
        Release
            Or what else the mechanism makes, such as a `CountryRelease`.

        Raises
        ------
        InputError
            If less is left than the mechanism's epsilon; nothing is drawn or booked then.
        """
        if isinstance(mechanism, type):
            raise InputError(
                f"{mechanism.__name__} is a class: say what the release may spend, "
                f"{mechanism.__name__}(epsilon=0.25)."
            )
        return mechanism.release(self.matrix, None, progress, self._purse)

    def _repr_html_(self) -> str:
        rows = {
            "epsilon left": f"{self.left:.6g} of {self.epsilon:.6g}",
            "unit of privacy": self.unit,
        }
        return exact_card("Session", rows)

    def __repr__(self) -> str:
        # No count in it: a repr ends up in logs and notebooks.
        return (
            f"Session(epsilon {self.left:.6g} of {self.epsilon:.6g} left, unit of privacy: "
            f"{self.unit})"
        )


class _Purse(Ledger):
    """The user's ledger, behind a total of the session's own."""

    def __init__(self, ledger: Ledger, units: int) -> None:
        self.path, self.cap_units = ledger.path, ledger.cap_units
        self.populations, self.token = ledger.populations, ledger.token
        self._ledger, self._lock = ledger, threading.Lock()
        self.left_units = units
        self._paid: dict[int, int] = {}

    def book(self, counts: Counted | str, units: int, mechanism: str, what: str = "") -> int:
        """As of any ledger, once the session can pay."""
        with self._lock:
            if units > self.left_units:
                left = f"{to_epsilon(self.left_units):.12g}"
                raise InputError(
                    f"This release would cost epsilon {to_epsilon(units):.12g}, and the session "
                    f"has {left} left, so nothing was drawn; lower its epsilon."
                )
            number = self._ledger.book(counts, units, mechanism, what)
            self.left_units -= units
            self._paid[number] = units
            return number

    def lower(self, number: int, units: int) -> None:
        """As of any ledger; what was not spent is back in the session."""
        with self._lock:
            self._ledger.lower(number, units)
            charged = min(max(units, 0), self._paid[number])
            self.left_units += self._paid[number] - charged
            self._paid[number] = charged
