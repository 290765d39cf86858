"""Claims of heatmaps-2022 on a small town; measures by hand; the command."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.cli import main
from explorer.papers import check
from explorer.papers.heatmap_bench import (
    FLAT,
    SAMPLING,
    SEVERAL,
    TABLE_1,
    TABLE_3,
    HeatmapBench,
    Map,
    communication,
    measures,
    smoothed,
)
from explorer.papers.heatmaps import CLAIMS, tables
from explorer.papers.verdicts import side
from explorer.releases.rounds import Row
from tests.federated.town import town


@pytest.fixture(scope="module")
def bench() -> HeatmapBench:
    maps = [Map.of("town", town()), Map.of("smooth", smoothed(town(), 3.0), smooth=True)]
    return HeatmapBench(quick=True, seeds=2, maps=maps)


def test_measures_by_hand() -> None:
    truth, density = np.array([[0.5, 0.5], [0.0, 0.0]]), np.array([[3.0, 1.0], [-4.0, 0.0]])
    mse, l1, mape, smape, maape = measures(truth, density)
    assert mse == pytest.approx((0.25**2 + 0.25**2) / 4)
    assert l1 == pytest.approx(0.5)
    assert mape == pytest.approx((0.5 + 0.5) / 4)
    assert smape == pytest.approx((2 * 0.25 / 1.25 + 2 * 0.25 / 0.75) / 4)
    assert maape == pytest.approx(2 * np.arctan(0.5) / 4)


def test_every_method_of_the_tables_runs(bench: HeatmapBench) -> None:
    lengths = [len(table.rows) for table in tables(bench)]
    assert lengths == [2 * len(TABLE_1), 2 * len(TABLE_3), len(SEVERAL)]
    assert set(bench.sent(0, FLAT)) == {64 * 64}
    assert set(bench.sent(0, SAMPLING)) == {2.0}
    # Without noise nothing is worse than with it at the same cells.
    assert bench.error(0, SAMPLING).mean() < bench.error(0, FLAT).mean()


def test_what_a_person_sends_by_hand() -> None:
    # Ten shards of 10,000: k = 46 neighbours where 10 % drop out and 5 % are corrupt.
    rows = [
        Row(cells=64, people=100_000, answered=1, units=1, noise=1.0, bits=16),
        Row(cells=1_001, people=100_000, answered=1, units=1, noise=1.0, bits=11),
        # A sum without noise holds the shard: 10,000 needs 14 bits.
        Row(cells=8, people=100_000, answered=1, units=1, noise=0.0),
    ]
    protocol = 64 + 67 * 46
    vectors = [64 * 2, 1_377, 14]
    assert communication(rows, 10_000, False) == (1_073, 16, 3 * protocol + sum(vectors))
    assert communication(rows, 10_000, True) == (1_001, 16, protocol + max(vectors))


def test_a_limit_is_passed_for_sure_or_open() -> None:
    moves = np.array([-0.1, 0.0, 0.1])
    # Three seeds: 4.5 standard errors of .058.
    sides = [side(value, moves, 1.0) for value in (0.7, 0.8, 1.0, 1.2, 1.4)]
    assert sides == [1, 0, 0, 0, -1]


def test_every_claim_has_a_verdict(bench: HeatmapBench) -> None:
    report = check(CLAIMS, bench=bench)
    assert len({row.key for row in report.rows}) == len(CLAIMS)
    # 4,096 cells are few enough for 20,000 people to be asked about at once.
    assert report.row("heatmaps-flat").verdict == "does not hold"
    assert all(row.cells for row in report.rows)
    assert {row.paper for row in report.rows} == {"heatmaps-2022"}


def test_the_command_lists_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "heatmaps", "--list"]) == 0
    assert "heatmaps-once-smooth (heatmaps-2022, ours)" in capsys.readouterr().out
    assert main(["papers", "heatmaps", "--jobs", "2"]) == 2
    assert "leave it out" in capsys.readouterr().err
    assert main(["papers", "heatmaps", "--claim", "best"]) == 2
