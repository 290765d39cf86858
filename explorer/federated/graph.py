"""Who shares secrets with whom: a sparse random graph of a shard."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def harary(ring: Ints, degree: int) -> Ints:
    """Neighbours of everybody: the k/2 next ones on either side of a ring.

    A Harary graph stays in one part unless two runs of k/2 people on the ring are taken out; on a
    random ring that is as rare as `calibration.neighbours` says (Bell et al. 2020, section 4.2).

    Parameters
    ----------
    ring : (n,) the people 0 to n - 1 in random order
    degree : k, even, or n - 1 for everybody

    Returns
    -------
    (n, k) int64: row i holds the neighbours of person i

    >>> harary(np.array([2, 0, 1, 3, 4]), 2).tolist()
    [[2, 1], [0, 3], [4, 0], [1, 4], [3, 2]]
    """
    size = len(ring)
    if not 1 <= degree < size or (degree % 2 and degree != size - 1):
        raise ValueError("a Harary graph has an even degree below its size, or joins everybody")
    half = degree // 2
    if degree == size - 1:
        steps = np.arange(1, size)
    else:
        steps = np.concatenate([np.arange(-half, 0), np.arange(1, half + 1)])
    around = np.asarray(ring)[(np.arange(size)[:, np.newaxis] + steps) % size]
    table = np.empty((size, degree), dtype=np.int64)
    table[ring] = around
    return table
