"""No mechanism of trips draws noise where somebody is only: which cells those are would be told."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.mechanisms import Gravity, trip_mechanisms
from explorer.privacy.audit.replay import Chosen, Recorder, Recording
from explorer.privacy.noise import PreviewNoise
from explorer.testing.counts import counted

pytestmark = pytest.mark.audit
SHAPE = (5, 4, 3, 5)
FEW = 60
MADE = [kind(epsilon=2.0) for kind in trip_mechanisms().values()]
MADE += [Gravity(epsilon=2.0, partition=each) for each in ("fixed boxes", "PrivTree")]
MADE += [Gravity(epsilon=2.0, maps_share=0), Gravity(epsilon=2.0, zones=2)]


def in_few_cells() -> np.ndarray:
    counts = np.zeros(SHAPE, dtype=np.int64)
    counts[0, 0, 0, 0], counts[4, 3, 2, 1] = FEW - 10, 10
    return counts


@pytest.mark.parametrize("mechanism", MADE, ids=repr)
@pytest.mark.parametrize("style", ["still", "up", "down", "wild"])
def test_sixty_trips_are_asked_about_as_none_are(mechanism, style: str) -> None:
    # All of them are one unit's, so that figures may move as far as from all to nobody.
    somebody, nobody = (counted(each, FEW) for each in (in_few_cells(), np.zeros(SHAPE, np.int64)))
    run = Recording.of(
        lambda data, rng: mechanism.release(data, rng=rng), somebody, Chosen(3, style)
    )
    # It raises where another question is asked, or another release comes of the same outcomes.
    assert run.replay(nobody).epsilon <= 2.0 * (1 + 1e-12)


@pytest.mark.parametrize("mechanism", MADE, ids=repr)
def test_every_part_of_the_domain_has_noise_of_its_own(mechanism) -> None:
    recorder = Recorder(PreviewNoise(5))
    release = mechanism.release(counted(in_few_cells()), rng=recorder)
    assert np.prod(release.upper - release.lower, axis=1).sum() == np.prod(SHAPE)
    drawn = release.tree.draws[release.tree.leaves]
    assert (np.isfinite(drawn).any(axis=1)).all()
    counts = [draw for draw in recorder.draws if draw.question.kind == "laplace"]
    names = np.concatenate([draw.question.keys for draw in counts])
    assert len(names) >= release.n_leaves
    # A budget of 2 leaves no noise on three draws in four; on some parts there must be.
    noise = np.concatenate([draw.outcome - draw.question.values for draw in counts])
    assert release.n_leaves == 1 or (noise != 0).any()
