"""Class: one question to all participants, all answers in one histogram."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import field as made_with
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode

import panel as pn

from explorer.app.classroom.screens import ParticipantView, ProjectorView, TeacherView
from explorer.app.curator.setting_fields import button, field
from explorer.app.kit import ui
from explorer.app.kit.browser import Cookie
from explorer.app.kit.html import put
from explorer.app.kit.labels import BADGE
from explorer.app.kit.later import when_loaded
from explorer.app.kit.navigation import Link
from explorer.app.kit.page import AppPage
from explorer.app.kit.prose import column, pane, side_by_side
from explorer.app.kit.reach import Reach
from explorer.app.kit.words import words
from explorer.app.work.document import own_address, own_name
from explorer.cities import catalogue as cities
from explorer.errors import InputError
from explorer.teaching.classroom import ClassRoom
from explorer.teaching.classrooms import IDLE, ClassRooms

#: Wrong codes of one visit; after that the page has to be opened again.
MOST_TRIES = 20
_LOG_IN = '<a href="./login?next=class">Log in to teach</a>'
#: The classes of this server, shared by all visitors of the process.
ROOMS = ClassRooms()
#: What the bar says before anybody is teacher, and of screens that hold no exact count.
NO_COUNTS = "This screen holds no exact counts"
REVEALED = "Shows the true count of this question"


@dataclass(frozen=True)
class Teachers:
    """Who may create a class where the class page is all that a server has.

    Anyone who creates a class sees the true counts, so there a participant must not: a teacher
    comes by an address with a key that is made with the server, or has signed in.

    Parameters
    ----------
    sign_in : whether teachers have names and passwords; else a key is theirs
    key : what the address of a teacher's page holds; "" where they sign in
    """

    sign_in: bool = False
    key: str = made_with(default="", repr=False)

    @classmethod
    def by_key(cls) -> Teachers:
        """With a new key, which no one guesses."""
        return cls(key=secrets.token_urlsafe(24))

    @classmethod
    def who_sign_in(cls) -> Teachers:
        """With a name and a password."""
        return cls(sign_in=True)

    @property
    def address(self) -> str:
        """Where a teacher begins, on this server."""
        return "/login?next=class" if self.sign_in else f"/class?teach={self.key}"

    def admit(self, key: str) -> bool:
        """Whether the visitor of the page that is being made may teach."""
        return bool(own_name()) if self.sign_in else self.is_key(key)

    def is_key(self, typed: str) -> bool:
        """Whether this is the key."""
        return bool(self.key) and hmac.compare_digest(typed.encode(), self.key.encode())


class Entrance:
    """Two ways in: a code to type, or a class to create.

    Parameters
    ----------
    join : called with the code that was typed
    create : called for a new class
    alone : whether the server has no other page, which would show the truth
    """

    def __init__(
        self, join: Callable[[str], None], create: Callable[[], None], alone: bool = False
    ) -> None:
        text = words("classroom")
        self._join = join
        self.code = ui.TextInput(label="Class code", max_length=40, size="small", **field(220))
        self.code.param.watch(lambda _event: self._typed(), "enter_pressed")
        self.create_button = button("Create a class", create)
        # In a row of its own: in a column the field would grow downwards.
        typed = ui.wrapping(self.code, button("Join", self._typed, strong=True))
        self._join_half = _half("Take part", text["Join"], typed)
        others = "" if alone else f" {text['Others']}"
        self._teach_half = _half("Teach", f"{text['Teach']}{others}", self.create_button)
        self._sign_in = _half("Teach", f"{text['Log in']} {_LOG_IN}")
        halves = self._join_half, self._teach_half
        self.view = side_by_side(*halves, gap="16px 40px", margin=(10, 0))

    def teach(self, allowed: bool, sign_in: bool = False) -> None:
        """Offer to create a class or not; anyone who may ``sign_in`` for it is led there."""
        others = [self._teach_half] if allowed else [self._sign_in] if sign_in else []
        self.view.objects = [self._join_half, *others]

    def _typed(self) -> None:
        # The letters of a code arrive one by one; `value` waits for the field to be left.
        self._join(self.code.value_input or self.code.value or "")


def _half(title: str, text: str, *controls: Any) -> Any:
    head = pane(f"<h2>{title}</h2><p>{text}</p>", margin=(0, 0, 8, 0))
    return column(head, column(*controls), styles={"flex": "1 1 300px", "max-width": "460px"})


class ClassResult(AppPage):
    """The Class page: a class code, one question, the pooled answers. Curator mode.

    The teacher's screen holds the true count; a participant's does not until the teacher shows it.
    Only previews are pooled: nothing is booked or published.

    Parameters
    ----------
    city : str or None
        A key of `explorer.cities.catalogue.cities()`: where the first question is asked.
    side : 256, 512 or 1024
        Cells along each side of the grid.
    links : sequence of Link
        The server's pages.
    rooms : ClassRooms, optional
        Where classes are kept; without it all pages of this process share theirs.
    reach : Reach, optional
        How others come to the server; without it no one can be invited by an address.
    teachers : Teachers, optional
        Who may create a class, on a server that has this page alone; without it everybody may.
    """

    KEY = "classroom"
    TITLE = "Class result"
    BADGE = NO_COUNTS
    INVITES = True

    def __init__(
        self,
        city: str | None = None,
        side: int = 256,
        links: Sequence[Link] = (),
        rooms: ClassRooms | None = None,
        reach: Reach | None = None,
        teachers: Teachers | None = None,
    ) -> None:
        super().__init__(links)
        self._side, self._reach = side, reach
        self._rooms = ROOMS if rooms is None else rooms
        self._catalogue = {entry.title: key for key, entry in cities.cities().items()}
        self._city = cities.find(str(city or next(iter(self._catalogue.values())))).key
        if side not in (256, 512, 1024):
            raise InputError(f"The grid's side is {str(side)[:40]!r}: choose 256, 512 or 1024.")
        self._teachers = teachers
        self.entrance = Entrance(self.join, self.create, alone=teachers is not None)
        self.view: TeacherView | ParticipantView | ProjectorView | None = None
        self._tries, self._address = 0, own_address()
        self._may_teach = teachers is None or teachers.admit(_argument("teach"))
        self._offer()
        self._cookie = Cookie()
        self._badge: Any = None
        self._stage = column(self.entrance.view)
        title = f'<h1 class="visually-hidden">{self.TITLE}</h1>'
        self._about = pane(f'<p class="summary">{words("classroom")["About"]}</p>')
        rest = self._about, self.message.view, self._stage, self._cookie.view
        self.body = column(pane(title), *rest, margin=(10, 16, 24, 16))
        self.live()
        # A request that never becomes a visit takes no seat.
        when_loaded(self._asked)

    @classmethod
    def served(
        cls,
        links: Sequence[Link],
        *,
        city: Any = None,
        reach: Reach | None = None,
        teachers: Teachers | None = None,
        **_: Any,
    ) -> Self:
        """The page of one visitor."""
        return cls(city, links=links, reach=reach, teachers=teachers)

    def page(self) -> ui.Page:
        """The page with its bar, whose badge says what this visitor's screen holds."""
        page = super().page()
        if not self.phone:
            self._badge = page.header[0]
        return page

    def join(self, code: str) -> None:
        """Take part in the class with this code."""
        self._enter(lambda: self._rooms.find(code, self._address), self._as_participant)

    def create(self) -> None:
        """Create a class and teach it."""
        # A client can press what is not shown.
        if not self._may_teach:
            self.message.refuse("On this server only its teacher can create a class.")
            return
        self._enter(lambda: self._rooms.create(self._address), self._as_teacher)

    def close(self) -> None:
        """Leave the class: the visit has ended."""
        if self.view is not None:
            self.view.close()
        self.view = None

    def _asked(self) -> None:
        """What the address asks for: ``?class=CODE``, or ``?teach=KEY`` of a teacher's reload.

        ``?class=CODE&view=projector`` is for the projector.
        """
        code, key = _argument("class"), _argument("teach")
        if key and self._teachers is not None and self._teachers.is_key(key):
            return
        if key:
            self._enter(lambda: self._rooms.back(key, self._address), self._as_teacher)
        elif code and _argument("view") == "projector":
            self._enter(lambda: self._rooms.find(code, self._address), self._as_projector)
        elif code:
            self.join(code)

    def _enter(self, find: Callable[[], ClassRoom], begin: Callable[[ClassRoom], None]) -> None:
        if self.view is not None:
            return
        self.message.done()
        try:
            if self._tries >= MOST_TRIES:
                raise InputError("Too many wrong codes from here: open the page again.")
            self._tries += 1
            room = find()
            begin(room)
            self._tries = 0
        except InputError as error:
            self.message.refuse(str(error))

    def _as_participant(self, room: ClassRoom) -> None:
        name = f"dp-class-{room.code}"
        seated = ParticipantView(
            room, self.message, self._ended, token=self._cookie.read(name), told=self._say_badge
        )
        self.view = seated
        self._cookie.keep(name, room.token(seated.number), IDLE)
        self._stay("You are in the class.", **{"class": room.code})

    def _as_projector(self, room: ClassRoom) -> None:
        # A projector view knows it already.
        self._about.visible = False
        way = self._base(), self._why_not
        self.view = ProjectorView(room, *way, self._ended, told=self._say_badge)
        self._stay("", **{"class": room.code, "view": "projector"})

    def _say_badge(self, revealed: bool) -> None:
        """Say in the bar what a screen that is not the teacher's holds."""
        self._put_badge(REVEALED if revealed else NO_COUNTS)

    def _put_badge(self, text: str) -> None:
        if self._badge is not None:
            put(self._badge, f'<span class="badge">{text}</span>')

    def _base(self) -> str:
        """The address of this server for others; "" where no one else can come."""
        if self._reach is None:
            return ""
        headers = pn.state.headers
        secure = headers.get("X-Forwarded-Proto", "") == "https"
        return self._reach.base(headers.get("Host", "")[:80], secure)

    @property
    def _why_not(self) -> str:
        return "" if self._reach is None else self._reach.why_not

    def _offer(self) -> None:
        """Offer at the entrance what this visitor may do."""
        sign_in = self._teachers is not None and self._teachers.sign_in
        self.entrance.teach(self._may_teach, sign_in)

    def _as_teacher(self, room: ClassRoom) -> None:
        # Who has created a class had the server's key.
        self._may_teach |= self._teachers is not None and not self._teachers.sign_in
        self.view = TeacherView(
            *(room, self._catalogue, self._city, self._side, self.message, self._ended),
            lambda: self._rooms.close(room),
            base=self._base(),
            why_not=self._why_not,
            phone=self.phone,
        )
        self._put_badge(BADGE)
        self._stay("The class is open.", teach=room.key)

    def _stay(self, sentence: str, **query: str) -> None:
        """Show the class, and let a reload come back to it."""
        assert self.view is not None
        self._stage.objects = [self.view.view]
        if sentence:
            self.message.inform(sentence)
        _address(**query)

    def _ended(self) -> None:
        if self.view is None:
            return
        self.close()
        self._stage.objects = [self.entrance.view]
        self._about.visible = True
        self._put_badge(NO_COUNTS)
        self._offer()
        # A teacher's reload leads back to where a class can be created.
        key = self._teachers.key if self._teachers is not None and self._may_teach else ""
        _address(**({"teach": key} if key else {}))
        self.message.inform("The class is over.")


def _argument(name: str) -> str:
    """An argument of the address; "" where it is missing or no text."""
    value = (pn.state.session_args.get(name) or [b""])[0]
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _address(**query: str) -> None:
    """Let the browser's address ask for this and nothing else of ours; no reload."""
    location = pn.state.location
    if location is None or pn.state.curdoc is None:
        return
    others = [
        (name, value)
        for name, value in parse_qsl(location.search.removeprefix("?"))
        if name not in ("class", "teach", "view")
    ]
    query_string = urlencode([*others, *query.items()])
    location.search = f"?{query_string}" if query_string else ""
