"""The two extremes that every mechanism is measured against."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import ClassVar

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import Decision, public
from explorer.mechanisms.figures import Figures
from explorer.mechanisms.limits import require_parts
from explorer.mechanisms.options import ANY
from explorer.privacy.curator import Curator
from explorer.releases import inference
from explorer.releases.inference import Estimate


class Identity(Mechanism):
    """Noise on every cell: no error inside cells, a great deal of noise over large areas.

    htf-2022 section 7.5 calls it Singular (erratum 17). Budget epsilon per cell, since cells are
    disjoint; the noise of an answer grows with the root of the cells in it.

    Examples
    --------
    A preview (``rng`` given) is reproducible and not private; without ``rng`` it is a release.

    >>> import numpy as np
    >>> from explorer import Identity
    >>> town = np.kron([[40, 0], [2, 9]], np.ones((4, 4), dtype=int))
    >>> preview = Identity(epsilon=1).release(town, rng=7)
    >>> preview.n_leaves, preview.epsilon, preview.preview  # every cell has noise of its own
    (64, 1.0, True)
    """

    key: ClassVar[str] = "identity"
    title: ClassVar[str] = "Identity"
    summary: ClassVar[str] = "Noise on every single cell of the grid."
    paper: ClassVar[str] = "Dwork, McSherry, Nissim, Smith 2006"
    group: ClassVar[str] = "Baselines"
    dimensions: ClassVar[Collection[int]] = ANY
    colour: ClassVar[str] = "olive"
    marker: ClassVar[str] = "hex"
    dash: ClassVar[str] = "dashed"

    def _check_size(self, shape: tuple[int, ...], preview: bool) -> None:
        require_parts(self.title, math.prod(shape), len(shape), preview)

    def plan(self, curator: Curator) -> Estimate:
        """One count for every cell, each with the whole budget."""
        domain = curator.open()
        cells = domain.grid(domain.shape)
        curator.count(cells, curator.units, "cells")
        return inference.leaves(curator.transcript(), ["cells"])

    @property
    def shape_is_public(self) -> bool:
        """Always."""
        return True

    def decision(self, node: Figures) -> Decision:
        """Public throughout."""
        if node.is_leaf:
            why = "Single cells are counted, whatever lies in them."
            return public("every cell is a leaf", why)
        return public("divided into single cells", "No count decides: the shape is public.")


class Uniform(Mechanism):
    """One noisy total, spread evenly: almost no noise, and no map.

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import Uniform
    >>> town = np.kron([[40, 0], [2, 9]], np.ones((4, 4), dtype=int))
    >>> preview = Uniform(epsilon=1).release(town, rng=7)
    >>> preview.n_leaves, len(np.unique(preview.density()))  # every cell has the same count
    (1, 1)
    """

    key: ClassVar[str] = "uniform"
    title: ClassVar[str] = "Uniform"
    summary: ClassVar[str] = "One noisy total, spread evenly over the whole map."
    paper: ClassVar[str] = "Shaham et al., ACM TSAS 2022, section 7.5"
    group: ClassVar[str] = "Baselines"
    dimensions: ClassVar[Collection[int]] = ANY
    colour: ClassVar[str] = "plum"
    marker: ClassVar[str] = "inverted_triangle"
    dash: ClassVar[str] = "dashed"

    def plan(self, curator: Curator) -> Estimate:
        """One count for the whole domain."""
        domain = curator.open()
        curator.count(domain, curator.units, "total")
        return inference.leaves(curator.transcript(), ["total"])

    @property
    def shape_is_public(self) -> bool:
        """Always."""
        return True

    def decision(self, node: Figures) -> Decision:
        """Public."""
        return public("never divided", "The whole map is counted once.")
