"""`dp-explorer country`: releases of the Python API, booked, previewed, refused; nothing exact."""

import re
from pathlib import Path

import numpy as np
import pytest

from explorer import Areas, Country, CountryRelease, read_points, scan_points
from explorer.cities import nation
from explorer.cli import main
from explorer.privacy.ledger import Ledger
from explorer.releases.units import to_units
from tests.commands.refusals import refusal, typed

LEVELS = ["country", "region", "district"]
N = 9_173


@pytest.fixture(scope="module")
def here(tmp_path_factory):
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


@pytest.fixture(scope="module")
def areas(here):
    return Areas.read(here / "areas.gpkg", LEVELS)


def line(here: Path, points: str = "points.csv", *more: str) -> list[str]:
    known = ["--areas", str(here / "areas.gpkg"), "--levels", ",".join(LEVELS), "--cell", "4km"]
    return ["country", str(here / points), *known, *more]


def test_it_is_that_of_the_python_api(here, areas, tmp_path):
    counts = areas.count(read_points(here / "points.csv"), cell=4_000.0)
    for name in ("made.gpkg", "made.parquet"):
        path = str(tmp_path / name)
        chosen = ["--inside", "ug", "--budgets", "Eq.-38", "--own-share", "0.4"]
        given = line(here, "points.csv", "--epsilon", "0.5", "--preview", "7", *chosen, "-o", path)
        assert main(given) == 0
        release = CountryRelease.load(path)
        expected = Country(epsilon=0.5, inside="ug", budgets="Eq. 38", own_share=0.4)
        assert np.array_equal(release.tree.value, expected.release(counts, rng=7).tree.value)
        assert release.preview


def test_settings_of_the_mechanism_inside_are_its_own(here, areas, tmp_path):
    path = str(tmp_path / "made.parquet")
    inner = ["--inside", "htf", "--inside-set", "T=5", "--inside-set", "stop-count=30"]
    given = line(here, "points.csv", "--epsilon", "0.5", "--preview", "7", *inner, "-o", path)
    assert main(given) == 0
    release = CountryRelease.load(path)
    assert release.parameters["inside_settings"] == {"T": 5, "stop_count": 30.0}
    counts = areas.count(read_points(here / "points.csv"), cell=4_000.0)
    expected = Country(epsilon=0.5, inside="htf", inside_settings={"T": 5, "stop_count": 30.0})
    assert np.array_equal(release.tree.value, expected.release(counts, rng=7).tree.value)


@pytest.mark.parametrize(("typed_more", "said"), [
    (
        ["--inside", "ug", "--inside-set", "T=5"],
        "UG has no setting 'T'; --inside-set takes grid_size, c,",
    ),
    (["--inside-set", "T"], "--inside-set is 'T'; give a name and a value such as T=5"),
    (["--inside", "htf", "--inside-set", "T=x"], "--inside-set T is 'x'; give a whole number"),
    (["--inside", "htf", "--inside-set", "T=5", "--inside-set", "T=6"], "names T twice"),
    (["--inside", "none", "--inside-set", "T=5"], "not needed with --inside none"),
    (["--inside", "htf", "--inside-set", "height=99"], "Height is 99"),
])  # fmt: skip
def test_settings_inside_that_are_none_are_refused(typed_more, said, here, capsys):
    given = line(here, "points.csv", "--epsilon", "1", "--preview", "1", *typed_more)
    assert said in refusal(capsys, *given)


def test_the_table_is_the_accounts_and_nothing_exact(here, areas, capsys):
    given = line(here, "points.csv", "--epsilon", "1", "--seed", "3", "--inside", "ug")
    assert main(given) == 0
    out, err = capsys.readouterr()
    rows = [
        row.split() for row in out.splitlines() if row.startswith(("the whole", *LEVELS, "map"))
    ]
    numbers = np.bincount(areas.level)
    assert [row[-3] for row in rows] == [*(f"{n:,}" for n in numbers), f"{numbers[-1]:,}"]
    # Levels that are paid add up to epsilon along a path: nobody's median is another area's here.
    paid = [float(row[-2]) for row in rows]
    assert sum(paid[2:]) == pytest.approx(1 - paid[0], abs=2e-3) or sum(paid) == pytest.approx(
        1, abs=2e-3
    )
    assert "same people, counted once" in out
    assert "Not saved" in out
    assert "a preview spends nothing" in out
    assert "Some rows at longitude 0" in err
    counts = areas.count(read_points(here / "points.csv"), cell=4_000.0)
    for exact in (N, 913, int(counts.by_node[0])):
        assert not re.search(rf"\b{exact:,}\b|\b{exact}\b", out + err)


def test_it_is_booked_once_with_persons_over_all_files(here, areas, tmp_path, capsys):
    path = str(tmp_path / "made.gpkg")
    persons = ["--user", "person", "--contribution-bound", "2", "--inside", "none"]
    given = line(here, "parts", "--epsilon", "0.25", *persons, "--dask", "threads", "-o", path)
    assert main(given) == 0
    assert "Layers: whole, country, region, district." in capsys.readouterr().out
    files = scan_points(here / "parts", user="person")
    counts = areas.count(files, cell=4_000.0, contribution_bound=2)
    assert Ledger().spent(counts.key) == to_units(0.25)
    release = CountryRelease.load(path)
    assert (release.unit, release.contribution_bound) == ("user", 2)
    assert not release.preview
    # A file that is there is refused before anything is booked; replaced when told so.
    assert "exists already" in refusal(capsys, *given)
    assert Ledger().spent(counts.key) == to_units(0.25)
    assert main([*given, "--overwrite"]) == 0
    assert Ledger().spent(counts.key) == to_units(0.5)


def test_the_cap_holds(here, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.2")
    path = tmp_path / "made.gpkg"
    given = line(here, "points.csv", "--epsilon", "0.5", "--inside", "none", "-o", str(path))
    assert main(given) == 2
    assert "0.2" in capsys.readouterr().err
    assert not list(tmp_path.glob("*made*"))


@pytest.mark.parametrize(("points", "more", "says"), [
    ("points.csv", "--epsilon 1", "-o gb.gpkg"),
    ("points.csv", "--epsilon 1 -o made.csv", "made.gpkg"),
    ("points.csv", "--epsilon 0 -o made.gpkg", "psilon"),
    ("points.csv", "--epsilon 1 --preview 1 --inside nothing", "nside"),
    ("points.csv", "--epsilon 1 --preview 1 --own-share 1.5", "share"),
    ("points.csv", "--epsilon 1 --preview 1 --own-share much", "--own-share is 'much'"),
    ("points.csv", "--epsilon 1 --preview 1 --threshold -3", "hreshold"),
    ("points.csv", "--epsilon 1 --preview 1 --cell 500", "not a length"),
    ("points.csv", "--epsilon 1 --preview 1 --cell 1m", "cell"),
    ("points.csv", "--epsilon 1 --preview 1 --nearest 900km", "nearest"),
    ("points.csv", "--epsilon 1 --preview 1 --levels country,shire", "shire"),
    ("points.csv", "--epsilon 1 --preview 1 --levels country,", "--levels"),
    ("points.csv", "--epsilon 1 --preview 1 --areas nowhere.gpkg", "nowhere.gpkg"),
    ("points.csv", "--epsilon 1 --preview 1 --dask auto", "Parquet"),
    ("parts", "--epsilon 1 --preview 1 --dask here", "--dask is 'here'"),
    ("points.csv", "--epsilon 1 --preview 1 --contribution-bound 3", "--user"),
    ("points.csv", "--epsilon 1 --preview 1 --user who --contribution-bound 3", "who"),
    ("points.csv", "--epsilon 1 --preview much", "--preview"),
    ("missing.csv", "--epsilon 1 --preview 1", "missing.csv"),
    ("areas.gpkg", "--epsilon 1 --preview 1", "oint"),
])  # fmt: skip
def test_refusals(here, capsys, points, more, says):
    assert says in refusal(capsys, *line(here, points, *typed(more)))


def test_boundaries_that_are_points_are_refused(here, capsys):
    given = line(here, "points.csv", "--epsilon", "1", "--preview", "1")
    given[given.index("--areas") + 1] = str(here / "points.csv")
    assert "points.csv" in refusal(capsys, *given)


@pytest.fixture(scope="module")
def made(here):
    path = str(here / "asked.gpkg")
    given = line(here, "points.csv", "--epsilon", "1", "--preview", "5", "--inside", "ug")
    assert main([*given, "-o", path]) == 0
    return path


def test_areas_polygons_and_rectangles_are_answered(made, here, tmp_path, capsys):
    release = CountryRelease.load(made)
    paths = [path for path in release.windows.areas.paths if len(path) in (1, 3)][:4]
    asked = [word for path in paths for word in ("--area", "/".join(path))]
    assert main(["answer", made, *asked, "--format", "csv"]) == 0
    rows = [row.split(",") for row in capsys.readouterr().out.splitlines()[1:]]
    expected = release.answer(paths)
    np.testing.assert_allclose([float(row[1]) for row in rows], expected.value, rtol=1e-6)
    np.testing.assert_allclose([float(row[2]) for row in rows], expected.sd, rtol=1e-6)
    assert main(["answer", made, *asked, "-o", str(tmp_path / "a.geojson")]) == 0
    assert "4 answers were written" in capsys.readouterr().out
    x0, y0, x1, y1 = release.windows.grid.bounds
    corners = [str(each) for each in (x0, y0, (x0 + x1) / 2, y1)]
    assert main(["answer", made, "--rectangle", *corners]) == 0
    out, err = capsys.readouterr()
    value = release.answer([[float(each) for each in corners]]).value[0]
    assert f"{value:,.1f}" in out
    assert "counts of" in err
    assert main(["answer", made, "--polygons", str(here / "areas.gpkg")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(release.windows.areas)


@pytest.mark.parametrize(("more", "says"), [
    ("--area Nowhere", "Nowhere"),
    ("--area Nowhere --rectangle 0 0 1 1", "alone"),
    ("--area Nowhere --polygons areas.gpkg", "either"),
    ("", "no rectangle"),
    ("--from 0 0 1 1", "--area"),
])  # fmt: skip
def test_questions_that_are_none(made, capsys, more, says):
    assert says in refusal(capsys, "answer", made, *typed(more))


def test_a_package_of_something_else_is_no_release(here, capsys):
    assert "not a release of areas" in refusal(capsys, "answer", str(here / "areas.gpkg"))
