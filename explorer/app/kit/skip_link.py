"""A link at the head of every page, seen with the focus only: past bar and drawer to the content.

Without it a keyboard passes the pages of the bar and all controls of the drawer before it comes to
the first map (WCAG 2.4.1).
"""

from __future__ import annotations

import json

import panel as pn
from bokeh.models import CustomJS

LABEL = "Skip to the content"
_STYLE = (
    "position: fixed; left: 8px; top: 4px; z-index: 3000; padding: 10px 14px; border-radius: 4px; "
    "font: 600 16px/24px system-ui, sans-serif; color: #10161d; background: #ffffff; "
    "outline: 2px solid #0b5394; text-decoration: none;"
)
_INSERT = """
const find = (root) => {
  for (const each of root.querySelectorAll("*")) {
    if (each.matches("main")) return each
    const within = each.shadowRoot && find(each.shadowRoot)
    if (within) return within
  }
}
if (!document.getElementById("skip")) {
  const link = document.createElement("a")
  Object.assign(link, {id: "skip", href: "#", textContent: label})
  const seen = (on) => { link.style.cssText = style + (on ? "" : "transform: translateY(-200%);") }
  seen(false)
  link.addEventListener("focus", () => seen(true))
  link.addEventListener("blur", () => seen(false))
  link.addEventListener("click", event => {
    event.preventDefault()
    const content = find(document)
    content?.setAttribute("tabindex", "-1")
    content?.focus()
  })
  document.body.prepend(link)
}
"""


def skip_link() -> None:
    """Put the link before all else of the page that is being built; none in a notebook."""
    if pn.state.curdoc is not None:
        given = f"const label = {json.dumps(LABEL)}, style = {json.dumps(_STYLE)}\n"
        pn.state.curdoc.js_on_event("document_ready", CustomJS(code=given + _INSERT))
