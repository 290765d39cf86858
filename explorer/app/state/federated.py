"""What one visitor of the Federated page has chosen. Everything is checked here, on the server."""

from __future__ import annotations

from collections.abc import Mapping

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

    @classmethod
    def offered(cls) -> Mapping[str, type[Mechanism]]:
        """The one mechanism of people who stay where they are."""
        return {Federated.key: Federated}
