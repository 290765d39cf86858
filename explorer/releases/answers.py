"""What a release answers: counts, and how far noise may have moved them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Z95 = 1.96
"""Standard deviations on either side that hold 95 % of a normal distribution."""


@dataclass(frozen=True)
class Answers:
    """Answers to n boxes.

    Attributes
    ----------
    value : (n,) private counts
    sd : (n,) standard deviation of their noise part, given the partition. The rest of the error
        comes from uneven spread inside leaves, which no release can know.
    sd_exact : whether `sd` is a closed form (linear inference) or an estimate
    """

    value: Floats
    sd: Floats
    sd_exact: bool = True

    def interval(self, z: float = Z95) -> tuple[Floats, Floats]:
        """Approximate 95 % interval of the noise part: value -+ z sd."""
        return self.value - z * self.sd, self.value + z * self.sd
