"""Values from outside against a declared parameter: in its own type, or refused in one sentence.

Widgets, files, flags and people at a keyboard send anything. What a parameter takes is declared
once (`param`); anyone who checks a value says it with a noun of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np
import param

from explorer.errors import InputError

Kind = TypeVar("Kind")

#: Characters of a value that a sentence repeats.
LONGEST = 40


def of_key(catalogue: Mapping[str, Kind], key: str, noun: str) -> Kind:
    """What a catalogue has under a key.

    Parameters
    ----------
    noun : begins the sentence, such as "There is no city"

    Raises
    ------
    InputError
        For a key that it has not; it says the one that was meant, or lists those it has.

    Examples
    --------
    >>> of_key({"a": 1}, "a", "There is no letter")
    1
    """
    if key not in catalogue:
        near = nearest(key, catalogue)
        suggestion = f"did you mean {near!r}?" if near else f"choose one of {', '.join(catalogue)}."
        raise InputError(f"{noun} {shown(key)} here: {suggestion}")
    return catalogue[key]


def nearest(typed: Any, words: Iterable[str]) -> str:
    """The one of known words that was probably meant, "" where none is near.

    >>> nearest("madup", ["madeup", "nation"]), nearest("x", ["madeup"])
    ('madeup', '')
    """
    return next(iter(get_close_matches(str(typed)[:LONGEST], words, 1)), "")


def checked(declared: param.Parameter, value: Any, noun: str | None = None) -> Any:
    """A value in the type of its parameter.

    Parameters
    ----------
    declared : param.Selector, param.Boolean, param.Number with bounds; others check themselves
    value : anything
    noun : what the sentence calls it, by default the parameter's label

    Raises
    ------
    InputError
        Such as "Height is 30: give a whole number, 0 to 22."

    Examples
    --------
    >>> checked(param.Integer(default=1, bounds=(0, 22)), 7.0)
    7
    """
    if isinstance(declared, param.Selector):
        if is_one_of(value, declared.objects):
            return value
        expected = f"choose one of {', '.join(map(str, declared.objects))}"
    elif isinstance(declared, param.Boolean):
        if isinstance(value, bool):
            return value
        expected = "give true or false"
    elif not isinstance(declared, param.Number):
        try:
            declared._validate(value)
        except (ValueError, TypeError) as error:
            raise InputError(f"{noun or declared.label} cannot be {shown(value)}.") from error
        return value
    else:
        if value is None and declared.allow_None:
            return None
        whole = isinstance(declared, param.Integer)
        low, high = declared.bounds
        number = as_number(value, low, high, whole)
        if number is not None:
            return number
        expected = f"give a {'whole ' * whole}number, {allowed(declared)}"
    reason = getattr(declared, "reason", lambda _value: "")(value)
    raise InputError(f"{noun or declared.label} is {shown(value)}{reason}: {expected}.")


def allowed(declared: param.Number) -> str:
    """The bounds of a number, in words: its own `allowed` if it has some.

    >>> allowed(param.Integer(default=1, bounds=(0, 22)))
    '0 to 22'
    """
    low, high = declared.bounds
    return str(getattr(declared, "allowed", f"{low:g} to {high:g}"))


def is_one_of(value: Any, choices: Iterable[Any]) -> bool:
    """Membership by value and type: True is not 1 here, and a list is simply absent."""
    return any(type(value) is type(choice) and value == choice for choice in choices)


def as_number(value: Any, low: float, high: float, whole: bool = False) -> float | None:
    """A finite number from ``low`` to ``high`` as a float, or as an int if ``whole``; else None.

    >>> as_number(3, 0, 9), as_number(3.0, 0, 9, whole=True), as_number(True, 0, 9)
    (3.0, 3, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return None
    # Compared before it becomes a float: a whole number may be too large for one.
    if not low <= value <= high or (whole and value != int(value)):
        return None
    return int(value) if whole else float(value)


def shown(value: Any) -> str:
    """The beginning of a value for a sentence; Python writes no number of 5000 digits.

    >>> shown(0.1), shown("abc"), shown("x" * 50)[-3:]
    ('0.1', "'abc'", "x…'")
    """
    try:
        if isinstance(value, int | float | np.number) and not isinstance(value, bool):
            return f"{value:g}"
        text = value if isinstance(value, str) else repr(value)
    except (ValueError, OverflowError):
        return "such a long number"
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return repr(text) if isinstance(value, str) else text
