"""Scenarios: one value for a screen, there and back as YAML and link, and safe from strangers."""

from __future__ import annotations

import base64
import json
import math
import time
import zlib

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.mechanisms import HTF
from explorer.scenario import (
    Box,
    Choice,
    Scenario,
    encoding,
    presets,
    to_python,
)
from tests.scenario.frame import ids, refuses

PLAIN = {"scenario": 1, "city": "madeup", "mechanisms": ["htf"], "epsilon": 0.1}


def test_a_link_is_short_and_fit_for_an_address() -> None:
    text = Scenario(seed=7, epsilon=0.5, look={"right": "difference"}).to_link()
    assert len(text) < 60
    assert encoding._CHARACTERS.fullmatch(text)
    many = Scenario(boxes=[Box(k, k, k + 10.123, k + 99.456, f"Box {k}") for k in range(200)])
    assert len(many.to_link()) < 8000
    assert Scenario.from_link(many.to_link()) == many


@pytest.mark.parametrize("name", ["1e-2", "yes", "1:30", "null", "0x1f", "~", "- a", "a: b", "#"])
def test_names_that_look_like_something_else_stay_names(name) -> None:
    one = Scenario(title=name, boxes=[Box(0, 0, 1, 1, name)])
    assert Scenario.from_yaml(one.to_yaml()) == one


def test_what_is_the_default_is_not_written() -> None:
    given_all = HTF(T=3, height=None, stop_count=10.0)
    one = Scenario(mechanisms=[given_all])
    assert one == Scenario()
    assert one.to_dict() == {
        "scenario": 1,
        "page": "explore",
        "city": "madeup",
        "side": 1024,
        "mechanisms": ["htf"],
        "epsilon": 0.1,
        "seed": 1,
    }
    assert Scenario(mechanisms=[HTF(T=5)]).mechanisms == (Choice("htf", (("T", 5),)),)


def test_a_release_has_no_seed() -> None:
    one = Scenario(seed=None)
    assert "seed" not in one.to_dict()
    assert one.to_dict()["release"] is True
    assert Scenario.from_link(one.to_link()).seed is None
    with pytest.raises(InputError, match="A release has no seed"):
        Scenario.from_dict({**PLAIN, "release": True, "seed": 3})
    assert "rng" not in to_python(one)


def test_edges_are_rounded_to_a_thousandth_and_stay_there() -> None:
    box = Box(0.12345, -0.0001, 2 / 3, 1)
    assert box.edges == (0.123, 0.0, 0.667, 1.0)
    assert math.copysign(1, box.south) == 1
    assert Box(*box.edges) == box


BAD = [
    ({"page": "home"}, "page of a scenario is 'home': choose one of explore, compare, learn"),
    ({"city": ""}, "names no city"),
    ({"side": 1000}, "grid side of a scenario is 1000: choose one of 256"),
    ({"epsilon": 0}, "epsilon of the scenario is 0: give a number, 0.000001 to 10"),
    ({"epsilon": math.nan}, "epsilon of a scenario is nan: give a finite number"),
    ({"epsilon": 10**5000}, "epsilon of a scenario is such a long number"),
    ({"seed": 2**31}, "seed"),
    ({"seed": None}, "seed of the scenario is empty"),
    ({"mechanisms": "htf"}, "entry 'mechanisms' of a scenario is 'htf': give a list"),
    ({"mechanisms": ["mean"]}, "mechanism of a scenario is 'mean': choose one of identity"),
    ({"mechanisms": [["htf"]]}, "mechanism of the scenario is a list"),
    ({"mechanisms": [{"htf": {}, "ug": {}}]}, "give a key such as htf"),
    ({"mechanisms": [{"htf": 3}]}, "settings of the mechanism 'htf' are 3"),
    (
        {"mechanisms": [{"htf": {"depth": 3}}]},
        "HTF has no parameter 'depth': it has epsilon, height",
    ),
    ({"mechanisms": [{"htf": {"T": 99}}]}, "T is 99: give a whole number, 1 to 20"),
    ({"mechanisms": [{"htf": {"T": 10**400}}]}, "T is such a long number"),
    ({"mechanisms": [{"htf": {"stop_rule": "x" * 50_000}}]}, "Stop rule is 'xxx"),
    ({"mechanisms": [{"htf": {"epsilon": 3}}]}, "Epsilon belongs to the whole scenario"),
    ({"mechanisms": ["htf", "ug"]}, "page explore has one mechanism"),
    ({"mechanisms": ["htf"], "page": "compare"}, "page compare has two mechanisms"),
    ({"lesson": "averaging"}, "Only a scenario of the page learn has a lesson"),
    ({"page": "learn", "lesson_step": 2}, "names a step of a lesson and no lesson"),
    (
        {"page": "learn", "lesson": "a", "lesson_step": 100},
        "step of the lesson of a scenario is 100",
    ),
    ({"boxes": 3}, "entry 'boxes' of a scenario is 3: give a list"),
    ({"boxes": [[0, 0, 1, 1]] * 201}, "has 201 boxes: give at most 200"),
    ({"boxes": [[0, 0, 1]]}, "four edges"),
    ({"boxes": [[0, 0, 0.0001, 1]]}, "has no area"),
    ({"boxes": [[0, 0, math.inf, 1]]}, "eastern edge of a box of a scenario is inf"),
    (
        {"boxes": [{"edges": [0, 0, 1, 1], "colour": "red"}]},
        "box of a scenario has an entry 'colour'",
    ),
    ({"boxes": [{"edges": [0, 0, 1, 1], "name": "x" * 41}]}, "longer than 40 characters"),
    ({"boxes": [{"edges": [0, 0, 1, 1], "name": "a\u202eb"}]}, "contains an invisible character"),
    ({"look": {"right": "left"}}, "look 'right' of a scenario is 'left': choose one of private"),
    ({"look": {"partition": 1}}, "give true or false"),
    ({"look": {"color": "red"}}, "look of a scenario has an entry 'color' that is unknown"),
    ({"sweep": {"seeds": 1}}, "number of seeds"),
    ({"sweep": {"mechanisms": ["mean"]}}, "mechanism in the sweep"),
    ({"sweep": {"at": 0.2}}, "sweep's 'at'"),
    ({"title": "x" * 81}, "title of a scenario is longer than 80"),
    ({"about": 3}, "sentence 'about' of a scenario is 3"),
    ({"colour": 1}, "scenario has an entry 'colour' that is unknown: it can have scenario, title"),
    ({"release": 1}, "give true or false"),
    ({"scenario": 2}, "has version 2 and this explorer reads version 1"),
    ({"scenario": True}, "has version True"),
]


@pytest.mark.parametrize(("change", "said"), BAD, ids=ids(BAD))
def test_every_bad_field_is_one_sentence_that_names_it(change, said) -> None:
    refuses("explore", {**PLAIN, **change}, said)


@pytest.mark.parametrize("other", [None, 3, "scenario", [], {}, {"page": "explore"}])
def test_what_is_no_scenario_is_refused(other) -> None:
    with pytest.raises(InputError, match="This is not a scenario"):
        Scenario.from_dict(other)


LAUGHS = "a: &a [x, x, x]\n" + "".join(
    f"{chr(98 + k)}: &{chr(98 + k)} [{', '.join([f'*{chr(97 + k)}'] * 9)}]\n" for k in range(9)
)
HOSTILE = {
    "a billion laughs": LAUGHS,
    "an endless circle": "scenario: &x [*x]",
    "an object": "!!python/object/apply:os.getcwd []",
    "deep lists": "[" * 5000 + "]" * 5000,
    "deep entries": "".join(" " * k + f"k{k}:\n" for k in range(200)),
    "a long number": f"scenario: 1\nseed: {'9' * 5000}",
    "a long version": f"scenario: 0x{'f' * 9000}",
    "no number": "scenario: 1\nepsilon: .nan",
    "a day that is none": "scenario: 1\ntitle: 2020-13-45",
    "a list as a key": "? [a]\n: b",
    "twice": "scenario: 1\nseed: 1\nseed: 2",
    "two documents": "scenario: 1\n---\nscenario: 1",
    "not YAML": "scenario: 1\n  page: [",
    "nothing": "",
    "too much": "#" * 100_001,
    "a control sign": "scenario: 1\ntitle: \x00",
    "not UTF-8": b"scenario: 1\ntitle: \xff\xfe",
    "another file": b"\x89PNG\r\n\x1a\n\x00\x00",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_yaml_is_refused_at_once_in_a_sentence(text) -> None:
    started = time.perf_counter()
    with pytest.raises(InputError) as refused:
        Scenario.from_yaml(text)
    # A file of 100 kB is parsed in about a second; what unfolds would take for ever.
    assert time.perf_counter() - started < 20
    assert 20 < len(str(refused.value)) < 400


def packed(data: bytes) -> str:
    """A link whose checks hold, whatever is in it."""
    packer = zlib.compressobj(9, wbits=-15, zdict=encoding._OFTEN)
    body = zlib.crc32(data).to_bytes(4, "big") + packer.compress(data) + packer.flush()
    return encoding._WAY + base64.urlsafe_b64encode(body).decode().rstrip("=")


def test_the_links_of_the_hostile_tests_would_open_if_they_were_good() -> None:
    assert Scenario.from_link(packed(json.dumps(PLAIN).encode())) == Scenario.from_dict(PLAIN)


HOSTILE_LINKS = {
    "nothing": "",
    "spaces": "a b",
    "markup": "<script>",
    "another alphabet": "aäöü",
    "not packed": "aAAAA",
    "another way": "b" + Scenario().to_link()[1:],
    "too long": "a" * 16_001,
    "a bomb": packed(b" " * 50_000_000),
    "more than the bound": packed(json.dumps({**PLAIN, "title": "x" * 64_000}).encode()),
    "no number": packed(b'{"scenario": 1, "epsilon": NaN}'),
    "infinity": packed(b'{"scenario": 1, "epsilon": -Infinity}'),
    "a long number": packed(b'{"scenario": 1, "seed": ' + b"9" * 5000 + b"}"),
    "deep lists": packed(b"[" * 60_000),
    "not UTF-8": packed(b'{"scenario": "\xff"}'),
    "a text": packed(b'"scenario"'),
    "boxes": packed(json.dumps({**PLAIN, "boxes": [[0, 0, 1, 1]] * 201}).encode()),
}


@pytest.mark.parametrize("text", HOSTILE_LINKS.values(), ids=HOSTILE_LINKS.keys())
def test_hostile_links_are_refused_in_a_sentence(text) -> None:
    with pytest.raises(InputError) as refused:
        Scenario.from_link(text)
    assert 20 < len(str(refused.value)) < 400


def test_a_bomb_is_not_unpacked_beyond_the_bound(monkeypatch) -> None:
    sizes = []
    real = zlib.decompressobj

    class Watched:
        def __init__(self, **how) -> None:
            self._inner = real(**how)

        def decompress(self, data, most):
            found = self._inner.decompress(data, most)
            sizes.append(len(found))
            return found

        def __getattr__(self, name):
            return getattr(self._inner, name)

    monkeypatch.setattr(encoding.zlib, "decompressobj", Watched)
    bomb = packed(b" " * 10_000_000)
    assert len(bomb) <= encoding.MOST_CHARACTERS
    with pytest.raises(InputError):
        Scenario.from_link(bomb)
    assert sizes == [encoding.MOST_LINK_BYTES]


def test_a_link_that_was_cut_or_changed_never_opens_as_something_else() -> None:
    whole = Scenario(seed=77, boxes=[Box(0, 0, 100, 100, "Mine")]).to_link()
    rng = np.random.default_rng(4)
    for end in range(len(whole)):
        with pytest.raises(InputError):
            Scenario.from_link(whole[:end])
    for _ in range(300):
        place, sign = int(rng.integers(len(whole))), "abcdefghXYZ019-_"[rng.integers(16)]
        changed = whole[:place] + sign + whole[place + 1 :]
        try:
            opened = Scenario.from_link(changed)
        except InputError:
            continue
        # The last sign of base 64 may carry bits that mean nothing.
        assert opened == Scenario.from_link(whole)


def test_a_screen_that_no_link_can_carry_is_refused_when_it_is_copied() -> None:
    rng = np.random.default_rng(1)
    signs = [chr(k) for k in range(0x4E00, 0x9000)]
    names = ["".join(rng.choice(signs, 40)) for _ in range(200)]
    corner = rng.uniform(0, 1e6, (200, 2)).tolist()
    boxes = [Box(x, y, x + 123.457, y + 77.123, n) for (x, y), n in zip(corner, names, strict=True)]
    with pytest.raises(InputError, match="save it as a file"):
        Scenario(boxes=boxes).to_link()
    text = Scenario(boxes=boxes).to_yaml()
    assert len(text) < encoding.MOST_BYTES
    assert len(Scenario.from_yaml(text).boxes) == 200


# Presets.


def test_a_teachers_folder_adds_scenarios_and_a_bad_file_is_named(tmp_path, monkeypatch) -> None:
    (tmp_path / "mine.yaml").write_text("scenario: 1\ntitle: Mine\nepsilon: 0.7\n")
    (tmp_path / "bad.yaml").write_text("scenario: 1\nepsilon: 99\n")
    (tmp_path / "notes.txt").write_text("not looked at")
    monkeypatch.setenv("EXPLORER_SCENARIOS", str(tmp_path))
    with pytest.warns(UserWarning, match=r"bad\.yaml is left out: The epsilon") as said:
        found = presets()
    assert len(said) == 1
    assert list(found)[-1] == "mine"
    assert found["mine"].epsilon == 0.7
    monkeypatch.setenv("EXPLORER_SCENARIOS", str(tmp_path / "missing"))
    assert "mine" not in presets()
