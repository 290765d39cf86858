"""A panel that is built when it is first opened: most visitors open few, and each takes time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import panel as pn

from explorer.app.closer import CloserPanel
from explorer.app.screen import Screen

Panel = TypeVar("Panel", bound=CloserPanel)


class Later(Generic[Panel]):
    """Stands in for the panel that ``make`` builds.

    Attributes
    ----------
    panel : the panel, None before it has been opened
    """

    def __init__(self, make: Callable[[], Panel]) -> None:
        self._make = make
        self.panel: Panel | None = None
        self.view = pn.Column(sizing_mode="stretch_width", margin=0)

    def show(self, screen: Screen) -> None:
        """Build the panel if this is the first time, and let it look at ``screen``."""
        if self.panel is None:
            self.panel = self._make()
            self.view.objects = [self.panel.view]
        self.panel.show(screen)

    def selected(self) -> None:
        """The boxes, or the rows selected in their table, have changed."""
        if self.panel is not None:
            self.panel.selected()

    def hide(self) -> None:
        """Another panel is opened, or none."""
        if self.panel is not None:
            self.panel.hide()
