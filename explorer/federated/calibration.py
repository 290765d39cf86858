"""How much noise, how many people, how many bits: the figures of a round, all of them public.

A person's vector moves by `sensitivity` (L1) when it becomes zero. A sum over a shard carries
discrete Laplace noise P(z) = (1 - q) / (1 + q) q^|z|, q = exp(-epsilon / sensitivity), of which
every person brings a share (erratum 27).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from explorer.errors import InputError

OVERFLOW = 1e-9
"""Chance that the noise of any number of a round passes what its bits hold, at most."""

DEVIATIONS, REFUSED = 4.0, 1e-4
"""A shard is refused when so many standard deviations more people than usual drop out, or more
where that would refuse a larger part of all shards than this."""

MOST_BITS = 62
"""Sums are int64."""


def sigma(epsilon: float, sensitivity: int = 1) -> float:
    """Standard deviation of the noise of one shard of as many survivors as it is made for.

    sqrt(2q) / (1 - q) = 1 / (sqrt(2) sinh(epsilon / (2 sensitivity))) (Eq. 5 of heatmaps-2022).

    >>> round(sigma(1.0), 5)
    1.35696
    """
    half = epsilon / (2.0 * sensitivity)
    # Beyond it the noise is below 1e-300.
    return 1.0 / (math.sqrt(2.0) * math.sinh(min(half, 690.0)))


def epsilon_of(sigma: float, sensitivity: int = 1) -> float:
    """The epsilon whose noise has a given standard deviation, above 0: the inverse of `sigma`.

    2 sensitivity asinh(1 / (sqrt(2) sigma)): Eq. 8 of heatmaps-2022 (erratum 28), whose printed
    root form loses digits where sigma is small.

    >>> round(epsilon_of(100.0), 7)
    0.014142
    """
    return 2.0 * sensitivity * math.asinh(1.0 / (math.sqrt(2.0) * sigma))


def shards(people: int, size: int) -> int:
    """How many shards of at most `size` people are made of some people, ceil(people / size).

    No one is alone in a shard: of an odd number two by two, three are together.

    >>> shards(10_001, 10_000), shards(7, 2), shards(1, 2)
    (2, 3, 1)
    """
    return max(1, min(-(-people // size), people // 2))


def shard_of(people: int, number: int) -> np.ndarray:
    """First person of each shard and the end of the last, (number + 1,): as even as can be.

    Person i is in shard i number // people, so sizes differ by one at most; a short last shard
    would fall below the survivors that its noise needs and always be refused.

    >>> shard_of(10, 3).tolist()
    [0, 4, 7, 10]
    """
    return -(-np.arange(number + 1, dtype=np.int64) * people // number)


def fewest(size: int, dropped: float) -> int:
    """Survivors below which a shard is refused: n (1 - d) - 4 sqrt(n d (1 - d)), rounded down.

    Where the normal distribution is too far from the binomial, so few that with independent
    dropouts 1e-4 of the shards or fewer are refused: P(Binomial(n, 1 - d) < fewest) <= 1e-4. At
    least 1, which a shard of no one does not have.

    >>> fewest(100, 0.1), fewest(1000, 0.1), fewest(10_000, 0.1)
    (77, 862, 8880)
    """
    from scipy.special import bdtr

    expected = size * (1.0 - dropped)
    spread = math.sqrt(size * dropped * (1.0 - dropped))
    least = max(1, math.floor(expected - DEVIATIONS * spread + 1e-9))
    while least > 1 and bdtr(least - 1, size, 1.0 - dropped) > REFUSED:
        least -= 1
    return least


def honest(size: int, dropped: float, corrupt: float) -> int:
    """n_min: honest survivors of every shard that is not refused; shares have shape 1 / n_min.

    Corrupt people know their own shares, so `fewest` less all of them (erratum 43).

    Raises
    ------
    InputError
        If no one honest is left.

    >>> honest(10_000, 0.1, 0.05)
    8380
    """
    left = fewest(size, dropped) - math.ceil(corrupt * size - 1e-9)
    if left < 1:
        raise InputError(
            f"Of a shard of {size} people with {dropped:g} dropped and {corrupt:g} corrupt nobody "
            "honest is sure to be left: make shards larger, or ask more people."
        )
    return left


def epsilon_of_fewer(epsilon: float, part: float) -> float:
    """What a sum costs that holds only a part of the shares its noise was made for.

    With shares summing to shape a = part < 1 the loss is largest between the outputs 0 and 1:
    eps(a) = ln[ F(a, a; 1; q^2) / (a q F(a, a + 1; 2; q^2)) ], F = 2F1, q = exp(-epsilon). A shape
    of 1 or more costs epsilon: what is beyond 1 is independent noise on top.

    >>> [round(epsilon_of_fewer(0.5, a), 3) for a in (0.9, 0.5, 0.3)]
    [0.586, 1.138, 1.658]
    """
    from scipy.special import hyp2f1

    if part >= 1.0:
        return epsilon
    q = math.exp(-epsilon)
    zero, one = hyp2f1(part, part, 1.0, q * q), hyp2f1(part, part + 1.0, 2.0, q * q)
    return math.log(zero) - math.log(part) + epsilon - math.log(one)


def floor_of_fewer(part: float) -> float:
    """What `epsilon_of_fewer` tends to as epsilon goes to 0: ln((1 - a) / a) below a half, else 0.

    No amount of noise a person repairs it: too few of the shares are there at all.

    >>> round(floor_of_fewer(0.3), 3), floor_of_fewer(0.6)
    (0.847, 0.0)
    """
    return math.log((1.0 - part) / part) if part < 0.5 else 0.0


def tail(epsilon: float, k: int, shape: float = 1.0) -> float:
    """Bound of ln P(Z >= k) for the noise Z = X - Y of a shard's sum, X, Y ~ NB(shape, q).

    From k on, P(X = x + 1) / P(X = x) = q (x + r) / (x + 1) <= q g, g = 1 + (r - 1) / (k + 1), so
    that summed over x and averaged over Y

        P(Z >= k) <= P(X = k) / (1 - q g) E[(q g)^Y] = P(X = k) / (1 - q g) [(1-q) / (1 - q^2 g)]^r,

    P(X = k) = (1-q)^r q^k Gamma(r + k) / (Gamma(r) k!). For r = 1 it is exact, q^k / (1 + q); for
    more it is as good as g is near 1.

    Parameters
    ----------
    epsilon : above 0, of sensitivity 1
    k : 0 or more
    shape : r, 1 or more, any real number

    Returns
    -------
    float
        Infinite where q g reaches 1, as long as k is small next to (r - 1) / epsilon.

    >>> round(math.exp(tail(1.0, 20)) * 1e9, 6) == round(
    ...     math.exp(-20) / (1 + math.exp(-1)) * 1e9, 6
    ... )
    True
    """
    from scipy.special import betaln

    step = (shape - 1.0) / (k + 1.0)
    # 1 - q and 1 - q g, where q is near 1, too.
    rest = -math.expm1(-epsilon)
    near, far = rest - math.exp(-epsilon) * step, -math.expm1(-2 * epsilon)
    if near <= 0.0:
        return math.inf
    far -= math.exp(-2 * epsilon) * step
    mass = shape * math.log(rest) - k * epsilon - betaln(shape, k + 1.0) - math.log(shape + k)
    return float(mass - math.log(near) + shape * math.log(rest / far))


@lru_cache(maxsize=1024)
def lowest(
    epsilon: float, counters: int, number: int, sensitivity: int = 1, shape: float = 1.0
) -> int:
    """L: noise of a round is below -L or above L with a chance of `OVERFLOW` or less.

    The smallest L with 2 v K P(Z > L) <= 1e-9 by the bound of `tail`, for v `counters` and K =
    `number` shards; the noise is that of epsilon / S. `shape` is r = m / n_min of the fullest
    shard, 1 or more: people who do not drop out bring their shares, too, so that a sum has more
    noise than epsilon asks for.
    """
    limit = math.log(OVERFLOW / 2.0) - math.log(counters) - math.log(number)
    price = epsilon / sensitivity
    low, high = -1, 1
    while tail(price, high + 1, shape) > limit:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tail(price, middle + 1, shape) <= limit else (middle, high)
    return high


def bits(size: int, low: int, sensitivity: int = 1) -> int:
    """Bits of a counter of a shard's sum, which is in [-L, S n + L]: ceil(log2(S n + 2 L + 1)).

    >>> bits(1000, lowest(1.0, 64, 1)), bits(10_000, lowest(1.0, 27_454, 49))
    (11, 14)
    """
    return (size * sensitivity + 2 * low).bit_length()


# Secure aggregation: what may fail, for all people of a shard together.
_FEW = 50
_REBUILT, _LOST, _CUT_OFF = 2.0**-40, 2.0**-30, 2.0**-40


@lru_cache(maxsize=256)
def neighbours(size: int, dropped: float, corrupt: float) -> tuple[int, int]:
    """Degree k and threshold t of a shard's secret sharing: the smallest even k with its least t.

    With neighbours chosen at random (hypergeometric tails, union bounds):
    t or more corrupt neighbours for some honest person, who could rebuild her secret: < 2^-40;
    fewer than t surviving neighbours for some person, whose mask would stay: < 2^-30;
    two runs of k/2 corrupt or dropped people on the ring, where a Harary graph is divided into
    parts whose sums would be seen: C(n, 2) C(n - k, R - k) / C(n, R) < 2^-40, R of them.

    In a shard of fewer than 50, too few for tails, everybody is a neighbour; t is then midway
    between the corrupt ones and the survivors. (Bell et al. 2020, section 4, semi-honest.)

    >>> neighbours(1000, 0.1, 0.05), neighbours(10_000, 0.1, 0.05)
    ((40, 19), (46, 22))
    """
    bad, gone = math.floor(corrupt * size + 1e-9), math.floor(dropped * size + 1e-9)
    both, k = bad + gone, 2
    while k < size and size >= _FEW:
        apart = -math.inf
        if both >= k:
            apart = _choose(size, 2) + _choose(size - k, both - k) - _choose(size, both)
        if apart >= math.log(_CUT_OFF):
            k += 2
            continue
        corrupt_ones, chance = _hypergeometric(size - 1, bad, k)
        tail = np.cumsum(chance[::-1])[::-1]
        safe = np.flatnonzero((size - bad) * tail < _REBUILT)
        t = max(2, int(corrupt_ones[safe[0]] if len(safe) else corrupt_ones[-1] + 1))
        there, chance = _hypergeometric(size - 1, size - 1 - gone, k)
        if t <= k and size * chance[there < t].sum() < _LOST:
            return k, t
        # Of two more neighbours at most two survive, and no fewer are corrupt: a threshold that is
        # too high by so many cannot be met before.
        limit = int(there[0] + np.count_nonzero(size * np.cumsum(chance) < _LOST))
        k += 2 * max(1, -(-(t - limit) // 2))
    k = size - 1
    survivors = fewest(size, dropped) - 1
    return k, max(1, min((bad + 1 + survivors + 1) // 2, survivors))


def _choose(n: int, k: int) -> float:
    from scipy.special import gammaln

    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _hypergeometric(people: int, marked: int, drawn: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of marked ones among those drawn, and their probabilities."""
    from scipy.special import gammaln

    x = np.arange(max(0, drawn + marked - people), min(marked, drawn) + 1)
    log = gammaln(marked + 1) - gammaln(x + 1) - gammaln(marked - x + 1)
    rest = people - marked
    log += gammaln(rest + 1) - gammaln(drawn - x + 1) - gammaln(rest - drawn + x + 1)
    return x, np.exp(log - _choose(people, drawn))


def bytes_up(counters: int, bits: int, degree: int) -> int:
    """Bytes that a person sends: two keys, a box and a share for each neighbour, the vector.

    64 + 50 k + 17 k + ceil(v b / 8): a box holds two shares of 17 bytes and its tag of 16.
    """
    return 64 + 67 * degree + -(-counters * bits // 8)


def bytes_down(degree: int) -> int:
    """Bytes that a person receives: two keys and a box of each neighbour, 114 k."""
    return 114 * degree
