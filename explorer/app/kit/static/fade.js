// A map was sent another picture, see `kit.maps`. Where a slider was touched last, by pointer or key,
// or something is dragged, every picture counts and none is covered. A picture of another place, or
// size, is no earlier state of this one. A copy may show exact counts: it is dropped as soon as they
// are hidden, and what was painted before that is not copied after it. Without a graphics card a
// copy takes 5 to 10 ms, which anyone who moves a slider shall not wait for.
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
