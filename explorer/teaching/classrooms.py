"""The classes of one server: who may create one, and how one is found by its code or its key.

A right code and a teacher's key always lead into their class, whatever else is tried meanwhile: a
limit that guesses use up would shut a class for those who know its code. What is limited is wrong
codes, of an address and of all, and the classes of one address; 10^11 codes are not guessed by them
who may open two pages a second, with twenty tries each.
"""

from __future__ import annotations

import math
import secrets
import threading
import time

from explorer.errors import InputError
from explorer.grid.allowance import Bucket, Buckets
from explorer.teaching.classroom import ClassRoom, Clock

#: Characters of a code that cannot be taken for each other, spoken, printed or written by hand.
CHARACTERS, LENGTH = "ACDEFGHJKMNPQRTVWXY34679", 8
#: Classes on one server, and of one address: a school may have one for all its classes.
MOST_CLASSES, MOST_OF_ONE = 20, 5
#: Seconds after which a class where nothing happens is forgotten; where its place is wanted, one
#: where no one is, and one that no participant has come to since it was created.
IDLE, EMPTY, UNUSED = 2 * 3600.0, 60.0, 900.0
#: Wrong codes of one address that are answered at once, and how many more a second; and of all.
GUESSES, GUESSES_A_SECOND = 60, 2.0
ALL_GUESSES, ALL_GUESSES_A_SECOND = 600, 20.0


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
        self._from: dict[str, str] = {}
        self._guesses = Buckets(GUESSES_A_SECOND, GUESSES, clock=clock)
        self._all_guesses = Bucket(ALL_GUESSES_A_SECOND, ALL_GUESSES, clock)

    def __len__(self) -> int:
        with self._lock:
            return len(self._by_code)

    def create(self, address: str = "") -> ClassRoom:
        """A new class with a code of its own.

        ``address`` is where the teacher's browser is, "" where there is no server between.

        Raises
        ------
        InputError
            When there are too many, with someone in each: of this address, or of all.
        """
        with self._lock:
            self._forget(address)
            if self._has_all(address):
                raise InputError(
                    f"There are {MOST_OF_ONE} classes from your address: close one of them first."
                )
            if self._full:
                raise InputError(
                    f"There are {MOST_CLASSES} classes on this server: close one of them first."
                )
            room = ClassRoom(new_code(), secrets.token_urlsafe(24), self._clock)
            self._by_code[room.code] = self._by_key[room.key] = room
            self._from[room.code] = address
            return room

    def find(self, typed: object, address: str = "") -> ClassRoom:
        """The class with the code that a participant typed: capitals or not, with any spaces.

        Raises
        ------
        InputError
            When there is none; too many wrong codes are told to wait.
        """
        sentence = "There is no class with this code: ask "
        return self._look_up(self._by_code, tidy(typed), sentence, address)

    def back(self, key: object, address: str = "") -> ClassRoom:
        """The class of a teacher who comes back with the key.

        Raises
        ------
        InputError
            When there is none; too many wrong keys are told to wait.
        """
        typed = key if isinstance(key, str) else ""
        sentence = "This class is over: create a new one or ask "
        return self._look_up(self._by_key, typed, sentence, address)

    def close(self, room: ClassRoom) -> None:
        """End a class and forget it."""
        with self._lock:
            self._by_code.pop(room.code, None)
            self._by_key.pop(room.key, None)
            self._from.pop(room.code, None)
        room.close()

    def _look_up(
        self, rooms: dict[str, ClassRoom], name: str, sentence: str, address: str
    ) -> ClassRoom:
        with self._lock:
            self._forget()
            room = rooms.get(name)
            if room is not None:
                return room
            wait = self._guesses[address].wait() or self._all_guesses.wait()
        if wait > 0:
            raise InputError(
                f"Too many wrong codes are being tried: wait {math.ceil(wait)} s and try again."
            )
        raise InputError(f"{sentence}the teacher for the code on the screen.")

    @property
    def _full(self) -> bool:
        return len(self._by_code) >= MOST_CLASSES

    def _has_all(self, address: str) -> bool:
        """Whether an address has all the classes that are its share."""
        return bool(address) and list(self._from.values()).count(address) >= MOST_OF_ONE

    def _forget(self, address: str = "") -> None:
        """Close what is idle; where a place is wanted also what no one is in or has ever used."""
        all_full, own_full = self._full, self._has_all(address)
        for room in list(self._by_code.values()):
            needed = all_full or (own_full and self._from[room.code] == address)
            if room.idle() > (EMPTY if needed and room.empty else IDLE) or (
                needed and room.unused() > UNUSED
            ):
                self.close(room)


def new_code() -> str:
    """A random code, one of 24^8 (10^11)."""
    return "".join(secrets.choice(CHARACTERS) for _ in range(LENGTH))


def tidy(typed: object) -> str:
    """A code as it was made, from what was typed; "" for what is none.

    >>> tidy(" acde-fghj "), tidy(5), tidy("x" * 1000)
    ('ACDEFGHJ', '', '')
    """
    if not isinstance(typed, str) or len(typed) > 40:
        return ""
    return "".join(character for character in typed.upper() if character in CHARACTERS)


def spaced(code: str) -> str:
    """A code in two halves, easier to read aloud.

    >>> spaced("ACDEFGHJ")
    'ACDE FGHJ'
    """
    half = len(code) // 2
    return f"{code[:half]} {code[half:]}"
