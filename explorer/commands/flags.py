"""Command-line flags made from the declared parameters of the mechanisms, and typed values."""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.errors import InputError

if TYPE_CHECKING:
    import param

    from explorer.mechanisms import Mechanism

    Kinds = Mapping[str, type[Mechanism]]

_PREFIX = "parameter "


def flag(name: str) -> str:
    """The flag of a parameter.

    >>> flag("stop_count"), flag("T")
    ('--stop-count', '--T')
    """
    return "--" + name.replace("_", "-")


def refuse(arguments: argparse.Namespace, names: Iterable[str], beside: str) -> None:
    """Raise `InputError` for the first of some flags given although `beside` settles it."""
    for name in names:
        if getattr(arguments, name) is not None:
            raise InputError(f"{flag(name)} is not needed with {beside}; leave it out.")


def owners(kinds: Kinds | None = None) -> dict[str, list[type[Mechanism]]]:
    """The mechanisms (of maps, or these) that have a parameter, by its name, as declared."""
    owners: dict[str, list[type[Mechanism]]] = {}
    for kind in _known(kinds).values():
        for name in kind.tunables():
            owners.setdefault(name, []).append(kind)
    return owners


def _known(kinds: Kinds | None) -> Kinds:
    from explorer.mechanisms import all_mechanisms

    return all_mechanisms() if kinds is None else kinds


def allowed(declared: param.Parameter) -> str:
    """What a parameter may be.

    >>> from explorer import all_mechanisms
    >>> allowed(all_mechanisms()["htf"].param["height"])
    '0 to 22, or auto'
    """
    import param

    if isinstance(declared, param.Selector):
        return ", ".join(map(_typed, declared.objects))
    low, high = declared.bounds
    limits = getattr(declared, "allowed", f"{low:,.12g} to {high:,.12g}")
    return f"{limits}{', or auto' if declared.allow_None else ''}"


def described(declared: param.Parameter) -> str:
    """What a parameter means, what it may be, and what it is when nothing is said."""
    return f"{declared.doc} ({allowed(declared)}; default {_default(declared)})"


def _default(declared: param.Parameter) -> str:
    import param

    default = declared.default
    if default is None:
        return "auto"
    return _typed(default) if isinstance(declared, param.Selector) else f"{default:,.12g}"


def add_parameters(parser: argparse.ArgumentParser, kinds: Kinds | None = None) -> None:
    """Add one flag for each parameter of the mechanisms of maps, or of these.

    Help shows those of the mechanism that was typed behind --mechanism, and none without one.
    """
    by_name = owners(kinds)
    of = _typed_mechanism(getattr(parser, "typed", ()))
    every = _known(kinds)
    if of in every:
        group = parser.add_argument_group(f"parameters of {every[of].title}")
        for name in every[of].tunables():
            _add(group, name, described(every[of].param[name]))
    else:
        parser.epilog = (
            "Each mechanism has parameters of its own: give --mechanism NAME --help, or see "
            f"dp-explorer mechanisms NAME. There are {', '.join(every)}."
        )
    group = parser.add_argument_group("parameters of other mechanisms")
    # Known all the same, so that one sentence says whose they are.
    for name, kinds_of_it in by_name.items():
        if of not in every or name not in every[of].tunables():
            whole = getattr(parser, "whole", False)
            _add(group, name, _whose(name, kinds_of_it) if whole else argparse.SUPPRESS)


def _whose(name: str, kinds: Sequence[type[Mechanism]]) -> str:
    """A parameter in a line, with the mechanisms that have it."""
    return f"{kinds[0].param[name].label} ({', '.join(kind.key for kind in kinds)})"


def _typed_mechanism(typed: Sequence[str]) -> str:
    """The mechanism that a command line names, "" without one.

    >>> _typed_mechanism(["x.csv", "--mechanism", "ag"]), _typed_mechanism(["--mechanism=ug"])
    ('ag', 'ug')
    """
    named = ""
    for before, argument in itertools.pairwise(("", *typed)):
        if before == "--mechanism":
            named = argument
        elif argument.startswith("--mechanism="):
            named = argument.partition("=")[2]
    return named.lower()


def _add(group: argparse._ArgumentGroup, name: str, text: str) -> None:
    group.add_argument(
        flag(name), dest=_PREFIX + name, metavar="VALUE", help=text.replace("%", "%%")
    )


def build(
    arguments: argparse.Namespace, chosen: type[Mechanism], kinds: Kinds | None = None
) -> tuple[Mechanism, list[str]]:
    """The chosen mechanism with what was typed, and the flags that do nothing in this setting.

    `kinds` are the mechanisms whose flags there are, by default those of maps.
    """
    typed = {
        name.removeprefix(_PREFIX): text
        for name, text in vars(arguments).items()
        if name.startswith(_PREFIX) and text is not None
    }
    by_name = owners(kinds)
    for name in typed:
        if name not in chosen.tunables():
            keys = " or ".join(kind.key for kind in by_name[name])
            titles = " and ".join(kind.title for kind in by_name[name])
            raise InputError(
                f"{flag(name)} belongs to {titles}, not to {chosen.title}; leave it out, or "
                f"choose --mechanism {keys}."
            )
    settings = {name: value_of(chosen.param[name], text) for name, text in typed.items()}
    instance = chosen(epsilon=value_of(chosen.param["epsilon"], arguments.epsilon), **settings)
    matters = instance.relevant()
    return instance, [flag(name) for name in typed if name not in matters]


def pairs(typed: Iterable[str], kind: type[Mechanism], what: str) -> dict[str, Any]:
    """Settings of a mechanism that were typed as NAME=VALUE behind one flag, ``what``.

    Examples
    --------
    >>> from explorer import all_mechanisms
    >>> pairs(["T=5", "stop-count=30"], all_mechanisms()["htf"], "--inside-set")
    {'T': 5, 'stop_count': 30.0}
    """
    pairs: dict[str, Any] = {}
    for argument in typed:
        typed_name, equals, text = argument.partition("=")
        name = typed_name.strip().replace("-", "_")
        if not equals or not name:
            raise InputError(f"{what} is {argument!r}; give a name and a value such as T=5.")
        if name not in kind.tunables():
            raise InputError(
                f"{kind.title} has no setting {name!r}; {what} takes "
                f"{', '.join(kind.tunables()) or 'none of it'}."
            )
        if name in pairs:
            raise InputError(f"{what} names {name} twice; give it once.")
        pairs[name] = value_of(kind.param[name], text, f"{what} {name}")
    return pairs


def value_of(declared: param.Parameter, text: str, what: str = "") -> Any:
    """A typed text as the parameter's own type; its bounds are the mechanism's to check.

    A sentence calls it ``what``, by default its flag.
    """
    import param

    if isinstance(declared, param.Selector):
        by_text = {_typed(choice).lower(): choice for choice in declared.objects}
        typed = text.strip().lower().replace(" ", "-")
        return by_text.get(typed, text)
    if declared.allow_None and text.strip().lower() == "auto":
        return None
    try:
        number = float(text)
    except ValueError:
        kind = "a whole number" if isinstance(declared, param.Integer) else "a number"
        raise InputError(
            f"{what or flag(declared.name)} is {text!r}; give {kind}: {allowed(declared)}."
        ) from None
    whole = isinstance(declared, param.Integer) and number.is_integer()
    return int(number) if whole else number


def shape(text: str | None, default: int | None = None) -> Any:
    """A grid's shape as people type it: cells along each side, or rows x columns.

    >>> shape("1024"), shape("512x1024"), shape(None, 64)
    (1024, (512, 1024), 64)
    """
    if text is None:
        return default
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) > 2 or not all(re.fullmatch(r"\s*[0-9]{1,9}\s*", part) for part in parts):
        raise InputError(
            f"{text!r} is not a shape; give one such as 1024, or rows x columns 512x1024."
        )
    sides = [int(part) for part in parts]
    return sides[0] if len(sides) == 1 else (sides[0], sides[1])


def crs(text: str | None) -> str | int | None:
    """A CRS as people type it: 27700 is EPSG:27700; None stays None."""
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,9}", text.strip()) else text


def whole(text: str | None, name: str, least: int = 1, largest: int = 10**18 - 1) -> int | None:
    """A whole number as typed; None stays None."""
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,18}", text) or not least <= int(text) <= largest:
        raise InputError(f"{name} is {text!r}; give a whole number of {least} or more.")
    return int(text)


def number(text: str | None, name: str) -> int | None:
    """How many of something are wanted, 1 to a million, as typed; None stays None."""
    return whole(text, name, largest=10**6)


def with_crs_flag(sentence: str, option: str, typed: str) -> str:
    """Advice of the library on a CRS as it is typed here.

    >>> with_crs_flag("give it with crs=..., such as crs='EPSG:27700'.", "crs", "--crs-areas")
    'give it with --crs-areas, such as --crs-areas EPSG:27700.'
    """
    sentence = re.sub(rf"\b{option}='?([\w:]+)'?", rf"{typed} \1", sentence)
    return sentence.replace(f"{option}=...", typed)


def _typed(choice: object) -> str:
    """A choice without the spaces that a shell would split."""
    return str(choice).replace(" ", "-")
