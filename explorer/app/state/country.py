"""What one visitor of the Country page has chosen. Everything is checked here, on the server."""

from __future__ import annotations

from collections.abc import Mapping

import param

from explorer.app.state.choices import Placed
from explorer.app.state.mechanism import MechanismState
from explorer.cities.countries import MADE_UP
from explorer.country.mechanism import Country
from explorer.mechanisms import Mechanism
from explorer.scenario.choices import PlaceChoices

#: Metres of the sides of the cells inside areas.
CELLS = (250, 500, 1000, 2000)
#: The lowest level of any country.
LOWEST = 20


class CountryState(MechanismState, Placed):
    """The choices behind the Country page: what is counted, how it is released, what is shown."""

    mechanism = param.Selector(default=Country.key, objects=[Country.key], label="Mechanism")
    epsilon = param.Number(default=0.1, label="Epsilon")
    city = param.String(default=MADE_UP, label="Country")
    side = param.Selector(
        default=500,
        objects={f"{n:,} m" if n < 1000 else f"{n // 1000} km": n for n in CELLS},
        label="Cells inside areas",
    )
    bound = param.Selector(
        default=0, objects=PlaceChoices.param.bound.get_range(), label="What is protected"
    )
    level = param.Integer(default=LOWEST, bounds=(0, LOWEST), label="Areas on the map")
    # Node of the tree of areas; -1 is the one that the page chooses by itself.
    area = param.Integer(default=-1, bounds=(-1, 10_000_000), label="Area")
    shows = param.Selector(
        default="private", objects=["private", "true", "difference"], label="Maps show"
    )
    per = param.Selector(
        default="km2",
        objects={"records per ground": "km2", "records": "area"},
        label="Colours show",
    )
    scale = param.Selector(default="log", objects=["log", "linear"], label="Colour scale")
    palette = param.Selector(default="cividis", objects=["cividis", "magma"], label="Colours")
    partition = param.Boolean(default=True, label="Show partition")

    @classmethod
    def offered(cls) -> Mapping[str, type[Mechanism]]:
        """The one mechanism of countries."""
        return {Country.key: Country}
