"""Mechanisms of trips in an audit made for maps: a clean one passes, a loud one is found."""

from __future__ import annotations

import numpy as np

from explorer.mechanisms import EBP, HTF, Gravity, Identity
from explorer.privacy.audit.audit import black_box, replay_cases
from explorer.privacy.audit.blackbox import canaries, features
from explorer.testing.counts import counted, folded
from explorer.testing.wide import by_kind


def test_mechanisms_of_trips_run_on_two_places() -> None:
    matrix = canaries()[1].pair[0]
    assert by_kind(EBP(epsilon=1))(matrix, 1).domain.kind == "trips"
    assert by_kind(HTF(epsilon=1))(matrix, 1).domain.kind == "grid"


def test_clean_ones_pass() -> None:
    for kind in (EBP, Gravity):
        found = replay_cases(kind, range(12), 3, by_kind)
        assert found.breach is None, found.breach
        assert found.largest > 0.5
    assert black_box(EBP, 30, 1, by_kind).breach is None


class Loud(Identity):
    """Ten times the epsilon that it says."""

    key, for_maps = "loud", False

    def release(self, matrix, rng=None, **about):
        return Identity(epsilon=10 * self.epsilon).release(matrix, rng=rng, **about)


def test_a_loud_one_is_found() -> None:
    # On the two halves of 100 runs each a cell's count tells the record nearly always.
    assert black_box(Loud, 100, 1, by_kind).breach is not None


def test_the_canarys_cell_is_found_again() -> None:
    canary = canaries()[1]
    counts = counted(folded(canary.pair[1].counts, 4))
    release = Identity(epsilon=10).release(counts, rng=1)
    shown = features(release, canary.cell, canary.counts.shape)
    # At epsilon 10 noise of 0 is as good as certain.
    assert shown[2] == canary.pair[1].counts[canary.cell] == 20
    assert np.isclose(shown[1], 20)
