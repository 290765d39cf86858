"""Drawing with the ledger: a release-grade draw is booked before any noise, a preview never."""

from __future__ import annotations

from collections.abc import Callable

from explorer.errors import InputError
from explorer.mechanisms import Mechanism
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.ledger import Ledger
from explorer.releases.release import Release
from explorer.releases.units import to_epsilon


def draw(
    mechanism: Mechanism,
    matrix: FrequencyMatrix,
    seed: int | None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Release, str]:
    """Draw once; returns the release and, unless it is a preview, what is spent by now.

    Parameters
    ----------
    seed : the dice of a preview; None draws with release-grade noise and books it first

    Raises
    ------
    InputError
        When the mechanism refuses the matrix, or the draw would pass the ledger's cap.
    """
    ledger = None if seed is not None else Ledger()
    release = mechanism.release(matrix, rng=seed, progress=progress, ledger=ledger)
    return release, "" if ledger is None else spent_sentence(ledger, matrix.key, release.epsilon)


def spent_sentence(ledger: Ledger, key: str, epsilon: float) -> str:
    """What the data set ``key`` has spent after a draw that cost ``epsilon``."""
    said = f"Drawn and booked with epsilon {epsilon:.12g}"
    try:
        spent, left = ledger.spent(key), ledger.left(key)
    except InputError:
        # The release is drawn and paid for: an unreadable file must not take it away again.
        return f"{said}; the ledger cannot be read now, so what is spent in all is not known."
    total = f"{said}: releases of this data set have spent epsilon {to_epsilon(spent):.12g} so far"
    if left is None:
        return f"{total}, and no cap is set."
    return f"{total}, and {to_epsilon(left):.12g} is left under the cap."
