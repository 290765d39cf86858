"""The event loop of all pages of a notebook, in a thread of its own.

JupyterLab has the messages of each page handled in a thread with a loop of its own, and ends both
when the browser loads the notebook anew. Work that a page has begun on such a loop is never
finished, and the page waits for it for good; pages in two threads change one state at a time.
"""

from __future__ import annotations

import asyncio
import threading

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
