"""Private answers to the boxes of one screen: what a release says, and nothing exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.grid.range_queries import Queries
from explorer.releases.answers import Answers

if TYPE_CHECKING:
    from explorer.releases.release import Release

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PrivateAnswers:
    """Answers of a release to n rectangles; arrays are (n,).

    Parameters
    ----------
    private : private counts
    sd : standard deviation of their noise part
    touched : how many leaves a box holds or cuts, of ``leaves`` in all
    exact : whether ``sd`` is a closed form
    half_width : half the width of a simulated 95 % interval, where ``sd`` is no closed form; None
        until it has been simulated
    scale : what counts were multiplied by: 100 / total where answers are shares in percent
    """

    private: Floats
    sd: Floats
    touched: NDArray[np.int64]
    leaves: int = 0
    exact: bool = True
    half_width: Floats | None = None
    scale: float = 1.0

    def __len__(self) -> int:
        return len(self.private)

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """Ends of the 95 % interval of the noise around the private answers, approximate."""
        if self.half_width is None:
            return Answers(self.private, self.sd).interval()
        return self.private - self.half_width, self.private + self.half_width


def private_answers(release: Release, boxes: Queries) -> PrivateAnswers:
    """Ask ``release`` about ``boxes`` (n, 4) in grid units, or polygons among them."""
    answers = release.answer(boxes)
    return PrivateAnswers(
        private=answers.value,
        sd=answers.sd,
        touched=release.touched(boxes),
        leaves=release.n_leaves,
        exact=answers.sd_exact,
    )
