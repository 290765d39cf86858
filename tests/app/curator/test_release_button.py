"""Drawn releases: booked, asked for twice, kept while previews come and go, shown again."""

import io
from pathlib import Path

import numpy as np
import pytest

from explorer import Release
from explorer.app import Explore
from explorer.app.curator.data import own_city
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.ledger import Ledger

HALF = 5 * 10**11


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "spends.sqlite3"))
    monkeypatch.delenv("EXPLORER_EPSILON_CAP", raising=False)
    grid = Grid.around(2.35, 48.85, 8000, shape=32)
    matrix = FrequencyMatrix.from_array(np.random.default_rng(4).poisson(9, (32, 32)), grid)
    return Explore(matrix, mechanism="uniform", epsilon=0.5)


def spent(page) -> int:
    return Ledger().spent(page._data.matrix.key)


def said(page) -> str:
    return page.message._text.object


def read(file: io.BytesIO, tmp_path: Path) -> Release:
    path = tmp_path / "read.parquet"
    path.write_bytes(file.getvalue())
    return Release.load(path)


def test_a_draw_is_booked_once_and_what_is_spent_is_said(page) -> None:
    page.state.put(epsilon=0.6)
    page.state.put(epsilon=0.5)
    assert spent(page) == 0, "previews are free"
    page.desk.press()
    assert spent(page) == HALF
    assert "epsilon 0.5 so far" in said(page)
    page._zoom(0.5)
    page.state.put(right="difference")
    assert spent(page) == HALF


def test_beyond_the_cap_a_sentence_and_everything_stays(page, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.7")
    page.desk.press()
    assert "0.2 is left" in said(page)
    first = page.screen.release
    page.draw_release()
    assert "cap of 0.7" in said(page)
    assert spent(page) == HALF
    assert page.screen.release is first
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "5")
    page._zoom(0.5)
    assert page.screen.release is first, "a zoom must not draw what was refused"
    assert spent(page) == HALF


def test_a_refused_first_draw_leaves_the_preview(page, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.1")
    page.desk.press()
    assert "nothing was drawn" in said(page)
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "5")
    page._zoom(0.5)
    assert page.screen.release.preview
    assert not page.drawer.save.visible


def test_a_second_draw_asks_for_a_second_press(page) -> None:
    page.desk.press()
    first = page.screen.release
    page.desk.press()
    assert "This spends epsilon 0.5 once more: press again" in said(page)
    assert page.screen.release is first
    page.state.put(epsilon=0.25)
    page.desk.press()
    assert "epsilon 0.25 once more" in said(page), "other settings are asked about anew"
    assert spent(page) == HALF
    page.desk.press()
    assert spent(page) == HALF * 3 // 2
    assert page.screen.release.epsilon == 0.25
    assert not page.screen.release.preview


def test_a_moved_slider_loses_no_release(page, tmp_path) -> None:
    page.desk.press()
    drawn = page.screen.release
    page.state.put(mechanism="ug", epsilon=2.0)
    page.state.set_parameter("grid_size", 3)
    assert page.screen.release.preview
    assert page.drawer.save.visible
    assert page.drawer.again.visible
    np.testing.assert_array_equal(read(page.desk.saved(), tmp_path).counts, drawn.counts)
    page._again()
    assert page.screen.release is drawn
    assert (page.state.mechanism, page.state.epsilon) == ("uniform", 0.5)
    assert page.drawer.mechanism.value == "uniform"
    assert not page.drawer.again.visible
    page._zoom(0.5)
    page.state.put(right="difference")
    assert page.screen.release is drawn
    assert spent(page) == HALF


def test_a_kept_release_brings_its_map_back(page) -> None:
    page.desk.press()
    drawn, first = page.screen.release, page._data
    other = own_city(FrequencyMatrix.from_array(np.ones((8, 8), int)))
    page._use(other)
    assert page.screen.release.preview
    page._again()
    assert page.screen.release is drawn
    assert page.screen.data is page._data is first
    assert spent(page) == HALF


def test_before_any_draw_there_is_nothing_to_show_again(page) -> None:
    page._again()
    assert "draw one first" in said(page)
