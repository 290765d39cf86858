"""What a class sees, in words: the question, the pooled answers, one's own answer, tables."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from explorer.app.kit.numbers import share
from explorer.teaching.classroom import Asked
from explorer.teaching.pool import Question, Summary
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, details, number, table

#: As many HTML texts are kept as the classes of a server may show at a time, for both roles.
_KEPT = 64


def about_question(question: Question) -> str:
    """The question in one sentence, and what draws the answer in another."""
    x0, y0, x1, y1 = question.rectangle
    metres = question.grid.unit == "m"
    # The numbers of Explore's table, which counts from the middle of the map.
    unit, factor = ("km", 1000.0) if metres else ("cells", 1.0)
    edges = [signed_short(edge / factor) for edge in (x0, x1, y0, y1)]
    box = f"west {edges[0]} to east {edges[1]}, south {edges[2]} to north {edges[3]} {unit}"
    return (
        f"How many people are in the box {box}, on the map of {question.city}? "
        f"A preview by {question.title} with epsilon {question.epsilon:.4g} answers."
    )


def signed_short(value: float) -> str:
    """An edge of a box in three digits and no more.

    >>> signed_short(-0.04), signed_short(-2.031), signed_short(16.0)
    ('−0.04', '−2.03', '16')
    """
    return f"{value:.3g}".replace("-", "−")


def locator(question: Question) -> str:
    """Where the box is, as a small picture; the words next to it say the same."""
    x0, y0, x1, y1 = question.rectangle
    west, south, east, north = question.grid.bounds
    wide, high = 108.0, 108.0 * (north - south) / (east - west)
    left, top = wide * (x0 - west) / (east - west), high * (north - y1) / (north - south)
    width, height = wide * (x1 - x0) / (east - west), high * (y1 - y0) / (north - south)
    return (
        f'<svg class="locator" width="112" height="{high + 4:.0f}" aria-hidden="true" '
        f'viewBox="-2 -2 112 {high + 4:.1f}"><rect width="{wide:.0f}" height="{high:.1f}" '
        'fill="none" stroke="currentColor" stroke-opacity=".5"/>'
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(width, 2):.1f}" '
        f'height="{max(height, 2):.1f}" fill="#ff5f8f" fill-opacity=".35" stroke="#d81b60" '
        'stroke-width="2"/></svg>'
    )


def many(n: int, noun: str) -> str:
    """So many of something.

    >>> many(1, "answer"), many(1200, "answer")
    ('1 answer', '1,200 answers')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


@lru_cache(_KEPT)
def about_answers(summary: Summary, truth: bool) -> str:
    """The pooled answers in one sentence, with the truth or without it."""
    who = f"{many(summary.answers, 'answer')} of {many(summary.people, 'participant')}"
    if not truth:
        spread = "" if summary.answers < 2 else f", standard deviation {number(summary.sd)}"
        return f"{who}, all previews: mean {summary.mean:,.0f}{spread}. The truth is not shown yet."
    spread = (
        f"the noise alone has a standard deviation of {number(summary.theory)}"
        if summary.answers < 2
        else f"standard deviation {number(summary.sd)}, of the noise alone {number(summary.theory)}"
    )
    close = (
        f"{share(summary.within_5)} are within 5 % of it and {share(summary.within_10)} within 10 %"
        if summary.true > 0
        else "nobody is in the box, so that no answer is within a share of it"
    )
    return (
        f"{who}, all previews: mean {summary.mean:,.0f}, true count {summary.true:,.0f}; {spread}; "
        f"{close}.{_why(summary)}"
    )


def _why(summary: Summary) -> str:
    """What else than noise is seen, where it is more than chance."""
    if summary.is_wider:
        return (
            " They vary more than the noise does: with other noise the map is divided differently, "
            "and people are spread unevenly inside leaves that the box cuts through."
        )
    if summary.is_off:
        return (
            " The mean misses the truth by more than chance: people are spread unevenly inside "
            "leaves that the box cuts through, and no average removes that."
        )
    return ""


@lru_cache(_KEPT)
def answer_figures(summary: Summary, truth: bool) -> str:
    """The main numbers as a strip."""
    pairs = [
        ("Participants", f"{summary.people:,}"),
        ("Answers", f"{summary.answers:,}"),
        ("Mean", f"{summary.mean:,.0f}"),
    ]
    if truth:
        pairs.append(("True count", f"{summary.true:,.0f}"))
    pairs.append(("Standard deviation", number(summary.sd)))
    if truth:
        pairs += [
            ("Noise’s own sd", number(summary.theory)),
            ("Within 5 %", share(summary.within_5)),
            ("Within 10 %", share(summary.within_10)),
        ]
    return figures_strip(pairs)


@lru_cache(_KEPT)
def answer_tables(summary: Summary, truth: bool) -> str:
    """The same as the chart, in numbers: class against theory, and the bars."""
    comparison = ""
    if truth:
        error = summary.theory / np.sqrt(summary.answers)
        rows = [
            [
                Cell("mean"),
                Cell(f"{summary.mean:,.1f}"),
                Cell(f"{summary.true:,.0f} ± {number(error)}"),
            ],
            [Cell("standard deviation"), Cell(number(summary.sd)), Cell(number(summary.theory))],
        ]
        columns = [
            ("", ""),
            ("class", "from the answers so far"),
            (
                "theory",
                "true count and standard error of a mean; the sd that releases state of noise",
            ),
        ]
        comparison = table("The class against theory", columns, rows)
    bars = [
        [Cell(f"{_edge(low)} to {_edge(high)}"), Cell(f"{count:,}")]
        for low, high, count in zip(
            summary.edges[:-1], summary.edges[1:], summary.counts, strict=True
        )
        if count
    ]
    columns = [("answer", "a bar; its upper edge belongs to the next"), ("answers", "in this bar")]
    return comparison + details("Bars in numbers", table("Bars with answers", columns, bars))


def history_table(history: Sequence[Asked]) -> str:
    """All questions so far in one table, behind a line to click; nothing before the second."""
    if len(history) < 2:
        return ""
    columns = [
        ("question", ""),
        ("asked", "mechanism and epsilon"),
        ("answers", ""),
        ("mean", ""),
        ("true", "true count"),
        ("sd", "standard deviation of the answers"),
    ]
    rows = []
    for place, entry in enumerate(history, start=1):
        question, summary = entry.question, entry.summary
        rows.append(
            [
                Cell(f"{place}, {question.city}"),
                Cell(f"{question.title}, {question.epsilon:.4g}"),
                Cell(f"{len(entry.answers):,}"),
                Cell("–" if summary is None else f"{summary.mean:,.0f}"),
                Cell(f"{question.true:,.0f}"),
                Cell("–" if summary is None else number(summary.sd)),
            ]
        )
    heading = "Questions so far"
    return details(heading, table(heading, columns, rows))


def about_own(answers: tuple[float, ...], seed: int, summary: Summary | None, truth: bool) -> str:
    """One's last answer and where it is in the histogram, as HTML."""
    if not answers or summary is None:
        return '<p class="quiet">You have not drawn an answer yet.</p>'
    value = answers[-1]
    at = summary.bar(value)
    low, high = _edge(summary.edges[at]), _edge(summary.edges[at + 1])
    inside = int(summary.counts[at])
    others = "you are alone there" if inside == 1 else f"{many(inside, 'answer')} are there"
    off = ""
    if truth:
        gap = f"{value - summary.true:+,.0f}".replace("-", "−")
        off_by = 100 * abs(value - summary.true) / max(summary.true, 1e-9)
        part = f" ({number(off_by, 2)} %)" if summary.true > 0 else ""
        off = f" It is {gap} off{part}."
    again = f" You have drawn {len(answers)}." if len(answers) > 1 else ""
    # Anyone who knows the seed can draw the same noise over nothing and subtract it: only with the
    # truth.
    seeded = f" Your random seed: {seed}." if truth else ""
    text = f"It lies in the bar {low} to {high}: {others}.{off}{again}{seeded}"
    return (
        f'<p class="verdict" role="status">Your answer: {value:,.0f}</p>'
        f'<p class="finding">{html.escape(text)}</p>'
    )


def _edge(value: float) -> str:
    return f"{value:,.12g}".replace("-", "−")
