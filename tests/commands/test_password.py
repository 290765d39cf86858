"""A line for the file of passwords: it holds the hash alone, and lets in who typed it."""

import io

import pytest

from explorer.app.work.passwords import read_passwords
from explorer.cli import main


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
        def isatty(self) -> bool:
            return True

    typed = ["one", "another", "same", "same"]
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("getpass.getpass", lambda _asked: typed.pop(0))
    assert main(["password", "ada"]) == 2
    assert "two passwords" in capsys.readouterr().err
    assert main(["password", "ada"]) == 0
    assert capsys.readouterr().out.startswith("ada:scrypt:")
