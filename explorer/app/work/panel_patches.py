"""Cures for faults of Panel 1.9: messages left in its queue, changes without lock.

While one message is being written, Panel queues the next and marks the document as busy. When the
first is written, ``panel.io.document._dispatch_msgs`` takes the mark away without looking into the
queue; the task that was to send the queued message finds no mark and returns. The message then
waits for the next change: two publishes in quick succession, and the second is not on screen.
(Seen on about every third click; a test of this module shows it without a browser.)

An event that arrives while a change still waits, such as a click right after a key press, is
handled by ``panel.reactive.Syncable._event_coroutine`` without the document's lock. A plain change
of a Bokeh model in it then ends as a RuntimeError in the server's log, and the click does nothing.

JupyterLab has each page's messages handled in a thread of its own, beside each other and beside the
running cell, and Panel's state is one for all; see `notebook_loop`. While one is handled, what
anybody prints is caught (``pyviz_comms.StandardOutput``): a cell's print vanishes, and where two
handlers overlap, as with two pages in one notebook, the last puts the other's catch back, and no
cell ever prints again.

A message of a notebook's page may bring several changes, such as the sizes of a figure and a slider
that was moved. ``Renderable._on_msg`` has Bokeh hold them and then let go; the first whose callback
holds the document again puts all others back. They wait for the next message, or are sent back to
the browser: the slider is moved, and nothing happens.

A browser takes a model that it got with a change for a new one of its own (``_new_models`` in
BokehJS) and sends it whole where its next message mentions it: a button that came with a panel and
is clicked. Bokeh keeps the model that it knows, handles the click, and writes a warning into the
server's log.
"""

from __future__ import annotations

import warnings
from typing import Any

import pyviz_comms  # type: ignore[import-untyped]
from bokeh.util.warnings import BokehUserWarning
from panel.io import document
from panel.io.state import state
from panel.reactive import Syncable
from panel.viewable import Renderable

from explorer.app.work.notebook_loop import notebook_loop


def install() -> bool:
    """Let every sender look into the queue before it leaves; returns whether it was needed.

    Does nothing when it is installed already, or when Panel's internals have other names: a
    later Panel is not touched.
    """
    names = ("_dispatch_msgs", "_dispatch_write_task", "_WRITE_MSGS", "_WRITE_BLOCK")
    if not all(hasattr(document, name) for name in names):
        return False
    send = document._dispatch_msgs
    if hasattr(send, "original"):
        return False

    async def dispatch(doc: Any) -> None:
        await send(doc)
        if doc in document._WRITE_MSGS and doc not in document._WRITE_BLOCK:
            document._WRITE_BLOCK[doc] = True
            document._dispatch_write_task(doc, dispatch, doc)

    dispatch.original = send  # type: ignore[attr-defined]
    document._dispatch_msgs = dispatch
    return True


def lock_handlers() -> None:
    """Let handlers of events and changes run with the document's lock, also those put off.

    Panel schedules a coroutine with the lock when its function says ``lock``.
    """
    for name in ("_event_coroutine", "_change_coroutine"):
        handler = getattr(Syncable, name, None)
        if handler is not None:
            handler.lock = True


class Uncaught(list[str]):
    """Stands for a catch of what is printed, and catches nothing."""

    def __enter__(self) -> Uncaught:
        return self

    def __exit__(self, *_error: object) -> None:
        """What was printed is where it belongs."""


def handle_in_turn() -> None:
    """Let messages of a notebook's pages be handled on their one loop, and cells print."""
    plain = pyviz_comms.Comm._handle_msg
    if hasattr(plain, "original"):
        return

    def handle(self: Any, message: Any) -> None:
        # What is printed belongs to the cell that the message is about, which the context knows.
        notebook_loop().call_soon_threadsafe(plain, self, message)

    handle.original = plain  # type: ignore[attr-defined]
    pyviz_comms.Comm._handle_msg = handle
    pyviz_comms.StandardOutput = Uncaught


def hear_all() -> None:
    """Let all changes of a message be heard, whatever the first of them does to the document."""
    plain = getattr(Renderable, "_on_msg", None)
    if plain is None or hasattr(plain, "original"):
        return

    def on_message(self: Renderable, ref: str, manager: Any, message: Any) -> None:
        # First: a page that is closed by what it is told is not found any more.
        _, doc, comm = state._views[ref][1:]
        changes, setter = doc.callbacks, comm.id if comm else None
        plain(self, ref, manager, message)
        while setter and (heard := [e for e in changes._held_events if e.setter == setter]):
            # The others are on their way to the browser.
            changes._held_events = [e for e in changes._held_events if e.setter != setter]
            for event in heard:
                policy, changes._hold = changes._hold, None
                try:
                    changes.trigger_on_change(event)
                finally:
                    changes._hold = changes._hold or policy

    on_message.original = plain  # type: ignore[attr-defined]
    Renderable._on_msg = on_message


def expect_models_sent_back() -> None:
    """Let Bokeh keep a known model that a browser sends whole without a warning in the log."""
    warnings.filterwarnings("ignore", "reference already known", BokehUserWarning)
