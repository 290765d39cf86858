"""Who may sign in: a file of names and passwords, which its owner alone can read.

A line is ``name:password`` or ``name:`` and what `hashed` makes of a password (scrypt, in the form
that Werkzeug writes); empty lines and lines that begin with # are left out. The file is read once.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from pathlib import Path

from explorer.errors import InputError

#: Cost, block size and lanes of a hash: 32 MB and about 0.1 s.
_COST, _BLOCK, _LANES = 2**15, 8, 1
#: What a file may ask for: a hash that takes a GB would stop the server.
_MOST_COST, _MOST_BLOCK, _MOST_LANES = 2**17, 16, 4
_HASH = re.compile(
    r"scrypt:([0-9]{1,6}):([0-9]{1,2}):([0-9]{1,2})\$([\x21-\x23\x25-\x7e]{1,64})\$([0-9a-f]{128})"
)
#: Bytes of a file, and characters of a name or a password.
_MOST_BYTES, MOST_CHARACTERS = 10**6, 200


class Passwords:
    """Names and what proves them.

    Parameters
    ----------
    entries : passwords or hashes of `hashed` by name

    >>> passwords = Passwords({"ada": "a long password"})
    >>> [passwords.right("ada", typed) for typed in ("a long password", "")]
    [True, False]
    >>> passwords.right("bob", "")
    False
    """

    def __init__(self, entries: dict[str, str]) -> None:
        self._entries = entries
        self._any_hash = next((entry for entry in entries.values() if _HASH.fullmatch(entry)), "")

    def __len__(self) -> int:
        return len(self._entries)

    def right(self, name: str, password: str) -> bool:
        """Whether the password is that of the name; an unknown name takes as long to refuse."""
        entry = self._entries.get(name)
        typed = password[:MOST_CHARACTERS]
        same = _is_of(typed, entry if entry is not None else self._any_hash)
        return same and entry is not None and len(password) <= MOST_CHARACTERS


def hashed(password: str) -> str:
    """What may be in a file in place of a password.

    Raises
    ------
    InputError
        For a password that is empty or too long.
    """
    _check(password, "This password")
    salt = secrets.token_urlsafe(16)
    digest = _scrypt(password, salt, _COST, _BLOCK, _LANES)
    return f"scrypt:{_COST}:{_BLOCK}:{_LANES}${salt}${digest}"


def read_passwords(path: str | os.PathLike[str]) -> Passwords:
    """Read a file of names and passwords.

    Raises
    ------
    InputError
        When it is not there, others can read it, or a line is not a name and a password.
    """
    entries: dict[str, str] = {}
    for place, line in enumerate(_text(Path(path)).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        # Of what is in it nothing is repeated: it may be a password.
        where = f"Line {place} of the file of passwords"
        name, colon, entry = line.partition(":")
        if not colon or not checked_name(name):
            raise InputError(f"{where} is not NAME:PASSWORD, with a name without spaces.")
        if name in entries:
            raise InputError(f"{where} has a name that stands in it already.")
        _check(entry, f"{where}: its password")
        if entry.startswith("scrypt:") and not _is_hash(entry):
            raise InputError(f"{where}: its hash is none that dp-explorer password makes.")
        entries[name] = entry
    if not entries:
        raise InputError("The file of passwords has no name in it: add lines NAME:PASSWORD.")
    return Passwords(entries)


def checked_name(name: str) -> bool:
    """Whether this may be a name.

    >>> checked_name("ada@example.org"), checked_name("ada:x"), checked_name("")
    (True, False, False)
    """
    return re.fullmatch(r"[^\s:#][^\s:]{0,79}", name) is not None and name.isprintable()


def _text(path: Path) -> str:
    # Written so that no one can exchange the file between the look at it and the reading.
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST_BYTES:
                raise InputError(f"{path} is not a file of names and passwords.")
            # Elsewhere than on Unix a mode says nothing of who can read.
            if os.name == "posix" and about.st_mode & 0o077:
                raise InputError(
                    f"Others than its owner can read or change {path}: chmod 600 {path} mends it."
                )
            return file.read(_MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a file of names and passwords: it is no text.") from None


def _check(password: str, what: str) -> None:
    if not password.strip() or len(password) > MOST_CHARACTERS:
        raise InputError(f"{what} is empty or has more than {MOST_CHARACTERS} characters.")


def _is_hash(text: str) -> bool:
    match = _HASH.fullmatch(text)
    cost, block, lanes = map(int, match.groups()[:3]) if match else (0, 0, 0)
    small = 2 <= cost <= _MOST_COST and 1 <= block <= _MOST_BLOCK and 1 <= lanes <= _MOST_LANES
    return small and cost & (cost - 1) == 0


def _is_of(typed: str, entry: str) -> bool:
    """Whether a password is that of an entry, itself or a hash, compared in constant time."""
    match = _HASH.fullmatch(entry)
    if match is None:
        return hmac.compare_digest(typed.encode(), entry.encode())
    cost, block, lanes, salt, expected = match.groups()
    return hmac.compare_digest(_scrypt(typed, salt, int(cost), int(block), int(lanes)), expected)


def _scrypt(password: str, salt: str, cost: int, block: int, lanes: int) -> str:
    # What it takes by its own formula, and a little more.
    memory = 128 * block * (cost + lanes + 2) + 2**20
    numbers = {"n": cost, "r": block, "p": lanes, "maxmem": memory}
    return hashlib.scrypt(password.encode(), salt=salt.encode(), **numbers).hex()
