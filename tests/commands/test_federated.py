"""`dp-explorer federated`: releases of the Python API, booked, previewed, refused."""

from __future__ import annotations

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
def city(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A city of the catalogue that is a matrix, and a ledger of its own."""
    folder = tmp_path / "data"
    folder.mkdir()
    np.save(folder / "town.npy", town())
    (folder / "town.city.toml").write_text('title = "A town"\nfile = "town.npy"\n')
    monkeypatch.setenv("EXPLORER_DATA", str(folder))
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
    return "town"


def test_it_is_that_of_the_python_api(
    city: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_a_release_is_booked_before_it_is_drawn(city: str, tmp_path: Path) -> None:
    path = str(tmp_path / "f.parquet")
    given = ["federated", city, "--people", "all", "--epsilon", "1", "-o", path]
    assert main(given) == 0
    release = Release.load(path)
    assert not release.preview
    assert release.facts["asked"] == town().sum()
    key = FrequencyMatrix(town(), release.grid).key
    assert [(row.units, row.mechanism) for row in Ledger().rows(key)] == [(10**12, "federated")]
    assert main(["answer", path, "--rectangle", "0", "0", "32", "32"]) == 0


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--epsilon", "1"], "-o"),
        (["--epsilon", "0", "--preview", "1"], "psilon"),
        (["--epsilon", "1", "--preview", "1", "--depth", "30"], "epth"),
        (["--epsilon", "1", "--preview", "1", "--dropped", "1"], "ropped"),
        (["--epsilon", "1", "--preview", "1", "--people", "none"], "eople"),
        (["--epsilon", "1", "--preview", "1", "--algorithm", "best"], "lgorithm"),
        (["--epsilon", "1", "-o", "f.parquet", "--mode", "summed"], "--preview"),
        (["--epsilon", "1", "-o", "f.parquet", "--algorithm", "sampling"], "not private"),
        (["--epsilon", "1", "-o", "f.csv"], "GeoParquet"),
        (["--epsilon", "1", "--preview", "1", "--shard", "20", "--corrupt", "0.8"], "honest"),
    ],
)
def test_what_cannot_be_is_refused(
    more: list[str], says: str, city: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["federated", city, *more]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "f.parquet").exists()


def test_a_city_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["federated", "atlantis", "--epsilon", "1", "--preview", "1"]) == 2
    assert "no city" in capsys.readouterr().err
