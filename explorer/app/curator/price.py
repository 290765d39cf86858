"""What a release would cost, what has been spent, and the token by which one draw is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.app.kit.words import words
from explorer.errors import InputError
from explorer.mechanisms import Mechanism
from explorer.mechanisms.duration import duration
from explorer.points.weights import lattice_of
from explorer.privacy.ledger import Counted, Ledger
from explorer.privacy.once import token_of
from explorer.releases.units import to_epsilon, to_units


@dataclass(frozen=True)
class Price:
    """What a release would cost: in sentences, and what the button that confirms says.

    The ``token`` is of this one draw: what confirms it brings it along.
    """

    token: str
    button: str
    about: str


def price_of(
    ledger: Ledger,
    matrix: Any,
    mechanism: Mechanism,
    *,
    protects: str | None = None,
    kept: bool = False,
    leaves: int | None = None,
    users: bool = False,
) -> Price:
    """What a release of these counts would cost, and how long it will take where that is long.

    ``protects`` says whom, unless `protected` does; ``kept`` where one was drawn before, ``leaves``
    of the preview on the screen, ``users`` where it is known whose records they are.

    Raises
    ------
    InputError
        Where the ledger would refuse it.
    """
    epsilon = float(mechanism.epsilon)
    left = ledger.affordable(matrix, to_units(epsilon))
    if left is None:
        button = f"Spend {epsilon:.12g}, no cap is set"
        rest = f"no cap is set, and {to_epsilon(ledger.spent(matrix)):.12g} is spent so far."
    else:
        button = f"Spend {epsilon:.12g} of the {to_epsilon(left):.12g} left"
        rest = f"{to_epsilon(left - to_units(epsilon)):.12g} of the cap is left after it."
    about = (
        f"A release spends epsilon {epsilon:.12g} of {whose(ledger, matrix)} for good and protects "
        f"{protects or protected(matrix)}; {rest}"
    )
    if users and matrix.unit == "point":
        about += (
            " Whose records these are is known, and people are not protected: choose so many "
            "records of each person under “What is protected” to protect them."
        )
    texts = words("drawing")
    long = duration(mechanism, matrix, leaves)
    about += f" {long}" if long else ""
    about += f" {texts['Again']}" if kept else ""
    return Price(token_of(ledger, matrix, mechanism), button, f"{about} {texts['Choosing']}")


def whose(ledger: Ledger, counts: Counted | str) -> str:
    """Whose budget it is, in the midst of a sentence."""
    named = ledger.whose(counts)
    return named if named.startswith("these ") else f"the population “{named}”"


def protected(matrix: Any) -> str:
    """Whom a release of counts protects.

    >>> from explorer import FrequencyMatrix
    >>> protected(FrequencyMatrix.from_array([[1, 2]]))
    'each record'
    """
    if matrix.unit == "point":
        return "each record"
    bound = matrix.contribution_bound // lattice_of(matrix)
    return f"each person with at most {bound} record{'s' if bound > 1 else ''}"


def of_truth(matrix: Any) -> str:
    """What a truth is of, behind its name, where the private map is made of fewer records."""
    return "" if matrix.unclipped is None else ", all records"


def counted_of_all(matrix: Any, record: str = "record") -> str:
    """How many records a contribution bound keeps: exact, for the curator; "" without a bound.

    >>> from explorer import FrequencyMatrix, Grid
    >>> matrix = FrequencyMatrix([[9_012]], Grid.cells(1), 1, "user", unclipped=[[75_040]])
    >>> counted_of_all(matrix)
    'Of about 75,000 records on the map, 9,010 are counted (at most 1 per person).'
    """
    if matrix.unclipped is None:
        return ""
    every, of_record = _total(matrix.unclipped), lattice_of(matrix)
    counted, bound = _total(matrix) / of_record, matrix.contribution_bound // of_record
    text = f"{_about(counted)} are counted" if counted < every else "all are counted"
    by_weight = ", by weight" if of_record > 1 else ""
    return (
        f"Of about {_about(every)} {record}s on the map, {text} (at most {bound} per "
        f"person{by_weight})."
    )


def _total(counts: Any) -> int:
    return int(counts.by_area.sum() if hasattr(counts, "by_area") else counts.total)


def _about(number: float) -> str:
    """A number to three digits."""
    return f"{float(f'{number:.3g}'):,.0f}"


def spent_sentence(ledger: Ledger, counts: Counted | str, epsilon: float) -> str:
    """What the population of counts has spent after a draw that cost ``epsilon``."""
    text = f"Drawn and booked with epsilon {epsilon:.12g}"
    try:
        spent, left = ledger.spent(counts), ledger.left(counts)
    except InputError:
        # The release is drawn and paid for: an unreadable file must not take it away again.
        return f"{text}; the ledger cannot be read now, so what is spent in all is not known."
    total = (
        f"{text}: releases of {whose(ledger, counts)} have spent {to_epsilon(spent):.12g} so far"
    )
    if left is None:
        return f"{total}, and no cap is set."
    return f"{total}, and {to_epsilon(left):.12g} is left under the cap."


def spent_of(ledger: Ledger, counts: Counted | str) -> str:
    """What a population has spent, such as "0.2 of 0.25 spent"; "" where no one knows."""
    try:
        spent, left = ledger.spent(counts), ledger.left(counts)
    except InputError:
        return ""
    text = f"{to_epsilon(spent):.12g}"
    return (
        f"epsilon {text} spent"
        if left is None
        else (f"epsilon {text} of {to_epsilon(spent + left):.12g} spent")
    )
