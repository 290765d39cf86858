"""The replay on the page, without a browser: steps, cuts, player, and the map given back."""

import asyncio
import re

import numpy as np
import pytest

from explorer import all_mechanisms, exact
from explorer.app import Explore
from explorer.app.curator.explain import OFF
from explorer.app.explore.replay_frame import FrameJob, Place, compute_frame
from explorer.app.explore.replay_sentences import about_step, caption
from explorer.app.kit.labels import PREVIEW
from explorer.grid.grid import Grid
from explorer.inspection.growth import Growth
from explorer.points.matrix import FrequencyMatrix
from tests.app.acts import Browser, control, words
from tests.helpers import city

MATRIX = FrequencyMatrix.from_array(
    city(people=60_000).counts, Grid.around(2.35, 48.85, 8000, shape=64)
)


@pytest.fixture
def page() -> Explore:
    return opened(Explore(MATRIX, mechanism="htf", epsilon=1.0))


def opened(page: Explore) -> Explore:
    page.explain.choice.value = "Replay"
    return page


def said(page: Explore) -> str:
    return words(page.explain.open.view)


def pieces(page: Explore) -> int:
    return len(page.maps.right.lines.boxes.data_source.data["x0"])


def right(page: Explore) -> np.ndarray:
    # What is sent is a view of it, which knows how it is packed.
    return page.maps.right.image.data["image"][0].base


def press(page: Explore, label: str) -> None:
    page.explain.open.buttons[label].param.trigger("clicks")


def test_it_opens_at_the_end_and_changes_nothing_on_the_maps(page) -> None:
    release = page.screen.release
    assert f"{release.n_leaves:,} pieces, and none is cut any more" in said(page)
    assert "epsilon spent so far 1 of 1" in said(page)
    assert right(page) is page.screen.right_bytes
    height = page.explain.open.height
    assert height.value == height.end == release.tree.depth.max()
    assert not page.explain.open.player.playing


def test_a_height_shows_its_pieces_on_the_map_and_its_answers_in_the_table(page) -> None:
    page.explain.open.height.value = 4
    growth = Growth(page.screen.release)
    cut = growth.at(int(growth.level_ends[4]))
    assert f"Level 4 of {growth.levels}: {cut.n_leaves} pieces" in said(page)
    assert pieces(page) == cut.n_leaves
    assert right(page) is not page.screen.right_bytes
    assert f"Height 4 of {growth.levels} of a preview, not private" in page.maps.heads[1].object
    assert "Height 4" in page.maps.right.figure.html_attributes["aria-label"]
    cells = re.findall(r"<td>([^<]*)</td>", said(page))
    boxes = page.rectangles.boxes
    true, private = exact(MATRIX, boxes), cut.answer(boxes).value
    assert [cells[0], cells[5]] == [f"{value:,.0f}" for value in true]
    assert [cells[1], cells[6]] == [f"{value:,.0f}" for value in private]
    assert page.explain.open.split.value == growth.level_ends[4]


def test_split_by_split_and_back(page) -> None:
    replay = page.explain.open
    replay.by.value = "split"
    press(page, "To the start")
    assert "Level 0" in said(page)
    assert "1 piece, 0 stopped, 1 still to be cut" in said(page)
    for step in (1, 2, 3):
        press(page, "Step forward")
        assert replay.split.value == step
    assert "split 2 of 2" in said(page) or "Level 2" in said(page)
    press(page, "Step back")
    assert replay.frame.step == 2
    replay.by.value = "level"
    press(page, "Step back")
    assert replay.frame.step == 1
    press(page, "To the end")
    assert right(page) is page.screen.right_bytes


def test_playing_goes_level_by_level_from_the_start_to_the_end(page) -> None:
    replay = page.explain.open
    steps = []
    replay.split.param.watch(lambda event: steps.append(event.new), "value")
    press(page, "Play")
    assert steps == [int(end) for end in replay.frame.growth.level_ends]
    assert replay.buttons["Play"].label == "Play"
    steps.clear()
    replay.by.value = "split"
    press(page, "Play")
    growth = replay.frame.growth
    assert steps[0] == 0
    assert steps[-1] == growth.n_splits
    assert set(map(int, growth.level_ends)) <= set(steps)
    assert len(steps) <= 25 * growth.levels


def test_the_budget_bar_fills_up(page) -> None:
    replay = page.explain.open
    for height in (0, 3, replay.height.end):
        replay.height.value = height
        spent = sum(part for _, part in replay.frame.growth.spent(replay.frame.step))
        found = re.search(r"Budget: ([\d.]+) of 1 spent", said(page))
        assert float(found[1]) == pytest.approx(spent, rel=0.01)


def test_closing_gives_the_map_back(page) -> None:
    page.explain.open.height.value = 2
    page.explain.choice.value = OFF
    assert right(page) is page.screen.right_bytes
    assert PREVIEW in page.maps.heads[1].object
    assert pieces(page) == len(page.screen.partition.boxes["x0"])
    opened(page)
    assert "none is cut any more" in said(page)


def test_another_release_keeps_the_height(page) -> None:
    page.explain.open.height.value = 3
    page.state.put(epsilon=0.5)
    assert '<p class="summary" role="status">Level 3 of' in said(page)
    assert "of 0.5." in said(page)
    assert right(page) is not page.screen.right_bytes
    press(page, "To the end")
    page.state.put(epsilon=0.2)
    assert "none is cut any more" in said(page)
    assert right(page) is page.screen.right_bytes


def test_another_release_stops_the_player(page) -> None:
    player = page.explain.open.player

    async def visit() -> None:
        press(page, "Play")
        assert player.playing
        page.state.put(epsilon=0.5)
        while player.playing:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(visit(), 60))
    assert page.screen.release.epsilon == 0.5
    assert not page.explain.open.frame.at_end


def test_a_zoom_keeps_the_step_and_draws_it_anew(page) -> None:
    page.explain.open.height.value = 3
    before = right(page)
    control(page.body, "Zoom in").clicks += 1
    assert page.explain.open.frame.step == page.explain.open.frame.growth.level_ends[3]
    assert right(page) is not before
    assert right(page) is not page.screen.right_bytes
    page.state.put(right="difference")
    assert "Height 3" in page.maps.heads[1].object


def test_only_the_selected_boxes_stand_in_the_table(page) -> None:
    Browser(page.table.widget).select([1])
    table = said(page)
    assert ">Q2<" in table
    assert ">Q1<" not in table
    assert "Only the 1 selected of 2 boxes." in table


@pytest.mark.parametrize("wrong", [-1, 10**9])
def test_a_height_that_does_not_exist_is_refused(page, wrong) -> None:
    page.explain.open.height.value = wrong
    assert "Show the tree up to level: choose from 0 to" in words(page.message.view)
    assert "none is cut any more" in said(page)


@pytest.mark.parametrize("key", list(all_mechanisms()))
def test_every_mechanism_can_be_replayed(key) -> None:
    page = opened(Explore(MATRIX, mechanism=key, epsilon=0.7))
    press(page, "To the start")
    growth = page.explain.open.frame.growth
    for _ in range(growth.levels):
        press(page, "Step forward")
        assert f"Level {growth.level(page.explain.open.frame.step)} of" in said(page)
    assert page.explain.open.frame.at_end
    assert "epsilon spent so far 0.7 of 0.7" in said(page)


def test_a_map_of_one_piece_has_nothing_to_play() -> None:
    page = opened(Explore(MATRIX, mechanism="uniform"))
    assert "Level 0 of 0: 1 piece, and it is not cut" in said(page)
    replay = page.explain.open
    assert replay.height.disabled
    assert replay.split.disabled
    assert replay.buttons["Play"].disabled


def test_what_is_still_right_is_used_again(page) -> None:
    replay = page.explain.open
    replay.height.value = 4
    old = replay.frame
    job = FrameJob(page.screen, old.place, old.boxes, old)
    again = compute_frame(job)
    assert again.growth is old.growth
    assert again.cut is old.cut
    assert again.picture is old.picture
    other = compute_frame(FrameJob(page.screen, Place("step", 2), old.boxes, old))
    assert other.growth is old.growth
    assert other.picture is not old.picture


def test_inside_a_level_the_sentence_names_the_split(page) -> None:
    growth = Growth(page.screen.release)
    step = int(growth.level_ends[3]) + 1
    tree, node = growth.release.tree, growth.split_node(step)
    rows, cols = tree.upper[node] - tree.lower[node]
    last = growth.level_ends[4] - growth.level_ends[3]
    start = f"Level 4 of {growth.levels}, split 1 of {last}: {rows} × {cols} cells became 2 pieces"
    assert about_step(growth, step).startswith(start)
    assert caption(growth, step) == f"Split {step} of a preview, not private"


def test_a_frame_that_comes_late_does_not_pull_the_sliders_back(page) -> None:
    replay = page.explain.open
    heights = []

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
    assert "Level 2 of" in said(page)
    assert replay.split.value == replay.frame.growth.level_ends[2]


def test_a_piece_that_ag_counts_twice_is_said_to_be_counted_again() -> None:
    growth = Growth(all_mechanisms()["ag"](epsilon=1.0).release(MATRIX, rng=1))
    fan_out = growth.release.tree.fan_out
    step = next(k for k in range(2, growth.n_splits) if fan_out[growth.split_node(k)] == 1)
    assert "cells were counted again: " in about_step(growth, step)


def test_while_another_picture_stands_there_nothing_is_said_of_it_that_is_the_whole_tree_s(
    page,
) -> None:
    def tags() -> list[str]:
        return page.maps.boxes[0].tags[1].data["text"]

    whole, figures = list(tags()), page.readout.strip.object
    assert all("  " in each for each in whole)
    press(page, "To the start")
    assert tags() == list(page.rectangles.names)
    assert "Of the whole release" in page.readout.strip.object
    # The truth is still the truth.
    assert all("  " in each for each in page.maps.boxes[0].tags[0].data["text"])
    press(page, "To the end")
    assert tags() == whole
    assert page.readout.strip.object == figures


def test_a_step_forward_from_where_it_opens_begins_anew(page) -> None:
    assert not page.explain.open.buttons["Step forward"].disabled
    press(page, "Step forward")
    assert "Level 0" in said(page)
    press(page, "Step forward")
    assert "Level 1" in said(page)
