"""All mechanisms on the map of the page at its epsilon: small maps, each with its error."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import panel as pn

from explorer.app.curator.panel import ExplainPanel, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.curator.small import SmallJob, SmallScreen, card, compute_small
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import percent
from explorer.mechanisms import Mechanism
from explorer.views import palette
from explorer.views.small import SmallMap


@dataclass(frozen=True, eq=False)
class Gallery:
    """What the gallery shows of a screen."""

    screen: Screen
    small: SmallScreen


class GalleryPanel(ExplainPanel[Gallery]):
    """A card for every mechanism: its map, what it is off by, and a button that chooses it.

    The mechanism of the page is there with its settings, the others with their defaults. All
    are previews with the random noise of the page.

    Parameters
    ----------
    parts : of the page
    """

    def __init__(self, parts: PageParts) -> None:
        super().__init__(_find, parts)
        self._state = parts.state
        self._small: SmallScreen | None = None
        self.cards: dict[str, tuple[SmallMap, Any]] = {}
        self.said = html_pane(margin=(0, 0, 4, 0))
        self._rows = pn.Column(sizing_mode="stretch_width", margin=0)
        self.view = pn.Column(self.said, self._rows, sizing_mode="stretch_width", margin=(4, 0))

    def show(self, screen: Screen) -> None:
        """Draw all mechanisms at the epsilon of another screen."""
        self._screen = screen
        self._draw()

    def hide(self) -> None:
        """Stop; what has been drawn stays for the next look."""
        self._screen = None

    def restyle(self) -> None:
        """Apply the palette."""
        for small, _about in self.cards.values():
            small.recolour(palette.PALETTES[self._state.palette])

    def _question(self, screen: Screen) -> tuple[Screen, SmallJob]:
        chosen = self._state.instance()
        made = [
            chosen if key == chosen.key else kind(epsilon=chosen.epsilon)
            for key, kind in self._state.offered().items()
        ]
        boxes = self._rectangles.boxes
        # Differences need another bar than the one of the maps.
        look = type(screen.look)(scale=screen.look.scale, points=False)
        job = SmallJob(screen.data, made, self._state.seed, look, self._small, boxes)
        return screen, job

    def _show(self, found: Gallery) -> None:
        self._small = found.small
        if not self.cards or self._rows.objects == []:
            self._build(found)
        best = _best(found.small)
        chosen = self._state.mechanism
        for made, each, picture in zip(
            found.small.mechanisms, found.small.thumbnails, found.small.pictures, strict=True
        ):
            small, about = self.cards[made.key]
            off = "no box" if np.isnan(each.off) else f"boxes off by {percent(each.off)}"
            leaves = f"{each.leaves:,} {'leaf' if each.leaves == 1 else 'leaves'}"
            mark = " (on the maps)" if made.key == chosen else ""
            name = f"<b>{html.escape(made.title)}</b>{mark}"
            put(about, f"<p>{name}: {off}, {leaves}</p><p class='quiet'>{_line(made)}</p>")
            small.show(picture, f"{made.title} at epsilon {made.epsilon:g}: {off}, {leaves}")
        put(self.said, f'<p class="summary" role="status">{html.escape(best)}</p>')
        self.restyle()

    def _build(self, found: Gallery) -> None:
        """A row of cards for each group of mechanisms."""
        groups: dict[str, list[Any]] = {}
        for made in found.small.mechanisms:
            small = SmallMap(found.screen.data.grid.bounds, f"Small map of {made.title}")
            about = html_pane(margin=(2, 0, 0, 0))
            self.cards[made.key] = small, about
            use = panel_button(f"Use {made.title}", partial(self._use, made.key), "text")
            groups.setdefault(made.group, []).append(card(small, about, use))
        self._rows.objects = [
            part
            for group, cards in groups.items()
            for part in (
                html_pane(f"<h3>{html.escape(group)}</h3>", margin=(8, 0, 2, 0)),
                ui.wrapping(*cards, gap="8px 12px"),
            )
        ]

    def _use(self, key: str, _event: Any) -> None:
        self._state.put(mechanism=key)


def _line(made: Mechanism) -> str:
    return html.escape(made.summary)


def _best(small: SmallScreen) -> str:
    """Which mechanism is off least at the boxes, in a sentence."""
    known = [
        (each.off, made.title)
        for made, each in zip(small.mechanisms, small.thumbnails, strict=True)
        if np.isfinite(each.off)
    ]
    epsilon = f"{small.mechanisms[0].epsilon:.4g}"
    if not known:
        return f"All mechanisms at epsilon {epsilon}: draw a box to see what each is off by."
    off, title = min(known)
    worst, other = max(known)
    return (
        f"At epsilon {epsilon} the boxes are off least by {title} ({percent(off)} in the median), "
        f"most by {other} ({percent(worst)}); another random noise may order them otherwise."
    )


def _find(asked: tuple[Screen, SmallJob]) -> Gallery:
    screen, job = asked
    return Gallery(screen, compute_small(job))
