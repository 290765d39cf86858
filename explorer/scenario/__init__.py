"""Scenarios: one screen as one value, as a YAML file, as a link, as a script, as a notebook."""

from explorer.scenario.boxes import Box, Polygon, Row, example_boxes, row_of
from explorer.scenario.carried import SHARING, carried, given_back
from explorer.scenario.choices import BOUNDS, CELLS, GRID_SIDES, MAX_SEED, TRIP_SIDES
from explorer.scenario.code import to_notebook, to_python
from explorer.scenario.kinds import kind_of
from explorer.scenario.model import PAGES, VERSION, Scenario
from explorer.scenario.parts import AreaLooks, Choice, Looks, Pair, PeopleLooks, Sweep, TripLooks
from explorer.scenario.presets import presets, read_scenario
from explorer.scenario.story import Step, Story, read_screens

__all__ = [
    "BOUNDS",
    "CELLS",
    "GRID_SIDES",
    "MAX_SEED",
    "PAGES",
    "SHARING",
    "TRIP_SIDES",
    "VERSION",
    "AreaLooks",
    "Box",
    "Choice",
    "Looks",
    "Pair",
    "PeopleLooks",
    "Polygon",
    "Row",
    "Scenario",
    "Step",
    "Story",
    "Sweep",
    "TripLooks",
    "carried",
    "example_boxes",
    "given_back",
    "kind_of",
    "presets",
    "read_scenario",
    "read_screens",
    "row_of",
    "to_notebook",
    "to_python",
]
