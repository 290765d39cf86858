"""Scenarios as text, read with care since it may come from anywhere: YAML, and links.

A link's text is JSON, packed with a dictionary, in base 64.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from pathlib import Path
from typing import Any

import yaml

from explorer.errors import InputError

MOST_BYTES, MOST_STORY_BYTES = 100_000, 300_000
_DEEPEST = 8

#: The longest text that is looked at, and the longest that it may unpack to.
MOST_CHARACTERS, MOST_LINK_BYTES = 16_000, 64_000
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


class _Loader(yaml.SafeLoader):
    """Plain values only; no aliases, which unfold to any size, and no deep nesting."""

    depth = 0
    what, deepest = "scenario", _DEEPEST

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise InputError(f"A {self.what} has no aliases (*): write each value out.")
        self.depth += 1
        if self.depth > self.deepest:
            raise InputError(f"This is not a {self.what}: its entries are nested too deeply.")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        # The stock loader silently keeps the last of two entries with one name.
        names = [key.value for key, _ in node.value if isinstance(key.value, str)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(f"The {self.what} has the entry {twice[0][:40]!r} twice: keep one.")
        return super().construct_mapping(node, deep=deep)


class _StoryLoader(_Loader):
    """A story holds scenarios three levels down."""

    what, deepest = "story", _DEEPEST + 3


class _Dumper(yaml.SafeDumper):
    """Lists of numbers and short settings on one line, as people write them."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> Any:
        short = all(isinstance(value, int | float) for value in sequence)
        return super().represent_sequence(tag, sequence, flow_style=short)


# YAML 1.1 takes 1e-3 for a text; no one who writes it means one.
for _side in (_Loader, _Dumper):
    _side.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"),
        list("-+0123456789"),
    )


def read_yaml(text: str | bytes, *, story: bool = False) -> Any:
    """The plain values of a YAML text: of a scenario, or of a story, which holds several.

    Raises
    ------
    InputError
        For more than 100 kB (a story 300 kB), what is not UTF-8 or not YAML, aliases, tags,
        entries given twice.
    """
    loader = _StoryLoader if story else _Loader
    what, limit = loader.what, MOST_STORY_BYTES if story else MOST_BYTES
    if len(text) > limit:
        raise InputError(
            f"This file is larger than {limit // 1000} kB, which no {what} is: choose another."
        )
    try:
        plain = text.decode("utf8") if isinstance(text, bytes) else text
        return yaml.load(plain, Loader=loader)
    except InputError:
        # The loader's own sentences; an InputError is a ValueError, too.
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" (line {mark.line + 1})"
        raise InputError(f"This is not a {what}: it is not YAML{where}.") from error
    except (ValueError, OverflowError, RecursionError, TypeError) as error:
        # Not UTF-8, dates that do not exist, numbers of thousands of digits, unusable keys.
        raise InputError(
            f"This is not a {what}: it has characters or values that cannot be read."
        ) from error


def write_yaml(plain: dict[str, Any]) -> str:
    """The values as YAML, in their own order.

    Raises
    ------
    InputError
        For polygons of so many corners that `read_yaml` would refuse the file.
    """
    text: str = yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    if len(text.encode()) > MOST_BYTES:
        raise InputError(
            "The polygons of this screen have too many corners for a scenario: save the boxes as "
            "GeoJSON, or simplify them."
        )
    return text


def read_file(path: str | Path, limit: int = MOST_BYTES) -> bytes:
    """The bytes of a file, up to one more than the limit; raises `InputError` without one."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        raise InputError(f"{path.name} could not be read ({error.strerror or error}).") from error


def write_link(plain: dict[str, Any]) -> str:
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
    if len(text) > MOST_CHARACTERS or len(data) > MOST_LINK_BYTES:
        raise InputError("This screen holds too much for a link: save it as a file.")
    return text


def read_link(text: Any) -> Any:
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
        data = unpacker.decompress(raw[4:], MOST_LINK_BYTES)
        whole = unpacker.eof and not unpacker.unconsumed_tail and not unpacker.unused_data
        if not whole or zlib.crc32(data).to_bytes(4, "big") != raw[:4]:
            raise InputError(DAMAGED)
        return json.loads(data, parse_constant=_no_number)
    except (zlib.error, binascii.Error, ValueError, RecursionError) as error:
        raise InputError(DAMAGED) from error


def _no_number(_name: str) -> Any:
    """NaN and Infinity are no JSON."""
    raise ValueError
