"""Pages in a notebook's cell: what the saved file keeps, and the live page from the kernel.

With Panel alone the output of a cell is the whole page: the exact map, exact answers and, on Panel
1.9, the script of panel-material-ui (1.4 MB) once for each widget. A saved notebook is mailed and
published, and its controls move although no kernel answers.

Here the output is a poster of what may be published. A script asks the kernel for the page over a
comm; the page is shown and never saved. Where no kernel answers, the poster says so. With
``keep=True`` the page itself is in the output, and the script of the widgets once.

Only public interfaces are used: Jupyter's display protocol and comms, `panel.extension`,
`panel.viewable.Viewable.get_root`, `panel.io.notebook.render_model`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import panel as pn
from bokeh.model import Model
from bokeh.models import UIElement
from panel.io.notebook import EXEC_MIME, LOAD_MIME, patch_inline_stylesheets, render_model
from panel.io.resources import CDN_DIST, DIST_DIR
from panel.models.esm import ReactComponent
from pyviz_comms import Comm

from explorer.app.kit import static
from explorer.app.kit.words import words

Bundle = tuple[dict[str, Any], dict[str, Any]]

WORDS = words("notebook")
#: Comms of Panel with which a page is a widget of ipywidgets.
_WIDGETS = ("ipywidgets", "vscode")
#: Seconds for which messages wait for a browser that builds a page; it may have gone away.
_LONGEST_BUILD = 60
#: A style sheet at Panel's network address.
_SHEET = re.compile(re.escape(CDN_DIST) + r"([\w./-]+\.css)(?:\?v=[\w.]+)?")
#: A word of the script that loads BokehJS and Panel.
_LOADS = "load_or_wait"
#: What a component loads in place of its own copy of the script; Panel takes its default export.
_LOADER = "const whole = await globalThis.__explorer_scripts[%s];\nexport default whole.default;"


def kernel() -> Any:
    """The Jupyter kernel of this process, None without one; IPython is not imported for this."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None)


def kernel_loop() -> asyncio.AbstractEventLoop:
    """The event loop on which the kernel runs its cells: pages change on it and on no other."""
    loop: asyncio.AbstractEventLoop = kernel().io_loop.asyncio_loop
    return loop


#: The comm under which the kernel sends BokehJS and Panel, once they are loaded.
_SCRIPTS: list[str] = []


def load(keep: bool = False) -> str:
    """Load Panel, as `panel.extension` does.

    Its script of 3.6 MB, which Panel writes twice into the output, is sent by the kernel, unless
    the output is to be kept as it is.

    Returns
    -------
    str
        The comm under which it is sent; empty where it is in the output.
    """
    if keep or kernel() is None or pn.config.comms != "default":
        pn.extension(notifications=False)
        return ""
    if _SCRIPTS:
        return _SCRIPTS[0]
    from IPython.display import publish_display_data
    from IPython.utils.capture import capture_output

    with capture_output(stdout=False, stderr=False) as captured:
        pn.extension(notifications=False)
    for output in captured.outputs:
        script = output.data.get(LOAD_MIME, "")
        if _LOADS in script:
            target = f"explorer-scripts-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
            _answer(target, partial(_send, {"script": script}))
            _SCRIPTS.append(target)
        elif EXEC_MIME not in output.data:  # no page needs what Panel asks of the browser
            publish_display_data(output.data, output.metadata)
    return _SCRIPTS[0] if _SCRIPTS else ""


class Output(pn.Column):
    """A page in the output of a cell. A page is in one output at a time.

    Parameters
    ----------
    page
        What Panel can show.
    on_request
        Whether browsers ask for the page, as a poster's script does; if not, the cell holds it.

    Attributes
    ----------
    model : bokeh.model.Model
        The root of the last display.
    """

    model: Any = None

    def __init__(self, page: Any, on_request: bool) -> None:
        super().__init__(page, sizing_mode="stretch_width", margin=0)
        self._sources: dict[str, str] = {}
        self._asked = on_request
        self._browsers: list[Any] = []

    def get_root(self, doc: Any = None, comm: Any = None, preprocess: bool = True) -> Model:
        """The Bokeh model; as a widget it asks the net for no style sheet."""
        if self._asked and comm is not None:
            comm = self._to_browsers = _ToBrowsers(comm)
        self.model = super().get_root(doc, comm, preprocess)
        if pn.config.comms not in _WIDGETS:
            self._sources |= _take_scripts(self.model)
        elif pn.config.inline:
            for element in self.model.select({"type": UIElement}):
                patch_inline_stylesheets(element)
        return self.model

    def end(self) -> None:
        """Show a sentence in place of the page: a Bokeh figure belongs to one document."""
        self.objects = [pn.pane.HTML(sentence("Elsewhere"))]
        for comm in self._browsers:
            comm.send({"html": sentence("Elsewhere")})

    def answer(self, comm: Any, _message: Any) -> None:
        """Send the page to the browser that opened ``comm`` and says there when it is built."""
        loop = kernel_loop()

        def send() -> None:
            self._browsers.append(comm)
            built = self._to_browsers.wait()
            comm.on_msg(lambda _message: loop.call_soon_threadsafe(built))
            loop.call_later(_LONGEST_BUILD, built)
            # As it is by now: what was sent before a browser was there is lost.
            comm.send({"html": self._html()})

        loop.call_soon_threadsafe(send)

    def _html(self) -> str:
        # Components that came since have whole scripts of their own.
        self._sources |= _take_scripts(self.model)
        html = render_model(self.model, resources="inline")[0]["text/html"]
        return self._scripts() + _with_sheets(html)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        earlier_targets = set(_targets())
        bundle, about = super()._repr_mimebundle_(include, exclude)
        if EXEC_MIME in about:
            for target, opened in list(_targets().items()):
                if target not in earlier_targets:
                    _answer(target, partial(_in_turn, opened))
            self.model.document.on_change(_hear_all)
            bundle = {**bundle, "text/html": self._scripts() + bundle["text/html"]}
        return bundle, about

    def _scripts(self) -> str:
        return static.fill("scripts.html", sources=_in_html(self._sources)) if self._sources else ""


class _ToBrowsers(Comm):
    """The comm on which Panel sends what changed, kept while a browser builds the page.

    A browser drops messages until it has built the page, and later ones may refer to models that
    were in them. Before the first browser asks nothing is kept: its HTML has it all.
    """

    def __init__(self, comm: Any) -> None:
        super().__init__(comm.id)
        # Panel sends at once where this is set, and tries again every 0.1 s, out of order, else.
        self._comm = comm
        self._asked = False
        self._building: set[object] = set()
        self._kept: list[tuple[Any, Any, Any]] = []

    def wait(self) -> Callable[[], None]:
        """Keep messages from now on, until what is returned is called."""
        self._asked = True
        browser = object()
        self._building.add(browser)
        return partial(self._built, browser)

    def send(self, data: Any = None, metadata: Any = None, buffers: Any = ()) -> None:
        """Send a message, or keep it."""
        if isinstance(data, str):
            data = _with_sheets(data)
        if self._building:
            self._kept.append((data, metadata, buffers))
        elif self._asked:
            self.comm.send(data, metadata, list(buffers))

    def _built(self, browser: object) -> None:
        self._building.discard(browser)
        if not self._building:
            messages, self._kept = self._kept, []
            for message in messages:
                self.send(*message)


def _in_turn(opened: Callable[[Any, Any], None], comm: Any, message: Any) -> None:
    """Open a comm whose messages are handled on the kernel's loop, one after the other.

    JupyterLab has each page's messages handled in a thread of its own (subshells). One state would
    change from several threads at once, and what a cell prints would be lost: Panel captures all
    that is printed while it handles a message.
    """
    loop = kernel_loop()

    def on_msg(handle: Callable[[Any], None]) -> None:
        comm.on_msg(lambda message: loop.call_soon_threadsafe(handle, message))

    opened(SimpleNamespace(send=comm.send, close=comm.close, on_msg=on_msg), message)


def _send(content: dict[str, str], comm: Any, _message: Any) -> None:
    comm.send(content)


def _hear_all(event: Any) -> None:
    """Let the next change of the same message be heard.

    Panel handles a message within ``doc.hold()``, and holds again while a change is handled: all
    changes after the first would wait for another message, or go back to the browser.
    """
    event.document.unhold()


def shown(page: Any, poster: str | None, scripts: str = "") -> Bundle:
    """The MIME bundle of a cell that shows a page; a cell that showed it before says so.

    Parameters
    ----------
    page : AppPage
        The page; its ``output`` is the display.
    poster
        The HTML that the saved notebook keeps; None keeps the page itself.
    scripts
        What `load` returned.
    """
    if pn.config.comms in _WIDGETS and find_spec("jupyter_bokeh") is None:
        return {"text/html": sentence("Widgets")}, {}
    if page.output is not None:
        page.output.end()
    page.output = output = Output(page, poster is not None and pn.config.comms not in _WIDGETS)
    bundle, about = output._repr_mimebundle_()
    if poster is None or EXEC_MIME not in about:
        return bundle, about
    name = about[EXEC_MIME]["id"]
    target = f"explorer-page-{name}"
    _answer(target, output.answer)
    names = _in_html([name, target, scripts, WORDS["Saved"]])
    text = static.fill("poster.html", id=name, poster=poster, saved=WORDS["Saved"], names=names)
    return {"text/html": text, EXEC_MIME: ""}, about


def _targets() -> dict[str, Callable[[Any, Any], None]]:
    """What the kernel does when a browser opens a comm, by the name of the comm's target."""
    return getattr(getattr(kernel(), "comm_manager", None), "targets", {})


def _answer(target: str, opened: Callable[[Any, Any], None]) -> None:
    """Let the kernel, if there is one, call ``opened(comm, message)`` for comms to a target."""
    if kernel() is not None:
        kernel().comm_manager.register_target(target, opened)


def _take_scripts(model: Model) -> dict[str, str]:
    """Take the scripts out of all components of a model; scripts by the hash of their bundle."""
    sources: dict[str, str] = {}
    for component in model.select({"type": ReactComponent}):
        # Without a bundle a component's script is its own; an address is short already.
        loader = _LOADER % json.dumps(component.bundle)
        if component.bundle and component.bundle != "url" and component.esm != loader:
            sources[component.bundle] = component.esm
            component.esm = loader
    return sources


def _with_sheets(text: str) -> str:
    """JSON or HTML in which Panel's style sheets are data, not addresses of the net."""
    return _SHEET.sub(lambda match: _sheet(match[1]) or match[0], text)


@cache
def _sheet(path: str) -> str:
    file = DIST_DIR / path
    return f"data:text/css,{quote(file.read_text('utf8'))}" if file.is_file() else ""


def _in_html(value: Any) -> str:
    """JSON that may be inside a script element of a page."""
    return json.dumps(value).replace("</", "<\\/").replace("<!--", "<\\!--")


def for_marimo() -> Any:
    """A sentence in the form in which marimo asks for an output; it is not imported for this."""
    return SimpleNamespace(_mime_=lambda: ("text/html", sentence("marimo")))


def sentence(heading: str) -> str:
    """What is in place of a page, as HTML."""
    return f"<p><b>{WORDS[heading]}</b></p>"
