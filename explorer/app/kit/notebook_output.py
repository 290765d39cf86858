"""What a page leaves in a notebook's cell: a poster, while the live page comes from the kernel.

A saved notebook keeps its outputs, and is mailed and published. With Panel alone the output is the
whole page: the exact map, exact answers, and, with ``panel.config.inline``, the 1.4 MB of its
library's script for each of forty components, 64 MB a cell. When it is opened again without its
kernel, its controls move and nothing answers.

Here the output is a poster of what may be published. A line of script asks the kernel for the page,
which comes over a comm, is shown and never saved. Where no kernel answers, the poster says so. With
``keep=True`` the page itself is in the output, each script once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from bokeh.model import Model
from panel.io import notebook
from panel.models.esm import ReactComponent

from explorer.app.kit.notebook_scripts import SCRIPTS, answer
from explorer.app.kit.words import words

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
SAVED = words("notebook")["Saved"]
_POSTER = """<div id="poster-%(id)s">%(poster)s<p class="sign"><b>%(saved)s</b></p></div>
<script type="text/javascript">
(() => {
  const [id, target, scripts, saved] = %(names)s
  const place = document.getElementById("poster-" + id)
  if (!place) return
  const sign = place.querySelector(".sign")
  sign.textContent = "Waiting for the kernel."
  const silent = setTimeout(() => { sign.innerHTML = "<b>" + saved + "</b>" }, 2000)
  const run = (code, into) => {
    const script = document.createElement("script")
    script.textContent = code
    into.replaceWith(script)
  }
  const show = (message) => {
    clearTimeout(silent)
    place.innerHTML = message.content.data.html
    // Scripts that are put in as text do not run.
    for (const each of place.querySelectorAll("script")) run(each.textContent, each)
  }
  const load = (message) => {
    clearTimeout(silent)
    loaded[scripts] = Infinity
    run(message.content.data.script, document.head.appendChild(document.createElement("i")))
  }
  // Every page that is open asks for its scripts once, and again where nothing came.
  const loaded = globalThis.__explorer_loaded ??= {}
  let tries = 0
  const ask = () => {
    const viz = window.PyViz
    const known = viz?.comm_manager && (
      viz.kernels?.[id] || window.comm_manager || window.Jupyter?.notebook?.kernel
      || typeof google !== "undefined"
    )
    if (!known) return ++tries < 100 && setTimeout(ask, 100)
    const fetch = (name, use) => {
      // Every view of the output asks for itself.
      delete viz.comms[name]
      viz.comm_manager.get_client_comm(id, name, use)
    }
    if (scripts && !(Date.now() < loaded[scripts])) {
      loaded[scripts] = Date.now() + 10000
      fetch(scripts, load)
    }
    fetch(target, show)
  }
  ask()
})()
</script>
"""
_poster: ContextVar[str | None] = ContextVar("poster", default=None)


@contextmanager
def poster(html: str | None) -> Iterator[None]:
    """Within it, what is displayed leaves this HTML in the notebook; None leaves all."""
    before = _poster.set(html)
    try:
        yield
    finally:
        _poster.reset(before)


def write_posters() -> None:
    """Let outputs of a notebook be posters, or hold each script once; again it does nothing."""
    plain = getattr(notebook, "render_model", None)
    if plain is None or hasattr(plain, "original"):
        return

    def render(model: Model, comm: Any = None, resources: str = "cdn") -> Any:
        shown, sources = _poster.get(), dict[str, str]()

        def whole() -> tuple[dict[str, str], Any]:
            # Components that came since have whole scripts of their own.
            sources.update(take_scripts(model))
            bundle, about = plain(model, comm, resources)
            scripts = _SCRIPT % _in_html(sources) if sources else ""
            return {**bundle, "text/html": scripts + bundle.get("text/html", "")}, about

        if shown is None:
            SCRIPTS.write()
            return whole()
        name = model.ref["id"]
        target = f"explorer-page-{name}"
        answer(target, lambda: {"html": whole()[0]["text/html"]})
        names = _in_html([name, target, SCRIPTS.target, SAVED])
        html = _POSTER % {"id": name, "poster": shown, "saved": SAVED, "names": names}
        return {"text/html": html, notebook.EXEC_MIME: ""}, {notebook.EXEC_MIME: {"id": name}}

    render.original = plain  # type: ignore[attr-defined]
    notebook.render_model = render


def take_scripts(model: Model) -> dict[str, str]:
    """Take the scripts out of all components of a model; scripts by the hash of their bundle."""
    sources: dict[str, str] = {}
    for each in model.select({"type": ReactComponent}):
        # Without a bundle a component's script is its own; an address is short already.
        loader = _LOADER % json.dumps(each.bundle)
        if each.bundle and each.bundle != "url" and each.esm != loader:
            sources[each.bundle] = each.esm
            each.esm = loader
    return sources


def _in_html(value: Any) -> str:
    """JSON that may stand inside a script element of a page."""
    return json.dumps(value).replace("</", "<\\/").replace("<!--", "<\\!--")
