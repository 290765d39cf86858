"""What a browser tells the server during a drag, in at most thirty messages a second.

BokehJS sends each change in a message of its own, as often as the screen is painted: 60 to 144 a
second. The first of them still goes at once; those of the next 40 ms follow together, in their
order, and of a number that changes again only the last (a text may be a key that was pressed: each
counts). So a server may take a connection that sends more for what it is.
(``ClientSession._document_changed``)
"""

from __future__ import annotations

import panel as pn
from bokeh.models import CustomJS

#: ms from one message to the next.
EVERY = 40

_GATHER = """
const own = name => { try { return Bokeh.require(name) } catch (_) { return {} } }
const session = own("client/session").ClientSession?.prototype
const Batch = own("document/events").DocumentEventBatch
if (session?._document_changed && Batch && !session._document_changed.gathers) {
  const send = session._document_changed
  const waits = new WeakMap()
  const small = each => each.kind === "ModelChanged"
    || (each.kind === "MessageSent" && each.msg_type === "bokeh_event" && !each.msg_data?.data)
  const flush = one => {
    const held = waits.get(one)
    clearTimeout(held.timer)
    held.timer = 0
    const events = held.events.splice(0)
    if (!events.length) return
    held.timer = setTimeout(() => flush(one), every)
    send.call(one, events.length == 1 ? events[0] : new Batch(one.document, events))
  }
  session._document_changed = function (event) {
    if (!waits.has(this)) {
      waits.set(this, {events: [], timer: 0})
      window.addEventListener("pagehide", () => flush(this))
    }
    const held = waits.get(this)
    // A batch is a message already, and what is large is not kept waiting with what is small.
    if (event instanceof Batch || !small(event)) {
      flush(this)
      return send.call(this, event)
    }
    // No page listens to it: it repeats the value of a slider when that is let go.
    if (!event.sync || event.attr == "value_throttled") return
    const last = held.events.at(-1)
    const numbers = [last, event].every(
      each => each?.kind === "ModelChanged" && typeof each.value === "number")
    if (numbers && last.model === event.model && last.attr === event.attr) held.events.pop()
    held.events.push(event)
    if (!held.timer) flush(this)
  }
  session._document_changed.gathers = true
}
"""


def gather_changes() -> None:
    """Let the page that is being built send its changes so; none in a notebook."""
    if pn.state.curdoc is not None:
        script = CustomJS(args={"every": EVERY}, code=_GATHER)
        pn.state.curdoc.js_on_event("document_ready", script)
