// The map on the page: its pictures, what a pointer, a wheel and keys do on it.
import { askUntil } from "./ask.js"
import { View } from "./view.js"

const RASTER = 32
const REST = 90
const FAR = 5

export class Stage {
  // `layers`: of each map its key and the key of the one whose colours it shares.
  constructor(layers, setting, marks) {
    this.map = document.getElementById("map")
    this.status = document.getElementById("status")
    this.view = new View(setting.bounds, setting.cell)
    this.layers = layers.map(layer => ({ ...layer, img: null, abort: null }))
    this.marks = marks
    this.tool = "move"
    this.lines = document.getElementById("lines")
    this.holder = this.map.querySelector(".pictures")
    this.length = this.map.querySelector(".length")
    this.drag = null
    this.pointers = new Map()
    for (const layer of this.layers) {
      layer.box = document.createElement("div")
      this.holder.append(layer.box)
    }
    this.listen()
    new ResizeObserver(() => this.resize()).observe(this.map)
    this.resize()
  }

  say(text) { if (this.status.textContent != text) this.status.textContent = text }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.map
    if (!width || !height || (width == this.view.width && height == this.view.height)) return
    Object.assign(this.view, { width, height })
    this.view.settle()
    this.moved()
  }

  get look() { return document.documentElement.dataset.theme == "dark" ? "cividis" : "paper" }

  // The view has changed: pictures that are there are moved at once, new ones come when it rests.
  moved() {
    for (const layer of this.layers) this.put(layer)
    this.marks.draw()
    this.scale()
    clearTimeout(this.resting)
    this.resting = setTimeout(() => this.load(), this.loaded ? REST : 0)
    this.onmoved?.()
  }

  put({ img, at }) {
    if (!img) return
    const [left, top] = this.view.toPixels(at[0], at[3])
    const [right, bottom] = this.view.toPixels(at[2], at[1])
    Object.assign(img.style, {
      transform: `translate(${left}px, ${top}px)`,
      width: `${right - left}px`,
      height: `${bottom - top}px`,
    })
  }

  load() {
    this.loaded = true
    const { at, size } = this.view.picture(RASTER)
    const asked = new URLSearchParams({
      at: at.map(each => each.toFixed(2)).join(),
      size: size.join(),
      look: this.look,
      lines: this.lines.checked ? "1" : "0",
    })
    for (const layer of this.layers) this.picture(layer, at, asked.toString())
  }

  async picture(layer, at, asked) {
    layer.abort?.abort()
    const abort = layer.abort = new AbortController()
    const shared = layer.with ? `&with=${layer.with}` : ""
    try {
      const found = await askUntil(
        `/picture/${layer.key}.png?${asked}${shared}`, { signal: abort.signal }, s => this.say(s)
      )
      const address = URL.createObjectURL(await found.blob())
      const img = new Image()
      img.alt = ""
      img.draggable = false
      img.src = address
      await img.decode()
      URL.revokeObjectURL(address)
      if (layer.abort != abort) return
      layer.box.replaceChildren(img)
      Object.assign(layer, { img, at })
      this.put(layer)
      this.map.dataset.painted = `${Number(this.map.dataset.painted ?? 0) + 1}`
      this.say("")
    } catch (error) {
      if (error.name != "AbortError") this.say(error.message)
    }
  }

  // A length of one, two or five times a power of ten.
  scale() {
    const most = this.view.metres * this.view.width / 4
    const power = 10 ** Math.floor(Math.log10(most))
    const metres = power * Math.max(...[1, 2, 5].filter(each => each * power <= most))
    this.length.style.width = `${metres / this.view.metres}px`
    this.length.textContent = metres >= 1000 ? `${metres / 1000} km` : `${metres} m`
  }

  choose(tool) {
    this.tool = tool
    this.map.dataset.tool = tool
    for (const each of document.querySelectorAll("[data-tool]"))
      if (each != this.map) each.setAttribute("aria-pressed", String(each.dataset.tool == tool))
    this.marks.forget()
  }

  place(event) {
    const edge = this.map.getBoundingClientRect()
    return [event.clientX - edge.left - this.map.clientLeft, event.clientY - edge.top - this.map.clientTop]
  }

  listen() {
    const press = (id, does) => document.getElementById(id)?.addEventListener("click", does)
    press("in", () => this.zoom(1))
    press("out", () => this.zoom(-1))
    press("whole", () => this.all())
    press("finish", () => this.marks.finish())
    this.lines.addEventListener("change", () => this.load())
    addEventListener("themed", () => this.load())
    for (const each of document.querySelectorAll("button[data-tool]"))
      each.addEventListener("click", () => this.choose(each.dataset.tool))
    this.map.addEventListener("pointerdown", event => this.down(event))
    this.map.addEventListener("pointermove", event => this.over(event))
    for (const name of ["pointerup", "pointercancel"])
      this.map.addEventListener(name, event => this.up(event))
    this.map.addEventListener("dblclick", event => {
      if (this.tool == "shape") return this.marks.finish()
      if (this.tool == "move") this.zoom(2, ...this.place(event))
    })
    // A wheel that scrolls the page goes on doing so until the map has the focus.
    this.map.addEventListener("wheel", event => {
      if (document.activeElement != this.map && !event.ctrlKey) return
      event.preventDefault()
      this.zoom(event.deltaY < 0 ? 1 : -1, ...this.place(event))
    }, { passive: false })
    this.map.addEventListener("keydown", event => this.key(event))
  }

  zoom(steps, left, top) {
    this.view.zoomAt(steps, left, top)
    this.moved()
  }

  all() {
    this.view.zoom = 0
    this.view.settle()
    this.moved()
  }

  down(event) {
    if (event.button > 0) return
    this.map.focus({ preventScroll: true })
    this.map.setPointerCapture(event.pointerId)
    const at = this.place(event)
    this.pointers.set(event.pointerId, at)
    if (this.pointers.size == 2) {
      this.marks.forget()
      this.drag = null
      this.pinch = this.spread()
      return
    }
    this.drag = { at, begin: at, far: false }
  }

  spread() {
    const [[a, b], [c, d]] = this.pointers.values()
    return Math.hypot(a - c, b - d)
  }

  over(event) {
    if (!this.pointers.has(event.pointerId)) return
    const at = this.place(event)
    this.pointers.set(event.pointerId, at)
    if (this.pointers.size == 2) {
      const steps = Math.round(2 * Math.log2(this.spread() / this.pinch))
      if (steps) {
        const [[a, b], [c, d]] = this.pointers.values()
        this.pinch = this.spread()
        this.zoom(steps, (a + c) / 2, (b + d) / 2)
      }
      return
    }
    const drag = this.drag
    if (!drag) return
    drag.far ||= Math.hypot(at[0] - drag.begin[0], at[1] - drag.begin[1]) > FAR
    if (!drag.far) return
    if (this.tool == "box") this.marks.sketchBox(this.view.toMetres(...drag.begin), this.view.toMetres(...at))
    else {
      this.view.move(drag.at[0] - at[0], drag.at[1] - at[1])
      drag.at = at
      this.moved()
    }
  }

  up(event) {
    this.pointers.delete(event.pointerId)
    const drag = this.drag
    this.drag = null
    if (!drag || event.type == "pointercancel") return this.marks.forget()
    const at = this.view.toMetres(...this.place(event))
    if (this.tool == "box" && drag.far) this.marks.addBox(this.view.toMetres(...drag.begin), at)
    else if (this.tool == "shape" && !drag.far) this.marks.addCorner(at)
    else if (this.tool == "look" && !drag.far) this.onlook?.(at)
    else if (!drag.far) this.marks.selectAt(at)
  }

  key(event) {
    const far = event.shiftKey ? 0.5 : 0.125
    const { width, height } = this.view
    const does = {
      ArrowLeft: () => this.view.move(-far * width, 0),
      ArrowRight: () => this.view.move(far * width, 0),
      ArrowUp: () => this.view.move(0, -far * height),
      ArrowDown: () => this.view.move(0, far * height),
      "+": () => this.view.zoomAt(1),
      "=": () => this.view.zoomAt(1),
      "-": () => this.view.zoomAt(-1),
      "0": () => { this.view.zoom = 0; this.view.settle() },
      b: () => this.marks.addView(),
      i: () => this.onlook?.([this.view.x, this.view.y]),
      Delete: () => this.marks.remove(),
      Backspace: () => this.marks.remove(),
      Escape: () => this.marks.forget(),
      Enter: () => this.marks.finish(),
    }[event.key]
    if (!does || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    does()
    this.moved()
  }
}
