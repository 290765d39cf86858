"""What a page leaves in the cell of a notebook: each script once, however many parts need it.

With ``panel.config.inline`` every Material component carries the whole bundle of its library,
1.4 MB, and a page has forty of them: 64 MB a cell, which a saved notebook keeps. Here the first
line of the output holds each script once, and the components ask for it by its hash.
"""

from __future__ import annotations

import json
from typing import Any

from bokeh.model import Model
from panel.io import notebook
from panel.models.esm import ReactComponent

#: What a component loads in place of its own copy; Panel takes its default export.
_LOADER = "const whole = await globalThis.__explorer_scripts[%s];\nexport default whole.default;"
_SCRIPT = """<script type="text/javascript">
(() => {
  const held = globalThis.__explorer_scripts ??= {}
  for (const [name, source] of Object.entries(%s)) {
    held[name] ??= import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})))
  }
})()
</script>
"""


def write_scripts_once() -> None:
    """Let every output of a notebook hold each script once; a second call does nothing."""
    plain = getattr(notebook, "render_model", None)
    if plain is None or hasattr(plain, "original"):
        return

    def render(model: Model, comm: Any = None, resources: str = "cdn") -> Any:
        sources = take_scripts(model)
        bundle, about = plain(model, comm, resources)
        if sources and "text/html" in bundle:
            bundle = {**bundle, "text/html": _SCRIPT % _in_html(sources) + bundle["text/html"]}
        return bundle, about

    render.original = plain  # type: ignore[attr-defined]
    notebook.render_model = render


def take_scripts(model: Model) -> dict[str, str]:
    """Take the scripts out of all components of a model; scripts by the hash of their bundle."""
    sources: dict[str, str] = {}
    for each in model.select({"type": ReactComponent}):
        # Without a bundle a component's script is its own; an address is short already.
        if each.bundle and each.bundle != "url":
            sources[each.bundle] = each.esm
            each.esm = _LOADER % json.dumps(each.bundle)
    return sources


def _in_html(sources: dict[str, str]) -> str:
    """JSON that may stand inside a script element of a page."""
    return json.dumps(sources).replace("</", "<\\/").replace("<!--", "<\\!--")
