"""Previews and drawn releases of one screen: computed, booked, kept, saved, shown again.

A preview follows the choices and costs nothing. A release is drawn once its price was confirmed, is
booked in the ledger before any noise, and is kept, on the disk too: it has been paid for.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import Price, price_of, protected, spent_sentence
from explorer.app.curator.screen import Job, Look, compute
from explorer.app.curator.start import OWN
from explorer.app.kit.words import words
from explorer.app.work.job import UNEXPECTED, Run, Superseded, give_up_late
from explorer.app.work.job import Job as Work
from explorer.app.work.timing import Movement
from explorer.errors import InputError
from explorer.privacy.drawn import Drawn, DrawnReleases
from explorer.privacy.ledger import Counted, Ledger
from explorer.privacy.once import population_in, waiting
from explorer.serving.ending import ENDING
from explorer.views.markup import safe_text


@dataclass(frozen=True)
class Underway:
    """How far a draw is.

    Attributes
    ----------
    booked : whether it is paid for: from then on it is drawn to its end
    part : how much of it is drawn, from 0 to 1
    left : seconds that are left, as it looks; None before there is an estimate
    """

    booked: bool
    part: float = 0.0
    left: float | None = None

    @property
    def sentence(self) -> str:
        if not self.booked:
            return "About to be drawn; nothing is booked yet."
        rest = "" if self.left is None else f", about {max(1.0, self.left):.0f} s left"
        return f"{self.part:.0%} drawn{rest}. It is booked, so it is drawn to its end."


class Booking(Ledger):
    """A ledger for one draw, which can be given up until it is booked.

    Parameters
    ----------
    population, token : as of a `Ledger`
    """

    def __init__(self, population: str | None, token: str) -> None:
        super().__init__(population=population, token=token)
        self._lock = threading.Lock()
        self._given_up = False
        self.booked = False

    def give_up(self) -> bool:
        """Book nothing from now on; False where it is too late for that."""
        with self._lock:
            self._given_up = not self.booked
            return self._given_up

    def book(self, counts: Counted | str, units: int, mechanism: str, what: str = "") -> int:
        """See `Ledger.book`; raises `Superseded` where the draw was given up before."""
        with self._lock:
            if self._given_up:
                raise Superseded
            number = super().book(counts, units, mechanism, what)
            self.booked = True
        return number


@dataclass(frozen=True, eq=False)
class Kept:
    """The last drawn release: what it was drawn from, its screen, what is spent by now."""

    job: Job
    screen: Any
    spent: str

    @property
    def token(self) -> str:
        return str(self.job.ledger.token) if self.job.ledger is not None else ""


@dataclass(frozen=True)
class Asked:
    """What a price was said of: nothing else is confirmed by its token."""

    token: str
    choices: tuple[Any, ...]


#: A ledger, and the token of a draw in it.
Key = tuple[Path, str]

# Releases that are on a page that is open: they are offered to no one else.
_ON_A_PAGE: weakref.WeakValueDictionary[Key, Drawing] = weakref.WeakValueDictionary()


class Drawing:
    """Turns the choices into screens, in a thread, the newest first.

    Parameters
    ----------
    parts : of the page
    publish : shows a screen, with the document's lock held
    slow : called with True when a picture takes long, and False at its end
    make : from a `Job` to a screen, in the thread; Explore's without it
    look : how the state says that screens are drawn
    """

    def __init__(
        self,
        parts: PageParts,
        publish: Callable[[Any], None],
        slow: Callable[[bool], None] = lambda _slow: None,
        make: Callable[[Job, Callable[[float], None]], Any] | None = None,
        look: Callable[[Any], Any] = Look.of,
    ) -> None:
        self._parts, self._show = parts, publish
        self._make, self._look = make, look
        self._data: Any = None
        self._viewport: Callable[[], Any] | None = None
        self._computed: Any = None
        self._asked: Any = None
        # A release-grade drawing has a number; 0 represents a preview.
        self._drawing = self._drawings = self._version = 0
        # Paid for, so nothing but another drawing takes its place.
        self._kept: Kept | None = None
        # What the last press asked about, what was confirmed and is to be drawn, all tokens of
        # what was, and the drawing whose cost has been said.
        self._pressed: Asked | None = None
        self._due: Job | None = None
        # What is being drawn, and what was last told of it.
        self._going: Job | None = None
        self._told: Underway | None = None
        self._telling: Callable[[Underway | None], None] = lambda _underway: None
        self._confirmed: set[str] = set()
        self._asking: Callable[[Price | None], None] = lambda _price: None
        self._waiting: Callable[[], None] = lambda: None
        # Why the last release is on no disk, if it is on none.
        self._unkept = ""
        self._said = 0
        self.movement = Movement()
        # Why the newest choices have no screen, while they have none.
        self._refusal = ""
        # Why the last press of the button said no price.
        self._no_price = ""
        self._work = Work(
            *(self._compute, self._arrived, self._refused),
            take=self._job,
            slow=slow,
            changed=self.progressed,
        )
        self.request, self.run_now = self._work.ask, self._work.now

    def close(self) -> None:
        """The visit has ended: what it has not saved is offered to anyone who comes."""
        self._work.close()
        for key in [key for key, page in _ON_A_PAGE.items() if page is self]:
            del _ON_A_PAGE[key]

    # What is on screen.

    def use(self, data: Any, viewport: Callable[[], Any]) -> None:
        """Work on another city, shown where ``viewport()`` says; back to a preview."""
        self._data, self._viewport, self._drawing = data, viewport, 0
        self.forget()

    def preview(self) -> None:
        """Something a release depends on has changed: a preview of it."""
        self._drawing = 0
        self._version += 1
        self.movement.changed()
        self.forget()
        self.request()

    def viewed(self) -> None:
        """A pan, zoom or resize; all maps report it, and loading reports it several times."""
        if self._viewport is not None and self._viewport() != self._asked:
            self.request()

    # Drawn releases.

    @property
    def drawn(self) -> Any:
        """The last screen with a drawn release, kept whatever is shown since."""
        return None if self._kept is None else self._kept.screen

    def ledger(self, token: str | None = None) -> Ledger:
        """The ledger, for the population on screen, and for one draw.

        Raises
        ------
        InputError
            For a ledger that cannot be one, see `Ledger`.
        """
        city = "" if self._data is None else self._data.city[0]
        named = self._parts.own_population if city in (OWN, "") else city
        return Ledger(population=named) if token is None else Booking(named, token)

    def press(self) -> None:
        """The button "Draw a release": says the price, and draws nothing."""
        if self._parts.reading or self._data is None:
            self._parts.refuse("The city is still being read: wait a moment.")
            return
        if self._data.city[0] == OWN and self._parts.unread_users:
            column = safe_text(self._parts.unread_users[0], 40)
            self._parts.refuse(
                f"The column “{column}” seems to say whose records these are: begin again with "
                f"user=“{column}” and bound=10 to protect each person, or with bound=0 to protect "
                "each record."
            )
            return
        mechanism = self._parts.state.instance()
        try:
            drawn_before = self.drawn is not None
            release = getattr(self._computed, "release", None)
            leaves = getattr(release, "n_leaves", None)
            price = price_of(
                *(self.ledger(), self._data.matrix, mechanism),
                protects=self.protects(self._data.matrix),
                kept=drawn_before,
                leaves=leaves,
                users=self._data.has_users,
            )
            # Nothing was booked since: a draw that was confirmed by it was refused, or is under way
            # and the ledger refuses it a second time.
            self._confirmed.discard(price.token)
        except InputError as error:
            self.forget()
            self._no_price = str(error)
            self._parts.refuse(self._no_price)
            return
        self._parts.message.withdraw(self._no_price)
        self._pressed = Asked(price.token, self._wanted())
        self._asking(price)

    def confirm(self, token: str) -> None:
        """The button with the price: draws what the price was said of, once.

        A token that is confirmed already does nothing more. One of other settings is refused: city,
        grid, what is protected with its bound, mechanism and settings belong to the price.
        """
        if token in self._confirmed:
            return
        pressed = self._pressed
        self.forget()
        if pressed is None or (pressed.token, pressed.choices) != (token, self._wanted()):
            self._parts.refuse(
                "What would be drawn has changed since its price was said, so nothing was drawn: "
                "ask for the price again."
            )
            return
        self._confirmed.add(token)
        self._drawings += 1
        if self._data.city[0] == OWN:
            self._parts.own_drawn = True
        # Fixed now: whatever is changed before it begins, this is drawn.
        self._due = job = self._choice(self._drawings, token)
        if job.ledger is not None:
            _ON_A_PAGE.setdefault((job.ledger.path, token), self)
        self._drawing = self._drawings
        self.progressed()
        self.request()

    def cancel(self) -> None:
        """Do not draw what was confirmed; what is booked by now is drawn to its end."""
        job = self._due or self._going
        if job is None or not isinstance(job.ledger, Booking):
            return
        if not job.ledger.give_up():
            self._parts.refuse(
                f"Too late to cancel. {Underway(True, *self._work.progress).sentence}"
            )
            return
        if self._due is job:
            self._due, self._drawing = None, self._shown(job)
        self._confirmed.discard(str(job.ledger.token))
        _ON_A_PAGE.pop((job.ledger.path, str(job.ledger.token)), None)
        self._parts.message.inform("Cancelled: nothing was booked, and nothing drawn.")
        self.progressed()
        self.request()

    def forget(self) -> None:
        """The price that was said does not hold any more."""
        self._pressed = None
        self._asking(None)

    def renamed(self) -> None:
        """The data on screen are booked under another name from now on."""
        self.forget()
        self._waiting()

    def _wanted(self) -> tuple[Any, ...]:
        state, data = self._parts.state, self._data
        protects = data.matrix.unit, data.matrix.contribution_bound
        return data, state.place, protects, repr(state.instance()), self.terms(), self.drawn

    def protects(self, matrix: Any) -> str:
        """Whom a release of counts protects, in the midst of a sentence.

        Raises
        ------
        InputError
            Where the choices allow no release.
        """
        return protected(matrix)

    def terms(self) -> dict[str, Any]:
        """Arguments of a release other than settings and noise, agreed to on the page."""
        return {}

    def on_price(self, asking: Callable[[Price | None], None]) -> None:
        """Call ``asking`` with a price when it is to be confirmed, with None when it is not."""
        self._asking = asking

    def on_progress(self, telling: Callable[[Underway | None], None]) -> None:
        """Call ``telling`` with how far a draw is, and with None when none is under way."""
        self._telling = telling

    def progressed(self) -> None:
        """Say how far a draw is, if that is new."""
        job, now = self._due or self._going, None
        if job is not None and isinstance(job.ledger, Booking):
            # What waits has not begun: the work that goes on is another one's.
            booked = job.ledger.booked
            now = Underway(True, *self._work.progress) if booked else Underway(False)
        if now != self._told:
            self._told = now
            self._telling(now)

    # Releases that wait on the disk.

    def on_waiting(self, changed: Callable[[], None]) -> None:
        """Call ``changed`` when other releases may be waiting to be saved."""
        self._waiting = changed

    def waiting(self) -> list[Drawn]:
        """Drawn releases of these people that are on no open page but this, and not its last."""
        if self._data is None:
            return []
        try:
            ledger = self.ledger()
            releases = waiting(ledger, self._data.matrix)
        except InputError:
            return []
        shown_token = "" if self._kept is None else self._kept.token
        where = ledger.path
        elsewhere = {
            key[1] for key, page in _ON_A_PAGE.items() if page is not self and key[0] == where
        }
        # One that this page has asked for too is its own, whichever page drew it.
        return [
            release
            for release in releases
            if release.token != shown_token and release.token not in elsewhere - self._confirmed
        ]

    def saved_before(self, token: str) -> io.BytesIO:
        """The file of a release that waits.

        Raises
        ------
        InputError
            For one that is not there any more.
        """
        drawn = DrawnReleases(self.ledger().path)
        content = io.BytesIO(drawn.read(token))
        drawn.saved(token)
        return content

    def refuse(self, sentence: str) -> None:
        self._parts.refuse(sentence)

    def give_up(self, token: str) -> None:
        """No one wants a release that waits; its budget stays spent."""
        DrawnReleases(self.ledger().path).give_up(token)
        self._parts.message.inform(words("drawing")["Given up"])
        self._waiting()

    def again(self, use: Callable[[Any], None]) -> None:
        """Bring the kept release back with its settings; ``use`` shows its city.

        Raises
        ------
        InputError
            When none has been drawn.
        """
        if self._kept is None:
            raise InputError("No release has been drawn yet: draw one first.")
        job = self._kept.job
        use(job.data)
        self._parts.state.take(job.mechanism)
        self._drawing = job.draw
        self.request()

    def saved(self, filename: str = "release.parquet") -> io.BytesIO:
        """The kept release as a file of the format that its name ends in; a preview is none.

        Raises
        ------
        InputError
            When none has been drawn.
        """
        if self._kept is None:
            raise InputError("A preview is not private: draw a release first.")
        with tempfile.TemporaryDirectory(prefix="explorer-") as folder:
            path = Path(folder) / filename
            self._kept.screen.release.save(path)
            content = io.BytesIO(path.read_bytes())
        if self._kept.job.ledger is not None:
            DrawnReleases(self._kept.job.ledger.path).saved(self._kept.token)
        return content

    # From choices to a screen.

    def _job(self) -> Job:
        if self._due is not None:
            job, self._due = self._due, None
            self._asked = job.view
            return job
        if self._drawing and (self._kept is None or self._kept.job.draw != self._drawing):
            # Nothing but a confirmation draws.
            self._drawing = 0
        job = self._choice(0)
        if self._kept is None or self._kept.job.draw != self._drawing:
            return job
        # The drawn release is shown with the settings it was drawn with; no change of settings may
        # cause a second draw.
        drawn_job, screen = self._kept.job, self._kept.screen
        if self._computed is not None and self._computed.key == drawn_job.key:
            screen = self._computed
        return replace(drawn_job, view=job.view, look=job.look, boxes=job.boxes, previous=screen)

    def _choice(self, drawing: int, token: str = "") -> Job:
        """What is chosen now: a preview of it, or a numbered drawing with its token."""
        if self._data is None or self._viewport is None:
            raise InputError("The city is still being read: wait a moment.")
        state, ledger = self._parts.state, self.ledger(token) if drawing else None
        self._asked = self._viewport()
        mechanism, keep = state.instance(), None
        if ledger is not None:
            population = population_in(ledger, self._data.matrix)
            title = f"{mechanism.title} with epsilon {mechanism.epsilon:.12g}"
            keep = partial(self._keep, ledger, population, title)
        return Job(
            data=self._data,
            mechanism=mechanism,
            seed=None if drawing else state.seed,
            ledger=ledger,
            draw=drawing,
            view=self._asked,
            look=self._look(self._parts),
            boxes=self._parts.rectangles.queries,
            previous=self._computed,
            keep=keep,
            terms=self.terms() if drawing else {},
        )

    def _keep(self, ledger: Ledger, population: str, title: str, release: Any) -> None:
        """In the worker's thread: a release that was drawn goes to the disk before it is shown."""
        try:
            DrawnReleases(ledger.path).keep(str(ledger.token), release, population, title)
            self._unkept = ""
        except InputError as error:
            self._unkept = f" It is on this page alone, save it now: {error}"

    def _compute(self, job: Job, run: Run) -> Any:
        """In the worker's thread. A slow preview that is not wanted any more stops half-way."""
        version = self._version
        progress = run.tell if job.draw else give_up_late(lambda: version != self._version)
        self._going = job if job.draw else None
        # Kept here and not when shown: a drawing must not be repeated because a zoom came between.
        try:
            # What is booked is drawn to its end, also where the server is told to stop.
            with ENDING.finishing() if job.draw else contextlib.nullcontext():
                self._computed = screen = (self._make or compute)(job, progress)
        except Exception:
            if job.draw and job.draw == self._drawing:
                # A refused drawing must not be tried again by the next zoom.
                self._drawing = self._shown(job)
            raise
        finally:
            self._going = None
        if job.ledger is not None and (self._kept is None or self._kept.job.draw != job.draw):
            spent = spent_sentence(job.ledger, job.data.matrix, screen.release.epsilon)
            spent += self._unkept
            self._kept = Kept(replace(job, previous=None), screen, spent)
        return screen

    def _shown(self, job: Job) -> int:
        """The number of the drawing on screen, 0 where that is a preview or of other settings."""
        if self._kept is None or self._computed is None:
            return 0
        drawn_job = self._kept.job
        same = self._computed.key == drawn_job.key == replace(job, draw=drawn_job.draw).key
        return drawn_job.draw if same else 0

    def _refused(self, sentence: str) -> None:
        screen = self._computed
        if screen is not None and screen.data is self._data and sentence != UNEXPECTED:
            # Menus and sliders already say something else.
            sentence = f"{sentence} Maps and numbers are still from before, by {screen.title}."
        self._refusal = sentence
        self._parts.refuse(sentence)
        # A draw that was made by another page is offered here.
        self._waiting()

    def _arrived(self, screen: Any) -> None:
        self._parts.message.withdraw(self._refusal)
        # Said once: a zoom makes another screen of the same release.
        drawn = self._kept
        if drawn is not None and drawn.job.key == screen.key and self._said != drawn.job.draw:
            self._said = drawn.job.draw
            self._parts.message.inform(drawn.spent)
            self._waiting()
        self._show(screen)
        if drawn is not None and drawn.job.key == screen.key and self._drawing != drawn.job.draw:
            # Something was changed while it was drawn: what is chosen now comes next.
            self.request()
