"""What a release would cost, what has been spent, and the token by which one draw is known."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from explorer.app.kit.words import words
from explorer.errors import InputError
from explorer.mechanisms import Mechanism
from explorer.mechanisms.duration import duration
from explorer.privacy.ledger import Ledger
from explorer.privacy.ledger_file import own
from explorer.releases.units import to_epsilon, to_units


@dataclass(frozen=True)
class Price:
    """What a release would cost.

    Attributes
    ----------
    token : of this one draw: what confirms it brings it along
    button : what the button that confirms says
    about : sentences that are read before
    """

    token: str
    button: str
    about: str


def population_in(ledger: Ledger, matrix: Any) -> str:
    """The name under which a release of counts is booked."""
    return ledger.population or own(matrix.key)


def token_of(ledger: Ledger, matrix: Any, made: Mechanism) -> str:
    """The token of the next draw of these counts with these settings.

    Whoever asks for the same while nothing of the population was booked in between asks for the
    same draw, in whichever tab: it is booked and drawn once. The next one has another token.

    Raises
    ------
    InputError
        For a ledger that cannot be used.
    """
    whose = population_in(ledger, matrix), matrix.key, matrix.unit, matrix.contribution_bound
    asked = [*whose, repr(made), ledger.newest(matrix.key)]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]


def price_of(
    ledger: Ledger,
    matrix: Any,
    made: Mechanism,
    *,
    kept: bool = False,
    leaves: int | None = None,
) -> Price:
    """What a release of these counts would cost, and how long it will take where that is long.

    ``kept`` where one was drawn before, ``leaves`` of the preview on the screen.

    Raises
    ------
    InputError
        Where the ledger would refuse it.
    """
    epsilon = float(made.epsilon)
    left = ledger.affordable(matrix.key, to_units(epsilon))
    if left is None:
        button = f"Spend {epsilon:.12g}, no cap is set"
        rest = f"no cap is set, and {to_epsilon(ledger.spent(matrix.key)):.12g} is spent so far."
    else:
        button = f"Spend {epsilon:.12g} of the {to_epsilon(left):.12g} left"
        rest = f"{to_epsilon(left - to_units(epsilon)):.12g} of the cap is left after it."
    about = (
        f"A release spends epsilon {epsilon:.12g} of {whose(ledger)} for good and protects "
        f"{protected(matrix)}; {rest}"
    )
    texts = words("drawing")
    long = duration(made, matrix, leaves)
    about += f" {long}" if long else ""
    about += f" {texts['Again']}" if kept else ""
    return Price(token_of(ledger, matrix, made), button, f"{about} {texts['Choosing']}")


def whose(ledger: Ledger) -> str:
    """Whose budget it is, in the midst of a sentence."""
    named = ledger.population
    return "these counts" if named is None else f"the population “{named}”"


def protected(matrix: Any) -> str:
    """Whom a release of counts protects.

    >>> from explorer import FrequencyMatrix
    >>> protected(FrequencyMatrix.from_array([[1, 2]]))
    'each record'
    """
    if matrix.unit == "point":
        return "each record"
    bound = matrix.contribution_bound
    return f"each {matrix.unit} with at most {bound} record{'s' if bound > 1 else ''}"


def spent_sentence(ledger: Ledger, key: str, epsilon: float) -> str:
    """What the population of ``key`` has spent after a draw that cost ``epsilon``."""
    said = f"Drawn and booked with epsilon {epsilon:.12g}"
    try:
        spent, left = ledger.spent(key), ledger.left(key)
    except InputError:
        # The release is drawn and paid for: an unreadable file must not take it away again.
        return f"{said}; the ledger cannot be read now, so what is spent in all is not known."
    total = f"{said}: releases of {whose(ledger)} have spent {to_epsilon(spent):.12g} so far"
    if left is None:
        return f"{total}, and no cap is set."
    return f"{total}, and {to_epsilon(left):.12g} is left under the cap."


def spent_of(ledger: Ledger, key: str) -> str:
    """What a population has spent, such as "0.2 of 0.25 spent"; "" where nobody knows."""
    try:
        spent, left = ledger.spent(key), ledger.left(key)
    except InputError:
        return ""
    said = f"{to_epsilon(spent):.12g}"
    return (
        f"epsilon {said} spent"
        if left is None
        else (f"epsilon {said} of {to_epsilon(spent + left):.12g} spent")
    )
