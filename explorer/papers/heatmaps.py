"""What the paper on federated heatmaps claims in its section 6 and appendix A.

Tables 1, 2 and 3 in form, and the claims; see `heatmap_bench` for maps and methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.evaluate.ranking import standard_error
from explorer.papers.heatmap_bench import (
    BYTES,
    FLAT,
    HIERARCHICAL,
    INTEGERS,
    MEASURES,
    MENDED,
    ONCE,
    ORACLE,
    PRINTED,
    SAMPLING,
    SEVERAL,
    TABLE_1,
    TABLE_3,
    HeatmapBench,
    Plan,
)
from explorer.papers.report import Claim, Table
from explorer.papers.verdicts import Comparison, Floats, Outcome, below, ratio, side, smaller

Measure = Callable[[HeatmapBench, int], Floats]

FAILING = 0.2
"""Of the people, in the claim on dropouts."""
BITS = 16
NONE_BETTER = 1.01
"""A level that the truth names is none better than another within 1 % of the error."""
CITIES_AT_MOST, SMOOTH_AT_MOST = 0.33, 1.15
"""What ours may have of the error of Algorithm 2, over all settings together."""


def tables(bench: HeatmapBench) -> list[Table]:
    """Tables 1 and 3, every measure with its standard error, and Table 2."""
    header = ["map", "method", *MEASURES]
    both = [
        Table(title, header, _rows(bench, methods), left=2)
        for title, methods in (("Table 1", TABLE_1), ("Table 3", TABLE_3))
    ]
    # With systematic rounding.
    rows = [
        ["most visited place" if s == 0 else f"S = {s}", _with_error(bench.several(s))]
        for s in SEVERAL
    ]
    return [*both, Table("Table 2", ["places of a person", "MSE"], rows)]


def _rows(bench: HeatmapBench, methods: Mapping[str, Plan]) -> list[list[str]]:
    rows = []
    for at, bench_map in enumerate(bench.maps):
        for method in methods:
            ran = bench.run(at, method)
            figures = [_with_error(ran[:, k]) for k in range(INTEGERS)]
            sent = [f"{mean:,.0f}" for mean in ran[:, INTEGERS:].mean(axis=0)]
            rows.append([bench_map.title, method, *figures, *sent])
    return rows


def _with_error(sample: Floats) -> str:
    return f"{sample.mean():.3g} ± {standard_error(sample):.1g}"


def _compared(
    meaning: str,
    ours: Measure,
    theirs: Measure,
    limit: float | None = None,
    aside: str = "",
    where: str = "all",
) -> Callable[[HeatmapBench], Outcome]:
    """A judge that compares two figures on every map: smaller, or at most ``limit`` of the other.

    All cells together are held against 1, which says nothing where a claim has another limit.
    """

    def judge(bench: HeatmapBench) -> Outcome:
        chosen = {"all": range(len(bench.maps)), "rough": bench.rough, "even": bench.even}[where]
        cells: list[Comparison] = []
        for at in chosen:
            title, pair = bench.maps[at].title, (ours(bench, at), theirs(bench, at))
            cells.append(smaller(title, *pair) if limit is None else below(title, *pair, limit))
        return Outcome(meaning, cells, aside, sense=-1 if limit is None else 0)

    return judge


def _mse(method: str, **setting: Any) -> Measure:
    return lambda bench, at: bench.error(at, method, **setting)


def _against(ours: str, theirs: str, where: str = "all", limit: float | None = None) -> Any:
    return _compared(f"MSE, {ours} over {theirs}", _mse(ours), _mse(theirs), limit, where=where)


def together(bench: HeatmapBench, ours: str, smooth: bool) -> tuple[Comparison, list[float]]:
    """Geometric mean of the MSE over that of Algorithm 2 with c .1, and the ratios of all settings.

    The settings share their seeds, so that how it moves with a seed is the mean of how they do.
    """
    pairs = [
        ratio(bench.made(ours, setting)[:, 0], bench.made(PRINTED, setting)[:, 0])
        for setting in bench.settings(smooth)
    ]
    values = [value for value, _ in pairs]
    moves = np.mean([moves for _, moves in pairs], axis=0)
    middle = float(np.exp(np.mean(np.log(values))))
    return Comparison(f"{len(pairs)} settings together", middle, moves, 0), values


def _target(ours: str, smooth: bool, limit: float) -> Any:
    """The mean of all settings against a limit: for or against when it is so for sure."""

    def judge(bench: HeatmapBench) -> Outcome:
        comparison, values = together(bench, ours, smooth)
        other, _ = together(bench, f"{ours}, c .5", smooth)
        cell = replace(comparison, says=side(comparison.value, comparison.moves, limit))
        aside = (
            f"Single settings: {min(values):.2f} to {max(values):.2f}. "
            f"With c .5: {other.value:.3f} ± {other.error:.1g}."
        )
        meaning = f"geometric mean of MSE over Algorithm 2 with c .1, at most {limit:g} wanted"
        return Outcome(meaning, (cell,), aside, sense=0)

    return judge


def _cheaper(column: int) -> Any:
    def judge(bench: HeatmapBench) -> Outcome:
        cells = [
            below(f"{bench_map.title}, {rival}", bench.sent(at, PRINTED, column),
                  bench.sent(at, rival, column), 0.01)
            for at, bench_map in enumerate(bench.maps)
            for rival in (FLAT, HIERARCHICAL)
        ]  # fmt: skip
        noun = MEASURES[column]
        return Outcome(
            f"{noun} a person sends, Algorithm 2 over rivals at all levels", cells, sense=0
        )

    return judge


def _private_level(bench: HeatmapBench) -> Outcome:
    outcome = _compared(
        "MSE of the level chosen by noisy sums over the one that the truth names",
        _mse(HIERARCHICAL),
        _mse(ORACLE),
        NONE_BETTER,
        "More than 1 % counts; both have the same sums.",
    )(bench)
    # The claim is the opposite: not within a hundredth.
    return replace(outcome, cells=[replace(cell, says=-cell.says) for cell in outcome.cells])


def _dropouts(method: str) -> Any:
    meaning = f"MSE with {FAILING:.0%} dropped over that with nobody, {method}"
    aside = "Shares of noise are made for 78 % of a shard of 10,000 people."
    return _compared(meaning, _mse(method, dropped=FAILING), _mse(method), 1.15, aside)


def _bits(bench: HeatmapBench) -> Outcome:
    needed = max(bench.sent(at, PRINTED, BYTES - 1).max() for at in range(len(bench.maps)))
    return _compared(
        "MSE with 16 bits an integer over that with 32, Algorithm 2, c .1",
        _mse(PRINTED, bits=BITS),
        _mse(PRINTED, bits=2 * BITS),
        1.0,
        f"Sums of shards one by one, modulo 2^16. The tail bound asks for {needed:.0f} bits in the "
        "widest round.",
    )(bench)


def _several(bench: HeatmapBench) -> Outcome:
    cells = [smaller("S = 16", bench.several(16), bench.several(0))]
    return Outcome(
        "MSE with several places over the most visited one", cells,
        "Systematic rounding, whose sensitivity is S (erratum 41); S + v is not built.",
    )  # fmt: skip


_larger_shards = _compared(
    "MSE with shards of 10,000 over shards of 1,000",
    _mse("Algorithm 2, c .3"),
    _mse("Algorithm 2, c .3", shard=1_000),
)
_more_people = _compared(
    "MSE of ten times as many people",
    _mse("Algorithm 2, c .3"),
    lambda bench, at: bench.error(at, "Algorithm 2, c .3", bench.number // 10),
)


def _claim(key: str, where: str, sentence: str, judge: Any) -> Claim:
    return Claim(f"heatmaps-{key}", "heatmaps-2022", where, sentence, judge)


CLAIMS = (
    _claim("flat", "Table 1", "Asked for the finest cells at once, noise leaves no result.",
           _against(PRINTED, FLAT)),
    _claim("integers", "Table 1", "It sends a hundredth of the integers or fewer.",
           _cheaper(INTEGERS)),
    _claim("bytes", "Table 1", "It sends a hundredth of the bytes or fewer, with keys and boxes.",
           _cheaper(BYTES)),
    _claim("hierarchical", "Table 1", "It is better than all levels asked at once.",
           _against(PRINTED, "hierarchical")),
    _claim("level", "section 6.2", "Levels chosen without the truth have a larger error.",
           _private_level),
    _claim("count-min", "Table 1", "It is better than count-min sketches of all levels.",
           _against(PRINTED, "count-min")),
    _claim("decomposition", "Table 1", "It is better than spatial decompositions.",
           _against(PRINTED, "spatial decomposition")),
    _claim("grid", "Table 1", "It is better than adaptive grids.",
           _against(PRINTED, "adaptive grid, epsilon")),
    _claim("sampling-smooth", "section 6", "Its error is near that of sampling (smooth maps).",
           _against(PRINTED, SAMPLING, "even", 1.5)),
    _claim("sampling-cities", "section 6", "Its error is near that of sampling (cities).",
           _against(PRINTED, SAMPLING, "rough", 1.5)),
    _claim("several", "Table 2", "Several places of a person say more than her most visited one.",
           _several),
    _claim("schedule", "Table 3", "A schedule of budgets is better than equal shares.",
           _against("scheduled, T 10", "fixed epsilon, T 10")),
    _claim("threshold", "Table 3", "A threshold that knows the noise is better than a fixed one.",
           _against("scheduled, T adaptive", "scheduled, T 10")),
    _claim("shards", "Fig. 8", "Larger shards lower the error.", _larger_shards),
    _claim("dropouts", "Fig. 8", "A fifth of the people dropped out costs 15 % of error or less.",
           _dropouts(PRINTED)),
    _claim("bits", "Fig. 8", "Integers of 16 bits lose nothing.", _bits),
    _claim("people", "Fig. 7", "More people lower the error.", _more_people),
    _claim("c", "appendix A.2", "c = .1 is better than c = 1.",
           _against(PRINTED, "Algorithm 2, c 1")),
    _claim("dropouts-once", "ours", "The same where each person is asked once.",
           _dropouts(ONCE)),
    _claim("mended", "ours", "On cities Algorithm 2 mended has .33 of the error of c = .1 at most.",
           _target(MENDED, False, CITIES_AT_MOST)),
    _claim("mended-smooth", "ours", "On smooth maps it has 1.15 of that error at most.",
           _target(MENDED, True, SMOOTH_AT_MOST)),
    _claim("once", "ours", "On cities people as the budget have .33 of that error at most.",
           _target(ONCE, False, CITIES_AT_MOST)),
    _claim("once-smooth", "ours", "On smooth maps they have 1.15 of that error at most.",
           _target(ONCE, True, SMOOTH_AT_MOST)),
)  # fmt: skip
