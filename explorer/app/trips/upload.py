"""A visitor's own trips: a file, its places, and a declared extent for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from explorer.app.curator.upload import MOST_ROWS, UploadForm, known_name
from explorer.app.kit import ui
from explorer.errors import InputError
from explorer.trips.foreign import foreign_trips
from explorer.trips.trips import Trips

_PLACE = re.compile(r"o|d|s[0-9]{1,2}")


class TripUploadForm(UploadForm):
    """The form for a visitor's own trips."""

    WHAT: ClassVar[str] = "trips"

    def columns(self, wide: dict[str, Any]) -> list[Any]:
        """Which places of a trip there are."""
        self.places = ui.TextInput(label="Places (o, s1, s2, .., d)", value="o,d", **wide)
        return [self.places]

    def reader(self) -> Callable[..., Any]:
        """What reads the file with the places that are named now."""
        fields = {"user": self.user_column, "weight": self.weight_column}
        fields |= {"crs": self.crs, "layer": self.layer}
        columns = {role: field.value.strip() or None for role, field in fields.items()}
        return partial(_read, places=self.places.value.strip() or "o,d", columns=columns)

    def ask_for_columns(self) -> None:
        """The places are in the open; the CRS or the layer may have to be named."""
        self.crs.visible = self.layer.visible = True


def _read(data: bytes, filename: str, places: str, columns: dict[str, Any], **how: Any) -> Trips:
    named = [part.strip() for part in places.split(",")]
    if len(named) < 2 or not all(map(_PLACE.fullmatch, named)):
        raise InputError(
            "A trip has two or more places here, called o, d and s1, s2, .. for stops: name them "
            "such as o,d or o,s1,d, and the columns of the file o_lon, o_lat and so on."
        )
    return foreign_trips(data, known_name(filename), named, columns, MOST_ROWS, **how)
