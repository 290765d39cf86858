"""One colour scale: the bytes are the formula's, and the ticks stand where the bytes say."""

import numpy as np
import pytest

from explorer.views.scale import ColourScale, top_value, top_value_of_leaves


@pytest.mark.parametrize("kind", ["log", "linear"])
def test_bytes_follow_the_formula(kind) -> None:
    scale = ColourScale(kind, top=700.0)
    values = np.array([[0.0, 0.4, 1.0], [10.0, 699.0, 5000.0]], np.float32)
    shape = {"log": np.log1p, "linear": lambda v: v}[kind]
    expected = np.clip(255 * shape(values) / shape(700.0), 0, 255)
    got = scale.encode(values)
    assert got.dtype == np.uint8
    # Truncation to a byte, and single precision: never more than one step below.
    assert np.all(expected - got < 1.01)
    assert np.all(got <= expected + 0.01)


def test_nothing_and_negative_counts_are_the_ground() -> None:
    values = np.array([0.0, -3.0, -1e9, np.nan], np.float32)
    assert not ColourScale("log", 10.0).encode(values).any()


def test_equal_neighbours_share_a_logarithm_but_not_a_wrong_one() -> None:
    values = np.array([5, 5, 7, 7, 5, 0, 0, 5], np.float32)
    got = ColourScale("log", 10.0).encode(values)
    assert got[0] == got[1] == got[4] == got[7]
    assert got[2] == got[3] > got[0]
    assert got[5] == got[6] == 0


def test_difference_is_symmetric_about_128_and_saturates() -> None:
    values = np.array([0.0, 3.0, -3.0, 1e6, -1e6], np.float32)
    none, more, less, most, least = ColourScale("log", 100.0).encode_difference(values).astype(int)
    assert none == 128
    assert more > 128 > less
    assert abs((more - 128) - (128 - less)) <= 1
    assert most == 255
    assert least == 1


@pytest.mark.parametrize(("kind", "top"), [("log", 1200.0), ("log", 7.0), ("linear", 577.0)])
def test_a_tick_stands_where_its_value_gets_its_byte(kind, top) -> None:
    scale = ColourScale(kind, top)
    places = [place for place, _ in scale.ticks()]
    assert places[0] == 0
    assert places == sorted(places)
    assert places[-1] <= 1
    for place, text in scale.ticks()[1:]:
        value = float(text.replace("k", "")) * (1000 if "k" in text else 1)
        byte = scale.encode(np.array([value], np.float32))[0]
        assert byte / 255 == pytest.approx(place, abs=1.1 / 255)


def test_top_is_a_high_quantile_of_the_occupied_cells() -> None:
    counts = np.zeros((100, 100), np.int64)
    counts.ravel()[:1000] = np.arange(1, 1001)
    assert top_value(counts, "log") == pytest.approx(999, abs=2)
    assert top_value(counts, "linear") == pytest.approx(980, abs=2)
    assert top_value(np.zeros((3, 3)), "log") == 1.0


def test_a_scale_of_the_release_is_round_and_needs_only_private_numbers() -> None:
    density, cells = np.array([0.01, 3.0, 40.0, -2.0]), np.array([10**6, 500, 20, 9])
    top = top_value_of_leaves(density, cells, "log")
    assert top in {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0}
    assert top_value_of_leaves(np.array([-1.0]), np.array([4]), "log") == 1.0
