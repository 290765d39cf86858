"""How a budget is shared along the paths of an irregular tree of areas.

A plan says of every node which part of what its path has left it takes; the last on a path takes
all. So paths of any depth add up to epsilon exactly, in whole units.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from explorer.grid.areas.people import People
from explorer.releases.forms import Family
from explorer.releases.units import share

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

RULES = ("least squares", "Eq. 38", "per node", "uniform", "geometric", "lowest level")
"""Names of the plans, the default first."""

GEOMETRIC = 2.0 ** (1 / 3)
"""Ratio of the shares of successive levels: best for two children a node (Cormode et al. 2012)."""

_STEPS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6)


def parts(people: People, rule: str, levels: Ints | None = None) -> Floats:
    """Which part of what its path has left every node takes, (t,); 1 at leaves.

    Parameters
    ----------
    people : the tree
    rule : one of `RULES`
        "Eq. 38" as printed: e_i proportional to n_i^(1/3), n_i the areas of level i; best for
        regular trees whose counts are published as drawn (erratum a). "per node": the optimum of
        the same sum over the nodes of any tree, see `per_node`. "uniform", "geometric": the same
        share a level, or 2^(1/3) times as much each. "lowest level": nothing above. "least
        squares": the optimum when least squares follows, see `after_least_squares`.
    levels : (levels + 1,) areas of each level, only children too; needed by "Eq. 38"
    """
    if rule == "per node":
        return per_node(people, people.chain.astype(np.float64))
    if rule == "least squares":
        return spread(people, after_least_squares(people))
    number = people.levels + 1
    weights = {
        "Eq. 38": np.ones(number) / number if levels is None else of_eq_38(levels),
        "uniform": np.ones(number),
        "geometric": GEOMETRIC ** np.arange(number),
        "lowest level": np.where(np.arange(number) < number - 1, 0.0, 1.0),
    }[rule]
    return of_levels(people, weights / weights.sum())


def of_eq_38(levels: ArrayLike) -> Floats:
    """Shares of the levels by Eq. 38 of htf-2022, e_i proportional to n_i^(1/3), (levels,).

    Parameters
    ----------
    levels : (levels,) number of areas of each level

    Examples
    --------
    >>> of_eq_38([1, 50, 3006, 19495]).round(4)  # the United States, as printed
    array([0.0217, 0.08  , 0.3135, 0.5847])
    """
    weights = np.cbrt(np.asarray(levels, dtype=np.float64))
    shares: Floats = weights / weights.sum()
    return shares


def of_levels(people: People, shares: Floats) -> Floats:
    """Parts for shares of the levels, (levels + 1,), that add up to 1.

    A chain of only children takes the shares of all its levels.
    """
    upto = np.cumsum(shares)[people.level]
    # At the whole nothing was spent before.
    before = np.where(people.parent < 0, 0.0, upto[people.parent])
    parts = np.minimum((upto - before) / np.maximum(1.0 - before, 1e-300), 1.0)
    return np.where(people.is_leaf, 1.0, parts)


def per_node(people: People, weights: Floats) -> Floats:
    """The optimum of sum_v w_v / e_v^2 with every path adding up to epsilon, for any tree.

    K_v = (w_v^(1/3) + S_v^(1/3))^3 with S_v the sum of K over v's children (K_leaf = w); v takes
    w_v^(1/3) / (w_v^(1/3) + S_v^(1/3)) of what is left. It is Eq. 38 where the tree is regular.
    """
    below = np.zeros(len(people))
    parts = np.ones(len(people))
    for v in range(len(people) - 1, -1, -1):
        root, rest = np.cbrt(weights[v]), np.cbrt(below[v])
        parts[v] = root / (root + rest)
        if v > 0:
            below[people.parent[v]] += (root + rest) ** 3
    return parts


def spread(people: People, fractions: ArrayLike) -> Floats:
    """Parts for one fraction of what is left a level, (levels + 1,); leaves take all."""
    parts = np.asarray(fractions, dtype=np.float64)[people.level]
    return np.where(people.is_leaf, 1.0, parts)


def squared_error(people: People, parts: Floats, consistent: bool = True) -> float:
    """Sum over all areas of variance / 2 at epsilon 1, after least squares or as drawn.

    The noise is taken as continuous: variance 2 / e^2. Areas that are the same people count once
    each.
    """
    e = np.empty(len(people))
    _pay(people.parent, parts, e)
    if not consistent:
        return float(np.sum(people.chain / e**2)) if np.all(e > 0) else np.inf
    final = Family(people.parent, e**2 / 2).final
    return float(np.sum(people.chain * final)) / 2


def after_least_squares(people: People) -> Floats:
    """Fractions of what is left, one a level, that make the squared error after it least.

    Upper levels are sums of many once least squares has run, so that Eq. 38 overpays them
    (erratum a): Great Britain .275 for regions and nothing above, 37 % less squared error than
    Eq. 38 as drawn. Found by descent along one level at a time; the best of two starts, since a
    level may be better left out.

    Returns
    -------
    (levels + 1,) from 0 to below 1; the last is not used
    """
    from scipy.optimize import minimize_scalar

    inner = np.unique(people.level[~people.is_leaf])
    best, least = np.zeros(people.levels + 1), np.inf
    for start in (0.0, 0.1):
        fractions = np.zeros(people.levels + 1)
        fractions[inner] = start
        before, now = np.inf, squared_error(people, spread(people, fractions))
        while before - now > 1e-7 * now:
            before = now
            for level in inner[::-1]:
                trial = fractions.copy()

                def error(part: float, trial: Floats = trial, level: int = int(level)) -> float:
                    trial[level] = part
                    return squared_error(people, spread(people, trial))

                coarse = min(_STEPS, key=error)
                near = (max(coarse - 0.15, 0.0), coarse + 0.15)
                fine = minimize_scalar(error, bounds=near, method="bounded").x
                fractions[level] = min((0.0, coarse, float(fine), fractions[level]), key=error)
            now = squared_error(people, spread(people, fractions))
        if now < least:
            best, least = fractions, now
    return best


def units_on_paths(people: People, parts: Floats, units: int) -> tuple[Ints, Ints]:
    """What every node pays, and what its path has left when its turn comes, in whole units, (t,).

    Leaves take all that is left, so that every path adds up to `units` exactly.
    """
    left, paid = np.empty((2, len(people)), dtype=np.int64)
    for v in range(len(people)):
        p = people.parent[v]
        left[v] = units if p < 0 else left[p] - paid[p]
        paid[v] = left[v] if people.is_leaf[v] else share(int(left[v]), float(parts[v]))
    return paid, left


@njit(cache=True, nogil=True)
def _pay(parent, parts, paid):  # type: ignore[no-untyped-def]
    """What every node pays of one epsilon, into `paid` (t,)."""
    left = np.ones(len(parent))
    for v in range(len(parent)):
        if v > 0:
            left[v] = left[parent[v]] - paid[parent[v]]
        paid[v] = left[v] * parts[v]
