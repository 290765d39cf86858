"""The two maps of the page: what is sent again and what is not, and what they are called."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.app.curator.data import own_city
from explorer.app.curator.maps import MapPair
from explorer.app.curator.screen import Job, Look, compute
from explorer.app.kit.labels import CURATOR, DRAWN, PREVIEW
from explorer.app.kit.map_tools import MapTools
from explorer.app.state.explore import ExploreState
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.ledger import Ledger
from explorer.views import palette


class Visit:
    """Two maps with notes of what they told."""

    def __init__(self) -> None:
        grid = Grid.around(2.35, 48.85, 8000, shape=32)
        counts = np.random.default_rng(3).poisson(9, (32, 32))
        self.state = ExploreState()
        self.views: list[int] = []
        self.drawn: list[tuple] = []
        self.maps = MapPair(self.state, grid, lambda: self.views.append(1), self.drawn.append)
        data = own_city(FrequencyMatrix.from_array(counts, grid))
        self.job = Job(data, HTF(epsilon=1.0), 1, 0, self.maps.viewport(), Look(), np.zeros((0, 4)))

    def show(self, **changes):
        screen = compute(replace(self.job, **changes))
        self.maps.show(screen)
        self.maps.caption(screen)
        self.job = replace(self.job, previous=screen)
        return screen


@pytest.fixture
def visit():
    return Visit()


def test_the_true_picture_is_sent_once_and_the_private_one_each_time(visit) -> None:
    visit.show()
    left, right = visit.maps.left.image.data, visit.maps.right.image.data
    visit.show(mechanism=HTF(epsilon=2.0))
    assert visit.maps.left.image.data is left
    assert visit.maps.right.image.data is not right


def test_the_exact_words_about_privacy_stand_above_the_maps(visit) -> None:
    visit.show()
    left, right = (pane.object for pane in visit.maps.heads)
    assert CURATOR.capitalize() in left
    assert PREVIEW in right
    visit.show(seed=None, draw=1, ledger=Ledger())
    assert DRAWN in visit.maps.heads[1].object
    assert PREVIEW not in visit.maps.heads[1].object


def test_a_scale_read_from_the_exact_data_says_so(visit) -> None:
    visit.show()
    assert "scale from the exact data" in visit.maps.bars.panes[0].object
    visit.show(look=Look(scale_from="release", scale="linear"))
    for bar in visit.maps.bars.panes:
        assert "linear, scale from the release" in bar.object


def test_the_difference_has_its_own_colours_and_its_own_bar(visit) -> None:
    visit.state.put(right="difference", palette="magma")
    visit.show(look=Look(right="difference"))
    assert tuple(visit.maps.left.mapper.palette) == palette.PALETTES["magma"]
    assert tuple(visit.maps.right.mapper.palette) == palette.DIFFERENCE
    left, right = (bar.object for bar in visit.maps.bars.panes)
    assert "Points per" in left
    assert "Private − true" in right
    assert "Difference" in visit.maps.heads[1].object


@pytest.mark.parametrize(
    ("on", "over", "left", "right"),
    [
        (True, "private", False, True),
        (True, "truth", True, False),
        (True, "both", True, True),
        (False, "both", False, False),
    ],
)
def test_the_partition_lies_where_it_was_asked_for(visit, on, over, left, right) -> None:
    visit.state.put(partition=on, partition_over=over)
    visit.maps.restyle()
    assert visit.maps.left.lines.boxes.visible is left
    assert visit.maps.right.lines.boxes.visible is right


def test_before_the_browser_has_told_its_size_the_whole_grid_is_drawn(visit) -> None:
    assert visit.maps.viewport().cells(visit.maps.grid) == (0, 0, 32, 32)


def test_zoom_and_back(visit) -> None:
    whole = visit.maps.ranges.bounds
    visit.maps.zoom(0.5)
    assert visit.maps.ranges.bounds == tuple(edge / 2 for edge in whole)
    visit.maps.zoom(0.0)
    assert visit.maps.ranges.bounds == whole


def test_on_a_phone_one_finger_can_scroll() -> None:
    state = ExploreState(drag="scroll")
    phone = MapTools(state, lambda _: None, lambda _: None, phone=True)
    assert "scroll" in phone.mode.options.values()
    desk = MapTools(ExploreState(), lambda _: None, lambda _: None, phone=False)
    assert "scroll" not in desk.mode.options.values()
    desk.mode.value = "move"
