"""The ledger: what has been spent on each population, kept across sessions and restarts.

Releases of the same people add up (sequential composition), by any curator, over any grid
and with whatever bound. So a spend is booked under the name of the population, in a file that all
processes share, inside a transaction, before any noise is drawn; what would pass the cap is
refused. Counts without a name are a population of their own; the same counts belong
together under whatever name. A release that fails after its booking stays booked: some of its
noise may have been seen. One that is refused in the midst of its plan stays booked with what it has
drawn. The file holds budgets and keyed hashes of the counts, no count; but it holds the key of
these hashes too, so that who has the file can confirm a guess of all counts: keep it with the data.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from explorer.errors import InputError
from explorer.points.populations import population_name
from explorer.privacy.bookings import lowered, spent_most, spent_on, title_of, together
from explorer.privacy.ledger_file import Book, Row, joined, now, opened, real_path
from explorer.releases.units import to_epsilon, to_units

#: Of one booking: sums of them have to fit the whole numbers of the file.
_MOST_UNITS = 10**18
_UNNAMED = (
    "There is a cap, and these counts do not say whose records they are: other counts of the same "
    'people would have a cap of their own, so name them, Ledger(population="riders 2024").'
)


class PopulationWarning(UserWarning):
    """A cap is set, and counts do not say on whose budget they are booked."""


class Counted(Protocol):
    """Counts that a ledger knows; those that say whose they are have `populations` as well."""

    @property
    def key(self) -> str:
        """SHA-256 of the counts and their domain."""


class AlreadyBooked(InputError):
    """A draw whose token is in the ledger: it is not booked again, and so not drawn again."""


@dataclass(frozen=True)
class Spend:
    """One booking.

    Attributes
    ----------
    dataset : an HMAC of the key of the data set (`FrequencyMatrix.key`) under the file's secret
    time : UTC, ISO 8601
    mechanism : its key, such as "htf"
    units : what it cost, in units of 10^-12 epsilon
    what : what the release was, for people
    population : whose records they are, the first of their names
    token : of the draw, where it has one
    populations : all names on which it was booked, each at the whole cost
    """

    dataset: str
    time: str
    mechanism: str
    units: int
    what: str
    population: str
    token: str | None
    populations: tuple[str, ...] = ()


class Ledger:
    """Bookings of releases in an SQLite file, safe across threads and processes.

    Parameters
    ----------
    path : path, optional
        The file; made when it is first needed, and afterwards it must prove to be a ledger. By
        default the one that the environment variable EXPLORER_LEDGER names by its whole path, else
        one in the user's data folder.
    cap : float, optional
        The most epsilon that all releases of one population may spend together, 0 or more. By
        default EXPLORER_EPSILON_CAP, else there is none.
    population : str or several, optional
        Whose records are released: all grids, extents and bounds of one name share one cap. By
        default what the counts say, which know the name of their points or files; counts without
        one are a population of their own.
    token : str, optional
        Of one draw: what is booked with it is booked once, however often it is requested.

    Raises
    ------
    InputError
        For a cap that is not a number of 0 or more, a file that keeps nothing, such as ":memory:",
        and a name that is none; from every method for a file that cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> from explorer import HTF, FrequencyMatrix, InputError, Ledger
    >>> matrix = FrequencyMatrix.from_array([[9, 0], [8, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"{folder}/ledger.sqlite3", cap=1)
    ...     release = HTF(epsilon=0.75).release(matrix, ledger=ledger)
    ...     print(ledger.spent(matrix.key), ledger.left(matrix.key))
    ...     print([row.mechanism for row in ledger.rows(matrix.key)])
    ...     try:
    ...         HTF(epsilon=0.5).release(matrix, ledger=ledger)
    ...     except InputError:
    ...         print("refused: nothing was drawn")
    750000000000 250000000000
    ['htf']
    refused: nothing was drawn
    """

    def __init__(
        self,
        path: str | Path | None = None,
        cap: float | None = None,
        *,
        population: str | Sequence[str] | None = None,
        token: str | None = None,
    ) -> None:
        self.path = real_path(path) if path is not None else default_path()
        named = [population] if isinstance(population, str) else population or ()
        self.populations = tuple(dict.fromkeys(map(population_name, named)))
        self.token = token
        self.cap_units = _cap_units(os.environ.get("EXPLORER_EPSILON_CAP") if cap is None else cap)

    @property
    def population(self) -> str | None:
        """The first of the names under which it books; None where the counts say whose they are."""
        return self.populations[0] if self.populations else None

    def spent(self, counts: Counted | str) -> int:
        """What is booked on a data set's population, in units of 10^-12 epsilon.

        Parameters
        ----------
        counts : FrequencyMatrix or other counts, or str
            Which know whose records they are; or the `key` of some.

        Returns
        -------
        int
            Where they are several populations, of the one that has spent most; 0 for one that is
            not in the file.

        Raises
        ------
        InputError
            For a file that cannot be used.
        """
        with opened(self.path) as book:
            return spent_most(book.rows, *known_as(self, book, counts))

    def left(self, counts: Counted | str) -> int | None:
        """What may still be spent on a population, in units; None when there is no cap.

        Parameters
        ----------
        counts : FrequencyMatrix or other counts, or str
            As of `spent`.

        Returns
        -------
        int or None
            In units of 10^-12 epsilon, 0 or more.

        Raises
        ------
        InputError
            For a file that cannot be used.
        """
        if self.cap_units is None:
            return None
        return max(self.cap_units - self.spent(counts), 0)

    def affordable(self, counts: Counted | str, units: int) -> int | None:
        """What is left on a population before a release, if the release may be drawn.

        Parameters
        ----------
        counts : FrequencyMatrix or other counts, or str
            As of `spent`.
        units : int
            What the release would cost, in units of 10^-12 epsilon.

        Returns
        -------
        int or None
            As `left`. Another process may spend it before this one does: `book` decides.

        Raises
        ------
        InputError
            As `book`, which would refuse it now.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(Ledger(f"{folder}/ledger.sqlite3", cap=1).affordable("a key", 10**11))
        1000000000000
        """
        with opened(self.path) as book:
            spent = spent_on(book.rows, *known_as(self, book, counts))
        return None if self.cap_units is None else _left(spent, units, self.cap_units)

    def book(self, counts: Counted | str, units: int, mechanism: str, what: str = "") -> int:
        """Book a release before it is drawn, or refuse it.

        Parameters
        ----------
        counts : FrequencyMatrix or other counts, or str
            As of `spent`.
        units : int, above 0
            What the release costs, in units of 10^-12 epsilon.
        mechanism : str
            Its key, such as "htf".
        what : str
            A note for people; it must not hold an exact count.

        Returns
        -------
        int
            The number of the booking.

        Raises
        ------
        InputError
            If the population's spends would pass the cap (nothing is booked then), and for a file
            that cannot be used.
        AlreadyBooked
            An InputError, for a token that is in the ledger.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(f"{folder}/ledger.sqlite3")
        ...     number = ledger.book("a key", 10**12, "htf")
        ...     ledger.lower(number, 10**11)
        ...     print(number, ledger.spent("a key"))
        1 100000000000
        """
        _check_units(units)
        if self.cap_units is not None and not (isinstance(counts, str) or self._names(counts)):
            warnings.warn(_UNNAMED, PopulationWarning, stacklevel=3)
        with opened(self.path) as book:
            if self.token is not None and any(row.token == self.token for row in book.rows):
                raise AlreadyBooked(
                    "This very release has been drawn before, once and for one price, so nothing "
                    "was drawn or booked now."
                )
            names, dataset = known_as(self, book, counts)
            if self.cap_units is not None:
                _left(spent_on(book.rows, names, dataset), units, self.cap_units)
            row = Row(
                0, joined(names), dataset, now(), mechanism, int(units), what, None, self.token
            )
            return book.add(row).number

    def lower(self, number: int, units: int) -> None:
        """Book no more than a refused release has spent before its refusal; never more than it was.

        Parameters
        ----------
        number : int, 1 or more
            Of the booking, see `book`.
        units : int
            What was spent, in units of 10^-12 epsilon; 0 takes the booking out.

        Raises
        ------
        InputError
            For a file that cannot be used.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(f"{folder}/ledger.sqlite3")
        ...     ledger.lower(ledger.book("a key", 10**12, "htf"), 0)
        ...     print(ledger.rows())
        []
        """
        with opened(self.path) as book:
            if 1 <= number <= len(book.rows):
                row = book.rows[number - 1]
                less = min(max(int(units), 0), row.units)
                book.add(
                    Row(0, row.population, row.dataset, now(), row.mechanism, less, "", number)
                )

    def newest(self, counts: Counted | str) -> int:
        """The number of the last booking on a data set's population; 0 where there is none.

        Parameters
        ----------
        counts : FrequencyMatrix or other counts, or str
            As of `spent`.

        Returns
        -------
        int
            Another one after every booking, also one that was taken back.

        Raises
        ------
        InputError
            For a file that cannot be used.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(f"{folder}/ledger.sqlite3")
        ...     ledger.lower(ledger.book("a key", 10**12, "htf"), 0)
        ...     print(ledger.newest("a key"), ledger.newest("another"))
        2 0
        """
        with opened(self.path) as book:
            rows = together(book.rows, *known_as(self, book, counts))
        return max((row.number for row in rows), default=0)

    def rows(self, counts: Counted | str | None = None) -> list[Spend]:
        """Bookings in their order, of one data set's population or of all.

        Parameters
        ----------
        counts : FrequencyMatrix or other counts, or str, optional
            As of `spent`: those of all of its populations; by default those of all.

        Returns
        -------
        list of Spend
            Data set, time, mechanism, units (10^-12 epsilon), note and population of each.

        Raises
        ------
        InputError
            For a file that cannot be used.
        """
        with opened(self.path) as book:
            rows = book.rows
            if counts is not None:
                rows = together(rows, *known_as(self, book, counts))
        bookings = lowered(rows)
        return [
            Spend(
                row.dataset,
                row.time,
                row.mechanism,
                units,
                row.what,
                row.names[0],
                row.token,
                tuple(row.names),
            )
            for row, units in bookings
            if units > 0
        ]

    def whose(self, counts: Counted | str) -> str:
        """The population that counts are booked on, in a sentence.

        Parameters
        ----------
        counts : FrequencyMatrix or other counts, or str
            As of `spent`.

        Returns
        -------
        str

        Raises
        ------
        InputError
            For counts with a name that is none.

        Examples
        --------
        >>> Ledger(population=["Riders", "walkers"]).whose("a key")
        'riders and walkers'
        >>> Ledger().whose("a key")
        'these counts'
        """
        return title_of(self._names(counts)) or "these counts"

    def _names(self, counts: Counted | str) -> tuple[str, ...]:
        names: tuple[str, ...] = (
            () if isinstance(counts, str) else getattr(counts, "populations", ())
        )
        return self.populations or tuple(dict.fromkeys(map(population_name, names)))


def known_as(ledger: Ledger, book: Book, counts: Counted | str) -> tuple[tuple[str, ...], str]:
    """Populations and data set of counts as an opened file calls them."""
    key = counts if isinstance(counts, str) else counts.key
    return book.of(ledger._names(counts), key)


def default_path() -> Path:
    """The file that EXPLORER_LEDGER names, else one in the user's data folder.

    Raises
    ------
    InputError
        For a name that says where it is only together with the present folder.
    """
    named = os.environ.get("EXPLORER_LEDGER")
    if named:
        path = real_path(named)
        if not Path(named).expanduser().is_absolute():
            raise InputError(
                f"EXPLORER_LEDGER is {named!r}, which is another ledger in every folder: give its "
                f"whole path, such as {path}."
            )
        return path
    import platformdirs

    return platformdirs.user_data_path("dp-explorer", appauthor=False) / "ledger.sqlite3"


def _check_units(units: Any) -> None:
    whole = isinstance(units, int | np.integer) and not isinstance(units, bool)
    if not whole or not 0 < units < _MOST_UNITS:
        raise InputError(
            f"A booking costs {units!r} units: give a whole number above 0, in units of 10^-12 "
            "epsilon, so that no more than a million is spent."
        )


def _cap_units(cap: float | str | None) -> int | None:
    if cap is None or cap == "":
        return None
    try:
        number = float(cap)
    except (TypeError, ValueError):
        number = math.nan
    # Above a million no sum of bookings would fit the file's whole numbers.
    if not 0 <= number <= 1e6:
        raise InputError(
            f"The cap of the ledger (EXPLORER_EPSILON_CAP) is {cap!r}; give an epsilon of 0 or "
            "more, up to a million."
        )
    return to_units(number)


def _left(by_name: Mapping[str, int], units: int, cap: int) -> int:
    """What is left for the population that has spent most; raises InputError over the cap."""
    dearest = max(by_name, key=by_name.__getitem__)
    before = by_name[dearest]
    if before + units <= cap:
        return cap - before
    spent, requested, maximum = (f"{to_epsilon(part):.12g}" for part in (before, units, cap))
    left = max(cap - before, 0)
    advice = f"lower epsilon to {to_epsilon(left):.12g}" if left else "use a release drawn before"
    whose = "This population"
    if len(by_name) > 1:
        whose = f"The population “{title_of([dearest])}”, one of {len(by_name)} on which it counts,"
        advice += ", say whose records they are if these are others' (--population NAME)"
    raise InputError(
        f"{whose} has spent epsilon {spent} of a cap of {maximum}, and this release would cost "
        f"{requested}, so nothing was drawn; {advice}, or raise the cap (EXPLORER_EPSILON_CAP)."
    )
