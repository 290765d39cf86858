"""What one visitor of a page with maps of a city has chosen. Everything is checked here."""

from __future__ import annotations

from explorer.app.state.choices import PlaceState
from explorer.app.state.mechanism import MechanismState
from explorer.scenario.choices import LookChoices


class ExploreState(MechanismState, PlaceState, LookChoices):
    """The choices behind one screen: what is counted, how it is drawn, and by which mechanism."""
