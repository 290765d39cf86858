"""Publish: a release that was drawn becomes a folder that others read, check and quote."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Self

from explorer.app.curator.setting_fields import button
from explorer.app.kit import ui
from explorer.app.kit.html import put
from explorer.app.kit.navigation import Link
from explorer.app.kit.page import AppPage
from explorer.app.kit.prose import column, pane
from explorer.app.kit.words import words
from explorer.app.publish.answers import AnswersForm
from explorer.app.publish.making import Folder, make, read_boxes
from explorer.app.publish.statement import as_html
from explorer.app.work.foreign import Foreign
from explorer.app.work.job import Background
from explorer.errors import InputError
from explorer.privacy.drawn import Drawn, DrawnReleases
from explorer.privacy.ledger import Ledger
from explorer.privacy.receipts import statement
from explorer.publish.about import KeptAnswers
from explorer.publish.published import Boxes
from explorer.queries.range_files import MOST_BYTES, SUFFIXES
from explorer.views.markup import safe_text

NO_COUNTS = "This screen holds no exact counts"
_HEAD = (14, 0, 6, 0)
#: Releases that are offered, the newest first.
MOST = 20


class Publish(AppPage):
    """The Publish page: it draws nothing and spends nothing. Curator mode: it reads the ledger.

    Parameters
    ----------
    city : str, optional
        The population whose releases come first.
    links : sequence of Link
        The server's pages.
    """

    KEY = "publish"
    TITLE = "Publish a release"
    BADGE = NO_COUNTS

    def __init__(self, city: str | None = None, links: Sequence[Link] = ()) -> None:
        super().__init__(links)
        text = words("publish")
        self._first = city
        self._made: Folder | None = None
        self._boxes: Boxes | None = None
        self._background = Background(self.message)
        self.release = ui.Select(
            label="Drawn release",
            options={},
            size="small",
            sizing_mode="stretch_width",
            max_width=460,
            margin=(4, 0),
        )
        self.release.refused = self.message.refuse
        self.release.param.watch(lambda _event: self._chosen(), "value")
        # Words are ours; where there is Explore, its name in them leads there.
        explore = next((link.address for link in links if link.key == "explore"), "")
        there = f'<a href="./{html.escape(explore, quote=True)}">Explore</a>'
        notice = text["None"].replace("Explore", there if explore else "Explore")
        self._none = pane(f'<div class="prose"><p role="status">{notice}</p></div>')
        self.answers = AnswersForm(self.message.refuse)
        self.signed = ui.Switch(
            label="Signature with this machine's key", value=True, margin=(8, 0)
        )
        self.signed.refused = self.message.refuse
        self.make_button = button("Make the folder, nothing more is spent", self.make, strong=True)
        self.file = ui.Upload(
            MOST_BYTES,
            label="Choose a file of boxes",
            accept=",".join(SUFFIXES),
            uploaded_label="{filename} received",
            variant="outlined",
            size="small",
            margin=(4, 0),
        )
        self.file.refused = self.message.refuse
        self.file.param.watch(lambda _event: self._received(), "value")
        self._asked = pane('<div role="status"></div>')
        self._result = pane('<div role="status"></div>')
        self.save = ui.FileDownload(
            label="Save the folder",
            filename="release.zip",
            callback=self._saved,
            refused=self.message.refuse,
            visible=False,
            width=220,
            margin=(4, 0),
        )
        # A table that is wider than a phone scrolls inside it, and widens nothing else.
        self._ledger = pane(styles={"contain": "inline-size"})
        self._form = column(
            pane(f"<h2>What you say of it</h2><p>{html.escape(text['Answers'])}</p>", margin=_HEAD),
            self.answers.view,
            pane(f"<h2>Boxes</h2><p>{html.escape(text['Boxes'])}</p>", margin=_HEAD),
            self.file,
            self._asked,
            pane(f"<h2>Signature</h2><p>{html.escape(text['Signature'])}</p>", margin=_HEAD),
            self.signed,
            self.make_button,
            self._result,
            self.save,
            pane(f"<p>{html.escape(text['Sending'])}</p>"),
        )
        self.body = column(
            pane(f'<h1 class="visually-hidden">{self.TITLE}</h1>'),
            pane(f'<p class="summary">{html.escape(text["About"])}</p>'),
            self.message.view,
            pane(f"<h2>Release</h2><p>{html.escape(text['Releases'])}</p>", margin=_HEAD),
            self._none,
            self.release,
            self._form,
            pane(f"<h2>Ledger</h2><p>{html.escape(text['Ledger'])}</p>", margin=_HEAD),
            self._ledger,
            margin=(10, 16, 24, 16),
        )
        self.look()
        self.live()

    @classmethod
    def served(cls, links: Sequence[Link], *, city: Any = None, **_: Any) -> Self:
        """The page of one visitor."""
        return cls(city if isinstance(city, str) else None, links=links)

    def close(self) -> None:
        """The visit has ended: nothing is made any more, and what was made is forgotten."""
        self._background.cancel()
        self._made = None

    def look(self) -> None:
        """Offer the releases that wait now, and show the ledger as it is."""
        try:
            ledger = Ledger()
            waiting = DrawnReleases(ledger.path).here()
            put(self._ledger, as_html(statement(ledger)))
        except InputError as error:
            waiting = list[Drawn]()
            self.message.refuse(str(error))
        # A stable sort: within each part the newest stays first.
        waiting.sort(key=lambda drawn: (drawn.population != self._first, drawn.saved > 0))
        waiting = waiting[:MOST]
        self._waiting = {drawn.token: drawn for drawn in waiting}
        before = self.release.value
        self.release.options = {_named(drawn): drawn.token for drawn in waiting}
        self.release.value = before if before in self._waiting else next(iter(self._waiting), None)
        there = bool(waiting)
        self.release.visible = self._form.visible = there
        self._none.visible = not there

    def make(self) -> None:
        """Make the folder of the chosen release, next to the page."""
        drawn = self._waiting.get(str(self.release.value))
        if drawn is None:
            self.message.refuse("Choose a release first: one that was drawn and not saved.")
            return
        self._forget()
        form_answers, signed, boxes = self.answers.said(), bool(self.signed.value), self._boxes
        self._background.run(
            lambda: make(Ledger(), drawn, form_answers, signed, boxes),
            self._done,
            "Making the folder …",
        )

    def _done(self, folder: Folder) -> None:
        self._made = folder
        number = len(folder.verdict.checks)
        holds = f"All {number} checks of it hold." if folder.verdict.holds else "It does NOT hold."
        signed = f"Its signature is of the key {folder.signed_by}." if folder.signed_by else ""
        size = f"{len(folder.content) / 1e6:,.1f} MB"
        text = f"{folder.name} is made, {size} packed. {holds} {signed or 'It is unsigned.'}"
        put(self._result, f'<div role="status"><p>{html.escape(text)}</p></div>')
        self.save.filename = f"{folder.name}.zip"
        self.save.visible = folder.verdict.holds

    def _saved(self) -> io.BytesIO:
        """Hand the folder out: its release waits for no one any more."""
        folder = self._made
        if folder is None:
            raise InputError("No folder is made yet: make it first.")
        drawn = folder.drawn
        ledger = Ledger()
        DrawnReleases(ledger.path).saved(drawn.token, folder.name, folder.sha256)
        put(self._ledger, as_html(statement(ledger)))
        return io.BytesIO(folder.content)

    def _received(self) -> None:
        """A file of boxes has come: it is read for the chosen release, in a process of its own."""
        drawn = self._waiting.get(str(self.release.value))
        content, name = self.file.value, str(self.file.filename or "")
        if drawn is None or not content:
            return
        self._forget()

        def read(given_up: Callable[[], bool]) -> Boxes:
            return read_boxes(drawn, bytes(content), name, given_up)

        self._background.run(Foreign(read), self._answered, "Reading the boxes …")

    def _answered(self, boxes: Boxes) -> None:
        self._boxes = boxes
        number = len(boxes.names)
        what = "1 box is" if number == 1 else f"{number:,} boxes are"
        text = f"{what} answered in the report."
        put(self._asked, f'<div role="status"><p>{html.escape(text)}</p></div>')

    def _chosen(self) -> None:
        """Another release: what was said of its population before, and no boxes yet."""
        self._forget()
        self._boxes = None
        put(self._asked, '<div role="status"></div>')
        drawn = self._waiting.get(str(self.release.value))
        if drawn is None:
            return
        try:
            answers = KeptAnswers(Ledger().path).of(drawn.population)
        except InputError as error:
            self.message.refuse(str(error))
            return
        self.answers.show(answers)

    def _forget(self) -> None:
        """What was made is of another release, or of other answers."""
        self._made = None
        self.save.visible = False
        put(self._result, '<div role="status"></div>')


def _named(drawn: Drawn) -> str:
    when = datetime.fromtimestamp(drawn.time, UTC).strftime("%Y-%m-%d %H:%M:%S")
    saved = " (saved)" if drawn.saved else ""
    return safe_text(f"{drawn.population}: {drawn.title}, {when}{saved}", 120)
