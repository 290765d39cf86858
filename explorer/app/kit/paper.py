"""A page on paper: what it shows and no controls, black on white, none of it cut off.

A page on the screen scrolls inside a window; paper has no window. Bar, drawer and buttons are left
out. Maps and charts are drawn for the width of the screen, so the page keeps that width and is made
smaller as a whole.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import panel as pn
from bokeh.models import CustomJS

_PRINT = "@media print"
_GONE = {_PRINT: {"display": "none !important"}}
#: What only a hand on the screen can use.
CONTROLS = (
    *("MuiAppBar", "MuiDrawer", "MuiButton", "MuiIconButton", "MuiToggleButtonGroup"),
    *("MuiToggleButton", "MuiSwitch"),
)
INK, SHEET = "#111111", "#ffffff"

#: Of the frame around a page, which is as high as the window and scrolls inside.
FRAME: dict[str, Any] = {
    _PRINT: {
        "display": "block",
        "width": "auto",
        "height": "auto",
        "overflow": "visible",
        "zoom": "var(--paper-zoom, 0.7)",
        "& main, & main > *": {
            "display": "block !important",
            "width": "var(--paper-width, auto)",
            "height": "auto !important",
            "minHeight": "0",
            "overflow": "visible !important",
            "backgroundColor": SHEET,
            "color": INK,
        },
        # The space that the bar takes.
        "& main > .MuiToolbar-root": {"display": "none !important"},
    },
    # Charts are pictures in the colours of the dark theme: turned around, hues stay what they are.
    "&.mui-dark": {_PRINT: {"--paper-turn": "invert(1) hue-rotate(180deg)"}},
}

#: Of our own HTML.
CSS = f"""
@media print {{
  :host {{ color: {INK} !important; print-color-adjust: exact;
    -webkit-print-color-adjust: exact; }}
  h2, h3 {{ break-after: avoid; }}
  tr, .figures {{ break-inside: avoid; }}
  .scroll {{ overflow: visible; }}
}}
"""
#: Of charts without a ground of their own; maps keep theirs.
CHART_CSS = "@media print { :host { filter: var(--paper-turn, none); break-inside: avoid; } }"

# Once for a window: what is outside of the page, and how wide the page is on the screen.
_ONCE = """
if (!window.explorer_paper) {
  window.explorer_paper = true
  const style = document.createElement("style")
  style.textContent = `@page { size: A4 landscape; margin: 10mm }
    @media print {
      html, body { background: %s !important; height: auto !important; overflow: visible !important;
        print-color-adjust: exact; -webkit-print-color-adjust: exact; } }`
  document.head.append(style)
  const main = root => root.querySelector("main") ?? [...root.querySelectorAll("*")].map(
    each => each.shadowRoot && main(each.shadowRoot)).find(Boolean)
  window.addEventListener("beforeprint", () => {
    const wide = main(document)?.lastElementChild?.clientWidth ?? 0
    if (!wide) return
    // 277 mm of a landscape sheet, in the pixels of CSS.
    const {style} = document.documentElement
    style.setProperty("--paper-width", `${wide}px`)
    style.setProperty("--paper-zoom", String(Math.min(1, 1046 / wide)))
    // Maps are as high as the window leaves room for; a sheet is another window.
    style.setProperty("--explorer-window", `${window.innerHeight}px`)
  })
  window.addEventListener("afterprint", () => {
    document.documentElement.style.removeProperty("--explorer-window")
  })
}
"""


def printable(theme: dict[str, Any]) -> dict[str, Any]:
    """A theme of the page whose controls are not printed."""
    found = deepcopy(theme)
    for mode in found.values():
        for name in CONTROLS:
            styles = mode["components"].setdefault(name, {}).setdefault("styleOverrides", {})
            styles["root"] = {**styles.get("root", {}), **_GONE}
    return found


def prepare() -> None:
    """Let the page that is being built fit on paper."""
    if pn.state.curdoc is not None:
        script = CustomJS(code=_ONCE % SHEET)
        pn.state.curdoc.js_on_event("document_ready", script)
