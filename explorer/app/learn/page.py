"""Learn: lessons about private maps, each with an experiment to play with."""

from __future__ import annotations

import html
from functools import partial
from typing import Any

import panel as pn

from explorer.app.curator.data import CityData, is_loaded, load_city, own_city
from explorer.app.curator.setting_fields import button
from explorer.app.curator.start import Opening
from explorer.app.kit import ui
from explorer.app.kit.html import put
from explorer.app.kit.labels import CURATOR
from explorer.app.kit.message import MessageArea
from explorer.app.kit.navigation import header
from explorer.app.kit.prose import column, pane
from explorer.app.kit.theme import THEME
from explorer.app.kit.words import words
from explorer.app.learn.card import LessonCard
from explorer.app.learn.contents import SIDES, Contents
from explorer.app.work.background import Background
from explorer.cities import catalogue as cities
from explorer.errors import InputError
from explorer.points.matrix import FrequencyMatrix
from explorer.teaching import lessons
from explorer.views.markup import safe_text

TITLE = "Learn with experiments"
#: The city key of what a notebook brought along.
OWN = "yours"


class Learn(pn.viewable.Viewer):
    """The Learn page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Everything on it is a preview; nothing is booked or published.

    Parameters
    ----------
    city : str, FrequencyMatrix or None
        A key of `explorer.cities.catalogue.cities()`, or counts of your own.
    lesson : str or None
        The lesson to begin with: the name of its file without the ending, or its experiment.
    side : 256, 512 or 1024
        Cells along each side of the grid.
    folder : optional
        A folder with lessons of your own; without it EXPLORER_LESSONS may name one.

    Examples
    --------
    ``Learn(lesson="averaging")`` as the last line of a notebook cell shows itself; in a script for
    ``panel serve``, ``Learn().servable()`` makes it a page.
    """

    def __init__(
        self,
        city: str | FrequencyMatrix | None = None,
        lesson: str | None = None,
        side: int = 256,
        folder: str | None = None,
        links: bool = False,
    ) -> None:
        super().__init__()
        pn.extension(notifications=False)
        self.phone = "Mobile" in pn.state.headers.get("User-Agent", "")
        self._links = links
        sent = Opening.of()
        if sent.scenario is not None and sent.scenario.page == "learn":
            # A link that somebody sent says what to begin with.
            city, asked = sent.scenario.city, sent.scenario.lesson or None
            side = sent.scenario.side if sent.scenario.side in SIDES else side
        else:
            asked = None
        if side not in SIDES:
            raise InputError(f"The grid's side is {str(side)[:40]!r}: choose 256, 512 or 1024.")
        catalogue = {each.title: key for key, each in cities.cities().items()}
        self._own = own_city(city) if isinstance(city, FrequencyMatrix) else None
        key = str(city or next(iter(catalogue.values()))) if self._own is None else OWN
        if self._own is not None:
            catalogue["Your own counts"] = OWN
        elif key not in catalogue.values():
            raise InputError(
                f"There is no city {key[:40]!r}: choose one of {', '.join(catalogue)}."
            )
        self.lessons, complaints = lessons(folder)
        self.data: CityData | None = None
        self._place = key, side
        self.message = MessageArea()
        self.background = Background(self.message)
        self._going_back = False
        refuse = self.message.refuse
        self.contents = Contents(self.lessons, catalogue, key, side, self.open, self._moved, refuse)
        self._stage, self.notices = column(), pane(margin=(0, 0, 8, 0))
        self._before = button("Lesson before", lambda: self.open(self.number - 1))
        self._next = button("Next lesson", lambda: self.open(self.number + 1))
        about = words("learn")["About"]
        self.body = column(
            pane(f'<h1 class="visually-hidden">{TITLE}</h1><p class="about">{about}</p>'),
            self.message.view,
            self.notices,
            self._stage,
            pn.Row(self._before, self._next, margin=(14, 0, 0, 0)),
            margin=(10, 16, 24, 16),
        )
        self.number = -1
        self._notices: list[str] = []
        self.card: LessonCard | None = None
        self.open(self._first(lesson) if lesson and asked is None else self._asked(asked))
        # Apart from the messages, which what is being read would replace.
        self._notices += [each for each in (sent.damaged, *complaints) if each]
        put(self.notices, "".join(map(_notice, self._notices)))
        pn.state.on_session_destroyed(lambda _context: self.close())
        if self._own is not None:
            self._use(self._own)
        elif pn.state.curdoc is None or is_loaded(key, side):
            self._use(load_city(key, side))
        else:
            pn.state.onload(self._load)

    def open(self, number: int) -> None:
        """Open the lesson with this number, counted from 0; one lesson is there at a time."""
        if not 0 <= number < len(self.lessons) or number == self.number:
            return
        if self.card is not None:
            self.card.close()
        self.number = number
        self.card = LessonCard(
            self.lessons[number],
            (number + 1, len(self.lessons)),
            self.message.refuse,
            links=self._links,
            phone=self.phone,
        )
        if self.data is not None:
            self.card.use(self.data)
        self._stage.objects = [self.card.view]
        self.contents.mark(number)
        self._before.disabled = number == 0
        self._next.disabled = number == len(self.lessons) - 1

    def page(self) -> Any:
        """The page with bar, drawer and theme toggle."""
        return ui.Page(
            title="Learn" if self.phone else TITLE,
            header=header("Learn", self._links, self.phone),
            sidebar=[self.contents.view],
            main=[self.body],
            sidebar_width=288,
            sidebar_open=not self.phone,
            sidebar_resizable=False,
            theme_config=THEME,
            dark_theme=pn.config.theme != "default" or "theme" not in pn.state.session_args,
        )

    def servable(self, title: str = TITLE, **kwargs: Any) -> Learn:
        """Make this the page of a script run by ``panel serve``."""
        self.page().servable(title=title, **kwargs)
        return self

    def close(self) -> None:
        """Stop whatever runs: the visit has ended."""
        if self.card is not None:
            self.card.close()

    def __panel__(self) -> Any:
        return pn.Row(
            pn.Column(
                pane(f'<p class="quiet">{CURATOR.capitalize()}</p>'), self.contents.view, width=300
            ),
            self.body,
            sizing_mode="stretch_width",
        )

    def _asked(self, name: str | None) -> int:
        """The lesson of that name, or the one of the address (``?lesson=...``), or the first."""
        asked = pn.state.session_args.get("lesson") or [b""]
        try:
            name = asked[0].decode() if name is None else name
            return self._first(name) if name else 0
        except (InputError, UnicodeDecodeError):
            self._notices.append("There is no lesson of that name: choose one from the list.")
            return 0

    def _first(self, lesson: str) -> int:
        """The number of a lesson by its key or its experiment."""
        for names in ([each.key for each in self.lessons], [e.experiment for e in self.lessons]):
            if lesson in names:
                return names.index(lesson)
        known = ", ".join(each.key for each in self.lessons)
        raise InputError(f"There is no lesson {lesson[:60]!r}: choose one of {known}.")

    # Cities.

    def _moved(self, city: str, side: int) -> None:
        if not self._going_back:
            self._place = city, side
            self._load()

    def _load(self) -> None:
        key, side = self._place
        own = self._own if key == OWN else None
        if own is not None or is_loaded(key, side):
            # Whatever is still being read was chosen before this.
            self.background.cancel()
            self._use(own or load_city(key, side))
            return
        title = next((t for t, k in self.contents.city.options.items() if k == key), key)
        self.background.run(
            partial(load_city, key, side), self._use, f"Reading {title} …", self._back
        )

    def _use(self, data: CityData) -> None:
        if data is self.data:
            return
        self.data = data
        # Counts without points have the cells they have.
        self.contents.side.visible = data.heat is not None
        if self.card is not None:
            self.card.use(data)

    def _back(self) -> None:
        """A city could not be read: the choice goes back to the one on screen."""
        if self.data is None:
            return
        self._going_back = True
        self._place = self.data.city[0], self.data.city[1]
        self.contents.city.value = self._place[0]
        if self._place[1] in SIDES:
            self.contents.side.value = self._place[1]
        self._going_back = False


def _notice(sentence: str) -> str:
    """A sentence that stays; it may name a file."""
    text = html.escape(safe_text(sentence, 400))
    return f'<div class="notice" role="alert">{text}</div>'
