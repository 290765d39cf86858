"""What a mechanism's declared parameters say of its class: its signature and its docstring."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

import param
from param.parameterized import ParameterizedMetaclass

_WIDTH = 92

#: What epsilon is, before any formula: for anyone who meets the word in a docstring first.
_EPSILON = (
    "With or without any one record (any one user, where users are protected), every possible "
    "map is at most e^epsilon times as likely: 1.1 times at 0.1, 2.7 times at 1."
)
_RAISES = """Raises
------
InputError
    For a parameter that it does not have, or a value of another kind or outside its range."""


class Declared(ParameterizedMetaclass):
    """Class of mechanisms: parameters are declared once, and shown where Python people look."""

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> None:
        super().__init__(name, bases, space)
        docstring = space.get("__doc__")
        # What documents its parameters itself is left alone.
        if docstring and bases and "Parameters\n" not in docstring:
            cls.__doc__ = documented(
                docstring, [cls.param[parameter] for parameter in cls._shown()]
            )

    def _shown(cls) -> list[str]:
        """Names of the parameters: epsilon, then the mechanism's own as they are declared."""
        names = [name for name in cls.param if name != "name"]
        return ["epsilon", *(entry for entry in names if entry != "epsilon")]

    @property
    def __signature__(cls) -> inspect.Signature:
        """Epsilon, by its place too, and every other parameter by its name, with the defaults."""
        if "epsilon" not in cls.param:
            return inspect.Signature()
        first, *others = (
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=cls.param[name].default)
            for name in cls._shown()
        )
        return inspect.Signature(
            [first.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD), *others]
        )


def documented(docstring: str, declared: list[param.Parameter]) -> str:
    """A class's docstring with its parameters behind the first paragraph, sections at the end."""
    text, *sections = re.split(r"\n\n(?=\w+\n-{3,}\n)", inspect.cleandoc(docstring))
    first, _, rest = text.partition("\n\n")
    lines = [first, "", "Parameters", "----------"]
    for parameter in declared:
        lines.append(
            f"{parameter.name} : {kind_of(parameter)}, default {shown_default(parameter.default)}"
        )
        description = (
            f"{parameter.doc} {_EPSILON}" if parameter.name == "epsilon" else parameter.doc or ""
        )
        lines += textwrap.wrap(description, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    if not any(section.startswith("Raises\n") for section in sections):
        lines += ["", *_RAISES.splitlines()]
    if rest:
        lines += ["", "Notes", "-----", rest]
    return "\n\n".join(["\n".join(lines), *sections])


def kind_of(declared: param.Parameter) -> str:
    """What a parameter may be, in words.

    >>> kind_of(param.Integer(3, bounds=(1, 20))), kind_of(param.Selector(objects=["a", "b"]))
    ('int, 1 to 20', "'a' or 'b'")
    """
    if isinstance(declared, param.Selector):
        return " or ".join(map(repr, declared.objects))
    word = {param.Integer: "int", param.Boolean: "bool", param.Dict: "dict"}.get(type(declared))
    word = word or ("float" if isinstance(declared, param.Number) else "")
    low, high = getattr(declared, "bounds", None) or (None, None)
    if low is not None and high is not None:
        word += f", {low:,.12g} to {high:,.12g}"
    return f"{word} or None" if declared.allow_None else word


def shown_default(value: Any) -> str:
    """A default as Python writes it."""
    return f"{value:.12g}" if isinstance(value, float) else repr(value)
