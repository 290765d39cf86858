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
from explorer.app.kit.prose import pane, text_table
from explorer.app.kit.words import sentence
from explorer.app.learn.experiment import (
    ExamplesExperiment,
    counts_of,
    explained,
    journeys_of,
    notes_of,
)
from explorer.app.work.cache import Shelf
from explorer.teaching.lottery import PLAYED, Level, Seen, seen
from explorer.views.figures import FIRST, SECOND, TRUTH
from explorer.views.lesson_charts import LEAST, CostsChart, LevelsChart, WinsChart
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, details, number

#: Trips with an origin and a destination, on as many cells to a side.
PLACES, CELLS = 2, 64
AXES = (
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

    Candidates are in the order of their true costs, the cheapest first.
    """

    data: CityData
    settings: Any
    seen: Seen
    gained: Gains
    level: Level | None
    true: Floats
    noisy: Floats
    paper: Floats
    least: Floats

    def gain(self, wins: Floats) -> float:
        """Part of the possible gain in percent that a choice with such chances reaches."""
        possible = self.true.mean() - self.true[0]
        reached = self.true.mean() - float(wins @ self.true)
        return float(100 * reached / possible) if possible > 0 else 0.0


def play(data: CityData, settings: Any, node: int, seed: int) -> Played:
    """Run the mechanism, look at its candidates, and play one node's choice many times."""
    run, gained = seen_in(data.city[0], settings.epsilon, settings.q, settings.p)
    rng = np.random.default_rng([0x107, seed])
    level = run.levels[settings.cut - 1]
    true = noisy = paper = least = np.zeros(0)
    if level is not None:
        at = level.in_the_middle(node)
        order = np.argsort(level.costs[at], kind="stable")
        true = level.costs[at][order]
        noisy = true + rng.laplace(0.0, level.noise, len(true))
        paper = level.wins(at, "noised costs", rng)[order]
        least = level.wins(at, "noisy-min", rng)[order]
    return Played(data, settings, run, gained, level, true, noisy, paper, least)


def seen_in(city: str, epsilon: float, q: float, p: int) -> tuple[Seen, Gains]:
    """One run on the trips of a city, and what the choices of each cut gain; kept."""

    def make() -> tuple[Seen, Gains]:
        run = seen(counts_of(city, PLACES, CELLS), epsilon, q, p)
        rng = np.random.default_rng(0x107)
        return run, tuple(None if level is None else level.gained(rng) for level in run.levels)

    return _SEEN.get((city, epsilon, q, p), make)


class LotteryExperiment(ExamplesExperiment):
    """Sliders, the candidates of one box, who wins how often, and all cuts in one chart."""

    title = "One choice of cuts, played many times"
    ANOTHER = "Another box"
    look = staticmethod(play)

    def build(self) -> None:
        """Controls and charts."""
        controls = self.controls
        self.costs, self.wins, self.levels = CostsChart(), WinsChart(), LevelsChart(len(AXES))
        self.notes, self.figures, self.gain = (pane(margin=(4, 0)) for _ in range(3))
        self.by_cut, self.twin = pane(margin=(6, 0)), pane()
        cuts = {f"{i + 1}: {axis}": i + 1 for i, axis in enumerate(AXES)}
        costs = explained(
            [
                (FIRST, "dot", "true cost"),
                (SECOND, "dot", "with noise, one draw"),
                (TRUTH, "dot", "ring: it wins this time"),
            ],
            self.costs.figure,
        )
        wins = explained(
            [
                (SECOND, "area", "the paper's choice"),
                (LEAST, "area", "noisy-min"),
                (TRUTH, "dash", "a lottery"),
            ],
            self.wins.figure,
        )
        costs.styles = wins.styles = {"flex": "1 1 360px", "min-width": "0"}
        self._pair = ui.wrapping(costs, wins, gap="8px 24px")
        levels = explained(
            [
                (FIRST, "dot", "range of the true costs: median, and middle half of boxes"),
                (SECOND, "line", "noise on each cost, the paper"),
                (LEAST, "line", "noise of noisy-min"),
            ],
            self.levels.figure,
            margin=(10, 0, 0, 0),
        )
        self.pictures = self._pair, levels
        sliders = [controls.steps("epsilon", EPSILONS), controls.steps("q"), controls.steps("p")]
        head = [self.notes, self.said, self.figures, self._pair]
        rest = [self.gain, levels, self.by_cut, self.twin]
        choice = [controls.select("cut", cuts, 270), *self.buttons()]
        self.lay_out(None, [sliders, choice], [*head, *rest])

    def show(self, result: Played) -> None:
        """Show the candidates of one box and who wins, if there are any, and all cuts."""
        level, settings = result.level, result.settings
        text = sentence("learn", "Nothing to choose", epsilon=settings.epsilon)
        strip = gain = twin = ""
        if level is not None:
            text = sentence("learn", "What a choice can see", result=result, times=times)
            words = sentence("learn", "What there is to gain", result=result)
            strip, gain = figures(result, level), f'<p class="finding">{words}</p>'
            twin = details("Numbers of the candidates", candidates(result))
            self.costs.show(result.true, result.noisy, f"True and noisy costs. {text}")
            self.wins.show(result.paper, result.least, f"Who wins how often. {text}")
        self.say(text)
        self._pair.visible = level is not None
        put(self.notes, notes_of(journeys_of(result.data.city[0]), PLACES))
        put(self.figures, strip)
        put(self.gain, gain)
        put(self.twin, twin)
        there = [(i + 1, level) for i, level in enumerate(result.seen.levels) if level is not None]
        ranges = np.array([np.quantile(level.ranges, [0.25, 0.5, 0.75]) for _, level in there])
        self.levels.show(
            [cut for cut, _ in there],
            ranges.reshape(-1, 3).T,
            np.array([level.noise for _, level in there]),
            np.array([level.noise_of_least for _, level in there]),
            f"Range of true costs and noise by cut. {text}",
        )
        put(self.by_cut, by_cut(result))


def times(noise: float, span: float) -> str:
    """How many times the range the noise is.

    >>> times(4000, 10), times(30, 20), times(1, 0)
    ('400', '1.5', '∞')
    """
    if span <= 0:
        return "∞"
    ratio = noise / span
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def figures(result: Played, level: Level) -> str:
    """Candidates of this box and the noise on them, as a strip."""
    span = float(result.true[-1] - result.true[0])
    return figures_strip(
        [
            ("Candidates", f"{len(result.true)}"),
            ("Their true costs differ by", number(span)),
            ("Noise on each", f"{level.noise:,.0f}"),
            ("Noise over difference", f"{times(level.noise, span)} ×"),
            ("Noise of noisy-min", f"{level.noise_of_least:,.0f}"),
            ("Epsilon of this choice", f"{level.epsilon:.2g}"),
        ]
    )


def candidates(result: Played) -> str:
    """True cost, one noisy cost and chances of every candidate, as a table."""
    values = zip(result.true, result.noisy, result.paper, result.least, strict=True)
    rows = [
        [
            *(f"{place}", number(float(true), 5), f"{noisy:,.0f}".replace("-", "−")),
            *(f"{100 * paper:.1f} %", f"{100 * least:.1f} %"),
        ]
        for place, (true, noisy, paper, least) in enumerate(values, start=1)
    ]
    columns = {
        "candidate": "the truly cheapest first",
        "true cost": "sum of distances from the mean of each part, in trips",
        "noisy cost": "one draw",
        "wins, paper": f"of {PLAYED:,} choices",
        "wins, noisy-min": f"of {PLAYED:,} choices",
    }
    return text_table("Candidates of this box", columns, rows)


def by_cut(result: Played) -> str:
    """Range, noise and gains of every cut, as a table."""
    rows: list[list[str | Cell]] = []
    for i, (level, gained) in enumerate(zip(result.seen.levels, result.gained, strict=True)):
        if level is None or gained is None:
            rows.append([f"{i + 1}", "none", *["–"] * 5])
            continue
        middle = float(np.median(level.ranges))
        noise = number(middle), f"{level.noise:,.0f}", times(level.noise, middle)
        # What chance alone makes negative is none.
        gains = [f"{max(0.0, 100 * part):.0f} %" for part in gained]
        rows.append([Cell(f"{i + 1}", AXES[i]), f"{len(level):,}", *noise, *gains])
    columns = {
        "cut": "in the order of the paper",
        "boxes cut": "into two parts or more",
        "range": "of the true costs, in the median box",
        "noise": "scale, on each cost, in trips",
        "times": "noise over range",
        "gain, paper": "of what a choice could gain on all boxes",
        "gain, noisy-min": "of what a choice could gain on all boxes",
    }
    return text_table("All four cuts", columns, rows)
