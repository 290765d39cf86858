"""`dp-explorer country`: releases of the Python API, booked and previewed; nothing exact."""

import re

import numpy as np
import pytest

from explorer import Areas, Country, CountryRelease, Ledger, read_points, scan_points
from explorer.cities import nation
from explorer.cli import main
from explorer.releases.units import to_units
from tests.commands.refusals import refusal, typed

LEVELS = ["country", "region", "district"]
N = 9_173
COUNTRY = "country points.csv --areas areas.gpkg --levels country,region,district --cell 4km"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Boundaries, points in two files with people, and as a table with 913 rows at 0, 0."""
    folder = tmp_path_factory.mktemp("country")
    nation.boundaries().to_file(folder / "areas.gpkg", driver="GPKG")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nation, "GROUP", 5_000)
        patch.setattr(nation, "GROUPS", 1)
        nation.write(folder / "parts", N, users=True)
    points = nation.points(N)
    rows = [f"{x:.6f},{y:.6f}" for x, y in zip(points.x, points.y, strict=True)]
    (folder / "points.csv").write_text("\n".join(["lon,lat", *rows, *["0,0"] * 913, ""]))
    return folder


@pytest.fixture(autouse=True)
def _there(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.fixture(scope="module")
def areas(folder):
    return Areas.read(folder / "areas.gpkg", LEVELS)


@pytest.fixture(scope="module")
def counts(folder, areas):
    return areas.count(read_points(folder / "points.csv"), cell=4_000.0)


@pytest.mark.parametrize(("name", "flags", "settings"), [
    ("made.gpkg", "--inside ug --budgets Eq.-38 --own-share 0.4",
     {"inside": "ug", "budgets": "Eq. 38", "own_share": 0.4}),
    ("made.parquet", "--inside htf --inside-set T=5 --inside-set stop-count=30",
     {"inside": "htf", "inside_settings": {"T": 5, "stop_count": 30.0}}),
])  # fmt: skip
def test_it_is_that_of_the_python_api(name, flags, settings, counts, run):
    run(f"{COUNTRY} --epsilon 0.5 --preview 7 {flags} -o {name}")
    release = CountryRelease.load(name)
    expected = Country(epsilon=0.5, **settings).release(counts, rng=7)
    assert np.array_equal(release.tree.value, expected.tree.value)
    assert release.preview


def test_the_table_is_the_accounts_and_nothing_exact(areas, counts, run):
    out, err = run(f"{COUNTRY} --epsilon 1 --preview 3 --inside ug")
    first = ("the whole", *LEVELS, "map")
    rows = [row.split() for row in out.splitlines() if row.startswith(first)]
    numbers = np.bincount(areas.level)
    assert [row[-3] for row in rows] == [*(f"{n:,}" for n in numbers), f"{numbers[-1]:,}"]
    # Levels that are paid add up to epsilon along a path, with or without that of only children.
    paid = [float(row[-2]) for row in rows]
    assert min(abs(paid[0] + sum(paid[2:]) - 1), abs(sum(paid) - 1)) < 2e-3
    for sentence in ("same people, counted once", "Not saved", "a preview spends nothing"):
        assert sentence in out
    assert "Some rows at longitude 0" in err
    for exact in (N, 913, int(counts.by_node[0])):
        assert not re.search(rf"\b{exact:,}\b|\b{exact}\b", out + err)


def test_it_is_booked_once_with_persons_over_all_files(areas, run, capsys, monkeypatch):
    persons = "--user person --contribution-bound 2 --inside none --dask threads -o booked.gpkg"
    line = f"{COUNTRY} {persons} --epsilon 0.25".replace("points.csv", "parts")
    assert "Layers: whole, country, region, district." in run(line).out
    files = scan_points("parts", user="person")
    key = areas.count(files, cell=4_000.0, contribution_bound=2).key
    assert Ledger().spent(key) == to_units(0.25)
    release = CountryRelease.load("booked.gpkg")
    assert (release.unit, release.contribution_bound, release.preview) == ("user", 2, False)
    # A file that is there is refused before anything is booked; replaced when told so.
    assert "exists already" in refusal(capsys, *typed(line))
    assert Ledger().spent(key) == to_units(0.25)
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.5")
    run(f"{line} --overwrite")
    assert "0.5" in refusal(capsys, *typed(line.replace("booked", "third")))
    assert Ledger().spent(key) == to_units(0.5)


def test_areas_polygons_and_rectangles_are_answered(run):
    run(f"{COUNTRY} --epsilon 1 --preview 5 --inside ug -o asked.gpkg")
    release = CountryRelease.load("asked.gpkg")
    paths = [path for path in release.windows.areas.paths if len(path) in (1, 3)][:4]
    asked = [word for path in paths for word in ("--area", "/".join(path))]
    assert main(["answer", "asked.gpkg", *asked, "-o", "a.csv"]) == 0
    answers, expected = np.genfromtxt("a.csv", delimiter=",", skip_header=1), release.answer(paths)
    np.testing.assert_allclose(answers[:, 1], expected.value, rtol=1e-6)
    np.testing.assert_allclose(answers[:, 2], expected.sd, rtol=1e-6)
    assert main(["answer", "asked.gpkg", *asked, "-o", "a.geojson"]) == 0
    x0, y0, x1, y1 = release.windows.grid.bounds
    corners = [x0, y0, (x0 + x1) / 2, y1]
    out, err = run(f"answer asked.gpkg --rectangle {' '.join(map(str, corners))}")
    assert f"{release.answer([corners]).value[0]:,.1f}" in out
    assert "counts of" in err
    out = run("answer asked.gpkg --polygons areas.gpkg").out
    assert len(out.splitlines()) == 1 + len(release.windows.areas)
