"""Widgets and page of the app: the one module that imports panel_material_ui."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from explorer.app.kit import static
from explorer.app.kit.attempts import Attempts
from explorer.app.kit.later import after
from explorer.errors import InputError
from explorer.views.markup import safe_text

# What a browser writes back of a control that was changed from here is no one's choice. Panel's
# components write a value back once they have drawn it (``useState`` of
# ``panel.models.esm.ReactComponent``): of two changes that come quickly one after the other, a slow
# browser may write the first one back after the second, as if a visitor had chosen it.

#: What a control says and offers: set here alone, and by no one who uses it.
SAID = {
    *("color", "description", "disabled", "end", "error_state", "helper_text", "label", "marks"),
    *("max_length", "options", "placeholder", "start", "step", "visible"),
}


def without_echoes(control: Any, events: dict[str, Any]) -> dict[str, Any]:
    """Changes of a control by a browser, without those of what it says; that is sent again."""
    for name in SAID & events.keys():
        if name in control.param and events[name] != getattr(control, name):
            control.param.trigger(name)
    return {name: value for name, value in events.items() if name not in SAID}


class Led:
    """A control that takes no earlier value back that it was moved away from a moment ago.

    Where a player moves a slider on while a slow browser still draws, it would stop. What the
    browser has drawn already, or a visitor chose, does not come back: then it is a choice.
    """

    #: Seconds in which a browser may still draw an earlier value.
    late = 3.0
    param: Any
    value: Any
    _hears = False
    #: When the present value was set from here, and values before it, with the time of their end.
    _set_at = -math.inf
    _earlier: tuple[tuple[Any, float], ...] = ()

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.param.watch(self._note, "value")

    def _recent(self) -> tuple[tuple[Any, float], ...]:
        now = time.monotonic()
        return tuple((value, at) for value, at in self._earlier if now - at < self.late)

    def _note(self, event: Any) -> None:
        now = time.monotonic()
        maybe_drawing = not self._hears and now - self._set_at < self.late
        self._earlier = () if self._hears else self._recent()
        self._earlier += ((event.old, now),) if maybe_drawing else ()
        self._set_at = -math.inf if self._hears else now

    def _process_events(self, events: dict[str, Any]) -> None:
        if self._echoes(events):
            return
        self._hears = True
        try:
            super()._process_events(events)  # type: ignore[misc]
        finally:
            self._hears = False

    def _echoes(self, events: dict[str, Any]) -> bool:
        """Whether they are an earlier value that comes back; then the present one is sent."""
        recent, value = self._recent(), events.get("value", self.value)
        earlier = [before for before, _ in recent]
        if value == self.value or value not in earlier:
            return False
        # Once only: who insists on an earlier value gets it. Those after it may still come.
        self._earlier = recent[earlier.index(value) + 1 :]
        self.param.trigger("value")
        return True


class LedText(Led):
    """See `Led`, of a box to type in, which tells each key before the entry."""

    value_input: Any
    #: The earlier text that came back last, and when; until it comes as what is in the box.
    _drawn: tuple[str, float] = ("", -math.inf)

    def _echoes(self, events: dict[str, Any]) -> bool:
        (text, at), self._drawn = self._drawn, ("", -math.inf)
        comes_back = time.monotonic() - at < self.late
        if "value" not in events:
            echo = comes_back and events.get("value_input") == text
            if echo:
                self.param.trigger("value_input")
            return echo
        # What a person enters was told key by key before, be it in the same message; what a browser
        # draws is told as the value first, unless the end of another echo is before it.
        told_first = next(iter(events)) == "value_input" and not comes_back
        entered = events["value"] == self.value_input
        if told_first or entered or not super()._echoes(events):
            return False
        if "value_input" not in events:
            self._drawn = (events["value"], time.monotonic())
        return True


class _Checked:
    """Refuses what a raw websocket client sends and the widget's own type cannot hold.

    Panel enforces neither bounds nor types on the server: a text sent to a slider would end as a
    traceback in the log. Here it ends as a sentence, and the browser gets the old value back.
    """

    refused: Callable[[str], None] | None = None
    param: Any
    label: str
    name: str
    # The key Enter must not overtake what was typed before it, nor a choice the next one.
    _debounce = 0

    def _process_events(self, events: dict[str, Any]) -> None:
        events = without_echoes(self, events)
        if not events:
            return
        try:
            params = self._process_property_change(dict(events))  # type: ignore[attr-defined]
            for name, value in params.items():
                if name in self.param:
                    self.param[name]._validate(value)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError):
            label = self.label or self.name
            if self.refused is not None:
                sent = safe_text(next(iter(events.values()), ""), 40)
                self.refused(f"{label} cannot be “{sent}”: choose one of the values offered.")
            for name in events:
                if name in self.param:
                    self.param.trigger(name)
            return
        super()._process_events(events)  # type: ignore[misc]


class FloatSlider(Led, _Checked, pmui.FloatSlider):
    """A slider of numbers; Panel gathers what a drag tells in 50 ms."""

    _debounce = 50


class IntSlider(Led, _Checked, pmui.IntSlider):
    """A slider of whole numbers, as `FloatSlider`."""

    _debounce = 50


#: The stock box has two buttons without a name; the arrow keys do the same.
_TYPED: dict[str, Any] = {
    "& .MuiInputAdornment-root": {"display": "none"},
    "& input": {"paddingLeft": "12px !important"},
}


class _Typed(_Checked):
    def __init__(self, **params: Any) -> None:
        super().__init__(**{"sx": _TYPED, **params})


class FloatInput(_Typed, pmui.FloatInput):
    """A box to type a number."""


class IntInput(_Typed, pmui.IntInput):
    """A box to type a whole number."""


class TextInput(LedText, _Checked, pmui.TextInput):
    """A box to type a text."""


class Select(_Checked, pmui.Select):
    """A menu."""


class RadioButtonGroup(_Checked, pmui.RadioButtonGroup):
    """A few exclusive choices side by side."""


class CheckBoxGroup(_Checked, pmui.CheckBoxGroup):
    """Boxes to tick, any number of them."""


class Checkbox(_Checked, pmui.Checkbox):
    """A box to tick."""


class Switch(_Checked, pmui.Switch):
    """On or off."""


class Button(_Checked, pmui.Button):
    """A button."""


class FileDownload(_Checked, pmui.FileDownload):
    """A button that hands out a file made at the moment of the click.

    Parameters
    ----------
    callback : makes the file
    refused : is told why where it cannot be made; then nothing is handed out
    """

    def __init__(
        self,
        callback: Callable[[], Any],
        variant: str = "contained",
        refused: Callable[[str], None] | None = None,
        **params: Any,
    ) -> None:
        def make() -> Any:
            # A browser hands out what is new: the same file, asked for again, is new after this.
            self.data = None
            try:
                return callback()
            except (InputError, OSError) as error:
                if self.refused is None:
                    raise
                why = str(error)
                if isinstance(error, OSError):
                    reason = error.strerror or type(error).__name__
                    why = f"The file could not be made ({reason})"
                    why += ": make room on the server, and try again."
                self.refused(why)
                raise param.Skip from error

        super().__init__(callback=make, **params)
        # Afterwards: given at once, Panel takes it for an old name of itself as well and warns.
        self.variant, self.refused = variant, refused


#: Seconds for which a control is marked after its value was refused.
MARKED = 5.0
#: Around every control of a drawer; the stock 10 pixels push half of them off a laptop's screen.
MARGIN = (4, 10)
#: A control as wide as the drawer.
WIDE: dict[str, Any] = {"sizing_mode": "stretch_width", "size": "small", "margin": MARGIN}
_SECTION: dict[str, Any] = {
    "sizing_mode": "stretch_width",
    "margin": (0, 0),
    "title_variant": "body2",
    "elevation": 0,
    "disable_gutters": True,
}


class Section(pmui.Accordion):
    """A part of a drawer that opens; closed, its heading says what is chosen inside.

    Parameters
    ----------
    title : str
        What it is about.
    content : what is in it, or a function that makes its parts when it is first opened; a
        browser gets it when the section is open
    about : str
        What is chosen, see `say`.
    """

    #: Its words.
    heading = ""
    _names: list[str]

    def __init__(self, title: str, content: Any, about: str = "") -> None:
        self._make = None if isinstance(content, pn.viewable.Viewable) else content
        if self._make is not None:
            content = pn.Column(sizing_mode="stretch_width", margin=0)
        super().__init__((title, content), dynamic=True, **_SECTION)
        self.say(title, about)
        if self._make is not None:
            self.param.watch(lambda _event: self._fill(content), "active")

    def _fill(self, content: Any) -> None:
        make, self._make = self._make, None if self.active else self._make
        if make is not None and self.active:
            content.objects = make()

    def say(self, title: str, about: str = "") -> None:
        """Another heading, and what is chosen inside, in quiet letters below it."""
        title, about = safe_text(title, 60), safe_text(about, 90)
        self.heading = f"{title} {about}".rstrip()
        quiet = f'<br><span style="opacity: .75">{about}</span>' if about else ""
        markup = f"<span>{title}</span>{quiet}"
        if self._names != [markup]:
            self._names = [markup]


def themed(view: Any, theme: Mapping[str, Any]) -> Any:
    """A view whose widgets look as those of a page with this theme."""
    return pmui.Column(view, theme_config=theme, sizing_mode="stretch_width", margin=0)


#: Where a browser says whose content it comes for, see `explorer.app.work.content`.
SESSION_HEADER = "Explorer-Session"
#: A page whose first script asks for its content, which is made while the others are read. The
#: code of the widgets is read meanwhile, too, and WebGL, which no map uses, is not.
_TEMPLATE = static.read("page.html").replace("HEADER", SESSION_HEADER)


class Page(pmui.Page):
    """A page that does not mirror the process-wide busy state.

    The stock page follows `pn.state.busy` of the whole process, so one visitor's change toggles
    every open page: twelve visitors were unusable (1257 ms a change) where forty-nine are fine
    without it (161 ms).
    """

    #: HTML that stands on the page until its table has rows.
    first_screen = ""

    def __init__(self, **params: Any) -> None:
        super().__init__(template=_TEMPLATE, **params)
        with pn.util.edit_readonly(self):
            self.busy = False
        # What is left of the mirror is a watcher of the process, which holds the page: with it no
        # page that was ever opened is given back.
        for watcher in list(pn.state.param.watchers.get("busy", {}).get("value", [])):
            if getattr(getattr(watcher.fn, "__self__", None), "self", None) is self:
                pn.state.param.unwatch(watcher)

    def server_doc(self, doc: Any = None, title: str | None = None, location: Any = True) -> Any:
        """The page as a document; its template knows where the code of the widgets is."""
        doc = super().server_doc(doc, title, location)
        bundles = (root.esm for root in doc.roots if getattr(root, "bundle", "") == "url")
        doc.template_variables["bundle"] = next(bundles, "")
        doc.template_variables["first_screen"] = self.first_screen
        return doc

    def fill(self, main: Sequence[Any], sidebar: Sequence[Any] = (), **settings: Any) -> Page:
        """The page with its content, and other ``settings``; before it is shown."""
        static.when_ready("page.js")
        # Every layout is limited to its parent's height, and that one to the window's: on a phone
        # the rest of the page would overlap the second map. Without a limit the page scrolls.
        for part in main:
            part.styles = {**part.styles, "max-height": "none"}
        self.param.update(main=[*main], sidebar=[*sidebar], **settings)
        return self


class Upload(_Checked, pmui.FileInput):
    """A button to send a file; the bytes that arrive are counted on the server, chunk by chunk.

    The browser's own check can be left out by a client. A file that grows beyond ``most_bytes``
    is dropped and ``refused`` is called. Of several files that are sent, the last one is
    taken.
    """

    def __init__(self, most_bytes: int, **params: Any) -> None:
        # Pieces that fit into a message, see `explorer.app.work.limits`.
        sizes = {"max_file_size": most_bytes, "chunk_size": 1_000_000}
        super().__init__(multiple=False, **sizes, **params)
        self._most_bytes, self._received = most_bytes, 0
        #: Whether the browser has said that the upload begins whose pieces are here.
        self._announced = False

    def _handle_msg(self, msg: Any) -> None:
        # A file is given when its last byte is there: on a busy server the messages of one upload
        # change places, and what says that it begins or is finished may come late or early.
        status = msg.get("status") if isinstance(msg, dict) else None
        if status == "error" or (status == "initializing" and self._announced):
            # What is left of an upload that was broken off is no part of the next one.
            self._forget()
        if status == "initializing":
            self._announced = True
        elif status == "upload_event":
            self._take(msg)
            if self._buffer:
                super()._handle_msg({"status": "finished"})
                self._forget()

    def _take(self, msg: dict[str, Any]) -> None:
        size = len(msg["data"]) if isinstance(msg.get("data"), bytes | bytearray) else 0
        self._received += size
        name, chunk, chunks = (msg.get(key) for key in ("name", "chunk", "total_chunks"))
        numbered = isinstance(chunk, int) and isinstance(chunks, int) and 1 <= chunk <= chunks
        whole = isinstance(name, str) and numbered
        if self._received <= self._most_bytes and whole:
            self._process_chunk(msg)
            return
        self._forget()
        if self.refused is not None:
            self.refused(
                f"The file is larger than {self._most_bytes / 1e6:.0f} MB: give a smaller one, or "
                "put it into the data folder and start the explorer there."
            )

    def _forget(self) -> None:
        self._buffer.clear()
        self._file_buffer.clear()
        self._received, self._announced = 0, False


def bind(
    widget: Any, apply: Callable[[Any], None], refused: Callable[[str], None], name: str = "value"
) -> Any:
    """Send every new value of ``widget`` through ``apply``; an InputError is shown and undone."""
    undoing, attempts = False, Attempts()

    def refuse(sentence: str) -> None:
        with attempts.another():
            refused(sentence)
        mark(widget, attempts)

    def changed(event: Any) -> None:
        nonlocal undoing
        if undoing:
            # Going back is no choice: it must not switch "automatic" off.
            return
        if event.type == "triggered":
            # Neither is what a control is sent back after a refusal: it may be less exact than what
            # counts, such as a slider's end below which a smaller epsilon was typed.
            return
        with attempts.another():
            try:
                apply(event.new)
            except InputError as error:
                refused(str(error))
                undoing = True
                widget.param.update(**{name: event.old})
                undoing = False
                mark(widget, attempts)

    widget.refused = refuse
    widget.param.watch(changed, name)
    return widget


def mark(widget: Any, attempts: Attempts) -> None:
    """Mark a control whose value was refused, until the next attempt or for a moment."""
    if "error_state" in widget.param:
        # A red rim, and "invalid" for a screen reader.
        widget.error_state = True
        unmark = partial(setattr, widget, "error_state", False)
        attempts.at_next(unmark)
        after(MARKED, unmark)


def choice(label: str, options: Mapping[str, Any] | list[Any], value: Any, **params: Any) -> Any:
    """A button group for up to three short options, else a menu; labelled for screen readers."""
    labels = list(options)
    few = len(labels) <= 3 and sum(len(str(text)) for text in labels) <= 26
    common: dict[str, Any] = {
        "label": label,
        "options": dict(options) if isinstance(options, Mapping) else options,
        "value": value,
        "sizing_mode": "stretch_width",
        "margin": MARGIN,
        **params,
    }
    if few:
        return RadioButtonGroup(size="small", color="primary", **common)
    return Select(size="small", **common)


def wrapping(*objects: Any, gap: str = "0px", margin: Any = 0) -> Any:
    """Objects side by side that go to the next line when there is no space.

    A plain row with two styles: Panel's own FlexBox costs a third of building a page.
    """
    return pn.Row(
        *objects,
        styles={"flex-wrap": "wrap", "gap": gap, "align-items": "flex-end"},
        sizing_mode="stretch_width",
        margin=margin,
    )
