"""Who each row belongs to: every id has one canonical text, in every reader and type of column.

======================================= ============================================ =============
ids that are one                        canonical text                               others
======================================= ============================================ =============
7, 7.0, "7", "7.0", " 7 ", "7." , "7,0" the whole number, as exactly as written      "007", "+7"
7.5, "7.50", Decimal("7.5")             without zeros at the end
1000, "1e3", "1.0E3"                    the number, below 2^53                       longer hashes
"a", " a", b"a"                         without blanks around it                     "A"
a UUID in capital or small letters      small letters
True, "true", "TRUE"                    small letters
======================================= ============================================ =============

Null, NaN, an empty text, blanks and words such as "NA", "null" and "None" are no id. Floating
numbers of 2^53 or more (2^24 in 32 bits) are refused: they no longer distinguish neighbouring ids.
Where the same person might be spelled in two ways the rule joins: to take two people for one costs
some of their records, to take one for two breaks the promise of a contribution bound.

An id is 128 bits: a whole number of 64 bits itself and 0, any other text two keyed hashes.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.points.clipping import Hashes, Ints, starts

# Two keys give 128 bits: that two users of a billion share them has a chance below 10^-20.
_NAME_KEYS = ("explorer-users-1", "explorer-users-2")
_WHOLE = r"^(0|-?[1-9][0-9]{0,17}|[1-8][0-9]{18})$"
_LEAST, _MOST = -(10**18), 9 * 10**18
# As PyArrow and pandas read them from text.
_MISSING = (
    *("", "-nan", "nan", "na", "n/a", "#na", "#n/a", "#n/a n/a", "null", "none", "<na>", "nat"),
    *("1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", r"\n"),
)
_POINTED = r"^-?(0|[1-9][0-9]*)([.][0-9]*|,0)$"
_POWER = r"^-?(0[.][0-9]+|[1-9][0-9]*([.][0-9]*)?)[eE][+-]?[0-9]{1,3}$"
_UUID = r"^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$"
# What may be another spelling: all else is canonical, and looked at no further.
_UNSURE = (
    r"(?i)^[\s\p{Z}]|[\s\p{Z}]$|^-?[0-9]+([.][0-9]*|,0)?(e[+-]?[0-9]{1,3})?$|^(true|false)$|^("
    + "|".join(word.replace("\\", "\\\\").replace(".", "[.]") for word in _MISSING)
    + ")$"
)


class Users(NamedTuple):
    """Whose each of n rows is.

    Attributes
    ----------
    code : (n,) int64
        0, 1, 2 .. for the different users in the order in which they appear, -1 for none.
    hashes : (u,) uint64
        Of what each code represents, see `points.clipping`.
    joined : bool
        Whether ids were not written as their canonical text, see `cleaning.JOINED`.
    """

    code: NDArray[np.int64]
    hashes: Hashes
    joined: bool


class Identities(NamedTuple):
    """Who n ids are: (n, 2), which of them are ids, (n,), and which are spelled otherwise, (n,)."""

    identity: Ints
    has_id: NDArray[np.bool_]
    respelled: NDArray[np.bool_]


def codes(values: Any) -> Users:
    """Codes of any column: an array, list or column of NumPy, pandas, Arrow or Polars.

    Raises
    ------
    InputError
        For floating numbers that cannot distinguish users, and for lists or structures.

    Examples
    --------
    >>> codes([7, "7", None, " 7.0", "007"]).code.tolist()
    [0, 0, -1, 0, 1]
    """
    column, mixed = _column(values)
    chunks = _encoded(column)
    if not chunks:
        return Users(np.empty(0, np.int64), np.empty(0, np.uint64), joined=False)
    parts = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in chunks]
    code = np.concatenate(parts).astype(np.int64, copy=False)
    identity, has_id, respelled = _of_values(chunks[0].dictionary)
    kind = chunks[0].dictionary.type
    if has_id.all() and not (respelled.any() or pa.types.is_floating(kind)):
        return Users(code, starts(identity), mixed)
    bits = np.ascontiguousarray(identity[has_id])
    # The same people get the same number, in the order of the values.
    buffers = [None, pa.py_buffer(bits)]
    number = pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(bits), buffers)
    number = number.dictionary_encode()
    different = len(number.dictionary)
    joined = mixed or different < len(bits) or bool(respelled.any())
    code_of = np.full(len(has_id) + 1, -1)
    code_of[:-1][has_id] = number.indices.to_numpy()
    first = compute.index_in(pa.array(range(different)), number.indices).to_numpy()
    return Users(code_of[code], starts(bits[first]), joined)


def identities(column: pa.Array) -> Identities:
    """Who each of n rows of a column belongs to, equal in every file."""
    if pa.types.is_integer(column.type):
        return _of_integers(column)
    chunks = _encoded(pa.chunked_array([column]))
    values = _of_values(chunks[0].dictionary)
    # A row without a value is the last one.
    place = chunks[0].indices.fill_null(len(values.has_id)).to_numpy(zero_copy_only=False)
    identity = np.concatenate([values.identity, np.zeros((1, 2), np.int64)])
    has_id, respelled = (np.append(flags, False) for flags in values[1:])
    return Identities(identity[place], has_id[place], respelled[place])


def _encoded(column: pa.ChunkedArray) -> list[pa.DictionaryArray]:
    """A column as numbers of its different values, which are the same in all chunks."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = column.cast(kind.storage_type)
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except pa.ArrowNotImplementedError as error:
            raise InputError(f"The ids of users are {kind}; give numbers or text.") from error
    return list(column.unify_dictionaries().chunks)


def _column(values: Any) -> tuple[pa.ChunkedArray, bool]:
    """Any values as a column, and whether some are the same in several types.

    No whole number passes through a float.
    """
    if hasattr(values, "to_arrow"):
        values = values.to_arrow()
    if isinstance(values, pa.ChunkedArray):
        return values, False
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, OverflowError, ValueError):
        texts = [_text(value) for value in values]
        spellings = {(text, type(value)) for text, value in zip(texts, values, strict=True)}
        mixed = len(spellings) > len({text for text, _ in spellings})
        return pa.chunked_array([texts], pa.string()), mixed
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array]), False


def _text(value: Any) -> str:
    """One of several kinds of values in a column; none of it is a word for none."""
    if isinstance(value, bytes):
        return value.decode("utf8", "backslashreplace")
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return format(value.normalize(), "f") if isinstance(value, Decimal) else str(value)


def _of_values(values: pa.Array) -> Identities:
    """Of different values."""
    kind = values.type
    if pa.types.is_integer(kind):
        return _of_integers(values)
    missing = np.asarray(values.is_null(nan_is_null=True).to_numpy(zero_copy_only=False))
    if pa.types.is_floating(kind):
        number = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        whole = number == np.floor(number)
        # The numbers up to here, and no others, differ from their neighbours by 1.
        if np.any(np.abs(number) >= 2.0 ** {16: 11, 32: 24}.get(kind.bit_width, 53)):
            raise _inexact()
        of_texts = _of_texts(values.cast(pa.string()).filter(pa.array(~whole & ~missing)))
        identity = np.zeros((len(number), 2), np.int64)
        identity[whole, 0] = number[whole]
        identity[~whole & ~missing] = of_texts.identity
        return Identities(identity, ~missing, np.zeros(len(number), np.bool_))
    texts = values if pa.types.is_string(kind) else _texts(values)
    return _of_texts(texts.fill_null(""))


def _texts(values: pa.Array) -> pa.Array:
    """Values of any kind but numbers as texts, those of a kind in one spelling."""
    kind = values.type
    if pa.types.is_fixed_size_binary(kind) and kind.byte_width == 16:
        texts = [v if v is None else str(UUID(bytes=v)) for v in values.to_pylist()]
        return pa.array(texts, pa.string())
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pa.array([v if v is None else _text(v) for v in values.to_pylist()], pa.string())
    if pa.types.is_fixed_size_binary(kind):
        return pa.array([v if v is None else v.hex() for v in values.to_pylist()], pa.string())
    texts = values.cast(pa.string())
    if pa.types.is_decimal(kind) or pa.types.is_timestamp(kind):
        texts = compute.replace_substring_regex(texts, "[.]0+(Z?)$", r"\1")
        texts = compute.replace_substring_regex(texts, " 00:00:00Z?$", "")
    return texts


def _of_integers(column: pa.Array) -> Identities:
    has_id = ~np.asarray(column.is_null().to_numpy(zero_copy_only=False))
    respelled = np.broadcast_to(np.False_, len(has_id))
    plain = column.fill_null(0) if column.null_count else column
    wide = (pa.types.is_uint64(column.type) and compute.max(plain).as_py()) or 0
    whole = plain.cast(pa.int64(), safe=False).to_numpy(zero_copy_only=False)
    if wide < _MOST and whole.min(initial=0) > _LEAST and whole.max(initial=0) < _MOST:
        return Identities(np.column_stack([whole, np.zeros_like(whole)]), has_id, respelled)
    return Identities(_of_texts(plain.cast(pa.string())).identity, has_id, respelled)


def _of_texts(texts: pa.Array) -> Identities:
    """Of texts without a null."""
    import pandas

    has_id, respelled = np.ones(len(texts), np.bool_), np.zeros(len(texts), np.bool_)
    whole = _match(texts, _WHOLE)
    unsure = np.zeros(len(texts), np.bool_) if whole.all() else ~whole & _match(texts, _UNSURE)
    lengths = compute.binary_length(texts).to_numpy(zero_copy_only=False)
    if np.any(lengths == 36):
        unsure |= _match(texts, _UUID) & _match(texts, "[A-F]")
    if unsure.any():
        before = texts.filter(pa.array(unsure))
        after = _canonical(before)
        named = compute.not_equal(after, "").to_numpy(zero_copy_only=False)
        changed = compute.not_equal(after, before).to_numpy(zero_copy_only=False)
        has_id[unsure], respelled[unsure] = named, changed & named
        texts = compute.replace_with_mask(texts, pa.array(unsure), after)
        whole[unsure] = _match(after, _WHOLE)
    identity = np.zeros((len(texts), 2), np.int64)
    if whole.any():
        number = texts if whole.all() else texts.filter(pa.array(whole))
        identity[whole, 0] = number.cast(pa.int64()).to_numpy(zero_copy_only=False)
    others = ~whole & has_id
    if others.any():
        names = texts.filter(pa.array(others)).to_numpy(zero_copy_only=False)
        for side, key in enumerate(_NAME_KEYS):
            hashed = pandas.util.hash_array(names, hash_key=key, categorize=False)
            identity[others, side] = hashed.view(np.int64)
    return Identities(identity, has_id, respelled)


def _canonical(texts: pa.Array) -> pa.Array:
    """The canonical text of each, empty for none."""
    texts = compute.utf8_trim_whitespace(texts)
    small = compute.utf8_lower(texts)
    texts = compute.if_else(compute.is_in(small, pa.array(_MISSING)), "", texts)
    words = compute.is_in(small, pa.array(["true", "false"]))
    texts = compute.if_else(compute.or_(words, pa.array(_match(texts, _UUID))), small, texts)
    pointed = _match(texts, _POINTED)
    if pointed.any():
        plain = texts.filter(pa.array(pointed))
        # Zeros at the end, and a point before nothing, are no part of a number.
        cut = compute.replace_substring_regex(plain, "(,0|[.]0*)$", "")
        cut = compute.replace_substring_regex(cut, "([.][0-9]*[1-9])0+$", r"\1")
        long = compute.greater(compute.binary_length(cut), 15)
        if any(
            "." not in text and abs(int(text)) >= 2**53 for text in cut.filter(long).to_pylist()
        ):
            raise _inexact()
        texts = compute.replace_with_mask(texts, pa.array(pointed), cut)
    power = _match(texts, _POWER)
    if power.any():
        plain = texts.filter(pa.array(power)).to_pylist()
        written = pa.array([_written_out(text) for text in plain], pa.string())
        texts = compute.replace_with_mask(texts, pa.array(power), written)
    return compute.if_else(compute.equal(texts, "-0"), "0", texts)


def _written_out(text: str) -> str:
    """A number with an exponent without it, below 2^53; longer ones may be hexadecimal hashes.

    >>> _written_out("1.50E+3"), _written_out("15e-1"), _written_out("12e99")
    ('1500', '1.5', '12e99')
    """
    number = Decimal(text)
    if abs(number) < 2**53:
        return format(number.normalize(), "f")
    if "." in text or "+" in text:
        raise _inexact()
    return text


def _match(texts: pa.Array, pattern: str) -> NDArray[np.bool_]:
    matches = compute.match_substring_regex(texts, pattern)
    return np.array(matches.to_numpy(zero_copy_only=False), np.bool_)


def _inexact() -> InputError:
    return InputError(
        "The ids of users are floating-point numbers too large to tell users apart (2^53 or more, "
        "2^24 in 32 bits); write them as whole numbers or as text, or leave out user=..."
    )
