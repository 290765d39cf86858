"""Privlet (Xiao, Wang, Gehrke, TKDE 2011), in two dimensions."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import Decision, public
from explorer.mechanisms.figures import Figures
from explorer.privacy.curator import Curator
from explorer.releases import haar
from explorer.releases.inference import Estimate


class Privlet(Mechanism):
    """Noise on the wavelet coefficients: large rectangles need few of them.

    The Haar transform of the whole matrix, see `releases.haar`; every coefficient gets the same
    noise, of scale (1 + log2 rows)(1 + log2 columns) / epsilon. Sides are padded in public.

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import Privlet
    >>> town = np.kron([[40, 0], [2, 9]], np.ones((4, 4), dtype=int))
    >>> preview = Privlet(epsilon=1).release(town, rng=7)
    >>> whole, cell = preview.answer([[0, 0, 8, 8], [0, 0, 1, 1]]).sd
    >>> bool(whole < 8 * cell)  # noise on 64 cells alike would make it 8 times as large
    True
    """

    key: ClassVar[str] = "privlet"
    title: ClassVar[str] = "Privlet"
    summary: ClassVar[str] = "Noise on wavelet coefficients, kind to large rectangles."
    paper: ClassVar[str] = "Xiao, Wang, Gehrke, TKDE 2011"
    group: ClassVar[str] = "Hierarchies"
    colour: ClassVar[str] = "red"
    dash: ClassVar[str] = "dashed"

    def plan(self, curator: Curator) -> Estimate:
        """Noisy coefficients, transformed back."""
        domain = curator.open()
        noisy, variance = curator.coefficients(domain)
        rows, cols = curator.shape
        counts = haar.inverse(noisy)[:rows, :cols].ravel()
        domain.grid(domain.shape)
        transcript = curator.transcript()
        value, precision = (np.empty(1 + counts.size, np.float64) for _ in range(2))
        value[0], value[1:] = counts.sum(), counts
        # One cell takes the same part of every level's noise, wherever it is.
        cell = variance * float(haar.noise(np.array([[[0.0, 0], [1, 1]]]), (rows, cols))[0])
        precision[0], precision[1:] = 0.0, 1 / cell
        return Estimate(transcript, value, precision, haar_variance=variance)

    @property
    def shape_is_public(self) -> bool:
        """Always."""
        return True

    @property
    def has_known_distribution(self) -> bool:
        """Never: a cell's noise comes from many coefficients and is no draw of its own."""
        return False

    def decision(self, node: Figures) -> Decision:
        """Public throughout."""
        if node.is_leaf:
            why = "Its count is put together from noisy wavelet coefficients."
            return public("every cell is a leaf", why)
        return public("divided into single cells", "Noise lies on coefficients, not on cells.")
