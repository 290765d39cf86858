"""The page that ours is measured beside: plain Panel, 34 widgets, two figures and a table.

panel serve tests/benchmarks/start/stock_page.py --args native      (or: material)
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import panel as pn
from bokeh.plotting import figure

MATERIAL = "material" in sys.argv
if MATERIAL:
    import panel_material_ui as ui
else:
    ui = pn.widgets

pn.extension("tabulator")


def widgets() -> list[Any]:
    """34 widgets of the kinds that our drawer has."""
    sliders = [ui.FloatSlider(name=f"Slider {i}", start=0, end=1) for i in range(8)]
    selects = [ui.Select(name=f"Choice {i}", options=["one", "two", "three"]) for i in range(8)]
    texts = [ui.TextInput(name=f"Text {i}") for i in range(6)]
    checks = [ui.Checkbox(name=f"Check {i}") for i in range(6)]
    buttons = [ui.Button(name=f"Button {i}") for i in range(6)]
    return [*sliders, *selects, *texts, *checks, *buttons]


def map_figure(seed: int) -> Any:
    """A picture of 256 x 256 cells, 450 x 450 pixels on the screen."""
    cells = np.random.default_rng(seed).poisson(5, (256, 256)).astype(np.uint8)
    plot = figure(width=450, height=450, x_range=(0, 1), y_range=(0, 1))
    plot.image([cells], x=0, y=0, dw=1, dh=1)
    return pn.pane.Bokeh(plot)


table = pn.widgets.Tabulator(
    pd.DataFrame({"Box": ["A", "B", "C"], "True": [10, 20, 30], "Private": [11.5, 19.0, 31.2]}),
    show_index=False,
)
drawer = widgets()
main = pn.Column(pn.Row(map_figure(0), map_figure(1)), table)
if MATERIAL:
    ui.Page(title="Stock", sidebar=drawer, main=[main]).servable()
else:
    pn.template.MaterialTemplate(title="Stock", sidebar=drawer, main=[main]).servable()
