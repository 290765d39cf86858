"""BokehJS and Panel for the pages of a notebook: they come from the kernel and are in no file.

``pn.extension`` writes 3.6 MB of scripts into the output of a cell, twice, and again for each
page. Here an output asks the kernel for them over a comm, as `notebook_output` asks for the page.
What is no page of ours (a plain Panel object, a page with ``keep=True``) has no script that could
ask: before the first of these is shown, the scripts are written into its output after all.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from typing import Any

import panel as pn
from panel.config import panel_extension
from panel.io.notebook import EXEC_MIME, LOAD_MIME

#: A word of the script that brings BokehJS and Panel; the other scripts of an output are small.
_LOADS = "load_or_wait"
#: While scripts from the net do not come, Panel's own wait five seconds for them. Inline scripts
#: need not, and a widget that is shown before they are there is an error in the cell.
_AT_ONCE = """
window._bokeh_is_initializing = false
window._bokeh_is_loading = 0
window._bokeh_onload_callbacks = undefined
"""


def kernel() -> Any:
    """The kernel that this process is, None where it is none (IPython is not loaded for this)."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None)


def answer(target: str, content: Callable[[], dict[str, str]]) -> None:
    """Let the kernel, if there is one, send ``content()`` to whoever opens a comm of this name."""
    comms = getattr(kernel(), "comm_manager", None)
    if comms is not None:
        comms.register_target(target, lambda comm, _: comm.send(content()))


class Scripts:
    """What the pages of this process have asked Panel to load in a notebook.

    Attributes
    ----------
    target : str
        The comm under which the kernel sends the scripts; empty where all are in an output.
    """

    def __init__(self) -> None:
        self.target = ""
        self._bundle: dict[str, Any] = {}
        # Whoever loaded Panel before us did not know that scripts are to come along.
        self._foreign = panel_extension._loaded and not pn.config.inline

    def load(self, *extensions: str) -> None:
        """Load Panel and extensions of it, `panel.extension`, with scripts kept in the kernel."""
        if kernel() is None:
            pn.extension(*extensions, notifications=False)
            return
        from IPython.display import publish_display_data
        from IPython.utils.capture import capture_output

        with capture_output(stdout=False, stderr=False) as taken:
            pn.extension(*extensions, notifications=False)
        first = _AT_ONCE if self._foreign else ""
        self._foreign = False
        for each in taken.outputs:
            data = each.data
            if EXEC_MIME in data:
                continue  # What Panel would learn of the browser: no page of ours asks for it.
            if _LOADS not in data.get(LOAD_MIME, ""):
                publish_display_data(data, each.metadata)
                continue
            scripts = {kind: first + script for kind, script in data.items()}
            # Other comms than Jupyter's own know no script of ours that could ask.
            if pn.config.comms != "default":
                publish_display_data(scripts)
                continue
            self._bundle, script = scripts, scripts[LOAD_MIME]
            name = hashlib.sha256(script.encode()).hexdigest()[:16]
            self.target = f"explorer-scripts-{name}"
            answer(self.target, lambda script=script: {"script": script})  # type: ignore[misc]

    def write(self) -> None:
        """Write the scripts that are in no output into this one."""
        bundle, self._bundle = self._bundle, {}
        if bundle:
            from IPython.display import publish_display_data

            publish_display_data(bundle)


SCRIPTS = Scripts()
