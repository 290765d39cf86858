"""Data of one's own: points with the extent that was declared for them, from a form or a cell."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from glob import has_magic
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import panel as pn

from explorer.app.boxes.released import is_release
from explorer.app.kit import ui
from explorer.app.kit.attempts import Attempts
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import finite
from explorer.app.kit.words import words
from explorer.app.work.foreign import Foreign
from explorer.errors import InputError, reworded
from explorer.grid.containers import LAYERS, PACKED, TABLES
from explorer.grid.countable import unread_users
from explorer.grid.grid import Grid
from explorer.grid.values import shown
from explorer.points.foreign import foreign_points
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import Points
from explorer.points.populations import (
    population_name,
    population_of_file,
    population_of_records,
)
from explorer.views.markup import safe_text

Read = TypeVar("Read")
# What `read_points` advises about a column that says how many each row represents.
_WEIGHT = re.compile(r"name it with weight=(['\"]).*?\1(?= to )")


@dataclass(frozen=True, eq=False)
class OwnPoints(Generic[Read]):
    """Points (or trips) of a visitor with the extent that was declared for them.

    Parameters
    ----------
    points : as read
    title : what to call them; safe to show
    extent : said by a person, never taken from points; None where other boundaries represent it
    file : what the file was called that they came in; "" where they came in none
    named : whose records they are, where someone has said it
    bound : how many records of each person count, 0 for single records; None where no one said it
    """

    points: Read
    title: str
    extent: Grid | None = None
    file: str = field(default="", kw_only=True)
    named: str = field(default="", kw_only=True)
    bound: int | None = field(default=None, kw_only=True)

    @property
    def population(self) -> str:
        """Whose records the ledger takes them to be: as named, or by the file, or by themselves.

        Raises
        ------
        InputError
            For a name that is none.
        """
        if self.named.strip():
            return population_name(self.named)
        return population_of_file(self.file) if self.file else population_of_records(self.points)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about how they were read, as the form of a file says it; not safe to show."""
        notes: tuple[str, ...] = tuple(self.points.notes)  # type: ignore[attr-defined]
        if not self.file:
            return notes
        return tuple(_WEIGHT.sub("name it as the weight column", note) for note in notes)

    def grid(self, side: int) -> Grid:
        """The declared extent with ``side`` x ``side`` cells."""
        if self.extent is None:
            raise InputError("Nobody has said which extent these points are to be counted on.")
        return Grid(self.extent.bounds, (side, side), self.extent.crs, self.title)


def is_key(source: Any) -> bool:
    """Whether what a page was given names data of the catalogue, and is no file.

    >>> is_key("madeup"), is_key("my.csv"), is_key("folder/points"), is_key([[1, 2]])
    (True, False, False, False)
    """
    if not isinstance(source, str):
        return False
    return not (Path(source).suffix or "/" in source or "\\" in source or has_magic(source))


def is_counts(source: Any) -> bool:
    """Whether something is a plain matrix of counts: numbers in rows of equal length.

    >>> is_counts(np.ones((4, 4))), is_counts([[1, 2], [3, 4]]), is_counts({"lon": [1.0]})
    (True, True, False)

    A pair of columns is points:

    >>> is_counts((np.array([1, 2]), np.array([3, 4])))
    False
    """
    rows = isinstance(source, list) and all(isinstance(row, list | tuple) for row in source)
    if not (rows or isinstance(source, np.ndarray)):
        return False
    try:
        array = np.asarray(source)
    except ValueError:
        return False
    return array.ndim == 2 and array.dtype.kind in "biuf"


def matrix_of(counts: Any, extent: Any = None) -> FrequencyMatrix:
    """A plain matrix of counts, row 0 in the south, on an extent of `Grid.of` or on cells."""
    grid = None if extent is None else Grid.of(extent, shape=np.shape(counts))
    return FrequencyMatrix.from_array(counts, grid)


def as_read(source: Any, kind: type[Read], user: str | None, read: Callable[..., Read]) -> Read:
    """Points or trips, read with a column of users unless they are read already.

    Raises
    ------
    InputError
        For a column of users of what is read already, and all that ``read`` refuses.
    """
    if not isinstance(source, kind):
        return read(source, user=user)
    if user is not None:
        raise InputError("These are read already: name their users where they are read.")
    return source


def refuse_unused(extent: Any, user: str | None, whose: str) -> None:
    """Nothing that someone says is let go in silence."""
    for what, value in (("An extent", extent), ("A column of users", user)):
        if value is not None:
            raise InputError(f"{what} is for points of your own, not for {whose}: leave it out.")


def own_points(source: Any, extent: Any, read: Callable[[Any], Read], what: str) -> OwnPoints[Read]:
    """Points or trips that a cell brought along, on an extent of `Grid.of`.

    Raises
    ------
    InputError
        Without an extent, for one that cannot be, and all that ``read`` refuses.
    """
    named = isinstance(source, str | PathLike)
    if extent is None and not named and not hasattr(source, "__len__"):
        # Advice on an extent would be about something else.
        raise InputError(
            f"{shown(source)} is nothing that this page shows: give {what} (a file, a frame, or "
            "read), counts, or a key of the catalogue."
        )
    if extent is None:
        raise InputError(
            f"The {what} need an extent, which is public: extent=(west, south, east, north) in "
            "degrees, or a boundary."
        )
    laid = extent if isinstance(extent, Grid) else Grid.of(extent, shape=2)
    if named and not Path(source).expanduser().exists():
        raise InputError(
            f"There is no file {str(source)[:200]!r}: check its name, or give a key of the "
            "catalogue (dp-explorer cities lists them)."
        )
    return OwnPoints(read(source), f"Your {what}", laid)


def refuse_release(source: Any) -> None:
    """A release has nothing exact to be next to it."""
    if is_release(source):
        raise InputError(
            "A release has no truth that this page could show beside it: see it with "
            "Explore(release)."
        )


MOST_BYTES = 200_000_000
#: The bound that is proposed where users are named.
USUAL_BOUND = 10
#: A compressed file of that size can hold billions of rows; these take about 1 GB.
MOST_ROWS = 20_000_000
ENDINGS = (*TABLES, *LAYERS, *PACKED)


def read_upload(
    data: bytes,
    filename: str,
    lon: str = "",
    lat: str = "",
    user: str = "",
    weight: str = "",
    crs: str = "",
    layer: str = "",
    **how: Any,
) -> Points:
    """Read uploaded bytes as points, in a process of their own.

    ``lon``, ``lat``, ``user`` and ``weight`` name columns; an empty place is guessed, an empty
    user or weight is none. ``crs`` is that of the coordinates, as `foreign_crs` takes it;
    ``layer`` names one of several layers, sheets or files of an archive.

    Raises
    ------
    InputError
        For an unknown ending, and as `foreign_points`, such as for more than `MOST_ROWS` rows.
    """
    named = {"lon": lon, "lat": lat, "user": user, "weight": weight, "crs": crs, "layer": layer}
    columns = {role: column or None for role, column in named.items()}
    return foreign_points(data, known_name(filename), columns, MOST_ROWS, **how)


def known_name(filename: str) -> str:
    """A name for an uploaded file by its ending: its own names nothing.

    Raises
    ------
    InputError
        For an unknown ending.
    """
    ending = Path(str(filename)).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            f"Files ending in “{safe_text(ending, 12)}” are not read: give one of "
            f"{', '.join(ENDINGS)}."
        )
    return f"upload{ending}"


class UploadForm:
    """The form for a visitor's own points; of other data a subclass says how they are read.

    Parameters
    ----------
    run : callable
        ``run(work, done)``: does ``work()`` in a thread and gives its result to ``done``; an
        InputError becomes a message.
    use : called with `OwnPoints` when a file has been read
    refused : shows a sentence
    units : what can be protected, its title to the contribution bound; 0 is single records
    """

    def __init__(
        self,
        run: Callable[[Callable[[], Any], Callable[[Any], None]], None],
        use: Callable[[OwnPoints[Any]], None],
        refused: Callable[[str], None],
        units: Mapping[str, int] = MappingProxyType({"each record": 0}),
    ) -> None:
        self._run, self._use, self._refused = run, use, refused
        self._attempts = Attempts()
        wide = {"sizing_mode": "stretch_width", "size": "small"}
        self.file = ui.Upload(
            MOST_BYTES,
            label=self.CHOOSE,
            accept=",".join(ENDINGS),
            uploaded_label="{filename} received",
            variant="outlined",
            **wide,
        )
        self.file.refused = refused
        place = self.extent(wide)
        self.user_column = ui.TextInput(label="User column, if any", **wide)
        #: What is protected: asked where users are known, or seem to be.
        offered = people_first(units)
        first = next(iter(offered.values()))
        self.unit = ui.Select(label="Protect", options=offered, value=first, visible=False, **wide)
        self.about_unit = html_pane(margin=(0, 10))
        # The column in which the file seems to name users, once it has been read.
        self._seen = ""
        self.weight_column = ui.TextInput(label="Weight column, if any", **wide)
        self.population = ui.TextInput(label="Population, if not the file's name", **wide)
        # Shown once a file could not be read: few need them.
        self.crs = ui.TextInput(label="CRS, such as EPSG:27700", visible=False, **wide)
        self.layer = ui.TextInput(label="Layer, sheet or file in it", visible=False, **wide)
        columns = (self.user_column, self.weight_column, *self.columns(wide))
        typed = (*place, *columns, self.crs, self.layer, self.population)
        for widget in (*typed, self.unit):
            widget.refused = refused
        button = ui.Button(
            label=f"Load these {self.WHAT}", variant="contained", on_click=self._load, **wide
        )
        self.user_column.param.watch(lambda event: self._ask_unit(event.new), "value_input")
        self.user_column.param.watch(lambda _event: self._ask_unit(), "value")
        for widget in (self.unit, self.weight_column):
            widget.param.watch(lambda _event: self._ask_unit(), "value")
        self.file.param.watch(lambda _event: self._ask_unit(detected=""), "value")
        self._ask_unit()
        after = typed.index(self.user_column) + 1
        typed = (*typed[:after], self.unit, *typed[after:], self.about_unit)
        self.view = pn.Column(
            *self.in_order(self.file, place),
            *typed[len(place) :],
            button,
            margin=0,
            sizing_mode="stretch_width",
        )

    #: What is loaded, and what the button for its file says.
    WHAT: ClassVar[str] = "points"
    CHOOSE: ClassVar[str] = "Choose a file"

    def extent(self, wide: dict[str, Any]) -> list[Any]:
        self.lon = ui.FloatInput(label="Centre longitude (degrees)", value=None, **wide)
        self.lat = ui.FloatInput(label="Centre latitude (degrees)", value=None, **wide)
        self.width = ui.FloatInput(label="Width (km)", value=20.0, **wide)
        return [self.lon, self.lat, self.width]

    def in_order(self, file: Any, place: list[Any]) -> list[Any]:
        """The file and what declares its extent, in the order in which a visitor thinks of them."""
        return [file, *place]

    def columns(self, wide: dict[str, Any]) -> list[Any]:
        self.lon_column = ui.TextInput(label="Longitude column", visible=False, **wide)
        self.lat_column = ui.TextInput(label="Latitude column", visible=False, **wide)
        return [self.lon_column, self.lat_column]

    def reader(self) -> Callable[..., Any]:
        """What reads the file with the columns that are named now, in a process of its own."""
        columns = self.named_columns()
        return lambda data, name, **how: read_upload(data, name, *columns, **how)

    def named_columns(self) -> list[str]:
        """Columns of longitude, latitude, user and weight, CRS and layer; empty for none."""
        columns = (self.lon_column, self.lat_column, self.user_column, self.weight_column)
        return [widget.value.strip() for widget in (*columns, self.crs, self.layer)]

    def ask_for_columns(self) -> None:
        """A file could not be read: its columns, CRS or layer may have to be named."""
        for widget in (self.lon_column, self.lat_column, self.crs, self.layer):
            widget.visible = True

    def in_field(self, name: str, value: str) -> str:
        """Where a column, the CRS or a layer is typed, for a sentence."""
        field = getattr(self, name if name in ("crs", "layer") else f"{name}_column", None)
        label = "“{}”".format(name if field is None else field.label.partition(",")[0])
        return f"“{value}” in {label}" if value else f"the field {label}"

    def order(self, data: bytes, name: str) -> Callable[..., OwnPoints[Any]]:
        """What reads the file with the extent that is typed now; takes how, as `read_apart`.

        Raises
        ------
        InputError
            Where something has not been said yet.
        """
        place = (self.lon.value, self.lat.value, self.width.value)
        if None in place:
            raise InputError(
                "Declare the map first: type the centre's longitude and latitude and the width. "
                f"They are public, so they must not be taken from the {self.WHAT}."
            )
        read = self.reader()

        def work(**how: Any) -> OwnPoints[Any]:
            lon, lat, width = map(finite, place, ("The longitude", "The latitude", "The width"))
            # The extent is checked before the file is opened.
            extent = Grid.around(lon, lat, width * 1000, shape=2)
            try:
                points = read(data, name, **how)
            except InputError as error:
                self.ask_for_columns()
                raise InputError(reworded(str(error), self.in_field)) from error
            return OwnPoints(points, f"Your {self.WHAT}", extent)

        return work

    @property
    def bound(self) -> int | None:
        """The contribution bound, 0 for single records; None where it was not asked for."""
        return int(self.unit.value) if self.unit.visible else None

    def _ask_unit(self, typed: str | None = None, detected: str | None = None) -> None:
        """Ask what is protected as soon as a column of users is named; loading confirms it.

        ``typed`` is what is in its field before it counts as entered; ``detected`` a column that
        the file seems to name users in.
        """
        self._seen = self._seen if detected is None else detected
        named = (self.user_column.value if typed is None else typed) or ""
        has_users = bool(named.strip() or self._seen)
        self.unit.visible = has_users
        title = next(
            title for title, option in self.unit.options.items() if option == self.unit.value
        )
        text = f"<p><b>Loading protects {html.escape(title)}.</b> {words('upload')['Unit']}</p>"
        weighed = self.weight_column.value.strip() and not named.strip()
        rows = f"<p>{words('upload')['Weight']}</p>" if weighed else ""
        put(self.about_unit, (text if has_users else "") + rows)

    def _load(self, _event: Any) -> None:
        data, name = self.file.value, self.file.filename
        with self._attempts.another():
            try:
                if not data:
                    raise InputError("No file has been chosen: choose one first.")
                work, whose = self.order(data, name), self.population.value
                bound = self.bound
                if bound and not self.user_column.value.strip():
                    raise InputError(
                        "To protect each person, name the column that says whose record it is; or "
                        "choose to protect each record."
                    )
                # A name that is none is refused before the file is opened.
                population_name(whose if whose.strip() else "any")
            except InputError as error:
                self._refused(str(error))
                return

        def named(**how: Any) -> OwnPoints[Any]:
            return replace(work(**how), file=Path(str(name)).name, named=whose, bound=bound)

        self._run(Foreign(named), self.loaded)

    def loaded(self, own_data: OwnPoints[Any]) -> None:
        """Use what has been read; where it seems to know users, ask first what is protected."""
        columns = unread_users(own_data.notes)
        if columns and own_data.bound is None:
            self.user_column.value = columns[0]
            self._ask_unit(detected=columns[0])
            self._refused(
                f"The column “{safe_text(columns[0], 40)}” seems to say whose records these are, "
                "so it stands as the user column now: load again to protect each person, or choose "
                "what is protected first."
            )
            return
        # The bytes have been read: no visitor's file stays in memory.
        self.file.clear()
        self._use(own_data)


def people_first(units: Mapping[str, int]) -> dict[str, int]:
    """Units of privacy with the usual bound in front and single records last.

    >>> people_first({"each record": 0, "at most 1": 1, "at most 10": 10})
    {'at most 10': 10, 'at most 1': 1, 'each record': 0}
    """

    def rank(unit: tuple[str, int]) -> tuple[bool, bool]:
        return unit[1] == 0, unit[1] != USUAL_BOUND

    return dict(sorted(units.items(), key=rank))
