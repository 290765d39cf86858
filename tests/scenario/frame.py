"""What every kind of scenario must pass: there and back, one sentence, scripts that run."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import param
import pytest

from explorer.errors import InputError
from explorer.scenario import Scenario, to_notebook


def there_and_back(one: Scenario) -> None:
    """Whether it comes back from YAML, link and plain values, its mechanisms too."""
    again = Scenario.from_link(one.to_link())
    assert Scenario.from_yaml(one.to_yaml()) == one
    assert again == one
    assert Scenario.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    assert hash(again) == hash(one)
    assert [repr(made) for made in again.made()] == [repr(made) for made in one.made()]


def as_the_page_begins(page: str, state: Any) -> Scenario:
    """Whether a scenario that says its page alone is what the page begins with."""
    one = Scenario(page=page)
    assert Scenario.from_dict({"scenario": 1, "page": page}) == one
    assert (one.city, one.side) == (state.city, state.side)
    assert (one.epsilon, one.seed) == (state.epsilon, state.seed)
    assert one.contribution_bound == state.bound
    assert repr(one.made()[0]) == repr(state.instance())
    looks = one.look
    for name, declared in type(looks).declared.items():
        if isinstance(declared, param.Selector):
            assert list(declared.objects) == state.param[name].objects
        assert getattr(looks, name) == getattr(state, name)
    return one


def refuses(page: str, change: dict[str, Any], said: str) -> None:
    """Whether what does not belong together is refused in one sentence that says why."""
    with pytest.raises(InputError) as refused:
        Scenario.from_dict({"scenario": 1, "page": page, **change})
    sentence = str(refused.value)
    assert said in sentence
    assert len(sentence) < 400
    assert "\n" not in sentence


def ids(bad: list[tuple[dict[str, Any], str]]) -> list[str]:
    """Short names of the cases of `refuses`."""
    return [said[:40] for _, said in bad]


def run(text: str) -> dict[str, Any]:
    """What a script leaves behind."""
    names: dict[str, Any] = {}
    exec(compile(text, "script", "exec"), names)
    return names


def cells_of(one: Scenario) -> tuple[list[str], list[str]]:
    """The cells of its notebook that compute, and the lines of the last one, which is the page."""
    notebook = nbformat.reads(to_notebook(one), as_version=4)
    nbformat.validate(notebook)
    *numbers, _, screen = notebook.cells
    return (
        [each.source for each in numbers if each.cell_type == "code"],
        screen.source.splitlines(),
    )
