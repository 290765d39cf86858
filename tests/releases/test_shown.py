"""What releases show of themselves, all of it from released numbers."""

from __future__ import annotations

import io

import numpy as np
import pytest
import shapely
from PIL import Image

from explorer import HTF, UG, FrequencyMatrix, Gravity, Grid, InputError, TripMatrix
from explorer.releases.release import Release
from tests.helpers import card_of

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(scope="module")
def counts() -> np.ndarray:
    y, x = np.mgrid[:40, :30]
    return np.random.default_rng(5).poisson(200 * np.exp(-0.02 * ((y - 12) ** 2 + (x - 20) ** 2)))


@pytest.fixture(scope="module")
def release(counts) -> Release:
    grid = Grid.around(13.4, 52.5, 3000, 4000, shape=(40, 30), name="Town <b>")
    return HTF(1.0).release(FrequencyMatrix.from_array(counts, grid), rng=3)


def test_a_figure_shows_each_column_where_it_lies(release) -> None:
    from matplotlib import pyplot

    for column in ("density", "count", "noise_sd", "low", "high"):
        axes = release.plot(column=column, scale="linear", partition=False)
        (image,) = axes.images
        shown = np.asarray(image.get_array())
        frame = release.to_geodataframe()
        for x, y in ((-1430, -1930), (830, -730), (1430, 1930)):
            (leaf,) = frame.index[frame.contains(shapely.Point(x, y))]
            row, col = int((y + 2000) // 100), int((x + 1500) // 100)
            assert shown[row, col] == pytest.approx(frame[column][leaf])
        assert axes.get_title() == "Preview, not private: htf, epsilon 1 per point"
        pyplot.close(axes.figure)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"column": "true"}, "no column 'true'"), ({"scale": "sqrt"}, "no scale 'sqrt'")],
)
def test_what_cannot_be_drawn(release, options, sentence) -> None:
    with pytest.raises(InputError, match=sentence):
        release.plot(**options)


def test_a_web_map_asks_for_no_tiles_unless_it_is_told(release, counts) -> None:
    drawn = release.explore()
    html = drawn.get_root().render()
    assert "tileLayer" not in html
    assert html.count('"type": "Feature"') == release.n_leaves
    with pytest.raises(InputError, match="nowhere on the Earth"):
        UG(1.0).release(counts, rng=1).explore()


def test_an_array_has_the_density_at_its_places(release) -> None:
    array = release.to_xarray()
    assert array.dims == ("y", "x")
    assert float(array.sel(x=850, y=-750)) == release.density()[12, 23]
    assert array.attrs["epsilon"] == 1
    assert array.attrs["preview"] is True
    assert float(array.sum()) == pytest.approx(release.total)


def test_the_card_says_what_it_is_and_escapes_names(release) -> None:
    card = card_of(release)
    assert "PREVIEW" in card
    assert "Town &lt;b&gt;" in card
    assert f"{release.n_leaves:,}" in card
    assert "<script" not in card
    assert len(card) < 40_000


def test_the_picture_is_the_private_map_north_up() -> None:
    from explorer.views.plotting import poster

    counts = np.zeros((64, 64), dtype=int)
    counts[40:, :20] = 1000
    picture = Image.open(io.BytesIO(poster(UG(10.0).release(counts, rng=1)))).convert("L")
    levels = np.asarray(picture, dtype=float)
    half = levels.shape[0] // 4
    # The crowd is in the north-west.
    assert levels[:half, :half].mean() > 5 * levels[-half:, -half:].mean() + 20


def test_counts_of_several_places_have_a_card_without_a_picture() -> None:
    cells = np.random.default_rng(1).integers(0, 4, (99, 4))
    trips = TripMatrix.from_coordinates(cells, ((4, 4), (4, 4)))
    card = card_of(Gravity(1.0).release(trips, rng=1))
    assert "<img" not in card
    assert "4 x 4 x 4 x 4" in card
