"""The plan of Port Amber, a city that does not exist: water, parks, districts and roads.

Everything is drawn by hand in kilometres east and north of the centre, on a square of 24 km. The
functions take arrays and give arrays; no one lives here yet, see `madeup`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Half the side of the square, km. The public grid of 20 km is inside it.
HALF = 12.0

# Middle x, y, half axes, angle (degrees), and 1 for an ellipse or 0 for a rectangle.
PARKS = (
    (1.45, 1.75, 0.85, 0.33, 32.0, 0),
    (-1.75, 2.75, 0.55, 0.40, 20.0, 1),
    (3.35, -1.85, 0.75, 0.50, -30.0, 1),
    (0.35, -3.75, 0.45, 0.70, 10.0, 1),
    (4.95, 3.20, 1.10, 0.60, 50.0, 1),
    (-0.95, 5.65, 0.80, 0.55, 0.0, 1),
    (0.62, -2.05, 0.26, 0.20, 32.0, 0),
    (0.10, 2.10, 0.22, 0.16, 32.0, 0),
    (3.05, 3.15, 0.30, 0.25, 12.0, 0),
    (7.10, -0.85, 0.85, 0.60, 80.0, 1),
)

# Runways and the fields around them: no one there, though the terminal next to them is crowded.
AIRFIELD = (6.35, -6.15, 1.55, 0.42, 24.0, 0)
TERMINAL = (6.05, -5.48)

# Main roads, each from the centre or from another road outwards; x, y, km.
RADIALS: tuple[tuple[tuple[float, float], ...], ...] = (
    ((0.0, 0.0), (0.7, 1.9), (0.9, 3.6), (0.35, 5.4), (0.6, 7.8), (1.5, 12.0)),
    ((0.0, 0.0), (1.9, 0.95), (4.0, 1.5), (6.2, 1.2), (8.6, 2.1), (12.0, 2.3)),
    ((0.0, 0.0), (1.6, -1.0), (3.2, -2.9), (4.9, -4.4), (6.1, -5.3), (8.9, -8.2), (11.0, -12.0)),
    ((0.0, 0.0), (0.1, -1.9), (-0.6, -4.2), (-0.2, -6.4), (0.9, -8.6), (0.8, -12.0)),
    ((0.0, 0.0), (-1.2, 1.8), (-2.9, 3.7), (-3.7, 6.0), (-4.9, 8.3), (-5.2, 12.0)),
    ((0.9, 3.6), (2.9, 5.2), (5.2, 6.1), (7.4, 7.9), (10.2, 9.0), (12.0, 9.2)),
    ((1.6, -1.0), (3.9, -0.9), (6.4, -1.9), (9.0, -2.2), (12.0, -3.6)),
    # Country roads between villages.
    ((-4.9, 8.3), (-2.2, 9.5), (1.0, 9.6), (3.4, 9.2), (7.4, 7.9)),
    ((8.6, 2.1), (9.3, 4.6), (9.4, 7.2), (8.7, 8.5)),
    ((0.9, -8.6), (4.2, -8.9), (8.9, -8.2)),
    ((-0.6, -4.2), (-2.6, -5.6), (-4.1, -6.6), (-4.6, -8.4)),
    ((-3.7, 6.0), (-5.4, 5.2), (-6.2, 4.0)),
    ((4.9, -4.4), (7.5, -3.9), (9.6, -4.6), (12.0, -7.2)),
)
# An outer ring, open where the sea is, and an inner boulevard.
RINGS = ((5.3, 0.06, -150.0, 150.0, 0.45), (1.75, 0.05, -175.0, 175.0, 0.25))

# Centres of life: x, y, radius km, share of the city.
CENTRES = (
    (0.0, 0.0, 0.62, 1.00),
    (0.85, 0.35, 0.40, 0.50),
    (-0.55, 1.00, 0.35, 0.30),
    (0.10, -1.95, 0.35, 0.22),
    (4.05, 1.50, 0.42, 0.26),
    (0.60, 5.35, 0.45, 0.20),
    (3.20, -2.90, 0.40, 0.20),
    (-3.00, 3.75, 0.42, 0.19),
    (5.20, 6.05, 0.40, 0.12),
    (-0.40, -5.00, 0.45, 0.14),
    (8.55, 2.05, 0.40, 0.08),
    (6.40, -1.90, 0.32, 0.08),
)
# Villages in the country: x, y, radius km, share.
VILLAGES = (
    (9.4, 7.2, 0.26, 0.016),
    (7.4, 7.9, 0.24, 0.018),
    (-5.0, 8.6, 0.28, 0.024),
    (0.7, -8.7, 0.30, 0.022),
    (9.0, -8.4, 0.24, 0.016),
    (9.6, -4.6, 0.22, 0.014),
    (4.2, -8.9, 0.20, 0.010),
    (3.4, 9.2, 0.22, 0.012),
    (9.3, 4.6, 0.18, 0.008),
    (-2.2, 9.5, 0.18, 0.008),
    (-3.35, -2.15, 0.20, 0.010),
)


def in_water(x: Floats, y: Floats) -> Mask:
    """Return where the sea or the river is."""
    return in_sea(x, y) | in_river(x, y)


def in_sea(x: Floats, y: Floats) -> Mask:
    """Return where the sea is: west of a curving coast with a bay, but for one island."""
    island = ((x + 3.45) / 0.62) ** 2 + ((y + 2.2) / 0.42) ** 2 < 1 + 0.12 * np.sin(5 * x + 7 * y)
    return (x < coast(y)) & ~island


def coast(y: Floats) -> Floats:
    """Return the easting of the coast at a northing."""
    bay = 3.7 * np.exp(-(((y + 0.9) / 2.1) ** 2))
    cape = -2.1 * np.exp(-(((y - 3.1) / 1.2) ** 2)) - 1.2 * np.exp(-(((y + 5.2) / 1.0) ** 2))
    # Inlets of ever smaller size.
    coves = 0.22 * np.sin(2.3 * y + 0.4) + 0.10 * np.sin(6.1 * y + 1.0) + 0.04 * np.sin(15.0 * y)
    # Docks: two straight basins cut into the shore next to the centre.
    docks = 0.38 * ((np.abs(y - 0.05) < 0.07) | (np.abs(y - 0.42) < 0.06))
    return -5.0 - 0.20 * y + 0.9 * np.sin(y / 3.1 + 0.6) + bay + cape + coves + docks


def river(x: Floats) -> Floats:
    """Return the northing of the river at an easting; it comes from the north-east."""
    bends = 0.50 * np.sin(1.05 * x - 0.9) + 0.24 * np.sin(2.2 * x + 0.6)
    upstream = np.clip((x + 1.6) / 2.5, 0, 1)
    return -1.35 + 0.36 * (x + 1.6) + 0.027 * (x + 1.6) ** 2 + bends * upstream


def in_river(x: Floats, y: Floats) -> Mask:
    """Return where the river is: 90 m wide in the country, 300 m at its mouth."""
    half = 0.06 + 0.13 * np.exp(-np.clip(x + 1.6, 0, None) / 1.6)
    slope = (river(x + 0.01) - river(x - 0.01)) / 0.02
    return (np.abs(y - river(x)) < half * np.sqrt(1 + slope**2)) & (x > -2.8)


def in_park(x: Floats, y: Floats) -> Mask:
    """Return where parks and the airfield are."""
    inside = np.zeros(x.shape, bool)
    for cx, cy, a, b, angle, ellipse in (*PARKS, AIRFIELD):
        turn = np.deg2rad(angle)
        dx, dy = x - cx, y - cy
        u = np.abs(dx * np.cos(turn) + dy * np.sin(turn)) / a
        v = np.abs(dy * np.cos(turn) - dx * np.sin(turn)) / b
        ragged = 1.0 + 0.22 * np.sin(4.1 * x + 2.7 * y + 9.0 * cx) * np.sin(5.3 * y - 1.9 * x)
        inside |= (u * u + v * v < ragged) if ellipse else (u < 1) & (v < 1)
    return inside


def roads() -> list[Floats]:
    """Return the main roads as curves, each (m, 2) of x, y, with a corner every 20 m."""
    curves = [_smooth(np.array(path)) for path in RADIALS]
    for radius, wave, start, stop, stretch in RINGS:
        angle = np.deg2rad(np.linspace(start, stop, 400))
        r = radius * (1 + wave * np.sin(3 * angle + 0.7) + 0.5 * wave * np.cos(5 * angle))
        curves.append(_even(np.column_stack([r * np.cos(angle) + stretch, r * np.sin(angle)])))
    return curves


def _smooth(corners: Floats) -> Floats:
    """Return a curve through corners (Catmull and Rom 1974)."""
    ends = np.vstack([2 * corners[0] - corners[1], corners, 2 * corners[-1] - corners[-2]])
    t = np.linspace(0, 1, 60, endpoint=False)[:, None]
    pieces = []
    for p0, p1, p2, p3 in zip(ends, ends[1:], ends[2:], ends[3:], strict=False):
        a, b, c = 2 * p0 - 5 * p1 + 4 * p2 - p3, 3 * p1 - p0 - 3 * p2 + p3, p2 - p0
        pieces.append(p1 + 0.5 * t * (c + t * (a + t * b)))
    return _even(np.vstack([*pieces, corners[-1:]]))


def _even(curve: Floats, step: float = 0.02) -> Floats:
    """Return the same curve with corners at equal distances."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(curve, axis=0).T))])
    at = np.arange(0.0, along[-1], step)
    return np.column_stack([np.interp(at, along, curve[:, 0]), np.interp(at, along, curve[:, 1])])
