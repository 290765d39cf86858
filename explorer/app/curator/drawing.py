"""Previews and drawn releases of one screen: computed, booked, kept, saved, shown again.

A preview follows the choices and costs nothing. A release is drawn when its button is pressed, is
booked in the ledger before any noise, and is kept: it has been paid for.
"""

from __future__ import annotations

import io
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Job, Look, compute
from explorer.app.work.job import UNEXPECTED, give_up_late
from explorer.app.work.job import Job as Work
from explorer.errors import InputError
from explorer.privacy.ledger import Ledger
from explorer.releases.units import to_epsilon, to_units

#: Seconds between two changes of choices that are one movement.
HURRIED = 0.25


@dataclass(frozen=True, eq=False)
class Kept:
    """The last drawn release: what it was drawn from, its screen, what is spent by now."""

    job: Job
    screen: Any
    spent: str


@dataclass(frozen=True)
class Price:
    """What a release would cost: what its button says, and a sentence."""

    button: str
    about: str


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
        # A release-grade drawing has a number; 0 stands for a preview.
        self._drawing = self._drawings = self._version = 0
        # Paid for, so nothing but another drawing takes its place.
        self._kept: Kept | None = None
        # What the last press asked about, and the drawing whose cost has been said.
        self._pressed: tuple[Any, ...] = ()
        self._asking: Callable[[Price | None], None] = lambda _price: None
        self._said = 0
        #: Whether choices change quickly, as while a slider is dragged or a key held down.
        self.hurried = False
        self._changed = -math.inf
        # Why the newest choices have no screen, while they have none.
        self._refusal = ""
        self._work = Work(self._compute, self._arrived, self._refused, take=self._job, slow=slow)
        self.request, self.run_now = self._work.ask, self._work.now
        self.close = self._work.close

    # What is on screen.

    def use(self, data: Any, viewport: Callable[[], Any]) -> None:
        """Work on another city, shown where ``viewport()`` says; back to a preview."""
        self._data, self._viewport, self._drawing = data, viewport, 0
        self.forget()

    def preview(self) -> None:
        """Something a release depends on has changed: a preview of it."""
        self._drawing = 0
        self._version += 1
        before, self._changed = self._changed, time.monotonic()
        self.hurried = self._changed - before < HURRIED
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

    def press(self) -> None:
        """The button "Draw a release": it says its price, and draws on the second press.

        The second press counts only if it asks for the same once more: city, grid, what is
        protected, mechanism with its settings, and the same kept release.
        """
        state, drawn = self._parts.state, self.drawn
        if self._parts.reading or self._data is None:
            self._parts.refuse("The city is still being read: wait a moment.")
            return
        wanted = state.place, repr(state.instance()), drawn
        if wanted == self._pressed:
            self.forget()
            self._drawings += 1
            self._drawing = self._drawings
            self.request()
            return
        try:
            price = price_of(self._data.matrix.key, state.epsilon, kept=drawn is not None)
        except InputError as error:
            self.forget()
            self._parts.refuse(str(error))
            return
        self._pressed = wanted
        self._asking(price)

    def forget(self) -> None:
        """The next press of the button says the price again."""
        self._pressed = ()
        self._asking(None)

    def on_price(self, asking: Callable[[Price | None], None]) -> None:
        """Call ``asking`` with a price when it is to be confirmed, with None when it is not."""
        self._asking = asking

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
            return io.BytesIO(path.read_bytes())

    # From choices to a screen.

    def _job(self) -> Job:
        if self._data is None or self._viewport is None:
            raise InputError("The city is still being read: wait a moment.")
        state = self._parts.state
        self._asked = self._viewport()
        job = Job(
            data=self._data,
            mechanism=state.instance(),
            seed=None if self._drawing else state.seed,
            ledger=Ledger() if self._drawing else None,
            draw=self._drawing,
            view=self._asked,
            look=self._look(self._parts),
            boxes=self._parts.rectangles.queries,
            previous=self._computed,
        )
        if self._kept is None or self._kept.job.draw != self._drawing:
            return job
        # The drawn release is shown with the settings it was drawn with; no change of settings may
        # cause a second draw.
        kept, screen = self._kept.job, self._kept.screen
        if self._computed is not None and self._computed.key == kept.key:
            screen = self._computed
        return replace(kept, view=job.view, look=job.look, boxes=job.boxes, previous=screen)

    def _compute(self, job: Job) -> Any:
        """In the worker's thread. A slow preview that is not wanted any more stops half-way."""
        version = self._version
        progress = give_up_late(lambda: job.draw == 0 and version != self._version)
        # Kept here and not when shown: a drawing must not be repeated because a zoom came between.
        try:
            self._computed = screen = (self._make or compute)(job, progress)
        except Exception:
            if job.draw and job.draw == self._drawing:
                # A refused drawing must not be tried again by the next zoom.
                self._drawing = self._shown(job)
            raise
        if job.ledger is not None and (self._kept is None or self._kept.job.draw != job.draw):
            spent = spent_sentence(job.ledger, job.data.matrix.key, screen.release.epsilon)
            self._kept = Kept(replace(job, previous=None), screen, spent)
        return screen

    def _shown(self, job: Job) -> int:
        """The number of the drawing on screen, 0 where that is a preview or of other settings."""
        if self._kept is None or self._computed is None:
            return 0
        kept = self._kept.job
        same = self._computed.key == kept.key == replace(job, draw=kept.draw).key
        return kept.draw if same else 0

    def _refused(self, sentence: str) -> None:
        shown = self._computed
        if shown is not None and shown.data is self._data and sentence != UNEXPECTED:
            # Menus and sliders already say something else.
            sentence = f"{sentence} Maps and numbers are still from before, by {shown.title}."
        self._refusal = sentence
        self._parts.refuse(sentence)

    def _arrived(self, screen: Any) -> None:
        self._parts.message.withdraw(self._refusal)
        # Said once: a zoom makes another screen of the same release.
        kept = self._kept
        if kept is not None and kept.job.key == screen.key and self._said != kept.job.draw:
            self._said = kept.job.draw
            self._parts.message.inform(kept.spent)
        self._show(screen)


def spent_sentence(ledger: Ledger, key: str, epsilon: float) -> str:
    """What the data set ``key`` has spent after a draw that cost ``epsilon``."""
    said = f"Drawn and booked with epsilon {epsilon:.12g}"
    try:
        spent, left = ledger.spent(key), ledger.left(key)
    except InputError:
        # The release is drawn and paid for: an unreadable file must not take it away again.
        return f"{said}; the ledger cannot be read now, so what is spent in all is not known."
    total = f"{said}: releases of this data set have spent epsilon {to_epsilon(spent):.12g} so far"
    if left is None:
        return f"{total}, and no cap is set."
    return f"{total}, and {to_epsilon(left):.12g} is left under the cap."


def spent_of(key: str) -> str:
    """What the data set ``key`` has spent, such as "0.2 of 0.25 spent"; "" where nobody knows."""
    ledger = Ledger()
    try:
        spent, left = ledger.spent(key), ledger.left(key)
    except InputError:
        return ""
    said = f"{to_epsilon(spent):.12g}"
    return (
        f"epsilon {said} spent"
        if left is None
        else (f"epsilon {said} of {to_epsilon(spent + left):.12g} spent")
    )


def price_of(key: str, epsilon: float, *, kept: bool) -> Price:
    """What a release of the data set ``key`` would cost; ``kept`` where another one gives way.

    Raises
    ------
    InputError
        Where the ledger would refuse it.
    """
    ledger = Ledger()
    left = ledger.affordable(key, to_units(epsilon))
    if left is None:
        button = f"Spend {epsilon:.12g}, no cap: press again"
        rest = f"no cap is set, and {to_epsilon(ledger.spent(key)):.12g} is spent so far."
    else:
        button = f"Spend {epsilon:.12g} of the {to_epsilon(left):.12g} left: press again"
        rest = f"{to_epsilon(left - to_units(epsilon)):.12g} of the cap is left after it."
    about = f"A release spends epsilon {epsilon:.12g} of this data set for good; {rest}"
    if kept:
        about += " It takes the place of the one that is kept: save that one first if it matters."
    return Price(button, about)
