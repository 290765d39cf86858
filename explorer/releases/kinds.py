"""Kinds of release that are more than a map, by their tags in files; loaded when a file names one.

They are releases themselves, so that a `Release`, which reads the file, cannot name them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

_KINDS = {"distributed": ("explorer.releases.distributed", "DistributedRelease")}


def of_file(release: Any, about: Mapping[str, Any]) -> Any:
    """The release itself, or the kind that its file says it is; raises where that cannot be.

    Parameters
    ----------
    release : Release
    about : all that its file says
    """
    for tag, (module, name) in _KINDS.items():
        if tag in about:
            return getattr(import_module(module), name).of_file(release, about[tag])
    return release
