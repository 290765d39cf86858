"""Mechanisms of trips, run on what an audit draws for maps."""

from __future__ import annotations

from typing import Any

from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.audit.audit import front_door
from explorer.privacy.audit.replay import Publish
from explorer.privacy.noise import NoiseSource
from explorer.releases.release import Release
from explorer.testing.counts import counted, folded

TWO_PLACES = 4


def by_kind(mechanism: Any) -> Publish:
    """How an audit runs a mechanism: on maps, or, if it is for trips only, on trips of two places.

    The cells of a map are folded into as many of four axes, one by one, so that neighbours stay
    neighbours.
    """
    if mechanism.for_maps:
        return front_door(mechanism)

    def publish(matrix: FrequencyMatrix, source: NoiseSource) -> Release:
        wide = counted(folded(matrix.counts, TWO_PLACES), matrix.contribution_bound)
        release: Release = mechanism.release(wide, rng=source)
        return release

    return publish
