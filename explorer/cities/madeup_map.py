"""The base map of Port Amber: its shores, parks, main roads and names, all made up."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.cities import madeup, madeup_plan
from explorer.grid.base_map import BaseMap

Floats = NDArray[np.float64]

#: Of the centres of `madeup_plan`, in their order; the first is the city.
_CENTRES = (
    *("Port Amber", "Exchange", "Amber Quays", "Southgate", "Eastfield", "Northcross"),
    *("Mill Green", "Cape Row", "Hillfoot", "Saltmarsh", "Lantbridge", "Lockside"),
)
#: Of its villages.
_VILLAGES = (
    *("Netherwell", "Thornstead", "Capel Head", "Lower Sedge", "Fenwater", "Orchard End"),
    *("Twyle", "Highbarrow", "Lantwell", "Oxley Cross", "Gull Island"),
)
#: Names of water and parks: x, y in km.
_WATER = (("Amber Bay", -6.6, -1.2), ("River Lant", 5.6, float(madeup_plan.river(np.array(5.6)))))
_PARKS = (("Queen's Wood", 4.95, 3.2), ("Airport", *madeup_plan.AIRFIELD[:2]))


@lru_cache(maxsize=1)
def base_map() -> BaseMap:
    """Return it in metres of the city's grid."""
    lines, kinds = [], []
    for kind, pieces in (("water", _shores()), ("park", _parks()), ("road", _roads())):
        for line in pieces:
            lines.append(shapely.LineString(line * 1000))
            kinds.append(kind)
    named = [
        *((name, x, y, "place") for name, (x, y, *_) in _paired(_CENTRES, madeup_plan.CENTRES)),
        *((name, x, y, "water") for name, x, y in _WATER),
        *((name, x, y, "park") for name, x, y in _PARKS),
        *((name, x, y, "place") for name, (x, y, *_) in _paired(_VILLAGES, madeup_plan.VILLAGES)),
    ]
    names, x, y, of = zip(*named, strict=True)
    return BaseMap(lines, kinds, names, 1000 * np.column_stack([x, y]), of, madeup.grid(1).crs)


def _paired(
    names: tuple[str, ...], places: tuple[tuple[float, ...], ...]
) -> zip[tuple[str, tuple[float, ...]]]:
    return zip(names, places, strict=True)


def _shores() -> list[Floats]:
    """Coast, island, and both banks of the river as far as they are no sea, km."""
    half = madeup_plan.HALF
    y = np.arange(-half, half, 0.01)
    # Where the river flows in, the shore is open.
    coast = np.column_stack([madeup_plan.coast(y), y])
    shores = _split(coast, ~madeup_plan.in_river(*(coast + np.array([0.02, 0.0])).T))
    shores.append(
        _around(-3.45, -2.2, 0.62, 0.42, 0.0, lambda x, y: 1 + 0.12 * np.sin(5 * x + 7 * y))
    )
    x = np.arange(-2.8, half, 0.01)
    middle = madeup_plan.river(x)
    slope = (madeup_plan.river(x + 0.01) - madeup_plan.river(x - 0.01)) / 0.02
    wide = 0.06 + 0.13 * np.exp(-np.clip(x + 1.6, 0, None) / 1.6)
    for side in (-1, 1):
        bank = np.column_stack([x, middle + side * wide * np.sqrt(1 + slope**2)])
        shores += _split(bank, ~madeup_plan.in_sea(*bank.T))
    return shores


def _parks() -> list[Floats]:
    """Outlines of parks and of the airfield, km."""
    parks = []
    for cx, cy, a, b, angle, ellipse in (*madeup_plan.PARKS, madeup_plan.AIRFIELD):

        def ragged(x: Floats, y: Floats, cx: float = cx) -> Floats:
            return 1.0 + 0.22 * np.sin(4.1 * x + 2.7 * y + 9.0 * cx) * np.sin(5.3 * y - 1.9 * x)

        if ellipse:
            parks.append(_around(cx, cy, a, b, angle, ragged))
        else:
            corners = np.array([(-a, -b), (a, -b), (a, b), (-a, b), (-a, -b)])
            parks.append(_turned(corners, angle) + np.array([cx, cy]))
    return parks


def _roads() -> list[Floats]:
    """Main roads where they are on land or on a bridge, km."""
    roads: list[Floats] = []
    for curve in madeup_plan.roads():
        roads += _split(curve, ~madeup_plan.in_sea(*curve.T))
    return roads


def _around(cx, cy, a, b, angle, ragged) -> Floats:  # type: ignore[no-untyped-def]
    """The closed line where (u / a)^2 + (v / b)^2 is what ``ragged`` says of the place."""
    turn = np.linspace(0, 2 * np.pi, 181)
    ring = np.column_stack([a * np.cos(turn), b * np.sin(turn)])
    at = _turned(ring, angle) + np.array([cx, cy])
    for _ in range(30):
        far = np.sqrt(np.clip(ragged(*at.T), 0.05, None))
        at = _turned(ring * far[:, None], angle) + np.array([cx, cy])
    at[-1] = at[0]
    return at


def _turned(at: Floats, angle: float) -> Floats:
    turn = np.deg2rad(angle)
    return at @ np.array([(np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))])


def _split(line: Floats, inside: NDArray[np.bool_]) -> list[Floats]:
    """The pieces of a line whose corners are all kept."""
    ends = np.flatnonzero(np.diff(inside.astype(int))) + 1
    return [
        piece
        for piece, there in zip(np.split(line, ends), np.split(inside, ends), strict=True)
        if there[0] and len(piece) > 1
    ]
