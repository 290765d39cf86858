"""`dp-explorer federated`: releases of the Python API, booked and previewed."""

import json
from pathlib import Path

import numpy as np
import pytest

from explorer import Federated, FrequencyMatrix, Ledger, Release
from tests.commands.refusals import refusal
from tests.federated.town import town


@pytest.fixture(autouse=True)
def _city(tmp_path, monkeypatch):
    """A city of the catalogue that is a matrix."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))
    np.save("town.npy", town())
    Path("town.city.toml").write_text('title = "A town"\nfile = "town.npy"\n')


def test_it_is_that_of_the_python_api(run):
    settings = "--people 20000 --shard 2000 --algorithm mended --b 3"
    out = run(f"federated town --epsilon 0.5 --preview 7 {settings} -o f.parquet").out
    release = Release.load("f.parquet")
    expected = Federated(epsilon=0.5, people=20_000, shard=2_000, algorithm="mended", b=3)
    assert release.rounds.equals(expected.release(town(), rng=7).rounds)
    for text in (f"{release.heard[-1].cells:,}", "a preview spends nothing", "simulated"):
        assert text in out


def test_options_of_an_algorithm_are_flags(run):
    settings = "--algorithm paper --sigma both-rounds --k 3 --c auto --threshold auto"
    settings += " --given-up closed --bits 20 --level 3"
    out, err = run(f"federated town --epsilon 1 --preview 7 {settings} -o f.parquet")
    release = Release.load("f.parquet")
    assert repr(Federated.of(release)) == repr(
        Federated(algorithm="paper", sigma="both rounds", k=3, given_up="closed", bits=20, level=3)
    )
    assert release.facts["c"] == 0.1
    assert "--level has no effect with these settings" in err
    assert "--k has no effect" not in err
    rounds = [line.split() for line in out.splitlines() if line[:6].strip().isdigit()]
    assert [line[6] for line in rounds] == ["20"] * len(rounds)
    assert [line[-1] for line in rounds] == ["0"] * len(rounds), "nothing overflowed"


def test_an_earlier_release_is_asked_about(run, capsys):
    asked = "federated town --epsilon 1 --preview 7 -o"
    run(f"{asked} one.parquet")
    run(f"{asked} two.parquet --prior one.parquet")
    one, two = (Release.load(f"{name}.parquet") for name in ("one", "two"))
    assert [row.cells for row in two.heard] == [one.heard[-1].cells]
    assert two.facts["cells of an earlier release"] == one.heard[-1].cells
    again = "federated town --epsilon 1 -o three.parquet --people 50000 --prior one.parquet"
    said = refusal(capsys, *again.split())
    assert "a preview, whose cells are not private" in said
    refusal(capsys, *f"{asked} three.parquet --prior none.parquet".split())


def test_a_release_is_booked_before_it_is_drawn(run):
    run("federated town --people all --people-are-public --epsilon 1 -o f.parquet")
    release = Release.load("f.parquet")
    assert not release.preview
    assert release.facts["asked"] == town().sum()
    key = FrequencyMatrix(town(), release.grid).key
    assert [(row.units, row.mechanism) for row in Ledger().rows(key)] == [(10**12, "federated")]
    run("answer f.parquet --rectangle 0 0 32 32")


def test_a_declared_number_is_all_that_is_said_of_how_many_there_are(run):
    printed = [run("federated town --people 41000 --epsilon 1 -o f.parquet")]
    printed.append(run("info f.parquet --format json"))
    assert "41,000 people are declared" in printed[0].out
    facts = json.loads(printed[1].out)
    assert facts["people_taking_part"] == 41_000
    assert "41,000 people are declared" in facts["neighbours"]
    text = "".join(each for pair in printed for each in pair)
    assert str(town().sum()) not in text.replace(",", "")
    assert b"40000" not in Path("f.parquet").read_bytes()
    public = "federated town --people-are-public --epsilon 1 -o f.parquet --overwrite"
    assert "How many people take part is public" in run(public).out
    (_, row) = Ledger().rows(FrequencyMatrix(town(), Release.load("f.parquet").grid).key)
    assert "is public" in row.what
