"""A participant's screen: the question, one button, one's own answer among all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from explorer.app.classroom.result import Result
from explorer.app.classroom.sentences import about_own
from explorer.app.curator.setting_fields import button
from explorer.app.kit.message import MessageArea
from explorer.app.kit.prose import column, pane
from explorer.app.kit.words import words
from explorer.app.work.job import Job
from explorer.app.work.polling import Pulse
from explorer.errors import InputError
from explorer.teaching.classroom import ClassRoom, spaced
from explorer.teaching.pool import Answer, Question

#: Seconds between two showings of what others do; one's own answer is shown at once.
GAP = 2.0


@dataclass(frozen=True, eq=False)
class Turn:
    """One draw: the question, its number, and the seed of its noise."""

    question: Question
    number: int
    seed: int


class ParticipantView:
    """What one participant of a class sees and does.

    Parameters
    ----------
    room : ClassRoom
    message : where sentences go
    ended : called when the class is over

    Raises
    ------
    InputError
        When the class is full or over.
    """

    def __init__(self, room: ClassRoom, message: MessageArea, ended: Callable[[], None]) -> None:
        self.room = room
        self._message, self._ended = message, ended
        # Entering tells all, this page too: before it has its number.
        self._number = self._seed = 0
        self.result = Result(own=True)
        self.draw_button = button("Draw my answer", self.draw, strong=True)
        text = words("classroom")
        self._waiting = pane(f'<p class="notice info" role="status">{text["Waiting"]}</p>')
        self._drawing = column(
            pane(f"<p>{text['Draw']}</p>", margin=(0, 0, 6, 0)), self.draw_button
        )
        head = f'<p class="quiet">You are in the class {spaced(room.code)}.</p>'
        self.view = column(
            pane(head), self._waiting, self.result.question, self._drawing, self.result.view
        )
        self.job = Job(_draw, self._publish, message.refuse, take=self._take, slow=self._slow)
        self._pulse = Pulse(self.show, GAP)
        self._number = room.enter(self._pulse)
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
        asked = look.question is not None
        if self._drawing.visible is not asked or self._waiting.visible is asked:
            self._waiting.visible = not asked
            self._drawing.visible = self.result.view.visible = asked
        own = self.room.own(self._number)
        truth = look.revealed
        said = about_own(own, self._seed, look.summary, truth) if asked else ""
        self.result.show(look, truth=truth, own=own, said=said)

    def close(self) -> None:
        """Leave: the visit has ended."""
        self.job.close()
        self._pulse.close()
        self.room.leave(self._number)

    def _next(self) -> None:
        """Take a seed for the next draw."""
        look = self.room.look()
        seed = self.room.seed(self._number)
        assert look.question is not None
        self._turn = Turn(look.question, look.number, seed)

    def _take(self) -> Turn:
        return self._turn

    def _publish(self, found: tuple[Turn, Answer]) -> None:
        turn, answer = found
        # The teacher may have asked something else, or closed the class, meanwhile.
        if self.room.answer(self._number, turn.number, answer):
            self._seed = turn.seed
        self._pulse.shown()
        self.show()

    def _slow(self, slow: bool) -> None:
        if slow:
            self._message.inform("Drawing your answer …")
        else:
            self._message.done()


def _draw(turn: Turn) -> tuple[Turn, Answer]:
    return turn, turn.question.draw(turn.seed)
