"""Later on the same page: what ends by itself."""

from __future__ import annotations

from collections.abc import Callable

import panel as pn

from explorer._compat import PANEL_GE_110


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


def next_turn(action: Callable[[], None]) -> None:
    """Do ``action``, which a browser's change of a model asks for, in the next turn of the loop.

    Panel 1.10 handles changes that came during `pn.io.hold` under a lock that its thread cannot
    take twice: a handler that changes a widget would wait for ever. Before 1.10, and without a
    visitor, it is done at once.
    """
    doc = pn.state.curdoc
    if PANEL_GE_110 and doc is not None and doc.session_context is not None:
        doc.add_next_tick_callback(action)
    else:
        action()
