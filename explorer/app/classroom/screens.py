"""What a teacher, a participant and a projector see of a class."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import panel as pn
from markupsafe import Markup
from numpy.typing import NDArray

from explorer.app.curator.data import CityData, is_loaded, load_city
from explorer.app.curator.place_picker import Where
from explorer.app.curator.setting_fields import Controls, button, field
from explorer.app.kit import static, ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.message import MessageArea
from explorer.app.kit.numbers import many, share
from explorer.app.kit.prose import (
    LEARN_CSS,
    chart_pane,
    column,
    finding,
    pane,
    quiet,
    side_by_side,
    text_table,
)
from explorer.app.kit.reach import qr_code
from explorer.app.kit.words import markup, sentence, words
from explorer.app.work.job import Background, Job
from explorer.app.work.timing import Throttle
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.releases.release import Release
from explorer.teaching.classroom import Asked, ClassRoom, Snapshot, answers_csv
from explorer.teaching.classrooms import spaced
from explorer.teaching.pool import Answer, Question, QuestionSettings, Summary
from explorer.views import palette
from explorer.views.answer_charts import Bars, PooledChart, pooled_legend
from explorer.views.markup import figures_strip
from explorer.views.raster import mean_per_cell
from explorer.views.scale import ColourScale, top_value
from explorer.views.small import PlaceMap
from explorer.views.tables import details, number
from explorer.views.viewport import Viewport

#: Seconds between two showings of what others do: to a teacher, on a projector, to participants,
#: whose own answers are shown at once.
_TEACHER_GAP, _PROJECTOR_GAP, _PARTICIPANT_GAP = 0.3, 0.5, 2.0
#: Pixels of a projector's chart, and type of its figures for the last row; pixels of an own map.
_HEIGHT, _TYPE, _PIXELS = 500, "22px", 280
#: As many HTML texts are kept as the classes of a server may show at a time, for both roles.
_KEPT = 64
_CSS = [LEARN_CSS, static.read("class.css")]


class TeacherView:
    """What the teacher of one class sees and does.

    Parameters
    ----------
    room : ClassRoom
    catalogue : title of each city to its key
    city, side : where the first question is asked
    message : where sentences go
    ended : called when the class is over
    close : ends the class for all
    base : address of the server for others, "" where there is none
    why_not : why there is none
    phone : whether the page is on a phone
    """

    def __init__(
        self,
        room: ClassRoom,
        catalogue: dict[str, str],
        city: str,
        side: int,
        message: MessageArea,
        ended: Callable[[], None],
        close: Callable[[], None],
        *,
        base: str = "",
        why_not: str = "",
        phone: bool = False,
    ) -> None:
        self.room, self.settings = room, QuestionSettings()
        self._message, self._ended, self._side = message, ended, side
        self._background = Background(message)
        self.data: CityData | None = None
        self.where = Where(self.settings, message.refuse, box=True, phone=phone)
        self.result, self.present = Result(own=False), pane(margin=(2, 0, 8, 0))
        controls = Controls(self.settings, message.refuse)
        choice = ui.choice("City", catalogue, city, **field(200))
        self.city = ui.bind(choice, self._choose_city, message.refuse)
        self.ask_button = button("Ask the class", self.ask, strong=True)
        reset = self._on_room(room.reset)
        self.reset = Confirmed(
            "Forget the answers", "Keep the answers", self._price_of_reset, reset
        )
        self.save = ui.FileDownload(
            # Anyone who finds the file must see what is in it.
            filename=f"class-{room.code}.exact.csv",
            label="Save all answers",
            callback=lambda: io.BytesIO(answers_csv(room.history()).encode()),
            variant="outlined",
            size="small",
            margin=(0, 8, 4, 0),
        )
        self.history = pane(margin=(8, 0))
        switch = ui.Switch(label="Show the truth to the class", size="small", margin=(4, 16, 4, 0))
        self.reveal = ui.bind(switch, lambda on: room.reveal(on is True), message.refuse)
        self.end = Confirmed("Close the class", "Keep the class", self._price_of_end, close)
        head = f"<h3>Ask a question</h3><p>{words('classroom')['Question']}</p>"
        ask = column(
            pane(head, margin=(8, 0, 4, 0)),
            ui.wrapping(self.city, controls.mechanism(), controls.number("epsilon")),
            self.ask_button,
            self.where.view,
            styles={"flex": "1 1 300px", "max-width": "420px", "min-width": "0"},
        )
        acts = self.reveal, self.save, *self.reset.parts, *self.end.parts
        shown = self.result.question, self.result.view, ui.wrapping(*acts, margin=(8, 0))
        body = side_by_side(ask, column(*shown, self.history, flex="2 1 440px"), gap="0 24px")
        self.view = column(class_pane(_invitation(room, base, why_not)), self.present, body)
        self._pulse = Throttle(self.show, _TEACHER_GAP)
        self._number = room.enter(self._pulse, teacher=True)
        self._choose_city(city)
        self.show()

    def ask(self) -> None:
        """Put the question that the controls describe."""
        if self.data is None:
            self._message.refuse("The city is still being read: ask again in a moment.")
            return
        question = Question.of(self.data.matrix, self.data.title, self.settings.copy())
        try:
            self._on_room(partial(self.room.ask, question))()
        except InputError as error:
            self._message.refuse(str(error))

    def show(self) -> None:
        """Show what the class does."""
        look = self.room.look()
        if look.closed:
            self._ended()
            return
        # Nothing is left to be asked about once the answers are gone.
        self.reset.button.disabled = look.summary is None and not self.reset.asks
        self.save.disabled = self.reveal.disabled = look.question is None
        if self.reveal.value != look.revealed:
            self.reveal.value = look.revealed
        put(self.present, quiet(f"{many(look.present, 'participant')} in the class now."))
        self.result.show(look, truth=True)
        put(self.history, _history(self.room.history()))

    def _price_of_reset(self) -> str:
        summary = self.room.look().summary
        return "" if summary is None else f"Forget {many(summary.answers, 'answer')} for good"

    def _price_of_end(self) -> str:
        """What closing loses; nothing while no one has answered and no one is there."""
        answers = sum(len(question.answers) for question in self.room.history())
        there = self.room.look().present
        if not answers and not there:
            return ""
        lost = f", lose {many(answers, 'answer')}" if answers else ""
        return f"Close it for {many(there, 'participant')}{lost}"

    def close(self) -> None:
        """Leave: the visit has ended. The class goes on."""
        self._pulse.close()
        self.room.leave(self._number)

    def _on_room(self, action: Callable[[], None]) -> Callable[[], None]:
        """Do something to the class, and show it at once."""

        def act() -> None:
            self._message.done()
            for question in (self.reset, self.end):
                question.withdraw()
            action()
            self.show()
            self._pulse.shown()

        return act

    def _choose_city(self, key: str) -> None:
        if is_loaded(key, self._side):
            self._background.cancel()
            self._use(load_city(key, self._side))
            return
        self._background.run(partial(load_city, key, self._side), self._use, "Reading the city …")

    def _use(self, data: CityData) -> None:
        self.data = data
        self.where.use(data)


class ParticipantView:
    """What one participant of a class sees and does.

    Parameters
    ----------
    room : ClassRoom
    message : where sentences go
    ended : called when the class is over
    token : what the browser kept of this participant, "" for a new one
    told : called with whether the truth is on the screen

    Raises
    ------
    InputError
        When the class is full or over.
    """

    def __init__(
        self,
        room: ClassRoom,
        message: MessageArea,
        ended: Callable[[], None],
        *,
        token: str = "",
        told: Callable[[bool], None],
    ) -> None:
        self.room = room
        self._message, self._ended, self._told = message, ended, told
        # Entering tells all, this page too: before it has its number.
        self.number = self._seed = self._asked = 0
        self.map, self.result = OwnMap(), Result(own=True)
        self.draw_button = button("Draw my answer", self.draw, strong=True)
        text = words("classroom")
        self._waiting = pane(f'<p class="notice info" role="status">{text["Waiting"]}</p>')
        about = pane(f"<p>{text['Draw']}</p>", margin=(0, 0, 6, 0))
        self._drawing = column(about, self.draw_button)
        head = quiet(f"You are in the class {spaced(room.code)}. {text['Yours']}")
        # The map is at the left, and below the answer where there is no space next to it.
        order = {"flex-flow": "row-reverse wrap", "justify-content": "flex-end"}
        answer = pn.Row(
            column(self.result.view, flex="3 1 440px"),
            self.map.view,
            sizing_mode="stretch_width",
            styles={**order, "align-items": "flex-start"},
            margin=0,
        )
        parts = self._waiting, self.result.question, self._drawing
        self.view = column(pane(head), *parts, answer)
        self.job = Job(_draw, self._publish, message.refuse, take=self._take, slow=self._slow)
        self._pulse = Throttle(self.show, _PARTICIPANT_GAP)
        self.number = room.enter(self._pulse, token=token)
        self.show()

    def draw(self) -> None:
        """Draw one preview with noise of one's own, in a thread."""
        self._message.done()
        try:
            look, seed = self.room.look(), self.room.seed(self.number)
        except InputError as error:
            self._message.refuse(str(error))
            return
        assert look.question is not None
        self._turn = look.question, look.number, seed
        self.job.ask()

    def show(self) -> None:
        """Show the class, one's own answers in it."""
        look = self.room.look()
        if look.closed:
            self._ended()
            return
        has_question = look.question is not None
        if self._drawing.visible is not has_question or self._waiting.visible is has_question:
            self._waiting.visible = not has_question
            self._drawing.visible = self.result.view.visible = has_question
        if look.number != self._asked:
            self._asked = look.number
            self.map.view.visible = False
        truth = look.revealed
        self._told(truth and has_question)
        own = self.room.own(self.number)
        text = _about_own(own, self._seed, look.summary, truth) if has_question else ""
        self.result.show(look, truth=truth, own=own, said=text)

    def close(self) -> None:
        """Leave: the visit has ended."""
        self.job.close()
        self._pulse.close()
        self.room.leave(self.number)

    def _take(self) -> tuple[Question, int, int]:
        return self._turn

    def _publish(self, drawn: tuple[Question, int, int, Answer, NDArray[np.uint8]]) -> None:
        question, number, seed, answer, picture = drawn
        # The teacher may have asked something else, or closed the class, meanwhile.
        taken = self.room.answer(self.number, number, answer)
        self._pulse.shown()
        if taken:
            self._seed = seed
        self.show()
        if taken:
            self.map.show(question, picture)

    def _slow(self, slow: bool) -> None:
        if slow:
            self._message.inform("Drawing your answer …")
        else:
            self._message.done()


def _draw(turn: tuple[Question, int, int]) -> tuple[Any, ...]:
    """A draw with its answer and the picture of the private map that gave it."""
    answer, release = turn[0].preview(turn[2])
    return *turn, answer, _picture(release)


def _picture(release: Release) -> NDArray[np.uint8]:
    """A private map in bytes, (height, width) with row 0 south; its colours are its own, too."""
    grid = release.grid
    view = Viewport.whole(grid, _PIXELS)
    size = view.height, view.width
    means = mean_per_cell(release.density().astype(np.float32), *view.cells(grid), *size)
    means = np.maximum(means, 0)
    return ColourScale("log", top_value(means, "log"), "data").encode(means)


class OwnMap:
    """The map of one's last answer with the question's box; nothing exact reaches it."""

    def __init__(self) -> None:
        self.map: PlaceMap | None = None
        self._grid: Grid | None = None
        self._place, caption = column(), pane(quiet(words("classroom")["Own map"]), (2, 0, 4, 0))
        styles = {"flex": "1 1 240px", "max-width": f"{_PIXELS}px"}
        self.view = column(self._place, caption, styles=styles, visible=False, margin=(4, 20, 8, 0))

    def show(self, question: Question, drawn: NDArray[np.uint8]) -> None:
        """Show the map of an answer and where its box is."""
        grid = question.grid
        if self.map is None or grid is not self._grid:
            self._grid, aspect = grid, grid.width / grid.height
            self.map = PlaceMap(grid.bounds, "Your private map", drag=False)
            look = {"sizing_mode": "scale_width", "aspect_ratio": aspect, "margin": 0}
            self._place.objects = [pn.pane.Bokeh(self.map.figure, **look)]
        spoken = f"Your private map of {question.city}; your answer stands beside it"
        self.map.show(drawn, spoken, palette.PALETTES["cividis"])
        self.map.mark([([float(edge) for edge in question.rectangle], palette.BOX, False)])
        self.view.visible = True


class ProjectorView:
    """What a projector shows of one class. It gets what participants get, and nothing more.

    Parameters
    ----------
    room : ClassRoom
    base : address of the server for others, "" where there is none
    why_not : why there is none
    ended : called when the class is over
    told : called with whether the truth is on the screen

    Raises
    ------
    InputError
        When there are too many projectors or the class is over.
    """

    def __init__(
        self,
        room: ClassRoom,
        base: str,
        why_not: str,
        ended: Callable[[], None],
        *,
        told: Callable[[bool], None],
    ) -> None:
        self.room = room
        self._ended, self._told = ended, told
        self.chart = PooledChart(_HEIGHT, _TYPE)
        values = {"base": base, "why_not": why_not, "code": spaced(room.code)}
        code = Markup(qr_code(address_of(base, room)) if base else "")
        self.way = class_pane(markup("way_in", qr=code, **values))
        self.way.styles = {"flex": "1 1 300px", "max-width": "420px"}
        self.text, self.key = class_pane(), class_pane()
        self._chart = chart_pane(self.chart.figure)
        answers = column(self.text, self._chart, self.key, flex="3 1 560px")
        self.view = column(side_by_side(self.way, answers, gap="16px 40px"))
        self._pulse = Throttle(self.show, _PROJECTOR_GAP)
        self._number = room.project(self._pulse)
        self.show()

    def show(self) -> None:
        """Show what the class does."""
        look = self.room.look()
        if look.closed:
            self._ended()
            return
        question, summary = look.question, look.summary
        self._told(look.revealed and question is not None)
        values: dict[str, Any] = {"present": many(look.present, "participant"), "question": ""}
        if question is not None:
            values |= {"question": about_question(question), "locator": Markup(_locator(question))}
            values["answers"] = sentence("classroom", "On the wall", look=look)
        put(self.text, markup("projector", **values))
        self._chart.visible = summary is not None
        put(self.key, "" if summary is None else pooled_legend(truth=look.revealed, own=False))
        if summary is None:
            self.chart.clear("Nobody has answered yet.")
            return
        true, theory = (summary.true, summary.theory) if look.revealed else (math.nan, math.nan)
        spoken = f"Histogram of {many(summary.answers, 'answer')}"
        self.chart.show(Bars(summary.edges, summary.counts, true, theory), spoken)

    def close(self) -> None:
        """Leave: the visit has ended."""
        self._pulse.close()
        self.room.leave(self._number)


class Result:
    """Question and pooled answers of a class: sentence, numbers, chart, tables.

    Parameters
    ----------
    own : whether this screen has answers of its own
    """

    def __init__(self, *, own: bool) -> None:
        self._own = own
        self.chart = PooledChart()
        self.question = class_pane(margin=(6, 0, 8, 0))
        # One pane above the chart and one below: each that changes is work for every participant.
        self.above, self.tables = pane(margin=(4, 0)), pane(margin=(4, 0))
        self._chart = chart_pane(self.chart.figure)
        self.view = column(self.above, self._chart, self.tables)

    def show(
        self, look: Snapshot, *, truth: bool, own: tuple[float, ...] = (), said: str = ""
    ) -> None:
        """Show what a class shows; without ``truth`` nothing of it is sent.

        ``said`` is HTML about one's own answer, to be above all.
        """
        put(self.question, "" if look.question is None else _asked(look.question))
        summary = look.summary
        has_answers = summary is not None
        if self._chart.visible is not has_answers:
            self._chart.visible = self.tables.visible = has_answers
        if summary is None:
            waiting = "Nobody has answered yet." if look.question else "There is no question yet."
            put(self.above, said + finding(waiting))
            put(self.tables, "")
            self.chart.clear(waiting)
            return
        spoken = _about_answers(summary, truth)
        key = pooled_legend(truth=truth, own=self._own)
        put(self.above, said + finding(spoken) + _figures(summary, truth) + key)
        put(self.tables, _tables(summary, truth))
        true, theory = (summary.true, summary.theory) if truth else (math.nan, math.nan)
        self.chart.show(Bars(summary.edges, summary.counts, true, theory, own), spoken)


class Confirmed:
    """A button for what cannot be undone: it asks once, where it is.

    The button itself becomes the way back and keeps the focus, and what was asked for is a second
    button after it: a double click or a key pressed twice loses nothing.

    Parameters
    ----------
    label : such as "Close the class"
    keep : the way back, such as "Keep the class"
    price : says what will be lost, such as "Close it: 12 answers are lost"; "" acts at once
    act : called when it is confirmed
    """

    def __init__(
        self, label: str, keep: str, price: Callable[[], str], act: Callable[[], None]
    ) -> None:
        self._label, self._keep, self._price, self._act = label, keep, price, act
        self.button, self.sure = button(label, self._pressed), button("", self._do)
        self.sure.param.update(visible=False, color="error")
        self.parts = [self.button, self.sure]

    @property
    def asks(self) -> bool:
        """Whether it is waiting for an answer."""
        return bool(self.sure.visible)

    def withdraw(self) -> None:
        """Ask no longer."""
        self.button.label = self._label
        self.sure.visible = False

    def _pressed(self) -> None:
        if self.asks:
            self.withdraw()
        elif price := self._price():
            self.sure.label, self.button.label = price, self._keep
            self.sure.visible = True
        else:
            self._act()

    def _do(self) -> None:
        # A client that is no browser can press what is not shown.
        if self.asks:
            self.withdraw()
            self._act()


def class_pane(text: str = "", margin: Any = 0) -> Any:
    """A pane for our own HTML, in the styles of this page."""
    return html_pane(text, margin, _CSS)


def address_of(base: str, room: ClassRoom) -> str:
    """The address that leads into a class."""
    return f"{base}/class?class={room.code}"


def _invitation(room: ClassRoom, base: str, why_not: str) -> str:
    """Code, address and picture for participants, and the way to the projector's view."""
    link = address_of(base, room) if base else ""
    values = {"code": spaced(room.code), "link": link, "why_not": why_not}
    values |= {"own": address_of(".", room), "invite": words("classroom")["Invite"]}
    return markup("invitation", qr=Markup(qr_code(link) if link else ""), **values)


def about_question(question: Question) -> str:
    """The question in one sentence, and what draws the answer in another."""
    # The numbers of Explore's table, which counts from the middle of the map.
    unit, factor = ("km", 1000.0) if question.grid.unit == "m" else ("cells", 1.0)
    edges = (float(edge) / factor for edge in question.rectangle)
    box = dict(zip(("west", "south", "east", "north"), edges, strict=True))
    return sentence("classroom", "Question", question=question, unit=unit, **box)


def _asked(question: Question) -> str:
    text = html.escape(about_question(question))
    return (
        f'<div class="asked">{_locator(question)}<div>'
        f'<h2>The question</h2><p class="finding">{text}</p></div></div>'
    )


def _locator(question: Question) -> str:
    """Where the box is, as a small picture; the words next to it say the same."""
    x0, y0, x1, y1 = question.rectangle
    west, _, _, north = question.grid.bounds
    scale_x, high = 108.0 / question.grid.width, 108.0 * question.grid.height / question.grid.width
    scale_y = high / question.grid.height
    place = {"left": scale_x * (x0 - west), "top": scale_y * (north - y1)}
    size = {"width": scale_x * (x1 - x0), "height": scale_y * (y1 - y0), "high": high}
    return markup("locator", **place, **size)


@lru_cache(_KEPT)
def _about_answers(summary: Summary, truth: bool) -> str:
    return sentence("classroom", "Answers and truth" if truth else "Answers", summary=summary)


@lru_cache(_KEPT)
def _figures(summary: Summary, truth: bool) -> str:
    """The main numbers as a strip."""
    pairs = [
        ("Participants", f"{summary.people:,}"),
        ("Answers", f"{summary.answers:,}"),
        ("Mean", f"{summary.mean:,.0f}"),
        ("True count", f"{summary.true:,.0f}"),
        ("Standard deviation", number(summary.sd)),
        ("Noise’s own sd", number(summary.theory)),
        ("Within 5 %", share(summary.within_5)),
        ("Within 10 %", share(summary.within_10)),
    ]
    return figures_strip(pairs if truth else [*pairs[:3], pairs[4]])


@lru_cache(_KEPT)
def _tables(summary: Summary, truth: bool) -> str:
    """The same as the chart, in numbers: class against theory, and the bars."""
    comparison = ""
    if truth:
        error = summary.theory / np.sqrt(summary.answers)
        rows = [
            ["mean", f"{summary.mean:,.1f}", f"{summary.true:,.0f} ± {number(error)}"],
            ["standard deviation", number(summary.sd), number(summary.theory)],
        ]
        theory = "true count and standard error of a mean; the sd that releases state of noise"
        columns = {"": "", "class": "from the answers so far", "theory": theory}
        comparison = text_table("The class against theory", columns, rows)
    edges = [_edge(edge) for edge in summary.edges]
    bars = [
        [f"{low} to {high}", f"{count:,}"]
        for low, high, count in zip(edges[:-1], edges[1:], summary.counts, strict=True)
        if count
    ]
    columns = {"answer": "a bar; its upper edge belongs to the next", "answers": "in this bar"}
    return comparison + details("Bars in numbers", text_table("Bars with answers", columns, bars))


def _history(history: Sequence[Asked]) -> str:
    """All questions so far in one table, behind a line to click; nothing before the second."""
    if len(history) < 2:
        return ""
    columns = {
        "question": "",
        "asked": "mechanism and epsilon",
        "answers": "",
        "mean": "",
        "true": "true count",
        "sd": "standard deviation of the answers",
    }
    rows = []
    for place, entry in enumerate(history, start=1):
        question, summary = entry.question, entry.summary
        mean, sd = ("–", "–") if summary is None else (f"{summary.mean:,.0f}", number(summary.sd))
        asked = f"{place}, {question.city}", f"{question.title}, {question.epsilon:.4g}"
        rows.append([*asked, f"{len(entry.answers):,}", mean, f"{question.true:,.0f}", sd])
    heading = "Questions so far"
    return details(heading, text_table(heading, columns, rows))


def _about_own(answers: tuple[float, ...], seed: int, summary: Summary | None, truth: bool) -> str:
    """One's last answer and where it is in the histogram, as HTML."""
    if not answers or summary is None:
        return quiet("You have not drawn an answer yet.")
    value = answers[-1]
    at = summary.bar(value)
    bar = {"low": _edge(summary.edges[at]), "high": _edge(summary.edges[at + 1])}
    gap = f"{value - summary.true:+,.0f}".replace("-", "−")
    off = {"gap": gap, "off": 100 * abs(value - summary.true) / max(summary.true, 1e-9)}
    values = {"summary": summary, "truth": truth, "drawn": len(answers), "seed": seed}
    inside = int(summary.counts[at])
    text = sentence("classroom", "Own answer", inside=inside, **values, **bar, **off)
    return (
        f'<p class="verdict" role="status">Your answer: {value:,.0f}</p>'
        f'<p class="finding">{html.escape(text)}</p>'
    )


def _edge(value: float) -> str:
    return f"{value:,.12g}".replace("-", "−")
