"""Which bookings cost the same people, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from explorer.points.populations import is_hash
from explorer.privacy.ledger_file import Row


def title_of(names: Sequence[str]) -> str:
    """Several populations in a sentence.

    >>> title_of(["riders"]), title_of(["riders", "part-0", "part-1", "part-2"])
    ('riders', 'riders and 3 more')
    """
    named = ["these records" if is_hash(name) else name for name in names]
    if len(named) > 3:
        return f"{named[0]} and {len(named) - 1} more"
    return " and ".join(named)


def together(rows: Iterable[Row], names: Sequence[str], dataset: str) -> list[Row]:
    """Rows that cost any of some populations something, in their order."""
    rows = list(rows)
    numbers = {
        row.number
        for population_rows in _each_with(rows, names, dataset)
        for row in population_rows
    }
    return [row for row in rows if row.number in numbers]


def spent_most(rows: Iterable[Row], names: Sequence[str], dataset: str) -> int:
    """What that one of some populations has spent that has spent most, in units."""
    return max(spent_on(rows, names, dataset).values())


def spent_on(rows: Iterable[Row], names: Sequence[str], dataset: str) -> dict[str, int]:
    """What each of some populations has spent, in units."""
    rows_by_name = _each_with(list(rows), names, dataset)
    return dict(zip(names, map(sum_of, rows_by_name), strict=True))


def _each_with(rows: Sequence[Row], names: Sequence[str], dataset: str) -> Iterator[list[Row]]:
    """For each population the rows of the same people."""
    named = [(row, frozenset(row.names)) for row in rows]
    return (_with(named, name, dataset) for name in names)


def _with(rows: Sequence[tuple[Row, frozenset[str]]], name: str, dataset: str) -> list[Row]:
    """Rows of the same people: of a name, of the same counts, and so on from there.

    Counts that were booked on several names hold the people of each of them. So the row counts for
    each; but what else was spent on one of the names is not spent on the others. If none of its
    names is known, the counts are the same as those that were asked about, under other names, and
    all of these are taken: that may be too much, and never too little.
    """
    names, datasets = {name}, {dataset}
    while True:
        size = len(names), len(datasets)
        results = [
            (row, of) for row, of in rows if row.dataset in datasets or not names.isdisjoint(of)
        ]
        datasets.update(row.dataset for row, _ in results)
        if (len(names), len(datasets)) == size:
            for _, of in results:
                if names.isdisjoint(of):
                    names |= of
            if len(names) == size[0]:
                return [row for row, _ in results]


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
