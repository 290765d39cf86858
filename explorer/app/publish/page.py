"""Publish: a release that was drawn becomes a folder that others read, check and quote."""

from __future__ import annotations

import html
import io
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from explorer.app.curator.setting_fields import button
from explorer.app.kit import ui
from explorer.app.kit.html import put
from explorer.app.kit.navigation import Link
from explorer.app.kit.page import AppPage
from explorer.app.kit.prose import column, pane
from explorer.app.kit.words import markup, words
from explorer.app.work.foreign import Foreign
from explorer.app.work.job import Background
from explorer.errors import InputError
from explorer.mechanisms import all_mechanisms
from explorer.privacy.drawn import Drawn, DrawnReleases
from explorer.privacy.ledger import Ledger
from explorer.privacy.receipts import receipts, statement
from explorer.publish.about import QUESTIONS, About, KeptAnswers
from explorer.publish.checks import Verdict, checked
from explorer.publish.directory import write_directory
from explorer.publish.manifest import size_and_sum
from explorer.publish.names import RELEASE
from explorer.publish.published import Booking, Boxes, Method, Published
from explorer.publish.registry import slug
from explorer.publish.signing import PublisherKey, fingerprint
from explorer.queries.range_files import MOST_BYTES, SUFFIXES, foreign_ranges
from explorer.releases.release import Release
from explorer.views.markup import safe_text

NO_COUNTS = "This screen holds no exact counts"
#: Releases that are offered, the newest first.
MOST = 20
_LONGEST = 2_000
#: What a menu says before anything is chosen: nothing is chosen for anybody.
_OPEN, _NOTHING = "Choose …", "-"
#: So many bookings of a population, and populations, are on the page.
MOST_BOOKINGS, MOST_POPULATIONS = 20, 50


@dataclass(frozen=True, eq=False)
class Folder:
    """A folder that is made.

    Attributes
    ----------
    drawn : the release that it is of
    name : of the folder
    content : of the archive that holds it
    verdict : what `verify` finds of it
    signed_by : the fingerprint of the key, "" without one
    sha256 : of its release
    """

    drawn: Drawn
    name: str
    content: bytes
    verdict: Verdict
    signed_by: str
    sha256: str


def read_boxes(drawn: Drawn, content: bytes, name: str, given_up: Callable[[], bool]) -> Boxes:
    """Boxes and polygons that a visitor sends, for the map of a drawn release; read in a sandbox.

    Raises
    ------
    InputError
        For a file that holds none, more than a report takes, and a release that is no map.
    """
    grid = Release.load(DrawnReleases(Ledger().path).path(drawn.token)).grid
    return Boxes.of_file(foreign_ranges(content, grid, name, given_up=given_up))


def make(
    ledger: Ledger,
    drawn: Drawn,
    answers: Mapping[str, Any],
    signed: bool,
    boxes: Boxes | None = None,
) -> Folder:
    """Make the folder of a drawn release, next to the page: it takes seconds.

    Raises
    ------
    InputError
        For answers that are missing, a release that cannot be published or is not there any more,
        and where there is no space.
    """
    about = About.of(answers)
    drawn_releases = DrawnReleases(ledger.path)
    booked = receipts(ledger, [drawn.token])
    if not booked or not drawn_releases.known(drawn.token):
        raise InputError("This release is not kept any more: it was saved before, or given up.")
    booking = Booking.of(booked[0])
    release = Release.load(drawn_releases.path(drawn.token))
    kind = all_mechanisms().get(release.mechanism)
    if kind is None:
        raise InputError(f"{drawn.title} is by no mechanism of maps: save it as a file.")
    published = Published(release, about, booking, Method.of(kind), boxes)
    KeptAnswers(ledger.path).keep(drawn.population, about.facts())
    key = PublisherKey(ledger.path.with_name("publisher.key")) if signed else None
    with tempfile.TemporaryDirectory(prefix="explorer-") as place:
        folder = Path(place) / slug(published)
        write_directory(published, folder, key)
        verdict = checked(folder)
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.iterdir()):
                archive.write(path, f"{folder.name}/{path.name}")
        return Folder(
            drawn,
            folder.name,
            content.getvalue(),
            verdict,
            "" if key is None else fingerprint(key.public),
            size_and_sum(folder / RELEASE)["sha256"],
        )


class AnswersForm:
    """One field for each question; texts are short lines, choices are menus.

    Parameters
    ----------
    refused : shows a sentence
    """

    def __init__(self, refused: Callable[[str], None]) -> None:
        look: dict[str, Any] = {"sizing_mode": "stretch_width", "size": "small"}
        look |= {"margin": (6, 12, 6, 0), "styles": {"flex": "1 1 300px"}}
        self.fields: dict[str, Any] = {}
        for question in QUESTIONS:
            look["label"] = question.label
            if question.among:
                options = {_OPEN: _NOTHING, **{choice: choice for choice in question.among}}
                field: Any = ui.Select(options=options, value=_NOTHING, **look)
            else:
                asks = question.asks[:1].upper() + question.asks[1:]
                field = ui.TextInput(placeholder=asks, max_length=_LONGEST, **look)
            field.refused = refused
            self.fields[question.name] = field
        self.view = ui.wrapping(*self.fields.values())

    def show(self, answers: Mapping[str, Any]) -> None:
        """Show what was said before; what was not is empty."""
        for name, field in self.fields.items():
            value = str(answers.get(name) or "")
            among = getattr(field, "options", None)
            field.value = value if among is None or value in among.values() else _NOTHING

    def said(self) -> dict[str, str]:
        """What is in the form; what is empty is not among it."""
        result = {}
        for name, field in self.fields.items():
            # The letters of a text arrive one by one; `value` waits for the field to be left.
            value = getattr(field, "value_input", "") or field.value or ""
            if str(value).strip() and value != _NOTHING:
                result[name] = str(value)
        return result


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
        small: dict[str, Any] = {"size": "small", "margin": (4, 0)}
        wide = {"sizing_mode": "stretch_width", "max_width": 460, **small}
        self.release = ui.Select(label="Drawn release", options={}, **wide)
        self.release.refused = self.message.refuse
        self.release.param.watch(lambda _event: self._chosen(), "value")
        # Words are ours; where there is Explore, its name in them leads there.
        explore = next((link.address for link in links if link.key == "explore"), "")
        there = f'<a href="./{html.escape(explore, quote=True)}">Explore</a>'
        notice = text["None"].replace("Explore", there if explore else "Explore")
        self._none = pane(f'<div class="prose"><p role="status">{notice}</p></div>')
        self.answers = AnswersForm(self.message.refuse)
        label = "Signature with this machine's key"
        self.signed = ui.Switch(label=label, value=True, margin=(8, 0))
        self.signed.refused = self.message.refuse
        self.make_button = button("Make the folder, nothing more is spent", self.make, strong=True)
        self.file = ui.Upload(
            MOST_BYTES,
            label="Choose a file of boxes",
            accept=",".join(SUFFIXES),
            uploaded_label="{filename} received",
            variant="outlined",
            **small,
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
            _head("What you say of it", text["Answers"]),
            self.answers.view,
            _head("Boxes", text["Boxes"]),
            self.file,
            self._asked,
            _head("Signature", text["Signature"]),
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
            _head("Release", text["Releases"]),
            self._none,
            self.release,
            self._form,
            _head("Ledger", text["Ledger"]),
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


def _head(title: str, text: str) -> Any:
    return pane(f"<h2>{title}</h2><p>{html.escape(text)}</p>", margin=(14, 0, 6, 0))


def _named(drawn: Drawn) -> str:
    when = datetime.fromtimestamp(drawn.time, UTC).strftime("%Y-%m-%d %H:%M:%S")
    saved = " (saved)" if drawn.saved else ""
    return safe_text(f"{drawn.population}: {drawn.title}, {when}{saved}", 120)


def as_html(statement: Sequence[dict[str, Any]]) -> str:
    """A statement of the ledger as a table, the newest booking of each population first."""
    return markup(
        "ledger",
        accounts=statement[-MOST_POPULATIONS:][::-1],
        most=MOST_BOOKINGS,
        more=len(statement) > MOST_POPULATIONS
        or any(len(account["bookings"]) > MOST_BOOKINGS for account in statement),
    )
