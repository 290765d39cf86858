"""What the lesson on dividing cells looks at: one level of a city, and four rules next to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.app.work.cache import Shelf
from explorer.teaching.refinement import Asked, Level, ask

Chosen = NDArray[np.bool_]
_ASKED: Shelf[Asked] = Shelf(12)


@dataclass(frozen=True, eq=False)
class Refined:
    """What the settings lead to.

    Attributes
    ----------
    rules : by name, which cells each divides, (v,)
    example : the ringed cell
    """

    data: CityData
    settings: Any
    asked: Asked
    level: Level
    rules: dict[str, Chosen]
    example: int

    @property
    def yours(self) -> Chosen:
        """Cells that the chosen H divides."""
        return self.rules["your H"]


def look(data: CityData, settings: Any, example: int, seed: int) -> Refined:
    """Ask about all levels, and divide the cells of one by several rules."""
    key = data.matrix.key, settings.people, settings.epsilon, seed
    answers = _ASKED.get(key, lambda: ask(data.matrix, settings.people, settings.epsilon, seed))
    level = answers.level(settings.level)
    nothing = np.zeros(len(level.true), dtype=np.bool_)
    rules = {
        "your H": level.by_h(settings.unevenness),
        "H as measured": level.by_h(level.forecast),
        "Eq. 6, paper": level.by_paper(),
        "none": nothing,
        "all": ~nothing,
        "those that gain": level.best(),
    }
    return Refined(data, settings, answers, level, rules, level.example(example))
