"""The curator of a forest: one plan in each of many areas, a release's noise in few calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from explorer.privacy.counts import Counts
from explorer.privacy.curator import Curator
from explorer.privacy.noise import NoiseSource, is_plain_preview
from explorer.privacy.pool import side_by_side
from explorer.privacy.regions import Regions

T = TypeVar("T")


class ForestCurator(Curator):
    """A `Curator` that runs plans inside many regions at once."""

    def forest(
        self, regions: Regions, counts: Sequence[Counts], plan: Callable[[Curator], T]
    ) -> list[T]:
        """Run one plan in each of some regions as if `within` it, a release's draws taken together.

        The proof is that of `within`, region by region: what is drawn at one time (`pool`) was
        charged to each region's own account before, and each plan sees its own draws alone.

        Parameters
        ----------
        regions : n regions of one book
        counts : (n,) the records of each region, and no others, over a domain of their own
        plan : what is done in each with a curator of its own

        Returns
        -------
        What the plan returned for each, (n,).

        Raises
        ------
        InputError, ValueError
            See `within`; nothing is drawn then.
        """
        single_regions = [regions.select(np.array([i])) for i in range(len(regions))]
        inner = [self.within(*one) for one in zip(single_regions, counts, strict=True)]
        if is_plain_preview(self._noise):
            # Its draws have names, so that nothing is gained by waiting for others.
            return [plan(curator) for curator in inner]

        def run(curator: Curator) -> Callable[[NoiseSource], T]:
            def draw_from(source: NoiseSource) -> T:
                curator._noise = source
                return plan(curator)

            return draw_from

        return side_by_side(self._noise, [run(curator) for curator in inner])
