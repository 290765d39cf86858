"""A bar for what takes long: `progress=True` in place of a callable of one's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

#: How a caller is told of a long draw: True for a bar, a callable for anything else.
Progress = Callable[[float], None] | bool | None
#: Seconds before a bar appears: what is done by then needs none.
DELAY = 0.5


class Bar:
    """A bar of tqdm, in a terminal or a notebook, called with the finished part, 0 to 1.

    It goes when it is closed, or when no one holds it any more, as after an error.
    """

    def __init__(self, label: str) -> None:
        from tqdm.auto import tqdm

        self._bar: Any = tqdm(
            total=100,
            desc=label,
            leave=False,
            delay=DELAY,
            miniters=1,  # or a leap would silence the small steps that follow it
            smoothing=0,  # the pace so far: parts of a draw come in leaps
            bar_format="{desc} {percentage:3.0f}% |{bar}| {elapsed}, {remaining} left",
        )

    def __call__(self, done: float) -> None:
        """Show the finished part, 0 to 1."""
        # A step of several measurements begins anew with each of them.
        self._bar.update(round(100 * min(max(done, 0.0), 1.0)) - self._bar.n)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.close()


def teller(progress: Progress, label: str, paid: bool = False) -> Callable[[float], None] | None:
    """What is to be called with the finished part of one draw; None where no one wants to know.

    Of a draw that is ``paid`` when it is told of, no callable's error is raised: it would take the
    release away and not the price. It is a warning, and the draw goes on without being told.
    """
    if progress is not True:
        callback = progress or None
        return callback if callback is None or not paid else _Harmless(callback)
    bar = Bar(label)

    def tell(done: float) -> None:
        bar(done)
        if done >= 1.0:
            bar.close()

    return tell


class _Harmless:
    """A callable whose first error ends the telling, and nothing else."""

    def __init__(self, tell: Callable[[float], None]) -> None:
        self._tell: Callable[[float], None] | None = tell

    def __call__(self, done: float) -> None:
        if self._tell is None:
            return
        try:
            self._tell(done)
        except Exception as error:
            self._tell = None
            warnings.warn(
                f"The progress could not be told ({error!r}): the release is booked, so it is "
                "drawn to its end.",
                stacklevel=2,
            )
