"""All rounds together: least squares up the tree, shares that cannot be negative down it.

Every round's sum of a node says, scaled to everybody, y N / m, with variance
(sd^2 + max(y, sd)) (N / m)^2: its noise, and what sampling people adds (a Poisson count, estimated
from the noisy one, never below one sd). Those are measurements of nodes of the last tree, so the
inference of every other tree applies (`releases.inference.split`, SPIKE .25). It needs rounds whose
trees only ever divide; where cells were given up, the last round alone is published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.federated.rounds import Heard
from explorer.releases.quarters import KeyTree, separate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
