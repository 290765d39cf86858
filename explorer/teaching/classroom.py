"""A class: participants on one server who answer one question, each with random noise of their own.

Only previews are pooled: nothing is booked, nothing is published. Everything here may be called
from any thread, and everything is bounded: a client without a browser can ask for anything.
"""

from __future__ import annotations

import csv
import io
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from explorer.errors import InputError
from explorer.teaching.pool import SEEDS, Answer, Pool, Question, Summary

#: Limits: participants of a class (thirty, and some who open the page again); screens of its
#: teacher, and as many of projectors; questions of a class; answers to one, of one participant and
#: of all.
MOST_PARTICIPANTS, MOST_SCREENS = 40, 5
MOST_QUESTIONS, MOST_OWN, MOST_ANSWERS = 30, 100, 5000

#: Windows of one participant; a further one takes the place of the oldest.
MOST_WINDOWS = 3
#: What stands in a file of answers.
COLUMNS = (
    *("question", "city", "mechanism", "epsilon", "box_west", "box_south", "box_east"),
    *("box_north", "unit", "exact_count", "participant", "answer", "noise_sd", "kind"),
)

Clock = Callable[[], float]
Changed = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a class shows at one moment.

    Attributes
    ----------
    number : of the question, from 1; 0 before the first
    question : Question or None
    summary : its answers, None before the first
    revealed : whether participants may see the truth
    present : participants at this moment
    closed : whether the class is over
    """

    number: int
    question: Question | None
    summary: Summary | None
    revealed: bool
    present: int
    closed: bool


@dataclass(frozen=True, eq=False)
class Asked:
    """One question that the class has had, and what came back.

    Attributes
    ----------
    question : Question
    summary : of the answers, None without any
    answers : (who, count, sd) in their order; who is the participant's number, from 1
    """

    question: Question
    summary: Summary | None
    answers: tuple[tuple[int, float, float], ...]


class Seats:
    """Windows of participants. Not for several threads: `ClassRoom` locks it.

    A participant is known by a token that the browser keeps, so that a reload or a second window is
    no further participant. A token cannot be guessed and is never sent to anybody else.
    """

    def __init__(self) -> None:
        self._changed: dict[int, Changed] = {}
        self._who: dict[int, int] = {}
        self._by_token: dict[str, int] = {}
        self._tokens: dict[int, str] = {}

    def __contains__(self, seat: int) -> bool:
        return seat in self._changed

    @property
    def present(self) -> int:
        """Participants with a window at this moment."""
        return len(set(self._who.values()))

    @property
    def told(self) -> Sequence[Changed]:
        """What to call when something changes."""
        return list(self._changed.values())

    def knows(self, token: str) -> bool:
        """Whether the participant of this token has a window already."""
        return self._by_token.get(token) in self._who.values()

    def take(self, seat: int, changed: Changed, token: str) -> None:
        """Open a window: of the participant with this token, of a new one without."""
        who = self._by_token.get(token)
        if who is None:
            who, token = seat, secrets.token_urlsafe(24)
            self._by_token[token], self._tokens[who] = who, token
        windows = [window for window, owner in self._who.items() if owner == who]
        for oldest in windows[: len(windows) + 1 - MOST_WINDOWS]:
            del self._changed[oldest], self._who[oldest]
        self._changed[seat], self._who[seat] = changed, who

    def who(self, seat: int) -> int:
        """The participant of a window."""
        return self._who.get(seat, seat)

    def token(self, seat: int) -> str:
        """What brings the participant of a window back; "" for none."""
        return self._tokens.get(self.who(seat), "")

    def leave(self, seat: int, *, answered: Callable[[int], bool]) -> bool:
        """Close a window; who has neither another one nor an answer is forgotten."""
        if seat not in self._changed:
            return False
        who = self._who.pop(seat)
        del self._changed[seat]
        if who not in self._who.values() and not answered(who):
            del self._by_token[self._tokens.pop(who)]
        return True


class ClassRoom:
    """One class. `explorer.teaching.classrooms.ClassRooms` makes it.

    Parameters
    ----------
    code : what participants type
    key : what brings the teacher back after a reload; never sent to participants
    clock : seconds that only grow
    """

    def __init__(self, code: str, key: str, clock: Clock = time.monotonic) -> None:
        self.code, self.key = code, key
        self._clock = clock
        self._lock = threading.RLock()
        self._participants = Seats()
        self._screens: dict[int, Changed] = {}
        self._projectors: dict[int, Changed] = {}
        self._entered = 0
        self._visited = False
        self._number = 0
        self._question: Question | None = None
        self._pool: Pool | None = None
        self._asked: list[tuple[Question, Pool]] = []
        self._seeds: set[int] = set()
        self._revealed = self._closed = False
        self._seen: Snapshot | None = None
        self._touched = self._begun = clock()

    def enter(self, changed: Changed, *, teacher: bool = False, token: str = "") -> int:
        """Take part, or watch as the teacher; returns the number to `leave` with.

        ``changed`` is called, from any thread, whenever `look` would show something new. A
        participant who was here before comes back with the ``token`` of then, see `token`.

        Raises
        ------
        InputError
            When the class is full or over.
        """
        with self._lock:
            self._check_open()
            if teacher:
                _check_room(len(self._screens), MOST_SCREENS)
            elif not self._participants.knows(token):
                _check_room(self._participants.present, MOST_PARTICIPANTS)
            self._entered += 1
            number = self._entered
            if teacher:
                self._screens[number] = changed
            else:
                self._participants.take(number, changed, token)
                self._visited = True
        self._tell()
        return number

    def project(self, changed: Changed) -> int:
        """Watch on a projector, as participants see it; returns the number to `leave` with.

        Raises
        ------
        InputError
            When there are too many projectors, or the class is over.
        """
        with self._lock:
            self._check_open()
            _check_room(len(self._projectors), MOST_SCREENS)
            self._entered += 1
            self._projectors[self._entered] = changed
            return self._entered

    def token(self, number: int) -> str:
        """What brings a participant back: for that browser alone, and for no one to see."""
        with self._lock:
            return self._participants.token(number)

    def leave(self, number: int) -> None:
        """Give the seat back; the answers stay in the pool."""
        with self._lock:
            watched = self._screens.pop(number, None) or self._projectors.pop(number, None)
            left = self._participants.leave(number, answered=self._has_answered)
        if left or watched is not None:
            self._tell()

    def ask(self, question: Question) -> None:
        """Put a new question; those before are kept with their answers, see `history`.

        Raises
        ------
        InputError
            After too many questions, or when the class is over.
        """
        with self._lock:
            self._check_open()
            if len(self._asked) >= MOST_QUESTIONS:
                raise InputError(
                    f"This class has had {MOST_QUESTIONS} questions: save the answers and create "
                    "another class."
                )
            self._question = question
            self._begin()
            self._asked.append((question, self._held()))
            self._revealed = False
        self._tell()

    def history(self) -> tuple[Asked, ...]:
        """Every question so far with its answers, the present one last."""
        with self._lock:
            pools = [(question, pool.summary(), pool.rows()) for question, pool in self._asked]
        numbers: dict[int, int] = {}
        for _, _, rows in pools:
            for who, _, _ in rows:
                numbers.setdefault(who, len(numbers) + 1)
        return tuple(
            Asked(question, summary, tuple((numbers[who], value, sd) for who, value, sd in rows))
            for question, summary, rows in pools
        )

    def reset(self) -> None:
        """Forget the answers to this question; the question stays."""
        with self._lock:
            self._check_open()
            self._begin()
            if self._question is not None:
                self._asked[-1:] = [(self._question, self._held())]
        self._tell()

    def reveal(self, visible: bool) -> None:
        """Let participants see the truth, or not."""
        with self._lock:
            self._revealed = bool(visible)
        self._tell()

    def close(self) -> None:
        """End the class for everyone."""
        with self._lock:
            self._closed = True
            informed = self._informed()
            self._seen = None
            self._question = self._pool = None
            self._asked = []
            self._participants, self._screens, self._projectors = Seats(), {}, {}
        for inform in informed:
            inform()

    def seed(self, number: int) -> int:
        """Seed for the next answer of a participant: no two answers of a question share one.

        Raises
        ------
        InputError
            Without a question, after too many answers, or when the class is over.
        """
        with self._lock:
            self._check_open()
            if self._pool is None:
                raise InputError("The teacher has not asked yet: wait for the question.")
            if number not in self._participants:
                raise InputError("You are not in this class any more: join it again.")
            if len(self._pool.own(self._participants.who(number))) >= MOST_OWN:
                raise InputError(f"You have drawn {MOST_OWN} answers: that is enough for one.")
            if len(self._pool) >= MOST_ANSWERS:
                raise InputError(f"The class has {MOST_ANSWERS:,} answers: the teacher can reset.")
            result = secrets.randbelow(SEEDS)
            while result in self._seeds:
                result = secrets.randbelow(SEEDS)
            self._seeds.add(result)
            # A seed may be taken without an answer ever coming.
            if len(self._seeds) > 4 * MOST_ANSWERS:
                self._seeds.clear()
            return result

    def answer(self, who: int, number: int, answer: Answer) -> bool:
        """Take an answer to question ``number``; False when that is not the question any more."""
        with self._lock:
            pool = self._pool
            late = self._closed or pool is None or number != self._number
            if pool is None or late or who not in self._participants:
                return False
            who = self._participants.who(who)
            if len(pool.own(who)) >= MOST_OWN or len(pool) >= MOST_ANSWERS:
                return False
            pool.add(who, answer)
            self._touched = self._clock()
        self._tell()
        return True

    def own(self, who: int) -> tuple[float, ...]:
        """Answers of one participant to the present question."""
        with self._lock:
            who = self._participants.who(who)
            return self._pool.own(who) if self._pool is not None else ()

    def look(self) -> Snapshot:
        """What there is to see; the same object until something changes."""
        with self._lock:
            if self._seen is None:
                self._seen = Snapshot(
                    self._number,
                    self._question,
                    self._pool.summary() if self._pool is not None else None,
                    self._revealed,
                    self._participants.present,
                    self._closed,
                )
            return self._seen

    def idle(self) -> float:
        """Seconds since anything happened."""
        return self._clock() - self._touched

    def unused(self) -> float:
        """Seconds since it was created, while no participant has ever come; 0 from then on."""
        return 0.0 if self._visited else self._clock() - self._begun

    @property
    def empty(self) -> bool:
        """Whether no one is there."""
        with self._lock:
            return not self._informed()

    def _begin(self) -> None:
        self._number += 1
        self._pool = Pool(self._question.true) if self._question is not None else None
        self._seeds = set()

    def _held(self) -> Pool:
        assert self._pool is not None
        return self._pool

    def _has_answered(self, who: int) -> bool:
        return any(pool.own(who) for _, pool in self._asked)

    def _informed(self) -> list[Changed]:
        screens = [*self._screens.values(), *self._projectors.values()]
        return [*self._participants.told, *screens]

    def _check_open(self) -> None:
        if self._closed:
            raise InputError("This class is over: ask the teacher for a new code.")

    def _tell(self) -> None:
        with self._lock:
            self._seen = None
            self._touched = self._clock()
            informed = self._informed()
        # Without the lock: who is informed may look at once.
        for inform in informed:
            inform()


def _check_room(there: int, limit: int) -> None:
    if there >= limit:
        raise InputError(f"This class is full: {there} are in it already.")


def answers_csv(history: Iterable[Asked]) -> str:
    """One line for each answer; a question that no one answered has one line without an answer.

    It holds exact counts. Seeds stay out: who knows one can draw the same noise and subtract it.

    Parameters
    ----------
    history : what `ClassRoom.history` gives

    Returns
    -------
    str
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, entry in enumerate(history, start=1):
        question = entry.question
        edges = [float(edge) for edge in question.rectangle]
        head = [number, question.city, question.mechanism, question.epsilon, *edges]
        head += [question.grid.unit, question.true]
        for who, value, sd in entry.answers:
            writer.writerow([*head, who, value, sd, "preview"])
        if not entry.answers:
            writer.writerow([*head, "", "", "", ""])
    return text.getvalue()
