"""The panels below the maps of Explore: one leaf, all leaves, how it grew, all mechanisms."""

import asyncio
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from explorer import all_mechanisms, exact
from explorer.app import Explore
from explorer.app.curator.answers import answer_boxes, median_error
from explorer.app.curator.explain import OFF
from explorer.app.explore import leaf
from explorer.app.kit.labels import PREVIEW
from explorer.app.kit.numbers import percent
from explorer.grid.grid import Grid
from explorer.inspection import inspect, study_cut
from explorer.inspection.growth import Growth
from explorer.mechanisms import HTF
from explorer.points.matrix import FrequencyMatrix
from explorer.views.histogram import place
from tests.app.acts import Browser, drag, words
from tests.app.press import download, find, press, put, text
from tests.helpers import city

GRID = Grid.around(2.35, 48.85, 8000, shape=64)
MATRIX = FrequencyMatrix.from_array(city(people=60_000).counts, GRID)


def opened(panel: str, mechanism: str = "htf", epsilon: float = 1.0) -> Explore:
    page = Explore(MATRIX, mechanism=mechanism, epsilon=epsilon)
    page.explain.choice.value = panel
    return page


# One leaf.


@pytest.fixture
def leaf_page() -> Explore:
    return opened("Leaf")


def outline(page: Explore) -> list[float]:
    return [float(page.maps.marks[0].node.data[edge][0]) for edge in ("x0", "y0", "x1", "y1")]


def test_a_click_outlines_the_leaf_and_says_why_it_ended(leaf_page) -> None:
    leaf = leaf_page.leaf
    leaf.tapped(-2000.0, 1500.0)
    release = leaf_page.screen.release
    boxes = release.boxes()
    inside = (boxes[:, 0] <= -2000) & (boxes[:, 2] > -2000)
    inside &= (boxes[:, 1] <= 1500) & (boxes[:, 3] > 1500)
    (number,) = np.flatnonzero(inside)
    assert outline(leaf_page) == pytest.approx(boxes[number].tolist(), abs=1e-3)
    node, card = inspect(release, int(release.tree.leaves[number])), words(leaf.view)
    for said in (
        f"Leaf {number + 1:,} of {release.n_leaves:,}",
        node.decision.verdict.replace(">", "&gt;"),
        f"{node.count:,.1f}".replace("-", "−"),
        f"{MATRIX.count(np.array([node.lower]), np.array([node.upper]))[0]:,}",
        "exact: for the curator only",
        *(f"{stage} <b>{part:.4g}</b>" for stage, part in node.spent),
    ):
        assert said in card
    for wrong in ((1e9, 0.0), (None, 2.0), ("x", 0.0), (float("nan"), 0.0)):
        leaf.tapped(*wrong)
        assert words(leaf.view) == card
    # Another release is looked at in the same place.
    leaf_page.state.put(epsilon=0.05)
    x0, y0, x1, y1 = inspect(leaf_page.screen.release, leaf.node).bounds
    assert x0 <= -2000 < x1
    assert y0 <= 1500 < y1


def test_the_tree_is_walked_and_numbers_or_places_are_typed(leaf_page) -> None:
    leaf, tree = leaf_page.leaf, leaf_page.screen.release.tree
    leaf.tapped(-2000.0, 1500.0)
    clicked = leaf.node
    leaf.steps["Parent"].clicks += 1
    assert leaf.node == tree.parent[clicked]
    leaf.steps["Child"].clicks += 1
    assert leaf.node == clicked
    leaf.steps["East"].clicks += 1
    assert leaf.node != clicked
    for typed, node in (("7.0", tree.leaves[6]), ("−2 1.5", clicked), ("-2.0;1.5", clicked)):
        leaf.entry.value = typed
        assert leaf.node == node
    for typed in ("0", "-3", "2.5", "99999999", "1e400", "a b", "1 2 3", "nan nan"):
        leaf.entry.value = typed
        assert leaf.node == clicked
        assert 'role="alert"' in words(leaf.view)
        assert leaf.entry.value != typed
    while leaf.node:
        leaf.steps["Parent"].clicks += 1
    leaf.steps["Parent"].clicks += 1
    assert "no parent" in words(leaf.view)


def test_an_inner_node_of_htf_has_its_curve_and_the_sentence_has_its_numbers(leaf_page) -> None:
    leaf = leaf_page.leaf
    while leaf.node:
        leaf.step("Parent")
    study, card = study_cut(MATRIX, leaf_page.screen.release, 0), words(leaf.view)
    np.testing.assert_allclose(leaf.chart.line.data["y"], study.costs)
    np.testing.assert_allclose(leaf.chart.seen.data["noisy"], study.noisy)
    for said in (
        f"{study.chosen:,}, exact cost {study.cost(study.chosen):,.0f} points",
        f"{study.best:,} with {study.cost(study.best):,.0f}",
        f"the best of {len(study.positions):,} cuts",
        f"looked at {len(study.looked_at)} candidates",
        f"deviation {study.noise_sd:,.0f}",
        leaf.chart.figure.html_attributes["aria-label"],
    ):
        assert said in card
    leaf_page.explain.choice.value = OFF
    assert len(leaf_page.maps.marks[0].node.data["x0"]) == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rule": "middle"}, "looks at no cost"),
        ({"rule": "all cuts"}, "only its choice is released"),
        ({"stored": False}, "not kept in files"),
        ({"noise_sd": float("nan")}, "allows one cut"),
        ({"rule": "middle half", "allowed": (9, 30)}, "candidates from 9 to 30"),
    ],
)
def test_what_is_missing_of_a_choice_of_a_cut_is_said(change, said) -> None:
    matrix = city((32, 40))
    study = study_cut(matrix, HTF(epsilon=0.5).release(matrix, rng=2), 0)
    assert said in leaf.costs(replace(study, **change))
    one = replace(study, positions=np.array([study.chosen]), costs=np.array([4.0]))
    assert "no other cut, so nothing was looked at and nothing paid" in leaf.costs(one)


# All leaves.


@pytest.fixture
def leaves_page() -> Explore:
    return opened("Leaves", epsilon=2.0)


def outlined(page) -> int:
    return len(page.maps.marks[0].chosen.data["x0"])


def test_leaves_are_filtered_in_table_map_and_file(leaves_page) -> None:
    panel, release = leaves_page.explain.open, leaves_page.screen.release
    assert release.n_leaves > 100
    assert panel.table.value["private"].tolist() == release.counts[:50].round(1).tolist()
    assert all(panel.table.value["why it ended"])
    press(panel, "Next 50")
    assert panel.table.value["leaf"].tolist()[0] == 51
    assert outlined(leaves_page) == 0, "all leaves are on the map anyway"
    depth = release.tree.depth[release.tree.leaves]
    deep = int(depth.max())
    put(panel, "Depth range", f"{deep} to {deep}")
    chosen = np.flatnonzero(depth == deep)
    assert set(panel.table.value["depth"]) == {deep}
    assert outlined(leaves_page) == len(chosen)
    saved = json.loads(download(panel, "Save leaves"))
    assert [each["properties"]["leaf"] for each in saved["features"]] == (chosen + 1).tolist()
    assert "EXACT" not in download(panel, "Save leaves").decode()
    assert "EXACT" in download(panel, "Save leaves with truth").decode()
    assert "exact" in find(panel, "Save leaves with truth").filename
    put(panel, "Depth range", "deep")
    assert "Write a filter as 3 to 7" in text(panel)
    press(panel, "All leaves")
    cells = np.prod(release.upper - release.lower, axis=1)
    low, high = float(place(np.array(1.5))), float(place(np.array(8.2)))
    drag(panel.histograms["cells"].figure, (low, 0, high, 1))
    assert panel.filters["cells"].value == "2 to 8"
    assert len(panel.found.rows) == ((cells >= 2) & (cells <= 8)).sum() == outlined(leaves_page)


def test_sorting_is_of_all_leaves_and_a_row_goes_to_its_leaf(leaves_page) -> None:
    panel, release = leaves_page.explain.open, leaves_page.screen.release
    put(panel, "Sort by", "private")
    put(panel, "Largest first", True)
    order = np.argsort(-release.counts, kind="stable")
    assert panel.table.value["leaf"].tolist() == (order[:50] + 1).tolist()
    Browser(panel.table).click(2)
    x0, y0, x1, y1 = release.boxes()[order[2]]
    left, bottom, right, top = leaves_page.maps.ranges.bounds
    assert left < x0 < x1 < right
    assert bottom < y0 < y1 < top
    put(panel, "Private range", "to 5")
    leaves_page.state.put(epsilon=0.7)
    assert panel.found.known.table.release is leaves_page.screen.release
    assert panel.filters["private"].value == "to 5"
    leaves_page.explain.choice.value = OFF
    assert outlined(leaves_page) == 0


# How it grew.


@pytest.fixture
def replay_page() -> Explore:
    return opened("Replay")


def said(page: Explore) -> str:
    return words(page.explain.open.view)


def right(page: Explore) -> np.ndarray:
    # What is sent is a view of it, which knows how it is packed.
    return page.maps.right.image.data["image"][0].base


def step(page: Explore, label: str) -> None:
    page.explain.open.buttons[label].param.trigger("clicks")


def test_a_height_shows_its_pieces_on_the_map_and_its_answers_in_the_table(replay_page) -> None:
    page = replay_page
    assert f"{page.screen.release.n_leaves:,} pieces, and none is cut any more" in said(page)
    assert right(page) is page.screen.right_bytes
    whole, replay = [*page.maps.boxes[0].tags[1].data["text"]], page.explain.open
    replay.height.value = 4
    growth = Growth(page.screen.release)
    cut = growth.at(int(growth.level_ends[4]))
    assert f"Level 4 of {growth.levels}: {cut.n_leaves} pieces" in said(page)
    assert len(page.maps.right.lines.boxes.data_source.data["x0"]) == cut.n_leaves
    assert f"Height 4 of {growth.levels} of a preview, not private" in page.maps.heads[1].object
    cells, boxes = re.findall(r"<td>([^<]*)</td>", said(page)), page.rectangles.boxes
    assert [cells[0], cells[5]] == [f"{value:,.0f}" for value in exact(MATRIX, boxes)]
    assert [cells[1], cells[6]] == [f"{value:,.0f}" for value in cut.answer(boxes).value]
    spent = sum(part for _, part in growth.spent(replay.frame.step))
    assert float(re.search(r"Budget: ([\d.]+) of 1 spent", said(page))[1]) == pytest.approx(
        spent, rel=0.01
    )
    # Nothing is said of this picture that is true of the whole tree.
    assert page.maps.boxes[0].tags[1].data["text"] == page.rectangles.names
    assert "Of the whole release" in page.readout.strip.object
    page.state.put(epsilon=0.5)
    assert '<p class="summary" role="status">Level 4 of' in said(page)
    page.state.put(epsilon=1.0)
    for wrong in (-1, 10**9):
        replay.height.value = wrong
        assert "Show the tree up to level: choose from 0 to" in words(page.message.view)
    page.explain.choice.value = OFF
    assert right(page) is page.screen.right_bytes
    assert PREVIEW in page.maps.heads[1].object
    assert page.maps.boxes[0].tags[1].data["text"] == whole


def test_playing_goes_level_by_level_from_the_start_to_the_end(replay_page) -> None:
    replay, steps = replay_page.explain.open, []
    replay.split.param.watch(lambda event: steps.append(event.new), "value")
    step(replay_page, "Play")
    growth = replay.frame.growth
    assert steps == [int(end) for end in growth.level_ends]
    assert replay.buttons["Play"].label == "Play"
    steps.clear()
    replay.by.value = "split"
    step(replay_page, "Play")
    assert (steps[0], steps[-1]) == (0, growth.n_splits)
    assert set(map(int, growth.level_ends)) <= set(steps)
    assert len(steps) <= 25 * growth.levels


@pytest.fixture(scope="module")
def any_page() -> Explore:
    return opened("Replay", epsilon=0.7)


@pytest.mark.parametrize("key", list(all_mechanisms()))
def test_every_mechanism_can_be_replayed_and_has_leaves(any_page, key) -> None:
    any_page.explain.choice.value = "Replay"
    any_page.state.put(mechanism=key)
    step(any_page, "To the start")
    growth = any_page.explain.open.frame.growth
    for _ in range(growth.levels):
        step(any_page, "Step forward")
        assert f"Level {growth.level(any_page.explain.open.frame.step)} of" in said(any_page)
    assert any_page.explain.open.frame.at_end
    assert "epsilon spent so far 0.7 of 0.7" in said(any_page)
    any_page.explain.choice.value = "Leaf"
    assert f"of {any_page.screen.release.n_leaves:,}" in said(any_page)
    assert "not told" not in said(any_page)


def test_a_frame_that_comes_late_does_not_pull_the_sliders_back(replay_page) -> None:
    replay, heights = replay_page.explain.open, []

    async def visit() -> None:
        replay.height.value = 2
        # The job has taken its question.
        await asyncio.sleep(0)
        replay.height.value = 5
        replay.height.param.watch(lambda event: heights.append(event.new), "value")
        await replay.job.wait()
        assert heights == []
        # Back to where the map was, which is a move too.
        replay.height.value = 2
        await replay.job.wait()

    asyncio.run(visit())
    assert heights == [2]
    assert replay.split.value == replay.frame.growth.level_ends[2]


# All mechanisms.


def test_every_mechanism_has_a_card_with_the_error_of_its_preview() -> None:
    page = opened("Gallery", mechanism="ug", epsilon=0.5)
    gallery, boxes = page.explain.open, page.rectangles.boxes
    assert set(gallery.cards) == set(all_mechanisms())
    for key, kind in all_mechanisms().items():
        release = kind(epsilon=0.5).release(MATRIX, rng=page.state.seed)
        off = percent(median_error(answer_boxes(release, MATRIX, boxes)))
        card = gallery.cards[key][1].object
        assert f"boxes off by {off}," in card
        assert ("(on the maps)" in card) == (key == "ug")
    page.state.put(epsilon=2.0)
    after = gallery.cards["htf"][1].object
    assert "At epsilon 2 " in gallery.said.object
    page.rectangles.remove(0)
    page.boxes_changed()
    assert gallery.cards["htf"][1].object != after
    press(page, "Use HTF")
    assert page.state.mechanism == "htf"
