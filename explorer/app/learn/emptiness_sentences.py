"""What the lesson on empty cells says: sentences, figures, a table of thresholds."""

from __future__ import annotations

import numpy as np

from explorer.app.kit.words import words
from explorer.app.learn.emptiness_look import Looked
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, table

#: How many false cells a table may keep, row by row.
ALLOWED = (1, 10, 100, 1000)


def big(number: float) -> str:
    """A number as people read it: 16,777,216, and from 10^10 on 1.1 × 10¹².

    >>> big(16777216), big(2**40)
    ('16,777,216', '1.1 × 10¹²')
    """
    if number < 1e10:
        return f"{number:,.0f}"
    digits, power = f"{number:.1e}".split("e+")
    raised = str(int(power)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits} × 10{raised}"


def sentence(result: Looked) -> str:
    """Cells, those with trips, and how high noise reaches, in words."""
    occupancy, epsilon = result.occupancy, result.settings.epsilon
    highest = occupancy.highest_false(epsilon)
    above = occupancy.standing_above(highest)
    return words("learn")["Empty cells"].format(
        cells=big(occupancy.cells),
        occupied=big(occupancy.occupied),
        oneof=big(occupancy.cells / max(occupancy.occupied, 1)),
        epsilon=f"{epsilon:g}",
        highest=f"{highest:,}",
        above=big(above) if above else "None",
    )


def box_sentence(result: Looked) -> str:
    """What the chosen box holds of trips and of noise, in words."""
    at = int(np.searchsorted(result.boxes.sides, result.side))
    noise = float(result.boxes.noise(result.settings.epsilon)[at])
    trips = int(result.boxes.trips[at])
    # Three standard deviations are rarely passed by noise alone.
    verdict = "the noise drowns them" if noise > trips else "they hardly show"
    if trips > 3 * noise:
        verdict = "the trips show through"
    return words("learn")["A box about one trip"].format(
        side=result.side,
        cells=big(float(result.boxes.cells[at])),
        trips=f"{trips:,}",
        noise=f"{noise:,.0f}" if noise >= 10 else f"{noise:.1f}",
        verdict=verdict,
    )


def alone_sentence(result: Looked) -> str:
    """Why not to put noise on the occupied cells alone, in words."""
    occupancy = result.occupancy
    return words("learn")["Noise on occupied cells alone"].format(
        occupied=big(occupancy.occupied), single=big(occupancy.single)
    )


def figures(result: Looked) -> str:
    """Cells, the highest empty one and what is above it, as a strip."""
    occupancy, epsilon = result.occupancy, result.settings.epsilon
    highest = occupancy.highest_false(epsilon)
    low, high = (occupancy.highest_false(epsilon, at) for at in (0.025, 0.975))
    return figures_strip(
        [
            ("Cells", big(occupancy.cells)),
            ("With trips", big(occupancy.occupied)),
            ("Highest empty cell", f"{highest:,}"),
            ("Highest, 95 in 100 draws", f"{low:,} to {high:,}"),
            ("ln(n) / epsilon", f"{np.log(max(occupancy.empty, 1)) / epsilon:,.0f}"),
            ("Fullest true cell", f"{occupancy.largest:,}"),
            ("True cells above", big(occupancy.standing_above(highest))),
        ]
    )


def thresholds(result: Looked) -> str:
    """What is left if cells are published from a noisy count on, as a table."""
    occupancy, epsilon = result.occupancy, result.settings.epsilon
    rows = []
    for allowed in ALLOWED:
        k = occupancy.threshold(allowed, epsilon)
        false, true, trips = (
            float(part(k, epsilon))
            for part in (occupancy.false_from, occupancy.true_from, occupancy.trips_from)
        )
        rows.append(
            [
                Cell(f"{k:,} or more"),
                Cell(f"{false:,.1f}"),
                Cell(f"{true:,.1f}", f"of {big(occupancy.occupied)}"),
                Cell(f"{100 * trips / max(occupancy.trips, 1):,.1f} %"),
            ]
        )
    columns = [
        ("only noisy counts of", "what is published"),
        ("empty cells kept", "expected"),
        ("cells with trips kept", "expected"),
        ("trips in them", "of all trips"),
    ]
    return table("A table that leaves small noisy counts out", columns, rows)
