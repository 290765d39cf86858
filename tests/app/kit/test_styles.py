"""A browser keeps a style that is left out of an element's styles, so none is ever left out."""

import param
import pytest

from explorer.app import Compare, Country, Explore, Federated, Trips
from explorer.app.mappage.city_page import Waiting
from tests.app import press


@pytest.mark.parametrize("page", [Explore, Compare, Federated, Trips, Country])
def test_no_style_is_dropped_from_an_element(page) -> None:
    shown = page()
    lost: list[set[str]] = []

    def note(event: param.parameterized.Event) -> None:
        lost.append({*event.old} - {*event.new})

    for part in press.parts(shown):
        if "styles" in part.param:
            part.param.watch(note, "styles")
    waiting: Waiting = shown._waiting
    waiting.begin("one city", "another")
    waiting.end()
    for how in ("swipe", "all", "0", "1", "all"):
        shown.arrange(how)
    shown.make_room(True)
    shown.make_room(False)
    for key in ("p", "t", "p"):
        shown.pressed(key, False)
    assert not any(lost), lost
