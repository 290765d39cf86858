"""What heatmaps-2022 claims in its section 6 and appendix A, checked on the maps at hand.

Tables 1, 2 and 3 in form, and a verdict on every claim; see `paper_bench` for maps and methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.evaluate.papers.claim import Claim
from explorer.evaluate.papers.report import Report, Row
from explorer.evaluate.papers.verdicts import Comparison, Outcome, below, smaller
from explorer.evaluate.ranking import standard_error
from explorer.federated.paper_bench import (
    FLAT,
    ONCE,
    SAMPLING,
    SEVERAL,
    SHARD,
    HeatmapBench,
    Plan,
)
from explorer.grid.grid import Progress

MEASURES = ("MSE", "L1", "MAPE", "sMAPE", "MAAPE", "integers")


def table(bench: HeatmapBench, methods: Mapping[str, Plan]) -> list[list[str]]:
    """Rows of a table: map, method, and every measure with its standard error."""
    rows = []
    for at, own in enumerate(bench.maps):
        for method in methods:
            ran = bench.run(at, method, bench.number, SHARD)
            figures = [
                f"{ran[:, k].mean():.3g} ± {standard_error(ran[:, k]):.1g}" for k in range(5)
            ]
            rows.append([own.title, method, *figures, f"{ran[:, 5].mean():,.0f}"])
    return rows


def table_2(bench: HeatmapBench) -> list[list[str]]:
    """Rows of Table 2 with systematic rounding: S, MSE."""
    return [
        ["most visited place" if s == 0 else f"S = {s}",
         f"{bench.several(s).mean():.3g} ± {standard_error(bench.several(s)):.1g}"]
        for s in SEVERAL
    ]  # fmt: skip


def _against(ours: str, theirs: str, where: str = "all", limit: float | None = None) -> Any:
    def judge(bench: HeatmapBench) -> Outcome:
        chosen = {"all": range(len(bench.maps)), "rough": bench.rough, "even": bench.even}[where]
        cells: list[Comparison] = []
        for at in chosen:
            pair = bench.error(at, ours), bench.error(at, theirs)
            title = bench.maps[at].title
            cells.append(smaller(title, *pair) if limit is None else below(title, *pair, limit))
        return Outcome(f"MSE, {ours} over {theirs}", tuple(cells))

    return judge


def _cheaper(bench: HeatmapBench) -> Outcome:
    cells = [
        below(own.title, bench.integers(at, "Algorithm 2, c .1"), bench.integers(at, rival), 0.01)
        for at, own in enumerate(bench.maps)
        for rival in (FLAT, "hierarchical")
    ]
    return Outcome("integers a person sends, Algorithm 2 over rivals at all levels", tuple(cells))


def _several(bench: HeatmapBench) -> Outcome:
    cells = [smaller("S = 16", bench.several(16), bench.several(0))]
    return Outcome(
        "MSE with several places over the most visited one", tuple(cells),
        "Systematic rounding, whose sensitivity is S (erratum 41); S + v is not built.",
    )  # fmt: skip


def _larger_shards(bench: HeatmapBench) -> Outcome:
    method = "Algorithm 2, c .3"
    cells = [
        smaller(bench.maps[at].title, bench.error(at, method), bench.error(at, method, shard=1_000))
        for at in range(len(bench.maps))
    ]
    return Outcome("MSE with shards of 10,000 over shards of 1,000", tuple(cells))


def _more_people(bench: HeatmapBench) -> Outcome:
    method, few = "Algorithm 2, c .3", bench.number // 10
    cells = [
        smaller(bench.maps[at].title, bench.error(at, method), bench.error(at, method, few))
        for at in range(len(bench.maps))
    ]
    return Outcome("MSE of ten times as many people", tuple(cells))


def _claim(key: str, where: str, sentence: str, judge: Any) -> Claim:
    return Claim(f"heatmaps-{key}", "heatmaps-2022", where, sentence, judge)


_C1 = "Algorithm 2, c .1"
CLAIMS = (
    _claim("flat", "Table 1", "Asked for the finest cells at once, noise leaves no result.",
           _against(_C1, FLAT)),
    _claim("integers", "Table 1", "It sends a hundredth of the integers or fewer.", _cheaper),
    _claim("hierarchical", "Table 1", "It is better than all levels asked at once.",
           _against(_C1, "hierarchical")),
    _claim("count-min", "Table 1", "It is better than count-min sketches of all levels.",
           _against(_C1, "count-min")),
    _claim("decomposition", "Table 1", "It is better than spatial decompositions.",
           _against(_C1, "spatial decomposition")),
    _claim("grid", "Table 1", "It is better than adaptive grids.",
           _against(_C1, "adaptive grid, epsilon")),
    _claim("sampling-smooth", "section 6", "Its error is near that of sampling (smooth maps).",
           _against(_C1, SAMPLING, "even", 1.5)),
    _claim("sampling-cities", "section 6", "Its error is near that of sampling (cities).",
           _against(_C1, SAMPLING, "rough", 1.5)),
    _claim("several", "Table 2", "Several places of a person say more than her most visited one.",
           _several),
    _claim("schedule", "Table 3", "A schedule of budgets is better than equal shares.",
           _against("scheduled, T 10", "fixed epsilon, T 10")),
    _claim("threshold", "Table 3", "A threshold that knows the noise is better than a fixed one.",
           _against("scheduled, T adaptive", "scheduled, T 10")),
    _claim("shards", "Fig. 8", "Larger shards lower the error.", _larger_shards),
    _claim("people", "Fig. 7", "More people lower the error.", _more_people),
    _claim("c", "appendix A.2", "c = .1 is better than c = 1.", _against(_C1, "Algorithm 2, c 1")),
    _claim("mended", "ours", "Algorithm 2 mended has a third of its error on cities.",
           _against("Algorithm 2, mended", _C1, "rough", 0.33)),
    _claim("once", "ours", "People as the budget have a third of its error on cities.",
           _against(ONCE, _C1, "rough", 0.33)),
    _claim("once-smooth", "ours", "On smooth maps they lose at most 15 %.",
           _against(ONCE, _C1, "even", 1.15)),
)  # fmt: skip


def check(claims: Sequence[Claim], bench: HeatmapBench, progress: Progress | None = None) -> Report:
    """Check claims, one after the other; see `country.paper.check`."""
    found_rows = []
    for done, claim in enumerate(claims, 1):
        judge: Any = claim.judge
        found_rows.append(Row.of(claim, judge(bench)))
        if progress is not None:
            progress(done / len(claims))
    maps = {str(at): own.title for at, own in enumerate(bench.maps)}
    return Report(tuple(found_rows), maps, bench.quick, bench.seeds)
