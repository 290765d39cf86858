"""One more mechanism is one class and one line of the registry; the rest of the house finds it."""

import numpy as np
import param
import pytest

from explorer import FrequencyMatrix, Mechanism, Release
from explorer.cli import main
from explorer.evaluate import evaluate, workload
from explorer.inspection import decision, inspect
from explorer.mechanisms.decisions import Decision, public
from explorer.releases import inference
from explorer.scenario import Scenario
from explorer.teaching import neighbours
from explorer.teaching.previews import taught
from explorer.testing import registered


class Strips(Mechanism):
    """The map in strips from south to north, each counted."""

    key, title, summary = "strips", "Strips", "Strips from south to north, each counted."
    paper = "tests"
    colour, marker, dash = "sky", "star", "dashed"
    lesson_settings = {"strips": 2}  # noqa: RUF012

    strips = param.Integer(default=4, bounds=(1, 64), label="Strips", doc="Number of strips.")

    def plan(self, curator):
        """One count a strip."""
        strips = curator.open().grid(np.array([self.strips, 1]))
        curator.count(strips, curator.units, "strips")
        return inference.leaves(curator.transcript(), ["strips"])

    @property
    def shape_is_public(self):
        """Always."""
        return True

    def decision(self, node):
        """Public."""
        if node.is_leaf:
            return public("a strip", f"One of {self.strips} strips, counted whatever lies in it.")
        return public("cut into strips", "The shape is public.")


@pytest.fixture(autouse=True)
def strips():
    with registered(Strips):
        yield


@pytest.fixture
def matrix() -> FrequencyMatrix:
    return FrequencyMatrix.from_array(np.arange(64).reshape(8, 8))


def test_the_command_line_lists_it_and_takes_its_flags(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
    assert main(["mechanisms"]) == 0
    listed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "strips Strips from south to north, each counted. tests" in listed
    assert main(["mechanisms", "strips"]) == 0
    assert "--strips\n    Number of strips. (1 to 64; default 4)" in capsys.readouterr().out
    path = str(tmp_path / "map.parquet")
    words = [
        "release",
        "--city",
        "madeup",
        "--shape",
        "32",
        "--mechanism",
        "strips",
        "--strips",
        "3",
    ]
    assert main([*words, "--epsilon", "1", "--preview", "1", "-o", path]) == 0
    loaded = Release.load(path)
    assert loaded.n_leaves == loaded.parameters["strips"] == 3


def test_an_evaluation_draws_it_in_this_process_and_in_others(matrix) -> None:
    asked = {"epsilons": [1.0], "seeds": 2, "workloads": [workload("cells", (8, 8))]}
    here, there = (evaluate(matrix, ["strips"], **asked, jobs=jobs) for jobs in (1, 2))
    assert list(here["mechanism"]) == ["strips"] * len(here)
    assert list(here["value"]) == list(there["value"])


def test_its_decisions_are_its_own_and_a_file_says_the_same(matrix, tmp_path) -> None:
    release = Strips(epsilon=1.0).release(matrix, rng=1)
    wanted = Decision("public", "a strip", "One of 4 strips, counted whatever lies in it.")
    assert inspect(release, 1).decision == wanted
    release.save(tmp_path / "map.parquet")
    assert decision(Release.load(tmp_path / "map.parquet"), 1) == wanted


def test_a_scenario_holds_it_with_its_settings() -> None:
    one = Scenario(mechanisms=[{"strips": {"strips": 7}}], epsilon=0.5)
    (made,) = Scenario.from_yaml(one.to_yaml()).made()
    assert isinstance(made, Strips)
    assert made.settings() == {"strips": 7}
    assert Scenario.from_link(one.to_link()) == one


def test_two_neighbours_show_its_exact_distribution(matrix) -> None:
    made = taught("strips", 0.5)
    assert made.settings() == {"strips": 2}
    assert made.has_known_distribution
    cells = neighbours.leaf_at(made.release(matrix, rng=0), (0, 0))
    assert cells.tolist() == [[0, 0], [4, 8]]
    units = neighbours.draws_inside(made.release(matrix, rng=0), cells)
    assert neighbours.exact_distributions(units, 1, 10, 11).largest == pytest.approx(0.5)
