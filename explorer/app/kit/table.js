/**
 * A table of text and numbers for `explorer.app.kit.table.Table`: a real HTML <table>.
 *
 * Values become text nodes or values of fields. The one exception are columns of the kind "markup",
 * which the server makes of numbers alone.
 */

/** Rows drawn at first, and with each step when the last one comes near. */
const STEP = 200

/** A value as the cell shows it: digits in groups of three, a dash for what is not a number. */
export function format(value, {kind, decimals = 0, sign = false}) {
  if (kind !== "number") return value == null ? "" : String(value)
  if (!Number.isFinite(value)) return "–"
  const digits = {minimumFractionDigits: decimals, maximumFractionDigits: decimals}
  const text = Math.abs(value).toLocaleString("en-US", digits)
  const zero = !/[1-9]/.test(text)
  return (zero ? "" : value < 0 ? "−" : sign ? "+" : "") + text
}

/** Row numbers in the order of a column's values; what is not a number comes last. */
export function sorted(values, descending) {
  const order = values.map((_, row) => row), turn = descending ? -1 : 1
  const missing = value => value == null || Number.isNaN(value)
  return order.sort((a, b) => {
    const [x, y] = [values[a], values[b]]
    if (missing(x) || missing(y)) return missing(x) - missing(y) || a - b
    return turn * (typeof x === "string" ? x.localeCompare(y) : x - y) || a - b
  })
}

/** The columns that have room: those of the highest rank leave first, rank 0 never. */
export function fitting(columns, width) {
  const left = columns.filter(column => !column.hidden)
  const total = () => left.reduce((sum, column) => sum + column.width, 0)
  while (total() > width) {
    const rank = Math.max(...left.map(column => column.rank ?? 0))
    if (!(rank > 0)) break
    left.splice(left.findIndex(column => column.rank === rank), 1)
  }
  return left
}

const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name)
  for (const key in attributes) element.setAttribute(key, attributes[key])
  element.append(...children)
  return element
}

/** The cross of a button that deletes. */
function cross() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path")
  for (const [key, value] of Object.entries({width: 14, height: 14, "aria-hidden": true}))
    svg.setAttribute(key, value)
  path.setAttribute("d", "M2 2 L12 12 M12 2 L2 12")
  path.setAttribute("stroke", "currentColor")
  path.setAttribute("stroke-width", "2")
  svg.append(path)
  return svg
}

export function render({model}) {
  const titles = make("tr"), body = make("tbody"), widths = make("colgroup")
  const table = make("table", {class: "values"}, widths, make("thead", {}, titles), body)
  const empty = make("p", {class: "empty"})
  const frame = make("div", {class: "scroll"}, table, empty)
  let shape = "", steps = 1, sort = null, order = [], anchor = 0, due = false, chosen = new Set()

  const send = (kind, message) => model.send_msg({kind, ...message})
  const rowOf = element => order[element.closest("tr").sectionRowIndex]
  const nameOf = row => String(model.rows[0]?.[row] ?? "")

  // What a person does.

  /** One row alone; with Ctrl or Command one more or less, with Shift all from the last one. */
  const choose = (row, event, toggles = true) => {
    const add = event.ctrlKey || event.metaKey
    let rows = add ? [...chosen] : []
    if (event.shiftKey) {
      const [from, to] = [anchor, row].map(each => order.indexOf(each)).sort((a, b) => a - b)
      rows = [...new Set([...rows, ...order.slice(from, to + 1)])]
    } else if (chosen.has(row) && toggles && (add || chosen.size === 1))
      rows = rows.filter(each => each !== row)
    else if (!rows.includes(row)) rows.push(row)
    if (!event.shiftKey) anchor = row
    chosen = new Set(rows)
    mark()
    send("select", {rows: rows.sort((a, b) => a - b)})
  }
  const clicked = event => {
    const row = rowOf(event.target), button = event.target.closest("button")
    if (button?.dataset.act === "delete") {
      // The next row takes its place: a second click is not for that one.
      button.disabled = true
      send("delete", {row})
    } else if (model.selectable) choose(row, event, !event.target.matches("input"))
    else if (model.clickable) send("click", {row})
  }
  const changed = event => {
    const field = event.target, column = field.dataset.column
    field.shown = field.value
    const value = field.type !== "number" ? field.value
      : field.value === "" ? null : Number(field.value)
    send("edit", {row: rowOf(field), column, value})
  }
  const pressed = event => {
    if (event.key !== "Escape" || !event.target.matches("input")) return
    event.target.value = event.target.shown
  }
  body.addEventListener("click", clicked)
  body.addEventListener("change", changed)
  body.addEventListener("keydown", pressed)

  // What it shows.

  const mark = () => [...body.rows].forEach((line, place) => {
    const is = chosen.has(order[place])
    line.classList.toggle("selected", is)
    line.querySelector("[data-act=select]")?.setAttribute("aria-pressed", is)
  })
  const title = (column, shown) => {
    const cell = make("th", {scope: "col", "data-column": column.name, class: column.align})
    if (column.about) cell.title = column.about
    cell.hidden = !shown
    if (!column.sortable) cell.textContent = column.title
    else {
      const active = sort?.name === column.name
      cell.ariaSort = active ? (sort.down ? "descending" : "ascending") : "none"
      const button = make("button", {type: "button"}, column.title)
      button.addEventListener("click", () => {
        sort = {name: column.name, down: active && !sort.down}
        draw()
        titles.querySelector(`[data-column="${CSS.escape(column.name)}"] button`)?.focus()
      })
      cell.append(button)
    }
    return cell
  }
  const line = columns => {
    const row = make("tr")
    columns.forEach((column, place) => {
      const attributes = {"data-column": column.name, class: column.align ?? "right"}
      const cell = place ? make("td", attributes) : make("th", {...attributes, scope: "row"})
      if (!place && model.selectable)
        cell.append(make("button", {type: "button", "data-act": "select"}))
      if (column.edit) {
        const kind = column.kind === "number" ? {type: "number", step: column.step ?? "any"} : {}
        cell.append(make("input", {"data-column": column.name, autocomplete: "off", ...kind}))
      } else if (!place && model.clickable)
        cell.append(make("button", {type: "button", "data-act": "click"}))
      row.append(cell)
    })
    if (model.deletable) {
      const button = make("button", {type: "button", "data-act": "delete"}, cross())
      row.append(make("td", {class: "center", "data-column": "delete"}, button))
    }
    return row
  }
  const put = (cell, column, value, name) => {
    const field = cell.querySelector("input")
    if (field) {
      field.setAttribute("aria-label", `${column.title} of ${name}`)
      const plain = column.kind !== "number"
      const text = plain ? format(value, column) : value == null || Number.isNaN(value) ? ""
        : value.toFixed(column.decimals ?? 0)
      // What a person is typing now is not written over.
      const typing = field.getRootNode().activeElement === field && field.value !== field.shown
      if (typing) return
      field.value = field.shown = text
      return
    }
    const place = cell.querySelector("[data-act=click]") ?? cell
    const text = format(value, column)
    if (place.shown === text) return
    place.shown = text
    if (column.kind === "markup") place.innerHTML = text
    else place.textContent = text
  }
  const draw = () => {
    due = false
    const {columns, rows} = model, count = rows[0]?.length ?? 0
    const made = JSON.stringify([columns.map(each => [each.name, each.kind, each.edit]),
      model.selectable, model.clickable, model.deletable])
    if (made !== shape) {
      shape = made
      body.replaceChildren()
    }
    const place = columns.findIndex(column => sort && column.name === sort.name)
    order = place < 0 ? Array.from({length: count}, (_, row) => row)
      : sorted(rows[place], sort.down)
    table.setAttribute("aria-label", model.label)
    table.setAttribute("aria-rowcount", count + 1)
    empty.textContent = model.empty
    empty.hidden = count > 0
    const wanted = Math.min(count, steps * STEP)
    const focused = frame.getRootNode().activeElement
    const within = body.contains(focused) ? focused.dataset.act : ""
    while (body.rows.length > wanted) body.deleteRow(-1)
    while (body.rows.length < wanted) body.append(line(columns))
    if (within && !focused.isConnected)
      body.lastElementChild?.querySelector(`[data-act=${within}]`)?.focus()
    const names = rows[0] ?? []
    ;[...body.rows].forEach((row, at) => {
      const name = String(names[order[at]] ?? "")
      row.setAttribute("aria-rowindex", at + 2)
      columns.forEach((column, i) => put(row.cells[i], column, rows[i]?.[order[at]], name))
      row.querySelector("[data-act=select]")?.setAttribute("aria-label", `Select ${name}`)
      const button = row.querySelector("[data-act=delete]")
      button?.setAttribute("aria-label", `Delete ${name}`)
      if (button) button.disabled = false
    })
    mark()
    fit(true)
    // The kept picture of the page has been there for whoever waits for these rows.
    if (count) document.getElementById("first-screen")?.remove()
  }
  let fits = ""
  /** Let the columns share the width in proportion to their least widths. */
  const fit = anew => {
    const room = frame.clientWidth - (model.deletable ? 44 : 0)
    if (room <= 0 && !anew) return
    const {columns} = model
    const left = model.scrolls || room <= 0 ? columns.filter(column => !column.hidden)
      : fitting(columns, room)
    const names = left.map(column => column.name).join()
    if (names === fits && !anew) return
    fits = names
    const total = left.reduce((sum, column) => sum + column.width, 0)
    table.style.minWidth = model.scrolls ? `${total}px` : ""
    widths.replaceChildren(...left.map(({width}) => {
      const col = make("col")
      col.style.width = `${100 * width / total}%`
      return col
    }))
    titles.replaceChildren(...columns.map(column => title(column, left.includes(column))))
    if (model.deletable) {
      titles.append(make("th", {scope: "col", class: "center"}, "delete"))
      const col = make("col")
      col.style.width = "44px"
      widths.append(col)
    }
    for (const row of body.rows)
      columns.forEach((column, place) => { row.cells[place].hidden = !left.includes(column) })
  }
  const later = () => {
    // Columns and rows that come in one message are drawn together.
    if (!due) queueMicrotask(draw)
    due = true
  }
  const watched = ["columns", "rows", "revision", "empty", "label", "selectable", "clickable"]
  for (const name of watched) model.on(name, later)
  model.on("selected", () => {
    chosen = new Set(model.selected)
    mark()
  })
  model.on("revision", () => {
    chosen = new Set(model.selected)
  })
  frame.addEventListener("scroll", () => {
    const near = frame.scrollTop + 2 * frame.clientHeight > frame.scrollHeight
    if (near && body.rows.length < order.length) {
      steps += 1
      draw()
    }
  })
  const size = new ResizeObserver(() => fit(false))
  size.observe(frame)
  model.on("remove", () => size.disconnect())
  chosen = new Set(model.selected)
  draw()
  return frame
}

export default {render}
