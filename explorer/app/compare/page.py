"""Compare: two mechanisms on one city, and how errors fall with epsilon."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from explorer.app.boxes.answers import Column
from explorer.app.compare.stage import Pair, Stage, nearer, score, why
from explorer.app.compare.sweep_view import SweepView
from explorer.app.curator.answers import ERROR, TRUE, answer_boxes
from explorer.app.curator.data import CityData
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put, section
from explorer.app.kit.map_parts import Tag
from explorer.app.kit.maps import docked
from explorer.app.kit.navigation import Link
from explorer.app.kit.prose import column
from explorer.app.kit.words import words
from explorer.app.mappage.drawer import Drawer, wide_button
from explorer.app.mappage.maps import read_cell
from explorer.app.mappage.page import BoxesPage
from explorer.app.state import CompareState, Side
from explorer.app.work.document import soon
from explorer.errors import InputError
from explorer.grid.range_queries import Queries, same_questions
from explorer.mechanisms import Mechanism
from explorer.releases.release import Release
from explorer.scenario import Scenario
from explorer.views.markup import ledger_bar

#: Of the answers of A and of B; errors are private minus true in percent of the truth.
COLUMNS = (
    replace(TRUE, values=lambda both: TRUE.values(both[0])),
    Column("A", lambda both: both[0].private.round(), 78),
    Column("B", lambda both: both[1].private.round(), 78),
    replace(ERROR, name="error of A %", width=108, values=lambda both: ERROR.values(both[0])),
    replace(ERROR, name="error of B %", width=108, values=lambda both: ERROR.values(both[1])),
    Column("nearer", lambda both: nearer(*both), 76, "text", exact=True),
)


class CompareDrawer(Drawer):
    """All controls of the drawer; ``changed`` is called after a change of a mechanism's setting."""

    def __init__(self, parts: PageParts, changed: Callable[[], None]) -> None:
        super().__init__(parts, "compare", changed, letters=("A", "B"))
        self._changed = changed
        choose, switch = self.tied.choose, self.tied.switch
        sides = [(mechanism.menu, mechanism.about) for mechanism in self.mechanisms]

        def view_controls() -> list[Any]:
            colours = choose("scale"), choose("palette"), switch("partition")
            return [choose("third"), "Third map", *colours, self.base_map()]

        looks = self.section("view", "View", view_controls)
        self.say(looks, "View", ("scale", "palette", "partition"))
        grid = self.section("grid", "Grid", lambda: [self.side, self.bound])
        self.say(grid, "Grid", ("side",))
        settings = [
            self.remember(f"settings{letter}", mechanism.settings.section)
            for letter, mechanism in zip("ab", self.mechanisms, strict=True)
        ]
        self.fill(
            [
                *("About", self.city, "City", *sides[0], *sides[1], "Mechanisms"),
                wide_button("Swap A and B", self._swap),
                *(self.epsilon.view, "Epsilon"),
                *(self.new_draw(), switch("apart"), "Random noise"),
                *(choose("right"), "Maps show"),
            ],
            [*settings, looks, grid],
        )

    def _swap(self) -> None:
        self.state.swap()
        self.rebuild()
        self._changed()


class Compare(BoxesPage):
    """The Compare page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Everything on it is a preview: repeatable noise, nothing to publish.

    Parameters
    ----------
    city : optional
        A key of `explorer.cities.catalogue.cities()`; counts of your own, a `FrequencyMatrix` or an
        array; or points (file, frame, `read_points`) with an ``extent``.
    a, b : str or Mechanism, optional
        The two mechanisms, by name or with settings; HTF and Mosaic without them.
    scenario : Scenario, optional
        What to begin with, in place of the rest; a link in the address goes before it.
    links : sequence of Link
        The server's pages.
    extent, user, boxes, keep, height, controls
        Of points and of a notebook's cell, see `CuratorPage`.
    **choices
        First settings: ``epsilon``, ``side``, ``chosen``, ``seeds``, ... (see `CompareState`).

    Examples
    --------
    ``Compare("madeup", a="ag", b=HTF(T=5), epsilon=0.5)`` as the last line of a notebook cell
    shows itself; in a script for ``panel serve``, ``Compare().servable()`` makes it a page.
    """

    KEY = "compare"
    TITLE = "Compare mechanisms"
    State = CompareState
    columns = COLUMNS
    MAPS = ("A", "B")
    drawer: CompareDrawer

    def __init__(
        self,
        city: Any = None,
        a: Side | None = None,
        b: Side | None = None,
        scenario: Scenario | None = None,
        links: Sequence[Link] = (),
        **choices: Any,
    ) -> None:
        super().__init__(city, scenario, links, a=a, b=b, **choices)

    @classmethod
    def warm(cls, **begin: Any) -> None:
        """Read the city and compile what its maps need."""
        cls(**begin).page()

    @property
    def pair(self) -> Pair | None:
        """What is on the two maps."""
        return self.stage.pair

    @property
    def mechanisms(self) -> tuple[Mechanism, Mechanism]:
        """A and B, with epsilon and settings."""
        a, b = (side.instance() for side in self.state.sides)
        return a, b

    @property
    def releases(self) -> tuple[Release, Release] | None:
        """The previews of A and B on the maps; None before there are some."""
        return None if self.pair is None else (self.pair.a.release, self.pair.b.release)

    @property
    def answers(self) -> pd.DataFrame:
        """True and private answers of A and B to the boxes: exact, so for the curator alone.

        Returns
        -------
        DataFrame indexed by "mechanism" ("A" or "B") and the names of the boxes
            Columns as of ``Explore.answers``.
        """
        if self.pair is None:
            raise InputError("The page has no maps yet: wait until it is shown.")
        boxes, names = self.rectangles.queries, self.rectangles.names
        sides = {"A": self.pair.a, "B": self.pair.b}
        return pd.concat(
            {
                letter: answer_boxes(screen.release, screen.data.matrix, boxes).to_frame(names)
                for letter, screen in sides.items()
            },
            names=["mechanism"],
        )

    def compose(self, parts: PageParts) -> None:
        """Make drawer, pictures, sweep and text."""
        text = words("compare")
        self.stage = Stage(parts, self.drawn, self._rest)
        self.stage.on_picture = self._tag
        self.drawer = CompareDrawer(parts, self.settings_changed)
        self.sweep = SweepView(parts.state, self._source, parts.refuse)
        about = "Two mechanisms with the same epsilon and boxes: see at each box who is nearer."
        self._lead = f'<h1 class="visually-hidden">{self.TITLE}</h1><p class="lead">{about}'
        self._head = html_pane(styles={"flex": "1 1 300px", "align-self": "center"})
        self.show_badge(True)
        self._why = html_pane(margin=(8, 0, 6, 0))
        self._score = html_pane(margin=(4, 0))
        self._ledgers = html_pane(margin=(4, 0, 0, 0))
        dock = [self._score, self.table.widget, self.exchange.view, self._why]
        dock.append(section("Boxes", text["Boxes"]))
        # All of it is of errors.
        self._errors = column(
            section("Four epsilons", text["Four epsilons"]), self.stage.small_view, self.sweep.view
        )
        self._below = column(self._errors)
        self.body = column(
            self.message.view,
            ui.wrapping(self._head, self.tools.view, gap="4px 16px", margin=(0, 0, 4, 0)),
            docked(self.stage.view, *dock),
            section("Budget", text["Budget"]),
            self._ledgers,
            self._below,
            margin=(6, 16, 24, 16),
        )
        parts.state.b.param.watch(lambda *_: self.settings_changed(), ["mechanism"])
        parts.state.param.watch(lambda *_: self.outdated(), ["apart"])
        parts.state.param.watch(lambda *_: soon(self._third), ["third"])

    def show_badge(self, visible: bool) -> None:
        """Show what is said about the screen, above the maps too, or not."""
        super().show_badge(visible)
        text = f' <span class="quiet">{self.BADGE}.</span>' if visible else ""
        put(self._head, f"{self._lead}{text}</p>")

    def _show_truth(self) -> None:
        self._below.objects = [self._errors] if self.parts.truth else []
        if not self.parts.truth:
            put(self._score, "")
        super()._show_truth()

    def close(self) -> None:
        """Stop whatever runs: the visit has ended."""
        self.stage.close()
        self.sweep.close()

    # After a change.

    def settings_changed(self) -> None:
        """Something a map depends on; the sweep is of the same mechanisms."""
        super().settings_changed()
        self.sweep.refresh()

    def boxes_changed(self) -> None:
        """The maps, the table, and the sweep that asks about the boxes."""
        super().boxes_changed()
        self.sweep.boxes_changed()

    def _taken(self) -> None:
        super()._taken()
        self.sweep.refresh()

    def outdated(self) -> None:
        """New maps, of the present settings."""
        self.stage.outdated()

    def request(self) -> None:
        """The same releases, drawn in another way."""
        self.stage.request()

    def restyle(self) -> None:
        """Another style of the maps that are there."""
        self.stage.restyle()

    def zoom(self, factor: float) -> None:
        """Zoom both large maps, below 1 inwards; 0 shows the whole map again."""
        self.stage.zoom(factor)

    def _source(self) -> tuple[CityData, Queries]:
        """City and questions of the sweep."""
        return self.parts.known(), self.rectangles.queries

    # What is read next to the maps.

    def _rest(self) -> None:
        """Ledgers, facts, titles, sentences, table."""
        pair = self.pair
        if pair is None:
            return
        screens = (pair.a, pair.b)
        bars = [
            f"<div><h3>{letter}: {screen.title}</h3>{ledger_bar(screen.release.stages())}</div>"
            for letter, screen in zip("AB", screens, strict=True)
        ]
        put(self._ledgers, f'<div class="beside">{"".join(bars)}</div>')
        for side, screen in zip(self.drawer.mechanisms, screens, strict=True):
            side.settings.show_facts(screen.release.facts)
        self.numbers()
        self.scenarios.follow()

    def numbers(self) -> None:
        """Show the answers of the boxes."""
        pair, boxes = self.pair, self.rectangles.queries
        if pair is None or self.maps is None:
            return
        if not same_questions(pair.a.boxes, boxes):
            a, b = (
                replace(s, answers=answer_boxes(s.release, s.data.matrix, boxes), boxes=boxes)
                for s in (pair.a, pair.b)
            )
            self.stage.pair = pair = Pair(a, b)
        self._tag(pair)
        self.maps.caption(pair)
        put(self._why, f'<p class="summary" role="status">{html.escape(why(pair))}</p>')
        text = f'<p class="summary">{html.escape(score(pair))}</p>'
        put(self._score, text if self.parts.truth else "")
        self.table.show(pair.answers)

    def _tag(self, pair: Pair) -> None:
        """The tags of the boxes, where they are those that the pair has answered."""
        names, truth = self.rectangles.names, self.parts.truth
        if same_questions(pair.a.boxes, self.rectangles.queries):
            self.maps.say(self.maps.tags(*pair.answers, names, truth))

    def tags(self, boxes: Queries, names: Sequence[str]) -> list[list[Tag]]:
        """Tags of boxes of one's own on all maps."""
        if self.pair is None or self.maps is None:
            return []
        a, b = (
            answer_boxes(part.release, part.data.matrix, boxes)
            for part in (self.pair.a, self.pair.b)
        )
        tags: list[list[Tag]] = self.maps.tags(a, b, names, self.parts.truth)
        return tags

    def read_at(self, x: float, y: float) -> Sequence[str]:
        """What A and B say of the cell at a place, and the truth where its map is shown."""
        if self.releases is None:
            return ()
        try:
            true, private = read_cell(self.stage.known(), self.releases, x, y)
        except InputError:
            return "", "", ""
        third = f"{true:,} in this cell" if self.maps.third == "truth" and self.parts.truth else ""
        return *(f"{answer:,.2f} in this cell" for answer in private), third

    def _third(self) -> None:
        """Another map next to A and B, or none."""
        self.stage.remake(self._put)

    def _put(self, maps: Any) -> None:
        self.parts.maps = maps
        self.let_edit()
        self.highlight()
        self.numbers()

    def show(self, data: CityData) -> None:
        """Show a city; another extent gets new maps."""
        elsewhere = self.stage.use(data)
        self.parts.maps = self.stage.maps
        if elsewhere:
            self.let_edit()
        self.place_boxes(data, elsewhere)
        self.highlight()
        self.stage.begin()
        self.sweep.refresh()
