"""Mechanisms of trips in an audit made for maps: a clean one passes, a loud one is found."""

from __future__ import annotations

from explorer import FrequencyMatrix
from explorer.mechanisms import EBP, HTF, Gravity, Identity
from explorer.privacy.audit.audit import replay_cases
from explorer.testing.counts import by_kind


def test_mechanisms_of_trips_run_on_two_places() -> None:
    matrix = FrequencyMatrix.from_array([[0, 0, 19], [4, 2, 5]])
    assert by_kind(EBP(epsilon=1))(matrix, 1).domain.kind == "trips"
    assert by_kind(HTF(epsilon=1))(matrix, 1).domain.kind == "grid"


def test_clean_ones_pass() -> None:
    for kind in (EBP, Gravity):
        found = replay_cases(kind, range(12), 3, by_kind)
        assert found.breach is None, found.breach
        assert found.largest > 0.5


class Loud(Identity):
    """Ten times the epsilon that it says."""

    key, for_maps = "loud", False

    def release(self, matrix, rng=None, **about):
        return Identity(epsilon=10 * self.epsilon).release(matrix, rng=rng, **about)


def test_a_loud_one_is_found() -> None:
    assert replay_cases(Loud, range(12), 3, by_kind).breach is not None
