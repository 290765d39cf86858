"""A narrow window: the drawer starts closed, and the bar makes space for the way between pages."""

from __future__ import annotations

import panel as pn
from bokeh.models import CustomJS

# In pixels. Below 600 (the breakpoint "sm" of Material UI) the drawer is over the page; next to
# it a tablet held upright has no space for two maps.
BREAKPOINT = 960
_CLOSE = """
if (window.innerWidth < breakpoint)
  for (const each of Bokeh.documents.flatMap(page => page.roots()))
    if (each.data?.sidebar_open === true) {
      each.data.sidebar_open = false
      // Of badge and links the links name the page: there is no room for its title as well.
      if (each.data.header?.length > 1) each.data.title = ""
    }
"""


def close_drawer_when_narrow() -> None:
    """Close the drawer of the page that is being built once its window turns out to be narrow.

    It would lie over the maps. The server knows a phone by its name alone, so a narrow window of a
    desktop has to find out in the browser.
    """
    if pn.state.curdoc is not None:
        script = CustomJS(args={"breakpoint": BREAKPOINT}, code=_CLOSE)
        pn.state.curdoc.js_on_event("document_ready", script)
