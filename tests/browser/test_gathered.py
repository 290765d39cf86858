"""A drag says little: thirty messages a second at most, in their order, the last value too."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page

from explorer.app.work.intake import MESSAGES

pytestmark = pytest.mark.browser

# What no hand is quick enough for, but a screen of 144 pictures a second is.
_DRAG = """
async () => {
  const kept = [...Bokeh.documents[0]._all_models.values()]
  const slider = kept.find(each => each.data?.attributes.label === "Epsilon").data
  const begin = performance.now()
  let changes = 0
  while (performance.now() - begin < 1000 || changes < 100) {
    slider.value = 1 + (changes++ % 50) / 100
    await new Promise(done => setTimeout(done, 2))
  }
  slider.value = 1.77
  slider.value_throttled = 1.77
  return [changes, (performance.now() - begin) / 1000]
}
"""


def test_a_drag_is_gathered_and_its_end_arrives(page: Page) -> None:
    sent: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", sent.append))
    page.reload()
    page.get_by_role("img", name="Private map").wait_for()
    page.locator(".tabulator-row").first.wait_for()
    page.wait_for_timeout(500)
    sent.clear()
    changes, seconds = page.evaluate(_DRAG)
    page.wait_for_timeout(300)
    told = [json.loads(each)["events"] for each in sent if str(each).startswith('{"events"')]
    values = [each for events in told for each in events if each.get("attr", "") == "value"]
    assert changes >= 100
    assert len(told) <= MESSAGES * (seconds + 0.3) + 1
    assert values[-1]["new"] == 1.77
    order = [each["attr"] for events in told for each in events if "attr" in each]
    assert order.index("value_throttled") > len(order) - 1 - order[::-1].index("value")
