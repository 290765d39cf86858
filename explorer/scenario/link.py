"""Scenarios as a short text for an address: JSON, packed with a dictionary, in base 64."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from typing import Any

from explorer.errors import InputError

#: The longest text that is looked at, and the longest that it may unpack to.
MOST_CHARACTERS, MOST_BYTES = 16_000, 64_000
_CHARACTERS = re.compile(r"[A-Za-z0-9_-]+")
DAMAGED = "This link is damaged, so it cannot be opened: copy it again, to its very end."

# The way of packing has a version of its own, the first character. The dictionary belongs to it:
# every link in the world is unpacked with it, so another dictionary is another version.
_WAY = "a"
_OFTEN = (
    b'"workload":"drawn","metric":"mreRho median","seeds":"at":0.1,"scale_from":"release",'
    b'"partition_over":"both","partition":false,"truth":"counts","palette":"magma",'
    b'"scale":"linear","look":{"right":"difference"},"release":true,"stop_count":"stop_rule":'
    b'"optimal""per epsilon""grid_size":"inference":"least squares""inside":"interpolated",'
    b'"split_rule":"height":"mosaic""privtree""quadtree""ag""ug""lesson":"page":"learn",'
    b'"page":"compare",{"name":"Q1","edges":[-1},{"name":"Q2","edges":[]}],'
    b'{"scenario":1,"page":"explore","city":"san-francisco","side":512,"city":"madeup","side":1024,'
    b'"mechanisms":["htf"],"epsilon":0.1,"seed":1,"boxes":[{"name":"Q1","edges":['
)


def write(plain: dict[str, Any]) -> str:
    """The values as text for an address.

    Raises
    ------
    InputError
        For a scenario with so many boxes that no browser would take the address.
    """
    data = json.dumps(plain, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    packer = zlib.compressobj(9, wbits=-15, zdict=_OFTEN)
    packed = packer.compress(data) + packer.flush()
    check = zlib.crc32(data).to_bytes(4, "big")
    text = _WAY + base64.urlsafe_b64encode(check + packed).decode().rstrip("=")
    if len(text) > MOST_CHARACTERS or len(data) > MOST_BYTES:
        raise InputError("This screen holds too much for a link: save it as a file.")
    return text


def read(text: Any) -> Any:
    """The plain values of a link's text; what it unpacks to is bounded beforehand.

    Raises
    ------
    InputError
        For a text that was cut off, changed, made by another version, or made to do harm.
    """
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS or not _CHARACTERS.fullmatch(text):
        raise InputError(DAMAGED)
    if text[0] != _WAY:
        raise InputError("This link was made by another version of the explorer, or is damaged.")
    body = text[1:]
    try:
        raw = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        unpacker = zlib.decompressobj(wbits=-15, zdict=_OFTEN)
        data = unpacker.decompress(raw[4:], MOST_BYTES)
        whole = unpacker.eof and not unpacker.unconsumed_tail and not unpacker.unused_data
        if not whole or zlib.crc32(data).to_bytes(4, "big") != raw[:4]:
            raise InputError(DAMAGED)
        return json.loads(data, parse_constant=_no_number)
    except (zlib.error, binascii.Error, ValueError, RecursionError) as error:
        raise InputError(DAMAGED) from error


def _no_number(_name: str) -> Any:
    """NaN and Infinity are no JSON."""
    raise ValueError
