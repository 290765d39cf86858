"""The left drawer of a page with maps: controls, and between them words for newcomers."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from typing import Any

import panel as pn
import param
from bokeh.models import CustomJSTickFormatter
from panel.util import edit_readonly

from explorer.app.curator.data import CityData
from explorer.app.curator.parameters import MechanismPanel, help_pane
from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import Price, counted_of_all, spent_of
from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.later import after
from explorer.app.kit.theme import SPOKEN_LABEL
from explorer.app.kit.words import words
from explorer.app.mappage.drawing import Drawing, Underway
from explorer.app.state import EPSILON_EXPONENTS, MechanismState, epsilon_of
from explorer.errors import InputError
from explorer.mechanisms import Mechanism
from explorer.privacy.drawn import Drawn

# The slider's place is a power of ten; a person reads epsilon, on screen and through a reader: what
# was typed as it is, and what the slider chose rounded as it counts (`epsilon_of`).
_EPSILON_FORMAT = """
const exact = Math.pow(10, tick)
const rounded = digits => Number(exact.toPrecision(digits))
const typed = [2, 3, 4, 5, 6, 7, 8].find(each => Math.abs(rounded(each) / exact - 1) < 1e-12)
return String(rounded(typed ?? 2))
"""


class EpsilonControl:
    """Epsilon on a logarithmic slider with a box to type it exactly; both follow the state."""

    def __init__(self, state: MechanismState, refused: Callable[[str], None]) -> None:
        self._state = state
        self._quiet = False
        start, end = EPSILON_EXPONENTS
        self.slider = ui.FloatSlider(
            label="Epsilon",
            start=start,
            end=end,
            step=0.05,
            value=self._place(),
            format=CustomJSTickFormatter(code=_EPSILON_FORMAT),
            marks=[
                {"value": k, "label": f"{10.0**k:g}"}
                for k in range(math.ceil(start), math.floor(end) + 1)
            ],
            **{**ui.WIDE, "margin": (8, 10, 0, 10)},
        )
        self.box = ui.TextInput(
            label="Exact epsilon",
            value=f"{state.epsilon:g}",
            width=84,
            size="small",
            margin=0,
            # At the right end of the slider's own line, and behind it for a keyboard.
            styles={"position": "absolute", "top": "0", "right": "10px"},
            stylesheets=[SPOKEN_LABEL, "legend { max-width: 0 !important; }"],
        )
        ui.bind(self.slider, lambda place: self._put(epsilon_of(place)), refused)
        ui.bind(self.box, lambda text: self._put(_number(text)), refused)
        state.param.watch(self._follow, "epsilon")
        ends = html_pane(
            '<p class="quiet ends"><span>more private</span><span>more accurate</span></p>',
            margin=(0, 10, 4, 10),
        )
        self.view = pn.Column(
            *(self.slider, self.box, ends),
            sizing_mode="stretch_width",
            margin=0,
            styles={"position": "relative"},
        )

    def _put(self, epsilon: Any) -> None:
        if not self._quiet:
            self._state.put(epsilon=epsilon)

    def _follow(self, _event: Any) -> None:
        self._quiet, text = True, f"{self._state.epsilon:g}"
        # Both at once are one message; otherwise Panel sends the one, and then the other.
        with edit_readonly(self.box):
            self.box.param.update(value=text, value_input=text)
        # A slider that already is at this value is not nudged while it is being dragged.
        if epsilon_of(self.slider.value) != self._state.epsilon:
            self.slider.value = self._place()
        self._quiet = False

    def _place(self) -> float:
        start, end = EPSILON_EXPONENTS
        return min(max(math.log10(self._state.epsilon), start), end)


def _number(text: str) -> float:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError as error:
        raise InputError("Epsilon is not a number: type one such as 0.1.") from error


class MechanismControls:
    """Menu, description and settings of one mechanism.

    Parameters
    ----------
    state : MechanismState
        Of this mechanism.
    changed : called after a change of a setting
    refused : shows a sentence
    letter : "A" or "B" where a page has two
    """

    def __init__(
        self,
        state: MechanismState,
        changed: Callable[[], None],
        refused: Callable[[str], None],
        letter: str = "",
    ) -> None:
        self._state = state
        menu = ui.Select(
            label=f"Mechanism {letter}".strip(),
            value=state.mechanism,
            **grouped(state.offered()),
            **ui.WIDE,
        )
        self.menu = Tied(state, refused).tie(menu, "mechanism")
        self.about = html_pane(margin=(0, 10, 4, 10))
        self.settings = MechanismPanel(state, changed, refused, of=letter)
        state.param.watch(lambda *_: self.rebuild(), "mechanism")
        self._describe()

    def rebuild(self) -> None:
        self.settings.rebuild()
        self._describe()

    def _describe(self) -> None:
        chosen = self._state.kind
        put(self.about, f'<p class="quiet">{chosen.summary} <i>{chosen.paper}.</i></p>')


def grouped(offered: Mapping[str, type[Mechanism]]) -> dict[str, Any]:
    """What a menu of mechanisms is made with: groups of titles, or titles where there is one."""
    groups: dict[str, dict[str, str]] = {}
    for key, option in offered.items():
        groups.setdefault(option.group, {})[option.title] = key
    if len(groups) == 1:
        return {"options": next(iter(groups.values()))}
    return {"groups": groups}


class Drawer:
    """The controls that the drawers of all pages with maps have; a page adds its own.

    Parameters
    ----------
    parts : of the page
    page : the file of words
    changed : called after a change of a mechanism's setting
    letters : names of the mechanisms where there are two
    """

    #: What a record is called.
    record = "record"

    def __init__(
        self,
        parts: PageParts,
        page: str,
        changed: Callable[[], None],
        letters: Sequence[str] = ("",),
    ) -> None:
        self._parts, self.state = parts, parts.state
        self.tied = Tied(self.state, parts.refuse)
        self.city = self.tied.choose("city", parts.catalogue)
        self.side = self.tied.choose("side")
        self.bound = self.tied.choose("bound", visible=False)
        #: How many records the bound keeps: exact.
        self.counted = html_pane(margin=(0, 10, 4, 10))
        self.epsilon = EpsilonControl(self.state, parts.refuse)
        self.mechanisms = [
            MechanismControls(side, changed, parts.refuse, letter)
            for letter, side in zip(letters, self.state.sides, strict=True)
        ]
        self._words, self._remembered = words(page), parts.remembered
        # Each help text with what it is about; None where that is the page.
        self._helps: list[tuple[Any, Any]] = []
        # The columns whose help texts have not been made, each with its controls and texts.
        self._bare: list[tuple[Any, Sequence[Any]]] = []
        self._has_base, self._base_switch = False, None
        # What writes the headings of sections.
        self._sayings: list[Callable[[], None]] = []
        self.view = pn.Column(sizing_mode="stretch_width", margin=(2, 6, 4, 6))
        self.state.param.watch(self._explain, "explain")

    def fill(self, before: Sequence[Any], after: Sequence[Any]) -> None:
        """Put controls one below the other; a text among them is a heading of the words.

        The switch of the help texts is between two columns that get them: a column that gets
        another part takes the focus away from all its parts.
        """
        columns = [self._column(controls) for controls in (before, after)]
        self.view.objects = [columns[0], self.tied.switch("explain"), columns[1]]

    def section(self, key: str, title: str, make: Callable[[], Sequence[Any]]) -> ui.Section:
        """Controls behind a heading; the browser remembers by ``key`` whether it was open.

        ``make`` returns them, as for `fill`, when the section is first opened.
        """
        return self.remember(key, ui.Section(title, lambda: [self._column(make())]))

    def remember(self, key: str, section: ui.Section) -> ui.Section:
        """Let a section are as it was left."""
        self._remembered.section(key, section)
        return section

    def say(self, section: ui.Section, title: str, names: Sequence[str]) -> None:
        """Let the heading of a section say some choices, from now on."""

        def said(*_event: Any) -> None:
            # What cannot be chosen is not said: counts without points keep their cells.
            offered = [
                name for name in names if getattr(getattr(self, name, None), "visible", True)
            ]
            results = [said_choice(self.state, name) for name in offered]
            section.say(title, ", ".join(filter(None, results)))

        self.state.param.watch(said, [*names])
        self._sayings.append(said)
        said()

    def _column(self, controls: Sequence[Any]) -> Any:
        """A column of controls; texts among them become paragraphs once the help is on."""
        parts = [part for part in controls if not isinstance(part, str)]
        column = pn.Column(*parts, sizing_mode="stretch_width", margin=0)
        for part in parts:
            part.param.watch(lambda _event: self._show_helps(), "visible")
        self._bare.append((column, controls))
        self._show_helps()
        return column

    def _make_helps(self) -> None:
        bare, self._bare = self._bare, []
        for column, controls in bare:
            arranged, about = list[Any](), None
            for part in controls:
                if isinstance(part, str):
                    self._helps.append((help_pane(self._words[part]), about))
                    part = self._helps[-1][0]
                else:
                    about = part
                arranged.append(part)
            column.objects = arranged

    def use(self, data: Any) -> None:
        # Counts without points have the cells they have.
        self.side.visible = (
            data.heat is not None if isinstance(data, CityData) else data.city[1] != 0
        )
        self.bound.visible = data.has_users
        self.say_counted(data)
        for say in self._sayings:
            say()

    def say_counted(self, data: Any) -> None:
        text = counted_of_all(data.matrix, self.record) if self._parts.truth else ""
        escaped = html.escape(text)
        put(self.counted, f'<p class="quiet">{escaped}</p>' if escaped else "")

    def base_map(self) -> Any:
        """The switch of coast, roads and names; it is there where they are."""
        self._base_switch = self.tied.switch("base_map", visible=self._has_base)
        return self._base_switch

    def offer_base(self, offered: bool) -> None:
        self._has_base = offered
        if self._base_switch is not None:
            self._base_switch.visible = offered

    def rebuild(self) -> None:
        for mechanism in self.mechanisms:
            mechanism.rebuild()

    def new_draw(self) -> Any:
        """The button for other random noise, and next to it whether noise stays as it is."""
        button = wide_button("New draw", self.state.roll, styles={"flex": "0 0 96px"})
        switch = self.tied.switch("frozen", styles={"flex": "1 1 0"}, margin=(0, 4, 0, 0))
        view = pn.Row(button, switch, sizing_mode="stretch_width", margin=0)
        view.styles = {"align-items": "center"}
        return view

    def _explain(self, event: Any) -> None:
        self._show_helps()
        for mechanism in self.mechanisms:
            mechanism.settings.explain(event.new)

    def _show_helps(self) -> None:
        if self.state.explain:
            self._make_helps()
        for text, about in self._helps:
            # Words about a control that is not there would puzzle anyone who looks for it.
            text.visible = self.state.explain and (about is None or about.visible)


def wide_button(label: str, clicked: Callable[[], None], **params: Any) -> Any:
    """A button as wide as the drawer."""
    look = {"variant": "outlined", **ui.WIDE, **params}
    return ui.Button(label=label, on_click=lambda _event: clicked(), **look)


def said_choice(state: Any, name: str) -> str:
    """A choice as its control names it; "" for what is off, and for what is no choice."""
    declared, value = state.param[name], getattr(state, name)
    if isinstance(declared, param.Boolean):
        return str(declared.label).lower() if value else ""
    return next(
        (str(title) for title, option in declared.get_range().items() if option == value), ""
    )


LABEL = "Draw a release"
CANCEL = "Do not draw"
STOP = "Cancel this draw"
#: Seconds for which a price holds.
PATIENCE = 60.0


class ReleaseButton:
    """The button; while a price is asked about, a sentence that is read out and two buttons.

    The one that spends is in another place, and is made anew with the token of its price: however
    often and quickly the first one is pressed, nothing is drawn, and a press of an older one that
    arrives late confirms nothing.

    Parameters
    ----------
    drawing : what is drawn, and knows what that costs
    """

    def __init__(self, drawing: Drawing) -> None:
        self._drawing, self._asked = drawing, 0
        self._price: Price | None = None
        self.button = wide_button(LABEL, drawing.press)
        # There before it speaks: screen readers announce what changes in a region they know.
        self._about = html_pane('<div role="status"></div>', margin=(0, 10))
        self.choice = pn.Column(sizing_mode="stretch_width", margin=0)
        # How far a draw is; not read out, since it is another sentence every moment.
        self.progress = html_pane(margin=(0, 10))
        self.stop = wide_button(STOP, drawing.cancel, variant="text")
        self.stop.visible = False
        self.view = pn.Column(
            *(self.button, self._about, self.choice, self.progress, self.stop),
            sizing_mode="stretch_width",
            margin=0,
        )
        drawing.on_price(self._show)
        drawing.on_progress(self._follow)

    def _follow(self, underway: Underway | None) -> None:
        """Say how far a draw is; what is not booked yet can be cancelled."""
        text = "" if underway is None else f'<p class="help">{underway.sentence}</p>'
        put(self.progress, text)
        self.stop.visible = underway is not None and not underway.booked

    def _show(self, price: Price | None) -> None:
        text = "" if price is None else f'<p class="help">{html.escape(price.about)}</p>'
        put(self._about, f'<div role="status">{text}</div>')
        before, self._price = self._price, price
        if price is None:
            if self.choice.objects:
                self.choice.objects = []
            return
        if price == before:
            # The same button stays under the pointer of anyone who asked twice.
            return
        confirm = partial(self._drawing.confirm, price.token)
        self.choice.objects = [
            wide_button(price.button, confirm, variant="contained"),
            wide_button(CANCEL, self._drawing.forget, variant="text"),
        ]
        self._asked += 1
        number = self._asked
        after(PATIENCE, lambda: self._drawing.forget() if number == self._asked else None)


#: So many are offered at once, the newest first.
MOST = 3


class WaitingReleases:
    """A line with two buttons for each release that waits: save it, or give it up."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._shown: list[Drawn] = []
        self.view = pn.Column(sizing_mode="stretch_width", margin=0)
        drawing.on_waiting(self.show)

    def show(self) -> None:
        releases = self._drawing.waiting()[:MOST]
        if releases == self._shown:
            return
        self._shown = releases
        text = f'<p class="help">{html.escape(words("drawing")["Waiting"])}</p>'
        head = [html_pane(text, margin=(4, 10, 0, 10))] if releases else []
        self.view.objects = [
            *head,
            *(part for release in releases for part in self._offer(release)),
        ]

    def _offer(self, release: Drawn) -> list[Any]:
        # Two of one mechanism are distinguished by when they were drawn.
        when = datetime.fromtimestamp(release.time).strftime("%H:%M:%S")
        title = f"{release.title}, {when}"
        save = ui.FileDownload(
            label=f"Save {title}",
            filename="release.parquet",
            callback=partial(self._file, release.token),
            refused=self._drawing.refuse,
            variant="outlined",
            **ui.WIDE,
        )
        give_up = partial(self._drawing.give_up, release.token)
        return [save, wide_button(f"Give up {title}", give_up, variant="text")]

    def _file(self, token: str) -> io.BytesIO:
        return self._drawing.saved_before(token)


Pairs = Sequence[tuple[str, str]]
SAVED = {"Save the release": "release.parquet"}


@dataclass(frozen=True, kw_only=True)
class DrawerSpec:
    """The controls of a page's drawer, by the names of their choices.

    Each choice is with the heading of its words, "" for none. Choices of the state become menus
    and switches; those of ``made`` are made by the page.

    Attributes
    ----------
    own : heading of the section of the grid and of the visitor's own data
    data : whose counts are shown
    before : headings of words above them
    grid : what exactly is counted
    first : what of the view is so important that it is in the open
    agreed : what is agreed to before a release, above its button
    look : how it is drawn
    said : choices that the heading of the section "View" says
    record : what a record is called
    files : buttons that save the release, each with the name of its file
    made : by name, what makes a control from the drawer
    use : offers the choices that data have
    offer : offers what fits a screen
    counted : says more of the counts of a matrix
    """

    own: str = "Grid and own points"
    before: Sequence[str] = ("About", "Figures")
    data: Pairs = (("city", "City"),)
    grid: Pairs = (("side", "Grid"), ("bound", "What is protected"))
    first: Pairs = ()
    agreed: Pairs = ()
    look: Pairs = ()
    said: Sequence[str] = ("scale", "palette", "partition")
    record: str = "record"
    files: Mapping[str, str] = field(
        default_factory=lambda: {"Save the release": "release.parquet"}
    )
    made: Mapping[str, Callable[[DrawnDrawer], Any]] = field(default_factory=dict)
    use: Callable[[DrawnDrawer, Any], None] = lambda _drawer, _data: None
    offer: Callable[[DrawnDrawer, Any], None] = lambda _drawer, _screen: None
    counted: Callable[[DrawnDrawer, Any], None] = lambda _drawer, _matrix: None


class DrawnDrawer(Drawer):
    """In the open what is changed most; in sections, whose headings say what is chosen, the rest.

    Parameters
    ----------
    spec : the controls
    page : the file of words
    parts : of the page
    drawing : what the buttons of releases act on
    changed : called after a change of a mechanism's setting
    again : called to show the kept release again
    upload : makes the form for the visitor's own data
    """

    def __init__(
        self,
        spec: DrawerSpec,
        page: str,
        parts: PageParts,
        drawing: Drawing,
        changed: Callable[[], None],
        again: Callable[[], None],
        upload: Callable[[], Any],
    ) -> None:
        super().__init__(parts, page, changed)
        self.record = spec.record
        self.spec, self.parts, self.drawing = spec, parts, drawing
        # The kept release and the data set whose budget the heading says.
        self._said_of: tuple[Any, str] = (None, "")
        self._show_again = again
        # Made when their section is first opened.
        self._kept: list[Any] = []
        self._controls = {"city": self.city, "side": self.side, "bound": self.bound}
        #: The last screen that was offered.
        self.screen: Any = None
        (chosen,) = self.mechanisms
        chosen.menu.visible = len(self.state.offered()) > 1
        self.releases = self.section("release", "Release", self._release)
        looks = self.section("view", "View", lambda: self._made(spec.look))
        self.say(looks, "View", spec.said)
        grid = self.section(
            "grid", spec.own, lambda: [*self._made(spec.grid), self.counted, upload(), spec.own]
        )
        self.say(grid, spec.own, ("side",))
        self.fill(
            [
                *spec.before,
                *self._made(spec.data),
                *(chosen.menu, chosen.about, "Mechanism"),
                *(self.epsilon.view, "Epsilon"),
                *(self.new_draw(), "Random noise"),
                *self._made(spec.first),
            ],
            [self.remember("settings", chosen.settings.section), self.releases, looks, grid],
        )

    def control(self, name: str) -> Any:
        """The control of a choice, made when it is first asked for."""
        if name not in self._controls:
            if name in self.spec.made:
                result = self.spec.made[name](self)
            elif name == "base_map":
                result = self.base_map()
            elif isinstance(self.state.param[name], param.Boolean):
                result = self.tied.switch(name)
            else:
                result = self.tied.choose(name)
            self._controls[name] = result
        return self._controls[name]

    def _made(self, pairs: Pairs) -> list[Any]:
        return [
            part
            for name, heading in pairs
            for part in (self.control(name), *([heading] if heading else []))
        ]

    def use(self, data: Any) -> None:
        super().use(data)
        self.spec.use(self, data)

    def say_counted(self, data: Any) -> None:
        super().say_counted(data)
        self.spec.counted(self, data.matrix)

    def _release(self) -> list[Any]:
        saves = [
            ui.FileDownload(
                label=label,
                filename=name,
                callback=partial(self.drawing.saved, name),
                refused=self._parts.refuse,
                variant="outlined",
                **ui.WIDE,
            )
            for label, name in self.spec.files.items()
        ]
        self._kept = [*saves, wide_button("Show the release again", self._show_again)]
        self._offer()
        drawn = *self._made(self.spec.agreed), self.release.view, "Draw a release"
        return [*drawn, *self._kept, self.waiting.view]

    @cached_property
    def release(self) -> ReleaseButton:
        return ReleaseButton(self.drawing)

    @cached_property
    def waiting(self) -> WaitingReleases:
        waiting = WaitingReleases(self.drawing)
        waiting.show()
        return waiting

    def offer(self, screen: Any) -> None:
        """Offer to save the kept release, and to show it where a preview is on screen."""
        self.screen = screen
        self._offer()
        now = self.drawing.drawn, screen.data.matrix.key
        if now != self._said_of:
            self._said_of = now
            self.spent()
            if self._kept:
                self.waiting.show()
        self.spec.offer(self, screen)
        self.spec.counted(self, screen.data.matrix)

    def _offer(self) -> None:
        has_release = self.drawing.drawn is not None
        for control in self._kept:
            control.visible = has_release
        if self._kept:
            preview = self.screen is None or self.screen.release.preview
            self._kept[-1].visible = has_release and preview

    def spent(self) -> None:
        """Say in the heading what the people on screen have spent."""
        try:
            spent = spent_of(self.drawing.ledger(), self._said_of[1])
        except InputError:
            spent = ""
        self.releases.say("Release", spent)
