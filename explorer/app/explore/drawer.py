"""The left drawer: data, mechanism, privacy, dice, view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from explorer.app.curator.epsilon import RECORDS, EpsilonControl
from explorer.app.curator.parameters import MechanismPanel, help_pane
from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.app.kit.theme import CSS
from explorer.app.kit.words import words
from explorer.app.state.explore import ExploreState
from explorer.mechanisms import all_mechanisms, mechanism
from explorer.scenario import GRID_SIDES

_WIDE: dict[str, Any] = {"sizing_mode": "stretch_width", "size": "small", "margin": ui.MARGIN}
_SMALL: dict[str, Any] = {"size": "small", "margin": ui.MARGIN}


class Drawer:
    """All controls of the Explore page.

    Parameters
    ----------
    state : ExploreState
    actions : mapping
        ``changed`` (something a release depends on), ``draw``, ``save`` and ``again`` (a release
        is drawn, saved, shown again), ``refused``.
    cities : dict
        Title of each city to its key.
    upload : viewable
        The form for the visitor's own points.
    """

    def __init__(
        self,
        state: ExploreState,
        actions: Mapping[str, Callable[..., Any]],
        cities: dict[str, str],
        upload: Any,
    ) -> None:
        self._state = state
        self._changed, self._refused = actions["changed"], actions["refused"]
        self._helps: dict[str, Any] = {}
        self._made = Tied(state, self._refused)
        self.save = ui.FileDownload(
            label="Save the release",
            filename="release.parquet",
            callback=actions["save"],
            variant="outlined",
            visible=False,
            **_WIDE,
        )
        self.again = ui.Button(
            label="Show the release again",
            variant="outlined",
            visible=False,
            on_click=lambda _e: actions["again"](),
            **_WIDE,
        )
        self.city = self._made.choose("city", "City", cities)
        self.side = self._made.choose("side", "Grid", {f"{n} × {n} cells": n for n in GRID_SIDES})
        self.bound = self._made.choose("bound", "A record is", RECORDS, visible=False)
        titles = {each.title: key for key, each in all_mechanisms().items()}
        self.mechanism = ui.Select(
            label="Mechanism", options=titles, value=state.mechanism, **_WIDE
        )
        self._made.tie(self.mechanism, "mechanism")
        state.param.watch(self._another_mechanism, "mechanism")
        self._about = _html("", margin=(0, 10, 6, 10))
        self.epsilon = EpsilonControl(state, self._refused)
        self.parameters = MechanismPanel(state, self._changed, self._refused)
        self.explain = self._made.switch("explain", "Explain the controls")
        state.param.watch(self._explain, "explain")
        # A text in this list is a heading of words/explore.md; the rest are controls.
        self._parts: list[Any] = [
            self.explain,
            "About",
            "Figures",
            *self._data(upload),
            *self._mechanism(),
            *self._dice(actions["draw"]),
            *self._view(),
        ]
        self.view = pn.Column(sizing_mode="stretch_width", margin=(8, 6, 24, 6))
        self._arrange()
        self._describe()

    def _arrange(self) -> None:
        """Put the controls one below the other, with or without the words for newcomers."""
        for part in self._parts:
            if isinstance(part, str) and self._state.explain and part not in self._helps:
                self._helps[part] = help_pane(words("explore")[part])
        shown = [p for p in self._parts if not isinstance(p, str) or self._state.explain]
        self.view.objects = [self._helps[p] if isinstance(p, str) else p for p in shown]

    def _data(self, upload: Any) -> list[Any]:
        own = ui.Accordion(
            ("Your own points", upload),
            dynamic=True,
            sizing_mode="stretch_width",
            margin=(4, 10),
            title_variant="body2",
            elevation=0,
            disable_gutters=True,
        )
        return [
            *(self.city, "City", self.side, "Grid", self.bound, "A record is"),
            *(own, "Your own points"),
        ]

    def _mechanism(self) -> list[Any]:
        return [
            _heading("Mechanism and privacy"),
            self.mechanism,
            self._about,
            "Mechanism",
            self.epsilon.view,
            "Epsilon",
            self.parameters.view,
        ]

    def _dice(self, draw: Callable[..., None]) -> list[Any]:
        new = ui.Button(
            label="New draw", variant="outlined", on_click=lambda _e: self._state.roll(), **_WIDE
        )
        release = ui.Button(
            label="Draw a release", variant="outlined", on_click=lambda _e: draw(), **_WIDE
        )
        return [
            _heading("Dice"),
            self._made.switch("frozen", "Freeze the dice"),
            pn.Row(new, release, sizing_mode="stretch_width", margin=0),
            self.save,
            self.again,
            "Dice",
            "Draw a release",
        ]

    def _view(self) -> list[Any]:
        plain = [
            ("right", "Right map", ["private", "difference"]),
            ("scale", "Colour scale", ["log", "linear"]),
            ("palette", "Colours", ["cividis", "magma"]),
            ("truth", "Truth shows", ["points", "counts"]),
            ("scale_from", "Scale from", ["data", "release"]),
            ("partition_over", "Partition over", ["private", "truth", "both"]),
        ]
        made = {name: self._made.choose(name, label, options) for name, label, options in plain}
        return [
            _heading("View"),
            made["right"],
            "Right map",
            made["scale"],
            "Colour scale",
            made["palette"],
            self._made.switch("partition", "Show partition"),
            "Partition",
            made["partition_over"],
            made["truth"],
            made["scale_from"],
        ]

    def _another_mechanism(self, _event: Any) -> None:
        self.parameters.rebuild()
        self._describe()

    def _describe(self) -> None:
        chosen = mechanism(self._state.mechanism)
        self._about.object = f'<p class="quiet">{chosen.summary} <i>{chosen.paper}.</i></p>'

    def _explain(self, event: Any) -> None:
        self._arrange()
        self.parameters.explain(event.new)


def _heading(text: str) -> Any:
    return _html(f'<h2 class="section">{text}</h2>', margin=(6, 10, 4, 10))


def _html(text: str, margin: tuple[int, int, int, int]) -> Any:
    return pn.pane.HTML(text, stylesheets=[CSS], margin=margin, sizing_mode="stretch_width")
