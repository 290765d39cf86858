// What part of the map is seen. Pictures are asked for on a raster, so that people who look at the
// same place ask for the same one.
const STEP = Math.SQRT2
const DEEPEST = 24

export class View {
  constructor([west, south, east, north], cell) {
    Object.assign(this, { west, south, east, north, cell, width: 1, height: 1 })
    this.x = (west + east) / 2
    this.y = (south + north) / 2
    this.zoom = 0
  }

  // Metres of a pixel where the whole map is just seen.
  get whole() {
    return Math.max((this.east - this.west) / this.width, (this.north - this.south) / this.height)
  }

  get metres() { return this.whole / STEP ** this.zoom }

  get deepest() {
    // A cell fills a third of the map then.
    const most = this.whole * Math.max(this.width, 300) / (3 * Math.max(...this.cell))
    return Math.min(DEEPEST, Math.max(0, Math.round(Math.log(most) / Math.log(STEP))))
  }

  bounds() {
    const m = this.metres
    const x = this.x - this.width * m / 2, y = this.y - this.height * m / 2
    return [x, y, x + this.width * m, y + this.height * m]
  }

  // The picture that covers what is seen: its edges in metres, its size in pixels.
  picture(raster) {
    const m = this.metres, step = m * raster
    const [x0, y0, x1, y1] = this.bounds()
    // What misses the raster by less than a pixel is on it.
    const first = (at, from) => from + Math.floor((at - from) / step + 1 / raster) * step
    const west = first(x0, this.west), south = first(y0, this.south)
    const width = Math.ceil((x1 - west) / step - 1 / raster) * raster
    const height = Math.ceil((y1 - south) / step - 1 / raster) * raster
    return { at: [west, south, west + width * m, south + height * m], size: [width, height] }
  }

  toPixels(x, y) {
    const m = this.metres
    return [(x - this.x) / m + this.width / 2, (this.y - y) / m + this.height / 2]
  }

  toMetres(left, top) {
    const m = this.metres
    return [this.x + (left - this.width / 2) * m, this.y - (top - this.height / 2) * m]
  }

  // Keep what stands under a pixel where it is.
  zoomAt(steps, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toMetres(left, top)
    this.zoom = Math.min(this.deepest, Math.max(0, this.zoom + steps))
    const [now, below] = this.toMetres(left, top)
    this.x += x - now
    this.y += y - below
    this.settle()
  }

  move(right, down) {
    this.x += right * this.metres
    this.y -= down * this.metres
    this.settle()
  }

  show([x0, y0, x1, y1]) {
    this.x = (x0 + x1) / 2
    this.y = (y0 + y1) / 2
    const wanted = Math.max((x1 - x0) / this.width, (y1 - y0) / this.height)
    const zoom = Math.floor(Math.log(this.whole / wanted) / Math.log(STEP) + 1e-9)
    this.zoom = Math.min(this.deepest, Math.max(0, zoom))
    this.settle()
  }

  // Not beyond the map, and the whole of it in the middle.
  settle() {
    this.x = Math.min(this.east, Math.max(this.west, this.x))
    this.y = Math.min(this.north, Math.max(this.south, this.y))
    if (this.zoom > 0) return
    this.x = (this.west + this.east) / 2
    this.y = (this.south + this.north) / 2
  }
}
