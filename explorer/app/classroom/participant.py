"""A participant's screen: the question, one button, one's own answer among all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.classroom.own_map import OwnMap, picture
from explorer.app.classroom.result import Result
from explorer.app.classroom.sentences import about_own
from explorer.app.curator.setting_fields import button
from explorer.app.kit.message import MessageArea
from explorer.app.kit.prose import column, pane
from explorer.app.kit.words import words
from explorer.app.work.job import Job
from explorer.app.work.timing import Throttle
from explorer.errors import InputError
from explorer.teaching.classroom import ClassRoom
from explorer.teaching.codes import spaced
from explorer.teaching.pool import Answer, Question

#: Seconds between two showings of what others do; one's own answer is shown at once.
GAP = 2.0


@dataclass(frozen=True, eq=False)
class Turn:
    """One draw: the question, its number, and the seed of its noise."""

    question: Question
    number: int
    seed: int


@dataclass(frozen=True, eq=False)
class Drawn:
    """What came of a draw: the answer, and the private map that gave it."""

    turn: Turn
    answer: Answer
    picture: NDArray[np.uint8]


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
        self.map = OwnMap()
        self.result = Result(own=True)
        self.draw_button = button("Draw my answer", self.draw, strong=True)
        text = words("classroom")
        self._waiting = pane(f'<p class="notice info" role="status">{text["Waiting"]}</p>')
        self._drawing = column(
            pane(f"<p>{text['Draw']}</p>", margin=(0, 0, 6, 0)), self.draw_button
        )
        head = f'<p class="quiet">You are in the class {spaced(room.code)}. {text["Yours"]}</p>'
        answer_row = pn.Row(
            pn.Column(
                self.result.view,
                sizing_mode="stretch_width",
                styles={"flex": "3 1 440px", "min-width": "0"},
                margin=0,
            ),
            self.map.view,
            sizing_mode="stretch_width",
            # The map is at the left, and below the answer where there is no space next to it.
            styles={
                "flex-flow": "row-reverse wrap",
                "align-items": "flex-start",
                "justify-content": "flex-end",
            },
            margin=0,
        )
        self.view = column(
            pane(head), self._waiting, self.result.question, self._drawing, answer_row
        )
        self.job = Job(_draw, self._publish, message.refuse, take=self._take, slow=self._slow)
        self._pulse = Throttle(self.show, GAP)
        self.number = room.enter(self._pulse, token=token)
        self.show()

    def draw(self) -> None:
        """Draw one preview with noise of one's own, in a thread."""
        self._message.done()
        try:
            self._next()
        except InputError as error:
            self._message.refuse(str(error))
            return
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
            self.map.clear()
        self._told(look.revealed and has_question)
        own_answers = self.room.own(self.number)
        truth = look.revealed
        text = about_own(own_answers, self._seed, look.summary, truth) if has_question else ""
        self.result.show(look, truth=truth, own=own_answers, said=text)

    def close(self) -> None:
        """Leave: the visit has ended."""
        self.job.close()
        self._pulse.close()
        self.room.leave(self.number)

    def _next(self) -> None:
        """Take a seed for the next draw."""
        look = self.room.look()
        seed = self.room.seed(self.number)
        assert look.question is not None
        self._turn = Turn(look.question, look.number, seed)

    def _take(self) -> Turn:
        return self._turn

    def _publish(self, drawn: Drawn) -> None:
        turn = drawn.turn
        # The teacher may have asked something else, or closed the class, meanwhile.
        answer = self.room.answer(self.number, turn.number, drawn.answer)
        self._pulse.shown()
        if answer:
            self._seed = turn.seed
        self.show()
        if answer:
            question = turn.question
            self.map.show(question.grid, drawn.picture, question.rectangle, question.city)

    def _slow(self, slow: bool) -> None:
        if slow:
            self._message.inform("Drawing your answer …")
        else:
            self._message.done()


def _draw(turn: Turn) -> Drawn:
    answer, release = turn.question.preview(turn.seed)
    return Drawn(turn, answer, picture(release))
