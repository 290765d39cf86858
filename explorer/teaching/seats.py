"""Who is in a class: windows that are open, and the participants they belong to."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

Changed = Callable[[], None]

#: Windows of one participant; a further one takes the place of the oldest.
MOST_WINDOWS = 3


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
