"""A file of names and passwords: for its owner alone, and never repeated."""

import hashlib

import pytest

from explorer.app.work import passwords as module
from explorer.app.work.passwords import hashed, read_passwords
from explorer.errors import InputError


@pytest.fixture
def written(tmp_path):
    def write(text: str | bytes, mode: int = 0o600):
        path = tmp_path / "people"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        return path

    return write


def test_names_have_their_passwords_plain_or_hashed(written) -> None:
    path = written(f"# people\nada:a plain: one \n\nbob:{hashed('Straße 7')}\n")
    assert "Straße" not in path.read_text()
    known = read_passwords(path)
    assert len(known) == 2
    assert known.right("ada", "a plain: one ")
    assert known.right("bob", "Straße 7")
    for name, password in (
        ("ada", "a plain: one"),
        ("ada", ""),
        ("bob", "straße 7"),
        ("bob", path.read_text().rpartition("bob:")[2].strip()),
        ("# people", ""),
        ("eve", "Straße 7"),
        ("", ""),
    ):
        assert not known.right(name, password), (name, password)


def test_a_password_is_hashed_with_a_salt_of_its_own() -> None:
    one, other = hashed("the same"), hashed("the same")
    assert one != other
    # As Werkzeug writes it, so that other programs can make one.
    _, cost, block, lanes = one.split("$")[0].split(":")
    _, salt, found = one.split("$")
    again = hashlib.scrypt(
        b"the same", salt=salt.encode(), n=int(cost), r=int(block), p=int(lanes), maxmem=2**26
    )
    assert again.hex() == found


def test_an_unknown_name_is_refused_by_the_same_work(written, monkeypatch) -> None:
    known = read_passwords(written(f"bob:{hashed('one')}\n"))
    done, plain = [], module._scrypt
    monkeypatch.setattr(module, "_scrypt", lambda *given: done.append(1) or plain(*given))
    assert not known.right("bob", "two")
    assert not known.right("eve", "two")
    assert len(done) == 2


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_can_read_or_change_is_refused(written, mode) -> None:
    path = written("ada:secret\n", mode)
    with pytest.raises(InputError, match="Others than its owner") as said:
        read_passwords(path)
    assert "secret" not in str(said.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ada:geheim\nhunter2 and no colon\n", "Line 2 of the file of passwords is not NAME"),
        ("ada lovelace:geheim\n", "Line 1"),
        (":geheim\n", "Line 1"),
        ("ada:geheim\nada:geheim2\n", "Line 2 .* stands in it already"),
        ("ada:\n", "empty"),
        (f"ada:{'geheim' * 50}\n", "more than 200"),
        ("ada:scrypt:geheim\n", "its hash"),
        (f"ada:scrypt:1048576:8:1$salt${'0' * 128}\n", "hash|more than"),
        (f"ada:scrypt:32767:8:1$salt${'0' * 128}\n", "its hash"),
        ("", "no name in it"),
        (b"\xff\xfe\x00geheim", "no text"),
    ],
)
def test_a_bad_file_is_one_sentence_that_repeats_no_password(written, text, sentence) -> None:
    with pytest.raises(InputError, match=sentence) as said:
        read_passwords(written(text))
    assert "geheim" not in str(said.value)
    assert "hunter2" not in str(said.value)


def test_what_is_no_file_is_one_sentence(tmp_path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_passwords(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"cannot be read|is not a file"):
        read_passwords(tmp_path)
