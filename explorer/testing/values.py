"""Values that a declared parameter must refuse, and values at the edge of what it must take."""

from __future__ import annotations

import math
from typing import Any

import param


def refused(declared: param.Parameter) -> list[Any]:
    """Values that break the declaration: wrong types, no numbers, beyond either bound.

    >>> from explorer import HTF
    >>> refused(HTF.param["T"])[-3:]
    [0, 21, 1.5]
    """
    if isinstance(declared, param.Selector):
        return ["no such choice", None, 10**400, True, ["a", "list"]]
    never: list[Any] = ["0.1", True, [1], math.nan, math.inf, -math.inf, 10**400, -(10**400)]
    if not declared.allow_None:
        never.append(None)
    low, high = declared.bounds
    if isinstance(declared, param.Integer):
        return [*never, low - 1, high + 1, low + 0.5]
    return [*never, math.nextafter(low, -math.inf), math.nextafter(high, math.inf)]


def taken(declared: param.Parameter) -> list[Any]:
    """Every choice; or both bounds, and None where it represents "automatic".

    >>> from explorer import HTF
    >>> taken(HTF.param["height"])
    [0, 22, None]
    """
    if isinstance(declared, param.Selector):
        return list(declared.objects)
    return [*declared.bounds, *([None] if declared.allow_None else [])]
