"""Names that outlive a version: data sets in ledgers, runs in stores, regions and stages in noise.

Another key of a matrix would make the ledger forget what was spent; another key of a region, or
another name of a stage, would make every preview another one.
"""

from __future__ import annotations

import json

import pytest

from explorer.evaluate import tasks
from tests.golden import kept, pins
from tests.golden.make import stages

KEYS = kept.read(kept.NUMBERS / "keys.json")
PREVIEW = kept.read(kept.NUMBERS / "preview.json")
DRAWN = sorted({name.partition(", ")[2] for name in PREVIEW if name.startswith("seed ")})


def test_a_ledger_knows_the_data_sets_of_before() -> None:
    assert pins.matrix_keys() == KEYS
    assert len(KEYS) == 5


def test_a_store_knows_the_runs_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    before = kept.read(kept.NUMBERS / "tasks.json")
    monkeypatch.setattr(tasks, "__version__", before["version"])
    assert pins.task_keys() == before["keys"]
    assert len(set(before["keys"].values())) == len(before["keys"]) == 30


def test_previews_draw_as_before_for_every_stage_and_region() -> None:
    now = json.loads(json.dumps(pins.preview(stages())))
    assert {name: value for name, value in now.items() if PREVIEW.get(name) != value} == {}
    assert now.keys() == PREVIEW.keys()


def test_every_stage_has_draws_of_its_own() -> None:
    assert len(DRAWN) >= 15
    seen = [tuple(value) for name, value in PREVIEW.items() if name.startswith("seed ")]
    assert len(set(seen)) == len(seen)
