"""Which mechanisms a sweep draws, with which settings, and how each is named and drawn."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass

from explorer.app.state.compare import CompareState
from explorer.evaluate import Task
from explorer.mechanisms import Mechanism, all_mechanisms
from explorer.views.series import SeriesStyle, style_of

#: What distinguishes two series: mechanism and parameters as JSON.
Key = tuple[str, str]


@dataclass(frozen=True)
class Series:
    """One line of the charts.

    Attributes
    ----------
    name : as shown; unique on a page
    key : mechanism and parameters
    mechanism : with its settings; its epsilon does not matter
    settings : parameters that differ from the defaults, to read; empty for the defaults
    """

    name: str
    key: Key
    mechanism: Mechanism
    style: SeriesStyle
    settings: str = ""


def key_of(mechanism: Mechanism) -> Key:
    """Mechanism and parameters of an instance."""
    task = Task.of(mechanism, 0)
    return task.mechanism, task.parameters


def series_of(state: CompareState) -> list[Series]:
    """The chosen mechanisms as they come, then A and B where they have settings of their own.

    Where it is asked, those with named values (Mosaic's "regions") are there with each of them.

    A and B are among them unless they are left out: as they come if that is how they are set, else
    as "A: HTF".
    """
    sides = {"A": state.instance(), "B": state.b.instance()} if state.with_sides else {}
    as_they_come = {key: kind() for key, kind in all_mechanisms().items()}
    usual = {side.key for side in sides.values() if not changed(side)}
    result = [
        Series(mechanism.title, key_of(mechanism), mechanism, style_of(type(mechanism)))
        for key, mechanism in as_they_come.items()
        if key in state.chosen or key in usual
    ]
    if state.with_named:
        result += [named for key in state.chosen for named in _named(all_mechanisms()[key])]
    for variant, (letter, mechanism) in enumerate(sides.items(), 1):
        if key_of(mechanism) not in {series.key for series in result}:
            style = style_of(type(mechanism), variant)
            name = f"{letter}: {mechanism.title}"
            result.append(Series(name, key_of(mechanism), mechanism, style, changed(mechanism)))
    return result


def _named(kind: type[Mechanism]) -> Iterator[Series]:
    """A mechanism with each value that has a name and is not its default."""
    variants = itertools.count(3)
    for name, values in kind.named.items():
        for word, value in values.items():
            if value != kind.param[name].default:
                mechanism = kind(**{name: value})
                style = style_of(kind, next(variants))
                yield Series(
                    f"{kind.title}: {word}", key_of(mechanism), mechanism, style, changed(mechanism)
                )


def changed(mechanism: Mechanism) -> str:
    """The settings of an instance that differ from the defaults, such as "T=5, height=12"."""
    settings = json.loads(key_of(mechanism)[1])
    usual = json.loads(key_of(type(mechanism)())[1])
    return ", ".join(f"{name}={value}" for name, value in settings.items() if value != usual[name])
