"""Figures 4, 5, 7 and 8 and Table 3 of trips-2022 in form, as tables on the trips at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.evaluate.ranking import standard_error
from explorer.evaluate.results import figure
from explorer.mechanisms import Gravity
from explorer.mechanisms.base import Mechanism
from explorer.papers.bench import Bench
from explorer.papers.trips.chosen import (
    FIRST,
    GAUSSIANS,
    PAPER,
    PLACES,
    PROPOSED,
    TRIPS,
    ZIPFS,
    axes_of,
    epsilons,
    errors,
    some,
)
from explorer.papers.verdicts import Outcome

SIZES = ("random", "cov1", "cov5", "cov10", "near10")


@dataclass(frozen=True)
class FigureTable:
    """A figure of the paper as a table.

    Attributes
    ----------
    name : such as "Figure 4"
    about : what its numbers are
    header, rows : texts; a number is a mean and its standard error
    """

    name: str
    about: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def figure_4(bench: Bench) -> FigureTable:
    """Gaussians, random boxes."""
    places = [(key, e) for key in some(bench, GAUSSIANS) for e in epsilons(bench)]
    return _errors(bench, "Figure 4", "Gaussian clusters", [(*place, "random") for place in places])


def figure_5(bench: Bench) -> FigureTable:
    """Zipf's law, random boxes, one budget."""
    conditions = [(key, FIRST, "random") for key in some(bench, ZIPFS)]
    return _errors(bench, "Figure 5", "Zipf's law", conditions)


def figure_7(bench: Bench) -> FigureTable:
    """Real places, without the finest grids."""
    conditions = [(k, e, w) for k in some(bench, PLACES) for e in epsilons(bench) for w in SIZES]
    return _errors(bench, "Figure 7", "places of two axes", conditions, PROPOSED)


def figure_8(bench: Bench) -> FigureTable:
    """Real trips, without the finest grids."""
    conditions = [(k, e, w) for k in some(bench, TRIPS) for e in epsilons(bench) for w in SIZES]
    return _errors(bench, "Figure 8", "trips of four axes and more", conditions, PROPOSED)


def table_3(bench: Bench) -> FigureTable:
    """Time on places of two axes."""
    keys = some(bench, (*PLACES, "gauss:2:.05", "gauss:2:.2"))
    kinds: tuple[type[Mechanism], ...] = (*PAPER, Gravity)
    rows = tuple(
        (key, *(_said(bench, key, kind, FIRST, "random", "seconds") for kind in kinds))
        for key in keys
    )
    about = f"seconds of processor time of a preview, two axes, epsilon {FIRST:g}"
    return FigureTable("Table 3", about, ("set", *(kind.title for kind in kinds)), rows)


FIGURES: tuple[Callable[[Bench], FigureTable], ...] = (
    figure_4,
    figure_5,
    figure_7,
    figure_8,
    table_3,
)


def ask(bench: Bench) -> Outcome:
    """Ask for all that the figures show: a judge of no claim, for planning."""
    tables(bench)
    return Outcome("", ())


def tables(bench: Bench) -> list[FigureTable]:
    """All of them; without the sets of a figure it has no rows."""
    return [figure(bench) for figure in FIGURES]


def _errors(
    bench: Bench,
    name: str,
    what: str,
    conditions: Sequence[tuple[str, float, str]],
    kinds: tuple[type[Mechanism], ...] = PAPER,
) -> FigureTable:
    columns: tuple[type[Mechanism], ...] = (*kinds, Gravity)
    rows = tuple(
        (
            key,
            f"{epsilon:g}",
            workload,
            *(_said(bench, key, kind, epsilon, workload, "mre20") for kind in columns),
        )
        for key, epsilon, workload in conditions
    )
    header = ("set", "epsilon", "boxes", *(kind.title for kind in columns))
    return FigureTable(name, f"mean relative error (smoothing 20), {what}", header, rows)


def _said(
    bench: Bench, key: str, kind: type[Mechanism], epsilon: float, workload: str, metric: str
) -> str:
    if axes_of(key) not in kind.dimensions:
        return "-"
    sample = errors(bench, key, kind, epsilon, workload, metric)
    return f"{figure(float(sample.mean()))} ± {figure(standard_error(sample), 1)}"
