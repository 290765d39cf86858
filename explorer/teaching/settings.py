"""Settings of an experiment: declared once, checked wherever they come from.

A lesson file, a widget and a raw websocket client all go through `Settings.put`.
"""

from __future__ import annotations

from typing import Any, Self

import param

from explorer.errors import InputError
from explorer.grid.values import checked, shown
from explorer.mechanisms import mechanism


class BoxSetting(param.NumericTuple):
    """West, south, east, north in parts of the map, 0 to 1; never empty."""

    def __init__(self, default: tuple[float, ...] = (0.4, 0.4, 0.6, 0.6), **about: Any) -> None:
        super().__init__(default=default, length=4, **about)


class PlaceSetting(param.NumericTuple):
    """A place in parts of the map: 0 to 1 from west to east, and from south to north."""

    def __init__(self, default: tuple[float, ...] = (0.5, 0.5), **about: Any) -> None:
        super().__init__(default=default, length=2, **about)


class NamesSetting(param.List):
    """Several different mechanisms by their names, ``least`` of them or more."""

    def __init__(self, default: list[str], least: int, **about: Any) -> None:
        super().__init__(default=default, bounds=(least, None), **about)


class Settings(param.Parameterized):
    """The choices behind one experiment.

    Parameters
    ----------
    **choices
        Any of the declared parameters.

    Raises
    ------
    InputError
        For a name that is not declared or a value that is not allowed.
    """

    def __init__(self, **choices: Any) -> None:
        super().__init__()
        self.put(**choices)

    @classmethod
    def settings(cls) -> list[str]:
        """Names of the settings in the order of their declaration."""
        return [name for name in cls.param if name != "name"]

    def put(self, **choices: Any) -> None:
        """Set several choices at once, or none of them."""
        self.param.update(**{name: self.checked(name, value) for name, value in choices.items()})

    def copy(self) -> Self:
        """The present choices in an object of their own, for a thread to read."""
        return type(self)(**{name: getattr(self, name) for name in self.settings()})

    @classmethod
    def checked(cls, name: str, value: Any) -> Any:
        """A value in the parameter's own type, or an InputError in one sentence."""
        if name not in cls.settings():
            names = ", ".join(cls.settings())
            raise InputError(f"There is no setting {shown(name)}: choose from {names}.")
        declared = cls.param[name]
        if isinstance(declared, BoxSetting | PlaceSetting):
            return _parts(declared, value)
        if isinstance(declared, NamesSetting):
            return _names(declared, value)
        return checked(declared, value)


def _parts(declared: Any, value: Any) -> tuple[float, ...]:
    length = declared.length
    numbers: tuple[float, ...] = ()
    if isinstance(value, list | tuple) and len(value) == length:
        good = all(isinstance(v, int | float) and not isinstance(v, bool) for v in value)
        # Compared before it becomes a float: a whole number may be too large for one.
        numbers = tuple(float(v) for v in value if good and 0 <= v <= 1)
    if len(numbers) != length:
        raise InputError(
            f"{declared.label} is {shown(value)}: give {length} numbers from 0 to 1, parts of the "
            "map from its south-western corner."
        )
    if length == 4 and not (numbers[0] < numbers[2] and numbers[1] < numbers[3]):
        raise InputError(
            f"{declared.label} is empty or inside out: give west, south, east and north, west "
            "before east and south before north."
        )
    return numbers


def _names(declared: Any, value: Any) -> list[str]:
    least = declared.bounds[0]
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{declared.label} is {shown(value)}: give a list of names.")
    for key in value:
        mechanism(key)
    if len(set(value)) < least:
        raise InputError(f"{declared.label} are too few: give {least} or more, each once.")
    return list(dict.fromkeys(value))
