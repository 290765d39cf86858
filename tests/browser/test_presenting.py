"""While exact counts are hidden a browser has none of them, anywhere; a key sends them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import come_to, leave, settle
from tests.browser.visit import MODELS, ROW, drag, number, rows, steady, wait_until

# All that a page says, in every shadow too: texts, names, titles, values of fields; hidden or not.
_TEXTS = """
() => {
  const all = root => [...root.querySelectorAll("*")].flatMap(
    e => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const skip = new Set(["STYLE", "SCRIPT", "LINK"])
  const found = [document.title, location.href, JSON.stringify(localStorage)]
  for (const e of all(document)) {
    if (skip.has(e.tagName)) continue
    for (const {name, value} of e.attributes) if (name !== "style") found.push(value)
    for (const each of e.childNodes) if (each.nodeType === 3) found.push(each.data)
    if (typeof e.value === "string") found.push(e.value)
  }
  return found.join("\\n")
}
"""
# All properties of all models: texts, and numbers of every array. Of pictures the number of pixels.
_MODELS = (
    f"() => {{ const models = {MODELS}"
    + """
  const texts = [], numbers = [], pictures = {}, seen = new Set()
  const read = value => {
    if (value == null || typeof value === "function") return
    if (typeof value === "string") texts.push(value)
    else if (typeof value === "number") numbers.push(value)
    else if (value instanceof Uint8Array) return
    else if (ArrayBuffer.isView(value)) numbers.push(...value)
    else if (typeof value === "object") {
      if (seen.has(value)) return
      seen.add(value)
      if (value.constructor?.name === "NDArray" || value.shape) return
      if (value[Symbol.iterator]) for (const each of value) read(each)
      else if (Object.getPrototypeOf(value) === Object.prototype) Object.values(value).forEach(read)
    }
  }
  for (const model of models) {
    for (const property of Object.values(model.properties)) {
      if (["stylesheets", "esm", "css_bundle", "code", "bundle"].includes(property.attr)) continue
      if (property.is_unset) continue
      read(property.get_value())
    }
    if (model.data instanceof Map || model.type?.endsWith("ColumnDataSource"))
      for (const column of model.data instanceof Map ? model.data.values()
                                                     : Object.values(model.data))
        if (ArrayBuffer.isView(column) && !(column instanceof Uint8Array)) numbers.push(...column)
        else read(column)
  }
  return [texts.join("\\n"), numbers]
}
"""
)
# Pixels of the picture of each map, by its spoken name.
_PICTURES = (
    f"() => {{ const models = {MODELS}"
    + """
  const found = {}
  for (const figure of models.filter(m => m.type === "Figure"))
    for (const each of figure.renderers)
      if (each.glyph?.type === "Image") {
        const {data} = each.data_source
        const image = (data instanceof Map ? data.get("image") : data.image) ?? []
        const name = figure.html_attributes["aria-label"] ?? ""
        const size = image.length ? image[0].length ?? image[0].shape.reduce((a, b) => a * b) : 0
        found[name] = (found[name] ?? 0) + size
      }
  return found
}
"""
)


class Frames:
    """All that the server has sent since `clear`."""

    def __init__(self, page: Page) -> None:
        self.sent: list[bytes] = []
        page.on("websocket", lambda ws: ws.on("framereceived", self._received))

    def _received(self, frame: Any) -> None:
        self.sent.append(frame if isinstance(frame, bytes) else frame.encode())

    def clear(self) -> None:
        self.sent.clear()

    @property
    def text(self) -> str:
        return b"\n".join(self.sent).decode("utf-8", "replace")


def spoken(page: Page) -> str:
    """The tree that a screen reader reads."""
    client = page.context.new_cdp_session(page)
    nodes = client.send("Accessibility.getFullAXTree")["nodes"]
    # Lines of a text that is a node itself.
    nodes = [node for node in nodes if node.get("role", {}).get("value") != "InlineTextBox"]
    parts = ("name", "value", "description")
    found = "\n".join(
        str(node[each].get("value", "")) for node in nodes for each in parts if each in node
    )
    client.detach()
    return found


def spellings(count: float) -> re.Pattern[str]:
    """A count in all usual spellings, as a number of its own."""
    whole = f"{count:.0f}"
    return re.compile(rf"(?<![\d.,])(?:{whole}|{count:,.0f})(?:\.0+)?(?![\d]|[.,]\d)")


def where(found: list[str]) -> set[str]:
    """The places of leaks."""
    return {each.split(" in ")[1] for each in found}


def leaks(page: Page, frames: Frames, counts: set[float]) -> list[str]:
    """Where one of the counts is found."""
    texts, numbers = page.evaluate(_MODELS)
    places = {
        "text": page.evaluate(_TEXTS),
        "accessibility": spoken(page),
        "models": texts,
        "messages": frames.text,
        "numbers": "",
    }
    # An end of a released interval may happen to be one of the counts.
    places = {place: re.sub(r"[\d,−-]+ to [\d,−-]+", "", text) for place, text in places.items()}
    found = [
        f"{count:,.0f} in {place} in {text[max(match.start() - 90, 0) : match.end() + 90]!r}"
        for place, text in places.items()
        for count in counts
        if (match := spellings(count).search(text))
    ]
    return found + [f"{count:,.0f} in sources" for count in counts if count in numbers]


class Shown:
    """A page that can be presented; exact counts are those of its boxes, or of its areas."""

    def __init__(self, page: Page, frames: Frames, name: str) -> None:
        self.page, self.frames, self.name = page, frames, name
        if name == "country":
            # Of the chosen area.
            said = page.locator(".summary").first.inner_text()
            found = re.search(r"truly ([\d,]+)", said)
            assert found
            self.counts = {number(found[1])}
        else:
            self.counts = {number(row["true"]) for row in rows(page)}
        # Small ones stand for something else, too.
        self.counts = {count for count in self.counts if count >= 1000}
        assert self.counts

    def press(self, key: str) -> None:
        self.page.evaluate("document.activeElement.blur()")
        self.page.keyboard.press(key)

    def leaks(self) -> list[str]:
        return leaks(self.page, self.frames, self.counts)

    def settled(self) -> None:
        """Wait until all that follows a change has come."""
        steady(self.page, lambda: (len(self.frames.sent), self.page.evaluate(_TEXTS)), 8)


PAGES = {
    "explore": ("", "Private map"),
    "trips": ("/trips", "where trips to Q1 begin"),
    "country": ("/country", "map of Amber Isles"),
    "federated": ("/federated", "Private map"),
    "compare": ("/compare", "Private map A"),
}


@pytest.fixture
def presented(browser, server, request) -> Iterator[Shown]:
    """A page with its counts known."""
    path, first = PAGES[request.param]
    page, _ = come_to(browser, server, path, first)
    # A second visit, with all messages noted from the first.
    frames = Frames(page)
    page.reload()
    page.get_by_role("img", name=first).wait_for()
    page.locator(ROW).first.wait_for()
    settle(page, first)
    shown = Shown(page, frames, request.param)
    shown.settled()
    yield shown
    leave(page)


@pytest.mark.parametrize(
    "presented",
    [
        pytest.param(name, marks=[pytest.mark.journey] if name in ("explore", "trips") else [])
        for name in PAGES
    ],
    indirect=True,
)
def test_no_exact_count_is_in_the_browser_until_it_is_asked_for(presented: Shown) -> None:
    page = presented.page
    before = presented.leaks()
    assert {"text", "accessibility"} <= where(before)
    # A panel that holds the map against the exact data.
    if presented.name in ("explore", "trips"):
        page.get_by_role("button", name="All mechanisms", exact=True).click()
        presented.settled()
    presented.press("p")
    expect(page.get_by_role("button", name="Show the truth")).to_be_visible()
    presented.settled()
    presented.frames.clear()
    assert presented.leaks() == []
    assert page.get_by_text("exact counts: do not share").count() == 0
    # Nothing is sent by what one does meanwhile.
    name = "Private map" if presented.name in ("explore", "federated") else PAGES[presented.name][1]
    n = len(rows(page))
    drag(page, name, (0.3, 0.3), (0.5, 0.6))
    if presented.name != "trips":
        wait_until(page, lambda: len(rows(page)) == n + 1)
    presented.press("Control+z")
    presented.settled()
    assert presented.leaks() == []
    if presented.name in ("explore", "compare"):
        page.get_by_role("button", name="Swipe", exact=True).click()
        presented.settled()
        assert presented.leaks() == []
    presented.press("Escape")
    presented.press("t")
    expect(page.get_by_role("button", name="Hide the truth")).to_be_visible()
    wait_until(page, lambda: {"text", "accessibility"} <= where(presented.leaks()))
    presented.press("t")
    expect(page.get_by_role("button", name="Show the truth")).to_be_visible()
    presented.settled()
    presented.frames.clear()
    assert presented.leaks() == []
    presented.press("p")
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_visible()
    wait_until(page, lambda: {"text"} <= where(presented.leaks()))


@pytest.mark.parametrize("presented", ["explore", "federated"], indirect=True)
def test_the_exact_map_is_not_in_the_browser_either(presented: Shown) -> None:
    page = presented.page

    def exact_map() -> int:
        found = page.evaluate(_PICTURES)
        return next(size for name, size in found.items() if name.startswith("True map"))

    assert exact_map() > 1000
    presented.press("p")
    wait_until(page, lambda: exact_map() == 0)
    # Other settings bring another map, and none of the exact data.
    presented.frames.clear()
    page.get_by_role("button", name="Zoom in").click()
    presented.settled()
    assert exact_map() == 0
    presented.press("t")
    wait_until(page, lambda: exact_map() > 1000)
