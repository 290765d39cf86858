"""One draw, once: the token by which it is known, and what became of draws with the same settings.

The token is an HMAC, under the ledger's secret, of what is asked and of the population's last
booking: who asks again before anything else was booked asks for the same draw. A draw that was
booked and did not come to its end is found by it later: its file, where there is one, is given
back; where there is none, its budget is lost, and nothing is drawn again by itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from explorer.privacy.drawn import Drawn, DrawnReleases
from explorer.privacy.ledger import Ledger, known_as
from explorer.privacy.ledger_file import opened
from explorer.privacy.receipts import Receipt, numbers, receipts


@dataclass(frozen=True)
class Unfinished:
    """A draw that was booked and not handed out."""

    receipt: Receipt  # its booking
    kept: Drawn | None  # its file in the folder of drawn releases, None where it never came there


def population_in(ledger: Ledger, matrix: Any) -> str:
    """The first of the names under which a release of counts is booked."""
    with opened(ledger.path) as book:
        return known_as(ledger, book, matrix)[0][0]


def token_of(ledger: Ledger, matrix: Any, mechanism: Any) -> str:
    """The token of the next draw of these counts with these settings.

    A second request for the same, in any tab, is for the same draw while nothing of the population
    was booked in between: it is booked and drawn once. The next one has another token.
    """
    return _tokens(ledger, matrix, mechanism, [ledger.newest(matrix)])[0]


def waiting(ledger: Ledger, matrix: Any) -> list[Drawn]:
    """Drawn releases of the population of counts that are not saved yet, the newest first."""
    # Notes of versions before this one call unnamed counts by their plain hash.
    names = population_in(ledger, matrix), f"counts {matrix.key}"
    return DrawnReleases(ledger.path).waiting(*names)


def unfinished(ledger: Ledger, matrix: Any, mechanism: Any) -> list[Unfinished]:
    """Draws of these counts with these settings that were not handed out, the newest first."""
    drawn, open_draws = DrawnReleases(ledger.path), []
    before = (0, *numbers(ledger, matrix))
    tokens = _tokens(ledger, matrix, mechanism, before)
    for receipt in receipts(ledger, tokens):
        token = receipt.token
        noted = drawn.note(token)
        if drawn.unnamed(token):
            noted = drawn.name(token, receipt.population, _title(mechanism))
        if noted is None and receipt.noted:
            open_draws.append(Unfinished(receipt, None))
        elif noted is not None and not noted.saved and not noted.given_up:
            open_draws.append(Unfinished(receipt, noted if drawn.known(token) else None))
    return open_draws[::-1]


def draw(ledger: Ledger, matrix: Any, mechanism: Any, progress: Any = None) -> Any:
    """Book, draw, and bring to the disk, in this order and each once.

    Parameters
    ----------
    ledger : with the population and the token of this draw
    matrix : the counts
    mechanism : whose settings
    progress : told the finished part of the draw

    Returns
    -------
    Release

    Raises
    ------
    InputError
        For a draw over the cap, one that is booked already, and where there is no space to keep it:
        what was drawn is lost then, and nothing of it was seen.
    """
    # Before the draw: a ledger that is lost after it must not lose the release.
    population = population_in(ledger, matrix)
    release = mechanism.release(matrix, rng=None, progress=progress, ledger=ledger)
    DrawnReleases(ledger.path).keep(str(ledger.token), release, population, _title(mechanism))
    return release


def acknowledge(ledger: Ledger, lost: Unfinished) -> None:
    """Note that a lost draw was reported to the curator, who goes on."""
    drawn, receipt = DrawnReleases(ledger.path), lost.receipt
    drawn.saved_elsewhere(receipt.token, receipt.population, receipt.mechanism, "", "")
    drawn.give_up(receipt.token)


def _title(mechanism: Any) -> str:
    return f"{mechanism.title} with epsilon {mechanism.epsilon:.12g}"


def _tokens(ledger: Ledger, matrix: Any, mechanism: Any, newest: Sequence[int]) -> list[str]:
    """The tokens of a draw behind each of these bookings; last those of ledgers of format 2."""
    old = ledger.population or f"counts {matrix.key}"
    settings = [matrix.key, matrix.unit, matrix.contribution_bound, repr(mechanism)]
    before = [json.dumps([old, *settings, number]) for number in newest]
    with opened(ledger.path) as book:
        names = sorted(known_as(ledger, book, matrix)[0])
        keyed = [book.keyed(json.dumps([names, *settings, number]))[:32] for number in newest]
    return keyed + [hashlib.sha256(text.encode()).hexdigest()[:32] for text in before]
