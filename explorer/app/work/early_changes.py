"""A cure for Panel: changes between a browser's copy of a page and its word that it is ready.

A browser takes its copy of a page as soon as there is one, and says that the page is ready when it
has read its scripts, half a second to some seconds later. Until then Panel takes the page for not
yet sent: what is changed while it holds a document, and it does for each change of a component, is
dropped (``panel.io.document._drain_unconnected_events``). A slider whose range comes with the first
picture had that range on the server, and stood at 0 of 1 in the browser for good.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bokeh.document.events import DocumentChangedEvent, DocumentPatchedEvent, MessageSentEvent
from panel.io import document


def _is_change(event: DocumentChangedEvent) -> bool:
    """Whether it changes models; a message to a component has to wait until that listens."""
    return isinstance(event, DocumentPatchedEvent) and not isinstance(event, MessageSentEvent)


def send_early_changes() -> bool:
    """Let changes be sent from the time on that a browser may have its copy.

    Returns False, and does nothing, where it is done already, or where Panel has other names.
    """
    plain = getattr(document, "_drain_unconnected_events", None)
    if plain is None or hasattr(plain, "original"):
        return False

    def drain(doc: Any, lock: Any) -> list[DocumentChangedEvent]:
        session = getattr(doc.session_context, "session", None)
        if not getattr(session, "_subscribed_connections", None):
            # Nobody has a copy: the one that will be taken holds all changes.
            return list(plain(doc, lock))
        with lock:
            events = list(doc.callbacks._held_events or [])
            changes = [each for each in events if _is_change(each)]
            doc.callbacks._held_events = [each for each in events if not _is_change(each)]
        others = list(plain(doc, lock))
        if changes and getattr(session, "_pending_writes", None) is None:
            # Bokeh sends nothing without the document's lock, which the next turn has.
            doc.add_next_tick_callback(partial(document.retrigger_events, doc, changes))
            return others
        return [*changes, *others]

    drain.original = plain  # type: ignore[attr-defined]
    document._drain_unconnected_events = drain
    return True
