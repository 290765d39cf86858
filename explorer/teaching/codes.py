"""Codes of classes: no one guesses one, and none is misread."""

from __future__ import annotations

import secrets

#: Characters of a code that cannot be taken for each other, spoken, printed or written by hand.
CHARACTERS, LENGTH = "ACDEFGHJKMNPQRTVWXY34679", 8


def new_code() -> str:
    """A random code, one of 24^8 (10^11)."""
    return "".join(secrets.choice(CHARACTERS) for _ in range(LENGTH))


def tidy(typed: object) -> str:
    """A code as it was made, from what was typed; "" for what is none.

    >>> tidy(" acde-fghj "), tidy(5), tidy("x" * 1000)
    ('ACDEFGHJ', '', '')
    """
    if not isinstance(typed, str) or len(typed) > 40:
        return ""
    return "".join(character for character in typed.upper() if character in CHARACTERS)


def spaced(code: str) -> str:
    """A code in two halves, easier to read aloud.

    >>> spaced("ACDEFGHJ")
    'ACDE FGHJ'
    """
    half = len(code) // 2
    return f"{code[:half]} {code[half:]}"
