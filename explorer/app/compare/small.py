"""Small maps of both mechanisms for four epsilons, on the colour scale of the large ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import panel as pn

from explorer.app.curator.maps import colours_of
from explorer.app.curator.small import SmallScreen, card
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.state.compare import CompareState
from explorer.grid.grid import Grid
from explorer.views.small import SmallMap


class SmallMaps:
    """Two rows of small maps, built once for a grid.

    Parameters
    ----------
    state : CompareState
    grid : Grid
    epsilons : of the maps of a row
    """

    def __init__(self, state: CompareState, grid: Grid, epsilons: Sequence[float]) -> None:
        self._state, self._n = state, (n := len(epsilons))
        self.views = [
            SmallMap(grid.bounds, f"Small map {letter}") for letter in "AB" for _ in range(n)
        ]
        self._captions = [html_pane(margin=(2, 0, 0, 0)) for _ in self.views]
        self._titles = [html_pane(margin=(12, 0, 2, 0)) for _ in "AB"]
        rows: list[Any] = []
        for side in range(2):
            cards = [
                card(self.views[at], self._captions[at]) for at in range(side * n, side * n + n)
            ]
            rows += [self._titles[side], ui.wrapping(*cards, gap="8px 12px")]
        self.view = pn.Column(*rows, sizing_mode="stretch_width", margin=0)
        self._announce(epsilons)
        self.restyle()

    def _announce(self, epsilons: Sequence[float]) -> None:
        """Say what is to come: drawing takes seconds, and the space for it is there at once."""
        for side in range(2):
            self._entitle(side, self._state.sides[side].kind.title)
            for place, epsilon in enumerate(epsilons):
                caption = self._captions[side * self._n + place]
                put(caption, f"<p><b>epsilon {epsilon:g}</b>: being drawn</p>")

    def _entitle(self, side: int, title: str) -> None:
        put(self._titles[side], f"<h3>{'AB'[side]}: {title}</h3>")

    def show(self, screen: SmallScreen) -> None:
        """Put computed pictures on the maps and say what they are."""
        self.restyle()
        for i, mechanism in enumerate(screen.mechanisms):
            thumbnail, letter = screen.thumbnails[i], "AB"[i // self._n]
            error = "" if np.isnan(thumbnail.error) else f", error {thumbnail.error:.2f}"
            count = f"{thumbnail.leaves:,} {'leaf' if thumbnail.leaves == 1 else 'leaves'}{error}"
            put(self._captions[i], f"<p><b>epsilon {mechanism.epsilon:g}</b>: {count}</p>")
            spoken = (
                f"Small map {letter}, {mechanism.title} at epsilon {mechanism.epsilon:g}: {count}"
            )
            self.views[i].show(screen.pictures[i], spoken)
            self._entitle(i // self._n, mechanism.title)

    def restyle(self) -> None:
        """Apply the palette."""
        for view in self.views:
            view.recolour(colours_of(self._state))
