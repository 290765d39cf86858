"""Maps of a light page are light, unless somebody chose their colours."""

from __future__ import annotations

import pytest

from explorer.app import Compare, Country, Explore
from explorer.app.curator import map_page
from explorer.app.curator.parts import PageParts
from explorer.scenario import Scenario


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """The theme that a browser remembers."""
    monkeypatch.setattr(map_page, "starts_dark", lambda: False)


@pytest.mark.usefixtures("light")
@pytest.mark.parametrize("kind", [Explore, Compare, Country])
def test_the_palette_follows_the_theme(kind) -> None:
    page = kind()
    assert page.state.palette == "paper"
    page.themed(dark=True)
    assert page.state.palette == "cividis"
    page.themed(dark=False)
    assert page.state.palette == "paper"


def test_a_dark_page_begins_as_ever_and_its_bars_follow() -> None:
    page = Explore("madeup", side=256)
    assert page.state.palette == "cividis"
    assert 'class="bar"' in page.maps.bars.panes[0].object
    page.themed(dark=False)
    assert 'class="bar light"' in page.maps.bars.panes[0].object


@pytest.mark.usefixtures("light")
def test_colours_that_somebody_chose_stay() -> None:
    page = Explore("madeup", side=256)
    page.state.put(palette="magma")
    for dark in (True, False):
        page.themed(dark)
        assert page.state.palette == "magma"
    assert Explore("madeup", side=256, palette="cividis").state.palette == "cividis"


@pytest.mark.usefixtures("light")
def test_those_of_a_scenario_stay() -> None:
    page = Explore(scenario=Scenario(side=256))
    assert page.state.palette == "cividis"
    page.themed(dark=True)
    page.themed(dark=False)
    assert page.state.palette == "cividis"


def test_a_city_is_called_by_its_title_or_its_key() -> None:
    page = Explore("madeup", side=256)
    parts: PageParts = page.parts
    title = next(title for title, key in parts.catalogue.items() if key == "madeup")
    assert parts.title_of("madeup") == title
    assert parts.title_of("elsewhere") == "elsewhere"


def test_the_palette_follows_the_theme_after_a_presentation() -> None:
    page = Explore("madeup", side=256)
    page.presenting.toggle()
    assert page.state.palette == "paper"
    page.themed(dark=True)
    assert page.state.palette == "paper", "a projector stays light"
    page.presenting.toggle()
    assert page.state.palette == "cividis"
    page.themed(dark=False)
    assert page.state.palette == "paper"
    page.presenting.toggle()
    page.themed(dark=True)
    page.presenting.toggle()
    assert page.state.palette == "cividis", "the theme changed during the presentation"


def test_colours_that_somebody_chose_come_back_after_a_presentation() -> None:
    page = Explore("madeup", side=256)
    page.state.put(palette="magma")
    page.presenting.toggle()
    page.presenting.toggle()
    page.themed(dark=False)
    assert page.state.palette == "magma"
    # Chosen while it was presented.
    page.presenting.toggle()
    page.state.put(palette="cividis")
    page.presenting.toggle()
    page.themed(dark=False)
    assert page.state.palette == "cividis"
