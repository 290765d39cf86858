"""Values of text tables: numbers as people write them, dates, places, and names of columns."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence

from explorer.errors import InputError

_DELIMITERS = ",;\t|"


def cells_of(lines: Sequence[str], delimiter: str) -> tuple[list[str], int]:
    """The values of the first record, and how many lines it has."""
    try:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        return next(reader), reader.line_num
    except (csv.Error, StopIteration):
        plain = lines[0].strip("\r\n").split(delimiter)
        return [unwrapped(cell) for cell in plain], 1


def delimiter_of(first: str, below: Sequence[str]) -> str:
    """The delimiter that divides most lines as it does the first, into as many values as it can."""

    def fitness(delimiter: str) -> tuple[bool, int]:
        number = len(cells_of([first], delimiter)[0])
        alike = sum(len(cells_of([line], delimiter)[0]) == number for line in below)
        return number > 1 and 2 * alike >= len(below), number

    best = max(_DELIMITERS, key=fitness)
    blanks = [len(cells_of([line], " ")[0]) for line in (first, *below)]
    # Texts have blanks, too.
    return " " if fitness(best)[1] == 1 < min(blanks) == max(blanks) else best


def refuse_title(lines: Sequence[str], at: int, below: Sequence[str]) -> None:
    """Raise `InputError` where the line that should hold names is a title, or blanks delimit."""
    words = len(lines[at].split())
    if words > 1 and all(len(line.split()) == words for line in below):
        raise InputError(
            "The values of this file are divided by several blanks; write one comma or tab between "
            "two of them."
        )
    if any(len(cells_of([line], mark)[0]) > 1 for line in below for mark in _DELIMITERS):
        raise InputError(
            f"Line {at + 1} of this file has one value and others have more; write a name for each "
            "column there, or delete it if the names follow below."
        )


def unwrapped(value: str) -> str:
    """A value without the quotes that wrap all of it."""
    if len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1].replace('""', '"')
    return value


_FIGURE = re.compile(r"[-+\u2212]?\d+")
_DECIMAL = re.compile(r"[-+\u2212]?(\d*[.,]\d+|\d+\.)([eE][-+]?\d+)?°?|[-+]?\d+[eE][-+]?\d+")
_NUMBER = r"[-+]?\d+(?:[.,]\d+)?"
_MOMENT = re.compile(
    r"\d{4}[-/.]\d\d?[-/.]\d\d?([ T].*)?|\d\d?[-/.]\d\d?[-/.](\d{4}|\d\d)( .*)?"
    r"|\d\d?[- ][A-Za-z]{3}[- ]\d{2,4}.*|\d\d?:\d\d(:\d\d.*)?|\d{4}-?\d\d-?\d\dT[\d:.]+.*"
    r"|\w{3} \w{3} +\d\d? .*\d{4}.*"
)
_PAIR = re.compile(rf"[(\[]?\s*{_NUMBER}\s*[,; ]\s*{_NUMBER}\s*[)\]]?")
_GEOMETRY = re.compile(r"(SRID=\d+;)?\s*(MULTI)?(POINT|LINESTRING|POLYGON)\s*Z?M?\s*\(.*", re.I)
_MINUTES = re.compile(
    r"[NSEWO]?\s*[-+]?\d+([.,]\d+)?\s*[°º:d]\s*(\d+([.,]\d+)?\s*['′’m:]?.*)?", re.I
)
_DEGREES = r"[-+]?(\d+[\s:]+){0,2}\d+([.,]\d+)?"
_HEMISPHERE = re.compile(rf"[NSEWO]\s*{_DEGREES}|{_DEGREES}\s*[NSEWO]", re.I)
# A letter next to a whole number, such as S1, may be the name of a column.
_SIGNED = re.compile(r"[NSEWO]?\s*\d+([.,]\d+|\s*[°º].*)\s*[NSEWO]?", re.I)
_WITH_UNIT = re.compile(rf"{_NUMBER}\s*(\w{{1,4}}|%|€|\$|£)")
_EAST = re.compile(r"\b(x\d?|lon|long|lng|longitude|eastings?)\b|(lon|lng|ongitude)\b")
_NORTH = re.compile(r"\b(y\d?|lat|latitude|northings?)\b|(lat|atitude)\b")
_SHAPE = re.compile(r"wkt|wkb|(the )?geom|geometry|location|coordinates")


def names_place(cells: Sequence[str]) -> bool:
    """Whether some of the names of columns are those of a place."""
    words = [re.sub(r"[\W_]+", " ", cell).strip().lower() for cell in cells]
    pair = any(map(_EAST.search, words)) and any(map(_NORTH.search, words))
    return pair or any(map(_SHAPE.fullmatch, words))


def is_record(cells: Sequence[str], next_cells: Sequence[str]) -> bool:
    """Whether a first line is a record: no one names a column by a number, a date or a place."""
    plain = [cell.strip() for cell in cells]
    if names_place(plain):
        # Some tables have a column for each year.
        return False
    strong = (_DECIMAL, _MOMENT, _PAIR, _GEOMETRY, _SIGNED)
    if any(pattern.fullmatch(cell) for cell in plain for pattern in strong):
        return True
    whole = sum(_FIGURE.fullmatch(cell) is not None for cell in plain)
    return whole > 1 or (whole == 1 and _kinds(plain) == _kinds(next_cells))


def _kinds(cells: Sequence[str]) -> list[bool]:
    return [_FIGURE.fullmatch(cell.strip()) is not None for cell in cells]


#: Tokens for a number that is missing, in small letters.
MISSING = frozenset(
    (
        *("", "na", "n/a", "n.a.", "nan", "-nan", "null", "(null)", "<null>", "none", "nil"),
        *("<na>", "-", "--", "—", ".", "..", "?", "\\n", "#n/a", "#n/a n/a", "#na", "nat"),
        *("missing", "undefined", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "#value!", "#ref!"),
    )
)
_BLANKS = re.compile(r"[\s\u00a0\u2007\u202f\ufeff]+")
_MINUS = re.compile(r"^[\u2212\u2013\uff0d\ufe63](?=[\d.,])")
_SIMPLE = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?inf(inity)?", re.I)
_COMMA = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")
_MAYBE_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_COMMA_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+\.\d*|[-+]?\d{1,3}(,\d{3}){2,}")
_OTHER_THOUSANDS = re.compile(r"[-+]?\d{1,3}([ '’]\d{3})+([.,]\d+)?")
_POINT_THOUSANDS = re.compile(r"[-+]?\d{1,3}(\.\d{3})+,\d+|[-+]?\d{1,3}(\.\d{3}){2,}")
_LETTER, _SIGNS = "a letter of a hemisphere", "degrees with signs or minutes"


class NotANumber(ValueError):
    """Text in a column of numbers; the message is the kind of thing that it is."""


def number(text: str, delimiter: str) -> float:
    r"""A number as people and spreadsheets write it; NaN for a token of a missing one.

    Blanks around it, a leading plus, a typographic minus, a decimal comma and marks between
    thousands are read where they are unambiguous: a single comma is decimal, but with commas as
    delimiters one before three digits may be either.

    Parameters
    ----------
    text : of one cell
    delimiter : of the file

    Raises
    ------
    NotANumber
        For anything else, with its kind and without the text.

    Examples
    --------
    >>> number(" +13,40 ", ";"), number("1,234,567.5", "\t"), number("\u22122.5", ",")
    (13.4, 1234567.5, -2.5)
    >>> number("N/A", ",")
    nan
    >>> number("48°51'N", ",")
    Traceback (most recent call last):
    explorer.grid.table_values.NotANumber: degrees with signs or minutes
    """
    return _read_number(text, delimiter)[0]


def _read_number(text: str, delimiter: str) -> tuple[float, str]:
    """A number, and what a comma in it represents: "decimal", "thousands" or ""."""
    plain = _BLANKS.sub(" ", unwrapped(text.strip())).strip()
    if plain.lower() in MISSING:
        return math.nan, ""
    plain = _MINUS.sub("-", plain)
    if _SIMPLE.fullmatch(plain):
        return float(plain), ""
    if _COMMA.fullmatch(plain):
        if delimiter == "," and _MAYBE_THOUSANDS.fullmatch(plain):
            raise NotANumber("a comma that may stand for decimals or for thousands")
        return float(plain.replace(",", ".")), "decimal"
    if _COMMA_THOUSANDS.fullmatch(plain):
        return float(plain.replace(",", "")), "thousands"
    if _OTHER_THOUSANDS.fullmatch(plain):
        return float(re.sub("[ '’]", "", plain).replace(",", ".")), ""
    if delimiter != "," and _POINT_THOUSANDS.fullmatch(plain):
        return float(plain.replace(".", "").replace(",", ".")), "decimal" * ("," in plain)
    raise NotANumber(_kind(plain))


def _kind(text: str) -> str:
    """What a text is that is no number."""
    kinds = (
        (_MOMENT, "a date or a time"),
        (_HEMISPHERE, _LETTER),
        (_MINUTES, _SIGNS),
        (_PAIR, "two numbers"),
        (_GEOMETRY, "a geometry"),
        (_WITH_UNIT, "a number with a unit"),
    )
    return next((kind for pattern, kind in kinds if pattern.fullmatch(text)), "a text")


def advice_on(kind: str) -> str:
    """What to do about a kind of text in a column of numbers; see `NotANumber`."""
    if kind in (_LETTER, _SIGNS):
        return "write decimal degrees, south and west with a minus, or choose another column"
    if "comma" in kind:
        return "write decimal points, and no marks between thousands"
    return "mend that line, delete it if it is no record, or choose another column"


def numbers(texts: Sequence[str], delimiter: str, commas: set[str]) -> list[float]:
    """Numbers of the cells of one column, see `number`.

    Parameters
    ----------
    texts, delimiter : as of `number`
    commas : "decimal" or "thousands", what commas of this column were so far; is added to

    Raises
    ------
    NotANumber
        Also where commas represent both; its second argument is which of the texts it is.
    """
    parsed: dict[str, float] = {}
    for at, text in enumerate(texts):
        if text not in parsed:
            try:
                parsed[text], meaning = _read_number(text, delimiter)
            except NotANumber as error:
                raise NotANumber(str(error), at) from None
            commas |= {meaning} - {""}
            if len(commas) > 1:
                raise NotANumber("a comma that has another meaning than in other lines", at)
    return [parsed[text] for text in texts]
