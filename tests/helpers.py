"""A small map, a source without noise and a plan's own books, shared by the tests of the core."""

from __future__ import annotations

import socket
from typing import Any

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.events import ModelEvent

from explorer import FrequencyMatrix, Grid, Points
from explorer.mechanisms import Mechanism
from explorer.privacy.curator import Curator
from explorer.releases.inference import Estimate
from explorer.releases.release import Release
from explorer.releases.units import to_units
from explorer.testing import NoNoise
from explorer.testing import towns as city

__all__ = [
    "Clock",
    "NoNoise",
    "around",
    "bundle_of",
    "card_of",
    "city",
    "happen",
    "needs_ipv6",
    "run",
]


def _has_ipv6() -> bool:
    """Whether this computer listens at an address of IPv6."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


needs_ipv6 = pytest.mark.skipif(not _has_ipv6(), reason="this computer has no IPv6")


def happen(event: ModelEvent) -> None:
    """Deliver an event to the model it names, as a server does."""
    document = Document()
    document.add_root(event.model)
    document.callbacks.trigger_event(event)
    # The model may share parts with others, which get a document of their own.
    document.clear()


class Clock:
    """A clock that is set by hand: seconds, as a function and in place of the module ``time``."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now

    monotonic = __call__


def card_of(shown: Any) -> str:
    """What a cell of a notebook shows of it, as HTML."""
    return str(shown._repr_html_())


def bundle_of(shown: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a cell of a notebook shows of a page by its kinds, and what is said about them."""
    bundle, about = shown._repr_mimebundle_()
    return bundle, about


def around(grid: Grid, n: int, seed: int = 0) -> Points:
    """Return places all over an extent and a fifth beyond it, some with longitudes above 180."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-0.6, 0.6, n) * grid.width
    y = rng.uniform(-0.6, 0.6, n) * grid.height
    lon, lat = grid.to_lonlat(x, y)
    lon[::3] %= 360.0
    return Points(lon, lat)


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
        domain=matrix.grid,
        unit=matrix.unit,
        contribution_bound=matrix.contribution_bound,
        ledger=tuple(curator.ledger),
    )
    return release, curator
