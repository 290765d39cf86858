// The areas that a visitor has drawn: on the map, in the table, and what the server says of them.
import { askUntil } from "./ask.js"
import { number } from "./numbers.js"

const SVG = "http://www.w3.org/2000/svg"
const MOST = 30
const CORNERS = 60

export class Areas {
  // `maps`: keys of the maps that are asked; `row` fills in the cells of a row.
  constructor(maps, row) {
    Object.assign(this, { maps, row, list: [], chosen: -1, corners: [], sketch: null, leaf: null })
    this.others = []
    this.marks = document.querySelector("#map .marks")
    this.panel = document.querySelector(".answers")
    this.body = this.panel.querySelector("tbody")
    this.said = this.panel.querySelector(".said")
    this.finisher = document.getElementById("finish")
    this.answers = null
    const press = (id, does) => document.getElementById(id)?.addEventListener("click", does)
    press("shown", () => this.addView())
    document.getElementById("typed")?.addEventListener("submit", event => this.typed(event))
  }

  at(stage) { this.stage = stage }

  get view() { return this.stage.view }

  // Adding and taking away.

  add(area) {
    if (this.list.length >= MOST) return this.say(`There is room for ${MOST} areas: take one away.`)
    this.list.push({ name: this.free(), ...area })
    this.chosen = this.list.length - 1
    this.changed()
  }

  free() {
    const names = new Set(this.list.map(each => each.name))
    for (let n = 1; ; n++) if (!names.has(`Area ${n}`)) return `Area ${n}`
  }

  addBox(one, other) {
    const box = [
      Math.min(one[0], other[0]), Math.min(one[1], other[1]),
      Math.max(one[0], other[0]), Math.max(one[1], other[1]),
    ]
    if (box[0] < box[2] && box[1] < box[3]) this.add({ box: box.map(round) })
  }

  addView() {
    const [x0, y0, x1, y1] = this.view.bounds()
    const { west, south, east, north } = this.view
    this.addBox([Math.max(x0, west), Math.max(y0, south)], [Math.min(x1, east), Math.min(y1, north)])
  }

  addCorner(at) {
    const [begin] = this.corners
    if (begin && this.corners.length > 2) {
      const [a, b] = this.view.toPixels(...begin), [c, d] = this.view.toPixels(...at)
      if (Math.hypot(a - c, b - d) < 12) return this.finish()
    }
    const last = this.corners.at(-1)
    // The second press of a double click stands where the first did.
    if (!last || Math.hypot(last[0] - at[0], last[1] - at[1]) > 2 * this.view.metres)
      this.corners.push(at.map(round))
    if (this.corners.length >= CORNERS) return this.finish()
    this.finisher.hidden = this.corners.length < 3
    this.draw()
  }

  finish() {
    const shape = this.corners
    if (shape.length < 3) return
    this.forget()
    this.add({ shape })
  }

  forget() {
    this.corners = []
    this.sketch = null
    if (this.finisher) this.finisher.hidden = true
    this.draw()
  }

  sketchBox(one, other) {
    this.sketch = [one, other]
    this.draw()
  }

  remove(at = this.chosen) {
    if (at < 0 || at >= this.list.length) return
    this.list.splice(at, 1)
    this.chosen = Math.min(at, this.list.length - 1)
    this.changed()
  }

  typed(event) {
    event.preventDefault()
    const said = new FormData(event.target)
    const [west, east, south, north] = ["west", "east", "south", "north"].map(
      name => 1000 * Number(said.get(name))
    )
    if (!(west < east && south < north))
      return this.say("The east edge lies east of the west edge, and north of south: mend these.")
    const { west: x, south: y } = this.view
    this.addBox([x + west, y + south], [x + east, y + north])
  }

  // Choosing.

  selectAt([x, y]) {
    this.choose(this.list.findLastIndex(each => inside(each, x, y)))
  }

  choose(at) {
    this.chosen = at
    this.show()
    this.draw()
  }

  changed() {
    this.sketch = null
    this.answers = null
    this.show()
    this.draw()
    this.onchange?.()
    this.ask()
  }

  async ask() {
    this.abort?.abort()
    const abort = this.abort = new AbortController()
    if (!this.list.length) return
    const areas = this.list.map(({ box, shape }) => (box ? { box } : { shape }))
    const asked = async maps => (await askUntil("/answers", {
      method: "POST",
      body: JSON.stringify({ maps, areas }),
      signal: abort.signal,
    }, said => this.say(said))).json()
    try {
      this.answers = await asked(this.maps)
      // Metres are those of the first.
      for (let at = 0; at < this.others.length; at += 10) {
        const more = await asked([this.maps[0], ...this.others.slice(at, at + 10)])
        Object.assign(this.answers.maps, more.maps)
      }
      this.show()
      this.draw()
    } catch (error) {
      if (error.name != "AbortError") this.say(error.message)
    }
  }

  say(text) { if (this.said.textContent != text) this.said.textContent = text }

  // Showing.

  show() {
    this.panel.dataset.rows = this.list.length
    const rows = this.list.map((area, at) => {
      const row = document.createElement("tr")
      row.setAttribute("aria-selected", String(at == this.chosen))
      const head = document.createElement("th")
      head.scope = "row"
      const name = document.createElement("button")
      name.type = "button"
      name.className = "name"
      name.textContent = area.name
      name.addEventListener("click", () => {
        this.choose(at)
        this.view.show(edges(area))
        if (this.view.zoom > 1) this.view.zoomAt(-2)
        this.stage.moved()
      })
      head.append(name)
      row.append(head, ...this.row(this.answers, at))
      const last = document.createElement("td")
      const away = document.createElement("button")
      away.type = "button"
      away.textContent = "×"
      away.setAttribute("aria-label", `Take ${area.name} away`)
      away.addEventListener("click", () => this.remove(at))
      last.append(away)
      row.append(last)
      return row
    })
    this.body.replaceChildren(...rows)
    this.say(this.sentence())
  }

  sentence() {
    const area = this.list[this.chosen]
    if (!area) return ""
    if (!this.answers) return "…"
    const difference = this.answers.differences?.[this.chosen]
    const [first] = this.maps
    const said = this.answers.maps[first][this.chosen].said
    return `${area.name}: ${difference ? difference.said : said}`
  }

  draw() {
    if (!this.stage) return
    const parts = this.list.flatMap((each, at) => this.drawn(each, at))
    if (this.sketch) {
      const [[x0, y0], [x1, y1]] = this.sketch
      parts.push(this.outline([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], "sketch"))
    }
    if (this.corners.length) parts.push(this.outline(this.corners, "sketch", false))
    if (this.leaf) {
      const [x0, y0, x1, y1] = this.leaf
      parts.push(this.outline([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], "leaf-mark"))
    }
    this.marks.replaceChildren(...parts)
  }

  drawn(area, at) {
    const [west, south, east, north] = edges(area), [x0, y0, x1, y1] = this.view.bounds()
    if (west > x1 || east < x0 || south > y1 || north < y0) return []
    const parts = [this.outline(corners(area), at == this.chosen ? "area chosen" : "area")]
    const found = this.answers?.maps[this.maps[0]]?.[at]
    const [left, top] = this.view.toPixels(west, north)
    const tag = document.createElementNS(SVG, "text")
    tag.textContent = found ? `${area.name}: ${number(found.value)}` : area.name
    tag.setAttribute("x", Math.max(left + 4, 6))
    tag.setAttribute("y", Math.max(top - 6, 16))
    return [...parts, tag]
  }

  outline(places, look, closed = true) {
    const path = document.createElementNS(SVG, "path")
    const at = places.map(place => this.view.toPixels(...place).map(each => each.toFixed(1)).join(" "))
    path.setAttribute("d", `M${at.join("L")}${closed ? "Z" : ""}`)
    path.setAttribute("class", look)
    return path
  }
}

const round = each => Math.round(10 * each) / 10

const corners = ({ box, shape }) =>
  shape ?? [[box[0], box[1]], [box[2], box[1]], [box[2], box[3]], [box[0], box[3]]]

export function edges(area) {
  const places = corners(area), xs = places.map(each => each[0]), ys = places.map(each => each[1])
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

function inside(area, x, y) {
  const places = corners(area)
  let odd = false
  for (let i = 0, j = places.length - 1; i < places.length; j = i++) {
    const [a, b] = places[i], [c, d] = places[j]
    if (b > y != d > y && x < (c - a) * (y - b) / (d - b) + a) odd = !odd
  }
  return odd
}
