"""The experiment of a teacher's lesson that is a screen of Explore or Compare."""

from __future__ import annotations

import html
from collections.abc import Sequence

from explorer.app.kit.navigation import Link
from explorer.app.kit.prose import column, pane
from explorer.scenario import Scenario


class ScenarioLink:
    """A link that opens a scenario on its own page.

    Parameters
    ----------
    scenario : Scenario
    links : the server's pages; without them there is no page to lead to
    """

    def __init__(self, scenario: Scenario, links: Sequence[Link] = ()) -> None:
        there = next((candidate for candidate in links if candidate.key == scenario.page), None)
        page = scenario.page.capitalize() if there is None else there.title
        epsilon = f"{scenario.city}, epsilon {scenario.epsilon:g}"
        text = html.escape(scenario.title or f"{page} with {epsilon}")
        about = f"<p>{html.escape(scenario.about)}</p>" if scenario.about else ""
        link = f"Open this on the {page} page: {text}"
        if there is not None:
            address = f"./{there.address}?s={scenario.to_link()}"
            link = f'<a href="{address}" target="_blank" rel="noopener">Open {page}: {text}</a>'
        self.view = column(pane(f"<h3>On the {page} page</h3>{about}<p class='finding'>{link}</p>"))

    def use(self, _data: object) -> None:
        """The scenario names its own city."""

    def close(self) -> None:
        """Nothing runs here."""
