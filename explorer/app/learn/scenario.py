"""The experiment of a teacher's lesson that is a screen of Explore or Compare."""

from __future__ import annotations

import html

from explorer.app.kit.prose import column, pane
from explorer.scenario import Scenario


class ScenarioLink:
    """A link that opens a scenario on its own page.

    Parameters
    ----------
    scenario : Scenario
    links : whether the server's other pages are there to lead to
    """

    def __init__(self, scenario: Scenario, *, links: bool = True) -> None:
        page = scenario.page.capitalize()
        epsilon = f"{scenario.city}, epsilon {scenario.epsilon:g}"
        text = html.escape(scenario.title or f"{page} with {epsilon}")
        about = f"<p>{html.escape(scenario.about)}</p>" if scenario.about else ""
        address = f"./{scenario.page}?s={scenario.to_link()}"
        link = (
            f'<p class="finding"><a href="{address}" target="_blank" rel="noopener">Open {page}: '
            f"{text}</a></p>"
            if links
            else f'<p class="finding">Open this on the {page} page: {text}</p>'
        )
        self.view = column(pane(f"<h3>On the {page} page</h3>{about}{link}"))

    def use(self, _data: object) -> None:
        """The scenario names its own city."""

    def close(self) -> None:
        """Nothing runs here."""
