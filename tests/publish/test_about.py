"""What a person has to say is asked once, kept, and never invented."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from explorer.errors import InputError
from explorer.publish.about import QUESTIONS, About, KeptAnswers, read
from explorer.publish.published import Booking
from explorer.publish.signing import PublisherKey, fingerprint, public_key, signer
from tests.publish.folders import ABOUT, published


def test_what_is_missing_is_asked_for_in_one_sentence() -> None:
    with pytest.raises(InputError) as refused:
        About.of({"title": "A", "curator": ""})
    said = str(refused.value)
    assert "\n" not in said
    for each in QUESTIONS:
        # Also whether something was left out: silence does not say that nothing was.
        assert (f"{each.name} (" in said) == (each.name != "title")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("sector", "Fishing", "choose one of"),
        ("tuned", "maybe", "choose one of"),
        ("why", "x" * 2001, "2,001 characters"),
        ("curator", ["a"], "is no text"),
        ("curators", "me", "did you mean 'curator'"),
    ],
)
def test_an_answer_that_is_none_is_refused(name, value, words) -> None:
    with pytest.raises(InputError, match=words):
        About.of({**ABOUT.facts(), name: value})


def test_answers_are_kept_with_their_population(tmp_path: Path) -> None:
    kept = KeptAnswers(tmp_path / "ledger.sqlite3")
    kept.keep("../../riders", ABOUT.facts())
    assert About.of(kept.of("../../riders")) == ABOUT
    assert kept.of("others") == {}
    (path,) = kept.folder.iterdir()
    assert path.parent == tmp_path / "ledger.about"
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("content", ["a: &x [1]\nb: *x\n", "- 1\n", "a: [", "x" * 100_001, "1: 2"])
def test_a_file_that_holds_no_answers_is_refused(content, tmp_path) -> None:
    path = tmp_path / "about.yaml"
    path.write_text(content)
    with pytest.raises(InputError):
        read(path)


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "publisher.key"
    key = PublisherKey(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert PublisherKey(path).public == key.public
    assert [each.name for each in path.parent.iterdir()] == ["publisher.key"]
    signature = key.sign(b"manifest")
    assert signer(signature, b"manifest") == key.public
    assert signer(signature, b"another") is None
    assert signer({**signature, "algorithm": "none"}, b"manifest") is None
    assert signer({**signature, "more": ""}, b"manifest") is None
    assert signer([], b"manifest") is None
    (tmp_path / "public.pem").write_text(key.public_pem())
    assert public_key(tmp_path / "public.pem") == key.public
    assert len(fingerprint(key.public)) == 39
    assert "PRIVATE" not in key.public_pem()


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_a_key_that_others_may_read_signs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "publisher.key"
    PublisherKey(path)
    path.chmod(0o644)
    with pytest.raises(InputError, match="read by others"):
        PublisherKey(path)
    path.chmod(0o600)
    path.write_text("no key")
    with pytest.raises(InputError, match="no publisher's key"):
        PublisherKey(path)
    with pytest.raises(InputError, match="holds no public key"):
        public_key(path)
    with pytest.raises(InputError, match="cannot be read"):
        public_key(tmp_path / "nowhere")


def test_a_hash_of_records_names_no_population_outside() -> None:
    booking = published().booking
    for name in ("counts " + "a" * 32, "records 0123456789ab"):
        receipt = type("Receipt", (), {**booking.facts(), "population": name, "chain": booking.row})
        with pytest.raises(InputError, match="name it"):
            Booking.of(receipt)
