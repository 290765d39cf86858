"""A browser says little: thirty messages a second at most, in their order, the last value too."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Server, leave, new_page

pytestmark = pytest.mark.browser

# What no hand is quick enough for, but a screen of 144 pictures a second is.
_DRAG = """
async () => {
  const kept = [...Bokeh.documents[0]._all_models.values()]
  const field = kept.find(each => each.data?.attributes.label === "Class code").data
  const begin = performance.now()
  let changes = 0
  while (performance.now() - begin < 1000 || changes < 100) {
    field.value_input = `A${changes++}`
    if (changes % 10 == 0) for (let i = 0; i < 20; i++) field.max_length = 20 + i
    await new Promise(done => setTimeout(done, 2))
  }
  field.value = "left"
  return [changes, (performance.now() - begin) / 1000]
}
"""


def test_what_changes_quickly_is_gathered_and_its_end_arrives(
    browser: Browser, server: Server
) -> None:
    page = new_page(browser)
    sent: list[Any] = []

    def note(part: Any) -> None:
        sent.append(part)

    page.on("websocket", lambda socket: socket.on("framesent", note))
    page.goto(f"{server.url}/class")
    expect(page.get_by_role("button", name="Join")).to_be_visible()
    page.wait_for_timeout(500)
    sent.clear()
    changes, seconds = page.evaluate(_DRAG)
    page.wait_for_timeout(300)
    leave(page)
    told = [json.loads(each)["events"] for each in sent if str(each).startswith('{"events"')]
    ours = [
        (each["attr"], each["new"])
        for events in told
        for each in events
        if each.get("attr") in ("value", "value_input", "max_length")
    ]
    assert changes >= 100
    assert 5 < len(told) <= 30 * (seconds + 0.3) + 1
    # A text may be a key that was pressed: each is said. Of a number only the last.
    texts = [value for name, value in ours if name == "value_input"]
    # (The field itself says once more what the server has answered.)
    assert list(dict.fromkeys(texts)) == [f"A{n}" for n in range(changes)]
    numbers = [value for name, value in ours if name == "max_length"]
    assert changes // 10 <= len(numbers) <= 2 * (changes // 10)
    assert numbers[-1] == 39
    assert ours[-1] == ("value", "left")


def test_a_slider_says_its_value_once(browser: Browser, server: Server) -> None:
    page = new_page(browser)
    sent: list[Any] = []

    def note(part: Any) -> None:
        sent.append(part)

    page.on("websocket", lambda socket: socket.on("framesent", note))
    page.goto(server.url)
    page.get_by_role("button", name=re.compile("^Settings of")).click()
    slider = page.get_by_role("slider", name="Epsilon", exact=True)
    slider.focus()
    page.wait_for_timeout(500)
    sent.clear()
    slider.press("ArrowRight")
    page.wait_for_timeout(500)
    leave(page)
    told = [json.loads(each)["events"] for each in sent if str(each).startswith('{"events"')]
    assert [each["attr"] for events in told for each in events] == ["value"]
