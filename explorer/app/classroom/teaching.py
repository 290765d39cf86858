"""Who may create a class, where the class page is all that a server has.

Anyone who creates a class sees the true counts, so there a participant must not: a teacher comes by
an address with a key that is made with the server, or has signed in.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field

from explorer.app.work.document import own_name


@dataclass(frozen=True)
class Teachers:
    """Who may teach.

    Parameters
    ----------
    sign_in : whether teachers have names and passwords; else a key is theirs
    key : what the address of a teacher's page holds; "" where they sign in
    """

    sign_in: bool = False
    key: str = field(default="", repr=False)

    @classmethod
    def by_key(cls) -> Teachers:
        """With a new key, which no one guesses."""
        return cls(key=secrets.token_urlsafe(24))

    @classmethod
    def who_sign_in(cls) -> Teachers:
        """With a name and a password."""
        return cls(sign_in=True)

    @property
    def address(self) -> str:
        """Where a teacher begins, on this server."""
        return "/login?next=class" if self.sign_in else f"/class?teach={self.key}"

    def admit(self, key: str) -> bool:
        """Whether the visitor of the page that is being made may teach."""
        return bool(own_name()) if self.sign_in else self.is_key(key)

    def is_key(self, typed: str) -> bool:
        """Whether this is the key."""
        return bool(self.key) and hmac.compare_digest(typed.encode(), self.key.encode())
