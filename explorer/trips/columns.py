"""Which columns of a table are the places of a trip: guessed from their names, never silently."""

from __future__ import annotations

import re
from collections.abc import Sequence

from explorer.errors import InputError
from explorer.points.columns import Place, candidates, find_place, in_words, listed

Choice = str | tuple[str, str]

# A name says which place it is by one of its words: "pickup" of "Pickup_longitude".
_WORDS = {
    "o": {"o", "orig", "origin", "pickup", "start", "from"},
    "d": {"d", "dest", "destination", "dropoff", "end", "to"},
}
_CODES = "; where they hold codes or names of areas, add the coordinates of the areas' centres"
_STOP = re.compile(r"(?:^|_)(?:s_?(\d+)|(?:stop|via)_?(\d*))(?:_|$)")


def find_places(
    names: Sequence[str], choices: Sequence[Choice] | None, metric: bool = False
) -> list[tuple[str, Place]]:
    """Return what each place is called and its columns.

    Parameters
    ----------
    names : sequence of str
        All columns of the table.
    choices : sequence of str or (str, str), optional
        Places in the order they are to have: "o", "s1", "s2", .., "d", other words for them
        ("pickup", "stop 2"), what is before lon and lat, or two columns. None means all that
        are recognised: the origin, the stops by number, the destination.
    metric : bool
        Whether columns in metres come before those in degrees.

    Raises
    ------
    InputError
        If a place is not there, two pairs of columns could be it, or it is named twice.

    Examples
    --------
    >>> table = ["Pickup_Longitude", "Pickup_Latitude", "stop2_lon", "stop2_lat", "to_x", "to_y"]
    >>> [(name, str(place)) for name, place in find_places(table, None)]
    [('o', "'Pickup_Longitude' and 'Pickup_Latitude'"), ('s2', "'stop2_lon' and 'stop2_lat'")]
    """
    pairs: dict[str, list[Place]] = {}
    for place in candidates(names, metric):
        pairs.setdefault(_part_of(place), []).append(place)
    if choices is None:
        recognised = [name for name in pairs if _is_known(name)]
        choices = [*sorted(recognised, key=_rank)]
        if not choices:
            raise InputError(
                "No columns of an origin or a destination were recognised; choose them with "
                f"places=[(lon, lat), ...] from {listed(names)}."
            )
    if not choices:
        raise InputError("No places are named; give some, such as places=('o', 'd').")
    places = [_find(names, choice, pairs) for choice in choices]
    if len(dict(places)) < len(places) or len({(p.lon, p.lat) for _, p in places}) < len(places):
        raise InputError("A place is named twice; give each place of a trip once.")
    return places


def said(name: str) -> str:
    """A place as part of a sentence.

    >>> said("o"), said("s2"), said("home")
    ('the origin', 'stop 2', "'home'")
    """
    if name in _WORDS:
        return "the origin" if name == "o" else "the destination"
    return f"stop {name[1:]}" if _is_known(name) else repr(name)


def _find(names: Sequence[str], choice: Choice, pairs: dict[str, list[Place]]) -> tuple[str, Place]:
    if not isinstance(choice, str):
        columns: object = choice
        if not (
            isinstance(columns, tuple | list) and [type(column) for column in columns] == [str] * 2
        ):
            raise InputError(f"{choice!r} is no place; give its name or its two columns.")
        place = find_place(names, *choice)
        return _part_of(place) or place.lon, place
    part = _part(in_words(choice))
    fitting = pairs.get(part, [])
    if len(fitting) == 1:
        return part, fitting[0]
    if fitting:
        raise InputError(
            f"More than one pair of columns could be {said(part)}: {listed(fitting)}; name the two "
            "columns in place of its name."
        )
    raise InputError(
        f"No columns of longitude and latitude were recognised as {said(part)}; name the two in "
        f"place of its name, the columns are {listed(names)}{'' if pairs else _CODES}."
    )


def _part_of(place: Place) -> str:
    """As `_part`, by the words of the columns."""
    part = _part(place.beside)
    split = _part(place.split_beside)
    return split if _is_known(split) and not _is_known(part) else part


def _part(words: str) -> str:
    """One of "o", "d", "s1", "s2", .. if words say so, else the words themselves."""
    words = words.replace("pick_up", "pickup").replace("drop_off", "dropoff")
    ends = [name for name, synonyms in _WORDS.items() if synonyms & set(words.split("_"))]
    if len(ends) == 1:
        return ends[0]
    stop = _STOP.search(words)
    if stop is None or ends:
        return words
    return f"s{int(stop[1] or stop[2] or 1)}"


def _is_known(name: str) -> bool:
    return name in _WORDS or re.fullmatch(r"s\d+", name) is not None


def _rank(name: str) -> tuple[int, int]:
    """Origin, stops by number, destination."""
    return (0, 0) if name == "o" else (2, 0) if name == "d" else (1, int(name[1:]))
