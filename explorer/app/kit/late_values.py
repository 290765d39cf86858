"""A Workarounds for controls in the browser: values that change while a control is being drawn.

Panel's components take their values when they are drawn, and listen to changes only once they stand
on the page (``useState`` of ``panel.models.esm.ReactComponent``). What is set in between is in the
model and not on the screen: an automatic setting, whose value the mechanism chooses a moment after
its slider has come, showed 1 for good.
"""

from __future__ import annotations

import panel as pn
from bokeh.models import CustomJS

_MEND = """
const models = Bokeh.documents.flatMap(page => [...page._all_models.values()])
const drawn = models.find(each => each.type === "panel.models.esm.ReactComponent")
const kind = drawn?.default_view?.prototype, model = drawn && Object.getPrototypeOf(drawn)
if (kind?.render_esm && kind.after_rendered && !kind.render_esm.mended) {
  const {render_esm, after_rendered} = kind, {watch} = model
  const taken = new WeakMap()
  kind.render_esm = function (...given) {
    taken.set(this, {...this.model.data.attributes})
    return render_esm.apply(this, given)
  }
  kind.render_esm.mended = true
  kind.after_rendered = function (...given) {
    const before = taken.get(this), data = this.model.data
    // Most listen a moment after they stand there; to hear the same again changes nothing, but that
    // a file would be handed out twice.
    const file = before && "filename" in before ? "data" : null
    if (before) for (const wait of [50, 500]) setTimeout(() => {
      const now = data.attributes
      for (const name in before)
        if (name !== file && now[name] !== before[name]) data.properties[name].change.emit()
    }, wait)
    return after_rendered.apply(this, given)
  }
  // On a busy computer seconds pass until they listen: as they begin to, they hear it.
  if (watch) model.watch = function (view, name, hear, ...given) {
    const heard = watch.call(this, view, name, hear, ...given)
    const before = view && taken.get(view), now = this.data.attributes
    if (before && name in before && now[name] !== before[name]) hear()
    return heard
  }
}
"""


def show_late_values() -> None:
    """Let controls of the page that is being built show late values, too; none in a notebook."""
    if pn.state.curdoc is not None:
        pn.state.curdoc.js_on_event("document_ready", CustomJS(code=_MEND))
