"""What the ledger says became of a booking, and which draws were never handed out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorer.mechanisms import Uniform
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy import drawn as folder_of_drawn
from explorer.privacy.drawn import DrawnReleases
from explorer.privacy.ledger import Ledger
from explorer.privacy.once import acknowledge, draw, token_of, unfinished
from explorer.privacy.receipts import receipt_of_row, receipts, statement

MATRIX = FrequencyMatrix.from_array(np.random.default_rng(3).integers(0, 9, (8, 8)))
MADE = Uniform(epsilon=0.25)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite3", cap=2, population="riders")


def drawn_once(ledger: Ledger) -> str:
    ledger.token = token_of(ledger, MATRIX, MADE)
    draw(ledger, MATRIX, MADE)
    return ledger.token


def lost(ledger: Ledger) -> str:
    """A draw whose process ended behind its booking."""
    ledger.token = token_of(ledger, MATRIX, MADE)
    ledger.book(MATRIX.key, 25 * 10**10, "uniform")
    return ledger.token


def states(ledger: Ledger) -> list[str]:
    return [row["state"] for each in statement(ledger) for row in each["bookings"]]


def test_a_draw_is_followed_to_its_end(ledger: Ledger) -> None:
    drawn = DrawnReleases(ledger.path)
    first = drawn_once(ledger)
    assert states(ledger) == ["drawn, not saved"]
    (left,) = unfinished(ledger, MATRIX, MADE)
    assert left.kept is not None
    assert (left.receipt.token, left.receipt.spent_before) == (first, 0)
    drawn.saved(first, "map.parquet", "ab" * 32)
    assert states(ledger) == ["saved"]
    assert unfinished(ledger, MATRIX, MADE) == []
    # A later save from a page, which knows no name, takes none away.
    drawn.saved(first)
    assert statement(ledger)[0]["bookings"][0]["file"] == "map.parquet"

    second = drawn_once(ledger)
    assert second != first
    drawn.give_up(second)
    assert not drawn.known(second)
    assert states(ledger) == ["saved", "given up"]
    third = lost(ledger)
    assert states(ledger) == ["saved", "given up", "unfinished"]
    (left,) = unfinished(ledger, MATRIX, MADE)
    assert (left.kept, left.receipt.token) == (None, third)
    assert left.receipt.spent_before == 5 * 10**11
    acknowledge(ledger, left)
    assert unfinished(ledger, MATRIX, MADE) == []
    (only,) = statement(ledger)
    assert (only["spent"], only["left"]) == (0.75, 1.25)


def test_what_became_of_a_draw_is_known_when_its_file_has_gone(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = drawn_once(ledger)
    drawn = DrawnReleases(ledger.path)
    drawn.saved(token, "map.parquet", "ab" * 32)
    monkeypatch.setattr(folder_of_drawn, "AFTER_SAVING", -1.0)
    drawn_once(ledger)
    assert not drawn.known(token)
    assert states(ledger) == ["saved", "drawn, not saved"]
    assert [each.receipt.token for each in unfinished(ledger, MATRIX, MADE)] != [token]


def test_other_settings_and_other_people_are_other_draws(ledger: Ledger, tmp_path: Path) -> None:
    lost(ledger)
    assert unfinished(ledger, MATRIX, Uniform(epsilon=0.5)) == []
    other = FrequencyMatrix.from_array(np.ones((8, 8), dtype=int))
    assert unfinished(ledger, other, MADE) == []
    assert unfinished(Ledger(tmp_path / "other.sqlite3", population="riders"), MATRIX, MADE) == []
    assert len(unfinished(ledger, MATRIX, MADE)) == 1


def test_a_booking_that_was_taken_back_whole_was_no_draw(ledger: Ledger) -> None:
    token = token_of(ledger, MATRIX, MADE)
    ledger.token = token
    ledger.lower(ledger.book(MATRIX.key, 10**11, "uniform"), 0)
    assert unfinished(ledger, MATRIX, MADE) == []
    assert receipts(ledger, [token]) == []
    assert states(ledger) == []


def test_a_row_is_found_by_what_a_manifest_calls_it(ledger: Ledger) -> None:
    token = drawn_once(ledger)
    (receipt,) = receipts(ledger, [token])
    assert receipt_of_row(ledger, receipt.row) == receipt
    assert receipt_of_row(ledger, "0" * 64) is None
    assert len({receipt.row, MATRIX.key, token}) == 3
