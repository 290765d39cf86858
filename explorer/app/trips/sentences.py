"""What one row asks and what both sides answer, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.table import edge_unit
from explorer.app.curator.answers import BoxAnswers, median_error
from explorer.app.curator.price import counted_of_all
from explorer.app.kit.numbers import percent
from explorer.app.trips.screen import TripScreen
from explorer.grid.grid import Grid
from explorer.trips.truth import worth

Floats = NDArray[np.float64]


def question(names: Sequence[str], row: Floats, grids: Sequence[Grid]) -> str:
    """Which trips a row (k, 4) asks for.

    >>> grids = [Grid.cells(8), Grid.cells(8), Grid.cells(8)]
    >>> question(("from", "via", "to"), np.array([[1, 2, 3, 5], [np.nan] * 4, [0, 0, 8, 1]]), grids)
    'trips from a box of 2 × 3 cells, via anywhere, to a box of 8 × 1 cells'
    """
    phrases = []
    for name, box, grid in zip(names, row, grids, strict=True):
        if np.isnan(box).any():
            phrases.append(f"{name} anywhere")
            continue
        unit, size = edge_unit(grid)
        width, height = (box[2] - box[0]) / size, (box[3] - box[1]) / size
        phrases.append(f"{name} a box of {width:.3g} × {height:.3g} {unit}")
    return f"trips {', '.join(phrases)}"


def answer(screen: TripScreen, name: str, number: int, exact: bool = True) -> str:
    """The question of one row, the private answer with its interval, the truth, and the error.

    Without ``exact`` the last two are left out.
    """
    answers, data = screen.answers, screen.data
    wording = question(data.names, screen.boxes[number], data.grids)
    low, high = (float(end[number]) for end in answers.interval)
    private, true = float(answers.private[number]), float(answers.true[number])
    # Bars in closed form are of the noise alone, however unevenly trips lie inside leaves.
    bars = "noise alone: " if answers.exact else "95 %: "
    if not answers.exact and answers.half_width is None:
        bars += "about "
    if data.matrix.unit == "point":
        text = (
            f"{name}, {wording}: {private:,.0f} by the private answer "
            f"({bars}{_whole(low)} to {_whole(high)})"
        )
    else:
        text = (
            f"{name}, {wording}: {private:.2f} % of all trips by the private answer "
            f"({bars}{low:.2f} to {high:.2f} %)"
        )
    if not exact:
        return f"{text}.{_by_the_map(screen, number)}"
    text += f", {true:,.0f}" if data.matrix.unit == "point" else f", {true:.2f} %"
    text += " in truth"
    relative = float(answers.relative[number])
    text += "" if np.isnan(relative) else f": off by {percent(abs(relative))}"
    # What is about right as yet is no range to hold a truth against.
    has_interval = answers.exact or answers.half_width is not None
    if has_interval and not low <= true <= high:
        text += f". The truth lies outside the range: {_why_outside(screen)}"
    return f"{text}.{_by_the_map(screen, number)}"


def _why_outside(screen: TripScreen) -> str:
    """What a range does not know of, as part of a sentence."""
    bounded = screen.data.matrix.unclipped is not None
    more = ", and knows nothing of what the bound on each person leaves out" if bounded else ""
    if screen.answers.exact:
        return f"it is of the noise alone, not of how unevenly trips lie inside leaves{more}"
    return f"how unevenly trips lie inside leaves is guessed from the release alone{more}"


def _by_the_map(screen: TripScreen, number: int) -> str:
    """What the map of the only place asked about says itself, next to the answer of the tree."""
    row, release, answers = screen.boxes[number], screen.release, screen.answers
    bounded = np.flatnonzero(~np.isnan(row).any(axis=1))
    if release.maps is None or len(bounded) != 1:
        return ""
    place = int(bounded[0])
    counted = float(release.map_answer(place, row[place][np.newaxis])[0]) * answers.scale
    text = _whole(counted) if screen.data.matrix.unit == "point" else f"{counted:.2f} %"
    return f" The private map of this place alone says {text}."


def _whole(value: float) -> str:
    text = f"{value:,.0f}"
    return "0" if text == "-0" else text


def about(screen: TripScreen, exact: bool = True) -> str:
    """What the release is, and how far its answers are off; without ``exact`` the first alone."""
    release, answers = screen.release, screen.answers
    kind = "a preview by" if release.preview else "a release by"
    sides = " × ".join(f"{side:,}" for side in release.domain.shape)
    trips = "trips by weight" if release.weighted else "trips"
    leaves = "leaf" if release.n_leaves == 1 else "leaves"
    text = (
        f"{screen.data.title}: {kind} {screen.title} with epsilon {release.epsilon:.4g} per "
        f"{'trip' if release.unit == 'point' else 'person'}; {sides} combinations of cells in "
        f"{release.n_leaves:,} {leaves}, {release.total:,.0f} {trips} in all"
    )
    if not exact:
        return f"{text}."
    if len(answers) > 1 and not np.isnan(median_error(answers)):
        text = f"{text}; the rows are off by {percent(median_error(answers))} in the median"
    bought = worth(screen.data.matrix, release.epsilon)
    counted = counted_of_all(screen.data.matrix, "trip")
    text = f"{text}. {counted.rstrip('.')}" if counted else text
    # Where persons are protected they decide what a draw is worth, so it is said before one.
    return f"{text}. {bought.sentence}" if bought.few or release.unit != "point" else f"{text}."


def key_figures(screen: TripScreen, answers: BoxAnswers) -> list[tuple[str, str]]:
    """Label and value of the strip above the maps."""
    seconds = screen.seconds
    return [
        ("Leaves", f"{screen.release.n_leaves:,}"),
        ("Epsilon", f"{screen.release.epsilon:.4g}"),
        ("Median box error", percent(median_error(answers))),
        ("Computed in", f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"),
    ]
