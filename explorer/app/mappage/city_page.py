"""A page of one city: what it begins with, which city it shows, how another is read."""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import panel as pn

from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.data import counted, is_loaded, load_city, own_city
from explorer.app.curator.own import (
    OwnPoints,
    as_read,
    is_counts,
    is_key,
    matrix_of,
    own_points,
    refuse_release,
    refuse_unused,
)
from explorer.app.curator.parts import PageParts
from explorer.app.curator.start import OWN, Opening, not_here, take
from explorer.app.curator.stories import StoryBar
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.labels import BADGE
from explorer.app.kit.navigation import Link
from explorer.app.kit.page import AppPage
from explorer.app.state import PlaceState
from explorer.app.work.compiling import COMPILING, AfterCompiling, is_compiled
from explorer.app.work.document import soon
from explorer.app.work.job import Background
from explorer.cities import catalogue as cities
from explorer.errors import InputError
from explorer.grid.countable import unread_users
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import Points, read_points
from explorer.scenario import Scenario, Story, kind_of

# It stays at the upper edge while the page is scrolled, takes no space, and moves nothing.
_OVER = """
:host { position: sticky !important; top: 12px; height: 0 !important; overflow: visible !important;
  z-index: 1200; pointer-events: none; }
.old { width: fit-content; margin: 44px auto 0; padding: 8px 14px; border-radius: 4px;
  font-size: 16px; line-height: 22px; font-weight: 600; box-shadow: 0 2px 10px rgba(0, 0, 0, .45);
  background: var(--panel-surface-color, Canvas); border: 1px solid currentColor; }
"""
FADED = "0.35"


class Waiting:
    """Fades everything on a page but its messages.

    Parameters
    ----------
    body : the page's column
    apart : what does not fade
    """

    def __init__(self, body: Any, apart: Any) -> None:
        self._body, self._apart = body, apart
        self._label = html_pane(visible=False)
        self._label.stylesheets = [*self._label.stylesheets, _OVER]
        body.insert(0, self._label)

    def begin(self, old: str, new: str) -> None:
        """The city ``old`` is on screen while ``new`` is read."""
        text = f"{html.escape(old)}, while {html.escape(new)} is read"
        put(self._label, f'<div class="old">{text}</div>')
        self._label.visible = True
        self._fade(FADED)

    def end(self) -> None:
        """What is on screen is what was chosen."""
        if self._label.visible:
            self._label.visible = False
            self._fade(None)

    def _fade(self, opacity: str | None) -> None:
        for part in self._body.objects:
            if part is not self._label and part is not self._apart:
                # A browser keeps a style that is left out; None takes it away.
                part.styles = {**part.styles, "opacity": opacity}


#: A key of a catalogue and the choices that say what is counted.
Place = tuple[Any, ...]


@dataclass(frozen=True)
class Source:
    """Where the data of a page come from.

    Attributes
    ----------
    titles : the catalogue, title to key
    find : refuses a key that the catalogue does not have
    is_loaded : whether ``load`` would answer at once
    load : data of the catalogue, however long that takes; called in a thread
    counts : the data of counts that someone brought along, from them and an extent; None where they
        are points
    points : points that someone brought along, from them, their extent and their column of users
    count : such points on the cells of a place; called in a thread
    """

    titles: Callable[[], dict[str, str]]
    find: Callable[[str], Any]
    is_loaded: Callable[[Place], bool]
    load: Callable[[Place], Any]
    counts: Callable[[Any, Any], Any]
    points: Callable[[Any, Any, str | None], OwnPoints[Any]]
    count: Callable[[Any, Any], Any]


def _counts(source: Any, extent: Any) -> Any:
    if isinstance(source, FrequencyMatrix):
        return own_city(source)
    return own_city(matrix_of(source, extent)) if is_counts(source) else None


def _points(source: Any, extent: Any, user: str | None) -> OwnPoints[Any]:
    read = partial(as_read, kind=Points, user=user, read=read_points)
    return own_points(source, extent, read, "points")


#: The cities of the catalogue.
CITIES = Source(
    lambda: {city.title: key for key, city in cities.cities().items()},
    cities.find,
    lambda place: is_loaded(*place),
    lambda place: load_city(*place),
    _counts,
    _points,
    counted,
)


class CuratorPage(AppPage):
    """A page that shows one city's exact counts.

    A page names its `State`, makes its parts in `build`, shows a city in `show` and stops in
    `close`. One of other data names their `source`.

    Parameters
    ----------
    city : optional
        A key of the catalogue; counts of your own as a `FrequencyMatrix` or an array (rows,
        columns), row 0 in the south; or points as `read_points` takes them, with an extent.
    scenario : Scenario, optional
        What to begin with, in place of city and settings; a link in the address goes before it.
    links : sequence of Link
        The server's pages.
    extent : optional
        Where points of your own are counted: (west, south, east, north) in degrees, a public
        boundary, its file, or a `Grid`. It is public, so it is never taken from points.
    user : str, optional
        The column of your own file that says whose record it is. People are then protected, so
        ``bound`` says how many records of each count; ``bound=0`` insists on single records.
    boxes : optional
        The first boxes, as ``page.boxes`` takes them; two examples without them.
    keep, height, controls
        How the page is in a cell, see `AppPage`.
    **choices
        First choices of the state.

    Raises
    ------
    InputError
        For a city or a choice that does not exist, and for users without a bound.
    """

    BADGE = BADGE
    State: ClassVar[type[PlaceState]]
    #: Where its data come from.
    source: ClassVar[Source] = CITIES
    #: What the places of a row of boxes are called; one without a name where there is one map.
    places: ClassVar[tuple[str, ...]] = ("",)

    def __init__(
        self,
        city: Any = None,
        scenario: Scenario | None = None,
        links: Sequence[Link] = (),
        *,
        extent: Any = None,
        user: str | None = None,
        boxes: Any = None,
        keep: bool = False,
        height: Any = None,
        controls: bool = True,
        **choices: Any,
    ) -> None:
        if isinstance(height, int | float):
            # A tree has a height too, and had it first; pixels are said as such.
            choices, height = {**choices, "height": height}, None
        super().__init__(links, keep=keep, height=height, controls=controls)
        self._first_boxes = boxes
        opening = Opening.of(scenario, self.KEY)
        city = opening.city(city)
        catalogue = self.source.titles()
        self._brought, self._own = self.bring(city, extent, user)
        if self._brought is not None:
            catalogue["Your own counts"] = city = OWN
        elif self._own is not None:
            catalogue[self._own.title] = city = OWN
        unsaid = "bound" not in choices
        if self._own is not None and unsaid and self._own.points.user is not None:
            raise InputError(
                "These records have users, so say whom to protect: bound=10 for each person with "
                "at most 10 records, or bound=0 for each record by itself."
            )
        key = str(city or next(iter(catalogue.values())))
        if city != OWN:
            self.source.find(key)
        if self.phone and "drag" in self.State.param:
            choices = {"drag": "scroll", **choices}
        self.state = self.begin(opening, key, choices)
        if "explain" in self.state.param and "explain" not in choices:
            self.remembered.switch("explain", self.state)
        if self._own is not None:
            self.state.put(**self.own_choices(self._own))
        # Until a city has been read there is nothing to draw boxes on.
        rectangles = Rectangles(*(Grid.cells((1, 1)) for _ in self.places), places=self.places)
        self.parts = PageParts(
            *(self.state, self.message, opening, catalogue, rectangles),
            links=self.links,
            phone=self.phone,
            remembered=self.remembered,
            tab=self.tab,
        )
        if self._own is not None:
            self.parts.own_population = self._own.population
            self.parts.unread_users = unread_users(self._own.notes) if unsaid else []
        self._reading = Background(self.message)
        self._going_back = False
        # Before the parts: a section that was left open is filled when it is made.
        self.story = StoryBar(self.KEY, self.links, self.take_screen, self.message)
        self.build(self.parts)
        self._waiting = Waiting(self.body, self.message.view)
        self.body.append(self.story.view)
        self.state.param.watch(lambda *_: self.look_for_city(), [*self.PLACE])
        self.live()
        at_hand = self._ready(self.state.place)
        if at_hand is None and pn.state.curdoc is not None:
            pn.state.onload(self.look_for_city)
        else:
            self._use(at_hand or self.read(self.state.place))
        self.story.look_at_address()

    @classmethod
    def served(
        cls,
        links: Sequence[Link],
        *,
        city: Any = None,
        scenario: Scenario | None = None,
        **begin: Any,
    ) -> Self:
        fits = scenario is not None and scenario.kind is kind_of(cls.KEY)
        return cls(city=city, scenario=scenario if fits else None, links=links, **begin)

    def begin_story(self, story: Story) -> None:
        """Begin with a story whose first screen is there, unless the address says otherwise."""
        if not {"s", "story", "lesson"} & {*pn.state.session_args}:
            self.story.open(story, show=False)

    def take_screen(self, screen: Scenario) -> None:
        """Show a screen of this page, a step of a story; refused where a page has none."""
        raise InputError(not_here(screen))

    # What a page says about itself.

    #: The choices that say what is counted.
    PLACE: ClassVar[tuple[str, ...]] = ("city", "side", "bound")

    def begin(self, opening: Opening, city: str, choices: dict[str, Any]) -> Any:
        """The first choices: those given, then those of the scenario that the page opens with."""
        state = self.State(city=city, **choices)
        if opening.scenario is not None:
            take(state, opening.scenario)
        return state

    @abstractmethod
    def build(self, parts: PageParts) -> None:
        """Make the parts and fill `sidebar` and `body`, once, before there is a city."""

    @abstractmethod
    def show(self, data: Any) -> None:
        """Show the city that is now in ``parts.data``."""

    def bring(
        self, source: Any, extent: Any, user: str | None
    ) -> tuple[Any, OwnPoints[Any] | None]:
        """Counts, or points, that someone brought along; neither for a key of the catalogue.

        Raises
        ------
        InputError
            For points without an extent, an extent without points, and what cannot be read.
        """
        if source is None or is_key(source):
            refuse_unused(extent, user, "data of the catalogue")
            return None, None
        refuse_release(source)
        counts = self.source.counts(source, extent)
        if counts is None:
            return None, self.source.points(source, extent, user)
        # An array has no place of its own; all other counts have theirs.
        refuse_unused(None if is_counts(source) else extent, user, "counts")
        return counts, None

    def own_choices(self, own_data: OwnPoints[Any]) -> dict[str, Any]:
        """Further choices for own data: what is protected, as it was declared."""
        bound = self.state.bound if own_data.bound is None else own_data.bound
        return {"bound": bound if own_data.points.user is not None else 0}

    def at_hand(self, place: Place) -> Any:
        """The city if it is there at once."""
        if place[0] == OWN:
            # Points of one's own are counted anew on each grid.
            return self._brought if self._own is None else None
        return self.source.load(place) if self.source.is_loaded(place) else None

    def read(self, place: Place) -> Any:
        """The city, however long that takes; called in a thread."""
        if place[0] != OWN:
            return self.source.load(place)
        if self._own is None:
            raise InputError("There are no data of your own yet: load a file first.")
        return self.source.count(self._own, place)

    # Which city is on screen.

    def _must_compile(self) -> bool:
        """Whether a server is to compile this page first, in another process."""
        return pn.state.curdoc is not None and not is_compiled(self.KEY)

    def _ready(self, place: Place) -> Any:
        """The city if it can be shown at once."""
        return None if self._must_compile() else self.at_hand(place)

    def look_for_city(self) -> None:
        """Show the chosen city, at once or when it has been read; the last choice counts."""
        if self._going_back:
            return
        place, at_hand = self.state.place, self._ready(self.state.place)
        self.parts.reading = at_hand is None
        if at_hand is not None:
            # Whatever is still being read was chosen before this.
            self._reading.cancel()
            self._waiting.end()
            if at_hand is not self.parts.data:
                # Of new maps in the answer to the menu's own message the browser knows only parts.
                self.parts.reading = True
                soon(partial(self._use_chosen, place, at_hand))
            return
        chosen = self.parts.title_of(place[0])
        if self.parts.data is not None and place[0] != self.parts.data.city[0]:
            self._waiting.begin(self.parts.title_of(self.parts.data.city[0]), chosen)
        work: Callable[[], Any] = partial(self._at_hand_or_read, place)
        saying = f"Reading {chosen} …"
        if self._must_compile():
            work, saying = AfterCompiling(self.KEY, work), COMPILING
        self._reading.run(work, self._use, saying, self._back)

    def _at_hand_or_read(self, place: Place) -> Any:
        return self.at_hand(place) or self.read(place)

    def _use_chosen(self, place: Place, data: Any) -> None:
        """Show a city, unless another one has been chosen meanwhile."""
        if self.state.place == place and data is not self.parts.data:
            self._use(data)

    def _use(self, data: Any) -> None:
        self.parts.data, self.parts.reading = data, False
        self._waiting.end()
        self.show(data)

    def _back(self) -> None:
        """A city could not be read: the choice goes back to the one on screen."""
        self.parts.reading = False
        self._waiting.end()
        if self.parts.data is None:
            return
        self._going_back = True
        self.state.go(self.parts.data.city)
        self._going_back = False
