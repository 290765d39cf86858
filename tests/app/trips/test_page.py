"""The Trips page, without a browser: rows of boxes for each place, maps about one row, releases."""

import html
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from explorer import TripDomain, TripMatrix, exact
from explorer.app import Trips
from explorer.app.trips.screen import TripLook
from explorer.app.trips.sentences import answer
from explorer.cities.trip_sets import trip_sets
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.mechanisms import DAFEntropy, Gravity
from tests.app import acts, press

SIDE = 16


def words(view) -> str:
    """What is to be read below ``view``, without marks."""
    return html.unescape(re.sub("<[^>]*>", "", acts.words(view))).strip()


RNG = np.random.default_rng(20)


def trips(k: int, n: int = 20_000) -> TripMatrix:
    """Trips between two centres and the country around them, on an 8 km square."""
    grid = Grid.around(2.35, 48.85, 8000, shape=SIDE)
    centres = RNG.choice([4.0, 11.0], (n, k, 1))
    cells = np.clip(np.floor(RNG.normal(centres, 1.5, (n, k, 2))), 0, SIDE - 1)
    domain = TripDomain([grid] * k)
    return TripMatrix(cells.reshape(n, 2 * k).astype(int), np.ones(n, int), domain)


TWO, THREE = trips(2), trips(3)


@pytest.fixture(autouse=True)
def few_runs(monkeypatch) -> None:
    """Intervals from three runs: how good they are is tested where they are simulated."""
    monkeypatch.setattr("explorer.app.curator.error_bars.RUNS", 3)


@pytest.fixture
def page() -> Trips:
    return Trips(TWO)


def drag(page: Trips, place: int, box) -> None:
    acts.drag(page.maps.views[place].figure, box)


def test_it_opens_with_two_questions_and_the_answer_of_the_first(page) -> None:
    assert page.rectangles.names == ["Q1", "Q2"]
    assert page.rectangles.selected == [0]
    true = exact(TWO, page.rectangles.boxes)
    np.testing.assert_allclose(page.screen.answers.true, true)
    said = words(page.readout.answer)
    assert said.startswith("Q1, trips from a box of 1.4 × 1 km, to a box of 1.4 × 1 km:")
    assert f"{true[0]:,.0f} in truth" in said
    assert list(page.table.widget.value["true"].round()) == list(true.round())


def test_a_truth_outside_the_range_is_said_with_its_reason(page) -> None:
    screen, names = page.screen, page.rectangles.names
    near = replace(screen, answers=replace(screen.answers, true=screen.answers.private))
    assert "outside" not in answer(near, names[0], 0)
    far = replace(screen, answers=replace(screen.answers, true=screen.answers.private * 2 + 999))
    assert "The truth lies outside the range: how unevenly" in answer(far, names[0], 0)
    alone = replace(far, answers=replace(far.answers, exact=True))
    assert "it is of the noise alone" in answer(alone, names[0], 0)


@pytest.mark.parametrize(
    ("matrix", "names"), [(TWO, ("from", "to")), (THREE, ("from", "via", "to"))]
)
def test_there_is_a_map_for_each_place_and_a_gap_means_anywhere(matrix, names) -> None:
    page = Trips(matrix)
    k = len(names)
    assert len(page.maps.views) == k
    assert page.rectangles.places == names
    page.rectangles.select([])
    drag(page, k - 1, (-2000, -2000, 1000, 1000))
    assert page.rectangles.selected == [2]
    row = page.rectangles.boxes[2]
    assert np.isnan(row[: k - 1]).all()
    assert row[-1].tolist() == [-2000, -2000, 1000, 1000]
    drag(page, 0, (-3000, -3000, 0, 0))
    assert len(page.rectangles) == 3, "both boxes belong to one row"
    np.testing.assert_allclose(page.screen.answers.true, exact(matrix, page.rectangles.boxes))
    assert len(page.table.widget.value) == 3


def test_the_maps_count_the_trips_of_the_selected_row(page) -> None:
    page.rectangles.select([1])
    page.highlight()
    assert page.screen.look.row == 1
    cells = TWO.domain.to_cells(page.rectangles.boxes[1][np.newaxis])[0]
    heads = [words(head) for head in page.maps.heads]
    assert heads == ["From where trips to Q2 begin", "To where trips from Q2 end"]
    # What stands inside the box of the row on the last map is the answer to the row.
    shown = TWO.place_counts(1, cells)
    (low_row, low_col), (high_row, high_col) = cells[0, 2:], cells[1, 2:]
    rows, cols = np.arange(SIDE), np.arange(SIDE)
    part_rows = np.clip(np.minimum(rows + 1, high_row) - np.maximum(rows, low_row), 0, 1)
    part_cols = np.clip(np.minimum(cols + 1, high_col) - np.maximum(cols, low_col), 0, 1)
    assert part_rows @ shown @ part_cols == pytest.approx(page.screen.answers.true[1])
    page.state.put(focus="all")
    assert page.screen.look.row is None
    assert [words(head) for head in page.maps.heads][1] == "To where all trips end"


def test_private_maps_hold_the_private_answers(page) -> None:
    screen = page.screen
    for spread in ("maps", "uniform"):
        page.state.put(spread=spread)
        assert page.screen.release.inside == spread
        assert page.screen.drawn is screen.drawn, "to spread counts otherwise draws nothing"
    press.parts(page)
    assert page.drawer.spread.visible
    page.state.put(mechanism="eug")
    assert not page.drawer.spread.visible


def test_true_and_difference_are_other_pictures_of_the_same_release(page) -> None:
    seen = []
    for shows in ("private", "true", "difference"):
        page.state.put(shows=shows)
        seen.append(page.screen)
    assert len({id(each.drawn) for each in seen}) == 1
    pictures = [each.pictures[0].bytes.tobytes() for each in seen]
    assert len(set(pictures)) == 3
    assert words(page.maps.below).startswith("Contains exact counts: do not share this screen")


def test_the_branch_ends_where_most_private_trips_of_the_row_are(page) -> None:
    screen = page.screen
    tree = screen.drawn.tree
    assert tree.fan_out[screen.branch.leaf] == 0
    columns = page.maps._lines[0].source.data
    assert len(columns["x0"]) == len(screen.pictures[0].branch.columns["x0"]) > 0
    assert len(set(columns["colour"])) == 2
    page.state.put(partition=False)
    assert len(page.maps._lines[0].source.data["x0"]) == 0


def test_a_drawn_release_is_booked_kept_and_saved(page, tmp_path) -> None:
    from explorer.releases.release import Release

    press.draw_release(page)
    assert not page.screen.release.preview
    assert page.released()
    assert "Drawn and booked with epsilon 1" in page.message.sentence
    path = tmp_path / "release.parquet"
    path.write_bytes(press.download(page, "Save the release"))
    saved = Release.load(path)
    boxes = page.rectangles.boxes
    np.testing.assert_allclose(saved.answer(boxes).value, page.screen.answers.private)
    page.state.put(epsilon=0.5)
    assert page.screen.release.preview
    press.press(page, "Show the release again")
    assert not page.screen.release.preview
    assert page.state.epsilon == 1


def test_it_takes_trip_mechanisms_with_their_settings() -> None:
    page = Trips(TWO, mechanism="daf-entropy", epsilon=0.5, order="destination first")
    made = page.state.instance()
    assert repr(made) == repr(DAFEntropy(epsilon=0.5, order="destination first"))
    assert page.screen.drawn.mechanism == "daf-entropy"
    page.state.take(Gravity(epsilon=2.0, zones=4))
    assert page.state.parameter("zones") == 4


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"mechanism": "htf"}, "Mechanism"),
        ({"places": "o"}, "The places are"),
        ({"places": "o,d,<b>"}, "The places are"),
        ({"side": 2048}, "Grid"),
        ({"shows": "exact"}, "Maps show"),
        ({"epsilon": float("nan")}, "Epsilon"),
    ],
)
def test_what_is_no_choice_is_one_sentence(choices, said) -> None:
    with pytest.raises(InputError, match=said) as refused:
        Trips(TWO, **choices)
    assert "\n" not in str(refused.value)


def test_counts_of_one_place_and_unknown_trips_are_refused() -> None:
    one = TripMatrix.from_coordinates([[1, 1]], [4])
    with pytest.raises(InputError, match="two places or more"):
        Trips(one)
    with pytest.raises(InputError, match="There are no trips 'atlantis' here"):
        Trips("atlantis")


def test_causes_of_every_error_add_up_to_it(page) -> None:
    answers = page.readout.causes.complete(page.screen).answers
    np.testing.assert_allclose(answers.noise + answers.uniformity, answers.difference)
    assert answers.clipping is None


def test_where_persons_are_protected_answers_are_shares() -> None:
    page = Trips("madeup", bound=5, side=32)
    assert "of all trips by the private answer" in words(page.readout.answer)
    assert "users times epsilon 1 buy about" in words(page.readout.about)
    shown = page.table.widget.value
    assert {"true %", "private %"} <= set(shown.columns)
    matrix = page.parts.data.matrix
    every, boxes = matrix.unclipped, page.rectangles.boxes
    true = 100 * exact(every, boxes) / every.total
    np.testing.assert_allclose(shown["true %"], true, atol=0.006)
    answers = page.readout.causes.complete(page.screen).answers
    counted = 100 * exact(matrix, boxes, counted=True) * matrix.lattice / matrix.total
    np.testing.assert_allclose(answers.clipping, counted - true, atol=1e-9)
    total = answers.noise + answers.uniformity + answers.clipping
    np.testing.assert_allclose(total, answers.difference)
    assert "(at most 5 per person, by weight)" in words(page.readout.about)
    page.state.put(bound=0)
    assert "private" in page.table.widget.value.columns


def test_the_look_follows_the_selected_row(page) -> None:
    assert TripLook.of(page.parts).row == 0
    page.rectangles.select([1])
    assert TripLook.of(page.parts).row == 1
    page.rectangles.replace([], [])
    assert TripLook.of(page.parts).row is None
    page.boxes_changed()
    assert words(page.readout.answer) == "No row asks anything: drag a box on a map."


def test_other_places_bring_other_maps_and_rows() -> None:
    page = Trips("madeup", side=16)
    page.rectangles.select([1])
    page.state.put(places="o,s1,d")
    assert page.rectangles.places == ("from", "via", "to")
    assert page.screen.boxes.shape == (2, 3, 4)
    assert "via anywhere" in words(page.readout.answer)
    page.state.put(places="o,d")
    assert page.screen.boxes.shape == (2, 2, 4)
    page.state.put(places="o,s2,d")
    assert "has no place 's2'" in page.message.sentence
    assert page.state.places == "o,d"


def test_own_trips_are_read_on_a_declared_extent_and_counted_anew(page) -> None:
    rng = np.random.default_rng(3)
    table = {
        f"{place}_{axis}": rng.normal(middle, 0.01, 400)
        for place in ("o", "s1", "s2", "d")
        for axis, middle in (("lon", 2.35), ("lat", 48.85))
    }
    page.upload.places.value = "o,s1,d"
    page.upload.file.param.update(
        value=pd.DataFrame(table).to_csv(index=False).encode(), filename="trips.csv"
    )
    page.upload.lon.value, page.upload.lat.value, page.upload.width.value = 2.35, 48.85, 8.0
    press.press(page, "Load these trips")
    assert page.rectangles.places == ("from", "via", "to")
    assert page.parts.data.matrix.total == 400
    assert page.parts.data.matrix.shape == (64,) * 6
    page.state.put(side=16)
    assert page.parts.data.matrix.shape == (16,) * 6
    weighed = pd.DataFrame(table).assign(n=3).to_csv(index=False).encode()
    for column, total in (("", 400), ("n", 1200)):
        page.upload.places.value = "o,s1,s2,d"
        page.upload.weight_column.value = column
        assert ("50 times epsilon" in page.upload.about_unit.object) == bool(column)
        page.upload.file.param.update(value=weighed, filename="trips.csv")
        press.press(page, "Load these trips")
        # What is said of a column that is not read can be done in this form.
        assert ("name it as the weight column" in page.message.sentence) == (not column)
        assert page.parts.data.matrix.total == total
        assert page.parts.data.matrix.shape == (16,) * 8
        assert page.rectangles.places == ("from", "via s1", "via s2", "to")
        assert len(page.maps.views) == 4
    page.upload.places.value = "o"
    page.upload.file.param.update(value=b"x", filename="trips.csv")
    press.press(page, "Load these trips")
    assert "A trip has two or more places here" in page.message.sentence
    assert page.parts.data.matrix.total == 1200


def test_other_trips_let_go_of_what_they_do_not_have(monkeypatch) -> None:
    known = {**trip_sets(), "plain": replace(trip_sets()["madeup"], key="plain", user=None)}
    known["plain"] = replace(known["plain"], places=("o", "d"), title="Plain trips")
    monkeypatch.setattr("explorer.cities.trip_sets.trip_sets", lambda: known)
    page = Trips("madeup", side=16, places="o,s1,d", bound=5)
    page.state.put(city="plain")
    assert page.parts.data.city == ("plain", 16, 0, "o,d")
    assert page.message.sentence.startswith("Plain trips has no such stop")


def test_a_slow_picture_of_other_places_is_shown(page) -> None:
    three = Trips(THREE)
    old = three.screen
    three.readout.screen = page.screen  # of trips that are not on the maps
    three.slow(True)
    three.restyle()
    three._rest()
    three.readout.screen = old
    three.slow(True)
    assert "Computing" in words(three.maps.below)


def test_the_same_ground_in_another_order_takes_its_names_along() -> None:
    page = Trips("madeup", side=16)
    page.state.put(places="d,o")
    assert page.rectangles.places == page.maps.names == ("to", "from")


def test_ranges_in_closed_form_are_said_to_be_of_the_noise() -> None:
    page = Trips(TWO, mechanism="eug")
    assert "(noise alone: " in words(page.readout.answer)
    assert words(page.readout.about_bars).startswith("Ranges are of the noise alone")
    assert words(Trips(TWO).readout.about_bars).startswith("Intervals have no formula")


def test_what_could_not_be_published_is_no_preview_either() -> None:
    page = Trips("madeup")
    page.state.put(mechanism="identity")
    assert "Identity would publish 16,777,216 numbers" in page.message.sentence
    assert page.screen.drawn.mechanism == "gravity"


def test_a_question_about_one_place_has_the_answer_of_its_map_beside(page) -> None:
    page.rectangles.select([page.rectangles.add((-2000, -2000, 1000, 1000), place=1)])
    page.boxes_changed()
    page.highlight()
    own = page.screen.release.map_answer(1, [[-2000, -2000, 1000, 1000]])[0]
    assert f"The private map of this place alone says {own:,.0f}." in words(page.readout.answer)
    page.state.put(mechanism="daf-entropy")
    assert "alone says" not in words(page.readout.answer)
