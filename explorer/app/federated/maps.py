"""The two maps of Federated: those of Explore, with the marks of a round on the private one."""

from __future__ import annotations

from typing import Any

from explorer.app.curator.maps import MapPair
from explorer.app.kit.cell import WINDOW
from explorer.app.kit.maps import DOCK
from explorer.views.rounds import Marked, RoundMarks

#: What an open panel has of the window's height: with its words next to the maps it is one picture.
PANEL = f"max(300px, calc({WINDOW} * .36))"


class RoundMaps(MapPair):
    """Two linked maps over one grid.

    Parameters
    ----------
    beside : what is next to the maps where there is space, and below them where there is none
    *args : as of `MapPair`
    """

    def __init__(self, beside: Any, *args: Any) -> None:
        super().__init__(*args)
        self.put_beside(beside)
        self.round_marks = RoundMarks(self.right.figure, self.right.lines.boxes)

    def make_room(self, room: bool) -> None:
        """Shrink the maps so that a panel below them is in the window too, or grow again."""
        self._leave(PANEL if room else DOCK)

    def _leave(self, below: str) -> None:
        """The maps take what they can use of the width, and what is next to them the rest."""
        super()._leave(below)
        self.frame.styles = {**self.frame.styles, "flex": "1 1 100%"}

    def around(self, whole: str) -> dict[str, str]:
        """Not limited: there are texts next to the maps."""
        return {"flex": "1 1 100%"}

    def mark_round(self, marked: Marked | None) -> None:
        """Show what a round divided, gave up and could not tell from noise; None for nothing."""
        self.round_marks.show(marked)
        self.push()
