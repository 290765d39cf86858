"""Replay of counts with a map inside each (`Curator.within`), and bugs of nesting to be found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from explorer import FrequencyMatrix
from explorer.mechanisms import HTF, UG, Mechanism, QuadTree
from explorer.privacy.accounts import Accounts
from explorer.privacy.audit.loss import Breach, Loss
from explorer.privacy.audit.replay import Chosen, Recording
from explorer.privacy.curator import Curator
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import share, to_epsilon, to_units
from tests.audit.planting import Plant, planted

pytestmark = pytest.mark.audit

EPSILON = 0.9
Maps = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Nested:
    """What is published: counts of three areas, what was inferred inside each, and the cost."""

    counts: np.ndarray
    values: tuple[np.ndarray, ...]
    spent: int


def publish(mechanism: Mechanism, bound: int):
    def run(maps: Maps, noise):
        finer = [FrequencyMatrix.from_array(each, contribution_bound=bound) for each in maps]
        totals = np.array([[int(each.sum()) for each in maps]])
        units = to_units(mechanism.epsilon)
        row = FrequencyMatrix.from_array(totals, contribution_bound=bound)
        curator = Curator(row, units, noise)
        regions = curator.open().grid((1, 3))
        noisy = curator.count(regions, share(units, 0.2), "areas")
        inside = mechanism.with_(epsilon=to_epsilon(units - share(units, 0.2)))
        values = [
            inside.plan(curator.within(regions.select(np.array([number])), matrix)).value
            for number, matrix in enumerate(finer)
        ]
        return Nested(noisy, tuple(values), curator.spent)

    return run


def pair(seed: int, bound: int) -> tuple[Maps, Maps]:
    """Maps of three areas, without and with a user of `bound` records, in any of the areas."""
    rng = np.random.default_rng(seed)
    maps = tuple(rng.poisson(2.0, (4, 5)) for _ in range(3))
    more = tuple(each.copy() for each in maps)
    for record in range(bound):
        more[record % 3][rng.integers(4), rng.integers(5)] += 1
    return maps, more


def losses(mechanism: Mechanism, bound: int, seed: int) -> list[tuple[Loss, int]]:
    """Return the loss on either side, and what the release says that it has spent."""
    found = []
    without, having = pair(seed, bound)
    for one, other in ((without, having), (having, without)):
        for source in (PreviewNoise(seed), Chosen(seed, "still"), Chosen(seed, "wild")):
            recording = Recording.of(publish(mechanism, bound), one, source)
            found.append((recording.replay(other), recording.published.spent))
    return found


@pytest.mark.parametrize("bound", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", [UG, HTF, QuadTree], ids=lambda kind: kind.key)
def test_two_levels_cost_what_they_say(kind, bound: int) -> None:
    dearest = 0.0
    for seed in range(4):
        for loss, spent in losses(kind(epsilon=EPSILON), bound, seed):
            assert not loss.exceeds(spent)
            assert spent <= to_units(EPSILON)
            dearest = max(dearest, loss.epsilon)
    assert dearest > 0.2 * EPSILON, "no more than the areas' share: the maps were not looked at"


def test_a_user_in_every_area_costs_exactly_epsilon() -> None:
    """Without noise each figure that moves takes its full toll: the bound is tight."""
    mechanism = UG(epsilon=EPSILON, grid_size=5)
    without, having = pair(1, 3)
    source = Chosen(1, "still")
    loss = Recording.of(publish(mechanism, 3), without, source).replay(having)
    assert loss.exact == to_units(EPSILON)


def paid_nothing_yet(right, curator, regions):
    """A region that has paid answers as if it had not."""
    return right(curator, regions) + regions.spent


def forgets_the_bound(right, curator, region, counts):
    """Inside, noise is scaled for one record, though a user gives several."""
    inner = right(curator, region, counts)
    inner._Curator__counts = FrequencyMatrix(counts.counts, counts.grid, 1, counts.unit)
    return inner


NOT_CHARGED: Plant = (Accounts, "pay_inside", lambda *_: None)
BOUND_FORGOTTEN: Plant = (Curator, "within", forgets_the_bound)


@pytest.mark.parametrize(
    ("plants", "bound", "against"),
    [
        # The account of the region never hears of what is spent inside.
        ([NOT_CHARGED], 1, "what is said"),
        # The same where it hurts: the inner curator gets the whole budget once more.
        ([NOT_CHARGED, (Curator, "remaining", paid_nothing_yet)], 1, "epsilon"),
        # No figure moves too far; only the sum over areas does.
        ([BOUND_FORGOTTEN], 2, "epsilon"),
        ([BOUND_FORGOTTEN], 3, "epsilon"),
    ],
)
@pytest.mark.planted
def test_bugs_of_nesting_are_found(plants: list[Plant], bound: int, against: str) -> None:
    with planted(*plants):
        found = losses(UG(epsilon=EPSILON, grid_size=5), bound, 0)
    units = to_units(EPSILON)
    assert any(loss.exceeds(spent if against != "epsilon" else units) for loss, spent in found)


@pytest.mark.planted
def test_inner_bound_forgotten_is_found_in_a_user_of_one_area() -> None:
    maps = tuple(np.zeros((2, 2), dtype=np.int64) for _ in range(3))
    more = (np.array([[2, 0], [0, 0]]), *maps[1:])
    with planted(BOUND_FORGOTTEN):
        made = publish(UG(epsilon=EPSILON, grid_size=2), 2)
        recording = Recording.of(made, maps, Chosen(0, "still"))
        with pytest.raises(Breach, match="more than its sensitivity"):
            recording.replay(more)
