"""What a browser remembers: theme, sections, help; a cookie may hold anything."""

import json

import panel as pn
import pytest

from explorer.app import Explore
from explorer.app.kit import ui
from explorer.app.kit.page import AppPage
from explorer.app.kit.remembered import COOKIE, Remembered, read


def orders(remembered: Remembered) -> list[str]:
    """What the browser was last told to remember."""
    (order,) = remembered.view.objects
    return json.loads(order.value)["said"]


@pytest.fixture
def sent(monkeypatch):
    """What lets the next page's browser send a cookie."""

    def send(value) -> None:
        cookies = property(lambda _self: {COOKIE: value})
        monkeypatch.setattr(type(pn.state), "cookies", cookies)

    return send


@pytest.mark.parametrize(
    "text", ["", "theme", "theme:LIGHT", "a:b:c", "<script>:on", ":|:|:", "x" * 9000]
)
def test_what_is_no_pair_of_short_words_is_nothing(text) -> None:
    assert read(text) == {}


@pytest.mark.parametrize("damaged", [None, 5, b"theme:light"])
def test_what_is_no_text_is_nothing(sent, damaged) -> None:
    sent(damaged)
    assert Remembered().get("theme") == ""


def test_a_section_and_a_switch_stand_as_they_were_left(sent) -> None:
    sent("own:open|explain:on")
    remembered = Remembered()
    section = ui.Section("Own", pn.Column())
    remembered.section("own", section)
    assert section.active == [0]
    section.active = []
    assert orders(remembered) == ["own", "closed"]


@pytest.mark.parametrize(("cookie", "dark"), [("", True), ("theme:light", False)])
def test_a_page_is_made_in_the_theme_that_was_chosen(sent, cookie, dark) -> None:
    sent(cookie)

    class Page(AppPage):
        KEY = TITLE = "Page"

    one = Page()
    one.body = pn.Column()
    page = one.page()
    assert page.dark_theme is dark
    page.dark_theme = not dark
    assert orders(one.remembered) == ["theme", "light" if dark else "dark"]


def test_explore_opens_with_what_was_open(sent) -> None:
    sent("explain:on|scenarios:open")
    page = Explore("madeup", side=256, mechanism="uniform")
    assert page.state.explain
    assert page.scenarios.section.active == [0]
    assert page.scenarios.preset.label == "Preset"
    page.state.put(explain=False)
    assert orders(page.remembered) == ["explain", "off"]
