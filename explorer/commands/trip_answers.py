"""`dp-explorer answer` for releases of trips: one box for each place, empty means anywhere."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from explorer.commands.terminal import note, table
from explorer.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from explorer.grid.places import TripDomain

    Floats = NDArray[np.float64]

#: Flags that name a place by its position in the trip.
WORDS = ("from", "via", "to")
_ANYWHERE = "anywhere"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare questions that only releases of trips answer."""
    group = parser.add_argument_group("releases of trips")
    group.add_argument(
        "--place",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "FILE"),
        help="boxes of one place (o, d, ...), GeoJSON or CSV, row by row beside those of the "
        "others; can be repeated",
    )
    for word, what in zip(WORDS, ("the first place", "a stop", "the last place"), strict=True):
        again = "; once for each stop, in order" if word == "via" else ""
        group.add_argument(
            f"--{word}",
            dest=f"box {word}",
            nargs=4,
            type=float,
            action="append",
            metavar=("X0", "Y0", "X1", "Y1"),
            help=f"one question: the box on {what}; left out, it is anywhere{again}",
        )


def asked(arguments: argparse.Namespace) -> bool:
    """Whether any flag of `add_arguments` was typed."""
    return bool(arguments.place) or any(_typed(arguments, word) for word in WORDS)


def questions(arguments: argparse.Namespace, domain: TripDomain) -> tuple[Floats, list[str]]:
    """All boxes that are asked, (n, k, 4) with NaN for anywhere, and their names.

    Raises
    ------
    InputError
        For nothing to ask, or files that do not belong together.
    """
    import numpy as np

    from explorer.queries.shapes import boxes_of_degrees
    from explorer.queries.trip_files import read_trip_boxes

    k = len(domain.grids)
    if arguments.rectangle:
        raise InputError(
            "--rectangle asks a map of one place; ask trips with --from, --via, --to X0 Y0 X1 Y1."
        )
    boxes, names = np.zeros((0, k, 4)), list[str]()
    if arguments.rectangles is not None:
        boxes, names = read_trip_boxes(arguments.rectangles, domain)
    if arguments.place:
        more, called = _by_place(arguments, domain)
        boxes, names = np.concatenate([boxes, more]), names + called
    typed = {word: _typed(arguments, word) for word in WORDS}
    if any(typed.values()):
        single = np.full((1, k, 4), np.nan)
        for word, character in typed.items():
            for place, box in zip(_stands(word, len(character), domain), character, strict=True):
                degrees = (
                    boxes_of_degrees([box], domain.grids[place]) if arguments.lonlat else [box]
                )
                single[0, place] = degrees[0]
        boxes, names = np.concatenate([boxes, single]), [*names, f"Q{len(names) + 1}"]
    elif arguments.lonlat:
        raise InputError("--lonlat is about --from, --via and --to; a file says itself what it is.")
    if not len(boxes):
        raise InputError(
            "There is nothing to answer; give --from X0 Y0 X1 Y1 --to X0 Y0 X1 Y1, --rectangles "
            f"boxes.csv with columns such as {domain.names[0]}_x0, or --place NAME FILE."
        )
    return boxes, names


def lines(
    boxes: Floats, names: list[str], columns: dict[str, NDArray[np.generic]], domain: TripDomain
) -> str:
    """Aligned lines: a column a place, then the figures."""
    digits = 0 if domain.unit == "m" else 2
    header = ["name", *(f"{place} ({domain.unit})" for place in domain.names), *columns]
    rows = [
        [name, *(_box(box, digits) for box in row)]
        + [f"{v:,}" if v.dtype.kind == "i" else f"{v:,.1f}" for v in values]
        for name, row, *values in zip(names, boxes, *columns.values(), strict=True)
    ]
    return table(header, rows, left=1 + len(domain.names))


def note_outside(boxes: Floats, domain: TripDomain) -> None:
    """Say how many questions ask where nothing was counted."""
    import numpy as np

    cells = domain.to_cells(boxes)
    shape = np.array(domain.shape)
    outside = int(np.any((cells[:, 0] >= shape) | (cells[:, 1] <= 0), axis=1).sum())
    if outside:
        asks = "question asks" if outside == 1 else "questions ask"
        note(f"{outside:,} {asks} for a place outside its grid, where no trip counts: 0 there.")


def _by_place(arguments: argparse.Namespace, domain: TripDomain) -> tuple[Floats, list[str]]:
    from explorer.grid.frames import by_place, place_of
    from explorer.queries.trip_files import read_place

    boxes_of, called = {}, list[str]()
    for name, file in arguments.place:
        place = place_of(name, domain.names)
        if place in boxes_of:
            raise InputError(f"--place {name} is given twice; give the place once.")
        boxes_of[place], names = read_place(
            file, domain.grids[place], note=note if arguments.bounding_boxes else _refuse_shapes
        )
        called = called or names
    boxes = by_place({domain.names[p]: b for p, b in boxes_of.items()}, domain.names, domain.grids)
    return boxes.reshape(len(boxes), -1, 4), called


def _typed(arguments: argparse.Namespace, word: str) -> list[list[float]]:
    """The boxes that were typed after a flag, in order."""
    return getattr(arguments, f"box {word}") or []


def _stands(word: str, boxes: int, domain: TripDomain) -> range:
    """The places that a word means by position: as many as there are boxes."""
    k = len(domain.grids)
    places = {"from": range(1), "via": range(1, k - 1), "to": range(max(1, k - 1), k)}[word]
    if boxes and not places:
        raise InputError(
            f"--{word} does not go with the places {', '.join(domain.names)} of this release; "
            "leave it out."
        )
    if boxes not in (0, len(places)):
        raise InputError(
            f"--{word} is given {'once' if boxes == 1 else f'{boxes} times'} for "
            f"{', '.join(domain.names[place] for place in places)}; give it once for each, in "
            "order, or leave it out."
        )
    return places[:boxes]


def _box(box: Floats, digits: int) -> str:
    import numpy as np

    return _ANYWHERE if np.isnan(box).all() else " ".join(f"{edge:.{digits}f}" for edge in box)


def _refuse_shapes(sentence: str) -> None:
    raise InputError(
        f"{sentence.partition(': ')[0]}, and places of trips are boxes; ask the boxes around "
        "shapes with --bounding-boxes."
    )
