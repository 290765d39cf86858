"""The exact distributions of the noise: what recorded outcomes and drawn samples are held against.

With a budget of u units of 10^-12 epsilon and sensitivity s, let a = u / (10^12 s) and q = e^-a.

- Noisy count: P(x + Z = y) = (1 - q) / (1 + q) q^|y - x|.
- Decision: P(x + Z > t) = q^(t - x + 1) / (1 + q) for t >= x, else 1 - q^(x - t) / (1 + q).
- Permute-and-flip over costs c_j with w_j = e^(-(c_j - min c) a / 2): the candidates are looked at
  in random order and i is accepted with probability w_i. Give every candidate a uniform arrival
  time; j comes before i's time t with probability t and is then refused with 1 - w_j, so

      P(i) = w_i integral_0^1 prod_{j != i} (1 - t w_j) dt.

  The integrand is a polynomial of degree n - 1 with values in [0, 1]: Gauss-Legendre quadrature
  with ceil(n / 2) nodes is exact for it, and a sum of positive terms loses no digits.
  (McKenna, Sheldon, Permute-and-Flip, 2020; the arrival times are ours.)
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PER_EPSILON = 10**12
"""Units of an epsilon, written down once more: what is audited has no say in what it is."""


def decay(units: int, sensitivity: int) -> float:
    """The a above: how far a log-probability falls from one whole number to the next."""
    return units / (PER_EPSILON * sensitivity)


def decision(value: int, threshold: int, a: float, passed: bool) -> tuple[int, float]:
    """Log-probability of `value + Z > threshold` (or not) as k a + rest; returns (k, rest).

    Returning the whole number separately keeps differences of two of them exact far out.
    """
    # P(x + Z <= t) = P(Z <= t - x) = P(Z > x - t - 1), the distribution being even.
    gap = threshold - value if passed else value - threshold - 1
    if gap >= 0:
        return -(gap + 1), -math.log1p(math.exp(-a))
    return 0, math.log1p(-math.exp(gap * a) / (1.0 + math.exp(-a)))


def selection(costs: Ints, a: float) -> tuple[Ints, Floats]:
    """Log-probabilities of permute-and-flip for every candidate as k a / 2 + rest.

    Parameters
    ----------
    costs : (n,) whole numbers
    a : epsilon / sensitivity of a single cost

    Returns
    -------
    k (n,) int64 and rest (n,), the logarithm of the integral above
    """
    above = costs - costs.min()
    times, weights = _nodes((len(costs) + 1) // 2)
    refused = np.log1p(-times[:, None] * np.exp(above * (-a / 2.0)))
    others = np.exp(refused.sum(axis=1)[:, None] - refused)
    return -above, np.log(weights @ others)


def laplace_p_value(noise: Ints, a: float) -> float:
    """Chi-square p-value of n draws against discrete Laplace, bins expecting 20 draws or more."""
    from scipy import stats

    q = math.exp(-a)
    furthest = max(math.ceil(math.log(20 / len(noise) * (1 + q)) / -a) - 1, 0)
    inner = np.arange(-furthest, furthest + 1)
    inside = (1 - q) / (1 + q) * q ** np.abs(inner)
    tail = q ** (furthest + 1) / (1 + q)
    expected = np.concatenate([[tail], inside, [tail]]) * len(noise)
    edges = np.concatenate([[-np.inf], inner - 0.5, [furthest + 0.5, np.inf]])
    return float(stats.chisquare(np.histogram(noise, edges)[0], expected).pvalue)


_FEWEST_EXPECTED = 10.0
"""Of a group of outcomes, or a chi-square test is none."""


def decision_p_value(passed: NDArray[np.bool_], value: int, threshold: int, a: float) -> float:
    """Binomial p-value of n decisions on one value against their distribution."""
    from scipy import stats

    k, rest = decision(value, threshold, a, True)
    hits = int(np.count_nonzero(passed))
    return float(stats.binomtest(hits, len(passed), math.exp(k * a + rest)).pvalue)


def selection_p_value(chosen: Ints, costs: Ints, a: float) -> float:
    """Chi-square p-value of n selections among the same costs against permute-and-flip."""
    from scipy import stats

    k, rest = selection(costs, a)
    chance = np.exp(k * a / 2.0 + rest)
    expected = chance / chance.sum() * len(chosen)
    observed = np.bincount(chosen, minlength=len(costs))
    # Of outcomes that are hardly ever expected, a single one would pass for a breach.
    order = np.argsort(expected)
    together = np.searchsorted(np.cumsum(expected[order]), _FEWEST_EXPECTED) + 1
    rare, common = order[:together], order[together:]
    if len(common) == 0:
        return 1.0
    expected, observed = (
        np.append(counts[common], counts[rare].sum()) for counts in (expected, observed)
    )
    return float(stats.chisquare(observed, expected).pvalue)


def uniforms(noise: Ints, a: Floats, rng: np.random.Generator) -> Floats:
    """Numbers that are uniform and independent if the noise is distributed as it should be, (n,).

    P(Z < z) + V P(Z = z) with V uniform: the distribution function with its steps filled in.
    """
    q = np.exp(-a)
    size = np.abs(noise)
    below = np.where(noise > 0, 1.0 - q**size / (1.0 + q), q ** (size + 1) / (1.0 + q))
    return np.clip(below + rng.random(len(noise)) * (1.0 - q) / (1.0 + q) * q**size, 0.0, 1.0)


def uniform_p_value(u: Floats) -> float:
    """The smaller p-value, doubled, of two chi-square tests: 64 even bins, and 8 x 8 neighbours.

    The second looks at successive numbers: draws that share their noise are not independent.
    """
    from scipy import stats

    bins = np.minimum((u * 64).astype(np.int64), 63)
    even = stats.chisquare(np.bincount(bins, minlength=64)).pvalue
    pairs = bins[: len(bins) // 2 * 2].reshape(-1, 2) // 8
    together = np.bincount(pairs[:, 0] * 8 + pairs[:, 1], minlength=64)
    return min(1.0, 2.0 * float(min(even, stats.chisquare(together).pvalue)))


@lru_cache(maxsize=4096)
def _nodes(number: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights on 0 to 1."""
    at, weight = np.polynomial.legendre.leggauss(number)
    return (at + 1.0) / 2.0, weight / 2.0
