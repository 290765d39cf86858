"""People and their places as finest cells: exact, and read by `Asking` alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.federated.places import Ints, Whole, code_type, depth_of, morton, rounded, spread
from explorer.grid.cells import CellFinder
from explorer.grid.grid import Grid
from explorer.points.columns import listed
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import Points, read_points
from explorer.points.populations import of_people

MOST_PLACES = 10**6
"""Sensitivity S of a person's vector: above it no count of a shard would fit its bits."""

MOST_VISITS = 2**40

MOST_DECLARED = 10**8
"""People who can be declared: each of them takes some 30 bytes of memory while she is asked."""

DECLARING, CONSENTING = "people=N", "people_are_public=True"
"""How either is said in Python; the command and the page put their own words in place of them."""


class People:
    """The places of n people on a square of 2^depth x 2^depth finest cells.

    A finest cell is its Morton code: the bits of its column and its row in turn, a column's before
    a row's, so that a node of a quadtree is a run of codes. Rows and columns count as in `Grid`,
    from the south and the west.

    Parameters
    ----------
    cells : (p,) Morton codes, 0 to 4^depth - 1; -1 is a place outside, which counts nowhere
    grid : Grid
        What the cells are; a grid that is no square of a power of two fills the beginning of one.
    offsets : (n + 1,), optional
        Where each person's places begin in `cells`; without it each person has one.
    visits : (p,) whole numbers of 1 or more, optional
        How often she was there; once by default.
    places : int
        S: what a person's vector adds up to, and its sensitivity. 1 reports one place (one visit,
        drawn at random, of a person of many), S rounds her shares of visits to multiples of 1/S.
        16 is plenty; the tables of the noise grow as S / epsilon, and take seconds a round from
        some thousands on, which a `SlowWarning` says.
    answer : (n,) bool, optional
        Each person's yes or no; every node then has two counters, see `proportion`.
    key : str, optional
        Names the data set in the ledger; by default a hash of the places.

    Raises
    ------
    InputError
        For cells outside the square, visits below 1, offsets or answers that do not fit.

    Examples
    --------
    >>> from explorer import FrequencyMatrix, Grid, People
    >>> people = People.of_matrix(FrequencyMatrix.from_array([[2, 0], [0, 1]]))
    >>> len(people), people.depth
    (3, 1)
    >>> visits = {"lon": [2.30, 2.31, 2.32], "lat": 3 * [48.8], "who": ["a", "a", "b"]}
    >>> grid = Grid.around(2.3, 48.8, "8km", shape=8)
    >>> two = People.from_frame(visits, grid, user="who", places=4)
    >>> len(two), two.proportion([True, False]).counters
    (2, 2)
    """

    #: Whose records these are, for the ledger; no part of `key`. See `points.populations`.
    populations: tuple[str, ...] = ()

    def __init__(
        self,
        cells: Whole,
        grid: Grid,
        *,
        offsets: Whole | None = None,
        visits: Whole | None = None,
        places: int = 1,
        answer: NDArray[np.bool_] | None = None,
        key: str | None = None,
    ) -> None:
        self.grid, self.depth = grid, depth_of(grid)
        self.cells = _whole(cells, "places").astype(code_type(self.depth), copy=False)
        if len(self.cells) and not -1 <= self.cells.min() <= self.cells.max() < 4**self.depth:
            raise InputError("A place is in no cell of the grid: count places on this grid.")
        self.offsets = None if offsets is None else _whole(offsets, "offsets")
        self.visits = None if visits is None else _whole(visits, "visits")
        self.places = _checked_places(places)
        self.answer = None if answer is None else np.ascontiguousarray(answer, dtype=bool)
        self._key = key
        self._check()

    def _check(self) -> None:
        if self.offsets is not None:
            fits = len(self.offsets) > 0 and self.offsets[0] == 0
            if not fits or self.offsets[-1] != len(self.cells) or np.any(np.diff(self.offsets) < 0):
                raise InputError("Where each person's places begin does not fit the places.")
        elif self.visits is not None:
            # One place has a share of 1, however often she was there.
            self.visits = None
        if self.visits is not None and (
            len(self.visits) != len(self.cells)
            or (len(self.visits) and self.visits.min() < 1)
            or float(self.visits.sum(dtype=np.float64)) > MOST_VISITS
        ):
            raise InputError("Every place needs 1 visit or more, all of them at most 2^40.")
        if self.answer is not None and len(self.answer) != len(self):
            raise InputError("Every person needs one answer, yes or no.")
        if len(self) == 0:
            raise InputError("There is nobody to ask: give at least one person.")

    @classmethod
    def of_matrix(cls, matrix: FrequencyMatrix, declared: int | None = None) -> People:
        """Each record of a matrix as one person with one place.

        All of them are on the grid, so that how many they are is the matrix's exact total. The key
        is the matrix's: releases of both kinds add up in one ledger.

        Parameters
        ----------
        matrix : FrequencyMatrix
            Of single records; of none at all only where a number is declared.
        declared : int, optional
            How many people take part whatever the matrix holds, see `padded`.

        Returns
        -------
        People

        Raises
        ------
        InputError
            For a matrix without records and no number declared, of users with several records, or
            see `padded`.
        """
        if matrix.contribution_bound != 1:
            raise InputError(
                "Each record would be a person, but this matrix has users of several records: "
                "give the people themselves, People.from_frame(frame, user=...)."
            )
        rows, cols = np.nonzero(matrix.counts)
        depth = depth_of(matrix.grid)
        codes = morton(cols, rows).astype(code_type(depth))
        cells = np.repeat(codes, matrix.counts[rows, cols])
        if declared is not None:
            cells = _padded(cells, len(cells), declared, -1)
        return of_people(cls(cells, matrix.grid, key=matrix.key), matrix.populations)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        grid: Grid,
        *,
        user: str | None = None,
        lon: str | None = None,
        lat: str | None = None,
        places: int = 16,
        attribute: str | None = None,
        visits: str | None = None,
        crs: Any = None,
    ) -> People:
        """People from a table with a row for each visit; rows of one user are one person.

        Parameters
        ----------
        frame : path, DataFrame, GeoDataFrame, dict of arrays or what else `read_points` takes
        grid : Grid
            The public finest cells; places outside count nowhere.
        user : str, optional
            Column of her id; without it each row is a person of one place.
        lon, lat, crs : as of `read_points`
        places : int, 1 or more
            S, into which a person's visits are shared out; 1 reports one visit of each.
        attribute : str, optional
            Column of yes or no, the same in all rows of one person, see `proportion`.
        visits : str, optional
            Column of how often she was there, 1 or more; once by default.

        Returns
        -------
        People

        Raises
        ------
        InputError
            For columns that are not there, an id that is an empty text, a person who says both yes
            and no, or no one at all.
        """
        cells, offsets, number, answer = gathered(
            frame, grid, user, lon, lat, attribute, visits, crs
        )
        places = 1 if user is None else places
        return cls(cells, grid, offsets=offsets, visits=number, places=places, answer=answer)

    def proportion(self, attribute: NDArray[Any]) -> People:
        """The same people with an answer each: every node then counts yes and no.

        A person's vector still adds up to S, in one half or the other: the sensitivity stays.

        Parameters
        ----------
        attribute : (n,) array of bool, or of yes and no, 1 and 0

        Returns
        -------
        People

        Raises
        ------
        InputError
            For what is neither yes nor no, or another number of answers than people.
        """
        # What is asked of them adds up with what is released of their places.
        return self._changed(answer=yes_or_no(np.asarray(attribute), "attribute"), key=self.key)

    def padded(self, declared: int) -> People:
        """These people and others who have no place, as many as were declared in all.

        A person who joins takes the turn of one whose vector is zero, and nothing else changes: a
        release for a declared number is private for adding or removing one person. That would not
        hold if some of more people than that were left out: who joins would displace another, which
        is two steps. So it is refused; that there are more is then known to the curator alone.

        Parameters
        ----------
        declared : int, 1 to `MOST_DECLARED`
            How many people take part. A person gives it, and the data has no say in it.

        Returns
        -------
        People
            With the same key.

        Raises
        ------
        InputError
            If there are more people, or for more than `MOST_DECLARED`.

        Examples
        --------
        >>> from explorer import FrequencyMatrix, People
        >>> people = People.of_matrix(FrequencyMatrix.from_array([[2, 0], [0, 1]]))
        >>> len(people.padded(5)), people.padded(5).cells.tolist()
        (5, [0, 0, 3, -1, -1])
        """
        number = len(self)
        cells, offsets, answer = self.cells, self.offsets, self.answer
        if offsets is None:
            cells = _padded(cells, number, declared, -1)
        else:
            offsets = _padded(offsets, number, declared, offsets[-1])
        if answer is not None:
            answer = _padded(answer, number, declared, False)
        return self._changed(cells=cells, offsets=offsets, answer=answer, key=self.key)

    def __len__(self) -> int:
        return len(self.cells) if self.offsets is None else len(self.offsets) - 1

    def __repr__(self) -> str:
        several = "" if self.places == 1 else f", {self.places} shares of visits each"
        return f"People({len(self)}, depth {self.depth}{several})"

    @property
    def counters(self) -> int:
        """Numbers of a vector for every node: 2 with an answer (all yes, then all no), else 1."""
        return 1 if self.answer is None else 2

    @cached_property
    def key(self) -> str:
        """SHA-256 of the places and the grid, or of the matrix that they come from.

        The order of people with one place each does not matter; a matrix of the same people has a
        key of its own, so that a data set should be given in one way.
        """
        if self._key is not None:
            return self._key
        digest = hashlib.sha256(repr({**self.grid.to_dict(), "name": ""}).encode())
        alone = self.offsets is None and self.answer is None
        cells = np.sort(self.cells) if alone else self.cells
        for part in (cells, self.offsets, self.visits, self.answer):
            if part is not None:
                digest.update(np.ascontiguousarray(part).astype("<i8").tobytes())
        return digest.hexdigest()

    def without(self, person: int) -> People:
        """Neighbouring people: this one still takes part, but her vector is zero."""
        cells = self.cells.copy()
        first = person if self.offsets is None else self.offsets[person]
        behind = person + 1 if self.offsets is None else self.offsets[person + 1]
        cells[first:behind] = -1
        return self._changed(cells=cells)

    def first(self, number: int) -> People:
        """The same people, the vectors of all but the first ones being zero."""
        cells = self.cells.copy()
        cells[number if self.offsets is None else int(self.offsets[number]) :] = -1
        return self._changed(cells=cells)

    def _changed(self, **changes: Any) -> People:
        """The same people with something else; their key, too, unless it is among the changes."""
        same = {name: getattr(self, name) for name in ("cells", "offsets", "visits", "answer")}
        people = People(**{**same, "grid": self.grid, "places": self.places, **changes})
        return of_people(people, self.populations)

    def entries(
        self,
        members: Whole,
        owner: Callable[[Whole], Whole],
        counters: int,
        words: NDArray[np.uint64],
    ) -> tuple[Ints, Ints, Ints]:
        """The vectors of some people as triples: position among the members, counter, value.

        Systematic rounding (`rounded`): a person's values are whole, 0 or more, and add up to S
        exactly where all her places are inside, wherever they are. `owner` gives the node of cells
        (k,), -1 for none; with an answer the vector has twice as many numbers as `counters`;
        `words` (m,) are random, one a person.
        """
        if self.offsets is None:
            node = owner(self.cells[members])
            position = np.flatnonzero(node >= 0)
            index, value = node[position], np.full(len(position), self.places, dtype=np.int64)
        else:
            first, behind = self.offsets[members], self.offsets[members + 1]
            position, at = spread(first, behind)
            visits = np.ones(len(at), dtype=np.int64) if self.visits is None else self.visits[at]
            starts = np.concatenate([[0], np.cumsum(behind - first)])
            value = rounded(visits, starts, self.places, words)
            index = owner(self.cells[at])
            # After the rounding: what is outside keeps its share to itself.
            counted = (value > 0) & (index >= 0)
            position, index, value = position[counted], index[counted], value[counted]
        if self.answer is not None:
            index = index + counters * ~self.answer[members[position]]
        return position, index.astype(np.int64, copy=False), value


def declared_number(
    declared: int | None, people_are_public: bool | None, *, preview: bool
) -> int | None:
    """How many people a run takes for granted; None for exactly those who are there."""
    if not isinstance(people_are_public, bool | None):
        raise InputError(f"people_are_public is {people_are_public!r}: give True or False.")
    if preview if people_are_public is None else people_are_public:
        return None
    if declared is None:
        raise InputError(
            "How many people there are would be known exactly from this release: declare a number "
            f"that is surely large enough ({DECLARING}), or agree that the exact number is "
            f"published ({CONSENTING})."
        )
    return declared


def _padded(values: NDArray[Any], number: int, declared: int, value: Any) -> NDArray[Any]:
    """Values with another for each person who is declared and not there, see `People.padded`."""
    require_declared(number, declared)
    return np.concatenate([values, np.full(declared - number, value, dtype=values.dtype)])


def require_declared(number: int, declared: int) -> None:
    """Refuse more people than were declared, see `People.padded`, and more than `MOST_DECLARED`."""
    if declared > MOST_DECLARED:
        raise InputError(
            f"{declared:,} people are more than can be simulated: declare {MOST_DECLARED:,} at "
            "most."
        )
    if number > declared:
        raise InputError(
            f"There are more people than the {declared:,} declared, and none may be left out: "
            f"declare a number that is surely large enough ({DECLARING}), or agree that the exact "
            f"number is published ({CONSENTING})."
        )


def _whole(values: Whole, noun: str) -> Whole:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
        raise InputError(f"The {noun} of people are not a list of whole numbers.")
    return array if array.dtype == np.int32 else array.astype(np.int64, copy=False)


def _checked_places(places: object) -> int:
    whole = isinstance(places, int | np.integer) and not isinstance(places, bool)
    if not whole or not 1 <= int(places) <= MOST_PLACES:  # type: ignore[call-overload]
        raise InputError(
            f"Places a person is {places!r}: give a whole number, 1 to {MOST_PLACES:,}."
        )
    return int(places)  # type: ignore[call-overload]


_YES, _NO = frozenset({"yes", "true", "1", "1.0"}), frozenset({"no", "false", "0", "0.0"})


def gathered(
    frame: Any,
    grid: Grid,
    user: str | None = None,
    lon: str | None = None,
    lat: str | None = None,
    attribute: str | None = None,
    visits: str | None = None,
    crs: Any = None,
) -> tuple[Ints, Ints | None, Ints | None, NDArray[np.bool_] | None]:
    """Cells, where each person's begin, visits and answers of a table, see `People.from_frame`."""
    # Any values may be in the column of times, and go along with their rows.
    points = read_points(frame, lon=lon, lat=lat, crs=crs, user=user, weight=visits, time=attribute)
    if points.crs is None and grid.crs is not None:
        raise InputError("These places have no CRS: name it with crs=... to find their cells.")
    if points.crs is not None and grid.crs is None:
        raise InputError("This grid has no CRS: make it with Grid.around to find places in it.")
    number = np.ones(len(points), dtype=np.int64) if points.weight is None else points.weight
    if np.any(number < 1):
        raise InputError("A place with no visit at all says nothing: leave such rows out.")
    answers = None if points.time is None else yes_or_no(points.time, str(attribute))
    code = codes_of(points, grid)
    if points.user is None:
        return code, None, None, answers
    _refuse_nameless(frame, user, lon, lat, crs)
    person = np.unique(points.user, return_inverse=True)[1]
    answer = None if answers is None else one_each(person, answers, str(attribute))
    return *grouped(person, code, number), answer


def _refuse_nameless(frame: Any, user: Any, lon: str | None, lat: str | None, crs: Any) -> None:
    """Refuse ids that are empty texts: all rows without one would be a single person.

    Rows whose id is missing altogether are left out by `read_points`.
    """
    there = ""
    if isinstance(frame, str | Path):
        # The column as it is in the file; of rows without a place no one is made.
        ids = read_points(frame, lon=lon, lat=lat, crs=crs, time=user).time
        there = " of those with a place"
    else:
        ids = frame[user] if isinstance(user, str) else user
    values = np.asarray(ids)
    if values.dtype.kind not in "OUS":
        return
    blank = np.fromiter((isinstance(value, str) and not value.strip() for value in values), bool)
    if blank.any():
        name = f" in {user!r}" if isinstance(user, str) else ""
        raise InputError(
            f"Row {int(blank.argmax()) + 1:,}{there} has an empty id{name}, and all such rows "
            f"({np.count_nonzero(blank):,}) would be one person: give each person an id, or leave "
            "them out."
        )


def codes_of(points: Points, grid: Grid) -> Ints:
    """Finest cells of places, (n,), as `Grid.count` counts them; -1 outside the grid."""
    cells = CellFinder(grid, points.crs, len(points)).find(points.x, points.y)
    code = np.full(len(points), -1, dtype=np.int64)
    inside = ~np.isnan(cells.column)
    rows, cols = grid.shape
    # The last edge belongs to the last cell.
    column = np.minimum(cells.column[inside].astype(np.int64), cols - 1)
    row = np.minimum(cells.row[inside].astype(np.int64), rows - 1)
    code[cells.which[inside]] = morton(column, row)
    return code


def grouped(person: Ints, code: Ints, visits: Ints) -> tuple[Ints, Ints, Ints]:
    """Rows of persons 0, 1, .. as one place for each cell, with all visits to it.

    Places outside count nowhere; who has no other takes part all the same, with a vector of zeros.

    Returns
    -------
    cells (p,), (n + 1,) where each person's begin, visits (p,)
    """
    number = int(person.max(initial=-1)) + 1
    inside = code >= 0
    order = np.lexsort((code[inside], person[inside]))
    person, code, visits = (column[inside][order] for column in (person, code, visits))
    new = np.ones(len(code), dtype=bool)
    new[1:] = (np.diff(person) > 0) | (np.diff(code) > 0)
    first = np.flatnonzero(new)
    total = np.add.reduceat(visits, first) if len(first) else visits[:0]
    return code[first], np.searchsorted(person[first], np.arange(number + 1)), total


def yes_or_no(values: NDArray[Any], name: str) -> NDArray[np.bool_]:
    """Answers as truth values: true and false, 1 and 0, yes and no."""
    kinds, which = np.unique(np.asarray(values).astype(str), return_inverse=True)
    words = [str(kind).strip().lower() for kind in kinds]
    strange = [kind for kind, word in zip(kinds, words, strict=True) if word not in _YES | _NO]
    if strange:
        raise InputError(
            f"The column {name!r} holds {listed(strange)}: a proportion needs yes or no, 1 or 0."
        )
    return np.array([word in _YES for word in words])[which]


def one_each(person: Ints, answers: NDArray[np.bool_], name: str) -> NDArray[np.bool_]:
    """The answer of each person from those of her rows; raises an InputError if they differ."""
    number = int(person.max(initial=-1)) + 1
    yes = np.bincount(person, weights=answers, minlength=number)
    rows = np.bincount(person, minlength=number)
    both = np.count_nonzero((yes > 0) & (yes < rows))
    if both:
        raise InputError(
            f"{both} people say both yes and no in {name!r}: two people may share one id; give "
            "each her own, or one answer."
        )
    return yes > 0
