"""The palette that fits the theme: light maps on a light page, until somebody chooses another."""

from __future__ import annotations

from typing import Any

#: The palette of each theme, by whether it is dark.
FITTING = {True: "cividis", False: "paper"}


class ThemedPalette:
    """Lets the palette of a page follow its theme.

    One that a person, a link or a call chose stays as it is, whatever the theme is.

    Parameters
    ----------
    state : the choices, with a ``palette``
    dark : whether the page begins in the dark theme
    chosen : whether its palette was chosen already
    """

    def __init__(self, state: Any, dark: bool, chosen: bool) -> None:
        self._state, self._chosen, self._following = state, chosen, False
        state.param.watch(self._changed, "palette")
        self.follow(dark)

    def follow(self, dark: bool) -> None:
        """The page is in another theme."""
        if not self._chosen:
            self._following = True
            self._state.put(palette=FITTING[dark])
            self._following = False

    def _changed(self, _event: Any) -> None:
        self._chosen = self._chosen or not self._following
