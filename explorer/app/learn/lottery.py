"""Blind cuts: what the trips paper's private choice of cuts has to choose from, and sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.app.curator.setting_fields import EPSILONS
from explorer.app.kit import ui
from explorer.app.kit.html import put
from explorer.app.kit.prose import chart_pane, column, pane
from explorer.app.kit.words import words
from explorer.app.learn.experiment import Experiment
from explorer.app.learn.travels import counts_of, journeys_of, notes_of
from explorer.app.work.cache import Shelf
from explorer.app.work.document import when_loaded
from explorer.app.work.job import Job
from explorer.teaching.lottery import PLAYED, Level, Seen, seen
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, details, number, table
from explorer.views.teaching.frame import FIRST, SECOND, TRUTH, legend
from explorer.views.teaching.lots import LEAST, CostsChart, LevelsChart, WinsChart

#: Trips with an origin and a destination, on as many cells to a side.
PLACES, CELLS = 2, 64
_AXES = (
    "rows of the origin",
    "columns of the origin",
    "rows of the destination",
    "columns of the destination",
)

Floats = NDArray[np.float64]
#: Parts of the possible gain by cut, for the paper's choice and noisy-min.
Gains = tuple[tuple[float, float] | None, ...]
_SEEN: Shelf[tuple[Seen, Gains]] = Shelf(24)


@dataclass(frozen=True, eq=False)
class Played:
    """All levels, and one node whose choice was played many times.

    Candidates stand in the order of their true costs, the cheapest first.
    """

    data: CityData
    settings: Any
    notes: str
    seen: Seen
    gained: Gains
    level: Level | None
    true: Floats
    noisy: Floats
    paper: Floats
    least: Floats

    def gain(self, wins: Floats) -> float:
        """Part of the possible gain that a choice with such chances reaches, 1 at best."""
        possible = self.true.mean() - self.true[0]
        reached = self.true.mean() - float(wins @ self.true)
        return float(reached / possible) if possible > 0 else 0.0


def play(data: CityData, settings: Any, node: int, seed: int) -> Played:
    """Run the mechanism, look at its candidates, and play one node's choice many times."""
    asked = settings.epsilon, settings.q, settings.p
    found, gained = seen_in(data.city[0], *asked)
    rng = np.random.default_rng([0x107, seed])
    level = found.levels[settings.cut - 1]
    true = noisy = paper = least = np.zeros(0)
    if level is not None:
        at = level.in_the_middle(node)
        order = np.argsort(level.costs[at], kind="stable")
        true = level.costs[at][order]
        noisy = true + rng.laplace(0.0, level.noise, len(true))
        paper = level.wins(at, "noised costs", rng)[order]
        least = level.wins(at, "noisy-min", rng)[order]
    notes = notes_of(journeys_of(data.city[0]), PLACES)
    return Played(data, settings, notes, found, gained, level, true, noisy, paper, least)


def seen_in(city: str, epsilon: float, q: float, p: int) -> tuple[Seen, Gains]:
    """One run on the trips of a city, and what the choices of each cut gain; kept."""
    return _SEEN.get((city, epsilon, q, p), lambda: _seen(city, epsilon, q, p))


def _seen(city: str, epsilon: float, q: float, p: int) -> tuple[Seen, Gains]:
    found = seen(counts_of(city, PLACES, CELLS), epsilon, q, p)
    rng = np.random.default_rng(0x107)
    return found, tuple(None if each is None else each.gained(rng) for each in found.levels)


class LotteryExperiment(Experiment):
    """Sliders, the candidates of one box, who wins how often, and all cuts in one chart."""

    title = "One choice of cuts, played many times"

    def build(self) -> None:
        """Controls and charts."""
        settings, controls = self.settings, self.controls
        self._node = self._seed = 0
        self.worker = Job(
            lambda asked: play(*asked),
            self._show,
            self.refused,
            take=lambda: (self.ready(), settings.copy(), self._node, self._seed),
        )
        self.costs, self.wins, self.levels = CostsChart(), WinsChart(), LevelsChart(len(_AXES))
        self.notes, self.figures, self.gain = (pane(margin=(4, 0)) for _ in range(3))
        self.by_cut, self.twin = pane(margin=(6, 0)), pane()
        cuts = {f"{i + 1}: {axis}": i + 1 for i, axis in enumerate(_AXES)}
        self._pair = ui.wrapping(
            _half(
                [
                    (FIRST, "dot", "true cost"),
                    (SECOND, "dot", "with noise, one draw"),
                    (TRUTH, "dot", "ring: it wins this time"),
                ],
                self.costs.figure,
            ),
            _half(
                [
                    (SECOND, "area", "the paper's choice"),
                    (LEAST, "area", "noisy-min"),
                    (TRUTH, "dash", "a lottery"),
                ],
                self.wins.figure,
            ),
            gap="8px 24px",
        )
        self._rest = column(
            pane(
                legend(
                    [
                        (FIRST, "dot", "range of the true costs: median, and middle half of boxes"),
                        (SECOND, "line", "noise on each cost, the paper"),
                        (LEAST, "line", "noise of noisy-min"),
                    ]
                ),
                margin=(10, 0, 0, 0),
            ),
            chart_pane(self.levels.figure),
        )
        # Nothing is drawn before there is something to be seen.
        self._pair.visible = self._rest.visible = False
        self.lay_out(
            None,
            [
                [controls.steps("epsilon", EPSILONS), controls.steps("q"), controls.steps("p")],
                [
                    controls.select("cut", cuts, 270),
                    self.button("Another box", self.another, strong=True),
                    self.button("New noise", self.again),
                ],
            ],
            [
                self.notes,
                self.said,
                self.figures,
                self._pair,
                self.gain,
                self._rest,
                self.by_cut,
                self.twin,
            ],
        )
        settings.param.watch(lambda *_: self._changed(), settings.settings())

    def use(self, data: CityData) -> None:
        """Cut the city's trips."""
        super().use(data)
        self.say("The trips are being counted.")
        when_loaded(self.worker.ask)

    def close(self) -> None:
        """Stop the worker."""
        self.worker.close()

    def another(self) -> None:
        """Look at another box of the same cut."""
        self._node += 1
        self._changed()

    def again(self) -> None:
        """Draw other noise."""
        self._seed += 1
        self._changed()

    def _changed(self) -> None:
        if self.data is not None:
            self.worker.ask()

    def _show(self, found: Played) -> None:
        if found.data is not self.data:
            return
        said = sentence(found)
        self.say(said)
        put(self.notes, found.notes)
        chosen = found.level is not None
        self._pair.visible = chosen
        put(self.figures, _figures(found) if chosen else "")
        put(self.gain, f'<p class="finding">{gain_sentence(found)}</p>' if chosen else "")
        put(self.twin, details("Numbers of the candidates", _candidates(found)) if chosen else "")
        if chosen:
            self.costs.show(found.true, found.noisy, f"True and noisy costs. {said}")
            self.wins.show(found.paper, found.least, f"Who wins how often. {said}")
        self._rest.visible = True
        at = [i for i, each in enumerate(found.seen.levels) if each is not None]
        there = [each for each in found.seen.levels if each is not None]
        ranges = np.array([np.quantile(each.ranges, [0.25, 0.5, 0.75]) for each in there])
        self.levels.show(
            [i + 1 for i in at],
            ranges.reshape(-1, 3).T,
            np.array([each.noise for each in there]),
            np.array([each.noise_of_least for each in there]),
            f"Range of true costs and noise by cut. {said}",
        )
        put(self.by_cut, _by_cut(found))


def sentence(found: Played) -> str:
    """What the choice at one box sees, in words."""
    level, settings = found.level, found.settings
    if level is None:
        return words("learn")["Nothing to choose"].format(epsilon=f"{settings.epsilon:g}")
    span = float(found.true[-1] - found.true[0])
    return words("learn")["What a choice can see"].format(
        cut=settings.cut,
        nodes=f"one of {len(level):,} boxes" if len(level) > 1 else "the only box",
        p=len(found.true),
        range=number(span),
        noise=f"{level.noise:,.0f}",
        times=times(level.noise, span),
        paper=f"{100 * found.paper[0]:.0f}",
        lottery=f"{100 / len(found.true):.0f}",
    )


def gain_sentence(found: Played) -> str:
    """How much a choice could gain at all, and who gets how much of it, in words."""
    mean, least = float(found.true.mean()), float(found.true[0])
    return words("learn")["What there is to gain"].format(
        mean=number(mean),
        least=number(least),
        possible=number(100 * (mean - least) / mean if mean > 0 else 0.0, 2),
        paper=hundredth(found.gain(found.paper)),
        better=hundredth(found.gain(found.least)),
    )


def times(noise: float, span: float) -> str:
    """How many times the range the noise is.

    >>> times(4000, 10), times(30, 20), times(1, 0)
    ('400', '1.5', '∞')
    """
    if span <= 0:
        return "∞"
    ratio = noise / span
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def hundredth(part: float) -> str:
    """A part of 1 in hundredths; what chance alone makes negative is none.

    >>> hundredth(0.254), hundredth(-0.01)
    ('25', '0')
    """
    return f"{max(0.0, 100 * part):.0f}"


def _half(entries: list[tuple[str, str, str]], figure: Any) -> Any:
    part = column(pane(legend(entries)), chart_pane(figure))
    part.styles = {"flex": "1 1 360px", "min-width": "0"}
    return part


def _figures(found: Played) -> str:
    level = found.level
    assert level is not None
    span = float(found.true[-1] - found.true[0])
    return figures_strip(
        [
            ("Candidates", f"{len(found.true)}"),
            ("Their true costs differ by", number(span)),
            ("Noise on each", f"{level.noise:,.0f}"),
            ("Noise over difference", f"{times(level.noise, span)} ×"),
            ("Noise of noisy-min", f"{level.noise_of_least:,.0f}"),
            ("Epsilon of this choice", f"{level.epsilon:.2g}"),
        ]
    )


def _candidates(found: Played) -> str:
    rows = [
        [
            Cell(f"{i + 1}"),
            Cell(number(float(found.true[i]), 5)),
            Cell(f"{found.noisy[i]:,.0f}".replace("-", "−")),
            Cell(f"{100 * found.paper[i]:.1f} %"),
            Cell(f"{100 * found.least[i]:.1f} %"),
        ]
        for i in range(len(found.true))
    ]
    columns = [
        ("candidate", "the truly cheapest first"),
        ("true cost", "sum of distances from the mean of each part, in trips"),
        ("noisy cost", "one draw"),
        ("wins, paper", f"of {PLAYED:,} choices"),
        ("wins, noisy-min", f"of {PLAYED:,} choices"),
    ]
    return table("Candidates of this box", columns, rows)


def _by_cut(found: Played) -> str:
    rows = []
    for i, (level, gained) in enumerate(zip(found.seen.levels, found.gained, strict=True)):
        if level is None or gained is None:
            rows.append([Cell(f"{i + 1}"), Cell("none"), *[Cell("–")] * 5])
            continue
        middle = float(np.median(level.ranges))
        rows.append(
            [
                Cell(f"{i + 1}", _AXES[i]),
                Cell(f"{len(level):,}"),
                Cell(number(middle)),
                Cell(f"{level.noise:,.0f}"),
                Cell(times(level.noise, middle)),
                Cell(f"{hundredth(gained[0])} %"),
                Cell(f"{hundredth(gained[1])} %"),
            ]
        )
    columns = [
        ("cut", "in the order of the paper"),
        ("boxes cut", "into two parts or more"),
        ("range", "of the true costs, in the median box"),
        ("noise", "scale, on each cost, in trips"),
        ("times", "noise over range"),
        ("gain, paper", "of what a choice could gain on all boxes"),
        ("gain, noisy-min", "of what a choice could gain on all boxes"),
    ]
    return table("All four cuts", columns, rows)
