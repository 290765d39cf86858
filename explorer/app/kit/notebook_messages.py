"""Messages of a notebook's pages: handled on one event loop, in a thread of its own, all of them.

JupyterLab has the messages of each page handled in a thread with a loop of its own (subshells of
ipykernel 7), and after the notebook is loaded anew in yet another one. One state, shown by several
pages, would be changed from several threads at the same time; and work that was begun on a loop
which ends is never finished, so that its page waits for good. A server has one loop; so have these.

While a message is handled, what anybody
prints is caught (``pyviz_comms.StandardOutput``): a cell's print vanishes, and where two
handlers overlap, as with two pages in one notebook, the last puts the other's catch back, and no
cell ever prints again.

A message of a notebook's page may bring several changes, such as the sizes of a figure and a slider
that was moved. ``Renderable._on_msg`` has Bokeh hold them and then let go; the first whose callback
holds the document again puts all others back. They wait for the next message, or are sent back to
the browser: the slider is moved, and nothing happens.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pyviz_comms  # type: ignore[import-untyped]
from panel.io.state import state
from panel.viewable import Renderable

_making = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []


def notebook_loop() -> asyncio.AbstractEventLoop:
    """The loop, which runs until the process ends; made when it is first asked for."""
    # The first messages of two pages come at once.
    with _making:
        if not _loops:
            loop = asyncio.new_event_loop()
            name = "pages of the notebook"
            threading.Thread(target=loop.run_forever, name=name, daemon=True).start()
            _loops.append(loop)
    return _loops[0]


def install() -> None:
    """Let messages of a notebook's pages be handled so; a second call changes nothing."""
    handle_in_turn()
    hear_all()


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
