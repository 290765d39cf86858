"""Draws are booked before they are drawn, previews never, and the cap is kept."""

import numpy as np
import pytest

from explorer.app.curator.booking import draw, spent_sentence
from explorer.errors import InputError
from explorer.mechanisms import Uniform
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.ledger import Ledger


@pytest.fixture
def matrix(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "spends.sqlite3"))
    monkeypatch.delenv("EXPLORER_EPSILON_CAP", raising=False)
    return FrequencyMatrix.from_array(np.full((8, 8), 20))


def test_a_draw_is_booked_and_a_preview_is_not(matrix) -> None:
    release, said = draw(Uniform(epsilon=0.5), matrix, seed=3)
    assert release.preview
    assert said == ""
    assert Ledger().spent(matrix.key) == 0
    release, said = draw(Uniform(epsilon=0.5), matrix, seed=None)
    assert not release.preview
    assert Ledger().spent(matrix.key) == 5 * 10**11
    assert "epsilon 0.5 so far" in said
    assert "no cap" in said
    _, said = draw(Uniform(epsilon=0.25), matrix, seed=None)
    assert "epsilon 0.75 so far" in said
    assert [row.mechanism for row in Ledger().rows(matrix.key)] == ["uniform", "uniform"]


def test_what_is_left_is_said_and_beyond_the_cap_nothing_is_booked(matrix, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.8")
    _, said = draw(Uniform(epsilon=0.5), matrix, seed=None)
    assert "0.3 is left" in said
    with pytest.raises(InputError, match=r"cap of 0\.8"):
        draw(Uniform(epsilon=0.5), matrix, seed=None)
    assert Ledger().spent(matrix.key) == 5 * 10**11


def test_a_ledger_that_breaks_after_the_draw_takes_no_release_away(matrix, tmp_path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"this is no database at all" * 100)
    assert "cannot be read" in spent_sentence(Ledger(broken), matrix.key, 0.5)
