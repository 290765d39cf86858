"""Federated: people keep their places; a server adds masked vectors, and a map grows by rounds."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import COLUMNS, median_error
from explorer.app.curator.data import CityData
from explorer.app.curator.panel import ComparingPanel
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.federated.algorithms import ALGORITHM_COMPARISON
from explorer.app.federated.failing import FailingPanel
from explorer.app.federated.rounds import RoundsPanel, several, size
from explorer.app.federated.screen import FederatedDrawing, compute, released
from explorer.app.federated.server_saw import ServerSawPanel
from explorer.app.federated.smooth import SmoothPanel
from explorer.app.federated.thresholds import ThresholdsPanel
from explorer.app.kit.html import html_pane, put, section
from explorer.app.kit.maps import DOCK
from explorer.app.kit.numbers import percent
from explorer.app.kit.theme import WINDOW
from explorer.app.kit.words import words
from explorer.app.mappage.drawer import DrawerSpec, DrawnDrawer
from explorer.app.mappage.maps import MapPair, same_ground
from explorer.app.mappage.page import MapPage
from explorer.app.mappage.readout import GivenBars, MapReadout
from explorer.app.mappage.spec import PageSpec
from explorer.app.state import FederatedState
from explorer.errors import InputError
from explorer.releases.distributed import ONCE
from explorer.scenario.choices import GRID_SIDES
from explorer.views.marks import Marked, RoundMarks


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


class FederatedReadout(MapReadout):
    """Numbers and sentences about two maps; parameters as of `Readout`."""

    def __init__(self, parts: PageParts, table: BoxTable) -> None:
        super().__init__(parts, table)
        # Noise and sampling are in the release's own estimate; nothing is simulated.
        self.error_bars = GivenBars(self.numbers)
        self.about = html_pane(margin=(0, 0, 8, 0))

    def figures(self, screen: Screen) -> Sequence[tuple[str, str]]:
        return key_figures(screen)

    @property
    def quoting(self) -> Sequence[Any]:
        return (*super().quoting, self.about)

    def tell(self, screen: Screen) -> None:
        text = html.escape(answer(screen, exact=self.truth))
        put(self.summary, f'<p class="summary" role="status"><b>{text}</b></p>')
        put(self.about, f'<p class="quiet">{html.escape(about(screen, exact=self.truth))}</p>')


#: What an open panel has of the window's height: with its words next to the maps it is one picture.
PANEL = f"max(300px, calc({WINDOW} * .36))"


class RoundMaps(MapPair):
    """Two linked maps over one grid.

    Parameters
    ----------
    beside : what is next to the maps where there is space, and below them where there is none
    *args : as of `MapPair`
    """

    def __init__(self, beside: Any, *args: Any) -> None:
        super().__init__(*args)
        self.put_beside(beside)
        self.round_marks = RoundMarks(self.right.figure, self.right.lines.boxes)

    def make_room(self, room: bool) -> None:
        self._leave(PANEL if room else DOCK)

    def _leave(self, below: str) -> None:
        super()._leave(below)
        self.frame.styles = {**self.frame.styles, "flex": "1 1 100%"}

    def around(self, whole: str) -> dict[str, str]:
        return {"flex": "1 1 100%"}

    def mark_round(self, marked: Marked | None) -> None:
        """Show what a round divided, gave up and could not tell from noise; None for nothing."""
        self.round_marks.show(marked)
        self.push()


def _promise(drawer: DrawnDrawer, matrix: Any) -> None:
    """Say whom a release would protect, or that there are too many people, if shown."""
    text = ""
    # Whether more people are there than were declared is a fact of exact counts.
    if drawer.parts.truth:
        try:
            sentence = f"A release protects {drawer.drawing.protects(matrix)}."
        except InputError as error:
            sentence = str(error)
        text = f'<p class="help">{html.escape(sentence)}</p>'
    put(drawer.control("promise"), text)


def _exact_number(drawer: DrawnDrawer) -> Any:
    """Whether the exact number of people may be published."""

    def ticked(_event: Any) -> None:
        drawer.drawing.forget()
        if drawer.parts.data is not None:
            _promise(drawer, drawer.parts.data.matrix)

    drawer.state.param.watch(ticked, "people_are_public")
    return drawer.tied.check("people_are_public")


def _maps(page: Federated, data: CityData) -> RoundMaps:
    acts = page.drawing.viewed, page.drawn
    return RoundMaps(page.explain.beside, page.state, data.grid, *acts)


def _begins(begin: dict[str, Any]) -> dict[str, Any]:
    """The city, and the side of the cells where it is one of this page."""
    side = begin.get("side")
    sides = {"side": side} if side in GRID_SIDES else {}
    return {"city": begin.get("city"), **sides}


SPEC = PageSpec(
    key="federated",
    title="Federated map explorer",
    choices=FederatedState,
    compute=compute,
    drawing=FederatedDrawing,
    maps=_maps,
    fits=same_ground,
    looks=("right", "scale", "truth"),
    styles=("palette", "partition", "drag"),
    columns=COLUMNS,
    views=("Truth", "Private"),
    private=1,
    drawer=DrawerSpec(
        first=[("right", "Right map")],
        agreed=[("people_are_public", "Exact number"), ("promise", "")],
        look=[
            *(("scale", "Colour scale"), ("palette", ""), ("partition", "Partition")),
            *(("base_map", "Base map"), ("truth", "")),
        ],
        made={
            "people_are_public": _exact_number,
            "promise": lambda _drawer: html_pane(margin=(0, 10, 4, 10)),
        },
        counted=_promise,
    ),
    readout=FederatedReadout,
    above=lambda page: [page.head(page.readout.summary)],
    below=lambda read, text: [
        read.about,
        section("Boxes", text["Boxes"]),
        read.causes.view,
        section("Ledger", text["Ledger"]),
        read.ledger,
    ],
    panels={
        "Rounds": lambda page: RoundsPanel(page.parts),
        "Server": lambda page: ServerSawPanel(page.parts),
        "Thresholds": lambda page: ThresholdsPanel(page.parts),
        "Failing": lambda page: FailingPanel(page.parts),
        "Algorithms": lambda page: ComparingPanel(page.parts, ALGORITHM_COMPARISON),
        "Smooth": lambda page: SmoothPanel(page.parts),
    },
    more="How it was made",
    begins=_begins,
)


class Federated(MapPage):
    """The Federated page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Parameters
    ----------
    city : optional
        A key of `explorer.cities.catalogue.cities()`; counts of your own, a `FrequencyMatrix` or an
        array; or points (file, frame, `read_points`) with an ``extent``. Each record
        of counts is one person.
    scenario : Scenario, optional
        What to begin with, in place of city and settings; a link in the address goes before it.
    links : sequence of Link
        The server's pages.
    extent, user, boxes, keep, height, controls
        Of points and of a notebook's cell, see `CuratorPage`.
    **choices
        First settings: ``epsilon``, ``people``, ``shard``, ``algorithm``, ... (see
        `FederatedState` and `explorer.Federated`).

    Examples
    --------
    As the last line of a notebook cell it shows itself; in a script for ``panel serve``,
    ``Federated("madeup").servable()`` makes it a page.
    """

    spec = SPEC
    #: The panel that is open at first.
    FIRST = "Rounds"
    _seen = False

    def show(self, data: Any) -> None:
        super().show(data)
        if not self._seen:
            self._seen = True
            self.explain.choice.value = self.FIRST
