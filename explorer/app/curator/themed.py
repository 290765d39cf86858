"""The palette that fits the theme: light maps on a light page, until someone chooses another."""

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
        self._dark = dark
        #: The palette before the page was presented, while it is.
        self._before: str | None = None
        state.param.watch(self._changed, "palette")
        self.follow(dark)

    def follow(self, dark: bool) -> None:
        """The page is in another theme."""
        self._dark = dark
        if not self._chosen and self._before is None:
            self._put(FITTING[dark])

    def project(self, on: bool) -> None:
        """Present the page on a light map; or end that, with the palette of before.

        Anyone who chooses another one meanwhile keeps that.
        """
        if on:
            self._before = self._state.palette
            self._put(FITTING[False])
            return
        before, self._before = self._before, None
        if before is not None and self._state.palette == FITTING[False]:
            self._put(before)
        # The theme may be another one by now.
        self.follow(self._dark)

    def _put(self, palette: str) -> None:
        """Take a palette that no one chose."""
        self._following = True
        self._state.put(palette=palette)
        self._following = False

    def _changed(self, _event: Any) -> None:
        self._chosen = self._chosen or not self._following
