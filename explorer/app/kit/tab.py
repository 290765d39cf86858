"""What the pages in one tab of a browser have in common: links that the bar's links carry along.

It is in the tab's own storage. So no two visitors and no two tabs ever meet, nothing of it is on
the server, and it ends with the tab. A page without an address of its own is led to with two
arguments: the link of its own last screen, and that of what all pages share.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import panel as pn
from bokeh.models import CustomJS

from explorer.app.kit.navigation import Link

#: Arguments of an address: a page's own screen, what is shared, and whether own data stayed behind.
OWN, SHARED, LEFT = "s", "from", "left"
#: The argument that names the story which is being made, on whatever page its next step is.
MAKING = "making"
# Servers behind one host have folders of their own.
_STORE = """
const folder = window.location.pathname.replace(/[^/]*$/, "")
const place = "explorer-workspace:" + folder
const known = () => {
  try { return JSON.parse(window.sessionStorage.getItem(place)) ?? {} } catch (_) { return {} }
}
"""
_KEEP = f"""
{_STORE}
try {{
  const kept = {{...known(), ...JSON.parse(cb_obj.value).kept}}
  window.sessionStorage.setItem(place, JSON.stringify(kept))
}} catch (_) {{}}
"""
# A link is written when it is used: by then the tab knows the last change.
_LEAD = f"""
{_STORE}
const lead = event => {{
  const link = event.composedPath().find(each => each instanceof HTMLAnchorElement)
  if (!link) return
  link.dataset.plain ??= link.href
  const there = new URL(link.dataset.plain)
  const page = pages[there.pathname.slice(folder.length)]
  const ours = there.origin === window.location.origin && there.pathname.startsWith(folder)
  // A link that says what it shows goes before what the tab knows.
  if (!ours || !page || there.search) return
  const kept = known()
  const put = (name, value) => value && there.searchParams.set(name, value)
  put(own, kept[page])
  // A page that shares nothing takes no notice of it.
  put(shared, kept.shared)
  put(left, kept.left)
  const asked = new URLSearchParams(window.location.search)
  for (const name of along) put(name, asked.get(name))
  link.href = there.href
  // Who comes back finds the page as it was left.
  if (event.type === "click" && kept[here]) {{
    const back = new URL(window.location.href)
    for (const name of [shared, left]) back.searchParams.delete(name)
    back.searchParams.set(own, kept[here])
    window.history.replaceState(window.history.state, "", back)
  }}
}}
for (const act of ["click", "auxclick", "contextmenu"])
  window.addEventListener(act, lead, true)
"""


class Tab:
    """Has the browser's tab keep links for the pages; ``view`` has to be on the page."""

    def __init__(self) -> None:
        self._number = 0
        self._kept: dict[str, str] = {}
        self._order = pn.widgets.TextInput(visible=False)
        self._order.jscallback(value=_KEEP)
        self.view = pn.Column(self._order, visible=False, margin=0)

    def keep(self, **links: str) -> None:
        """Keep links by the key of their page, ``shared`` and ``left``; "" forgets one."""
        if any(self._kept.get(name) != link for name, link in links.items()):
            self._kept |= links
            self._number += 1
            self._order.value = json.dumps({"number": self._number, "kept": links})


def lead(here: str, links: Sequence[Link]) -> None:
    """Let the links of the page that is being built, with the key ``here``, carry what is kept."""
    if pn.state.curdoc is None or not links:
        return
    names: dict[str, Any] = {"own": OWN, "shared": SHARED, "left": LEFT, "here": here}
    names["along"] = ["theme", MAKING]
    pages = {each.address: each.key for each in links}
    script = CustomJS(args={**names, "pages": pages}, code=_LEAD)
    pn.state.curdoc.js_on_event("document_ready", script)
