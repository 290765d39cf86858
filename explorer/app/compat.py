"""Cures for faults of Panel and Bokeh, for the versions that have them; applied by a served page.

Reports for upstream: ``notebooks/design/2026-11-27-reports-for-panel.md``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from bokeh.application.handlers import code
from bokeh.io import doc as curdocs
from panel import custom
from panel.io import document, handlers
from panel.reactive import Syncable

from explorer._compat import BOKEH_GE_310, PANEL_GE_110

_dedent = lru_cache(maxsize=16)(textwrap.dedent)


def apply() -> None:
    """Apply the cures to this process; a second call changes nothing."""
    if custom.textwrap is textwrap:
        # Panel 1.9 and 1.10: the script of 1.4 MB is dedented anew for each component.
        custom.textwrap = SimpleNamespace(dedent=_dedent)
    # Panel 1.9 and 1.10: a handler that is put off runs without the lock of the document.
    Syncable._event_coroutine.lock = Syncable._change_coroutine.lock = True
    if not PANEL_GE_110 and not hasattr(document._dispatch_msgs, "original"):
        _send_queued_messages(document._dispatch_msgs)
    if not BOKEH_GE_310 and not hasattr(curdocs.patch_curdoc, "original"):
        _restore_curdoc(curdocs.patch_curdoc)


def _send_queued_messages(send: Any) -> None:
    """What is queued while the last message is written is sent (lost by Panel 1.9)."""

    async def dispatch(doc: Any) -> None:
        await send(doc)
        if doc in document._WRITE_MSGS and doc not in document._WRITE_BLOCK:
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
    for module in (curdocs, code, handlers):
        module.patch_curdoc = patch_curdoc
