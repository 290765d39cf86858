"""The scenarios of a page: presets, links, files; and the address, which follows the screen."""

from __future__ import annotations

import html
import io
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import panel as pn

from explorer.app.curator.parameters import help_pane
from explorer.app.curator.parts import PageParts
from explorer.app.curator.start import OWN, Opening, known_city, not_here, present, take, way_to
from explorer.app.curator.stories import StoryBar, StoryControls
from explorer.app.kit import ui
from explorer.app.kit.attempts import Attempts
from explorer.app.kit.browser import Browser, Tab
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.prose import column
from explorer.app.kit.theme import SMALL_BUTTON
from explorer.app.kit.words import words
from explorer.errors import InputError
from explorer.scenario import SHARING, Scenario, Story, given_back, presets, to_notebook, to_python
from explorer.scenario.story import screens
from explorer.views.markup import safe_text

#: Said on the page that follows one with own data.
STAYED = (
    "Your own data stay in the session in which they were loaded, on that page alone: load the "
    "file here to see them here."
)


class Workspace:
    """Has the tab keep the last screen of this page, and what it shares with others.

    Nothing exact goes along and no content of a file: names, settings, and boxes on a city of the
    catalogue; ``opening`` is what the page began with.
    """

    def __init__(self, page: str, opening: Opening, tab: Tab) -> None:
        self._page, self._tab, self._city = page, tab, ""
        self._shared = opening.shared
        self._shown = opening.scenario if opening.shared is not None else None

    def keep(self, state: Any, rectangles: Any, own_city: str) -> None:
        """Keep the present screen; own data as ``own_city`` of the catalogue if none was shown."""
        is_own, shares = state.city == OWN, self._page in SHARING
        if is_own and not shares:
            return
        before = own_city if self._shared is None else self._shared.city
        entries: dict[str, str] = {}
        try:
            now = present(self._page, state, rectangles, instead=before if is_own else "")
            if not is_own:
                entries[self._page] = now.to_link()
            if shares:
                shared = given_back(self._shared, self._shown, now, place=not is_own)
                entries |= {"shared": shared.to_link(), "left": "yes" if is_own else ""}
        except InputError:
            # More boxes than an address can hold, say: the last that it could hold stay.
            return
        self._tab.keep(**entries)

    def place(self, city: str, side: int) -> None:
        """A city is shown on a page without scenarios; from the second on it goes along."""
        first, self._city = self._city, city
        if city in (first or city, OWN):
            return
        before = self._shared or Scenario(side=side)
        elsewhere = replace(before, city=city, boxes=None, contribution_bound=0)
        self._tab.keep(shared=elsewhere.to_link())


def screen_file(
    label: str, opened: Callable[[Scenario | Story], None], refused: Callable[[str], None]
) -> Any:
    """A button that opens a YAML file; ``opened`` takes what it holds, or raises `InputError`."""
    file = ui.Upload(
        1_000_000,
        label=label,
        accept=".yaml,.yml",
        uploaded_label=label,
        stylesheets=[SMALL_BUTTON],
        variant="outlined",
        size="small",
        margin=(0, 8, 4, 0),
    )
    file.refused = refused
    attempts = Attempts()

    def read(event: Any) -> None:
        if not event.new:
            return
        with attempts.another():
            try:
                opened(screens(event.new))
            except InputError as error:
                refused(str(error))
        file.clear()

    file.param.watch(read, "value")
    return file


#: Milliseconds without a change after which the address follows.
QUIET = 700
#: Milliseconds without a change after which other pages of the tab are told.
KEEP = 100
_NONE = "Choose one"


class Scenarios:
    """The section "Scenarios" of a drawer, and the link in the address.

    Parameters
    ----------
    page : its key, one of `explorer.scenario.PAGES`
    parts : of the page
    on_taken : called after the choices and boxes of a scenario were taken
    released : returns whether a drawn release is on the screen
    bar : shows stories, where the page has some
    """

    def __init__(
        self,
        page: str,
        parts: PageParts,
        on_taken: Callable[[], None],
        released: Callable[[], bool] = lambda: False,
        bar: StoryBar | None = None,
    ) -> None:
        self._page, self._parts = page, parts
        self._state, self._rectangles, self._message = parts.state, parts.rectangles, parts.message
        self._released, self._taken = released, on_taken
        self._waiting: Scenario | None = parts.opening.scenario
        self._served = self._armed = self._keeping = False
        self._workspace = Workspace(page, parts.opening, parts.tab)
        self._link_button: Any = None
        #: The menu of presets once the section was open, and the link of the chosen one's screen.
        self.preset: Any = None
        self._preset_link: str | None = None
        self._bar = bar
        #: What the section has about stories once it was open.
        self.told: StoryControls | None = None
        self._changed_at = 0.0
        self._address: str | None = None
        self._browser = Browser(self._copied)
        self._copying = ""
        self._status = html_pane(margin=(0, 10))
        self.section = ui.Section("Scenarios", self._controls)
        self.view = column(self.section, margin=(0, 6, 24, 6))
        parts.remembered.section("scenarios", self.section)
        #: Speaks to the browser. In a drawer that is closed, as on a phone, it could not: what has
        #: never been shown takes no value there.
        self.hidden = self._browser.view
        self._state.param.watch(lambda *_: self.follow(), list(self._state.param))
        if parts.opening.damaged:
            parts.refuse(parts.opening.damaged)
        if parts.opening.left:
            parts.message.inform(STAYED, 20)

    def open(self, scenario: Scenario) -> None:
        """Show a scenario, on its page; InputError for a city or page that is not here."""
        known_city(scenario)
        if scenario.page != self._page:
            self._leave(scenario)
            return
        put(self._status, "")
        self._waiting = scenario
        take(self._state, scenario)
        # A city that has to be read first takes its boxes when it arrives.
        if self._parts.data is not None:
            self.place(self._parts.data)
        self._taken()

    def place(self, data: Any) -> None:
        """Put the boxes of a scenario that was opened on ``data``, if that is its city."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None and waiting.city == data.city[0]:
            _, side, _, *places = data.city
            if (waiting.side, waiting.places) != (side, "".join(places)):
                # A grid that was asked for before has arrived; this one is still being counted.
                self._waiting = waiting
            else:
                self._put(waiting)
        if self._address is None:
            # What a page begins with needs no link, unless it came along; the first change does.
            self._address = self._link() if self._parts.opening.shared is None else ""

    def awaits(self, data: Any) -> bool:
        """Whether a scenario of ``data`` was opened, and its boxes are still to be put there."""
        return self._waiting is not None and self._waiting.city == data.city[0]

    def _put(self, scenario: Scenario) -> None:
        boxes = scenario.boxes_on(*self._rectangles.grids)
        edges, names = [box.edges for box in boxes], [box.name for box in boxes]
        shapes = [getattr(box, "shape", None) for box in boxes]
        outside = len(boxes) - self._rectangles.replace(edges, names, shapes)
        self._greet(scenario)
        if outside:
            self._message.refuse(
                f"{outside} of the scenario's {len(boxes)} boxes lie outside the map: they were "
                "left out."
            )

    def _greet(self, scenario: Scenario) -> None:
        phrases = [safe_text(part, 300) for part in (scenario.title, scenario.about) if part]
        text = ": ".join(phrases)
        if scenario.seed is None:
            text = f"{text} {words('scenario')['Released']}".strip()
        if text:
            self._message.inform(text, 20)

    def _leave(self, scenario: Scenario) -> None:
        if not self._served:
            raise InputError(not_here(scenario))
        self._browser.go(way_to(scenario, self._parts.links))

    def serve(self) -> None:
        """The page has an address of its own, which follows it; a link of other data leads on."""
        self._served = True
        if self._link_button is not None:
            self._link_button.visible = True
        # What a link has opened goes along, too, if nothing is changed.
        self.follow()
        elsewhere = self._parts.opening.elsewhere
        if elsewhere is not None:
            pn.state.onload(partial(self._lead, elsewhere))

    def _lead(self, scenario: Scenario) -> None:
        try:
            self._leave(scenario)
        except InputError as error:
            self._message.refuse(str(error))

    def follow(self) -> None:
        """Something may have changed: the address follows when that was all for a while."""
        self._changed_at = time.monotonic()
        doc = pn.state.curdoc
        if not self._served or doc is None or not doc.session_context:
            return
        if not self._armed:
            self._armed = True
            doc.add_timeout_callback(partial(self._quiet, doc), QUIET)
        if not self._keeping:
            # Sooner than the address: anyone who leaves takes the last box along.
            self._keeping = True
            doc.add_timeout_callback(partial(self._keep, doc), KEEP)

    def _keep(self, doc: Any) -> None:
        if not pn.state.loaded or 1000 * (time.monotonic() - self._changed_at) < KEEP - 10:
            doc.add_timeout_callback(partial(self._keep, doc), KEEP)
            return
        self._keeping = False
        self.keep()

    def keep(self) -> None:
        """Let the tab keep the screen for the other pages; not while a city is being read."""
        if not self._parts.reading:
            self._show_preset()
            first = next(iter(self._parts.catalogue.values()))
            self._workspace.keep(self._state, self._rectangles, first)

    def _quiet(self, doc: Any) -> None:
        left = QUIET - round(1000 * (time.monotonic() - self._changed_at))
        # Boxes belong to what is on screen, not to what is being read; what is said to a browser
        # that is still loading is lost.
        left = QUIET if self._parts.reading or not pn.state.loaded else left
        if left > 10:
            doc.add_timeout_callback(partial(self._quiet, doc), left)
            return
        self._armed = False
        link = self._link()
        if self._address is not None and link != self._address:
            self._address = link
            self._browser.address(link)

    def _link(self) -> str:
        """The link of the screen; none where no link can carry it."""
        try:
            return self.present().to_link()
        except InputError:
            return ""

    def present(self) -> Scenario:
        """The scenario of the screen; InputError for a city of this session, or one being read."""
        if self._parts.reading:
            raise InputError("The city is still being read: wait a moment.")
        return present(self._page, self._state, self._rectangles, self._released())

    def _controls(self) -> list[Any]:
        """The controls, made when the section is first opened; most visitors never need them."""
        preset_keys = {safe_text(preset.title or key): key for key, preset in presets().items()}
        self.preset = ui.Select(
            label="Preset", options={_NONE: "", **preset_keys}, value="", **ui.WIDE
        )
        ui.bind(self.preset, self._chosen, self._message.refuse)
        look: dict[str, Any] = {"variant": "outlined", "size": "small", "margin": (0, 8, 4, 0)}
        link, python = (
            ui.Button(label=label, on_click=partial(self._copy, what), **look)
            for label, what in (("Copy link", "link"), ("Copy as Python", "script"))
        )
        link.visible, self._link_button = self._served, link
        names = {"Download notebook": "scenario.ipynb", "Save scenario": "scenario.yaml"}
        files = [
            ui.FileDownload(
                label=label,
                filename=name,
                callback=partial(self._written, name),
                refused=self._tell,
                **look,
            )
            for label, name in names.items()
        ]
        self.file = screen_file("Open scenario", self._opened, self._message.refuse)
        if self._bar is not None:
            self.told = StoryControls(self._bar, self.present, self._message.refuse)
        return [
            *([] if self.told is None else [self.told.view]),
            help_pane(words("scenario")["Scenarios"]),
            self.preset,
            ui.wrapping(link, python, *files, self.file, margin=(4, 10)),
            self._status,
        ]

    def _chosen(self, key: str) -> None:
        if key:
            self._preset_link = None
            self.open(presets()[key])

    def _show_preset(self) -> None:
        """The menu names the preset until something is changed, and can then offer it again."""
        if self.preset is None or not self.preset.value or self._waiting is not None:
            return
        link = self._link()
        if self._preset_link is None:
            self._preset_link = link
        elif link != self._preset_link:
            self.preset.value = ""

    def _copy(self, what: str, _event: Any) -> None:
        try:
            scenario = self.present()
            self._copying = what
            if what == "link":
                here = [link.address for link in self._parts.links if link.key == self._page]
                self._browser.copy(link=scenario.to_link(), page="".join(here))
            else:
                self._browser.copy(to_python(scenario))
        except InputError as error:
            self._tell(str(error))

    def _copied(self, by_hand: str) -> None:
        """The browser has copied, or gives the text back that it may not copy."""
        if by_hand:
            self._tell("The browser does not let a page copy: select the text and copy it.")
            self._status.object += (
                '<textarea readonly rows="6" aria-label="Text to copy" '
                'style="width: 100%; color: inherit; background: transparent">'
                f"{html.escape(by_hand[:100_000])}</textarea>"
            )
            return
        text = f"The {self._copying} is on the clipboard."
        self._tell(f"{text} {words('scenario')['Drawn']}" if self._released() else text)

    def _written(self, filename: str) -> io.BytesIO:
        scenario = self.present()
        text = scenario.to_yaml() if filename.endswith("yaml") else to_notebook(scenario)
        return io.BytesIO(text.encode())

    def _opened(self, document: Scenario | Story) -> None:
        """A file was opened."""
        if isinstance(document, Scenario):
            self.open(document)
        elif self.told is not None:
            self.told.take(document)

    def _tell(self, sentence: str) -> None:
        put(self._status, f'<p class="help" role="status">{html.escape(sentence)}</p>')
