"""Why a node of a release is a leaf, or why it went on: read from released figures alone."""

from __future__ import annotations

from explorer.errors import InputError
from explorer.mechanisms import rebuild
from explorer.mechanisms.decisions import UNKNOWN, Decision
from explorer.mechanisms.figures import Figures
from explorer.releases.release import Release


def decision(release: Release, number: int) -> Decision:
    """The decision that ended the node at position ``number``, or let it go on.

    Parameters
    ----------
    release : Release
    number : position in `release.tree`
    """
    try:
        return rebuild(release).decision(Figures(release, number))
    except (InputError, KeyError, IndexError, ValueError, OverflowError, TypeError):
        # A file of another version, or one that someone has changed.
        return UNKNOWN
