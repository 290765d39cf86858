"""The event loop of all pages of a notebook, in a thread of its own.

JupyterLab has the messages of each page handled in a thread with a loop of its own (subshells of
ipykernel 7), and after the notebook is loaded anew in yet another one. One state, shown by several
pages, would be changed from several threads at the same time; and work that was begun on a loop
which ends is never finished, so that its page waits for good. A server has one loop; so have these.
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
