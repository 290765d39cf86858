"""Certified cells: patches say in which cell a place is, and where they cannot be sure.

A projection is smooth, so over a small piece of the map the column and the row of a place are
nearly quadratic or cubic polynomials of its coordinates, many times faster to compute than the
projection. How far they are off is measured where they are fitted; within a hundred times that of
an edge between cells the projection itself decides (see `grid.cells`). So the cell of every place
is the one that pyproj gives, whatever the polynomials are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Box = tuple[float, float, float, float]
#: Columns and rows, with fractions, of places in the coordinates of the points.
Cells = Callable[[Floats, Floats], tuple[Floats, Floats]]

#: Patches along each side: for a city, and for a country.
FEW, MANY = 16, 64
#: Coefficients of a polynomial of degree two, and of degree three.
QUADRATIC, CUBIC = 6, 10
# Chebyshev nodes of the fit and even nodes of the check along each side of a patch.
_NODES, _CHECKS = 6, 9
# Not proven, a factor of safety: see `Patches`.
_SAFETY, _LEAST_MARGIN, _MOST_ERROR = 100.0, 1e-6, 1e-3
#: Coefficients, and the margin with which they do. With 10^-4 cells four places in ten thousand are
#: asked for, which takes no time; but where degree two is off by more, the box is a large one.
_DEGREES = ((QUADRATIC, 1e-4), (CUBIC, _LEAST_MARGIN))


@dataclass(frozen=True, eq=False)
class Patches:
    """Polynomials of column and row over the pieces of a box, of degree two or three.

    With s and t from -1 to 1 across a piece, west to east and south to north, and c one of its two
    rows of coefficients, a coordinate in cells is ::

        c0 + t (c2 + t c5) + s (c1 + t c4 + s c3)
        and of degree three next to that  t^2 (s c8 + t c9) + s^2 (s c6 + t c7)

    Those who distribute the work ship patches; how a machine rounds is far within the margin.

    Attributes
    ----------
    coefficients : (n, n, 2, 6 or 10) float64
        Piece by piece from the south-west, row of pieces first; column of cells, then row. With
        n = 0 there are no patches, and the projection is asked for every place.
    error : float
        Largest deviation from the projection, in cells, on 9 x 9 places of each piece that were
        not fitted; infinite without patches.
    margin : float
        Within so many cells of an edge the projection is asked: 100 times the error, 10^-6 at
        least. The factor is one of safety, not a proof: what is known is that no cell of 118
        million places on maps of 20 to 1,000 km was another one, and a test goes on comparing.
    """

    coefficients: Floats
    error: float = field(default=np.inf)
    margin: float = field(default=0.0)

    @classmethod
    def none(cls) -> Patches:
        """No patches: the projection is asked for every place."""
        return cls(np.empty((0, 0, 2, QUADRATIC)))

    @classmethod
    def over(cls, box: Box, cells: Cells, max_pieces: int = MANY) -> Patches:
        """Fit patches over a box, as few as are exact enough.

        Sixteen along each side are, where their margin is at most 10^-4 cells with degree two,
        which takes four fifths of the time of degree three, or the least there is with that: over
        a city. Else 64 are, up to a country. There are none where 64 are off by more than 10^-3
        cells: over a continent, or where PROJ changes its way of projecting inside the box
        (EPSG:27700 jumps by 130 m), and none over an infinite box.

        Parameters
        ----------
        box : west, south, east, north in the coordinates of the points
        cells : what projects (n,) x and (n,) y to columns and rows; inf where it cannot
        max_pieces : int
            Along each side; see `worth`.
        """
        patches, is_enough = cls.none(), not np.isfinite(box).all()
        for pieces in (FEW, MANY):
            if pieces <= max_pieces and not is_enough:
                patches, is_enough = _fit(box, cells, pieces)
        return patches if patches.error <= _MOST_ERROR else cls.none()


def worth(places: float) -> int:
    """Patches along each side that cost fewer projections than so many places: 0, 16 or 64.

    >>> worth(20_000), worth(1_000_000)
    (0, 64)
    """
    allowed = [n for n in (FEW, MANY) if n**2 * (_NODES**2 + _CHECKS**2) <= places]
    return max(allowed, default=0)


def _fit(box: Box, cells: Cells, pieces: int) -> tuple[Patches, bool]:
    """Least squares on Chebyshev nodes, checked on even ones; and whether that is close enough."""
    nodes = np.cos((2 * np.arange(_NODES) + 1) * np.pi / (2 * _NODES))
    targets = _projected(box, cells, pieces, nodes)
    if not np.isfinite(targets).all():
        return Patches.none(), False
    checks = np.linspace(-1.0, 1.0, _CHECKS)
    true = _projected(box, cells, pieces, checks)
    if not np.isfinite(true).all():
        return Patches.none(), False
    for number, max_margin in _DEGREES:
        inverse = np.linalg.pinv(_powers(nodes)[:, :number])
        coefficients = np.ascontiguousarray(targets @ inverse.T)
        error = float(np.abs(coefficients @ _powers(checks)[:, :number].T - true).max())
        patches = Patches(coefficients, error, max(_SAFETY * error, _LEAST_MARGIN))
        if patches.margin <= max_margin:
            return patches, True
    return patches, False


def _projected(box: Box, cells: Cells, pieces: int, nodes: Floats) -> Floats:
    """Column and row of the same nodes in every piece, (pieces, pieces, 2, nodes^2)."""
    west, south, east, north = box
    share = ((np.arange(pieces)[:, None] + (nodes + 1.0) / 2.0) / pieces).ravel()
    x, y = np.meshgrid(west + share * (east - west), south + share * (north - south))
    projected = np.stack(cells(x.ravel(), y.ravel()))
    k = len(nodes)
    parts = projected.reshape(2, pieces, k, pieces, k).transpose(1, 3, 0, 2, 4)
    return parts.reshape(pieces, pieces, 2, k * k)


def _powers(nodes: Floats) -> Floats:
    """The ten products of powers of s and t up to degree three, (nodes^2, 10), t outermost."""
    t, s = (axis.ravel() for axis in np.meshgrid(nodes, nodes, indexing="ij"))
    one = np.ones_like(s)
    return np.stack(
        [one, s, t, s * s, s * t, t * t, s * s * s, s * s * t, s * t * t, t * t * t], axis=1
    )
