"""The frame of every page: its bar, its drawer, its tab's title, its end."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import panel as pn

from explorer.app.compat import apply as apply_cures
from explorer.app.kit import notebook, ui
from explorer.app.kit.browser import Remembered, Tab, carry_links, remembered_by_browser
from explorer.app.kit.html import put
from explorer.app.kit.later import when_loaded
from explorer.app.kit.message import MessageArea
from explorer.app.kit.navigation import Link, header
from explorer.app.kit.prose import column
from explorer.app.kit.theme import FRAME, THEME, first_paint
from explorer.errors import InputError
from explorer.grid.values import shown
from explorer.views.figures import TOOLTIP_CSS

#: Below it not even a map is in a cell.
_LEAST, _MOST = 300, 10_000
_PIXELS = re.compile(r"\s*([0-9]{1,5})\s*px\s*")
_DRAWER, _PAGE = 300, 560


def pixels(height: Any) -> int:
    """A height such as "700px" in pixels.

    Raises
    ------
    InputError
        For anything else, and for heights in which no map fits.

    Examples
    --------
    >>> pixels("700px")
    700
    """
    match = _PIXELS.fullmatch(height) if isinstance(height, str) else None
    if match is None or not _LEAST <= int(match[1]) <= _MOST:
        raise InputError(
            f"The height of a page is {str(height)[:40]!r}: give pixels from {_LEAST} to {_MOST:,} "
            'such as "700px".'
        )
    return int(match[1])


def laid_out(drawer: Sequence[Any], page: Any, height: int | None = None) -> Any:
    """The page with its drawer: next to it where the cell is wide enough, else below it."""
    whole = page
    if drawer:
        side = column(*drawer, styles={"flex": f"0 0 {_DRAWER}px"})
        main = column(page, styles={"flex": f"1 1 {_PAGE}px", "min-width": f"min({_PAGE}px, 100%)"})
        whole = ui.wrapping(side, main, gap="0 8px")
        # The last line comes first: maps before controls, wherever both do not fit in one line.
        turned = {"flex-wrap": "wrap-reverse", "align-items": "flex-end"}
        whole.styles = {**whole.styles, **turned}
    if height is None:
        return whole
    styles = {"height": f"{height}px", "overflow-y": "auto"}
    sheet = f":host {{ --explorer-window: {height}px; }}"
    return column(whole, styles=styles, stylesheets=[sheet])


class AppPage(pn.viewable.Viewer):
    """A page for a server or a notebook cell. It knows no data.

    A page fills ``body`` and, where it has a drawer, ``sidebar``, then calls `live`; it stops
    whatever runs in `close`.

    Parameters
    ----------
    links : sequence of Link
        The server's pages, this one too; empty for a page that is alone.
    keep : bool
        Whether a saved notebook holds the page as it was when the cell ran, exact numbers and all,
        in place of `poster`: for made-up data.
    height : str or None
        How high the page is in a cell, such as "700px": longer ones scroll inside it. Without it a
        cell is as high as the page.
    controls : bool
        Whether a cell shows the drawer: False leaves the page alone.

    Raises
    ------
    InputError
        For a height that is none.
    """

    #: Its key in the registry of pages.
    KEY: ClassVar[str]
    #: Its heading and the title of its tab.
    TITLE: ClassVar[str]
    #: What the bar says about the screen.
    BADGE: ClassVar[str] = ""
    #: Whether it invites others, and is told how they come to the server (``reach``).
    INVITES: ClassVar[bool] = False
    #: What the sketch shows that is there until the page does: a drawer, so many maps.
    DRAWER: ClassVar[bool] = False
    SKETCHED: ClassVar[int] = 0
    #: The name by which the visitor has signed in; "" where no one has to.
    signed_in: str = ""
    #: What shows it in a notebook.
    output: notebook.Output | None = None

    def __init__(
        self,
        links: Sequence[Link] = (),
        *,
        keep: bool = False,
        height: str | None = None,
        controls: bool = True,
    ) -> None:
        super().__init__()
        if not isinstance(keep, bool):
            # Whatever else is taken for True would keep exact numbers in a saved file.
            raise InputError(f"keep is {shown(keep)}; give True for made-up data, or False.")
        self.keep, self.controls = keep, controls
        self.height = None if height is None else pixels(height)
        if notebook.kernel() is None:
            apply_cures()
        # In a notebook Panel would ask the net for its scripts; the server never does.
        pn.config.inline = True
        self._scripts = notebook.load(keep)
        self.phone = _on_phone()
        self.links = tuple(links)
        self.message, self.remembered, self.tab = MessageArea(), Remembered(), Tab()
        self.sidebar: list[Any] = []
        self.body: Any = None
        self._header: list[Any] = []

    @classmethod
    def served(cls, links: Sequence[Link], **begin: Any) -> Self:
        """The page of one visitor; ``begin`` is what the server was told to begin with."""
        return cls(links=links, **begin)

    @classmethod
    def warm(cls, **begin: Any) -> None:
        """Do once, before the first visitor, what takes long; nothing here."""

    def live(self) -> None:
        """From now on the end of the session closes the page; without one nothing does."""
        # Panel would keep a page of no session for good, and close it with anybody's session.
        if pn.state.curdoc is not None:
            pn.state.on_session_destroyed(lambda _context: self.close())

    def close(self) -> None:
        """Stop whatever runs: the visit has ended."""

    @classmethod
    def empty(cls, links: Sequence[Link] = ()) -> ui.Page:
        """The page of the current visitor without its content, see `empty_page`."""
        return empty_page(cls.KEY, cls.TITLE, cls.DRAWER, cls.SKETCHED, links)

    def page(self) -> ui.Page:
        """The page with bar, drawer and theme toggle."""
        self.message.over_window()
        carry_links(self.KEY, self.links)
        self._header = header(self.KEY, self.links, self.phone, self.BADGE, self.signed_in)
        drawer: dict[str, Any] = {}
        if self.sidebar:
            drawer = {"sidebar_width": 288, "sidebar_open": not self.phone}
            drawer |= {"sidebar_resizable": False}
        main = [self.body, self.remembered.view, self.tab.view]
        # What was asked for comes first; the controls follow when it is there.
        controls = pn.Column(sizing_mode="stretch_width", margin=0)
        when_loaded(lambda: controls.extend(self.sidebar))
        sidebar = [controls] if self.sidebar else []
        page = self.empty(self.links).fill(main, sidebar, header=self._header, **drawer)

        def toggled(event: Any) -> None:
            self.remembered.put("theme", "dark" if event.new else "light")
            self.themed(event.new)

        page.param.watch(toggled, "dark_theme")
        return page

    def show_badge(self, visible: bool) -> None:
        """Show what the bar says about the screen, or not."""
        if self.BADGE and self._header and not self.phone:
            badge = self._header[0]
            put(badge, f'<span class="badge">{self.BADGE}</span>' if visible else "")
            badge.visible = visible

    def themed(self, dark: bool) -> None:
        """The theme was changed; pages with maps follow it."""

    def servable(self, title: str = "", **kwargs: Any) -> Self:
        """Make this the page of a script run by ``panel serve``."""
        self.page().servable(title=title or self.TITLE, **kwargs)
        return self

    def poster(self) -> str:
        """HTML of what a saved notebook keeps of this page: only what may be published."""
        return (
            f"<p>{html.escape(self.TITLE)}. The page was live here; what it showed is not kept in "
            "this file.</p>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return notebook.shown(self, None if self.keep else self.poster(), self._scripts)

    def _display_(self) -> Any:
        # marimo asks for this first; its own way with Panel refuses outputs of this size.
        return notebook.for_marimo()

    def __panel__(self) -> Any:
        layout = laid_out(self.sidebar if self.controls else [], self.body, self.height)
        # Widgets take their looks from what is around them: a cell has no page there.
        return ui.themed(layout, THEME)


def _on_phone() -> bool:
    return "Mobile" in pn.state.headers.get("User-Agent", "")


def starts_dark() -> bool:
    """The theme that the address asks for, else the one that was chosen last; dark at first."""
    theme = pn.state.session_args.get("theme", [b""])[0]
    if theme in (b"default", b"light", b"dark"):
        return bool(theme == b"dark")
    return remembered_by_browser().get("theme") != "light"


def empty_page(
    key: str, title: str, drawer: bool, maps: int, links: Sequence[Link] = ()
) -> ui.Page:
    """A page of the current visitor without its content: title, theme and a sketch.

    Parameters
    ----------
    key, title : of the page
    drawer : whether it has one
    maps : how many maps are sketched
    links : the pages of its bar
    """
    notebook.load()
    dark = starts_dark()
    if pn.state.curdoc is not None:
        # Of this page: without it a page that was made elsewhere in the process has its say.
        pn.config.theme = "dark" if dark else "default"
    # On a phone links leave no space for a long title, and they do not name the page itself.
    short = next((link.title for link in links if link.key == key), title)
    return ui.Page(
        title=short if _on_phone() else title,
        theme_config=THEME,
        dark_theme=dark,
        raw_css=[first_paint(dark, title, drawer, maps), TOOLTIP_CSS],
        sx=FRAME,
    )
