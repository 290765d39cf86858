"""What the lesson on blind cuts says: sentences, figures, tables of candidates and of cuts."""

from __future__ import annotations

import numpy as np

from explorer.app.kit.words import words
from explorer.app.learn.lottery_look import Played
from explorer.teaching.lottery import PLAYED
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, number, table

AXES = (
    "rows of the origin",
    "columns of the origin",
    "rows of the destination",
    "columns of the destination",
)


def sentence(result: Played) -> str:
    """What the choice at one box sees, in words."""
    level, settings = result.level, result.settings
    if level is None:
        return words("learn")["Nothing to choose"].format(epsilon=f"{settings.epsilon:g}")
    span = float(result.true[-1] - result.true[0])
    return words("learn")["What a choice can see"].format(
        cut=settings.cut,
        nodes=f"one of {len(level):,} boxes" if len(level) > 1 else "the only box",
        p=len(result.true),
        range=number(span),
        noise=f"{level.noise:,.0f}",
        times=times(level.noise, span),
        paper=f"{100 * result.paper[0]:.0f}",
        lottery=f"{100 / len(result.true):.0f}",
    )


def gain_sentence(result: Played) -> str:
    """How much a choice could gain at all, and who gets how much of it, in words."""
    mean, least = float(result.true.mean()), float(result.true[0])
    return words("learn")["What there is to gain"].format(
        mean=number(mean),
        least=number(least),
        possible=number(100 * (mean - least) / mean if mean > 0 else 0.0, 2),
        paper=hundredth(result.gain(result.paper)),
        better=hundredth(result.gain(result.least)),
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


def figures(result: Played) -> str:
    """Candidates of this box and the noise on them, as a strip; there have to be some."""
    level = result.level
    assert level is not None
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
    rows = [
        [
            Cell(f"{i + 1}"),
            Cell(number(float(result.true[i]), 5)),
            Cell(f"{result.noisy[i]:,.0f}".replace("-", "−")),
            Cell(f"{100 * result.paper[i]:.1f} %"),
            Cell(f"{100 * result.least[i]:.1f} %"),
        ]
        for i in range(len(result.true))
    ]
    columns = [
        ("candidate", "the truly cheapest first"),
        ("true cost", "sum of distances from the mean of each part, in trips"),
        ("noisy cost", "one draw"),
        ("wins, paper", f"of {PLAYED:,} choices"),
        ("wins, noisy-min", f"of {PLAYED:,} choices"),
    ]
    return table("Candidates of this box", columns, rows)


def by_cut(result: Played) -> str:
    """Range, noise and gains of every cut, as a table."""
    rows = []
    for i, (level, gained) in enumerate(zip(result.seen.levels, result.gained, strict=True)):
        if level is None or gained is None:
            rows.append([Cell(f"{i + 1}"), Cell("none"), *[Cell("–")] * 5])
            continue
        middle = float(np.median(level.ranges))
        rows.append(
            [
                Cell(f"{i + 1}", AXES[i]),
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
