"""One map over the other: whatever is written on them stays whole wherever the edge lies."""

from __future__ import annotations

import io
import re
from functools import partial

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.conftest import come_to, leave, settle
from tests.browser.visit import MODELS, rows, steady, wait_until

# The tags of every map: text, and left, top, width and height in pixels of the window. Tags have a
# ground of their own, in a colour of the source.
_TAGS = (
    f"() => {{ const models = {MODELS}"
    + """
  const all = root => [...root.querySelectorAll("*")].flatMap(
    e => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const ink = document.createElement("canvas").getContext("2d")
  ink.font = "bold 12px Inter, system-ui, sans-serif"
  const figures = models.filter(m => m.type === "Figure" && m.renderers.some(
    r => r.glyph?.type === "Text" && r.glyph.background_fill_color?.field === "colour"))
  return figures.map(figure => {
    const view = all(document).find(e => e.matches(".bk-Figure")
      && e.getAttribute("aria-label") === figure.html_attributes["aria-label"])
    const box = view.getBoundingClientRect()
    const tags = figure.renderers.find(r => r.visible && r.glyph?.type === "Text"
      && r.glyph.background_fill_color?.field === "colour").data_source.data
    const {x_range: x, y_range: y} = figure
    return Array.from(tags.text, (text, i) => {
      const lines = text.split("\\n")
      const width = Math.max(...lines.map(line => ink.measureText(line).width)) + 8
      const at = box.left + (tags.x[i] - x.start) / (x.end - x.start) * box.width + tags.shift[i]
      const left = at - {left: 0, center: width / 2, right: width}[tags.align[i]]
      const low = box.top + (y.end - tags.y[i]) / (y.end - y.start) * box.height + tags.lift[i]
      const height = 15 * lines.length + 5
      return {text, x: left, y: low - height, width, height}
    })
  })
}
"""
)

# Texts above and on the maps that something around them cuts, and pairs of them that overlap.
_CUT = """
() => {
  const all = root => [...root.querySelectorAll("*")].flatMap(
    e => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const up = e => e.parentElement ?? e.getRootNode().host
  const texts = all(document).filter(e => e.matches(".head h2, .head p, .bar")
    && e.getBoundingClientRect().width && e.innerText.trim())
  const bad = []
  for (const e of texts)
    for (let at = e; at; at = up(at))
      if (getComputedStyle(at).clipPath !== "none") bad.push(e.innerText)
  const boxes = texts.map(e => e.getBoundingClientRect())
  texts.forEach((e, i) => texts.slice(0, i).forEach((other, j) => {
    const [a, b] = [boxes[i], boxes[j]]
    const same = e.innerText === other.innerText && a.left === b.left && a.top === b.top
    if (!same && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1
        && b.top < a.bottom - 1) bad.push(`${e.innerText} over ${other.innerText}`)
  }))
  return bad
}
"""


def letters(page: Page, tag: dict[str, float]) -> np.ndarray:
    """Which pixels inside a tag are those of its letters, which are white."""
    clip = {"x": tag["x"] + 2, "y": tag["y"], "width": tag["width"] - 4, "height": tag["height"]}
    shot = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
    return np.asarray(shot).min(axis=2) > 215


def uncover(page: Page, place: float) -> None:
    """Put the edge at a place of the window, by a click on the slider."""
    box = page.get_by_role("img", name=re.compile("^Private map")).last.bounding_box()
    slider = page.locator(".MuiSlider-root").last.bounding_box()
    assert box is not None
    assert slider is not None
    part = min(max((place - box["x"]) / box["width"], 0), 1)
    page.mouse.click(slider["x"] + part * slider["width"], slider["y"] + slider["height"] / 2)


@pytest.mark.parametrize(
    ("path", "first", "labels", "window"),
    [
        ("", "Private map", ("true", "private"), {}),
        ("/compare", "Private map A", ("A", "B"), {}),
    ],
    ids=["explore", "compare"],
)
def test_every_number_is_whole_wherever_the_edge_lies(
    browser, server, path, first, labels, window
) -> None:
    page, _ = come_to(browser, server, path, first, **window)
    page.get_by_role("button", name="Swipe", exact=True).click()
    expect(page.get_by_role("slider", name="Swipe")).to_be_visible()
    settle(page, first)
    table = {row["box"]: row for row in rows(page)}

    def whole() -> bool:
        """Both maps say the same: the name, and each number with what it is."""
        left, right = (steady(page, lambda i=i: page.evaluate(_TAGS)[i]) for i in (0, 1))
        for one in left:
            name = one["text"].split()[0]
            for label in labels:
                if f"{label} {table[name][label]}" not in one["text"]:
                    return False
        return [each["text"] for each in left] == [each["text"] for each in right]

    wait_until(page, whole)
    for number, tag in enumerate(page.evaluate(_TAGS)[0]):
        found = []
        for part in (-0.2, 0.1, 0.35, 0.5, 0.8, 1.2):
            uncover(page, tag["x"] + part * tag["width"])
            read = partial(lambda n: letters(page, page.evaluate(_TAGS)[0][n]).tobytes(), number)
            found.append(np.frombuffer(steady(page, read, 3), dtype=bool))
            assert page.evaluate(_CUT) == []
        # The ground of a tag lets a little of the map through: rims of letters may differ.
        for each in found:
            assert (each != found[0]).sum() < 0.15 * found[0].sum(), tag["text"]
    leave(page)
