"""What is read above and below the maps: the first sentence, the strip of figures."""

from __future__ import annotations

import numpy as np

from explorer.app.curator.answers import median_error
from explorer.app.curator.screen import Screen
from explorer.app.federated.round_sentences import several, size
from explorer.app.federated.screen import released
from explorer.app.kit.numbers import percent
from explorer.app.kit.words import words
from explorer.releases.distributed import ONCE


def answer(screen: Screen, exact: bool = True) -> str:
    """What the server saw, and how far the map that it made of it is off: one sentence.

    Without ``exact`` it says neither how many people there are nor how far the map is off.
    """
    release = released(screen)
    rounds, people = len(release.heard), round(release.facts["asked"])
    once = "one vector" if release.paying == ONCE else several(rounds, "vector")
    whose = several(people, "person", "people") if exact else "people"
    text = (
        f"{screen.data.title}: in {several(rounds, 'round')} the server saw masked vectors of "
        f"{whose} ({once} each) and the sums of shards, and nobody's place"
    )
    if release.parameters.get("algorithm") == "sampling":
        text = f"{screen.data.title}: {whose} were counted without any noise, for comparison only"
    if not exact:
        return f"{text}."
    if len(screen.answers.true) == 0:
        return f"{text}; no box has been drawn."
    off, boxes = percent(median_error(screen.answers)), len(screen.answers.true)
    where = "the box" if boxes == 1 else f"the median of {boxes} boxes"
    return f"{text}; from these sums it made a map that is off by {off} in {where}."


def key_figures(screen: Screen) -> list[tuple[str, str]]:
    """Label and value of the strip above the maps."""
    release = released(screen)
    rows = release.heard
    sent = [row.bytes_up for row in rows]
    bytes_sent = size(max(sent) if release.paying == ONCE else sum(sent))
    return [
        ("Rounds", str(len(rows))),
        ("People asked", f"{release.facts['asked']:,.0f}"),
        ("A person sends, at most", bytes_sent),
        ("Median box error", percent(median_error(screen.answers))),
        ("Cell errors (L1/N)", "–" if np.isnan(screen.error) else f"{screen.error:.2f}"),
    ]


def about(screen: Screen, exact: bool = True) -> str:
    """What this simulation represents: who asked, and what may not be claimed of it.

    Without ``exact`` it does not say how many people there are.
    """
    release = released(screen)
    who = f"of {release.population:,.0f} people" if exact else "of people"
    text = f"A release {who}, epsilon {release.epsilon:.4g} for whoever gets it"
    if release.preview:
        text = f"A preview {who}, private for nobody; a release would have epsilon "
        text += f"{release.epsilon:.4g}"
    return f"{text}. {words('federated')['Simulation']}"
