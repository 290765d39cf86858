"""Dropouts and bytes: what fewer people cost, what each of them sends, large shards and small."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.panel import ReleasePanel
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.federated.rounds import several, size
from explorer.app.federated.screen import chosen, released
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import share
from explorer.app.kit.prose import chart_pane, pane
from explorer.app.kit.words import words
from explorer.federated import calibration
from explorer.federated.asking import Protocol
from explorer.releases.units import to_units
from explorer.views.figures import legend
from explorer.views.lesson_charts import BYTES_LEGEND, LOSS_LEGEND, BytesCurve, LossCurve
from explorer.views.tables import Cell, number, table

Floats = NDArray[np.float64]

#: The curve ends where so small a part of the honest people is left.
LEAST_PART = 0.05
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
#: Numbers in a vector, two to a factor of ten.
CELLS = np.round(10 ** np.arange(1, 6.01, 0.25))


@dataclass(frozen=True)
class Dropouts:
    """A shard of n people: what its sum would cost, by how many drop out.

    Attributes
    ----------
    size, fewest, honest : people; fewest survivors of a sum; honest ones its noise is made for
    epsilon : as chosen
    dropped, part, cost, floor : (k,) percent who drop out; a, the honest survivors over `honest`;
        epsilon of the sum; what that tends to as epsilon goes to 0
    """

    size: int
    fewest: int
    honest: int
    epsilon: float
    dropped: Floats
    part: Floats
    cost: Floats
    floor: Floats

    @property
    def refused(self) -> float:
        """Percent who drop out beyond which nothing is unmasked."""
        return 100.0 * (1 - self.fewest / self.size)


@dataclass(frozen=True)
class Size:
    """Shards of one size: how many, noise of a sum over all people, bytes of a person."""

    size: int
    shards: int
    noise: float
    neighbours: int
    protocol: int


@dataclass(frozen=True, eq=False)
class Figures:
    """All that the panel shows.

    Attributes
    ----------
    dropouts : Dropouts
    bits, protocol : of the last round, and bytes of its protocol without the vector
    cells, sent : (k,) numbers in a vector, and bytes that a person sends for them
    rounds : (r,) cells and bytes of this release's own rounds
    vectors : (r,) bytes of the vectors among them
    sizes : shards of several sizes
    people : who are asked in all
    """

    screen: Screen
    dropouts: Dropouts
    bits: int
    protocol: int
    cells: Floats
    sent: Floats
    rounds: tuple[Floats, Floats]
    vectors: Floats
    sizes: tuple[Size, ...]
    people: int

    @property
    def even(self) -> int:
        """Numbers whose bytes are as many as those of the protocol."""
        return math.ceil(8 * self.protocol / self.bits)


def find_figures(screen: Screen) -> Figures:
    """The figures of the release on screen; every one of them is public."""
    release, mechanism = released(screen), chosen(screen)
    rows = [row for row in release.heard if row.bits]
    people = round(release.facts["asked"])
    size = min(mechanism.shard, people)
    degree, _ = calibration.neighbours(size, mechanism.dropped, mechanism.corrupt)
    protocol = calibration.bytes_up(0, 1, degree)
    bits = rows[-1].bits if rows else 16
    sent = np.array([float(calibration.bytes_up(int(v), bits, degree)) for v in CELLS])
    return Figures(
        screen=screen,
        dropouts=dropouts(size, mechanism.dropped, mechanism.corrupt, mechanism.epsilon),
        bits=bits,
        protocol=protocol,
        cells=CELLS,
        sent=sent,
        rounds=(
            np.array([float(row.cells) for row in rows]),
            np.array([row.bytes_up for row in rows]),
        ),
        vectors=np.array([float(-(-row.cells * row.bits // 8)) for row in rows]),
        sizes=tuple(
            _size(n, people, mechanism.dropped, mechanism.corrupt, mechanism.epsilon)
            for n in sorted({min(n, people) for n in SIZES})
            if calibration.fewest(n, mechanism.dropped) - math.ceil(mechanism.corrupt * n) >= 1
        ),
        people=people,
    )


def dropouts(size: int, dropped: float, corrupt: float, epsilon: float) -> Dropouts:
    """What the sum of a shard would cost, as more and more people drop out."""
    honest = calibration.honest(size, dropped, corrupt)
    bad = math.ceil(corrupt * size - 1e-9)
    limit = 1 - (LEAST_PART * honest + bad) / size
    gone = np.linspace(0.0, max(limit, 0.01), 61)
    part = np.maximum((1 - gone) * size - bad, 1e-9) / honest
    return Dropouts(
        size=size,
        fewest=calibration.fewest(size, dropped),
        honest=honest,
        epsilon=epsilon,
        dropped=100 * gone,
        part=part,
        cost=np.array([calibration.epsilon_of_fewer(epsilon, float(a)) for a in part]),
        floor=np.array([calibration.floor_of_fewer(float(a)) for a in part]),
    )


def _size(size: int, people: int, dropped: float, corrupt: float, epsilon: float) -> Size:
    plan = Protocol(max(size, 2), dropped, corrupt).round(people, to_units(epsilon), 1)
    shape = plan.shards * (people / plan.shards) * (1 - dropped) / plan.honest
    return Size(
        size=size,
        shards=plan.shards,
        noise=plan.sd(shape),
        neighbours=plan.degree,
        protocol=calibration.bytes_up(0, 1, plan.degree),
    )


#: Parts of the honest people that the table of dropouts has rows for.
_PARTS = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1)


class FailingPanel(ReleasePanel[Figures]):
    """Two charts with their tables, and a table of sizes of shards."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(find_figures, parts)
        self.loss, self.bytes = LossCurve(), BytesCurve()
        self._about_loss, self._about_bytes, self._shards = (
            html_pane(margin=(4, 0)) for _ in range(3)
        )
        self._costs, self._sent = (html_pane(margin=(4, 0)) for _ in range(2))
        text = words("federated")
        columns = [
            _column("Dropouts", self._about_loss, LOSS_LEGEND, self.loss.figure, self._costs),
            _column("Bytes", self._about_bytes, BYTES_LEGEND, self.bytes.figure, self._sent),
        ]
        self.view = pn.Column(
            ui.wrapping(*columns, gap="12px 24px"),
            html_pane(
                f"<h3>One large shard, or many small ones</h3><p>{text['Shards']}</p>",
                margin=(10, 0, 0, 0),
            ),
            self._shards,
            sizing_mode="stretch_width",
            margin=(4, 0),
        )
        self.view[0].styles = {**self.view[0].styles, "align-items": "flex-start"}

    def _show(self, figures: Figures) -> None:
        self.found = figures
        lost = figures.dropouts
        text = about_dropouts(lost)
        put(self._about_loss, f'<p class="summary" role="status">{html.escape(text)}</p>')
        self.loss.show(lost.dropped, lost.cost, lost.floor, lost.refused, text)
        put(self._costs, costs_table(lost))
        text = about_bytes(figures)
        put(self._about_bytes, f'<p class="summary" role="status">{html.escape(text)}</p>')
        self.bytes.show(figures.cells, figures.sent, float(figures.protocol), figures.rounds, text)
        put(self._sent, sent_table(figures))
        text = html.escape(about_shards(figures))
        put(self._shards, f'<p class="summary">{text}</p>{shards_table(figures)}')


def _column(title: str, summary: object, entries: object, figure: object, rows: object) -> object:
    result = pn.Column(
        html_pane(f"<h3>{title}</h3>"),
        summary,
        pane(legend(entries)),  # type: ignore[arg-type]
        chart_pane(figure),
        rows,
        sizing_mode="stretch_width",
        margin=0,
    )
    result.styles = {"flex": "1 1 340px", "min-width": "min(100%, 300px)"}
    return result


def about_dropouts(lost: Dropouts) -> str:
    """Where a shard is refused, and what its sum would cost otherwise."""
    half = calibration.epsilon_of_fewer(lost.epsilon, 0.5)
    refused = f"A shard of {lost.size:,} people gives no sum if more than {lost.refused:.3g} % "
    basis = f"Its noise is made for {several(lost.honest, 'honest survivor')}: with half of them "
    cost = f"the sum would cost epsilon {half:.2g} in place of {lost.epsilon:.3g}. "
    return f"{refused}drop out. {basis}{cost}{words('federated')['Floor']}"


def costs_table(lost: Dropouts) -> str:
    """What a sum costs by the part of the honest people who are left."""
    columns = [
        ("honest people left", "as a part of those that the noise was made for"),
        ("drop out", "of the shard"),
        ("epsilon", "of its sum, if it were unmasked"),
        ("floor", "what epsilon tends to with ever more noise a person"),
        ("unmasked", "whether a sum is given"),
    ]
    rows = []
    for part in _PARTS:
        gone = float(np.interp(-part, -lost.part, lost.dropped))
        cost = calibration.epsilon_of_fewer(lost.epsilon, part)
        floor = calibration.floor_of_fewer(part)
        rows.append(
            [
                Cell(share(part)),
                Cell(f"{gone:.0f} %"),
                Cell(f"{cost:.3g}"),
                Cell(f"{floor:.2g}"),
                Cell("refused" if gone > lost.refused + 1e-9 else "yes"),
            ]
        )
    return table("What a sum costs when people are missing.", columns, rows)


def about_bytes(figures: Figures) -> str:
    """What a person sends besides the numbers, and when the numbers outweigh it."""
    return (
        f"Keys, boxes and shares take {size(figures.protocol)} of a person whatever she is asked; "
        f"with {figures.bits} bits a number, her vector outweighs them above {figures.even:,} "
        "numbers."
    )


def sent_table(figures: Figures) -> str:
    """The release's own rounds: protocol and vector."""
    columns = [
        ("numbers", "in a vector, by rounds of this release"),
        ("protocol", "bytes of keys, boxes and shares"),
        ("vector", "bytes of her numbers"),
        ("in all", ""),
    ]
    rows = []
    for cells, total, vector in zip(*figures.rounds, figures.vectors, strict=True):
        rows.append(
            [
                Cell(f"{cells:,.0f}"),
                Cell(size(total - vector)),
                Cell(size(vector)),
                Cell(size(total)),
            ]
        )
    return table("What one person sends in each round.", columns, rows)


def about_shards(figures: Figures) -> str:
    """What one large shard has over many small ones; nothing where there is one size."""
    many, one = figures.sizes[0], figures.sizes[-1]
    if len(figures.sizes) < 2:
        return ""
    return (
        f"In {several(many.shards, 'shard')} of {many.size:,} people the noise of a sum is "
        f"±{number(many.noise)} people, in {several(one.shards, 'shard')} of {one.size:,} "
        f"±{number(one.noise)}: {number(many.noise / one.noise, 2)} times less, for "
        f"{number(one.protocol / many.protocol, 2)} times the bytes of the protocol."
    )


def shards_table(figures: Figures) -> str:
    """The same people in shards of several sizes."""
    columns = [
        ("people in a shard", "at most"),
        ("shards", ""),
        ("noise of a sum", "standard deviation over all shards, in people"),
        ("neighbours", "people each one shares secrets with"),
        ("protocol", "bytes that one person sends besides her numbers"),
    ]
    rows = [
        [
            Cell(f"{row.size:,}"),
            Cell(f"{row.shards:,}"),
            Cell(f"±{number(row.noise)}"),
            Cell(str(row.neighbours)),
            Cell(size(row.protocol)),
        ]
        for row in figures.sizes
    ]
    return table(
        f"All {figures.people:,} people in one round at epsilon {figures.dropouts.epsilon:.3g}.",
        columns,
        rows,
    )
