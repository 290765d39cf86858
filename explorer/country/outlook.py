"""Before a release: how good will my own area be? Said from boundaries and budgets alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.country import budgets
from explorer.country.mechanism import NO_MAPS, Country
from explorer.grid.areas.windows import Windows
from explorer.releases.area_map import asked_of, fractions
from explorer.releases.forms import Family
from explorer.releases.units import laplace_variance, share, to_units

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Outlook:
    """What can be said of m questions before anything is drawn.

    Attributes
    ----------
    sd : (m,) standard deviation of the noise, taking of every area that is cut through its share
        of the land; what is unevenly inside such an area comes on top
    whole : (m,) areas that lie wholly inside
    cut : (m,) areas that the question cuts through: how far it is off the tree
    """

    sd: Floats
    whole: Ints
    cut: Ints


def outlook(country: Country, windows: Windows, where: Any, contribution_bound: int = 1) -> Outlook:
    """How well a release will answer, by the counts of areas alone; it costs nothing.

    Maps inside make the noise of areas smaller, and their parts better than their share of land.

    Parameters
    ----------
    country : with its epsilon; own_share above 0, or "none" inside
    windows : as of counts, `counts.windows`
    where : as of `CountryRelease.answer`
    contribution_bound : records of a user in the whole country
    """
    people = windows.people
    parts = country.parts_of(people, np.bincount(windows.areas.level))
    paid, left = budgets.units_on_paths(people, parts, to_units(country.epsilon))
    if country.inside != NO_MAPS:
        for leaf in np.flatnonzero(people.is_leaf):
            paid[leaf] = share(int(left[leaf]), country.own_share)
    drawn = paid > 0
    precision = np.zeros(len(people))
    precision[drawn] = 1 / laplace_variance(paid[drawn], contribution_bound)
    family = Family(people.parent, precision)
    shapes = asked_of(where, windows)
    weights = np.zeros((len(shapes), len(people)))
    whole, cut = np.zeros((2, len(shapes)), dtype=np.int64)
    for area, leaf in zip(windows.row, people.row, strict=True):
        window = windows.of([int(area)])
        inside, _, part = fractions(windows, window, None, window.land, shapes)
        weights[:, leaf] = np.where(inside, 1.0, part[:, 0])
        whole += inside
        cut += ~inside & (part[:, 0] > 0)
    return Outlook(np.sqrt(family.variance(weights)), whole, cut)
