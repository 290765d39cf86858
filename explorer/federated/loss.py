"""How likely a noisy sum is, given the exact one: the distribution as drawn, for the audit."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from explorer.federated.places import Ints
from explorer.releases.units import UNITS_PER_EPSILON

Floats = NDArray[np.float64]


def log_probability(noise: Ints, shape: float, units: int, sensitivity: int = 1) -> Floats:
    """Logarithm of the probability of each noise, the difference of two NB(a, q), (n,).

    2a ln(1-q) + |z| ln q + ln Gamma(a+|z|) - ln Gamma(a) - ln |z|! + ln F(a, a+|z|; |z|+1; q^2),
    F = 2F1, q = exp(-epsilon / S), a = m / n_min of m survivors. For a = 1 it is discrete Laplace
    noise, ln((1-q)/(1+q)) + |z| ln q.

    Parameters
    ----------
    noise : z, whole numbers
    shape : a, above 0
    units, sensitivity : price in 10^-12 epsilon, S

    >>> float(np.exp(log_probability(np.array([0]), 1.0, 10**12))[0]).__round__(6)
    0.462117
    """
    from scipy.special import gammaln, hyp2f1

    decay = units / (UNITS_PER_EPSILON * sensitivity)
    q = math.exp(-decay)
    sizes, where = np.unique(np.abs(noise), return_inverse=True)
    z = sizes.astype(np.float64)
    log = 2.0 * shape * math.log(-math.expm1(-decay)) - z * decay
    log += gammaln(shape + z) - gammaln(shape) - gammaln(z + 1.0)
    log += np.log(hyp2f1(shape, shape + z, z + 1.0, q * q))
    result: Floats = log[where.reshape(np.shape(noise))]
    return result
