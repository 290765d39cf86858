// A polygon that is drawn on a map by clicks, until it ends. Runs at each event of the map, and
// when the mode changes. `told` takes JSON to the server: `corners` (null: given up), `final`.
//
// Two quick clicks are one double click to Bokeh, wherever they are: the second ends the polygon
// only near the first. A corner and a double click in quick succession are a double click and a
// click: what ends is a second click at one place, by either name.
const NEAR = 10, SAME = 2, PAUSE = 65 // pixels, pixels, ms
const listed = () => Array.from(corners.data.x, (x, i) => [x, corners.data.y[i]])
const pixels = (x, y, i) => {
  const {x_range, y_range} = map
  return Math.hypot(
    ((x - corners.data.x[i]) / (x_range.end - x_range.start)) * map.inner_width,
    ((y - corners.data.y[i]) / (y_range.end - y_range.start)) * map.inner_height,
  )
}
const tell = (places, final) => {
  told.tags = [Date.now()]
  told.value = JSON.stringify({turn: Math.random(), corners: places, final})
}
const trace = places => {
  sketch.data = {x: places.map(place => place[0]), y: places.map(place => place[1])}
}
const show = places => {
  corners.data = {x: places.map(place => place[0]), y: places.map(place => place[1])}
  trace(places)
}
const leave = () => {
  show([])
  tell(null, false)
}
const end = () => {
  const places = listed()
  show([])
  tell(places, true)
}
const add = place => {
  const places = [...listed(), place]
  show(places)
  if (places.length >= 3) tell(places, false)
}

const clicked = ({x, y}, double) => {
  const n = corners.data.x.length
  const again = n > 0 && pixels(x, y, n - 1) < (double ? NEAR : SAME)
  if (n >= 3 && (again || pixels(x, y, 0) < NEAR)) end()
  else if (!again) add([x, y])
}
// While the pointer moves, the polygon that a click would make is told some 15 times a second.
const moved = ({x, y}) => {
  const n = corners.data.x.length
  if (n === 0) return
  const places = [...listed(), [x, y]]
  trace(places)
  const due = Date.now() - (told.tags[0] ?? 0) >= PAUSE
  if (n >= 2 && due && pixels(x, y, n - 1) >= SAME) tell(places, false)
}
const pressed = event => {
  const n = corners.data.x.length
  const typing = event
    .composedPath()
    .some(node => node instanceof Element && node.matches("input, textarea, select"))
  const meant = ["Enter", "Escape", "Backspace"].includes(event.key)
  if (typing || !line.visible || n === 0 || !meant) return
  if (event.key === "Enter" && n < 3) return
  event.preventDefault()
  event.stopImmediatePropagation()
  if (event.key === "Enter") end()
  else if (event.key === "Escape" || n === 1) leave()
  else show(listed().slice(0, -1))
}

if (!told.listens) {
  told.listens = true
  // Before any other listener of the page: Escape would let go of the selected box, too.
  document.addEventListener("keydown", pressed, true)
}
if (!line.visible) {
  if (corners.data.x.length > 0) leave()
} else if (cb_obj.event_name === "mousemove") moved(cb_obj)
else if (cb_obj.event_name) clicked(cb_obj, cb_obj.event_name === "doubletap")
