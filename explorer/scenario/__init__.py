"""Scenarios: one screen as one value, as a YAML file, as a link, as a script, as a notebook."""

from explorer.scenario.choices import BOUNDS, GRID_SIDES, MAX_SEED
from explorer.scenario.code import to_python
from explorer.scenario.model import PAGES, VERSION, Scenario
from explorer.scenario.notebook import to_notebook
from explorer.scenario.parts import (
    Box,
    Choice,
    Looks,
    Sweep,
    example_boxes,
)
from explorer.scenario.presets import presets, read_scenario

__all__ = [
    "BOUNDS",
    "GRID_SIDES",
    "MAX_SEED",
    "PAGES",
    "VERSION",
    "Box",
    "Choice",
    "Looks",
    "Scenario",
    "Sweep",
    "example_boxes",
    "presets",
    "read_scenario",
    "to_notebook",
    "to_python",
]
