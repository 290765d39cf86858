"""A file with a screen or a story, opened on a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.app.kit import ui
from explorer.app.kit.attempts import Attempts
from explorer.app.kit.theme import SMALL_BUTTON
from explorer.errors import InputError
from explorer.scenario import Scenario, Story
from explorer.scenario.story import screens

_MOST_BYTES = 1_000_000


def screen_file(
    label: str, opened: Callable[[Scenario | Story], None], refused: Callable[[str], None]
) -> Any:
    """A button that opens a YAML file.

    Parameters
    ----------
    label : what is on it
    opened : called with what the file holds; may raise `InputError`
    refused : shows a sentence about a file that cannot be opened
    """
    file = ui.Upload(
        _MOST_BYTES,
        label=label,
        accept=".yaml,.yml",
        uploaded_label=label,
        stylesheets=[SMALL_BUTTON],
        variant="outlined",
        size="small",
        margin=(0, 8, 4, 0),
    )
    file.refused = refused
    attempts = Attempts()

    def read(event: Any) -> None:
        if not event.new:
            return
        with attempts.another():
            try:
                opened(screens(event.new))
            except InputError as error:
                refused(str(error))
        file.clear()

    file.param.watch(read, "value")
    return file
