"""The Learn page without a browser: lessons, experiments, own counts, refusals."""

import re

import numpy as np
import pytest

from explorer import FrequencyMatrix, Grid, exact
from explorer.app import Learn
from explorer.app.kit.prose import signed
from explorer.app.pages import PAGES
from explorer.errors import InputError
from explorer.teaching.places import on_map
from tests.app import press


@pytest.fixture(scope="module")
def matrix():
    grid = Grid.around(2.35, 48.85, 8000, shape=64, name="Test <town>")
    rng = np.random.default_rng(9)
    counts = rng.poisson(rng.gamma(0.4, 30, (64, 64)))
    return FrequencyMatrix.from_array(counts, grid)


def opened(matrix, experiment):
    page = Learn(matrix, lesson=experiment)
    return page, page.card.experiment


def words(bench) -> str:
    return bench.said.object


def test_lessons_open_one_at_a_time_and_mark_their_place(matrix) -> None:
    page = Learn(matrix)
    assert page.number == 0
    assert press.find(page, "Lesson before").disabled
    press.press(page, "Next lesson")
    assert page.number == 1
    assert [b.variant for b in page.contents.buttons].index("contained") == 1
    page.open(9)
    assert press.find(page, "Next lesson").disabled
    page.open(99)
    assert page.number == 9
    assert "Contains exact counts" in page.__panel__()[0][0].object


def test_an_answer_is_not_sent_before_it_is_asked_for(matrix) -> None:
    page = Learn(matrix, lesson="02_averaging")
    assert page.card.answer.object == ""
    page.card.reveal.clicks += 1
    assert "drawn <strong>once</strong> and stored" in page.card.answer.object
    assert page.card.reveal.label == "Hide the answer"
    page.card.reveal.clicks += 1
    assert page.card.answer.object == ""


def test_neighbours_exact_curves_histogram_and_odds(matrix) -> None:
    _page, bench = opened(matrix, "neighbours")
    assert "log-ratio of the two distributions is 0.5, and epsilon is 0.5" in words(bench)
    assert "1.65" in bench.odds.object
    bench.settings.put(mechanism="quadtree", epsilon=0.6)
    assert "log-ratio of the two distributions is 0.1, and epsilon is 0.6" in words(bench)
    bench.settings.put(mechanism="htf", runs=100)
    assert "its cuts depend on the data" in words(bench)
    assert not press.shows(bench, bench.chart.figures[0])
    bench.start()
    assert "over 100 previews a side" in words(bench)
    assert press.shows(bench, bench.chart.figures[0])
    bench.settings.put(target="box")
    assert all(each.visible for each in bench.where.fields.values())


def test_someone_leaves_only_where_somebody_is(matrix) -> None:
    page, bench = opened(matrix, "neighbours")
    row, col = np.argwhere(matrix.counts == 0)[0]
    bench.settings.put(change="remove", place=((col + 0.5) / 64, (row + 0.5) / 64))
    assert "Nobody is in this cell" in page.message.sentence


def test_averaging_adds_up_and_starts_over(matrix) -> None:
    _page, bench = opened(matrix, "averaging")
    bench.start(1)
    assert "One map by UG" in words(bench)
    bench.start(10)
    bench.start(100)
    assert len(bench.found) == 111
    assert bench.found.spent == 55.5
    assert "The redraws spent epsilon 55.5 together" in words(bench)
    assert "one release, asked 111" in bench.ledger.object
    bench.start(5000)
    assert len(bench.found) == 111
    bench.settings.put(epsilon=0.1)
    assert bench.found is None
    assert not press.shows(bench, bench.chart.figure)


def test_tolerance_says_epsilon_with_its_interval_or_why_there_is_none(matrix) -> None:
    _page, bench = opened(matrix, "tolerance")
    bench.settings.put(mechanism="uniform", box=(0.0, 0.0, 1.0, 1.0), percent=0.1)
    bench.start()
    found = re.search(r"from epsilon ([\d.]+) on.* lies in ([\d.]+) to ([\d.]+)", words(bench))
    epsilon, low, high = map(float, found.groups())
    assert low <= epsilon <= high
    # One draw over everybody: within t of N people at 2 q^(t + 1) / (1 + q) <= 0.05.
    assert low <= np.log(40) / (0.001 * matrix.total) * 1.3
    bench.settings.put(box=(0.1, 0.1, 0.2, 0.15), percent=1.0)
    bench.start()
    assert "does not answer this box" in words(bench)
    assert "{" not in words(bench)


def test_threshold_gives_the_true_count_away_in_both_ways(matrix) -> None:
    _page, bench = opened(matrix, "threshold")
    bench.settings.put(cells=32)
    for _ in range(4):
        bench.pick()
        found = bench.found
        assert np.isnan(found.shown[found.cell])
        true = found.counts[found.cell]
        assert f"= {true:,}, exactly the true count of {true:,}" in words(bench)
    bench.settings.put(attack="days")
    bench.pick()
    assert bench.found.counts[bench.found.cell] == 10
    assert "holds 9 people" in words(bench)
    assert "true is 9" in words(bench)


def test_ranking_says_honestly_whether_the_order_turns(matrix) -> None:
    _page, bench = opened(matrix, "ranking")
    bench.settings.put(mechanisms=["identity", "uniform"], questions="sq10", seeds=3, epsilon=10.0)
    bench.start()
    assert "the order of these mechanisms is the same by both metrics" in words(bench)
    assert "identity" in bench.twin.object.lower()
    bench.settings.put(seeds=4)
    assert not press.shows(bench, bench.chart.figure)


def test_postprocessing_shows_the_bias_of_what_is_switched_on(matrix) -> None:
    _page, bench = opened(matrix, "postprocessing")
    bench.settings.put(runs=50)
    bench.start()
    assert "no bias has been found" in words(bench)
    bench.settings.put(non_negative=True)
    assert "more than chance explains" in words(bench)
    (true,) = exact(matrix, [on_map(bench.settings.box, matrix.grid)])
    assert bench.found.true == true
    assert bench.chart.source.data["size"][2] == 14


def test_a_typed_place_moves_the_ring_and_a_bad_one_is_undone(matrix) -> None:
    page, bench = opened(matrix, "neighbours")
    east = bench.where.fields["east"]
    east.value = -3.9
    assert bench.settings.place[0] == pytest.approx(0.0125)
    assert bench.where.map.place.data["x"] == [pytest.approx(-3937.5)]
    before = east.value
    east.value = 99.0
    assert "outside the map" in page.message.sentence
    assert east.value == before
    bench.where.tapped("x", None)
    bench.where.tapped(float("nan"), 1.0)
    assert bench.settings.place[0] == pytest.approx(0.0125)


def test_a_dragged_box_is_taken_and_a_click_is_none(matrix) -> None:
    _page, bench = opened(matrix, "averaging")
    bench.where.drawn((-4000, -4000, 0, 0))
    assert bench.settings.box == (0.0, 0.0, 0.5, 0.5)
    for bad in ((0, 0, 1, 1), (None, 0, 1, 1), ("a", 0, 1, 1), (0, 0, float("inf"), 9e9)):
        bench.where.drawn(bad)
    assert bench.settings.box[2] == 0.5
    edge = bench.where.fields["box west"]
    edge.value = 2.0
    assert bench.settings.box == (0.0, 0.0, 0.5, 0.5)
    assert edge.value == -4.0


def test_a_teachers_lessons_are_there_bad_ones_are_said_and_nothing_executes(
    matrix, tmp_path
) -> None:
    evil = "<img src=x onerror=alert(1)>"
    good = (
        f"---\ntitle: Mine {evil}\ngoal: x {evil}\nminutes: 1\nexperiment: scenario\n"
        f"scenario:\n  city: madeup\n  title: 'A {evil}'\n---\n## Steps\n{evil}\n\n"
        "[a](javascript:alert(1)) ![b](https://example.org/x.png)\n"
        f"## Question\n{evil}\n## Answer\n{evil}\n"
    )
    (tmp_path / "00_mine.md").write_text(good)
    (tmp_path / "99_bad.md").write_text(good.replace("minutes: 1", "minutes: many"))
    page = Learn(matrix, folder=str(tmp_path), links=PAGES)
    assert len(page.lessons) == 11
    assert "99_bad.md" in page.notices.object
    page.card.reveal.clicks += 1
    sent = [pane.object for pane in page.card.view.select(lambda m: hasattr(m, "object"))]
    assert sent
    for text in sent:
        assert "<img" not in text
        assert 'href="javascript' not in text
    link = next(text for text in sent if "./explore?s=" in text)
    assert 'rel="noopener"' in link
    assert "<" not in page.contents.buttons[0].label


def test_what_cannot_be_opened_is_one_sentence(matrix) -> None:
    with pytest.raises(InputError, match="There is no city"):
        Learn("nowhere")
    with pytest.raises(InputError, match="There is no lesson"):
        Learn(matrix, lesson="nothing")
    with pytest.raises(InputError, match="Grid is 7: choose one of 256, 512, 1024"):
        Learn(matrix, side=7)


def test_a_button_before_the_city_is_there_says_so(matrix) -> None:
    page, bench = opened(matrix, "averaging")
    bench.data = None
    bench.button("x", lambda: bench.start(1)).clicks += 1
    assert "still being read" in page.message.sentence or bench.found is None


def test_signs_are_written_as_people_do() -> None:
    assert [signed(-1234.5), signed(0.04, 1), signed(12)] == ["−1,234", "0.0", "+12"]
