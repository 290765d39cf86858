"""The left drawer of Explore: what is counted, and how two maps are drawn."""

from __future__ import annotations

from typing import Any, ClassVar

from explorer.app.curator.drawn_drawer import DrawnDrawer


class ExploreDrawer(DrawnDrawer):
    """All controls of the Explore page; parameters as of `DrawnDrawer`."""

    WORDS: ClassVar[str] = "explore"
    OWN: ClassVar[str] = "Grid and own points"

    def data(self) -> list[Any]:
        """The city."""
        return ["About", "Figures", self.city, "City"]

    def grid(self) -> list[Any]:
        """Grid, and what is protected."""
        return [self.side, "Grid", self.bound, "What is protected", self.counted]

    def first(self) -> list[Any]:
        """What the right map shows."""
        return [self.tied.choose("right"), "Right map"]

    def look(self) -> list[Any]:
        """Colours, partition, the left map."""
        choose, switch = self.tied.choose, self.tied.switch
        return [
            *(choose("colour"), "Coloured by", choose("scale"), "Colour scale"),
            *(choose("palette"), "Colours", switch("partition"), "Partition"),
            *(choose("partition_over"), "Outlines", choose("truth"), "Left map"),
            *(choose("scale_from"), "Colour range", self.base_map(), "Base map"),
        ]
