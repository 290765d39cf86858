"""How the map grew: the rounds on the maps, in words, in figures."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.panel import SteppedPanel
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Painted, Screen, map_error
from explorer.app.federated.screen import refines, released
from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.prose import pane
from explorer.releases.distributed import ONCE, DistributedRelease
from explorer.releases.quarters import separate
from explorer.releases.rounds import Heard, Row
from explorer.views.figures import legend
from explorer.views.marks import DIVIDED, GIVEN_UP, GREY, Marked
from explorer.views.markup import STAGE_COLOURS, amount
from explorer.views.partition import Leaves
from explorer.views.tables import Cell, table


@dataclass(frozen=True, eq=False)
class FrameJob:
    """One request: which round of a screen, 0 for the last; whether noise is marked grey."""

    screen: Screen
    number: int
    grey: bool
    previous: Frame | None = None


@dataclass(frozen=True, eq=False)
class Frame:
    """One round.

    Attributes
    ----------
    number, last : which round it is, and how many there are
    release : the map as it stood after it
    picture : of the right map; None at the end, where the screen's own is right
    marks : of the round; None where its cells are no tree
    drowned : how many cells had less than their noise
    error : L1 / N of the map
    """

    screen: Screen
    number: int
    last: int
    grey: bool
    release: DistributedRelease
    picture: Painted | None
    marks: Marked | None
    drowned: int
    error: float

    @property
    def replayed(self) -> bool:
        """Whether earlier rounds have maps too; some algorithms have one at their end only."""
        return refines(released(self.screen))


def drowned_in_noise(release: DistributedRelease, received: Heard) -> NDArray[np.bool_]:
    """Which cells of a round hold fewer people than the noise of its sums, (v,).

    What they hold is what the map says, to which all rounds so far have contributed; noise is
    scaled up to all people, as the map is.
    """
    tree, (rows, cols) = received.tree, release.grid.shape
    scale = release.population / max(received.answered, 1)
    shift = (max(rows, cols) - 1).bit_length() - tree.depth
    # A cell's people are spread evenly over what it owns: one place of it tells them all.
    _, first = np.unique(tree.run_index, return_index=True)
    column, row = (coordinate << shift for coordinate in separate(tree.runs[0][first]))
    there = (row < rows) & (column < cols)
    people = received.sums * scale
    people[there] = release.density()[row[there], column[there]] * (tree.area[there] << 2 * shift)
    return np.asarray(people <= received.noise * scale)


def compute_frame(job: FrameJob) -> Frame:
    """Replay a round, draw its map at the size of the screen, mark its cells."""
    screen, old = job.screen, job.previous
    whole = released(screen)
    rounds = len(whole.heard)
    replayed = refines(whole)
    number = min(job.number, rounds) if job.number and replayed else rounds
    same = old is not None and old.number == number and released(old.screen) is whole
    if same and old is not None:
        release, error = old.release, old.error
    else:
        release = whole.replay(number)
        error = map_error(screen.data.matrix, release, Leaves.of(release))
    received = whole.heard[number - 1]
    marks, drowned = None, 0
    # With one round alone its cells are those of the map, whatever the algorithm.
    if isinstance(received, Heard) and (replayed or rounds == 1):
        below = drowned_in_noise(release, received)
        drowned = int(np.count_nonzero(below))
        marks = Marked.of(
            received.tree,
            received.split,
            received.collapsed,
            below if job.grey else None,
            screen.data.grid,
            screen.view,
        )
    picture = screen.paint(release) if number < rounds else None
    return Frame(screen, number, rounds, job.grey, release, picture, marks, drowned, error)


#: Pixels of the longest bar of the table.
_LONGEST = 76


def size(number: float) -> str:
    """Bytes as people say them.

    >>> size(312), size(2832), size(11_343), size(1_450_000)
    ('312 B', '2.8 kB', '11 kB', '1.4 MB')
    """
    if number < 1_000:
        return f"{number:,.0f} B"
    unit, scale = ("kB", 1e3) if number < 1e6 else ("MB", 1e6)
    scaled = number / scale
    return f"{scaled:.1f} {unit}" if scaled < 10 else f"{scaled:,.0f} {unit}"


def several(number: int, one: str, many: str = "") -> str:
    """A number of things.

    >>> several(1, "shard"), several(1200, "person", "people")
    ('1 shard', '1,200 people')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def about_round(frame: Frame) -> str:
    """Who was asked, what each of them sent, what was divided."""
    release = released(frame.screen)
    row = release.heard[frame.number - 1]
    text = f"Round {frame.number} of {frame.last}: {_asked(release, row)}. {_sent(row)}"
    if frame.marks is not None and isinstance(row, Heard):
        text += f" {_decided(row, frame)}"
    elif not frame.replayed:
        text += " This algorithm has a map at its end only, so there is no round to go back to."
    return text


def off_after(frame: Frame) -> str:
    """How far the map is off by now: held against the truth."""
    return f"After it, all cells together are off by {frame.error:.2f} per person (L1/N)."


def _asked(release: DistributedRelease, row: Row) -> str:
    who = several(row.people, "person", "people")
    if release.paying == ONCE:
        who += " who had never been asked"
        price = f"each at the whole epsilon {amount(row.epsilon)}"
    else:
        price = f"at epsilon {amount(row.epsilon)} of {amount(release.epsilon)}, booked for all"
    if row.shards == 0 or row.noise == 0:
        return f"{who} were looked at without noise"
    missing = row.people - row.answered
    shards = several(row.shards, "shard")
    if row.refused:
        shards += f" ({row.refused:,} refused)"
    return f"{who} were asked, {price}, in {shards}; {missing:,} did not answer"


def _sent(row: Row) -> str:
    cells = several(row.cells, "number")
    if not row.bits:
        return f"It is about {several(row.cells, 'cell')}."
    return (
        f"Each sent {cells} of {row.bits} bits, {size(row.bytes_up)} with keys and shares; the "
        f"noise of a sum is ±{row.noise:.3g} people.{overflowed(row.overflow)}"
    )


def overflowed(number: int | None) -> str:
    """What is said of sums that did not fit their bits, if there are any.

    >>> overflowed(None), overflowed(0), overflowed(2)
    ('', '', ' 2 sums of shards did not fit their bits and are wrong.')
    """
    if not number:
        return ""
    fit = "did not fit its bits and is" if number == 1 else "did not fit their bits and are"
    return f" {several(number, 'sum')} of shards {fit} wrong."


def _decided(row: Heard, frame: Frame) -> str:
    split, gone = row.decisions
    drowned = f"{frame.drowned:,} of {several(row.cells, 'cell')} hold less than their noise"
    if frame.number == frame.last:
        return f"{drowned}; nothing is divided after the last round."
    done = f"{several(split, 'cell')} {'was' if split == 1 else 'were'} divided after it"
    if gone:
        done += f", {gone:,} given up"
    return f"{drowned}; {done}."


def caption(frame: Frame) -> str:
    """What is above the map while it shows a round."""
    kind = "a preview, not private" if frame.release.preview else "the drawn release"
    return f"After round {frame.number} of {frame.last} of {kind}"


def rounds_table(release: DistributedRelease, number: int) -> str:
    """All rounds; people and epsilon with bars, the shown round in bold."""
    rows = release.heard
    limit = max(row.people for row in rows)
    dearest = max(row.epsilon for row in rows)
    columns = [
        ("round", ""),
        ("cells", "numbers in the vector of a person"),
        ("people", "who were asked"),
        ("epsilon", "what each of them paid"),
        ("noise", "standard deviation of the noise in a sum, in people"),
        ("divided", "cells that were split after the round"),
        ("given up", "cells that were collapsed after the round"),
        ("bits", "of a number that a person sends"),
        ("sends", "bytes of one person, with keys and shares"),
        ("receives", "bytes of one person"),
        ("shards", "groups whose vectors are added, and how many of them were refused"),
        ("overflow", "sums of shards that did not fit their bits; a preview in one draw has none"),
    ]
    results = []
    for at, row in enumerate(rows, 1):
        here = at == number
        split, gone = row.decisions
        people = _bar(row.people / limit, STAGE_COLOURS[0])
        price = _bar(row.epsilon / dearest, STAGE_COLOURS[1])
        refused = f"{row.refused:,} refused" if row.refused else ""
        results.append(
            [
                Cell(str(at), best=here),
                Cell(f"{row.cells:,}", best=here),
                Cell(f"{row.people:,}", before=people, best=here),
                Cell(amount(row.epsilon), before=price, best=here),
                Cell(f"{row.noise:.3g}"),
                Cell(f"{split:,}"),
                Cell(f"{gone:,}"),
                Cell(str(row.bits)),
                Cell(size(row.bytes_up)),
                Cell(size(row.bytes_down)),
                Cell(f"{row.shards:,}", quiet=refused),
                Cell("–" if row.overflow is None else f"{row.overflow:,}"),
            ]
        )
    return table(_who_pays(release), columns, results)


def _who_pays(release: DistributedRelease) -> str:
    if release.paying == ONCE:
        return (
            "All rounds. Each person is asked in one of them at most, at the whole epsilon: people "
            "are what is spent."
        )
    return "All rounds. Everyone pays for every round: epsilon is what is spent."


def _bar(part: float, colour: str) -> str:
    width = max(1, round(_LONGEST * part))
    return (
        f'<svg class="swatch" width="{_LONGEST}" height="8" aria-hidden="true">'
        f'<rect x="{_LONGEST - width}" width="{width}" height="8" fill="{colour}"/></svg>'
    )


_LEGEND = (
    (DIVIDED, "line", "divided after this round"),
    (GIVEN_UP, "dash", "given up"),
    (GREY, "stripes", "noise exceeds the count"),
)


class RoundsPanel(SteppedPanel[Frame]):
    """The panel; the private map shows its round while it is open."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(compute_frame, parts)
        self._state = parts.state
        self.frame: Frame | None = None
        # 0 represents the last one, however many there are.
        self._wanted = 0
        self.round = self._slider("Round", self._slid)
        self.round.start = 1
        self.grey = Tied(self._state, self._refused).switch("grey", margin=(4, 0))
        self._state.param.watch(lambda _event: self._chose_grey(), "grey")
        marks = pane(legend(_LEGEND), styles={"flex": "0 1 auto"})
        self._said, self._table = (html_pane(margin=(4, 0)) for _ in range(2))
        summary = [self._said, ui.wrapping(marks, self.grey, gap="4px 24px")]
        if not parts.phone:
            self.beside = pn.Column(*summary, sizing_mode="stretch_width", margin=0)
        self.view = pn.Column(
            ui.wrapping(*self.buttons.values(), self.pace, self.round, gap="6px 8px"),
            *(summary if parts.phone else []),
            self._table,
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    # What the strip asks for.

    def show(self, screen: Screen) -> None:
        if self._screen is None or self._screen.release is not screen.release:
            self.player.stop()
            self._wanted = 0
        self._screen = screen
        self._draw()

    def selected(self) -> None:
        """Boxes do not matter here."""

    def hide(self) -> None:
        super().hide()
        self.frame, self._wanted = None, 0
        maps = self._maps()
        if maps is not None:
            maps.mark_round(None)

    # What a visitor does.

    @property
    def _last(self) -> int:
        return 1 if self.frame is None else self.frame.last

    @property
    def _at(self) -> int:
        """The round asked for last; the one on the map may be an earlier one."""
        return self._wanted or self._last

    def _slid(self, number: int) -> None:
        if self.frame is not None and number != self._at:
            self._to(number)

    def _chose_grey(self) -> None:
        if self._screen is not None:
            self._draw()

    def _to_start(self) -> None:
        self._to(1)

    def _to_end(self) -> None:
        self._to(0)

    def _step(self, direction: int) -> None:
        self._to(self._at + direction)

    def _to(self, number: int) -> None:
        self.player.stop()
        self._go(number)

    def _go(self, number: int) -> None:
        self._wanted = min(number, self._last) if number else 0
        self._draw()

    # Playing.

    def _rewind(self) -> None:
        if self._at == self._last:
            self._go(1)

    def _next(self) -> bool:
        if self.frame is None:
            return False
        if self._drawing or self.frame.number != self._at:
            return True
        if self._at < self._last:
            self._go(self._at + 1)
        return self._at < self._last

    # From a round to a picture.

    def _question(self, screen: Screen) -> FrameJob:
        return FrameJob(screen, self._wanted, self._state.grey, self.frame)

    def _show(self, frame: Frame) -> None:
        old, self.frame = self.frame, frame
        maps = self._maps()
        if maps is not None:
            if frame.picture is None:
                maps.uncover()
            elif old is None or old.picture is not frame.picture:
                maps.cover(*frame.picture, caption(frame))
            maps.mark_round(frame.marks)
        steps = frame.last if frame.replayed else 1
        if self._wanted in (0, frame.number):
            # An earlier frame would pull the slider back that a visitor still moves.
            self.round.param.update(end=max(frame.last, 2), value=frame.number, disabled=steps == 1)
        self._offer(steps == 1 or frame.number == 1, frame.number == frame.last)
        put(
            self._said,
            f'<p class="summary" role="status">{html.escape(about_round(frame))} '
            f"{html.escape(off_after(frame))}</p>",
        )
        put(self._table, rounds_table(released(frame.screen), frame.number))
