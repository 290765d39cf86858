"""Which columns of a table are the place, whose it is and how many: by their names, never silently.

A name is divided at blanks, signs, digits and capital letters. Formats such as dBase cut it
after eight or ten letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.errors import InputError
from explorer.grid.countable import unread_users_note

Spellings = tuple[tuple[str, str], ...]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# East, north; the first spelling that fits wins, so longer words are before their beginnings.
_DEGREES = (("longitude", "latitude"), ("long", "lat"), ("lng", "lat"), ("lon", "lat"))
_LENGTHS = (("eastings", "northings"), ("easting", "northing"), ("x", "y"))
# Cut names, slips, other languages, and words of one letter: where none of the others fits.
_MORE_DEGREES = (
    *(("longitude"[:end], "latitude"[:end]) for end in (8, 7, 6, 5, 4, 2)),
    *((east, north) for east in ("longitude", "longtitude") for north in ("lattitude", "latitude")),
    *(("longitude", "lat"), ("long", "latitude"), ("lng", "latitude"), ("lon", "latitude")),
    *(("longitud", "latitud"), ("longitudine", "latitudine"), ("lengtegraad", "breedtegraad")),
    *(("längengrad", "breitengrad"), ("laengengrad", "breitengrad"), ("lengdegrad", "breddegrad")),
    *(("længdegrad", "breddegrad"), ("laengdegrad", "breddegrad")),
    *(("długość", "szerokość"), ("dlugosc", "szerokosc"), ("pituusaste", "leveysaste")),
    *(("経度", "緯度"), ("经度", "纬度"), ("경도", "위도")),
)
_MORE_LENGTHS = (
    *((f"x{word}", f"y{word}") for word in ("coordinate", "coordinat", "coord", "koord", "pos")),
    *((f"{word}x", f"{word}y") for word in ("coord", "point", "pos", "geo", "utm")),
    *(("rechtswert", "hochwert"), ("ostwert", "nordwert"), ("ost", "nord"), ("est", "nord")),
    *(("este", "norte"), ("oost", "noord"), ("east", "north"), ("e", "n")),
    # These may be degrees or the size of a thing: their values decide.
    *(("länge", "breite"), ("laenge", "breite"), ("lengte", "breedte")),
)
_AXES = (*_DEGREES, *_LENGTHS, *_MORE_DEGREES, *_MORE_LENGTHS)
# Words that are part of both names, each with its own axis: "x_long" and "y_lat".
_OTHER_AXIS = {"x": "y", "x*": "y*", "e": "n", "east": "north"}

# Whose record a row is, alone or with words that only name it.
_WHOSE = _words(
    "account animalid author cardholder client cliente commuter cookie customer device driver "
    "email employee guest household imei imsi individual kunde mac medallion member mmsi msisdn "
    "msno nutzer benutzer observer owner participant passenger patient person phone plate resident "
    "respondent rider ssn subscriber telephone traveler traveller uid user username usuario "
    "utente utilisateur vin visitor"
)
# The same, where another word says that it is a name or number.
_THINGS = _words(
    "advertising ad agent animal band bici bike bird cab car card carte collar fahrzeug handset "
    "licence license organism phone ring sim tag tarjeta taxi tracker vehicle vehiculo"
)
_NAMING = _words(
    "address anon anonymised anonymized anonymous code codigo hash hashed id identifier ids key "
    "local login name no nr num number nummer numero pseudo pseudonym screen trip twitter "
    "uuid"
)
_NUMBERS = _NAMING - {"address", "local", "name", "screen", "trip", "twitter"}
_WHOLE_NAMES = _words(
    "aaid adid gaid hacklicence hacklicense idfa idfv licenseplate licenceplate maid "
    "numberplate screenname"
)
# How many a row represents: words that say so, and words for what is counted.
_HOW_MANY = _words(
    "cnt commuters count counts flow flows freq frequency jobs n num number passengers people "
    "persons qty quantity riders total trips visits weight weights workers"
)
_COUNTED = _words(
    "all avg daily event events expansion individual individuals job journey journeys observation "
    "observations obs occurrence occurrences of person point points record records row rows "
    "sample trip visit worker"
)
# Where a word ends without a sign: between "start" and "Station", "GPS" and "Lat", "wgs" and "84".
_BORDER = re.compile(
    r"(?<=[^\W\dA-Z_])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)
# Of values: e-mail, telephone, UUID, hash, address of a network card.
_SHAPES = re.compile(
    r"\s*([^@\s]+@[^@\s]+\.[a-z]+|\+[0-9][0-9 ()-]{6,16}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|[0-9a-f]{20,}|[0-9a-f]{2}([:-][0-9a-f]{2}){5})\s*$",
    re.IGNORECASE,
)
# What else has such ids; and how many columns are looked at.
_PLACES = _words(
    "cell dataset event place project ride route session station stop survey trip zone"
)
_LOOKED_AT = 40
# Letters after which formats cut a name.
_CUT = (8, 10)
_SHOWN = 6


@dataclass(frozen=True)
class Place:
    """The two columns of a place, and whether their names promise degrees."""

    lon: str
    lat: str
    degrees: bool

    def __str__(self) -> str:
        return repr(self.lon) if self.lon == self.lat else f"{self.lon!r} and {self.lat!r}"

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
        return _beside(in_words(self.lon)) or self.split_beside

    @property
    def split_beside(self) -> str:
        """The same, divided at digits and capital letters, too.

        >>> Place("startStationLongitude", "startStationLatitude", True).split_beside
        'start_station'
        """
        return _beside(_split(self.lon))


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
        key = _split(lon)
        promised = (_word(key, east) for east, _ in (*_DEGREES, *_MORE_DEGREES))
        return Place(lon, lat, any(around is not None for around in promised))
    pairs = candidates(names, metric)
    matches = [p for p in pairs if (lon or p.lon) == p.lon and (lat or p.lat) == p.lat]
    if len(matches) == 1:
        return matches[0]
    if lon is not None or lat is not None:
        option, other = ("lon", "lat") if lon is not None else ("lat", "lon")
        raise InputError(
            f"No counterpart of column {lon or lat!r} was found; choose it with {other}=... "
            f"beside {option}=..., the columns are {listed(names)}."
        )
    if not matches:
        raise InputError(
            "No columns of longitude and latitude were recognised; choose them with lon=..., "
            f"lat=... from {listed(names)}."
        )
    first = matches[0]
    raise InputError(
        f"More than one pair of columns could be the place: {listed(matches)}; choose one, for "
        f"example lon={first.lon!r}, lat={first.lat!r}."
    )


def candidates(names: Sequence[str], metric: bool = False) -> list[Place]:
    """Return every pair of columns that looks like a place; degrees, if there are any, alone.

    Where they are to be ``metric``, those in metres alone, if there are any.
    """
    plain = {name: in_words(name) for name in names}
    split = {name: _split(name) for name in names}
    kinds: tuple[tuple[Spellings, Spellings], ...]
    kinds = (_DEGREES, _MORE_DEGREES), (_LENGTHS, _MORE_LENGTHS)
    for usual, more in reversed(kinds) if metric else kinds:
        pairs = _pairs(plain, usual) or _pairs(split, (*usual, *more))
        if pairs:
            return [Place(east, north, usual is _DEGREES) for east, north in pairs]
    return []


def _beside(key: str) -> str:
    for east, _ in _AXES:
        around = _word(key, east)
        if around is not None:
            return "_".join(word for word in around.replace("*", "").split("_") if word)
    return ""


def _pairs(keys: dict[str, str], spellings: Spellings) -> list[tuple[str, str]]:
    """Pairs of names that differ in one word, such as "lon" and "lat"."""
    by_key = {key: name for name, key in reversed(keys.items())}
    pairs = []
    for name, key in keys.items():
        for east, north in spellings:
            around = _word(key, east)
            if around is None:
                continue
            turned = "_".join(_OTHER_AXIS.get(word, word) for word in around.split("_"))
            near = (by_key.get(stem.replace("*", north), name) for stem in (around, turned))
            other = next((counterpart for counterpart in near if counterpart != name), None)
            if other is not None:
                pairs.append((name, other))
                break
    return pairs


def unused_users(names: Sequence[str], user: object) -> list[str]:
    """Sentences about columns that seem to say whose records these are; none where users are given.

    >>> unused_users(["lon", "lat", "User-ID"], None)
    ["The column 'User-ID' was not read: name it with user='User-ID' to protect users."]
    >>> unused_users(["lon", "lat", "end_user_type"], None), unused_users(["user"], "user")
    ([], [])
    >>> len(unused_users(["anon_driver_id", "userID", "id_user", "IMEI", "passenger_count"], None))
    4
    """
    named = [name for name in names if user is None and _names_users(name)]
    # Whose a tag or car is is after who someone is.
    named.sort(key=lambda name: _WHOSE.isdisjoint(_split(name).split("_")))
    return [unread_users_note(name) for name in named]


def unread(
    names: Sequence[str],
    read: Iterable[str],
    user: object,
    weight: object,
    look: Callable[[str], Any],
    notes: Sequence[str] = (),
) -> list[str]:
    """Sentences on the columns that are not read: users, weights, and all others in one.

    Parameters
    ----------
    names, read : all columns of a table, and those that are read
    user, weight : what was given as such; None if nothing was
    look : gives some values of a column, an array (n,)
    notes : other sentences; what they name is not named again

    Examples
    --------
    >>> unread(["lon", "lat", "count", "id", "colour"], ["lon", "lat"], None, None, lambda name: [])
    ... # doctest: +NORMALIZE_WHITESPACE
    ["The column 'count' was not read: name it with weight='count' to count each row that often.",
     '2 columns were not read: id, colour.']
    >>> values = ["ann@example.org", "bob@example.org", "ann@example.org"] * 3
    >>> unread(["contact"], [], None, None, lambda name: values)[0][:52]
    "The values of 'contact' repeat and look like ids of "
    """
    read = {*read}
    left = [name for name in dict.fromkeys(names) if name not in read]
    users = [] if user is not None else [name for name in left if _names_users(name)]
    alike = [] if user is not None else [name for name in left if name not in users]
    alike = [name for name in alike if _PLACES.isdisjoint(_split(name).split("_"))][:_LOOKED_AT]
    alike = [name for name in alike if _look_like_ids(look(name))]
    weights = [name for name in names if weight is None and _says_how_many(name)]
    named = {*users, *alike, *weights}
    left = [name for name in left if name not in named]
    left = [name for name in left if not any(repr(name) in note for note in notes)]
    number = "1 column was" if len(left) == 1 else f"{len(left):,} columns were"
    return [
        *unused_users(names, user),
        *(
            f"The values of {name!r} repeat and look like ids of users, and were not read: name it "
            f"with user={name!r} to protect users."
            for name in alike
        ),
        *(
            f"The column {name!r} was not read: name it with weight={name!r} to count each row "
            "that often."
            for name in weights
        ),
        *([f"{number} not read: {listed(left)}."] if left else []),
    ]


def _look_like_ids(values: Any) -> bool:
    values = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    texts = [value for value in values if isinstance(value, str)]
    shaped = [text for text in texts if _SHAPES.match(text)]
    return 1 < len(set(shaped)) < len(shaped) and len(shaped) > 0.9 * len(values)


def _names_users(name: str) -> bool:
    """Whether a column's name says whose record a row is, and nothing else."""
    joined = _split(name).replace("_", "")
    if joined in _WHOSE | _WHOLE_NAMES:
        return True
    return _say_whose(in_words(name).split("_")) or _say_whose(_uncut(_split(name), name))


def _say_whose(words: Sequence[str]) -> bool:
    whose = {word for word in words if word in _WHOSE or word.removesuffix("id") in _WHOSE}
    carriers = {word for word in words if word.removesuffix("id") in _THINGS}
    numbered = not _NUMBERS.isdisjoint(words) or any(word not in _THINGS for word in carriers)
    whose |= carriers if numbered else set()
    return bool(whose) and set(words) <= whose | _NAMING


def _uncut(key: str, name: str) -> list[str]:
    """The words of a name, the last one in full where it may have been cut.

    >>> _uncut("anon_custo", "anon_custo")
    ['anon', 'customer']
    """
    *words, last = key.split("_")
    if words and len(name.strip()) in _CUT:
        fitting = [word for word in sorted(_WHOSE) if word.startswith(last) and len(last) > 4]
        fitting += [word for word in sorted(_NUMBERS) if word.startswith(last)]
        last = fitting[0] if fitting and last not in _NAMING else last
    return [*words, last]


def _says_how_many(name: str) -> bool:
    """Whether a column's name says how many a row represents, and nothing else.

    >>> [_says_how_many(name) for name in ("S000", "number_of_trips", "OBSERVATION COUNT", "n")]
    [True, True, True, True]
    >>> [_says_how_many(name) for name in ("total_amount", "passenger_count", "house_number", "id")]
    [False, False, False, False]
    """
    words = set(_split(name).split("_"))
    # S000 is the number of jobs in files of origins and destinations of the US Census.
    return words == {"s", "000"} or (bool(words & _HOW_MANY) and words <= _HOW_MANY | _COUNTED)


def in_words(name: str) -> str:
    """The words of a name in small letters, joined by underscores."""
    return "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())


def _split(name: str) -> str:
    """The words of a name, also those that digits, signs or capital letters divide.

    >>> _split("startStationID"), _split("Northing (m)"), _split("LAT_WGS84")
    ('start_station_id', 'northing_m', 'lat_wgs_84')
    """
    parts = _BORDER.sub(" ", unicodedata.normalize("NFKC", name))
    return "_".join(re.findall(r"[^\W_]+", parts.lower()))


def _word(key: str, word: str) -> str | None:
    """Return the words of a name with a star in place of this one, or ``None`` if it does not.

    The word is one of those between underscores; three letters or more may also end the name
    ("pickuplon"). A star in the name itself only makes the counterpart unfindable.
    """
    parts = key.split("_")
    if word in parts:
        # The last one: "x_long" is not the same as "long_x", but "long_trip_long" ends in it.
        at = len(parts) - 1 - parts[::-1].index(word)
        return "_".join([*parts[:at], "*", *parts[at + 1 :]])
    if len(word) >= 3 and key.endswith(word):
        return key[: -len(word)] + "*"
    return None


def listed(names: Sequence[object]) -> str:
    """Return a few names as part of a sentence; of many, those that say most."""
    texts = [str(name) for name in names]
    if len(texts) > _SHOWN:
        texts.sort(key=lambda name: not _says_something(name))
    leading = ", ".join(texts[:_SHOWN])
    more = len(texts) - _SHOWN
    return f"{leading} and {more} more" if more > 0 else leading or "none"


def _says_something(name: str) -> bool:
    """Whether a column may be a place, whose it is or how many, by its name."""
    key = _split(name)
    placed = any(axis in key for pair in _AXES for axis in pair if len(axis) > 2)
    return placed or key in ("x", "y") or _names_users(name) or _says_how_many(name)
