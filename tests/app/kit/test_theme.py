"""Both themes are readable: contrast of text and of the primary colour, maps apart."""

import panel as pn
import pytest

from explorer.app.kit.page import AppPage
from explorer.app.kit.theme import THEME, first_paint


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_on_the_primary_colour_and_links_on_paper_are_readable(mode) -> None:
    palette = THEME[mode]["palette"]
    primary = palette["primary"]
    # WCAG 2.2 AA asks for 4.5 for text.
    assert contrast(primary["main"], primary["contrastText"]) >= 4.5
    assert contrast(primary["main"], palette["background"]["paper"]) >= 4.5
    assert contrast(primary["main"], palette["background"]["default"]) >= 4.5


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_bar_is_dark_because_its_title_is_white(mode) -> None:
    bar = THEME[mode]["components"]["MuiAppBar"]["styleOverrides"]["root"]
    assert contrast(bar["backgroundColor"], bar["color"]) >= 7


class Blank(AppPage):
    KEY, TITLE = "blank", "Blank"

    def __init__(self) -> None:
        super().__init__()
        self.body = pn.Column()


@pytest.mark.parametrize(
    ("asked", "dark"), [(b"light", False), (b"default", False), (b"dark", True), (b"<b>", True)]
)
def test_an_address_may_ask_for_a_theme(monkeypatch, asked, dark) -> None:
    given = property(lambda _self: {"theme": [asked]})
    monkeypatch.setattr(type(pn.state), "session_args", given)
    assert Blank().page().dark_theme is dark


def test_a_page_that_opens_says_its_name_and_shows_where_its_maps_will_be() -> None:
    sketch = first_paint(True, 'The "A" page', drawer=True, maps=2)
    assert 'content: "The A page"' in sketch
    assert sketch.count("linear-gradient") == 3
    assert "linear-gradient" not in first_paint(False, "A class")
