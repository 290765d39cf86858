"""The left drawer of Federated: whose places, how people are asked, how two maps are drawn."""

from __future__ import annotations

from typing import Any, ClassVar

from explorer.app.curator.drawn_drawer import DrawnDrawer


class FederatedDrawer(DrawnDrawer):
    """All controls of the Federated page; parameters as of `DrawnDrawer`."""

    WORDS: ClassVar[str] = "federated"
    OWN: ClassVar[str] = "Grid and own points"

    def data(self) -> list[Any]:
        """The city."""
        (chosen,) = self.mechanisms
        # There is one; its algorithms are a setting.
        chosen.menu.visible = False
        return ["About", "Figures", self.city, "City"]

    def grid(self) -> list[Any]:
        """Grid, and who a person is."""
        return [self.side, "Grid", self.bound, "What is protected", self.counted]

    def first(self) -> list[Any]:
        """What the private map shows."""
        return [self.tied.choose("right"), "Right map"]

    def agreed(self) -> list[Any]:
        """Whether the exact number of people may be published."""
        self.state.param.watch(lambda _event: self._drawing.forget(), "people_are_public")
        return [self.tied.check("people_are_public"), "Exact number"]

    def look(self) -> list[Any]:
        """Colours, partition, the left map."""
        choose, switch = self.tied.choose, self.tied.switch
        return [
            *(choose("scale"), "Colour scale", choose("palette")),
            *(switch("partition"), "Partition", self.base_map(), "Base map", choose("truth")),
        ]
