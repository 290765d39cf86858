"""A bar for what takes long: `progress=True` in place of a callable of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: How a caller is told of a long draw: True for a bar, a callable for anything else.
Progress = Callable[[float], None] | bool | None
#: Seconds before a bar appears: what is done by then needs none.
DELAY = 0.5


class Bar:
    """A bar of tqdm, in a terminal or a notebook, called with the finished part, 0 to 1.

    It goes when it is closed, or when nobody holds it any more, as after an error.

    Parameters
    ----------
    label : what stands before it
    """

    def __init__(self, label: str) -> None:
        from tqdm.auto import tqdm

        self._bar: Any = tqdm(
            total=100,
            desc=label,
            leave=False,
            delay=DELAY,
            miniters=1,  # or a leap would silence the small steps that follow it
            bar_format="{desc} {percentage:3.0f}% |{bar}| {elapsed}",
        )

    def __call__(self, done: float) -> None:
        """Show the finished part, 0 to 1."""
        # A step of several measurements begins anew with each of them.
        self._bar.update(round(100 * min(max(done, 0.0), 1.0)) - self._bar.n)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.close()


def teller(progress: Progress, label: str) -> Callable[[float], None] | None:
    """What is to be called with the finished part of one draw; None where nobody wants to know."""
    if progress is not True:
        return progress or None
    bar = Bar(label)

    def tell(done: float) -> None:
        bar(done)
        if done >= 1.0:
            bar.close()

    return tell
