"""The ledger: what has been spent on each population, kept across sessions and restarts.

Releases of the same people add up (sequential composition), whoever draws them, over whatever grid
and with whatever bound. So a spend is booked under the name of the population, in a file that all
processes share, inside a transaction, before any noise is drawn; what would pass the cap is
refused. Counts that nobody has named are a population of their own; the same counts belong
together under whatever name. A release that fails after its booking stays booked: some of its
noise may have been seen. One that is refused in the midst of its plan stays booked with what it has
drawn. The file holds budgets and keyed hashes of the counts, no count; but it holds the key of
these hashes too, so that who has the file can confirm a guess of all counts: keep it with the data.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import InputError
from explorer.privacy.ledger_file import Book, Row, now, opened, real_path
from explorer.privacy.populations import population_name
from explorer.releases.units import to_epsilon, to_units


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
    population : whose records they are
    token : of the draw, where it has one
    """

    dataset: str
    time: str
    mechanism: str
    units: int
    what: str
    population: str
    token: str | None


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
    population : str, optional
        Whose records are released: all grids, extents and bounds of one name share one cap. By
        default counts are a population of their own.
    token : str, optional
        Of one draw: what is booked with it is booked once, whoever asks again.

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
        population: str | None = None,
        token: str | None = None,
    ) -> None:
        self.path = real_path(path) if path is not None else default_path()
        self.population = None if population is None else population_name(population)
        self.token = token
        self.cap_units = _cap_units(os.environ.get("EXPLORER_EPSILON_CAP") if cap is None else cap)

    def spent(self, key: str) -> int:
        """What is booked on a data set's population, in units of 10^-12 epsilon.

        Parameters
        ----------
        key : str
            The data set's, such as `FrequencyMatrix.key`.

        Returns
        -------
        int
            0 for a data set that is not in the file.

        Raises
        ------
        InputError
            For a file that cannot be used.
        """
        with opened(self.path) as book:
            return sum_of(self._together(book, key))

    def left(self, key: str) -> int | None:
        """What may still be spent on a population, in units; None when there is no cap.

        Parameters
        ----------
        key : str
            The data set's.

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
        return max(self.cap_units - self.spent(key), 0)

    def affordable(self, key: str, units: int) -> int | None:
        """What is left on a population before a release, if the release may be drawn.

        Parameters
        ----------
        key : str
            The data set's.
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
        spent = self.spent(key)
        if self.cap_units is None:
            return None
        if spent + units > self.cap_units:
            raise InputError(_refusal(spent, units, self.cap_units))
        return self.cap_units - spent

    def book(self, key: str, units: int, mechanism: str, what: str = "") -> int:
        """Book a release before it is drawn, or refuse it.

        Parameters
        ----------
        key : str
            The data set's.
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
        with opened(self.path) as book:
            if self.token is not None and any(row.token == self.token for row in book.rows):
                raise AlreadyBooked(
                    "This very release has been drawn before, once and for one price, so nothing "
                    "was drawn or booked now."
                )
            before = sum_of(self._together(book, key))
            if self.cap_units is not None and before + units > self.cap_units:
                raise InputError(_refusal(before, units, self.cap_units))
            name, dataset = book.of(self.population, key)
            row = Row(0, name, dataset, now(), mechanism, int(units), what, None, self.token)
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

    def newest(self, key: str) -> int:
        """The number of the last booking on a data set's population; 0 where there is none.

        Parameters
        ----------
        key : str
            The data set's.

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
            return max((row.number for row in self._together(book, key)), default=0)

    def rows(self, key: str | None = None) -> list[Spend]:
        """Bookings in their order, of one data set's population or of all.

        Parameters
        ----------
        key : str, optional
            Of one data set, with all of its population; by default those of all.

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
            rows = book.rows if key is None else self._together(book, key)
        found = lowered(rows)
        return [
            Spend(row.dataset, row.time, row.mechanism, units, row.what, row.population, row.token)
            for row, units in found
            if units > 0
        ]

    def _together(self, book: Book, key: str) -> list[Row]:
        return together(book.rows, *book.of(self.population, key))


def together(rows: Iterable[Row], population: str, key: str) -> list[Row]:
    """Rows of the same people: of this population, of these counts, and so on from there."""
    rows = list(rows)
    names, keys = {population}, {key}
    while True:
        found = [row for row in rows if row.population in names or row.dataset in keys]
        more = {row.population for row in found}, {row.dataset for row in found}
        if more[0] <= names and more[1] <= keys:
            return found
        names |= more[0]
        keys |= more[1]


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


def lowered(rows: Iterable[Row]) -> list[tuple[Row, int]]:
    """Bookings, each with the units that it costs after all that took some of it back."""
    costs: dict[int, int] = {}
    bookings = {}
    for row in rows:
        if row.lowers is None:
            bookings[row.number], costs[row.number] = row, row.units
        elif row.lowers in costs:
            costs[row.lowers] = min(costs[row.lowers], row.units)
    return [(row, costs[number]) for number, row in bookings.items()]


def sum_of(rows: Iterable[Row]) -> int:
    """What rows cost together, in units of 10^-12 epsilon."""
    return sum(units for _row, units in lowered(rows))


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


def _refusal(before: int, units: int, cap: int) -> str:
    spent, wanted, most = (f"{to_epsilon(part):.12g}" for part in (before, units, cap))
    left = max(cap - before, 0)
    advice = f"lower epsilon to {to_epsilon(left):.12g}" if left else "use a release drawn before"
    return (
        f"This population has spent epsilon {spent} of a cap of {most}, and this release would "
        f"cost {wanted}, so nothing was drawn; {advice}, or raise the cap (EXPLORER_EPSILON_CAP)."
    )
