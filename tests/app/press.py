"""What a person does on a page, by the names that stand on it: press, set, read, download."""

from __future__ import annotations

import html
import io
import json
import re
from typing import Any

import panel as pn
import pytest

from explorer.app.kit import ui
from explorer.app.kit.page import AppPage
from explorer.scenario import Scenario


def parts(page: Any) -> list[Any]:
    """All that stands on a page, or below a part of one; what is in its sections as well."""
    view = page
    if isinstance(page, AppPage):
        view = pn.Column(*page.sidebar, page.body)
    elif not isinstance(page, pn.viewable.Viewable):
        view = page.view
    open_sections(view)
    return view.select(lambda _each: True)


def open_sections(view: Any) -> None:
    """Open the closed sections of a view: what is in them is made then."""
    for section in view.select(ui.Section):
        if not section.active:
            section.active = [0]


def find(page: Any, name: str) -> Any:
    """The one control with this accessible name."""
    found = {id(each): each for each in parts(page) if getattr(each, "label", None) == name}
    assert len(found) == 1, f"{len(found)} controls are called {name!r}"
    return next(iter(found.values()))


def press(page: Any, name: str) -> None:
    """Press a button; one that is not offered cannot be pressed."""
    button = find(page, name)
    assert button.visible, f"{name!r} is not on the page"
    assert not button.disabled, f"{name!r} is disabled"
    button.clicks += 1


def draw_release(page: Any) -> None:
    """Press "Draw a release", then the button that says its price."""
    press(page, "Draw a release")
    press(page, priced(page))


def priced(page: Any) -> str:
    """What the button says that confirms a price; "" where none is asked about."""
    labels = [str(getattr(each, "label", None) or "") for each in parts(page)]
    return next((label for label in labels if label.startswith("Spend ")), "")


def put(page: Any, name: str, value: Any) -> None:
    """Set a control."""
    find(page, name).value = value


def send(control: Any, **values: Any) -> None:
    """What a client sends that is no browser: any value for any property."""
    control._process_events(values)


def download(page: Any, name: str) -> bytes:
    """The file that a button hands out."""
    button = find(page, name)
    assert button.visible, f"{name!r} is not on the page"
    file = button.callback()
    assert isinstance(file, io.BytesIO)
    return file.getvalue()


def hand_out(button: Any) -> None:
    """Click a button that hands out a file, as a browser does, also where no file can be made."""
    button._handle_click()


def shows(page: Any, model: Any) -> bool:
    """Whether the pane of a Bokeh model is on the page, none of what it stands in being hidden."""

    def below(each: Any) -> bool:
        if not getattr(each, "visible", True):
            return False
        if getattr(each, "object", None) is model:
            return True
        return any(map(below, getattr(each, "objects", [])))

    return below(page.view)


def text(page: Any) -> str:
    """All words of a page that are shown as text, without markup."""
    shown = [
        str(each.object) for each in parts(page) if isinstance(each, pn.pane.HTML) and each.visible
    ]
    return html.unescape(re.sub(r"<[^>]*>", " ", " ".join(shown)))


def markup(page: Any) -> str:
    """The HTML of a page's texts."""
    return " ".join(str(each.object) for each in parts(page) if isinstance(each, pn.pane.HTML))


# The address of a page, and what the page tells the browser.


def put_into_address(monkeypatch: pytest.MonkeyPatch, **arguments: Scenario | str) -> None:
    """Open the next pages at an address with these arguments, scenarios as their links."""
    texts = {
        name: [(what.to_link() if isinstance(what, Scenario) else what).encode()]
        for name, what in arguments.items()
    }
    monkeypatch.setattr(type(pn.state), "session_args", property(lambda _self: texts))


def browser(page: Any) -> list[Any]:
    """The two hidden fields through which page and browser speak: orders, answers."""
    return list(page.scenarios.hidden.select(pn.widgets.TextInput))


def order_of(page: Any) -> dict[str, Any]:
    """What the browser was last told to do."""
    return dict(json.loads(browser(page)[0].value or "{}"))
