"""Cures for tables in the browser: roles that a screen reader needs, columns that come too soon.

What is typed into a cell stands in a field without a name; it gets that of its column. A cell that
takes an entry opens its field as soon as it has the focus, so that nobody came out of it backwards.

Tabulator 6 says that its element is a grid and puts a focusable part without a role between the
grid and the rows, which hides the rows (axe-core: aria-required-children, critical).

A table builds itself in its own time. Other columns or rows that arrive before it has done so, as
when a link opens a page for other trips, end in an error inside Tabulator, and the table stays
empty. They have to wait until it is built. A table that has not been drawn yet, or no more, has no
rows to scroll back to where they were: Panel tries a frame later, and ends in an error.

Where a table changes its size, Panel asks without a pause whether it may be drawn anew, some
70,000 times a second: while a cell is being edited, and for ever where a style sheet came from the
browser's cache, which Panel takes for one that is still on its way. A page at rest then kept a
processor busy, and the table never took its new size.

A table that changes its size twice in a fifth of a second, as when the drawer closes, is still
being scrolled at the second time. Panel then does not listen: columns stayed as wide as for the
first size, and where a table stood beside the maps most of its columns were cut off or gone.

Where numbers of a table change, Panel lets Tabulator make all its rows anew and lay the page out
for each of them, and draw the table twice more since its height has changed (150 ms each for three
rows). Rows that stay get their new values where they are, one that comes is put below them, and
others are made apart from the page.
"""

from __future__ import annotations

import panel as pn
from bokeh.models import CustomJS

_MEND = """
const mend = (grid) => {
  const set = (part, role) => grid.querySelector(part)?.setAttribute("role", role)
  set(".tabulator-tableholder", "rowgroup")
  set(".tabulator-table", "presentation")
  grid.removeAttribute("aria-owns")
}
// Tables that are there already, in shadow roots; and those that are still to come.
const walk = (root) => {
  for (const each of root.querySelectorAll("*")) {
    if (each.shadowRoot) walk(each.shadowRoot)
    if (each.matches(".tabulator[role=grid]")) mend(each)
  }
}
const hook = () => {
  const kind = window.Tabulator && Object.getPrototypeOf(window.Tabulator.prototype)
  if (!kind?._create || kind._create.mended) return
  const create = kind._create
  kind._create = function (...given) {
    const created = create.apply(this, given)
    mend(this.element)
    return created
  }
  kind._create.mended = true
  for (const name of ["setColumns", "setData"]) {
    const plain = kind[name]
    kind[name] = function (...given) {
      if (this.initialized) return plain.apply(this, given)
      return new Promise((done, failed) => {
        this.on("tableBuilt", () => {
          try { done(plain.apply(this, given)) } catch (error) { failed(error) }
        })
      })
    }
  }
}
const guard = () => {
  const view = Bokeh.Models.get("panel.models.tabulator.DataTabulator")?.prototype.default_view
  if (!view || view.prototype.restore_scroll.mended) return
  view.prototype.restore_scroll = function (horizontal = true, vertical = true) {
    const place = {behavior: "instant"}
    if (vertical) place.top = this._lastVerticalScrollbarTopPosition
    if (horizontal) place.left = this._lastHorizontalScrollbarLeftPosition
    requestAnimationFrame(() => {
      const rows = this.tabulator?.rowManager?.element
      if (!rows || !(horizontal || vertical)) return
      this._updating_scroll = true
      rows.scrollTo(place)
      this._updating_scroll = false
    })
  }
  view.prototype.restore_scroll.mended = true
  // What asks already is let go: it looks for an editor before it looks at the sheets.
  const editing = view.prototype._has_active_editor
  view.prototype._has_active_editor = function () {
    for (const {el} of this._applied_stylesheets)
      if (el.sheet) this._initialized_stylesheets.set(el.href, true)
    return editing.call(this)
  }
  const renewed = view => {
    const {tabulator: table, model} = view, manager = table?.rowManager
    const plain = model.pagination === null && !model.sorters.length && !model.groupby.length
    if (!plain || !table.initialized || view._building || view._initializing) return null
    const data = view.getData(), rows = [...manager.rows], gone = rows.splice(data.length)
    if (!rows.length) return null
    rows.forEach((row, i) => {
      Object.assign(row.data, data[i])
      for (const cell of row.cells) {
        const value = cell.column.getFieldValue(row.data)
        if (!Object.is(value, cell.value)) cell.setValueProcessData(value)
      }
    })
    const come = data.slice(rows.length)
    if (come.length) {
      if (manager.renderer.vDomBottom === rows.length - 1) return put(view, come)
      return apart(view, () => manager.addRows(come, false))
    }
    if (gone.length) return apart(view, async () => {
      for (const row of gone) row.deleteActual(true)
      manager.reRenderInPosition()
    })
    return Promise.resolve()
  }
  // As high as its rows are together.
  const fit = ({rowManager, columnManager, element}) => {
    const rows = rowManager.element
    rows.style.height = ""
    rows.style.height = `${element.clientHeight - columnManager.getElement().offsetHeight}px`
  }
  // Rows below the last, which is in sight: nothing else is measured, since that lays out the page.
  const put = async (view, come) => {
    const {rowManager: manager, columnManager} = view.tabulator, {renderer} = manager
    const head = columnManager.getElement().offsetHeight
    for (const each of come) manager.addRow(each, false, undefined, true)
    const rows = manager.getDisplayRows()
    manager.displayRowsCount = rows.length
    renderer._addBottomRow(rows, Infinity)
    manager.regenerateRowPositions()
    const high = rows.reduce((sum, row) => sum + row.getHeight(), 0)
    manager.element.style.height = `${high}px`
    if (high + head < (view.model.max_height ?? Infinity)) return
    fit(view.tabulator)
    manager.scrollBarCheck()
  }
  // While rows are made anew the table lies apart: the page is not laid out for each of its sizes.
  const apart = (view, make) => {
    const {element} = view.tabulator, look = element.style.cssText
    const high = Math.max(element.offsetHeight, view.model.max_height ?? 0)
    element.style.cssText +=
      `;position:absolute;contain:strict;width:${element.offsetWidth}px;height:${high}px`
    return make().finally(() => {
      element.style.cssText = look
      fit(view.tabulator)
    })
  }
  for (const name of ["setData", "updateOrAddData"]) {
    const plain = view.prototype[name]
    view.prototype[name] = function () {
      if (this._tabulator_cell_updating) return plain.call(this)
      const done = renewed(this)
      if (done) return done
      const ready = this.tabulator?.initialized && !this._building && !this._initializing
      const make = () => Promise.resolve(plain.call(this))
      return ready && this.model.pagination === null ? apart(this, make) : make()
    }
  }
  // Its height follows from its rows: only another width is a reason to draw them anew.
  const resized = view.prototype.after_resize
  view.prototype.after_resize = function () {
    const width = this.el.clientWidth
    if (width === this._last_after_resize_el_width && width > 0)
      return Object.getPrototypeOf(view.prototype).after_resize.call(this)
    resized.call(this)
    // A table that is drawn or scrolled did not listen: it is drawn anew once it is at rest.
    if (width > 0 && width !== this._last_after_resize_el_width && this.tabulator?.initialized) {
      this._last_after_resize_el_width = width
      this._request_resize_redraw()
    }
  }
  view.prototype._flush_resize_when_root_ready = async function () {
    for (let looks = 0; this._resize_pending; looks++) {
      await this.root.ready
      if (!this._resize_pending) return
      // One that cannot be had is not waited for.
      const styled = looks > 100 || !this._applied_stylesheets.some(
        each => each.el instanceof HTMLLinkElement && each.el.sheet == null)
      const now = styled && this.container !== null && !this._is_scrolling && !this._initializing
        && !this.is_drawing && !this._has_active_editor()
      if (now) {
        this._resize_pending = false
        this._resize_redraw()
      } else await new Promise(done => setTimeout(done, 50))
    }
  }
}
const name = event => {
  const field = event.composedPath()[0]
  const column = field.closest?.(".tabulator-cell")?.getAttribute("tabulator-field")
  if (column && field.matches("input")) field.setAttribute("aria-label", column)
}
for (const act of ["focusin", "keyup"]) document.addEventListener(act, name, true)
// Backwards the focus would go from the field to its own cell, which opens the field again.
document.addEventListener("keydown", event => {
  const cell = event.composedPath()[0].closest?.(".tabulator-cell[tabindex='0']")
  if (!cell || event.key !== "Tab" || !event.shiftKey) return
  cell.tabIndex = -1
  setTimeout(() => { cell.tabIndex = 0 })
}, true)
// The library comes in its own time. A table may be made before the hook and be put into the page
// after a walk, so that there are several.
let tries = 0
const begin = () => {
  if (!window.Tabulator && ++tries < 6000) return setTimeout(begin, 20)
  hook()
  guard()
  for (const wait of [0, 250, 1000, 3000, 10000, 30000]) setTimeout(() => walk(document), wait)
}
begin()
"""

#: For the head of a page: values may come before the library of tables does, and so before a table
#: is drawn. It is drawn with them then.
EARLY = """<script>
(() => {
  const mend = () => {
    const table = window.Bokeh?.Models?.get?.("panel.models.tabulator.DataTabulator")
    const view = table?.prototype.default_view
    if (!view) return setTimeout(mend, 5)
    const names = ["setData", "updateOrAddData", "addData", "setHidden", "redraw", "resize_table",
      "restore_scroll", "record_scroll"]
    for (const name of names) {
      const plain = view.prototype[name]
      if (plain) view.prototype[name] = function (...given) {
        // A table that is made builds itself in a later turn, and has no rows until then.
        return this.tabulator?.rowManager ? plain.apply(this, given) : Promise.resolve()
      }
    }
  }
  mend()
})()
</script>"""


def mend_tables() -> None:
    """Let every table of the page that is being built have the right roles; none in a notebook."""
    if pn.state.curdoc is not None:
        pn.state.curdoc.js_on_event("document_ready", CustomJS(code=_MEND))
