"""When and how a page is changed: with its document's lock, in one message, while it is there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn


def held(doc: Any, action: Callable[[], None]) -> None:
    """Do ``action`` and send everything it changed in one message.

    Without it each source is a message and each map paints twice. While a page is still loading
    Panel drops what is held, since it takes the page for not yet sent: then nothing is held.
    """
    if doc is not None and not pn.state.loaded:
        action()
        return
    with pn.io.hold(doc):
        action()


def ended(doc: Any) -> bool:
    """Whether the visitor of ``doc`` has gone; a script has no visitor who could."""
    context = None if doc is None else doc.session_context
    return context is not None and context.destroyed


def publish(doc: Any, action: Callable[[], None]) -> None:
    """Do ``action`` with the document's lock, from a task that does not hold it.

    At once where there is no visitor, such as in a script; never for one who has gone.
    """
    if doc is None or doc.session_context is None:
        action()
    elif not ended(doc):
        doc.add_next_tick_callback(partial(held, doc, action))


def soon(action: Callable[[], None]) -> None:
    """Do ``action`` in the next turn of the loop, in one message of its own."""
    publish(pn.state.curdoc, action)


def when_loaded(action: Callable[[], None]) -> None:
    """Do ``action`` once the page stands in the browser; without a page, or after it, at once.

    What a thread publishes while a page is loading may be lost: Panel takes the browser's copy for
    the newer one.
    """
    if pn.state.curdoc is None or pn.state.loaded:
        action()
    else:
        pn.state.onload(action)
