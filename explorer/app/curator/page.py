"""The frame of a curator's page: what it begins with, which city it shows, how another is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import panel as pn

from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.data import is_loaded, load_city, own_city
from explorer.app.curator.parts import PageParts
from explorer.app.curator.start import OWN, Opening, take
from explorer.app.kit.labels import BADGE
from explorer.app.kit.navigation import Link
from explorer.app.kit.page import AppPage
from explorer.app.state.choices import PlaceState
from explorer.app.work.background import Background
from explorer.cities import catalogue as cities
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario import Scenario, kind_of

Place = tuple[Any, ...]


class CuratorPage(AppPage):
    """A page that shows one city's exact counts.

    A page names its `State`, makes its parts in `build`, shows a city in `show` and stops in
    `close`. One of other data also says in `catalogue`, `at_hand` and `read` where they come from.

    Parameters
    ----------
    city : str, FrequencyMatrix or None
        A key of the catalogue, or counts of your own.
    scenario : Scenario, optional
        What to begin with, in place of city and settings; a link in the address goes before it.
    links : sequence of Link
        The server's pages.
    keep : bool
        Whether a saved notebook holds exact numbers, see `AppPage`; False keeps a poster.
    **choices
        First choices of the state.

    Raises
    ------
    InputError
        For a city or a choice that does not exist.
    """

    BADGE = BADGE
    State: ClassVar[type[PlaceState]]
    #: What the places of a row of boxes are called; one without a name where there is one map.
    places: ClassVar[tuple[str, ...]] = ("",)

    def __init__(
        self,
        city: str | FrequencyMatrix | None = None,
        scenario: Scenario | None = None,
        links: Sequence[Link] = (),
        *,
        keep: bool = False,
        **choices: Any,
    ) -> None:
        super().__init__(links, keep=keep)
        opening = Opening.of(scenario, self.KEY)
        city = opening.city(city)
        catalogue = self.catalogue()
        self._brought = self.bring(city)
        if self._brought is not None:
            catalogue["Your own counts"] = city = OWN
        key = str(city or next(iter(catalogue.values())))
        if self._brought is None:
            self.known(key)
        if self.phone and "drag" in self.State.param:
            choices = {"drag": "scroll", **choices}
        self.state = self.begin(opening, key, choices)
        # Until a city has been read there is nothing to draw boxes on.
        rectangles = Rectangles(*(Grid.cells((1, 1)) for _ in self.places), places=self.places)
        self.parts = PageParts(
            *(self.state, self.message, opening, catalogue, rectangles),
            links=self.links,
            phone=self.phone,
        )
        self._reading = Background(self.message)
        self._going_back = False
        self.build(self.parts)
        self.state.param.watch(lambda *_: self.look_for_city(), [*self.PLACE])
        self.live()
        at_hand = self.at_hand(self.state.place)
        if at_hand is None and pn.state.curdoc is not None:
            pn.state.onload(self.look_for_city)
        else:
            self._use(at_hand or self.read(self.state.place))

    @classmethod
    def served(
        cls,
        links: Sequence[Link],
        *,
        city: Any = None,
        scenario: Scenario | None = None,
        **begin: Any,
    ) -> Self:
        """The page of one visitor; a scenario about other data begins other pages only."""
        fits = scenario is not None and scenario.kind is kind_of(cls.KEY)
        return cls(city=city, scenario=scenario if fits else None, links=links, **begin)

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

    def bring(self, given: Any) -> Any:
        """Counts that someone brought along; None for a key of the catalogue."""
        return own_city(given) if isinstance(given, FrequencyMatrix) else None

    def known(self, key: str) -> None:
        """Refuse a key that the catalogue does not have."""
        cities.find(key)

    def catalogue(self) -> dict[str, str]:
        """Title of each city to its key."""
        return {each.title: key for key, each in cities.cities().items()}

    def at_hand(self, place: Place) -> Any:
        """The city if it is there at once."""
        if place[0] == OWN:
            return self._brought
        return self.load(place) if self.is_loaded(place) else None

    def read(self, place: Place) -> Any:
        """The city, however long that takes; called in a thread."""
        return self.load(place)

    def is_loaded(self, place: Place) -> bool:
        """Whether `load` would answer at once."""
        return is_loaded(*place)

    def load(self, place: Place) -> Any:
        """Data of the catalogue, however long that takes; called in a thread."""
        return load_city(*place)

    # Which city is on screen.

    def look_for_city(self) -> None:
        """Show the chosen city, at once or when it has been read; the last choice counts."""
        if self._going_back:
            return
        place, at_hand = self.state.place, self.at_hand(self.state.place)
        self.parts.reading = at_hand is None
        if at_hand is not None:
            # Whatever is still being read was chosen before this.
            self._reading.cancel()
            if at_hand is not self.parts.data:
                self._use(at_hand)
            return
        titles = {key: title for title, key in self.parts.catalogue.items()}
        saying = f"Reading {titles.get(place[0], place[0])} …"
        self._reading.run(partial(self.read, place), self._use, saying, self._back)

    def _use(self, data: Any) -> None:
        self.parts.data, self.parts.reading = data, False
        self.show(data)

    def _back(self) -> None:
        """A city could not be read: the choice goes back to the one on screen."""
        self.parts.reading = False
        if self.parts.data is None:
            return
        self._going_back = True
        self.state.go(self.parts.data.city)
        self._going_back = False
