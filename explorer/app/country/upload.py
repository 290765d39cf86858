"""A visitor's own country: a file of boundaries, a file of points, the columns of the levels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from explorer.app.country.data import OwnCountry
from explorer.app.curator.own import OwnPoints
from explorer.app.curator.upload import MOST_BYTES, UploadForm, read_upload
from explorer.app.kit import ui
from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.foreign import foreign_areas
from explorer.grid.containers import LAYERS
from explorer.grid.values import shown

#: What boundaries are read from.
ENDINGS = (*LAYERS, ".parquet", ".geoparquet", ".zip")


class CountryUploadForm(UploadForm):
    """The form for a visitor's own boundaries and points."""

    WHAT: ClassVar[str] = "points"
    CHOOSE: ClassVar[str] = "Choose points"

    def extent(self, wide: dict[str, Any]) -> list[Any]:
        """The boundaries are the extent: they are public and declare it."""
        self.boundaries = ui.Upload(
            MOST_BYTES,
            label="Choose boundaries",
            accept=",".join(ENDINGS),
            uploaded_label="{filename} received",
            variant="outlined",
            **wide,
        )
        self.boundaries.refused = self._refused
        self.levels = ui.TextInput(
            label="Columns of the levels, coarsest first", value="country,region,district", **wide
        )
        return [self.boundaries, self.levels]

    def in_order(self, file: Any, place: list[Any]) -> list[Any]:
        """Boundaries first: they are what points are counted in."""
        return [*place, file]

    def order(self, data: bytes, name: str) -> Callable[..., OwnPoints[Any]]:
        """What reads both files, one after the other; takes how, as `read_apart`.

        Raises
        ------
        InputError
            Where no boundaries have been chosen.
        """
        content, file = self.boundaries.value, self.boundaries.filename
        if not content:
            raise InputError("No boundaries have been chosen: choose their file first.")
        levels = [part.strip() for part in self.levels.value.split(",") if part.strip()]
        columns = self.named_columns()

        def work(**how: Any) -> OwnPoints[Any]:
            areas = read_areas(content, str(file), levels, **how)
            try:
                points = read_upload(data, name, *columns, **how)
            except InputError:
                self.ask_for_columns()
                raise
            return OwnCountry(points, "Your country", areas=areas)

        return work

    def loaded(self, own_data: OwnPoints[Any]) -> None:
        """Use what has been read."""
        self.boundaries.clear()
        super().loaded(own_data)


def read_areas(data: bytes, filename: str, levels: list[str], **how: Any) -> Areas:
    """Read uploaded boundaries, in a process of their own.

    Raises
    ------
    InputError
        For another ending, and as `foreign_areas`.
    """
    ending = Path(filename).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            f"Boundaries ending in {shown(ending)} are not read: give one of {', '.join(ENDINGS)}."
        )
    return foreign_areas(data, levels, **how)
