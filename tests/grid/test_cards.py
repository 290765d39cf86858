"""Cards of objects in a notebook: what they are, and never an exact count."""

import numpy as np
import pytest

from explorer import HTF, UG, FrequencyMatrix, Grid, Session, read_points
from explorer.grid.cards import card
from explorer.privacy.ledger import Ledger
from tests.helpers import card_of


def test_a_card_escapes_and_leaves_out_what_is_empty():
    made = card("<i>", {"a&b": "<x>", "none": None, "empty": ""}, badge="exact", note="1 < 2")
    assert "&lt;i&gt;" in made
    assert "a&amp;b" in made
    assert "&lt;x&gt;" in made
    assert "1 &lt; 2" in made
    assert made.count("<tr>") == 1
    assert "EXACT" in made


def test_counts_show_none_of_themselves(tmp_path):
    matrix = FrequencyMatrix.from_array(np.full((3, 7), 987))
    session = Session(matrix, 1, ledger=Ledger(tmp_path / "ledger.sqlite3"))
    points = read_points({"lon": [13.0] * 987, "lat": [52.0] * 987})
    for each in (matrix, session, points):
        shown = card_of(each)
        assert "EXACT" in shown
        assert "987" not in shown
        assert f"{987 * 21:,}" not in shown


def test_a_grid_says_where_it_is():
    shown = card_of(Grid.around(13.4, 52.5, "2km", shape=20, name="Town"))
    assert "Grid Town" in shown
    assert "100 x 100 m" in shown
    assert "13.4000, 52.5000" in shown
    assert "3 x 4" in card_of(Grid.cells((3, 4)))


@pytest.mark.parametrize("made", [HTF(0.5, T=4), UG(0.1)], ids=["changed", "as declared"])
def test_a_mechanism_says_what_differs(made):
    shown = card_of(made)
    assert ("T</th>" in shown) == isinstance(made, HTF)
    assert "epsilon" in shown
    assert str(made) == repr(made)
