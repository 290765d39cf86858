"""dp-explorer scenario, and the scenario that the server begins with."""

import io
import json

import pytest

from explorer import InputError
from explorer.app import server as app_server
from explorer.app.work.passwords import read_passwords
from explorer.cli import main
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
    names = {}
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
    asked = {}
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


# A line for the file of passwords: it holds the hash alone, and lets in who typed it.


def test_a_line_lets_in_who_knows_the_password(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("a secret: with spaces \nmore\n"))
    assert main(["password", "ada"]) == 0
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err
    path = tmp_path / "people"
    path.write_text(said.out)
    path.chmod(0o600)
    assert read_passwords(path).right("ada", "a secret: with spaces ")


@pytest.mark.parametrize(
    ("name", "typed", "sentence"),
    [("ada lovelace", "x\n", "not a name"), ("ada", "\n", "empty"), ("ada", "", "empty")],
)
def test_what_is_none_is_refused(name, typed, sentence, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert main(["password", name]) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.out == ""


def test_on_a_terminal_it_is_typed_twice_and_not_shown(capsys, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    typed = ["one", "another", "same", "same"]
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("getpass.getpass", lambda _asked: typed.pop(0))
    assert main(["password", "ada"]) == 2
    assert "two passwords" in capsys.readouterr().err
    assert main(["password", "ada"]) == 0
    assert capsys.readouterr().out.startswith("ada:scrypt:")
