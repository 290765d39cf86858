"""Tags of boxes: what each map says of them, and which one stands out."""

import numpy as np
import pytest

from explorer.app.curator.answers import BoxAnswers
from explorer.app.curator.chips import chips, worst
from explorer.views import palette

NAMES = ["Q1", "Q2", "Q3"]


def answers(true: list[float], private: list[float]) -> BoxAnswers:
    zeros = np.zeros(len(true))
    return BoxAnswers(
        true=np.array(true, float), private=np.array(private, float), sd=zeros,
        touched=zeros.astype(int),
    )  # fmt: skip


def test_each_map_says_what_it_shows() -> None:
    found = answers([33_155, 100, 0], [33_182, 41, 2.4])
    assert [text for text, _ in chips("true", NAMES, found)] == ["Q1  33,155", "Q2  100", "Q3  0"]
    private = chips("private", NAMES, found)
    assert [text for text, _ in private] == ["Q1  33,182  +0.1 %", "Q2  41  −59 %", "Q3  2"]
    assert [colour for _, colour in private] == [palette.PRIVATE, palette.WORST, palette.PRIVATE]
    difference = [text for text, _ in chips("difference", NAMES, found)]
    assert difference == ["Q1  +27", "Q2  −59", "Q3  +2"]


def test_a_trace_of_a_record_has_no_percentage() -> None:
    """In the sea lie 1e-13 records of parts of cells; a box there is not 58 trillion % off."""
    found = answers([1e-13, 100], [58.0, 110])
    assert np.isnan(found.relative[0])
    assert found.relative[1] == pytest.approx(10)
    assert worst(found) is None
    assert chips("private", ["sea", "town"], found)[0][0] == "sea  58"


def test_one_box_alone_is_not_the_worst() -> None:
    assert worst(answers([10], [20])) is None
    assert worst(answers([10, 10], [20, 11])) == 0
