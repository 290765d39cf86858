"""One release to be published: what was drawn, what was booked, what a person says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.range_queries import RangeQueries
from explorer.publish.about import About
from explorer.publish.leaves import Leaves, leaves_of
from explorer.queries.range_files import RangeFile
from explorer.releases.release import Release
from explorer.releases.units import to_epsilon

Floats = NDArray[np.float64]
#: Boxes and polygons of a person's own that a report may have.
MOST_BOXES = 200
#: Whole numbers of the ledger's file have 64 bits, and what is spent is the sum of some.
_MOST_UNITS = 2**80
_UNNAMED = re.compile(r"(counts|records) [0-9a-f]{8,}")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Booking:
    """The row of the ledger that a release was drawn on, without what would tell of counts.

    Attributes
    ----------
    population : whose records they are, as the ledger has it
    time : UTC, ISO 8601
    mechanism : its key
    units : what it cost, in units of 10^-12 epsilon
    row : the ledger's name of the row, random, by which who has the ledger finds it
    spent_before : what was booked on the population before, in the same units
    """

    population: str
    time: str
    mechanism: str
    units: int
    row: str
    spent_before: int

    def __post_init__(self) -> None:
        facts: dict[str, Any] = vars(self)
        numbers = ("units", "spent_before")
        # It may come out of someone's file.
        typed = all(type(v) is (int if n in numbers else str) for n, v in facts.items())
        if not typed or not _HASH.fullmatch(self.row):
            raise ValueError("this is no row of a ledger")
        if not (1 <= self.units < _MOST_UNITS and 0 <= self.spent_before < _MOST_UNITS):
            raise ValueError("a budget is below zero, or more than a ledger holds")
        datetime.fromisoformat(self.time)

    @classmethod
    def of(cls, receipt: Any) -> Booking:
        """Of a row as the ledger gives it.

        Raises
        ------
        InputError
            For a population that no one has named: the ledger calls it by a hash of its records.
        """
        if _UNNAMED.fullmatch(receipt.population):
            raise InputError(
                "This population has no name but a hash of its records, which others could check "
                "guesses against: name it (--population) before a release of it is drawn."
            )
        return cls(
            receipt.population,
            receipt.time,
            receipt.mechanism,
            receipt.units,
            receipt.row,
            receipt.spent_before,
        )

    @property
    def date(self) -> str:
        """The day of the draw."""
        return datetime.fromisoformat(self.time).date().isoformat()

    def facts(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return dict(vars(self))


@dataclass(frozen=True)
class Method:
    """A mechanism in words: its name, one sentence about it, its source."""

    title: str
    summary: str
    paper: str

    @classmethod
    def of(cls, mechanism: Any) -> Method:
        """Of a class of mechanisms."""
        return cls(str(mechanism.title), str(mechanism.summary), str(mechanism.paper))


@dataclass(frozen=True, eq=False)
class Boxes:
    """A person's own boxes and polygons: what was asked, and how each is called."""

    asked: RangeQueries
    names: Sequence[str]

    def __post_init__(self) -> None:
        if len(self.names) > MOST_BOXES:
            raise InputError(
                f"A report has {MOST_BOXES} boxes at most, and these are {len(self.names):,}: "
                "publish with those that matter, the release answers any other."
            )

    @classmethod
    def of_file(cls, file: RangeFile) -> Boxes:
        """What a person's file asks; rows without a name get a number."""
        names = [name or f"Q{number}" for number, name in enumerate(file.names, 1)]
        return cls(RangeQueries(file.boxes, file.shapes), names)

    @classmethod
    def of(cls, facts: Sequence[Mapping[str, Any]]) -> Boxes | None:
        """From what `facts` gave; raises ValueError, KeyError or TypeError for anything else."""
        if not facts:
            return None
        boxes = np.array([fact["box"] for fact in facts], dtype=np.float64).reshape(-1, 4)
        try:
            shapes = [
                None if text["wkb"] is None else shapely.from_wkb(text["wkb"]) for text in facts
            ]
        except shapely.errors.ShapelyError as error:
            raise ValueError("a shape is damaged") from error
        return cls(RangeQueries(boxes, shapes), [str(fact["name"]) for fact in facts])

    def facts(self) -> list[dict[str, Any]]:
        """As JSON can hold it."""
        rows = zip(self.names, self.asked.boxes.tolist(), self.asked.shapes, strict=True)
        return [
            {
                "name": str(name),
                "box": box,
                "wkb": None if shape is None else shapely.to_wkb(shape, hex=True),
            }
            for name, box, shape in rows
        ]


@dataclass(frozen=True, eq=False)
class Published:
    """All that a folder says.

    Attributes
    ----------
    release : drawn with release-grade noise
    about : what a person says of it
    booking : its row in the ledger
    method : how it was drawn, in words
    boxes : a person's own, None for none
    """

    release: Release
    about: About
    booking: Booking
    method: Method
    boxes: Boxes | None = None
    leaves: Leaves = field(init=False)

    def __post_init__(self) -> None:
        check_publishable(self.release)
        if (self.release.mechanism, self.release.units) != (
            self.booking.mechanism,
            self.booking.units,
        ):
            raise InputError(
                "This release is not the one that was booked: its mechanism or its epsilon is "
                "another."
            )
        object.__setattr__(self, "leaves", leaves_of(self.release))

    @classmethod
    def of_manifest(cls, release: Release, manifest: Mapping[str, Any]) -> Published:
        """A release with what a manifest says of it.

        Raises
        ------
        InputError, ValueError, KeyError, TypeError, AttributeError
            For a manifest that is of something else, or damaged.
        """
        method = {name: str(manifest["method"][name]) for name in ("title", "summary", "paper")}
        return cls(
            release,
            About.of(manifest["about"]),
            Booking(**manifest["booking"]),
            Method(**method),
            Boxes.of(manifest["boxes"]),
        )

    @property
    def spent_after(self) -> float:
        """Epsilon that the population had spent with this release."""
        return to_epsilon(self.booking.spent_before + self.booking.units)

    def asked(self, boxes: Boxes | None) -> Published:
        """The same with other boxes."""
        return replace(self, boxes=boxes)


def check_publishable(release: Release) -> None:
    """Refuse what must not, or cannot, be published.

    Raises
    ------
    InputError
        For a preview, a release of trips or of a country, and one without a place on the Earth.
    """
    if release.preview:
        raise InputError("A preview is not private and must not be published: draw a release.")
    if release.kind != "grid" or release.unit not in ("point", "user"):
        raise InputError(
            "What is published is one map of points or users, drawn by a curator: save other "
            "releases as files."
        )
    if release.grid.crs is None:
        raise InputError(
            "This map is measured in cells and has no place on the Earth: publish one whose grid "
            "has a CRS."
        )
