"""All mechanisms on the map of the page at its epsilon: small maps, each with its error."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from explorer.app.curator.panel import ExplainPanel, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.curator.small import SmallJob, SmallScreen, card, compute_small
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import percent
from explorer.app.kit.prose import column
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
    """

    def __init__(self, parts: PageParts) -> None:
        super().__init__(_find, parts)
        self._state = parts.state
        self._small: SmallScreen | None = None
        self.cards: dict[str, tuple[SmallMap, Any]] = {}
        self.said = html_pane(margin=(0, 0, 4, 0))
        self._rows = column()
        self.view = column(self.said, self._rows, margin=(4, 0))

    def show(self, screen: Screen) -> None:
        self._screen = screen
        self._draw()

    def hide(self) -> None:
        self._screen = None

    def restyle(self) -> None:
        for small, _about in self.cards.values():
            small.recolour(palette.PALETTES[self._state.palette])

    def _question(self, screen: Screen) -> tuple[Screen, SmallJob]:
        chosen = self._state.instance()
        mechanisms = [
            chosen if key == chosen.key else kind(epsilon=chosen.epsilon)
            for key, kind in self._state.offered().items()
        ]
        boxes = self._rectangles.boxes
        # Differences need another bar than the one of the maps.
        look = type(screen.look)(scale=screen.look.scale, points=False)
        job = SmallJob(screen.data, mechanisms, self._state.seed, look, self._small, boxes)
        return screen, job

    def _show(self, gallery: Gallery) -> None:
        self._small = gallery.small
        if not self.cards or self._rows.objects == []:
            self._build(gallery)
        best = _best(gallery.small)
        chosen = self._state.mechanism
        for mechanism, thumbnail, picture in zip(
            gallery.small.mechanisms, gallery.small.thumbnails, gallery.small.pictures, strict=True
        ):
            small, about = self.cards[mechanism.key]
            off = "no box" if np.isnan(thumbnail.off) else f"boxes off by {percent(thumbnail.off)}"
            leaves = f"{thumbnail.leaves:,} {'leaf' if thumbnail.leaves == 1 else 'leaves'}"
            mark = " (on the maps)" if mechanism.key == chosen else ""
            name = f"<b>{html.escape(mechanism.title)}</b>{mark}"
            summary = html.escape(mechanism.summary)
            put(about, f"<p>{name}: {off}, {leaves}</p><p class='quiet'>{summary}</p>")
            small.show(
                picture, f"{mechanism.title} at epsilon {mechanism.epsilon:g}: {off}, {leaves}"
            )
        put(self.said, f'<p class="summary" role="status">{html.escape(best)}</p>')
        self.restyle()

    def _build(self, gallery: Gallery) -> None:
        groups: dict[str, list[Any]] = {}
        for mechanism in gallery.small.mechanisms:
            small = SmallMap(gallery.screen.data.grid.bounds, f"Small map of {mechanism.title}")
            about = html_pane(margin=(2, 0, 0, 0))
            self.cards[mechanism.key] = small, about
            use = panel_button(f"Use {mechanism.title}", partial(self._use, mechanism.key), "text")
            groups.setdefault(mechanism.group, []).append(card(small, about, use))
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


def _best(small: SmallScreen) -> str:
    """Which mechanism is off least at the boxes, in a sentence."""
    errors = [
        (thumbnail.off, mechanism.title)
        for mechanism, thumbnail in zip(small.mechanisms, small.thumbnails, strict=True)
        if np.isfinite(thumbnail.off)
    ]
    epsilon = f"{small.mechanisms[0].epsilon:.4g}"
    if not errors:
        return f"All mechanisms at epsilon {epsilon}: draw a box to see what each is off by."
    off, title = min(errors)
    worst, other = max(errors)
    return (
        f"At epsilon {epsilon} the boxes are off least by {title} ({percent(off)} in the median), "
        f"most by {other} ({percent(worst)}); another random noise may order them otherwise."
    )


def _find(request: tuple[Screen, SmallJob]) -> Gallery:
    screen, job = request
    return Gallery(screen, compute_small(job))
