"""The left drawer of Explore: data, mechanism, privacy, random noise, view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn

from explorer.app.curator.drawer import Drawer, heading, wide_button
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.kit import ui


class ExploreDrawer(Drawer):
    """All controls of the Explore page.

    Parameters
    ----------
    parts : of the page
    drawing : what the buttons of releases act on
    changed : called after a change of a mechanism's setting
    again : called to show the kept release again
    upload : the form for the visitor's own points
    """

    def __init__(
        self,
        parts: PageParts,
        drawing: Drawing,
        changed: Callable[[], None],
        again: Callable[[], None],
        upload: Any,
    ) -> None:
        super().__init__(parts, "explore", changed)
        self._drawing = drawing
        self.save = ui.FileDownload(
            label="Save the release",
            filename="release.parquet",
            callback=drawing.saved,
            variant="outlined",
            visible=False,
            **ui.WIDE,
        )
        self.again = wide_button("Show the release again", again, visible=False)
        own = ui.Accordion(("Your own points", upload), dynamic=True, **ui.SECTION)
        (chosen,) = self.mechanisms
        draw = pn.Row(
            self.new_draw(),
            wide_button("Draw a release", drawing.press),
            sizing_mode="stretch_width",
            margin=0,
        )
        choose, switch = self.tied.choose, self.tied.switch
        self.fill(
            *("About", "Figures"),
            *(self.city, "City", self.side, "Grid", self.bound, "What is protected"),
            *(own, "Your own points"),
            heading("Mechanism and privacy"),
            *(chosen.menu, chosen.about, "Mechanism"),
            *(self.epsilon.view, "Epsilon", chosen.settings.view),
            heading("Random noise"),
            *(switch("frozen"), draw, self.save, self.again, "Random noise", "Draw a release"),
            heading("View"),
            *(choose("right"), "Right map", choose("scale"), "Colour scale", choose("palette")),
            *(switch("partition"), "Partition", choose("partition_over")),
            *(choose("truth"), choose("scale_from")),
        )

    def offer(self, screen: Screen) -> None:
        """Offer to save the kept release, and to show it where a preview is on screen."""
        kept = self._drawing.drawn is not None
        self.save.visible = kept
        self.again.visible = kept and screen.release.preview
