"""Federated: people keep their places; a server adds masked vectors, and a map grows by rounds."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np

from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import COLUMNS, median_error
from explorer.app.curator.explain import Panel
from explorer.app.curator.own import UploadForm
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.federated.algorithms import AlgorithmsPanel
from explorer.app.federated.failing import FailingPanel
from explorer.app.federated.rounds import RoundsPanel, several, size
from explorer.app.federated.screen import FederatedDrawing, compute, released
from explorer.app.federated.server_saw import ServerSawPanel
from explorer.app.federated.smooth import SmoothPanel
from explorer.app.federated.thresholds import ThresholdsPanel
from explorer.app.kit.html import html_pane, put, section
from explorer.app.kit.maps import DOCK
from explorer.app.kit.navigation import Link
from explorer.app.kit.numbers import percent
from explorer.app.kit.theme import WINDOW
from explorer.app.kit.words import words
from explorer.app.mappage.drawer import DrawnDrawer
from explorer.app.mappage.drawing import Drawing
from explorer.app.mappage.maps import MapPair
from explorer.app.mappage.page import CityPage
from explorer.app.mappage.readout import GivenBars, MapReadout
from explorer.app.state import FederatedState
from explorer.errors import InputError
from explorer.releases.distributed import ONCE
from explorer.scenario import Scenario
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
        """Label and value of the strip above the maps."""
        return key_figures(screen)

    @property
    def quoting(self) -> Sequence[Any]:
        """The panes whose texts say something of exact counts."""
        return (*super().quoting, self.about)

    def tell(self, screen: Screen) -> None:
        """The first sentence, and what may be claimed."""
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
        """Shrink the maps so that a panel below them is in the window too, or grow again."""
        self._leave(PANEL if room else DOCK)

    def _leave(self, below: str) -> None:
        """The maps take what they can use of the width, and what is next to them the rest."""
        super()._leave(below)
        self.frame.styles = {**self.frame.styles, "flex": "1 1 100%"}

    def around(self, whole: str) -> dict[str, str]:
        """Not limited: there are texts next to the maps."""
        return {"flex": "1 1 100%"}

    def mark_round(self, marked: Marked | None) -> None:
        """Show what a round divided, gave up and could not tell from noise; None for nothing."""
        self.round_marks.show(marked)
        self.push()


class FederatedDrawer(DrawnDrawer):
    """All controls of the Federated page; parameters as of `DrawnDrawer`."""

    WORDS: ClassVar[str] = "federated"
    OWN: ClassVar[str] = "Grid and own points"
    _matrix: Any = None

    def data(self) -> list[Any]:
        """The city."""
        (chosen,) = self.mechanisms
        # There is one; its algorithms are a setting.
        chosen.menu.visible = False
        return ["About", "Figures", self.city, "City"]

    def grid(self) -> list[Any]:
        """Grid, and who a person is."""
        return [self.side, "Grid", self.bound, "What is protected", self.counted]

    def first(self) -> list[Any]:
        """What the private map shows."""
        return [self.tied.choose("right"), "Right map"]

    def agreed(self) -> list[Any]:
        """Whether the exact number of people may be published, and whom a release protects."""
        self.state.param.watch(lambda _event: self._ticked(), "people_are_public")
        return [self.tied.check("people_are_public"), "Exact number", self.promise]

    @cached_property
    def promise(self) -> Any:
        """Whom a release protects."""
        return html_pane(margin=(0, 10, 4, 10))

    def offer(self, screen: Any) -> None:
        """Also say whom a release of the people on screen would protect."""
        super().offer(screen)
        self._matrix = screen.data.matrix
        self._say_promise()

    def say_counted(self, data: Any) -> None:
        """Also say whom a release would protect, or that there are too many people, if shown."""
        super().say_counted(data)
        self._matrix = data.matrix
        self._say_promise()

    def _ticked(self) -> None:
        self._drawing.forget()
        self._say_promise()

    def _say_promise(self) -> None:
        # Whether more people are there than were declared is a fact of exact counts.
        if self._matrix is None or not self._parts.truth:
            put(self.promise, "")
            return
        try:
            sentence = f"A release protects {self._drawing.protects(self._matrix)}."
        except InputError as error:
            sentence = str(error)
        put(self.promise, f'<p class="help">{html.escape(sentence)}</p>')

    def look(self) -> list[Any]:
        """Colours, partition, the left map."""
        choose, switch = self.tied.choose, self.tied.switch
        return [
            *(choose("scale"), "Colour scale", choose("palette")),
            *(switch("partition"), "Partition", self.base_map(), "Base map", choose("truth")),
        ]


class Federated(CityPage):
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

    KEY = "federated"
    TITLE = "Federated map explorer"
    State = FederatedState
    columns = COLUMNS
    MAPS, PRIVATE = ("Truth", "Private"), 1
    LOOKS = ("right", "scale", "truth")
    STYLES = ("palette", "partition", "drag")
    MORE = "How it was made"
    Upload, Controls, Text = UploadForm, FederatedDrawer, FederatedReadout
    #: The panel that is open at first.
    FIRST = "Rounds"
    drawer: FederatedDrawer
    readout: FederatedReadout
    _seen = False

    @classmethod
    def served(
        cls,
        links: Sequence[Link],
        *,
        city: Any = None,
        scenario: Scenario | None = None,
        **begin: Any,
    ) -> Self:
        """The page of one visitor, on the grid that the server was started with."""
        return super().served(links, city=city, scenario=scenario, **_grid(begin))

    @classmethod
    def warm(cls, **begin: Any) -> None:
        """Read the city, compile, and draw the preview that every page begins with."""
        cls(begin.get("city"), **_grid(begin)).page()

    def new_drawing(self, parts: PageParts) -> Drawing:
        """Screens of two maps."""
        return FederatedDrawing(parts, self.publish, self.slow, compute)

    def panels(self, parts: PageParts) -> dict[str, Panel | Callable[[], Panel]]:
        """Rounds, one person's part, thresholds, dropouts, all algorithms, a smooth map."""
        return {
            "Rounds": partial(RoundsPanel, parts),
            "Server": partial(ServerSawPanel, parts),
            "Thresholds": partial(ThresholdsPanel, parts),
            "Failing": partial(FailingPanel, parts),
            "Algorithms": partial(AlgorithmsPanel, parts),
            "Smooth": partial(SmoothPanel, parts),
        }

    def above(self) -> list[Any]:
        """The first sentence."""
        return [self.head(self.readout.summary)]

    def below(self, text: Mapping[str, str]) -> list[Any]:
        """What maps and table say, the ledger."""
        read = self.readout
        return [
            read.about,
            section("Boxes", text["Boxes"]),
            read.causes.view,
            section("Ledger", text["Ledger"]),
            read.ledger,
        ]

    def new_maps(self, data: Any) -> RoundMaps:
        """Two linked maps."""
        acts = self.drawing.viewed, self.drawn
        return RoundMaps(self.explain.beside, self.state, data.grid, *acts)

    def show(self, data: Any) -> None:
        """Show data; at first sight with the rounds below."""
        super().show(data)
        if not self._seen:
            self._seen = True
            self.explain.choice.value = self.FIRST


def _grid(begin: Mapping[str, Any]) -> dict[str, Any]:
    """The side of the cells among what a server begins with."""
    side = begin.get("side")
    return {"side": side} if side in GRID_SIDES else {}
