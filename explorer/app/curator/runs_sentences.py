"""What the runs say in words: how often the answers were close, and that these are previews."""

from __future__ import annotations

import html

import numpy as np

from explorer.app.curator.runs_view import RunsView
from explorer.app.curator.runs_work import Order, RunsWork
from explorer.app.kit.numbers import share
from explorer.mechanisms import mechanism
from explorer.views.tables import Cell, progress, table


def settings(order: Order) -> str:
    """Mechanism and epsilon of an order."""
    instance = order.mechanism
    return f"{mechanism(instance.key).title} with epsilon {instance.epsilon:.4g}"


def about_runs(view: RunsView) -> str:
    """How often the answers were close to the truth, in one sentence."""
    if view.order is None or view.spread is None:
        return ""
    close = [
        f"in {share(part)} of the runs for {name}"
        for name, part in zip(view.names, view.spread.within_5, strict=True)
        if not np.isnan(part)
    ]
    runs = "1 preview" if view.runs == 1 else f"{view.runs} previews"
    text = f"{runs} by {settings(view.order)}, each with other random noise"
    if not close:
        return f"{text}; no box has anyone in it."
    return f"{text}: the answer is within 5 % of the truth {', '.join(close)}."


def about_price(view: RunsView) -> str:
    """Why this was free, and what releases would have cost."""
    if view.order is None or not view.runs:
        return ""
    cost = view.runs * view.order.mechanism.epsilon
    return (
        "They cost nothing only because they are previews and not releases: "
        f"to release {view.runs} times would cost epsilon {cost:.4g}."
    )


def about_dots(name: str, i: int, view: RunsView) -> str:
    """One figure, read out."""
    spread = view.spread
    if spread is None:
        return f"{name}: no runs yet"
    return (
        f"Answers to {name} in {view.runs} previews: median {spread.median[i]:,.0f}, "
        f"95 % from {spread.low[i]:,.0f} to {spread.high[i]:,.0f}, true {view.dots[i].true:,.0f}, "
        f"your map {view.dots[i].here:,.0f}"
    )


def runs_table(view: RunsView) -> str:
    """The same as the dots, in numbers."""
    spread = view.spread
    if spread is None:
        return ""
    columns = [
        ("box", ""),
        ("true", "exact count of all records"),
        ("your map", "private answer of the map that the page shows"),
        ("median", "of the runs"),
        ("95 % of the runs", "quantiles 2.5 % and 97.5 % of the runs"),
        ("within 5 %", "part of the runs off by at most 5 % of the truth"),
        ("within 10 %", "part of the runs off by at most 10 % of the truth"),
        ("bias", "part of the squared error that is the same in every run: not noise"),
    ]
    rows = [
        [
            Cell(name),
            _count(view.dots[i].true),
            _count(view.dots[i].here),
            _count(spread.median[i]),
            Cell(f"{round(spread.low[i]):,} to {round(spread.high[i]):,}"),
            Cell(share(spread.within_5[i])),
            Cell(share(spread.within_10[i])),
            Cell("–" if view.parts is None else share(float(view.parts.share[i]))),
        ]
        for i, name in enumerate(view.names)
    ]
    return table("Answers of the previews in numbers.", columns, rows)


def _count(value: float) -> Cell:
    return Cell(f"{round(float(value)):,}")


def about_progress(work: RunsWork) -> str:
    """A bar while runs are drawn, and what became of them."""
    runs = 0 if work.order is None else work.order.runs
    text = {
        "idle": "Nothing has been drawn yet.",
        "finished": f"{runs} previews, all drawn",
        "cancelled": f"Stopped after {work.done} of {runs} previews",
        "failed": f"Stopped after {work.done} of {runs} previews",
    }.get(work.job.phase, f"{work.done} of {runs} previews")
    return progress("Previews drawn", work.done, runs, text)


def notices(view: RunsView) -> str:
    """What to know before reading the numbers, as HTML: old settings, boxes that are missing."""
    sentences = []
    if view.stale and view.order is not None:
        sentences.append(
            f"These runs are of old settings ({settings(view.order)}, "
            f"{view.order.data.title}): run again for the present ones."
        )
    if view.missing and view.order is not None:
        names = ", ".join(view.missing)
        sentences.append(f"Not asked in these runs: {names}. Run again to include them.")
    if view.chosen.sentence:
        sentences.append(view.chosen.sentence)
    return "".join(
        f'<p class="{"notice" if i == 0 and view.stale else "quiet"}">{html.escape(text)}</p>'
        for i, text in enumerate(sentences)
    )
