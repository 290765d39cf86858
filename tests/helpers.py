"""A small map, a source without noise and a plan's own books, shared by the tests of the core."""

from __future__ import annotations

from explorer import FrequencyMatrix
from explorer.mechanisms import Mechanism
from explorer.privacy.curator import Curator
from explorer.releases.inference import Estimate
from explorer.releases.release import Release
from explorer.releases.units import to_units
from explorer.testing import NoNoise
from explorer.testing import towns as city

__all__ = ["NoNoise", "city", "run"]


def run(mechanism: Mechanism, matrix: FrequencyMatrix, noise) -> tuple[Release, Curator]:
    """Run a plan with a given source of noise; also returns the curator, for its books."""
    curator = Curator(matrix, to_units(mechanism.epsilon), noise)
    estimate: Estimate = mechanism.plan(curator)
    release = Release.from_estimate(
        estimate,
        mechanism=mechanism.key,
        parameters={},
        units=curator.units,
        preview=True,
        grid=matrix.grid,
        unit=matrix.unit,
        contribution_bound=matrix.contribution_bound,
        ledger=tuple(curator.ledger),
    )
    return release, curator
