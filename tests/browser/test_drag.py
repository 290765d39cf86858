"""What a slider shows while it moves is what it shows at its end; pictures arrive as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.embed import file_html
from bokeh.layouts import column
from bokeh.models import LinearColorMapper
from bokeh.plotting import figure
from bokeh.resources import INLINE
from playwright.sync_api import Browser, Page, Route

from explorer.grid.grid import Grid
from explorer.mechanisms import HTF
from explorer.points.matrix import FrequencyMatrix
from explorer.views import palette
from explorer.views.lines import Lines, image_columns
from explorer.views.packing import unpacked
from explorer.views.partition import OPAQUE, Leaves, partition
from explorer.views.viewport import Viewport
from tests.browser.conftest import leave, new_page
from tests.browser.visit import figure as strip
from tests.browser.visit import still, wait_until

#: Frames within which what a page was told is painted; drags until one of them tells; how many
#: numbers come in place of a picture at most (where each picture brings its own: .9 to 1.1).
PAINTED, DRAGS, FEWER = 3, 8, 0.75
_FIND = """
const find = (root, name) => [...root.querySelectorAll("*")].flatMap(e => [
  ...(e.matches(name) ? [e] : []), ...(e.shadowRoot ? find(e.shadowRoot, name) : [])])
"""
# The private map's picture whenever it is another one; when the strip of numbers was written anew,
# and how many frames the page had painted by then since it was last told of a picture.
_NOTE = f"""
{_FIND}
window.noted = {{pictures: [], numbers: [], told: 0}}
let frames = 0
Bokeh.documents[0].on_change(event => {{
  if (event.attr !== "data" || !event.model.data?.image) return
  frames = 0
  window.noted.told += 1
}})
const map = find(document, "[aria-label^='Private map']")[0]
const canvases = find(map.shadowRoot ?? map, "canvas").filter(c => c.width)
// A picture as text takes longer than a frame: a sum of its pixels in their order does not.
const pixels = canvas => {{
  const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data
  let sum = 1
  for (const word of new Uint32Array(all.buffer)) sum = Math.imul(sum ^ word, 16777619)
  return sum
}}
const look = () => {{
  const picture = canvases.map(pixels).join()
  const pictures = window.noted.pictures
  if (pictures.at(-1)?.[1] !== picture) pictures.push([performance.now(), picture])
  const numbers = find(document, "dl.figures").map(e => e.innerText).join()
  if (window.noted.numbers.at(-1)?.[1] !== numbers)
    window.noted.numbers.push([performance.now(), numbers, frames])
  frames += 1
  requestAnimationFrame(look)
}}
look()
null
"""


def plain(picture: np.ndarray) -> Any:
    """A map of a picture that is sent as it is."""
    fig = blank()
    view = Viewport(0, 0, 1, 1, *picture.shape[::-1])
    data = {**image_columns(picture, view), "image": [picture]}
    fig.image("image", x="x", y="y", dw="w", dh="h", source=data, color_mapper=colours())
    return fig


def packed(picture: np.ndarray) -> Any:
    """A map of a picture that is packed."""
    fig = blank()
    data = image_columns(picture, Viewport(0, 0, 1, 1, *picture.shape[::-1]))
    fig.image(unpacked(), x="x", y="y", dw="w", dh="h", source=data, color_mapper=colours())
    return fig


def colours() -> LinearColorMapper:
    return LinearColorMapper(palette=palette.PALETTES["cividis"], low=0, high=256)


def blank(x: tuple[float, float] = (0, 1), y: tuple[float, float] = (0, 1)) -> Any:
    return figure(width=320, height=320, x_range=x, y_range=y, toolbar_location=None)


def pixels(browser: Browser, figures: list[Any]) -> list[str]:
    """What each figure looks like."""
    html = file_html(column(*figures), INLINE)
    page = new_page(browser)

    # Panel lets every page ask for parts of its own; without a server there are none, and no need.
    def answer(route: Route) -> None:
        is_page = route.request.is_navigation_request()
        kind = "text/html" if is_page else "text/javascript"
        route.fulfill(body=html if is_page else "", content_type=f"{kind}; charset=utf-8")

    page.route("**/*", answer)
    page.goto("http://localhost/figures")
    read = f"""() => {{ {_FIND}
      return find(document, ".bk-Figure").map(
        each => find(each.shadowRoot, "canvas").map(c => c.toDataURL()).join()) }}"""
    page.wait_for_function("() => Bokeh.documents.length && Bokeh.documents[0].is_idle")
    found: list[str] = page.evaluate(read)
    leave(page)
    page.close()
    assert len(found) == len(figures)
    return found


def test_packed_pictures_and_lines_in_cells_look_as_they_did(browser) -> None:
    rng = np.random.default_rng(3)
    noise = rng.integers(0, 256, (130, 200)).astype(np.uint8)
    pictures = [noise, np.repeat(noise[:7], 80, axis=0), np.full((90, 90), 200, np.uint8)]
    grid = Grid.around(2.35, 48.85, 8000, shape=64)
    counts = rng.poisson(rng.gamma(0.3, 9.0, (64, 64)))
    leaves = Leaves.of(HTF(epsilon=1.0).release(FrequencyMatrix(counts, grid), rng=1))
    view = Viewport.whole(grid, 320)
    drawn = partition(leaves, view, grid)
    lines, edges = Lines(), blank((-4000, 4000), (-4000, 4000))
    lines.draw_on(edges)
    lines.show(drawn, view)
    metres, shown = blank((-4000, 4000), (-4000, 4000)), leaves.sides(view) >= 3
    x0, y0, x1, y1 = leaves.boxes[shown].T
    metres.quad(
        left=x0,
        bottom=y0,
        right=x1,
        top=y1,
        fill_color=None,
        line_color=palette.LINE,
        line_alpha=drawn.boxes["alpha"] / OPAQUE,
    )
    figures = [make(each) for each in pictures for make in (packed, plain)]
    found = pixels(browser, [*figures, edges, metres])
    assert len({*found}) == 4, "each pair is alike, and no other two are"
    assert found[::2] == found[1::2]


def test_the_picture_of_a_drag_and_the_one_after_its_last_move_are_the_same(page: Page) -> None:
    page.evaluate(_NOTE)
    slider = page.get_by_role("slider", name="Epsilon", exact=True)
    slider.focus()
    page.keyboard.press("ArrowLeft")
    wait_until(page, lambda: strip(page, "Epsilon") == "0.89")
    # On a busy machine moves are further apart than a drag's, and numbers come within the frame of
    # their picture: that drag tells nothing, and another is made.
    for _ in range(DRAGS):
        page.evaluate("Object.assign(window.noted, {pictures: [], numbers: [], told: 0}), null")
        for key in ["ArrowLeft", "ArrowRight"] * 5 + ["ArrowLeft"]:
            page.keyboard.press(key)
            page.wait_for_timeout(70)
        wait_until(page, lambda: strip(page, "Epsilon") == "0.79")
        still(page, "Private map")
        noted = page.evaluate("window.noted")
        pictures, numbers = noted["pictures"], noted["numbers"]
        rested, _, frames = numbers[-1]
        during = [picture for at, picture in pictures if at < rested]
        if frames >= PAINTED and len(numbers) <= FEWER * len(during):
            break
        page.keyboard.press("ArrowRight")
        wait_until(page, lambda: strip(page, "Epsilon") == "0.89")
    assert noted["told"], "the page was told of pictures"
    assert frames >= PAINTED, "numbers come when it rests"
    assert len(numbers) <= FEWER * len(during), "pictures come before it rests"
    assert pictures[-1][1] in during
