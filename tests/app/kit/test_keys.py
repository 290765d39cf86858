"""Keys of a page: what a browser says is passed on, whatever a raw client says is not."""

import json

import pytest

from explorer.app.kit.browser import KEYS, Keys


@pytest.fixture
def pressed():
    found: list[tuple[str, bool]] = []
    keys = Keys(lambda key, far: found.append((key, far)))
    return found, keys


def say(keys: Keys, **said: object) -> None:
    keys.said.value = json.dumps(said)


def test_every_key_is_told(pressed) -> None:
    found, keys = pressed
    for number, key in enumerate(KEYS):
        say(keys, number=number, key=key, far=bool(number % 2))
    assert found == [(key, bool(number % 2)) for number, key in enumerate(KEYS)]


@pytest.mark.parametrize(
    "text", ["", "no json", "[]", "{}", '{"key": "F1", "far": false}', '{"key": "Delete"}', "9" * 9]
)
def test_what_is_no_key_is_nothing(pressed, text: str) -> None:
    found, keys = pressed
    keys.said.value = text
    assert found == []
