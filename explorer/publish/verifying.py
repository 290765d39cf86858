"""Verify a folder from anywhere: in a process with limits, which can take nothing with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorer.grid.apart import Limits, read_apart
from explorer.publish.checks import checked
from explorer.publish.verdict import Check, Verdict

#: What looking at one folder may take: a map of a million leaves needs about half of it.
LIMITS = Limits(cpu=180, memory=3_000_000_000, wall=600.0)


def verify(folder: str | Path, key: bytes = b"") -> Verdict:
    """Look at a folder, anyone who made it.

    Parameters
    ----------
    folder : of a published release
    key : the public key that it has to be signed with, 32 bytes; any without

    Raises
    ------
    InputError
        For what cannot be read: no such folder, no manifest, more than 2 GB, a file that takes
        more than the limits.

    Examples
    --------
    >>> verify("nowhere at all")
    Traceback (most recent call last):
    explorer.errors.InputError: ...
    """
    plain = read_apart(
        as_plain, b"", str(Path(folder).expanduser().absolute()), key.hex(), limits=LIMITS
    )
    checks = tuple(Check(**entry) for entry in plain["checks"])
    return Verdict(checks, plain["signed_by"], plain["signature"], plain["warning"])


def as_plain(_content: bytes, folder: str, key: str) -> dict[str, Any]:
    """In the process with limits: what was found, as plain values."""
    facts = checked(Path(folder), key).facts()
    return {**facts, "checks": list(facts["checks"])}
