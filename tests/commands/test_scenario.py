"""dp-explorer scenario, and the scenario that the server begins with."""

import json

import pytest

from explorer.app import server as app_server
from explorer.cli import main
from explorer.errors import InputError
from explorer.scenario import Scenario, to_python

ONE = Scenario(side=256, mechanisms=[{"ug": {"grid_size": 5}}], epsilon=0.25, seed=3)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text(ONE.to_yaml(), "utf8")
    return str(path)


def test_it_prints_a_script_that_runs(file, capsys):
    assert main(["scenario", file]) == 0
    text = capsys.readouterr().out
    assert text == to_python(ONE)
    names: dict = {}
    exec(text, names)
    assert names["release"].n_leaves == 25


def test_it_prints_a_link_for_the_page(file, capsys):
    assert main(["scenario", file, "--to", "link"]) == 0
    page, _, link = capsys.readouterr().out.strip().partition("?s=")
    assert page == "explore"
    assert Scenario.from_link(link) == ONE


def test_a_scenario_of_trips_is_a_script_and_a_link_of_their_page(tmp_path, capsys):
    trips = Scenario(page="trips", side=16, mechanisms=["uniform"], seed=3)
    path = tmp_path / "trips.yaml"
    path.write_text(trips.to_yaml(), "utf8")
    assert main(["scenario", str(path)]) == 0
    assert capsys.readouterr().out == to_python(trips)
    assert main(["scenario", str(path), "--to", "link"]) == 0
    assert capsys.readouterr().out == f"trips?s={trips.to_link()}\n"


def test_it_saves_a_notebook_and_replaces_nothing_unasked(file, tmp_path, capsys):
    out = tmp_path / "one.ipynb"
    command = ["scenario", file, "--to", "notebook", "-o", str(out)]
    assert main(command) == 0
    assert json.loads(out.read_text("utf8"))["nbformat"] == 4
    assert main(command) == 2
    assert "exists already" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0
    assert main(["scenario", file, "-o", file, "--overwrite"]) == 2
    assert Scenario.from_yaml((tmp_path / "one.yaml").read_text("utf8")) == ONE


def test_serve_hands_the_scenario_to_the_server(file, monkeypatch, capsys):
    asked: dict = {}
    monkeypatch.setattr(app_server, "serve", lambda **how: asked.update(how))
    assert main(["serve", "--scenario", file, "--no-open"]) == 0
    assert asked["scenario"] == ONE
    assert main(["serve", "--scenario", file, "--city", "madeup"]) == 2
    assert "names its city" in capsys.readouterr().err


def test_the_server_begins_on_the_page_of_the_scenario():
    how = {"port": 0, "open": False, "warm": False, "start": False, "say": lambda _text: None}
    for page, lesson in (("explore", ""), ("compare", ""), ("learn", ""), ("learn", "averaging")):
        one = Scenario(page=page, lesson=lesson, side=256)
        app_server.serve(scenario=one, **how).stop()
    with pytest.raises(InputError, match="atlantis"):
        app_server.serve(scenario=Scenario(city="atlantis"), **how)
    with pytest.raises(InputError, match="lesson 'none', which is not here"):
        app_server.serve(scenario=Scenario(page="learn", lesson="none"), **how)
