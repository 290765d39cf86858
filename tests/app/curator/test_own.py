"""What a cell brings to a page, and what the page gives back."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import shapely

from explorer.app.compare.page import Compare
from explorer.app.explore.page import Explore
from explorer.app.learn.page import Learn
from explorer.app.trips.page import Trips
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import read_points

EXTENT = (13.3, 52.4, 13.5, 52.6)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    place = {"lon": rng.normal(13.4, 0.02, 900), "lat": rng.normal(52.5, 0.02, 900)}
    return pd.DataFrame({**place, "who": np.arange(900) // 3})


@pytest.fixture(scope="module")
def matrix(frame) -> FrequencyMatrix:
    return Grid.of(EXTENT, shape=64).count(read_points(frame[["lon", "lat"]]))


def test_points_of_every_kind_are_counted_on_the_extent(frame, tmp_path: Path) -> None:
    csv = tmp_path / "my.csv"
    frame.to_csv(csv, index=False)
    plain = frame[["lon", "lat"]]
    made = [
        Explore(given, extent=extent, side=256, mechanism="uniform", epsilon=1)
        for given, extent in (
            (plain, EXTENT),
            (str(csv), EXTENT),
            (csv, Grid.of(EXTENT, shape=7)),
            (read_points(plain), EXTENT),
        )
    ]
    for page in made:
        assert page.parts.data.matrix.total == 900
        assert page.parts.data.grid.shape == (256, 256)
        assert page.release.total == made[0].release.total, "a preview of the same counts"
    made[0].state.put(side=512)
    assert made[0].parts.data.grid.shape == (512, 512), "points are counted anew"


def test_a_column_of_users_can_be_protected(frame) -> None:
    page = Explore(frame, extent=EXTENT, user="who", side=256, bound=1, mechanism="uniform")
    assert page.parts.data.matrix.total == 300
    assert page.release.unit == "user"


@pytest.mark.parametrize("kind", [Explore, Compare])
def test_users_need_a_bound_or_an_insistence(frame, kind) -> None:
    named = read_points(frame, user="who")
    for given, more in ((frame, {"user": "who"}), (named, {})):
        with pytest.raises(InputError, match=r"bound=10 .* bound=0"):
            kind(given, extent=EXTENT, side=256, **more)
    page = kind(named, extent=EXTENT, side=256, bound=0)
    assert page.parts.data.matrix.unit == "point"


def test_users_of_trips_need_a_bound(frame) -> None:
    ends = frame.rename(columns={"lon": "o_lon", "lat": "o_lat"})
    ends = ends.assign(d_lon=ends.o_lon, d_lat=ends.o_lat)
    with pytest.raises(InputError, match="bound=10"):
        Trips(ends, extent=EXTENT, user="who")
    page = Trips(ends, extent=EXTENT, user="who", bound=1, side=16, mechanism="uniform")
    assert page.parts.data.matrix.unit == "user"


def test_no_release_of_points_whose_users_were_left_out(frame, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
    users = frame.rename(columns={"who": "user_id"})
    page = Explore(users, extent=EXTENT, side=256, mechanism="uniform")
    said: list[str] = []
    monkeypatch.setattr(page.parts.message, "refuse", said.append)
    page.drawing.press()
    assert "“user_id”" in said[0]
    insisted = Explore(users, extent=EXTENT, side=256, mechanism="uniform", bound=0)
    monkeypatch.setattr(insisted.parts.message, "refuse", pytest.fail)
    insisted.drawing.press()


def test_what_is_true_is_of_all_records_and_what_is_counted_is_said(frame) -> None:
    page = Explore(frame, extent=EXTENT, user="who", side=256, bound=1, mechanism="ug")
    page.boxes = [(-20_000, -20_000, 20_000, 20_000)]
    (row,) = page.answers.itertuples()
    assert (row.true, row.counted, row.from_clipping) == (900, 300, -600)
    assert row.from_noise + row.from_spread + row.from_clipping == pytest.approx(row.error)
    for pane in (page.drawer.counted, page.readout.summary):
        assert "Of about 900 records on the map, 300 are counted (at most 1 per person)." in str(
            pane.object
        )
    assert "not counted" in page.readout.key.object
    names = set(page.table.widget.value.columns)
    page.state.put(bound=0)
    assert "from_clipping" not in page.answers
    assert page.drawer.counted.object == ""
    assert "not counted" not in page.readout.key.object
    assert set(page.table.widget.value.columns) != names


def test_an_array_is_a_matrix_of_counts() -> None:
    page = Explore(np.ones((4, 6)), mechanism="identity")
    assert page.parts.data.matrix.shape == (4, 6)
    placed = Explore(np.ones((4, 6), int), extent=EXTENT, mechanism="identity")
    assert placed.parts.data.grid.crs is not None


@pytest.mark.parametrize(
    ("given", "more", "said"),
    [
        ("my.csv", {}, "need an extent"),
        ("my.csv", {"extent": EXTENT}, "There is no file 'my.csv'"),
        ("atlantis", {}, "There is no city 'atlantis' here: choose one of madeup"),
        ("madeup", {"extent": EXTENT}, "for points of your own"),
        (None, {"user": "who"}, "for points of your own"),
        (FrequencyMatrix.from_array(np.ones((4, 4))), {"extent": EXTENT}, "not for counts"),
        (np.ones((4, 4), int), {"user": "who"}, "column of users is for points"),
        (
            read_points({"lon": [13.4], "lat": [52.5]}),
            {"extent": EXTENT, "user": "who"},
            "read already",
        ),
        (object(), {"extent": EXTENT}, "cannot be read"),
        (np.ones((4, 4)) * 0.5, {}, "whole"),
        ("madeup", {"height": "tall"}, "give pixels"),
        (5, {}, "5 is nothing that this page shows"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(given, more, said) -> None:
    with pytest.raises(InputError, match=said):
        Explore(given, **more)


def test_a_pair_of_columns_is_points_and_no_matrix(frame) -> None:
    page = Explore(
        (frame.lon.to_numpy(), frame.lat.to_numpy()), extent=EXTENT, side=256, mechanism="uniform"
    )
    assert page.parts.data.matrix.total == 900


def test_a_release_has_no_truth(matrix) -> None:
    with pytest.raises(InputError, match=r"no truth.*Explore\(release\)"):
        Compare(HTF(1.0).release(matrix, rng=1))


def test_boxes_go_in_and_out(matrix) -> None:
    page = Explore(matrix, mechanism="ug", boxes=[(-900, -800, 100, 250.5)])
    assert page.boxes.name.tolist() == ["Q1"]
    answers = page.answers
    assert answers.index.tolist() == ["Q1"]
    assert answers.true["Q1"] == pytest.approx(page.screen.answers.true[0])
    page.boxes = [(0, 0, 500, 500), (-500, -500, 0, 0)]
    assert len(page.answers) == len(page.boxes) == 2
    parts = page.answers.from_noise + page.answers.from_spread
    np.testing.assert_allclose(page.answers.error, parts)
    for degrees in ([EXTENT], shapely.box(*EXTENT)):
        with pytest.raises(InputError, match="look like degrees"):
            page.boxes = degrees
    assert len(page.boxes) == 2


def test_settings_make_the_same_page_again(matrix) -> None:
    page = Explore(matrix, mechanism="htf", epsilon=0.5, T=2, height=3, seed=4, palette="magma")
    assert (page.mechanism.epsilon, page.mechanism.T, page.mechanism.height) == (0.5, 2, 3)
    again = Explore(matrix, **page.settings)
    assert again.settings == page.settings
    np.testing.assert_array_equal(again.release.counts, page.release.counts)


def test_compare_gives_both_sides(matrix) -> None:
    page = Compare(matrix, a="uniform", b="identity")
    assert [each.key for each in page.mechanisms] == ["uniform", "identity"]
    assert [each.mechanism for each in page.releases] == ["uniform", "identity"]
    assert page.answers.loc["A"].true.tolist() == page.answers.loc["B"].true.tolist()
    assert Compare(matrix, **page.settings).mechanisms == page.mechanisms


def test_lessons_and_trips_take_own_data(frame) -> None:
    assert Learn(frame, extent=EXTENT).parts.data.matrix.total == 900
    turned = frame.iloc[::-1].reset_index(drop=True)
    trips = pd.DataFrame(
        {"o_lon": frame.lon, "o_lat": frame.lat, "d_lon": turned.lon, "d_lat": turned.lat}
    )
    page = Trips(trips, extent=EXTENT, side=16, mechanism="uniform")
    assert page.parts.data.matrix.total == 900
    before = page.rectangles.boxes
    page.boxes = page.boxes
    np.testing.assert_allclose(page.rectangles.boxes, before, atol=0.2)
    assert page.answers.index.tolist() == list(page.rectangles.names)


def test_a_cell_without_controls_is_the_page_alone(matrix) -> None:
    page = Explore(matrix, mechanism="uniform", controls=False)
    assert page.__panel__()[0] is page.body
