"""Claims on a country: judged on a small made-up one; the reference read, compared, refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from explorer import InputError
from explorer.cli import main
from explorer.papers import Report, check
from explorer.papers import country as paper
from explorer.papers.country import CLAIMS, CountryBench, made_up
from explorer.papers.reference import compare_country
from tests.refusals import refuses

SEEDS = 2


@pytest.fixture(scope="module")
def land():
    return made_up(40_000, 4_000.0)


@pytest.fixture(scope="module")
def bench(land):
    return CountryBench(quick=True, seeds=SEEDS, land=land)


def test_budgets_are_judged_by_their_variances(bench):
    """The expected ratio: variance 2 / e^2 of every area that is counted, only children once."""
    claim = next(each for each in CLAIMS if each.key == "country-budgets")
    row = check([claim], bench=bench).rows[0]
    areas = bench.land.counts.areas
    numbers = np.bincount(areas.level)
    # Regular but for only children, so a tenth beside the spread of 16 sums of squares.
    printed = np.cbrt(numbers) / np.cbrt(numbers).sum()
    for (_, value, error, says), shares in zip(
        row.cells,
        (np.full(4, 0.25), 2 ** (np.arange(4) / 3) / (2 ** (np.arange(4) / 3)).sum()),
        strict=True,
    ):
        expected = np.sum(numbers / printed**2) / np.sum(numbers / shares**2)
        assert abs(value - expected) < 0.15 * expected + 4 * error
        assert says in (0, 1)
    assert row.verdict != "does not hold"


def test_every_claim_has_a_verdict(bench, tmp_path):
    told = []
    # Benchmarks and HTF in hundreds of areas take long: see the slow test.
    chosen = ("country-budgets", "country-cities-mosaic", "country-threshold")
    quick = [each for each in CLAIMS if each.key in chosen]
    report = check(quick, bench=bench, progress=told.append)
    assert told[-1] == 1.0
    assert [row.key for row in report.rows] == [each.key for each in quick]
    for row in report.rows:
        assert row.cells
        assert row.error > 0
        assert row.verdict in ("holds", "does not hold", "mixed", "cannot be told")
    assert "made up" in report.maps["country"]
    report.save(tmp_path / "report.json")
    assert Report.load(tmp_path / "report.json") == report


def test_named_areas_are_better_in_a_hierarchy_of_them(bench):
    hierarchy = bench.areas_of_plan(1.0, "ug", 0.0)
    assert hierarchy.mean() < bench.areas_of_benchmark(1.0, "ug", 2).mean()


@pytest.mark.slow
def test_all_claims(bench):
    assert len(check(CLAIMS, bench=bench).rows) == len(CLAIMS)


def test_a_reference_is_compared(land, tmp_path):
    """With a country that is called as the real one is, and figures of its own as the reference."""
    town = next(iter(land.cities.values()))
    bench = CountryBench(seeds=SEEDS, land=replace(land, cities={"London": town}))
    bench.epsilons, bench.totals, bench.side = (1.0,), (0.5,), 128
    own = bench.squares_of("London", "mosaic", paper.HIERARCHY * 0.5).mean()
    names = "Hierarchical (USA levels)", "Benchmark 2 (4, h 5)", "Benchmark 1 (2, h 9)"
    cities = [
        {"area": "accidents London", "total": 0.5, "mechanism": "Mosaic",
         "mre": {name: [own, 0.0] for name in names}},
        {"area": "nowhere", "total": 0.5, "mechanism": "Mosaic", "mre": {}},
    ]  # fmt: skip
    static = {"1.0|uniform|raw": {"mre": [[0, 0], [0, 0], [0, 0], [9.0, 0.0]]}}
    for name, rows in (("static_budgets", static), ("release_gb", []), ("fig9", cities)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"rows": rows}))
    pairs = compare_country(tmp_path, bench)
    assert [pair.within for pair in pairs][:2] == [False, True]
    assert len(pairs) == 4
    (tmp_path / "fig9.json").write_text("[]")
    refuses(r"fig9\.json", compare_country, tmp_path, bench)
    with pytest.raises(InputError, match="Great Britain"):
        compare_country(tmp_path, CountryBench(quick=True, seeds=SEEDS, land=land))


def test_the_command(land, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(paper, "find", lambda _quick: land)
    path = str(tmp_path / "report.json")
    given = ["papers", "country", "--quick", "--seeds", "2", "--claim", "country-budgets"]
    assert main([*given, "-o", path]) == 0
    out = capsys.readouterr().out
    assert "country-budgets (htf-2022" in out
    assert "made up" in out
    assert Report.load(path).seeds == 2
    assert main(["papers", "country", "--list"]) == 0
    listed = capsys.readouterr().out
    assert all(each.key in listed for each in CLAIMS)
