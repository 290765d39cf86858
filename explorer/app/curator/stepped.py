"""A panel of steps: to the first, one back, played, one on, to the last; and sliders over them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from explorer.app.curator.panel import PlayedPanel, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.errors import InputError

Found = TypeVar("Found")


class SteppedPanel(PlayedPanel[Found]):
    """A panel whose steps have an order, with five buttons to go through them.

    Parameters
    ----------
    find, parts : as for an `ExplainPanel`
    """

    def __init__(self, find: Callable[[Any], Found], parts: PageParts) -> None:
        super().__init__(find, parts, "Play")
        self.buttons = {
            "To the start": panel_button("To the start", lambda _event: self._to_start()),
            "Step back": panel_button("Step back", lambda _event: self._step(-1)),
            "Play": self.play,
            "Step forward": panel_button("Step forward", lambda _event: self._forward()),
            "To the end": panel_button("To the end", lambda _event: self._to_end()),
        }
        self._ended = False

    @abstractmethod
    def _to_start(self) -> None:
        """Go to the first step."""

    @abstractmethod
    def _step(self, direction: int) -> None:
        """Go one step on (1) or back (-1)."""

    @abstractmethod
    def _to_end(self) -> None:
        """Go to the last step."""

    def _forward(self) -> None:
        """One step on; from the end, where a panel opens, it begins anew, as playing does."""
        if self._ended:
            self._to_start()
        else:
            self._step(1)

    def _offer(self, at_start: bool, at_end: bool) -> None:
        """Offer the buttons that lead somewhere."""
        self._ended = at_end
        self.buttons["To the start"].disabled = self.buttons["Step back"].disabled = at_start
        self.buttons["To the end"].disabled = at_end
        self.play.disabled = self.buttons["Step forward"].disabled = at_start and at_end

    def _slider(self, label: str, do: Callable[[int], None]) -> Any:
        """A slider over steps, from 0; ``do`` takes a step that exists."""
        slider = ui.IntSlider(
            label=label,
            start=0,
            end=1,
            value=0,
            size="small",
            margin=(0, 12),
            styles={"flex": "1 1 240px"},
            sizing_mode="stretch_width",
        )
        ui.bind(slider, partial(_within, slider, do), self._refused)
        return slider


def follow(slider: Any, value: int, end: int) -> None:
    """Let a slider follow; one without a choice cannot be moved."""
    slider.param.update(end=max(end, 1), value=value, disabled=end == 0)


def _within(slider: Any, do: Callable[[int], None], value: int) -> None:
    """Bounds that Panel does not enforce on the server."""
    if not slider.start <= value <= slider.end:
        raise InputError(f"{slider.label}: choose from {slider.start:,} to {slider.end:,}.")
    do(value)
