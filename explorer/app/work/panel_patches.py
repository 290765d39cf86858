"""Cures for faults of Panel 1.9: messages left in its queue, changes without lock, lost time.

While one message is being written, Panel queues the next and marks the document as busy. When the
first is written, ``panel.io.document._dispatch_msgs`` takes the mark away without looking into the
queue; the task that was to send the queued message finds no mark and returns. The message then
waits for the next change: two publishes in quick succession, and the second is not on screen.
(Seen on about every third click; a test of this module shows it without a browser.)

An event that arrives while a change still waits, such as a click right after a key press, is
handled by ``panel.reactive.Syncable._event_coroutine`` without the document's lock. A plain change
of a Bokeh model in it then ends as a RuntimeError in the server's log, and the click does nothing.

A page in a notebook gets its style sheets written into it, component by component, and after each
Bokeh collects all models of the page again: 90 times, two thirds of the time of showing one
(``panel.viewable.patch_inline_stylesheets``).

Each component of a page runs one script of 1.4 MB through ``textwrap.dedent``, 40 times a page,
which is two fifths of the processor time of opening one (``ReactiveESM._render_esm``).

The first time that a pane of HTML gets another text, it gets new objects for the style sheets that
it has already (``panel.io.location.Location`` has forgotten them), so that Bokeh collects all
models of the page again: once for each sentence of a page (``Reactive._get_properties``).

Bokeh asks anew for each property of each model what its class makes of the default
(``HasProps._overridden_defaults``, ``PropertyDescriptor.has_unstable_default``), and checks each
default as if somebody had typed it (``Property.themed_default``). The cures of this
and of the style sheets before it save a third of all calls when Explore is opened, measured
together: 3.8 million are left of 6.0.

JupyterLab has each page's messages handled in a thread of its own, beside each other and beside the
running cell, and Panel's state is one for all; see `notebook_loop`. While one is handled, what
anybody prints is caught (``pyviz_comms.StandardOutput``): a cell's print vanishes, and where two
handlers overlap, as with two pages in one notebook, the last puts the other's catch back, and no
cell ever prints again.

A message of a notebook's page may bring several changes, such as the sizes of a figure and a slider
that was moved. ``Renderable._on_msg`` has Bokeh hold them and then let go; the first whose callback
holds the document again puts all others back. They wait for the next message, or are sent back to
the browser: the slider is moved, and nothing happens.

A browser takes a model that it got with a change for a new one of its own (``_new_models`` in
BokehJS) and sends it whole where its next message mentions it: a button that came with a panel and
is clicked. Bokeh keeps the model that it knows, handles the click, and writes a warning into the
server's log.
"""

from __future__ import annotations

import textwrap
import warnings
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import pyviz_comms  # type: ignore[import-untyped]
from bokeh.core.has_props import HasProps
from bokeh.core.property.bases import Property
from bokeh.core.property.descriptors import PropertyDescriptor
from bokeh.core.property.wrappers import PropertyValueContainer
from bokeh.models import ImportedStyleSheet, InlineStyleSheet, UIElement
from bokeh.util.warnings import BokehUserWarning
from panel import custom, viewable
from panel.io import document, notebook
from panel.io.state import state
from panel.pane.markup import HTMLBasePane
from panel.reactive import Syncable
from panel.viewable import Renderable

from explorer.app.work.notebook_loop import notebook_loop


def install() -> bool:
    """Let every sender look into the queue before it leaves; returns whether it was needed.

    Does nothing when it is installed already, or when Panel's internals have other names: a
    later Panel is not touched.
    """
    names = ("_dispatch_msgs", "_dispatch_write_task", "_WRITE_MSGS", "_WRITE_BLOCK")
    if not all(hasattr(document, name) for name in names):
        return False
    send = document._dispatch_msgs
    if hasattr(send, "original"):
        return False

    async def dispatch(doc: Any) -> None:
        await send(doc)
        if doc in document._WRITE_MSGS and doc not in document._WRITE_BLOCK:
            document._WRITE_BLOCK[doc] = True
            document._dispatch_write_task(doc, dispatch, doc)

    dispatch.original = send  # type: ignore[attr-defined]
    document._dispatch_msgs = dispatch
    return True


def lock_handlers() -> None:
    """Let handlers of events and changes run with the document's lock, also those put off.

    Panel schedules a coroutine with the lock when its function says ``lock``.
    """
    for name in ("_event_coroutine", "_change_coroutine"):
        handler = getattr(Syncable, name, None)
        if handler is not None:
            handler.lock = True


def write_styles_together() -> None:
    """Let the first component that is looked at stand for all of its document."""
    plain = getattr(viewable, "patch_inline_stylesheets", None)
    if plain is None or hasattr(plain, "original"):
        return

    def together(model: Any) -> None:
        before = model.stylesheets
        if model.document is None or not any(isinstance(s, ImportedStyleSheet) for s in before):
            return plain(model)
        with model.document.models.freeze():
            plain(model)
            if model.stylesheets != before:
                for each in list(model.document.models):
                    if isinstance(each, UIElement):
                        plain(each)

    together.original = plain  # type: ignore[attr-defined]
    viewable.patch_inline_stylesheets = together


#: The scripts of all components together are a few texts.
unindent = lru_cache(maxsize=16)(textwrap.dedent)


def unindent_once() -> None:
    """Let each script lose its indent once, not once for each component of each page."""
    if getattr(custom, "textwrap", None) is textwrap:
        custom.textwrap = SimpleNamespace(dedent=unindent)


def keep_style_sheets() -> None:
    """Let a pane of HTML keep its style sheets while they say the same."""
    plain = HTMLBasePane._get_properties
    if hasattr(plain, "original"):
        return

    def properties(self: HTMLBasePane, doc: Any) -> dict[str, Any]:
        found = plain(self, doc)
        for model, _ in self._models.values():
            shown = model.document is not None and model.document is doc
            if not shown or "stylesheets" not in found:
                continue
            if not any(isinstance(each, ImportedStyleSheet) for each in model.stylesheets):
                # They were written into a notebook; their addresses would ask the net for them.
                found["stylesheets"] = [
                    notebook.replace_inline_css(each)
                    if isinstance(each, ImportedStyleSheet)
                    else each
                    for each in found["stylesheets"]
                ]
            if _same(model.stylesheets, found["stylesheets"]):
                found["stylesheets"] = model.stylesheets
        return found

    properties.original = plain  # type: ignore[attr-defined]
    HTMLBasePane._get_properties = properties


def _same(one: list[Any], other: list[Any]) -> bool:
    """Whether lists of style sheets, texts or addresses, say the same."""
    if len(one) != len(other):
        return False
    return all(type(a) is type(b) and _said(a) == _said(b) for a, b in zip(one, other, strict=True))


def _said(sheet: Any) -> Any:
    """The address or the text of a style sheet, which may be plain text."""
    if isinstance(sheet, ImportedStyleSheet):
        return sheet.url
    return sheet.css if isinstance(sheet, InlineStyleSheet) else sheet


#: Values that nobody can change.
_FIXED = (type(None), bool, int, float, str)
_NOTHING: Any = object()


def remember_defaults() -> None:
    """Let Bokeh find out once per class what it asks of every property that nobody has set."""
    unstable = PropertyDescriptor.has_unstable_default
    if hasattr(unstable, "original"):
        return
    overridden = vars(HasProps)["_overridden_defaults"]
    once: Any = lru_cache(maxsize=None)(overridden.__func__)
    answers: dict[tuple[PropertyDescriptor[Any], type[HasProps]], bool] = {}

    def has_unstable_default(self: PropertyDescriptor[Any], obj: HasProps) -> bool:
        key = self, type(obj)
        answer = answers.get(key)
        if answer is None:
            answer = answers[key] = unstable(self, obj)
        return answer

    has_unstable_default.original = unstable  # type: ignore[attr-defined]
    themed = Property.themed_default
    defaults: dict[tuple[type[HasProps], str, bool], Any] = {}
    sound: set[tuple[type[HasProps], str, bool]] = set()

    def themed_default(
        self: Property[Any], cls: Any, name: str, theme: Any, *, no_eval: bool = False
    ) -> Any:
        # Panel asks in the name of an object, too.
        if not isinstance(cls, type) or (theme is not None and name in theme):
            return themed(self, cls, name, theme, no_eval=no_eval)
        key = cls, name, no_eval
        if key in defaults:
            return defaults[key]
        if key in sound:
            given = once(cls).get(name, _NOTHING)
            made = self._raw_default() if given is _NOTHING else self._copy_default(given)
            return self.wrap(self.transform(made))
        found = themed(self, cls, name, None, no_eval=no_eval)
        # One that is made anew each time, or that somebody could change, is asked for each time.
        given = once(cls).get(name, self._default)
        if isinstance(found, _FIXED) and isinstance(given, _FIXED):
            defaults[key] = found
        elif isinstance(found, PropertyValueContainer) and not no_eval and self.is_valid(found):
            # What has been found right once is made again by the same rule.
            sound.add(key)
        return found

    themed_default.original = themed  # type: ignore[attr-defined]
    for patched, name, cure in (
        (HasProps, "_overridden_defaults", classmethod(once)),
        (PropertyDescriptor, "has_unstable_default", has_unstable_default),
        (Property, "themed_default", themed_default),
    ):
        setattr(patched, name, cure)


class Uncaught(list[str]):
    """Stands for a catch of what is printed, and catches nothing."""

    def __enter__(self) -> Uncaught:
        return self

    def __exit__(self, *_error: object) -> None:
        """What was printed is where it belongs."""


def handle_in_turn() -> None:
    """Let messages of a notebook's pages be handled on their one loop, and cells print."""
    plain = pyviz_comms.Comm._handle_msg
    if hasattr(plain, "original"):
        return

    def handle(self: Any, message: Any) -> None:
        # What is printed belongs to the cell that the message is about, which the context knows.
        notebook_loop().call_soon_threadsafe(plain, self, message)

    handle.original = plain  # type: ignore[attr-defined]
    pyviz_comms.Comm._handle_msg = handle
    pyviz_comms.StandardOutput = Uncaught


def hear_all() -> None:
    """Let all changes of a message be heard, whatever the first of them does to the document."""
    plain = getattr(Renderable, "_on_msg", None)
    if plain is None or hasattr(plain, "original"):
        return

    def on_message(self: Renderable, ref: str, manager: Any, message: Any) -> None:
        # First: a page that is closed by what it is told is not found any more.
        _, doc, comm = state._views[ref][1:]
        changes, setter = doc.callbacks, comm.id if comm else None
        plain(self, ref, manager, message)
        while setter and (heard := [e for e in changes._held_events if e.setter == setter]):
            # The others are on their way to the browser.
            changes._held_events = [e for e in changes._held_events if e.setter != setter]
            for event in heard:
                policy, changes._hold = changes._hold, None
                try:
                    changes.trigger_on_change(event)
                finally:
                    changes._hold = changes._hold or policy

    on_message.original = plain  # type: ignore[attr-defined]
    Renderable._on_msg = on_message


def expect_models_sent_back() -> None:
    """Let Bokeh keep a known model that a browser sends whole without a warning in the log."""
    warnings.filterwarnings("ignore", "reference already known", BokehUserWarning)
