"""The flow from choices to screens: previews are replaced, drawings are kept and made once."""

import numpy as np
import pytest

from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.data import own_city
from explorer.app.curator.drawing import Flow
from explorer.app.state.explore import ExploreState
from explorer.app.work.worker import Superseded
from explorer.errors import InputError
from explorer.points.matrix import FrequencyMatrix
from explorer.views.viewport import Viewport


class Visit:
    """A flow with notes of what it showed; without an event loop it works at once."""

    def __init__(self) -> None:
        counts = np.random.default_rng(1).poisson(5, (32, 32))
        self.data = own_city(FrequencyMatrix.from_array(counts))
        self.state = ExploreState(epsilon=1.0)
        self.rectangles = Rectangles(self.data.grid)
        self.screens: list = []
        self.said: list[str] = []
        self.view = Viewport.whole(self.data.grid, 64)
        self.flow = Flow(
            self.state, self.rectangles, self.screens.append, self.said.append, lambda _: None
        )

    def use(self) -> None:
        self.flow.use(self.data, lambda: self.view)
        self.flow.run_now()

    @property
    def release(self):
        return self.screens[-1].release


@pytest.fixture
def visit():
    one = Visit()
    one.use()
    return one


def test_before_a_city_is_there_it_says_to_wait() -> None:
    visit = Visit()
    visit.flow.request()
    assert "wait" in visit.said[0]
    visit.flow.viewed()
    assert len(visit.said) == 1


def test_a_view_is_drawn_once_however_often_it_is_reported(visit) -> None:
    for _ in range(3):
        visit.flow.viewed()
    assert len(visit.screens) == 1
    visit.view = Viewport.of((0, 0, 8, 8), 64, 64, visit.data.grid)
    for _ in range(3):
        visit.flow.viewed()
    assert len(visit.screens) == 2
    assert visit.screens[1].release is visit.screens[0].release


def test_a_drawing_is_kept_through_looks_and_views_and_ends_with_a_setting(visit) -> None:
    visit.flow.draw()
    drawn = visit.release
    assert not drawn.preview
    visit.state.put(right="difference")
    visit.flow.request()
    visit.view = Viewport.of((0, 0, 8, 8), 64, 64, visit.data.grid)
    visit.flow.viewed()
    assert visit.release is drawn
    visit.flow.draw()
    assert visit.release is not drawn
    assert not visit.release.preview
    visit.flow.preview()
    assert visit.release.preview


def test_another_city_starts_with_a_preview(visit) -> None:
    visit.flow.draw()
    visit.use()
    assert visit.release.preview


def test_a_long_preview_stops_when_settings_change_and_a_drawing_does_not(visit, monkeypatch):
    flow = visit.flow

    def interrupted(job, progress):
        # Somebody moves a slider while this is being computed.
        flow._version += 1
        progress(0.5)
        return job

    monkeypatch.setattr("explorer.app.curator.drawing.compute", interrupted)
    with pytest.raises(Superseded):
        flow._compute(flow._job())
    flow._drawing = 1
    assert flow._compute(flow._job()).draw == 1


def test_a_refused_setting_is_a_sentence(visit, monkeypatch) -> None:
    def refuse(_job, _progress):
        raise InputError("Too small.")

    monkeypatch.setattr("explorer.app.curator.drawing.compute", refuse)
    visit.flow.preview()
    assert visit.said == ["Too small."]
    assert len(visit.screens) == 1
