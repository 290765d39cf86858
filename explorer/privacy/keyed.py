"""Kernels of previews: draws that are functions of keys, and Algorithm 1 of htf-2022 on them."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.points.cost_tables import Tables
from explorer.points.split_costs import (
    COPIED,
    cost_of_copy,
    cut_cost,
    frame,
    is_copied,
    is_narrow,
    turn,
)
from explorer.privacy.regions import Regions
from explorer.releases.nodes import Ints
from explorer.releases.transcript import Candidates

Keys = NDArray[np.uint64]

# First bits of a uniform that say its noise: as many as make pieces times decay this much, so that
# few pieces hold a step of the noise; no more than pieces that a cache holds.
_LEAST_BITS, _MOST_BITS, _ENOUGH = 12, 16, 256.0
_SLOWEST = 0.0005  # decay below which too many hold one
_UNSURE = -(2**15)  # no noise that is looked up
_AT_ONCE = 256  # draws whose words are made together


@njit(cache=True, nogil=True, inline="always")
def _word(key, salt):  # type: ignore[no-untyped-def]
    """A 64-bit word from two (splitmix64)."""
    z = key ^ salt
    z = (z + np.uint64(0x9E3779B97F4A7C15)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def _uniform(key, salt):  # type: ignore[no-untyped-def]
    """A number strictly between 0 and 1 from two 64-bit words."""
    return (np.float64(_word(key, salt) >> np.uint64(11)) + 0.5) * 2.0**-53


@njit(cache=True, nogil=True)
def _laplace(key, salt, decay, rest):  # type: ignore[no-untyped-def]
    """Discrete Laplace noise: the inverse distribution function of a hashed uniform.

    P(Z <= -k) = q^k / (1 + q) for k >= 1, with q = exp(-decay), and the same on the other side;
    `rest` is log(1 + q).
    """
    u = _uniform(key, salt)
    tail = min(u, 1.0 - u)
    size = np.floor(-(np.log(tail) + rest) / decay)
    size = max(size, 0.0)
    return np.int64(size if u > 0.5 else -size)


@njit(cache=True, nogil=True)
def add_laplace(  # type: ignore[no-untyped-def]
    values, units, scale, keys, salt, noisy, steps, pieces
):
    """Fill `noisy` (n,) with `values` and noise of scale `scale` / units.

    `units` are of each or one of all. A logarithm takes most of a draw's time: where many pay the
    same, draws are looked up by the first bits of their uniforms. `steps` and `pieces` are
    `working_memory`.
    """
    number, begin = len(values), 0
    while begin < number:
        # Neighbours mostly paid the same.
        paid = units[min(begin, len(units) - 1)]
        end = begin + 1 if len(units) > 1 else number
        while end < number and units[end] == paid:
            end += 1
        decay = paid / scale
        rest = np.log1p(np.exp(-decay))
        size = np.uint64(_fill_steps(decay, rest, end - begin, steps))
        if size > 0:
            for first in range(begin, end, _AT_ONCE):
                # Words alone, many at once: without a question between them they are vectors.
                some = min(_AT_ONCE, end - first)
                for j in range(some):
                    word = _word(keys[first + j], salt) >> np.uint64(48)
                    pieces[j] = word * size >> np.uint64(16)
                for j in range(some):
                    i, step = first + j, np.int64(steps[pieces[j]])
                    if step == _UNSURE:
                        step = _laplace(keys[i], salt, decay, rest)
                    noisy[i] = values[i] + step
        else:
            for i in range(begin, end):
                noisy[i] = values[i] + _laplace(keys[i], salt, decay, rest)
        begin = end


def working_memory(draws: int) -> tuple[NDArray[np.int16], Keys]:
    """What `add_laplace` writes to while it draws so many."""
    return np.empty(min(draws, 1 << _MOST_BITS), np.int16), np.empty(_AT_ONCE, np.uint64)


@njit(cache=True, nogil=True)
def _fill_steps(decay, rest, draws, steps):  # type: ignore[no-untyped-def]
    """Fill `steps` with the noise of uniforms in equal pieces of (0, 1), `_UNSURE` if it differs.

    Returns the number of pieces, a power of two: as many first bits of uniforms as say the noise.
    It is 0 where there are few `draws`, and less than they are. The noise falls and rises with the
    uniform: where both ends of a piece have the same, and that not by the last digits, all between
    them have it.
    """
    if decay < _SLOWEST or draws >> _LEAST_BITS < 2:
        return 0
    bits = _LEAST_BITS
    while bits < _MOST_BITS and decay * (1 << bits) < _ENOUGH and draws >> bits > 2:
        bits += 1
    pieces = 1 << bits
    room = 1e-11 / decay
    greatest = np.inf
    for piece in range(pieces >> 1):
        least = -(np.log((piece + 1) / pieces) + rest) / decay
        size = max(np.floor(least - room), 0.0)
        steps[piece] = steps[pieces - 1 - piece] = _UNSURE
        if size == max(np.floor(greatest + room), 0.0) and size < -_UNSURE:
            steps[piece], steps[pieces - 1 - piece] = -size, size
        greatest = least
    return pieces


@njit(cache=True, nogil=True)
def lowest(costs, offsets, scale, keys, salt, chosen):  # type: ignore[no-untyped-def]
    """Fill `chosen` (n,) with positions of the least of costs less exponential noise."""
    for i in range(len(scale)):
        best = np.inf
        for j in range(offsets[i], offsets[i + 1]):
            step = np.uint64(j - offsets[i] + 1) * np.uint64(0xD1342543DE82EF95)
            noisy = costs[j] + scale[i] * np.log(_uniform(keys[i] + step, salt))
            if noisy < best:
                best = noisy
                chosen[i] = j - offsets[i]


def search(
    tables: Tables,
    regions: Regions,
    axis: Ints,
    window: tuple[Ints, Ints],
    units: Ints,
    scale: float,
    salts: Keys,
) -> tuple[Ints, list[Candidates]]:
    """Algorithm 1 for n regions in one go: what `cuts.search` does, to the last bit.

    Region by region, so that what one evaluation read is at hand for the next six.

    Parameters
    ----------
    tables : of the exact counts
    regions : n of them, paid for
    axis : (n,) the axis that is cut
    window : (n,) sentinels with at least one cut between them, see `cuts.window`
    units : (n,) budget of every evaluation
    scale : of the noise, times units
    salts : (2 T + 1,) names of the draws

    Returns
    -------
    (n,) cuts, counted in cells from the region's first, and what every draw looked at, in the order
    of `cuts.search`
    """
    cuts, number = np.empty(len(regions), np.int64), np.zeros(len(salts), np.int64)
    who, places, noisy = np.empty((3, len(salts), len(regions)), dtype=np.int64)
    low, high = window
    _search(
        tables, regions.lower, regions.upper, axis, low, high, units, scale, regions.keys, salts,
        regions.ids, np.empty(COPIED, np.int32), np.empty(COPIED + 1, np.int64), np.empty(2), cuts,
        number, who, places, noisy,
    )  # fmt: skip
    took_part = number.tolist()
    # Draws that no one took part in are noted, too, up to the first round without any.
    rounds = sum(map(any, zip(took_part[1::2], took_part[2::2], strict=True)))
    return cuts, [
        Candidates(who[draw, :m], places[draw, :m], noisy[draw, :m])
        for draw, m in enumerate(took_part[: 3 + 2 * rounds])
    ]


@njit(cache=True, nogil=True, error_model="numpy")
def _search(  # type: ignore[no-untyped-def]
    tables, lower, upper, axis, low, high, units, scale, keys, salts, ids, copy, lines, drawn,
    cuts, number, who, places, noisy,
):  # fmt: skip
    # `copy` and `lines` are for `turn`; `drawn` (2,) for the values of the cuts of a round,
    # infinite where there is none.
    excess = tables.excess.reshape(-1)
    paid, decay, rest = 0, 1.0, 0.0
    for i in range(len(ids)):
        if units[i] != paid:
            paid = units[i]
            decay = paid / scale
            rest = np.log1p(np.exp(-decay))
        r0, c0, r1, c1 = lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1]
        box = frame(tables, r0, c0, r1, c1, axis[i])
        cells, total, small = (r1 - r0) * (c1 - c0), 0, False
        if is_copied(tables, excess, box, cells):
            total = turn(tables, r0, c0, r1, c1, axis[i], copy, lines)
            small = is_narrow(cells, total)
        left, right = low[i], high[i]
        k = left + (right - left) // 2
        best, k1, k2 = np.inf, k, k
        for draw in range(len(salts)):
            # The middle alone at first, then a candidate on either side of it, round by round.
            side = (draw + 1) % 2
            if draw > 0 and side == 0:
                k1, k2 = (left + k) // 2, (k + right) // 2
                if k1 <= left and k2 <= k:
                    break
            drawn[side] = np.inf
            if draw == 0 or (side == 0 and k1 > left) or (side == 1 and k2 > k):
                cut = box.first + (k1 if side == 0 else k2)
                if small:
                    cost = cost_of_copy(copy, lines, box.across, cells, total, cut - box.first)
                else:
                    cost = cut_cost(tables, excess, box, r0, c0, r1, c1, axis[i], cut)
                value = cost + _laplace(keys[i], salts[draw], decay, rest)
                at = number[draw]
                number[draw] += 1
                who[draw, at], places[draw, at], noisy[draw, at] = ids[i], cut, value
                drawn[side] = value
            if draw == 0:
                best = drawn[side]
            elif side == 1:
                if drawn[0] < best and drawn[0] <= drawn[1]:
                    right, k, best = k, k1, drawn[0]
                elif drawn[1] < best:
                    left, k, best = k, k2, drawn[1]
                else:
                    left, right = k1, (k2 if k2 > k else right)
        cuts[i] = k
