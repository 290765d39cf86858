"""A small town whose people are asked, and a page of it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer import FrequencyMatrix, Grid
from explorer.app import Federated
from tests.federated.town import town

PEOPLE = 40_000
KEY = "a-town-of-people"


@cache
def counts() -> FrequencyMatrix:
    """Half of its people along a street, half in a suburb."""
    grid = Grid.around(2.35, 48.85, 8000, shape=64, name="Test <town>")
    return FrequencyMatrix.from_array(town(64, PEOPLE), grid)


def new_page(**choices: Any) -> Federated:
    """A page of it."""
    return Federated(counts(), **{"shard": 1_000, "depth": 6, **choices})


def put_into_catalogue(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The town is a city of the catalogue, `KEY`: counts alone, on the cells that it has."""
    np.save(folder / "town.npy", counts().counts)
    (folder / f"{KEY}.city.toml").write_text('title = "A town of people"\nfile = "town.npy"\n')
    monkeypatch.setenv("EXPLORER_DATA", str(folder))
