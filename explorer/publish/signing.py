"""Signatures: a publisher's key is made once, read by its owner alone, known by a fingerprint.

Ed25519. A signature says that anyone who has the key vouches for a manifest, and with it for every
file that the manifest lists and for the row of the ledger that it names.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from explorer.errors import InputError

ALGORITHM = "Ed25519"
#: Said before what is signed, so that a signature is good for nothing else.
_PURPOSE = b"dp-explorer release manifest 1\n"
_MOST_BYTES = 10_000


class PublisherKey:
    """The secret key of a publisher.

    Parameters
    ----------
    path : its file; made when it is first needed, for its owner alone to read

    Raises
    ------
    InputError
        For a file that is no such key, cannot be read or made, or that others may read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._key = _load(path) if path.exists() else _make(path)

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        return self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def public_pem(self) -> str:
        """The public key as a text that others keep, for `public_key`."""
        pem = self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return pem.decode()

    def sign(self, manifest: bytes) -> dict[str, str]:
        """A signature over a manifest, as JSON can hold it."""
        return {
            "algorithm": ALGORITHM,
            "public_key": base64.b64encode(self.public).decode(),
            "signature": base64.b64encode(self._key.sign(_PURPOSE + manifest)).decode(),
        }


def fingerprint(public: bytes) -> str:
    """A public key as people compare it: eight groups of four.

    >>> fingerprint(bytes(32))
    '6668-7aad-f862-bd77-6c8f-c18b-8e9f-8e20'
    """
    digest = hashlib.sha256(public).hexdigest()[:32]
    return "-".join(digest[at : at + 4] for at in range(0, 32, 4))


def signer(signature: Any, manifest: bytes) -> bytes | None:
    """The public key that a manifest is signed with; None where the signature does not hold."""
    try:
        if set(signature) != {"algorithm", "public_key", "signature"}:
            return None
        if signature["algorithm"] != ALGORITHM:
            return None
        public, signed = _decoded(signature["public_key"]), _decoded(signature["signature"])
        Ed25519PublicKey.from_public_bytes(public).verify(signed, _PURPOSE + manifest)
    except (TypeError, ValueError, KeyError, AttributeError, binascii.Error, InvalidSignature):
        return None
    return public


def _decoded(text: str) -> bytes:
    """The bytes of a text in Base64; raises ValueError for one that is not as it is written."""
    content = base64.b64decode(text, validate=True)
    # The last letter may have bits that say nothing.
    if base64.b64encode(content).decode() != text:
        raise ValueError("bits of the last letter were changed")
    return content


def public_key(path: Path) -> bytes:
    """The public key in a file, 32 bytes.

    Raises
    ------
    InputError
        For a file that holds none.
    """
    try:
        with path.open("rb") as file:
            key = load_pem_public_key(file.read(_MOST_BYTES))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check its name.") from error
    except (ValueError, TypeError) as error:
        raise InputError(_none(path)) from error
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(_none(path))
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def _none(path: Path) -> str:
    return (
        f"{path} holds no public key of Ed25519: give the file that `dp-explorer publish "
        "--public-key` printed for its publisher."
    )


def _make(path: Path) -> Ed25519PrivateKey:
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(pem)
                file.flush()
                os.fsync(file.fileno())
            # Two processes that begin at once end with one key: the first that is there stays.
            with suppress(FileExistsError):
                os.link(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"The key {path} cannot be made ({error.strerror}); choose another place for it."
        ) from error
    return _load(path)


def _load(path: Path) -> Ed25519PrivateKey:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES)
            mode = os.fstat(file.fileno()).st_mode
        key = load_pem_private_key(content, None)
    except OSError as error:
        raise InputError(f"The key {path} cannot be read ({error.strerror}).") from error
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{path} is no publisher's key: bring the right file back, or move it away and a new "
            "key is made, which others do not know."
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path} is a key of another kind: move it away and a new one is made.")
    if os.name == "posix" and mode & 0o077:
        raise InputError(
            f"The key {path} can be read by others, so a signature with it says nothing: allow "
            "it to its owner alone (chmod 600), or move it away and a new one is made."
        )
    return key
