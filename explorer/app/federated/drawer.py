"""The left drawer of Federated: whose places, how people are asked, how two maps are drawn."""

from __future__ import annotations

import html
from functools import cached_property
from typing import Any, ClassVar

from explorer.app.curator.drawn_drawer import DrawnDrawer
from explorer.app.kit.html import html_pane, put
from explorer.errors import InputError


class FederatedDrawer(DrawnDrawer):
    """All controls of the Federated page; parameters as of `DrawnDrawer`."""

    WORDS: ClassVar[str] = "federated"
    OWN: ClassVar[str] = "Grid and own points"
    _matrix: Any = None

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
        """Whether the exact number of people may be published, and whom a release protects."""
        self.state.param.watch(lambda _event: self._ticked(), "people_are_public")
        return [self.tied.check("people_are_public"), "Exact number", self.promise]

    @cached_property
    def promise(self) -> Any:
        """Whom a release protects."""
        return html_pane(margin=(0, 10, 4, 10))

    def offer(self, screen: Any) -> None:
        """Also say whom a release of the people on screen would protect."""
        super().offer(screen)
        self._matrix = screen.data.matrix
        self._say_promise()

    def say_counted(self, data: Any) -> None:
        """Also say whom a release would protect, or that there are too many people, if shown."""
        super().say_counted(data)
        self._matrix = data.matrix
        self._say_promise()

    def _ticked(self) -> None:
        self._drawing.forget()
        self._say_promise()

    def _say_promise(self) -> None:
        # Whether more people are there than were declared is a fact of exact counts.
        if self._matrix is None or not self._parts.truth:
            put(self.promise, "")
            return
        try:
            sentence = f"A release protects {self._drawing.protects(self._matrix)}."
        except InputError as error:
            sentence = str(error)
        put(self.promise, f'<p class="help">{html.escape(sentence)}</p>')

    def look(self) -> list[Any]:
        """Colours, partition, the left map."""
        choose, switch = self.tied.choose, self.tied.switch
        return [
            *(choose("scale"), "Colour scale", choose("palette")),
            *(switch("partition"), "Partition", self.base_map(), "Base map", choose("truth")),
        ]
