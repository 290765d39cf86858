"""What a browser is told to do and to keep, and what comes back of it; either may be anything."""

import json
import shutil
import subprocess

import panel as pn
import pytest

from explorer.app import Explore
from explorer.app.kit import static, ui
from explorer.app.kit.browser import (
    COOKIE,
    Browser,
    Cookie,
    Remembered,
    Storage,
    remembered_by_browser,
)
from explorer.app.kit.page import AppPage

# A browser as far as ``browser.js`` asks for it; each order is carried out in turn.
_NODE = """
const kept = {}, place = new URL("http://host/maps/explore?s=a&city=b#map")
const storage = {getItem: name => kept[name] ?? null, setItem: (name, value) => kept[name] = value}
globalThis.window = {location: place, sessionStorage: storage, localStorage: storage,
  history: {replaceState: (_state, _title, address) => kept.address = address}}
globalThis.document = {cookie: "a=b; frame=theme:dark|help:on"}
const reply = {}, act = new Function("cb_obj", "reply", SCRIPT)
for (const order of ORDERS) act({value: JSON.stringify(order)}, reply)
console.log(JSON.stringify({...kept, cookie: document.cookie, reply: reply.value}))
"""


def order(channel) -> dict[str, object]:
    """What the browser was told last."""
    return json.loads(channel.view.objects[0].value)


@pytest.fixture
def sent(monkeypatch):
    """What lets the next page's browser send a cookie."""

    def send(value) -> None:
        cookies = property(lambda _self: {COOKIE: value})
        monkeypatch.setattr(type(pn.state), "cookies", cookies)

    return send


@pytest.mark.parametrize(
    ("orders", "result"),
    [
        ([{"act": "query", "query": {"s": "c", "city": ""}}], {"address": "/maps/explore?s=c#map"}),
        (
            [{"act": "links", "links": {"a": "1"}}, {"act": "links", "links": {"b": "2"}}],
            {"explorer-workspace:/maps/": '{"a":"1","b":"2"}'},
        ),
        (
            [{"act": "keep", "name": "n", "value": "v"}, {"act": "recall", "name": "n"}],
            {"n": "v", "reply": '{"value":"v"}'},
        ),
        (
            [{"act": "remember", "cookie": "frame", "name": "theme", "value": "light"}],
            {"cookie": "frame=help:on|theme:light; path=/maps/; max-age=31536000; samesite=lax"},
        ),
        ([{"act": "no such"}], {}),
    ],
)
def test_orders_are_carried_out(orders, result) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    script = _NODE.replace("SCRIPT", json.dumps(static.read("browser.js")))
    script = script.replace("ORDERS", json.dumps(orders))
    shown = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    cookie = {"cookie": "a=b; frame=theme:dark|help:on"}
    assert json.loads(shown.stdout) == {**cookie, **result}


@pytest.mark.parametrize(
    "text",
    ["", "theme", "theme:LIGHT", "a:b:c", "<script>:on", ":|:|:", "x" * 9000, None, 5, b"a:b"],
)
def test_what_is_no_pair_of_short_words_is_not_remembered(sent, text) -> None:
    sent(text)
    assert remembered_by_browser() == {}


def test_a_section_and_a_page_open_as_they_were_left(sent) -> None:
    sent("own:open|explain:on|scenarios:open|theme:light")
    remembered = Remembered()
    section = ui.Section("Own", pn.Column())
    remembered.section("own", section)
    assert section.active == [0]
    section.active = []
    assert {"name": "own", "value": "closed"}.items() <= order(remembered).items()
    page = Explore("madeup", side=256, mechanism="uniform")
    assert page.state.explain
    assert page.scenarios.section.active == [0]
    page.state.put(explain=False)
    assert {"name": "explain", "value": "off"}.items() <= order(page.remembered).items()


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
    assert order(one.remembered)["value"] == ("light" if dark else "dark")


class Reader:
    """Takes what comes back."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def take(self, text: str) -> None:
        self.texts.append(text)


@pytest.mark.parametrize("reply", ["", "no json", "[]", "{}", '{"value": 5}', "9" * 9, "[" * 9999])
def test_replies_that_are_none_are_not_taken(reply) -> None:
    reader = Reader()
    channels = Storage("name", reader.take), Browser(reader.take)
    for channel in channels:
        channel.view.objects[1].value = reply
    assert reader.texts == []


def test_replies_are_taken_once() -> None:
    reader = Reader()
    storage, browser = Storage("name", reader.take), Browser(reader.take)
    storage.view.objects[1].value = '{"value": "kept"}'
    browser.copy("a text")
    for number in (1, 2):
        answer = {"number": 1, "done": False, "text": f"{number}"}
        browser.view.objects[1].value = json.dumps(answer)
    assert reader.texts == ["kept", "1"]


def test_a_cookie_ends_where_it_should() -> None:
    cookie = Cookie()
    cookie.keep("name", "a; path=/", 5)
    assert cookie.view.objects[0].value == ""
    cookie.keep("name", "a", 5)
    assert order(cookie)["value"] == "a"
