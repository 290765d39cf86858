"""What one visitor of the Federated page has chosen. Everything is checked here, on the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from explorer.app.state.choices import PlaceState
from explorer.app.state.mechanism import MechanismState
from explorer.federated.mechanism import Federated
from explorer.mechanisms import Mechanism
from explorer.scenario.choices import PeopleChoices


class FederatedState(MechanismState, PlaceState, PeopleChoices):
    """The choices behind the Federated page: who is counted, how she is asked, what is shown."""

    mechanism = param.Selector(default=Federated.key, objects=[Federated.key], label="Mechanism")
    epsilon = param.Number(default=1.0, label="Epsilon")
    people_are_public = param.Boolean(default=False, label="Publish the exact number of people")

    @classmethod
    def offered(cls) -> Mapping[str, type[Mechanism]]:
        """The one mechanism of people who stay where they are."""
        return {Federated.key: Federated}

    def as_choices(self) -> dict[str, Any]:
        """All choices but consent, which is given anew on every page."""
        choices = super().as_choices()
        del choices["people_are_public"]
        return choices
