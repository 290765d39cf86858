"""From a file with a user column to a release: the claim holds for a whole user."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer import Grid, Points, TripDomain, Trips
from explorer.mechanisms import (
    AG,
    EUG,
    HTF,
    DAFEntropy,
    Gravity,
    KDStandard,
    Mosaic,
    Privlet,
    PrivTree,
)
from explorer.privacy.audit.audit import front_door
from explorer.privacy.audit.replay import Chosen, Recording
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import to_units

pytestmark = pytest.mark.audit


def people(rng: np.random.Generator, number: int) -> Points:
    """Records of a few users, some with one, some with many, some outside the grid."""
    user = rng.integers(0, max(number // 4, 1), number)
    x, y = rng.normal(4, 3, number), rng.normal(3, 2, number)
    weight = rng.integers(0, 3, number) if rng.random() < 0.5 else None
    return Points(x, y, crs=None, user=user, weight=weight)


def without(points: Points, user: int) -> Points:
    stays = points.user != user
    weight = None if points.weight is None else points.weight[stays]
    return Points(points.x[stays], points.y[stays], None, points.user[stays], weight)


@pytest.mark.parametrize("kind", [HTF, AG, KDStandard, Privlet, PrivTree, Mosaic])
def test_a_user_more_or_less_costs_epsilon(kind) -> None:
    grid, units = Grid.cells((6, 8)), to_units(0.9)

    @settings(max_examples=25)
    @given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 6))
    def hold(seed: int, number: int, bound: int) -> None:
        rng = np.random.default_rng(seed)
        points = people(rng, number)
        gone = int(rng.choice(points.user))
        data, fewer = (
            grid.count(each, contribution_bound=bound) for each in (points, without(points, gone))
        )
        given_up = data.counts - fewer.counts
        assert given_up.min() >= 0
        assert given_up.sum() <= bound
        for source in (PreviewNoise(seed), Chosen(seed, "still")):
            for one, other in ((data, fewer), (fewer, data)):
                loss = Recording.of(front_door(kind(epsilon=0.9)), one, source).replay(other)
                assert not loss.exceeds(units)

    hold()


TRIPS = TripDomain([Grid.cells((4, 3)), Grid.cells((2, 4))])


def flows(rng: np.random.Generator, number: int) -> Trips:
    """Rows of 0 to 4 trips each, of a few users."""
    x = tuple(rng.uniform(-0.5, 4, number) for _ in TRIPS.grids)
    y = tuple(rng.uniform(-0.5, 4, number) for _ in TRIPS.grids)
    user = rng.integers(0, max(number // 4, 1), number)
    return Trips(x, y, crs=None, user=user, weight=rng.integers(0, 5, number))


def some(trips: Trips, stays: np.ndarray) -> Trips:
    x, y = (tuple(a[stays] for a in side) for side in (trips.x, trips.y))
    return Trips(x, y, crs=None, user=trips.user[stays], weight=trips.weight[stays])


@pytest.mark.parametrize("kind", [Gravity, EUG, DAFEntropy, PrivTree])
@pytest.mark.parametrize("protects", ["a user", "a trip"])
def test_of_weighted_trips_a_user_or_one_trip_more_or_less_costs_epsilon(kind, protects) -> None:
    units = to_units(0.9)

    @settings(max_examples=15)
    @given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 6), st.booleans())
    def hold(seed: int, number: int, bound: int, weights: bool) -> None:
        rng = np.random.default_rng(seed)
        trips = flows(rng, number)
        if protects == "a user":
            fewer = some(trips, trips.user != rng.choice(trips.user))
            data, other = (TRIPS.count(t, bound, weights=weights) for t in (trips, fewer))
        else:
            # One of the trips that a row stands for: the unit of privacy where none has a user.
            less = trips.weight.copy()
            less[rng.integers(number)] -= 1
            fewer = replace(trips, weight=np.maximum(less, 0))
            data, other = (TRIPS.count(t, per="record") for t in (trips, fewer))
        assert 0 <= data.total - other.total <= data.contribution_bound
        for source in (PreviewNoise(seed), Chosen(seed, "still")):
            for one, two in ((data, other), (other, data)):
                loss = Recording.of(front_door(kind(epsilon=0.9)), one, source).replay(two)
                assert not loss.exceeds(units)

    hold()
