"""Boxes and polygons by hand: drawn, selected, moved and reshaped on maps, and by keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from explorer.app.boxes.rectangles import (
    Rectangles,
    dragged,
    kept,
    outline,
    polygon_of,
    shape_handles,
    was_dragged,
)
from explorer.app.kit.map_parts import Editing, Handles, Tag
from explorer.app.kit.maps import Maps
from explorer.app.kit.numbers import finite
from explorer.app.work.document import soon
from explorer.errors import InputError
from explorer.grid.range_queries import Queries, RangeQueries, edges_and_shapes

#: To the right and up, by the keys.
_ARROWS = {"ArrowLeft": (-1, 0), "ArrowRight": (1, 0), "ArrowUp": (0, 1), "ArrowDown": (0, -1)}
#: With Ctrl or Command, as the browser's listener says it.
_GROWING = {f"mod+{key.lower()}": way for key, way in _ARROWS.items()}


def show_on(maps: Maps, chosen: Rectangles) -> None:
    """Draw boxes and polygons on maps, with what can be dragged of the selected one."""
    shape = chosen.shapes[chosen.selected[0]] if len(chosen.selected) == 1 else None
    handles = None
    if shape is not None:
        handles = Handles(outline(shape), shape_handles(shape))
    show = chosen.names, chosen.selected, chosen.held, chosen.shapes, handles
    maps.highlight(chosen.boxes, *show)


class BoxEditing:
    """What a person does to the boxes on a page's maps.

    Parameters
    ----------
    rectangles : the boxes
    tags : from boxes and names to their tags on each map in turn; none before there is a picture
    changed : called after every act
    selected : called after another box was selected
    refuse : shows a sentence
    """

    def __init__(
        self,
        rectangles: Rectangles,
        tags: Callable[[Queries, Sequence[str]], list[list[Tag]]],
        changed: Callable[[], None],
        selected: Callable[[], None],
        refuse: Callable[[str], None],
    ) -> None:
        self._rectangles, self._tags = rectangles, tags
        self._changed, self._selected, self._refuse = changed, selected, refuse
        self.maps: Maps | None = None
        # The box that is being dragged and not answered yet; whether a move is to be shown.
        self._draft: tuple[int, Callable[[], Queries]] | None = None
        # The polygon that is being dragged, as it was at the start.
        self._held: tuple[int, Any] | None = None
        self._moving = False

    def take(self, maps: Maps) -> None:
        """Listen to other maps."""
        self.maps = maps
        acts = self._dragged, self.edited, self._clicked, self.sketched, self.reshaped
        maps.let_edit(Editing(*acts))

    def drawn(self, place: int, box: Sequence[Any]) -> None:
        """A rectangle (x0, y0, x1, y1) was dragged on a map; a click without a drag is none."""
        if self.maps is None or not was_dragged(box, self.maps.viewport(place)):
            return
        try:
            self._rectangles.draw(box, place)
        except InputError as error:
            self._refuse(str(error))
        self._changed()

    def pressed(self, key: str, far: bool) -> None:
        """A key that acts on the selected boxes; others do nothing.

        Escape lets go of them, Delete and Backspace delete them, arrows move them, and with Ctrl
        their right and upper sides alone.
        """
        if key == "Escape":
            self._rectangles.select([])
            self._changed()
        elif key in _ARROWS:
            self._nudge(_ARROWS[key], far)
        elif key in _GROWING:
            self._nudge(_GROWING[key], far, grow=True)
        elif key in ("Delete", "Backspace"):
            self._delete()

    def sketched(self, place: int, corners: Any, final: bool) -> None:
        """A polygon is being drawn by its corners, is finished, or given up (None)."""
        ended = final or corners is None
        self._drawing(place, None if ended else partial(self._sketch, corners))
        if not final or corners is None:
            return
        try:
            self._rectangles.add_shape(polygon_of(corners))
        except InputError as error:
            self._refuse(str(error))
        self._changed()

    def _dragged(self, place: int, box: Sequence[Any] | None) -> None:
        """A new box is being dragged, or with None no more."""
        self._drawing(place, None if box is None else partial(self._box, place, box))

    def _drawing(self, place: int, draft: Callable[[], Queries] | None) -> None:
        """Something is being drawn that asks ``draft``; of many messages the last is answered."""
        waits, self._draft = self._draft is not None, None if draft is None else (place, draft)
        if draft is None:
            # As what it takes away was sent: a change of this turn overtakes it on a busy server.
            soon(partial(self._end_draft, place))
        elif not waits:
            soon(self._answer_draft)

    def _end_draft(self, place: int) -> None:
        if self._draft is None and self.maps is not None:
            self.maps.draft(place, None)

    def _answer_draft(self) -> None:
        draft, self._draft = self._draft, None
        if draft is None or self.maps is None:
            return
        place, ask = draft
        # Where no such box can be drawn, its end says so.
        with suppress(InputError):
            queries = ask()
            boxes, _ = edges_and_shapes(queries)
            x0, y0, x1, y1 = (boxes[0] if boxes.ndim == 2 else boxes[0, place]).tolist()
            if x0 < x1 and y0 < y1:
                tags = self._tags(queries, [""])
                self.maps.draft(place, (x0, y0, x1, y1), [tag[0] for tag in tags])

    def _box(self, place: int, box: Sequence[Any]) -> Queries:
        chosen = self._rectangles
        rows = np.full((1, len(chosen.grids), 4), np.nan)
        if chosen.fills(place):
            # The box that is missing in the one selected row.
            rows = chosen.boxes[chosen.selected].reshape(rows.shape)
        rows[0, place] = [finite(edge, "An edge") for edge in box]
        return rows[:, 0] if rows.shape[1] == 1 else rows

    def _sketch(self, corners: Any) -> Queries:
        shape = kept(polygon_of(corners), self._rectangles.grid.bounds)
        return RangeQueries(np.array([shape.bounds]), [shape])

    def reshaped(self, place: int, corners: Any, final: bool) -> None:
        """The selected polygon is being dragged: by a corner, by a side, or all of it."""
        rows, chosen = self._rectangles.selected, self._rectangles
        shape = chosen.shapes[rows[0]] if len(rows) == 1 and chosen.held else None
        if shape is None:
            return
        if self._held is None or self._held[0] != rows[0]:
            self._held = rows[0], shape
        before = self._held[1]
        try:
            chosen.reshape(rows[0], dragged(before, corners, chosen.grid.bounds))
        except InputError as error:
            if final:
                self._refuse(str(error))
        if final:
            self._held = None
        self._go_on(place, final)

    def edited(self, place: int, box: Sequence[Any], final: bool) -> None:
        """The selected box is being dragged by its inside, a side or a corner."""
        rows = self._rectangles.selected
        if len(rows) != 1 or not self._rectangles.held:
            return
        try:
            self._rectangles.move(rows[0], [finite(edge, "An edge") for edge in box], place)
        except InputError as error:
            if final:
                self._refuse(str(error))
        self._go_on(place, final)

    def _go_on(self, place: int, final: bool) -> None:
        """Show a drag; the table at its end."""
        if final:
            self._changed()
        elif not self._moving:
            self._moving = True
            if self.maps is not None:
                # The leaves that it cut where it was.
                self.maps.mark(np.zeros((0, 4)), place)
            soon(self._moved)

    def _moved(self) -> None:
        """Of many messages of a drag the last is shown: boxes and tags, the table at its end."""
        self._moving = False
        if self.maps is None:
            return
        chosen = self._rectangles
        show_on(self.maps, chosen)
        with suppress(InputError):
            self.maps.say(self._tags(chosen.queries, chosen.names))

    def _clicked(self, place: int, x: Any, y: Any) -> None:
        """A click into a box selects it, one elsewhere none."""
        try:
            row = self._rectangles.at(finite(x, "A place"), finite(y, "A place"), place)
        except InputError:
            return
        chosen = [] if row is None else [row]
        if chosen != self._rectangles.selected or not self._rectangles.held:
            self._rectangles.select(chosen)
            self._selected()

    def _nudge(self, arrow: tuple[int, int], far: bool, grow: bool = False) -> None:
        """Move the selected boxes by a two-hundredth of what the map shows, or a twentieth.

        To ``grow`` is to move the right and the upper side alone.
        """
        if self.maps is None:
            return
        (right, up), part = arrow, 0.05 if far else 0.005
        for row in self._rectangles.selected:
            for place in range(len(self._rectangles.grids)):
                box = self._rectangles.boxes.reshape(len(self._rectangles), -1, 4)[row, place]
                view = self.maps.viewport(place)
                dx, dy = right * part * (view.x1 - view.x0), up * part * (view.y1 - view.y0)
                if np.isfinite(box).all():
                    with suppress(InputError):
                        moves = np.array([not grow, not grow, True, True])
                        self._rectangles.move(row, box + moves * np.array([dx, dy, dx, dy]), place)
        self._changed()

    def _delete(self) -> None:
        """Delete the boxes that are selected; Ctrl+Z brings them back."""
        for row in sorted(self._rectangles.selected, reverse=True):
            self._rectangles.remove(row)
        self._changed()
