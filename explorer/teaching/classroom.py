"""A class: participants on one server who answer one question, each with random noise of their own.

Only previews are pooled: nothing is booked, nothing is published. Everything here may be called
from any thread, and everything is bounded: a client without a browser can ask for anything.
"""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from explorer.errors import InputError
from explorer.teaching.pool import SEEDS, Answer, Pool, Question, Summary

#: Characters of a code that cannot be taken for each other, spoken, printed or written by hand.
CHARACTERS, LENGTH = "ACDEFGHJKMNPQRTVWXY34679", 8
#: Limits: classes on one server; participants of a class (thirty, and some who open the page
#: again); screens of its teacher; answers to a question, of one participant and of all.
MOST_CLASSES, MOST_PARTICIPANTS, MOST_SCREENS = 20, 40, 5
MOST_OWN, MOST_ANSWERS = 100, 5000
#: Seconds after which a class where nothing happens is forgotten, and one where nobody is may be.
IDLE, EMPTY = 2 * 3600.0, 60.0
#: Wrong codes that are answered at once, and how many more a second: 24^8 codes are 10^11.
GUESSES, GUESSES_A_SECOND = 60, 2.0

Changed = Callable[[], None]
Clock = Callable[[], float]


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


class ClassRoom:
    """One class. `ClassRooms` makes it.

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
        self._participants: dict[int, Changed] = {}
        self._screens: dict[int, Changed] = {}
        self._entered = 0
        self._number = 0
        self._question: Question | None = None
        self._pool: Pool | None = None
        self._seeds: set[int] = set()
        self._revealed = self._closed = False
        self._seen: Snapshot | None = None
        self._touched = clock()

    def enter(self, changed: Changed, *, teacher: bool = False) -> int:
        """Take part, or watch as the teacher; returns the number to `leave` with.

        ``changed`` is called, from any thread, whenever `look` would show something new.

        Raises
        ------
        InputError
            When the class is full or over.
        """
        with self._lock:
            self._check_open()
            seats = self._screens if teacher else self._participants
            if len(seats) >= (MOST_SCREENS if teacher else MOST_PARTICIPANTS):
                raise InputError(f"This class is full: {len(seats)} are in it already.")
            self._entered += 1
            number = self._entered
            seats[number] = changed
        self._tell()
        return number

    def leave(self, number: int) -> None:
        """Give the seat back; the answers stay in the pool."""
        with self._lock:
            found = self._participants.pop(number, None) or self._screens.pop(number, None)
        if found is not None:
            self._tell()

    def ask(self, question: Question) -> None:
        """Put a new question; the answers to the one before are forgotten."""
        with self._lock:
            self._check_open()
            self._question = question
            self._begin()
            self._revealed = False
        self._tell()

    def reset(self) -> None:
        """Forget the answers; the question stays."""
        with self._lock:
            self._check_open()
            self._begin()
        self._tell()

    def reveal(self, shown: bool) -> None:
        """Let participants see the truth, or not."""
        with self._lock:
            self._revealed = bool(shown)
        self._tell()

    def close(self) -> None:
        """End the class for everyone."""
        with self._lock:
            self._closed = True
            informed = [*self._participants.values(), *self._screens.values()]
            self._seen = None
            self._question = self._pool = None
            self._participants, self._screens = {}, {}
        for each in informed:
            each()

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
            if len(self._pool.own(number)) >= MOST_OWN:
                raise InputError(f"You have drawn {MOST_OWN} answers: that is enough for one.")
            if len(self._pool) >= MOST_ANSWERS:
                raise InputError(f"The class has {MOST_ANSWERS:,} answers: the teacher can reset.")
            found = secrets.randbelow(SEEDS)
            while found in self._seeds:
                found = secrets.randbelow(SEEDS)
            self._seeds.add(found)
            # A seed may be taken without an answer ever coming.
            if len(self._seeds) > 4 * MOST_ANSWERS:
                self._seeds.clear()
            return found

    def answer(self, who: int, number: int, answer: Answer) -> bool:
        """Take an answer to question ``number``; False when that is not the question any more."""
        with self._lock:
            pool = self._pool
            late = self._closed or pool is None or number != self._number
            if pool is None or late or who not in self._participants:
                return False
            if len(pool.own(who)) >= MOST_OWN or len(pool) >= MOST_ANSWERS:
                return False
            pool.add(who, answer)
            self._touched = self._clock()
        self._tell()
        return True

    def own(self, who: int) -> tuple[float, ...]:
        """Answers of one participant to the present question."""
        with self._lock:
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
                    len(self._participants),
                    self._closed,
                )
            return self._seen

    def idle(self) -> float:
        """Seconds since anything happened."""
        return self._clock() - self._touched

    @property
    def empty(self) -> bool:
        """Whether nobody is there."""
        with self._lock:
            return not self._participants and not self._screens

    def _begin(self) -> None:
        self._number += 1
        self._pool = Pool(self._question.true) if self._question is not None else None
        self._seeds = set()

    def _check_open(self) -> None:
        if self._closed:
            raise InputError("This class is over: ask the teacher for a new code.")

    def _tell(self) -> None:
        with self._lock:
            self._seen = None
            self._touched = self._clock()
            informed = [*self._participants.values(), *self._screens.values()]
        # Without the lock: who is informed may look at once.
        for each in informed:
            each()


class ClassRooms:
    """All classes of a server.

    Parameters
    ----------
    clock : seconds that only grow
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._by_code: dict[str, ClassRoom] = {}
        self._by_key: dict[str, ClassRoom] = {}
        self._guesses, self._guessed = float(GUESSES), clock()

    def __len__(self) -> int:
        with self._lock:
            return len(self._by_code)

    def create(self) -> ClassRoom:
        """A new class with a code of its own.

        Raises
        ------
        InputError
            When there are too many, with someone in each.
        """
        with self._lock:
            self._forget()
            if len(self._by_code) >= MOST_CLASSES:
                raise InputError(
                    f"There are {MOST_CLASSES} classes on this server: close one of them first."
                )
            code = "".join(secrets.choice(CHARACTERS) for _ in range(LENGTH))
            room = ClassRoom(code, secrets.token_urlsafe(24), self._clock)
            self._by_code[code] = self._by_key[room.key] = room
            return room

    def find(self, typed: object) -> ClassRoom:
        """The class with the code that a participant typed: capitals or not, with any spaces.

        Raises
        ------
        InputError
            When there is none, or too many wrong codes arrive.
        """
        return self._look_up(self._by_code, tidy(typed), "There is no class with this code: ask ")

    def back(self, key: object) -> ClassRoom:
        """The class of a teacher who comes back with the key.

        Raises
        ------
        InputError
            When there is none, or too many wrong codes arrive.
        """
        wanted = key if isinstance(key, str) else ""
        return self._look_up(self._by_key, wanted, "This class is over: create a new one or ask ")

    def close(self, room: ClassRoom) -> None:
        """End a class and forget it."""
        with self._lock:
            self._by_code.pop(room.code, None)
            self._by_key.pop(room.key, None)
        room.close()

    def _look_up(self, rooms: dict[str, ClassRoom], name: str, sentence: str) -> ClassRoom:
        with self._lock:
            now = self._clock()
            grown = self._guesses + GUESSES_A_SECOND * (now - self._guessed)
            self._guesses, self._guessed = min(grown, float(GUESSES)), now
            if self._guesses < 1:
                wait = math.ceil((1 - self._guesses) / GUESSES_A_SECOND)
                raise InputError(
                    f"Too many wrong codes are being tried: wait {wait} s and try again."
                )
            self._forget()
            room = rooms.get(name)
            if room is None:
                self._guesses -= 1
                raise InputError(f"{sentence}the teacher for the code on the screen.")
            return room

    def _forget(self) -> None:
        """Close what is idle; where all places are taken also what nobody is in."""
        full = len(self._by_code) >= MOST_CLASSES
        for room in list(self._by_code.values()):
            if room.idle() > (EMPTY if full and room.empty else IDLE):
                self.close(room)


def tidy(typed: object) -> str:
    """A code as it was made, from what was typed; "" for what is none.

    >>> tidy(" acde-fghj "), tidy(5), tidy("x" * 1000)
    ('ACDEFGHJ', '', '')
    """
    if not isinstance(typed, str) or len(typed) > 40:
        return ""
    return "".join(each for each in typed.upper() if each in CHARACTERS)


def spaced(code: str) -> str:
    """A code in two halves, easier to read aloud.

    >>> spaced("ACDEFGHJ")
    'ACDE FGHJ'
    """
    half = len(code) // 2
    return f"{code[:half]} {code[half:]}"
