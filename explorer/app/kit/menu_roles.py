"""A cure for menus in the browser: what is chosen in a list box is an option, and one is selected.

panel-material-ui hands Material UI the entries of a menu in one piece, so that it cannot give them
their roles: a list box holds menu items, and none of them says that it is the present choice.
"""

from __future__ import annotations

import panel as pn
from bokeh.models import CustomJS

_MEND = """
const all = (root, found) => {
  for (const each of root.querySelectorAll("*")) {
    if (each.matches("ul[role=listbox]")) found.push(each)
    if (each.shadowRoot) all(each.shadowRoot, found)
  }
  return found
}
const mend = (chosen) => {
  for (const list of all(document, []))
    for (const entry of list.querySelectorAll("li[role=menuitem]")) {
      const selected = entry.innerText.trim() === chosen
      entry.setAttribute("role", "option")
      entry.setAttribute("aria-selected", selected)
      if (!selected) continue
      entry.classList.add("Mui-selected")
      entry.style.boxShadow = "inset 3px 0 currentColor"
      entry.style.fontWeight = "600"
      entry.scrollIntoView({block: "nearest"})
      entry.focus()
    }
}
const opened = event => {
  const menu = event.composedPath().find(each => each.matches?.("[role=combobox]"))
  if (!menu) return
  const chosen = menu.innerText.trim()
  for (const wait of [0, 50, 200, 600]) setTimeout(() => mend(chosen), wait)
}
for (const act of ["mousedown", "click", "keydown"]) window.addEventListener(act, opened, true)
"""


def mend_menus() -> None:
    """Let the menus of the page that is being built say what they are; none in a notebook."""
    if pn.state.curdoc is not None:
        pn.state.curdoc.js_on_event("document_ready", CustomJS(code=_MEND))
