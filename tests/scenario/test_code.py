"""Scenarios as scripts and notebooks: they run, and say what the app says, to the last bit."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import zip_longest

import nbformat
import numpy as np
import pytest

import explorer.cities
from explorer.app import Compare, Explore
from explorer.cities.city import City
from explorer.scenario import Box, Scenario, code, to_notebook, to_python
from tests.scenario.frame import run
from tests.scenarios import KEYS, runnable

PAIRS = list(zip_longest(KEYS[::2], KEYS[1::2], fillvalue=KEYS[0]))


def on_screen(scenario: Scenario) -> list[list[float]]:
    """The private answers that the app shows, of each mechanism; empty where it refuses."""
    if scenario.page == "compare":
        pair = Compare(scenario=scenario).pair
        return [] if pair is None else [each.private.tolist() for each in pair.answers]
    screen = Explore(scenario=scenario).screen
    return [] if screen is None else [screen.answers.private.tolist()]


def by_chance(seed: int, page: str, *keys: str) -> tuple[Scenario, list[list[float]]]:
    """A scenario that the mechanisms do not refuse, and what the app answers."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        scenario = runnable(rng, page, *keys)
        shown = on_screen(scenario)
        if shown:
            return scenario, shown
    raise AssertionError(f"{keys} refuse every setting")


@pytest.mark.parametrize("key", KEYS)
def test_the_script_of_each_mechanism_answers_as_the_app_does(key, capsys) -> None:
    scenario, shown = by_chance(KEYS.index(key), "explore", key)
    names = run(to_python(scenario))
    assert [names["answers"].value.tolist()] == shown
    printed = capsys.readouterr().out.splitlines()
    assert "Preview" in printed[0]
    for line, name, value in zip(printed[1:], ("Q1", 'The "old" town'), shown[0], strict=False):
        assert line.startswith(f"{name}: private {value:,.1f} ")


@pytest.mark.parametrize("keys", PAIRS[::2], ids="-".join)
def test_the_script_of_a_comparison_answers_as_the_app_does(keys) -> None:
    scenario, shown = by_chance(3, "compare", *keys)
    names = run(to_python(scenario))
    assert [names[each].value.tolist() for each in ("answers_a", "answers_b")] == shown


def test_the_script_runs_by_itself() -> None:
    scenario, shown = by_chance(8, "explore", "ag")
    done = subprocess.run(
        [sys.executable, "-c", to_python(scenario)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"Q1: private {shown[0][0]:,.1f} " in done.stdout


def test_the_notebook_of_a_lesson_ends_with_the_lesson() -> None:
    scenario = Scenario(page="learn", lesson="averaging")
    source = nbformat.reads(to_notebook(scenario), as_version=4).cells[-1].source
    assert source.endswith('Learn("madeup", lesson="averaging", side=1024)')
    scenario = Scenario(page="learn", lesson="averaging", lesson_step=3)
    source = nbformat.reads(to_notebook(scenario), as_version=4).cells[-1].source
    assert source.endswith('Learn("madeup", lesson="averaging", lesson_step=3, side=1024)')
    source = nbformat.reads(to_notebook(Scenario(page="learn")), as_version=4).cells[-1].source
    assert source.endswith('Learn("madeup", side=1024)')


def test_words_of_a_stranger_stay_words() -> None:
    nasty = 'x" + __import__("os").getcwd() + "'
    scenario = Scenario(title='"""\\ #', about=nasty, side=256, boxes=[Box(0, 0, 99, 99, nasty)])
    assert run(to_python(scenario))["names"] == [nasty]
    first = to_python(scenario).splitlines()[:2]
    assert first[0].startswith("# ")
    assert first[1].startswith("from explorer import")
    for cell in nbformat.reads(to_notebook(scenario), as_version=4).cells:
        if cell.cell_type == "code":
            compile(cell.source, "cell", "exec")


def test_the_script_of_a_release_draws_with_the_ledger_and_without_a_seed() -> None:
    scenario = Scenario(side=256, mechanisms=["uniform"], seed=None)
    assert "rng" not in to_python(scenario)
    names = run(to_python(scenario))
    assert not names["release"].preview
    ledger = names["Ledger"]()
    before = ledger.spent(names["matrix"].key)
    run(to_python(scenario))
    assert ledger.spent(names["matrix"].key) == before + 10**11
    assert "Each run draws a release anew" in to_notebook(scenario)


def test_a_matrix_keeps_the_cells_it_has(tmp_path, monkeypatch) -> None:
    np.save(tmp_path / "town.npy", np.arange(400).reshape(20, 20))
    town = City(key="town", title="Town", file=tmp_path / "town.npy")
    monkeypatch.setattr(code, "find", lambda _key: town)
    monkeypatch.setattr(explorer.cities, "cities", lambda: {"town": town})
    scenario = Scenario(city="town", mechanisms=["ug"], epsilon=1)
    text = to_python(scenario)
    assert "city.load()" in text
    assert "boxes = [[8, 9, 11.5, 11.5], [12.5, 12, 14.5, 14]]" in text
    names = run(text)
    assert names["matrix"].shape == (20, 20)
    assert len(names["answers"].value) == 2


def test_strings_of_files_are_text_in_a_notebook() -> None:
    evil = "<img src=x onerror=run()> [a](javascript:run()) `b` $c$ \\"
    made = Scenario(title=evil, about=evil)
    first = json.loads(to_notebook(made))["cells"][0]
    text = "".join(first["source"])
    assert text.count(r"\<img src=x onerror=run()\> \[a\](javascript:run()) \`b\` \$c\$ \\") == 2
