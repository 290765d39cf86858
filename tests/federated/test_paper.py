"""Claims of heatmaps-2022 on a small town; measures by hand; the command."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.cli import main
from explorer.errors import InputError
from explorer.federated.paper import CLAIMS, check, table, table_2
from explorer.federated.paper_bench import (
    FLAT,
    SAMPLING,
    SEVERAL,
    TABLE_1,
    TABLE_3,
    HeatmapBench,
    Map,
    measures,
    smoothed,
    visitors,
)
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
    rows = table(bench, {**TABLE_1, **TABLE_3})
    assert len(rows) == 2 * len({**TABLE_1, **TABLE_3})
    assert len(table_2(bench)) == len(SEVERAL)
    flat = bench.run(0, FLAT, bench.number, 10_000)
    assert set(flat[:, -1]) == {64 * 64}
    assert set(bench.run(0, SAMPLING, bench.number, 10_000)[:, -1]) == {2.0}
    # Without noise nothing is worse than with it at the same cells.
    assert bench.error(0, SAMPLING).mean() < bench.error(0, FLAT).mean()


def test_the_same_seed_is_the_same_figure(bench: HeatmapBench) -> None:
    again = HeatmapBench(quick=True, seeds=2, maps=bench.maps)
    for method in ("Algorithm 2, c .1", "each person once"):
        assert np.array_equal(again.error(0, method), bench.error(0, method))


def test_every_claim_has_a_verdict(bench: HeatmapBench) -> None:
    report = check(CLAIMS, bench)
    assert len({row.key for row in report.rows}) == len(CLAIMS)
    # 4,096 cells are few enough for 20,000 people to be asked about at once.
    assert report.row("heatmaps-flat").verdict == "does not hold"
    assert all(row.cells for row in report.rows)
    assert {row.paper for row in report.rows} == {"heatmaps-2022"}


def test_visits_of_made_up_people_add_up(bench: HeatmapBench) -> None:
    people, truth = visitors(bench.maps[0], True, 16)
    assert truth.sum() == pytest.approx(1.0)
    top, same = visitors(bench.maps[0], True, 0)
    assert np.array_equal(same, truth)
    assert len(top) == len(people)
    assert np.isin(top.cells, people.cells).all()


def test_one_seed_has_no_standard_error() -> None:
    with pytest.raises(InputError, match="2 or more"):
        HeatmapBench(seeds=1)


def test_the_command_lists_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "heatmaps", "--list"]) == 0
    assert "heatmaps-once-smooth (heatmaps-2022, ours)" in capsys.readouterr().out
    assert main(["papers", "heatmaps", "--jobs", "2"]) == 2
    assert "leave it out" in capsys.readouterr().err
    assert main(["papers", "heatmaps", "--claim", "best"]) == 2
