"""`dp-explorer federated`: releases of the Python API, booked, previewed, refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from explorer import Federated, Release
from explorer.cli import main
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.ledger import Ledger
from explorer.releases.distributed import DistributedRelease
from tests.federated.town import town


@pytest.fixture
def city(tmp_path, monkeypatch):
    """A city of the catalogue that is a matrix, and a ledger of its own."""
    folder = tmp_path / "data"
    folder.mkdir()
    np.save(folder / "town.npy", town())
    (folder / "town.city.toml").write_text('title = "A town"\nfile = "town.npy"\n')
    monkeypatch.setenv("EXPLORER_DATA", str(folder))
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
    return "town"


def test_it_is_that_of_the_python_api(city, tmp_path, capsys):
    path = str(tmp_path / "f.parquet")
    settings = ["--people", "20000", "--shard", "2000", "--algorithm", "mended", "--b", "3"]
    given = ["federated", city, "--epsilon", "0.5", "--preview", "7", *settings, "-o", path]
    assert main(given) == 0
    release = Release.load(path)
    expected = Federated(epsilon=0.5, people=20_000, shard=2_000, algorithm="mended", b=3)
    assert isinstance(release, DistributedRelease)
    assert release.rounds.equals(expected.release(town(), rng=7).rounds)
    out = capsys.readouterr().out
    assert f"{release.heard[-1].cells:,}" in out
    assert "a preview spends nothing" in out
    assert "simulated" in out


def test_options_of_an_algorithm_are_flags(city, tmp_path, capsys):
    path = str(tmp_path / "f.parquet")
    settings = ["--algorithm", "paper", "--sigma", "both-rounds", "--k", "3", "--c", "auto"]
    settings += ["--threshold", "auto", "--given-up", "closed", "--bits", "20", "--level", "3"]
    given = ["federated", city, "--epsilon", "1", "--preview", "7", *settings, "-o", path]
    assert main(given) == 0
    release = Release.load(path)
    assert repr(Federated.of(release)) == repr(
        Federated(algorithm="paper", sigma="both rounds", k=3, given_up="closed", bits=20, level=3)
    )
    assert release.facts["c"] == 0.1
    said = capsys.readouterr()
    assert "--level has no effect with these settings" in said.err
    assert "--k has no effect" not in said.err
    rounds = [line.split() for line in said.out.splitlines() if line[:6].strip().isdigit()]
    assert [line[6] for line in rounds] == ["20"] * len(rounds)
    assert [line[-1] for line in rounds] == ["0"] * len(rounds), "nothing overflowed"


def test_an_earlier_release_is_asked_about(city, tmp_path, capsys):
    paths = [str(tmp_path / name) for name in ("one.parquet", "two.parquet")]
    given = ["federated", city, "--epsilon", "1", "--preview", "7"]
    assert main([*given, "-o", paths[0]]) == 0
    assert main([*given, "-o", paths[1], "--prior", paths[0]]) == 0
    one, two = (Release.load(path) for path in paths)
    assert isinstance(one, DistributedRelease)
    assert isinstance(two, DistributedRelease)
    assert [row.cells for row in two.heard] == [one.heard[-1].cells]
    assert two.facts["cells of an earlier release"] == one.heard[-1].cells
    capsys.readouterr()
    again = ["federated", city, "--epsilon", "1", "-o", str(tmp_path / "three.parquet")]
    again += ["--people", "50000"]
    assert main([*again, "--prior", paths[0]]) == 2
    assert "a preview, whose cells are not private" in capsys.readouterr().err
    assert main([*given, "--prior", str(tmp_path / "none.parquet")]) == 2


def test_a_release_is_booked_before_it_is_drawn(city, tmp_path):
    path = str(tmp_path / "f.parquet")
    given = ["federated", city, "--people", "all", "--epsilon", "1", "-o", path]
    assert main([*given, "--people-are-public"]) == 0
    release = Release.load(path)
    assert not release.preview
    assert release.facts["asked"] == town().sum()
    key = FrequencyMatrix(town(), release.grid).key
    assert [(row.units, row.mechanism) for row in Ledger().rows(key)] == [(10**12, "federated")]
    assert main(["answer", path, "--rectangle", "0", "0", "32", "32"]) == 0


def test_a_declared_number_is_all_that_is_said_of_how_many_there_are(city, tmp_path, capsys):
    path = str(tmp_path / "f.parquet")
    assert main(["federated", city, "--people", "41000", "--epsilon", "1", "-o", path]) == 0
    assert main(["info", path, "--format", "json"]) == 0
    said = capsys.readouterr()
    assert "41,000 people are declared" in said.out
    facts = json.loads(said.out[said.out.index("{") :])
    assert facts["people_taking_part"] == 41_000
    assert "41,000 people are declared" in facts["neighbours"]
    exact = str(town().sum())
    assert all(exact not in text.replace(",", "") for text in (said.out, said.err))
    assert b"40000" not in Path(path).read_bytes()
    assert main(["federated", city, "--people-are-public", "--epsilon", "1", "-o", path,
                 "--overwrite"]) == 0  # fmt: skip
    assert "How many people take part is public" in capsys.readouterr().out
    (_, row) = Ledger().rows(FrequencyMatrix(town(), Release.load(path).grid).key)
    assert "is public" in row.what


@pytest.mark.parametrize(("more", "says"), [
    (["--epsilon", "1"], "-o"),
    (["--epsilon", "0", "--preview", "1"], "psilon"),
    (["--epsilon", "1", "--preview", "1", "--depth", "30"], "epth"),
    (["--epsilon", "1", "--preview", "1", "--dropped", "1"], "ropped"),
    (["--epsilon", "1", "--preview", "1", "--people", "none"], "eople"),
    (["--epsilon", "1", "--preview", "1", "--algorithm", "best"], "lgorithm"),
    (["--epsilon", "1", "-o", "f.parquet", "--mode", "summed"], "--preview"),
    (["--epsilon", "1", "-o", "f.parquet", "--algorithm", "sampling"], "not private"),
    (["--epsilon", "1", "-o", "f.csv"], "GeoParquet"),
    (
        ["--epsilon", "1", "-o", "f.parquet", "--bits", "9", "--people-are-public"],
        "9 bits a number are too few",
    ),
    (["--epsilon", "1", "-o", "f.parquet"], "(--people N), or agree"),
    (["--epsilon", "1", "-o", "f.parquet", "--people", "all"], "(--people-are-public)"),
    (["--epsilon", "1", "-o", "f.parquet", "--people", "39999"], "more people than the 39,999"),
    (["--epsilon", "1", "--preview", "1", "--bits", "9.5"], "Bits is 9.5"),
    (["--epsilon", "1", "--preview", "1", "--shard", "20", "--corrupt", "0.8"], "honest"),
])  # fmt: skip
def test_what_cannot_be_is_refused(more, says, city, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["federated", city, *more]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "f.parquet").exists()


def test_a_city_that_is_not_there_is_refused(capsys):
    assert main(["federated", "atlantis", "--epsilon", "1", "--preview", "1"]) == 2
    assert "no city" in capsys.readouterr().err
