"""Which columns of a table are the place: guessed from their names, never silently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.errors import InputError
from explorer.grid.countable import unread_users_note

# East, north; the first spelling that fits wins, so longer words stand before their beginnings.
_DEGREES = (("longitude", "latitude"), ("long", "lat"), ("lng", "lat"), ("lon", "lat"))
_LENGTHS = (("eastings", "northings"), ("easting", "northing"), ("x", "y"))
# Whose record a row is, in the words of `in_words`, alone or with words that only name it.
_WHOSE = {
    *("account", "cardholder", "client", "commuter", "customer", "device", "driver", "employee"),
    *("guest", "household", "imei", "imsi", "mac", "member", "msisdn", "participant", "passenger"),
    *(
        "patient",
        "person",
        "resident",
        "respondent",
        "rider",
        "subscriber",
        "traveler",
        "traveller",
    ),
    *("uid", "user", "username", "visitor"),
}
_NAMING = {
    *("anon", "anonymised", "anonymized", "anonymous", "code", "hash", "hashed", "id", "ids"),
    *("key", "name", "no", "nr", "num", "number", "pseudo", "pseudonym", "uuid"),
}
# How many a row stands for: words that say so, and words for what is counted.
_HOW_MANY = {
    *("cnt", "commuters", "count", "counts", "flow", "flows", "freq", "frequency", "jobs", "n"),
    *("num", "number", "passengers", "people", "persons", "qty", "quantity", "riders", "total"),
    *("trips", "visits", "weight", "weights", "workers"),
}
_COUNTED = {
    *("all", "avg", "daily", "event", "events", "expansion", "individual", "individuals", "job"),
    *("journey", "journeys", "observation", "observations", "obs", "occurrence", "occurrences"),
    *("of", "person", "point", "points", "record", "records", "row", "rows", "sample", "trip"),
    *("visit", "worker"),
}
_SHOWN = 6


@dataclass(frozen=True)
class Place:
    """The two columns of a place, and whether their names promise degrees."""

    lon: str
    lat: str
    degrees: bool

    def __str__(self) -> str:
        return f"{self.lon!r} and {self.lat!r}"

    @property
    def columns(self) -> tuple[str, str]:
        """Both, east first."""
        return self.lon, self.lat

    @property
    def beside(self) -> str:
        """The name without the word for east: which of several places this is.

        >>> Place("Start Station Longitude", "Start Station Latitude", True).beside
        'start_station'
        """
        for east, _ in (*_DEGREES, *_LENGTHS):
            around = _word(self.lon, east)
            if around is not None:
                return "_".join(word for word in around.replace("*", "").split("_") if word)
        return ""


def find_place(
    names: Sequence[str], lon: str | None = None, lat: str | None = None, metric: bool = False
) -> Place:
    """Return the columns to read as east and north.

    Parameters
    ----------
    names : sequence of str
        All columns of the table.
    lon, lat : str, optional
        Columns a person has chosen; with one of them the other is its counterpart.
    metric : bool
        Whether columns in metres come before those in degrees: their CRS is projected.

    Raises
    ------
    InputError
        If a chosen column is not there, no pair fits, or more than one does.

    Examples
    --------
    >>> str(find_place(["Pickup_Longitude", "Pickup_Latitude", "fare"]))
    "'Pickup_Longitude' and 'Pickup_Latitude'"
    >>> str(find_place(["o_lon", "o_lat", "d_lon", "d_lat"], lon="d_lon"))
    "'d_lon' and 'd_lat'"
    """
    for chosen in (lon, lat):
        if chosen is not None and chosen not in names:
            raise InputError(f"There is no column {chosen!r}; the columns are {listed(names)}.")
    if lon is not None and lat is not None:
        if lon == lat:
            raise InputError(f"Longitude and latitude are both {lon!r}; choose two columns.")
        return Place(lon, lat, any(_word(lon, east) is not None for east, _ in _DEGREES))
    pairs = candidates(names, metric)
    found = [p for p in pairs if (lon or p.lon) == p.lon and (lat or p.lat) == p.lat]
    if len(found) == 1:
        return found[0]
    if lon is not None or lat is not None:
        given, other = ("lon", "lat") if lon is not None else ("lat", "lon")
        raise InputError(
            f"No counterpart of column {lon or lat!r} was found; choose it with {other}=... "
            f"beside {given}=..., the columns are {listed(names)}."
        )
    if not found:
        raise InputError(
            "No columns of longitude and latitude were recognised; choose them with lon=..., "
            f"lat=... from {listed(names)}."
        )
    first = found[0]
    raise InputError(
        f"More than one pair of columns could be the place: {listed(found)}; choose one, for "
        f"example lon={first.lon!r}, lat={first.lat!r}."
    )


def candidates(names: Sequence[str], metric: bool = False) -> list[Place]:
    """Return every pair of columns that looks like a place; degrees, if there are any, alone.

    Where they are to be ``metric``, those in metres alone, if there are any.
    """
    by_key = {in_words(name): name for name in reversed(names)}
    for spellings in (_LENGTHS, _DEGREES) if metric else (_DEGREES, _LENGTHS):
        found = []
        for name in dict.fromkeys(names):
            for east, north in spellings:
                around = _word(name, east)
                counterpart = None if around is None else by_key.get(around.replace("*", north))
                if counterpart is not None and counterpart != name:
                    found.append(Place(name, counterpart, spellings is _DEGREES))
                    break
        if found:
            return found
    return []


def unused_users(names: Sequence[str], user: object) -> list[str]:
    """Sentences about columns that seem to say whose records these are, and are not read.

    Parameters
    ----------
    names : sequence of str
        All columns of the table.
    user : what was given as users; None if nothing was

    Returns
    -------
    list of str
        Empty where there is none, or users were given.

    Examples
    --------
    >>> unused_users(["lon", "lat", "User-ID"], None)
    ["The column 'User-ID' was not read: name it with user='User-ID' to protect users."]
    >>> unused_users(["lon", "lat", "end_user_type"], None), unused_users(["user"], "user")
    ([], [])
    >>> len(unused_users(["anon_driver_id", "userID", "id_user", "IMEI", "passenger_count"], None))
    4
    """
    return [unread_users_note(each) for each in names if user is None and _names_users(each)]


def _names_users(name: str) -> bool:
    """Whether a column's name says whose record a row is, and nothing else."""
    words = set(in_words(name).split("_"))
    whose = {word for word in words if word in _WHOSE or word.removesuffix("id") in _WHOSE}
    return bool(whose) and words <= whose | _NAMING


def unread_weights(names: Sequence[str], weight: object) -> list[str]:
    """Sentences about columns whose names say how many each row stands for, and are not read.

    Parameters
    ----------
    names : sequence of str
        Columns of the table, but for those of places.
    weight : what was given as weights; None if nothing was

    Returns
    -------
    list of str
        Empty where there is none, or weights were given.

    Examples
    --------
    >>> unread_weights(["lon", "lat", "count"], None)
    ["The column 'count' was not read: name it with weight='count' to count each row that often."]
    >>> unread_weights(["total_amount", "passenger_count", "house_number", "id"], None)
    []
    >>> len(unread_weights(["S000", "number_of_trips", "OBSERVATION COUNT", "n", "freq"], None))
    5
    """
    return [
        f"The column {name!r} was not read: name it with weight={name!r} to count each row that "
        "often."
        for name in names
        if weight is None and _says_how_many(name)
    ]


def _says_how_many(name: str) -> bool:
    """Whether a column's name says how many a row stands for, and nothing else."""
    words = set(in_words(name).split("_"))
    # S000 is the number of jobs in files of origins and destinations of the US Census.
    return words == {"s000"} or (bool(words & _HOW_MANY) and words <= _HOW_MANY | _COUNTED)


def in_words(name: str) -> str:
    """The words of a name in small letters, joined by underscores."""
    return "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())


def _word(name: str, word: str) -> str | None:
    """Return the name with a star where the word stands, or ``None`` if it does not.

    The word is one of those between underscores; three letters or more may also end the name
    ("pickuplon"). A star in the name itself only makes the counterpart unfindable.
    """
    key = in_words(name)
    parts = key.split("_")
    if word in parts:
        # The last one: "x_long" is not the same as "long_x", but "long_trip_long" ends in it.
        at = len(parts) - 1 - parts[::-1].index(word)
        return "_".join([*parts[:at], "*", *parts[at + 1 :]])
    if len(word) >= 3 and key.endswith(word):
        return key[: -len(word)] + "*"
    return None


def listed(names: Sequence[object]) -> str:
    """Return the first few names as part of a sentence."""
    shown = ", ".join(n if isinstance(n, str) else str(n) for n in names[:_SHOWN])
    more = len(names) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown or "none"
