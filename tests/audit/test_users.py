"""From a file with a user column to a release: the claim holds for a whole user."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer import Grid, Points
from explorer.mechanisms import AG, HTF, KDStandard, Mosaic, Privlet, PrivTree
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
