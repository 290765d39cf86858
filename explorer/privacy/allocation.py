"""How a budget is shared among the levels of a tree, and where a tree had better stop.

All shares are whole units of 10^-12 epsilon, rounded down, so a path can never pass its total.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def proportional(units: int, weights: ArrayLike) -> NDArray[np.int64]:
    """Share a budget in proportion to weights (levels,), rounded down."""
    parts = np.asarray(weights, dtype=np.float64)
    shares = np.floor(units * (parts / parts.sum())).astype(np.int64)
    # A float quotient may be one unit too high; the sum must not be.
    while shares.sum() > units:
        shares[np.argmax(shares)] -= 1
    return shares


def uniform(units: int, height: int) -> NDArray[np.int64]:
    """The same share for the heights 0 to `height`, (height + 1,)."""
    return np.full(height + 1, units // (height + 1), dtype=np.int64)


def geometric(units: int, height: int) -> NDArray[np.int64]:
    """Shares of the heights 0 (leaves) to `height` (root), (height + 1,).

    eps_i = 2^((h - i)/3) eps (2^(1/3) - 1) / (2^((h+1)/3) - 1): it minimises the summed variance of
    one node a level weighted with the 2^(h - i) nodes there (Eq. 22 of htf-2022, right as printed;
    Cormode et al. 2012).
    """
    return proportional(units, 2.0 ** ((height - np.arange(height + 1)) / 3.0))


def fan_out(units: int, nodes: Sequence[int]) -> NDArray[np.int64]:
    """Shares of levels with n_i nodes each: eps_i proportional to n_i^(1/3) (Eq. 38 of htf-2022).

    It minimises sum n_i / eps_i^2; the derivative is -2 n_i / eps_i^3 + lambda (erratum 14).
    """
    return proportional(units, np.cbrt(np.asarray(nodes, dtype=np.float64)))


def closed_form(rates: Floats, copies: Floats, total: float) -> Floats:
    """Stationary point of sum copies_j (1 - exp(-x_j r_j)) with sum copies_j x_j = total.

    x_j = ln(r_j)/r_j + (total - sum ln(r)/r) / (r_j sum 1/r), the sums counting row j copies_j
    times (errata 11 and 12). It is the optimum where all x_j come out at 0 or more.
    """
    log_rate = np.log(rates) / rates
    level = (total - np.sum(copies * log_rate)) / np.sum(copies / rates)
    return log_rate + level / rates


def stop_thresholds(shares: Floats, total: float) -> Floats:
    """Algorithm 4 of htf-2022: the count at which a node of each height had better be a leaf.

    Parameters
    ----------
    shares : (h + 1,) epsilon of the heights 0 (leaves) to h (root)
    total : the noisy number of records; below 0 counts as 0

    Returns
    -------
    (h + 1,) thresholds p_i >= 0. The sums run over all 2^(h+1) - 1 nodes, height i counted
    2^(h-i) times (erratum 13), with the signs of erratum 11; negative p_i become 0. With h = 15,
    eps_data = .084 and 3.5 million records p_0..p_4 are 61.6, 61.2, 56.4, 45.1, 24.1 and the rest
    0, the "62" of section 7.7. Solving again without the zero rows would give 58.9, 57.8, 52.1,
    39.7, 17.2; we keep the paper's figures, which stop hardly earlier.
    """
    height = len(shares) - 1
    copies = np.exp2(height - np.arange(height + 1.0))
    return np.maximum(closed_form(shares, copies, max(total, 0.0)), 0.0)
