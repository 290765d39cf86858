"""Later on the same page: what ends by itself."""

from __future__ import annotations

from collections.abc import Callable

import panel as pn


def after(seconds: float, do: Callable[[], None]) -> None:
    """Do something later, with the lock of the visitor's document; without a visitor never."""
    doc = pn.state.curdoc
    if doc is not None and doc.session_context is not None:
        doc.add_timeout_callback(do, round(1000 * seconds))


def when_loaded(action: Callable[[], None]) -> None:
    """Do ``action`` once the page is in the browser; without a page, or after it, at once.

    What a thread publishes while a page is loading may be lost: Panel takes the browser's copy for
    the newer one.
    """
    if pn.state.curdoc is None or pn.state.loaded:
        action()
    else:
        pn.state.onload(action)
