"""The small area of a map under a place: what was released of it, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from explorer.audience.answers import count, range_in_words, size_in_words
from explorer.audience.exhibits import Exhibit
from explorer.audience.pictures import numbers
from explorer.audience.said import words
from explorer.errors import InputError
from explorer.releases.answers import Z95


def place_of(arguments: Mapping[str, str], exhibit: Exhibit) -> int:
    """Which leaf is under "at", x and y in metres.

    Raises
    ------
    InputError
        For a place that is not on the map.
    """
    x, y = numbers(arguments.get("at", ""), 2)
    release = exhibit.release
    west, south, east, north = release.grid.bounds
    if not (west <= x < east and south <= y < north):
        raise InputError("There is nothing: this place is not on the map.")
    place = release.grid.to_cells([[x, y, x, y]])[0, 0]
    inside = (release.lower <= place).all(axis=1) & (place < release.upper).all(axis=1)
    return int(np.argmax(inside))


def described(exhibit: Exhibit, leaf: int) -> bytes:
    """A leaf in numbers and words, as JSON."""
    release, grid = exhibit.release, exhibit.release.grid
    value, sd = float(release.counts[leaf]), float(release.sd[leaf])
    half, depth = Z95 * sd, int(release.tree.depth[release.tree.leaves[leaf]])
    rows, columns = (release.upper[leaf] - release.lower[leaf]).tolist()
    width, height = columns * grid.cell_width, rows * grid.cell_height
    low, high = value - half, value + half
    facts = [
        ("Records, with noise", count(value)),
        ("Range of 95 % of the noise", f"{count(low)} to {count(high)}"),
        ("Size", f"{length(width)} by {length(height)}"),
        ("Records on a square kilometre", density(value / (width * height / 1e6))),
        ("Cuts between the whole map and this area", f"{depth:,}"),
    ]
    text = words(
        "leaf",
        number=f"{leaf + 1:,}",
        leaves=f"{release.n_leaves:,}",
        value=count(max(value, 0.0)),
        range=range_in_words(value, half, release.linear),
        size=size_in_words(value, half),
    )
    place = words("leaf place", width=length(width), height=length(height), depth=f"{depth:,}")
    document = {
        "leaf": leaf + 1,
        "box": exhibit.leaves.boxes[leaf].tolist(),
        "said": f"{text} {place}",
        "facts": facts,
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode()


def density(value: float) -> str:
    """Records on an area, in no more digits than say something.

    >>> density(1234.5), density(0.4567)
    ('1,234', '0.46')
    """
    return count(value) if abs(value) >= 10 else f"{value:.2g}".replace("-", "−")


def length(metres: float) -> str:
    """A length as people say it.

    >>> length(312.5), length(2500.0)
    ('312 m', '2.5 km')
    """
    return f"{metres:,.0f} m" if metres < 1000 else f"{metres / 1000:,.3g} km"
