"""A cure for messages that Panel 1.9 leaves lying in its queue.

While one message is being written, Panel queues the next and marks the document as busy. When the
first is written, ``panel.io.document._dispatch_msgs`` takes the mark away without looking into the
queue; the task that was to send the queued message finds no mark and returns. The message then
waits for the next change: two publishes in quick succession, and the second is not on screen.
(Seen on about every third click; ``tests/test_app_delivery.py`` shows it without a browser.)
"""

from __future__ import annotations

from typing import Any

from panel.io import document


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
