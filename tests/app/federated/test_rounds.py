"""Rounds on the page: stepped, played, marked, and told in a sentence and a table."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.app.curator.explain import OFF
from explorer.app.federated.round_frame import FrameJob, compute_frame, drowned_in_noise
from explorer.app.federated.round_sentences import off_after
from explorer.errors import InputError
from explorer.releases.quarters import separate
from explorer.views.rounds import Marked, boxes_of
from tests.app import press
from tests.app.federated import people


@pytest.fixture
def page():
    return people.new_page()


def right(page) -> np.ndarray:
    return page.maps.right.image.data["image"][0]


def outlined(page) -> int:
    return len(page.maps.round_marks.split.data["x0"])


def test_rounds_are_stepped_with_cells_that_were_divided_outlined(page) -> None:
    panel, release = page.explain.open, page.screen.release
    last = len(release.heard)
    assert panel.round.value == panel.round.end == last
    assert panel.buttons["To the end"].disabled
    assert np.shares_memory(right(page), page.screen.right_bytes)
    assert outlined(page) == 0
    # It opens on what is on the map; a step forward from there begins anew.
    press.press(panel, "Step forward")
    assert panel.round.value == 1
    assert outlined(page) == len(release.heard[0].split) > 0
    assert f"{len(release.heard[0].split)} cells were divided after it" in press.text(page)
    assert "After round 1 of" in press.text(page)
    first = right(page).copy()
    press.press(panel, "Step forward")
    assert not np.array_equal(right(page), first)
    assert f"Round 2 of {last}: {release.heard[1].people:,} people" in press.text(page)
    panel.round.value = 1
    np.testing.assert_array_equal(right(page), first)
    press.press(panel, "Play")
    assert panel.round.value == last
    assert np.shares_memory(right(page), page.screen.right_bytes)
    press.press(panel, "Play")
    assert panel.frame.number == last, "played again from the first to the last"
    page.explain.choice.value = OFF
    assert outlined(page) == 0
    assert not page.maps.round_marks.grey.data["image"]


def test_the_map_after_a_round_is_the_release_replayed(page) -> None:
    screen = page.screen
    frame = compute_frame(FrameJob(screen, 2, grey=False))
    again = screen.release.replay(2)
    np.testing.assert_array_equal(frame.release.density(), again.density())
    off = np.abs(again.density() - people.counts().counts).sum() / people.PEOPLE
    assert frame.error == pytest.approx(off)
    assert f"off by {off:.2f} per person" in off_after(frame)
    assert frame.marks.grey is None
    # Round by round the map comes closer.
    errors = [compute_frame(FrameJob(screen, n, grey=False)).error for n in (1, 2, frame.last)]
    assert errors == sorted(errors, reverse=True)


def test_grey_lies_where_a_sum_holds_less_than_its_noise(page) -> None:
    screen = page.screen
    frame = compute_frame(FrameJob(screen, 1, grey=True))
    heard = screen.release.heard[0]
    grey, grid, view = frame.marks.grey, screen.data.grid, screen.view
    drowned = drowned_in_noise(frame.release, heard)
    assert frame.drowned == np.count_nonzero(drowned) > 0
    # Least squares move a count by less than that.
    assert not np.any(drowned & (heard.sums > 5 * heard.noise))
    assert np.all(drowned[heard.sums < -heard.noise])
    keys = heard.tree.keys[heard.tree.open]
    boxes = boxes_of(keys, grid)
    for box, below in zip(boxes, drowned, strict=True):
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        column = int((x - view.x0) / (view.x1 - view.x0) * view.width)
        row = int((y - view.y0) / (view.y1 - view.y0) * view.height)
        assert grey[row, column] == below
    # The switch and the state follow each other.
    switch = "Stripes where noise exceeds the count"
    press.put(page, switch, False)
    assert not page.state.grey
    assert not page.maps.round_marks.grey.data["image"]
    page.state.put(grey=True)
    assert press.find(page, switch).value
    assert page.maps.round_marks.grey.data["image"]


def test_cells_of_keys_tile_the_grid_and_stay_on_it() -> None:
    grid = people.counts().grid
    level, code = 3, np.arange(64)
    boxes = boxes_of(code | 1 << 2 * level, grid)
    assert (boxes[:, 2] - boxes[:, 0]) @ (boxes[:, 3] - boxes[:, 1]) == pytest.approx(
        grid.width * grid.height
    )
    column, row = separate(np.int64(37))
    x0, y0, _, _ = grid.bounds
    np.testing.assert_allclose(boxes[37, :2], [x0 + column * 1000, y0 + row * 1000])
    from explorer import Grid

    odd = Grid.around(2.35, 48.85, 8000, shape=(48, 48))
    there = boxes_of(code | 1 << 2 * level, odd)
    assert len(there) == 36, "of a square of 64 x 64 the grid fills 6 by 6 cells of 8"


def test_algorithm_2_pays_with_epsilon_and_gives_cells_up() -> None:
    page = people.new_page(algorithm="paper")
    panel, release = page.explain.open, page.screen.release
    assert "Everyone pays for every round" in press.text(page)
    with_loss = next(n for n, row in enumerate(release.heard, 1) if len(row.collapsed))
    panel.round.value = with_loss
    assert len(page.maps.round_marks.gone.data["x0"]) > 0
    assert "given up" in press.text(page)
    assert "booked for all" in press.text(page)


def test_an_algorithm_without_trees_has_its_end_only() -> None:
    page = people.new_page(algorithm="hierarchical")
    panel = page.explain.open
    assert "map at its end only" in press.text(page)
    assert all(panel.buttons[name].disabled for name in ("To the start", "Play", "To the end"))
    assert panel.round.disabled


def test_a_round_that_does_not_exist_is_refused(page) -> None:
    before = page.explain.open.frame
    page.explain.open.round.value = 99
    assert "Round: choose from 1 to" in press.text(page)
    assert page.explain.open.frame is before
    with pytest.raises(InputError):
        page.screen.release.replay(0)


def test_marks_leave_out_what_nobody_could_see(page) -> None:
    heard, screen = page.screen.release.heard[-1], page.screen
    keys = heard.tree.keys[heard.tree.open]
    marked = Marked.of(heard.tree, keys, keys[:0], None, screen.data.grid, screen.view)
    assert len(marked.split) == len(keys) <= 3_000
    assert len(marked.gone) == 0
