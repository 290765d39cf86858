"""Values from files and links, checked: each slip is one sentence that names the entry."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from explorer.errors import InputError
from explorer.grid.values import as_number, is_one_of


def shown(value: Any) -> str:
    """The first 40 characters of a value for a sentence; Python writes no number of 5000 digits."""
    try:
        text = str(value)[:40] if isinstance(value, str | int | float | None) else ""
    except ValueError:
        return "such a long number"
    if text:
        return repr(text) if isinstance(value, str) else text
    kind = "a list" if isinstance(value, list | tuple) else "not of this kind"
    return "empty" if value == "" else kind


def one_of(value: Any, choices: Sequence[Any], what: str) -> Any:
    """``value`` if it is one of ``choices``, by type too: True is not 1."""
    if is_one_of(value, choices):
        return value
    listed = ", ".join(str(choice) for choice in choices)
    raise InputError(f"The {what} of a scenario is {shown(value)}: choose one of {listed}.")


def whole(value: Any, low: int, high: int, what: str) -> int:
    """A whole number from ``low`` to ``high``."""
    if not isinstance(value, int) or as_number(value, low, high) is None:
        raise InputError(
            f"The {what} of a scenario is {shown(value)}: give a whole number from {low:,} to "
            f"{high:,}."
        )
    return int(value)


def number(value: Any, largest: float, what: str) -> float:
    """A finite number between ``-largest`` and ``largest``."""
    result = as_number(value, -largest, largest)
    if result is None:
        raise InputError(f"The {what} of a scenario is {shown(value)}: give a finite number.")
    return result


def flag(value: Any, what: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InputError(f"The {what} of a scenario is {shown(value)}: give true or false.")
    return value


def text(value: Any, longest: int, what: str) -> str:
    """A line of at most ``longest`` visible characters; spaces at its ends are cut off."""
    if not isinstance(value, str):
        raise InputError(
            f"The {what} of a scenario is {shown(value)}: give a text, in quotes if it looks like "
            "a number."
        )
    line = " ".join(value.split())
    if len(line) > longest:
        raise InputError(
            f"The {what} of a scenario is longer than {longest} characters: shorten it."
        )
    if not line.isprintable():
        raise InputError(f"The {what} of a scenario contains an invisible character: remove it.")
    return line


def listed(value: Any, limit: int, what: str) -> list[Any]:
    """A list of at most ``limit`` entries."""
    if not isinstance(value, list | tuple):
        raise InputError(f"The entry '{what}' of a scenario is {shown(value)}: give a list.")
    if len(value) > limit:
        raise InputError(f"A scenario has {len(value):,} {what}: give at most {limit}.")
    return list(value)


def entries(value: Any, names: Collection[str], what: str) -> Mapping[str, Any]:
    """A mapping whose keys are all known."""
    if not isinstance(value, Mapping):
        raise InputError(f"The {what} is {shown(value)}: give entries such as 'city: madeup'.")
    for key in value:
        if key not in names:
            raise InputError(
                f"The {what} has an entry {shown(key)} that is unknown: it can have "
                f"{', '.join(names)}."
            )
    return value


def of_version(document: Any, what: str, version: int, names: Collection[str]) -> dict[str, Any]:
    """The entries of a file, but the first: its kind ``what`` with its version.

    Raises
    ------
    InputError
        For another kind of file, another version, and an entry that is none of ``names``.
    """
    if not isinstance(document, Mapping) or what not in document:
        raise InputError(f"This is not a {what}: its first entry is '{what}: {version}'.")
    number = document[what]
    if number != version or isinstance(number, bool):
        raise InputError(
            f"This {what} has version {shown(number)} and this explorer reads version {version}: "
            "open it with another version of the explorer."
        )
    entries_read = dict(entries(document, names, what))
    del entries_read[what]
    return entries_read
