"""Another picture of a map comes over the old one in 150 ms, where no one moves a slider.

What the map shows is copied once and laid over it while the browser paints the new picture as it
would anyway; the copy fades out. Nothing is painted twice. A browser without a graphics card needs
5 to 10 ms of a move for it all the same, which anyone who moves a slider shall not wait for.
"""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.models import ColumnDataSource, CustomJS
from bokeh.plotting import figure

#: ms a picture takes to fade; and within which others that come show at once.
LASTS, HURRY = 150, 300
# Where a slider was touched last, by pointer or key, or something is dragged, every picture counts
# and none is covered. A picture of another place, or size, is no earlier state of this one. A copy
# may show exact counts: it is dropped as soon as they are hidden, and what was painted before that
# is not copied after it.
_FADE = """
const map = maps[pictures.indexOf(cb_obj)]
const hand = window.explorer_hand ??= (() => {
  const hand = {pressed: false, slides: false}
  const on = (kind, tell) => window.addEventListener(kind, tell, {capture: true, passive: true})
  const touch = event => {
    hand.slides = event.composedPath().some(
      each => each instanceof Element && each.matches("input[type=range], .MuiSlider-root"))
  }
  on("pointerdown", event => { hand.pressed = true; touch(event) })
  for (const kind of ["pointerup", "pointercancel"]) on(kind, () => { hand.pressed = false })
  on("keydown", touch)
  return hand
})()
const drop = () => {
  map.explorer_faded?.copy?.remove()
  if (map.explorer_faded) map.explorer_faded.copy = null
}
// A map that no layout has given a size yet shows nothing that could fade.
const {inner_width: width, inner_height: height} = map.properties
if (width.is_unset || height.is_unset) return
const {x_range: x, y_range: y} = map
const before = map.explorer_faded
if (!before) {
  for (const range of [x, y]) range.change.connect(drop)
  document.addEventListener("explorer-hides", drop)
}
drop()
const now = map.explorer_faded = {
  at: performance.now(),
  place: [x.start, x.end, y.start, y.end, width.get_value(), height.get_value()].join(),
  hidden: document.explorer_hides === true,
  copy: null,
}
if (!before || now.at - before.at < hurry || hand.pressed || hand.slides
    || now.place !== before.place || (now.hidden && !before.hidden)
    || window.matchMedia("(prefers-reduced-motion: reduce)").matches) return
const layer = cb_context.index.find_one(map)?.canvas_view?.primary
if (!layer?.canvas?.width || !layer.canvas.height) return
const copy = now.copy = document.createElement("canvas")
copy.width = layer.canvas.width
copy.height = layer.canvas.height
copy.getContext("2d").drawImage(layer.canvas, 0, 0)
copy.className = "bk-layer explorer-fading"
copy.style.pointerEvents = "none"
layer.el.after(copy)
copy.animate({opacity: [1, 0]}, {duration: lasts, easing: "ease-in"}).onfinish = () => copy.remove()
"""


def fade(figures: Sequence[figure], pictures: Sequence[ColumnDataSource]) -> None:
    """Let what each figure shows fade out whenever it is sent another of ``pictures``."""
    args = {"maps": [*figures], "pictures": [*pictures], "lasts": LASTS, "hurry": HURRY}
    script = CustomJS(args=args, code=_FADE)
    for picture in pictures:
        picture.js_on_change("data", script)
