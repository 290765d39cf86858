"""From choices to screens: what is computed when, and what is drawn only once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.data import CityData
from explorer.app.curator.screen import Job, Look, Screen, compute
from explorer.app.state.explore import ExploreState
from explorer.app.work.worker import LatestWorker, Superseded
from explorer.errors import InputError
from explorer.mechanisms import Mechanism
from explorer.views.viewport import Viewport


class Flow:
    """Turns the state into screens, in the worker's thread, the newest settings first.

    Parameters
    ----------
    state, rectangles : the visitor's choices
    publish : shows a `Screen`, with the document's lock held
    failed : shows a sentence
    slow : told True when a picture takes long, and False at its end
    """

    def __init__(
        self,
        state: ExploreState,
        rectangles: Rectangles,
        publish: Callable[[Screen], None],
        failed: Callable[[str], None],
        slow: Callable[[bool], None],
    ) -> None:
        self._state, self._rectangles = state, rectangles
        self._data: CityData | None = None
        self._viewport: Callable[[], Viewport] | None = None
        self._computed: Screen | None = None
        self._asked: Viewport | None = None
        # A release-grade drawing has a number; 0 stands for a preview.
        self._drawing = self._drawings = self._version = 0
        # The last drawn release and what it was drawn from: paid for, so nothing but another
        # drawing takes its place.
        self._kept: tuple[Job, Screen] | None = None
        self._worker = LatestWorker(self._job, self._compute, publish, failed, slow)
        self.request, self.run_now = self._worker.request, self._worker.run_now
        self.close = self._worker.close

    def use(self, data: CityData, viewport: Callable[[], Viewport]) -> None:
        """Work on another city, shown where ``viewport()`` says; back to a preview."""
        self._data, self._viewport, self._drawing = data, viewport, 0

    def preview(self) -> None:
        """Something a release depends on has changed: a preview of it."""
        self._drawing = 0
        self._version += 1
        self.request()

    def draw(self) -> None:
        """Draw once with release-grade noise; kept until `preview` or `use`."""
        self._drawings += 1
        self._drawing = self._drawings
        self.request()

    @property
    def drawn(self) -> Screen | None:
        """The last screen with a drawn release, kept whatever is shown since."""
        return None if self._kept is None else self._kept[1]

    @property
    def drawing(self) -> bool:
        """Whether a drawn release is wanted now, be it shown or still being drawn."""
        return bool(self._drawing)

    def mechanism_drawn(self) -> Mechanism | None:
        """The mechanism of `drawn`, with its settings."""
        return None if self._kept is None else self._kept[0].mechanism

    def again(self) -> None:
        """Show the kept release again, if it is of the data in use."""
        if self._kept is not None and self._kept[0].data is self._data:
            self._drawing = self._kept[0].draw
            self.request()

    def viewed(self) -> None:
        """A pan, zoom or resize; both maps report it, and loading reports it several times."""
        if self._viewport is not None and self._viewport() != self._asked:
            self.request()

    def _job(self) -> Job:
        if self._data is None or self._viewport is None:
            raise InputError("The city is still being read: wait a moment.")
        state = self._state
        self._asked = self._viewport()
        job = Job(
            data=self._data,
            mechanism=state.instance(),
            seed=None if self._drawing else state.seed,
            draw=self._drawing,
            view=self._asked,
            look=Look(state.right, state.scale, state.scale_from, state.truth == "points"),
            boxes=self._rectangles.boxes,
            previous=self._computed,
        )
        if self._kept is None or self._kept[0].draw != self._drawing:
            return job
        # What is kept is shown from what it was drawn with: nothing can make it be drawn again.
        kept, screen = self._kept
        if self._computed is not None and self._computed.key == kept.key:
            screen = self._computed
        return replace(kept, view=job.view, look=job.look, boxes=job.boxes, previous=screen)

    def _compute(self, job: Job) -> Screen:
        """In the worker's thread. A preview that is not wanted any more stops half-way."""
        version = self._version

        def progress(_done: float) -> None:
            if job.draw == 0 and version != self._version:
                raise Superseded

        # Kept here and not when shown: a drawing must not be repeated because a zoom came between.
        try:
            self._computed = screen = compute(job, progress)
        except Exception:
            if job.draw and job.draw == self._drawing:
                # A refused drawing must not be tried again by the next zoom.
                self._drawing = self._shown(job)
            raise
        if job.draw and (self._kept is None or self._kept[0].draw != job.draw):
            self._kept = replace(job, previous=None), screen
        return screen

    def _shown(self, job: Job) -> int:
        """The number of the drawing on screen, 0 where that is a preview or of other settings."""
        if self._kept is None or self._computed is None:
            return 0
        number = self._kept[0].draw
        same = self._computed.key == self._kept[0].key == replace(job, draw=number).key
        return number if same else 0
