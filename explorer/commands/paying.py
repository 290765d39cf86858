"""Once a release is booked it is drawn and saved: Ctrl-C must not cost a person the budget."""

from __future__ import annotations

import os
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from explorer.privacy.ledger import Counted, Ledger

WAITS = "The release is booked, so it is drawn and saved first; Ctrl-C again gives it up."


class Payment(Ledger):
    """A ledger after whose booking the first Ctrl-C waits for the end of `saved_first`.

    Each is for one draw, whose token it brings along.

    Parameters
    ----------
    population : whose records are released; by default what the counts say

    Attributes
    ----------
    booked : whether a release has been booked
    interrupted : whether Ctrl-C waits
    """

    def __init__(self, population: str | None = None) -> None:
        super().__init__(population=population, token=secrets.token_hex(16))
        self.booked = self.interrupted = self._given_up = False

    def book(self, counts: Counted | str, units: int, mechanism: str, what: str = "") -> int:
        """See `Ledger.book`."""
        before = signal.getsignal(signal.SIGINT)
        # Handlers belong to the main thread; one that other code has set, or none, stays.
        if threading.current_thread() is threading.main_thread() and callable(before):
            signal.signal(signal.SIGINT, self._wait)
        number = super().book(counts, units, mechanism, what)
        self.booked = True
        if self._given_up:
            raise KeyboardInterrupt
        return number

    def _wait(self, _number: int, _frame: Any) -> None:
        if not self.interrupted:
            # First of all: a second one may come before the sentence has been written.
            self.interrupted = True
            # To standard error, but not by print: the signal may have come in the middle of one.
            os.write(2, f"\n{WAITS}\n".encode())
        elif self.booked:
            raise KeyboardInterrupt
        else:
            # The ledger still writes: taken when it has written.
            self._given_up = True


@contextmanager
def saved_first(payment: Payment | None) -> Iterator[None]:
    """Raise an interrupt that came after the booking only here, at the end.

    Raises
    ------
    KeyboardInterrupt
        At the end for the first Ctrl-C, at once for a second one.
    """
    if payment is None:
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) == payment._wait:
            signal.signal(signal.SIGINT, before)
    if payment.interrupted:
        raise KeyboardInterrupt
