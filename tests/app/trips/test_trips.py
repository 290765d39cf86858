"""The Trips page, without a browser: rows of boxes for each place, panels below the maps."""

import csv
import html
import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import param
import pytest

from explorer import TripMatrix, exact
from explorer.app import Trips
from explorer.app.curator.explain import OFF
from explorer.app.trips import built as say
from explorer.app.trips.built import CutJob, compute_cut
from explorer.cities.trip_sets import trip_sets
from explorer.errors import InputError
from explorer.evaluate.repeats import one_run, repeats
from explorer.inspection.growth import Growth
from explorer.mechanisms import DAFEntropy, trip_mechanisms
from explorer.releases.flows import flows
from explorer.releases.places import branch
from explorer.trips.truth import exact_flows
from explorer.views.flows import SURE, UNSURE
from tests.app import acts
from tests.app.acts import Browser
from tests.app.press import download, draw_release, press, put
from tests.app.trips import town
from tests.app.trips.town import SIDE, pictures, same, trips


def words(view) -> str:
    """What is to be read below ``view``, without markup."""
    return html.unescape(re.sub("<[^>]*>", "", acts.words(view))).strip()


@pytest.fixture(autouse=True)
def few_runs(monkeypatch) -> None:
    """Intervals from two runs: how good they are is tested where they are simulated."""
    for module in ("mappage.readout", "trips.flows", "trips.comparison"):
        monkeypatch.setattr(f"explorer.app.{module}.RUNS", 2)


@pytest.fixture
def page() -> Trips:
    return town.page()


def said(page) -> str:
    """What is to be read in the panel that is open."""
    return acts.words(page.explain.open.view)


# Rows and maps.


@pytest.mark.parametrize("names", [("from", "to"), ("from", "via", "to")])
def test_there_is_a_map_for_each_place_and_a_gap_means_anywhere(names) -> None:
    k, matrix = len(names), trips(len(names))
    page = Trips(matrix, mechanism="daf-entropy")
    assert len(page.maps.views) == k
    assert page.rectangles.places == names
    page.rectangles.select([])
    acts.drag(page.maps.views[k - 1].figure, (-2000, -2000, 1000, 1000))
    assert page.rectangles.selected == [2]
    assert np.isnan(page.rectangles.boxes[2, : k - 1]).all()
    acts.drag(page.maps.views[0].figure, (-3000, -3000, 0, 0))
    assert len(page.rectangles) == 3, "both boxes belong to one row"
    np.testing.assert_allclose(page.screen.answers.true, exact(matrix, page.rectangles.boxes))


def test_the_maps_count_the_trips_of_the_selected_row(page) -> None:
    page.rectangles.replace([[(-3000, -3000, 1000, 500), (-1000, -800, 2000, 1500)]], ["Q2"])
    page.rectangles.select([0])
    page.boxes_changed()
    cells = page.screen.data.matrix.domain.to_cells(page.rectangles.boxes)[0]
    heads = [words(head) for head in page.maps.heads]
    assert heads == ["From where trips to Q2 begin", "To where trips from Q2 end"]
    # What is inside the box of the row on the last map is the answer to the row.
    counts = page.screen.data.matrix.place_counts(1, cells)
    (low_row, low_col), (high_row, high_col) = cells[0, 2:], cells[1, 2:]
    rows = cols = np.arange(SIDE)
    part_rows = np.clip(np.minimum(rows + 1, high_row) - np.maximum(rows, low_row), 0, 1)
    part_cols = np.clip(np.minimum(cols + 1, high_col) - np.maximum(cols, low_col), 0, 1)
    assert part_rows @ counts @ part_cols == pytest.approx(page.screen.answers.true[0])
    page.state.put(focus="all")
    assert [words(head) for head in page.maps.heads][1] == "To where all trips end"


def test_where_persons_are_protected_answers_are_shares() -> None:
    page = Trips("madeup", bound=5, side=32)
    assert "of all trips by the private answer" in words(page.readout.answer)
    shown = page.table.widget.value
    matrix, boxes = page.parts.data.matrix, page.rectangles.boxes
    true = 100 * exact(matrix.unclipped, boxes) / matrix.unclipped.total
    np.testing.assert_allclose(shown["true %"], true, atol=0.006)
    answers = page.readout.causes.complete(page.screen).answers
    counted = 100 * exact(matrix, boxes, counted=True) * matrix.lattice / matrix.total
    np.testing.assert_allclose(answers.clipping, counted - true, atol=1e-9)
    total = answers.noise + answers.uniformity + answers.clipping
    np.testing.assert_allclose(total, answers.difference)
    assert "(at most 5 per person, by weight)" in words(page.readout.about)
    page.state.put(bound=0)
    assert "private" in page.table.widget.value.columns


def test_other_places_bring_other_maps_and_rows(monkeypatch) -> None:
    plain = replace(trip_sets()["madeup"], key="plain", title="Plain trips", user=None)
    known = {**trip_sets(), "plain": replace(plain, places=("o", "d"))}
    monkeypatch.setattr("explorer.cities.trip_sets.trip_sets", lambda: known)
    page = Trips("madeup", side=16, mechanism="uniform")
    page.state.put(places="o,s1,d")
    assert page.rectangles.places == ("from", "via", "to")
    assert page.screen.boxes.shape == (2, 3, 4)
    page.state.put(places="o,s2,d")
    assert "has no place 's2'" in page.message.sentence
    assert page.state.places == "o,s1,d"
    page.state.put(city="plain")
    assert page.parts.data.city == ("plain", 16, 0, "o,d")
    assert page.message.sentence.startswith("Plain trips has no such stop")
    with pytest.raises(InputError, match="two places or more"):
        Trips(TripMatrix.from_coordinates([[1, 1]], [4]))


def test_own_trips_are_read_on_a_declared_extent_and_counted_anew(page) -> None:
    rng, form = np.random.default_rng(3), page.upload
    table = pd.DataFrame(
        {
            f"{place}_{axis}": rng.normal(middle, 0.01, 400)
            for place in ("o", "s1", "s2", "d")
            for axis, middle in (("lon", 2.35), ("lat", 48.85))
        }
    ).assign(n=3)
    form.lon.value, form.lat.value, form.width.value = 2.35, 48.85, 8.0
    for places, column, total in (("o,s1,d", "", 400), ("o,s1,s2,d", "n", 1200)):
        form.places.value, form.weight_column.value = places, column
        assert ("50 times epsilon" in form.about_unit.object) == bool(column)
        form.file.param.update(value=table.to_csv(index=False).encode(), filename="trips.csv")
        press(form, "Load these trips")
        assert ("name it as the weight column" in page.message.sentence) == (not column)
        assert page.parts.data.matrix.total == total
        page.state.put(side=16)
        assert page.parts.data.matrix.shape == (16,) * 2 * len(page.maps.views)
    assert page.rectangles.places == ("from", "via s1", "via s2", "to")
    form.places.value = "o"
    form.file.param.update(value=b"x", filename="trips.csv")
    press(form, "Load these trips")
    assert "A trip has two or more places here" in page.message.sentence
    assert page.parts.data.matrix.total == 1200


def test_what_could_not_be_published_is_no_preview_either() -> None:
    page = Trips("madeup")
    page.state.put(mechanism="identity")
    assert "Identity would publish 16,777,216 numbers" in page.message.sentence
    assert page.screen.drawn.mechanism == "gravity"


# How it was cut.


@pytest.fixture
def opened(page) -> Trips:
    page.explain.choice.value = "Built"
    return page


def test_it_opens_at_the_end_and_only_outlines_the_leaf(opened) -> None:
    screen, cut = opened.screen, opened.explain.open.cut
    tree, leaf = screen.drawn.tree, screen.branch.leaf
    assert cut.at_end
    assert cut.node.number == leaf
    assert tree.fan_out[leaf] == 0
    assert f"After {cut.depth} of {cut.depth} cuts" in said(opened)
    assert "Budget: 1 of 1 spent so far" in said(opened)
    assert same(pictures(opened), [each.bytes for each in screen.pictures])
    edges = screen.release.domain.from_cells(np.array([[tree.lower[leaf], tree.upper[leaf]]]))
    outlines = [mark.node.data[edge] for mark in opened.maps.marks for edge in ("x0", "y0")]
    np.testing.assert_allclose(np.ravel(outlines), edges.reshape(2, 4)[:, :2].ravel(), rtol=1e-6)


def test_a_level_is_the_release_cut_off_there_on_every_map(opened) -> None:
    put(opened, "Number of cuts shown", 3)
    screen, cut = opened.screen, opened.explain.open.cut
    growth = Growth(screen.release)
    grown = growth.at(int(growth.level_ends[3]))
    assert same(pictures(opened), [each.bytes for each in screen.paint(grown, screen.cell)[0]])
    # The branch of the cut tree is that of the whole tree, shortened.
    short = branch(screen.drawn.tree, screen.cell, 3)
    assert cut.node.number == short.leaf
    assert cut.node.count == short.count == screen.drawn.tree.value[short.leaf]
    answer = grown.answer(screen.boxes[:1]).value[0]
    assert f"Q1 would be answered with {answer:,.0f}" in said(opened)
    opened.state.put(epsilon=0.5)
    assert "After 3 of" in said(opened)
    Browser(opened.table.widget).select([1])
    assert "on the way to Q2" in said(opened)


def test_the_branch_narrows_down_and_holds_the_exact_counts_of_its_pieces(opened) -> None:
    cut, screen = opened.explain.open.cut, opened.screen
    tree, counts = screen.release.tree, screen.data.matrix
    for above, node in zip(cut.nodes, cut.nodes[1:], strict=False):
        assert node.parent == above.number
        assert np.all(np.array(node.lower) >= above.lower)
        assert np.all(np.array(node.upper) <= above.upper)
        assert np.all((node.lower <= screen.cell) & (screen.cell < node.upper))
    path = [node.number for node in cut.nodes]
    assert cut.truth.nodes.tolist() == counts.count(tree.lower[path], tree.upper[path]).tolist()
    assert cut.truth.nodes[0] == counts.total
    known = replace(cut, cuts=2)
    for words_of in (say.about_answer, say.levels_table):
        assert "tru" in words_of(known)
        assert "tru" not in words_of(replace(known, truth=None))


@pytest.fixture(scope="module")
def any_page():
    return town.page()


@pytest.mark.parametrize("key", trip_mechanisms())
def test_every_mechanism_says_why_and_a_path_spends_its_epsilon(any_page, key) -> None:
    any_page.state.put(mechanism=key)
    screen = any_page.screen
    end = compute_cut(CutJob(screen, None, "Q1"))
    spent = []
    for cuts in range(end.depth + 1):
        cut = compute_cut(CutJob(screen, cuts, "Q1", end))
        assert (cut.cuts, cut.node.number) == (cuts, screen.branch.path[cuts])
        assert cut.node.decision.kind != "unknown"
        assert cut.node.decision.verdict[1:] in say.about_piece(cut)
        spent.append(sum(part for _, part in cut.spent()))
    assert spent == sorted(spent)
    # Shares are rounded down to units of 10^-12.
    assert spent[-1] == pytest.approx(1.0, abs=1e-9)


def test_it_plays_from_the_start_to_the_end_and_gives_the_maps_back(opened) -> None:
    panel, seen = opened.explain.open, []
    panel.level.param.watch(lambda event: seen.append(event.new), "value")
    own = pictures(opened)
    press(opened, "Play")
    assert seen == list(range(panel.cut.depth + 1))
    assert same(pictures(opened), own)
    press(opened, "Step back")
    assert not same(pictures(opened), own)
    opened.explain.choice.value = OFF
    assert same(pictures(opened), own)


# Other previews.


@pytest.mark.parametrize("places", [2, 3])
def test_runs_answer_rows_with_gaps_and_lie_on_all_maps(places) -> None:
    page = town.page(places=places)
    page.explain.choice.value = "Runs"
    put(page, "Number of runs", 10)
    Browser(page.table.widget).select([])
    press(page, "Draw previews")
    boxes, matrix, own = page.rectangles.boxes, page.screen.data.matrix, pictures(page)
    assert np.isnan(boxes).any()
    answers = np.array(list(repeats(matrix, DAFEntropy(epsilon=1.0), boxes, 10)))
    for i, figure in enumerate(page.explain.open.figures[:2]):
        np.testing.assert_allclose(figure.dots.data["answer"], answers[:, i])
        assert figure.line.data["x"] == [exact(matrix, boxes)[i]]
        assert figure.here.data["x"] == pytest.approx([page.screen.answers.private[i]])
    put(page, "Run on the map", 4)
    release = one_run(matrix, DAFEntropy(epsilon=1.0), 3)
    assert same(pictures(page), [each.bytes for each in page.screen.paint(release)[0]])
    assert "Run 4 of 10: a preview with other random noise" in page.maps.below.object
    page.explain.choice.value = OFF
    assert same(pictures(page), own)


# Flows between zones, and all mechanisms compared.


@pytest.fixture
def panel(page):
    page.explain.choice.value = "Flows"
    return page.explain.open


def test_the_largest_flow_is_said_and_all_are_drawn(page, panel) -> None:
    every = flows(page.screen.release, 8)
    first = every.largest(1, loops=False)
    start = every.origins.labels[first.origin[0]]
    stop = every.destinations.labels[first.destination[0]]
    assert f"from zone {start} to zone {stop}: {first.value[0]:,.0f} ±" in said(page)
    true = exact_flows(page.screen.data.matrix, every.origins, every.destinations, (0, 1))
    assert f"in truth {true[first.origin[0], first.destination[0]]:,.0f}" in said(page)
    drawn = panel.found.every.largest(50, loops=False)
    drawn = drawn.select(drawn.value > 0)
    arcs, middles = panel.map.arcs.data, panel.found.every.origins.centres
    ends = [[xs[0], ys[0], xs[-1], ys[-1]] for xs, ys in zip(arcs["xs"], arcs["ys"], strict=True)]
    expected = np.hstack([middles[drawn.origin], middles[drawn.destination]])[::-1]
    np.testing.assert_allclose(ends, expected)
    assert [*arcs["colour"]] == np.where(drawn.holds_zero, UNSURE, SURE)[::-1].tolist()
    counts = panel.matrix.source.data["count"][0]
    np.testing.assert_allclose(counts, panel.found.every.matrix(), rtol=1e-6)


def test_a_zone_that_is_clicked_shows_what_leaves_it(panel) -> None:
    x, y = panel.found.every.origins.centres[18]
    panel.tapped(x, y)
    assert (panel.found.choice.direction, panel.found.choice.zone) == ("outgoing", 18)
    assert set(panel.found.drawn.origin) <= {18}
    panel.tapped(float("nan"), "x")
    panel.tapped(1e9, 1e9)
    assert panel.found.choice.zone == 18
    put(panel, "Flows", "incoming")
    assert set(panel.found.drawn.destination) == {panel.found.choice.zone}


def test_zones_with_counts_of_their_own_are_a_setting_where_they_fit(page) -> None:
    page.state.put(mechanism="gravity")
    page.explain.choice.value = "Flows"
    panel = page.explain.open
    put(panel, "Zones of a place", 4)
    press(panel, "Give these zones counts of their own")
    assert page.state.parameter("zones") == page.screen.drawn.parameters["zones"] == 4
    press(panel, "Take these zones' own counts back")
    assert page.state.parameter("zones") is None
    three = Trips(trips(3))
    three.explain.choice.value = "Flows"
    put(three.explain.open, "Zones of a place", 16)
    press(three.explain.open, "Give these zones counts of their own")
    assert "16,777,216 flows" in three.message.sentence
    assert three.state.parameter("zones") is None


def test_flows_and_zones_are_saved_as_flow_maps_read_them(
    page, panel, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "spends.sqlite3"))
    assert not any(save.visible for save in panel.saves), "a preview is not handed out"
    with pytest.raises(param.Skip):
        panel.saves[0].callback()
    assert "A preview is not private" in page.message.sentence
    draw_release(page)
    table, zones = (
        list(csv.DictReader(io.StringIO(download(panel, f"Save {what} as CSV").decode())))
        for what in ("flows", "zones")
    )
    assert list(table[0]) == ["origin", "dest", "count", "half_width"]
    assert len(table) == 4096
    assert {row["origin"] for row in table} == {row["id"] for row in zones}


def test_all_mechanisms_are_compared_only_when_asked(page) -> None:
    page.explain.choice.value = "Compared"
    panel = page.explain.open
    assert panel.found is None
    press(panel, "Compare all mechanisms")
    rows = panel.found.rows
    assert {"Gravity", "DAF-Entropy", "EUG"} <= {row.title for row in rows}
    assert [row.overall for row in rows] == sorted(row.overall for row in rows)
    assert f"over all kinds {rows[0].title} is off least" in said(page)
    page.state.put(epsilon=0.3)
    assert "The settings have changed since" in said(page)
