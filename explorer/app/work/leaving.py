"""What a page leaves behind when its visitor goes: nothing.

Panel keeps each script of a widget (``jscallback``, ``jslink``) in a registry of the process, by a
weak reference to the widget. The script itself names widgets of the page, which lead to that one,
so that no page with a script was ever given back: 7 to 10 MB a visitor.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import ctypes
import gc
import sys
import weakref
from functools import partial
from typing import Any

from panel.io.state import state
from panel.links import Callback

#: Sources of scripts by the document they were made for.
_made: weakref.WeakKeyDictionary[Any, list[weakref.ref[Any]]] = weakref.WeakKeyDictionary()


#: Seconds after which memory is given back: after visitors left, and after work was done.
_LATER, AFTER_WORK = 12.0, 60.0
#: Of ``malloc.h``: areas of threads; bytes free at an end; bytes of what has a place of its own.
#: Smaller arrays find the room that those of the last picture had: fresh memory comes in pages of
#: 4 kB, and took two fifths of the time of a map of 200,000 leaves.
_KEPT = ((-8, 2), (-1, 2**25), (-3, 2**22))
#: New objects before garbage is looked for among them: a page is some 200,000.
_OFTEN = 10_000
_planned: list[asyncio.TimerHandle] = []


def forget_scripts() -> bool:
    """Let scripts go with the visit they were made in; False if they do already."""
    plain = Callback.init
    if hasattr(plain, "original"):
        return False

    def init(self: Any) -> None:
        plain(self)
        doc, source = state.curdoc, self.source
        if doc is None or doc.session_context is None or source is None:
            return
        if doc not in _made:
            _made[doc] = []
            state.on_session_destroyed(partial(_forget, weakref.ref(doc)))
        _made[doc].append(weakref.ref(source))

    init.original = plain  # type: ignore[attr-defined]
    Callback.init = init
    return True


def _forget(which: weakref.ref[Any], _context: Any) -> None:
    for each in _made.pop(which(), []):
        source = each()
        if source is not None:
            Callback.registry.pop(source, None)
    # Once for all who leave together, and after Panel has collected what is left of them.
    give_back_in(_LATER)


def give_back_in(seconds: float) -> None:
    """Give free memory back once so many seconds have passed, or with what is planned for sooner.

    Does nothing without a loop.
    """
    with contextlib.suppress(RuntimeError):
        loop = asyncio.get_running_loop()
        if _planned and loop.time() <= _planned[-1].when() <= loop.time() + seconds:
            return
        for each in _planned:
            each.cancel()
        # In a thread: it takes longer, the more there is.
        later = partial(loop.run_in_executor, None, give_back)
        _planned[:] = [loop.call_later(seconds, later, context=contextvars.Context())]


def give_back() -> None:
    """Give memory that is free inside the process back to the system, where that can be done."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def keep_little_free() -> None:
    """Let large arrays that are given up go back to the system, where glibc can be asked for it.

    Else each thread keeps its own, and their sizes grow with use: after thirty visitors a quarter
    of the memory was free and not given back. What lies free between smaller arrays goes back with
    `give_back`. Where a server starts, never at an import: it is the whole process that changes.
    """
    ask = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if ask is not None:
        for which, value in _KEPT:
            ask(which, value)


def keep_what_is_there() -> None:
    """Let nobody look for garbage in what a server began with: it stays to the end.

    A look through all of it takes as long as half a page, and came with every third. Looks at what
    is new come less often than Python's 700 objects have it: they took a fifth of the time of
    opening a page.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OFTEN, *gc.get_threshold()[1:])
