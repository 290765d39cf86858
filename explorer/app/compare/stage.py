"""The pictures of Compare: two large maps and eight small ones, computed next to the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.answers import count, named, together
from explorer.app.curator.answers import BoxAnswers, chips, median_error
from explorer.app.curator.data import CityData, same_extent
from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import of_truth
from explorer.app.curator.screen import Job as ScreenJob
from explorer.app.curator.screen import Look, Screen, compute
from explorer.app.curator.small import SmallJob, SmallScreen, card, compute_small
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.labels import CURATOR, HIDDEN, PREVIEW
from explorer.app.kit.later import when_loaded
from explorer.app.kit.map_parts import Box, MapSpec, Tag, nothing
from explorer.app.kit.maps import Maps, holder
from explorer.app.kit.numbers import percent
from explorer.app.kit.prose import column
from explorer.app.mappage.maps import colours_of, counts_bar, errors_bar
from explorer.app.state import FOUR, CompareState
from explorer.app.work.job import Job, give_up_late
from explorer.app.work.timing import Movement
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.releases.release import Release
from explorer.views import palette
from explorer.views.markup import difference_bar, figures_strip
from explorer.views.pictures import private_map
from explorer.views.small import SmallMap
from explorer.views.viewport import Viewport


@dataclass(frozen=True, eq=False)
class Pair:
    """The screens of A and B: same city, epsilon, view, colour scale and boxes."""

    a: Screen
    b: Screen

    @property
    def answers(self) -> tuple[BoxAnswers, BoxAnswers]:
        """Answers to the boxes by A and by B."""
        return self.a.answers, self.b.answers

    @cached_property
    def change(self) -> NDArray[np.uint8]:
        """Bytes (height, width) of B minus A in the colours of differences."""
        a, b = (private_map(part.release, part.leaves, part.view) for part in (self.a, self.b))
        return self.a.scale.encode_difference(b - a)


def nearer(a: BoxAnswers, b: BoxAnswers) -> list[str]:
    """Who is nearer to the truth, box by box: "A", "B" or, by a tenth of a point, "both"."""
    gap = np.abs(a.difference) - np.abs(b.difference)
    return ["both" if abs(margin) < 0.1 else "A" if margin < 0 else "B" for margin in gap]


def _figures(screen: Screen, exact: bool) -> list[tuple[str, str]]:
    """Label and value of the strip above a map; without ``exact`` errors are left out."""
    released = [("Leaves", f"{screen.release.n_leaves:,}"), ("Leaf noise", _noise(screen.release))]
    if not exact:
        return released
    return [
        *released,
        ("Box error", percent(median_error(screen.answers))),
        ("Map error", "–" if np.isnan(screen.error) else f"{screen.error:.2f}"),
    ]


def _noise(release: Release) -> str:
    """Median over the leaves of the standard deviation of their noise, in points."""
    return plus_minus(float(np.median(release.sd)))


def plus_minus(value: float) -> str:
    """A standard deviation to read.

    >>> [plus_minus(v) for v in (0.0123, 3.456, 1234.5)]
    ['±0.012', '±3.5', '±1,234']
    """
    return f"±{value:,.0f}" if value >= 100 else f"±{value:.2g}"


def why(pair: Pair) -> str:
    """One sentence on why A and B differ: leaves, their noise, leaves touched, budget by stage."""
    a, b = pair.a, pair.b
    text = (
        f"Why they differ: A ({a.title}) cuts the map into {_leaves(a.release.n_leaves)} with "
        f"noise of about {_noise(a.release)} each, B ({b.title}) into "
        f"{_leaves(b.release.n_leaves)} with {_noise(b.release)}"
    )
    if len(a.boxes):
        touched = " and ".join(
            f"{_leaves(float(np.median(screen.answers.touched)))} of {letter} "
            f"({plus_minus(float(np.median(screen.answers.sd)))} of noise)"
            for letter, screen in (("A", a), ("B", b))
        )
        text += f"; a box touches {touched}, and the rest of its error is uneven spread in leaves"
    return (
        f"{text}; of epsilon {a.release.epsilon:.4g}, A gives {_budget(a.release)} and B "
        f"{_budget(b.release)}."
    )


def score(pair: Pair) -> str:
    """One sentence on who is nearer in how many boxes."""
    winners = nearer(*pair.answers)
    n = len(winners)
    if n == 0:
        return "No box has been drawn: drag one on either map."
    a, b = winners.count("A"), winners.count("B")
    return (
        f"A ({pair.a.title}) is nearer to the truth in {a} of {n} "
        f"{'box' if n == 1 else 'boxes'} and B ({pair.b.title}) in {b}; their median errors are "
        f"{percent(median_error(pair.a.answers))} and {percent(median_error(pair.b.answers))}."
    )


def _leaves(number: float) -> str:
    return f"{number:,.0f} {'leaf' if number == 1 else 'leaves'}"


def _budget(release: Release) -> str:
    """What the largest stages of a release got, at most three of them."""
    stages = sorted(release.stages(), key=lambda stage: -stage[1])
    parts = [f"{epsilon:.2g} to {name}" for name, epsilon in stages[:3] if epsilon > 0]
    more = sum(epsilon for _, epsilon in stages[3:])
    if more > 0:
        parts.append(f"{more:.2g} to the rest")
    return ", ".join(parts) or "nothing"


#: The figures above each map take space as well.
_TAKEN = 242


class PrivatePair(Maps):
    """A at the left, B at the right: private maps with partitions, or their differences from truth.

    What the state names as the third map is next to them; otherwise nothing of it is sent.

    Parameters
    ----------
    state : CompareState
    grid : Grid
    viewed : called after a pan, zoom or resize
    drawn : called with each dragged rectangle (x0, y0, x1, y1) in grid units
    """

    def __init__(
        self,
        state: CompareState,
        grid: Grid,
        viewed: Callable[[], None],
        drawn: Callable[[Box], None],
    ) -> None:
        specs = [
            MapSpec(grid, f"Private map {letter}", partition=i) for i, letter in enumerate("AB")
        ]
        self.third = state.third
        if self.third != "none":
            specs.append(MapSpec(grid, "True map" if self.third == "truth" else "B minus A"))
        super().__init__(specs, viewed, lambda _place, box: drawn(box), taken=_TAKEN)
        self._state = state
        self._shown: list[Screen | None] = [None, None]
        self.restyle()

    def show(self, pair: Pair) -> None:
        """Put two computed screens on the maps; what did not change is not sent again."""
        before = self._shown[0]
        if before is None or before.look.right != pair.a.look.right:
            self.restyle()
        for i, screen in enumerate((pair.a, pair.b)):
            old = self._shown[i]
            if old is not screen:
                self.views[i].show_image(screen.right_bytes, screen.view)
            if old is None or old.partition is not screen.partition:
                self.show_partition(i, screen.partition, screen.view)
            self._shown[i] = screen
        if self.third == "change" or (self.third == "truth" and self.truth):
            picture = pair.a.left_bytes if self.third == "truth" else pair.change
            self.views[2].show_image(picture, pair.a.view)

    def restyle(self) -> None:
        """Apply palette, partition and what a drag does; no picture is computed."""
        state = self._state
        for view in self.views[:2]:
            view.recolour(colours_of(state, self.truth))
            view.show_partition(state.partition)
        for view in self.views[2:]:
            truth = self.third == "truth"
            view.recolour(palette.PALETTES[state.palette] if truth else palette.DIFFERENCE)
            view.show_partition(False)
        for view in self.views:
            view.drag(state.drag)

    def caption(self, pair: Pair, busy: bool = False) -> None:
        """Titles with their figures, colour bars and the spoken names of both maps."""
        for i, (letter, screen) in enumerate((("A", pair.a), ("B", pair.b))):
            difference = screen.look.right == "difference"
            quantity = "Private minus true counts" if difference else "Private counts"
            kind = CURATOR.capitalize() if difference else PREVIEW
            about = "computing …" if busy else f"{quantity}. {kind}"
            strip = figures_strip(_figures(screen, self.truth), "four")
            self.title(i, f"{letter}: {screen.title}", f"<p>{about}</p>{strip}")
            self.views[i].describe(
                f"Private map {letter}: {quantity} by {screen.title} of {screen.data.title}; "
                "the table of boxes gives its numbers"
            )
            # A and B have one scale.
            bar = errors_bar(pair.a) if difference else counts_bar(pair.a, self._state.palette)
            self.explain(i, bar)
        if self.third != "none":
            self.explain(2, self._caption_third(pair))

    def show_truth(self, visible: bool) -> None:
        """Send the map of exact counts, if there is one, or take all exact pictures away."""
        super().show_truth(visible)
        screen = self._shown[0]
        if self.third == "truth":
            self.frame[0][2].visible = visible
            self._leave(self._left)
            if visible and screen is not None:
                self.views[2].show_image(screen.left_bytes, screen.view)
        if not visible and screen is not None and screen.look.exact:
            for view in self.views:
                view.clear()

    def tags(
        self, a: BoxAnswers, b: BoxAnswers, names: Sequence[str], exact: bool = True
    ) -> list[list[Tag]]:
        """Tags of boxes on each map in turn; without ``exact`` they say nothing of the truth."""
        quantity = self._state.right
        tags = [chips(quantity, names, answers, exact) for answers in (a, b)]
        if self.third == "truth":
            tags.append(chips("true", names, a, exact))
        elif self.third == "change":
            changes = zip(named(names), b.private - a.private, strict=True)
            tags.append(
                [(f"{name}  {count(by, sign=True)}", colour) for (name, colour), by in changes]
            )
        return together(names, "AB", tags) if self.swiped else tags

    def _caption_third(self, pair: Pair) -> str:
        """Title and spoken name of the third map; returns its bar."""
        place, hint = pair.a.data.title, "the table of boxes gives its numbers"
        if self.third == "truth":
            of = of_truth(pair.a.data.matrix)
            about = CURATOR.capitalize() if self.truth else HIDDEN
            self.title(2, f"Truth{of}", f"<p>{about}</p>")
            self.views[2].describe(f"True map of {place}{of}; {about}; {hint}")
            return counts_bar(pair.a, self._state.palette)
        self.title(2, "B − A", f"<p>{PREVIEW}</p>")
        self.views[2].describe(f"Private counts of B minus those of A, {place}; {hint}")
        return difference_bar("B − A", pair.a.scale, "blue B has fewer, orange B has more")


class SmallMaps:
    """Two rows of small maps, one for each of ``epsilons``, built once for a grid."""

    def __init__(self, state: CompareState, grid: Grid, epsilons: Sequence[float]) -> None:
        self._state, self._n = state, (n := len(epsilons))
        self.views = [
            SmallMap(grid.bounds, f"Small map {letter}") for letter in "AB" for _ in range(n)
        ]
        # Drawing takes seconds, and the space for it is there at once.
        waiting = [f"<p><b>epsilon {epsilon:g}</b>: being drawn</p>" for epsilon in epsilons]
        self._captions = [html_pane(text, margin=(2, 0, 0, 0)) for text in 2 * waiting]
        self._titles = [html_pane(margin=(12, 0, 2, 0)) for _ in "AB"]
        cards = [card(*pair) for pair in zip(self.views, self._captions, strict=True)]
        rows: list[Any] = []
        for side, title in enumerate(self._titles):
            self._entitle(side, state.sides[side].kind.title)
            rows += [title, ui.wrapping(*cards[side * n : side * n + n], gap="8px 12px")]
        self.view = column(*rows)
        self.restyle()

    def _entitle(self, side: int, title: str) -> None:
        put(self._titles[side], f"<h3>{'AB'[side]}: {title}</h3>")

    def show(self, screen: SmallScreen) -> None:
        """Put computed pictures on the maps and say what they are."""
        self.restyle()
        for i, mechanism in enumerate(screen.mechanisms):
            thumbnail, letter = screen.thumbnails[i], "AB"[i // self._n]
            error = "" if np.isnan(thumbnail.error) else f", error {thumbnail.error:.2f}"
            about = f"{_leaves(thumbnail.leaves)}{error}"
            put(self._captions[i], f"<p><b>epsilon {mechanism.epsilon:g}</b>: {about}</p>")
            drawn_by = f"{mechanism.title} at epsilon {mechanism.epsilon:g}"
            self.views[i].show(screen.pictures[i], f"Small map {letter}, {drawn_by}: {about}")
            self._entitle(i // self._n, mechanism.title)

    def restyle(self) -> None:
        """Apply the palette."""
        for view in self.views:
            view.recolour(colours_of(self._state))


class Stage:
    """From choices to maps.

    Parameters
    ----------
    parts : of the page
    drawn : called with each dragged rectangle
    on_shown : called after both maps were shown, in the next tick; in a movement after the last
    """

    def __init__(
        self, parts: PageParts, drawn: Callable[[Box], None], on_shown: Callable[[], None]
    ) -> None:
        self._parts, self._state = parts, parts.state
        self._drawn, self._shown = drawn, on_shown
        self.data: CityData | None = None
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
        refused = parts.refuse
        self.worker = Job(self._compute, self._publish, refused, take=self._jobs, slow=self._slow)
        self.small_worker = Job(
            lambda job: compute_small(job, self._still_wanted()),
            self._publish_small,
            refused,
            take=self._small_job,
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

    def _look(self) -> Look:
        if self._parts.truth:
            return Look(self._state.right, self._state.scale, "data", points=False)
        return Look("private", self._state.scale, "release", points=False)

    def _jobs(self) -> tuple[ScreenJob, ScreenJob]:
        data, state, last = self.known(), self._state, self._computed
        self._asked = Viewport.whole(data.grid) if self.maps is None else self.maps.viewport()
        job = ScreenJob(
            data=data,
            mechanism=state.instance(),
            seed=state.seed,
            draw=0,
            view=self._asked,
            look=self._look(),
            boxes=self._parts.rectangles.queries,
            previous=None if last is None else last.a,
        )
        previous = None if last is None else last.b
        other = state.seeds_of_sides[1]
        return job, replace(job, mechanism=state.b.instance(), seed=other, previous=previous)

    def _compute(self, jobs: tuple[ScreenJob, ScreenJob]) -> Pair:
        """In the worker's thread; a picture that is not wanted any more stops half-way."""
        wanted = self._still_wanted()
        a = compute(jobs[0], wanted)
        # Whatever still holds in their last screens is used again.
        self._computed = pair = Pair(a, compute(replace(jobs[1], scale=a.scale), wanted))
        if self._state.third == "change":
            _ = pair.change  # here, and not where the page waits
        return pair

    def _still_wanted(self) -> Callable[[float], None]:
        version = self._version
        return give_up_late(lambda: version != self._version)

    def _publish(self, pair: Pair) -> None:
        if pair.a.data is not self.data or self.maps is None:
            return
        if pair.a.look.exact and not self._parts.truth:
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

    def _publish_small(self, screen: SmallScreen) -> None:
        self._small_screen = screen
        if screen.data is self.data and self.small is not None:
            self.small.show(screen)
