"""Workarounds for faults of some versions of Panel and Bokeh, applied by a served page.

Reports for upstream: ``notebooks/design/2026-11-27-reports-for-panel.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from bokeh.application.handlers import code
from bokeh.io import doc as curdocs
from panel.io import document, handlers
from panel.reactive import Syncable

from explorer._compat import BOKEH_GE_310, PANEL_GE_110


def apply() -> None:
    """Apply the workarounds to this process; a second call changes nothing."""
    # Panel 1.9, 1.10: a handler that is put off runs without the lock of the document.
    Syncable._event_coroutine.lock = Syncable._change_coroutine.lock = True
    if not hasattr(document._dispatch_msgs, "original"):
        _send_queued_messages(document._dispatch_msgs)
    if not BOKEH_GE_310 and not hasattr(curdocs.patch_curdoc, "original"):
        _restore_curdoc(curdocs.patch_curdoc)


def _send_queued_messages(send: Any) -> None:
    """What is queued while a message is written is sent, and in order (not by Panel 1.9, 1.10)."""
    queued = document._WRITE_EVENTS if PANEL_GE_110 else document._WRITE_MSGS

    async def dispatch(doc: Any) -> None:
        # Bokeh 3.10 serializes in a thread: what refers to a new model must not overtake it.
        session = getattr(getattr(doc, "session_context", None), "session", None)
        async with session._lock if BOKEH_GE_310 and session is not None else nullcontext():
            await send(doc)
        if doc in queued and doc not in document._WRITE_BLOCK:
            document._WRITE_BLOCK[doc] = True
            document._dispatch_write_task(doc, dispatch, doc)

    dispatch.original = send  # type: ignore[attr-defined]
    document._dispatch_msgs = dispatch


def _restore_curdoc(patch: Any) -> None:
    """The current document is restored also after an error (Bokeh 3.9 keeps a visitor's page)."""

    @contextmanager
    def patch_curdoc(doc: Any) -> Iterator[None]:
        before = len(curdocs._PATCHED_CURDOCS)
        try:
            with patch(doc):
                yield
        finally:
            del curdocs._PATCHED_CURDOCS[before:]

    patch_curdoc.original = patch  # type: ignore[attr-defined]
    curdocs.patch_curdoc = code.patch_curdoc = handlers.patch_curdoc = patch_curdoc
