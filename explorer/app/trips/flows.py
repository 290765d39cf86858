"""Flows between zones of two places: a private matrix beside the true one."""

from __future__ import annotations

import html
import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.panel import ExplainPanel, choice, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import finite
from explorer.app.kit.words import words
from explorer.app.mappage.readout import RUNS
from explorer.app.state import TripsState
from explorer.app.trips.screen import TripScreen
from explorer.app.work.job import Job, Run, patient
from explorer.errors import InputError
from explorer.evaluate.simulation import about_flows, simulate
from explorer.grid.grid import Grid
from explorer.releases.flows import Direction, Flows, flows
from explorer.releases.places import place_counts
from explorer.releases.release import Release
from explorer.trips.truth import LEVELS, exact_flows, found
from explorer.views import palette
from explorer.views.flows import FlowMap, FlowPicture, ZoneMatrix, flow_picture
from explorer.views.scale import ColourScale, top_value_of_leaves

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FlowChoice:
    """What the panel is asked for.

    Parameters
    ----------
    zones : along each side of a place
    pair : the two places, from 0
    direction : "between" all zones, or those "incoming" to or "outgoing" from one
    zone : that one, where there is one
    most : so many arcs
    loops : whether flows that stay in their zone are drawn
    """

    zones: int = 8
    pair: tuple[int, int] = (0, 1)
    direction: Direction = "between"
    zone: int | None = None
    most: int = 50
    loops: bool = False


@dataclass(frozen=True, eq=False)
class FlowScreen:
    """What the panel shows.

    Attributes
    ----------
    every : all flows of the release; ``drawn`` those on the map, largest first
    true : exact counts of all flows, (zones, zones): the curator's
    table : false discoveries and misses by size of the zones: the curator's
    """

    screen: TripScreen
    choice: FlowChoice
    every: Flows
    drawn: Flows
    picture: FlowPicture
    true: Floats
    table: pd.DataFrame


@dataclass(frozen=True, eq=False)
class FlowJob:
    """One request; what is still right in ``previous`` is used again.

    ``half_width`` (n,) of all flows by simulation, once it is known.
    """

    screen: TripScreen
    choice: FlowChoice
    half_width: Floats | None = None
    previous: FlowScreen | None = None


def find_flows(job: FlowJob) -> FlowScreen:
    """Count all flows, choose those to be drawn, hold them against the truth.

    Raises
    ------
    InputError
        For zones finer than the grids, or too many of them.
    """
    screen, choice, old = job.screen, job.choice, job.previous
    if choice.direction == "between":
        choice = replace(choice, zone=None)
    release, matrix = screen.release, screen.data.matrix
    same = old is not None and old.screen.release is release and old.choice.pair == choice.pair
    if old is not None and same and old.choice.zones == choice.zones:
        every, true = old.every, old.true
    else:
        every = flows(release, choice.zones, choice.pair)
        true = exact_flows(matrix, every.origins, every.destinations, choice.pair)
    if job.half_width is not None and len(job.half_width) == len(every):
        every = every.with_half_width(job.half_width)
    table = old.table if same and old is not None else found(matrix, release, LEVELS, choice.pair)
    if choice.direction != "between" and choice.zone is None:
        # The zone that most arrive in, or leave.
        choice = replace(choice, zone=int(np.argmax(every.totals(choice.direction))))
    drawn = every.largest(choice.most, choice.direction, choice.zone, choice.loops)
    drawn = drawn.select(drawn.value > 0)
    private = place_counts(release, choice.pair[0])
    ones = np.ones(private.size, dtype=np.int64)
    ground = ColourScale("log", top_value_of_leaves(private.ravel(), ones, "log"), "release")
    ones = np.ones(len(every), dtype=np.int64)
    scale = ColourScale("log", top_value_of_leaves(every.value, ones, "log"), "release")
    ends = _on(every.origins.grid, every.destinations.grid, every.destinations.centres)
    picture = flow_picture(every, drawn, ends, ground.encode(private.astype(np.float32)), scale)
    return FlowScreen(screen, choice, every, drawn, picture, true, table)


def _on(ground: Grid, other: Grid, middles: Floats) -> Floats:
    """Points of another place's grid (n, 2) on the map of the origin."""
    if ground.crs is None or other.crs is None or ground.crs == other.crs:
        return middles
    x, y = ground.from_lonlat(*other.to_lonlat(*middles.T))
    return np.stack([x, y], axis=1)


#: So many flows are in the table next to the map.
ROWS = 10


def flows_summary(flow_screen: FlowScreen) -> str:
    """The largest flow, how many are above the noise, and what the intervals cover."""
    every, drawn, choice = flow_screen.every, flow_screen.drawn, flow_screen.choice
    count = int(np.sum(every.shown))
    release = flow_screen.screen.release
    trips = "trips by weight" if release.weighted else "trips"
    noise = "3 / epsilon" if release.contribution_bound == 1 else "3 × bound / epsilon"
    text = (
        f"{choice.zones} × {choice.zones} zones a place have {len(every):,} flows between them; "
        f"{count:,} are released as {every.threshold:,.3g} {trips} ({noise}) or more."
    )
    if not len(drawn):
        return f"{text} No flow of this kind has a private count above 0."
    unsure = int(np.sum(drawn.holds_zero))
    first = f"{drawn.value[0]:,.0f} ± {drawn.half_width[0]:,.0f}"
    start, stop = (
        every.origins.labels[drawn.origin[0]],
        every.destinations.labels[drawn.destination[0]],
    )
    true = flow_screen.true[drawn.origin[0], drawn.destination[0]]
    text += (
        f" The largest of the {len(drawn)} drawn goes from zone {start} to zone {stop}: {first}, "
        f"in truth {true:,.0f}."
    )
    if unsure:
        are = "is" if unsure == 1 else "are"
        text += f" {unsure} of them {are} grey: there may be nobody."
    return text


def flows_table(flow_screen: FlowScreen) -> str:
    """The largest flows that are drawn, private and true, as a table."""
    drawn, every = flow_screen.drawn, flow_screen.every
    rows = []
    for at in range(min(ROWS, len(drawn))):
        origin, destination = int(drawn.origin[at]), int(drawn.destination[at])
        name = f"{every.origins.labels[origin]} to {every.destinations.labels[destination]}"
        rows.append(
            f"<tr><th scope='row'>{html.escape(name)}</th><td>{drawn.value[at]:,.0f}</td>"
            f"<td>{drawn.half_width[at]:,.0f}</td>"
            f"<td>{flow_screen.true[origin, destination]:,.0f}</td></tr>"
        )
    if not rows:
        return ""
    return (
        "<div class='scroll'><table class='numbers'><caption>The largest flows; zones are numbered "
        "row-column from the south-west</caption><thead><tr><th scope='col'>zones</th>"
        "<th scope='col'>private</th><th scope='col'>±</th><th scope='col'>true</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def found_table(flow_screen: FlowScreen) -> str:
    """False discoveries and misses by size of the zones, as a table; exact figures."""
    rows = [
        f"<tr><th scope='row'>{row.zones} × {row.zones}</th><td>{row.shown:,}</td>"
        f"<td>{_of(row.shown_empty, row.shown)}</td><td>{row.large:,}</td>"
        f"<td>{_of(row.missed, row.large)}</td><td>{row.top_found} of {row.top}</td></tr>"
        for row in flow_screen.table.itertuples()
    ]
    return (
        "<div class='scroll'><table class='numbers'><caption>Against the truth, by size of the "
        f"zones: a flow is shown if released as {flow_screen.every.threshold:,.3g} or more"
        "</caption><thead><tr><th scope='col'>zones</th><th scope='col'>shown</th>"
        "<th scope='col'>of these truly empty</th><th scope='col'>truly that large</th>"
        "<th scope='col'>of these missed</th><th scope='col'>largest found</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _of(part: int, whole: int) -> str:
    return "–" if not whole else f"{part:,} ({part / whole:.0%})"


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
        self._simulating.cancel()
        self._screen = self._asked = None
        self.found = None

    def restyle(self) -> None:
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
        text = flows_summary(flow_screen)
        counted = f"{flow_screen.choice.zones} × {flow_screen.choice.zones} zones a place have"
        self.map.describe(
            f"Flows between zones. {counted} {len(flow_screen.every):,} flows between them, of "
            f"which {len(flow_screen.drawn)} are drawn; the table has numbers"
        )
        self.matrix.describe(
            f"All {len(flow_screen.every):,} flows as a matrix; the table has numbers"
        )
        put(self._said, f'<p class="summary" role="status">{html.escape(text)}</p>')
        put(self._top, flows_table(flow_screen))
        put(self._found, found_table(flow_screen))
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
