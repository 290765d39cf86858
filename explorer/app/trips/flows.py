"""Flows: how many trips go between zones, as arcs over a map and as a matrix."""

from __future__ import annotations

import html
import io
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.error_bars import RUNS
from explorer.app.curator.panel import ExplainPanel, choice, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import finite
from explorer.app.kit.words import words
from explorer.app.state import TripsState
from explorer.app.trips import flow_sentences as say
from explorer.app.trips.flow_work import FlowChoice, FlowJob, FlowScreen, find_flows
from explorer.app.trips.screen import TripScreen
from explorer.app.work.job import Job, Run, patient
from explorer.errors import InputError
from explorer.evaluate.simulation import about_flows, simulate
from explorer.releases.flows import Flows
from explorer.releases.release import Release
from explorer.views import palette
from explorer.views.flows import FlowMap, ZoneMatrix

Floats = NDArray[np.float64]
Bars = tuple[Release, int, tuple[int, int], Floats]

ZONES = (2, 4, 8, 16)
FEWEST, MOST = 10, 200
_POOL = patient(2, "flows")
_DIRECTIONS: dict[str, Any] = {"Between all": "between", "Into one": "incoming",
                               "Out of one": "outgoing"}  # fmt: skip


class FlowPanel(ExplainPanel[FlowScreen]):
    """The panel; it has figures of its own and leaves the maps as they are.

    Parameters
    ----------
    parts : of the page
    changed : called after a setting of the mechanism was changed from here
    """

    def __init__(
        self,
        parts: PageParts,
        changed: Callable[[], None],
    ) -> None:
        super().__init__(find_flows, parts)
        self._state: TripsState = parts.state
        self._changed = changed
        self._choice = FlowChoice()
        self.found: FlowScreen | None = None
        self._bars: Bars | None = None
        # What intervals are being simulated of.
        self._asked: tuple[Release, int, tuple[int, int]] | None = None
        self._simulating: Job[Bars] = Job(
            _simulated, self._bars_known, lambda _sentence: None, delay=1.5, pool=_POOL,
            changed=self._progressed,
        )  # fmt: skip
        self.map, self.matrix = FlowMap(self.tapped), ZoneMatrix()
        self.zones = choice("Zones of a place", {f"{z} × {z} zones": z for z in ZONES})
        self.zones.value = self._choice.zones
        ui.bind(self.zones, lambda z: self._choose(zones=z, zone=None), self._refused)
        self.direction = choice("Flows", _DIRECTIONS)
        ui.bind(self.direction, self._turn, self._refused)
        for group in (self.zones, self.direction):
            group.styles = {"flex": "none"}
        self.pair = ui.Select(label="From and to", options={}, size="small", margin=0, width=190)
        ui.bind(self.pair, lambda pair: self._choose(pair=tuple(pair), zone=None), self._refused)
        self.most = ui.IntSlider(
            label="Arcs", start=FEWEST, end=MOST, step=10, value=self._choice.most, size="small",
            margin=(0, 12), styles={"flex": "0 1 200px"}, sizing_mode="stretch_width",
        )  # fmt: skip
        ui.bind(self.most, self._number, self._refused)
        self.loops = ui.Switch(
            label="Within one zone too", value=False, size="small", margin=(2, 10)
        )
        ui.bind(self.loops, lambda on: self._choose(loops=bool(on)), self._refused)
        self.own = panel_button("Give these zones counts of their own", self._draw_zones)
        look: dict[str, Any] = {"variant": "outlined", "size": "small", "margin": 0}
        self.saves = [
            ui.FileDownload(
                label=label,
                filename=name,
                callback=partial(self._written, name),
                refused=self._refused,
                **look,
            )
            for label, name in (
                ("Save flows as CSV", "flows.csv"),
                ("Save zones as CSV", "flows-locations.csv"),
            )
        ]
        self._price = html_pane(f'<p class="quiet">{words("trips")["Zones"]}</p>')
        self._said, self._covers, self._top, self._found = (
            html_pane(margin=(4, 0)) for _ in range(4)
        )
        figures = [
            self._card("Arcs", words("trips")["Arcs"], self.map.figure),
            self._card("All flows", words("trips")["Matrix"], self.matrix.figure),
            pn.Column(self._top, styles={"flex": "1 1 260px", "min-width": "0"}, margin=0),
        ]
        self.view = pn.Column(
            ui.wrapping(
                self.zones, self.direction, self.pair, self.most, self.loops, gap="6px 12px"
            ),
            self._said,
            self._covers,
            ui.wrapping(*figures, gap="8px 20px"),
            self._found,
            ui.wrapping(self.own, *self.saves, gap="6px 8px", margin=(6, 0)),
            self._price,
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    @staticmethod
    def _card(title: str, text: str, figure: Any) -> Any:
        return pn.Column(
            html_pane(f"<h3>{title}</h3><p>{text}</p>", margin=(0, 0, 4, 0)),
            pn.pane.Bokeh(figure, sizing_mode="scale_width", aspect_ratio=1, margin=0),
            styles={"flex": "1 1 300px", "min-width": "0", "max-width": "520px"},
            sizing_mode="stretch_width",
            margin=0,
        )

    # What the strip asks for.

    def show(self, screen: Any) -> None:
        """Look at another screen."""
        names = screen.data.names
        last = len(names) - 1
        pairs = {
            f"{names[a]} … {names[b]}": (a, b) for a, b in ((0, last), (0, 1), (1, last)) if a < b
        }
        if self.pair.options != pairs:
            self._choice = FlowChoice(self._choice.zones, (0, last), most=self._choice.most)
            self.pair.param.update(options=pairs, value=(0, last))
        self.pair.visible = len(pairs) > 1
        sides = [side for side in screen.data.matrix.shape if side > 1]
        possible = [z for z in ZONES if z <= min(sides, default=1)] or [1]
        if list(self.zones.options.values()) != possible:
            usual = max(z for z in possible if z <= max(8, possible[0]))
            self._choice = replace(self._choice, zones=usual, zone=None)
            self.zones.param.update(options={f"{z} × {z} zones": z for z in possible}, value=usual)
        # Another partition than the adaptive one has no use for zones.
        takes = "zones" in self._state.instance().relevant()
        self.own.visible = self._price.visible = takes
        for save in self.saves:
            save.visible = not screen.release.preview
        if self._screen is not None and self._screen.release is screen.release:
            self._screen = screen
            if self.found is not None:
                return
        self._screen = screen
        self._draw()

    def selected(self) -> None:
        """The rows of the table do not matter here."""

    def hide(self) -> None:
        """Stop work; what has been found stays for the next look."""
        self._simulating.cancel()
        self._screen = self._asked = None
        self.found = None

    def restyle(self) -> None:
        """The colours of the page."""
        if self.found is not None:
            self._show(self.found)

    # What a visitor does.

    def _choose(self, **changes: Any) -> None:
        zones = changes.get("zones", self._choice.zones)
        if zones not in self.zones.options.values():
            raise InputError("The number of zones is none of the menu: choose one of it.")
        self._choice = replace(self._choice, **changes)
        if self._screen is not None:
            self._draw()

    def _turn(self, direction: Any) -> None:
        self._choose(direction=direction, zone=None)

    def _number(self, number: Any) -> None:
        if not isinstance(number, int) or not FEWEST <= number <= MOST:
            raise InputError(f"The number of arcs goes from {FEWEST} to {MOST}.")
        self._choose(most=number)

    def tapped(self, x: Any, y: Any) -> None:
        """A click on a zone asks for its flows: out of it, unless those into one are shown."""
        flow_screen = self.found
        try:
            x, y = finite(x, "A place"), finite(y, "A place")
        except InputError:
            return
        if flow_screen is None:
            return
        into = self._choice.direction == "incoming"
        zones = flow_screen.every.destinations if into else flow_screen.every.origins
        zone = zones.at(x, y)
        if zone is None:
            return
        if self._choice.direction == "between":
            self.direction.value = "outgoing"
        self._choose(zone=zone)

    def _draw_zones(self, _event: Any) -> None:
        """Cut into these zones first, so that flows between them have draws of their own."""
        screen, now = self._screen, self._state.parameter("zones")
        zones = None if now == self._choice.zones else self._choice.zones
        try:
            if screen is not None:
                # Before it is chosen: a setting that is refused at each preview would block them.
                mechanism = self._state.instance().with_(zones=zones)
                mechanism.require_release(screen.data.matrix.shape)
            self._state.set_parameter("zones", zones)
        except InputError as error:
            self._refused(str(error))
            return
        self._changed()

    def _written(self, name: str) -> io.BytesIO:
        flow_screen = self.found
        if flow_screen is None or flow_screen.screen.release.preview:
            raise InputError("A preview is not private: draw a release first.")
        with tempfile.TemporaryDirectory(prefix="explorer-") as folder:
            flow_screen.every.to_csv(Path(folder) / "flows.csv")
            return io.BytesIO((Path(folder) / name).read_bytes())

    # From a screen to figures.

    def _question(self, screen: Any) -> FlowJob:
        bars = self._known(screen)
        return FlowJob(screen, self._choice, bars, self.found)

    def _known(self, screen: TripScreen) -> Floats | None:
        key = screen.release, self._choice.zones, self._choice.pair
        if self._bars is None or self._bars[0] is not key[0] or self._bars[1:3] != key[1:]:
            return None
        return self._bars[3]

    def _fits(self, flow_screen: FlowScreen) -> bool:
        screen = self._screen
        return screen is not None and flow_screen.screen.release is screen.release

    def _show(self, flow_screen: FlowScreen) -> None:
        self.found = flow_screen
        colours = palette.PALETTES[self._state.palette]
        zone, chosen = flow_screen.choice.zone, np.zeros((0, 4))
        if zone is not None:
            into = flow_screen.choice.direction == "incoming"
            zones = flow_screen.every.destinations if into else flow_screen.every.origins
            chosen = zones.boxes[zone : zone + 1]
        self.map.show(flow_screen.picture, colours, chosen)
        self.matrix.show(flow_screen.picture, colours)
        text = say.about_flows(flow_screen)
        counted = f"{flow_screen.choice.zones} × {flow_screen.choice.zones} zones a place have"
        self.map.describe(
            f"Flows between zones. {counted} {len(flow_screen.every):,} flows between them, of "
            f"which {len(flow_screen.drawn)} are drawn; the table has numbers"
        )
        self.matrix.describe(
            f"All {len(flow_screen.every):,} flows as a matrix; the table has numbers"
        )
        put(self._said, f'<p class="summary" role="status">{html.escape(text)}</p>')
        put(self._top, say.flows_table(flow_screen))
        put(self._found, say.found_table(flow_screen))
        self._progressed()
        on = self._state.mechanism == "gravity" and (
            self._state.parameter("zones") == flow_screen.choice.zones
        )
        self.own.label = (
            "Take these zones' own counts back" if on else "Give these zones counts of their own"
        )
        if flow_screen.every.simulated:
            self._asked = None
        elif (
            self._asked is None
            or self._asked[0] is not flow_screen.screen.release
            or (self._asked[1:] != (flow_screen.choice.zones, flow_screen.choice.pair))
        ):
            self._asked = (
                flow_screen.screen.release,
                flow_screen.choice.zones,
                flow_screen.choice.pair,
            )
            self._simulating.ask((flow_screen.screen.release, flow_screen.every))

    def _progressed(self) -> None:
        flow_screen = self.found
        if flow_screen is None:
            return
        text = f"Intervals (±) cover {flow_screen.every.covers}."
        if self._simulating.busy:
            part, _ = self._simulating.progress
            text = f"{text} Better ones are being simulated: {part:.0%}."
        put(self._covers, f'<p class="quiet">{html.escape(text)}</p>')

    def _bars_known(self, bars: Bars) -> None:
        self._bars = bars
        if self._screen is not None:
            self._draw()


def _simulated(request: tuple[Release, Flows], run: Run) -> Bars:
    """Half widths of all flows of a release, by as many reruns as those of the rows."""
    release, every = request

    def progress(part: float) -> None:
        run.tell(part)
        run.give_up_unwanted()

    (simulated,) = simulate(release, [about_flows(every)], RUNS, progress=progress)
    return release, every.zones, every.pair, simulated.half_width()
