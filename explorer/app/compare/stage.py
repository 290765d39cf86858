"""The pictures of Compare: two large maps and eight small ones, computed next to the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from explorer.app.compare.maps import PrivatePair
from explorer.app.compare.pair import Pair, compute_pair
from explorer.app.compare.small import SmallMaps
from explorer.app.curator import screen
from explorer.app.curator.data import CityData, same_extent
from explorer.app.curator.small import SmallJob, SmallScreen, compute_small
from explorer.app.kit.later import when_loaded
from explorer.app.kit.map_parts import nothing
from explorer.app.kit.maps import holder
from explorer.app.state.compare import FOUR, CompareState
from explorer.app.work.job import Job, give_up_late
from explorer.app.work.timing import Movement
from explorer.errors import InputError
from explorer.grid.range_queries import Queries
from explorer.views.viewport import Viewport

Box = tuple[float, float, float, float]


class Stage:
    """From choices to maps.

    Parameters
    ----------
    state : CompareState
    boxes : returns the rectangles (n, 4)
    drawn : called with each dragged rectangle
    on_shown : called after both maps were shown, in the next tick; in a movement after the last
    refused : shows a sentence
    """

    def __init__(
        self,
        state: CompareState,
        boxes: Callable[[], Queries],
        drawn: Callable[[Box], None],
        on_shown: Callable[[], None],
        refused: Callable[[str], None],
    ) -> None:
        self._state, self._boxes = state, boxes
        self._drawn, self._shown = drawn, on_shown
        self.data: CityData | None = None
        #: Whether exact counts may be sent.
        self.truth = True
        self.pair: Pair | None = None
        self.maps: PrivatePair | None = None
        self.small: SmallMaps | None = None
        self._computed: Pair | None = None
        self._small_screen: SmallScreen | None = None
        self._asked: Viewport | None = None
        self._version = 0
        self._movement = Movement()
        #: Called with each pair that is shown, in the same message.
        self.on_picture: Callable[[Pair], None] = nothing
        self.worker = Job(self._compute, self._publish, refused, take=self._jobs, slow=self._slow)
        self.small_worker = Job(
            self._compute_small, self._publish_small, refused, take=self._small_job
        )
        self.view, self.small_view = holder(), holder()

    def known(self) -> CityData:
        """The city on screen; an InputError before there is one."""
        if self.data is None:
            raise InputError("The city is still being read: wait a moment.")
        return self.data

    def use(self, data: CityData) -> bool:
        """Take another city; returns whether it is elsewhere, so that there are new maps."""
        self.data = data
        self._version += 1
        if self.maps is not None and same_extent(self.maps.grid, data.grid):
            self.maps.grid = data.grid
            return False
        self.maps = PrivatePair(self._state, data.grid, self._viewed, self._drawn)
        self.maps.stand_in(self.view)
        self.small = SmallMaps(self._state, data.grid, FOUR)
        self.small_view.objects = [self.small.view]
        return True

    def remake(self, ready: Callable[[PrivatePair], None]) -> None:
        """Other maps next to A and B, where the old ones were looking.

        A browser must not hear of changes to maps that it does not have yet: everything is put on
        them, by ``ready`` too, before they are on the page.
        """
        if self.maps is None:
            return
        x0, y0, x1, y1 = self.maps.ranges.bounds
        maps = self.maps = PrivatePair(self._state, self.maps.grid, self._viewed, self._drawn)
        maps.ranges.look_at((x0 + x1) / 2, (y0 + y1) / 2, x1 - x0)
        if self.pair is not None:
            maps.show(self.pair)
            maps.caption(self.pair)
        ready(maps)
        maps.stand_in(self.view)

    def begin(self) -> None:
        """Compute the first picture here and now, the next ones in the background."""
        if self.pair is None:
            self.worker.now()
        else:
            self.worker.ask()
        when_loaded(self.small_worker.ask)

    def outdated(self) -> None:
        """The settings are other ones: what is being computed for the old ones can stop."""
        self._version += 1
        self._movement.changed()
        self.request()

    def request(self) -> None:
        """All pictures, as they are set now."""
        self.worker.ask()
        self.small_worker.ask()

    def restyle(self) -> None:
        """Colours, partition, and what a drag does."""
        if self.maps is not None and self.small is not None and self.pair is not None:
            self.maps.restyle()
            self.maps.caption(self.pair)
            self.small.restyle()

    def zoom(self, factor: float) -> None:
        """Zoom both large maps, below 1 inwards; 0 shows the whole grid again."""
        if self.maps is not None:
            self.maps.zoom(factor)
            self.worker.ask()

    def close(self) -> None:
        """The session has ended."""
        self.worker.close()
        self.small_worker.close()

    def _viewed(self) -> None:
        """A pan, zoom or resize; both maps report it, and loading reports it several times."""
        if self.maps is not None and self.maps.viewport() != self._asked:
            self.worker.ask()

    def _look(self) -> screen.Look:
        if self.truth:
            return screen.Look(self._state.right, self._state.scale, "data", points=False)
        return screen.Look("private", self._state.scale, "release", points=False)

    def _jobs(self) -> tuple[screen.Job, screen.Job]:
        data, state, last = self.known(), self._state, self._computed
        self._asked = Viewport.whole(data.grid) if self.maps is None else self.maps.viewport()
        job = screen.Job(
            data=data,
            mechanism=state.instance(),
            seed=state.seed,
            draw=0,
            view=self._asked,
            look=self._look(),
            boxes=self._boxes(),
            previous=None if last is None else last.a,
        )
        previous = None if last is None else last.b
        other = state.seeds_of_sides[1]
        return job, replace(job, mechanism=state.b.instance(), seed=other, previous=previous)

    def _compute(self, jobs: tuple[screen.Job, screen.Job]) -> Pair:
        """In the worker's thread; a picture that is not wanted any more stops half-way."""
        self._computed = pair = compute_pair(jobs, self._still_wanted())
        if self._state.third == "change":
            _ = pair.change  # here, and not where the page waits
        return pair

    def _still_wanted(self) -> Callable[[float], None]:
        version = self._version
        return give_up_late(lambda: version != self._version)

    def _publish(self, pair: Pair) -> None:
        if pair.a.data is not self.data or self.maps is None:
            return
        if pair.a.look.exact and not self.truth:
            # It was asked for before exact counts were hidden: another one is on its way.
            return
        self.pair = pair
        self.maps.show(pair)
        self.on_picture(pair)
        self._movement.shown(self._shown)

    def _slow(self, busy: bool) -> None:
        if self.maps is not None and self.pair is not None:
            self.maps.caption(self.pair, busy=busy)

    def _small_job(self) -> SmallJob:
        data, state = self.known(), self._state
        mechanisms = [
            mechanism.with_(epsilon=epsilon)
            for mechanism in (state.instance(), state.b.instance())
            for epsilon in FOUR
        ]
        return SmallJob(data, mechanisms, state.seed, self._look(), self._small_screen)

    def _compute_small(self, job: SmallJob) -> SmallScreen:
        return compute_small(job, self._still_wanted())

    def _publish_small(self, screen: SmallScreen) -> None:
        self._small_screen = screen
        if screen.data is self.data and self.small is not None:
            self.small.show(screen)
