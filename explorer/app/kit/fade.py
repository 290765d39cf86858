"""Another picture of a map comes over the old one in 150 ms, where nobody is in a hurry.

What the map shows is copied once and laid over it while the browser paints the new picture as it
would anyway; the copy fades out. Nothing is painted twice, and nothing waits.
"""

from __future__ import annotations

from bokeh.models import ColumnDataSource, CustomJS
from bokeh.plotting import figure

#: ms a picture takes to fade; and within which others that come show at once.
LASTS, HURRY = 150, 300
# While something is dragged or a key repeats every picture counts, and none is covered. A picture
# of another place, or size, is no earlier state of this one. A copy may show the truth: it is cut
# off as soon as the truth is hidden, and what was painted before that is not copied after it.
_FADE = """
const held = window.explorer_held ??= (() => {
  const held = {pointer: false, key: false}
  const on = (kind, tell) => window.addEventListener(kind, tell, {capture: true, passive: true})
  on("pointerdown", () => { held.pointer = true })
  for (const kind of ["pointerup", "pointercancel"]) on(kind, () => { held.pointer = false })
  on("keydown", event => { held.key = event.repeat })
  on("keyup", () => { held.key = false })
  return held
})()
const drop = () => {
  for (const each of map.explorer_faded?.copies ?? []) each.remove()
  if (map.explorer_faded) map.explorer_faded.copies = []
}
if (!map.explorer_faded)
  for (const range of [map.x_range, map.y_range]) range.change.connect(drop)
const {x_range: x, y_range: y} = map
const view = cb_context.index.find_one(map)?.canvas_view
const shown = view?.primary?.canvas
const now = {
  at: performance.now(),
  place: [x.start, x.end, y.start, y.end, shown?.width, shown?.height].join(),
  hidden: document.documentElement.style.getPropertyValue("--exact").startsWith("inset"),
  copies: [],
}
drop()
const before = map.explorer_faded
map.explorer_faded = now
if (before && shown?.width && shown.height
    && now.at - before.at > hurry && !held.pointer && !held.key
    && now.place === before.place && (before.hidden || !now.hidden)
    && !window.matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const copy = document.createElement("canvas")
  copy.width = shown.width
  copy.height = shown.height
  copy.getContext("2d").drawImage(shown, 0, 0)
  copy.className = "bk-layer explorer-fading"
  copy.style.pointerEvents = "none"
  if (!before.hidden) copy.style.clipPath = "var(--exact, none)"
  view.primary.el.after(copy)
  now.copies.push(copy)
  copy.animate({opacity: [1, 0]}, {duration: lasts, easing: "ease-in"}).onfinish = drop
}
"""


def fade(fig: figure, picture: ColumnDataSource) -> None:
    """Let what ``fig`` shows fade out whenever it is sent another ``picture``."""
    args = {"map": fig, "lasts": LASTS, "hurry": HURRY}
    picture.js_on_change("data", CustomJS(args=args, code=_FADE))
