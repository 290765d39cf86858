"""The Federated page, without a browser: rounds, sums, and the panels that explain them."""

import html
import math
import re

import numpy as np
import pytest

from explorer.app.curator.explain import OFF
from explorer.app.federated import algorithms
from explorer.app.federated.failing import about_shards, find_figures
from explorer.app.federated.rounds import FrameJob, compute_frame, drowned_in_noise, off_after
from explorer.app.federated.screen import people_of
from explorer.app.federated.server_saw import PEOPLE, masked_shard
from explorer.app.federated.smooth import FINEST, RUNS, _verdict, smoothed
from explorer.app.federated.thresholds import LevelsJob, judge
from explorer.errors import InputError
from explorer.evaluate.repeats import seed_of
from explorer.federated import calibration
from explorer.federated.asking import Asking, Protocol, Question
from explorer.federated.mechanism import ALGORITHMS, START, Federated
from explorer.points.truth import exact
from explorer.releases.quarters import KeyTree, level_of
from explorer.views.marks import boxes_of
from tests.app import press
from tests.app.federated import people

TICK = "Publish the exact number of people"


@pytest.fixture
def page():
    return people.new_page()


@pytest.fixture(scope="module")
def read():
    """A page that is only read."""
    return people.new_page()


def set_parameter(page, name: str, value) -> None:
    page.state.set_parameter(name, value)
    page.settings_changed()


def test_it_opens_with_one_sentence_on_what_the_server_saw_and_the_rounds(read) -> None:
    said = html.unescape(re.sub("<[^>]*>", "", read.readout.summary.object)).strip()
    release, boxes = read.screen.release, read.rectangles.boxes
    assert release.preview
    assert len(release.heard) > 2
    assert f"in {len(release.heard)} rounds the server saw masked vectors" in said
    assert "40,000 people (one vector each" in said
    true = exact(people.counts(), boxes)
    off = np.median(100 * np.abs(release.answer(boxes).value - true) / true)
    assert float(re.search(r"off by ([\d.]+) %", said)[1]) == pytest.approx(off, rel=0.01)
    assert read.explain.choice.value == "Rounds"
    # People are made once for all visitors.
    assert people_of(read.parts.data) is people_of(read.parts.data)
    same = Federated(shard=1_000, depth=6, mode="summed").release(people.counts(), rng=1)
    np.testing.assert_array_equal(same.density(), release.density())


def test_a_release_is_for_the_number_in_the_field_or_by_consent_the_exact_one() -> None:
    page = people.new_page(people=39_999)
    press.press(page.drawer, "Draw a release")
    refused = page.message.sentence
    assert "more people than the 39,999 declared" in refused
    assert press.priced(page.drawer) == ""
    assert refused in html.unescape(page.drawer.control("promise").object)
    page.pressed("p", False)
    assert page.drawer.control("promise").object == "", "it is exact"
    page.pressed("p", False)
    press.put(page.drawer, TICK, True)
    assert "protects the place of each person" in page.drawer.control("promise").object
    press.draw_release(page.drawer)
    drawn = page.screen.release
    assert (drawn.people_are_public, drawn.population) == (True, people.PEOPLE)
    assert drawn.facts["asked"] == 39_999
    assert drawn.parameters["mode"] == "ideal", "every person's own shares"
    press.put(page.drawer, TICK, False)
    set_parameter(page, "people", 41_000)
    press.press(page.drawer, "Draw a release")
    assert "41,000 people are declared to take part" in press.text(page.drawer)
    # A price does not hold for another promise.
    press.put(page.drawer, TICK, True)
    assert press.priced(page.drawer) == ""
    press.put(page.drawer, TICK, False)
    press.draw_release(page.drawer)
    drawn = page.screen.release
    assert (drawn.people_are_public, drawn.population) == (False, 41_000)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"people": None}, "would be known exactly from this release"),
        ({"algorithm": "sampling"}, "A sample without noise is not private"),
    ],
)
def test_what_is_not_private_is_no_release(choices, said) -> None:
    page = people.new_page(**choices)
    press.press(page.drawer, "Draw a release")
    if price := press.priced(page.drawer):
        press.press(page.drawer, price)
    assert said in press.text(page)
    assert page.screen.release.preview


def test_whom_a_release_protects_is_in_line_with_the_other_texts_of_the_drawer(read) -> None:
    promise = read.drawer.control("promise")
    assert "A release protects" in html.unescape(promise.object)
    assert promise.margin == read.drawer.counted.margin


def test_every_control_is_there_and_changes_the_rounds(page) -> None:
    press.press(page.drawer, "More settings")
    before = page.screen.release
    for label, name, value in (
        ("People", "people", 20_000),
        ("Shard", "shard", 500),
        ("Dropped", "dropped", 0.2),
        ("Corrupt", "corrupt", 0.1),
        ("Depth", "depth", 5),
        ("c", "c", 0.8),
        ("b", "b", 3.0),
    ):
        press.put(page.drawer, label, value)
        assert page.screen.release.parameters[name] == value
    assert page.screen.release.facts["asked"] == 20_000
    assert page.screen.release is not before
    for algorithm in ("paper", "mended", "flat", "adaptive grid"):
        press.put(page.drawer, "Algorithm", algorithm)
        assert page.screen.release.parameters["algorithm"] == algorithm
        assert re.search(r"Round \d+ of \d+:", press.text(page))
    drawn = page.screen.release
    set_parameter(page, "dropped", 0.6)
    set_parameter(page, "corrupt", 0.6)
    assert "nobody honest is left" in press.text(page)
    assert page.screen.release is drawn or page.screen.release.parameters["corrupt"] == 0.1


def test_automatic_c_and_b_stand_where_the_algorithms_own_are(page) -> None:
    press.press(page.drawer, "More settings")
    for algorithm, c, b in (("people", 0.6, 2.0), ("mended", 0.6, 3.0), ("paper", 0.1, 2.0)):
        press.put(page.drawer, "Algorithm", algorithm)
        assert press.find(page.drawer, "Automatic c").value
        assert press.find(page.drawer, "c").value == page.screen.release.facts["c"] == c
        assert press.find(page.drawer, "b").value == b
        assert page.screen.release.parameters["c"] is None
    press.put(page.drawer, "c", 0.3)
    assert not press.find(page.drawer, "Automatic c").value
    assert page.screen.release.facts["c"] == 0.3


def test_bits_are_chosen_overflow_is_shown_and_too_few_are_refused(page, monkeypatch) -> None:
    assert page.screen.release.rounds.overflow.isna().all()
    set_parameter(page, "bits", 16)
    release = page.screen.release
    assert set(release.rounds.bits) == {16}
    assert release.parameters["mode"] == "ideal", "one draw for all would hide what overflows"
    assert release.facts["overflow"] == 0
    set_parameter(page, "bits", 9)
    assert "9 bits a number are too few" in press.text(page)
    assert page.screen.release is release
    # As if noise never passed 1.
    monkeypatch.setattr(calibration, "lowest", lambda *_: 1)
    set_parameter(page, "bits", 10)
    overflow = page.screen.release.rounds.overflow.iloc[-1]
    assert overflow > 0
    assert f"{overflow:,} sums of shards did not fit their bits" in press.text(page)


# Rounds.


def right(page) -> np.ndarray:
    return page.maps.right.image.data["image"][0]


def test_rounds_are_stepped_with_cells_that_were_divided_outlined(page) -> None:
    def outlined() -> int:
        return len(page.maps.round_marks.split.data["x0"])

    panel, release = page.explain.open, page.screen.release
    last = len(release.heard)
    assert panel.round.value == panel.round.end == last
    assert np.shares_memory(right(page), page.screen.right_bytes)
    assert outlined() == 0
    # It opens on what is on the map; a step forward from there begins anew.
    press.press(panel, "Step forward")
    assert panel.round.value == 1
    assert outlined() == len(release.heard[0].split) > 0
    assert f"{len(release.heard[0].split)} cells were divided after it" in press.text(page)
    first = right(page).copy()
    press.press(panel, "Step forward")
    assert not np.array_equal(right(page), first)
    assert f"Round 2 of {last}: {release.heard[1].people:,} people" in press.text(page)
    press.press(panel, "Play")
    assert panel.round.value == last
    assert np.shares_memory(right(page), page.screen.right_bytes)
    panel.round.value = 99
    assert "Round: choose from 1 to" in press.text(page)
    page.explain.choice.value = OFF
    assert outlined() == 0
    assert not page.maps.round_marks.grey.data["image"]


def test_the_map_after_a_round_is_the_release_replayed(read) -> None:
    frame, again = compute_frame(FrameJob(read.screen, 2, grey=False)), read.release.replay(2)
    np.testing.assert_array_equal(frame.release.density(), again.density())
    off = np.abs(again.density() - people.counts().counts).sum() / people.PEOPLE
    assert frame.error == pytest.approx(off)
    assert f"off by {off:.2f} per person" in off_after(frame)
    # Round by round the map comes closer.
    errors = [compute_frame(FrameJob(read.screen, n, grey=False)).error for n in (1, 2, frame.last)]
    assert errors == sorted(errors, reverse=True)
    with pytest.raises(InputError):
        read.release.replay(0)


def test_grey_lies_where_a_sum_holds_less_than_its_noise(page) -> None:
    screen = page.screen
    frame, heard = compute_frame(FrameJob(screen, 1, grey=True)), screen.release.heard[0]
    grey, grid, view = frame.marks.grey, screen.data.grid, screen.view
    drowned = drowned_in_noise(frame.release, heard)
    assert frame.drowned == np.count_nonzero(drowned) > 0
    # Least squares move a count by less than that.
    assert not np.any(drowned & (heard.sums > 5 * heard.noise))
    assert np.all(drowned[heard.sums < -heard.noise])
    boxes = boxes_of(heard.tree.keys[heard.tree.open], grid)
    columns = ((boxes[:, 0] + boxes[:, 2]) / 2 - view.x0) / (view.x1 - view.x0) * view.width
    rows = ((boxes[:, 1] + boxes[:, 3]) / 2 - view.y0) / (view.y1 - view.y0) * view.height
    np.testing.assert_array_equal(grey[rows.astype(int), columns.astype(int)], drowned)
    # The switch and the state follow each other.
    switch = "Stripes where noise exceeds the count"
    press.put(page, switch, False)
    assert not page.state.grey
    assert not page.maps.round_marks.grey.data["image"]
    page.state.put(grey=True)
    assert press.find(page, switch).value
    assert page.maps.round_marks.grey.data["image"]


def test_algorithm_2_pays_with_epsilon_and_gives_cells_up() -> None:
    page = people.new_page(algorithm="paper")
    heard = page.screen.release.heard
    assert "Everyone pays for every round" in press.text(page)
    page.explain.open.round.value = next(n for n, row in enumerate(heard, 1) if len(row.collapsed))
    assert len(page.maps.round_marks.gone.data["x0"]) > 0
    assert "given up" in press.text(page)
    assert "booked for all" in press.text(page)


# Thresholds, dropouts and bytes, and the comparison of all algorithms.


@pytest.mark.parametrize("algorithm", ["people", "mended", "paper"])
def test_what_was_divided_lies_above_its_threshold(algorithm) -> None:
    screen = people.new_page(algorithm=algorithm).screen
    rounds = screen.release.heard
    for number in range(1, len(rounds)):
        heard = rounds[number - 1]
        found = judge(LevelsJob(screen, number))
        limits = {each.number: each.threshold for each in found.levels}
        split = set(heard.split.tolist())
        for key, total in zip(heard.tree.keys[heard.tree.open], heard.sums, strict=True):
            level = int(level_of(np.array([key]))[0])
            above = total > limits[level] and level < heard.tree.depth
            assert above == (int(key) in split), (algorithm, number, level, total, limits[level])
        assert sum(each.divided for each in found.levels) == len(split)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sigma": "both rounds"}, "twice the noise"),
        ({"sigma": "one shard", "k": 3.0}, "times the noise"),
        ({"threshold": 50.0}, "however large the noise is"),
    ],
)
def test_the_threshold_is_that_of_the_options(options, said) -> None:
    page = people.new_page(algorithm="paper", **options)
    for number, heard in enumerate(page.screen.release.heard[:-1], 1):
        found = judge(LevelsJob(page.screen, number))
        level = heard.tree.level[heard.tree.open]
        above = heard.sums > found.levels[0].threshold
        assert found.fixed == ("threshold" in options)
        divided = heard.tree.keys[heard.tree.open][above & (level < heard.tree.depth)]
        assert divided.tolist() == heard.split.tolist()
        assert len({each.threshold for each in found.levels}) == 1
    page.explain.choice.value = "Thresholds"
    assert said in press.text(page.explain.open)


def test_streets_are_divided_and_parks_are_not(page) -> None:
    page.explain.choice.value = "Thresholds"
    panel = page.explain.open
    assert "as in parks" in press.text(panel)
    assert panel.found.number == panel.found.last - 1
    panel.round.value = 1
    even = min(panel.found.levels, key=lambda each: each.unevenness)
    assert even.factor >= math.sqrt(15 / (4 * 0.75))
    label = panel.chart.figure.html_attributes["aria-label"]
    assert label in press.text(panel), "the chart and the sentence say the same"
    set_parameter(page, "algorithm", "flat")
    assert "divides nothing by a threshold" in press.text(panel)
    assert not press.shows(panel, panel.chart.figure)


def test_dropouts_cost_what_the_formula_says_and_are_refused_in_time(page) -> None:
    lost = find_figures(page.screen).dropouts
    assert (lost.size, lost.fewest, lost.honest) == (1_000, 862, 812)
    assert lost.refused == pytest.approx(13.8)
    at = np.argmin(np.abs(lost.part - 0.3))
    assert lost.cost[at] == calibration.epsilon_of_fewer(1.0, float(lost.part[at]))
    assert lost.floor[at] == pytest.approx(math.log((1 - lost.part[at]) / lost.part[at]))
    # Up to the line the chosen epsilon holds.
    assert np.all(lost.cost[lost.dropped <= lost.refused] == 1.0)
    page.explain.choice.value = "Failing"
    assert "no sum if more than 13.8 % drop out" in press.text(page.explain.open)


def test_bytes_are_those_of_the_rounds_and_large_shards_have_less_noise(read) -> None:
    found = find_figures(read.screen)
    assert found.rounds[1].tolist() == [row.bytes_up for row in read.screen.release.heard]
    assert found.sent[0] < found.sent[-1]
    vector = calibration.bytes_up(found.even, found.bits, 0) - 64
    assert vector == pytest.approx(found.protocol, abs=2)
    noise = [each.noise for each in found.sizes]
    assert noise == sorted(noise, reverse=True)
    # 400 shards of 100 against one of all: their number is under a root.
    assert noise[0] / noise[-1] == pytest.approx(20, rel=0.15)
    times = re.search(r"in 1 shard of 40,000 .*: ([\d.]+) times less", about_shards(found))
    assert float(times[1]) == pytest.approx(noise[0] / noise[-1], rel=0.05)


def test_all_algorithms_are_compared_when_asked(page, monkeypatch) -> None:
    monkeypatch.setattr(algorithms, "RUNS", 1)
    page.explain.choice.value = "Algorithms"
    panel = page.explain.open
    assert panel.found is None
    press.press(panel, "Compare algorithms")
    rows = panel.found.rows
    assert {row.key for row in rows} == set(ALGORITHMS) == set(algorithms.TITLES)
    assert [row.mse for row in rows] == sorted(row.mse for row in rows)
    by_key = {row.key: row for row in rows}
    assert by_key["people"].mse < by_key["paper"].mse
    assert "not private" in press.text(panel)
    page.state.put(epsilon=0.5)
    assert "The settings have changed since" in press.text(panel)


# What the server saw.


def test_the_sum_behind_masks_is_the_sum_without_them_and_a_vector_tells_nothing(read) -> None:
    found = masked_shard(read.screen)
    everybody = people_of(read.parts.data)
    ideal = Asking(everybody, Protocol(PEOPLE, 0.1, 0.05), 10**12, 1, "ideal", PEOPLE)
    tree = KeyTree.even(6, 3)
    plain = ideal.ask(Question(tree.runs[0], tree.run_index, tree.v, 6), PEOPLE, 10**12)
    np.testing.assert_array_equal(found.decoded, plain.values)
    assert found.sums.answered == plain.answered < PEOPLE
    np.testing.assert_array_equal(found.seen.total, found.decoded % 2**found.sums.bits)
    # Noise of a standard deviation of sqrt(64) sd in the whole.
    assert abs(found.decoded.sum() - plain.answered) < 5 * 8 * found.sums.sd
    assert found.seen.vector.sum() == found.seen.vector.max() == 1
    assert np.count_nonzero(found.seen.share) < 16
    # 64 numbers of 8 bits: two equal rows would have a chance of 2^-512.
    assert len(np.unique(found.seen.masked)) > 32
    assert not np.array_equal(found.seen.masked, found.seen.masked_sum)


def test_a_shard_in_which_nobody_honest_is_sure_is_refused() -> None:
    page = people.new_page(dropped=0.5, corrupt=0.35, shard=2_000)
    with pytest.raises(InputError, match="nobody"):
        masked_shard(page.screen)
    page.explain.choice.value = "Server"
    assert "make shards larger" in press.text(page)


# A city against a smooth map.


def test_one_click_compares_rounds_and_even_grids_on_both_maps(page) -> None:
    page.explain.choice.value = "Smooth"
    found, counts = page.explain.open.found, people.counts()

    def error(run: int, **options) -> float:
        made = Federated(shard=1_000, mode="summed", **options).release(counts, seed_of(run))
        return float(np.mean(((made.density() - counts.counts) / people.PEOPLE) ** 2))

    mse = [error(run, depth=6) for run in range(RUNS)]
    assert found.city.refined.mse == pytest.approx(np.mean(mse))
    assert [each.level for each in found.city.even] == list(range(START, min(FINEST, 6) + 1))
    assert found.city.even[5 - START].mse == pytest.approx(error(0, depth=5, algorithm="flat"))
    # Half of the town lives on a street one cell wide.
    assert found.city.ratio > 1.5 * found.smooth.ratio
    text = press.text(page)
    assert f"has {found.city.ratio:.2f} times the squared error of refining by rounds" in text
    assert f"has {found.smooth.ratio:.2f} times that of rounds" in text
    assert _verdict(found.city.ratio, found.smooth.ratio) in text
    page.state.put(epsilon=0.5)
    assert "The settings have changed since" in press.text(page)
    smooth = smoothed(counts.counts)
    assert smooth.sum() == counts.counts.sum()
    assert smooth.min() >= 0
    assert smooth.max() < 0.2 * counts.counts.max()
