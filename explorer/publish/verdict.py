"""What was found of a published folder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """One thing that must hold.

    Attributes
    ----------
    name : what it is about
    holds : whether it does
    said : why not, or what was found
    """

    name: str
    holds: bool
    said: str = ""


@dataclass(frozen=True)
class Verdict:
    """What was found of a folder.

    Attributes
    ----------
    checks : in their order; after the first group that does not hold nothing more is read
    signed_by : the fingerprint of the key, "" for a folder that is unsigned
    signature : what its signature says, in a sentence
    warning : what its publisher has to know and do, "" for nothing
    """

    checks: tuple[Check, ...]
    signed_by: str
    signature: str
    warning: str = ""

    @property
    def holds(self) -> bool:
        """Whether everything does."""
        return all(check.holds for check in self.checks)

    def facts(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"holds": self.holds, **asdict(self)}
