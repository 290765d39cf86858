"""Scenarios as YAML: read with care, since a file may come from anywhere."""

from __future__ import annotations

import re
from typing import Any

import yaml

from explorer.errors import InputError

MOST_BYTES, MOST_STORY_BYTES = 100_000, 300_000
_DEEPEST = 8


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
for _each in (_Loader, _Dumper):
    _each.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"),
        list("-+0123456789"),
    )


def read(text: str | bytes, *, story: bool = False) -> Any:
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


def write(plain: dict[str, Any]) -> str:
    """The values as YAML, in their own order.

    Raises
    ------
    InputError
        For polygons of so many corners that `read` would refuse the file.
    """
    text: str = yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    if len(text.encode()) > MOST_BYTES:
        raise InputError(
            "The polygons of this screen have too many corners for a scenario: save the boxes as "
            "GeoJSON, or simplify them."
        )
    return text
