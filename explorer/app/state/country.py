"""What one visitor of the Country page has chosen. Everything is checked here, on the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from explorer.app.state.choices import Placed
from explorer.app.state.mechanism import MechanismState
from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.mechanisms import Mechanism
from explorer.scenario.choices import CountryChoices, checked_path


class CountryState(MechanismState, Placed, CountryChoices):
    """The choices behind the Country page: what is counted, how it is released, what is shown."""

    mechanism = param.Selector(default=Country.key, objects=[Country.key], label="Mechanism")
    epsilon = param.Number(default=0.1, label="Epsilon")

    @classmethod
    def offered(cls) -> Mapping[str, type[Mechanism]]:
        """The one mechanism of countries."""
        return {Country.key: Country}

    def set_parameter(self, name: str, value: Any) -> None:
        """Set a parameter of the mechanism; another one inside has none of the old one's settings.

        Raises
        ------
        InputError
            For a name that is no parameter, or a value that the mechanism refuses.
        """
        before = self._settings[self.mechanism]
        if name == "inside" and value != self.parameter("inside"):
            others = {key: setting for key, setting in before.items() if key != "inside_settings"}
            self._settings[self.mechanism] = others
        try:
            super().set_parameter(name, value)
        except InputError:
            self._settings[self.mechanism] = before
            raise

    def put(self, **choices: Any) -> None:
        """Set several choices at once, or none of them; an area is a path of names."""
        if "area" in choices:
            choices["area"] = checked_path(choices["area"])
        super().put(**choices)
