"""The form for what a person says of a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.app.kit import ui
from explorer.publish.about import QUESTIONS

_LONGEST = 2_000
#: What a menu says before anything is chosen: nothing is chosen for anybody.
_OPEN, _NOTHING = "Choose …", "-"


class AnswersForm:
    """One field for each question; texts are short lines, choices are menus.

    Parameters
    ----------
    refused : shows a sentence
    """

    def __init__(self, refused: Callable[[str], None]) -> None:
        wide: dict[str, Any] = {
            "sizing_mode": "stretch_width",
            "size": "small",
            "margin": (6, 12, 6, 0),
            "styles": {"flex": "1 1 300px"},
        }
        self.fields: dict[str, Any] = {}
        for question in QUESTIONS:
            if question.among:
                options = {_OPEN: _NOTHING, **{choice: choice for choice in question.among}}
                field: Any = ui.Select(
                    label=question.label, options=options, value=_NOTHING, **wide
                )
            else:
                field = ui.TextInput(
                    label=question.label,
                    placeholder=question.asks[:1].upper() + question.asks[1:],
                    max_length=_LONGEST,
                    **wide,
                )
            field.refused = refused
            self.fields[question.name] = field
        self.view = ui.wrapping(*self.fields.values())

    def show(self, answers: Mapping[str, Any]) -> None:
        """Show what was said before; what was not is empty."""
        for name, field in self.fields.items():
            value = str(answers.get(name) or "")
            among = getattr(field, "options", None)
            field.value = value if among is None or value in among.values() else _NOTHING

    def said(self) -> dict[str, str]:
        """What is in the form; what is empty is not among it."""
        result = {}
        for name, field in self.fields.items():
            # The letters of a text arrive one by one; `value` waits for the field to be left.
            value = getattr(field, "value_input", "") or field.value or ""
            if str(value).strip() and value != _NOTHING:
                result[name] = str(value)
        return result
