"""A teacher's screen: the code, the question to ask, the answers as they come in."""

from __future__ import annotations

import html
import io
from collections.abc import Callable
from functools import partial

import panel as pn

from explorer.app.classroom.look import class_pane
from explorer.app.classroom.result import Result
from explorer.app.classroom.sentences import history_table, many
from explorer.app.curator.data import CityData, is_loaded, load_city
from explorer.app.curator.place_picker import Where
from explorer.app.curator.setting_fields import Controls, button, field
from explorer.app.kit import ui
from explorer.app.kit.confirm import Confirmed
from explorer.app.kit.html import put
from explorer.app.kit.message import MessageArea
from explorer.app.kit.prose import column, pane
from explorer.app.kit.reach import qr_code
from explorer.app.kit.words import words
from explorer.app.work.job import Background
from explorer.app.work.timing import Throttle
from explorer.errors import InputError
from explorer.teaching.answers_file import answers_csv
from explorer.teaching.classroom import ClassRoom
from explorer.teaching.codes import spaced
from explorer.teaching.pool import Question, QuestionSettings

#: Seconds between two showings of the answers.
GAP = 0.3


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
        self.result = Result(own=False)
        self.present = pane(margin=(2, 0, 8, 0))
        controls = Controls(self.settings, message.refuse)
        self.city = ui.bind(
            ui.choice("City", catalogue, city, **field(200)), self._choose_city, message.refuse
        )
        self.ask_button = button("Ask the class", self.ask, strong=True)
        self.reset = Confirmed(
            "Forget the answers",
            "Keep the answers",
            self._price_of_reset,
            self._on_room(room.reset),
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
        self.reveal = ui.bind(
            ui.Switch(label="Show the truth to the class", size="small", margin=(4, 16, 4, 0)),
            lambda visible: room.reveal(visible is True),
            message.refuse,
        )
        self.end = Confirmed("Close the class", "Keep the class", self._price_of_end, close)
        text = words("classroom")
        controls_row = [self.city, controls.mechanism(), controls.number("epsilon")]
        ask = pn.Column(
            pane(f"<h3>Ask a question</h3><p>{text['Question']}</p>", margin=(8, 0, 4, 0)),
            ui.wrapping(*controls_row),
            self.ask_button,
            self.where.view,
            sizing_mode="stretch_width",
            styles={"flex": "1 1 300px", "max-width": "420px", "min-width": "0"},
            margin=0,
        )
        answers = pn.Column(
            self.result.question,
            self.result.view,
            ui.wrapping(
                *(self.reveal, self.save, *self.reset.parts, *self.end.parts), margin=(8, 0)
            ),
            self.history,
            sizing_mode="stretch_width",
            styles={"flex": "2 1 440px", "min-width": "0"},
            margin=0,
        )
        body = pn.Row(
            ask,
            answers,
            sizing_mode="stretch_width",
            styles={"flex-wrap": "wrap", "gap": "0 24px", "align-items": "flex-start"},
            margin=0,
        )
        self.view = column(class_pane(_invitation(room, base, why_not)), self.present, body)
        self._pulse = Throttle(self.show, GAP)
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
        has_question = look.question is not None
        # Nothing is left to be asked about once the answers are gone.
        self.reset.button.disabled = look.summary is None and not self.reset.asks
        self.save.disabled = not has_question
        self.reveal.disabled = not has_question
        if self.reveal.value != look.revealed:
            self.reveal.value = look.revealed
        put(
            self.present,
            f'<p class="quiet">{many(look.present, "participant")} in the class now.</p>',
        )
        self.result.show(look, truth=True)
        put(self.history, history_table(self.room.history()))

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
            for part in (self.reset, self.end):
                part.withdraw()
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


def address_of(base: str, room: ClassRoom) -> str:
    """The address that leads into a class."""
    return f"{base}/class?class={room.code}"


def _invitation(room: ClassRoom, base: str, why_not: str) -> str:
    """Code, address and picture for participants, and the way to the projector's view."""
    text = words("classroom")["Invite"]
    wall = f"./class?class={room.code}&amp;view=projector"
    projector = (
        f'<p class="finding"><a href="{wall}" target="_blank" rel="noopener">Open the projector '
        "view</a>: code, picture and histogram in large type, without the truth.</p>"
    )
    if base:
        link = html.escape(address_of(base, room))
        way = f'<p class="finding"><a href="{link}" target="_blank" rel="noopener">{link}</a></p>'
        drawn = qr_code(address_of(base, room))
    else:
        link = f"./class?class={room.code}"
        here = f'<a href="{link}" target="_blank" rel="noopener">Open it on this computer</a>.'
        reason = html.escape(why_not or "Others open this page and type the code.")
        way = f'<p class="finding warned">{reason} {here}</p>'
        drawn = ""
    return (
        '<div class="invitation"><div><p class="quiet">Class code</p>'
        f'<p class="code">{spaced(room.code)}</p></div>{drawn}'
        f'<div><p class="finding">{text}</p>{way}{projector}</div></div>'
    )
